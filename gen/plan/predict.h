/* What launches cost before it is known what runs beside them. */
#ifndef PLAN_PREDICT_H
#define PLAN_PREDICT_H

#include "plan/plan.h"

/* Sets the cost of each launch on the plan's device, as far as its own operands determine it, and
 * hits in the L2 cache where find_cached() has counted them. Launches must have their streams. */
void price_launches(const Plan *, PlanEntry *);

#endif
