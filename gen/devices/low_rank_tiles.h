/* How the kernels of low_rank_grads and low_rank_matmul (see their templates) cut their work into
 * blocks. */
#ifndef DEVICES_LOW_RANK_TILES_H
#define DEVICES_LOW_RANK_TILES_H

#include "devices/device.h"

/* dy is [rows, features], B is [features, rank], all in 16 bits. */
typedef struct {
    int64_t rows, features, rank;
    bool pointwise; /* an op that is pointwise makes dy, so its steps may run in this kernel; two
                     * blocks then share a multiprocessor */
} LowRankShape;

typedef struct {
    int64_t cols, tile_rows;   /* of dy: a block's columns, and rows per tile */
    int64_t stages;            /* tiles in shared memory at a time */
    int64_t v_parts, db_parts; /* blocks across the columns, and down the rows */
    int64_t part_rows;         /* rows of a block */
    int64_t shared_bytes;
} LowRankTiles;

enum { LOW_RANK_MOST = 64 }; /* the largest rank */

/* Chooses the blocks that move the least on the device, or on any if it is NULL. If none fits into
 * a block's shared memory, `cols` is 0. */
LowRankTiles low_rank_tiles(LowRankShape, const Device *);

/* Shared memory, in bytes, of a block that makes dy of `paths` paths itself, with these tiles. */
int64_t low_rank_pointwise_shared(LowRankShape, const LowRankTiles *, int paths);

/* Bytes that the kernel asks of memory, including the partial sums of both results. */
double low_rank_bytes(LowRankShape, const LowRankTiles *);
double low_rank_part_bytes(LowRankShape, const LowRankTiles *);

/* How the kernel of low_rank_matmul cuts the rows of x into blocks. */
typedef struct {
    int64_t tile_rows, blocks;
    double busy; /* the share of the device that the blocks keep busy */
} LowRankRows;

/* u [rows, rank] from x [rows, features]; any device if it is NULL. */
LowRankRows low_rank_rows(LowRankShape, const Device *);

#endif
