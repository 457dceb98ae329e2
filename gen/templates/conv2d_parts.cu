/* dw[e] (+)= sum over parts of partial[part][e], in the order of the parts.
 *
 *     partial [parts, elements] dense    dw [elements] dense
 *
 * Launch geometry: grid (ceil(elements / threads)). Bytes: partial and dw once (dw is also read if
 * ACCUMULATE). FLOPs: parts * elements. */
#include "runtime/kernel.cuh"

//@kernel sum_parts
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/) /*@kernel*/conv2d_sum_parts/*@*/(
    const /*@acc*/float/*@*/ *__restrict__ partial, /*@grad_dtype*/float/*@*/ *__restrict__ dw) {
    using A = /*@acc*/float/*@*/;
    using G = /*@grad_dtype*/float/*@*/;
    constexpr bool ACCUMULATE = /*@accumulate*/false/*@*/;
    constexpr int PARTS = /*@parts*/8/*@*/, THREADS = /*@threads*/256/*@*/;
    constexpr int64_t ELEMENTS = /*@elements*/18432/*@*/;

    const int64_t element = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (element >= ELEMENTS)
        return;
    A sum = 0;
#pragma unroll 8
    for (int part = 0; part < PARTS; part++)
        sum += partial[part * ELEMENTS + element];
    dw[element] = convert<G>(ACCUMULATE ? convert<A>(dw[element]) + sum : sum);
}
//@end
