/* Products of a warpgroup on Hopper's tensor cores (wgmma, sm_90a), for bf16 and fp16 with fp32 sums, and
 * the tiles in shared memory that they read. A tile consists of panels, which start at multiples of
 * 1024 bytes. A panel has its rows of 128 bytes one after the other, with 128-byte swizzle; a narrow
 * one has rows of 64 bytes, with 64-byte swizzle. With GPUOPT_SIM defined, mma.sync computes the same
 * products from the same tiles. */
#ifndef WGMMA_CUH
#define WGMMA_CUH

#include "runtime/kernel.cuh"

//@prelude
/* Columns of a panel; a narrow one has half of them. */
static constexpr int PANEL = 64;

/* Where 16 bytes of a panel's row are: number `chunk` of them, if there were no swizzle. */
template <int COLUMNS> static __device__ __forceinline__ int swizzled(int row, int chunk) {
    return COLUMNS == PANEL ? chunk ^ row % 8 : chunk ^ row / 2 % 4;
}

/* An address within shared memory, as matrix descriptors need it. */
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

/* After a barrier, wgmma of any thread sees what this thread has written to shared memory. */
static __device__ __forceinline__ void fence_tiles() {
#ifndef GPUOPT_SIM
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
#endif
}

/* How an operand lies in a tile: `Deep` ones are rows of a panel, along which the product sums; `Flat`
 * ones are columns of panels with DEPTH rows each, down which it sums. LEADING: bytes from one panel to
 * the next. */
struct Deep {
    static constexpr int FLAT = 0, COLUMNS = PANEL, LEADING = 16;
};
template <int DEPTH, int PANEL_COLUMNS = PANEL> struct Flat {
    static constexpr int FLAT = 1, COLUMNS = PANEL_COLUMNS, LEADING = DEPTH * COLUMNS * 2;
};

#ifdef GPUOPT_SIM
template <class Layout, class T>
static __device__ __forceinline__ unsigned operand_bits(Operand<T> operand, int i, int k) {
    constexpr int COLUMNS = Layout::COLUMNS;
    const T *from = operand.start + (Layout::FLAT ? i / COLUMNS * (Layout::LEADING / 2) + k * COLUMNS +
                                                        i % COLUMNS
                                                  : i * COLUMNS + k);
    uintptr_t at = reinterpret_cast<uintptr_t>(from);
    at ^= (at >> 7 & (COLUMNS / 8 - 1)) << 4;
    unsigned short bits;
    memcpy(&bits, reinterpret_cast<const T *>(at), sizeof bits);
    return bits;
}
/* Elements k and k + 1 of row (or column) i. */
template <class Layout, class T>
static __device__ __forceinline__ unsigned operand_pair(Operand<T> operand, int i, int k) {
    return operand_bits<Layout>(operand, i, k) | operand_bits<Layout>(operand, i, k + 1) << 16;
}

static __device__ __forceinline__ void wgmma_begin() {}
static __device__ __forceinline__ void wgmma_commit() {}
template <int GROUPS, int TILES>
static __device__ __forceinline__ void wgmma_wait(float (&)[TILES][4]) {}

template <class B, int TILES, class T>
static __device__ __forceinline__ void wgmma(float (&sums)[TILES][4], const unsigned (&a)[4],
                                             Operand<T> b, bool add = true) {
    const int lane = threadIdx.x % 32, k = lane % 4 * 2;
    for (int n = 0; n < TILES; n++) {
        const unsigned columns[2] = {operand_pair<B>(b, n * 8 + lane / 4, k),
                                     operand_pair<B>(b, n * 8 + lane / 4, k + 8)};
        for (int c = 0; !add && c < 4; c++)
            sums[n][c] = 0;
        mma_16816(sums[n], a, columns, T());
    }
}
template <class A, class B, int TILES, class T>
static __device__ __forceinline__ void wgmma(float (&sums)[TILES][4], Operand<T> a, Operand<T> b,
                                             bool add = true) {
    const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane / 4;
    const int k = lane % 4 * 2;
    const unsigned rows[4] = {operand_pair<A>(a, row, k), operand_pair<A>(a, row + 8, k),
                              operand_pair<A>(a, row, k + 8), operand_pair<A>(a, row + 8, k + 8)};
    wgmma<B>(sums, rows, b, add);
}
#else
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "this program uses wgmma, which only sm_90a has: set compile.wgmma = false, or job.device"
#endif

/* The descriptor of a matrix: its start; the kind of swizzle; how far apart are groups of 8 rows, which
 * follow one another, and panels, in units of 16 bytes. */
template <class Layout, class T>
static __device__ __forceinline__ uint64_t matrix_descriptor(Operand<T> operand) {
    constexpr unsigned SWIZZLE = Layout::COLUMNS == PANEL ? 1u << 30 : 1u << 31;
    constexpr unsigned GROUP = 8 * Layout::COLUMNS * 2 / 16, PANELS = Layout::LEADING / 16;
    return uint64_t(SWIZZLE | GROUP) << 32 | (operand.start + (PANELS << 16));
}

#define WGMMA_4(d, n) "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
#define WGMMA_16(d, n) WGMMA_4(d, n), WGMMA_4(d, n + 1), WGMMA_4(d, n + 2), WGMMA_4(d, n + 3)
#define WGMMA_SUMS_4(d) WGMMA_16(d, 0)
#define WGMMA_SUMS_8(d) WGMMA_16(d, 0), WGMMA_16(d, 4)
#define WGMMA_SUMS_16(d) WGMMA_16(d, 0), WGMMA_16(d, 4), WGMMA_16(d, 8), WGMMA_16(d, 12)
#define WGMMA_NAMES_4 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_NAMES_8                                                                       \
    WGMMA_NAMES_4 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, " \
    "%30, %31"
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
WGMMA_WAIT(4, "%16")
WGMMA_WAIT(8, "%32")
WGMMA_WAIT(16, "%64")

/* sums [64 rows][8 TILES columns] = rows of a . columns of b, plus the old sums if `add`; 16 deep. */
#define WGMMA(TILES, N, A_MATRIX, B_MATRIX, ADD, A_FLAT, B_FLAT, T, TYPE)                       \
    template <class A, class B>                                                                 \
    static __device__ __forceinline__ void wgmma(float (&sums)[TILES][4], Operand<T> a,         \
                                                 Operand<T> b, bool add = true) {               \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " ADD ", 0;\n"                       \
                     "wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TYPE "." TYPE             \
                     " {" WGMMA_NAMES_##TILES "}, " A_MATRIX ", " B_MATRIX ", add, 1, 1, "      \
                     A_FLAT ", " B_FLAT ";\n}\n"                                                \
                     : WGMMA_SUMS_##TILES(sums)                                                 \
                     : "l"(matrix_descriptor<A>(a)), "l"(matrix_descriptor<B>(b)),              \
                       "r"(static_cast<int>(add)), "n"(A::FLAT), "n"(B::FLAT)                   \
                     : "memory");                                                               \
    }
WGMMA(4, "32", "%16", "%17", "%18", "%19", "%20", __nv_bfloat16, "bf16")
WGMMA(4, "32", "%16", "%17", "%18", "%19", "%20", __half, "f16")
WGMMA(8, "64", "%32", "%33", "%34", "%35", "%36", __nv_bfloat16, "bf16")
WGMMA(8, "64", "%32", "%33", "%34", "%35", "%36", __half, "f16")
WGMMA(16, "128", "%64", "%65", "%66", "%67", "%68", __nv_bfloat16, "bf16")
WGMMA(16, "128", "%64", "%65", "%66", "%67", "%68", __half, "f16")

/* sums [64 rows][8 TILES columns] += a . columns of b; 16 deep, with a in registers. */
#define WGMMA_OF_REGISTERS(TILES, N, A0, A1, A2, A3, B_MATRIX, B_FLAT, T, TYPE)                 \
    template <class B>                                                                          \
    static __device__ __forceinline__ void wgmma(float (&sums)[TILES][4],                       \
                                                 const unsigned (&a)[4], Operand<T> b) {        \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TYPE "." TYPE             \
                     " {" WGMMA_NAMES_##TILES "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " B_MATRIX  \
                     ", 1, 1, 1, " B_FLAT ";\n"                                                 \
                     : WGMMA_SUMS_##TILES(sums)                                                 \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),                              \
                       "l"(matrix_descriptor<B>(b)), "n"(B::FLAT)                               \
                     : "memory");                                                               \
    }
WGMMA_OF_REGISTERS(8, "64", "%32", "%33", "%34", "%35", "%36", "%37", __nv_bfloat16, "bf16")
WGMMA_OF_REGISTERS(8, "64", "%32", "%33", "%34", "%35", "%36", "%37", __half, "f16")
WGMMA_OF_REGISTERS(16, "128", "%64", "%65", "%66", "%67", "%68", "%69", __nv_bfloat16, "bf16")
WGMMA_OF_REGISTERS(16, "128", "%64", "%65", "%66", "%67", "%68", "%69", __half, "f16")
#endif
//@end

#endif
