/* Which skeleton a body takes, and its geometry.
 *
 * What fixes the order of a sum (skeleton, threads, vector, workers) follows from the body's shape
 * and the program's dtypes alone, never from what else stands in the kernel: so an op has the same
 * bits alone and fused. */
#ifndef PLAN_SKELETON_H
#define PLAN_SKELETON_H

#include "plan/plan.h"

/* Rows wider than this are read again in each phase instead of kept in registers. */
enum { WIDEST_ROW_IN_REGISTERS = 16384, WIDEST_ROW_OF_WARP = 1024 };
enum { FLAT_THREADS = 256, WARP_ROW_THREADS = 256, STREAM_THREADS = 512, COLUMN_THREADS = 256 };
enum { TILE_THREADS = 256, MOST_WORKERS = 512 }; /* of a sum over rows */

/* Fills skeleton, rows, workers, parts, lanes, column_blocks, threads and vector from kernel->body. */
void skeleton_choose(const Program *, Kernel *, bool rows_grow);
/* The same of an epilogue, for a template whose threads hold `columns` columns of a row, `run` of them
 * side by side; `lanes` threads have any of a row's columns, `workers` any of a column's rows. */
void skeleton_epilogue(Kernel *, int columns, int run, int64_t lanes, int64_t workers);
/* Blocks of a launch over `rows` rows. */
void skeleton_grid(const Kernel *, int64_t rows, int64_t grid[3]);

bool skeleton_is_row(Skeleton);
/* Of a body with sums over rows: how many workers share the rows, and the rows of a run where each
 * run has a sum of its own (else 0). */
int64_t skeleton_workers(const Program *, const Body *, bool rows_grow);
int64_t skeleton_run(const Body *);
int skeleton_chunks(const Kernel *); /* visits of a lane to the columns it holds in registers */
/* Whether every lane of every visit has columns. */
bool skeleton_exact(const Kernel *);
/* Of a worker: what stays the same from row to row is computed or loaded before its rows. */
bool step_before_rows(const Kernel *, int step);
int64_t skeleton_rows_per_worker(const Kernel *, int64_t rows);
/* Blocks that a multiprocessor must have room for at once; up to 1: ptxas may take all registers. */
int skeleton_blocks_together(const Kernel *);

/* FLAT: no step asks for row or column, and every value is one number or one an element, so that
 * one running index serves all. */
bool body_is_linear(const Body *);
/* Whether a step's elements for one thread lie side by side, aligned as one access. */
bool step_is_vector(const Kernel *, int step);
int step_width(const Kernel *, int step); /* elements of that access */
/* For how many of a thread's elements a UNIFORM is drawn at once: four that are a block, or a half of
 * one; whether that is more than one. */
int step_draws(const Kernel *, int step);
bool step_draws_vector(const Kernel *, int step);
/* Whether an index of some access may pass 2^31. */
bool kernel_needs_long(const Kernel *);
/* Threads of a COLUMN kernel that share one column. */
int column_lanes(const Kernel *);

#endif
