/* Bytes and FLOPs of attention, for whole sequences. Where rows are segmented, both are upper
 * bounds, since the saving depends on the data: two samples of a and b positions do not see each
 * other, so that a b of the row's pairs are skipped. Follows the loops of the templates. */
#include "base/rounding.h"
#include "plan/attention.h"

static int64_t inside(const AttentionGeometry *s, int64_t first, int64_t count) {
    return first >= s->seq ? 0 : smaller(count, s->seq - first);
}

static int64_t warp_rows(const AttentionGeometry *s) { return 16 * s->row_tiles; }

/* ---- blocks of queries ----------------------------------------------------------------------- */

/* Rows of k or v loaded into shared memory for the block of queries that begins at `first`. */
static int64_t keys_visited(const AttentionGeometry *s, int64_t first) {
    return smaller(round_up(smaller(first + s->rows, s->seq), s->keys), s->seq);
}

/* Tensor cores: in a masked tile, four lanes look up the start of each row of a warp or warpgroup.
 * In segmented rows any tile may be masked, since a sample that begins among these rows does not see
 * its predecessor's tiles. A last row past the sequence sees nothing, so every tile is masked. */
static int64_t mask_bytes(const AttentionGeometry *s, int64_t warp_first, int64_t warp_last,
                          int64_t last) {
    int64_t bytes = 0;
    for (int64_t base = 0; base <= last; base += s->keys) {
        bool border = base < (warp_last < s->seq ? 0 : s->seq) || base + s->keys - 1 > warp_first;
        if (base <= warp_last && (border || s->segmented))
            bytes += inside(s, warp_first, warp_last + 1 - warp_first) * 4 * 4;
    }
    return bytes;
}

/* Bytes of positions read: for the block, for the warps and for masked rows. */
static int64_t mma_positions(const AttentionGeometry *s, int64_t first) {
    int64_t bytes = s->threads * 4, last = smaller(first + s->rows, s->seq) - 1;
    int64_t warp_threads = s->threads / s->warps;
    for (int64_t warp = 0; warp < s->warps; warp++) {
        int64_t warp_first = first + warp * warp_rows(s);
        bytes +=
            warp_threads * 4 * ((warp_first < s->seq) + (warp_first + warp_rows(s) - 1 < s->seq));
        bytes += mask_bytes(s, warp_first, warp_first + warp_rows(s) - 1, last);
    }
    return bytes;
}

/* The same for a warpgroup, which is a block: for its first row, its last row inside the sequence,
 * and masked rows. */
static int64_t wgmma_positions(const AttentionGeometry *s, int64_t first) {
    int64_t last = smaller(first + s->rows, s->seq) - 1;
    return 2 * s->threads * 4 + mask_bytes(s, first, last, last);
}

static int64_t fma_positions(const AttentionGeometry *s, int64_t first) {
    return (inside(s, first, s->rows) * s->row_threads + s->threads) * 4;
}

/* With prefixes, each position is read together with its prefix, which is two numbers. */
static int64_t positions_of(const AttentionGeometry *s, int64_t first) {
    int64_t bytes = s->wgmma          ? wgmma_positions(s, first)
                    : s->tensor_cores ? mma_positions(s, first)
                                      : fma_positions(s, first);
    return s->prefixed ? 3 * bytes : bytes;
}

/* For undoing RoPE of a row of dq or dk: a cosine and a sine per column, and a position per thread
 * or, on tensor cores, per 16 bytes. */
static int64_t rotation_bytes(const AttentionGeometry *s) {
    if (!s->rotated)
        return 0;
    int64_t positions = s->tensor_cores ? s->row_bytes / 16 : s->row_threads;
    return 4 * positions + 2 * s->head_dim * s->acc_bytes;
}

/* q, k, v -> o, lse */
static int64_t forward_block(const AttentionGeometry *s, int64_t first) {
    int64_t rows = inside(s, first, s->rows);
    return positions_of(s, first) + rows * (2 * s->row_bytes + s->acc_bytes) +
           2 * keys_visited(s, first) * s->row_bytes;
}

/* q, k, v, o, lse, d_o -> dq, delta. The FMA kernel loads k in two layouts. The tensor-core kernels
 * read d_o a second time for delta, and lse in each of the four lanes that share a row. */
static int64_t backward_q_block(const AttentionGeometry *s, int64_t first) {
    int64_t rows = inside(s, first, s->rows), tiles = s->tensor_cores ? 2 : 3;
    int64_t once = s->tensor_cores ? 5 * s->row_bytes + 5 * s->acc_bytes
                                   : 4 * s->row_bytes + (s->row_threads + 1) * s->acc_bytes;
    once += rotation_bytes(s);
    return positions_of(s, first) + rows * once + tiles * keys_visited(s, first) * s->row_bytes;
}

static int64_t query_blocks(const AttentionGeometry *s,
                            int64_t (*block)(const AttentionGeometry *, int64_t)) {
    int64_t bytes = 0;
    for (int64_t first = 0; first < s->seq; first += s->rows)
        bytes += block(s, first);
    return bytes * s->heads * s->batch;
}

/* ---- blocks of keys -------------------------------------------------------------------------- */

static int64_t pairs(const AttentionGeometry *s) {
    return s->batch * s->heads * s->seq * (s->seq + 1) / 2;
}

/* Each part of the columns loads k, v and, once per head, whole tiles of the queries that see one of
 * the keys, with their lse, delta and mask; the FMA kernel loads q and d_o in two layouts. dk and dv
 * are written once. */
static int64_t backward_kv(const AttentionGeometry *s) {
    int64_t group = s->heads / s->kv_heads, layouts = s->tensor_cores ? 1 : 2, bytes = 0;
    for (int64_t first = 0; first < s->seq; first += s->rows) {
        int64_t rows = inside(s, first, s->rows), places = s->seq - first / s->keys * s->keys;
        int64_t tiles = ceil_div(places, s->keys);
        int64_t starts = tiles * s->threads * 4 * (s->tensor_cores ? 1 : group);
        starts *= s->prefixed ? 3 : 1;
        int64_t known = (s->prefixed ? 12 : 4) + 2 * s->acc_bytes;
        int64_t queries = group * places * (2 * layouts * s->row_bytes + known);
        int64_t stored = 2 * s->row_bytes + rotation_bytes(s);
        bytes += s->split * (starts + 2 * rows * s->row_bytes + queries) + rows * stored;
    }
    return bytes * s->batch * s->kv_heads;
}

/* ---- launches -------------------------------------------------------------------------------- */

double attention_issued_bytes(const AttentionGeometry *s) {
    if (s->part == ATTENTION_FORWARD)
        return (double)query_blocks(s, forward_block);
    if (s->part == ATTENTION_BACKWARD_Q)
        return (double)query_blocks(s, backward_q_block);
    return (double)backward_kv(s);
}

double attention_kernel_flops(const AttentionGeometry *s) {
    int64_t products = 2 + 2 * s->split;
    if (s->part == ATTENTION_FORWARD)
        products = 2;
    if (s->part == ATTENTION_BACKWARD_Q)
        products = 3;
    return (double)(2 * products * s->head_dim * pairs(s));
}
