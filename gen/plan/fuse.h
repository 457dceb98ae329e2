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

/* `reader`, each row of which reads `count` rows under a window over a template's result, as a body of
 * that template's, which finds a window at a time: with what `result` does to each of these rows, and
 * without its stores. NULL where that would not be the same. */
Body *fuse_windows(const Program *, const Body *result, const Body *reader, int count);

/* The body without stores to values that nobody else reads, and without steps that only they used.
 * Works in place. */
void fuse_drop_stores(Body *, bool (*is_read)(const void *context, const Value *),
                      const void *context);

#endif
