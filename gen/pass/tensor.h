/* Helpers of the tensor parallelism passes. */
#ifndef PASS_TENSOR_H
#define PASS_TENSOR_H

#include "graph/graph.h"

/* Operands of an op from `first` up to, not including, `end`. */
typedef struct {
    int first, end;
} Operands;

/* Whether the op multiplies the columns of its first operand by a weight [rows, ..., columns]. */
bool tensor_is_product(const Op *);
bool tensor_is_param(const Value *);
/* The operands, parameters among them, of which column i goes only to column i of the results; if
 * `end` is 0, none. Columns may also be runs of columns, such as heads. */
Operands tensor_columns(const Op *);
/* By op id: whether ranks share out the columns of the op's results. */
bool *tensor_split_ops(const Program *, const Graph *, const GraphUses *);

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
