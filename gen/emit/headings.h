/* The comment before each launch of an emitted function. */
#ifndef EMIT_HEADINGS_H
#define EMIT_HEADINGS_H

#include "emit/pointers.h"

/* Writes the name of the launch's first op, the kinds of its ops, the weights that it updates, and its
 * results. */
void put_heading(StrBuf *, Arena *, const Plan *, const PlanEntry *, const Pointers *,
                 int launch_of_run);

#endif
