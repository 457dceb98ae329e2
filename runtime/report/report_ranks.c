/* Ranks exchange their measurements, and rank 0 reports them. */
#include "runtime/report/report_ranks.h"

#include "runtime/base/json_values.h"
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"
#include "runtime/report/report_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct RtByRank {
    RankFigures *ranks; /* [rt->ranks] */
    ParamCounts params;
    double
        kind_ms[COMM_KINDS]; /* total of a kind in the window, mean over ranks; NAN: not measured */
    double kind_least[COMM_KINDS]; /* … if each call counts with its shortest time over all ranks */
};

/* ---- gathering ------------------------------------------------------------------------------- */

/* The mean step in the profiling window; its steps are marked by negative times. */
static double window_step_ms(const RtMeasured *m) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < m->steps; i++)
        if (m->iteration_ms[i] < 0) {
            sum -= m->iteration_ms[i];
            count++;
        }
    return count ? sum / (double)count : NAN;
}

static RankFigures own_figures(const Rt *rt) {
    Figures f = figures_of(rt);
    CommTimes times = profile_comm_times(rt->profile);
    double steps = (double)profile_steps(rt->profile);
    RankFigures own = {.iteration_ms = f.median,
                       .data_wait_ms = f.feeding[0],
                       .copy_ms = f.feeding[1],
                       .compute_ms = f.feeding[2],
                       .comm_ms = times.comm / steps,
                       .exposed_ms = (times.comm - times.overlapped) / steps,
                       .overlapped_ms = times.overlapped / steps,
                       .work_ms = times.work / steps,
                       .memory = f.memory,
                       .profiled_steps = profile_steps(rt->profile),
                       .counts = counts_of(rt),
                       .window_origin = profile_origin(rt->profile)};
    if (gethostname(own.host, sizeof own.host - 1) != 0)
        snprintf(own.host, sizeof own.host, "unknown");
    for (int k = 0; k < COMM_KINDS; k++)
        own.calls[k] = profile_comm_calls(rt->profile, k, &own.kind_ms[k], NULL);
    own.window_step_ms = window_step_ms(&rt->measured);
    return own;
}

/* The number of calls of a kind if all ranks recorded equally many, else 0. */
static int64_t common_calls(const Rt *rt, int kind) {
    const RankFigures *ranks = rt->by_rank->ranks;
    for (int r = 1; r < rt->ranks; r++)
        if (ranks[r].calls[kind] != ranks[0].calls[kind])
            return 0;
    return ranks[0].calls[kind];
}

/* The mean over the ranks that have calls of the kind. */
static double mean_of_kind(const Rt *rt, int kind) {
    double sum = 0;
    int count = 0;
    for (int r = 0; r < rt->ranks; r++) {
        const RankFigures *rank = &rt->by_rank->ranks[r];
        sum += rank->kind_ms[kind];
        count += rank->calls[kind] > 0;
    }
    return count ? sum / count : NAN;
}

/* On each rank a call lasts from the rank's arrival; on the last rank to arrive it lasts only as
 * long as the transfer takes. */
static void gather_kind(Rt *rt, int kind) {
    static const char what[] = "the exchange of measurements";
    int64_t calls = common_calls(rt, kind);
    struct RtByRank *by = rt->by_rank;
    by->kind_ms[kind] = mean_of_kind(rt, kind);
    by->kind_least[kind] = calls ? 0 : NAN;
    if (!calls)
        return;
    double *mine = rt_alloc((size_t)calls * sizeof *mine);
    double *all = rt_alloc((size_t)(calls * rt->ranks) * sizeof *all);
    profile_comm_calls(rt->profile, kind, NULL, mine);
    comm_gather(rt, mine, all, (int)(calls * (int64_t)sizeof *mine), what);
    for (int64_t i = 0; i < calls; i++) {
        double least = all[i];
        for (int r = 0; r < rt->ranks; r++)
            least = fmin(least, all[r * calls + i]);
        by->kind_least[kind] += least;
    }
    free(mine);
    free(all);
}

void ranks_gather(Rt *rt) {
    RankFigures own = own_figures(rt);
    rt->by_rank = rt_alloc(sizeof *rt->by_rank);
    rt->by_rank->ranks = rt_alloc((size_t)rt->ranks * sizeof own);
    comm_gather(rt, &own, rt->by_rank->ranks, sizeof own, "the exchange of measurements");
    rt->by_rank->params = params_count(rt);
    for (int k = 0; k < COMM_KINDS; k++)
        gather_kind(rt, k);
}

void ranks_free(Rt *rt) {
    if (rt->by_rank)
        free(rt->by_rank->ranks);
    free(rt->by_rank);
    rt->by_rank = NULL;
}

const RankFigures *ranks_figures(const Rt *rt, int rank) { return &rt->by_rank->ranks[rank]; }

ParamCounts ranks_params(const Rt *rt) { return rt->by_rank->params; }

Memory ranks_memory(const Rt *rt) {
    Memory most = rt->by_rank->ranks[0].memory;
    for (int r = 1; r < rt->ranks; r++) {
        const Memory *m = &rt->by_rank->ranks[r].memory;
        most = (Memory){fmax(most.planned, m->planned), fmax(most.allocated, m->allocated),
                        fmax(most.process_planned, m->process_planned),
                        fmax(most.process_peak, m->process_peak)};
    }
    return most;
}

/* ---- over all ranks -------------------------------------------------------------------------- */

typedef struct {
    double mean, least, most;
} Over;

/* Statistics of the figure at this offset in RankFigures; NAN if any rank lacks it. */
static Over over_ranks(const Rt *rt, size_t offset) {
    Over over = {0, INFINITY, -INFINITY};
    for (int r = 0; r < rt->ranks; r++) {
        double value;
        memcpy(&value, (const char *)&rt->by_rank->ranks[r] + offset, sizeof value);
        if (isnan(value))
            return (Over){NAN, NAN, NAN};
        over.mean += value / rt->ranks;
        over.least = fmin(over.least, value);
        over.most = fmax(over.most, value);
    }
    return over;
}
#define OVER(rt, field) over_ranks(rt, offsetof(RankFigures, field))

/* By what share the slowest rank exceeds the mean; NAN for one rank. */
static double excess(const Rt *rt, Over over) {
    return rt->ranks > 1 && over.mean > 0 ? over.most / over.mean - 1 : NAN;
}

/* Bus bandwidth in the window in GB/s; each call counts with its time on the last rank to arrive.
 * The bytes are those of average steps. */
static double bus_gbs(const Rt *rt, int kind) {
    const RtMeasured *m = &rt->measured;
    double bytes = m->collectives[kind].bus_bytes / (double)m->steps;
    double ms = rt->by_rank->kind_least[kind];
    return ms > 0 ? 1e-6 * bytes * (double)profile_steps(rt->profile) / ms : NAN;
}

static bool is_stage(const Rt *rt) { return mesh_size(rt->program, RT_AXIS_PIPELINE) > 1; }

/* The share of a step in which a pipeline's rank computes nothing, mean over ranks. */
static double bubble(const Rt *rt) {
    if (!is_stage(rt))
        return NAN;
    return 1 - OVER(rt, work_ms).mean / OVER(rt, window_step_ms).mean;
}

static Counts all_counts(const Rt *rt) {
    Counts all = rt->by_rank->ranks[0].counts;
    for (int r = 1; r < rt->ranks; r++)
        counts_add(&all, &rt->by_rank->ranks[r].counts);
    return all;
}

double ranks_flops(const Rt *rt) { return all_counts(rt).flops; }

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *memory_json(const Memory *m) {
    return json_pack("{s:o, s:o, s:o, s:o}", "planned_bytes", whole(m->planned),
                     "allocated_bytes", whole(m->allocated), "process_planned_bytes",
                     whole(m->process_planned), "process_peak_bytes",
                     whole(m->process_peak));
}

static void set_kinds(json_t *collectives, const Rt *rt) {
    for (int k = 0; k < RT_COLLECTIVES; k++) {
        json_t *kind = json_object_get(collectives, collective_name((RtCollective)k));
        if (!kind || rt->measured.collectives[k].count == 0)
            continue;
        json_object_set_new(kind, "ms", number(rt->by_rank->kind_ms[k]));
        json_object_set_new(kind, "bus_gbs", number(bus_gbs(rt, k)));
    }
}

static json_t *rank_json(const RankFigures *r, int rank) {
    return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rank", rank,
                     "host", r->host, "iteration_ms", number(r->iteration_ms), "data_wait_ms",
                     number(r->data_wait_ms), "copy_ms", number(r->copy_ms), "compute_ms",
                     number(r->compute_ms), "work_ms", number(r->work_ms), "collectives_ms",
                     number(r->comm_ms), "exposed_ms", number(r->exposed_ms), "overlapped_ms",
                     number(r->overlapped_ms), "memory", memory_json(&r->memory));
}

static bool is_alone(const Rt *rt) {
    return rt->ranks == 1 && rt->card_count < 2 && !rt->program->group_count;
}

void ranks_json(json_t *report, const Rt *rt) {
    if (is_alone(rt))
        return;
    json_t *list = json_array();
    for (int r = 0; r < rt->ranks; r++)
        json_array_append_new(list, rank_json(&rt->by_rank->ranks[r], r));
    Over wait = OVER(rt, data_wait_ms);
    set_kinds(json_object_get(report, "collectives"), rt);
    json_object_set_new(report, "communication",
                        json_pack("{s:o, s:o, s:o}", "ms", number(OVER(rt, comm_ms).mean),
                                  "exposed_ms", number(OVER(rt, exposed_ms).mean), "overlapped_ms",
                                  number(OVER(rt, overlapped_ms).mean)));
    json_object_set_new(report, "imbalance",
                        json_pack("{s:o, s:o, s:o}", "iteration",
                                  number(excess(rt, OVER(rt, iteration_ms))), "work",
                                  number(excess(rt, OVER(rt, work_ms))), "data_wait_ms",
                                  number(rt->ranks > 1 ? wait.most - wait.least : NAN)));
    json_object_set_new(report, "bubble", number(bubble(rt)));
    Counts all = all_counts(rt);
    json_object_set_new(report, "all_ranks", counts_json(&all));
    json_object_set_new(report, "per_rank", list);
}

void ranks_predicted_json(json_t *predicted, const Rt *rt) {
    const RtPredicted *p = &rt->program->predicted;
    if (is_alone(rt))
        return;
    json_object_set_new(predicted, "communication",
                        json_pack("{s:o}", "exposed_ms", number(p->exposed_ms)));
    json_object_set_new(predicted, "bubble", number(is_stage(rt) ? p->bubble : NAN));
}

/* ---- text ------------------------------------------------------------------------------------ */

static void cell(FILE *out, const char *format, double value) {
    if (isfinite(value))
        fprintf(out, format, value);
    else
        fprintf(out, "%14s", "not measured");
}

static void print_means(FILE *out, const Rt *rt, bool profiled) {
    const RtPredicted *p = &rt->program->predicted;
    const struct {
        const char *name, *format;
        double value, predicted;
    } means[] = {
        {"slowest rank's step over the mean", "%12.1f %%",
         100 * excess(rt, OVER(rt, iteration_ms)), NAN},
        {"slowest rank's work over the mean *", "%12.1f %%", 100 * excess(rt, OVER(rt, work_ms)), NAN},
        {"communication a step, ms *", "%14.3f", OVER(rt, comm_ms).mean, NAN},
        {"  exposed *", "%14.3f", OVER(rt, exposed_ms).mean, p->exposed_ms},
        {"  overlapped with other work *", "%14.3f", OVER(rt, overlapped_ms).mean, NAN},
        {"bubble, share without work *", "%12.1f %%", 100 * bubble(rt), 100 * p->bubble}};
    size_t count = sizeof means / sizeof *means - (isnan(bubble(rt)) ? 1 : 0);
    for (size_t i = 0; i < (profiled ? count : 1); i++) {
        fprintf(out, "%-36s", means[i].name);
        cell(out, means[i].format, means[i].value);
        if (isfinite(means[i].predicted) && !rt->device.simulated) {
            fputs(", predicted", out);
            cell(out, means[i].format, means[i].predicted);
        }
        fputc('\n', out);
    }
}

static void print_rank(FILE *out, const RankFigures *rank, int number, bool profiled) {
    const double cells[] = {rank->iteration_ms, rank->data_wait_ms, rank->work_ms, rank->comm_ms,
                            rank->exposed_ms};
    fprintf(out, "%4d ", number);
    for (size_t i = 0; i < (profiled ? sizeof cells / sizeof *cells : 2); i++)
        cell(out, "%14.3f", cells[i]);
    fprintf(out, "  %s\n", rank->host);
}

void ranks_print(FILE *out, const Rt *rt) {
    bool profiled = profile_steps(rt->profile) > 0;
    if (is_alone(rt))
        return;
    if (rt->card_count > 1)
        fputs("\n1 process for all cards:\n", out);
    else
        fprintf(out, "\n%d rank%s; their means:\n", rt->ranks, rt->ranks > 1 ? "s" : "");
    print_means(out, rt, profiled);
    fprintf(out, "\nrank %14s%14s", "step ms", "data wait ms");
    if (profiled)
        fprintf(out, "%14s%14s%14s", "work ms *", "collectives *", "exposed *");
    fputs("  host\n", out);
    for (int r = 0; r < rt->ranks; r++)
        print_rank(out, ranks_figures(rt, r), r, profiled);
    if (!profiled)
        fputs("Work and collectives of ranks were not measured: profiling.enabled = true records "
              "them for some steps.\n",
              out);
}
