/* Filling a template: its holes, the launch's pointers and grid, and what it costs. An op that a
 * template serves has a launch rule, in a file of its own, that does so for each kernel. */
#ifndef PLAN_TEMPLATE_KERNELS_H
#define PLAN_TEMPLATE_KERNELS_H

#include "plan/kernel_names.h"
#include "plan/kernels.h"

/* A kernel of a template being filled, and its launch. */
typedef struct {
    Arena *arena;
    Kernel kernel;
    Launch launch;
} Filling;

/* `kernel` is the section's name in the template. */
Filling filling_new(const Plan *, const Op *, const char *template_name, const char *kernel);
void fill_text(Filling *, const char *hole, const char *value);
void fill_int(Filling *, const char *hole, int64_t value);
void fill_real(Filling *, const char *hole, double value);
void fill_stride(Filling *, const char *hole, const Value *);
/* The next pointer. */
void fill_reads(Filling *, const char *name, const Value *);
void fill_writes(Filling *, const char *name, const Value *);
void fill_updates(Filling *, const char *name, const Value *); /* reads and writes */
void fill_grid(Filling *, int64_t x, int64_t y, int64_t z);
/* What its threads ask of global memory, and their arithmetic: as exact as issued.c is of bodies. */
void fill_cost(Filling *, double issued_bytes, double flops);
/* Its tiles cover so many elements of results of which so many exist: the rest costs as much. */
void fill_tiles(Filling *, double elements, double covered);
/* Appends the launch. */
void fill_finish(Plan *, Entry, Filling *, const Op *);

/* The same where the template leaves open what becomes of its result: the body of the group says
 * it, whose operands and cost are added; the kernel's skeleton is chosen. */
void fill_finish_epilogue(Plan *, Entry, Filling *, const Group *);

#endif
