/* Sums over ranks, for the passes that add the figures of a step to them. */
#ifndef PASS_DDP_H
#define PASS_DDP_H

#include "graph/graph.h"

/* Appends the metrics' step sums to the run, which begins or ends with the step's loss; returns all of
 * it as one value. */
Value *join_metrics(Program *, Value *run, const char *name);
/* Makes the ops read the sums instead of the run, or the same part of them. */
void read_sums(Program *, Op *const *ops, int count, Value *sums);

#endif
