/* Collectives: one launch per op; equal launches share a Collective. */
#include "plan/collectives.h"

#include "plan/kernels.h"

int plan_collective(Plan *plan, Collective c) {
    for (int i = 0; i < plan->collective_count; i++) {
        const Collective *other = &plan->collectives[i];
        if (other->kind == c.kind && other->group == c.group && other->count == c.count &&
            other->dtype == c.dtype)
            return i;
    }
    plan->collectives = arena_grow(plan->program->arena, plan->collectives, plan->collective_count,
                                   &plan->collective_capacity, sizeof c);
    plan->collectives[plan->collective_count] = c;
    return plan->collective_count++;
}

/* Counts one rank's part, or the whole value where ranks have no parts. */
static void add_collective(Plan *plan, Entry entry, const Op *op, CollectiveKind kind) {
    const Value *to = op->out[0], *from = op->in[0];
    const Value *part = kind == COLLECTIVE_ALL_GATHER ? from : to;
    Launch launch = {.kind = LAUNCH_COLLECTIVE, .arg = {to, from}};
    launch.arg_count = value_same_place(to, from) ? 1 : 2;
    launch.written[0] = true;
    launch.read[launch.arg_count - 1] = true;
    launch.index =
        plan_collective(plan, (Collective){kind, mesh_group(&plan->program->mesh, op->attr.group),
                                           value_elements(part), part->dtype});
    plan_add_launch(plan, entry, launch, &op, 1);
}

void plan_all_reduce(Plan *plan, Entry entry, const Group *group) {
    add_collective(plan, entry, group->ops[0], COLLECTIVE_ALL_REDUCE);
}

void plan_all_gather(Plan *plan, Entry entry, const Group *group) {
    add_collective(plan, entry, group->ops[0], COLLECTIVE_ALL_GATHER);
}

void plan_reduce_scatter(Plan *plan, Entry entry, const Group *group) {
    add_collective(plan, entry, group->ops[0], COLLECTIVE_REDUCE_SCATTER);
}

void plan_broadcast(Plan *plan, Entry entry, const Group *group) {
    add_collective(plan, entry, group->ops[0], COLLECTIVE_BROADCAST);
}

double collective_bytes(const Plan *plan, const Launch *launch) {
    const Collective *c = &plan->collectives[launch->index];
    bool parts = c->kind == COLLECTIVE_ALL_GATHER || c->kind == COLLECTIVE_REDUCE_SCATTER;
    double ranks = parts ? (double)mesh_ranks(&plan->program->mesh, c->group) : 1;
    return ranks * (double)c->count * dtype_bytes(c->dtype);
}

Party collective_party(const Plan *plan, const Collective *c) {
    const Mesh *mesh = &plan->program->mesh;
    return device_party(plan->device, (int)mesh_ranks(mesh, c->group),
                        (int)mesh_stride(mesh, c->group));
}

/* NCCL does nothing for a single rank, except that it copies what is not in place. */
static Time one_rank_time(const Plan *plan, const Launch *launch) {
    double bytes = collective_bytes(plan, launch);
    Traffic copied = {2 * bytes, 2 * bytes};
    if (launch->arg_count == 1) /* in place */
        return (Time){0};
    return device_kernel_time(plan->device, RATE_F32, 0, 0, copied, (Grid){0});
}

Time collective_time(const Plan *plan, const Launch *launch) {
    const Collective *c = &plan->collectives[launch->index];
    Party party = collective_party(plan, c);
    if (party.cards == 1)
        return one_rank_time(plan, launch);
    double bytes = collective_bytes(plan, launch);
    return (Time){device_collective_ms(plan->device, c->kind, party, bytes), BOUND_LINKS};
}

/* Some groups are needed whatever the plan's collectives are: evaluation sums over the data group,
 * pipeline stages exchange values, and all stages must create the same groups. */
int plan_groups(const Plan *plan, RankGroup groups[GROUP_SETS]) {
    const Mesh *mesh = &plan->program->mesh;
    bool named[GROUP_SETS] = {false};
    int count = 0;
    const RankGroup always[] = {GROUP_DATA, GROUP_PIPELINE, GROUP_TENSOR, GROUP_KEYS,
                                GROUP_SAME_KEYS};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        named[mesh_group(mesh, always[i])] = true;
    if (plan->program->stage.shares_ends)
        named[mesh_group(mesh, GROUP_ENDS)] = true;
    for (int i = 0; i < plan->collective_count; i++)
        named[plan->collectives[i].group] = true;
    for (RankGroup group = 1; group < GROUP_SETS; group++)
        if (named[group])
            groups[count++] = group;
    return count;
}
