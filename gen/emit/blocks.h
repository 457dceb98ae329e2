/* Cutting an entry graph into functions: repeated launches become a loop, and the launches of one
 * module of the model become a function named after it. Only names matter, not the kind of
 * model. */
#ifndef EMIT_BLOCKS_H
#define EMIT_BLOCKS_H

#include "emit/pointers.h"

/* One function: consecutive launches, or, in a loop, consecutive launches of each iteration. Or
 * launches like those of one more iteration, after the loop: they call the loop's function. */
typedef struct Block {
    const char *function;  /* "layers_3_mlp_backward" */
    const char **contents; /* "model.layers.*: attn_residual", "mlp"; none: the name says all */
    int content_count;
    Pointers pointers;
    int loop;   /* the same for all functions that one loop calls */
    int times;  /* iterations of the loop; pointers.run.times counts a call after it too */
    int called; /* the block whose function is called, for one more iteration; -1: its own */
    const struct Block *shared; /* the block of an earlier entry whose function it calls; or NULL */
} Block;

typedef struct {
    Block *blocks; /* in order; together they cover all launches */
    int count;
} Blocks;

Blocks blocks_of(Arena *, const Plan *, const PlanEntry *);

#endif
