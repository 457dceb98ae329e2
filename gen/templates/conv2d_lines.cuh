/* Shared by the kernels of convolutions with mma.sync: how they copy to shared memory. */
#ifndef CONV2D_LINES_CUH
#define CONV2D_LINES_CUH

#include "conv2d_windows.cuh"
#include "runtime/kernel.cuh"

//@prelude conv2d_windows.cuh

//@prelude
/* Fills 16 bytes of a tile. Element i is from[at] if find(i, at) returns true (it sets `at`), else
 * zero. Groups of VECTOR elements are contiguous in memory, and inside or outside together. */
template <int VECTOR, class T, class Find>
static __device__ __forceinline__ void conv2d_fetch(T *to, const T *from, Find find) {
    constexpr int ELEMENTS = 16 / sizeof(T);
    int64_t at = 0;
    if constexpr (VECTOR == ELEMENTS) {
        const bool inside = find(0, at);
        cp_async_16(to, from + (inside ? at : 0), inside); /* aligned in either case */
    } else if constexpr (VECTOR == 2) {
#pragma unroll
        for (int pair = 0; pair < ELEMENTS / 2; pair++) {
            /* Neighbouring threads use different banks. */
            const int i = (pair + threadIdx.x / 4) % (ELEMENTS / 2) * 2;
            const bool inside = find(i, at);
            cp_async_4(to + i, from + at, inside);
        }
    } else {
        Vec<T, ELEMENTS> values;
#pragma unroll
        for (int i = 0; i < ELEMENTS; i++)
            values[i] = find(i, at) ? from[at] : convert<T>(0.0f);
        store_vec(to, values);
    }
}

/* The image lines that a tile's windows see, in shared memory: PITCH elements each, zeros around the
 * image's. Every image counts OF_IMAGE lines, those of its padding included, so that no two images
 * share one; the tile has those from `first` on. A window sees RUN elements of a line, in groups of
 * 8, as mma.sync takes them, the first LEAD elements before the window. What is not in the window is
 * multiplied by zeros of the filter, so it must be finite; weight_grad does not store it. */
template <class T, class Places, class Sizes> struct Conv2dLines {
    static constexpr int KERNEL = Sizes::KERNEL, STRIDE = Sizes::STRIDE, PADDING = Sizes::PADDING;
    static constexpr int CHANNELS = Sizes::CHANNELS, STEP = STRIDE * CHANNELS; /* to the next place */
    static constexpr int COLS = Sizes::COLS, WARPS = COLS / 16;
    static constexpr int OVERLAP = KERNEL > STRIDE ? KERNEL - STRIDE : 0;
    static constexpr int OF_IMAGE = Places::TO_HEIGHT * STRIDE + OVERLAP;
    static constexpr int LEAD = PADDING * CHANNELS % 2, SEEN = KERNEL * CHANNELS;
    static constexpr int GROUPS = (LEAD + SEEN + 7) / 8, RUN = GROUPS * 8; /* of a line */
    static constexpr int DEPTH = (KERNEL * RUN + 15) / 16 * 16, WEIGHTS = DEPTH + 8; /* per filter */
    static constexpr int LINE = Sizes::WIDTH * CHANNELS, FRONT = (PADDING * CHANNELS + 7) / 8 * 8;
    static constexpr int ORIGIN = FRONT - PADDING * CHANNELS - LEAD; /* where place 0 begins */
    static constexpr int END = ORIGIN + (Places::TO_WIDTH - 1) * STEP + RUN;
    static constexpr int PITCH = ((END > FRONT + LINE ? END : FRONT + LINE) + 7) / 8 * 8;

    T *const tile;
    const Places &places;
    const int last, first; /* the last place, and the first line */

    __device__ __forceinline__ Conv2dLines(T *tile, const Places &places, int first_row, int last)
        : tile(tile), places(places), last(last), first(line_of(place_of(first_row))) {}

    /* Rows after the last place read what it reads. */
    __device__ __forceinline__ int place_of(int row) const {
        return min(places.place_of_row(row), last);
    }
    __device__ __forceinline__ int line_of(int place) const {
        const int image = place / places.of_image, in_image = place % places.of_image;
        return image * OF_IMAGE + in_image / places.wide * STRIDE;
    }
    /* Where in the tile the window of a row begins. */
    __device__ __forceinline__ int window(int row) const {
        const int place = place_of(row), x = place % places.wide;
        return (line_of(place) - first) * PITCH + ORIGIN + x * STEP;
    }
    /* Two neighbours in a window, from an even element of its run on. */
    static __device__ __forceinline__ unsigned pair(const T *at) {
        if constexpr (STEP % 2 == 0) {
            return *reinterpret_cast<const unsigned *>(at);
        } else {
            const uint16_t *half = reinterpret_cast<const uint16_t *>(at);
            return half[0] | static_cast<unsigned>(half[1]) << 16;
        }
    }
    __device__ __forceinline__ void fetch(const T *source, int last_row) const {
        const int count = line_of(place_of(last_row)) - first + KERNEL;
        for (int line = threadIdx.x / 32; line < count; line += WARPS) {
            const int image = (first + line) / OF_IMAGE, y = (first + line) % OF_IMAGE - PADDING;
            const bool there = image < Sizes::IMAGES && conv2d_inside(y, Sizes::HEIGHT);
            const T *from = source + (there ? image * Sizes::HEIGHT + y : 0) * int64_t{LINE};
            for (int d = threadIdx.x % 32 * 8; d < PITCH; d += 32 * 8)
                conv2d_fetch<Sizes::SOURCE_VECTOR>(
                    tile + line * PITCH + d, from, [&](int i, int64_t &at) {
                        at = d + i - FRONT;
                        return there && conv2d_inside(d + i - FRONT, LINE);
                    });
        }
    }
    /* Filters from `first_filter` on, by lines as in the windows. */
    static __device__ __forceinline__ void fetch_weights(T *to, const T *weight, int first_filter) {
        const int warp = threadIdx.x / 32;
        for (int d = threadIdx.x % 32 * 2; d < DEPTH; d += 32 * 2) {
            const int line = d / RUN, along = d % RUN - LEAD;
            const T *from = weight + (first_filter * KERNEL + line) * SEEN + along;
            const bool first = line < KERNEL && conv2d_inside(along, SEEN);
            const bool second = line < KERNEL && conv2d_inside(along + 1, SEEN);
#pragma unroll
            for (int s = 0; s < COLS / WARPS; s++) {
                const int col = warp + s * WARPS;
                const bool there = Sizes::FILTERS % COLS == 0 || first_filter + col < Sizes::FILTERS;
                Vec<T, 2> values;
                values[0] = load_if(there && first, from, col * KERNEL * SEEN);
                values[1] = load_if(there && second, from, col * KERNEL * SEEN + 1);
                store_vec(to + col * WEIGHTS + d, values);
            }
        }
    }
};
//@end

#endif
