/* A plan's making, and where a value lies. */
#include "plan/plan.h"

Plan *plan_new(Program *program, const Spec *spec, const Device *device) {
    Plan *plan = arena_alloc(program->arena, sizeof *plan);
    plan->program = program;
    plan->spec = spec;
    plan->device = device;
    for (int e = 0; e < ENTRY_COUNT; e++)
        plan->entry[e].name = program->entry[e].name;
    return plan;
}

Place plan_place(const Plan *plan, const Value *value) {
    Place place = plan->place[value->storage->id];
    if (place.offset >= 0)
        place.offset += value->offset * dtype_bytes(value->dtype);
    return place;
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

int plan_kernel_launches(const Plan *plan, Entry entry) {
    int count = 0;
    for (int i = 0; i < plan->entry[entry].launch_count; i++) {
        LaunchKind kind = plan->entry[entry].launches[i].kind;
        count += kind == LAUNCH_KERNEL || kind == LAUNCH_GEMM;
    }
    return count;
}

double plan_times(const Plan *plan, Entry entry, const Launch *launch) {
    if (entry == ENTRY_UPDATE)
        return 1;
    if (entry == ENTRY_LOAD || entry == ENTRY_EVALUATE)
        return 0;
    return launch->ends_step ? 1 : (double)plan->program->micro_steps;
}

Rate plan_rate(const Plan *plan) { return program_rate(plan->program); }

const char *plan_role_title(Role role) {
    static const char *const titles[ROLE_COUNT] = {
        [ROLE_INPUT] = "input, one slot",
        [ROLE_FROZEN] = "frozen weights",
        [ROLE_WEIGHT] = "trained weights",
        [ROLE_ADAPTER] = "adapters",
        [ROLE_BUFFER] = "buffers",
        [ROLE_CONSTANT] = "constants",
        [ROLE_DATASET] = "data set",
        [ROLE_COUNTER] = "counters, tables",
        [ROLE_GRADIENT] = "gradients",
        [ROLE_OPTIMIZER] = "optimizer state",
        [ROLE_ACTIVATION] = "activations",
    };
    return titles[role];
}
