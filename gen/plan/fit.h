/* Whether a plan fits its device and the spec's budget, and what to say if it does not. */
#ifndef PLAN_FIT_H
#define PLAN_FIT_H

#include "plan/plan.h"

int64_t plan_budget_bytes(const Plan *);
bool plan_fits(const Plan *);
/* Raises a user error if the plan does not fit. The error names the largest consumers and the key
 * that would help most. */
void plan_require_fit(const Plan *);
/* Reports the same about a plan that does not fit through `say`: user_error or warn_at. The message
 * begins with `prefix`. */
void plan_say_unfit(const Plan *, const char *prefix,
                    void (*say)(Pos, const char *hint, const char *format, ...));
/* Raises a user error if a kernel needs more shared memory than a block of the device can have. */
void plan_require_shared_memory(const Plan *);

#endif
