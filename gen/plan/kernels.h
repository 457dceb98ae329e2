/* From bodies to launches of kernels. Launches of the same signature share a kernel. */
#ifndef PLAN_KERNELS_H
#define PLAN_KERNELS_H

#include "plan/plan.h"

/* Appends the launch of a body. */
void plan_body(Plan *, Entry, Body *, const Op *const *ops, int op_count);
/* Whether the ops see all trained tensors as one run of rows, more of them with more layers: then
 * the number of rows is an argument of the kernel. */
bool plan_rows_grow(Entry, const Op *const *ops, int op_count);
/* Appends the launches of an op without scalar steps: calls the launch rule of its row. */
void plan_op(Plan *, Entry, const Op *);

typedef void LaunchRule(Plan *, Entry, const Op *);
#define OP(name, traits, shape, gradient, expand, flops, launch) LaunchRule launch;
#include "graph/ops.h"
#undef OP

Launch *plan_add_launch(Plan *, Entry, Launch);
/* Notes the ops of a launch whose args are known, and what it is to show of them. */
void launch_carries(Arena *, Launch *, const Op *const *ops, int count);
/* The kernel with this signature, or a new one; a name that is taken gets a number. */
int plan_kernel(Plan *, Kernel);
/* Which scalar of the kernel names the stream of an UNIFORM step. */
int kernel_stream_scalar(const Kernel *, int step);
/* "float", "__nv_bfloat16": the type in CUDA C. */
const char *dtype_c_name(DType);
/* The last parts of a value's name, as an identifier that is not taken by the `taken` first parameters. */
const char *short_name(Arena *, const Value *, const KernelParam *taken, int count);

#endif
