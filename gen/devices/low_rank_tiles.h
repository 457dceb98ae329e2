/* How the kernels of low_rank_grads, low_rank_grad_a and low_rank_matmul (see their templates) cut
 * their work into blocks. */
#ifndef DEVICES_LOW_RANK_TILES_H
#define DEVICES_LOW_RANK_TILES_H

#include "devices/device.h"

/* Sizes of a kernel of a low-rank path: it reads one matrix [rows, features], and reads or makes
 * others [rows, rank]. B, and A transposed, are [features, rank]. All have 16 bits. */
typedef struct {
    int64_t rows, features, rank;
    bool pointwise; /* an op that is pointwise makes the first one, so its steps may run in this
                     * kernel; two blocks then share a multiprocessor */
    bool beside_a;  /* the kernel may then have dB of two paths and dA of another one, whose sums
                     * leave registers for half as many columns */
    bool only_a;    /* the kernel has nothing but the dA of a path */
} LowRankShape;

/* `full` is dy or x, and `low` is u or v. */
LowRankShape low_rank_shape(const Value *full, const Value *low);
bool low_rank_same_sizes(LowRankShape, LowRankShape);

typedef struct {
    int64_t cols, tile_rows; /* a block's columns, and rows per tile */
    int64_t stages;          /* tiles in shared memory at a time */
    int64_t across, down;    /* blocks across the columns, whose parts of v a second kernel adds up,
                              * and down the rows, whose parts of dB or dA it adds up */
    int64_t part_rows;       /* rows of a block */
    int64_t shared_bytes;
} LowRankTiles;

/* The largest rank, and the most paths whose dy one kernel makes. */
enum { LOW_RANK_MOST = 64, LOW_RANK_PATHS = 2 };

/* Chooses the blocks that move the least on the device, or on any if it is NULL. If none fits into
 * a block's shared memory, `cols` is 0. */
LowRankTiles low_rank_tiles(LowRankShape, const Device *);

/* A kernel that makes its operands itself: dy of some low-rank paths, and x of another path whose A
 * it has the gradient of. */
typedef struct {
    int paths;   /* at most LOW_RANK_PATHS */
    int grads_a; /* at most 1 */
} LowRankMade;

/* Shared memory, in bytes, of a block of such a kernel, with these tiles; and whether two blocks fit
 * a multiprocessor. A single one would not read memory while it multiplies. */
int64_t low_rank_made_shared(LowRankShape, const LowRankTiles *, LowRankMade);
bool low_rank_two_blocks_fit(LowRankShape, const LowRankTiles *, LowRankMade, const Device *);

/* Bytes that low_rank_grads asks of memory besides those of dy, including the parts of both results;
 * and the parts alone. */
double low_rank_grads_bytes(LowRankShape, const LowRankTiles *);
double low_rank_grads_part_bytes(LowRankShape, const LowRankTiles *);
/* The same of low_rank_grad_a, besides those of x. */
double low_rank_grad_a_bytes(LowRankShape, const LowRankTiles *);
double low_rank_grad_a_part_bytes(LowRankShape, const LowRankTiles *);

/* How the kernel of low_rank_matmul cuts the rows of x into blocks. */
typedef struct {
    int64_t tile_rows, blocks;
    int64_t shared_bytes; /* of a block */
    int together;         /* blocks of a multiprocessor at a time */
    double busy;          /* the share of the device that the blocks keep busy */
} LowRankRows;

/* u [rows, rank] from x [rows, features]; any device if it is NULL. */
LowRankRows low_rank_rows(LowRankShape, const Device *);

#endif
