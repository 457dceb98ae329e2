/* Creates a plan and answers questions about a finished one. */
#include "plan/plan.h"

Plan *plan_new(Program *program, const Spec *spec, const Device *device) {
    Plan *plan = arena_alloc(program->arena, sizeof *plan);
    plan->program = program;
    plan->spec = spec;
    plan->device = device;
    const PipelineStage *stage = &program->stage;
    if (stage->count > 1)
        plan->schedule =
            schedule_of(program->arena, spec->parallelism.pipeline_schedule, (int)stage->index,
                        (int)stage->count, (int)program->micro_steps);
    for (int e = 0; e < ENTRY_COUNT; e++)
        plan->entry[e].name = program->entry[e].name;
    return plan;
}

int64_t plan_gemm_workspace(const Plan *plan, int stream) {
    return plan->gemm_workspace_offset + (stream == STREAM_SIDE ? plan->gemm_workspace_bytes : 0);
}

/* INPUT: a batch is copied while its predecessor is computed. In a pipeline all batches of a step
 * are on the device together with those of the next step. */
int64_t plan_slots(const Plan *plan, ArenaKind kind) {
    bool stage = plan->program->stage.count > 1;
    if (kind == ARENA_STASH)
        return plan->schedule.slots;
    return kind != ARENA_INPUT ? 1 : stage ? 2 * plan->program->micro_steps : 2;
}

int64_t plan_total_bytes(const Plan *plan) {
    int64_t bytes = 0;
    for (int a = 0; a < ARENA_COUNT; a++)
        bytes += plan_slots(plan, (ArenaKind)a) * plan->arena_bytes[a];
    return bytes;
}

int launch_touch_count(const Launch *launch) { return launch->arg_count * (1 + launch->joined_count); }

Touched launch_touched(const Launch *launch, int index) {
    const Launch *of = launch;
    if (index >= launch->arg_count) {
        of = &launch->joined[index / launch->arg_count - 1];
        index %= launch->arg_count;
    }
    return (Touched){of->arg[index], of->read[index], of->written[index]};
}

const Op *launch_last_op(const Launch *launch) {
    return launch->joined_count ? launch->joined[launch->joined_count - 1].ops[0] : launch->ops[0];
}

static const char *collective_title(CollectiveKind kind) {
    static const char *const titles[COLLECTIVE_KINDS] = {[COLLECTIVE_ALL_REDUCE] = "[all_reduce]",
                                                         [COLLECTIVE_ALL_GATHER] = "[all_gather]",
                                                         [COLLECTIVE_REDUCE_SCATTER] =
                                                             "[reduce_scatter]",
                                                         [COLLECTIVE_BROADCAST] = "[broadcast]"};
    return titles[kind];
}

const char *launch_name(const Plan *plan, const Launch *launch) {
    switch (launch->kind) {
    case LAUNCH_KERNEL:
        return plan->kernels[launch->index].name;
    case LAUNCH_GEMM:
        return plan->gemms[launch->index].name;
    case LAUNCH_ZERO:
        return "[memset]";
    case LAUNCH_COPY:
        return "[memcpy]";
    case LAUNCH_COLLECTIVE:
        return collective_title(plan->collectives[launch->index].kind);
    case LAUNCH_PEER_COPY:
        return "[peer copy]";
    case LAUNCH_FETCH:
        return "[fetch]";
    case LAUNCH_EXPORT:
        return "[export]";
    }
    return "";
}

const Launch *plan_first_launch(const Plan *plan, LaunchKind kind, int index) {
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            const Launch *launch = &plan->entry[e].launches[i];
            if (launch->kind == kind && launch->index == index)
                return launch;
        }
    internal_fault(__FILE__, __LINE__, "kernel or product %d has no launch", index);
}

static bool is_kernel(const Launch *launch) {
    return launch->kind == LAUNCH_KERNEL || launch->kind == LAUNCH_GEMM;
}

int plan_kernel_launches(const Plan *plan, Entry entry) {
    int count = 0;
    for (int i = 0; i < plan->entry[entry].launch_count; i++)
        count += is_kernel(&plan->entry[entry].launches[i]);
    return count;
}

double plan_times(const Plan *plan, Entry entry, const Launch *launch) {
    Runs runs = entry_info(entry)->runs;
    if (runs == RUNS_EACH_MICRO_STEP && !launch->ends_step)
        return (double)plan->program->micro_steps;
    return runs != RUNS_ASIDE;
}

/* How many cards of the process run the entry. */
static double cards_with(const Plan *plan, Entry entry) {
    OnCards on = entry_info(entry)->on;
    double cards = (double)plan->program->cards;
    return on == ON_ALL_CARDS ? cards : on == ON_OTHER_CARDS ? cards - 1 : 1;
}

int plan_step_launches(const Plan *plan) {
    double count = 0;
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++)
            if (entry_info((Entry)e)->on != ON_OTHER_CARDS)
                count += plan_times(plan, (Entry)e, &plan->entry[e].launches[i]);
    return (int)count;
}

double plan_step_kernels(const Plan *plan) {
    double count = 0;
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            const Launch *launch = &plan->entry[e].launches[i];
            if (is_kernel(launch))
                count += cards_with(plan, (Entry)e) * plan_times(plan, (Entry)e, launch);
        }
    return count;
}

double plan_step_input_bytes(const Plan *plan) {
    double batches = (double)plan->program->micro_steps * (double)plan->program->cards;
    return batches * (double)plan->arena_bytes[ARENA_INPUT];
}

Rate plan_rate(const Plan *plan) { return program_rate(plan->program); }

const char *plan_role_title(Role role) {
    static const char *const titles[ROLE_COUNT] = {
        [ROLE_INPUT] = "input, one slot",  [ROLE_FROZEN] = "frozen weights",
        [ROLE_WEIGHT] = "trained weights", [ROLE_ADAPTER] = "adapters",
        [ROLE_BUFFER] = "buffers",         [ROLE_CONSTANT] = "constants",
        [ROLE_DATASET] = "data set",       [ROLE_COUNTER] = "counters, tables",
        [ROLE_GRADIENT] = "gradients",     [ROLE_OPTIMIZER] = "optimizer state",
        [ROLE_ACTIVATION] = "activations", [ROLE_STASH] = "kept, one micro-batch",
    };
    return titles[role];
}

int plan_cards(const Plan *plan) {
    return (int)(mesh_ranks(&plan->program->mesh, GROUP_WORLD) * plan->program->cards);
}

double plan_step_rows(const Plan *plan) {
    const Program *p = plan->program;
    return (double)p->tokens * (double)p->micro_steps *
           (double)(mesh_ranks(&p->mesh, GROUP_DATA) * p->cards);
}

double plan_speedup(const Plan *plan) {
    const Program *p = plan->program;
    double batches = (double)(mesh_ranks(&p->mesh, GROUP_DATA) * p->cards);
    return batches * plan->alone_ms / plan->step.ms;
}
