/* Writing the program: each function writes one file of build/NAME from the plan.
 *
 * Nothing is decided here: the plan says what runs, where buffers are and what launches cost. The
 * text depends only on the plan: no dates, paths or locale. */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include "base/strbuf.h"
#include "emit/places.h"

void emit_program(const Places *, StrBuf *); /* program.c */
void emit_buffers(const Places *, StrBuf *); /* buffers.h */
void emit_values(const Places *, StrBuf *);  /* values.c */
void emit_kernels(const Plan *, StrBuf *);   /* kernels.cu */
void emit_makefile(const Plan *, StrBuf *);  /* Makefile */
/* The Makefile that builds and starts all stages of a pipeline. The plan is that of any stage. */
void emit_stages_makefile(const Plan *, StrBuf *);

#endif
