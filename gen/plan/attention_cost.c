/* What attention asks of memory and its arithmetic, for whole, unpacked sequences: packed data makes
 * both less. Follows the loops of the two templates. */
#include <stdlib.h>
#include <string.h>

#include "plan/template_kernels.h"

typedef struct {
    bool tensor_cores;
    int64_t seq, rows, keys, heads, kv_heads, head_dim, batch, threads;
    int64_t row;   /* bytes of one row of one head */
    int64_t acc;   /* bytes of a number of lse and delta */
    int64_t parts; /* FMA: threads that share a row */
    int64_t warps, warp_rows, split;
} Shape;

static Shape shape_of(const Kernel *k, const Launch *launch) {
    Shape s = {.tensor_cores = !strcmp(k->template_name, "attention_mma.cu"),
               .seq = template_int(k, "seq"),
               .keys = template_int(k, "keys"),
               .heads = template_int(k, "heads"),
               .kv_heads = template_int(k, "kv_heads"),
               .head_dim = template_int(k, "head_dim"),
               .batch = launch->grid[2],
               .threads = k->threads,
               .acc = dtype_bytes(k->real),
               .parts = 1,
               .split = 1};
    s.row = s.head_dim * dtype_bytes(launch->arg[0]->dtype);
    if (s.tensor_cores) {
        s.warps = template_int(k, "warps");
        s.warp_rows = 16 * template_int(k, "row_tiles");
        s.rows = s.warp_rows * s.warps;
        s.split = s.head_dim > 128 ? 2 : 1;
    } else {
        s.rows = template_int(k, "rows");
        s.parts = s.threads / s.rows;
    }
    return s;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t inside(const Shape *s, int64_t first, int64_t count) {
    return first >= s->seq ? 0 : least(count, s->seq - first);
}

/* ---- blocks of queries ----------------------------------------------------------------------- */

/* Rows of k or v that come to shared memory for the queries from `first` on. */
static int64_t keys_visited(const Shape *s, int64_t first) {
    int64_t last = least(first + s->rows, s->seq) - 1, places = 0;
    for (int64_t base = 0; base <= last; base += s->keys)
        places += inside(s, base, s->keys);
    return places;
}

/* Tensor cores: where a tile is masked, four lanes look up the start of each row. */
static int64_t mask_bytes(const Shape *s, int64_t warp_first, int64_t last) {
    int64_t bytes = 0, warp_last = warp_first + s->warp_rows - 1;
    for (int64_t base = 0; base <= last; base += s->keys) {
        bool border = base < (warp_last < s->seq ? 0 : s->seq) || base + s->keys - 1 > warp_first;
        if (base <= warp_last && border)
            bytes += inside(s, warp_first, s->warp_rows) * 4 * 4;
    }
    return bytes;
}

/* Positions of the block's, the warps' and the masked rows. */
static int64_t mma_positions(const Shape *s, int64_t first) {
    int64_t bytes = s->threads * 4, last = least(first + s->rows, s->seq) - 1;
    for (int64_t warp = 0; warp < s->warps; warp++) {
        int64_t warp_first = first + warp * s->warp_rows;
        bytes += 32 * 4 * ((warp_first < s->seq) + (warp_first + s->warp_rows - 1 < s->seq));
        bytes += mask_bytes(s, warp_first, last);
    }
    return bytes;
}

static int64_t fma_positions(const Shape *s, int64_t first) {
    return (inside(s, first, s->rows) * s->parts + s->threads) * 4;
}

static int64_t positions_of(const Shape *s, int64_t first) {
    return s->tensor_cores ? mma_positions(s, first) : fma_positions(s, first);
}

/* q, k, v -> o, lse */
static int64_t forward_block(const Shape *s, int64_t first) {
    int64_t rows = inside(s, first, s->rows);
    return positions_of(s, first) + rows * (2 * s->row + s->acc) +
           2 * keys_visited(s, first) * s->row;
}

/* q, k, v, o, lse, d_o -> dq, delta. The FMA kernel brings k in two layouts; tensor cores read d_o once
 * more for delta, and lse in the four lanes that share a row. */
static int64_t backward_q_block(const Shape *s, int64_t first) {
    int64_t rows = inside(s, first, s->rows), tiles = s->tensor_cores ? 2 : 3;
    int64_t once = s->tensor_cores ? 5 * s->row + 5 * s->acc : 4 * s->row + (s->parts + 1) * s->acc;
    return positions_of(s, first) + rows * once + tiles * keys_visited(s, first) * s->row;
}

static int64_t query_blocks(const Shape *s, int64_t (*block)(const Shape *, int64_t)) {
    int64_t bytes = 0;
    for (int64_t first = 0; first < s->seq; first += s->rows)
        bytes += block(s, first);
    return bytes * s->heads * s->batch;
}

/* ---- blocks of keys -------------------------------------------------------------------------- */

static int64_t pairs(const Shape *s) { return s->batch * s->heads * s->seq * (s->seq + 1) / 2; }

/* All tiles of queries that a block of keys visits, for one head. */
static int64_t queries_visited(const Shape *s, int64_t first, int64_t *tiles) {
    int64_t places = 0;
    *tiles = 0;
    for (int64_t base = first / s->keys * s->keys; base < s->seq; base += s->keys) {
        places += inside(s, base, s->keys);
        ++*tiles;
    }
    return places;
}

/* Each share of the columns brings k, v and, once a head, what is known of the queries; the FMA kernel
 * brings q and d_o in two layouts. dk and dv are written once. */
static int64_t backward_kv(const Shape *s) {
    int64_t group = s->heads / s->kv_heads, layouts = s->tensor_cores ? 1 : 2, bytes = 0;
    for (int64_t first = 0; first < s->seq; first += s->rows) {
        int64_t tiles, places = queries_visited(s, first, &tiles), rows = inside(s, first, s->rows);
        int64_t starts = tiles * s->threads * 4 * (s->tensor_cores ? 1 : group);
        int64_t queries = group * places * (2 * layouts * s->row + 4 + 2 * s->acc);
        bytes += s->split * (starts + 2 * rows * s->row + queries) + 2 * rows * s->row;
    }
    return bytes * s->batch * s->kv_heads;
}

/* ---- launches -------------------------------------------------------------------------------- */

double attention_bytes(const Kernel *k, const Launch *launch) {
    Shape s = shape_of(k, launch);
    if (!strcmp(k->template_kernel, "forward"))
        return (double)query_blocks(&s, forward_block);
    if (!strcmp(k->template_kernel, "backward_q"))
        return (double)query_blocks(&s, backward_q_block);
    return (double)backward_kv(&s);
}

double attention_flops(const Kernel *k, const Launch *launch) {
    Shape s = shape_of(k, launch);
    int64_t products = 2 + 2 * s.split;
    if (!strcmp(k->template_kernel, "forward"))
        products = 2;
    if (!strcmp(k->template_kernel, "backward_q"))
        products = 3;
    return (double)(2 * products * s.head_dim * pairs(&s));
}
