/* The 22 kernels of cnn.
 *
 * All extents and strides are constants; matrices are row-major. A kernel's name has
 * the first three kinds of its ops, and their shape. The comment before it has all
 * kinds and their shape; the spec key that the first op comes from, unless that has
 * its default value or half of the kernels come from it; and of the first launch,
 * DRAM bytes, issued bytes, which its threads request and caches partly have, and
 * FLOPs, as in plan.txt. Parameters are named after the values of the kernel's first
 * launch, which in a loop of program.c is that of the first round; program.c may have
 * shorter names for them. A kernel that is filled into a template has the template's
 * names, and its shape in its own name. NAME_v is what was loaded from NAME, NAME_value
 * a single number, NAME_row one of a row, NAME_j one of an element, NAME_rounded one
 * that was rounded as for memory.
 * If several kernels would have the same name, all but the first have a suffix that
 * says what differs (_v2: constants, or the formula, of the same kinds and operands).
 *
 * Kernels that differ only in constants share a function, NAME_body or part of a
 * template, and list those that are whole numbers in Sizes. In NAME_body, arguments
 * are named after what their kernels' names have in common; if that is nothing, it
 * reads x and writes y. Without a template, ROWS and COLS are the shape that the
 * comment gives; in a template, tile.COLUMNS are the columns of its result. STRIDE is
 * the distance between a matrix's rows, if it is not COLS; NAME_STRIDE, that of NAME,
 * if a kernel has several or one element is for several columns: for PER_BYTE of a
 * mask, for a RUN of others. A block has WARPS rows, one per warp; or it
 * is a worker, which adds up ROWS_PER_WORKER rows, PARTS at a time, with LANES
 * threads each, or PARTS times ROWS_PER_TURN neighbours, whose windows share what they
 * read of a line, x_0_v. A thread has CHUNKS vectors of a row. PLACES and WIDTH are an
 * image's pixels and row length; FROM_HEIGHT and FROM_WIDTH belong to the image that a
 * window reads. A mean is over COUNT numbers. */
#include "runtime/kernel.cuh"

/* One axis of a convolution, indexed by the positions it writes. Forward, position i reads source
 * STRIDE * i - PADDING + tap for KERNEL taps. Backward (the gradient of the input), positions are
 * grouped into phases by their remainder modulo STRIDE. Positions of one phase use the same taps,
 * every STRIDE-th, and consecutive ones read consecutive sources, so no tap is tested in vain.
 * Sources may be outside the image. */
template <bool BACKWARD, int KERNEL, int STRIDE, int PADDING> struct WindowAxis {
    static constexpr int PHASES = BACKWARD ? STRIDE : 1;
    int phase, first_tap, taps, origin;

    __device__ explicit WindowAxis(int phase)
        : phase(PHASES == 1 ? 0 : phase),
          first_tap(BACKWARD ? (this->phase + PADDING) % STRIDE : 0),
          taps((KERNEL - first_tap + PHASES - 1) / PHASES),
          origin(BACKWARD ? (this->phase + PADDING - first_tap) / STRIDE : -PADDING) {}

    /* Of `size` positions on the axis: how many have this phase, and which one is number i of
     * them. */
    __device__ int places(int size) const { return (size - phase + PHASES - 1) / PHASES; }
    __device__ int place(int i) const { return i * PHASES + phase; }

    /* Which source tap number t of position number i reads, and which of the KERNEL taps it is. */
    __device__ int source(int i, int t) const {
        return BACKWARD ? origin + i - t : origin + i * STRIDE + t;
    }
    __device__ int tap(int t) const { return first_tap + t * PHASES; }
};

/* 0 <= i < size, with one comparison. */
static __device__ __forceinline__ bool conv2d_inside(int i, int size) {
    return static_cast<unsigned>(i) < static_cast<unsigned>(size);
}

/* The places that a gather computes in one phase, and what they read. Sizes has the constants that
 * differ from kernel to kernel. If POOL > 1, only whole windows of POOL * POOL places count. Rows of
 * the product are then places window by window, with TOGETHER windows interleaved: the first place
 * of each, then the second of each, and so on. */
template <bool BACKWARD, class Sizes, int TOGETHER = 1> struct Conv2dPlaces {
    static constexpr int HEIGHT = Sizes::HEIGHT, OUT_HEIGHT = Sizes::OUT_HEIGHT;
    static constexpr int WIDTH = Sizes::WIDTH, OUT_WIDTH = Sizes::OUT_WIDTH;
    static constexpr int CHANNELS = Sizes::CHANNELS, FILTERS = Sizes::FILTERS;
    static constexpr int KERNEL = Sizes::KERNEL, POOL = Sizes::POOL, WINDOW = POOL * POOL;
    static constexpr int FROM_HEIGHT = BACKWARD ? OUT_HEIGHT : HEIGHT;
    static constexpr int FROM_WIDTH = BACKWARD ? OUT_WIDTH : WIDTH;
    static constexpr int TO_HEIGHT = BACKWARD ? HEIGHT : OUT_HEIGHT / POOL * POOL;
    static constexpr int TO_WIDTH = BACKWARD ? WIDTH : OUT_WIDTH / POOL * POOL;
    static constexpr int INNER = BACKWARD ? FILTERS : CHANNELS;   /* per pixel of the source */
    static constexpr int RESULTS = BACKWARD ? CHANNELS : FILTERS; /* per place */
    static constexpr int TOWARDS = BACKWARD ? -1 : 1; /* direction in which the next tap reads */
    static constexpr int OUTSIDE = -KERNEL;           /* if tap 0 reads there, no tap is inside */
    using Axis = WindowAxis<BACKWARD, KERNEL, Sizes::STRIDE, Sizes::PADDING>;

    const Axis down, across;
    const int high, wide, of_image; /* lines of places, places per line and per image */

    __device__ explicit Conv2dPlaces(unsigned phase)
        : down(phase / Axis::PHASES), across(phase % Axis::PHASES), high(down.places(TO_HEIGHT)),
          wide(across.places(TO_WIDTH)), of_image(high * wide) {}

    __device__ int count() const { return Sizes::IMAGES * of_image; }
    __device__ int place_of_row(int row) const {
        if (POOL == 1)
            return row;
        const int in_window = row / TOGETHER % WINDOW;
        const int window = row / (TOGETHER * WINDOW) * TOGETHER + row % TOGETHER;
        const int y = window / (wide / POOL) * POOL + in_window / POOL;
        return y * wide + window % (wide / POOL) * POOL + in_window % POOL;
    }
    /* Which row of the result is place (window) i. */
    __device__ int result_row(int i) const {
        if (Axis::PHASES == 1)
            return i;
        const int image = i / of_image, in_image = i % of_image;
        const int y = down.place(in_image / wide), x = across.place(in_image % wide);
        return (image * TO_HEIGHT + y) * TO_WIDTH + x;
    }

    /* What a result sums over: taps, and for each tap the source's channels (filters). */
    __device__ int depth() const { return down.taps * across.taps * INNER; }
    /* Which of the KERNEL * KERNEL taps is number `tap`, and how far from tap 0 it reads. */
    __device__ int window_tap(int tap) const {
        return down.tap(tap / across.taps) * KERNEL + across.tap(tap % across.taps);
    }
    __device__ int tap_y(int tap) const { return tap / across.taps * TOWARDS; }
    __device__ int tap_x(int tap) const { return tap % across.taps * TOWARDS; }
};

/* What COUNT rows of a gather's product read, each APART rows after the one before: the pixel of
 * tap 0, as an index and as y, x. */
template <class Places, int COUNT, int APART> struct Conv2dSources {
    int index[COUNT], y[COUNT], x[COUNT];

    __device__ __forceinline__ Conv2dSources(const Places &places, int first_row) {
#pragma unroll
        for (int s = 0; s < COUNT; s++) {
            const int place = places.place_of_row(first_row + s * APART);
            const int image = place / places.of_image, in_image = place % places.of_image;
            y[s] = places.down.source(in_image / places.wide, 0);
            x[s] = places.across.source(in_image % places.wide, 0);
            index[s] = (image * Places::FROM_HEIGHT + y[s]) * Places::FROM_WIDTH + x[s];
            if (place >= places.count())
                y[s] = Places::OUTSIDE;
        }
    }
    /* The pixel that a tap of row s reads, and whether the image has it. */
    __device__ __forceinline__ int64_t pixel(int s, int tap_y, int tap_x) const {
        return index[s] + tap_y * Places::FROM_WIDTH + tap_x;
    }
    __device__ __forceinline__ bool inside(int s, int tap_y, int tap_x) const {
        return conv2d_inside(y[s] + tap_y, Places::FROM_HEIGHT) &&
               conv2d_inside(x[s] + tap_x, Places::FROM_WIDTH);
    }
};

/* Index of channel c of one pixel (`place`) of an image. PLANES: the layout is [image][c][place];
 * otherwise [image][place][c], with pixels `stride` elements apart. */
template <bool PLANES, int PLACES, int CHANNELS>
static __device__ __forceinline__ int64_t image_element(int image, int place, int c, int64_t stride) {
    return PLANES ? (static_cast<int64_t>(image) * CHANNELS + c) * PLACES + place
                  : (static_cast<int64_t>(image) * PLACES + place) * stride + c;
}

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

/* `sums` has room for [SHARES][COLS]. */
template <bool ACCUMULATE, class Sizes, class A, class G>
static __device__ __forceinline__ void conv2d_add_parts(const A *__restrict__ partial,
                                                        G *__restrict__ dw, A *sums) {
    constexpr int PARTS = Sizes::PARTS, SHARES = Sizes::SHARES;
    constexpr int PART_COUNT = (PARTS + SHARES - 1) / SHARES, COLS = Sizes::THREADS / SHARES;
    constexpr int64_t ELEMENTS = Sizes::ELEMENTS;
    const int share = threadIdx.x / COLS, col = threadIdx.x % COLS;
    const int64_t element = static_cast<int64_t>(blockIdx.x) * COLS + col;
    const int first = share * PART_COUNT;
    A sum = 0;
#pragma unroll 8
    for (int part = first; part < first + PART_COUNT; part++)
        if (part < PARTS && element < ELEMENTS)
            sum += partial[part * ELEMENTS + element];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (share > 0 || element >= ELEMENTS)
        return;
#pragma unroll
    for (int other = 1; other < SHARES; other++)
        sum += sums[other * COLS + col];
    dw[element] = convert<G>(ACCUMULATE ? convert<A>(dw[element]) + sum : sum);
}

/* image_input over [1, 576]
 * from model.image_size; 560 bytes DRAM, 5.62 KiB issued, 14.4 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(160) image_input_576(
    const uint8_t *__restrict__ pixels, const float *__restrict__ image_mean,
    const float *__restrict__ image_std, float *__restrict__ images) {
    constexpr int PLACES = 144, WIDTH = 12, FROM_HEIGHT = 14, FROM_WIDTH = 10, ELEMENTS = 576;
    constexpr float H_SCALE = 1.16666667f, W_SCALE = 0.8333333f;
    const int i = threadIdx.x * 4;
    if (i >= ELEMENTS)
        return;
    const float image_mean_value = image_mean[0];
    const float image_std_value = image_std[0];
    Vec<float, 4> images_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int place = (i + j) % PLACES;
        const int n = (i + j) / PLACES;
        const int h = place / WIDTH;
        const int w = place % WIDTH;
        const float h_at = fmaxf(H_SCALE * (static_cast<float>(h) + 0.5f) - 0.5f, 0.0f);
        const int h_near = static_cast<int>(h_at);
        const int h_far = min(h_near + 1, 13);
        const float h_share = h_at - static_cast<float>(h_near);
        const float w_at = fmaxf(W_SCALE * (static_cast<float>(w) + 0.5f) - 0.5f, 0.0f);
        const int w_near = static_cast<int>(w_at);
        const int w_far = min(w_near + 1, 9);
        const float w_share = w_at - static_cast<float>(w_near);
        const int row_top_right = (n * FROM_HEIGHT + h_near) * FROM_WIDTH + w_far;
        const int top_right = pixels[row_top_right];
        const int row_top_left = (n * FROM_HEIGHT + h_near) * FROM_WIDTH + w_near;
        const int top_left = pixels[row_top_left];
        const float top =
            (1.0f - w_share) * static_cast<float>(top_left) +
            w_share * static_cast<float>(top_right);
        const int row_bottom_right = (n * FROM_HEIGHT + h_far) * FROM_WIDTH + w_far;
        const int bottom_right = pixels[row_bottom_right];
        const int row_bottom_left = (n * FROM_HEIGHT + h_far) * FROM_WIDTH + w_near;
        const int bottom_left = pixels[row_bottom_left];
        const float bottom =
            (1.0f - w_share) * static_cast<float>(bottom_left) +
            w_share * static_cast<float>(bottom_right);
        const float centred =
            ((1.0f - h_share) * top + h_share * bottom) / 255.0f - image_mean_value;
        images_v[j] = centred / image_std_value;
    }
    store_vec(images + i, images_v);
}

/* conv2d, add_bias, relu (gather of template conv2d_fma.cu)
 * 0 bytes DRAM, 30.1 KiB issued, 60.8 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(32) conv2d_add_bias_relu_4x12x12x1_8x3x3(
    const float *__restrict__ source,
    const float *__restrict__ weight,
    const float *__restrict__ bias, float *__restrict__ relu1) {
    struct Sizes {
        enum { IMAGES = 4, HEIGHT = 12, WIDTH = 12 };
        enum { OUT_HEIGHT = 10, OUT_WIDTH = 10 };
        enum { CHANNELS = 1, FILTERS = 8 };
        enum { KERNEL = 3, STRIDE = 1, PADDING = 0 };
        enum { POOL = 1, SOURCE_STRIDE = 1 };
        enum { ROWS = 64, COLS = 16, DEPTH = 16 };
        enum { VECTOR = 4 };
    };
    using A = float;
    SHARED Conv2dTiles<Sizes, A> tiles;
    Conv2dGather<float, A, false, Sizes> tile;
    tile.multiply(source, weight, tiles);
    if (tile.empty())
        return;
    const int col = tile.column(0);
    const Vec<float, 4> bias_v = load_vec<4>(bias + col);
#pragma unroll
    for (int r = 0; r < tile.OWN_ROWS; r++) {
        if (!tile.has_row(r))
            continue;
        const int row = tile.row(r);
        Vec<float, 4> relu1_v;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float conv1_biased = tile.sum(r, 0, j) + bias_v[j];
            relu1_v[j] = conv1_biased < 0.0f ? 0.0f : conv1_biased;
        }
        store_vec(relu1 + row * tile.COLUMNS + col, relu1_v);
    }
}

/* conv2d, add_bias, max_pool2d, dropout (gather of template conv2d_fma.cu)
 * 4 bytes DRAM, 132 KiB issued, 698 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(32) conv2d_add_bias_max_pool2d_4x10x10x8_12x3x3(
    const float *__restrict__ source,
    const float *__restrict__ weight,
    const float *__restrict__ bias, const int64_t *__restrict__ seed,
    const int *__restrict__ step_2, const int *__restrict__ first_row,
    uint8_t *__restrict__ max_pool1_argmax, float *__restrict__ dropout1, uint32_t stream) {
    struct Sizes {
        enum { IMAGES = 4, HEIGHT = 10, WIDTH = 10 };
        enum { OUT_HEIGHT = 10, OUT_WIDTH = 10 };
        enum { CHANNELS = 8, FILTERS = 12 };
        enum { KERNEL = 3, STRIDE = 1, PADDING = 1 };
        enum { POOL = 2, SOURCE_STRIDE = 8 };
        enum { ROWS = 64, COLS = 16, DEPTH = 16 };
        enum { VECTOR = 4 };
    };
    constexpr int ROWS_PER_IMAGE = 25;
    constexpr float DROP_RATE = 0.25f, KEPT_SCALE = 1.33333333f;
    using A = float;
    SHARED Conv2dTiles<Sizes, A> tiles;
    Conv2dGather<float, A, false, Sizes> tile;
    tile.multiply(source, weight, tiles);
    if (tile.empty())
        return;
    const int col = tile.column(0);
    const int64_t seed_value = seed[0];
    const int step_2_value = step_2[0];
    const int first_row_value = first_row[0];
    const Vec<float, 4> bias_v = load_vec<4>(bias + col);
#pragma unroll
    for (int r = 0; r < tile.OWN_ROWS; r++) {
        if (!tile.has_row(r))
            continue;
        const int row = tile.row(r);
        const int64_t row_start =
            (static_cast<int64_t>(first_row_value) * ROWS_PER_IMAGE + row) * tile.COLUMNS;
        const Vec<float, 4> uniform =
            philox_uniforms<4>(seed_value, step_2_value, stream, row_start + col);
        Vec<uint8_t, 4> max_pool1_argmax_v;
        Vec<float, 4> dropout1_v;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float x_0_0 = tile.sum(r, 0, 0, j) + bias_v[j];
            const float x_0_1 = tile.sum(r, 1, 0, j) + bias_v[j];
            const bool larger_0_1 = x_0_1 == x_0_1 ? x_0_0 < x_0_1 : true;
            const float best_0_1 = larger_0_1 ? x_0_1 : x_0_0;
            const float x_1_0 = tile.sum(r, 2, 0, j) + bias_v[j];
            const bool larger_1_0 = x_1_0 == x_1_0 ? best_0_1 < x_1_0 : true;
            const float best_1_0 = larger_1_0 ? x_1_0 : best_0_1;
            const float x_1_1 = tile.sum(r, 3, 0, j) + bias_v[j];
            const bool larger_1_1 = x_1_1 == x_1_1 ? best_1_0 < x_1_1 : true;
            const float best_1_1 = larger_1_1 ? x_1_1 : best_1_0;
            max_pool1_argmax_v[j] = larger_1_1 ? 3 : (larger_1_0 ? 2 : (larger_0_1 ? 1 : 0));
            dropout1_v[j] = uniform[j] > DROP_RATE ? best_1_1 * KEPT_SCALE : 0.0f;
        }
        store_vec(max_pool1_argmax + row * tile.COLUMNS + col, max_pool1_argmax_v);
        store_vec(dropout1 + row * tile.COLUMNS + col, dropout1_v);
    }
}

/* relu, relu_mask over [4, 16]
 * 0 bytes DRAM, 528 bytes issued per launch */
extern "C" __global__ void __launch_bounds__(32) relu_relu_mask_4x16(
    const float *__restrict__ fc1_biased, float *__restrict__ relu2,
    uint8_t *__restrict__ relu2_mask) {
    constexpr int COLS = 16, PER_BYTE = 4, RELU2_MASK_STRIDE = 4, ELEMENTS = 64;
    const int i = threadIdx.x * 4;
    if (i >= ELEMENTS)
        return;
    const int row = i / COLS, col = i % COLS;
    const Vec<float, 4> fc1_biased_v = load_vec<4>(fc1_biased + i);
    Vec<float, 4> relu2_v;
    Vec<uint8_t, 1> relu2_mask_v = {};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float relu2_j = fc1_biased_v[j] < 0.0f ? 0.0f : fc1_biased_v[j];
        relu2_v[j] = relu2_j;
        pack<4>(relu2_mask_v, j, relu2_j > 0.0f);
    }
    store_vec(relu2 + i, relu2_v);
    store_vec(relu2_mask + row * RELU2_MASK_STRIDE + col / PER_BYTE, relu2_mask_v);
}

/* cross_entropy, cross_entropy_grad over [4, 6]
 * from training.task; 20 bytes DRAM, 1.70 KiB issued, 1.03 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) cross_entropy_cross_entropy_grad_4x6(
    const float *__restrict__ fc2_biased, const int *__restrict__ labels,
    const float *__restrict__ loss_weight, const float *__restrict__ loss_grad,
    float *__restrict__ loss_rows, float *__restrict__ fc2_biased_grad) {
    constexpr int ROWS = 4, COLS = 6, LANES = 32, WARPS = 8;
    constexpr float CLASS_SHARE = 0.016666667f, LABEL_SHARE = 0.9f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    if (row >= ROWS)
        return;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const int labels_row = labels[row];
    const float loss_weight_value = loss_weight[0];
    const bool has_target = labels_row >= 0;
    const float loss_grad_value = loss_grad[0];
    const float scale = loss_weight_value * loss_grad_value;
    float fc2_biased_v;
    SumOfExps<float> exps;
    float label_logit = 0;
    float logit_sum = 0;
    if (col < COLS) {
        fc2_biased_v = fc2_biased[row * COLS + col];
        exps.add(fc2_biased_v);
        label_logit += col == labels_row ? fc2_biased_v : 0.0f;
        logit_sum += fc2_biased_v;
    }
    const float lse = warp_lse(exps);
    label_logit = warp_sum(label_logit);
    logit_sum = warp_sum(logit_sum);
    const float loss =
        (lse - (label_logit * LABEL_SHARE + logit_sum * CLASS_SHARE)) * loss_weight_value;
    if (lane == 0)
        loss_rows[row] = has_target ? loss : 0.0f;
    if (col < COLS) {
        const float softmax = expf(fc2_biased_v - lse) - CLASS_SHARE;
        fc2_biased_grad[row * COLS + col] =
            has_target ? (col == labels_row ? softmax - LABEL_SHARE : softmax) * scale : 0.0f;
    }
}

/* sum, add over [1, 4]
 * from training.task; 0 bytes DRAM, 148 bytes issued, 36 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) sum_add_4(
    const float *__restrict__ loss_rows, float *__restrict__ step_loss) {
    constexpr int COLS = 4, THREADS = 32;
    const int col = threadIdx.x;
    const float step_loss_value = step_loss[0];
    float loss = 0;
    if (col < COLS) {
        const float loss_rows_v = loss_rows[col];
        loss += loss_rows_v;
    }
    loss = block_sum<THREADS>(loss);
    if (threadIdx.x == 0)
        step_loss[0] = step_loss_value + loss;
}

/* column_sum over [4, 6]
 * from model.num_classes; 0 bytes DRAM, 120 bytes issued, 24 FLOP per launch */
extern "C" __global__ void __launch_bounds__(12) column_sum_4x6(
    const float *__restrict__ fc2_biased_grad, float *__restrict__ bias_grad) {
    constexpr int COLS = 6, ROWS_PER_WORKER = 4, LANES = 3, PARTS = 4, THREADS = 12;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 2;
    Vec<float, 2> total = {};
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const Vec<float, 2> fc2_biased_grad_v = load_vec<2>(fc2_biased_grad + row * COLS + col);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            total[j] += fc2_biased_grad_v[j];
        }
    }
    SHARED Vec<float, 2> sums[THREADS];
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0)
        return;
    store_vec(bias_grad + worker * COLS + col, convert_vec<float>(total));
}

/* narrow_linear_weight_grad, narrow_linear_input_grad, relu_grad_masked, column_sum over [4, 16]
 * from model.num_classes; 0 bytes DRAM, 2.83 KiB issued, 1.54 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(16, 32)
narrow_linear_weight_grad_narrow_linear_input_grad_relu_grad_masked_4x16(
    const float *__restrict__ relu2, const float *__restrict__ fc2_biased_grad,
    const float *__restrict__ weight, const uint8_t *__restrict__ relu2_mask,
    float *__restrict__ weight_grad, float *__restrict__ fc1_biased_grad,
    float *__restrict__ bias_grad) {
    constexpr int COLS = 16, ROWS_PER_WORKER = 4, LANES = 4, PARTS = 4, FC2_BIASED_GRAD_STRIDE = 6,
        PER_BYTE = 4, RELU2_MASK_STRIDE = 4, THREADS = 16;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 4;
    Vec<float, 4> total_0 = {};
    Vec<float, 4> total_1 = {};
    Vec<float, 4> total_2 = {};
    Vec<float, 4> total_3 = {};
    Vec<float, 4> total_4 = {};
    Vec<float, 4> total_5 = {};
    Vec<float, 4> total = {};
    const Vec<float, 4> weight_0_v = load_vec<4>(weight + col);
    const Vec<float, 4> weight_1_v = load_vec<4>(weight + 1 * COLS + col);
    const Vec<float, 4> weight_2_v = load_vec<4>(weight + 2 * COLS + col);
    const Vec<float, 4> weight_3_v = load_vec<4>(weight + 3 * COLS + col);
    const Vec<float, 4> weight_4_v = load_vec<4>(weight + 4 * COLS + col);
    const Vec<float, 4> weight_5_v = load_vec<4>(weight + 5 * COLS + col);
    for (int row = first + part; row < end; row += PARTS) {
        const float dy_0 = fc2_biased_grad[row * FC2_BIASED_GRAD_STRIDE + 0];
        const float dy_1 = fc2_biased_grad[row * FC2_BIASED_GRAD_STRIDE + 1];
        const float dy_2 = fc2_biased_grad[row * FC2_BIASED_GRAD_STRIDE + 2];
        const float dy_3 = fc2_biased_grad[row * FC2_BIASED_GRAD_STRIDE + 3];
        const float dy_4 = fc2_biased_grad[row * FC2_BIASED_GRAD_STRIDE + 4];
        const float dy_5 = fc2_biased_grad[row * FC2_BIASED_GRAD_STRIDE + 5];
        const Vec<float, 4> relu2_v = load_vec<4>(relu2 + row * COLS + col);
        const Vec<uint8_t, 1> relu2_mask_v =
            load_vec<1>(relu2_mask + row * RELU2_MASK_STRIDE + col / PER_BYTE);
        Vec<float, 4> fc1_biased_grad_v;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            total_0[j] = fmaf(dy_0, relu2_v[j], total_0[j]);
            total_1[j] = fmaf(dy_1, relu2_v[j], total_1[j]);
            total_2[j] = fmaf(dy_2, relu2_v[j], total_2[j]);
            total_3[j] = fmaf(dy_3, relu2_v[j], total_3[j]);
            total_4[j] = fmaf(dy_4, relu2_v[j], total_4[j]);
            total_5[j] = fmaf(dy_5, relu2_v[j], total_5[j]);
            const float sum_0 = dy_0 * weight_0_v[j];
            const float sum_1 = fmaf(dy_1, weight_1_v[j], sum_0);
            const float sum_2 = fmaf(dy_2, weight_2_v[j], sum_1);
            const float sum_3 = fmaf(dy_3, weight_3_v[j], sum_2);
            const float sum_4 = fmaf(dy_4, weight_4_v[j], sum_3);
            const float sum_5 = fmaf(dy_5, weight_5_v[j], sum_4);
            const float fc1_biased_grad_j = unpack<4>(relu2_mask_v, j) == 1 ? sum_5 : 0.0f;
            fc1_biased_grad_v[j] = fc1_biased_grad_j;
            total[j] += fc1_biased_grad_j;
        }
        store_vec(fc1_biased_grad + row * COLS + col, fc1_biased_grad_v);
    }
    SHARED Vec<float, 4> sums[THREADS];
    total_0 = sum_of_parts<PARTS, LANES>(sums, total_0);
    total_1 = sum_of_parts<PARTS, LANES>(sums, total_1);
    total_2 = sum_of_parts<PARTS, LANES>(sums, total_2);
    total_3 = sum_of_parts<PARTS, LANES>(sums, total_3);
    total_4 = sum_of_parts<PARTS, LANES>(sums, total_4);
    total_5 = sum_of_parts<PARTS, LANES>(sums, total_5);
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0)
        return;
    store_vec(weight_grad + worker * COLS + col, convert_vec<float>(total_0));
    store_vec(weight_grad + worker * COLS + COLS + col, convert_vec<float>(total_1));
    store_vec(weight_grad + worker * COLS + 2 * COLS + col, convert_vec<float>(total_2));
    store_vec(weight_grad + worker * COLS + 3 * COLS + col, convert_vec<float>(total_3));
    store_vec(weight_grad + worker * COLS + 4 * COLS + col, convert_vec<float>(total_4));
    store_vec(weight_grad + worker * COLS + 5 * COLS + col, convert_vec<float>(total_5));
    store_vec(bias_grad + worker * COLS + col, convert_vec<float>(total));
}

/* dropout, max_pool2d_grad, column_sum over [100, 12]
 * 4 bytes DRAM, 28.6 KiB issued, 3.60 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(255) dropout_max_pool2d_grad_column_sum_100x12(
    const float *__restrict__ flatten1_grad, const int64_t *__restrict__ seed,
    const int *__restrict__ step, const int *__restrict__ first_row,
    const uint8_t *__restrict__ max_pool1_argmax, float *__restrict__ conv2_biased_grad,
    float *__restrict__ bias_grad, uint32_t stream) {
    constexpr int COLS = 12, ROWS_PER_WORKER = 100, LANES = 3, ROWS_PER_IMAGE = 25, PARTS = 85,
        PLACES = 25, WIDTH = 5, FROM_HEIGHT = 10, FROM_WIDTH = 10, THREADS = 255;
    constexpr float DROP_RATE = 0.25f, KEPT_SCALE = 1.33333333f;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 4;
    Vec<float, 4> total = {};
    const int64_t seed_value = seed[0];
    const int step_value = step[0];
    const int first_row_value = first_row[0];
    for (int row = first + part; row < end; row += PARTS) {
        const int64_t row_start =
            (static_cast<int64_t>(first_row_value) * ROWS_PER_IMAGE + row) * COLS;
        const int place = row % PLACES;
        const int n = row / PLACES;
        const int h = place / WIDTH;
        const int w = place % WIDTH;
        const int h_0 = h * 2;
        const int h_1 = h_0 + 1;
        const int w_0 = w * 2;
        const int w_1 = w_0 + 1;
        const int first_line = n * FROM_HEIGHT;
        const int line_0 = (first_line + h_0) * FROM_WIDTH;
        const int row_0_0 = line_0 + w_0;
        const int row_0_1 = line_0 + w_1;
        const int line_1 = (first_line + h_1) * FROM_WIDTH;
        const int row_1_0 = line_1 + w_0;
        const int row_1_1 = line_1 + w_1;
        const Vec<float, 4> flatten1_grad_v = load_vec<4>(flatten1_grad + row * COLS + col);
        const Vec<uint8_t, 4> max_pool1_argmax_v = load_vec<4>(max_pool1_argmax + row * COLS + col);
        const Vec<float, 4> uniform =
            philox_uniforms<4>(seed_value, step_value, stream, row_start + col);
        Vec<float, 4> conv2_biased_grad_v;
        Vec<float, 4> conv2_biased_grad_v_2;
        Vec<float, 4> conv2_biased_grad_v_3;
        Vec<float, 4> conv2_biased_grad_v_4;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float max_pool1_grad =
                uniform[j] > DROP_RATE ? flatten1_grad_v[j] * KEPT_SCALE : 0.0f;
            conv2_biased_grad_v[j] = max_pool1_argmax_v[j] == 0 ? max_pool1_grad : 0.0f;
            conv2_biased_grad_v_2[j] = max_pool1_argmax_v[j] == 1 ? max_pool1_grad : 0.0f;
            conv2_biased_grad_v_3[j] = max_pool1_argmax_v[j] == 2 ? max_pool1_grad : 0.0f;
            conv2_biased_grad_v_4[j] = max_pool1_argmax_v[j] == 3 ? max_pool1_grad : 0.0f;
            total[j] += max_pool1_grad;
        }
        store_vec(conv2_biased_grad + row_0_0 * COLS + col, conv2_biased_grad_v);
        store_vec(conv2_biased_grad + row_0_1 * COLS + col, conv2_biased_grad_v_2);
        store_vec(conv2_biased_grad + row_1_0 * COLS + col, conv2_biased_grad_v_3);
        store_vec(conv2_biased_grad + row_1_1 * COLS + col, conv2_biased_grad_v_4);
    }
    SHARED Vec<float, 4> sums[THREADS];
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0)
        return;
    store_vec(bias_grad + worker * COLS + col, convert_vec<float>(total));
}

/* conv2d_weight_grad (weight_grad of template conv2d_fma.cu)
 * 0 bytes DRAM, 159 KiB issued, 691 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128)
conv2d_weight_grad_4x10x10x8_12x3x3(
    const float *__restrict__ x, const float *__restrict__ dy,
    float *__restrict__ dw) {
    struct Sizes {
        enum { IMAGES = 4, HEIGHT = 10, WIDTH = 10 };
        enum { OUT_HEIGHT = 10, OUT_WIDTH = 10 };
        enum { CHANNELS = 8, FILTERS = 12 };
        enum { KERNEL = 3, STRIDE = 1, PADDING = 1 };
        enum { X_STRIDE = 8, DY_STRIDE = 12 };
        enum { ROWS = 64, COLS = 64, DEPTH = 16 };
        enum { PART_PLACES = 58 };
    };
    using A = float;
    constexpr bool PLANES = false, ACCUMULATE = false;
    SHARED Conv2dTiles<Sizes, A> tiles;
    conv2d_dw_tile<PLANES, ACCUMULATE>(x, dy, dw, tiles);
}

/* conv2d_weight_grad (sum_parts of template conv2d_parts.cu)
 * 0 bytes DRAM, 27.0 KiB issued, 6.05 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) conv2d_sum_parts_7x864(
    const float *__restrict__ partial, float *__restrict__ dw) {
    struct Sizes {
        enum { THREADS = 256, PARTS = 7, SHARES = 1 };
        enum : int64_t { ELEMENTS = 864 };
    };
    constexpr bool ACCUMULATE = false;
    DYNAMIC_SHARED(float, sums);
    conv2d_add_parts<ACCUMULATE, Sizes>(partial, dw, sums);
}

/* conv2d_input_grad, relu_grad (gather of template conv2d_fma.cu)
 * 0 bytes DRAM, 196 KiB issued, 691 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(32) conv2d_input_grad_relu_grad_4x10x10x8_12x3x3(
    const float *__restrict__ source,
    const float *__restrict__ weight,
    const float *__restrict__ relu1, float *__restrict__ conv1_biased_grad) {
    struct Sizes {
        enum { IMAGES = 4, HEIGHT = 10, WIDTH = 10 };
        enum { OUT_HEIGHT = 10, OUT_WIDTH = 10 };
        enum { CHANNELS = 8, FILTERS = 12 };
        enum { KERNEL = 3, STRIDE = 1, PADDING = 1 };
        enum { POOL = 1, SOURCE_STRIDE = 12 };
        enum { ROWS = 64, COLS = 16, DEPTH = 16 };
        enum { VECTOR = 4 };
    };
    using A = float;
    SHARED Conv2dTiles<Sizes, A> tiles;
    Conv2dGather<float, A, true, Sizes> tile;
    tile.multiply(source, weight, tiles);
    if (tile.empty())
        return;
    const int col = tile.column(0);
#pragma unroll
    for (int r = 0; r < tile.OWN_ROWS; r++) {
        if (!tile.has_row(r))
            continue;
        const int row = tile.row(r);
        const Vec<float, 4> relu1_v = load_vec<4>(relu1 + row * tile.COLUMNS + col);
        Vec<float, 4> conv1_biased_grad_v;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            conv1_biased_grad_v[j] = relu1_v[j] > 0.0f ? tile.sum(r, 0, j) : 0.0f;
        }
        store_vec(conv1_biased_grad + row * tile.COLUMNS + col, conv1_biased_grad_v);
    }
}

/* column_sum over [400, 8]
 * 0 bytes DRAM, 12.5 KiB issued, 3.20 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) column_sum_400x8(
    const float *__restrict__ conv1_biased_grad, float *__restrict__ bias_grad) {
    constexpr int COLS = 8, ROWS_PER_WORKER = 400, LANES = 2, PARTS = 128, THREADS = 256;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 4;
    Vec<float, 4> total = {};
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const Vec<float, 4> conv1_biased_grad_v = load_vec<4>(conv1_biased_grad + row * COLS + col);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            total[j] += conv1_biased_grad_v[j];
        }
    }
    SHARED Vec<float, 4> sums[THREADS];
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0)
        return;
    store_vec(bias_grad + worker * COLS + col, convert_vec<float>(total));
}

/* conv2d_weight_grad (weight_grad of template conv2d_fma.cu)
 * 0 bytes DRAM, 28.5 KiB issued, 57.6 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(32)
conv2d_weight_grad_4x12x12x1_8x3x3(
    const float *__restrict__ x, const float *__restrict__ dy,
    float *__restrict__ dw) {
    struct Sizes {
        enum { IMAGES = 4, HEIGHT = 12, WIDTH = 12 };
        enum { OUT_HEIGHT = 10, OUT_WIDTH = 10 };
        enum { CHANNELS = 1, FILTERS = 8 };
        enum { KERNEL = 3, STRIDE = 1, PADDING = 0 };
        enum { X_STRIDE = 1, DY_STRIDE = 8 };
        enum { ROWS = 64, COLS = 16, DEPTH = 16 };
        enum { PART_PLACES = 58 };
    };
    using A = float;
    constexpr bool PLANES = false, ACCUMULATE = false;
    SHARED Conv2dTiles<Sizes, A> tiles;
    conv2d_dw_tile<PLANES, ACCUMULATE>(x, dy, dw, tiles);
}

/* conv2d_weight_grad (sum_parts of template conv2d_parts.cu)
 * 0 bytes DRAM, 2.25 KiB issued, 504 FLOP per launch */
extern "C" __global__ void __launch_bounds__(256) conv2d_sum_parts_7x72(
    const float *__restrict__ partial, float *__restrict__ dw) {
    struct Sizes {
        enum { THREADS = 256, PARTS = 7, SHARES = 1 };
        enum : int64_t { ELEMENTS = 72 };
    };
    constexpr bool ACCUMULATE = false;
    DYNAMIC_SHARED(float, sums);
    conv2d_add_parts<ACCUMULATE, Sizes>(partial, dw, sums);
}

/* sum_squares over [rows, 1024]
 * 4096 bytes issued, 2048 FLOP per row, 262144 bytes issued more per launch */
extern "C" __global__ void __launch_bounds__(256, 4) sum_squares_x1024(
    const float *__restrict__ gradient, float *__restrict__ columns_partial, int64_t rows) {
    constexpr int COLS = 1024, COLUMN_BLOCKS = 8, WORKERS = 64, LANES = 32, PARTS = 8,
        THREADS = 256;
    const int column_block = blockIdx.x % COLUMN_BLOCKS;
    const int64_t worker = blockIdx.x / COLUMN_BLOCKS;
    const int64_t each = (rows + WORKERS - 1) / WORKERS, first = worker * each;
    const int64_t end = first + each < rows ? first + each : rows;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = (column_block * LANES + lane) * 4;
    Vec<float, 4> columns = {};
    for (int64_t row = first + part; row < end; row += PARTS) {
        const Vec<float, 4> gradient_v = load_vec<4>(gradient + row * COLS + col);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            columns[j] = fmaf(gradient_v[j], gradient_v[j], columns[j]);
        }
    }
    SHARED Vec<float, 4> sums[THREADS];
    columns = sum_of_parts<PARTS, LANES>(sums, columns);
    if (part > 0)
        return;
    store_vec(columns_partial + worker * COLS + col, convert_vec<float>(columns));
}

/* second pass of sum_squares over [64, 1024]: adds 64 partial sums per column
 * 0 bytes DRAM, 260 KiB issued, 65.5 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) column_sum_64x1024(
    const float *__restrict__ columns_partial, float *__restrict__ columns) {
    constexpr int ROWS = 64, COLS = 1024, PARTS = 32, LANES = 8;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = blockIdx.x * LANES + lane;
    SHARED float sums[PARTS * LANES];
    float total = 0;
    if (col < COLS)
        for (int row = part; row < ROWS; row += PARTS) {
            total += columns_partial[row * COLS + col];
        }
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0 || col >= COLS)
        return;
    columns[col] = total;
}

/* sum, clip_factor, rates, advance_step over [1, 1024]
 * 0 bytes DRAM, 9.03 KiB issued, 2.05 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) sum_clip_factor_rates_1024(
    const float *__restrict__ columns, int *__restrict__ step, int *__restrict__ bad_step,
    const float *__restrict__ lr, int *__restrict__ applied, float *__restrict__ step_loss,
    float *__restrict__ grad_norm, float *__restrict__ clip_factor, float *__restrict__ rates_lr,
    float *__restrict__ loss) {
    constexpr int THREADS = 256;
    constexpr float NORM_EPS = 1e-06f, MAX_NORM = 1.0f;
    const int col = threadIdx.x * 4;
    const int step_value = step[0];
    const int bad_step_value = bad_step[0];
    const bool good_so_far = bad_step_value < 0;
    const float lr_value = lr[step_value];
    const int applied_value = applied[0];
    const float step_loss_value = step_loss[0];
    float squared = 0;
    const Vec<float, 4> columns_v = load_vec<4>(columns + col);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        squared += columns_v[j];
    }
    squared = block_sum<THREADS>(squared);
    const float grad_norm_value = sqrtf(squared);
    const float factor = good_so_far ? fminf(1.0f, MAX_NORM / (grad_norm_value + NORM_EPS)) : 0.0f;
    const float clip_factor_value = isfinite(grad_norm_value) ? factor : 0.0f;
    const bool applies = clip_factor_value > 0.0f;
    if (threadIdx.x == 0) {
        grad_norm[step_value] = grad_norm_value;
        clip_factor[0] = clip_factor_value;
        rates_lr[0] = lr_value;
        loss[step_value] = step_loss_value;
        step[0] = step_value + 1;
        applied[0] = applies ? applied_value + 1 : applied_value;
        bad_step[0] = applies ? bad_step_value : (good_so_far ? step_value : bad_step_value);
        step_loss[0] = 0.0f;
    }
}

/* sgd over [rows, 1024]
 * from optimizer.name; 22528 bytes issued, 9216 FLOP per row */
extern "C" __global__ void __launch_bounds__(256) sgd_x1024(
    float *__restrict__ trained, const float *__restrict__ gradient,
    const float *__restrict__ clip_factor, const float *__restrict__ rates_lr,
    float *__restrict__ momentum_buffer, int64_t rows) {
    constexpr int COLS = 1024, THREADS = 256;
    constexpr float WEIGHT_DECAY = 0.0001f, MOMENTUM = 0.9f;
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x) * 4;
    if (i >= rows * COLS)
        return;
    const float clip_factor_value = clip_factor[0];
    const bool applies = clip_factor_value > 0.0f;
    const float rates_lr_value = rates_lr[0];
    const Vec<float, 4> trained_v = load_vec<4>(trained + i);
    const Vec<float, 4> gradient_v = load_vec<4>(gradient + i);
    const Vec<float, 4> momentum_buffer_v = load_vec<4>(momentum_buffer + i);
    Vec<float, 4> new_momentum_buffer_v;
    Vec<float, 4> new_trained_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float decayed = gradient_v[j] * clip_factor_value + WEIGHT_DECAY * trained_v[j];
        const float momentum = MOMENTUM * momentum_buffer_v[j] + decayed;
        new_momentum_buffer_v[j] = applies ? momentum : momentum_buffer_v[j];
        new_trained_v[j] =
            applies ? trained_v[j] - rates_lr_value * (decayed + MOMENTUM * momentum) :
            trained_v[j];
    }
    store_vec(momentum_buffer + i, new_momentum_buffer_v);
    store_vec(trained + i, new_trained_v);
}

/* conv2d, add_bias, max_pool2d (gather of template conv2d_fma.cu)
 * 8.11 KiB DRAM, 129 KiB issued, 696 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(32) conv2d_add_bias_max_pool2d_4x10x10x8_12x3x3_1_result(
    const float *__restrict__ source,
    const float *__restrict__ weight,
    const float *__restrict__ bias, float *__restrict__ max_pool1) {
    struct Sizes {
        enum { IMAGES = 4, HEIGHT = 10, WIDTH = 10 };
        enum { OUT_HEIGHT = 10, OUT_WIDTH = 10 };
        enum { CHANNELS = 8, FILTERS = 12 };
        enum { KERNEL = 3, STRIDE = 1, PADDING = 1 };
        enum { POOL = 2, SOURCE_STRIDE = 8 };
        enum { ROWS = 64, COLS = 16, DEPTH = 16 };
        enum { VECTOR = 4 };
    };
    using A = float;
    SHARED Conv2dTiles<Sizes, A> tiles;
    Conv2dGather<float, A, false, Sizes> tile;
    tile.multiply(source, weight, tiles);
    if (tile.empty())
        return;
    const int col = tile.column(0);
    const Vec<float, 4> bias_v = load_vec<4>(bias + col);
#pragma unroll
    for (int r = 0; r < tile.OWN_ROWS; r++) {
        if (!tile.has_row(r))
            continue;
        const int row = tile.row(r);
        Vec<float, 4> max_pool1_v;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float x_0_0 = tile.sum(r, 0, 0, j) + bias_v[j];
            const float x_0_1 = tile.sum(r, 1, 0, j) + bias_v[j];
            const bool larger_0_1 = x_0_1 == x_0_1 ? x_0_0 < x_0_1 : true;
            const float best_0_1 = larger_0_1 ? x_0_1 : x_0_0;
            const float x_1_0 = tile.sum(r, 2, 0, j) + bias_v[j];
            const bool larger_1_0 = x_1_0 == x_1_0 ? best_0_1 < x_1_0 : true;
            const float best_1_0 = larger_1_0 ? x_1_0 : best_0_1;
            const float x_1_1 = tile.sum(r, 3, 0, j) + bias_v[j];
            const bool larger_1_1 = x_1_1 == x_1_1 ? best_1_0 < x_1_1 : true;
            const float best_1_1 = larger_1_1 ? x_1_1 : best_1_0;
            max_pool1_v[j] = best_1_1;
        }
        store_vec(max_pool1 + row * tile.COLUMNS + col, max_pool1_v);
    }
}

/* relu over [4, 16]
 * 0 bytes DRAM, 512 bytes issued per launch */
extern "C" __global__ void __launch_bounds__(32) relu_4x16(
    const float *__restrict__ fc1_biased, float *__restrict__ relu2) {
    constexpr int ELEMENTS = 64;
    const int i = threadIdx.x * 4;
    if (i >= ELEMENTS)
        return;
    const Vec<float, 4> fc1_biased_v = load_vec<4>(fc1_biased + i);
    Vec<float, 4> relu2_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        relu2_v[j] = fc1_biased_v[j] < 0.0f ? 0.0f : fc1_biased_v[j];
    }
    store_vec(relu2 + i, relu2_v);
}

/* cross_entropy, topk_hits over [4, 6]
 * from training.task; 68 bytes DRAM, 1.14 KiB issued, 808 FLOP per launch */
extern "C" __global__ void __launch_bounds__(256) cross_entropy_topk_hits_4x6(
    const float *__restrict__ fc2_biased, const int *__restrict__ labels,
    const float *__restrict__ loss_weight, float *__restrict__ loss_rows,
    float *__restrict__ hits_top1, float *__restrict__ hits_top5) {
    constexpr int ROWS = 4, COLS = 6, LANES = 32, WARPS = 8;
    constexpr float CLASS_SHARE = 0.016666667f, LABEL_SHARE = 0.9f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    if (row >= ROWS)
        return;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const int labels_row = labels[row];
    const float loss_weight_value = loss_weight[0];
    const bool has_target = labels_row >= 0;
    float fc2_biased_v;
    SumOfExps<float> exps;
    float label_logit = 0;
    float logit_sum = 0;
    if (col < COLS) {
        fc2_biased_v = fc2_biased[row * COLS + col];
        exps.add(fc2_biased_v);
        label_logit += col == labels_row ? fc2_biased_v : 0.0f;
        logit_sum += fc2_biased_v;
    }
    const float lse = warp_lse(exps);
    label_logit = warp_sum(label_logit);
    logit_sum = warp_sum(logit_sum);
    const float loss =
        (lse - (label_logit * LABEL_SHARE + logit_sum * CLASS_SHARE)) * loss_weight_value;
    if (lane == 0)
        loss_rows[row] = has_target ? loss : 0.0f;
    float rank = 0;
    if (col < COLS) {
        const float t = fc2_biased_v == label_logit ? (col < labels_row ? 1.0f : 0.0f) : 1.0f;
        rank += fc2_biased_v < label_logit ? 0.0f : t;
    }
    rank = warp_sum(rank);
    if (lane == 0) {
        hits_top1[row] = has_target ? (rank < 1.0f ? 1.0f : 0.0f) : 0.0f;
        hits_top5[row] = has_target ? (rank < 5.0f ? 1.0f : 0.0f) : 0.0f;
    }
}
