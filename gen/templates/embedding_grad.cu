/* Gradient of an embedding table: dw[ids[t]] (+)= dy[t], with the tokens of one id added in their
 * order.
 *
 *     dy [tokens, hidden] with a row stride   ids int32 [tokens]   dw [vocab, hidden] dense
 *
 * Places (indices of tokens) are sorted by id, and by place among equal ids. A key holds both, with
 * the id in the high half, so all keys differ. Each block sorts one tile of keys; then sorted runs
 * are merged: each key moves up by the number of smaller keys in the other runs.
 *
 * In the sorted order the places of an id are contiguous, its run. They are added in chunks of
 * `chunk` places, counted from the start of the run. Chunks after the first leave their sums in
 * rows of `partial`, which are then added to the sum of the first chunk in order. So the sum of a
 * row of dw depends only on the places of its id. There are no atomics. Negative ids belong to
 * other ranks and are left out.
 *
 * Rows of dw whose ids do not occur are not written: without ACCUMULATE, the caller zeroes dw
 * first.
 *
 * Launch geometry, with `count` = tokens rounded up to a power of two; tile, run and ways powers of
 * two:
 *     sort_places    grid (count / tile)
 *     merge_places   grid (count / threads); `ways` runs of `run` sorted keys each become one
 *     run_parts      grid (ceil(ceil(tokens / chunk) / warps), ceil(hidden / (32 * vector)))
 *     run_sums       grid (ceil(tokens / warps), the same)
 * Bytes: keys once and, in a merge, log2(run) + 1 keys of each other run; dy and each written row
 * of dw once (dw is also read if ACCUMULATE), and the keys that a warp reads. FLOPs: tokens *
 * hidden. */
#include "runtime/kernel.cuh"

//@prelude
static __device__ __forceinline__ int64_t embedding_key(int id, int64_t place) {
    return id * (int64_t{1} << 32) + place;
}

static __device__ __forceinline__ int embedding_id(int64_t key) {
    return static_cast<int>(key >> 32);
}

/* Returns how many keys of a sorted run are less than `key`; the length is a power of two. */
static __device__ __forceinline__ int embedding_below(const int64_t *run, int length, int64_t key) {
    int below = 0;
    for (int step = length / 2; step > 0; step /= 2)
        if (run[below + step - 1] < key)
            below += step;
    return below + (run[below] < key);
}

/* Adds the rows of dy for the keys in [first, end), in order, up to the first key of another id.
 * Several loads are in flight at a time. */
template <class A, class T, int VECTOR>
static __device__ __forceinline__ void embedding_add(Vec<A, VECTOR> &sums, const int64_t *keys,
                                                     int first, int end, int id, const T *dy,
                                                     int64_t stride) {
    constexpr int AT_ONCE = 4;
    bool own[AT_ONCE] = {true, true, true, true};
    for (int place = first; place < end && own[AT_ONCE - 1]; place += AT_ONCE) {
        Vec<T, VECTOR> rows[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t key = place + i < end ? keys[place + i] : -1;
            own[i] = embedding_id(key) == id;
            if (own[i])
                rows[i] = load_vec<VECTOR>(dy + static_cast<uint32_t>(key) * stride);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
            for (int v = 0; v < VECTOR; v++)
                if (own[i])
                    sums[v] += convert<A>(rows[i][v]);
    }
}
//@end

//@kernel sort_places
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/) /*@kernel*/embedding_sort/*@*/(
    const int *__restrict__ ids, int64_t *__restrict__ keys) {
    constexpr int TOKENS = /*@tokens*/1000/*@*/, TILE = /*@tile*/1024/*@*/;
    constexpr int THREADS = /*@threads*/256/*@*/, PAST = 0x7fffffff; /* greater than all ids */
    SHARED int64_t sorted[2][TILE];

    const int base = blockIdx.x * TILE;
    for (int slot = threadIdx.x; slot < TILE; slot += THREADS)
        sorted[0][slot] = embedding_key(base + slot < TOKENS ? ids[base + slot] : PAST, base + slot);
    __syncthreads();
    int from = 0;
    for (int run = 1; run < TILE; run *= 2, from ^= 1) {
        for (int slot = threadIdx.x; slot < TILE; slot += THREADS) {
            const int64_t key = sorted[from][slot];
            const int pair = slot & ~(2 * run - 1), other = (slot ^ run) & ~(run - 1);
            const int below = embedding_below(sorted[from] + other, run, key);
            sorted[from ^ 1][pair + (slot & (run - 1)) + below] = key;
        }
        __syncthreads();
    }
    for (int slot = threadIdx.x; slot < TILE; slot += THREADS)
        keys[base + slot] = sorted[from][slot];
}
//@end

//@kernel merge_places
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/) /*@kernel*/embedding_merge/*@*/(
    const int64_t *__restrict__ from, int64_t *__restrict__ to) {
    constexpr int RUN = /*@run*/1024/*@*/, WAYS = /*@ways*/4/*@*/, THREADS = /*@threads*/256/*@*/;

    const int slot = blockIdx.x * THREADS + threadIdx.x, first = slot & ~(RUN * WAYS - 1);
    const int64_t key = from[slot];
    int moved = first + (slot & (RUN - 1));
#pragma unroll
    for (int other = first; other < first + RUN * WAYS; other += RUN)
        if (other != (slot & ~(RUN - 1)))
            moved += embedding_below(from + other, RUN, key);
    to[moved] = key;
}
//@end

//@kernel run_parts
extern "C" __global__ void __launch_bounds__(/*@threads*/128/*@*/) /*@kernel*/embedding_grad_parts/*@*/(
    const /*@dtype*/float/*@*/ *__restrict__ dy, const int64_t *__restrict__ keys,
    /*@acc*/float/*@*/ *__restrict__ partial) {
    using A = /*@acc*/float/*@*/;
    constexpr int TOKENS = /*@tokens*/1000/*@*/, COUNT = /*@count*/1024/*@*/;
    constexpr int HIDDEN = /*@hidden*/256/*@*/, CHUNK = /*@chunk*/32/*@*/;
    constexpr int64_t DY_STRIDE = /*@dy_stride*/256/*@*/;
    constexpr int THREADS = /*@threads*/128/*@*/, VECTOR = /*@vector*/4/*@*/;

    /* At most one second or later chunk of a run begins in each window of `chunk` sorted places. */
    const int window = (blockIdx.x * THREADS + threadIdx.x) / 32, at = window * CHUNK;
    const int column = (blockIdx.y * 32 + threadIdx.x % 32) * VECTOR;
    if (at >= TOKENS || column >= HIDDEN)
        return;
    const int id = embedding_id(keys[at]);
    if (id < 0)
        return;
    const int start = embedding_below(keys, COUNT, embedding_key(id, 0));
    const int first = start + (at - start + CHUNK - 1) / CHUNK * CHUNK;
    if (first == start || first >= TOKENS || embedding_id(keys[first]) != id)
        return;
    const int end = first + CHUNK < TOKENS ? first + CHUNK : TOKENS;
    Vec<A, VECTOR> sums = {};
    embedding_add(sums, keys, first, end, id, dy + column, DY_STRIDE);
    store_vec(partial + static_cast<int64_t>(window) * HIDDEN + column, sums);
}
//@end

//@kernel run_sums
extern "C" __global__ void __launch_bounds__(/*@threads*/128/*@*/) /*@kernel*/embedding_grad/*@*/(
    const /*@dtype*/float/*@*/ *__restrict__ dy, const int64_t *__restrict__ keys,
    const /*@acc*/float/*@*/ *__restrict__ partial, /*@grad_dtype*/float/*@*/ *__restrict__ dw) {
    using A = /*@acc*/float/*@*/;
    using G = /*@grad_dtype*/float/*@*/;
    constexpr int TOKENS = /*@tokens*/1000/*@*/, HIDDEN = /*@hidden*/256/*@*/;
    constexpr int CHUNK = /*@chunk*/32/*@*/;
    constexpr int64_t DY_STRIDE = /*@dy_stride*/256/*@*/;
    constexpr int THREADS = /*@threads*/128/*@*/, VECTOR = /*@vector*/4/*@*/;
    constexpr bool ACCUMULATE = /*@accumulate*/false/*@*/;

    const int first = (blockIdx.x * THREADS + threadIdx.x) / 32;
    const int column = (blockIdx.y * 32 + threadIdx.x % 32) * VECTOR;
    if (first >= TOKENS || column >= HIDDEN)
        return;
    const int id = embedding_id(keys[first]);
    if (id < 0 || (first > 0 && embedding_id(keys[first - 1]) == id))
        return; /* not the start of a run */
    const int end = first + CHUNK < TOKENS ? first + CHUNK : TOKENS;
    Vec<A, VECTOR> sums = {};
    embedding_add(sums, keys, first, end, id, dy + column, DY_STRIDE);
    for (int next = first + CHUNK; next < TOKENS && embedding_id(keys[next]) == id; next += CHUNK) {
        const A *chunk = partial + static_cast<int64_t>(next / CHUNK) * HIDDEN + column;
        const Vec<A, VECTOR> more = load_vec<VECTOR>(chunk);
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
            sums[v] += more[v];
    }
    G *row = dw + static_cast<int64_t>(id) * HIDDEN + column;
    if (ACCUMULATE) {
        const Vec<A, VECTOR> old = convert_vec<A>(load_vec<VECTOR>(row));
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
            sums[v] = old[v] + sums[v];
    }
    store_vec(row, convert_vec<G>(sums));
}
//@end
