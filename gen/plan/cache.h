/* What a launch's operands need not fetch from device memory. */
#ifndef PLAN_CACHE_H
#define PLAN_CACHE_H

#include "plan/plan.h"

/* Sets cost.cached_bytes of each launch: bytes that it reads while the L2 cache of the plan's device
 * still has them, and those that it writes and another, or itself a step later, writes again before
 * the cache gives them up. Requires places. */
void find_cached(Plan *);

#endif
