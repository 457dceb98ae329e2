/* Undoing RoPE: backward of attention can store dq and dk as gradients of what RoPE rotated. */
#ifndef ATTENTION_ROPE_CUH
#define ATTENTION_ROPE_CUH

#include "attention_masks.cuh"
#include "runtime/kernel.cuh"

//@prelude attention_masks.cuh

//@prelude
/* How backward stores rows of dq or dk, from row `first_row` of the results on: as they are. */
template <int HEAD_DIM, class A> struct Unrotated {
    int64_t first_row;

    template <class T>
    __device__ __forceinline__ Vec<T, 16 / sizeof(T)> chunk(const T *values, int, int d) const {
        return load_vec<16 / sizeof(T)>(values + d);
    }
};
//@end

//@prelude?rotation=UndoRope
/* Rotates rows of one head back, as the op rope_grad does: column d < HALF and column d + HALF are a
 * pair, by the angle whose cosine and sine are in column d of the tables. */
template <int HEAD_DIM, class A> struct UndoRope {
    static constexpr int HALF = HEAD_DIM / 2;
    const int *positions;     /* of all rows, which choose a row of the tables */
    const A *cosines, *sines; /* [positions][HALF] */
    int64_t first_row;        /* of the results */

    static __device__ __forceinline__ bool is_first(int d) { return d < HALF; }
    static __device__ __forceinline__ int partner_of(int d) { return is_first(d) ? d + HALF : d - HALF; }
    static __device__ __forceinline__ A rotated(bool first, A x, A partner, A cosine, A sine) {
        const A x_cos = x * cosine, partner_sin = partner * sine;
        return first ? x_cos + partner_sin : x_cos - partner_sin;
    }

    /* Where the angles of a row begin in the tables, and that of column d within them. */
    __device__ __forceinline__ int64_t angles(int row) const {
        return static_cast<int64_t>(positions[first_row + row]) * HALF;
    }
    static __device__ __forceinline__ int angle(int d) { return is_first(d) ? d : d - HALF; }
    /* Of a row, which `values` points to: the rotated columns from d on that fill 16 bytes. Each half
     * of a head must be a multiple of 16 bytes. */
    template <class T>
    __device__ __forceinline__ Vec<T, 16 / sizeof(T)> chunk(const T *values, int row, int d) const {
        constexpr int ELEMENTS = 16 / sizeof(T);
        const int64_t at = angles(row) + angle(d);
        const auto x = load_vec<ELEMENTS>(values + d), other = load_vec<ELEMENTS>(values + partner_of(d));
        const auto cosine = load_vec<ELEMENTS>(cosines + at), sine = load_vec<ELEMENTS>(sines + at);
        Vec<T, ELEMENTS> y;
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++)
            y[e] = convert<T>(rotated(is_first(d), convert<A>(x[e]), convert<A>(other[e]), cosine[e],
                                      sine[e]));
        return y;
    }
};
//@end

#endif
