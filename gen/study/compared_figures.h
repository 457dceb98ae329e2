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

enum { TIME, LAUNCHES, WAITS, COPIES, MEMORY, FLOPS, LOSS, METRICS, CARDS, COLLECTIVES, DATA };

/* Path, group, title in a chart, and what the figure is a sum over. */
static const Figure figures[] = {
    {"iteration_ms.median", TIME, "iteration, median ms", NO_SUM},
    {"iteration_ms.p10", TIME, NULL, NO_SUM},
    {"iteration_ms.p90", TIME, NULL, NO_SUM},
    {"tokens_per_s", TIME, "tokens per second", NO_SUM},
    {"samples_per_s", TIME, "samples per second", NO_SUM},
    {"predicted.iteration_ms.median", TIME, "predicted: iteration, ms", NO_SUM},
    {"predicted.tokens_per_s", TIME, "predicted: tokens per second", NO_SUM},
    {"predicted.samples_per_s", TIME, "predicted: samples per second", NO_SUM},
    {"steps", LAUNCHES, NULL, NO_SUM},
    {"kernels.launches", LAUNCHES, "kernel launches", SUM_OF_STEPS},
    {"graphs.launches", LAUNCHES, NULL, SUM_OF_STEPS},
    {"kernels.launch_ms", LAUNCHES, NULL, SUM_OF_STEPS},
    {"kernels.ms", LAUNCHES, NULL, SUM_OF_WINDOW},
    {"syncs.count", WAITS, NULL, SUM_OF_STEPS},
    {"syncs.ms", WAITS, NULL, SUM_OF_STEPS},
    {"waits.count", WAITS, NULL, SUM_OF_STEPS},
    {"waits.ms", WAITS, NULL, SUM_OF_STEPS},
    {"feeding.data_wait_ms", WAITS, NULL, NO_SUM},
    {"feeding.copy_ms", WAITS, NULL, NO_SUM},
    {"feeding.compute_ms", WAITS, NULL, NO_SUM},
    {"copies.h2d.count", COPIES, NULL, SUM_OF_STEPS},
    {"copies.h2d.bytes", COPIES, "host to device, bytes", SUM_OF_STEPS},
    {"copies.h2d.ms", COPIES, NULL, SUM_OF_WINDOW},
    {"copies.d2h.count", COPIES, NULL, SUM_OF_STEPS},
    {"copies.d2h.bytes", COPIES, NULL, SUM_OF_STEPS},
    {"copies.d2h.ms", COPIES, NULL, SUM_OF_WINDOW},
    {"copies.d2d.count", COPIES, NULL, SUM_OF_STEPS},
    {"copies.d2d.bytes", COPIES, NULL, SUM_OF_STEPS},
    {"copies.d2d.ms", COPIES, NULL, SUM_OF_WINDOW},
    {SPEEDUP, CARDS, "speed-up over one card", NO_SUM},
    {EFFICIENCY, CARDS, "efficiency: speed-up per card", NO_SUM},
    {PREDICTED_SPEEDUP, CARDS, "predicted: speed-up over one card", NO_SUM},
    {PREDICTED_EFFICIENCY, CARDS, "predicted: efficiency, speed-up per card", NO_SUM},
    {"communication.ms", CARDS, NULL, NO_SUM},
    {"communication.exposed_ms", CARDS, "exposed communication, ms per step", NO_SUM},
    {"bubble", CARDS, NULL, NO_SUM},
    {"imbalance.iteration", CARDS, NULL, NO_SUM},
    {"imbalance.work", CARDS, NULL, NO_SUM},
    {"collectives.all_reduce.count", COLLECTIVES, NULL, SUM_OF_STEPS},
    {"collectives.all_reduce.bytes", COLLECTIVES, "all-reduced, bytes", SUM_OF_STEPS},
    {"collectives.all_reduce.ms", COLLECTIVES, NULL, SUM_OF_WINDOW},
    {"collectives.all_reduce.bus_gbs", COLLECTIVES, NULL, NO_SUM},
    {"collectives.all_gather.bytes", COLLECTIVES, NULL, SUM_OF_STEPS},
    {"collectives.all_gather.bus_gbs", COLLECTIVES, NULL, NO_SUM},
    {"collectives.reduce_scatter.bytes", COLLECTIVES, NULL, SUM_OF_STEPS},
    {"collectives.reduce_scatter.bus_gbs", COLLECTIVES, NULL, NO_SUM},
    {"collectives.send_recv.bytes", COLLECTIVES, NULL, SUM_OF_STEPS},
    {"collectives.broadcast.bytes", COLLECTIVES, NULL, SUM_OF_STEPS},
    {"collectives.gather.bytes", COLLECTIVES, NULL, SUM_OF_STEPS},
    {"collectives.reduce.bytes", COLLECTIVES, NULL, SUM_OF_STEPS},
    {"memory.measured_peak_bytes", MEMORY, "arenas, bytes", NO_SUM},
    {"memory.process_peak_bytes", MEMORY, "process, peak bytes", NO_SUM},
    {"predicted.memory.process_planned_bytes", MEMORY, "predicted: process, peak bytes", NO_SUM},
    {"flops.per_step", FLOPS, NULL, NO_SUM},
    {"flops.share_of_peak", FLOPS, NULL, NO_SUM},
    {"loss.first", LOSS, NULL, NO_SUM},
    {"loss.last", LOSS, "loss, last step", NO_SUM},
    {"loss_scale.skipped_steps", LOSS, NULL, SUM_OF_STEPS},
    {"loss.heldout_before", LOSS, NULL, HELDOUT_MEAN},
    {"loss.heldout_after", LOSS, "held-out loss", HELDOUT_MEAN},
    {"loss.heldout_targets", LOSS, NULL, NO_SUM},
    {"accuracy.before.top1", METRICS, NULL, HELDOUT_MEAN},
    {"accuracy.after.top1", METRICS, "held-out accuracy, top 1", HELDOUT_MEAN},
    {"accuracy.after.top5", METRICS, NULL, HELDOUT_MEAN},
    {"metrics.after.rewards/accuracies", METRICS, "held-out pairs, share ranked correctly",
     HELDOUT_MEAN},
    {"metrics.after.rewards/margins", METRICS, NULL, HELDOUT_MEAN},
    {"data.train_samples", DATA, NULL, NO_SUM},
    {"data.mean_tokens", DATA, NULL, NO_SUM},
    {"data.padding_share", DATA, NULL, NO_SUM},
    {"data.target_share", DATA, NULL, NO_SUM},
};

#endif
