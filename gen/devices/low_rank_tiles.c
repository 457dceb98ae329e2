#include "devices/low_rank_tiles.h"

#include "base/rounding.h"
#include "devices/occupancy.h"

#include <math.h>

/* A warp multiplies tiles of 16 rows (mma.sync), and a block has 8 warps. */
enum { WARPS = 8, WARP_ROWS = 16 };

/* The sizes that the plan chooses among. Some follow from the template, the rest is chosen; no GPU has
 * compared them with others. On an H200, the kernel swiglu_swiglu_grad_low_rank_grads_8192x8192x16
 * takes 0.242 ms; planned for an H100, with slower memory: 0.246 (tests/bench/results). */
enum {
    TILE = 16384,                   /* elements of dy in one tile: 32 KiB */
    SHARE_ROWS = WARPS * WARP_ROWS, /* rows of v's sums that warps exchange: by the template */
    MOST_SHARED = 160 * 1024,       /* bytes of a block; an A100's can have 163 KiB */
    MOST_STAGES = 3,                /* tiles in shared memory, of which one is multiplied */
    NARROWEST = WARPS * WARP_ROWS,  /* columns: a tile of dB's sums for each warp, by the template */
    WIDEST = 512,                   /* columns: four such tiles, whose sums are in registers */
    MOST_WAVES = 2                  /* turns in which the device runs the blocks */
};

/* Of a kernel that makes its operands: the largest rank of a path, and sums per thread of gradients.
 * With more, ptxas would spill: two blocks leave a thread 128 registers. */
enum { MOST_RANK = 32, MOST_SUMS = 64 };

LowRankShape low_rank_shape(const Value *full, const Value *low) {
    return (LowRankShape){
        .rows = value_rows(full), .features = value_cols(full), .rank = value_cols(low)};
}

bool low_rank_same_sizes(LowRankShape a, LowRankShape b) {
    return a.rows == b.rows && a.features == b.features && a.rank == b.rank;
}

/* The rank, rounded up to whole tiles of tensor cores. */
static int64_t wide_rank(LowRankShape s) { return round_up(s.rank, 16); }

static int64_t shared_bytes(LowRankShape s, const LowRankTiles *t, int64_t stages) {
    int64_t wide = wide_rank(s);
    int64_t tile = t->tile_rows * (t->cols + 8 + wide + 8), b = t->cols * (wide + 8);
    return 2 * (stages * tile + b) + 4 * SHARE_ROWS * (wide + 4);
}

int64_t low_rank_made_shared(LowRankShape s, const LowRankTiles *t, LowRankMade m) {
    int64_t wide = wide_rank(s), b = t->cols * (wide + 8);
    int64_t row = t->cols + 8 + wide + 8;
    if (!m.paths)
        return 2 * t->tile_rows * row;
    int64_t rows = t->tile_rows / m.paths;
    return shared_bytes(s, t, 1) + 2 * (m.paths - 1) * b + 2 * m.grads_a * rows * row;
}

static int64_t thread_sums(LowRankShape s, const LowRankTiles *t, int gradients) {
    return gradients * (t->cols / WARPS) * wide_rank(s) / 32;
}

static int64_t blocks_by_shared(const Device *device, int64_t shared_bytes) {
    return (device_block_shared_bytes(device) + RESERVED_SHARED) / (shared_bytes + RESERVED_SHARED);
}

bool low_rank_two_blocks_fit(LowRankShape s, const LowRankTiles *t, LowRankMade m,
                             const Device *device) {
    return (!m.paths || wide_rank(s) <= MOST_RANK) &&
           thread_sums(s, t, m.paths + m.grads_a) <= MOST_SUMS &&
           blocks_by_shared(device, low_rank_made_shared(s, t, m)) >= 2;
}

double low_rank_grads_part_bytes(LowRankShape s, const LowRankTiles *t) {
    return 4.0 * (double)(s.rank * (t->across * s.rows + t->down * s.features));
}

double low_rank_grads_bytes(LowRankShape s, const LowRankTiles *t) {
    int64_t b = t->down * s.features * s.rank, u = t->across * s.rows * s.rank;
    return 2.0 * (double)(b + u) + low_rank_grads_part_bytes(s, t);
}

double low_rank_grad_a_part_bytes(LowRankShape s, const LowRankTiles *t) {
    return 4.0 * (double)(t->down * s.features * s.rank);
}

double low_rank_grad_a_bytes(LowRankShape s, const LowRankTiles *t) {
    return 2.0 * (double)(t->across * s.rows * s.rank) + low_rank_grad_a_part_bytes(s, t);
}

/* Blocks of these columns, about as many as `blocks`. */
static LowRankTiles tiles_of(LowRankShape s, int64_t cols, int64_t blocks, int64_t most_shared) {
    LowRankTiles t = {.cols = cols, .tile_rows = TILE / cols, .across = ceil_div(s.features, cols)};
    int64_t wanted = blocks > t.across ? blocks / t.across : 1;
    t.part_rows = ceil_div(ceil_div(s.rows, wanted), t.tile_rows) * t.tile_rows;
    t.down = ceil_div(s.rows, t.part_rows);
    t.stages = shared_bytes(s, &t, MOST_STAGES) <= most_shared ? MOST_STAGES : MOST_STAGES - 1;
    t.shared_bytes = shared_bytes(s, &t, t.stages);
    return t;
}

/* Bytes of dy or x, as many more as the last wave of blocks leaves multiprocessors idle, and those of
 * the parts, which are written and read. dA alone has no parts of v, and prefers narrow blocks, each
 * of which reads v. `together`: how many blocks run at a time. */
static double bytes_of(LowRankShape s, const LowRankTiles *t, int together) {
    double waves = (double)(t->across * t->down) / together;
    double others = s.only_a ? low_rank_grad_a_bytes(s, t) + low_rank_grad_a_part_bytes(s, t)
                             : 2.0 * low_rank_grads_part_bytes(s, t);
    return 2.0 * (double)(s.rows * s.features) * ceil(waves) / waves + others;
}

LowRankTiles low_rank_tiles(LowRankShape s, const Device *device) {
    int together = (device ? device->multiprocessors : 1) * (s.pointwise ? 2 : 1);
    int64_t shared = device_block_shared_bytes(device);
    int64_t most_shared = shared < MOST_SHARED ? shared : MOST_SHARED;
    LowRankTiles best = {0};
    int64_t widest = s.beside_a ? WIDEST / 2 : WIDEST;
    for (int64_t cols = NARROWEST; cols <= widest; cols *= 2)
        for (int waves = 1; waves <= MOST_WAVES; waves++) {
            LowRankTiles t = tiles_of(s, cols, waves * together, most_shared);
            bool fits =
                t.shared_bytes <= most_shared && (!s.only_a || thread_sums(s, &t, 1) <= MOST_SUMS);
            if (fits && (!best.cols || bytes_of(s, &t, together) < bytes_of(s, &best, together)))
                best = t;
        }
    return best;
}

/* ---- low_rank_matmul ------------------------------------------------------------------------- */

enum {
    ROWS_TILE = 8192, /* elements of x in one tile: 16 KiB, by the template */
    BUSY_BLOCKS = 2,  /* that a multiprocessor needs to read while it multiplies. Chosen: one of them
                       * multiplies while the other one waits for memory */
    /* That it has at most. For swiglu_low_rank_matmul_8192x8192x16 on an H200, four blocks of 16 rows
     * take 0.146 ms, two of 32 rows 0.201. More would leave a thread fewer than 64 registers. */
    MOST_BLOCKS = 4,
    WIDE_FOR_THREE = 48 /* columns of sums */
};

static int64_t rows_shared_bytes(LowRankShape s, int64_t tile_rows) {
    int64_t wide = wide_rank(s);
    int64_t tiles = 2 * (tile_rows + wide) * (ROWS_TILE / tile_rows + 8);
    int64_t sums = 4 * WARPS * WARP_ROWS * (wide + 4);
    return tiles > sums ? tiles : sums;
}

/* A thread has 64 registers with four blocks, 80 with three. With wider sums ptxas spills (nvcc 13.0,
 * sm_90a): beyond MOST_RANK columns with four blocks, beyond WIDE_FOR_THREE with three. */
static int blocks_by_registers(LowRankShape s) {
    int64_t wide = wide_rank(s);
    return wide <= MOST_RANK ? MOST_BLOCKS : wide <= WIDE_FOR_THREE ? 3 : 2;
}

static LowRankRows rows_of(LowRankShape s, int64_t tile_rows, const Device *device) {
    int multiprocessors = device ? device->multiprocessors : 1;
    LowRankRows r = {.tile_rows = tile_rows,
                     .blocks = ceil_div(s.rows, tile_rows),
                     .shared_bytes = rows_shared_bytes(s, tile_rows)};
    int64_t by_shared = blocks_by_shared(device, r.shared_bytes);
    int by_registers = blocks_by_registers(s);
    r.together = by_shared < by_registers ? (int)by_shared : by_registers;
    r.busy = fmin(1, (double)r.blocks / (BUSY_BLOCKS * multiprocessors));
    return r;
}

/* Elements of x and A that the blocks of a place read one after the other, where a multiprocessor has
 * `together` places. */
static int64_t elements_of(LowRankShape s, const LowRankRows *r, const Device *device) {
    int64_t places = r->together * (device ? device->multiprocessors : 1);
    return ceil_div(r->blocks, places) * (r->tile_rows + s.rank) * s.features;
}

/* Each block waits for its own reads. So small tiles gain where large ones would leave places empty,
 * although A is then read twice as often. */
LowRankRows low_rank_rows(LowRankShape s, const Device *device) {
    LowRankRows few = rows_of(s, WARP_ROWS, device), many = rows_of(s, 2 * WARP_ROWS, device);
    return elements_of(s, &few, device) < elements_of(s, &many, device) ? few : many;
}
