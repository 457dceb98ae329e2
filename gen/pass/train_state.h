#ifndef PASS_TRAIN_STATE_H
#define PASS_TRAIN_STATE_H

#include "graph/graph.h"

/* Columns of the runs that hold all trained tensors; see graph/trained.h. */
enum { TRAIN_COLS = 1024 };

/* 8-bit moments as in bitsandbytes: the number of codes that share an absmax, and the least number
 * of elements of a tensor that has them, counted over all ranks' parts. Blocks are those of the
 * whole flattened tensor: sharding, along an axis or in pieces, cuts only between blocks, so the
 * codes do not depend on the number of ranks, given equal gradients. A shard that would cut a block
 * is an error. */
enum { STATE_BLOCK = 256, STATE_LEAST = 4096 };

/* In ddp.c. Appends the metrics' step sums to the run, which begins or ends with the step's loss;
 * returns all of it as one value. */
Value *join_metrics(Program *, Value *run, const char *name);
/* Makes the ops read the sums instead of the run, or the same part of them. */
void read_sums(Program *, Op *const *ops, int count, Value *sums);

#endif
