/* Comments on layers that are not part of the loop over similar layers. */
#ifndef EMIT_APART_H
#define EMIT_APART_H

#include "emit/blocks.h"

/* Returns how a layer that begins with function `first` differs from the loop before or after it,
 * as words that follow "Not in the loop, ". NULL if no layer begins there, or if it is not similar
 * to a loop. */
const char *apart_text(Arena *, const Plan *, const PlanEntry *, const Blocks *, int first);

#endif
