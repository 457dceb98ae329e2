/* Finds the first non-finite tensor of a bad step.
 *
 * The device has applied no update since the bad step, so the weights are still those of that step:
 * its batch is run again, launch by launch, and every output is checked. Only where backward updates
 * the weights, a step with a finite loss has updated them before its norm was known. */
#include "runtime/device/device.h"
#include "runtime/device/launch.h"
#include "runtime/loop/loop.h"
#include "runtime/params/params.h"
#include "runtime/step/pipeline.h"
#include "runtime/step/step.h"

#include <math.h>
#include <stdio.h>

/* Resets the counters to before the bad step; random numbers depend on `step`. */
static void rewind_to(Rt *rt, int64_t step) {
    const RtCounters *at = &rt->program->counters;
    int32_t index = (int32_t)step, none = -1;
    rt_write_state(rt, at->step, sizeof index, &index);
    rt_write_state(rt, at->bad_step, sizeof none, &none);
    rt_zero(rt, rt_state(rt, at->step_loss), rt_dtype_bytes(rt->program->real));
    for (int i = 0; i < rt->program->metric_count; i++)
        if (rt->program->metrics[i].each_step)
            rt_zero(rt, rt_state(rt, rt->program->metrics[i].step_sum),
                    rt_dtype_bytes(rt->program->real));
}

/* With several micro-steps gradients accumulate, starting from zeros. */
static void clear_gradients(Rt *rt) {
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *param = &rt->program->params[i];
        int64_t count = param->gradient_in_pieces ? rt->program->piece_elements
                                                  : shard_elements(rt, param);
        size_t bytes = (size_t)count * rt_dtype_bytes(param->master_dtype);
        if (param->trained && param->gradient != RT_NOWHERE)
            rt_zero(rt, rt_state(rt, param->gradient), bytes);
    }
}

typedef struct {
    char text[512];
} Found;

/* The first rank that finds a bad tensor ends all ranks. */
static bool run_checked(Rt *rt, RtPhase phase, int slot, void *context) {
    Found *found = context;
    RtWork work = {0};
    const RtEntry *entries[RT_PHASE_ENTRIES];
    int count = phase_begin(rt, phase, entries), at = 0;
    if (phase == RT_PHASE_STEP &&
        pipeline_schedule(rt, slot, &work, found->text, sizeof found->text))
        return true;
    if (rt->card_count > 1)
        at = snprintf(found->text, sizeof found->text, "on card %d, ", rt->card);
    for (int i = 0; i < count; i++)
        if (rt_enqueue_checked(rt, entries[i], slot, found->text + at,
                               sizeof found->text - (size_t)at))
            return true;
    return false;
}

/* What running the step again shows. With a finite loss, updates in backward did not know better. */
static const char *what_shows(const Rt *rt, int64_t step) {
    bool known = step < rt->known_steps;
    double loss = known ? rt_get(rt->program->real, rt->losses, step) : NAN;
    if (rt->program->training.updates_in_backward && isfinite(loss))
        return "its loss was finite, so backward had updated weights before the gradients were "
               "known to be bad";
    return "no update was applied since";
}

/* Before the first step nothing was updated, so neither the learning rate nor an update is to blame. */
static const char *remedy(int64_t step) {
    return step == 0 ? "Check the initial weights for numbers that are not finite or too large, "
                       "then the data of that step"
                     : "Lower optimizer.lr or check the data of that step; earlier checkpoints are "
                       "good";
}

_Noreturn void bad_step_explain(Rt *rt, int64_t step) {
    Found found;
    const char *what = what_shows(rt, step);
    rt_sync(rt, RT_STREAM_COMPUTE);
    rewind_to(rt, step);
    if (rt->program->training.micro_steps > 1)
        clear_gradients(rt);
    rt->step = step;
    if (rt_step(rt, step, run_checked, &found))
        rt_fail("step %lld is not finite: first %s; %s. %s", (long long)step + 1, found.text, what,
                remedy(step));
    rt_fail("step %lld: the gradient norm is not finite, but a replay found no such tensor (%s): "
            "the sum of squares overflows. %s",
            (long long)step + 1, what, remedy(step));
}
