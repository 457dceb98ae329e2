/* What passes do with one section of the runs that hold all trained tensors; see graph/trained.h. */
#ifndef PASS_SECTIONS_H
#define PASS_SECTIONS_H

#include "graph/graph.h"

/* Whether the parameter, which trains, lies in the section. */
bool section_has(const Program *, const Section *, const Param *);

/* Whether an optimizer's op (TRAIT_UPDATES) updates the section. `master` is what the op's first
 * operand lies in: the run, or a rank's piece of it. */
bool section_is_updated(const Program *, const Section *, const Op *, const Value *master);
/* Appends the part of the op that updates the section: with the section's rows of all operands that the
 * op reads by rows, and of all results. */
Op *section_update(Program *, Graph *, const Section *, const Op *, const Value *master);

/* Zeroes the gaps between tensors in `whole`, all of a section's gradients. */
void section_zero_gaps(Program *, Graph *, const Section *, Value *whole, Pos);
/* For an entry that changes a section's masters: section_opened returns all of the section, as the
 * weights that graphs read, or as a copy if ranks keep only pieces of them; section_closed stores the
 * rank's piece. If other weights have 16 bits, only for sections of dtype `real`. */
Value *section_opened(Program *, Graph *, const Section *, Pos);
void section_closed(Program *, Graph *, const Section *, Value *whole, Pos);

#endif
