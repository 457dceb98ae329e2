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

/* sums += rows^T cols over DEPTH; in both tiles the depth is the outer dimension. */
template <int DEPTH, int ROW_PITCH, int COL_PITCH, class A>
static __device__ __forceinline__ void conv2d_multiply(A (&sums)[CONV2D_ROWS][CONV2D_COLS],
                                                       const A *rows, const A *cols) {
#pragma unroll 4
    for (int d = 0; d < DEPTH; d++) {
        const Vec<A, CONV2D_ROWS> a = load_vec<CONV2D_ROWS>(rows + d * ROW_PITCH);
        const Vec<A, CONV2D_COLS> b = load_vec<CONV2D_COLS>(cols + d * COL_PITCH);
#pragma unroll
        for (int i = 0; i < CONV2D_ROWS; i++)
#pragma unroll
            for (int j = 0; j < CONV2D_COLS; j++)
                sums[i][j] = fma(a[i], b[j], sums[i][j]);
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
    static constexpr int IMAGES = Sizes::IMAGES, HEIGHT = Sizes::HEIGHT, WIDTH = Sizes::WIDTH;
    static constexpr int CHANNELS = Sizes::CHANNELS, FILTERS = Sizes::FILTERS;
    static constexpr int KERNEL = Sizes::KERNEL, STRIDE = Sizes::STRIDE, PADDING = Sizes::PADDING;
    static constexpr int POOL = Sizes::POOL, WINDOW = POOL * POOL;
    static constexpr int64_t SOURCE_STRIDE = Sizes::SOURCE_STRIDE;
    static constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, DEPTH = Sizes::DEPTH;
    static constexpr int VECTOR = Sizes::VECTOR, VECTORS = CONV2D_COLS / VECTOR;
    static constexpr int OWN_ROWS = CONV2D_ROWS / WINDOW;
    static constexpr int ROW_PITCH = ROWS + 4, COL_PITCH = COLS + 4; /* fewer bank conflicts */
    static constexpr int OUT_HEIGHT = Sizes::OUT_HEIGHT, OUT_WIDTH = Sizes::OUT_WIDTH;
    static constexpr int FROM_HEIGHT = BACKWARD ? OUT_HEIGHT : HEIGHT;
    static constexpr int FROM_WIDTH = BACKWARD ? OUT_WIDTH : WIDTH;
    static constexpr int TO_HEIGHT = BACKWARD ? HEIGHT : OUT_HEIGHT / POOL * POOL;
    static constexpr int TO_WIDTH = BACKWARD ? WIDTH : OUT_WIDTH / POOL * POOL;
    static constexpr int INNER = BACKWARD ? FILTERS : CHANNELS;
    static constexpr int COLUMNS = BACKWARD ? CHANNELS : FILTERS;
    using Axis = WindowAxis<BACKWARD, KERNEL, STRIDE, PADDING>;

    const Axis down = Axis(blockIdx.z / Axis::PHASES), across = Axis(blockIdx.z % Axis::PHASES);
    const int high = down.places(TO_HEIGHT), wide = across.places(TO_WIDTH);
    const int tile_row = blockIdx.x * ROWS, tile_col = blockIdx.y * COLS;
    const int thread_row = threadIdx.x / (COLS / CONV2D_COLS) * CONV2D_ROWS;
    const int thread_col = threadIdx.x % (COLS / CONV2D_COLS) * CONV2D_COLS;
    A sums[CONV2D_ROWS][CONV2D_COLS] = {};

    /* `rows` and `cols` are DEPTH * ROW_PITCH and DEPTH * COL_PITCH elements of shared memory. */
    __device__ __forceinline__ void multiply(const T *source, const T *weight, A *rows, A *cols);

    /* Which place of the images the product's row `row` is. */
    __device__ __forceinline__ int image_row(int row) const {
        if (POOL == 1)
            return row;
        const int in_window = row % WINDOW, window = row / WINDOW;
        const int y = window / (wide / POOL) * POOL + in_window / POOL;
        return y * wide + window % (wide / POOL) * POOL + in_window % POOL;
    }
    /* Rows of the product from this thread's first one on. */
    __device__ __forceinline__ int rows_left() const {
        return IMAGES * high * wide - tile_row - thread_row;
    }
    __device__ __forceinline__ bool empty() const {
        return rows_left() <= 0 || column(0) >= COLUMNS;
    }
    __device__ __forceinline__ bool has_row(int r) const { return r * WINDOW < rows_left(); }

    /* This thread's row r, as a row of the result. */
    __device__ __forceinline__ int row(int r) const {
        const int own = (tile_row + thread_row) / WINDOW + r;
        if (Axis::PHASES == 1)
            return own;
        const int y = down.place(own / wide % high), x = across.place(own % wide);
        return (own / (high * wide) * TO_HEIGHT + y) * TO_WIDTH + x;
    }
    /* The first column of its vector c. */
    __device__ __forceinline__ int column(int c) const { return tile_col + thread_col + c * VECTOR; }
    /* The sum for element j of vector c in row r; in a window, for its place k. */
    __device__ __forceinline__ A sum(int r, int c, int j) const { return sum(r, 0, c, j); }
    __device__ __forceinline__ A sum(int r, int k, int c, int j) const {
        return sums[r * WINDOW + k][c * VECTOR + j];
    }
};

template <class T, class A, bool BACKWARD, class Sizes>
__device__ __forceinline__ void
Conv2dGather<T, A, BACKWARD, Sizes>::multiply(const T *__restrict__ source,
                                              const T *__restrict__ weight, A *rows, A *cols) {
    if (tile_row >= IMAGES * high * wide)
        return; /* only larger phases have this tile */
    constexpr int THREADS = ROWS * COLS / (CONV2D_ROWS * CONV2D_COLS);
    constexpr int THREAD_ROWS = THREADS / DEPTH; /* loaded by all threads at a time */
    static_assert(THREADS % DEPTH == 0 && ROWS % THREAD_ROWS == 0, "a thread brings one depth");

    /* The rows that this thread loads: the image of each and the place in it. */
    const int own_depth = threadIdx.x % DEPTH, own = threadIdx.x / DEPTH;
    int image[ROWS / THREAD_ROWS], y[ROWS / THREAD_ROWS], x[ROWS / THREAD_ROWS];
#pragma unroll
    for (int s = 0; s < ROWS / THREAD_ROWS; s++) {
        const int row = image_row(tile_row + own + s * THREAD_ROWS);
        image[s] = row / (high * wide);
        y[s] = row / wide % high;
        x[s] = row % wide;
    }

    const int depth = down.taps * across.taps * INNER;
    for (int base = 0; base < depth; base += DEPTH) {
        const int place = base + own_depth, tap = place / INNER, inner = place % INNER;
        const int tap_y = tap / across.taps, tap_x = tap % across.taps;
#pragma unroll
        for (int s = 0; s < ROWS / THREAD_ROWS; s++) {
            const int h = down.source(y[s], tap_y), w = across.source(x[s], tap_x);
            const bool inside = place < depth && image[s] < IMAGES && h >= 0 && h < FROM_HEIGHT &&
                                w >= 0 && w < FROM_WIDTH;
            const int64_t pixel = (image[s] * FROM_HEIGHT + h) * FROM_WIDTH + w;
            rows[own_depth * ROW_PITCH + own + s * THREAD_ROWS] =
                inside ? convert<A>(source[pixel * SOURCE_STRIDE + inner]) : A(0);
        }
        const int window_tap = down.tap(tap_y) * KERNEL + across.tap(tap_x);
        for (int col = own; col < COLS; col += THREAD_ROWS) {
            const int column = tile_col + col;
            const int64_t filter = BACKWARD ? inner : column, channel = BACKWARD ? column : inner;
            const bool inside = place < depth && column < COLUMNS;
            const int64_t at = (filter * KERNEL * KERNEL + window_tap) * CHANNELS + channel;
            cols[own_depth * COL_PITCH + col] = inside ? convert<A>(weight[at]) : A(0);
        }
        __syncthreads();
        conv2d_multiply<DEPTH, ROW_PITCH, COL_PITCH>(sums, rows + thread_row, cols + thread_col);
        __syncthreads();
    }
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
    using Tile = Conv2dGather</*@dtype*/float/*@*/, A, /*@backward*/false/*@*/, Sizes>;
    alignas(16) SHARED A rows[Tile::DEPTH * Tile::ROW_PITCH];
    alignas(16) SHARED A cols[Tile::DEPTH * Tile::COL_PITCH];
    Tile tile;
    tile.multiply(source, weight, rows, cols);
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
/* Computes one tile of the result of a gather_planes kernel. `row_tile` and `col_tile` are shared
 * memory, DEPTH * (ROWS + 4) and DEPTH * (COLS + 4) elements. */
template <bool BACKWARD, bool ACCUMULATE, class Sizes, class T, class A>
static __device__ __forceinline__ void
conv2d_planes_tile(const T *__restrict__ source, const T *__restrict__ weight, T *__restrict__ out,
                   A *row_tile, A *col_tile) {
    constexpr int HEIGHT = Sizes::HEIGHT, WIDTH = Sizes::WIDTH;
    constexpr int CHANNELS = Sizes::CHANNELS, FILTERS = Sizes::FILTERS;
    constexpr int KERNEL = Sizes::KERNEL, STRIDE = Sizes::STRIDE, PADDING = Sizes::PADDING;
    constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, DEPTH = Sizes::DEPTH;
    constexpr int THREADS = ROWS * COLS / (CONV2D_ROWS * CONV2D_COLS);
    constexpr int THREAD_ROWS = THREADS / DEPTH, THREAD_DEPTHS = THREADS / COLS;
    constexpr int ROW_PITCH = ROWS + 4, COL_PITCH = COLS + 4;
    constexpr int OUT_HEIGHT = Sizes::OUT_HEIGHT, OUT_WIDTH = Sizes::OUT_WIDTH;
    constexpr int FROM_HEIGHT = BACKWARD ? OUT_HEIGHT : HEIGHT;
    constexpr int FROM_WIDTH = BACKWARD ? OUT_WIDTH : WIDTH;
    constexpr int TO_HEIGHT = BACKWARD ? HEIGHT : OUT_HEIGHT;
    constexpr int TO_WIDTH = BACKWARD ? WIDTH : OUT_WIDTH;
    constexpr int INNER = BACKWARD ? FILTERS : CHANNELS, RESULTS = BACKWARD ? CHANNELS : FILTERS;
    using Axis = WindowAxis<BACKWARD, KERNEL, STRIDE, PADDING>;
    constexpr int PHASES = Axis::PHASES * Axis::PHASES;
    constexpr int HIGHEST = (TO_HEIGHT + Axis::PHASES - 1) / Axis::PHASES; /* over the phases */
    constexpr int WIDEST = (TO_WIDTH + Axis::PHASES - 1) / Axis::PHASES;
    constexpr int TILES = (HIGHEST * WIDEST + COLS - 1) / COLS;
    static_assert(THREADS % COLS == 0 && ROWS % THREAD_ROWS == 0, "a thread brings one place");

    const int image = blockIdx.x / TILES / PHASES, phase = blockIdx.x / TILES % PHASES;
    const Axis down(phase / Axis::PHASES), across(phase % Axis::PHASES);
    const int wide = across.places(TO_WIDTH), places = down.places(TO_HEIGHT) * wide;
    const int first_row = blockIdx.y * ROWS, first_col = blockIdx.x % TILES * COLS;
    if (first_col >= places)
        return; /* only larger phases have this tile */

    const int own_col = threadIdx.x % COLS, own_place = first_col + own_col;
    const int own_depth = threadIdx.x % DEPTH, own_row = threadIdx.x / DEPTH;
    A sums[CONV2D_ROWS][CONV2D_COLS] = {};
    const int thread_row = threadIdx.x / (COLS / CONV2D_COLS) * CONV2D_ROWS;
    const int thread_col = threadIdx.x % (COLS / CONV2D_COLS) * CONV2D_COLS;
    const int depth = down.taps * across.taps * INNER;
    for (int base = 0; base < depth; base += DEPTH) {
#pragma unroll 4
        for (int d = threadIdx.x / COLS; d < DEPTH; d += THREAD_DEPTHS) {
            const int tap = (base + d) / INNER, inner = (base + d) % INNER;
            const int h = down.source(own_place / wide, tap / across.taps);
            const int w = across.source(own_place % wide, tap % across.taps);
            const bool inside = base + d < depth && own_place < places && h >= 0 &&
                                h < FROM_HEIGHT && w >= 0 && w < FROM_WIDTH;
            const int64_t at = image_element<true, FROM_HEIGHT * FROM_WIDTH, INNER>(
                image, h * FROM_WIDTH + w, inner, 0);
            col_tile[d * COL_PITCH + own_col] = inside ? convert<A>(source[at]) : A(0);
        }
        const int tap = (base + own_depth) / INNER, inner = (base + own_depth) % INNER;
        const int window_tap = down.tap(tap / across.taps) * KERNEL + across.tap(tap % across.taps);
#pragma unroll
        for (int row = own_row; row < ROWS; row += THREAD_ROWS) {
            const int result = first_row + row;
            const int64_t filter = BACKWARD ? inner : result, channel = BACKWARD ? result : inner;
            const int64_t at = (filter * KERNEL * KERNEL + window_tap) * CHANNELS + channel;
            const bool inside = base + own_depth < depth && result < RESULTS;
            row_tile[own_depth * ROW_PITCH + row] = inside ? convert<A>(weight[at]) : A(0);
        }
        __syncthreads();
        conv2d_multiply<DEPTH, ROW_PITCH, COL_PITCH>(sums, row_tile + thread_row,
                                                     col_tile + thread_col);
        __syncthreads();
    }

#pragma unroll
    for (int j = 0; j < CONV2D_COLS; j++) {
        const int column = first_col + thread_col + j;
        const int to_y = down.place(column / wide), to_x = across.place(column % wide);
#pragma unroll
        for (int i = 0; i < CONV2D_ROWS; i++) {
            const int result = first_row + thread_row + i;
            const int64_t at = image_element<true, TO_HEIGHT * TO_WIDTH, RESULTS>(
                image, to_y * TO_WIDTH + to_x, result, 0);
            if (result < RESULTS && column < places)
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
    };
    using A = /*@acc*/float/*@*/;
    constexpr bool BACKWARD = /*@backward*/false/*@*/, ACCUMULATE = /*@accumulate*/false/*@*/;
    alignas(16) SHARED A rows[Sizes::DEPTH * (Sizes::ROWS + 4)];
    alignas(16) SHARED A cols[Sizes::DEPTH * (Sizes::COLS + 4)];
    conv2d_planes_tile<BACKWARD, ACCUMULATE, Sizes>(source, weight, out, rows, cols);
}
//@end

//@body weight_grad
/* Computes one tile of dw, or of a part of it. `row_tile` and `col_tile` are shared memory,
 * DEPTH * (ROWS + 4) and DEPTH * (COLS + 4) elements. */
template <bool PLANES, bool ACCUMULATE, class Sizes, class T, class G, class A>
static __device__ __forceinline__ void conv2d_dw_tile(const T *__restrict__ x,
                                                      const T *__restrict__ dy, G *__restrict__ dw,
                                                      A *row_tile, A *col_tile) {
    constexpr int IMAGES = Sizes::IMAGES, HEIGHT = Sizes::HEIGHT, WIDTH = Sizes::WIDTH;
    constexpr int CHANNELS = Sizes::CHANNELS, FILTERS = Sizes::FILTERS;
    constexpr int KERNEL = Sizes::KERNEL, STRIDE = Sizes::STRIDE, PADDING = Sizes::PADDING;
    constexpr int64_t X_STRIDE = Sizes::X_STRIDE, DY_STRIDE = Sizes::DY_STRIDE;
    constexpr int ROWS = Sizes::ROWS, COLS = Sizes::COLS, DEPTH = Sizes::DEPTH;
    constexpr int PART_PLACES = Sizes::PART_PLACES;
    constexpr int THREADS = ROWS * COLS / (CONV2D_ROWS * CONV2D_COLS);
    constexpr int ROW_PITCH = ROWS + 4, COL_PITCH = COLS + 4;
    constexpr int OUT_HEIGHT = Sizes::OUT_HEIGHT, OUT_WIDTH = Sizes::OUT_WIDTH;
    constexpr int IMAGE_PLACES = OUT_HEIGHT * OUT_WIDTH, PLACES = IMAGES * IMAGE_PLACES;
    constexpr int COLUMNS = KERNEL * KERNEL * CHANNELS;

    const WindowAxis<false, KERNEL, STRIDE, PADDING> axis(0);
    const int first_row = blockIdx.x * ROWS, first_col = blockIdx.y * COLS;
    const int begin = blockIdx.z * PART_PLACES;
    const int end = begin + PART_PLACES < PLACES ? begin + PART_PLACES : PLACES;

    A sums[CONV2D_ROWS][CONV2D_COLS] = {};
    const int thread_row = threadIdx.x / (COLS / CONV2D_COLS) * CONV2D_ROWS;
    const int thread_col = threadIdx.x % (COLS / CONV2D_COLS) * CONV2D_COLS;
    for (int base = begin; base < end; base += DEPTH) {
#pragma unroll 4
        for (int e = threadIdx.x; e < DEPTH * ROWS; e += THREADS) {
            const int d = PLANES ? e % DEPTH : e / ROWS, row = PLANES ? e / DEPTH : e % ROWS;
            const int place = base + d, filter = first_row + row;
            const int64_t at = image_element<PLANES, IMAGE_PLACES, FILTERS>(
                place / IMAGE_PLACES, place % IMAGE_PLACES, filter, DY_STRIDE);
            row_tile[d * ROW_PITCH + row] =
                place < end && filter < FILTERS ? convert<A>(dy[at]) : A(0);
        }
#pragma unroll 4
        for (int e = threadIdx.x; e < DEPTH * COLS; e += THREADS) {
            const int d = PLANES ? e % DEPTH : e / COLS, col = PLANES ? e / DEPTH : e % COLS;
            const int place = base + d, column = first_col + col, tap = column / CHANNELS;
            const int h = axis.source(place / OUT_WIDTH % OUT_HEIGHT, tap / KERNEL);
            const int w = axis.source(place % OUT_WIDTH, tap % KERNEL);
            const bool inside =
                place < end && column < COLUMNS && h >= 0 && h < HEIGHT && w >= 0 && w < WIDTH;
            const int64_t at = image_element<PLANES, HEIGHT * WIDTH, CHANNELS>(
                place / IMAGE_PLACES, h * WIDTH + w, column % CHANNELS, X_STRIDE);
            col_tile[d * COL_PITCH + col] = inside ? convert<A>(x[at]) : A(0);
        }
        __syncthreads();
        conv2d_multiply<DEPTH, ROW_PITCH, COL_PITCH>(sums, row_tile + thread_row,
                                                     col_tile + thread_col);
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < CONV2D_ROWS; i++)
#pragma unroll
        for (int j = 0; j < CONV2D_COLS; j++) {
            const int64_t filter = first_row + thread_row + i, column = first_col + thread_col + j;
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
    alignas(16) SHARED A rows[Sizes::DEPTH * (Sizes::ROWS + 4)];
    alignas(16) SHARED A cols[Sizes::DEPTH * (Sizes::COLS + 4)];
    conv2d_dw_tile<PLANES, ACCUMULATE, Sizes>(x, dy, dw, rows, cols);
}
//@end
