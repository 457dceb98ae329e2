/* Ops without scalar steps: calls the launch rule that the op table names for each; holds the rules
 * that need no file of their own. */
#include "graph/op_table.h"
#include "plan/kernels.h"

#define no_launch NULL
#define no_sharing NULL

void plan_op(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[group->hosts ? group->count - 1 : 0];
    static LaunchRule *const rule[OP_COUNT] = {
#define OP(name, traits, shape, gradient, expand, flops, launch) [OP_##name] = launch,
#include "graph/ops.h"
#undef OP
    };
    ENSURE(rule[op->kind], "no kernel for op %s (%s)", op->name, op_table[op->kind].name);
    rule[op->kind](plan, entry, group);
}

static SharingRule *sharing_rule(const Op *op) {
    static SharingRule *const rule[OP_COUNT] = {
#define OP(name, ...)
#define PROLOGUE_OP(name, traits, shape, gradient, expand, flops, launch, sharing) \
    [OP_##name] = sharing,
#include "graph/ops.h"
#undef OP
    };
    return rule[op->kind];
}

bool op_shares_prologue(const Op *op) { return sharing_rule(op); }

bool prologue_is_served(const Plan *plan, Entry entry, const Group *group) {
    SharingRule *rule = sharing_rule(group_host(group, group->hosts - 1));
    return rule ? rule(plan, entry, group) : group->hosts == 1;
}

void plan_fetch(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    Launch launch = {.kind = LAUNCH_FETCH,
                     .arg = {op->out[0], op->in[0]},
                     .written = {[0] = true},
                     .read = {[1] = true},
                     .arg_count = 2};
    plan_add_launch(plan, entry, launch, &op, 1);
}

void plan_export(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    Launch launch = {.kind = LAUNCH_EXPORT,
                     .index = (int)op->attr.part + (op->attr.group ? PART_COUNT : 0),
                     .arg = {op->in[0], op->in[1]},
                     .read = {true, true},
                     .arg_count = 2};
    plan_add_launch(plan, entry, launch, &op, 1);
}

void plan_zero(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    Launch launch = {
        .kind = LAUNCH_ZERO, .arg = {op->out[0]}, .written = {true}, .arg_count = 1};
    plan_add_launch(plan, entry, launch, &op, 1);
}

void plan_peer_copy(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    Launch launch = {.kind = LAUNCH_PEER_COPY,
                     .index = (int)op->attr.card * PURPOSE_COUNT + (int)op->attr.purpose,
                     .arg = {op->out[0], op->in[0]},
                     .written = {[0] = true},
                     .read = {[1] = true},
                     .arg_count = 2};
    plan_add_launch(plan, entry, launch, &op, 1);
}
