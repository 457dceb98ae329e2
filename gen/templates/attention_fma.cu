/* Causal attention with plain FMA, forward and backward, for fp32 and fp64 (16-bit storage works too).
 *
 *     s[i, j] = scale * q[i] . k[j]        for start(i) <= j <= i, start(i) = i - positions[i]
 *     o[i]    = sum_j softmax_j(s[i, j]) v[j],   lse[i] = log sum_j exp(s[i, j])
 *
 * Shapes, all row-major with a constant row stride in elements, tokens = batch * seq:
 *     q, o, dq, d_o [tokens, heads * head_dim]   k, v, dk, dv [tokens, kv_heads * head_dim]
 *     lse, delta    [tokens, heads] dense, in the accumulation type A   positions int32 [tokens]
 * Head h reads kv head h / (heads / kv_heads). Rows of the batch never see each other. `positions`
 * restarts at 0 where a sample starts, so start(i) never decreases with i; tiles outside every
 * row's range are never read.
 *
 * This is CausalMask. With PrefixMask and its operand `prefix`, int32 [tokens, 2], query i also
 * sees places before start(i). Both are in attention_masks.cuh; row i of a mask is what query i
 * sees.
 *
 * With UndoRope, backward undoes RoPE of q and k: dq and dk are rounded to T as without it, rotated
 * back (attention_rope.cuh), rounded again and stored. Further operands are then
 *     rope_positions int32 [tokens]   rope_cos, rope_sin [positions, head_dim / 2] dense, of type A
 *
 * Launch geometry, with B = head_dim * sizeof(A):
 *     rows  = 64 if B <= 256, 32 if B <= 1024, else 16
 *     keys  = 128 / sizeof(A) if B <= 512, 16 if B <= 1024, else 8
 *     parts = ceil(B / 256)   chunk = ceil(head_dim / parts) rounded up to 8   width = parts * chunk
 *     pitch = keys + 16 / sizeof(A)   threads = rows * parts
 *     kept  = keys * threads          swap = parts > 1 ? keys * threads : 0
 *     forward      grid (heads, batch, ceil(seq / rows))
 *                  shared sizeof(A) * (width * (rows + pitch + keys) + kept + swap)
 *     backward_q   grid (heads, batch, ceil(seq / rows))
 *                  shared sizeof(A) * (width * (2 rows + 2 pitch + keys) + kept + 2 swap)
 *     backward_kv  grid (kv_heads, batch, ceil(seq / rows)), after backward_q, which writes delta
 *                  shared sizeof(A) * (width * (2 rows + 2 pitch + 2 keys) + kept + 3 keys + 2 swap),
 *                  with `prefix` 5 keys
 *
 * FLOPs, with pairs = batch * heads * seq * (seq + 1) / 2 for whole unpacked sequences:
 *     forward 4 * head_dim * pairs, backward_q 6 * head_dim * pairs, backward_kv 8 * head_dim * pairs
 * Bytes, with tiles = sum over row blocks of the tiles that each visits:
 *     forward      reads q once and, per tile, `keys` rows of k and v; writes o and lse once
 *     backward_q   reads q, o and d_o once, lse once per thread of a row and, per tile, `keys` rows
 *                  of k and v (of k twice); writes dq and delta once
 *     backward_kv  reads k and v once and, per tile and head, `keys` rows of q and d_o twice and of
 *                  lse and delta once; writes dk and dv once
 *     With UndoRope, backward reads a position per thread of a row of dq and dk, and a cosine and a
 *     sine per column.
 *
 * A thread owns a part, of at most 256 bytes along head_dim, of one row (a query; in backward_kv a
 * key), which it keeps in registers. Every sum runs in a fixed order; there are no atomics. */
#include "runtime/kernel.cuh"
#include "attention_rope.cuh"

//@prelude attention_rope.cuh

//@prelude
/* Copies columns [0, WIDTH) of PLACES tokens to shared memory, with zeros past the last token and
 * past head_dim, which add nothing to a dot product. PLACE_STEP and D_STEP choose the tile's
 * layout. */
template <int PLACES, int WIDTH, int PLACE_STEP, int D_STEP, class A, class T>
static __device__ __forceinline__ void attention_load(A *tile, const T *tokens, int64_t stride,
                                                      int places, int head_dim) {
    for (int e = threadIdx.x; e < PLACES * WIDTH; e += blockDim.x) {
        const int place = e / WIDTH, d = e % WIDTH;
        const bool inside = place < places && d < head_dim;
        tile[place * PLACE_STEP + d * D_STEP] =
            inside ? convert<A>(tokens[place * stride + d]) : A(0);
    }
}

/* dots[j] += own . tile[:, j] over CHUNK columns; both are stored column by column. */
template <int CHUNK, int OWN_STEP, int PITCH, int N, class A>
static __device__ __forceinline__ void attention_dots(A (&dots)[N], const A *own, const A *tile) {
#pragma unroll 4
    for (int d = 0; d < CHUNK; d++) {
        const A x = own[d * OWN_STEP];
#pragma unroll
        for (int j = 0; j < N; j++)
            dots[j] = fma(x, tile[d * PITCH + j], dots[j]);
    }
}

/* Writes this thread's N weights to its own column of `kept` [N][THREADS]. If they stayed in
 * registers, the loop over them would have to be unrolled completely. */
template <int THREADS, int N, class A>
static __device__ __forceinline__ void attention_keep(A *kept, const A (&weights)[N]) {
#pragma unroll
    for (int j = 0; j < N; j++)
        kept[j * THREADS + threadIdx.x] = weights[j];
}

/* sums += weights . tile, with one weight per row of the tile (CHUNK of its WIDTH columns). */
template <int N, int THREADS, int WIDTH, int CHUNK, class A>
static __device__ __forceinline__ void attention_add_rows(A (&sums)[CHUNK], const A *kept,
                                                          const A *tile) {
#pragma unroll 4
    for (int j = 0; j < N; j++) {
        const A weight = kept[j * THREADS + threadIdx.x];
#pragma unroll
        for (int d = 0; d < CHUNK; d++)
            sums[d] = fma(weight, tile[j * WIDTH + d], sums[d]);
    }
}

/* If a row is split over PARTS threads, adds their N partial dot products in the order of the
 * parts; all of them get the sums. After the caller's next barrier, `swap` [PARTS][N][ROWS] may be
 * reused. */
template <int PARTS, int ROWS, int N, class A>
static __device__ __forceinline__ void attention_combine(A (&dots)[N], A *swap, int part, int row) {
    if constexpr (PARTS > 1) {
#pragma unroll
        for (int j = 0; j < N; j++)
            swap[(part * N + j) * ROWS + row] = dots[j];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < N; j++) {
            dots[j] = swap[j * ROWS + row];
            for (int other = 1; other < PARTS; other++)
                dots[j] += swap[(other * N + j) * ROWS + row];
        }
    }
}

/* Stores the CHUNK columns that start at `column`, times scale; columns past head_dim are
 * padding. */
template <int CHUNK, class T, class A>
static __device__ __forceinline__ void attention_store(T *row, const A (&values)[CHUNK], A scale,
                                                       int column, int head_dim) {
#pragma unroll
    for (int d = 0; d < CHUNK; d++)
        if (column + d < head_dim)
            row[column + d] = convert<T>(values[d] * scale);
}

/* The same in backward, for rows that are stored as they are; `columns` is 0 for a row past the last
 * token. */
template <int ROWS, int CHUNK, int HEAD_DIM, class T, class A>
static __device__ __forceinline__ void
attention_store_row(T *to, A *, const A (&values)[CHUNK], A scale, const Unrotated<HEAD_DIM, A> &, int,
                    int column, int columns) {
    attention_store(to, values, scale, column, columns);
}
//@end

//@prelude?rotation=UndoRope
/* The same for rows that are rotated back. First each thread writes its columns, rounded to T, to its
 * own cells of a tile that is stored column by column; `tile` points to its row. After a barrier it
 * rotates them, because their partners may belong to another thread, and stores those of the first
 * `columns` columns. */
template <int ROWS, int CHUNK, int HEAD_DIM, class T, class A>
static __device__ __forceinline__ void
attention_store_row(T *to, A *tile, const A (&values)[CHUNK], A scale,
                    const UndoRope<HEAD_DIM, A> &rotation, int row, int column, int columns) {
#pragma unroll
    for (int d = 0; d < CHUNK; d++)
        tile[(column + d) * ROWS] = convert<A>(convert<T>(values[d] * scale));
    __syncthreads();
    const int64_t angles = column < columns ? rotation.angles(row) : 0;
    for (int d = column; d < column + CHUNK && d < columns; d++) {
        const int64_t at = angles + rotation.angle(d);
        to[d] = convert<T>(rotation.rotated(rotation.is_first(d), tile[d * ROWS],
                                            tile[rotation.partner_of(d) * ROWS], rotation.cosines[at],
                                            rotation.sines[at]));
    }
}
//@end

//@kernel forward
extern "C" __global__ void __launch_bounds__(/*@threads*/64/*@*/)
/*@kernel*/attention_forward/*@*/(
    const /*@dtype*/float/*@*/ *__restrict__ q, const /*@dtype*/float/*@*/ *__restrict__ k,
    const /*@dtype*/float/*@*/ *__restrict__ v, /*@mask_parameters*/const int *__restrict__ positions/*@*/,
    /*@dtype*/float/*@*/ *__restrict__ o, /*@acc*/float/*@*/ *__restrict__ lse) {
    using A = /*@acc*/float/*@*/;
    using Mask = /*@mask*/CausalMask/*@*/;
    constexpr int SEQ = /*@seq*/128/*@*/, HEAD_DIM = /*@head_dim*/64/*@*/;
    constexpr int HEADS = /*@heads*/4/*@*/, KV_HEADS = /*@kv_heads*/2/*@*/;
    constexpr int64_t Q_STRIDE = /*@q_stride*/256/*@*/, K_STRIDE = /*@k_stride*/128/*@*/;
    constexpr int64_t V_STRIDE = /*@v_stride*/128/*@*/, O_STRIDE = /*@o_stride*/256/*@*/;
    constexpr A SCALE = A(/*@scale*/0.125/*@*/);
    constexpr int ROWS = /*@rows*/64/*@*/, KEYS = /*@keys*/32/*@*/;
    constexpr int PARTS = (HEAD_DIM * sizeof(A) + 255) / 256;
    constexpr int CHUNK = ((HEAD_DIM + PARTS - 1) / PARTS + 7) / 8 * 8, WIDTH = PARTS * CHUNK;
    constexpr int THREADS = ROWS * PARTS;
    constexpr int PITCH = KEYS + 16 / sizeof(A); /* fewer bank conflicts, rows still 16-byte aligned */
    constexpr A MASKED = A(-2e30), LOWEST = A(-1e30); /* exp(MASKED - LOWEST) is exactly 0 */

    DYNAMIC_SHARED(A, q_tile);                /* [WIDTH][ROWS] */
    A *k_tile = q_tile + WIDTH * ROWS;        /* [WIDTH][PITCH] */
    A *v_tile = k_tile + WIDTH * PITCH;       /* [KEYS][WIDTH] */
    A *kept = v_tile + KEYS * WIDTH;          /* [KEYS][THREADS] */
    A *swap = kept + KEYS * THREADS;          /* [PARTS][KEYS][ROWS] where PARTS > 1 */

    /* Blocks start in the order of their index: the longest rows of all heads and sequences first.
     * `token` is the first one of the sequence. */
    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int row = threadIdx.x % ROWS, part = threadIdx.x / ROWS, query = first + row;
    const Mask mask = {/*@mask_operands*/positions/*@*/, token, SEQ};
    const Mask::Row block_row = mask.row(first), own_row = mask.row(query);
    attention_load<ROWS, WIDTH, 1, ROWS>(q_tile, q + (token + first) * Q_STRIDE + head * HEAD_DIM,
                                         Q_STRIDE, SEQ - first, HEAD_DIM);

    A peak = LOWEST, sum = 0, out[CHUNK] = {};
    for (int base = block_row.first_tile(KEYS); base <= last;
         base = block_row.next_tile(base, KEYS)) {
        __syncthreads();
        attention_load<KEYS, WIDTH, 1, PITCH>(k_tile, k + (token + base) * K_STRIDE + kv_head * HEAD_DIM,
                                              K_STRIDE, SEQ - base, HEAD_DIM);
        attention_load<KEYS, WIDTH, WIDTH, 1>(v_tile, v + (token + base) * V_STRIDE + kv_head * HEAD_DIM,
                                              V_STRIDE, SEQ - base, HEAD_DIM);
        __syncthreads();
        A p[KEYS] = {};
        attention_dots<CHUNK, ROWS, PITCH>(p, q_tile + part * CHUNK * ROWS + row,
                                           k_tile + part * CHUNK * PITCH);
        attention_combine<PARTS, ROWS>(p, swap, part, row);

        A top = peak;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const bool seen = own_row.sees(base + j) && base + j <= query;
            p[j] = seen ? p[j] * SCALE : MASKED;
            top = MaxOf::of(top, p[j]);
        }
        const A shrink = exp(peak - top);
        peak = top;
        sum *= shrink;
#pragma unroll
        for (int d = 0; d < CHUNK; d++)
            out[d] *= shrink;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            p[j] = exp(p[j] - top);
            sum += p[j];
        }
        attention_keep<THREADS>(kept, p);
        attention_add_rows<KEYS, THREADS, WIDTH>(out, kept, v_tile + part * CHUNK);
    }
    if (query < SEQ) {
        attention_store(o + (token + query) * O_STRIDE + head * HEAD_DIM, out, A(1) / sum,
                        part * CHUNK, HEAD_DIM);
        if (part == 0)
            lse[(token + query) * HEADS + head] = peak + log(sum);
    }
}
//@end

/* delta[i] = d_o[i] . o[i];  ds[i, j] = p[i, j] * (d_o[i] . v[j] - delta[i]);  dq[i] = scale * ds[i] . k */
//@kernel backward_q
extern "C" __global__ void __launch_bounds__(/*@threads*/64/*@*/)
/*@kernel*/attention_backward_q/*@*/(
    const /*@dtype*/float/*@*/ *__restrict__ q, const /*@dtype*/float/*@*/ *__restrict__ k,
    const /*@dtype*/float/*@*/ *__restrict__ v, /*@mask_parameters*/const int *__restrict__ positions/*@*/,
    const /*@dtype*/float/*@*/ *__restrict__ o, const /*@acc*/float/*@*/ *__restrict__ lse,
    const /*@dtype*/float/*@*/ *__restrict__ d_o,
    /*@rope_parameters*//*@*//*@acc*/float/*@*/ *__restrict__ delta, /*@dtype*/float/*@*/ *__restrict__ dq) {
    using A = /*@acc*/float/*@*/;
    using Mask = /*@mask*/CausalMask/*@*/;
    constexpr int SEQ = /*@seq*/128/*@*/, HEAD_DIM = /*@head_dim*/64/*@*/;
    constexpr int HEADS = /*@heads*/4/*@*/, KV_HEADS = /*@kv_heads*/2/*@*/;
    constexpr int64_t Q_STRIDE = /*@q_stride*/256/*@*/, K_STRIDE = /*@k_stride*/128/*@*/;
    constexpr int64_t V_STRIDE = /*@v_stride*/128/*@*/, O_STRIDE = /*@o_stride*/256/*@*/;
    constexpr int64_t DO_STRIDE = /*@do_stride*/256/*@*/, DQ_STRIDE = /*@dq_stride*/256/*@*/;
    constexpr A SCALE = A(/*@scale*/0.125/*@*/);
    constexpr int ROWS = /*@rows*/64/*@*/, KEYS = /*@keys*/32/*@*/;
    constexpr int PARTS = (HEAD_DIM * sizeof(A) + 255) / 256;
    constexpr int CHUNK = ((HEAD_DIM + PARTS - 1) / PARTS + 7) / 8 * 8, WIDTH = PARTS * CHUNK;
    constexpr int THREADS = ROWS * PARTS;
    constexpr int PITCH = KEYS + 16 / sizeof(A);

    DYNAMIC_SHARED(A, q_tile);                /* [WIDTH][ROWS] */
    A *do_tile = q_tile + WIDTH * ROWS;       /* [WIDTH][ROWS] */
    A *k_tile = do_tile + WIDTH * ROWS;       /* [WIDTH][PITCH] */
    A *v_tile = k_tile + WIDTH * PITCH;       /* [WIDTH][PITCH] */
    A *k_rows = v_tile + WIDTH * PITCH;       /* [KEYS][WIDTH] */
    A *kept = k_rows + KEYS * WIDTH;          /* [KEYS][THREADS] */
    A *swap = kept + KEYS * THREADS;          /* [2][PARTS][KEYS][ROWS] where PARTS > 1 */

    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int row = threadIdx.x % ROWS, part = threadIdx.x / ROWS, query = first + row;
    const Mask mask = {/*@mask_operands*/positions/*@*/, token, SEQ};
    const Mask::Row block_row = mask.row(first), own_row = mask.row(query);
    const A row_lse = query < SEQ ? lse[(token + query) * HEADS + head] : A(0);
    attention_load<ROWS, WIDTH, 1, ROWS>(q_tile, q + (token + first) * Q_STRIDE + head * HEAD_DIM,
                                         Q_STRIDE, SEQ - first, HEAD_DIM);
    attention_load<ROWS, WIDTH, 1, ROWS>(do_tile, d_o + (token + first) * DO_STRIDE + head * HEAD_DIM,
                                         DO_STRIDE, SEQ - first, HEAD_DIM);
    __syncthreads();

    A row_delta[1] = {};
    const int columns = query < SEQ ? HEAD_DIM - part * CHUNK : 0; /* in this thread's part */
    for (int d = 0; d < CHUNK && d < columns; d++) {
        const int column = part * CHUNK + d;
        const A out = convert<A>(o[(token + query) * O_STRIDE + head * HEAD_DIM + column]);
        row_delta[0] = fma(do_tile[column * ROWS + row], out, row_delta[0]);
    }
    attention_combine<PARTS, ROWS>(row_delta, swap, part, row);

    A sums[CHUNK] = {};
    for (int base = block_row.first_tile(KEYS); base <= last;
         base = block_row.next_tile(base, KEYS)) {
        const auto *k_base = k + (token + base) * K_STRIDE + kv_head * HEAD_DIM;
        const auto *v_base = v + (token + base) * V_STRIDE + kv_head * HEAD_DIM;
        __syncthreads();
        attention_load<KEYS, WIDTH, 1, PITCH>(k_tile, k_base, K_STRIDE, SEQ - base, HEAD_DIM);
        attention_load<KEYS, WIDTH, 1, PITCH>(v_tile, v_base, V_STRIDE, SEQ - base, HEAD_DIM);
        attention_load<KEYS, WIDTH, WIDTH, 1>(k_rows, k_base, K_STRIDE, SEQ - base, HEAD_DIM);
        __syncthreads();
        A s[KEYS] = {}, ds[KEYS] = {};
        attention_dots<CHUNK, ROWS, PITCH>(s, q_tile + part * CHUNK * ROWS + row,
                                           k_tile + part * CHUNK * PITCH);
        attention_dots<CHUNK, ROWS, PITCH>(ds, do_tile + part * CHUNK * ROWS + row,
                                           v_tile + part * CHUNK * PITCH);
        attention_combine<PARTS, ROWS>(s, swap, part, row);
        attention_combine<PARTS, ROWS>(ds, swap + PARTS * KEYS * ROWS, part, row);
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const bool seen = own_row.sees(base + j) && base + j <= query;
            ds[j] = seen ? exp(s[j] * SCALE - row_lse) * (ds[j] - row_delta[0]) : A(0);
        }
        attention_keep<THREADS>(kept, ds);
        attention_add_rows<KEYS, THREADS, WIDTH>(sums, kept, k_rows + part * CHUNK);
    }
    const /*@rotation*/Unrotated/*@*/<HEAD_DIM, A> rotation = {/*@rope_operands*//*@*/token + first};
    attention_store_row<ROWS>(dq + (token + query) * DQ_STRIDE + head * HEAD_DIM, q_tile + row,
                              sums, SCALE, rotation, row, part * CHUNK,
                              query < SEQ ? HEAD_DIM : 0);
    if (query < SEQ && part == 0)
        delta[(token + query) * HEADS + head] = row_delta[0];
}
//@end

/* dv[j] = p[:, j] . d_o,  dk[j] = scale * ds[:, j] . q, over the heads of the group, then the queries. */
//@kernel backward_kv
extern "C" __global__ void __launch_bounds__(/*@threads*/64/*@*/)
/*@kernel*/attention_backward_kv/*@*/(
    const /*@dtype*/float/*@*/ *__restrict__ q, const /*@dtype*/float/*@*/ *__restrict__ k,
    const /*@dtype*/float/*@*/ *__restrict__ v, /*@mask_parameters*/const int *__restrict__ positions/*@*/,
    const /*@acc*/float/*@*/ *__restrict__ lse, const /*@acc*/float/*@*/ *__restrict__ delta,
    const /*@dtype*/float/*@*/ *__restrict__ d_o,
    /*@rope_parameters*//*@*//*@dtype*/float/*@*/ *__restrict__ dk, /*@dtype*/float/*@*/ *__restrict__ dv) {
    using A = /*@acc*/float/*@*/;
    using Mask = /*@mask*/CausalMask/*@*/;
    constexpr int SEQ = /*@seq*/128/*@*/, HEAD_DIM = /*@head_dim*/64/*@*/;
    constexpr int HEADS = /*@heads*/4/*@*/, KV_HEADS = /*@kv_heads*/2/*@*/, GROUP = HEADS / KV_HEADS;
    constexpr int64_t Q_STRIDE = /*@q_stride*/256/*@*/, K_STRIDE = /*@k_stride*/128/*@*/;
    constexpr int64_t V_STRIDE = /*@v_stride*/128/*@*/, DO_STRIDE = /*@do_stride*/256/*@*/;
    constexpr int64_t DK_STRIDE = /*@dk_stride*/128/*@*/, DV_STRIDE = /*@dv_stride*/128/*@*/;
    constexpr A SCALE = A(/*@scale*/0.125/*@*/);
    constexpr int ROWS = /*@rows*/64/*@*/, QUERIES = /*@keys*/32/*@*/;
    constexpr int PARTS = (HEAD_DIM * sizeof(A) + 255) / 256;
    constexpr int CHUNK = ((HEAD_DIM + PARTS - 1) / PARTS + 7) / 8 * 8, WIDTH = PARTS * CHUNK;
    constexpr int THREADS = ROWS * PARTS;
    constexpr int PITCH = QUERIES + 16 / sizeof(A);

    DYNAMIC_SHARED(A, k_tile);                /* [WIDTH][ROWS] */
    A *v_tile = k_tile + WIDTH * ROWS;        /* [WIDTH][ROWS] */
    A *q_tile = v_tile + WIDTH * ROWS;        /* [WIDTH][PITCH] */
    A *do_tile = q_tile + WIDTH * PITCH;      /* [WIDTH][PITCH] */
    A *q_rows = do_tile + WIDTH * PITCH;      /* [QUERIES][WIDTH] */
    A *do_rows = q_rows + QUERIES * WIDTH;    /* [QUERIES][WIDTH] */
    A *kept = do_rows + QUERIES * WIDTH;      /* [QUERIES][THREADS] */
    A *lses = kept + QUERIES * THREADS;       /* [QUERIES] */
    A *deltas = lses + QUERIES;               /* [QUERIES] */
    constexpr int ROW_INTS = sizeof(Mask::Row) / sizeof(int); /* each in room for an A */
    auto *mask_rows = reinterpret_cast<Mask::Row *>(deltas + QUERIES); /* [QUERIES] */
    A *swap = deltas + (1 + ROW_INTS) * QUERIES; /* [2][PARTS][QUERIES][ROWS] where PARTS > 1 */

    const int first = blockIdx.z * ROWS, kv_head = blockIdx.x;
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int row = threadIdx.x % ROWS, part = threadIdx.x / ROWS, key = first + row;
    const Mask mask = {/*@mask_operands*/positions/*@*/, token, SEQ};
    attention_load<ROWS, WIDTH, 1, ROWS>(k_tile, k + (token + first) * K_STRIDE + kv_head * HEAD_DIM,
                                         K_STRIDE, SEQ - first, HEAD_DIM);
    attention_load<ROWS, WIDTH, 1, ROWS>(v_tile, v + (token + first) * V_STRIDE + kv_head * HEAD_DIM,
                                         V_STRIDE, SEQ - first, HEAD_DIM);

    A dk_sums[CHUNK] = {}, dv_sums[CHUNK] = {};
    for (int head = kv_head * GROUP; head < (kv_head + 1) * GROUP; head++)
        for (int base = first / QUERIES * QUERIES; base < SEQ; base += QUERIES) {
            if (!mask.row(base).sees_any(first, first + ROWS - 1))
                break; /* no later query sees a key of this block */
            const auto *q_base = q + (token + base) * Q_STRIDE + head * HEAD_DIM;
            const auto *do_base = d_o + (token + base) * DO_STRIDE + head * HEAD_DIM;
            __syncthreads();
            attention_load<QUERIES, WIDTH, 1, PITCH>(q_tile, q_base, Q_STRIDE, SEQ - base, HEAD_DIM);
            attention_load<QUERIES, WIDTH, 1, PITCH>(do_tile, do_base, DO_STRIDE, SEQ - base, HEAD_DIM);
            attention_load<QUERIES, WIDTH, WIDTH, 1>(q_rows, q_base, Q_STRIDE, SEQ - base, HEAD_DIM);
            attention_load<QUERIES, WIDTH, WIDTH, 1>(do_rows, do_base, DO_STRIDE, SEQ - base, HEAD_DIM);
            for (int i = threadIdx.x; i < QUERIES; i += blockDim.x) {
                const int query = base + i;
                const bool inside = query < SEQ; /* if not, it sees no key */
                const int64_t at = (token + query) * HEADS + head;
                lses[i] = inside ? lse[at] : A(0);
                deltas[i] = inside ? delta[at] : A(0);
                mask_rows[i] = mask.row(query);
            }
            __syncthreads();
            A p[QUERIES] = {}, ds[QUERIES] = {};
            attention_dots<CHUNK, ROWS, PITCH>(p, k_tile + part * CHUNK * ROWS + row,
                                               q_tile + part * CHUNK * PITCH);
            attention_dots<CHUNK, ROWS, PITCH>(ds, v_tile + part * CHUNK * ROWS + row,
                                               do_tile + part * CHUNK * PITCH);
            attention_combine<PARTS, ROWS>(p, swap, part, row);
            attention_combine<PARTS, ROWS>(ds, swap + PARTS * QUERIES * ROWS, part, row);
#pragma unroll
            for (int i = 0; i < QUERIES; i++) {
                const bool seen = mask_rows[i].sees(key) && key <= base + i;
                p[i] = seen ? exp(p[i] * SCALE - lses[i]) : A(0);
                ds[i] = p[i] * (ds[i] - deltas[i]);
            }
            attention_keep<THREADS>(kept, p);
            attention_add_rows<QUERIES, THREADS, WIDTH>(dv_sums, kept, do_rows + part * CHUNK);
            attention_keep<THREADS>(kept, ds);
            attention_add_rows<QUERIES, THREADS, WIDTH>(dk_sums, kept, q_rows + part * CHUNK);
        }
    const /*@rotation*/Unrotated/*@*/<HEAD_DIM, A> rotation = {/*@rope_operands*//*@*/token + first};
    attention_store_row<ROWS>(dk + (token + key) * DK_STRIDE + kv_head * HEAD_DIM, k_tile + row,
                              dk_sums, SCALE, rotation, row, part * CHUNK,
                              key < SEQ ? HEAD_DIM : 0);
    if (key < SEQ)
        attention_store(dv + (token + key) * DV_STRIDE + kv_head * HEAD_DIM, dv_sums, A(1), part * CHUNK,
                        HEAD_DIM);
}
//@end
