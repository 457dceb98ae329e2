/* dw[e] (+)= sum over parts of partial[part][e].
 *
 *     partial [parts, elements] dense    dw [elements] dense
 *
 * Launch geometry: threads 256, grid (ceil(elements / 32)), shared bytes 256 * sizeof(acc). Bytes:
 * partial and dw once (dw is also read if ACCUMULATE). FLOPs: parts * elements.
 *
 * Each of a block's warps adds up a share of the parts, in their order; then the shares are added in
 * order. A single thread would wait for memory many times where there are hundreds of parts. */
#include "runtime/kernel.cuh"

//@kernel sum_parts
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/) /*@kernel*/conv2d_sum_parts/*@*/(
    const /*@acc*/float/*@*/ *__restrict__ partial, /*@grad_dtype*/float/*@*/ *__restrict__ dw) {
    using A = /*@acc*/float/*@*/;
    using G = /*@grad_dtype*/float/*@*/;
    constexpr bool ACCUMULATE = /*@accumulate*/false/*@*/;
    constexpr int PARTS = /*@parts*/8/*@*/, WARPS = /*@threads*/256/*@*/ / 32;
    constexpr int SHARE = (PARTS + WARPS - 1) / WARPS;
    constexpr int64_t ELEMENTS = /*@elements*/18432/*@*/;

    DYNAMIC_SHARED(A, shares); /* [WARPS][32] */
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t element = static_cast<int64_t>(blockIdx.x) * 32 + lane;
    A sum = 0;
#pragma unroll 8
    for (int part = warp * SHARE; part < (warp + 1) * SHARE; part++)
        if (part < PARTS && element < ELEMENTS)
            sum += partial[part * ELEMENTS + element];
    shares[threadIdx.x] = sum;
    __syncthreads();
    if (warp > 0 || element >= ELEMENTS)
        return;
#pragma unroll
    for (int share = 1; share < WARPS; share++)
        sum += shares[share * 32 + lane];
    dw[element] = convert<G>(ACCUMULATE ? convert<A>(dw[element]) + sum : sum);
}
//@end
