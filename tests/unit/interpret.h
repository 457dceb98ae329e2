/* Runs a program's step in fp64 without a device: bodies and matrix products by eval.h, attention,
 * convolutions and the embedding's gradient by plain loops over the definitions. For tests of gradients. */
#ifndef TESTS_UNIT_INTERPRET_H
#define TESTS_UNIT_INTERPRET_H

#include "eval.h"

/* Launches of micro_step and the rest as the spec wants them, nothing placed or predicted. */
Plan *interpret_plan(Program *, const Spec *);
/* Parameters between -size and size (those that start as ones: near 1), the same for the same name,
 * shape and seed; constants; zero elsewhere in what persists. Inputs are the caller's. */
void interpret_fill(Memory *, const Program *, double size, uint64_t seed);
/* Runs load and one micro_step from zeroed sums and gradients; returns the step's loss. */
double interpret_step(Memory *, const Plan *);
/* Carries out conv2d or one of its gradients, whatever the dtypes of its values. */
void interpret_conv2d(Memory *, const Op *);
/* Runs micro_step once more, onto what is there. */
void interpret_micro_step(Memory *, const Plan *);
/* d loss / d weight[element] by central differences; the weight is as before afterwards. */
double interpret_difference(Memory *, const Plan *, const Value *weight, int64_t element);

#endif
