/* What simcc must know about a kernels.cu before it compiles the file. */
#ifndef SIMCC_SCAN_H
#define SIMCC_SCAN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ScannedKernel {
    char *name;
    char *bounds; /* the text inside __launch_bounds__(...), else "" */
    bool blocks;  /* its threads may wait for each other */
} ScannedKernel;

typedef struct Scan {
    ScannedKernel *kernels;
    size_t kernel_count;
    char **variables; /* __device__ and __constant__ variables */
    size_t variable_count;
} Scan;

/* Scans preprocessed text with line markers. The result is never freed. Returns null, or an error
 * message. */
const char *scan_source(const char *text, Scan *scan);

#endif
