/* A reference interpreter of plans: computes each launch element by element, in the dtypes and with
 * the order of sums that its kernel promises. It shares no code with the printer, so that the two
 * check each other. */
#ifndef TESTS_UNIT_EVAL_H
#define TESTS_UNIT_EVAL_H

#include "plan/plan.h"

/* Bytes of every storage, by its id; the caller frees them with memory_free. */
typedef struct {
    int count;
    unsigned char **bytes;
} Memory;

Memory memory_new(const Program *); /* filled with 0xFF: not a number */
void memory_free(Memory *);
/* Distance in elements from the value's first element to the one at (row, col). */
int64_t value_index(const Value *, int64_t row, int64_t col);
double memory_get(const Memory *, const Value *, int64_t element); /* from the value's first */
void memory_set(Memory *, const Value *, int64_t element, double number);

/* Supports kernels from bodies, convolutions with their epilogues, GEMMs, memsets and copies, but
 * no other templates. */
void eval_launch(Memory *, const Plan *, const Launch *);
void eval_entry(Memory *, const Plan *, Entry);

#endif
