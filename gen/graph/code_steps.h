/* Steps that make codes of numbers and numbers of codes; ops_quantize.c says what a code is. */
#ifndef GRAPH_CODE_STEPS_H
#define GRAPH_CODE_STEPS_H

#include "graph/steps.h"

/* a combined with b, as fp32 has it. */
int fp32_of(Body *, StepKind, int a, int b);
/* The row of a list [n,1] that an int says. */
int listed(Body *, Value *list, int index);
int magnitude(Body *, int a);
/* How many of 2^n - 1 ascending bounds x lies above. */
int count_below(Body *, Value *bounds, int x);

#endif
