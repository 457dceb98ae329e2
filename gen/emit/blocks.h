/* How an entry graph is cut into functions: what repeats becomes a loop, and launches of one module
 * of the model become a function named after it. The names of ops decide, not the kind of model. */
#ifndef EMIT_BLOCKS_H
#define EMIT_BLOCKS_H

#include "emit/pointers.h"

/* One function: a stretch of launches, or in a loop a stretch of each of its times. */
typedef struct {
    const char *function; /* "layers_3_mlp_backward" */
    Pointers pointers;
    int loop; /* functions that one loop calls in turn share this number */
} Block;

typedef struct {
    Block *blocks; /* in order; together they are all launches */
    int count;
} Blocks;

Blocks blocks_of(Arena *, const Plan *, const PlanEntry *);

#endif
