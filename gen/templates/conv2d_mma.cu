/* Convolutions of images on tensor cores (mma.sync), for bf16, fp16 and tf32: the same products of
 * gathered matrices as in conv2d_fma.cu, whose head comment has the formulas and shapes. T is
 * __nv_bfloat16, __half, or float; float operands are rounded to tf32; sums are fp32.
 *
 * Launch geometry: rows 64 or 128, cols 32, 64 or 128, threads = 2 * cols, stages >= 2
 *     depth = 64 / sizeof(T), grid as in conv2d_fma.cu
 *     gather       shared stages * (deep(rows) + (BACKWARD ? flat(cols) : deep(cols)))
 *     gather_planes  shared stages * ((BACKWARD ? flat(rows) : deep(rows)) + flat(cols)), rows 32 too
 *     weight_grad  shared stages * (flat(rows) + flat(cols)), PLANES: deep ones; with cols up to 64
 *                  rows 32 too
 *     deep(n) = n * (64 + 16) bytes, flat(n) = depth * (n + 8) * sizeof(T) bytes
 * source_vector, weight_vector, dy_vector are 16 / sizeof(T) if runs of that many channels (or
 * filters; in weight_grad with planes, places) start at multiples of 16 bytes, and then the parts
 * of weight_grad do too; otherwise 1. out_vector is 2 if pairs of the result are aligned, otherwise
 * 1. FLOPs, bytes and the epilogue are those of conv2d_fma.cu; the epilogue's `vector` is 2 or 1.
 * In forward and weight_grad, `lines` may be above 0 for dense 16-bit images. Then a tile copies the
 * image lines that its windows see to shared memory, `lines` of them at most, and multiplies from
 * there (Conv2dLines); source_vector is 8, 2 or 1, as whole lines are aligned. cols of weight_grad
 * are a multiple of 32, its parts of 128 places, the depth of its tiles.
 *     gather       shared 2 * (cols * Conv2dLines::WEIGHTS + lines * Conv2dLines::PITCH) bytes
 *     weight_grad  shared 4 * (128 * (rows + 8 + 2) + lines * Conv2dLines::PITCH) bytes
 *
 * Two rows of warps share a tile; each warp computes 32 columns. Tiles are copied to shared memory
 * stages - 1 steps ahead: by cp.async for whole vectors or pairs, otherwise element by element. In
 * `deep` tiles the depth is the inner dimension, in `flat` tiles the outer one, as in memory. Rows
 * of tiles are padded, which keeps ldmatrix free of bank conflicts. Every sum runs in a fixed
 * order; there are no atomics. */
#include "conv2d_lines.cuh"
#include "conv2d_tiles.cuh"
#include "runtime/kernel.cuh"

//@prelude conv2d_tiles.cuh
//@prelude conv2d_lines.cuh

//@prelude
/* Operands of mma.sync, by element type. One step covers DEPTH elements of the inner dimension (32
 * bytes). */
template <class T> struct Conv2dMma {
    static constexpr int DEPTH = 16;

    static __device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4],
                                                    const unsigned *b) {
        mma_16816(c, a, b, T());
    }
    static __device__ __forceinline__ void round(unsigned (&)[4]) {}

    /* Operand A for 16 rows or B for 16 columns, from a flat tile. */
    template <int PITCH>
    static __device__ __forceinline__ void flat_rows(unsigned (&a)[4], const T *tile) {
        const int lane = threadIdx.x % 32;
        ldmatrix_x4_trans(a, tile + (lane % 8 + lane / 16 * 8) * PITCH + lane / 8 % 2 * 8);
    }
    template <int PITCH>
    static __device__ __forceinline__ void flat_cols(unsigned (&b)[4], const T *tile) {
        const int lane = threadIdx.x % 32;
        ldmatrix_x4_trans(b, tile + lane % 16 * PITCH + lane / 16 * 8);
    }
};

template <> struct Conv2dMma<float> {
    static constexpr int DEPTH = 8;

    static __device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4],
                                                    const unsigned *b) {
        mma_1688_tf32(c, a, b);
    }
    static __device__ __forceinline__ void round(unsigned (&r)[4]) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            r[i] = to_tf32(__uint_as_float(r[i]));
    }
    template <int PITCH>
    static __device__ __forceinline__ void flat_rows(unsigned (&a)[4], const float *tile) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < 4; i++)
            a[i] = to_tf32(tile[(lane % 4 + i / 2 * 4) * PITCH + lane / 4 + i % 2 * 8]);
    }
    template <int PITCH>
    static __device__ __forceinline__ void flat_cols(unsigned (&b)[4], const float *tile) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < 4; i++)
            b[i] = to_tf32(tile[(lane % 4 + i % 2 * 4) * PITCH + lane / 4 + i / 2 * 8]);
    }
};

/* A tile of N rows (or columns) of T, deep or FLAT. at() is the index of element (n, depth). */
template <class T, int N, bool FLAT> struct Conv2dTile {
    static constexpr int DEPTH = 64 / sizeof(T), PITCH = DEPTH + 16 / sizeof(T), SIZE = N * PITCH;

    static __device__ __forceinline__ int at(int n, int depth) { return n * PITCH + depth; }
    static __device__ __forceinline__ void rows(unsigned (&a)[4], const T *tile) {
        const int lane = threadIdx.x % 32;
        ldmatrix_x4(a, tile + lane % 16 * PITCH + lane / 16 * (16 / sizeof(T)));
        Conv2dMma<T>::round(a);
    }
    static __device__ __forceinline__ void cols(unsigned (&b)[4], const T *tile) {
        const int lane = threadIdx.x % 32;
        ldmatrix_x4(b, tile + (lane / 16 * 8 + lane % 8) * PITCH + lane / 8 % 2 * (16 / sizeof(T)));
        Conv2dMma<T>::round(b);
    }
};

template <class T, int N> struct Conv2dTile<T, N, true> {
    static constexpr int DEPTH = 64 / sizeof(T), PITCH = N + 8, SIZE = DEPTH * PITCH;

    static __device__ __forceinline__ int at(int n, int depth) { return depth * PITCH + n; }
    static __device__ __forceinline__ void rows(unsigned (&a)[4], const T *tile) {
        Conv2dMma<T>::template flat_rows<PITCH>(a, tile);
    }
    static __device__ __forceinline__ void cols(unsigned (&b)[4], const T *tile) {
        Conv2dMma<T>::template flat_cols<PITCH>(b, tile);
    }
};

/* sums[rows][32 columns] += rows . columns over the depth of two tiles; `row` and `col` are the
 * warp's first. */
template <class Rows, class Cols, int ROW_TILES, class T>
static __device__ __forceinline__ void conv2d_multiply(float (&sums)[ROW_TILES][4][4],
                                                       const T *row_tile, int row,
                                                       const T *col_tile, int col) {
    using Mma = Conv2dMma<T>;
#pragma unroll
    for (int d = 0; d < Rows::DEPTH; d += Mma::DEPTH) {
        unsigned a[ROW_TILES][4];
#pragma unroll
        for (int m = 0; m < ROW_TILES; m++)
            Rows::rows(a[m], row_tile + Rows::at(row + m * 16, d));
#pragma unroll
        for (int n = 0; n < 4; n += 2) {
            unsigned b[4]; /* columns 8 n to 8 n + 15 */
            Cols::cols(b, col_tile + Cols::at(col + n * 8, d));
#pragma unroll
            for (int m = 0; m < ROW_TILES; m++) {
                Mma::multiply(sums[m][n], a[m], b);
                Mma::multiply(sums[m][n + 1], a[m], b + 2);
            }
        }
    }
}

/* The same over the inner dimension from `begin` up to `end`. The tiles of STAGES steps are a ring
 * in shared memory: fetch_rows(tile, base) and fetch_cols(tile, base) begin to copy those of the
 * step that starts at `base`, STAGES - 1 steps before their product. */
template <class T, class Rows, class Cols, int STAGES, int ROW_TILES, class FetchRows, class FetchCols>
static __device__ __forceinline__ void
conv2d_product(float (&sums)[ROW_TILES][4][4], int row, int col, int begin, int end,
               const FetchRows &fetch_rows, const FetchCols &fetch_cols) {
    DYNAMIC_SHARED(T, row_tiles);                   /* [STAGES] */
    T *col_tiles = row_tiles + STAGES * Rows::SIZE; /* [STAGES] */
    const auto fetch = [&](int step) {
        if (begin + step * Rows::DEPTH < end) {
            fetch_rows(row_tiles + step % STAGES * Rows::SIZE, begin + step * Rows::DEPTH);
            fetch_cols(col_tiles + step % STAGES * Cols::SIZE, begin + step * Rows::DEPTH);
        }
        cp_async_commit();
    };
#pragma unroll
    for (int step = 0; step < STAGES - 1; step++)
        fetch(step);
    for (int step = 0; begin + step * Rows::DEPTH < end; step++) {
        cp_async_wait<STAGES - 2>();
        __syncthreads(); /* this step's tiles have arrived, the previous ones are free */
        fetch(step + STAGES - 1);
        conv2d_multiply<Rows, Cols>(sums, row_tiles + step % STAGES * Rows::SIZE, row,
                                    col_tiles + step % STAGES * Cols::SIZE, col);
    }
}
//@end

//@body gather
/* The product of a gather kernel, with the sums of one thread. Each of its OWN_ROWS rows is a place
 * of the result or, if POOL > 1, a window of POOL * POOL places; it has VECTORS vectors of VECTOR
 * elements. Sizes has the constants that differ from kernel to kernel. */
template <class T, bool BACKWARD, class Sizes> struct Conv2dGather {
    /* Rows interleave eight windows, so that a thread has all places of its windows. */
    using Places = Conv2dPlaces<BACKWARD, Sizes, 8>;
    static constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, WINDOW = Places::WINDOW;
    static constexpr int ROW_TILES = ROWS / 32, OWN_ROWS = 2 * ROW_TILES / WINDOW;
    static constexpr int COLUMNS = Places::RESULTS;
    static constexpr int VECTOR = Sizes::VECTOR, VECTORS = 8 / VECTOR;

    const Places places = Places(blockIdx.z);
    const int tile_row = blockIdx.x * ROWS, tile_col = blockIdx.y * COLS;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp % 2 * (ROWS / 2), warp_col = warp / 2 * 32;
    const int own_row = (tile_row + warp_row) / WINDOW + lane / 4;
    float sums[ROW_TILES][4][4] = {};

    __device__ __forceinline__ void multiply(const T *source, const T *weight);
    __device__ __forceinline__ void multiply_lines(const T *source, const T *weight);

    __device__ __forceinline__ bool empty() const { return !has_row(0) || column(0) >= COLUMNS; }
    __device__ __forceinline__ bool has_row(int r) const {
        return own_row + r * 8 < places.count() / WINDOW;
    }
    /* This thread's row r, as a row of the result. */
    __device__ __forceinline__ int row(int r) const { return places.result_row(own_row + r * 8); }
    /* The first column of its vector c. */
    __device__ __forceinline__ int column(int c) const {
        return tile_col + warp_col + c * VECTOR / 2 * 8 + lane % 4 * 2 + c * VECTOR % 2;
    }
    /* The sum for element j of vector c in row r; in a window, for its place k. */
    __device__ __forceinline__ float sum(int r, int c, int j) const { return sum(r, 0, c, j); }
    __device__ __forceinline__ float sum(int r, int k, int c, int j) const {
        const int own = r * WINDOW + k;
        return sums[own / 2][c * VECTOR / 2][own % 2 * 2 + c * VECTOR % 2 + j];
    }
};

template <class T, bool BACKWARD, class Sizes>
__device__ __forceinline__ void
Conv2dGather<T, BACKWARD, Sizes>::multiply_lines(const T *__restrict__ source,
                                                 const T *__restrict__ weight) {
    using Lines = Conv2dLines<T, Places, Sizes>;
    constexpr int GROUPS = Lines::KERNEL * Lines::GROUPS, PITCH = Lines::WEIGHTS;
    DYNAMIC_SHARED(T, weights); /* [COLS] */
    const Lines lines(weights + COLS * PITCH, places, tile_row, places.count() - 1);
    lines.fetch(source, tile_row + ROWS - 1);
    cp_async_commit();
    Lines::fetch_weights(weights, weight, tile_col);

    const T *windows[2 * ROW_TILES];
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++)
        windows[r] = lines.tile + lines.window(tile_row + warp_row + r * 8 + lane / 4) + lane % 4 * 2;
    const T *own = weights + (warp_col + lane / 16 * 8 + lane % 8) * PITCH + lane / 8 % 2 * 8;
    cp_async_wait<0>();
    __syncthreads();
#pragma unroll
    for (int g = 0; g < GROUPS; g += 2) {
        unsigned b[2][4]; /* of 16 columns each */
        ldmatrix_x4(b[0], own + g * 8);
        ldmatrix_x4(b[1], own + 16 * PITCH + g * 8);
#pragma unroll
        for (int m = 0; m < ROW_TILES; m++) {
            unsigned a[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int group = g + i / 2;
                const T *line = windows[2 * m + i % 2] + group / Lines::GROUPS * Lines::PITCH;
                a[i] = group < GROUPS ? Lines::pair(line + group % Lines::GROUPS * 8) : 0;
            }
#pragma unroll
            for (int n = 0; n < 4; n++)
                Conv2dMma<T>::multiply(sums[m][n], a, b[n / 2] + n % 2 * 2);
        }
    }
}

template <class T, bool BACKWARD, class Sizes>
__device__ __forceinline__ void
Conv2dGather<T, BACKWARD, Sizes>::multiply(const T *__restrict__ source,
                                           const T *__restrict__ weight) {
    if (tile_row >= places.count())
        return; /* only larger phases have this tile */
    if constexpr (Sizes::LINES > 0) {
        multiply_lines(source, weight);
        return;
    }
    constexpr int TAPS = Places::KERNEL * Places::KERNEL, INNER = Places::INNER;
    constexpr int CHANNELS = Places::CHANNELS, FILTERS = Places::FILTERS;
    constexpr int SOURCE_VECTOR = Sizes::SOURCE_VECTOR, WEIGHT_VECTOR = Sizes::WEIGHT_VECTOR;
    constexpr int64_t SOURCE_STRIDE = Sizes::SOURCE_STRIDE;
    constexpr int THREADS = 2 * COLS, ELEMENTS = 16 / sizeof(T), CHUNKS = 4; /* per deep row */
    constexpr int THREAD_ROWS = THREADS / CHUNKS; /* loaded by all threads at a time */
    using Rows = Conv2dTile<T, ROWS, false>;
    using Cols = Conv2dTile<T, COLS, BACKWARD>;

    const int own_depth = threadIdx.x % CHUNKS * ELEMENTS, own = threadIdx.x / CHUNKS;
    const int depth = places.depth();
    const Conv2dSources<Places, ROWS / THREAD_ROWS, THREAD_ROWS> sources(places, tile_row + own);
    const auto fetch_rows = [&](T *tile, int base) {
#pragma unroll
        for (int s = 0; s < ROWS / THREAD_ROWS; s++)
            conv2d_fetch<SOURCE_VECTOR>(
                tile + Rows::at(own + s * THREAD_ROWS, own_depth), source,
                [&](int i, int64_t &at) {
                    const int place = base + own_depth + i, tap = place / INNER;
                    const int tap_y = places.tap_y(tap), tap_x = places.tap_x(tap);
                    at = sources.pixel(s, tap_y, tap_x) * SOURCE_STRIDE + place % INNER;
                    return sources.inside(s, tap_y, tap_x) && place < depth;
                });
    };
    /* Forward, a filter's taps and channels are in memory in the order of the sum. */
    const auto fetch_cols = [&](T *tile, int base) {
        if constexpr (!BACKWARD) {
#pragma unroll
            for (int s = 0; s < COLS / THREAD_ROWS; s++)
                conv2d_fetch<WEIGHT_VECTOR>(
                    tile + Cols::at(own + s * THREAD_ROWS, own_depth), weight,
                    [&](int i, int64_t &at) {
                        const int place = base + own_depth + i;
                        const int filter = tile_col + own + s * THREAD_ROWS;
                        at = static_cast<int64_t>(filter) * TAPS * CHANNELS + place;
                        return place < depth && filter < FILTERS;
                    });
        } else {
            constexpr int COL_CHUNKS = COLS / ELEMENTS, THREAD_DEPTHS = THREADS / COL_CHUNKS;
            const int col = threadIdx.x % COL_CHUNKS * ELEMENTS;
#pragma unroll
            for (int s = 0; s < Cols::DEPTH / THREAD_DEPTHS; s++) {
                const int d = threadIdx.x / COL_CHUNKS + s * THREAD_DEPTHS, place = base + d;
                const int64_t row =
                    static_cast<int64_t>(place % INNER) * TAPS + places.window_tap(place / INNER);
                conv2d_fetch<WEIGHT_VECTOR>(tile + Cols::at(col, d), weight, [&](int i, int64_t &at) {
                    const int channel = tile_col + col + i;
                    at = row * CHANNELS + channel;
                    return place < depth && channel < CHANNELS;
                });
            }
        }
    };
    conv2d_product<T, Rows, Cols, Sizes::STAGES>(sums, warp_row, warp_col, 0, depth, fetch_rows,
                                                 fetch_cols);
}
//@end

//@kernel gather
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/conv2d_gather/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ source,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ weight,
    /*@operands*/__nv_bfloat16 *__restrict__ out/*@*/) {
    struct Sizes {
        enum { IMAGES = /*@images*/32/*@*/, HEIGHT = /*@height*/56/*@*/, WIDTH = /*@width*/56/*@*/ };
        enum { OUT_HEIGHT = /*@out_height*/56/*@*/, OUT_WIDTH = /*@out_width*/56/*@*/ };
        enum { CHANNELS = /*@channels*/64/*@*/, FILTERS = /*@filters*/128/*@*/ };
        enum { KERNEL = /*@size*/3/*@*/, STRIDE = /*@stride*/1/*@*/, PADDING = /*@padding*/1/*@*/ };
        enum { POOL = /*@pool*/1/*@*/, SOURCE_STRIDE = /*@source_stride*/64/*@*/ };
        enum { ROWS = /*@rows*/128/*@*/, COLS = /*@cols*/128/*@*/, STAGES = /*@stages*/4/*@*/ };
        enum { SOURCE_VECTOR = /*@source_vector*/8/*@*/, WEIGHT_VECTOR = /*@weight_vector*/8/*@*/ };
        enum { VECTOR = /*@vector*/2/*@*/, LINES = /*@lines*/0/*@*/ };
    };
    Conv2dGather</*@dtype*/__nv_bfloat16/*@*/, /*@backward*/false/*@*/, Sizes> tile;
    tile.multiply(source, weight);
    if (tile.empty())
        return;
/*@columns*//*@*/#pragma unroll
    for (int r = 0; r < tile.OWN_ROWS; r++) {
        if (!tile.has_row(r))
            continue;
        const /*@index*/int/*@*/ row = tile.row(r);
/*@row*/        for (int c = 0; c < tile.VECTORS; c++)
            for (int j = 0; j < 2; j++)
                out[row * tile.COLUMNS + tile.column(c) + j] =
                    convert<__nv_bfloat16>(tile.sum(r, c, j));
/*@*/    }
}
//@end

//@body gather_planes
/* Computes one tile of the result of a gather_planes kernel. */
template <class T, bool BACKWARD, bool ACCUMULATE, class Sizes>
static __device__ __forceinline__ void conv2d_planes_tile(const T *__restrict__ source,
                                                          const T *__restrict__ weight,
                                                          T *__restrict__ out) {
    using Places = Conv2dPlaces<BACKWARD, Sizes>;
    constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, ROW_TILES = ROWS / 32;
    constexpr int WEIGHT_VECTOR = Sizes::WEIGHT_VECTOR, OUT_VECTOR = Sizes::OUT_VECTOR;
    constexpr int INNER = Places::INNER, RESULTS = Places::RESULTS, CHANNELS = Places::CHANNELS;
    constexpr int TAPS = Places::KERNEL * Places::KERNEL, FROM_WIDTH = Places::FROM_WIDTH;
    constexpr int FROM_PIXELS = Places::FROM_HEIGHT * FROM_WIDTH;
    constexpr int TO_WIDTH = Places::TO_WIDTH, TO_PIXELS = Places::TO_HEIGHT * TO_WIDTH;
    constexpr int PHASES = Places::Axis::PHASES;                       /* per direction */
    constexpr int HIGHEST = (Places::TO_HEIGHT + PHASES - 1) / PHASES; /* over the phases */
    constexpr int WIDEST = (TO_WIDTH + PHASES - 1) / PHASES;
    constexpr int TILES = (HIGHEST * WIDEST + COLS - 1) / COLS;
    constexpr int THREADS = 2 * COLS, ELEMENTS = 16 / sizeof(T), CHUNKS = 4;
    constexpr int ROW_CHUNKS = ROWS / ELEMENTS, COL_CHUNKS = COLS / ELEMENTS;
    constexpr int THREAD_DEPTHS = THREADS / COL_CHUNKS;
    using Rows = Conv2dTile<T, ROWS, BACKWARD>;
    using Cols = Conv2dTile<T, COLS, true>;

    const int image = blockIdx.x / TILES / (PHASES * PHASES);
    const Places places(blockIdx.x / TILES % (PHASES * PHASES));
    const int first_row = blockIdx.y * ROWS, first_col = blockIdx.x % TILES * COLS;
    if (first_col >= places.of_image)
        return; /* only larger phases have this tile */
    const int depth = places.depth();

    /* The places that this thread loads: the pixel that tap 0 reads. */
    const int own = threadIdx.x % COL_CHUNKS * ELEMENTS, own_depth = threadIdx.x / COL_CHUNKS;
    int y[ELEMENTS], x[ELEMENTS];
#pragma unroll
    for (int s = 0; s < ELEMENTS; s++) {
        const int place = first_col + own + s, line = place / places.wide;
        y[s] = place < places.of_image ? places.down.source(line, 0) : Places::OUTSIDE;
        x[s] = places.across.source(place % places.wide, 0);
    }
    const auto fetch_cols = [&](T *tile, int base) {
#pragma unroll
        for (int s = 0; s < Cols::DEPTH / THREAD_DEPTHS; s++) {
            const int d = own_depth + s * THREAD_DEPTHS, tap = (base + d) / INNER;
            const int tap_y = places.tap_y(tap), tap_x = places.tap_x(tap);
            const int64_t plane =
                image_element<true, FROM_PIXELS, INNER>(image, 0, (base + d) % INNER, 0);
            conv2d_fetch<1>(tile + Cols::at(own, d), source, [&](int i, int64_t &at) {
                at = plane + (y[i] + tap_y) * FROM_WIDTH + x[i] + tap_x;
                return base + d < depth && conv2d_inside(y[i] + tap_y, Places::FROM_HEIGHT) &&
                       conv2d_inside(x[i] + tap_x, FROM_WIDTH);
            });
        }
    };
    /* Forward, a filter's taps and channels are in memory in the order of the sum. */
    const auto fetch_rows = [&](T *tile, int base) {
#pragma unroll
        for (int e = threadIdx.x; e < ROWS * CHUNKS; e += THREADS) {
            const int d = BACKWARD ? e / ROW_CHUNKS : e % CHUNKS * ELEMENTS;
            const int row = BACKWARD ? e % ROW_CHUNKS * ELEMENTS : e / CHUNKS;
            const int64_t from = static_cast<int64_t>((base + d) % INNER) * TAPS +
                                 places.window_tap((base + d) / INNER);
            conv2d_fetch<WEIGHT_VECTOR>(tile + Rows::at(row, d), weight, [&](int i, int64_t &at) {
                const int place = base + d + (BACKWARD ? 0 : i);
                const int result = first_row + row + (BACKWARD ? i : 0);
                at = BACKWARD ? from * CHANNELS + result
                              : static_cast<int64_t>(result) * TAPS * CHANNELS + place;
                return place < depth && result < RESULTS;
            });
        }
    };
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp % 2 * (ROWS / 2), warp_col = warp / 2 * 32;
    float sums[ROW_TILES][4][4] = {};
    conv2d_product<T, Rows, Cols, Sizes::STAGES>(sums, warp_row, warp_col, 0, depth, fetch_rows,
                                                 fetch_cols);

#pragma unroll
    for (int n = 0; n < 4; n++)
#pragma unroll
        for (int j = 0; j < 2; j += OUT_VECTOR) {
            const int column = first_col + warp_col + n * 8 + lane % 4 * 2 + j;
            const int to_y = places.down.place(column / places.wide);
            const int to_x = places.across.place(column % places.wide);
#pragma unroll
            for (int r = 0; r < 2 * ROW_TILES; r++) {
                const int result = first_row + warp_row + r * 8 + lane / 4;
                const float *pair = &sums[r / 2][n][r % 2 * 2];
                const int64_t at = image_element<true, TO_PIXELS, RESULTS>(
                    image, to_y * TO_WIDTH + to_x, result, 0);
                if (result < RESULTS && column < places.of_image)
                    conv2d_store<ACCUMULATE, OUT_VECTOR>(out + at, pair[j], pair[1], OUT_VECTOR);
            }
        }
}
//@end

//@kernel gather_planes
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/conv2d_gather_planes/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ source,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ weight,
    /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ out) {
    struct Sizes {
        enum { HEIGHT = /*@height*/56/*@*/, WIDTH = /*@width*/56/*@*/ };
        enum { OUT_HEIGHT = /*@out_height*/56/*@*/, OUT_WIDTH = /*@out_width*/56/*@*/ };
        enum { CHANNELS = /*@channels*/64/*@*/, FILTERS = /*@filters*/128/*@*/ };
        enum { KERNEL = /*@size*/3/*@*/, STRIDE = /*@stride*/1/*@*/, PADDING = /*@padding*/1/*@*/ };
        enum { ROWS = /*@rows*/128/*@*/, COLS = /*@cols*/128/*@*/, STAGES = /*@stages*/4/*@*/ };
        enum { WEIGHT_VECTOR = /*@weight_vector*/8/*@*/, OUT_VECTOR = /*@out_vector*/2/*@*/ };
        enum { POOL = 1 };
    };
    constexpr bool BACKWARD = /*@backward*/false/*@*/, ACCUMULATE = /*@accumulate*/false/*@*/;
    conv2d_planes_tile</*@dtype*/__nv_bfloat16/*@*/, BACKWARD, ACCUMULATE, Sizes>(source, weight,
                                                                                 out);
}
//@end

//@body weight_grad
/* sums (filters x columns) of a tile of dw over the places from `begin` up to `end`, from image lines.
 * Columns are those of Conv2dLines: RUN per line. Neighbouring places have no neighbouring elements,
 * so pairs of columns are read, for two places each. Of 16 columns, sums[m][n] has the even ones for
 * even n, and the odd ones for odd n. */
template <class T, class Places, class Sizes, int ROW_TILES>
static __device__ __forceinline__ void
conv2d_dw_lines(float (&sums)[ROW_TILES][4][4], const T *x, const T *dy, int row, int col, int begin,
                int end) {
    using Lines = Conv2dLines<T, Places, Sizes>;
    using Rows = Conv2dTile<T, Sizes::ROWS, true>;
    constexpr int DEPTH = 128, ROW_CHUNKS = Sizes::ROWS / 8, THREADS = 2 * Sizes::COLS;
    constexpr int ROWS_SIZE = DEPTH * Rows::PITCH, SIZE = ROWS_SIZE + Sizes::LINES * Lines::PITCH;
    DYNAMIC_SHARED(T, tiles); /* [2][SIZE]: dy, and the lines */
    int *windows = reinterpret_cast<int *>(tiles + 2 * SIZE); /* [2][DEPTH]: of the places */
    const Places places(0);
    const int first_row = blockIdx.x * Sizes::ROWS, first_col = blockIdx.y * Sizes::COLS;
    const int lane = threadIdx.x % 32;
    int columns[2];
#pragma unroll
    for (int n = 0; n < 2; n++) {
        const int column = first_col + col + n * 16 + lane / 4 * 2;
        columns[n] = column < Lines::KERNEL * Lines::RUN
                         ? column / Lines::RUN * Lines::PITCH + column % Lines::RUN
                         : 0;
    }
    const auto fetch = [&](int step) {
        const int base = begin + step * DEPTH;
        T *tile = tiles + step % 2 * SIZE;
        const Lines lines(tile + ROWS_SIZE, places, base, end - 1);
        lines.fetch(x, base + DEPTH - 1);
        for (int d = threadIdx.x; d < DEPTH; d += THREADS)
            windows[step % 2 * DEPTH + d] = lines.window(base + d);
        for (int e = threadIdx.x; e < DEPTH * ROW_CHUNKS; e += THREADS) {
            const int d = e / ROW_CHUNKS, own = e % ROW_CHUNKS * 8, filter = first_row + own;
            conv2d_fetch<Sizes::DY_VECTOR>(tile + Rows::at(own, d), dy, [&](int i, int64_t &at) {
                at = (base + d) * int64_t{Sizes::DY_STRIDE} + filter + i;
                return base + d < end && filter + i < Sizes::FILTERS;
            });
        }
        cp_async_commit();
    };
    fetch(0);
    for (int step = 0; begin + step * DEPTH < end; step++) {
        cp_async_wait<0>();
        __syncthreads(); /* this step's tiles have arrived, the previous ones are free */
        if (begin + (step + 1) * DEPTH < end)
            fetch(step + 1);
        const T *tile = tiles + step % 2 * SIZE;
        const int *own = windows + step % 2 * DEPTH + lane % 4 * 2;
#pragma unroll 2
        for (int d = 0; d < DEPTH; d += 16) {
            unsigned a[ROW_TILES][4];
#pragma unroll
            for (int m = 0; m < ROW_TILES; m++)
                Rows::rows(a[m], tile + Rows::at(row + m * 16, d));
#pragma unroll
            for (int n = 0; n < 2; n++) {
                unsigned b[2][2]; /* of even columns, of odd ones */
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    const T *lines = tile + ROWS_SIZE + columns[n];
                    const unsigned first = Lines::pair(lines + own[d + k * 8]);
                    const unsigned second = Lines::pair(lines + own[d + k * 8 + 1]);
                    b[0][k] = (first & 0xffff) | second << 16;
                    b[1][k] = first >> 16 | (second & 0xffff0000);
                }
#pragma unroll
                for (int m = 0; m < ROW_TILES; m++) {
                    Conv2dMma<T>::multiply(sums[m][n * 2], a[m], b[0]);
                    Conv2dMma<T>::multiply(sums[m][n * 2 + 1], a[m], b[1]);
                }
            }
        }
    }
}

/* Computes one tile of dw, or of a part of it. */
template <class T, bool PLANES, bool ACCUMULATE, class Sizes, class G>
static __device__ __forceinline__ void conv2d_dw_tile(const T *__restrict__ x,
                                                      const T *__restrict__ dy,
                                                      G *__restrict__ dw) {
    constexpr int IMAGES = Sizes::IMAGES, HEIGHT = Sizes::HEIGHT, WIDTH = Sizes::WIDTH;
    constexpr int CHANNELS = Sizes::CHANNELS, FILTERS = Sizes::FILTERS;
    constexpr int KERNEL = Sizes::KERNEL, STRIDE = Sizes::STRIDE, PADDING = Sizes::PADDING;
    constexpr int64_t X_STRIDE = Sizes::X_STRIDE, DY_STRIDE = Sizes::DY_STRIDE;
    constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, PART_PLACES = Sizes::PART_PLACES;
    constexpr int SOURCE_VECTOR = Sizes::SOURCE_VECTOR, DY_VECTOR = Sizes::DY_VECTOR;
    constexpr int OUT_HEIGHT = Sizes::OUT_HEIGHT, OUT_WIDTH = Sizes::OUT_WIDTH;
    constexpr int IMAGE_PLACES = OUT_HEIGHT * OUT_WIDTH, PLACES = IMAGES * IMAGE_PLACES;
    using Places = Conv2dPlaces<false, Sizes>;
    using Lines = Conv2dLines<T, Places, Sizes>;
    constexpr bool BY_LINES = Sizes::LINES > 0;
    constexpr int COLUMNS = KERNEL * KERNEL * CHANNELS;
    constexpr int ROW_TILES = ROWS / 32, THREADS = 2 * COLS, ELEMENTS = 16 / sizeof(T);
    constexpr int CHUNKS = 4, ROW_CHUNKS = ROWS / ELEMENTS, COL_CHUNKS = COLS / ELEMENTS;
    /* Neighbours in memory are places with PLANES, else filters and channels. */
    using Rows = Conv2dTile<T, ROWS, !PLANES>;
    using Cols = Conv2dTile<T, COLS, !PLANES>;

    const WindowAxis<false, KERNEL, STRIDE, PADDING> axis(0);
    const int first_row = blockIdx.x * ROWS, first_col = blockIdx.y * COLS;
    const int begin = blockIdx.z * PART_PLACES;
    const int end = begin + PART_PLACES < PLACES ? begin + PART_PLACES : PLACES;

    const auto fetch_rows = [&](T *tile, int base) {
#pragma unroll
        for (int s = 0; s < Rows::DEPTH * ROW_CHUNKS / THREADS; s++) {
            const int e = threadIdx.x + s * THREADS;
            const int d = PLANES ? e % CHUNKS * ELEMENTS : e / ROW_CHUNKS;
            const int row = PLANES ? e / CHUNKS : e % ROW_CHUNKS * ELEMENTS;
            conv2d_fetch<DY_VECTOR>(tile + Rows::at(row, d), dy, [&](int i, int64_t &at) {
                const int place = base + d + (PLANES ? i : 0);
                const int filter = first_row + row + (PLANES ? 0 : i);
                at = image_element<PLANES, IMAGE_PLACES, FILTERS>(
                    place / IMAGE_PLACES, place % IMAGE_PLACES, filter, DY_STRIDE);
                return place < end && filter < FILTERS;
            });
        }
    };
    const auto fetch_cols = [&](T *tile, int base) {
#pragma unroll
        for (int s = 0; s < Cols::DEPTH * COL_CHUNKS / THREADS; s++) {
            const int e = threadIdx.x + s * THREADS;
            const int d = PLANES ? e % CHUNKS * ELEMENTS : e / COL_CHUNKS;
            const int col = PLANES ? e / CHUNKS : e % COL_CHUNKS * ELEMENTS;
            conv2d_fetch<SOURCE_VECTOR>(tile + Cols::at(col, d), x, [&](int i, int64_t &at) {
                const int place = base + d + (PLANES ? i : 0);
                const int column = first_col + col + (PLANES ? 0 : i), tap = column / CHANNELS;
                const int h = axis.source(place / OUT_WIDTH % OUT_HEIGHT, tap / KERNEL);
                const int w = axis.source(place % OUT_WIDTH, tap % KERNEL);
                at = image_element<PLANES, HEIGHT * WIDTH, CHANNELS>(
                    place / IMAGE_PLACES, h * WIDTH + w, column % CHANNELS, X_STRIDE);
                return place < end && column < COLUMNS && conv2d_inside(h, HEIGHT) &&
                       conv2d_inside(w, WIDTH);
            });
        }
    };
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp % 2 * (ROWS / 2), warp_col = warp / 2 * 32;
    float sums[ROW_TILES][4][4] = {};
    if constexpr (BY_LINES)
        conv2d_dw_lines<T, Places, Sizes>(sums, x, dy, warp_row, warp_col, begin, end);
    else
        conv2d_product<T, Rows, Cols, Sizes::STAGES>(sums, warp_row, warp_col, begin, end, fetch_rows,
                                                     fetch_cols);

#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        const int filter = first_row + warp_row + r * 8 + lane / 4;
        const int64_t row = static_cast<int64_t>(blockIdx.z) * FILTERS + filter;
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const int column = first_col + warp_col + n * 8 + lane % 4 * 2;
            const float *pair = &sums[r / 2][n][r % 2 * 2];
            if (filter < FILTERS && !BY_LINES)
                conv2d_store<ACCUMULATE, Sizes::OUT_VECTOR>(dw + row * COLUMNS + column, pair[0],
                                                            pair[1], COLUMNS - column);
#pragma unroll
            for (int j = 0; j < (BY_LINES ? 2 : 0); j++) {
                const int own = warp_col + n / 2 * 16 + lane % 4 * 4 + j * 2 + n % 2;
                const int line = (first_col + own) / Lines::RUN;
                const int along = (first_col + own) % Lines::RUN - Lines::LEAD;
                if (filter < FILTERS && line < KERNEL && conv2d_inside(along, Lines::SEEN))
                    conv2d_store<ACCUMULATE, 1>(dw + row * COLUMNS + line * Lines::SEEN + along,
                                                pair[j], 0, 1);
            }
        }
    }
}
//@end

//@kernel weight_grad
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/conv2d_weight_grad/*@*/(
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ x,
    const /*@dtype*/__nv_bfloat16/*@*/ *__restrict__ dy,
    /*@grad_dtype*/float/*@*/ *__restrict__ dw) {
    struct Sizes {
        enum { IMAGES = /*@images*/32/*@*/, HEIGHT = /*@height*/56/*@*/, WIDTH = /*@width*/56/*@*/ };
        enum { OUT_HEIGHT = /*@out_height*/56/*@*/, OUT_WIDTH = /*@out_width*/56/*@*/ };
        enum { CHANNELS = /*@channels*/64/*@*/, FILTERS = /*@filters*/128/*@*/ };
        enum { KERNEL = /*@size*/3/*@*/, STRIDE = /*@stride*/1/*@*/, PADDING = /*@padding*/1/*@*/ };
        enum { X_STRIDE = /*@source_stride*/64/*@*/, DY_STRIDE = /*@dy_stride*/128/*@*/ };
        enum { ROWS = /*@rows*/128/*@*/, COLS = /*@cols*/128/*@*/, STAGES = /*@stages*/4/*@*/ };
        enum { PART_PLACES = /*@part_places*/2048/*@*/, SOURCE_VECTOR = /*@source_vector*/8/*@*/ };
        enum { DY_VECTOR = /*@dy_vector*/8/*@*/, OUT_VECTOR = /*@out_vector*/2/*@*/ };
        enum { LINES = /*@lines*/0/*@*/, POOL = 1 };
    };
    constexpr bool PLANES = /*@planes*/false/*@*/, ACCUMULATE = /*@accumulate*/false/*@*/;
    conv2d_dw_tile</*@dtype*/__nv_bfloat16/*@*/, PLANES, ACCUMULATE, Sizes>(x, dy, dw);
}
//@end
