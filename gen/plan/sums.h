/* Sums over rows take two kernels: in the first each worker sums its rows, in the second one thread
 * per column adds the workers' sums and may go on computing with the total. With one worker there
 * is no second kernel. */
#ifndef PLAN_SUMS_H
#define PLAN_SUMS_H

#include "plan/plan.h"

/* Turns a body's sums into its workers' partial sums, in place. Stores the bodies that add those up
 * in `second` (at most MAX_RESULTS); returns how many. */
int sums_split(const Plan *, Body *, bool rows_grow, Body **second);

#endif
