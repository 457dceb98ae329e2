/* Runs a program's step in fp64 without a device: bodies and matrix products by eval.h, attention,
 * convolutions and the embedding's gradient by plain loops over the definitions. For tests of gradients. */
#ifndef TESTS_UNIT_INTERPRET_H
#define TESTS_UNIT_INTERPRET_H

#include "eval.h"

/* Plans the launches of micro_step and the other entries for a spec; nothing is placed or
 * predicted. */
Plan *interpret_plan(Program *, const Spec *);
/* Makes results of micro_step that no op reads gradients, so that they are stored for the test. */
void interpret_keep_results(Program *);
/* Sets parameters to numbers between -size and size (near 1 if they are initialised to ones), the
 * same for the same name, shape and seed; sets constants, and zero elsewhere in persistent
 * storages. The caller sets inputs. */
void interpret_fill(Memory *, const Program *, double size, uint64_t seed);
/* Runs load and one micro_step from zeroed sums and gradients; returns the step's loss. */
double interpret_step(Memory *, const Plan *);
/* Computes conv2d or one of its gradients, for any dtypes. */
void interpret_conv2d(Memory *, const Op *);
/* Runs another micro_step, which accumulates. */
void interpret_micro_step(Memory *, const Plan *);
/* Returns d loss / d weight[element] by central differences; restores the weight. */
double interpret_difference(Memory *, const Plan *, const Value *weight, int64_t element);

#endif
