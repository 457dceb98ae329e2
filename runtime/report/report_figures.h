/* Figures that the report derives from what the runtime counted. */
#ifndef GPUOPT_REPORT_FIGURES_H
#define GPUOPT_REPORT_FIGURES_H

#include "runtime/base/rt.h"

enum { FEEDINGS = 3 };

/* Bytes on one card; NAN: unknown. */
typedef struct {
    double planned, allocated; /* arenas */
    double process_planned, process_peak;
} Memory;

/* NAN: not measured. */
typedef struct {
    double median, p10, p90, first; /* ms a step, outside the profiling window */
    double units_per_s;             /* tokens, or another unit of the program */
    double first_loss, last_loss;
    double share_of_peak;
    Memory memory;
    double feeding[FEEDINGS]; /* mean ms a step */
    const char *bound_by;     /* the longest of these; NULL: unknown */
    const char *host_memory;  /* kind of memory that batches are copied from */
} Figures;

/* The activities of a step. They run in parallel, so the longest one determines the step's time. */
typedef struct {
    const char *name, *json, *text;
} Feeding;
extern const Feeding feedings[FEEDINGS];

Figures figures_of(const Rt *rt);
/* How often this many steps of all ranks read the training rows; NAN: synthetic data are endless. */
double epochs_of(const Rt *rt, int64_t steps);
/* For printing them with three digits. */
const char *epochs_format(double epochs);

#endif
