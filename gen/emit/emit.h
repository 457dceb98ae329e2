/* Writing the program: each function writes one file of build/NAME from the plan.
 *
 * Nothing here decides anything: what runs, where it lies and what it costs is in the plan. The
 * text depends on the plan alone: no dates, no paths, no locale. */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include "base/strbuf.h"
#include "emit/places.h"

void emit_program(const Places *, StrBuf *); /* program.c */
void emit_buffers(const Places *, StrBuf *); /* buffers.h */
void emit_values(const Places *, StrBuf *);  /* values.c */
void emit_kernels(const Plan *, StrBuf *);   /* kernels.cu */
void emit_makefile(const Plan *, StrBuf *);  /* Makefile */
/* The one that builds and starts all stages of a pipeline, of which the plan is any. */
void emit_stages_makefile(const Plan *, StrBuf *);

#endif
