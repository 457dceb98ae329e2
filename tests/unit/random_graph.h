/* Random programs of pointwise, row and column ops, with matrix products and convolutions between
 * them, in-place ops, views of shared storages and unused results. */
#ifndef TESTS_UNIT_RANDOM_GRAPH_H
#define TESTS_UNIT_RANDOM_GRAPH_H

#include "eval.h"

typedef struct {
    Program *program;
    uint64_t random;
    Value *pool[256]; /* values that an op may read */
    int pool_count;
    int64_t rows;
    int64_t plane; /* of the part's matrices; 0: stored row by row */
    bool wide;     /* this part's rows are wider than registers hold */
    Value *seed, *step, *first_row, *places, *labels; /* of INPUT role */
    int names;
} RandomGraph;

/* Returns a program whose micro_step has `parts` graphs of about `ops` ops that share only the
 * random seed; the last `wide_parts` have few rows, wider than registers hold. Every value without
 * a reader ends in a gradient. */
RandomGraph random_graph(Arena *, uint64_t seed, DType activation, DType real, int ops, int parts, int wide_parts);
/* Fills inputs and parameters, with the same numbers for the same seed. */
void random_fill(const RandomGraph *, Memory *, uint64_t seed);

uint32_t random_below(uint64_t *state, uint32_t bound);

#endif
