/* Names for the strides that joined launches pass to their kernels. */
#ifndef EMIT_STRIDES_H
#define EMIT_STRIDES_H

#include "plan/plan.h"

typedef struct {
    const char *name;   /* "BORDER_STRIDE" */
    const char *scalar; /* what kernels call it: "border_stride" */
    int64_t elements;   /* not 0 */
} Stride;

typedef struct {
    Stride *strides;
    int count;
} Strides;

/* Collects those of all launches. */
Strides strides_of(Arena *, const Plan *);
/* The name of a strided kernel's scalar with that value, or NULL. */
const char *stride_name(const Strides *, const char *scalar, int64_t elements);

#endif
