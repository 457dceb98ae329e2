/* From bodies to launches of kernels. Launches of the same signature share a kernel. */
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

/* What a kernel made from a body calls its own: no operand or step may be called so. NULL ends. */
extern const char *const kernel_words[];

/* Room for as many; more are no harm. */
void plan_expect_launches(Plan *, Entry, int count);
Launch *plan_add_launch(Plan *, Entry, Launch);
/* Notes the ops of a launch whose args are known, and what it is to show of them. */
void launch_carries(Arena *, Launch *, const Op *const *ops, int count);
/* The kernel with this signature, or a new one; a name that is taken gets a number. */
int plan_kernel(Plan *, Kernel);
/* The pointers and scalars of a kernel's body, after those that it has already. */
void kernel_operands(Arena *, Kernel *, Launch *);
/* What its body asks of memory in the launch, its arithmetic and its instructions. */
Cost body_cost(Arena *, const Kernel *, const Launch *);
/* Instructions of a thread that does the step once; of a load, a store or a draw the share of an
 * element, where each serves `width` of them. */
double step_instructions(const Step *, DType real, double width);
/* Appends y = weight x, or of the weight transposed, of each image of x; both lie in planes. */
void plan_plane_gemms(Plan *, Entry, const Op *, const Value *weight, bool transposed,
                      const Value *x, const Value *y);
/* The plan's entry for such a collective. */
int plan_collective(Plan *, Collective);
/* What nccl-tests calls the size of a launch's collective, and its time. */
double collective_bytes(const Plan *, const Launch *);
double collective_ms(const Plan *, const Launch *);
Party collective_party(const Plan *, const Collective *); /* who takes part */
/* Canonical text of what the kernel's body does. */
const char *body_signature(Arena *, const Kernel *);
/* "add, rms_norm": each kind of op once; and the name of a kernel of such ops, "add_rms_norm". */
const char *op_list(Arena *, const Op *const *ops, int count);
const char *ops_identifier(Arena *, const char *list);
/* The source of the kernel's template, "" where it has none: a body's names must not meet those
 * in it. */
const char *kernel_template_text(const Kernel *);
/* Which scalar of the kernel names the stream of an UNIFORM step. */
int kernel_stream_scalar(const Kernel *, int step);
/* "float", "__nv_bfloat16": the type in CUDA C. */
const char *dtype_c_name(DType);
/* The last parts of a value's name, as an identifier that means nothing else in the kernel so
 * far (NULL: that matters not). */
const char *short_name(Arena *, const Value *, const Kernel *);

#endif
