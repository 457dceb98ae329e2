/* Causal attention on Hopper's tensor cores (wgmma, sm_90a), forward, for bf16 and fp16 and heads of 64
 * and 128. What is computed, shapes and masks are those of attention_mma.cu.
 *
 * Launch geometry, with groups = 2, rows = 64 * groups, keys = 128, B = head_dim * sizeof(T):
 *     threads = 128 * groups   grid (ceil(seq / rows), heads, batch)
 *     shared B * (rows + 4 keys) + 1024
 * FLOPs and bytes are attention_mma.cu's, for these tiles.
 *
 * A warpgroup owns 64 queries and walks tiles of keys, which cp.async brings to shared memory one tile
 * ahead. It reads both factors of its scores from there; probabilities pass to the second product in
 * registers. While one warpgroup takes exponents another one's products run. Every sum runs in a fixed
 * order; there are no atomics. */
#include "runtime/kernel.cuh"
#include "attention_wgmma.cuh"

//@prelude attention_wgmma.cuh

//@kernel forward
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
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
    constexpr float SCALE = /*@scale*/0.08838834764831845/*@*/;
    constexpr float SCALE2 = SCALE * 1.4426950408889634f;
    constexpr int THREADS = /*@threads*/256/*@*/, GROUP_ROWS = 64, ROWS = THREADS / 2;
    constexpr int KEYS = /*@keys*/128/*@*/, PITCH = WIDTH + 8;

    DYNAMIC_SHARED(T, shared);
    T *q_tile = aligned_tiles(shared);       /* [ROWS][WIDTH] */
    T *k_tiles = q_tile + ROWS * WIDTH;      /* [2][KEYS][WIDTH] */
    T *v_tiles = k_tiles + 2 * KEYS * WIDTH; /* [2][KEYS][WIDTH] */

    const int first = (gridDim.x - 1 - blockIdx.x) * ROWS; /* the longest rows start first */
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.y, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.z) * SEQ; /* of place 0 of this sequence */
    const int group = threadIdx.x / 128, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int group_first = first + group * GROUP_ROWS, group_last = group_first + GROUP_ROWS - 1;
    const int warp_first = first + warp * 16;
    const int query = warp_first + lane / 4; /* of this lane's first row */
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

    const Mask::Row block_row = mask.row(first);
    const Mask::Row group_row = mask.row(group_first), group_last_row = mask.row(group_last);
    const int begin = block_row.first_tile(KEYS);
    attention_fetch_panels<THREADS, ROWS, WIDTH>(
        q_tile, q + (token + first) * Q_STRIDE + head * WIDTH, Q_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS);
    fetch(begin, 0);

    float peak[1][2] = {{ATTENTION_LOWEST, ATTENTION_LOWEST}}, total[1][2] = {};
    float sums[1][WIDTH / 8][4] = {};
    for (int base = begin, next, stage = 0; base <= last; base = next, stage ^= 1) {
        cp_async_wait<0>();
        fence_tiles();
        __syncthreads(); /* this tile is here, and nobody reads the other stage any more */
        next = block_row.next_tile(base, KEYS);
        if (next <= last)
            fetch(next, stage ^ 1);
        const int base_last = base + KEYS - 1;
        if (base > group_last || !group_row.sees_any(base, base_last))
            continue;
        float scores[1][KEYS / 8][4];
        const T *own = q_tile + group * GROUP_ROWS * PANEL, *keys = k_tiles + stage * KEYS * WIDTH;
        wgmma_begin();
#pragma unroll
        for (int d = 0; d < WIDTH; d += 16)
            wgmma_rows(scores[0], own + d / PANEL * ROWS * PANEL + d % PANEL,
                       keys + d / PANEL * KEYS * PANEL + d % PANEL, d > 0);
        wgmma_end(scores[0]);
        if (base_last > group_first || !group_row.sees_all(base, base_last, group_last_row))
            attention_mask(scores, mask, query, base + lane % 4 * 2);
        attention_softmax(scores, peak, total, sums, SCALE2);
        unsigned weights[KEYS / 16][4];
#pragma unroll
        for (int step = 0; step < KEYS / 16; step++)
            AttentionMma<T>::from_sums(weights[step], scores[0], step);
        wgmma_begin();
#pragma unroll
        for (int step = 0; step < KEYS / 16; step++)
            wgmma_columns<KEYS>(sums[0], weights[step],
                                v_tiles + stage * KEYS * WIDTH + step * 16 * PANEL);
        wgmma_end(sums[0]);
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float &sum = total[0][half];
        sum += warp_shfl_xor(sum, 1);
        sum += warp_shfl_xor(sum, 2);
        if (lane % 4 == 0 && query + half * 8 < SEQ)
            lse[(token + query + half * 8) * HEADS + head] = peak[0][half] * SCALE + logf(sum);
        sum = 1 / sum;
    }
    __syncthreads(); /* nobody reads tiles any more */
    attention_store<PITCH>(o + (token + warp_first) * O_STRIDE + head * WIDTH, O_STRIDE,
                           SEQ - warp_first, WIDTH, q_tile + warp * 16 * PITCH, sums, total);
}
//@end
