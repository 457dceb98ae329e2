/* Finds repeated runs of launches, so that the layers of a model become one function. */
#ifndef EMIT_ROLL_H
#define EMIT_ROLL_H

#include "base/arena.h"
#include "plan/launch.h"

/* `length` launches from `first` on, repeated `times` times. times is 1 for launches that do not
 * repeat. */
typedef struct {
    int first, length, times;
    int stride; /* launches per repetition: length, or more if this is a part of a run */
} Run;

typedef struct {
    Run *runs; /* in order; together they cover all launches */
    int count;
    const int *ids; /* by launch of the entry */
} Rolled;

/* Equal ids mean launches that differ only in addresses and scalars; equal forms, names of their first
 * ops that differ only in digits. */
Rolled roll_ids(Arena *, const int *ids, const int *forms, int count);
Rolled roll_entry(Arena *, const PlanEntry *);
/* Whether two launches, of one entry or of two, differ only in addresses and scalars. */
bool launches_are_alike(const PlanEntry *of_a, const Launch *a, const PlanEntry *of_b,
                        const Launch *b);

#endif
