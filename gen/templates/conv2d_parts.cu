/* dw[e] (+)= sum over parts of partial[part][e].
 *
 *     partial [parts, elements] dense    dw [elements] dense
 *
 * Launch geometry: threads 256, shares 1, 2, 4 ... 32, grid (ceil(elements * shares / 256)), shared
 * bytes 256 * sizeof(acc). Bytes: partial and dw once (dw is also read if ACCUMULATE). FLOPs:
 * parts * elements.
 *
 * A thread adds up a share of an element's parts, in their order; then the element's shares are
 * added in order. A single thread would wait for memory many times where there are hundreds. */
#include "runtime/kernel.cuh"

//@body sum_parts
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
//@end

//@kernel sum_parts
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/) /*@kernel*/conv2d_sum_parts/*@*/(
    const /*@acc*/float/*@*/ *__restrict__ partial, /*@grad_dtype*/float/*@*/ *__restrict__ dw) {
    struct Sizes {
        enum { THREADS = /*@threads*/256/*@*/, PARTS = /*@parts*/8/*@*/, SHARES = /*@shares*/1/*@*/ };
        enum : int64_t { ELEMENTS = /*@elements*/18432/*@*/ };
    };
    constexpr bool ACCUMULATE = /*@accumulate*/false/*@*/;
    DYNAMIC_SHARED(/*@acc*/float/*@*/, sums);
    conv2d_add_parts<ACCUMULATE, Sizes>(partial, dw, sums);
}
//@end
