/* Figures of a finished plan. */
#include "base/rounding.h"
#include "plan/figures.h"

#include <math.h>

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

/* In a pipeline one per step; of several cards, all but the first replicate, all run a micro-step, and
 * the first collects. */
double plan_graph_launches(const Plan *plan) {
    const Program *p = plan->program;
    if (!plan->spec->compile.cuda_graph)
        return 0;
    if (p->stage.count > 1)
        return 1;
    return (double)(p->micro_steps * (p->cards > 1 ? 2 * p->cards : 1));
}

double plan_step_input_bytes(const Plan *plan) {
    double batches = (double)plan->program->micro_steps * (double)plan->program->cards;
    return batches * (double)plan->arena_bytes[ARENA_INPUT];
}

double plan_step_ms(const Plan *plan, double device_ms, bool overlap) {
    double own = overlap ? 0 : plan->copying_ms, beside = overlap ? plan->copying_ms : 0;
    return own + fmax(device_ms, beside + plan->launching_ms);
}

bool plan_is_bound_by_host(const Plan *plan) {
    double waits_ms = plan->spec->compile.overlap ? 0 : plan->copying_ms;
    return plan->step.ms > waits_ms + plan->device_ms;
}

double plan_waited_ms(const Plan *plan) {
    double others_ms = plan->device_ms - plan->exposed_ms;
    return plan->step.ms - plan_step_ms(plan, others_ms, plan->spec->compile.overlap);
}

Exchanged plan_exchanged(const Plan *plan) {
    Exchanged sum = {0};
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        sum.count += plan->exchanged[kind].count;
        sum.bytes += plan->exchanged[kind].bytes;
        sum.ms += plan->exchanged[kind].ms;
    }
    for (int i = 0; i < PURPOSE_COUNT; i++) {
        sum.count += plan->copies[i].count;
        sum.bytes += plan->copies[i].bytes;
        sum.ms += plan->copies[i].ms;
    }
    return sum;
}

int64_t plan_scratch_rest(const Plan *plan) {
    int64_t workspaces = plan->gemm_workspaces * plan->gemm_workspace_bytes;
    return plan->arena_bytes[ARENA_SCRATCH] - workspaces - plan->peak.bytes;
}

int64_t plan_page_bytes(const Plan *plan, int64_t state) {
    int64_t bytes = 0;
    for (int a = 0; a < ARENA_COUNT; a++) {
        int64_t slots = plan_slots(plan, (ArenaKind)a) * plan->arena_bytes[a];
        bytes += round_up(a == ARENA_STATE ? state : slots, DEVICE_PAGE);
    }
    return bytes;
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
