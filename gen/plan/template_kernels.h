/* Filling a template: its holes, the launch's pointers and grid. */
#ifndef PLAN_TEMPLATE_KERNELS_H
#define PLAN_TEMPLATE_KERNELS_H

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
/* Appends the launch. */
void fill_finish(Plan *, Entry, Filling *, const Op *);

void plan_attention(Plan *, Entry, const Op *);
void plan_attention_grad(Plan *, Entry, const Op *);
void plan_conv2d(Plan *, Entry, const Op *);
void plan_conv2d_input_grad(Plan *, Entry, const Op *);
void plan_conv2d_weight_grad(Plan *, Entry, const Op *);

/* The number that fills a hole. */
int64_t template_int(const Kernel *, const char *hole);
/* What a kernel of the template asks of memory, and its arithmetic. */
double attention_bytes(const Kernel *, const Launch *);
double attention_flops(const Kernel *, const Launch *);
double conv2d_bytes(const Kernel *, const Launch *);
double conv2d_flops(const Kernel *, const Launch *);

#endif
