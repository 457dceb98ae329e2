/* The comment over each launch of an emitted function. */
#ifndef EMIT_HEADINGS_H
#define EMIT_HEADINGS_H

#include "emit/pointers.h"

/* The name of its op; where others beside it have that too, what this launch writes. */
void put_heading(StrBuf *, Arena *, const PlanEntry *, const Pointers *, int launch_of_run);

#endif
