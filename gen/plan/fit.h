/* Whether a plan fits its device and the spec's budget, and what to say if it does not. */
#ifndef PLAN_FIT_H
#define PLAN_FIT_H

#include "plan/plan.h"
#include "spec/less_memory.h"

/* Device memory that the process may use: activation_checkpoint.memory_budget_gib, or the device's. */
int64_t plan_budget_bytes(const Plan *);
/* Whether the process, with context and libraries, stays within that. */
bool plan_fits(const Plan *);
/* The largest part that can be made smaller; PART_OTHER if nothing would help. */
MemoryPart plan_largest_part(const Plan *);
/* Reports a plan that does not fit, and its largest parts, through `say`: user_error or warn_at. The
 * message begins with `prefix`; remedy is what to change, or NULL. */
void plan_say_unfit(const Plan *, const char *prefix, const char *remedy,
                    void (*say)(Pos, const char *hint, const char *format, ...));
/* Raises a user error if a kernel needs more shared memory than a block of the device can have. */
void plan_require_shared_memory(const Plan *);

#endif
