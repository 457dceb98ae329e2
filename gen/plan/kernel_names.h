/* How kernels, their parameters and their types are called in CUDA C. */
#ifndef PLAN_KERNEL_NAMES_H
#define PLAN_KERNEL_NAMES_H

#include "plan/plan.h"

/* What a kernel made from a body calls its own: no parameter or step may be called so. NULL ends. */
extern const char *const kernel_words[];

/* "float", "__nv_bfloat16". */
const char *dtype_c_name(DType);
/* "add, rms_norm": each kind of op once, in the order of the first of each. */
const char *op_list(Arena *, const Op *const *ops, int count);
/* "add_rms_norm": the first three of such a list. */
const char *ops_identifier(Arena *, const char *list);
/* "add_rms_norm_1024x128": those, and the shape of the kernel's body. */
const char *body_kernel_name(Arena *, const char *list, const Kernel *);
/* An identifier from the last parts of the value's name: "weight", "q_proj_y", "act_grad". Given a
 * kernel, one that neither its parameters nor its template use; given NULL, the shortest. */
const char *short_name(Arena *, const Value *, const Kernel *);
/* Names the parameters that no template has named, and makes the kernel's name, so far what it does,
 * unique in the plan: "rope_1024x64_of_304". */
void kernel_set_names(const Plan *, Kernel *);
/* The source of the kernel's template, "" where it has none: a body's names must not meet those in
 * it. */
const char *kernel_template_text(const Kernel *);

#endif
