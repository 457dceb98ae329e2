/* When the steps of a body run.
 *
 * Row reductions divide the work on a row into phases. A phase visits all columns; the reductions
 * it feeds are complete at its end, and later phases may use them. Column-level steps are
 * recomputed in each phase that needs them; only loaded elements are kept from one phase to the
 * next. The printer, the cost model and the reference interpreter all follow this file. */
#ifndef PLAN_PHASES_H
#define PLAN_PHASES_H

#include "graph/steps.h"

typedef struct {
    const Body *body;
    int count;
    int *at;      /* by step: the first phase in which it can run; stores and sums run in it */
    bool *needed; /* [phase][step]: the phase's visit of the columns computes this step */
    bool *kept;   /* by step: a LOAD that several phases need */
} Phases;

/* The arena owns the tables. Valid until the body's steps change. */
Phases phases_of(Arena *, const Body *);
bool phase_needs(const Phases *, int phase, int step);
/* Whether the phase's visit of the columns stores, sums or reduces with this step. */
bool phase_acts(const Phases *, int phase, int step);
/* Whether the phase has to visit the columns at all. */
bool phase_visits_columns(const Phases *, int phase);
/* How often the phase uses a step, as an argument of steps that it computes, stores or sums. */
int phase_uses(const Phases *, int phase, int step);

/* What a step varies with; for a STORE, what its value's elements vary with. */
Level step_level(const Body *, int step);
bool step_per_column(const Body *, int step); /* COL or ELEMENT */
/* Whether the step's elements are scattered, because the row varies with the column. */
bool step_gathers(const Body *, int step);
bool body_has(const Body *, bool (*which)(StepKind));

/* Whether the body, laid out by body_upright, reads a value [R,1] as one row of R columns. */
bool value_lies_flat(const Body *, const Value *);
/* Turns a body of one column into one row, so that neighbouring threads take neighbouring elements
 * and a sum over rows becomes a row sum. Returns other bodies unchanged. */
Body *body_upright(Body *);

#endif
