/* How the kernel of low_rank_grads (see its template) cuts its work into blocks. */
#ifndef DEVICES_LOW_RANK_TILES_H
#define DEVICES_LOW_RANK_TILES_H

#include "devices/device.h"

/* dy is [rows, features], B is [features, rank]. */
typedef struct {
    int64_t rows, features, rank;
} LowRankShape;

typedef struct {
    int64_t cols, tile_rows; /* of dy: a block's columns, and its rows in shared memory at a time */
    int64_t stages;          /* such tiles */
    int64_t v_parts, parts;  /* blocks across the columns, and down the rows */
    int64_t part_rows;       /* rows of a block */
    int64_t shared_bytes;
} LowRankTiles;

enum { LOW_RANK_MOST = 64 }; /* the largest rank */

/* Chooses the blocks that move the least, for a device with that many multiprocessors. */
LowRankTiles low_rank_tiles(LowRankShape, int multiprocessors);
/* Bytes of the partial sums of both results. */
int64_t low_rank_part_bytes(LowRankShape, const LowRankTiles *);

#endif
