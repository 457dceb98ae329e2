/* Shared by the kernels of a low-rank path: copying tiles to shared memory, and sums of parts. */
#ifndef LOW_RANK_TILES_CUH
#define LOW_RANK_TILES_CUH

#include "runtime/kernel.cuh"

//@prelude
/* Fills a tile of ROWS x COLS elements. valid_rows x valid_cols of them are in memory, at `from`;
 * the others are zero. */
template <int ROWS, int COLS, int PITCH, int THREADS, class T>
static __device__ __forceinline__ void low_rank_fetch(T *tile, const T *from, int64_t stride,
                                                      int valid_rows, int valid_cols) {
    constexpr int CHUNKS = COLS / 8;
#pragma unroll 4
    for (int e = threadIdx.x; e < ROWS * CHUNKS; e += THREADS) {
        const int row = e / CHUNKS, col = e % CHUNKS * 8;
        const bool inside = row < valid_rows && col < valid_cols;
        cp_async_16(tile + row * PITCH + col, from + (inside ? row * stride + col : 0), inside);
    }
}

/* The sum of four neighbouring elements over PARTS parts, in order. */
template <int PARTS>
static __device__ __forceinline__ Vec<float, 4> low_rank_sum(const float *parts, int64_t stride) {
    Vec<float, 4> sum = load_vec<4>(parts);
#pragma unroll 8
    for (int part = 1; part < PARTS; part++)
        add_onto(sum, load_vec<4>(parts + part * stride));
    return sum;
}
//@end

#endif
