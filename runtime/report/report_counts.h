/* What a run's ranks did, added up: of different layouts only that can stand side by side. */
#ifndef GPUOPT_REPORT_COUNTS_H
#define GPUOPT_REPORT_COUNTS_H

#include "runtime/base/rt.h"

#include <jansson.h>

/* Times are in ms; NAN: not measured. */
typedef struct {
    double launches, launch_ms, kernels_ms, memsets, graphs;
    double syncs, sync_ms, waits, wait_ms;
    struct {
        double count, bytes, ms;
    } copies[RT_COPY_KINDS];
} Counts;

Counts counts_of(const Rt *rt);
void counts_add(Counts *sum, const Counts *more);
/* Under the names that the report has for one rank's. */
json_t *counts_json(const Counts *counts);

#endif
