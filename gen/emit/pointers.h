/* The pointers that a stretch of launches uses: which are one local, and where each lies. */
#ifndef EMIT_POINTERS_H
#define EMIT_POINTERS_H

#include "emit/roll.h"

/* One local of an emitted function: a device address. In a repeated run it may lie elsewhere each
 * time; `values` holds the value of each. Where that is at even distances it is told by its number,
 * and so it is where the first or the last time alone is not, as the embedding, which the first layer
 * reads, is no layer's result. */
typedef struct {
    const Value **values; /* [run.times] */
    const char *name;
    bool declared; /* already written out */
    int column;    /* of the table, where its places follow no line; else -1 */
    /* where column is -1: */
    int64_t step; /* bytes from one time to the next */
    int odd;      /* the time that lies elsewhere; -1: none */
    /* where step is not 0: what its values are called, and the number that counts them */
    const char *pattern;
    int number, direction; /* as of the first time; 1 or -1 from one time to the next */
} Pointer;

/* Where a pointer lies each time; several may start at the same places. */
typedef struct {
    const Value **values; /* [run.times] */
    const char *name;
} Column;

/* A scalar argument that differs from one time to the next. */
typedef struct {
    int launch, index; /* of the run's first time */
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
/* The first time that is not the odd one. */
int pointer_begin(const Pointer *);
Pointer *pointer_of_arg(const Pointers *, int launch_of_run, int arg);
Pointer *pointer_observed(const Pointers *, int launch_of_run);
/* The varying scalar at this place, or NULL where it is the same every time. */
const Varying *varying_at(const Pointers *, int launch_of_run, int index);

#endif
