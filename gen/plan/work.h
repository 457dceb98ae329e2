/* How many bytes launches ask of memory and how much they compute, on any device. */
#ifndef PLAN_WORK_H
#define PLAN_WORK_H

#include "plan/plan.h"

/* Issued bytes, FLOPs and instructions of a launch of any kind; the rest of the cost is 0. Exact for
 * bodies; a GEMM counts each operand once; templates use the formulas in their head comments. */
Cost launch_work(const Plan *, const Launch *);
/* The same of the launch's body alone. */
Cost body_cost(Arena *, const Kernel *, const Launch *);
/* Bytes that the blocks of a launch of a streaming kernel load again in later visits of their rows;
 * of any other launch, 0. */
double launch_reread_bytes(const Plan *, const Launch *);
/* Instructions per execution of a step. A load, store or draw that serves `width` elements counts
 * per element. */
double step_instructions(const Body *, int step, DType real, double width);

#endif
