/* What any choice of kernels has to do, counted from the graph only, so that the ratio of issued to
 * least bytes tells how well the launches were chosen. */
#ifndef PLAN_LEAST_H
#define PLAN_LEAST_H

#include "plan/plan.h"

/* Elements that a launch touches if it touches the value; of a table with a number per step, that of
 * the step. */
double touched_elements(const Program *, const Value *);
/* Bytes read of a value to make `made` elements; of a data set, only selected rows are read. */
double read_bytes(const Program *, const Value *, double made);
double written_bytes(const Program *, const Value *);

/* Sets least_bytes and model_flops of the entry's launches: those of each of the graph's ops, at the
 * first launch that carries it out. The arena is for temporary tables. */
void count_least(const Plan *, PlanEntry *, const Graph *, Arena *);

#endif
