/* Joins bodies so that values passed from one op to the next stay in registers.
 *
 * The joined body computes the same bits as its parts run in sequence: a load of a value that an
 * earlier part stored becomes that number, rounded to the value's dtype as in memory. */
#ifndef PLAN_FUSE_H
#define PLAN_FUSE_H

#include "graph/steps.h"

/* Merges loads of the same element, which may be several operands. Works in place. */
void fuse_loads(const Program *, Body *);

/* Returns one body that does `first`, then `second`; NULL where the result could differ: a thread
 * would need a value that another thread of the kernel writes, or an incomplete sum over rows. */
Body *fuse_bodies(const Program *, const Body *first, const Body *second);

/* Each row of `reader` reads the `count` rows of a window over a template's result. Returns it as
 * an epilogue of that template, whose threads compute a window at a time; it includes what `result`
 * does to each of these rows, without its stores. NULL where the result could differ. */
Body *fuse_windows(const Program *, const Body *result, const Body *reader, int count);

/* Removes spare loads of sliding windows that are more than `places` behind the window, and what only
 * those used. Works in place. */
void fuse_drop_spares(Body *, int places);

/* Removes stores to values for which is_read is false, and steps that only those stores used. Works
 * in place. */
void fuse_drop_stores(Body *, bool (*is_read)(const void *context, const Value *),
                      const void *context);

#endif
