/* The functions of program.c that enqueue one entry graph. */
#ifndef EMIT_EMIT_ENTRY_H
#define EMIT_EMIT_ENTRY_H

#include "emit/places.h"
#include "emit/strides.h"

/* Writes `static void NAME(Rt *rt)` of an entry, after the functions that it calls. */
void emit_entry(const Places *, const Strides *, Entry, StrBuf *);
/* A sentence that says when the entry runs and what it does. */
const char *entry_purpose(const Plan *, Entry);

#endif
