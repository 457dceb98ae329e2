/* Adds kernels and launches to a plan. Launches with the same signature share a kernel. */
#ifndef PLAN_KERNELS_H
#define PLAN_KERNELS_H

#include "plan/group.h"

/* Appends the launch of a body. */
void plan_body(Plan *, Entry, Body *, const Op *const *ops, int op_count);
/* Whether the ops work on all trained tensors as one run, whose number of rows grows with the
 * number of layers, or update some of them, of which each section has its own number of rows. The
 * number of rows is then an argument of the kernel. */
bool plan_rows_grow(Entry, const Op *const *ops, int op_count);
/* Appends the launches of a group that is not a plain body, by the launch rule in its first op's
 * row of the op table. */
void plan_op(Plan *, Entry, const Group *);

typedef void LaunchRule(Plan *, Entry, const Group *);
#define OP(name, traits, shape, gradient, expand, flops, launch) LaunchRule launch;
#include "graph/ops.h"
#undef OP

/* Asks of a group whose body is the prologue of its last ops, of one or more. */
typedef bool SharingRule(const Plan *, Entry, const Group *);
#define OP(name, ...)
#define PROLOGUE_OP(name, traits, shape, gradient, expand, flops, launch, sharing) \
    SharingRule sharing;
#include "graph/ops.h"
#undef OP

/* Whether other ops may share a kernel, and its prologue, with the op. */
bool op_shares_prologue(const Op *);
/* Whether one kernel can serve all ops that the body of the group is the prologue of. */
bool prologue_is_served(const Plan *, Entry, const Group *);

/* Whether kernels may multiply by Hopper's wgmma. */
bool plan_has_wgmma(const Plan *);
/* Reserves room for `count` launches; more may follow. */
void plan_expect_launches(Plan *, Entry, int count);
/* Appends the launch, whose args are known, with its ops and the value that it must dump. Ops that
 * only repeat others come last: what a launch is for names it. */
void plan_add_launch(Plan *, Entry, Launch, const Op *const *ops, int count);
/* Index of the kernel with this signature; if there is none, appends it with a unique name. */
int plan_kernel(Plan *, Kernel);
/* Appends the pointers and scalars of a kernel's body to those that the kernel has already. */
void kernel_operands(Arena *, Kernel *, Launch *);
/* Canonical text of what the kernel's body does. */
const char *body_signature(Arena *, const Kernel *);
/* Appends y = w x, or w^T x, for each image of x, of an op (x, w) -> y; x and y lie in planes. */
void plan_plane_gemms(Plan *, Entry, const Op *, bool transposed);

#endif
