/* A graph once more, without rounding. */
#ifndef PASS_UNROUNDED_H
#define PASS_UNROUNDED_H

#include "graph/graph.h"

typedef enum { UNROUNDED_WEIGHTS, UNROUNDED_ALL } Unrounded;

/* Makes entry `to` what `from` is, over the same values, but for what is not to be rounded: there it
 * copies, forward and backward. */
void add_unrounded(Program *, Entry from, Entry to, Unrounded);

#endif
