/* Kernels from templates: real CUDA with marked holes.
 *
 *     //@prelude ... //@end          printed once, however many kernels come of the template
 *     //@prelude FILE                the preludes of a file beside it, which it includes
 *     //@prelude?NAME=VALUE ... //@end  printed where one of the kernels fills the hole NAME so
 *     //@kernel NAME ... //@end      one kernel; its holes are a marker, a default, a marker:
 *     / *@head_dim* /64/ *@* /       (without the blanks) becomes the plan's value
 *
 * Of lines between #ifdef NAME, #else and #endif, a kernel has the first where the plan fills the
 * hole NAME, else the others.
 *
 * The holes operands, columns and row are filled with the kernel's epilogue (printer.h).
 * A hole that the plan does not fill, or a value without a hole, is an internal fault. */
#ifndef EMIT_FILL_TEMPLATE_H
#define EMIT_FILL_TEMPLATE_H

#include "base/strbuf.h"
#include "plan/plan.h"

void print_template_preludes(const Plan *, StrBuf *);
void print_template_kernel(const Plan *, const Kernel *, StrBuf *);

#endif
