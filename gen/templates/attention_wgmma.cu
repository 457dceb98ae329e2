/* Causal attention on Hopper's tensor cores (wgmma, sm_90a), forward and backward, for bf16 and
 * fp16 and heads of 64 and 128. Formulas, shapes and masks are those of attention_mma.cu.
 *
 * Launch geometry, with rows = 64, keys (in backward_kv queries) = 64, threads = 128,
 * B = head_dim * sizeof(T):
 *     forward      grid (heads, batch, ceil(seq / rows))     shared B * (rows + 4 keys) + 1024
 *     backward_q   grid (heads, batch, ceil(seq / rows))     shared B * (2 rows + 4 keys) + 1024
 *     backward_kv  grid (kv_heads, batch, ceil(seq / rows))  shared B * (2 rows + 4 keys) + 1024
 *                  after backward_q                            + 24 keys, with `prefix` 40
 *     blocks on a multiprocessor 4, 4 and 3 with heads of 64, 2 with heads of 128
 * FLOPs and bytes are those of attention_mma.cu, with these tiles.
 *
 * A block is one warpgroup. It owns 64 rows (queries; in backward_kv keys) and iterates over tiles
 * of the other side, which cp.async copies to shared memory one tile ahead. It reads both operands
 * of its scores from there; probabilities stay in registers for the next product. While a block
 * computes exponentials, the tensor cores run products of the multiprocessor's other blocks, so
 * registers are bound to what lets several blocks run. Every sum runs in a fixed order; there are
 * no atomics. */
#include "runtime/kernel.cuh"
#include "attention_wgmma.cuh"

//@prelude attention_wgmma.cuh

//@kernel forward
extern "C" __global__ void
__launch_bounds__(/*@threads*/128/*@*/, /*@blocks*/2/*@*/)
/*@kernel*/attention_forward/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ q,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ k,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ v,
    /*@mask_parameters*/const int *__restrict__ positions/*@*/,
    /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ o, float *__restrict__ lse) {
    using T = /*@dtype*/__nv_bfloat16/*@*/;
    using Mask = /*@mask*/CausalMask/*@*/;
    constexpr int SEQ = /*@seq*/2048/*@*/, WIDTH = /*@head_dim*/128/*@*/;
    constexpr int HEADS = /*@heads*/32/*@*/, KV_HEADS = /*@kv_heads*/8/*@*/;
    constexpr int64_t Q_STRIDE = /*@q_stride*/4096/*@*/, K_STRIDE = /*@k_stride*/1024/*@*/;
    constexpr int64_t V_STRIDE = /*@v_stride*/1024/*@*/, O_STRIDE = /*@o_stride*/4096/*@*/;
    constexpr float SCALE = /*@scale*/0.08838834764831845f/*@*/;
    constexpr float SCALE2 = SCALE * LOG2E;
    constexpr int THREADS = /*@threads*/128/*@*/, ROWS = 64;
    constexpr int KEYS = /*@keys*/64/*@*/, PITCH = WIDTH + 8;

    DYNAMIC_SHARED(T, shared);
    T *q_tile = aligned_tiles(shared);       /* [ROWS][WIDTH] */
    T *k_tiles = q_tile + ROWS * WIDTH;      /* [2][KEYS][WIDTH] */
    T *v_tiles = k_tiles + 2 * KEYS * WIDTH; /* [2][KEYS][WIDTH] */

    /* Blocks start in the order of their index: the longest rows of all heads and sequences first.
     * `token` is the first one of the sequence. */
    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * 16;
    const int query = warp_first + lane / 4; /* of this lane's first row */
    const Mask mask = {/*@mask_operands*/positions/*@*/, token, SEQ};
    const auto fetch_keys = [&](int base, int stage) {
        attention_fetch_panels<THREADS, KEYS, WIDTH>(
            k_tiles + stage * KEYS * WIDTH, k + (token + base) * K_STRIDE + kv_head * WIDTH,
            K_STRIDE, SEQ % KEYS ? SEQ - base : KEYS);
    };
    const auto fetch_values = [&](int base, int stage) {
        attention_fetch_panels<THREADS, KEYS, WIDTH>(
            v_tiles + stage * KEYS * WIDTH, v + (token + base) * V_STRIDE + kv_head * WIDTH,
            V_STRIDE, SEQ % KEYS ? SEQ - base : KEYS);
    };

    const Mask::Row first_row = mask.row(first).in_warp(), last_row = mask.row(last).in_warp();
    const int begin = first_row.first_tile(KEYS);
    attention_fetch_panels<THREADS, ROWS, WIDTH>(
        q_tile, q + (token + first) * Q_STRIDE + head * WIDTH, Q_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS);
    fetch_keys(begin, 0);
    cp_async_commit();

    /* A pass begins the scores of its tile and, right behind them, the weighted sums of the previous
     * tile, which run while the pass looks for the largest score. So values are needed one pass
     * later than their keys. */
    float peak[1][2] = {{ATTENTION_LOWEST, ATTENTION_LOWEST}}, total[1][2] = {};
    float sums[1][WIDTH / 8][4] = {};
    unsigned weights[KEYS / 16][4]; /* of the previous tile */
    int stage = 0;
    for (int base = begin, next; base <= last; base = next, stage ^= 1) {
        cp_async_wait<0>();
        fence_tiles();
        __syncthreads(); /* these keys and the previous values are here, the others free */
        next = first_row.next_tile(base, KEYS);
        if (next <= last)
            fetch_keys(next, stage ^ 1);
        fetch_values(base, stage);
        cp_async_commit();
        const int base_last = base + KEYS - 1;
        const bool begun = base > begin;
        const bool whole = base_last <= first && first_row.sees_all(base, base_last, last_row);
        const T *keys = k_tiles + stage * KEYS * WIDTH;
        const T *values_before = v_tiles + (stage ^ 1) * KEYS * WIDTH;
        float scores[1][KEYS / 8][4], shrink[1][2];
        unsigned packed[KEYS / 16][4]; /* the next weights, while products read the old ones */
        wgmma_begin();
        if (begun && whole) { /* no branch while products run: see end_weighted() */
            begin_dots<WIDTH>(scores[0], q_tile, keys);
            wgmma_commit();
            begin_weighted(sums[0], weights, values_before);
            wgmma_commit();
            wgmma_wait<1>(scores[0]);
            attention_softmax(scores, peak, total, shrink, SCALE2);
            pack_weights<T>(packed, scores[0]);
            wgmma_wait<0>(sums[0]);
            end_weighted(weights);
        } else {
            begin_dots<WIDTH>(scores[0], q_tile, keys);
            wgmma_commit();
            wgmma_wait<0>(scores[0]);
            if (begun)
                add_weighted(sums[0], weights, values_before);
            if (!whole)
                attention_mask(scores, mask, query, base + lane % 4 * 2);
            attention_softmax(scores, peak, total, shrink, SCALE2);
            pack_weights<T>(packed, scores[0]);
        }
        attention_shrink(sums, shrink);
        memcpy(weights, packed, sizeof weights);
    }
    cp_async_wait<0>();
    fence_tiles();
    __syncthreads(); /* the last values are here */
    add_weighted(sums[0], weights, v_tiles + (stage ^ 1) * KEYS * WIDTH);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float &sum = total[0][half];
        sum += warp_shfl_xor(sum, 1);
        sum += warp_shfl_xor(sum, 2);
        if (lane % 4 == 0 && query + half * 8 < SEQ)
            lse[(token + query + half * 8) * HEADS + head] = peak[0][half] * SCALE + logf(sum);
        sum = 1 / sum;
    }
    __syncthreads(); /* no tile is read any longer */
    attention_store<PITCH>(o + (token + warp_first) * O_STRIDE + head * WIDTH, O_STRIDE,
                           SEQ - warp_first, WIDTH, q_tile + warp * 16 * PITCH, sums, total);
}
//@end

/* delta[i] = d_o[i] . o[i];  ds[i, j] = p[i, j] * (d_o[i] . v[j] - delta[i]);
 * dq[i] = scale * ds[i] . k */
//@kernel backward_q
extern "C" __global__ void
__launch_bounds__(/*@threads*/128/*@*/, /*@blocks*/2/*@*/)
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
    constexpr int SEQ = /*@seq*/2048/*@*/, WIDTH = /*@head_dim*/128/*@*/;
    constexpr int HEADS = /*@heads*/32/*@*/, KV_HEADS = /*@kv_heads*/8/*@*/;
    constexpr int64_t Q_STRIDE = /*@q_stride*/4096/*@*/, K_STRIDE = /*@k_stride*/1024/*@*/;
    constexpr int64_t V_STRIDE = /*@v_stride*/1024/*@*/, O_STRIDE = /*@o_stride*/4096/*@*/;
    constexpr int64_t DO_STRIDE = /*@do_stride*/4096/*@*/, DQ_STRIDE = /*@dq_stride*/4096/*@*/;
    constexpr float SCALE = /*@scale*/0.08838834764831845f/*@*/;
    constexpr int THREADS = /*@threads*/128/*@*/, ROWS = 64;
    constexpr int KEYS = /*@keys*/64/*@*/, PITCH = WIDTH + 8;

    DYNAMIC_SHARED(T, shared);
    T *q_tile = aligned_tiles(shared);       /* [ROWS][WIDTH] */
    T *do_tile = q_tile + ROWS * WIDTH;      /* [ROWS][WIDTH] */
    T *k_tiles = do_tile + ROWS * WIDTH;     /* [2][KEYS][WIDTH] */
    T *v_tiles = k_tiles + 2 * KEYS * WIDTH; /* [2][KEYS][WIDTH] */

    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * 16;
    const int query = warp_first + lane / 4;
    const Mask mask = {/*@mask_operands*/positions/*@*/, token, SEQ};
    const auto fetch = [&](int base, int stage) {
        attention_fetch_panels<THREADS, KEYS, WIDTH>(
            k_tiles + stage * KEYS * WIDTH, k + (token + base) * K_STRIDE + kv_head * WIDTH,
            K_STRIDE, SEQ % KEYS ? SEQ - base : KEYS);
        attention_fetch_panels<THREADS, KEYS, WIDTH>(
            v_tiles + stage * KEYS * WIDTH, v + (token + base) * V_STRIDE + kv_head * WIDTH,
            V_STRIDE, SEQ % KEYS ? SEQ - base : KEYS);
        cp_async_commit();
    };

    const Mask::Row first_row = mask.row(first).in_warp(), last_row = mask.row(last).in_warp();
    const int begin = first_row.first_tile(KEYS);
    attention_fetch_panels<THREADS, ROWS, WIDTH>(
        q_tile, q + (token + first) * Q_STRIDE + head * WIDTH, Q_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS);
    attention_fetch_panels<THREADS, ROWS, WIDTH>(
        do_tile, d_o + (token + first) * DO_STRIDE + head * WIDTH, DO_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS);
    fetch(begin, 0);

    /* The four lanes that hold a row's scores share its delta. */
    float lse2[1][2], row_delta[1][2], scale[1][2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int i = query + r * 8;
        const bool inside = i < SEQ;
        const float sum =
            attention_delta(o + (token + i) * O_STRIDE + head * WIDTH,
                            d_o + (token + i) * DO_STRIDE + head * WIDTH, WIDTH, inside);
        if (inside && lane % 4 == 0)
            delta[(token + i) * HEADS + head] = sum;
        row_delta[0][r] = sum;
        lse2[0][r] = inside ? lse[(token + i) * HEADS + head] * LOG2E : 0;
        scale[0][r] = SCALE;
    }

    float sums[1][WIDTH / 8][4] = {};
    for (int base = begin, next, stage = 0; base <= last; base = next, stage ^= 1) {
        cp_async_wait<0>();
        fence_tiles();
        __syncthreads();
        next = first_row.next_tile(base, KEYS);
        if (next <= last)
            fetch(next, stage ^ 1);
        const int base_last = base + KEYS - 1;
        float scores[1][KEYS / 8][4], ds[KEYS / 8][4];
        wgmma_begin();
        begin_dots<WIDTH>(scores[0], q_tile, k_tiles + stage * KEYS * WIDTH);
        begin_dots<WIDTH>(ds, do_tile, v_tiles + stage * KEYS * WIDTH);
        wgmma_commit();
        wgmma_wait<0>(scores[0]);
        wgmma_wait<0>(ds);
        if (base_last > first || !first_row.sees_all(base, base_last, last_row))
            attention_mask(scores, mask, query, base + lane % 4 * 2);
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const float p =
                    exp2_or_zero(fmaf(scores[0][n][c], SCALE * LOG2E, -lse2[0][c / 2]));
                ds[n][c] = p * (ds[n][c] - row_delta[0][c / 2]);
            }
        add_weighted(sums[0], ds, k_tiles + stage * KEYS * WIDTH);
    }
    __syncthreads(); /* no tile is read any longer */
    const /*@rotation*/Unrotated/*@*/<WIDTH, float> rotation = {/*@rope_operands*//*@*/token + warp_first};
    attention_store<PITCH>(dq + (token + warp_first) * DQ_STRIDE + head * WIDTH, DQ_STRIDE,
                           SEQ - warp_first, WIDTH, q_tile + warp * 16 * PITCH, sums, scale, rotation);
}
//@end

/* dv[j] = p[:, j] . d_o, dk[j] = scale * ds[:, j] . q, summed over the heads of the group, then
 * over the queries. Scores are transposed here, s[j, i], so that p and ds already have the layout
 * of A operands. */
//@kernel backward_kv
extern "C" __global__ void __launch_bounds__(/*@threads*/128/*@*/, /*@blocks*/2/*@*/)
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
    constexpr int SEQ = /*@seq*/2048/*@*/, WIDTH = /*@head_dim*/128/*@*/;
    constexpr int HEADS = /*@heads*/32/*@*/, KV_HEADS = /*@kv_heads*/8/*@*/;
    constexpr int GROUP = HEADS / KV_HEADS;
    constexpr int64_t Q_STRIDE = /*@q_stride*/4096/*@*/, K_STRIDE = /*@k_stride*/1024/*@*/;
    constexpr int64_t V_STRIDE = /*@v_stride*/1024/*@*/, DO_STRIDE = /*@do_stride*/4096/*@*/;
    constexpr int64_t DK_STRIDE = /*@dk_stride*/1024/*@*/, DV_STRIDE = /*@dv_stride*/1024/*@*/;
    constexpr float SCALE = /*@scale*/0.08838834764831845f/*@*/;
    constexpr int THREADS = /*@threads*/128/*@*/, ROWS = 64;
    constexpr int QUERIES = /*@keys*/64/*@*/, PITCH = WIDTH + 8;

    DYNAMIC_SHARED(T, shared);
    T *k_tile = aligned_tiles(shared);           /* [ROWS][WIDTH] */
    T *v_tile = k_tile + ROWS * WIDTH;           /* [ROWS][WIDTH] */
    T *q_tiles = v_tile + ROWS * WIDTH;          /* [2][QUERIES][WIDTH] */
    T *do_tiles = q_tiles + 2 * QUERIES * WIDTH; /* [2][QUERIES][WIDTH] */

    const int first = blockIdx.z * ROWS, last = first + ROWS - 1, kv_head = blockIdx.x;
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * 16;
    const int key = warp_first + lane / 4; /* of this lane's first row */

    const Mask mask = {/*@mask_operands*/positions/*@*/, token, SEQ};
    AttentionQueries<QUERIES, Mask> queries(
        reinterpret_cast<float *>(do_tiles + 2 * QUERIES * WIDTH), mask);
    const AttentionVisits<QUERIES, GROUP> visits(mask, first, last);
    const auto fetch = [&](AttentionVisit visit, int stage) {
        const int base = visit.base;
        const int column_of_head = (kv_head * GROUP + visit.head) * WIDTH;
        attention_fetch_panels<THREADS, QUERIES, WIDTH>(
            q_tiles + stage * QUERIES * WIDTH, q + (token + base) * Q_STRIDE + column_of_head,
            Q_STRIDE, SEQ % QUERIES ? SEQ - base : QUERIES);
        attention_fetch_panels<THREADS, QUERIES, WIDTH>(
            do_tiles + stage * QUERIES * WIDTH, d_o + (token + base) * DO_STRIDE + column_of_head,
            DO_STRIDE, SEQ % QUERIES ? SEQ - base : QUERIES);
        cp_async_commit();
    };
    static_assert(QUERIES <= THREADS, "a thread carries one query");
    static_assert(ROWS % QUERIES == 0, "the first visit begins with the first key");
    const auto load_queries = [&](AttentionVisit visit) {
        const int head = kv_head * GROUP + visit.head;
        queries.load(visit.base, lse + head, delta + head, HEADS);
    };

    attention_fetch_panels<THREADS, ROWS, WIDTH>(
        k_tile, k + (token + first) * K_STRIDE + kv_head * WIDTH, K_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS);
    attention_fetch_panels<THREADS, ROWS, WIDTH>(
        v_tile, v + (token + first) * V_STRIDE + kv_head * WIDTH, V_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS);
    AttentionVisit visit = visits.first();
    fetch(visit, 0);
    load_queries(visit);
    queries.store(0);

    float dk_sums[1][WIDTH / 8][4] = {}, dv_sums[1][WIDTH / 8][4] = {};
    for (int stage = 0; visits.has(visit); stage = 1 - stage) {
        cp_async_wait<0>();
        fence_tiles();
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
        const T *q_tile = q_tiles + at * WIDTH, *do_tile = do_tiles + at * WIDTH;
        const bool whole = base >= last && tile_row.sees_all(first, last, tile_last_row);
        float p[1][QUERIES / 8][4], ds[QUERIES / 8][4];
        wgmma_begin();
        begin_dots<WIDTH>(p[0], k_tile, q_tile);
        begin_dots<WIDTH>(ds, v_tile, do_tile);
        wgmma_commit();
        wgmma_wait<0>(p[0]);
        wgmma_wait<0>(ds);
        if (!whole)
            attention_mask_transposed(p, rows + lane % 4 * 2, base + lane % 4 * 2, key);
#pragma unroll
        for (int n = 0; n < QUERIES / 8; n++) {
            const auto pair = queries.pair(at + n * 8 + lane % 4 * 2);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const float column_lse2 = pair[c % 2 * 2], column_delta = pair[c % 2 * 2 + 1];
                float &x = p[0][n][c];
                x = exp2_or_zero(fmaf(x, SCALE * LOG2E, -column_lse2));
                ds[n][c] = x * (ds[n][c] - column_delta);
            }
        }
        unsigned p_weights[QUERIES / 16][4], ds_weights[QUERIES / 16][4];
        pack_weights<T>(p_weights, p[0]);
        pack_weights<T>(ds_weights, ds);
        wgmma_begin();
        begin_weighted(dv_sums[0], p_weights, do_tile);
        begin_weighted(dk_sums[0], ds_weights, q_tile);
        wgmma_commit();
        wgmma_wait<0>(dv_sums[0]);
        wgmma_wait<0>(dk_sums[0]);
        end_weighted(p_weights);
        end_weighted(ds_weights);
        if (more)
            queries.store(1 - stage);
        visit = next;
    }

    const float dk_scale[1][2] = {{SCALE, SCALE}}, dv_scale[1][2] = {{1, 1}};
    T *staged = k_tile + warp * 16 * PITCH;
    __syncthreads(); /* no tile is read any longer */
    const /*@rotation*/Unrotated/*@*/<WIDTH, float> rotation = {/*@rope_operands*//*@*/token + warp_first};
    attention_store<PITCH>(dk + (token + warp_first) * DK_STRIDE + kv_head * WIDTH, DK_STRIDE,
                           SEQ - warp_first, WIDTH, staged, dk_sums, dk_scale, rotation);
    attention_store<PITCH>(dv + (token + warp_first) * DV_STRIDE + kv_head * WIDTH, DV_STRIDE,
                           SEQ - warp_first, WIDTH, staged, dv_sums, dv_scale);
}
//@end
