/* The structure linear(x, W) + s linear(linear(x', A), B) of a frozen W, whoever made it; and what
 * stands there without it. */
#ifndef PASS_LOW_RANK_H
#define PASS_LOW_RANK_H

#include "graph/graph.h"

typedef struct {
    Op *base, *down, *up;
    Op *scaling; /* of what `up` makes, by column; NULL: there is none */
} LowRank;

/* Whether `up` adds a low-rank path onto a linear of a frozen weight. */
bool low_rank_match(const GraphUses *, Op *up, LowRank *);
/* Of the result of an op that reads the adapter, the operand that stands for it where there is none: of
 * what adds a low-rank path, the sum so far; of what scales that, what it scales. NULL: nothing does,
 * for nothing but the path reads it. */
Value *const *without_adapter(const Op *);

#endif
