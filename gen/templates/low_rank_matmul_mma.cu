/* The first product of a low-rank path y += u B^T, on tensor cores (mma.sync):
 *
 *     u = alpha x A^T
 *
 *     x [rows, features]    A [rank, features]    u [rows, rank]
 *
 * T is __nv_bfloat16 or __half; sums are fp32. features and rank are multiples of 8, as are the
 * distances between rows of x, A and u, which start at multiples of 16 bytes. The first comment of
 * the prelude says how the kernels work.
 *
 * Launch geometry:
 *     low_rank_matmul  threads 256, tile_rows 16 or 32, grid (ceil(rows / tile_rows)),
 *                      shared bytes, with wide = rank rounded up to a multiple of 16: the larger of
 *                          2 * (tile_rows + wide) * (8192 / tile_rows + 8)
 *                          4 * 128 * (wide + 4)
 *                      together: blocks that a multiprocessor has at a time. A thread then has
 *                          65536 / (256 * together) registers
 *         FLOPs 2 * rows * features * rank. Bytes: x once, A per x of the grid, u once.
 *     pointwise_low_rank_matmul
 *                      the same. A prologue, which the plan fills in, makes a vector of x at a time,
 *                      and stores it to memory and to the tile. FLOPs and bytes as above without
 *                      those of x, and those of the prologue. */
#include "low_rank_tiles.cuh"
#include "runtime/kernel.cuh"

//@prelude low_rank_tiles.cuh

//@prelude
/* The first product of a low-rank path, u = x A^T. A block has TILE_ROWS rows, and goes through their
 * columns COLS at a time: it copies A's columns to shared memory while pointwise steps make a tile of
 * x there, which memory gets too; a kernel without such steps copies the tile from memory. Warps that
 * have the same rows add up different columns in registers; at the end shared memory joins their
 * sums. Padded rows of tiles keep ldmatrix free of bank conflicts; rows of A between RANK and a
 * multiple of 16 are zeros. Several blocks share a multiprocessor, so that one can read memory while
 * another one multiplies. */

/* What follows from a kernel's sizes, in elements. */
template <class Sizes> struct LowRankRows {
    static constexpr int THREADS = Sizes::THREADS, WARPS = THREADS / 32;
    static constexpr int ROWS = Sizes::TILE_ROWS, COLS = 8192 / ROWS, PITCH = COLS + 8;
    static constexpr int WIDE = (Sizes::RANK + 15) / 16 * 16, SUM_PITCH = WIDE + 4;
    static constexpr int SHARES = WARPS / (ROWS / 16); /* warps that have the same rows */
    static constexpr int SHARE_COLS = COLS / SHARES;
};

/* A vector of neighbouring elements of x, which the prologue makes: its place in the tile. */
template <class Sizes, class T> struct LowRankElements {
    static constexpr int COLUMNS = Sizes::FEATURES;
    T *place;
    int first_column;
    __device__ int column(int) const { return first_column; }
    __device__ T *operand(int) const { return place; }
};

/* Adds to u's sums of a warp's 16 rows what the warp's share of the columns contributes. x_tile
 * starts at the first of these rows. */
template <class Rows, class T>
static __device__ __forceinline__ void low_rank_add_u(float (&u)[Rows::WIDE / 8][4],
                                                      const T *x_tile, const T *a_tile) {
    constexpr int PITCH = Rows::PITCH;
    const int lane = threadIdx.x % 32, first = threadIdx.x / 32 % Rows::SHARES * Rows::SHARE_COLS;
#pragma unroll
    for (int k = first; k < first + Rows::SHARE_COLS; k += 16) {
        unsigned x[4];
        ldmatrix_x4(x, x_tile + lane % 16 * PITCH + k + lane / 16 * 8);
#pragma unroll
        for (int n = 0; n < Rows::WIDE / 8; n += 2) {
            unsigned a[4]; /* rows 8 n to 8 n + 15 of A */
            ldmatrix_x4(a, a_tile + (n * 8 + lane % 8 + lane / 16 * 8) * PITCH + k + lane / 8 % 2 * 8);
            mma_16816(u[n], x, a, T());
            mma_16816(u[n + 1], x, a + 2, T());
        }
    }
}

/* Adds up the warps' shares of u, and stores `rows` rows. `shares` is [SHARES][ROWS][SUM_PITCH]. */
template <class Rows, class Sizes, class T>
static __device__ __forceinline__ void low_rank_store_u(T *__restrict__ to, float *shares,
                                                        const float (&u)[Rows::WIDE / 8][4],
                                                        int rows, float alpha) {
    constexpr int RANK = Sizes::RANK, SHARES = Rows::SHARES, SUM_PITCH = Rows::SUM_PITCH;
    constexpr int64_t U_STRIDE = Sizes::U_STRIDE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float *share = shares + (warp % SHARES * Rows::ROWS + warp / SHARES * 16) * SUM_PITCH;
#pragma unroll
    for (int i = 0; i < Rows::WIDE / 8 * 2; i++) {
        Vec<float, 2> pair = {{u[i / 2][i % 2 * 2], u[i / 2][i % 2 * 2 + 1]}};
        store_vec(share + (lane / 4 + i % 2 * 8) * SUM_PITCH + i / 2 * 8 + lane % 4 * 2, pair);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < rows * RANK / 4; e += Rows::THREADS) {
        const int row = e / (RANK / 4), col = e % (RANK / 4) * 4;
        const Vec<float, 4> sum = low_rank_sum<SHARES>(shares + row * SUM_PITCH + col,
                                                       Rows::ROWS * SUM_PITCH);
        Vec<T, 4> result;
#pragma unroll
        for (int i = 0; i < 4; i++)
            result[i] = convert<T>(alpha * sum[i]);
        store_vec(to + row * U_STRIDE + col, result);
    }
}

/* Computes the rows of one block. make(row, made) makes VECTOR elements of x, and stores them to
 * memory and to made.operand(0). */
template <class Sizes, class T, class Make>
static __device__ __forceinline__ void low_rank_matmul_tile(const T *__restrict__ a,
                                                            T *__restrict__ u, float alpha,
                                                            const Make &make) {
    using Rows = LowRankRows<Sizes>;
    constexpr int ROWS = Sizes::ROWS, FEATURES = Sizes::FEATURES, RANK = Sizes::RANK;
    constexpr int64_t A_STRIDE = Sizes::A_STRIDE, U_STRIDE = Sizes::U_STRIDE;
    constexpr int TILE_ROWS = Sizes::TILE_ROWS, VECTOR = Sizes::VECTOR, THREADS = Sizes::THREADS;
    constexpr int COLS = Rows::COLS, WIDE = Rows::WIDE, PITCH = Rows::PITCH;

    DYNAMIC_SHARED(T, x_tile);
    T *a_tile = x_tile + TILE_ROWS * PITCH;

    const int first = blockIdx.x * TILE_ROWS, share_row = threadIdx.x / 32 / Rows::SHARES * 16;
    const int rows = ROWS - first < TILE_ROWS ? ROWS - first : TILE_ROWS;
    float sums[WIDE / 8][4] = {};
    for (int first_col = 0; first_col < FEATURES; first_col += COLS) {
        low_rank_fetch<WIDE, COLS, PITCH, THREADS>(a_tile, a + first_col, A_STRIDE, RANK,
                                                   FEATURES - first_col);
        cp_async_commit();
#pragma unroll
        for (int i = 0; i < TILE_ROWS * COLS / VECTOR / THREADS; i++) {
            const int e = i * THREADS + threadIdx.x;
            const int row = e / (COLS / VECTOR), col = e % (COLS / VECTOR) * VECTOR;
            const LowRankElements<Sizes, T> made = {x_tile + row * PITCH + col, first_col + col};
            if (row < rows && first_col + col < FEATURES)
                make(first + row, made);
            else
                store_vec(made.place, Vec<T, VECTOR>{});
        }
        cp_async_wait<0>();
        __syncthreads();
        low_rank_add_u<Rows>(sums, x_tile + share_row * PITCH, a_tile);
        __syncthreads();
    }
    low_rank_store_u<Rows, Sizes>(u + first * U_STRIDE, reinterpret_cast<float *>(x_tile), sums,
                                  rows, alpha);
}
//@end

//@kernel low_rank_matmul
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/, /*@together*/4/*@*/)
/*@kernel*/low_rank_matmul/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ x,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ a, /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ u) {
    struct Sizes {
        enum { ROWS = /*@rows*/8192/*@*/, FEATURES = /*@features*/8192/*@*/, RANK = /*@rank*/16/*@*/ };
        enum { A_STRIDE = /*@a_stride*/8192/*@*/, U_STRIDE = /*@u_stride*/16/*@*/ };
        enum { TILE_ROWS = /*@tile_rows*/32/*@*/, VECTOR = 8, THREADS = /*@threads*/256/*@*/ };
    };
    constexpr int64_t X_STRIDE = /*@x_stride*/8192/*@*/;
    using Made = LowRankElements<Sizes, /*@dtype*/__nv_bfloat16/*@*/>;
    constexpr float ALPHA = /*@alpha*/1.0f/*@*/;
    low_rank_matmul_tile<Sizes>(a, u, ALPHA, [&](int64_t row, const Made &tile) {
        store_vec(tile.operand(0), load_vec<8>(x + row * X_STRIDE + tile.column(0)));
    });
}
//@end

//@kernel pointwise_low_rank_matmul
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/, /*@together*/4/*@*/)
/*@kernel*/pointwise_low_rank_matmul/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ a, /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ u,
    /*@operands*/const __nv_bfloat16 *__restrict__ x/*@*/) {
    struct Sizes {
        enum { ROWS = /*@rows*/8192/*@*/, FEATURES = /*@features*/8192/*@*/, RANK = /*@rank*/16/*@*/ };
        enum { A_STRIDE = /*@a_stride*/8192/*@*/, U_STRIDE = /*@u_stride*/16/*@*/ };
        enum { TILE_ROWS = /*@tile_rows*/32/*@*/, VECTOR = /*@vector*/8/*@*/ };
        enum { THREADS = /*@threads*/256/*@*/ };
    };
    using Made = LowRankElements<Sizes, /*@dtype*/__nv_bfloat16/*@*/>;
    constexpr float ALPHA = /*@alpha*/1.0f/*@*/;
    low_rank_matmul_tile<Sizes>(a, u, ALPHA, [&](/*@index*/int/*@*/ row, const Made &tile) {
/*@columns*/        const int col = tile.column(0);
/*@*//*@row*/        store_vec(tile.operand(0), load_vec<8>(x + row * tile.COLUMNS + col));
/*@*/    });
}
//@end
