/* When the steps of a body run.
 *
 * Row reductions cut the work on a row into phases: a phase visits the columns, the reductions it
 * feeds are complete at its end, and later phases may use them. A step at column level is computed
 * in each phase that needs it, from elements that were loaded; nothing but loaded elements is kept
 * from one phase to the next. Printer, cost count and reference interpreter all follow this file. */
#ifndef PLAN_PHASES_H
#define PLAN_PHASES_H

#include "graph/steps.h"

typedef struct {
    const Body *body;
    int count;
    int *at;      /* by step: the first phase in which it can run; stores and sums run there */
    bool *needed; /* [phase][step]: the visit of the columns computes this step */
    bool *kept;   /* by step: a LOAD that several phases need */
} Phases;

Phases phases_of(Arena *, const Body *);
bool phase_needs(const Phases *, int phase, int step);
/* Whether anything happens in the phase's visit of the columns. */
bool phase_visits_columns(const Phases *, int phase);
/* How often the phase uses a step: as an argument of what it computes, stores or sums. */
int phase_uses(const Phases *, int phase, int step);

bool step_reduces_row(StepKind); /* ROW_SUM, ROW_MAX, ROW_LSE */
bool step_totals(StepKind);      /* TOTAL */
bool step_reduces(StepKind);     /* any of these: known after the visit that feeds it */
bool step_writes(StepKind);      /* STORE, COL_SUM */
/* What a step varies with; for a STORE, what its value's elements vary with. */
Level step_level(const Body *, int step);
bool step_per_column(const Body *, int step); /* COL or ELEMENT */
bool body_has(const Body *, bool (*which)(StepKind));
bool step_sums_columns(StepKind); /* COL_SUM */

/* A value [R,1] read as one row of R columns, as body_upright lays it. */
bool value_lies_flat(const Body *, const Value *);
/* A body of one column as one row, so that neighbouring threads take neighbouring elements and a
 * sum over rows becomes a row sum; other bodies as they are. */
Body *body_upright(Body *);

#endif
