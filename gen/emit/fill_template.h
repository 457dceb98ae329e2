/* Kernels from templates, which are valid CUDA with marked holes.
 *
 *     //@prelude ... //@end          printed once, whatever the number of kernels of the template
 *     //@prelude FILE                the preludes of FILE, a template that this one includes
 *     //@prelude?NAME=VALUE ... //@end  printed if a kernel has the hole NAME filled with VALUE
 *     //@body NAME ... //@end        printed once if there are kernels NAME: what they share
 *     //@kernel NAME ... //@end      one kernel; its holes are a marker, a default, a marker:
 *     / *@head_dim* /64/ *@* /       (without the blanks) becomes the plan's value
 *
 * The holes operands, columns and row are filled with the kernel's epilogue (printer.h). A hole
 * that the plan does not fill, or a value without a hole, is an internal fault. */
#ifndef EMIT_FILL_TEMPLATE_H
#define EMIT_FILL_TEMPLATE_H

#include "emit/printer.h"

void print_template_preludes(const Plan *, StrBuf *);
/* A kernel without an epilogue. */
void print_template_kernel(const Kernel *, StrBuf *);
/* The parts of one with an epilogue; its template declares Sizes first. */
KernelText template_kernel_text(const Plan *, const Kernel *);

#endif
