/* Why a layer stands apart from the loop over layers like it. */
#ifndef EMIT_APART_H
#define EMIT_APART_H

#include "emit/blocks.h"

/* What the functions from `first` on do unlike the loop before or behind them, as words that follow
 * "Apart from the loop, "; NULL where they do nothing that a loop does, and for all but the first. */
const char *apart_text(Arena *, const Plan *, const PlanEntry *, const Blocks *, int first);

#endif
