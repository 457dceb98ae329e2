/* What simcc must know of a kernels.cu before it compiles it. */
#ifndef SIMCC_SCAN_H
#define SIMCC_SCAN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ScannedKernel {
    char *name;
    char *bounds; /* the text within __launch_bounds__(...), "" without */
    bool blocks;  /* its threads may wait for each other */
} ScannedKernel;

typedef struct Scan {
    ScannedKernel *kernels;
    size_t kernel_count;
    char **variables; /* __device__ and __constant__ ones */
    size_t variable_count;
} Scan;

/* Scans preprocessed text (with line markers). The result lives until the process ends. Returns
 * null, or what is wrong. */
const char *scan_source(const char *text, Scan *scan);

#endif
