/* Medians, rates and shares of the counts. */
#include "runtime/report/report_figures.h"
#include "runtime/data/data.h"

#include <math.h>
#include <stdlib.h>

const Feeding feedings[FEEDINGS] = {{"data", "data_wait_ms", "waiting for data, mean ms a step"},
                                    {"copy", "copy_ms", "input copies, mean ms a step"},
                                    {"compute", "compute_ms", "device work, mean ms a step"}};

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Interpolates between the two nearest of the sorted values; NAN if there are none. */
static double percentile(const double *sorted, int64_t count, double share) {
    if (!count)
        return NAN;
    double place = share * (double)(count - 1);
    int64_t low = (int64_t)place, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (place - (double)low) * (sorted[high] - sorted[low]);
}

/* The first step includes one-time costs, so it is reported separately. */
static void work_out_times(const RtMeasured *measured, Figures *figures) {
    double *times = rt_alloc(sizeof *times * (size_t)measured->steps);
    int64_t count = 0;
    for (int64_t i = 1; i < measured->steps; i++)
        if (measured->iteration_ms[i] > 0)
            times[count++] = measured->iteration_ms[i];
    if (count)
        qsort(times, (size_t)count, sizeof *times, by_size);
    figures->median = percentile(times, count, 0.5);
    /* The percentiles of one value would only repeat it. */
    figures->p10 = count > 1 ? percentile(times, count, 0.1) : NAN;
    figures->p90 = count > 1 ? percentile(times, count, 0.9) : NAN;
    bool has_first = measured->steps > 0 && measured->iteration_ms[0] > 0;
    figures->first = has_first ? measured->iteration_ms[0] : NAN;
    free(times);
}

static double history(const Rt *rt, const void *values, int64_t step) {
    return step >= 0 && step < rt->known_steps ? rt_get(rt->program->real, values, step) : NAN;
}

static void work_out_feeding(const RtMeasured *m, Figures *figures) {
    bool known = m->steps > 0 && m->compute_ms > 0;
    const double ms[FEEDINGS] = {m->data_wait_ms / (double)m->steps, m->copy_ms, m->compute_ms};
    int longest = 0;
    for (int i = 0; i < FEEDINGS; i++) {
        figures->feeding[i] = known ? ms[i] : NAN;
        longest = ms[i] > ms[longest] ? i : longest;
    }
    figures->bound_by = known ? feedings[longest].name : NULL;
}

static double known(size_t bytes) { return bytes > 0 ? (double)bytes : NAN; }

static Memory memory_of(const Rt *rt) {
    const RtPredicted *planned = &rt->program->predicted;
    return (Memory){.planned = (double)planned->arena_bytes,
                    .allocated = (double)arena_bytes(rt->program),
                    .process_planned = known(planned->process_bytes),
                    .process_peak = known(rt->measured.process_peak_bytes)};
}

Figures figures_of(const Rt *rt) {
    const RtProgram *program = rt->program;
    Figures figures;
    work_out_times(&rt->measured, &figures);
    work_out_feeding(&rt->measured, &figures);
    figures.host_memory = program->data.pin_memory ? "pinned" : "pageable";
    double units = (double)(rows_per_step(rt) * program->training.seq_len);
    figures.units_per_s = 1e3 * units / figures.median;
    figures.first_loss = history(rt, rt->losses, 0);
    figures.last_loss = history(rt, rt->losses, rt->known_steps - 1);
    double rate = 1e3 * program->predicted.flops / figures.median;
    figures.share_of_peak = rt->device.simulated ? NAN : rate / program->predicted.peak_flops;
    figures.memory = memory_of(rt);
    return figures;
}

double epochs_of(const Rt *rt, int64_t steps) {
    int64_t rows = loader_facts(rt->loader)->epoch_rows;
    return rows > 0 ? (double)steps * (double)rows_per_step(rt) / (double)rows : NAN;
}

const char *epochs_format(double epochs) { return epochs < 100 ? "%.3g" : "%.0f"; }
