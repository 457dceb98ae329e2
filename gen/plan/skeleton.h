/* Which skeleton a body takes, and its geometry.
 *
 * Everything that fixes the order of a sum (skeleton, parts, lanes, workers) depends only on the
 * body's shape and the program's dtypes, never on what else is in the kernel. So an op computes the
 * same bits whether or not it is fused. */
#ifndef PLAN_SKELETON_H
#define PLAN_SKELETON_H

#include "plan/launch.h"

/* In elements; wider rows are reread in each phase instead of kept in registers. So a thread keeps at
 * most 32 of them. Chosen, as are the numbers of threads; no GPU has compared them with others. */
enum { WIDEST_ROW_IN_REGISTERS = 16384, WIDEST_ROW_OF_WARP = 1024 };
enum { FLAT_THREADS = 256, WARP_ROW_THREADS = 256, STREAM_THREADS = 512 };
/* Four blocks of STREAM_THREADS run on a multiprocessor. If rows have more bytes than this, those of an
 * H100's 528 blocks exceed the 35 MiB that its L2 cache keeps, and each phase would read its row from
 * device memory. So a block has as many threads as it can have, and if it reads its row again, it has
 * the multiprocessor to itself, and each thread awaits several loads at a time. */
enum { LONG_ROW_BYTES = 65536, LONG_ROW_THREADS = 1024, LONG_ROW_LOADS = 4 };
/* For sums over rows, whose order must not depend on the device. ENOUGH_BLOCKS is about as many as an
 * H100 has multiprocessors; MOST_WORKERS bounds what a second pass reads. Both are chosen. */
enum { TILE_THREADS = 256, MOST_WORKERS = 512, ENOUGH_BLOCKS = 128 };
/* With up to MOST_HELD registers of values, ptxas fits a thread into 64, and so TILE_THREADS_TOGETHER
 * threads on a multiprocessor: all MOST_WORKERS blocks run at a time on an H100's 132. With 72
 * registers it would be three blocks, and the last 116 of 512 would run after the others: such kernels
 * reached 2.2 TB/s there, those with 64 registers 2.9. Few blocks have room anyway. */
enum { TILE_THREADS_TOGETHER = 1024, MOST_HELD = 60 };
/* Registers of a thread for its sums, and for these and rows of a weight. With 7 rows in 16 bits and 64
 * sums, 92 together, ptxas spills; with 6 and 56 it does not. */
enum { MOST_SUMS = 72, MOST_BESIDE_ROWS = 80 };
/* About as many threads run on a multiprocessor if their windows slide: ptxas then has some 128
 * registers for each, which in 16 bits hold 3x3 windows of 4 columns over 4 rows without spilling. */
enum { SLIDING_THREADS = 512 };
/* Rows that a thread which loads a single vector of each row loads at a time. On an H100, kernels with
 * one such load reached 2.5 TB/s, with three or four 2.9. */
enum { ROWS_AT_ONCE = 4 };
/* FLAT: rows for which a thread loads only once what they share, if it asks for that at least so many
 * times as often as for what is a row's own. On an H100, kernels with 12 such accesses for 3 others
 * reached 2.55 to 2.75 TB/s, with 8 for 2 others 2.5 to 3.0; those with 10 for 3 others or 8 for 4, 3.0
 * to 3.1, all that memory gives. With MOST_SHARED loaded vectors of 16 bytes, ptxas fits a thread into
 * 64 registers, so that a multiprocessor runs four blocks; SEVERAL_WAVES are four times that. */
enum { SHARING_ROWS = 2, MUCH_SHARED = 4, MOST_SHARED = 16, SEVERAL_WAVES = 16 };
/* How many of its own rows ahead a thread asks for what its windows read; at least a whole turn. On an
 * H100, a row took some 1.3 us, and memory answers after some 0.7 us under load: the second row is for
 * those that are faster, now that they wait less. Memory moves sectors. */
enum { ITERATIONS_AHEAD = 2, SECTOR = 32 };
/* Threads that share a column of a second pass, and columns of a block: 32 bytes, which memory moves
 * at once. More columns would leave multiprocessors idle. */
enum { COLUMN_LANES = 32, COLUMNS_OF_BLOCK = 8 };

/* Sets skeleton, rows, thread_rows, workers, parts, lanes, column_blocks, threads, vector from
 * kernel->body. */
void skeleton_choose(const Program *, Kernel *, bool rows_grow);
/* The same for the epilogue of a template whose threads each hold `columns` columns of a row, in
 * runs of `run` neighbours; `lanes` threads share a row, `workers` threads share a column. */
void skeleton_epilogue(Kernel *, int columns, int run, int64_t lanes, int64_t workers);
/* The same for a prologue whose threads each make one vector at a time. */
void skeleton_prologue(Kernel *);
/* Blocks of a launch over `rows` rows. */
void skeleton_grid(const Kernel *, int64_t rows, int64_t grid[3]);

bool skeleton_is_row(Skeleton);
/* For a body with sums over rows: how many workers share the rows, and the length of a run of rows
 * where each run has its own sum (else 0). */
int64_t skeleton_workers(const Program *, const Body *, bool rows_grow);
int64_t skeleton_run(const Body *);
int skeleton_chunks(const Kernel *); /* vectors of a row that a lane holds in registers */
/* Whether every lane has columns in each of its chunks. */
bool skeleton_exact(const Kernel *);
/* Whether a thread computes or loads the step once, before its rows, as it is the same for all. */
bool step_before_rows(const Kernel *, int step);
int64_t skeleton_rows_per_worker(const Kernel *, int64_t rows);
/* How many neighbouring rows a worker's thread takes at a time: 4, 2 or 1. */
int skeleton_rows_in_turn(const Kernel *);
/* How many of these lie on one line of an image, under windows that move by one place from each to the
 * next: the thread loads and converts what they have in common once. By SASS, 3x3 windows over 4 rows
 * then take a quarter to a third fewer instructions, over 2 rows a tenth to a quarter. 1: none. */
int skeleton_slides(const Kernel *);
/* Whether a thread loads this for all of these rows together. */
bool step_slides(const Kernel *, int step);
/* Whether a block has a multiprocessor to itself: it reads a long row more than once. */
bool skeleton_is_alone(const Kernel *);
/* Blocks that must fit a multiprocessor at a time; 0: as many as ptxas considers best. */
int skeleton_blocks_together(const Kernel *);
/* How many of its rows a worker's thread should load before it computes the first; 1: no matter. */
int skeleton_rows_at_once(const Kernel *);

/* A TILE kernel whose windows overlap waits for memory: of a thread's many loads, few are not in
 * caches, so that too few bytes are under way. With compile.prefetch_rows it asks the L2 cache for what
 * it will load that many rows later; 0: it does not. (On an H100, such kernels ran at 50 to 70 % of
 * memory speed; windows of stride 2, with 4 new rows each, at 90 %.) */
int64_t skeleton_ahead(const Kernel *);
/* Whether it asks for this LOAD's elements, and how many rows further those are in the value. */
bool step_is_ahead(const Kernel *, int step);
int64_t step_moves(const Kernel *, int step);
/* Of so many neighbouring lanes, one asks: their vectors are a sector. */
int skeleton_lanes_ahead(const Kernel *);

/* FLAT: whether one linear index serves all steps: none asks for its row or column, and every value
 * has either one element or one per element of the body. */
bool body_is_linear(const Body *);
/* Whether a thread's elements of a step are contiguous and aligned as one access. */
bool step_is_vector(const Kernel *, int step);
int step_width(const Kernel *, int step); /* elements of that access */
/* For how many of a thread's elements one Philox call of a UNIFORM step serves: a block of four or
 * half of one, else 1; and whether that is more than one. */
int step_draws(const Kernel *, int step);
bool step_draws_vector(const Kernel *, int step);
/* Whether a reduction takes a thread's vector at once instead of its elements one after the other. */
bool step_reduces_vector(const Kernel *, int step);
/* Whether the index of some access may exceed 2^31. */
bool kernel_needs_long(const Kernel *);
/* Columns of a COLUMN kernel's block. */
int column_width(const Kernel *);

#endif
