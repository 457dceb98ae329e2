/* The functions of program.c that enqueue one entry graph. */
#ifndef EMIT_EMIT_ENTRY_H
#define EMIT_EMIT_ENTRY_H

#include "plan/plan.h"

/* Writes `static void NAME(Rt *rt)` of an entry and the functions of its repeated runs before it.
 * symbols: as storage_symbols(). */
void emit_entry(const Plan *, const char *const *symbols, const PlanEntry *, StrBuf *);

#endif
