/* Sizes of the runs that hold all trained tensors; see graph/trained.h. */
#ifndef PASS_TRAIN_STATE_H
#define PASS_TRAIN_STATE_H

/* Columns of a run. */
enum { TRAIN_COLS = 1024 };

/* 8-bit moments as in bitsandbytes: the number of codes that share an absmax, and the least number
 * of elements of a tensor that has them, counted over all ranks' parts. Blocks are those of the
 * whole flattened tensor: sharding, along an axis or in pieces, cuts only between blocks, so the
 * codes do not depend on the number of ranks, given equal gradients. A shard that would cut a block
 * is an error. */
enum { STATE_BLOCK = 256, STATE_LEAST = 4096 };

#endif
