/* Causal attention on tensor cores (mma.sync), forward and backward, for bf16, fp16 and tf32.
 *
 *     s[i, j] = scale * q[i] . k[j]        for start(i) <= j <= i, start(i) = i - positions[i]
 *     o[i]    = sum_j softmax_j(s[i, j]) v[j],   lse[i] = log sum_j exp(s[i, j])
 *
 * Shapes, all row-major with a constant row stride in elements, tokens = batch * seq:
 *     q, o, dq, d_o [tokens, heads * head_dim]   k, v, dk, dv [tokens, kv_heads * head_dim]
 *     lse, delta    [tokens, heads] dense fp32        positions int32 [tokens]
 * T is __nv_bfloat16, __half, or float; float operands are rounded to tf32. Rows start at multiples
 * of 16 bytes. Head h reads kv head h / (heads / kv_heads). Rows of the batch never see each other.
 * `positions` restarts at 0 where a sample starts, so start(i) never decreases with i; tiles
 * outside every row's range are neither read nor computed, and only tiles at its borders are
 * masked.
 *
 * This is CausalMask. With PrefixMask and its operand `prefix`, int32 [tokens, 2], query i also
 * sees places before start(i). Both are in attention_masks.cuh; row i of a mask is what query i
 * sees.
 *
 * With UndoRope, backward undoes RoPE of q and k: dq and dk are rounded to T as without it, rotated
 * back (attention_rope.cuh), rounded again and stored. Further operands are then
 *     rope_positions int32 [tokens]   rope_cos, rope_sin [positions, head_dim / 2] dense fp32
 * Half a head must be a multiple of 16 bytes, and split 1.
 *
 * Launch geometry, with split = head_dim > 128 ? 2 : 1 in backward_kv and 1 elsewhere,
 * width = head_dim rounded up to 16 * split, B = width * sizeof(T), pitch = B + 16 bytes:
 *
 *                   forward                 backward_q              backward_kv
 *                   warps row_tiles keys    warps row_tiles keys    warps row_tiles keys (queries)
 *     B <=  128     4     2         64      4     2         64      4     2         32
 *     B <=  256     4     2         64      4     2         32      4     1         64
 *     B <=  512     4     1         32      4     1         32      4     1         32
 *     B <= 1024     4     1         16      2     1         16      2     1         16
 *
 *     rows = 16 * row_tiles * warps   threads = 32 * warps
 *     forward      grid (heads, batch, ceil(seq / rows))            shared pitch * (rows + 4 keys)
 *     backward_q   grid (heads, batch, ceil(seq / rows))            shared pitch * (2 rows + 4 keys)
 *     backward_kv  grid (kv_heads * split, batch, ceil(seq / rows)) shared pitch * (2 rows + 4 keys)
 *                  after backward_q, which writes delta             + 24 keys, with `prefix` 40
 *
 * FLOPs, with pairs = batch * heads * seq * (seq + 1) / 2 for whole unpacked sequences:
 *     forward 4 * head_dim * pairs, backward_q 6 * head_dim * pairs,
 *     backward_kv (4 + 4 * split) * head_dim * pairs
 * Bytes, with tiles = sum over row blocks of the tiles that each visits:
 *     forward      reads q once and, per tile, `keys` rows of k and v; writes o and lse once
 *     backward_q   reads q and o once, d_o twice, lse four times (each lane of a row) and, per tile,
 *                  `keys` rows of k and v; writes dq and delta once
 *     backward_kv  reads k and v once per split and, per tile, head and split, `keys` rows of q,
 *                  d_o, lse and delta; writes dk and dv once
 *     With UndoRope, backward reads a position per 16 bytes of dq and dk, and a cosine and a sine
 *     per column.
 *
 * A warp owns 16 * row_tiles rows (queries; in backward_kv keys) and iterates over tiles of the
 * other side, which cp.async copies to shared memory one tile ahead. Probabilities stay in
 * registers from one product to the next. Rows in shared memory are padded by 16 bytes, which keeps
 * ldmatrix free of bank conflicts. Every sum runs in a fixed order; there are no atomics. */
#include "runtime/kernel.cuh"
#include "attention_tiles.cuh"

//@prelude attention_tiles.cuh

//@kernel forward
extern "C" __global__ void __launch_bounds__(/*@threads*/128/*@*/)
/*@kernel*/attention_forward/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ q,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ k,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ v,
    /*@mask_parameters*/const int *__restrict__ positions/*@*/,
    /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ o, float *__restrict__ lse) {
    using T = /*@dtype*/__nv_bfloat16/*@*/;
    using Mask = /*@mask*/CausalMask/*@*/;
    constexpr int SEQ = /*@seq*/2048/*@*/, HEAD_DIM = /*@head_dim*/128/*@*/;
    constexpr int HEADS = /*@heads*/32/*@*/, KV_HEADS = /*@kv_heads*/8/*@*/;
    constexpr int64_t Q_STRIDE = /*@q_stride*/4096/*@*/, K_STRIDE = /*@k_stride*/1024/*@*/;
    constexpr int64_t V_STRIDE = /*@v_stride*/1024/*@*/, O_STRIDE = /*@o_stride*/4096/*@*/;
    constexpr float SCALE = /*@scale*/0.08838834764831845f/*@*/;
    constexpr float SCALE2 = SCALE * LOG2E;
    constexpr int WARPS = /*@warps*/4/*@*/, ROW_TILES = /*@row_tiles*/2/*@*/;
    constexpr int KEYS = /*@keys*/64/*@*/;
    constexpr int THREADS = 32 * WARPS, WARP_ROWS = 16 * ROW_TILES, ROWS = WARP_ROWS * WARPS;
    constexpr int WIDTH = (HEAD_DIM + 15) / 16 * 16, PITCH = WIDTH + 16 / sizeof(T);

    DYNAMIC_SHARED(T, q_tile);               /* [ROWS][PITCH] */
    T *k_tiles = q_tile + ROWS * PITCH;      /* [2][KEYS][PITCH] */
    T *v_tiles = k_tiles + 2 * KEYS * PITCH; /* [2][KEYS][PITCH] */

    /* Blocks start in the order of their index: the longest rows of all heads and sequences first.
     * `token` is the first one of the sequence. */
    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * WARP_ROWS, warp_last = warp_first + WARP_ROWS - 1;
    const int query = warp_first + lane / 4; /* of this lane's first row */
    const Mask mask = {/*@mask_operands*/positions/*@*/, token, SEQ};
    const auto fetch = [&](int base, int stage) {
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            k_tiles + stage * KEYS * PITCH, k + (token + base) * K_STRIDE + kv_head * HEAD_DIM,
            K_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            v_tiles + stage * KEYS * PITCH, v + (token + base) * V_STRIDE + kv_head * HEAD_DIM,
            V_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        cp_async_commit();
    };

    const Mask::Row block_row = mask.row(first);
    const Mask::Row warp_row = mask.row(warp_first), warp_last_row = mask.row(warp_last);
    const int begin = block_row.first_tile(KEYS);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        q_tile, q + (token + first) * Q_STRIDE + head * HEAD_DIM, Q_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    fetch(begin, 0);

    float peak[ROW_TILES][2], total[ROW_TILES][2], sums[ROW_TILES][WIDTH / 8][4] = {};
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        peak[r / 2][r % 2] = ATTENTION_LOWEST;
        total[r / 2][r % 2] = 0;
    }
    T *own = q_tile + warp * WARP_ROWS * PITCH;
    for (int base = begin, next, stage = 0; base <= last; base = next, stage ^= 1) {
        cp_async_wait<0>();
        __syncthreads(); /* this tile has arrived, and the other stage may be overwritten */
        next = block_row.next_tile(base, KEYS);
        if (next <= last)
            fetch(next, stage ^ 1);
        const int base_last = base + KEYS - 1;
        if (base > warp_last || !warp_row.sees_any(base, base_last))
            continue;
        float scores[ROW_TILES][KEYS / 8][4], shrink[ROW_TILES][2];
        attention_dots<WIDTH, PITCH>(scores, own, k_tiles + stage * KEYS * PITCH);
        if (base_last > warp_first || !warp_row.sees_all(base, base_last, warp_last_row))
            attention_mask(scores, mask, query, base + lane % 4 * 2);
        attention_softmax(scores, peak, total, shrink, SCALE2);
        attention_shrink(sums, shrink);
        attention_add<PITCH>(sums, scores, v_tiles + stage * KEYS * PITCH);
    }
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        float &sum = total[r / 2][r % 2];
        sum += warp_shfl_xor(sum, 1);
        sum += warp_shfl_xor(sum, 2);
        if (lane % 4 == 0 && query + r * 8 < SEQ)
            lse[(token + query + r * 8) * HEADS + head] = peak[r / 2][r % 2] * SCALE + logf(sum);
        sum = 1 / sum;
    }
    attention_store<PITCH>(o + (token + warp_first) * O_STRIDE + head * HEAD_DIM, O_STRIDE,
                           SEQ - warp_first, HEAD_DIM, own, sums, total);
}
//@end

/* delta[i] = d_o[i] . o[i];  ds[i, j] = p[i, j] * (d_o[i] . v[j] - delta[i]);
 * dq[i] = scale * ds[i] . k */
//@kernel backward_q
extern "C" __global__ void __launch_bounds__(/*@threads*/128/*@*/)
/*@kernel*/attention_backward_q/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ q,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ k,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ v,
    /*@mask_parameters*/const int *__restrict__ positions/*@*/,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ o,
    const float *__restrict__ lse,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ d_o,
    /*@rope_parameters*//*@*/float *__restrict__ delta, /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ dq) {
    using T = /*@dtype*/__nv_bfloat16/*@*/;
    using Mask = /*@mask*/CausalMask/*@*/;
    constexpr int SEQ = /*@seq*/2048/*@*/, HEAD_DIM = /*@head_dim*/128/*@*/;
    constexpr int HEADS = /*@heads*/32/*@*/, KV_HEADS = /*@kv_heads*/8/*@*/;
    constexpr int64_t Q_STRIDE = /*@q_stride*/4096/*@*/, K_STRIDE = /*@k_stride*/1024/*@*/;
    constexpr int64_t V_STRIDE = /*@v_stride*/1024/*@*/, O_STRIDE = /*@o_stride*/4096/*@*/;
    constexpr int64_t DO_STRIDE = /*@do_stride*/4096/*@*/, DQ_STRIDE = /*@dq_stride*/4096/*@*/;
    constexpr float SCALE = /*@scale*/0.08838834764831845f/*@*/;
    constexpr int WARPS = /*@warps*/4/*@*/, ROW_TILES = /*@row_tiles*/2/*@*/;
    constexpr int KEYS = /*@keys*/32/*@*/;
    constexpr int THREADS = 32 * WARPS, WARP_ROWS = 16 * ROW_TILES, ROWS = WARP_ROWS * WARPS;
    constexpr int ELEMENTS = 16 / sizeof(T);
    constexpr int WIDTH = (HEAD_DIM + 15) / 16 * 16, PITCH = WIDTH + ELEMENTS;

    DYNAMIC_SHARED(T, q_tile);               /* [ROWS][PITCH] */
    T *do_tile = q_tile + ROWS * PITCH;      /* [ROWS][PITCH] */
    T *k_tiles = do_tile + ROWS * PITCH;     /* [2][KEYS][PITCH] */
    T *v_tiles = k_tiles + 2 * KEYS * PITCH; /* [2][KEYS][PITCH] */

    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * WARP_ROWS, warp_last = warp_first + WARP_ROWS - 1;
    const int query = warp_first + lane / 4;
    const Mask mask = {/*@mask_operands*/positions/*@*/, token, SEQ};
    const auto fetch = [&](int base, int stage) {
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            k_tiles + stage * KEYS * PITCH, k + (token + base) * K_STRIDE + kv_head * HEAD_DIM,
            K_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            v_tiles + stage * KEYS * PITCH, v + (token + base) * V_STRIDE + kv_head * HEAD_DIM,
            V_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        cp_async_commit();
    };

    const Mask::Row block_row = mask.row(first);
    const Mask::Row warp_row = mask.row(warp_first), warp_last_row = mask.row(warp_last);
    const int begin = block_row.first_tile(KEYS);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        q_tile, q + (token + first) * Q_STRIDE + head * HEAD_DIM, Q_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        do_tile, d_o + (token + first) * DO_STRIDE + head * HEAD_DIM, DO_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    fetch(begin, 0);

    /* The four lanes that hold a row's scores share its delta. */
    float lse2[ROW_TILES][2], row_delta[ROW_TILES][2], scale[ROW_TILES][2];
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        const int i = query + r * 8;
        const bool inside = i < SEQ;
        const float sum =
            attention_delta(o + (token + i) * O_STRIDE + head * HEAD_DIM,
                            d_o + (token + i) * DO_STRIDE + head * HEAD_DIM, HEAD_DIM, inside);
        if (inside && lane % 4 == 0)
            delta[(token + i) * HEADS + head] = sum;
        row_delta[r / 2][r % 2] = sum;
        lse2[r / 2][r % 2] = inside ? lse[(token + i) * HEADS + head] * LOG2E : 0;
        scale[r / 2][r % 2] = SCALE;
    }

    float sums[ROW_TILES][WIDTH / 8][4] = {};
    T *own = q_tile + warp * WARP_ROWS * PITCH, *own_do = do_tile + warp * WARP_ROWS * PITCH;
    for (int base = begin, next, stage = 0; base <= last; base = next, stage ^= 1) {
        cp_async_wait<0>();
        __syncthreads();
        next = block_row.next_tile(base, KEYS);
        if (next <= last)
            fetch(next, stage ^ 1);
        const int base_last = base + KEYS - 1;
        if (base > warp_last || !warp_row.sees_any(base, base_last))
            continue;
        float scores[ROW_TILES][KEYS / 8][4], ds[ROW_TILES][KEYS / 8][4];
        attention_dots<WIDTH, PITCH>(scores, own, k_tiles + stage * KEYS * PITCH);
        if (base_last > warp_first || !warp_row.sees_all(base, base_last, warp_last_row))
            attention_mask(scores, mask, query, base + lane % 4 * 2);
        attention_dots<WIDTH, PITCH>(ds, own_do, v_tiles + stage * KEYS * PITCH);
#pragma unroll
        for (int m = 0; m < ROW_TILES; m++)
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const float p =
                        exp2_or_zero(fmaf(scores[m][n][c], SCALE * LOG2E, -lse2[m][c / 2]));
                    ds[m][n][c] = p * (ds[m][n][c] - row_delta[m][c / 2]);
                }
        attention_add<PITCH>(sums, ds, k_tiles + stage * KEYS * PITCH);
    }
    const /*@rotation*/Unrotated/*@*/<HEAD_DIM, float> rotation = {
        /*@rope_operands*//*@*/token + warp_first};
    attention_store<PITCH>(dq + (token + warp_first) * DQ_STRIDE + head * HEAD_DIM, DQ_STRIDE,
                           SEQ - warp_first, HEAD_DIM, own, sums, scale, rotation);
}
//@end

/* dv[j] = p[:, j] . d_o, dk[j] = scale * ds[:, j] . q, summed over the heads of the group, then
 * over the queries. Scores are transposed here, s[j, i], so that p and ds already have the layout
 * of A operands. If the sums of a whole row do not fit in registers, SPLIT blocks share its
 * columns, and each computes all scores. */
//@kernel backward_kv
extern "C" __global__ void __launch_bounds__(/*@threads*/128/*@*/)
/*@kernel*/attention_backward_kv/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ q,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ k,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ v,
    /*@mask_parameters*/const int *__restrict__ positions/*@*/,
    const float *__restrict__ lse, const float *__restrict__ delta,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ d_o,
    /*@rope_parameters*//*@*//*@dtype*/__nv_bfloat16/*@*/ *__restrict__ dk,
    /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ dv) {
    using T = /*@dtype*/__nv_bfloat16/*@*/;
    using Mask = /*@mask*/CausalMask/*@*/;
    constexpr int SEQ = /*@seq*/2048/*@*/, HEAD_DIM = /*@head_dim*/128/*@*/;
    constexpr int HEADS = /*@heads*/32/*@*/, KV_HEADS = /*@kv_heads*/8/*@*/;
    constexpr int GROUP = HEADS / KV_HEADS;
    constexpr int64_t Q_STRIDE = /*@q_stride*/4096/*@*/, K_STRIDE = /*@k_stride*/1024/*@*/;
    constexpr int64_t V_STRIDE = /*@v_stride*/1024/*@*/, DO_STRIDE = /*@do_stride*/4096/*@*/;
    constexpr int64_t DK_STRIDE = /*@dk_stride*/1024/*@*/, DV_STRIDE = /*@dv_stride*/1024/*@*/;
    constexpr float SCALE = /*@scale*/0.08838834764831845f/*@*/;
    constexpr int WARPS = /*@warps*/4/*@*/, ROW_TILES = /*@row_tiles*/1/*@*/;
    constexpr int QUERIES = /*@keys*/64/*@*/;
    constexpr int THREADS = 32 * WARPS, WARP_ROWS = 16 * ROW_TILES, ROWS = WARP_ROWS * WARPS;
    constexpr int SPLIT = HEAD_DIM > 128 ? 2 : 1;
    constexpr int WIDTH = (HEAD_DIM + 16 * SPLIT - 1) / (16 * SPLIT) * 16 * SPLIT;
    constexpr int COLUMNS = WIDTH / SPLIT, PITCH = WIDTH + 16 / sizeof(T);

    DYNAMIC_SHARED(T, k_tile);                  /* [ROWS][PITCH] */
    T *v_tile = k_tile + ROWS * PITCH;          /* [ROWS][PITCH] */
    T *q_tiles = v_tile + ROWS * PITCH;         /* [2][QUERIES][PITCH] */
    T *do_tiles = q_tiles + 2 * QUERIES * PITCH; /* [2][QUERIES][PITCH] */

    const int first = blockIdx.z * ROWS, last = first + ROWS - 1;
    const int kv_head = blockIdx.x / SPLIT, column = blockIdx.x % SPLIT * COLUMNS;
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * WARP_ROWS, warp_last = warp_first + WARP_ROWS - 1;
    const int key = warp_first + lane / 4; /* of this lane's first row */

    const Mask mask = {/*@mask_operands*/positions/*@*/, token, SEQ};
    AttentionQueries<QUERIES, Mask> queries(
        reinterpret_cast<float *>(do_tiles + 2 * QUERIES * PITCH), mask);
    const AttentionVisits<QUERIES, GROUP> visits(mask, first, last);
    const auto fetch = [&](AttentionVisit visit, int stage) {
        const int base = visit.base;
        const int column_of_head = (kv_head * GROUP + visit.head) * HEAD_DIM;
        attention_fetch<THREADS, QUERIES, WIDTH, PITCH>(
            q_tiles + stage * QUERIES * PITCH, q + (token + base) * Q_STRIDE + column_of_head,
            Q_STRIDE, SEQ % QUERIES ? SEQ - base : QUERIES, HEAD_DIM);
        attention_fetch<THREADS, QUERIES, WIDTH, PITCH>(
            do_tiles + stage * QUERIES * PITCH, d_o + (token + base) * DO_STRIDE + column_of_head,
            DO_STRIDE, SEQ % QUERIES ? SEQ - base : QUERIES, HEAD_DIM);
        cp_async_commit();
    };
    static_assert(QUERIES <= THREADS, "a thread carries one query");
    static_assert(ROWS % QUERIES == 0, "the first visit begins with the first key");
    const auto load_queries = [&](AttentionVisit visit) {
        const int head = kv_head * GROUP + visit.head;
        queries.load(visit.base, lse + head, delta + head, HEADS);
    };

    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        k_tile, k + (token + first) * K_STRIDE + kv_head * HEAD_DIM, K_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        v_tile, v + (token + first) * V_STRIDE + kv_head * HEAD_DIM, V_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    AttentionVisit visit = visits.first();
    fetch(visit, 0);
    load_queries(visit);
    queries.store(0);

    float dk_sums[ROW_TILES][COLUMNS / 8][4] = {}, dv_sums[ROW_TILES][COLUMNS / 8][4] = {};
    T *own_k = k_tile + warp * WARP_ROWS * PITCH, *own_v = v_tile + warp * WARP_ROWS * PITCH;
    for (int stage = 0; visits.has(visit); stage = 1 - stage) {
        cp_async_wait<0>();
        __syncthreads();
        const AttentionVisit next = visits.after(visit);
        const bool more = visits.has(next);
        if (more) {
            fetch(next, 1 - stage);
            load_queries(next);
        }
        const int base = visit.base, at = stage * QUERIES;
        const Mask::Row *rows = queries.rows + at;
        const Mask::Row &tile_row = rows[0], &tile_last_row = rows[QUERIES - 1];
        if (base + QUERIES > warp_first && tile_row.sees_any(warp_first, warp_last)) {
            const T *q_tile = q_tiles + at * PITCH, *do_tile = do_tiles + at * PITCH;
            const bool whole =
                base >= warp_last && tile_row.sees_all(warp_first, warp_last, tile_last_row);
            float p[ROW_TILES][QUERIES / 8][4], ds[ROW_TILES][QUERIES / 8][4];
            attention_dots<WIDTH, PITCH>(p, own_k, q_tile);
            attention_dots<WIDTH, PITCH>(ds, own_v, do_tile);
            if (!whole)
                attention_mask_transposed(p, rows + lane % 4 * 2, base + lane % 4 * 2, key);
#pragma unroll
            for (int n = 0; n < QUERIES / 8; n++) {
                const auto pair = queries.pair(at + n * 8 + lane % 4 * 2);
#pragma unroll
                for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
                    for (int c = 0; c < 4; c++) {
                        const float column_lse2 = pair[c % 2 * 2], column_delta = pair[c % 2 * 2 + 1];
                        float &x = p[r][n][c], &dx = ds[r][n][c];
                        x = exp2_or_zero(fmaf(x, SCALE * LOG2E, -column_lse2));
                        dx = x * (dx - column_delta);
                    }
            }
            attention_add<PITCH>(dv_sums, p, do_tile + column);
            attention_add<PITCH>(dk_sums, ds, q_tile + column);
        }
        if (more)
            queries.store(1 - stage);
        visit = next;
    }

    float dk_scale[ROW_TILES][2], dv_scale[ROW_TILES][2];
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        dk_scale[r / 2][r % 2] = SCALE;
        dv_scale[r / 2][r % 2] = 1;
    }
    const /*@rotation*/Unrotated/*@*/<HEAD_DIM, float> rotation = {
        /*@rope_operands*//*@*/token + warp_first};
    attention_store<PITCH>(dk + (token + warp_first) * DK_STRIDE + kv_head * HEAD_DIM + column,
                           DK_STRIDE, SEQ - warp_first, HEAD_DIM - column, own_k, dk_sums,
                           dk_scale, rotation);
    attention_store<PITCH>(dv + (token + warp_first) * DV_STRIDE + kv_head * HEAD_DIM + column,
                           DV_STRIDE, SEQ - warp_first, HEAD_DIM - column, own_v, dv_sums,
                           dv_scale);
}
//@end
