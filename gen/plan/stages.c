/* All stages of a pipeline together: how long a step takes, and how long cards wait in it. */
#include "plan/figures.h"
#include "plan/plan_steps.h"

#include <math.h>

static double sent_bytes(const Plan *plan) {
    const PipelineStage *stage = &plan->program->stage;
    return (stage->sent ? (double)value_bytes(stage->sent) : 0) +
           (stage->sent_gradient ? (double)value_bytes(stage->sent_gradient) : 0);
}

/* Time of an exchange with a neighbouring stage. Gradients are no larger than activations.
 * Neighbours are as many ranks apart as a stage has ranks. */
static double exchange_ms(const Plan *plan) {
    const PipelineStage *stage = &plan->program->stage;
    const Value *v = stage->sent ? stage->sent : stage->received;
    int stride = (int)mesh_ranks(&plan->program->mesh, GROUP_WORLD & ~GROUP_PIPELINE);
    return device_all_reduce_ms(plan->device, device_party(plan->device, 2, stride),
                                (double)value_bytes(v));
}

/* Counts what a stage sends; all of it is exposed. */
static void count_exchanges(Plan *plan) {
    Exchanged *sum = &plan->exchanged[COLLECTIVE_SEND_RECV];
    sum->count = schedule_exchanges(&plan->schedule);
    sum->bytes = (double)plan->program->micro_steps * sent_bytes(plan);
    sum->ms = sum->count * plan->stage_time.exchange_ms;
    plan->exposed_ms = plan_exchanged(plan).ms;
}

void plan_stages(Plan *const *stages, int count) {
    Arena arena = {0};
    StageSchedule *schedules = arena_array(&arena, (size_t)count, sizeof *schedules);
    StageTime *times = arena_array(&arena, (size_t)count, sizeof *times);
    double update = 0, updates = 0, busy = 0, exposed = 0;
    for (int s = 0; s < count; s++) {
        const PlanEntry *entry = stages[s]->entry;
        schedules[s] = stages[s]->schedule;
        times[s] = (StageTime){.forward_ms = entry[ENTRY_MICRO_STEP].cost.ms,
                               .backward_ms = entry[ENTRY_BACKWARD].cost.ms,
                               .exchange_ms = exchange_ms(stages[s])};
        update = fmax(update, entry[ENTRY_UPDATE].cost.ms);
        updates += entry[ENTRY_UPDATE].cost.ms;
    }
    double copying = 0, ms = schedule_ms(schedules, times, count);
    ENSURE(ms >= 0, "the stages wait for each other for ever");
    for (int s = 0; s < count; s++) {
        busy += times[s].busy_ms;
        copying = fmax(copying, stages[s]->copying_ms);
    }
    for (int s = 0; s < count; s++) {
        stages[s]->stage_time = times[s];
        count_exchanges(stages[s]);
        exposed += stages[s]->exposed_ms;
        stages[s]->bubble = 1 - busy / (count * ms);
        stages[s]->copying_ms = copying;
        stages[s]->launching_ms = 0; /* a graph per step */
        stages[s]->device_ms = ms + update;
        stages[s]->step.ms =
            plan_step_ms(stages[s], ms + update, stages[s]->spec->compile.overlap);
        stages[s]->mean_bubble = 1 - (busy + updates) / (count * stages[s]->step.ms);
    }
    for (int s = 0; s < count; s++)
        stages[s]->mean_exposed_ms = exposed / count;
    arena_free(&arena);
}
