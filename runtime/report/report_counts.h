/* Counts summed over a run's ranks: only sums are comparable between different layouts. */
#ifndef GPUOPT_REPORT_COUNTS_H
#define GPUOPT_REPORT_COUNTS_H

#include "runtime/base/rt.h"

#include <jansson.h>

/* Times are in ms; NAN: not measured. */
typedef struct {
    double launches, launch_ms, kernels_ms, memsets, graphs;
    double flops; /* of a step on all cards of the process, as if each of them updated the weights */
    double syncs, sync_ms, waits, wait_ms;
    struct {
        double count, bytes, ms;
    } copies[RT_COPY_KINDS];
} Counts;

Counts counts_of(const Rt *rt);
void counts_add(Counts *sum, const Counts *more);
/* Uses the same names as the report does for one rank. */
json_t *counts_json(const Counts *counts);

#endif
