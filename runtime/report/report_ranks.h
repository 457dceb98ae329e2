/* The measurements of all ranks, in one report. */
#ifndef GPUOPT_REPORT_RANKS_H
#define GPUOPT_REPORT_RANKS_H

#include "runtime/base/rt.h"
#include "runtime/params/params.h"
#include "runtime/report/profile_comm.h"
#include "runtime/report/report_counts.h"
#include "runtime/report/report_figures.h"

#include <jansson.h>
#include <stdio.h>

/* One rank's figures; times in ms a step, NAN: not measured. Sent as bytes between ranks, which run
 * the same build. */
typedef struct RankFigures {
    char host[64];
    double iteration_ms, data_wait_ms, copy_ms, compute_ms; /* as in the report of one rank */
    double comm_ms, exposed_ms, overlapped_ms, work_ms;     /* in the profiling window */
    Memory memory;
    int64_t profiled_steps; /* 0: no window */
    uint64_t window_origin; /* CUPTI's clock when all ranks began the window */
    double window_step_ms;  /* mean step in the window */
    int64_t calls[COMM_KINDS];
    double kind_ms[COMM_KINDS]; /* total in the whole window */
    Counts counts;
} RankFigures;

/* All ranks call it when training has ended: sets rt->by_rank. */
void ranks_gather(Rt *rt);
void ranks_free(Rt *rt);
const RankFigures *ranks_figures(const Rt *rt, int rank);
/* The largest of each figure over all ranks, since pipeline stages differ. */
Memory ranks_memory(const Rt *rt);

/* Of the whole model; for rank 0 only. */
ParamCounts ranks_params(const Rt *rt);

/* FLOPs of a step on all cards, as the plans of all ranks count them. */
double ranks_flops(const Rt *rt);

/* Adds times to "collectives", and adds "communication", "imbalance", "bubble", "all_ranks" and
 * "per_rank". Does nothing with one rank and one card and no collectives. */
void ranks_json(json_t *report, const Rt *rt);
/* Adds to "predicted" what it has of these. */
void ranks_predicted_json(json_t *predicted, const Rt *rt);
json_t *memory_json(const Memory *);
void ranks_print(FILE *out, const Rt *rt);

#endif
