/* What a convolution's launch asks of global memory, once its pointers and its grid are known. */
#ifndef PLAN_CONV_COST_H
#define PLAN_CONV_COST_H

#include "plan/plan.h"

/* Whether tensor cores' kernels read what windows see of a line of x in pairs (conv2d_mma.cu); elements
 * of such a run. */
bool conv_in_runs(const Value *x, const Window *);
int64_t conv_run(const Window *, int64_t channels);
/* Of an axis of `size` places whose gradient falls into phases, those of one phase. */
int64_t conv_phase_places(int64_t size, int64_t phases, int64_t phase);
/* Forward and the gradient of the input, without what becomes of the result; `tile`: places of a
 * block's tile; `pool`: the side of windows over the result, of which the rest is not found. */
double conv_gather_bytes(const Op *, const Launch *, int64_t tile, int64_t pool);
double conv_weight_grad_bytes(const Op *, const Launch *);

#endif
