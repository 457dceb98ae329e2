/* Figures of a finished plan: numbers of launches, cards, rows and bytes in a step. */
#ifndef PLAN_FIGURES_H
#define PLAN_FIGURES_H

#include "plan/plan.h"

/* Kernels and matrix products of one run of an entry. */
int plan_kernel_launches(const Plan *, Entry);
/* How often a step runs a launch of the entry on each card that runs the entry; 0: never. */
double plan_times(const Plan *, Entry, const Launch *);
/* Launches of every kind in a step of the first card. */
int plan_step_launches(const Plan *);
/* Kernels and matrix products in a step of all cards of the process. */
double plan_step_kernels(const Plan *);
/* Launches of CUDA graphs in a step of all cards of the process. */
double plan_graph_launches(const Plan *);
/* Bytes of batches that a step of all cards of the process copies from the host. */
double plan_step_input_bytes(const Plan *);
/* Time of a step whose device works for `device_ms`, with copies of batches and the host's launches. If
 * `overlap`, the device works meanwhile on what came before; else it waits for the copies. */
double plan_step_ms(const Plan *, double device_ms, bool overlap);
/* Whether a step takes longer than its device works and waits for copies of batches, because the host
 * takes even longer to launch graphs and, with compile.overlap, to copy batches. */
bool plan_is_bound_by_host(const Plan *);
/* By how much a step is longer for what is exposed: less than that takes if the host takes longer than
 * the device's other work. */
double plan_waited_ms(const Plan *);
/* All collectives of a step and copies between cards: number, bytes, and the sum of their times. */
Exchanged plan_exchanged(const Plan *);
/* Bytes of SCRATCH beyond the peak and the workspaces of matrix products: gaps between buffers, and
 * buffers that have had their last use in launch order, but that another stream may still read. */
int64_t plan_scratch_rest(const Plan *);
/* Bytes of the pages in which the driver maps the arenas, if STATE has that many (CUDA driver API,
 * virtual memory management: the granularity of allocations). */
enum { DEVICE_PAGE = 2 << 20 };
int64_t plan_page_bytes(const Plan *, int64_t state);
/* Cards of all ranks and stages. */
int plan_cards(const Plan *);
/* Tokens, or whatever unit the program counts, in a step of all cards. */
double plan_step_rows(const Plan *);
/* Throughput of all cards divided by that of one card alone. */
double plan_speedup(const Plan *);

/* Weights of few bits that backward reads: how many it finds as forward decoded them, and how many
 * it decodes again. */
typedef struct {
    int kept, again;
    int64_t kept_bytes;
} DecodedWeights;

DecodedWeights plan_decoded(const Plan *);

#endif
