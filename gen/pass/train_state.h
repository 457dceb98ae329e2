#ifndef PASS_TRAIN_STATE_H
#define PASS_TRAIN_STATE_H

#include "graph/graph.h"

/* Columns of the runs that hold all trained tensors. */
enum { TRAIN_COLS = 1024 };

/* Moments in 8 bits, as bitsandbytes has them: codes that share an absmax; and how many elements a
 * tensor has at least, all ranks' parts together. Blocks are of the whole flattened tensor, whoever has
 * it: what ranks share out, along an axis or in pieces, is cut between blocks alone, so that any number
 * of ranks has the codes of one, given its gradients. What an axis would cut elsewhere is an error. */
enum { STATE_BLOCK = 256, STATE_LEAST = 4096 };

/* In ddp.c. Figures that each step has come behind the run, which begins or ends with its loss; both,
 * as one. */
Value *join_metrics(Program *, Value *run, const char *name);
/* What reads a part of the run reads the sums from then on. */
void read_sums(Program *, Op *const *ops, int count, Value *sums);
/* In shard.c. What is between a section's tensors in all of its gradients becomes zero. */
void section_zero_gaps(Program *, Graph *, const Section *, Value *whole, Pos);
/* In shard.c. A section's masters while an entry gives them other values than they had: opened, all of
 * it, as the weights that are read, or a copy where ranks keep pieces of these alone; closed, the rank
 * takes its piece. Beside 16-bit weights only of what is `real`. */
bool section_has(const Program *, const Section *, const Param *);
Value *section_opened(Program *, Graph *, const Section *, Pos);
void section_closed(Program *, Graph *, const Section *, Value *whole, Pos);

#endif
