/* The parts of program.c that only programs of several ranks have: nothing is written for one. */
#ifndef EMIT_EMIT_RANKS_H
#define EMIT_EMIT_RANKS_H

#include "base/strbuf.h"
#include "emit/places.h"
#include "plan/plan.h"

/* The table of groups that need a communicator. */
void emit_groups(const Plan *, StrBuf *);
void emit_rank_places(const Places *, StrBuf *);
/* The fields of RtProgram: its mesh, that table, and what ranks wait for each other. */
void emit_ranks(const Plan *, StrBuf *);

#endif
