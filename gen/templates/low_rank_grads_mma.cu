/* Both gradients of a low-rank path y += u B^T, from one reading of dy, on tensor cores (mma.sync):
 *
 *     v = alpha_v dy B    dB (+)= alpha dy^T u
 *
 *     dy [rows, features]    B [features, rank]    u [rows, rank]    v as u    dB as B
 *
 * T is __nv_bfloat16 or __half; sums are fp32. features and rank are multiples of 8, as are the
 * distances between rows of dy, B and u, which start at multiples of 16 bytes. The first comment of
 * the prelude says how the kernels work.
 *
 * Launch geometry:
 *     low_rank_grads  threads 256, cols 128, 256 or 512, tile_rows = 16384 / cols, stages >= 2,
 *                     part_rows a multiple of tile_rows,
 *                     grid (ceil(features / cols), ceil(rows / part_rows)),
 *                     shared bytes, with wide = rank rounded up to a multiple of 16:
 *                         2 * stages * tile_rows * (cols + 8 + wide + 8)
 *                         + 2 * cols * (wide + 8) + 4 * 128 * (wide + 4)
 *         FLOPs 4 * rows * features * rank. Bytes: dy once, B per y of the grid, u per x, and the
 *         parts of v (one per x) and of dB (one per y), each fp32.
 *     add_parts       grid (ceil((rows + features) * rank / 4 / threads)); parts and results once
 *                     (dB is also read if ACCUMULATE). FLOPs: one per element of the parts. */
#include "runtime/kernel.cuh"

//@prelude
/* The gradients of a low-rank path y += u B^T, v = dy B and dB = dy^T u, from one reading of dy. A
 * block has COLS columns of dy and PART_ROWS of its rows. It copies tiles of dy and u to shared
 * memory STAGES - 1 steps ahead; its rows of B stay there. Each warp keeps dB's sums of its own
 * columns in registers for all steps. For v, warps that have the same rows of a tile add up
 * different columns, and shared memory joins their sums. A second kernel adds the sums of all
 * blocks in the order of the blocks; there are no atomics. Padded rows of tiles keep ldmatrix free
 * of bank conflicts; columns between RANK and a multiple of 16 are zeros. */

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

/* sums[TILES x 16 rows][WIDE] += a b for 16 elements of the inner dimension: `a` has the rows'
 * fragments, `tile` the elements of b, one row for each element of the inner dimension. */
template <int WIDE, int PITCH, int TILES, class T>
static __device__ __forceinline__ void low_rank_multiply(float (&sums)[TILES][WIDE / 8][4],
                                                         const unsigned (&a)[TILES][4],
                                                         const T *tile) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < WIDE / 8; n += 2) {
        unsigned b[4]; /* columns 8 n to 8 n + 15 */
        ldmatrix_x4_trans(b, tile + lane % 16 * PITCH + n * 8 + lane / 16 * 8);
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            mma_16816(sums[t][n], a[t], b, T());
            mma_16816(sums[t][n + 1], a[t], b + 2, T());
        }
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

//@body low_rank_grads
/* Computes the sums of one block: of v for its rows, of dB for its columns of dy. */
template <class Sizes, class T>
static __device__ __forceinline__ void
low_rank_grads_tile(const T *__restrict__ dy, const T *__restrict__ b, const T *__restrict__ u,
                    float *__restrict__ v_parts, float *__restrict__ db_parts) {
    constexpr int ROWS = Sizes::ROWS, FEATURES = Sizes::FEATURES, RANK = Sizes::RANK;
    constexpr int64_t DY_STRIDE = Sizes::DY_STRIDE, B_STRIDE = Sizes::B_STRIDE;
    constexpr int64_t U_STRIDE = Sizes::U_STRIDE;
    constexpr int COLS = Sizes::COLS, TILE_ROWS = Sizes::TILE_ROWS;
    constexpr int PART_ROWS = Sizes::PART_ROWS, STAGES = Sizes::STAGES;
    constexpr int THREADS = Sizes::THREADS, WARPS = THREADS / 32;
    constexpr int WIDE = (RANK + 15) / 16 * 16;
    constexpr int DY_PITCH = COLS + 8, PITCH = WIDE + 8, SUM_PITCH = WIDE + 4;
    constexpr int DY_TILE = TILE_ROWS * DY_PITCH, U_TILE = TILE_ROWS * PITCH;
    constexpr int SHARES = WARPS / (TILE_ROWS / 16); /* warps that have the same rows */
    constexpr int SHARE_COLS = COLS / SHARES, OWN_COLS = COLS / WARPS;

    DYNAMIC_SHARED(T, dy_tiles);               /* [STAGES] */
    T *u_tiles = dy_tiles + STAGES * DY_TILE;  /* [STAGES] */
    T *b_tile = u_tiles + STAGES * U_TILE;
    float *shares = reinterpret_cast<float *>(b_tile + COLS * PITCH); /* [SHARES][TILE_ROWS] */

    const int first_col = blockIdx.x * COLS, begin = blockIdx.y * PART_ROWS;
    const int end = begin + PART_ROWS < ROWS ? begin + PART_ROWS : ROWS;
    const auto fetch = [&](int step) {
        const int first = begin + step * TILE_ROWS;
        if (first < end) {
            low_rank_fetch<TILE_ROWS, COLS, DY_PITCH, THREADS>(
                dy_tiles + step % STAGES * DY_TILE, dy + first * DY_STRIDE + first_col, DY_STRIDE,
                end - first, FEATURES - first_col);
            low_rank_fetch<TILE_ROWS, WIDE, PITCH, THREADS>(u_tiles + step % STAGES * U_TILE,
                                                            u + first * U_STRIDE, U_STRIDE,
                                                            end - first, RANK);
        }
        cp_async_commit();
    };

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int share = warp % SHARES, share_row = warp / SHARES * 16;
    float db[OWN_COLS / 16][WIDE / 8][4] = {};
    low_rank_fetch<COLS, WIDE, PITCH, THREADS>(b_tile, b + first_col * B_STRIDE, B_STRIDE,
                                               FEATURES - first_col, RANK);
#pragma unroll
    for (int step = 0; step < STAGES - 1; step++)
        fetch(step);
    for (int step = 0; begin + step * TILE_ROWS < end; step++) {
        const T *dy_tile = dy_tiles + step % STAGES * DY_TILE;
        const T *u_tile = u_tiles + step % STAGES * U_TILE;
        cp_async_wait<STAGES - 2>();
        __syncthreads();
        fetch(step + STAGES - 1);

        float v[1][WIDE / 8][4] = {};
#pragma unroll 4
        for (int k = share * SHARE_COLS; k < (share + 1) * SHARE_COLS; k += 16) {
            unsigned a[1][4];
            ldmatrix_x4(a[0], dy_tile + (share_row + lane % 16) * DY_PITCH + k + lane / 16 * 8);
            low_rank_multiply<WIDE, PITCH>(v, a, b_tile + k * PITCH);
        }
#pragma unroll
        for (int row = 0; row < TILE_ROWS; row += 16) {
            unsigned a[OWN_COLS / 16][4]; /* of dy transposed */
#pragma unroll
            for (int t = 0; t < OWN_COLS / 16; t++)
                ldmatrix_x4_trans(a[t], dy_tile + (row + lane % 8 + lane / 16 * 8) * DY_PITCH +
                                            warp * OWN_COLS + t * 16 + lane / 8 % 2 * 8);
            low_rank_multiply<WIDE, PITCH>(db, a, u_tile + row * PITCH);
        }

#pragma unroll
        for (int i = 0; i < WIDE / 8 * 2; i++) {
            const int row = share_row + lane / 4 + i % 2 * 8;
            Vec<float, 2> pair = {{v[0][i / 2][i % 2 * 2], v[0][i / 2][i % 2 * 2 + 1]}};
            store_vec(shares + (share * TILE_ROWS + row) * SUM_PITCH + i / 2 * 8 + lane % 4 * 2,
                      pair);
        }
        __syncthreads();
        for (int e = threadIdx.x; e < TILE_ROWS * RANK / 4; e += THREADS) {
            const int tile_row = e / (RANK / 4), col = e % (RANK / 4) * 4;
            const int row = begin + step * TILE_ROWS + tile_row;
            if (row < end)
                store_vec(v_parts + (static_cast<int64_t>(blockIdx.x) * ROWS + row) * RANK + col,
                          low_rank_sum<SHARES>(shares + tile_row * SUM_PITCH + col,
                                               TILE_ROWS * SUM_PITCH));
        }
    }

#pragma unroll
    for (int t = 0; t < OWN_COLS / 16; t++)
#pragma unroll
        for (int i = 0; i < WIDE / 8 * 2; i++) {
            const int feature = first_col + warp * OWN_COLS + t * 16 + lane / 4 + i % 2 * 8;
            const int col = i / 2 * 8 + lane % 4 * 2;
            Vec<float, 2> pair = {{db[t][i / 2][i % 2 * 2], db[t][i / 2][i % 2 * 2 + 1]}};
            if (feature < FEATURES && col < RANK)
                store_vec(
                    db_parts + (static_cast<int64_t>(blockIdx.y) * FEATURES + feature) * RANK + col,
                    pair);
        }
}
//@end

//@kernel low_rank_grads
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/low_rank_grads/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ dy,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ b,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ u,
    float *__restrict__ v_parts,    /* [ceil(FEATURES / COLS)][ROWS][RANK] */
    float *__restrict__ db_parts) { /* [ceil(ROWS / PART_ROWS)][FEATURES][RANK] */
    struct Sizes {
        enum { ROWS = /*@rows*/8192/*@*/, FEATURES = /*@features*/8192/*@*/, RANK = /*@rank*/16/*@*/ };
        enum { DY_STRIDE = /*@dy_stride*/8192/*@*/ };
        enum { B_STRIDE = /*@b_stride*/16/*@*/, U_STRIDE = /*@u_stride*/16/*@*/ };
        enum { COLS = /*@cols*/512/*@*/, TILE_ROWS = /*@tile_rows*/32/*@*/ };
        enum { PART_ROWS = /*@part_rows*/1024/*@*/, STAGES = /*@stages*/3/*@*/ };
        enum { THREADS = /*@threads*/256/*@*/ };
    };
    low_rank_grads_tile<Sizes>(dy, b, u, v_parts, db_parts);
}
//@end

//@body add_parts
/* Adds the blocks' sums. alpha_v and alpha scale v and dB. */
template <class Sizes, bool ACCUMULATE, class T, class G>
static __device__ __forceinline__ void
low_rank_add_parts(const float *__restrict__ v_parts, const float *__restrict__ db_parts,
                   T *__restrict__ v, G *__restrict__ db, float alpha_v, float alpha) {
    constexpr int RANK = Sizes::RANK, THREADS = Sizes::THREADS;
    constexpr int V_PARTS = Sizes::V_PARTS, DB_PARTS = Sizes::DB_PARTS;
    constexpr int64_t V_SIZE = static_cast<int64_t>(Sizes::ROWS) * RANK;
    constexpr int64_t DB_SIZE = static_cast<int64_t>(Sizes::FEATURES) * RANK;
    constexpr int64_t V_STRIDE = Sizes::V_STRIDE, DB_STRIDE = Sizes::DB_STRIDE;
    const int64_t at = (static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x) * 4;
    if (at < V_SIZE) {
        Vec<float, 4> sum = low_rank_sum<V_PARTS>(v_parts + at, V_SIZE);
        Vec<T, 4> result;
#pragma unroll
        for (int i = 0; i < 4; i++)
            result[i] = convert<T>(alpha_v * sum[i]);
        store_vec(v + at / RANK * V_STRIDE + at % RANK, result);
    } else if (at < V_SIZE + DB_SIZE) {
        const int64_t element = at - V_SIZE;
        Vec<float, 4> sum = low_rank_sum<DB_PARTS>(db_parts + element, DB_SIZE);
        G *to = db + element / RANK * DB_STRIDE + element % RANK;
        Vec<G, 4> result{};
        if (ACCUMULATE)
            result = load_vec<4>(to);
#pragma unroll
        for (int i = 0; i < 4; i++)
            result[i] = convert<G>(alpha * sum[i] + (ACCUMULATE ? convert<float>(result[i]) : 0));
        store_vec(to, result);
    }
}
//@end

//@kernel add_parts
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/low_rank_grads_add_parts/*@*/(
    const float *__restrict__ v_parts, const float *__restrict__ db_parts,
    /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ v, /*@grad_dtype*/float/*@*/ *__restrict__ db) {
    struct Sizes {
        enum { ROWS = /*@rows*/8192/*@*/, FEATURES = /*@features*/8192/*@*/, RANK = /*@rank*/16/*@*/ };
        enum { V_PARTS = /*@v_parts*/16/*@*/, DB_PARTS = /*@db_parts*/8/*@*/ };
        enum { V_STRIDE = /*@v_stride*/16/*@*/, DB_STRIDE = /*@db_stride*/16/*@*/ };
        enum { THREADS = /*@threads*/256/*@*/ };
    };
    constexpr float V_ALPHA = /*@v_alpha*/1.0f/*@*/, ALPHA = /*@alpha*/2.0f/*@*/;
    low_rank_add_parts<Sizes, /*@accumulate*/false/*@*/>(v_parts, db_parts, v, db, V_ALPHA, ALPHA);
}
//@end
