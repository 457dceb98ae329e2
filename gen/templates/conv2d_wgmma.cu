/* Convolutions of images on Hopper's tensor cores (wgmma, sm_90a), for bf16 and fp16: the same products
 * of gathered matrices as in conv2d_fma.cu, whose head comment has the formulas and shapes. Channels and
 * filters are multiples of 8, and runs of 8 of them start at multiples of 16 bytes. Sums are fp32.
 *
 * Launch geometry: rows 64 or 128, threads = 2 * rows, cols 32 (gather only), 64 or 128, stages >= 2,
 *     grid as in conv2d_fma.cu
 *     shared 1024 + stages * (rows + cols) * 128 bytes; in gather at least 1024 + rows * (cols + 8) * 4
 * FLOPs, bytes and the epilogue are those of conv2d_fma.cu; the epilogue's `vector` divides 8.
 *
 * A warpgroup computes 64 rows and all columns of a tile. Tiles are 64 deep and copied to shared memory
 * by cp.async, stages - 1 steps ahead; taps outside an image are filled with zeros. While a block waits
 * for its products, the tensor cores run those of the multiprocessor's other blocks. The results of
 * gather are exchanged through shared memory, so that a thread has 8 neighbours of a row. Every sum runs
 * in a fixed order; there are no atomics. */
#include "conv2d_tiles.cuh"
#include "runtime/kernel.cuh"
#include "wgmma.cuh"

//@prelude conv2d_tiles.cuh
//@prelude wgmma.cuh

//@prelude
/* The warpgroup that a thread belongs to; all threads of a warp know that they agree on it. */
static __device__ __forceinline__ int own_warpgroup() {
    return warp_shfl(static_cast<int>(threadIdx.x / 128), 0);
}

/* Where 16 bytes of a tile of Flat panels are: row `place`, from column `col` on. */
template <class Panels> static __device__ __forceinline__ int conv2d_in_panels(int place, int col) {
    constexpr int COLUMNS = Panels::COLUMNS;
    return (col / COLUMNS * PANEL + place) * COLUMNS +
           swizzled<COLUMNS>(place, col % COLUMNS / 8) * 8;
}

/* sums += rows . columns over the inner dimension from `begin` up to `end`. A and B say how the two
 * operands lie. Their tiles of STAGES steps are a ring in shared memory: fetch_rows(tile, base) and
 * fetch_cols(tile, base) begin to copy those of the step that starts at `base`, STAGES - 1 steps
 * before their product. */
template <class A, class B, int STAGES, int ROWS, int COLS, class T, class FetchRows, class FetchCols>
static __device__ __forceinline__ void
conv2d_warpgroup_product(float (&sums)[COLS / 8][4], T *tiles, int begin, int end,
                         const FetchRows &fetch_rows, const FetchCols &fetch_cols) {
    constexpr int DEPTH = PANEL;
    constexpr int A_NEXT = A::FLAT ? A::COLUMNS : 1, B_NEXT = B::FLAT ? B::COLUMNS : 1;
    T *row_tiles = tiles;                         /* [STAGES][ROWS * DEPTH] */
    T *col_tiles = tiles + STAGES * ROWS * DEPTH; /* [STAGES][COLS * DEPTH] */
    const int warpgroup_row = own_warpgroup() * 64;
    const auto fetch = [&](int step) {
        if (begin + step * DEPTH < end) {
            fetch_rows(row_tiles + step % STAGES * ROWS * DEPTH, begin + step * DEPTH);
            fetch_cols(col_tiles + step % STAGES * COLS * DEPTH, begin + step * DEPTH);
        }
        cp_async_commit();
    };
#pragma unroll 1
    for (int step = 0; step < STAGES - 1; step++)
        fetch(step);
#pragma unroll 1
    for (int step = 0; begin + step * DEPTH < end; step++) {
        cp_async_wait<STAGES - 2>();
        fence_tiles();
        __syncthreads(); /* this step's tiles have arrived, the previous ones are free */
        const Operand<T> rows = row_tiles + (step % STAGES * ROWS + warpgroup_row) * DEPTH;
        const Operand<T> cols = col_tiles + step % STAGES * COLS * DEPTH;
        wgmma_begin();
#pragma unroll
        for (int d = 0; d < DEPTH; d += 16)
            wgmma<A, B>(sums, rows.after(d * A_NEXT), cols.after(d * B_NEXT));
        wgmma_commit();
        fetch(step + STAGES - 1);
        wgmma_wait<0>(sums);
    }
}
//@end

//@body gather
/* How the columns of a gather's product lie in a tile. */
template <bool BACKWARD, int DEPTH, int PANEL_COLS> struct GatheredColumns : Deep {};
template <int DEPTH, int PANEL_COLS>
struct GatheredColumns<true, DEPTH, PANEL_COLS> : Flat<DEPTH, PANEL_COLS> {};

/* The product of a gather kernel. Each of a thread's OWN_ROWS rows is a place of the result or, if
 * POOL > 1, a window of POOL * POOL places; it has VECTORS vectors of VECTOR elements. Sizes has the
 * constants that differ from kernel to kernel. */
template <class T, bool BACKWARD, class Sizes> struct Conv2dWarpgroups {
    using Places = Conv2dPlaces<BACKWARD, Sizes>;
    static constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, WINDOW = Places::WINDOW;
    static constexpr int THREADS = 2 * ROWS, PITCH = COLS + 8; /* of the exchanged sums */
    static constexpr int ROW_THREADS = COLS / 8, AT_ONCE = THREADS / ROW_THREADS;
    static constexpr int TILE_ROWS = ROWS / WINDOW, OWN_ROWS = (TILE_ROWS + AT_ONCE - 1) / AT_ONCE;
    static constexpr int COLUMNS = Places::RESULTS;
    static constexpr int VECTOR = Sizes::VECTOR, VECTORS = 8 / VECTOR;

    const Places places = Places(blockIdx.z);
    const int tile_row = blockIdx.x * ROWS, tile_col = blockIdx.y * COLS;
    const int first_row = threadIdx.x / ROW_THREADS, first_col = threadIdx.x % ROW_THREADS * 8;
    float *exchanged = nullptr; /* [ROWS][PITCH] */
    alignas(16) float sums[WINDOW][8];

    __device__ __forceinline__ void multiply(const T *source, const T *weight);
    __device__ __forceinline__ void exchange(const float (&products)[COLS / 8][4]);

    /* A thread has every AT_ONCE-th row (window) of the tile: these are left from its first one on. */
    __device__ __forceinline__ int rows_left() const {
        const int left = (places.count() - tile_row) / WINDOW;
        return (left < TILE_ROWS ? left : TILE_ROWS) - first_row;
    }
    __device__ __forceinline__ bool empty() const {
        return rows_left() <= 0 || column(0) >= COLUMNS;
    }
    __device__ __forceinline__ bool has_row(int r) const { return r * AT_ONCE < rows_left(); }

    /* This thread's row r, as a row of the result; sum() is that of the row taken last. */
    __device__ __forceinline__ int take_row(int r) {
        const int in_tile = first_row + r * AT_ONCE, own = tile_row / WINDOW + in_tile;
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            store_vec(sums[k], load_vec<8>(exchanged + (in_tile * WINDOW + k) * PITCH + first_col));
        return places.result_row(own);
    }
    /* The first column of its vector c. */
    __device__ __forceinline__ int column(int c) const { return tile_col + first_col + c * VECTOR; }
    /* The sum for element j of vector c; in a window, for its place k. */
    __device__ __forceinline__ float sum(int, int c, int j) const { return sums[0][c * VECTOR + j]; }
    __device__ __forceinline__ float sum(int, int k, int c, int j) const {
        return sums[k][c * VECTOR + j];
    }
};

template <class T, bool BACKWARD, class Sizes>
__device__ __forceinline__ void
Conv2dWarpgroups<T, BACKWARD, Sizes>::multiply(const T *__restrict__ source,
                                               const T *__restrict__ weight) {
    if (tile_row >= places.count())
        return; /* only larger phases have this tile */
    constexpr int TAPS = Places::KERNEL * Places::KERNEL, INNER = Places::INNER, DEPTH = PANEL;
    constexpr int CHANNELS = Places::CHANNELS, FILTERS = Places::FILTERS;
    constexpr int64_t SOURCE_STRIDE = Sizes::SOURCE_STRIDE;
    constexpr int CHUNKS = DEPTH / 8, ROUND = THREADS / CHUNKS; /* deep rows copied at a time */
    constexpr int PANEL_COLS = BACKWARD && COLS < PANEL ? PANEL / 2 : PANEL;
    using Cols = GatheredColumns<BACKWARD, DEPTH, PANEL_COLS>;
    DYNAMIC_SHARED(T, shared);
    T *tiles = aligned_tiles(shared);
    exchanged = reinterpret_cast<float *>(tiles);

    const int chunk = threadIdx.x % CHUNKS, own = threadIdx.x / CHUNKS, depth = places.depth();
    const int own_place = own * DEPTH + swizzled<PANEL>(own, chunk) * 8;
    const Conv2dSources<Places, ROWS / ROUND, ROUND> sources(places, tile_row + own);
    const auto fetch_rows = [&](T *tile, int base) {
        const int place = base + chunk * 8, tap = place / INNER;
        const int tap_y = places.tap_y(tap), tap_x = places.tap_x(tap);
#pragma unroll
        for (int s = 0; s < ROWS / ROUND; s++) {
            const bool inside = sources.inside(s, tap_y, tap_x) && place < depth;
            const int64_t from = sources.pixel(s, tap_y, tap_x) * SOURCE_STRIDE + place % INNER;
            cp_async_16(tile + own_place + s * ROUND * DEPTH, source + (inside ? from : 0), inside);
        }
    };
    /* Forward, a filter's taps and channels are in memory in the order of the sum. */
    const auto fetch_cols = [&](T *tile, int base) {
        if constexpr (!BACKWARD) {
            const int place = base + chunk * 8;
#pragma unroll
            for (int s = 0; s < (COLS + ROUND - 1) / ROUND; s++) {
                const int col = own + s * ROUND, filter = tile_col + col;
                const bool inside = place < depth && filter < FILTERS;
                const int64_t from = static_cast<int64_t>(filter) * TAPS * CHANNELS + place;
                if (COLS % ROUND == 0 || col < COLS)
                    cp_async_16(tile + own_place + s * ROUND * DEPTH, weight + (inside ? from : 0),
                                inside);
            }
        } else {
            constexpr int COL_CHUNKS = COLS / 8, AT_ONCE = THREADS / COL_CHUNKS;
            const int col = threadIdx.x % COL_CHUNKS * 8, channel = tile_col + col;
#pragma unroll
            for (int s = 0; s < DEPTH / AT_ONCE; s++) {
                const int d = threadIdx.x / COL_CHUNKS + s * AT_ONCE, place = base + d;
                const int64_t row =
                    static_cast<int64_t>(place % INNER) * TAPS + places.window_tap(place / INNER);
                const bool inside = place < depth && channel < CHANNELS;
                cp_async_16(tile + conv2d_in_panels<Cols>(d, col),
                            weight + (inside ? row * CHANNELS + channel : 0), inside);
            }
        }
    };
    float products[COLS / 8][4] = {}; /* phases without a tap keep zeros */
    conv2d_warpgroup_product<Deep, Cols, Sizes::STAGES, ROWS, COLS>(products, tiles, 0, depth,
                                                                    fetch_rows, fetch_cols);
    exchange(products);
}

/* Passes sums from the lanes that have computed them to the threads that take them. */
template <class T, bool BACKWARD, class Sizes>
__device__ __forceinline__ void
Conv2dWarpgroups<T, BACKWARD, Sizes>::exchange(const float (&products)[COLS / 8][4]) {
    const int lane = threadIdx.x % 32;
    float *own = exchanged + (threadIdx.x / 32 * 16 + lane / 4) * PITCH + lane % 4 * 2;
    __syncthreads(); /* no tile is read any longer */
#pragma unroll
    for (int n = 0; n < COLS / 8; n++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const Vec<float, 2> pair = {products[n][half * 2], products[n][half * 2 + 1]};
            store_vec(own + half * 8 * PITCH + n * 8, pair);
        }
    __syncthreads();
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
        enum { ROWS = /*@rows*/128/*@*/, COLS = /*@cols*/128/*@*/, STAGES = /*@stages*/3/*@*/ };
        enum { VECTOR = /*@vector*/8/*@*/ };
    };
    Conv2dWarpgroups</*@dtype*/__nv_bfloat16/*@*/, /*@backward*/false/*@*/, Sizes> tile;
    tile.multiply(source, weight);
    if (tile.empty())
        return;
/*@columns*//*@*/#pragma unroll 4
    for (int r = 0; r < tile.OWN_ROWS; r++) {
        if (!tile.has_row(r))
            continue;
        const /*@index*/int/*@*/ row = tile.take_row(r);
/*@row*/        for (int c = 0; c < tile.VECTORS; c++)
            for (int j = 0; j < 8; j++)
                out[row * tile.COLUMNS + tile.column(c) + j] =
                    convert<__nv_bfloat16>(tile.sum(r, c, j));
/*@*/    }
}
//@end

//@body weight_grad
/* Computes one tile of dw, or of a part of it. */
template <class T, bool ACCUMULATE, class Sizes, class G>
static __device__ __forceinline__ void conv2d_dw_warpgroups(const T *__restrict__ x,
                                                            const T *__restrict__ dy,
                                                            G *__restrict__ dw) {
    constexpr int IMAGES = Sizes::IMAGES, HEIGHT = Sizes::HEIGHT, WIDTH = Sizes::WIDTH;
    constexpr int CHANNELS = Sizes::CHANNELS, FILTERS = Sizes::FILTERS;
    constexpr int KERNEL = Sizes::KERNEL, STRIDE = Sizes::STRIDE, PADDING = Sizes::PADDING;
    constexpr int64_t X_STRIDE = Sizes::X_STRIDE, DY_STRIDE = Sizes::DY_STRIDE;
    constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS;
    constexpr int PART_PLACES = Sizes::PART_PLACES, OUT_VECTOR = Sizes::OUT_VECTOR;
    constexpr int OUT_HEIGHT = Sizes::OUT_HEIGHT, OUT_WIDTH = Sizes::OUT_WIDTH;
    constexpr int IMAGE_PLACES = OUT_HEIGHT * OUT_WIDTH, PLACES = IMAGES * IMAGE_PLACES;
    constexpr int COLUMNS = KERNEL * KERNEL * CHANNELS;                     /* of dw */
    constexpr int THREADS = 2 * ROWS, DEPTH = PANEL;                        /* places of a step */
    constexpr int ROW_CHUNKS = ROWS / 8, ROW_PLACES = THREADS / ROW_CHUNKS; /* copied at a time */
    constexpr int COL_CHUNKS = COLS / 8, COL_PLACES = THREADS / COL_CHUNKS;
    using Panels = Flat<DEPTH>;
    DYNAMIC_SHARED(T, shared);

    const WindowAxis<false, KERNEL, STRIDE, PADDING> axis(0);
    const int first_row = blockIdx.x * ROWS, first_col = blockIdx.y * COLS;
    const int begin = blockIdx.z * PART_PLACES;
    const int end = begin + PART_PLACES < PLACES ? begin + PART_PLACES : PLACES;

    /* Of the filters, and of the columns of dw, this thread copies 8 neighbours at each place. */
    const int own_row = threadIdx.x % ROW_CHUNKS * 8, filter = first_row + own_row;
    const int own_col = threadIdx.x % COL_CHUNKS * 8, column = first_col + own_col;
    const int tap_y = column / CHANNELS / KERNEL, tap_x = column / CHANNELS % KERNEL;
    const auto fetch_rows = [&](T *tile, int base) {
#pragma unroll
        for (int s = 0; s < DEPTH / ROW_PLACES; s++) {
            const int d = threadIdx.x / ROW_CHUNKS + s * ROW_PLACES, place = base + d;
            const bool inside = place < end && filter < FILTERS;
            cp_async_16(tile + conv2d_in_panels<Panels>(d, own_row),
                        dy + (inside ? place * DY_STRIDE + filter : 0), inside);
        }
    };
    const auto fetch_cols = [&](T *tile, int base) {
#pragma unroll
        for (int s = 0; s < DEPTH / COL_PLACES; s++) {
            const int d = threadIdx.x / COL_CHUNKS + s * COL_PLACES, place = base + d;
            const int h = axis.source(place / OUT_WIDTH % OUT_HEIGHT, tap_y);
            const int w = axis.source(place % OUT_WIDTH, tap_x);
            const int64_t pixel = (place / IMAGE_PLACES * HEIGHT + h) * WIDTH + w;
            const bool inside = place < end && column < COLUMNS && conv2d_inside(h, HEIGHT) &&
                                conv2d_inside(w, WIDTH);
            cp_async_16(tile + conv2d_in_panels<Panels>(d, own_col),
                        x + (inside ? pixel * X_STRIDE + column % CHANNELS : 0), inside);
        }
    };
    float sums[COLS / 8][4] = {};
    conv2d_warpgroup_product<Panels, Panels, Sizes::STAGES, ROWS, COLS>(
        sums, aligned_tiles(shared), begin, end, fetch_rows, fetch_cols);

    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int result = first_row + threadIdx.x / 32 * 16 + half * 8 + lane / 4;
        const int64_t row = static_cast<int64_t>(blockIdx.z) * FILTERS + result;
#pragma unroll
        for (int n = 0; n < COLS / 8; n++) {
            const int col = first_col + n * 8 + lane % 4 * 2;
            if (result < FILTERS)
                conv2d_store<ACCUMULATE, OUT_VECTOR>(dw + row * COLUMNS + col, sums[n][half * 2],
                                                     sums[n][half * 2 + 1], COLUMNS - col);
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
        enum { ROWS = /*@rows*/128/*@*/, COLS = /*@cols*/128/*@*/, STAGES = /*@stages*/3/*@*/ };
        enum { PART_PLACES = /*@part_places*/2048/*@*/, OUT_VECTOR = /*@out_vector*/2/*@*/ };
    };
    constexpr bool ACCUMULATE = /*@accumulate*/false/*@*/;
    conv2d_dw_warpgroups</*@dtype*/__nv_bfloat16/*@*/, ACCUMULATE, Sizes>(x, dy, dw);
}
//@end
