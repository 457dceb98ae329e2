/* Helpers of the tensor parallelism passes. */
#ifndef PASS_TENSOR_H
#define PASS_TENSOR_H

#include "graph/graph.h"

/* Shrinks a value, which fills its storage, to a rank's part along an axis that the group shares
 * out. */
void tensor_narrow(const Program *, Value *, int axis, RankGroup);
/* Shards a parameter in the same way, once for all graphs that read it. With GROUP_KEYS, ranks that
 * hold the same part each compute a part of its gradient. */
void tensor_shard(Program *, const Value *weight, int axis, RankGroup);
/* x for ops that compute a different part on each rank: the ranks' gradients of x are summed. */
Value *tensor_spread(Program *, Graph *, Value *x, Pos);
/* The sum of all ranks' values, in place. */
Value *tensor_sum(Program *, Graph *, Value *, Pos);
/* absmax[R,1] of a weight's whole rows, from that of the columns which each rank of the group
 * holds; into `out`, or into a new value if `out` is NULL. */
Value *tensor_absmax(Program *, Graph *, const char *weight, Value *absmax, RankGroup, Value *out,
                     Pos);

#endif
