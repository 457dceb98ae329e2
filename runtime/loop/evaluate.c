/* Held-out figures: the loss and the program's other metrics. */
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"
#include "runtime/data/data.h"
#include "runtime/device/device.h"
#include "runtime/loop/loop.h"
#include "runtime/params/params.h"
#include "runtime/report/profile.h"
#include "runtime/step/capture.h"
#include "runtime/step/input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void zero(Rt *rt, size_t at) {
    const double nothing = 0;
    rt_write_state(rt, at, rt_dtype_bytes(rt->program->real), &nothing);
}

static double read_mean(Rt *rt, size_t at, int64_t targets) {
    double sum = 0;
    rt_read_state(rt, at, rt_dtype_bytes(rt->program->real), &sum);
    return targets > 0 ? rt_figure(rt->program->real, &sum, 0) / (double)targets : NAN;
}

static int64_t run_batches(Rt *rt, RtPhase phase, int64_t batches) {
    int64_t targets = 0;
    for (int64_t i = 0; i < batches; i++) {
        int64_t more;
        int slot = input_send_eval(rt, i, &more);
        rt_run_phase(rt, phase, slot);
        input_release(rt, slot);
        targets += more;
    }
    return targets;
}

/* Sums a figure over ranks. In a pipeline only the last stage has figures; the others have
 * zeros. */
static void sum_figure(Rt *rt, size_t at) {
    static const RtGroup apart[] = {RT_PIPELINE, RT_DATA};
    for (int i = 0; i < 2; i++)
        if (mesh_group(rt->program, apart[i]))
            rt_all_reduce(rt, apart[i], rt_state(rt, at), 1, rt->program->real);
}

/* Sums figures and targets over all ranks, counting each batch once; in a pipeline only the last
 * stage has targets. */
static int64_t sum_figures(Rt *rt, int64_t targets) {
    const RtProgram *program = rt->program;
    if (mesh_first(program, RT_WORLD & ~RT_DATA & ~RT_PIPELINE, rt->rank) != rt->rank)
        targets = 0;
    sum_figure(rt, program->counters.eval_loss);
    for (int i = 0; i < program->metric_count; i++)
        sum_figure(rt, program->metrics[i].offset);
    comm_sum_i64(rt, &targets, 1, "the held-out loss");
    return targets;
}

static RtEvaluation measure(Rt *rt, RtPhase phase, int64_t batches) {
    const RtProgram *program = rt->program;
    RtEvaluation found = {.step = rt->step};
    zero(rt, program->counters.eval_loss);
    for (int i = 0; i < program->metric_count; i++)
        zero(rt, program->metrics[i].offset);
    int64_t targets = run_batches(rt, phase, batches);
    if (rt->ranks > 1)
        targets = sum_figures(rt, targets);
    found.targets = targets;
    found.loss = read_mean(rt, program->counters.eval_loss, targets);
    for (int i = 0; i < program->metric_count; i++)
        found.metrics[i] = read_mean(rt, program->metrics[i].offset, targets);
    return found;
}

static void show(const Rt *rt, const RtEvaluation *found, const char *when) {
    char at_step[32];
    if (!when)
        snprintf(at_step, sizeof at_step, "at step %lld", (long long)found->step);
    const char *unit = targets_name(rt->program);
    int length = (int)strlen(unit) - (found->targets == 1); /* "1 image" */
    printf("held-out loss %s: ", when ? when : at_step);
    printf(fabs(found->loss) < 1e9 ? "%.6f" : "%.6g", rt_six_decimals(found->loss)); /* it diverged */
    printf(" (mean of %lld %.*s)\n", (long long)found->targets, length, unit);
    for (int i = 0; i < rt->program->metric_count; i++)
        printf("held-out %s %s: %.6f\n", rt->program->metrics[i].name, when ? when : at_step,
               rt_six_decimals(found->metrics[i]));
    fflush(stdout);
}

static void keep(Rt *rt, const RtEvaluation *found) {
    size_t count = (size_t)rt->evaluation_count + 1;
    rt->evaluations = realloc(rt->evaluations, count * sizeof *rt->evaluations);
    if (!rt->evaluations)
        rt_fail("out of host memory for another evaluation");
    rt->evaluations[rt->evaluation_count++] = *found;
}

/* Leaves the measurements of training steps unchanged. */
static RtEvaluation run(Rt *rt, RtPhase phase, const RtEntry *entry) {
    int64_t batches = loader_eval_batches(rt->loader);
    if (!entry->enqueue || batches == 0)
        return (RtEvaluation){.step = rt->step, .loss = NAN};
    RtMeasured training = rt->measured;
    profile_range_push("evaluate");
    RtEvaluation found = measure(rt, phase, batches);
    profile_range_pop();
    rt->measured = training;
    return found;
}

RtEvaluation evaluate(Rt *rt, const char *when) {
    RtEvaluation found = run(rt, RT_PHASE_EVALUATE, &rt->program->evaluate);
    if (isnan(found.loss)) {
        if (rt->program->evaluate.enqueue && loader_eval_batches(rt->loader) > 0)
            rt_warn("the held-out loss at step %lld is not a number", (long long)found.step);
        return found;
    }
    keep(rt, &found);
    show(rt, &found, when);
    return found;
}

RtEvaluation evaluate_converted(Rt *rt) {
    RtEvaluation found = run(rt, RT_PHASE_EVALUATE_CONVERTED, &rt->program->evaluate_converted);
    if (!isnan(found.loss))
        show(rt, &found, "quantized");
    return found;
}
