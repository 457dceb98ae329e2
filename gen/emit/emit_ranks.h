/* The parts of program.c that only programs of several ranks have. Nothing is written for a single
 * rank. */
#ifndef EMIT_EMIT_RANKS_H
#define EMIT_EMIT_RANKS_H

#include "base/strbuf.h"
#include "emit/places.h"
#include "plan/plan.h"

/* Writes the table of groups that need a communicator. */
void emit_groups(const Plan *, StrBuf *);
void emit_group_ranks(const Places *, StrBuf *);
/* Writes the fields of RtProgram for ranks: the mesh, the tables of groups and of places, and the
 * timeout. */
void emit_ranks(const Plan *, StrBuf *);

#endif
