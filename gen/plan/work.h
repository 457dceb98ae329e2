/* What launches ask of memory and how much they compute, before any device is considered. plan.h has
 * launch_work, for launches of every kind. */
#ifndef PLAN_WORK_H
#define PLAN_WORK_H

#include "plan/plan.h"

/* Of a kernel's body in the launch: issued_bytes, flops and instructions; the rest of the cost is 0. */
Cost body_cost(Arena *, const Kernel *, const Launch *);
/* Instructions of a thread that does the step once; of a load, a store or a draw the share of an
 * element, where each serves `width` of them. */
double step_instructions(const Step *, DType real, double width);

#endif
