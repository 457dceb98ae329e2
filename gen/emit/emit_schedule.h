/* The parts of program.c for a pipeline stage: its actions in a step, and what it exchanges. */
#ifndef EMIT_EMIT_SCHEDULE_H
#define EMIT_EMIT_SCHEDULE_H

#include "base/strbuf.h"
#include "emit/places.h"

/* Writes the tables; nothing if the program is not a pipeline stage. */
void emit_schedule(const Places *, StrBuf *);

#endif
