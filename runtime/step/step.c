/* Training, the dump and the search for the first bad value each give rt_step their own function
 * that runs a phase: it launches a CUDA graph, or enqueues the launches one by one and looks at the
 * values. The phases of a micro-step, on one card or several, are in cards.c. */
#include "runtime/step/step.h"
#include "runtime/step/input.h"

#include "runtime/step/cards.h"

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

bool rt_step(Rt *rt, int64_t step, RtRunPhase *run, void *context) {
    int64_t micro_steps = rt->program->training.micro_steps;
    if (rt->program->pipeline)
        return run_schedule(rt, step, run, context);
    for (int64_t m = 0; m < micro_steps; m++)
        if (rt_micro_step(rt, step * micro_steps + m, run, context))
            return true;
    return false;
}
