/* The structure linear(x, W) + s linear(linear(x', A), B) of a frozen W, whoever made it. */
#ifndef PASS_LOW_RANK_H
#define PASS_LOW_RANK_H

#include "graph/graph.h"

typedef struct {
    Op *base, *down, *up;
} LowRank;

/* Whether `up` adds a low-rank path onto a linear of a frozen weight. */
bool low_rank_match(const GraphUses *, Op *up, LowRank *);

#endif
