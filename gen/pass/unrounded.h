/* Copies a graph without fake quantisation. */
#ifndef PASS_UNROUNDED_H
#define PASS_UNROUNDED_H

#include "graph/graph.h"

typedef enum { UNROUNDED_WEIGHTS, UNROUNDED_ALL } Unrounded;

/* Makes entry `to` a copy of `from` over the same values, in which fake quantisation of `what`, and
 * its gradient, is a plain copy. */
void add_unrounded(Program *, Entry from, Entry to, Unrounded);

#endif
