/* Adding kernels and launches to a plan. Launches of the same signature share a kernel. */
#ifndef PLAN_KERNELS_H
#define PLAN_KERNELS_H

#include "plan/group.h"

/* Appends the launch of a body. */
void plan_body(Plan *, Entry, Body *, const Op *const *ops, int op_count);
/* Whether the ops see all trained tensors as one run of rows, more of them with more layers: then
 * the number of rows is an argument of the kernel. */
bool plan_rows_grow(Entry, const Op *const *ops, int op_count);
/* Appends the launches of ops that no body serves: calls the launch rule in the row of the first. */
void plan_op(Plan *, Entry, const Group *);

typedef void LaunchRule(Plan *, Entry, const Group *);
#define OP(name, traits, shape, gradient, expand, flops, launch) LaunchRule launch;
#include "graph/ops.h"
#undef OP

/* Room for as many; more are no harm. */
void plan_expect_launches(Plan *, Entry, int count);
Launch *plan_add_launch(Plan *, Entry, Launch);
/* Notes the ops of a launch whose args are known, and what it is to show of them. */
void launch_carries(Arena *, Launch *, const Op *const *ops, int count);
/* The kernel with this signature, or a new one; a name that is taken gets a number. */
int plan_kernel(Plan *, Kernel);
/* The pointers and scalars of a kernel's body, after those that it has already. */
void kernel_operands(Arena *, Kernel *, Launch *);
/* Canonical text of what the kernel's body does. */
const char *body_signature(Arena *, const Kernel *);
/* Appends y = weight x, or of the weight transposed, of each image of x; both lie in planes. */
void plan_plane_gemms(Plan *, Entry, const Op *, const Value *weight, bool transposed,
                      const Value *x, const Value *y);

#endif
