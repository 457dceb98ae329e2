#include "devices/low_rank_tiles.h"

#include <math.h>

enum {
    TILE = 16384,         /* elements of dy that are in shared memory at a time */
    MOST_SHARED = 163840, /* bytes that a block may have on any device since sm_80 */
    MOST_STAGES = 3,
    NARROWEST = 128,
    WIDEST = 512,
    MOST_WAVES = 2
};

static int64_t shared_bytes(LowRankShape s, const LowRankTiles *t, int64_t stages) {
    int64_t wide = ceil_div(s.rank, 16) * 16;
    int64_t tile = t->tile_rows * (t->cols + 8 + wide + 8), b = t->cols * (wide + 8);
    return 2 * (stages * tile + b) + 4 * NARROWEST * (wide + 4);
}

int64_t low_rank_part_bytes(LowRankShape s, const LowRankTiles *t) {
    return 4 * s.rank * (t->v_parts * s.rows + t->parts * s.features);
}

/* Blocks of these columns, about as many as `blocks`. */
static LowRankTiles tiles_of(LowRankShape s, int64_t cols, int64_t blocks) {
    LowRankTiles t = {.cols = cols, .tile_rows = TILE / cols, .v_parts = ceil_div(s.features, cols)};
    int64_t wanted = blocks > t.v_parts ? blocks / t.v_parts : 1;
    t.part_rows = ceil_div(ceil_div(s.rows, wanted), t.tile_rows) * t.tile_rows;
    t.parts = ceil_div(s.rows, t.part_rows);
    t.stages = shared_bytes(s, &t, MOST_STAGES) <= MOST_SHARED ? MOST_STAGES : MOST_STAGES - 1;
    t.shared_bytes = shared_bytes(s, &t, t.stages);
    return t;
}

/* Bytes of dy, as many more as the last wave of blocks leaves multiprocessors idle, and those of
 * the parts, which are written and read. */
static double bytes_of(LowRankShape s, const LowRankTiles *t, int multiprocessors) {
    double waves = (double)(t->v_parts * t->parts) / multiprocessors;
    return 2.0 * (double)(s.rows * s.features) * ceil(waves) / waves +
           2.0 * (double)low_rank_part_bytes(s, t);
}

LowRankTiles low_rank_tiles(LowRankShape s, int multiprocessors) {
    LowRankTiles best = {0};
    for (int64_t cols = NARROWEST; cols <= WIDEST; cols *= 2)
        for (int waves = 1; waves <= MOST_WAVES; waves++) {
            LowRankTiles t = tiles_of(s, cols, waves * multiprocessors);
            bool fits = t.shared_bytes <= MOST_SHARED;
            if (fits && (!best.cols || bytes_of(s, &t, multiprocessors) <
                                           bytes_of(s, &best, multiprocessors)))
                best = t;
        }
    return best;
}
