/* Convolutions of images with plain FMA, for fp32 and fp64 (16-bit storage works too).
 *
 *     forward      y[n,a,b,o]  = sum over u,v,i of x[n, aS - P + u, bS - P + v, i] w[o,u,v,i]
 *     input_grad   dx[n,h,w,i] = sum over o,u,v of dy[n, (h + P - u) / S, (w + P - v) / S, o]
 *                                                  w[o,u,v,i], where S divides
 *     weight_grad  dw[o,u,v,i] = sum over n,a,b of x[n, aS - P + u, bS - P + v, i] dy[n,a,b,o]
 *
 * with a window of K x K (`size`), stride S and padding P; pixels outside an image are zero.
 * Shapes, all row-major, rows of images in the order n, h, w:
 *     x, dx [images * height * width, channels]          w, dw [filters, K, K, channels] dense
 *     y, dy [images * out_height * out_width, filters]   out_height = (height + 2 P - K) / S + 1
 * x, y, dx and dy may have a row stride. If ACCUMULATE, the product is added to the old result.
 * In the planes layout, which is dense, x and dx are [images, channels, height * width], and y and
 * dy [images, filters, out_height * out_width]. A place is the position of a pixel.
 *
 * The kernels are matrix products whose operands are never materialized (implicit GEMM): their
 * elements are gathered on the way to shared memory.
 *
 * `gather` (forward, or input_grad if BACKWARD) has one row per place of the result and one column
 * per filter (channel), and sums over taps and channels (filters). Backward, blocks with the same z
 * compute the places of one phase (see WindowAxis), so the sums contain no taps that the stride
 * skips. The epilogue, which the plan fills in, says what becomes of each element of the result. It
 * has the element's `row` and column and its sum, tile.sum; its operands follow the two sources. If
 * `pool` is not 1 (forward only), a row is a window of pool * pool places. The rows of a tile are
 * then the places window by window, so that a thread has all places of a window. Places of the
 * result that no whole window covers are not computed.
 *
 * `gather_planes` is for planes. For each image it has one row per filter (channel) and one column
 * per place, so that neighbouring threads read and write neighbouring pixels.
 *
 * `weight_grad` is for both layouts. It has one row per filter and one column per tap and channel,
 * and sums over places. Part z of the places goes to dw + z * elements of dw; several parts leave
 * partial sums, which conv2d_parts.cu adds up.
 *
 * Launch geometry: rows a multiple of 8, cols of 4, depth 16, threads = rows * cols / 32
 *     gather       forward   grid (ceil(rows of y / rows), ceil(filters / cols));
 *                            with a pool, only the rows of y under windows
 *                  backward  grid (ceil(R / rows), ceil(channels / cols), S * S),
 *                            R = images * ceil(height / S) * ceil(width / S)
 *     gather_planes  grid (images * Z * ceil(P / cols), ceil(filters / rows)); forward P = places of
 *                  an image of y, Z = 1; backward channels for filters, Z = S * S, P = R / images.
 *                  rows a multiple of 32
 *     weight_grad  grid (ceil(filters / rows), ceil(K * K * channels / cols), parts)
 *                  part_places = ceil(places / parts), no part empty
 * FLOPs: 2 * places of y * elements of w, for each kernel. Bytes: a block reads the sources of its
 * rows that are inside the image, for all taps, and its columns of w (weight_grad: its columns of
 * dy and of the gathered x); results are written once, and read before if they accumulate.
 *
 * A thread computes 8 x 4 sums; its epilogue handles `vector` elements of a row at a time. Every
 * sum runs in a fixed order; there are no atomics. */
#include "conv2d_windows.cuh"
#include "runtime/kernel.cuh"

//@prelude conv2d_windows.cuh

//@prelude
static constexpr int CONV2D_ROWS = 8, CONV2D_COLS = 4; /* per thread */

/* The tiles of one step; in both the depth is the outer dimension. The padding leaves fewer bank
 * conflicts. */
template <class Sizes, class A> struct Conv2dTiles {
    static constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, DEPTH = Sizes::DEPTH;
    static constexpr int THREADS = ROWS * COLS / (CONV2D_ROWS * CONV2D_COLS);
    alignas(16) A rows[DEPTH][ROWS + 4];
    alignas(16) A cols[DEPTH][COLS + 4];

    /* The first row and column of a thread's sums. */
    __device__ static int own_row() { return threadIdx.x / (COLS / CONV2D_COLS) * CONV2D_ROWS; }
    __device__ static int own_col() { return threadIdx.x % (COLS / CONV2D_COLS) * CONV2D_COLS; }
};

/* sums += rows^T cols over the inner dimension from `begin` up to `end`, in steps of DEPTH;
 * fetch(base) fills the tiles of the step that starts at `base`. */
template <class Sizes, class A, class Fetch>
static __device__ __forceinline__ void conv2d_product(A (&sums)[CONV2D_ROWS][CONV2D_COLS],
                                                      const Conv2dTiles<Sizes, A> &tiles, int begin,
                                                      int end, const Fetch &fetch) {
    const int own_row = tiles.own_row(), own_col = tiles.own_col();
    for (int base = begin; base < end; base += Sizes::DEPTH) {
        fetch(base);
        __syncthreads();
#pragma unroll 4
        for (int d = 0; d < Sizes::DEPTH; d++) {
            const Vec<A, CONV2D_ROWS> a = load_vec<CONV2D_ROWS>(tiles.rows[d] + own_row);
            const Vec<A, CONV2D_COLS> b = load_vec<CONV2D_COLS>(tiles.cols[d] + own_col);
#pragma unroll
            for (int i = 0; i < CONV2D_ROWS; i++)
#pragma unroll
                for (int j = 0; j < CONV2D_COLS; j++)
                    sums[i][j] = fma(a[i], b[j], sums[i][j]);
        }
        __syncthreads();
    }
}

/* Stores a sum, added to the old value if ACCUMULATE. */
template <bool ACCUMULATE, class T, class A>
static __device__ __forceinline__ void conv2d_store(T *to, A sum) {
    *to = convert<T>(ACCUMULATE ? convert<A>(*to) + sum : sum);
}
//@end

//@body gather
/* The product of a gather kernel, with the sums of one thread. Each of its OWN_ROWS rows is a place
 * of the result or, if POOL > 1, a window of POOL * POOL places; it has VECTORS vectors of VECTOR
 * elements. Sizes has the constants that differ from kernel to kernel. */
template <class T, class A, bool BACKWARD, class Sizes> struct Conv2dGather {
    using Places = Conv2dPlaces<BACKWARD, Sizes>;
    using Tiles = Conv2dTiles<Sizes, A>;
    static constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, DEPTH = Sizes::DEPTH;
    static constexpr int WINDOW = Places::WINDOW, OWN_ROWS = CONV2D_ROWS / WINDOW;
    static constexpr int COLUMNS = Places::RESULTS;
    static constexpr int VECTOR = Sizes::VECTOR, VECTORS = CONV2D_COLS / VECTOR;

    const Places places = Places(blockIdx.z);
    const int tile_row = blockIdx.x * ROWS, tile_col = blockIdx.y * COLS;
    const int own_row = (tile_row + Tiles::own_row()) / WINDOW;
    const int own_col = tile_col + Tiles::own_col();
    A sums[CONV2D_ROWS][CONV2D_COLS] = {};

    __device__ __forceinline__ void multiply(const T *source, const T *weight, Tiles &tiles);

    __device__ __forceinline__ bool empty() const { return !has_row(0) || column(0) >= COLUMNS; }
    __device__ __forceinline__ bool has_row(int r) const {
        return own_row + r < places.count() / WINDOW;
    }
    /* This thread's row r, as a row of the result. */
    __device__ __forceinline__ int row(int r) const { return places.result_row(own_row + r); }
    /* The first column of its vector c. */
    __device__ __forceinline__ int column(int c) const { return own_col + c * VECTOR; }
    /* The sum for element j of vector c in row r; in a window, for its place k. */
    __device__ __forceinline__ A sum(int r, int c, int j) const { return sum(r, 0, c, j); }
    __device__ __forceinline__ A sum(int r, int k, int c, int j) const {
        return sums[r * WINDOW + k][c * VECTOR + j];
    }
};

template <class T, class A, bool BACKWARD, class Sizes>
__device__ __forceinline__ void
Conv2dGather<T, A, BACKWARD, Sizes>::multiply(const T *__restrict__ source,
                                              const T *__restrict__ weight, Tiles &tiles) {
    if (tile_row >= places.count())
        return; /* only larger phases have this tile */
    constexpr int64_t SOURCE_STRIDE = Sizes::SOURCE_STRIDE;
    constexpr int INNER = Places::INNER, CHANNELS = Places::CHANNELS, KERNEL = Places::KERNEL;
    constexpr int THREAD_ROWS = Tiles::THREADS / DEPTH; /* loaded by all threads at a time */
    static_assert(Tiles::THREADS % DEPTH == 0 && ROWS % THREAD_ROWS == 0,
                  "a thread brings one depth");

    const int own_depth = threadIdx.x % DEPTH, own = threadIdx.x / DEPTH, depth = places.depth();
    const Conv2dSources<Places, ROWS / THREAD_ROWS, THREAD_ROWS> sources(places, tile_row + own);
    conv2d_product(sums, tiles, 0, depth, [&](int base) {
        const int place = base + own_depth, tap = place / INNER, inner = place % INNER;
        const int tap_y = places.tap_y(tap), tap_x = places.tap_x(tap);
#pragma unroll
        for (int s = 0; s < ROWS / THREAD_ROWS; s++) {
            const bool inside = sources.inside(s, tap_y, tap_x) && place < depth;
            const int64_t at = sources.pixel(s, tap_y, tap_x) * SOURCE_STRIDE + inner;
            tiles.rows[own_depth][own + s * THREAD_ROWS] = inside ? convert<A>(source[at]) : A(0);
        }
        const int window_tap = places.window_tap(tap);
        for (int col = own; col < COLS; col += THREAD_ROWS) {
            const int column = tile_col + col;
            const int64_t filter = BACKWARD ? inner : column, channel = BACKWARD ? column : inner;
            const bool inside = place < depth && column < COLUMNS;
            const int64_t at = (filter * KERNEL * KERNEL + window_tap) * CHANNELS + channel;
            tiles.cols[own_depth][col] = inside ? convert<A>(weight[at]) : A(0);
        }
    });
}
//@end

//@kernel gather
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/) /*@kernel*/conv2d_gather/*@*/(
    const /*@dtype*/float/*@*/ *__restrict__ source,
    const /*@dtype*/float/*@*/ *__restrict__ weight,
    /*@operands*/float *__restrict__ out/*@*/) {
    struct Sizes {
        enum { IMAGES = /*@images*/8/*@*/, HEIGHT = /*@height*/28/*@*/, WIDTH = /*@width*/28/*@*/ };
        enum { OUT_HEIGHT = /*@out_height*/28/*@*/, OUT_WIDTH = /*@out_width*/28/*@*/ };
        enum { CHANNELS = /*@channels*/32/*@*/, FILTERS = /*@filters*/64/*@*/ };
        enum { KERNEL = /*@size*/3/*@*/, STRIDE = /*@stride*/1/*@*/, PADDING = /*@padding*/1/*@*/ };
        enum { POOL = /*@pool*/1/*@*/, SOURCE_STRIDE = /*@source_stride*/32/*@*/ };
        enum { ROWS = /*@rows*/128/*@*/, COLS = /*@cols*/64/*@*/, DEPTH = /*@depth*/16/*@*/ };
        enum { VECTOR = /*@vector*/4/*@*/ };
    };
    using A = /*@acc*/float/*@*/;
    SHARED Conv2dTiles<Sizes, A> tiles;
    Conv2dGather</*@dtype*/float/*@*/, A, /*@backward*/false/*@*/, Sizes> tile;
    tile.multiply(source, weight, tiles);
    if (tile.empty())
        return;
/*@columns*//*@*/#pragma unroll
    for (int r = 0; r < tile.OWN_ROWS; r++) {
        if (!tile.has_row(r))
            continue;
        const /*@index*/int/*@*/ row = tile.row(r);
/*@row*/        for (int j = 0; j < 4; j++)
            out[row * tile.COLUMNS + tile.column(0) + j] = tile.sum(r, 0, j);
/*@*/    }
}
//@end

//@body gather_planes
/* Computes one tile of the result of a gather_planes kernel. */
template <bool BACKWARD, bool ACCUMULATE, class Sizes, class T, class A>
static __device__ __forceinline__ void conv2d_planes_tile(const T *__restrict__ source,
                                                          const T *__restrict__ weight,
                                                          T *__restrict__ out,
                                                          Conv2dTiles<Sizes, A> &tiles) {
    using Places = Conv2dPlaces<BACKWARD, Sizes>;
    using Tiles = Conv2dTiles<Sizes, A>;
    constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, DEPTH = Sizes::DEPTH;
    constexpr int THREAD_ROWS = Tiles::THREADS / DEPTH, THREAD_DEPTHS = Tiles::THREADS / COLS;
    constexpr int INNER = Places::INNER, RESULTS = Places::RESULTS, CHANNELS = Places::CHANNELS;
    constexpr int KERNEL = Places::KERNEL, FROM_WIDTH = Places::FROM_WIDTH;
    constexpr int FROM_PIXELS = Places::FROM_HEIGHT * FROM_WIDTH;
    constexpr int TO_WIDTH = Places::TO_WIDTH, TO_PIXELS = Places::TO_HEIGHT * TO_WIDTH;
    constexpr int PHASES = Places::Axis::PHASES;                       /* per direction */
    constexpr int HIGHEST = (Places::TO_HEIGHT + PHASES - 1) / PHASES; /* over the phases */
    constexpr int WIDEST = (TO_WIDTH + PHASES - 1) / PHASES;
    constexpr int TILES = (HIGHEST * WIDEST + COLS - 1) / COLS;
    static_assert(Tiles::THREADS % COLS == 0 && ROWS % THREAD_ROWS == 0,
                  "a thread brings one place");

    const int image = blockIdx.x / TILES / (PHASES * PHASES);
    const Places places(blockIdx.x / TILES % (PHASES * PHASES));
    const int first_row = blockIdx.y * ROWS, first_col = blockIdx.x % TILES * COLS;
    if (first_col >= places.of_image)
        return; /* only larger phases have this tile */

    const int loaded_col = threadIdx.x % COLS, loaded_place = first_col + loaded_col;
    const int loaded_depth = threadIdx.x % DEPTH, loaded_row = threadIdx.x / DEPTH;
    const int depth = places.depth();
    A sums[CONV2D_ROWS][CONV2D_COLS] = {};
    conv2d_product(sums, tiles, 0, depth, [&](int base) {
#pragma unroll 4
        for (int d = threadIdx.x / COLS; d < DEPTH; d += THREAD_DEPTHS) {
            const int tap = (base + d) / INNER, inner = (base + d) % INNER;
            const int h = places.down.source(loaded_place / places.wide, tap / places.across.taps);
            const int w =
                places.across.source(loaded_place % places.wide, tap % places.across.taps);
            const bool inside = base + d < depth && loaded_place < places.of_image &&
                                conv2d_inside(h, Places::FROM_HEIGHT) &&
                                conv2d_inside(w, FROM_WIDTH);
            const int64_t at =
                image_element<true, FROM_PIXELS, INNER>(image, h * FROM_WIDTH + w, inner, 0);
            tiles.cols[d][loaded_col] = inside ? convert<A>(source[at]) : A(0);
        }
        const int place = base + loaded_depth, inner = place % INNER;
        const int window_tap = places.window_tap(place / INNER);
#pragma unroll
        for (int row = loaded_row; row < ROWS; row += THREAD_ROWS) {
            const int result = first_row + row;
            const int64_t filter = BACKWARD ? inner : result, channel = BACKWARD ? result : inner;
            const int64_t at = (filter * KERNEL * KERNEL + window_tap) * CHANNELS + channel;
            const bool inside = place < depth && result < RESULTS;
            tiles.rows[loaded_depth][row] = inside ? convert<A>(weight[at]) : A(0);
        }
    });

#pragma unroll
    for (int j = 0; j < CONV2D_COLS; j++) {
        const int column = first_col + Tiles::own_col() + j;
        const int y = places.down.place(column / places.wide);
        const int x = places.across.place(column % places.wide);
#pragma unroll
        for (int i = 0; i < CONV2D_ROWS; i++) {
            const int result = first_row + Tiles::own_row() + i;
            const int64_t at =
                image_element<true, TO_PIXELS, RESULTS>(image, y * TO_WIDTH + x, result, 0);
            if (result < RESULTS && column < places.of_image)
                conv2d_store<ACCUMULATE>(out + at, sums[i][j]);
        }
    }
}
//@end

//@kernel gather_planes
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/conv2d_gather_planes/*@*/(
    const /*@dtype*/float/*@*/ *__restrict__ source,
    const /*@dtype*/float/*@*/ *__restrict__ weight,
    /*@dtype*/float/*@*/ *__restrict__ out) {
    struct Sizes {
        enum { HEIGHT = /*@height*/28/*@*/, WIDTH = /*@width*/28/*@*/ };
        enum { OUT_HEIGHT = /*@out_height*/28/*@*/, OUT_WIDTH = /*@out_width*/28/*@*/ };
        enum { CHANNELS = /*@channels*/32/*@*/, FILTERS = /*@filters*/64/*@*/ };
        enum { KERNEL = /*@size*/3/*@*/, STRIDE = /*@stride*/1/*@*/, PADDING = /*@padding*/1/*@*/ };
        enum { ROWS = /*@rows*/64/*@*/, COLS = /*@cols*/128/*@*/, DEPTH = /*@depth*/16/*@*/ };
        enum { POOL = 1 };
    };
    using A = /*@acc*/float/*@*/;
    constexpr bool BACKWARD = /*@backward*/false/*@*/, ACCUMULATE = /*@accumulate*/false/*@*/;
    SHARED Conv2dTiles<Sizes, A> tiles;
    conv2d_planes_tile<BACKWARD, ACCUMULATE>(source, weight, out, tiles);
}
//@end

//@body weight_grad
/* Computes one tile of dw, or of a part of it. */
template <bool PLANES, bool ACCUMULATE, class Sizes, class T, class G, class A>
static __device__ __forceinline__ void conv2d_dw_tile(const T *__restrict__ x,
                                                      const T *__restrict__ dy, G *__restrict__ dw,
                                                      Conv2dTiles<Sizes, A> &tiles) {
    constexpr int IMAGES = Sizes::IMAGES, HEIGHT = Sizes::HEIGHT, WIDTH = Sizes::WIDTH;
    constexpr int CHANNELS = Sizes::CHANNELS, FILTERS = Sizes::FILTERS;
    constexpr int KERNEL = Sizes::KERNEL, STRIDE = Sizes::STRIDE, PADDING = Sizes::PADDING;
    constexpr int64_t X_STRIDE = Sizes::X_STRIDE, DY_STRIDE = Sizes::DY_STRIDE;
    constexpr int PART_PLACES = Sizes::PART_PLACES;
    constexpr int OUT_HEIGHT = Sizes::OUT_HEIGHT, OUT_WIDTH = Sizes::OUT_WIDTH;
    constexpr int IMAGE_PLACES = OUT_HEIGHT * OUT_WIDTH, PLACES = IMAGES * IMAGE_PLACES;
    constexpr int COLUMNS = KERNEL * KERNEL * CHANNELS;
    using Tiles = Conv2dTiles<Sizes, A>;
    constexpr int ROWS = Tiles::ROWS, COLS = Tiles::COLS, DEPTH = Tiles::DEPTH;

    const WindowAxis<false, KERNEL, STRIDE, PADDING> axis(0);
    const int first_row = blockIdx.x * ROWS, first_col = blockIdx.y * COLS;
    const int begin = blockIdx.z * PART_PLACES;
    const int end = begin + PART_PLACES < PLACES ? begin + PART_PLACES : PLACES;

    A sums[CONV2D_ROWS][CONV2D_COLS] = {};
    conv2d_product(sums, tiles, begin, end, [&](int base) {
#pragma unroll 4
        for (int e = threadIdx.x; e < DEPTH * ROWS; e += Tiles::THREADS) {
            const int d = PLANES ? e % DEPTH : e / ROWS, row = PLANES ? e / DEPTH : e % ROWS;
            const int place = base + d, filter = first_row + row;
            const int64_t at = image_element<PLANES, IMAGE_PLACES, FILTERS>(
                place / IMAGE_PLACES, place % IMAGE_PLACES, filter, DY_STRIDE);
            tiles.rows[d][row] = place < end && filter < FILTERS ? convert<A>(dy[at]) : A(0);
        }
#pragma unroll 4
        for (int e = threadIdx.x; e < DEPTH * COLS; e += Tiles::THREADS) {
            const int d = PLANES ? e % DEPTH : e / COLS, col = PLANES ? e / DEPTH : e % COLS;
            const int place = base + d, column = first_col + col, tap = column / CHANNELS;
            const int h = axis.source(place / OUT_WIDTH % OUT_HEIGHT, tap / KERNEL);
            const int w = axis.source(place % OUT_WIDTH, tap % KERNEL);
            const bool inside = place < end && column < COLUMNS && conv2d_inside(h, HEIGHT) &&
                                conv2d_inside(w, WIDTH);
            const int64_t at = image_element<PLANES, HEIGHT * WIDTH, CHANNELS>(
                place / IMAGE_PLACES, h * WIDTH + w, column % CHANNELS, X_STRIDE);
            tiles.cols[d][col] = inside ? convert<A>(x[at]) : A(0);
        }
    });

#pragma unroll
    for (int i = 0; i < CONV2D_ROWS; i++)
#pragma unroll
        for (int j = 0; j < CONV2D_COLS; j++) {
            const int64_t filter = first_row + Tiles::own_row() + i;
            const int64_t column = first_col + Tiles::own_col() + j;
            const int64_t at = (blockIdx.z * FILTERS + filter) * COLUMNS + column;
            if (filter < FILTERS && column < COLUMNS)
                conv2d_store<ACCUMULATE>(dw + at, sums[i][j]);
        }
}
//@end

//@kernel weight_grad
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/)
/*@kernel*/conv2d_weight_grad/*@*/(
    const /*@dtype*/float/*@*/ *__restrict__ x, const /*@dtype*/float/*@*/ *__restrict__ dy,
    /*@grad_dtype*/float/*@*/ *__restrict__ dw) {
    struct Sizes {
        enum { IMAGES = /*@images*/8/*@*/, HEIGHT = /*@height*/28/*@*/, WIDTH = /*@width*/28/*@*/ };
        enum { OUT_HEIGHT = /*@out_height*/28/*@*/, OUT_WIDTH = /*@out_width*/28/*@*/ };
        enum { CHANNELS = /*@channels*/32/*@*/, FILTERS = /*@filters*/64/*@*/ };
        enum { KERNEL = /*@size*/3/*@*/, STRIDE = /*@stride*/1/*@*/, PADDING = /*@padding*/1/*@*/ };
        enum { X_STRIDE = /*@source_stride*/32/*@*/, DY_STRIDE = /*@dy_stride*/64/*@*/ };
        enum { ROWS = /*@rows*/64/*@*/, COLS = /*@cols*/128/*@*/, DEPTH = /*@depth*/16/*@*/ };
        enum { PART_PLACES = /*@part_places*/1568/*@*/ };
    };
    using A = /*@acc*/float/*@*/;
    constexpr bool PLANES = /*@planes*/false/*@*/, ACCUMULATE = /*@accumulate*/false/*@*/;
    SHARED Conv2dTiles<Sizes, A> tiles;
    conv2d_dw_tile<PLANES, ACCUMULATE>(x, dy, dw, tiles);
}
//@end
