/* Shared by the kernels of convolutions on tensor cores: how they store a lane's sums. */
#ifndef CONV2D_TILES_CUH
#define CONV2D_TILES_CUH

#include "conv2d_windows.cuh"
#include "runtime/kernel.cuh"

//@prelude conv2d_windows.cuh

//@prelude
/* Stores the first `count` of a lane's two adjacent sums, added to the old values if ACCUMULATE. */
template <bool ACCUMULATE, int VECTOR, class T>
static __device__ __forceinline__ void conv2d_store(T *to, float first, float second, int count) {
    Vec<T, 2> pair;
    if (VECTOR == 2 && count > 0) {
        if (ACCUMULATE) {
            pair = load_vec<2>(to);
            first += convert<float>(pair[0]);
            second += convert<float>(pair[1]);
        }
        pair[0] = convert<T>(first);
        pair[1] = convert<T>(second);
        store_vec(to, pair);
    }
    if (VECTOR == 1 && count > 0)
        to[0] = convert<T>(ACCUMULATE ? convert<float>(to[0]) + first : first);
    if (VECTOR == 1 && count > 1)
        to[1] = convert<T>(ACCUMULATE ? convert<float>(to[1]) + second : second);
}
//@end

#endif
