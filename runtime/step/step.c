/* Training, the dump and the search for the first bad value each give rt_step their own function
 * that runs a phase: it launches a CUDA graph, or enqueues the launches one by one and looks at the
 * values. */
#include "runtime/step/step.h"
#include "runtime/step/cards.h"
#include "runtime/step/input.h"

/* Sends all batches first, because the schedule switches between them. */
static bool run_schedule(Rt *rt, int64_t step, RtRunPhase *run, void *context) {
    int micro_steps = (int)rt->program->training.micro_steps;
    int first = input_send(rt, step * micro_steps);
    for (int m = 1; m < micro_steps; m++)
        input_send(rt, step * micro_steps + m);
    bool stop = run(rt, RT_PHASE_STEP, first, context);
    for (int m = 0; m < micro_steps; m++)
        input_release(rt, first + m);
    return stop;
}

/* On one card, with the update if it is the last of its step. */
static bool micro_step(Rt *rt, int64_t index, bool last, RtRunPhase *run, void *context) {
    const RtTraining *training = &rt->program->training;
    RtPhase phase = last ? RT_PHASE_LAST_MICRO_STEP : RT_PHASE_MICRO_STEP;
    if (index / training->micro_steps < training->early_steps)
        phase = last ? RT_PHASE_LAST_EARLY_MICRO_STEP : RT_PHASE_EARLY_MICRO_STEP;
    int slot = input_send(rt, index);
    bool stop = run(rt, phase, slot, context);
    input_release(rt, slot);
    return stop;
}

bool rt_step(Rt *rt, int64_t step, RtRunPhase *run, void *context) {
    int64_t micro_steps = rt->program->training.micro_steps;
    if (rt->program->pipeline)
        return run_schedule(rt, step, run, context);
    for (int64_t m = 0; m < micro_steps; m++) {
        int64_t index = step * micro_steps + m;
        bool last = m == micro_steps - 1;
        if ((rt->cards ? cards_micro_step : micro_step)(rt, index, last, run, context))
            return true;
    }
    return false;
}
