/* The pointers that consecutive launches use: which arguments share one local variable, and how its
 * address depends on the iteration. */
#ifndef EMIT_POINTERS_H
#define EMIT_POINTERS_H

#include "emit/roll.h"
#include "plan/plan.h"

/* A number that changes by one per iteration of a repeated run. */
typedef struct {
    int number, direction; /* in the first iteration; 1 or -1 per iteration */
} Count;

/* One local of an emitted function: a device address. In a repeated run the address may change from
 * iteration to iteration; `values` has the value of each. If the values' names are counted, such as
 * one buffer per layer, the address is a function of that number. The first or the last iteration may
 * be an exception: the first layer reads the embedding, not the result of a previous layer. */
typedef struct {
    const Value **values; /* [run.times] */
    const char *name;
    bool declared; /* already written out */
    int column;    /* of the table, for addresses that cannot be described otherwise; else -1 */
    /* if column is -1: */
    int odd;      /* the exceptional iteration, or -1 */
    int64_t step; /* bytes from one iteration to the next; 0: constant, or listed */
    bool listed;  /* counted, but with uneven distances: buffers.h lists the addresses */
    bool shared;  /* counted, and constant: the layers' buffers are in one place */
    const char *place; /* the name of that place, from places.c; NULL: none */
    /* if step is not 0, or listed, or shared: */
    const char *pattern; /* the values' names, with * for the number: "model.layers.*.mlp.act" */
    Count count;
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
/* The first and the last iteration other than the odd one. */
int pointer_begin(const Pointer *);
int pointer_last(const Pointer *, int times);
int number_at(Count, int iteration);
/* The count as an expression of the loop variable: "layer", "layer + 1", "3 - i". */
const char *count_text(Arena *, Count, const Index *);
Pointer *pointer_of_arg(const Pointers *, int launch_of_run, int arg);
Pointer *pointer_observed(const Pointers *, int launch_of_run);
/* The varying scalar at this place, or NULL if it is the same in all iterations. */
const Varying *varying_at(const Pointers *, int launch_of_run, int index);

#endif
