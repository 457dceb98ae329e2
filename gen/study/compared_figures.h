/* The figures of --compare. Only compare_runs.c uses this table, and tests/unit/test_report.c, which
 * checks that the runtime's reports have these figures. */
#ifndef STUDY_COMPARED_FIGURES_H
#define STUDY_COMPARED_FIGURES_H

#include "study/study.h"

/* Not from a report, but relative to another run: by the measured rates, or where times are simulated
 * by the predicted ones. */
#define SPEEDUP "speedup"
#define EFFICIENCY "efficiency"
#define PREDICTED_SPEEDUP "predicted.speedup"
#define PREDICTED_EFFICIENCY "predicted.efficiency"

enum { TIME, TOTALS, LAUNCHES, WAITS, COPIES, MEMORY, FLOPS, LOSS, METRICS, CARDS, COLLECTIVES, DATA };

/* Path, group, title in a chart, unit, and what the figure covers. */
static const Figure figures[] = {
    {"iteration_ms.median", TIME, "iteration, median", "ms", ONE_STEP},
    {"iteration_ms.p10", TIME, NULL, "ms", ONE_STEP},
    {"iteration_ms.p90", TIME, NULL, "ms", ONE_STEP},
    {"tokens_per_s", TIME, "throughput", "tokens/s", ONE_STEP},
    {"samples_per_s", TIME, "throughput", "samples/s", ONE_STEP},
    {"predicted.iteration_ms.median", TIME, "predicted: iteration", "ms", ONE_STEP},
    {"predicted.tokens_per_s", TIME, "predicted: throughput", "tokens/s", ONE_STEP},
    {"predicted.samples_per_s", TIME, "predicted: throughput", "samples/s", ONE_STEP},
    {"time.load_s", TOTALS, NULL, "s", WHOLE_RUN},
    {"time.train_s", TOTALS, NULL, "s", SUM_OF_STEPS},
    {"parameters.total", TOTALS, NULL, "parameters", WHOLE_RUN},
    {"parameters.trainable", TOTALS, NULL, "parameters", WHOLE_RUN},
    {FIRST_STEP, LAUNCHES, NULL, "steps", WHOLE_RUN},
    {"steps", LAUNCHES, NULL, "steps", WHOLE_RUN},
    {"kernels.launches", LAUNCHES, "kernel launches", "launches", SUM_OF_STEPS},
    {"graphs.launches", LAUNCHES, NULL, "launches", SUM_OF_STEPS},
    {"kernels.launch_ms", LAUNCHES, NULL, "ms", SUM_OF_STEPS},
    {"kernels.ms", LAUNCHES, NULL, "ms", SUM_OF_WINDOW},
    {"syncs.count", WAITS, NULL, "calls", SUM_OF_STEPS},
    {"syncs.ms", WAITS, NULL, "ms", SUM_OF_STEPS},
    {"waits.count", WAITS, NULL, "calls", SUM_OF_STEPS},
    {"waits.ms", WAITS, NULL, "ms", SUM_OF_STEPS},
    {"feeding.data_wait_ms", WAITS, NULL, "ms", ONE_STEP},
    {"feeding.copy_ms", WAITS, NULL, "ms", ONE_STEP},
    {"feeding.compute_ms", WAITS, NULL, "ms", ONE_STEP},
    {"copies.h2d.count", COPIES, NULL, "copies", SUM_OF_STEPS},
    {"copies.h2d.bytes", COPIES, "host to device", "bytes", SUM_OF_STEPS},
    {"copies.h2d.ms", COPIES, NULL, "ms", SUM_OF_WINDOW},
    {"copies.d2h.count", COPIES, NULL, "copies", SUM_OF_STEPS},
    {"copies.d2h.bytes", COPIES, NULL, "bytes", SUM_OF_STEPS},
    {"copies.d2h.ms", COPIES, NULL, "ms", SUM_OF_WINDOW},
    {"copies.d2d.count", COPIES, NULL, "copies", SUM_OF_STEPS},
    {"copies.d2d.bytes", COPIES, NULL, "bytes", SUM_OF_STEPS},
    {"copies.d2d.ms", COPIES, NULL, "ms", SUM_OF_WINDOW},
    {SPEEDUP, CARDS, "speed-up over one card", "", ONE_STEP},
    {EFFICIENCY, CARDS, "efficiency: speed-up per card", "", ONE_STEP},
    {PREDICTED_SPEEDUP, CARDS, "predicted: speed-up over one card", "", ONE_STEP},
    {PREDICTED_EFFICIENCY, CARDS, "predicted: efficiency, speed-up per card", "", ONE_STEP},
    {"communication.ms", CARDS, NULL, "ms", ONE_STEP},
    {"communication.exposed_ms", CARDS, "exposed communication of a step", "ms", ONE_STEP},
    {"predicted.communication.exposed_ms", CARDS, "predicted: exposed communication of a step", "ms",
     ONE_STEP},
    {"bubble", CARDS, NULL, "share", ONE_STEP},
    {"predicted.bubble", CARDS, NULL, "share", ONE_STEP},
    {"imbalance.iteration", CARDS, NULL, "share", ONE_STEP},
    {"imbalance.work", CARDS, NULL, "share", ONE_STEP},
    {"collectives.all_reduce.count", COLLECTIVES, NULL, "calls", SUM_OF_STEPS},
    {"collectives.all_reduce.bytes", COLLECTIVES, "all-reduced", "bytes", SUM_OF_STEPS},
    {"collectives.all_reduce.ms", COLLECTIVES, NULL, "ms", SUM_OF_WINDOW},
    {"collectives.all_reduce.bus_gbs", COLLECTIVES, NULL, "GB/s", IN_WINDOW},
    {"collectives.all_gather.bytes", COLLECTIVES, NULL, "bytes", SUM_OF_STEPS},
    {"collectives.all_gather.bus_gbs", COLLECTIVES, NULL, "GB/s", IN_WINDOW},
    {"collectives.reduce_scatter.bytes", COLLECTIVES, NULL, "bytes", SUM_OF_STEPS},
    {"collectives.reduce_scatter.bus_gbs", COLLECTIVES, NULL, "GB/s", IN_WINDOW},
    {"collectives.send_recv.bytes", COLLECTIVES, NULL, "bytes", SUM_OF_STEPS},
    {"collectives.broadcast.bytes", COLLECTIVES, NULL, "bytes", SUM_OF_STEPS},
    {"collectives.gather.bytes", COLLECTIVES, NULL, "bytes", SUM_OF_STEPS},
    {"collectives.reduce.bytes", COLLECTIVES, NULL, "bytes", SUM_OF_STEPS},
    {"memory.allocated_bytes", MEMORY, "allocated for arenas", "bytes", WHOLE_RUN},
    {"memory.process_peak_bytes", MEMORY, "process, peak", "bytes", WHOLE_RUN},
    {"predicted.memory.process_planned_bytes", MEMORY, "predicted: process, peak", "bytes",
     WHOLE_RUN},
    {"flops.per_step", FLOPS, NULL, "FLOP", ONE_STEP},
    {"flops.share_of_peak", FLOPS, NULL, "share", ONE_STEP},
    {"loss.first", LOSS, NULL, "", ONE_STEP},
    {"loss.last", LOSS, "loss, last step", "", ONE_STEP},
    {"loss_scale.skipped_steps", LOSS, NULL, "steps", SUM_OF_STEPS},
    {"loss.heldout_before", LOSS, NULL, "", HELDOUT_MEAN},
    {"loss.heldout_after", LOSS, "held-out loss", "", HELDOUT_MEAN},
    {"loss.heldout_targets", LOSS, NULL, "targets", HELDOUT_DATA},
    {"accuracy.before.top1", METRICS, NULL, "share", HELDOUT_MEAN},
    {"accuracy.after.top1", METRICS, "held-out accuracy, top 1", "share", HELDOUT_MEAN},
    {"accuracy.after.top5", METRICS, NULL, "share", HELDOUT_MEAN},
    {"metrics.after.rewards/accuracies", METRICS, "held-out pairs ranked correctly", "share",
     HELDOUT_MEAN},
    {"metrics.after.rewards/margins", METRICS, NULL, "", HELDOUT_MEAN},
    {"data.train_samples", DATA, NULL, "samples", TRAINING_DATA},
    {"data.mean_tokens", DATA, NULL, "tokens", TRAINING_DATA},
    {"data.padding_share", DATA, NULL, "share", TRAINING_DATA},
    {"data.target_share", DATA, NULL, "share", TRAINING_DATA},
};

#endif
