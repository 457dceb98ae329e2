/* Shared by the kernels of convolutions: which elements of an image a window reads. */
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

/* Index of channel c of one pixel (`place`) of an image. PLANES: the layout is [image][c][place];
 * otherwise [image][place][c], with pixels `stride` elements apart. */
template <bool PLANES, int PLACES, int CHANNELS>
static __device__ __forceinline__ int64_t image_element(int image, int place, int c, int64_t stride) {
    return PLANES ? (static_cast<int64_t>(image) * CHANNELS + c) * PLACES + place
                  : (static_cast<int64_t>(image) * PLACES + place) * stride + c;
}
//@end

#endif
