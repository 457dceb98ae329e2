/* Creates a plan and answers questions about one and its launches. */
#include "plan/plan_steps.h"

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

/* In a pipeline all batches of a step are on the device together. */
int64_t plan_slots(const Plan *plan, ArenaKind kind) {
    bool stage = plan->program->stage.count > 1;
    if (kind == ARENA_STASH)
        return plan->schedule.slots;
    if (kind != ARENA_INPUT)
        return 1;
    return stage ? INPUT_SLOTS * plan->program->micro_steps : INPUT_SLOTS;
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

void cost_add(Cost *sum, const Cost *cost, double times) {
    sum->flops += times * cost->flops;
    sum->model_flops += times * cost->model_flops;
    sum->issued_bytes += times * cost->issued_bytes;
    sum->instructions += times * cost->instructions;
    sum->moved_bytes += times * cost->moved_bytes;
    sum->cached_bytes += times * cost->cached_bytes;
    sum->dram_bytes += times * cost->dram_bytes;
    sum->least_bytes += times * cost->least_bytes;
    sum->ms += times * cost->ms;
    sum->slowed_ms += times * cost->slowed_ms;
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
