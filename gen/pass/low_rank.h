/* Matches linear(x, W) + s linear(linear(x', A), B) with a frozen W, whichever pass made it, and
 * tells what such ops compute without the adapter. */
#ifndef PASS_LOW_RANK_H
#define PASS_LOW_RANK_H

#include "graph/graph.h"

typedef struct {
    Op *base, *down, *up;
    Op *scaling; /* scales the columns of up's result; or NULL */
} LowRank;

/* Whether `up` adds a low-rank path onto a linear of a frozen weight. */
bool low_rank_match(const GraphUses *, Op *up, LowRank *);
/* Returns the operand that replaces the result of an op when its adapter is left out: the sum so
 * far for an op that adds a low-rank path, the unscaled value for an op that scales the sum. NULL
 * for any other op: only the path reads its result. */
Value *const *without_adapter(const Op *);

#endif
