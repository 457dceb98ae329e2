/* Steps that encode numbers as codes and decode codes; ops_quantize.c says what a code is. */
#ifndef GRAPH_CODE_STEPS_H
#define GRAPH_CODE_STEPS_H

#include "graph/steps.h"

/* a combined with b, rounded to fp32. */
int fp32_of(Body *, StepKind, int a, int b);
/* Row `index` of a list [n,1]. */
int listed(Body *, Value *list, int index);
int magnitude(Body *, int a);
/* How many of 2^n - 1 ascending bounds are less than x. */
int count_below(Body *, Value *bounds, int x);

#endif
