/* Joining bodies so that what one op hands to the next stays in registers.
 *
 * The joined body computes the same bits as its parts one after the other: a load of what an earlier
 * part stored becomes that number, rounded to the value's dtype as memory would. */
#ifndef PLAN_FUSE_H
#define PLAN_FUSE_H

#include "graph/steps.h"

/* The body with each element loaded once, however many operands it is. Works in place. */
void fuse_loads(const Program *, Body *);

/* `first` and then `second` as one body; NULL where that would not be the same: a thread would need
 * what another thread of the kernel writes, or a sum over rows that is not complete. */
Body *fuse_bodies(const Program *, const Body *first, const Body *second);

/* The body without stores to values that nobody else reads, and without steps that only they used.
 * Works in place. */
void fuse_drop_stores(Body *, bool (*is_read)(const void *context, const Value *),
                      const void *context);

#endif
