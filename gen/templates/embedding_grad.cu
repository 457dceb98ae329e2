/* Gradient of an embedding table: dw[ids[t]] (+)= dy[t], the places of one token added in their order.
 *
 *     dy [tokens, hidden] with a row stride   ids int32 [tokens]   dw [vocab, hidden] dense
 *
 * A block takes one place. The first place of each token sums all places of that token; the blocks of the
 * other places leave. So no atomics are needed and the order of every sum is fixed. Rows of tokens that do
 * not occur are not touched: where ACCUMULATE is false, the caller zeroes dw first.
 *
 * Launch geometry: columns = min(4, ceil(hidden / threads)), threads a multiple of 32
 *     grid (tokens, ceil(hidden / (threads * columns))), block (threads), no dynamic shared memory
 * Bytes: dy and each touched row of dw once (dw read too where it accumulates); every block reads ids up
 * to its token's first place, the summing ones all of it. FLOPs: tokens * hidden. */
#include "runtime/kernel.cuh"

//@kernel embedding_grad
extern "C" __global__ void __launch_bounds__(/*@threads*/128/*@*/) /*@kernel*/embedding_grad/*@*/(
    const /*@dtype*/float/*@*/ *__restrict__ dy, const int *__restrict__ ids,
    /*@grad_dtype*/float/*@*/ *__restrict__ dw) {
    using A = /*@acc*/float/*@*/;
    using G = /*@grad_dtype*/float/*@*/;
    constexpr int TOKENS = /*@tokens*/1024/*@*/, HIDDEN = /*@hidden*/256/*@*/;
    constexpr int64_t DY_STRIDE = /*@dy_stride*/256/*@*/;
    constexpr int THREADS = /*@threads*/128/*@*/, COLUMNS = /*@columns*/2/*@*/;
    constexpr bool ACCUMULATE = /*@accumulate*/false/*@*/;
    constexpr int SHARE = 8, WINDOW = THREADS * SHARE; /* places a thread, a block looks at, at a time */
    SHARED int found[THREADS];  /* by thread: places of our token in its share of the window */
    SHARED int matches[WINDOW]; /* these places, in order */

    const int own = blockIdx.x, id = ids[own], thread = threadIdx.x;/*@leave*//*@*/
    A sums[COLUMNS] = {};
    for (int base = 0; base < TOKENS; base += WINDOW) {
        int count = 0;
        const int first = base + thread * SHARE;
        for (int place = first; place < first + SHARE && place < TOKENS; place++)
            count += ids[place] == id;
        found[thread] = count;
        __syncthreads();
        int slot = 0, total = 0;
        for (int other = 0; other < THREADS; other++) {
            slot += other < thread ? found[other] : 0;
            total += found[other];
        }
        for (int place = first; place < first + SHARE && place < TOKENS; place++)
            if (ids[place] == id)
                matches[slot++] = place;
        __syncthreads();
        if (base + WINDOW <= own ? total > 0 : base <= own && matches[0] != own)
            return; /* an earlier place sums this token */
        for (int i = 0; i < total; i++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const int column = (blockIdx.y * COLUMNS + c) * THREADS + thread;
                if (column < HIDDEN)
                    sums[c] += convert<A>(dy[matches[i] * DY_STRIDE + column]);
            }
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const int column = (blockIdx.y * COLUMNS + c) * THREADS + thread;
        if (column < HIDDEN) {
            G *at = dw + static_cast<int64_t>(id) * HIDDEN + column;
            *at = convert<G>(ACCUMULATE ? convert<A>(*at) + sums[c] : sums[c]);
        }
    }
}
//@end
