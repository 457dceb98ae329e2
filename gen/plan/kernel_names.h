/* Names of kernels, of their parameters and of types in CUDA C. */
#ifndef PLAN_KERNEL_NAMES_H
#define PLAN_KERNEL_NAMES_H

#include "plan/plan.h"

/* Variable names that a body's kernel uses itself, so that no parameter or step may have them.
 * NULL-terminated. */
extern const char *const kernel_words[];

/* Whether the printer or CUDA C uses the name for something else. */
bool kernel_name_is_reserved(const char *name);
/* "float", "__nv_bfloat16". */
const char *dtype_c_name(DType);
OpTitles op_titles(Arena *, const Op *const *ops, int count);
/* "add, rms_norm". */
const char *titles_text(Arena *, OpTitles);
/* "add_rms_norm": the first three. */
const char *titles_identifier(Arena *, OpTitles);
/* "add_rms_norm_1024x128": the same followed by the shape of the kernel's body. */
const char *body_kernel_name(Arena *, OpTitles, const Kernel *);
/* An identifier made of the last parts of the value's name: "weight", "q_proj_y", "act_grad". With
 * a kernel, one that neither its parameters nor its template use; with NULL, the shortest. */
const char *short_name(Arena *, const Value *, const Kernel *);
/* Names the parameters that the template has not named, and makes the kernel's descriptive name
 * unique in the plan: "rope_1024x64_of_304". */
void kernel_set_names(const Plan *, Kernel *);
/* Whether the kernel's template has the name, in its preludes or in this kernel: a body must not use
 * it for something else. */
bool kernel_template_mentions(const Kernel *, const char *name);

#endif
