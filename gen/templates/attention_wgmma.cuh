/* Shared by the attention kernels for Hopper's tensor cores: tiles in shared memory in the layout
 * that wgmma reads, and products of a warpgroup's 64 rows with them. A tile consists of panels of
 * 64 columns. A panel has its rows of 128 bytes one after the other, with 128-byte swizzle, and
 * starts at a multiple of 1024 bytes. With GPUOPT_SIM defined, mma.sync computes the same products
 * from the same tiles. */
#ifndef ATTENTION_WGMMA_CUH
#define ATTENTION_WGMMA_CUH

#include "attention_tiles.cuh"

//@prelude attention_tiles.cuh

//@prelude
/* Columns of a panel. shared_address() returns an address within shared memory, as matrix
 * descriptors need it. */
static constexpr int PANEL = 64;

static __device__ __forceinline__ unsigned shared_address(const void *p) {
#ifdef GPUOPT_SIM
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(p));
#else
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
#endif
}

/* Where a product's operand starts in a tile. For wgmma it is an address in units of 16 bytes: from
 * one to the next a thread only adds a constant. */
template <class T> struct Operand {
#ifdef GPUOPT_SIM
    const T *start;
    __device__ __forceinline__ Operand(const T *tile) : start(tile) {}
#else
    unsigned start;
    __device__ __forceinline__ Operand(const T *tile) : start((shared_address(tile) & 0x3ffff) / 16) {}
#endif
    __device__ __forceinline__ Operand after(int elements) const {
        Operand later = *this;
#ifdef GPUOPT_SIM
        later.start += elements;
#else
        later.start += elements * static_cast<int>(sizeof(T)) / 16;
#endif
        return later;
    }
};

/* The next multiple of 1024 bytes. */
template <class T> static __device__ __forceinline__ T *aligned_tiles(T *shared) {
    return shared + (-shared_address(shared) & 1023) / sizeof(T);
}

/* Starts copying WIDTH columns of PLACES tokens to a tile, with zeros past the last token. A thread
 * copies the same columns of every ROUND-th token; the swizzle repeats after 8 rows. `place % ROUND`
 * lets the compiler drop comparisons that are always true. */
template <int THREADS, int PLACES, int WIDTH, class T>
static __device__ __forceinline__ void
attention_fetch_panels(T *tile, const T *tokens, int64_t stride, int places) {
    constexpr int CHUNKS = WIDTH / 8, ROUND = THREADS / CHUNKS;
    static_assert(ROUND % 8 == 0 && PLACES % ROUND == 0, "all threads copy the same number of chunks");
    const int place = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
    T *to = tile + (chunk / 8 * PLACES + place) * PANEL + (chunk % 8 ^ place % 8) * 8;
    const T *from = tokens + place * stride + chunk * 8;
#pragma unroll
    for (int first = 0; first < PLACES; first += ROUND) {
        const bool inside = place % ROUND + first < places;
        cp_async_16(to + first * PANEL, inside ? from + first * stride : tokens, inside);
    }
}

/* After a barrier, wgmma of any thread sees what this thread has written to shared memory. */
static __device__ __forceinline__ void fence_tiles() {
#ifndef GPUOPT_SIM
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
#endif
}

#ifdef GPUOPT_SIM
template <class T>
static __device__ __forceinline__ unsigned panel_bits(const T *panel, int row, int column) {
    const T *from = panel + row * PANEL + column;
    uintptr_t at = reinterpret_cast<uintptr_t>(from);
    at ^= (at >> 7 & 7) << 4;
    unsigned short bits;
    memcpy(&bits, reinterpret_cast<const T *>(at), sizeof bits);
    return bits;
}
/* Two consecutive elements of a panel, along a row or down a column. */
template <class T>
static __device__ __forceinline__ unsigned panel_pair(const T *panel, int row, int column,
                                                      bool down) {
    return panel_bits(panel, row, column) |
           panel_bits(panel, row + down, column + !down) << 16;
}

static __device__ __forceinline__ void wgmma_begin() {}
static __device__ __forceinline__ void wgmma_commit() {}
template <int GROUPS, int TILES>
static __device__ __forceinline__ void wgmma_wait(float (&)[TILES][4]) {}

template <int TILES, class T>
static __device__ __forceinline__ void wgmma_rows(float (&sums)[TILES][4], Operand<T> own,
                                                  Operand<T> tile, bool add) {
    const T *a = own.start, *b = tile.start;
    const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane / 4;
    const int k = lane % 4 * 2;
    const unsigned fragment[4] = {panel_pair(a, row, k, false), panel_pair(a, row + 8, k, false),
                                  panel_pair(a, row, k + 8, false),
                                  panel_pair(a, row + 8, k + 8, false)};
    for (int n = 0; n < TILES; n++) {
        const unsigned columns[2] = {panel_pair(b, n * 8 + lane / 4, k, false),
                                     panel_pair(b, n * 8 + lane / 4, k + 8, false)};
        for (int c = 0; !add && c < 4; c++)
            sums[n][c] = 0;
        mma_16816(sums[n], fragment, columns, T());
    }
}
template <int PLACES, int TILES, class T>
static __device__ __forceinline__ void wgmma_columns(float (&sums)[TILES][4],
                                                     const unsigned (&a)[4], Operand<T> tile) {
    const int lane = threadIdx.x % 32, k = lane % 4 * 2;
    for (int n = 0; n < TILES; n++) {
        const T *panel = tile.start + n / 8 * PLACES * PANEL;
        const unsigned columns[2] = {panel_pair(panel, k, n % 8 * 8 + lane / 4, true),
                                     panel_pair(panel, k + 8, n % 8 * 8 + lane / 4, true)};
        mma_16816(sums[n], a, columns, T());
    }
}
#else
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "attention uses wgmma, which only sm_90a has: set compile.wgmma = false, or job.device"
#endif

/* The descriptor of a matrix. Groups of 8 rows of 128 bytes are 1024 bytes apart, panels `leading`
 * bytes. */
template <class T>
static __device__ __forceinline__ uint64_t panel_descriptor(Operand<T> operand, int leading) {
    return uint64_t(1u << 30 | 1024 / 16) << 32 | (operand.start + (leading / 16 << 16));
}

#define WGMMA_4(d, n) "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
#define WGMMA_16(d, n) WGMMA_4(d, n), WGMMA_4(d, n + 1), WGMMA_4(d, n + 2), WGMMA_4(d, n + 3)
#define WGMMA_SUMS_8(d) WGMMA_16(d, 0), WGMMA_16(d, 4)
#define WGMMA_SUMS_16(d) WGMMA_16(d, 0), WGMMA_16(d, 4), WGMMA_16(d, 8), WGMMA_16(d, 12)
#define WGMMA_NAMES_8                                                           \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_NAMES_16                                                          \
    WGMMA_NAMES_8 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
    "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/* Orders earlier writes to the registers of later products before those products. */
static __device__ __forceinline__ void wgmma_begin() {
    asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}
/* Makes one group of the products since the last commit. */
static __device__ __forceinline__ void wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
/* Waits for all but the last GROUPS groups. The sums are operands so that they are not read before
 * the wait. */
#define WGMMA_WAIT(TILES, LEFT)                                                       \
    template <int GROUPS>                                                             \
    static __device__ __forceinline__ void wgmma_wait(float (&sums)[TILES][4]) {      \
        asm volatile("wgmma.wait_group.sync.aligned " LEFT ";\n"                      \
                     : WGMMA_SUMS_##TILES(sums)                                       \
                     : "n"(GROUPS)                                                    \
                     : "memory");                                                     \
    }
WGMMA_WAIT(8, "%32")
WGMMA_WAIT(16, "%64")

/* sums [64 rows][8 TILES columns] = rows of a . rows of b, plus the old sums if `add`; 16 deep. A
 * program uses one of the four. */
#define WGMMA_ROWS(TILES, N, A, B, ADD, T, TYPE)                                                \
    [[maybe_unused]]                                                                            \
    static __device__ __forceinline__ void wgmma_rows(float (&sums)[TILES][4], Operand<T> a,    \
                                                      Operand<T> b, bool add) {                 \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " ADD ", 0;\n"                       \
                     "wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TYPE "." TYPE             \
                     " {" WGMMA_NAMES_##TILES "}, " A ", " B ", add, 1, 1, 0, 0;\n}\n"          \
                     : WGMMA_SUMS_##TILES(sums)                                                 \
                     : "l"(panel_descriptor(a, 16)), "l"(panel_descriptor(b, 16)),              \
                       "r"(static_cast<int>(add))                                               \
                     : "memory");                                                               \
    }
WGMMA_ROWS(8, "64", "%32", "%33", "%34", __nv_bfloat16, "bf16")
WGMMA_ROWS(8, "64", "%32", "%33", "%34", __half, "f16")
WGMMA_ROWS(16, "128", "%64", "%65", "%66", __nv_bfloat16, "bf16")
WGMMA_ROWS(16, "128", "%64", "%65", "%66", __half, "f16")

/* sums [64 rows][8 TILES columns] += a . columns of b, whose panels have PLACES rows; 16 deep. */
#define WGMMA_COLUMNS(TILES, N, A0, A1, A2, A3, B, T, TYPE)                                     \
    template <int PLACES>                                                                       \
    static __device__ __forceinline__ void wgmma_columns(                                       \
        float (&sums)[TILES][4], const unsigned (&a)[4], Operand<T> b) {                        \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TYPE "." TYPE             \
                     " {" WGMMA_NAMES_##TILES "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " B         \
                     ", 1, 1, 1, 1;\n"                                                          \
                     : WGMMA_SUMS_##TILES(sums)                                                 \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),                              \
                       "l"(panel_descriptor(b, PLACES * 128))                                   \
                     : "memory");                                                               \
    }
WGMMA_COLUMNS(8, "64", "%32", "%33", "%34", "%35", "%36", __nv_bfloat16, "bf16")
WGMMA_COLUMNS(8, "64", "%32", "%33", "%34", "%35", "%36", __half, "f16")
WGMMA_COLUMNS(16, "128", "%64", "%65", "%66", "%67", "%68", __nv_bfloat16, "bf16")
WGMMA_COLUMNS(16, "128", "%64", "%65", "%66", "%67", "%68", __half, "f16")
#endif

/* Begins products [64 rows][8 TILES] = the 64 rows of a tile . rows of another tile. */
template <int WIDTH, int TILES, class T>
static __device__ __forceinline__ void begin_dots(float (&products)[TILES][4], const T *own,
                                                  const T *tile) {
    const Operand<T> a = own, b = tile;
#pragma unroll
    for (int d = 0; d < WIDTH; d += 16)
        wgmma_rows(products, a.after(d / PANEL * 64 * PANEL + d % PANEL),
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
        wgmma_columns<16 * STEPS>(sums, weights[step], b.after(step * 16 * PANEL));
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
