/* What the passes of tensor parallelism share. */
#ifndef PASS_TENSOR_H
#define PASS_TENSOR_H

#include "graph/graph.h"

/* Leaves a rank's part, along an axis, of a value that fills its storage and that the group shares
 * out. */
void tensor_narrow(const Program *, Value *, int axis, RankGroup);
/* The same of a parameter, once for all graphs that read it. With GROUP_KEYS ranks that have the same
 * part have parts of its gradient each. */
void tensor_shard(Program *, const Value *weight, int axis, RankGroup);
/* x for readers each of which makes its part of something: their gradients are summed. */
Value *tensor_spread(Program *, Graph *, Value *x, Pos);
/* The sum of what ranks have, in its place. */
Value *tensor_sum(Program *, Graph *, Value *, Pos);
/* absmax[R,1] of the columns that a rank of the group has of a weight's rows -> of whole rows; into
 * `out`, or NULL: a new value. */
Value *tensor_absmax(Program *, Graph *, const char *weight, Value *absmax, RankGroup, Value *out,
                     Pos);

#endif
