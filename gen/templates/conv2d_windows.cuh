/* Shared by the kernels of convolutions: which places they compute, and which elements of an image
 * a window reads. */
#ifndef CONV2D_WINDOWS_CUH
#define CONV2D_WINDOWS_CUH

#include "runtime/kernel.cuh"

//@prelude
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
//@end

#endif
