/* Which operands of a launch need not be fetched from device memory. */
#ifndef PLAN_CACHE_H
#define PLAN_CACHE_H

#include "plan/plan.h"

/* Sets cost.cached_bytes of each launch: bytes that it reads while the device's L2 cache still
 * holds them, plus bytes that it writes and that are written again, by another launch or by itself
 * a step later, before the cache evicts them. Requires places. */
void find_cached(Plan *);

#endif
