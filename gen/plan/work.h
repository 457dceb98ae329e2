/* How many bytes launches ask of memory and how much they compute, on any device. launch_work in
 * plan.h covers launches of every kind. */
#ifndef PLAN_WORK_H
#define PLAN_WORK_H

#include "plan/plan.h"

/* issued_bytes, flops and instructions of the launch's body; the rest of the cost is 0. */
Cost body_cost(Arena *, const Kernel *, const Launch *);
/* Instructions per execution of a step. A load, store or draw that serves `width` elements counts
 * per element. */
double step_instructions(const Step *, DType real, double width);

#endif
