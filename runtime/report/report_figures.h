/* What a report has to work out of what the runtime counted. */
#ifndef GPUOPT_REPORT_FIGURES_H
#define GPUOPT_REPORT_FIGURES_H

#include "runtime/base/rt.h"

enum { FEEDINGS = 3 };

/* Bytes of a card; NAN: unknown. */
typedef struct {
    double planned, measured; /* arenas */
    double process_planned, process_peak;
} Memory;

/* NAN: not measured. */
typedef struct {
    double median, p10, p90, first; /* ms a step, outside the profiling window */
    double units_per_s;             /* tokens, or what else the program counts */
    double first_loss, last_loss;
    double share_of_peak;
    Memory memory;
    double feeding[FEEDINGS]; /* ms a step, means */
    const char *bound_by;     /* of these the longest; NULL: unknown */
    const char *host_memory;  /* that batches are copied from */
} Figures;

/* What a step's time goes to. Each goes on beside the others, so the longest is what the rest waits
 * for. */
typedef struct {
    const char *name, *json, *text;
} Feeding;
extern const Feeding feedings[FEEDINGS];

Figures figures_of(const Rt *rt);

#endif
