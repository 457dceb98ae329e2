/* Fills a template: its holes, the launch's pointers and grid, and its cost. An op that is served
 * by a template has a launch rule, in a file of its own, that does this for each kernel. */
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

/* `kernel` is the name of a section in the template. */
Filling filling_new(const Plan *, const Op *, const char *template_name, const char *kernel);
void fill_text(Filling *, const char *hole, const char *value);
void fill_bool(Filling *, const char *hole, bool value);
void fill_int(Filling *, const char *hole, int64_t value);
void fill_real(Filling *, const char *hole, double value, const char *suffix); /* "0.25f" */
void fill_stride(Filling *, const char *hole, const Value *);
/* Appends the next pointer. */
void fill_reads(Filling *, const char *name, const Value *);
void fill_writes(Filling *, const char *name, const Value *);
/* A result, which the template adds to what is there or not. */
void fill_result(Filling *, const char *name, const Value *, bool accumulate);
void fill_grid(Filling *, int64_t x, int64_t y, int64_t z);
/* Bytes that its threads ask of global memory, and their FLOPs; as exact as issued.c for bodies. */
void fill_cost(Filling *, double issued_bytes, double flops);
/* The results have `elements` elements, but the tiles cover `covered`; all of those cost time. */
void fill_tiles(Filling *, double elements, double covered);
/* Appends the launch. */
void fill_finish(Plan *, Entry, Filling *, const Op *);

/* The same for a template with an epilogue, which is the group's body: adds its operands and cost. The
 * kernel's body and skeleton must be set. */
void fill_finish_epilogue(Plan *, Entry, Filling *, const Group *);
/* The same for a template with a prologue, whose ops the kernel's name then begins with. The cost must
 * be without the operands that the prologue makes. */
void fill_finish_prologue(Plan *, Entry, Filling *, const Group *);

#endif
