/* Bytes that a convolution's launch asks of global memory; its pointers and grid must be known. */
#ifndef PLAN_CONV_COST_H
#define PLAN_CONV_COST_H

#include "plan/launch.h"

/* How many of an axis's `size` places belong to one phase of a strided convolution's input
 * gradient. */
int64_t conv_phase_places(int64_t size, int64_t phases, int64_t phase);
/* Image lines that the tiles copy, where a kernel multiplies from whole lines
 * (conv2d_mma.cu): the most that a tile has room for, and all those read. */
typedef struct {
    int64_t most;
    double read;
} ConvLines;
ConvLines conv_lines(const Window *, int64_t images, int64_t tile, int64_t pool);
/* Forward or the gradient of the input, without the epilogue. `tile`: places in a block's tile;
 * `pool`: side of the pooling windows over the result, 1 for none; places outside whole windows are
 * not computed; `lines`: the kernel multiplies from whole lines. */
double conv_gather_bytes(const Op *, const Launch *, int64_t tile, int64_t pool, bool lines);
double conv_weight_grad_bytes(const Op *, const Launch *, int64_t tile, bool lines);

#endif
