/* The pointers that consecutive launches use: which arguments share one local variable, and how its
 * address depends on the iteration. */
#ifndef EMIT_POINTERS_H
#define EMIT_POINTERS_H

#include "emit/roll.h"

/* One local of an emitted function: a device address. In a repeated run the address may change from
 * iteration to iteration; `values` has the value of each. If the addresses are equally spaced, the
 * address is a function of the value's number. So it is if only the first or the last one is
 * elsewhere: the first layer reads the embedding instead of the result of a previous layer. */
typedef struct {
    const Value **values; /* [run.times] */
    const char *name;
    bool declared; /* already written out */
    int column;    /* of the table, if the addresses are not linear; else -1 */
    /* if column is -1: */
    int64_t step; /* bytes from one iteration to the next */
    int odd;      /* the iteration with another address, or -1 */
    /* if step is not 0: the values' common name, and their numbers */
    const char *pattern;
    int number, direction; /* in the first iteration; 1 or -1 per iteration */
} Pointer;

/* The addresses of a pointer in all iterations; several pointers may share them. */
typedef struct {
    const Value **values; /* [run.times] */
    const char *name;
} Column;

/* A scalar argument that differs between iterations. */
typedef struct {
    int launch, index; /* in the run's first iteration */
    const char *name;
} Varying;

typedef struct {
    Run run;
    Pointer *pointers;
    int count;
    Column *columns;
    int column_count;
    int *of_arg; /* [launch of the run][MAX_PARAMS + 1]: index into pointers; last: observed; -1 */
    Varying *varying;
    int varying_count;
    bool has_table;
} Pointers;

Pointers pointers_of(Arena *, const Plan *, const PlanEntry *, Run);
/* The first iteration that is not the odd one. */
int pointer_begin(const Pointer *);
Pointer *pointer_of_arg(const Pointers *, int launch_of_run, int arg);
Pointer *pointer_observed(const Pointers *, int launch_of_run);
/* The varying scalar at this place, or NULL if it is the same in all iterations. */
const Varying *varying_at(const Pointers *, int launch_of_run, int index);

#endif
