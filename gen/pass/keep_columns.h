/* A matrix such as a border's [x|u] need not be kept for backward if only its last columns, u, are read
 * there: they then get a place of their own, from which they are copied into the matrix for forward.
 * Requires that values have their places and that backward is marked. */
#ifndef PASS_KEEP_COLUMNS_H
#define PASS_KEEP_COLUMNS_H

#include "graph/graph.h"
#include "pass/bordered.h"

/* The columns of x's matrix behind x. */
typedef struct {
    Value *matrix; /* NULL: there are none that backward reads */
    int64_t first, cols;
    Op *writer[MAX_SITES]; /* of forward, which fill them, in order */
    int writers;
} ColumnsBehind;

/* Finds the columns; false if backward reads some that cannot have a place of their own. */
bool columns_behind(const GraphUses *, const Value *x, ColumnsBehind *);
Op *columns_last_writer(const ColumnsBehind *);
/* Gives them the place; returns the copy, which belongs right after their last writer. */
Op *columns_keep(Program *, const GraphUses *, const ColumnsBehind *);

#endif
