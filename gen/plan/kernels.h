/* From bodies to launches of kernels. Launches of the same signature share a kernel. */
#ifndef PLAN_KERNELS_H
#define PLAN_KERNELS_H

#include "plan/plan.h"

/* Appends the launch of a body. */
void plan_body(Plan *, Entry, Body *, const Op *const *ops, int op_count);
/* Whether the ops see all trained tensors as one run of rows, more of them with more layers: then
 * the number of rows is an argument of the kernel. */
bool plan_rows_grow(Entry, const Op *const *ops, int op_count);
void plan_gemm(Plan *, Entry, const Op *matmul);
/* attention, attention_grad, embedding_grad: one launch a kernel of the op's template. */
void plan_template(Plan *, Entry, const Op *);

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
