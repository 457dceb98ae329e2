/* program.c of a pipeline's stage: what it does in a step, and what it exchanges. */
#ifndef EMIT_EMIT_SCHEDULE_H
#define EMIT_EMIT_SCHEDULE_H

#include "base/strbuf.h"
#include "emit/places.h"

/* The tables; nothing where the program is whole. */
void emit_schedule(const Places *, StrBuf *);

#endif
