/* Kernels that have bodies, with or without a template. Those that differ only in constants, and in
 * the names of their values, share a function: a C++ template over Sizes, which has the constants
 * that differ. */
#ifndef EMIT_SHARED_BODIES_H
#define EMIT_SHARED_BODIES_H

#include "base/strbuf.h"
#include "plan/plan.h"

typedef struct SharedBodies SharedBodies;

/* Whether the kernel adds the partial sums of another kernel. */
bool kernel_is_second_pass(const Kernel *);
/* Finds out which kernels of the plan share a function. */
const SharedBodies *shared_bodies(const Plan *);
/* Prints the function, if the kernel is the first of those that share it. */
void print_shared_body(const Plan *, int kernel, const SharedBodies *, StrBuf *);
/* Prints a kernel that has a body: its statements, or the call of its function. */
void print_body_kernel(const Plan *, int kernel, const SharedBodies *, StrBuf *);

#endif
