/* The pointers that a stretch of launches uses: which are one local, and where each lies. */
#ifndef EMIT_POINTERS_H
#define EMIT_POINTERS_H

#include "emit/roll.h"

/* A number that changes by one from each time of a repeated run to the next. */
typedef struct {
    int number, direction; /* at the first time; 1 or -1 */
} Count;

/* One local of an emitted function: a device address. In a repeated run the address may change each
 * time; `values` has the value of each. If the values' names are counted, as one buffer per layer, the
 * address is a function of that number. At the first or the last time the value may be another one:
 * the first layer reads the embedding, the others read the result of the layer before. */
typedef struct {
    const Value **values; /* [run.times] */
    const char *name;
    bool declared; /* already written out */
    int column;    /* of the table, for addresses that cannot be described otherwise; else -1 */
    /* if column is -1: */
    int odd;      /* the time with another value; -1: none */
    int64_t step; /* bytes from one time to the next; 0: constant, or listed */
    bool listed;  /* counted, but with uneven distances: buffers.h lists the addresses */
    /* if step is not 0, or listed: */
    const char *pattern; /* the values' names, with * for the number: "model.layers.*.mlp.act" */
    Count count;
} Pointer;

/* Addresses of each time; several pointers may share them. */
typedef struct {
    const Value **values; /* [run.times] */
    const char *name;
} Column;

/* A scalar argument that differs from one time to the next. */
typedef struct {
    int launch, index; /* of the run's first time */
    const char *name;
} Varying;

/* The loop variable of a repeated run: what the names of its ops count, such as the layer. */
typedef struct {
    const char *name; /* "layer"; "i" if nothing is counted */
    Count count;
} Index;

typedef struct {
    Run run;
    Index index;
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
/* The first time that is not the odd one, and the last. */
int pointer_begin(const Pointer *);
int pointer_last(const Pointer *, int times);
int number_at(Count, int time);
/* The count as an expression of the loop variable: "layer", "layer + 1", "3 - i". */
const char *count_text(Arena *, Count, const Index *);
Pointer *pointer_of_arg(const Pointers *, int launch_of_run, int arg);
Pointer *pointer_observed(const Pointers *, int launch_of_run);
/* The varying scalar at this place, or NULL where it is the same every time. */
const Varying *varying_at(const Pointers *, int launch_of_run, int index);

#endif
