/* Pointwise ops of forward that backward can run again, with the same bits, instead of keeping their
 * results. Requires that values have their places and that backward is marked. */
#ifndef PASS_AGAIN_H
#define PASS_AGAIN_H

#include "graph/graph.h"

/* Whether the op is pointwise, over as many rows and columns as the value has. */
bool again_is_pointwise(const Program *, const Op *, const Value *like);
/* The pointwise op that can make the value again as an op of forward made it; or NULL. */
Op *again_maker(Program *, const GraphUses *, const Value *);
/* Makes the copy of an op of forward one of backward, which runs after the op `after`. */
void again_mark(Program *, Op *copy, Op *after);
/* A copy of the maker, with a result of its own, which runs after the op `after`. */
Op *again_new(Program *, const Op *maker, Op *after);

#endif
