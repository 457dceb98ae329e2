/* Finds repeated runs in a list of launches, so that the layers of a model become one function. */
#ifndef EMIT_ROLL_H
#define EMIT_ROLL_H

#include "base/arena.h"
#include "plan/plan.h"

/* `length` launches from `first` on, `times` times over; times 1: launches that stand alone. */
typedef struct {
    int first, length, times;
    int stride; /* launches from one time to the next: length, or more in a part of a run */
} Run;

typedef struct {
    Run *runs; /* in order; together they are all launches */
    int count;
} Rolled;

/* Equal ids are launches that differ in nothing but addresses and scalars. */
Rolled roll_ids(Arena *, const int *ids, int count);
Rolled roll_entry(Arena *, const PlanEntry *);

#endif
