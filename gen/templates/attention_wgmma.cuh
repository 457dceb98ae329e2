/* Shared by the attention kernels for Hopper's tensor cores: tiles of tokens in panels, and products of
 * a warpgroup's 64 rows with them. */
#ifndef ATTENTION_WGMMA_CUH
#define ATTENTION_WGMMA_CUH

#include "attention_tiles.cuh"
#include "wgmma.cuh"

//@prelude attention_tiles.cuh
//@prelude wgmma.cuh

//@prelude
/* Starts copying WIDTH columns of PLACES tokens to a tile, with zeros past the last token. A thread
 * copies the same columns of every ROUND-th token; the swizzle repeats after 8 rows. `place % ROUND`
 * lets the compiler drop comparisons that are always true. */
template <int THREADS, int PLACES, int WIDTH, class T>
static __device__ __forceinline__ void
attention_fetch_panels(T *tile, const T *tokens, int64_t stride, int places) {
    constexpr int CHUNKS = WIDTH / 8, ROUND = THREADS / CHUNKS;
    static_assert(ROUND % 8 == 0 && PLACES % ROUND == 0, "all threads copy the same number of chunks");
    const int place = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
    T *to = tile + (chunk / 8 * PLACES + place) * PANEL + swizzled<PANEL>(place, chunk % 8) * 8;
    const T *from = tokens + place * stride + chunk * 8;
#pragma unroll
    for (int first = 0; first < PLACES; first += ROUND) {
        const bool inside = place % ROUND + first < places;
        cp_async_16(to + first * PANEL, inside ? from + first * stride : tokens, inside);
    }
}

/* Begins products [64 rows][8 TILES] = the 64 rows of a tile . rows of another tile. */
template <int WIDTH, int TILES, class T>
static __device__ __forceinline__ void begin_dots(float (&products)[TILES][4], const T *own,
                                                  const T *tile) {
    const Operand<T> a = own, b = tile;
#pragma unroll
    for (int d = 0; d < WIDTH; d += 16)
        wgmma<Deep, Deep>(products, a.after(d / PANEL * 64 * PANEL + d % PANEL),
                          b.after(d / PANEL * 8 * TILES * PANEL + d % PANEL), d > 0);
}

/* Converts sums to weights of type T, in the layout of a product's first operand. */
template <class T, int TILES>
static __device__ __forceinline__ void pack_weights(unsigned (&weights)[TILES / 2][4],
                                                    const float (&sums)[TILES][4]) {
#pragma unroll
    for (int step = 0; step < TILES / 2; step++)
        AttentionMma<T>::from_sums(weights[step], sums, step);
}

/* Begins sums [64 rows][8 SUM_TILES columns] += weights [64 rows][16 STEPS tokens] .
 * tile[tokens][columns]. */
template <int SUM_TILES, int STEPS, class T>
static __device__ __forceinline__ void begin_weighted(float (&sums)[SUM_TILES][4],
                                                      const unsigned (&weights)[STEPS][4],
                                                      const T *tile) {
    const Operand<T> b = tile;
#pragma unroll
    for (int step = 0; step < STEPS; step++)
        wgmma<Flat<16 * STEPS>>(sums, weights[step], b.after(step * 16 * PANEL));
}
/* Called after the wait: the products read the registers of the weights until then. This keeps nvcc
 * from moving the weights. ptxas may still reuse these registers if there is a branch before the
 * wait, so there must be none; tests/gpu/in_flight.py finds out. */
template <int STEPS>
static __device__ __forceinline__ void end_weighted(const unsigned (&weights)[STEPS][4]) {
#pragma unroll
    for (int step = 0; step < STEPS; step++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            asm volatile("" ::"r"(weights[step][i]) : "memory");
}
template <int SUM_TILES, int STEPS, class T>
static __device__ __forceinline__ void add_weighted(float (&sums)[SUM_TILES][4],
                                                    const unsigned (&weights)[STEPS][4],
                                                    const T *tile) {
    wgmma_begin();
    begin_weighted(sums, weights, tile);
    wgmma_commit();
    wgmma_wait<0>(sums);
    end_weighted(weights);
}
template <int SUM_TILES, int TILES, class T>
static __device__ __forceinline__ void add_weighted(float (&sums)[SUM_TILES][4],
                                                    const float (&weights)[TILES][4], const T *tile) {
    unsigned packed[TILES / 2][4];
    pack_weights<T>(packed, weights);
    add_weighted(sums, packed, tile);
}
//@end

#endif
