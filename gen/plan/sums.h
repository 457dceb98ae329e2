/* Sums over rows take two kernels: each worker sums its rows, then a thread a column adds what the
 * workers found. The second may go on with the totals. One worker needs none. */
#ifndef PLAN_SUMS_H
#define PLAN_SUMS_H

#include "plan/plan.h"

/* Turns a body's sums into partial sums of its workers, in place. The bodies that add them are
 * appended to `second` (at most MAX_RESULTS); returns how many. */
int sums_split(const Plan *, Body *, bool rows_grow, Body **second);

#endif
