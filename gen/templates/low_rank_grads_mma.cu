/* Both gradients of a low-rank path y += u B^T, from one reading of dy, on tensor cores (mma.sync), and
 * the other gradient of a path u = x A^T:
 *
 *     v = alpha_v dy B    dB (+)= alpha dy^T u    dA (+)= alpha v^T x
 *
 *     dy, x [rows, features]    B [features, rank]    u [rows, rank]    v as u    dB as B    dA as B^T
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
 *     low_rank_grad_a as low_rank_grads, without B and v; FLOPs 2 * rows * features * rank. Bytes: x
 *                     once, v per x of the grid, and the parts of dA (one per y), fp32.
 *     pointwise_low_rank_grads
 *                     as low_rank_grads, for one or two paths of the same shape, and with grads_a = 1
 *                     also low_rank_grad_a. A prologue, which the plan fills in, makes a vector of
 *                     each path's dy, and of x, at a time, and stores it to the tile. There are no
 *                     stages; shared bytes
 *                         2 * tile_rows / paths * (paths + grads_a) * (cols + 8 + wide + 8)
 *                         + 2 * paths * cols * (wide + 8) + 4 * 128 * (wide + 4)
 *         FLOPs and bytes of each path without those of dy and x, and those of the prologue.
 *     pointwise_low_rank_grad_a
 *                     as low_rank_grad_a, with a prologue that makes x, without stages; shared bytes
 *                         2 * tile_rows * (cols + 8 + wide + 8)
 *     add_parts       grid (ceil((rows + features) * rank / 4 / threads)); parts and results once
 *                     (dB is also read if ACCUMULATE). FLOPs: one per element of the parts.
 *     add_parts_of_a  the same with grid (ceil(features * rank / 4 / threads)). */
#include "low_rank_tiles.cuh"
#include "runtime/kernel.cuh"

//@prelude low_rank_tiles.cuh

//@prelude
/* The gradients of a low-rank path y += u B^T, v = dy B and dB = dy^T u, from one reading of dy. A
 * block has COLS columns of dy and PART_ROWS of its rows. It copies tiles of dy and u to shared
 * memory STAGES - 1 steps ahead; its rows of B stay there. Each warp keeps dB's sums of its own
 * columns in registers for all steps. For v, warps that have the same rows of a tile add up
 * different columns, and shared memory joins their sums. A second kernel adds the sums of all
 * blocks in the order of the blocks; there are no atomics. Padded rows of tiles keep ldmatrix free
 * of bank conflicts; columns between RANK and a multiple of 16 are zeros. Where pointwise steps make
 * dy, the kernel runs these steps itself and reads their operands instead. dA = v^T x of a path
 * u = x A^T is computed like dB, with x for dy and v for u; its parts are stored transposed. */

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

/* What follows from a kernel's sizes, in elements. */
template <class Sizes> struct LowRankTile {
    static constexpr int THREADS = Sizes::THREADS, WARPS = THREADS / 32, RANK = Sizes::RANK;
    static constexpr int COLS = Sizes::COLS, ROWS = Sizes::TILE_ROWS;
    static constexpr int WIDE = (RANK + 15) / 16 * 16;
    static constexpr int DY_PITCH = COLS + 8, PITCH = WIDE + 8, SUM_PITCH = WIDE + 4;
    static constexpr int SHARES = WARPS / (ROWS / 16); /* warps that have the same rows */
    static constexpr int SHARE_COLS = COLS / SHARES, OWN_COLS = COLS / WARPS;
};

/* Computes v's sums of a warp's 16 rows over the warp's share of the columns, and leaves them in
 * `shares`, which is [SHARES][Tile::ROWS]. dy_tile and shares start at the first of these rows. */
template <class Tile, class T>
static __device__ __forceinline__ void low_rank_share_v(float *shares, const T *dy_tile,
                                                        const T *b_tile) {
    constexpr int WIDE = Tile::WIDE, PITCH = Tile::PITCH, SHARE_COLS = Tile::SHARE_COLS;
    const int share = threadIdx.x / 32 % Tile::SHARES, lane = threadIdx.x % 32;
    float v[1][WIDE / 8][4] = {};
#pragma unroll 4
    for (int k = share * SHARE_COLS; k < (share + 1) * SHARE_COLS; k += 16) {
        unsigned a[1][4];
        ldmatrix_x4(a[0], dy_tile + lane % 16 * Tile::DY_PITCH + k + lane / 16 * 8);
        low_rank_multiply<WIDE, PITCH>(v, a, b_tile + k * PITCH);
    }
#pragma unroll
    for (int i = 0; i < WIDE / 8 * 2; i++) {
        const int row = share * Tile::ROWS + lane / 4 + i % 2 * 8;
        Vec<float, 2> pair = {{v[0][i / 2][i % 2 * 2], v[0][i / 2][i % 2 * 2 + 1]}};
        store_vec(shares + row * Tile::SUM_PITCH + i / 2 * 8 + lane % 4 * 2, pair);
    }
}

/* Adds up the shares of `rows` rows, of which valid_rows are stored. */
template <class Tile>
static __device__ __forceinline__ void low_rank_store_v(float *v_parts, const float *shares,
                                                        int rows, int valid_rows) {
    constexpr int RANK = Tile::RANK;
    for (int e = threadIdx.x; e < rows * RANK / 4; e += Tile::THREADS) {
        const int row = e / (RANK / 4), col = e % (RANK / 4) * 4;
        if (row < valid_rows)
            store_vec(v_parts + row * RANK + col,
                      low_rank_sum<Tile::SHARES>(shares + row * Tile::SUM_PITCH + col,
                                                 Tile::ROWS * Tile::SUM_PITCH));
    }
}

/* Adds to dB's sums of a warp's own columns what 16 rows of dy and u contribute. */
template <class Tile, class T>
static __device__ __forceinline__ void
low_rank_add_db(float (&db)[Tile::OWN_COLS / 16][Tile::WIDE / 8][4], const T *dy_tile,
                const T *u_tile) {
    constexpr int OWN_COLS = Tile::OWN_COLS;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned a[OWN_COLS / 16][4]; /* of dy transposed */
#pragma unroll
    for (int t = 0; t < OWN_COLS / 16; t++)
        ldmatrix_x4_trans(a[t], dy_tile + (lane % 8 + lane / 16 * 8) * Tile::DY_PITCH +
                                    warp * OWN_COLS + t * 16 + lane / 8 % 2 * 8);
    low_rank_multiply<Tile::WIDE, Tile::PITCH>(db, a, u_tile);
}

/* Stores dB's sums of a warp's own columns, which are features from `first` on, as [FEATURES][RANK]. */
template <class Tile>
static __device__ __forceinline__ void
low_rank_store_db(float *db_parts, const float (&db)[Tile::OWN_COLS / 16][Tile::WIDE / 8][4],
                  int first, int features) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < Tile::OWN_COLS / 16; t++)
#pragma unroll
        for (int i = 0; i < Tile::WIDE / 8 * 2; i++) {
            const int feature = first + warp * Tile::OWN_COLS + t * 16 + lane / 4 + i % 2 * 8;
            const int col = i / 2 * 8 + lane % 4 * 2;
            Vec<float, 2> pair = {{db[t][i / 2][i % 2 * 2], db[t][i / 2][i % 2 * 2 + 1]}};
            if (feature < features && col < Tile::RANK)
                store_vec(db_parts + static_cast<int64_t>(feature) * Tile::RANK + col, pair);
        }
}

/* The same for dA, as [RANK][features]. */
template <class Tile>
static __device__ __forceinline__ void
low_rank_store_da(float *da_parts, const float (&da)[Tile::OWN_COLS / 16][Tile::WIDE / 8][4],
                  int first, int features) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < Tile::OWN_COLS / 16; t++)
#pragma unroll
        for (int i = 0; i < Tile::WIDE / 8 * 4; i++) {
            const int feature = first + warp * Tile::OWN_COLS + t * 16 + lane / 4 + i / 2 % 2 * 8;
            const int row = i / 4 * 8 + lane % 4 * 2 + i % 2;
            if (feature < features && row < Tile::RANK)
                da_parts[static_cast<int64_t>(row) * features + feature] = da[t][i / 4][i % 4];
        }
}
//@end

//@body low_rank_grads
/* Computes the sums of one block: of v for its rows, of dB for its columns of dy. */
template <class Sizes, class T>
static __device__ __forceinline__ void
low_rank_grads_tile(const T *__restrict__ dy, const T *__restrict__ b, const T *__restrict__ u,
                    float *__restrict__ v_parts, float *__restrict__ db_parts) {
    using Tile = LowRankTile<Sizes>;
    constexpr int ROWS = Sizes::ROWS, FEATURES = Sizes::FEATURES, RANK = Sizes::RANK;
    constexpr int64_t DY_STRIDE = Sizes::DY_STRIDE, B_STRIDE = Sizes::B_STRIDE;
    constexpr int64_t U_STRIDE = Sizes::U_STRIDE;
    constexpr int COLS = Sizes::COLS, TILE_ROWS = Sizes::TILE_ROWS;
    constexpr int PART_ROWS = Sizes::PART_ROWS, STAGES = Sizes::STAGES;
    constexpr int THREADS = Sizes::THREADS;
    constexpr int WIDE = Tile::WIDE, DY_PITCH = Tile::DY_PITCH, PITCH = Tile::PITCH;
    constexpr int DY_TILE = TILE_ROWS * DY_PITCH, U_TILE = TILE_ROWS * PITCH;

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

    const int share_row = threadIdx.x / 32 / Tile::SHARES * 16;
    float db[Tile::OWN_COLS / 16][WIDE / 8][4] = {};
    low_rank_fetch<COLS, WIDE, PITCH, THREADS>(b_tile, b + first_col * B_STRIDE, B_STRIDE,
                                               FEATURES - first_col, RANK);
#pragma unroll
    for (int step = 0; step < STAGES - 1; step++)
        fetch(step);
    for (int step = 0; begin + step * TILE_ROWS < end; step++) {
        const T *dy_tile = dy_tiles + step % STAGES * DY_TILE;
        const T *u_tile = u_tiles + step % STAGES * U_TILE;
        const int first = begin + step * TILE_ROWS;
        cp_async_wait<STAGES - 2>();
        __syncthreads();
        fetch(step + STAGES - 1);

        low_rank_share_v<Tile>(shares + share_row * Tile::SUM_PITCH, dy_tile + share_row * DY_PITCH,
                               b_tile);
#pragma unroll
        for (int row = 0; row < TILE_ROWS; row += 16)
            low_rank_add_db<Tile>(db, dy_tile + row * DY_PITCH, u_tile + row * PITCH);
        __syncthreads();
        low_rank_store_v<Tile>(v_parts + (static_cast<int64_t>(blockIdx.x) * ROWS + first) * RANK,
                               shares, TILE_ROWS, end - first);
    }
    low_rank_store_db<Tile>(db_parts + static_cast<int64_t>(blockIdx.y) * FEATURES * RANK, db,
                            first_col, FEATURES);
}
//@end

//@kernel low_rank_grads
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/low_rank_grads/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ dy,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ b,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ u,
    /* [ceil(FEATURES / COLS)][ROWS][RANK], [ceil(ROWS / PART_ROWS)][FEATURES][RANK] */
    float *__restrict__ v_parts, float *__restrict__ db_parts) {
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

//@body low_rank_grad_a
/* Computes the sums of one block, of dA for its rows and columns of x. */
template <class Sizes, class T>
static __device__ __forceinline__ void low_rank_grad_a_tile(const T *__restrict__ x,
                                                            const T *__restrict__ v,
                                                            float *__restrict__ da_parts) {
    using Tile = LowRankTile<Sizes>;
    constexpr int ROWS = Sizes::ROWS, FEATURES = Sizes::FEATURES, RANK = Sizes::RANK;
    constexpr int64_t X_STRIDE = Sizes::X_STRIDE, V_STRIDE = Sizes::V_STRIDE;
    constexpr int COLS = Sizes::COLS, TILE_ROWS = Sizes::TILE_ROWS;
    constexpr int PART_ROWS = Sizes::PART_ROWS, STAGES = Sizes::STAGES;
    constexpr int THREADS = Sizes::THREADS;
    constexpr int WIDE = Tile::WIDE, X_PITCH = Tile::DY_PITCH, PITCH = Tile::PITCH;
    constexpr int X_TILE = TILE_ROWS * X_PITCH, V_TILE = TILE_ROWS * PITCH;

    DYNAMIC_SHARED(T, x_tiles);             /* [STAGES] */
    T *v_tiles = x_tiles + STAGES * X_TILE; /* [STAGES] */

    const int first_col = blockIdx.x * COLS, begin = blockIdx.y * PART_ROWS;
    const int end = begin + PART_ROWS < ROWS ? begin + PART_ROWS : ROWS;
    const auto fetch = [&](int step) {
        const int first = begin + step * TILE_ROWS;
        if (first < end) {
            low_rank_fetch<TILE_ROWS, COLS, X_PITCH, THREADS>(
                x_tiles + step % STAGES * X_TILE, x + first * X_STRIDE + first_col, X_STRIDE,
                end - first, FEATURES - first_col);
            low_rank_fetch<TILE_ROWS, WIDE, PITCH, THREADS>(v_tiles + step % STAGES * V_TILE,
                                                            v + first * V_STRIDE, V_STRIDE,
                                                            end - first, RANK);
        }
        cp_async_commit();
    };

    float da[Tile::OWN_COLS / 16][WIDE / 8][4] = {};
#pragma unroll
    for (int step = 0; step < STAGES - 1; step++)
        fetch(step);
    for (int step = 0; begin + step * TILE_ROWS < end; step++) {
        const T *x_tile = x_tiles + step % STAGES * X_TILE;
        const T *v_tile = v_tiles + step % STAGES * V_TILE;
        cp_async_wait<STAGES - 2>();
        __syncthreads();
        fetch(step + STAGES - 1);
#pragma unroll
        for (int row = 0; row < TILE_ROWS; row += 16)
            low_rank_add_db<Tile>(da, x_tile + row * X_PITCH, v_tile + row * PITCH);
    }
    low_rank_store_da<Tile>(da_parts + static_cast<int64_t>(blockIdx.y) * FEATURES * RANK, da,
                            first_col, FEATURES);
}
//@end

//@kernel low_rank_grad_a
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/low_rank_grad_a/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ x,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ v,
    float *__restrict__ da_parts /* [ceil(ROWS / PART_ROWS)][RANK][FEATURES] */) {
    struct Sizes {
        enum { ROWS = /*@rows*/8192/*@*/, FEATURES = /*@features*/8192/*@*/, RANK = /*@rank*/16/*@*/ };
        enum { X_STRIDE = /*@x_stride*/8192/*@*/, V_STRIDE = /*@v_stride*/16/*@*/ };
        enum { COLS = /*@cols*/256/*@*/, TILE_ROWS = /*@tile_rows*/64/*@*/ };
        enum { PART_ROWS = /*@part_rows*/1024/*@*/, STAGES = /*@stages*/3/*@*/ };
        enum { THREADS = /*@threads*/256/*@*/ };
    };
    low_rank_grad_a_tile<Sizes>(x, v, da_parts);
}
//@end

//@body pointwise_low_rank_grads
/* What an op has besides dy or x: of both gradients, B, u, and the parts of v and dB; of dA only v and
 * dA's parts. */
template <class T> struct LowRankOp {
    const T *b, *low;
    float *v_parts, *grad_parts;
};

/* Neighbouring elements of a row that the prologue makes: one such vector for each operand. */
template <class Sizes, class T> struct LowRankMade {
    static constexpr int COLUMNS = Sizes::FEATURES;
    static constexpr int DISTANCE = /* between the rows of two operands in a tile */
        Sizes::TILE_ROWS / Sizes::PATHS * LowRankTile<Sizes>::DY_PITCH;
    T *first; /* in the first operand's rows */
    int first_column;
    __device__ int column(int) const { return first_column; }
    __device__ T *operand(int number) const { return first + number * DISTANCE; }
};

/* The first PATHS of `ops` are as low_rank_grads_tile, any further one as low_rank_grad_a_tile.
 * make(row, made) computes VECTOR elements of each op's dy or x, and stores them to made.operand(0)
 * and so on. A tile has rows of the first op, then the same rows of the second. Two blocks share a
 * multiprocessor, so that one can read memory while the other one multiplies. */
template <class Sizes, class T, class Make>
static __device__ __forceinline__ void
pointwise_low_rank_grads_tile(const LowRankOp<T> (&ops)[Sizes::PATHS + Sizes::GRADS_A],
                              const Make &make) {
    using Tile = LowRankTile<Sizes>;
    constexpr int ROWS = Sizes::ROWS, FEATURES = Sizes::FEATURES, RANK = Sizes::RANK;
    constexpr int64_t B_STRIDE = Sizes::B_STRIDE, U_STRIDE = Sizes::U_STRIDE;
    constexpr int64_t V_STRIDE = Sizes::V_STRIDE;
    constexpr int COLS = Sizes::COLS, TILE_ROWS = Sizes::TILE_ROWS, PATHS = Sizes::PATHS;
    constexpr int PART_ROWS = Sizes::PART_ROWS, VECTOR = Sizes::VECTOR, THREADS = Sizes::THREADS;
    constexpr int WIDE = Tile::WIDE, DY_PITCH = Tile::DY_PITCH, PITCH = Tile::PITCH;
    constexpr int OPERANDS = PATHS + Sizes::GRADS_A;
    constexpr int STEP_ROWS = TILE_ROWS / PATHS; /* of each operand */
    constexpr int ALL_ROWS = OPERANDS * STEP_ROWS;
    constexpr bool WHOLE = ROWS % STEP_ROWS == 0 && FEATURES % COLS == 0; /* all tiles are full */
    using Made = LowRankMade<Sizes, T>;

    DYNAMIC_SHARED(T, dy_tile);                /* [OPERANDS][STEP_ROWS] */
    T *u_tile = dy_tile + ALL_ROWS * DY_PITCH; /* [OPERANDS][STEP_ROWS] */
    T *b_tile = u_tile + ALL_ROWS * PITCH;     /* [PATHS][COLS] */
    float *shares = reinterpret_cast<float *>(b_tile + PATHS * COLS * PITCH);

    const int first_col = blockIdx.x * COLS, begin = blockIdx.y * PART_ROWS;
    const int end = begin + PART_ROWS < ROWS ? begin + PART_ROWS : ROWS;
    const int share_row = threadIdx.x / 32 / Tile::SHARES * 16; /* in dy_tile */
    float db[OPERANDS][Tile::OWN_COLS / 16][WIDE / 8][4] = {};
#pragma unroll
    for (int i = 0; i < PATHS; i++)
        low_rank_fetch<COLS, WIDE, PITCH, THREADS>(b_tile + i * COLS * PITCH,
                                                   ops[i].b + first_col * B_STRIDE, B_STRIDE,
                                                   FEATURES - first_col, RANK);
    for (int first = begin; first < end; first += STEP_ROWS) {
        /* One loop for all ops needs fewer registers for addresses; none are left over. */
        for (int e = threadIdx.x; e < ALL_ROWS * WIDE / 8; e += THREADS) {
            const int row = e / (WIDE / 8), col = e % (WIDE / 8) * 8, at = first + row % STEP_ROWS;
            const bool of_a = row >= TILE_ROWS;
            const T *low = of_a              ? ops[OPERANDS - 1].low
                           : row < STEP_ROWS ? ops[0].low
                                             : ops[PATHS - 1].low;
            const bool inside = at < end && col < RANK;
            const int64_t from = inside ? at * (of_a ? V_STRIDE : U_STRIDE) + col : 0;
            cp_async_16(u_tile + row * PITCH + col, low + from, inside);
        }
        cp_async_commit();
#pragma unroll 2
        for (int i = 0; i < STEP_ROWS * COLS / VECTOR / THREADS; i++) {
            const int e = i * THREADS + threadIdx.x;
            const int row = e / (COLS / VECTOR), col = e % (COLS / VECTOR) * VECTOR;
            const Made made = {dy_tile + row * DY_PITCH + col, first_col + col};
            if (WHOLE || (first + row < end && first_col + col < FEATURES))
                make(first + row, made);
            else
#pragma unroll
                for (int k = 0; k < OPERANDS; k++)
                    store_vec(made.operand(k), Vec<T, VECTOR>{});
        }
        cp_async_wait<0>();
        __syncthreads();

        low_rank_share_v<Tile>(shares + share_row * Tile::SUM_PITCH, dy_tile + share_row * DY_PITCH,
                               b_tile + share_row / STEP_ROWS * COLS * PITCH);
#pragma unroll
        for (int row = 0; row < ALL_ROWS; row += 16)
            low_rank_add_db<Tile>(db[row / STEP_ROWS], dy_tile + row * DY_PITCH,
                                  u_tile + row * PITCH);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < PATHS; i++)
            low_rank_store_v<Tile>(
                ops[i].v_parts + (static_cast<int64_t>(blockIdx.x) * ROWS + first) * RANK,
                shares + i * STEP_ROWS * Tile::SUM_PITCH, STEP_ROWS, end - first);
    }
#pragma unroll
    for (int i = 0; i < PATHS; i++)
        low_rank_store_db<Tile>(
            ops[i].grad_parts + static_cast<int64_t>(blockIdx.y) * FEATURES * RANK, db[i], first_col,
            FEATURES);
    if (Sizes::GRADS_A)
        low_rank_store_da<Tile>(ops[OPERANDS - 1].grad_parts +
                                    static_cast<int64_t>(blockIdx.y) * FEATURES * RANK,
                                db[OPERANDS - 1], first_col, FEATURES);
}
//@end

//@kernel pointwise_low_rank_grads
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/, 2)
/*@kernel*/pointwise_low_rank_grads/*@*/(
    /*@path_operands*/const __nv_bfloat16 *__restrict__ b, const __nv_bfloat16 *__restrict__ u,
    float *__restrict__ v_parts, float *__restrict__ db_parts/*@*/,
    /*@operands*/const __nv_bfloat16 *__restrict__ dy/*@*/) {
    struct Sizes {
        enum { ROWS = /*@rows*/8192/*@*/, FEATURES = /*@features*/8192/*@*/, RANK = /*@rank*/16/*@*/ };
        enum { B_STRIDE = /*@b_stride*/16/*@*/, U_STRIDE = /*@u_stride*/16/*@*/ };
        enum { V_STRIDE = /*@v_stride*/0/*@*/ }; /* of the path of which dA is computed */
        enum { COLS = /*@cols*/512/*@*/, TILE_ROWS = /*@tile_rows*/32/*@*/ };
        enum { PART_ROWS = /*@part_rows*/1024/*@*/ };
        enum { PATHS = /*@paths*/1/*@*/, GRADS_A = /*@grads_a*/0/*@*/ };
        enum { VECTOR = /*@vector*/8/*@*/, THREADS = /*@threads*/256/*@*/ };
    };
    using Made = LowRankMade<Sizes, /*@dtype*/__nv_bfloat16/*@*/>;
    const LowRankOp</*@dtype*/__nv_bfloat16/*@*/> ops[] = {
        /*@path_list*/{b, u, v_parts, db_parts}/*@*/};
    pointwise_low_rank_grads_tile<Sizes>(ops, [&](/*@index*/int/*@*/ row, const Made &tile) {
/*@columns*/        const int col = tile.column(0);
/*@*//*@row*/        store_vec(tile.operand(0), load_vec<8>(dy + row * tile.COLUMNS + col));
/*@*/    });
}
//@end

//@prelude
/* Stores four elements of a gradient, alpha times the sum. */
template <bool ACCUMULATE, class G>
static __device__ __forceinline__ void low_rank_store_grad(G *to, float alpha,
                                                           const Vec<float, 4> &sum) {
    Vec<G, 4> result{};
    if (ACCUMULATE)
        result = load_vec<4>(to);
#pragma unroll
    for (int i = 0; i < 4; i++)
        result[i] = convert<G>(alpha * sum[i] + (ACCUMULATE ? convert<float>(result[i]) : 0));
    store_vec(to, result);
}
//@end

//@body pointwise_low_rank_grad_a
/* Neighbouring elements of a row that the prologue makes. */
template <class Sizes, class T> struct LowRankMadeX {
    static constexpr int COLUMNS = Sizes::FEATURES;
    T *vector;
    int first_column;
    __device__ int column(int) const { return first_column; }
    __device__ T *operand(int) const { return vector; }
};

/* As low_rank_grad_a_tile; make(row, made) computes VECTOR elements of x and stores them to
 * made.operand(0). Two blocks share a multiprocessor, so that one can read memory while the other one
 * multiplies. */
template <class Sizes, class T, class Make>
static __device__ __forceinline__ void
pointwise_low_rank_grad_a_tile(const T *__restrict__ v, float *__restrict__ da_parts,
                               const Make &make) {
    using Tile = LowRankTile<Sizes>;
    constexpr int ROWS = Sizes::ROWS, FEATURES = Sizes::FEATURES, RANK = Sizes::RANK;
    constexpr int64_t V_STRIDE = Sizes::V_STRIDE;
    constexpr int COLS = Sizes::COLS, TILE_ROWS = Sizes::TILE_ROWS;
    constexpr int PART_ROWS = Sizes::PART_ROWS, VECTOR = Sizes::VECTOR, THREADS = Sizes::THREADS;
    constexpr int WIDE = Tile::WIDE, X_PITCH = Tile::DY_PITCH, PITCH = Tile::PITCH;
    constexpr bool WHOLE = ROWS % TILE_ROWS == 0 && FEATURES % COLS == 0; /* all tiles are full */
    using Made = LowRankMadeX<Sizes, T>;

    DYNAMIC_SHARED(T, x_tile);
    T *v_tile = x_tile + TILE_ROWS * X_PITCH;

    const int first_col = blockIdx.x * COLS, begin = blockIdx.y * PART_ROWS;
    const int end = begin + PART_ROWS < ROWS ? begin + PART_ROWS : ROWS;
    float da[Tile::OWN_COLS / 16][WIDE / 8][4] = {};
    for (int first = begin; first < end; first += TILE_ROWS) {
        low_rank_fetch<TILE_ROWS, WIDE, PITCH, THREADS>(v_tile, v + first * V_STRIDE, V_STRIDE,
                                                        end - first, RANK);
        cp_async_commit();
#pragma unroll 2
        for (int i = 0; i < TILE_ROWS * COLS / VECTOR / THREADS; i++) {
            const int e = i * THREADS + threadIdx.x;
            const int row = e / (COLS / VECTOR), col = e % (COLS / VECTOR) * VECTOR;
            const Made made = {x_tile + row * X_PITCH + col, first_col + col};
            if (WHOLE || (first + row < end && first_col + col < FEATURES))
                make(first + row, made);
            else
                store_vec(made.vector, Vec<T, VECTOR>{});
        }
        cp_async_wait<0>();
        __syncthreads();
#pragma unroll
        for (int row = 0; row < TILE_ROWS; row += 16)
            low_rank_add_db<Tile>(da, x_tile + row * X_PITCH, v_tile + row * PITCH);
        __syncthreads();
    }
    low_rank_store_da<Tile>(da_parts + static_cast<int64_t>(blockIdx.y) * FEATURES * RANK, da,
                            first_col, FEATURES);
}
//@end

//@kernel pointwise_low_rank_grad_a
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/, 2)
/*@kernel*/pointwise_low_rank_grad_a/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ v,
    float *__restrict__ da_parts, /* [ceil(ROWS / PART_ROWS)][RANK][FEATURES] */
    /*@operands*/const __nv_bfloat16 *__restrict__ x/*@*/) {
    struct Sizes {
        enum { ROWS = /*@rows*/8192/*@*/, FEATURES = /*@features*/8192/*@*/, RANK = /*@rank*/16/*@*/ };
        enum { V_STRIDE = /*@v_stride*/16/*@*/ };
        enum { COLS = /*@cols*/512/*@*/, TILE_ROWS = /*@tile_rows*/32/*@*/ };
        enum { PART_ROWS = /*@part_rows*/1024/*@*/ };
        enum { VECTOR = /*@vector*/8/*@*/, THREADS = /*@threads*/256/*@*/ };
    };
    using Made = LowRankMadeX<Sizes, /*@dtype*/__nv_bfloat16/*@*/>;
    pointwise_low_rank_grad_a_tile<Sizes>(v, da_parts, [&](/*@index*/int/*@*/ row, const Made &tile) {
/*@columns*/        const int col = tile.column(0);
/*@*//*@row*/        store_vec(tile.operand(0), load_vec<8>(x + row * tile.COLUMNS + col));
/*@*/    });
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
        low_rank_store_grad<ACCUMULATE>(db + element / RANK * DB_STRIDE + element % RANK, alpha,
                                        low_rank_sum<DB_PARTS>(db_parts + element, DB_SIZE));
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

//@body add_parts_of_a
/* Adds the blocks' sums of dA. */
template <class Sizes, bool ACCUMULATE, class G>
static __device__ __forceinline__ void low_rank_add_parts_of_a(const float *__restrict__ da_parts,
                                                               G *__restrict__ da, float alpha) {
    constexpr int FEATURES = Sizes::FEATURES;
    constexpr int64_t SIZE = static_cast<int64_t>(FEATURES) * Sizes::RANK, DA_STRIDE = Sizes::DA_STRIDE;
    const int64_t at = (static_cast<int64_t>(blockIdx.x) * Sizes::THREADS + threadIdx.x) * 4;
    if (at < SIZE)
        low_rank_store_grad<ACCUMULATE>(da + at / FEATURES * DA_STRIDE + at % FEATURES, alpha,
                                        low_rank_sum<Sizes::DA_PARTS>(da_parts + at, SIZE));
}
//@end

//@kernel add_parts_of_a
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/low_rank_grad_a_add_parts/*@*/(const float *__restrict__ da_parts,
                                       /*@grad_dtype*/float/*@*/ *__restrict__ da) {
    struct Sizes {
        enum { FEATURES = /*@features*/8192/*@*/, RANK = /*@rank*/16/*@*/ };
        enum { DA_PARTS = /*@da_parts*/8/*@*/, DA_STRIDE = /*@da_stride*/8192/*@*/ };
        enum { THREADS = /*@threads*/256/*@*/ };
    };
    constexpr float ALPHA = /*@alpha*/2.0f/*@*/;
    low_rank_add_parts_of_a<Sizes, /*@accumulate*/false/*@*/>(da_parts, da, ALPHA);
}
//@end
