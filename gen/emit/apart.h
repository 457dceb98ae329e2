/* Why a layer stands apart from the loop over layers like it. */
#ifndef EMIT_APART_H
#define EMIT_APART_H

#include "emit/blocks.h"

/* What a layer that begins with the function `first` does unlike the loop before or behind it, as words
 * that follow "Not in the loop, "; NULL where none begins there, or it is like no loop. */
const char *apart_text(Arena *, const Plan *, const PlanEntry *, const Blocks *, int first);

#endif
