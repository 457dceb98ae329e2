/* CUDA's device language for the host's C++ compiler. simcc force-includes this file before a
 * kernels.cu and lists the kernels after it with SIM_KERNEL.
 *
 * The threads of a block run one after the other on fibers. threadIdx is therefore three
 * file-static scalars, saved around each call that may switch fibers; an addressable struct would
 * prevent the compiler from vectorizing loops. Only full warps and full masks are simulated:
 * anything else ends the launch.
 */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H
#define GPUOPT_SIM 1

/* The scan wants none of the system's text, and reading it would take longer than the scan: the
 * CUDA headers that kernels include are empty if these are defined. */
#ifdef SIM_SCAN
#define __CUDA_BF16_H__
#define __CUDA_FP16_H__
#else
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>
#include <utility>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector_functions.h>
#include <vector_types.h>
#endif

#include "sim_kernel.h"

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __align__
#define __host__
#define __constant__ static
#define __shared__ static __attribute__((section("sim_shared")))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
/* simcc's scan must still see these three. */
#ifndef SIM_SCAN
#define __global__
#define __device__
#define __launch_bounds__(...)
#endif

/* ---- Indices ----------------------------------------------------------------------------- */

static unsigned sim_thread_x, sim_thread_y, sim_thread_z;
static SimDim sim_grid, sim_block, sim_index;

#define threadIdx (SimDim{sim_thread_x, sim_thread_y, sim_thread_z})
#define blockIdx (static_cast<const SimDim &>(sim_index))
#define blockDim (static_cast<const SimDim &>(sim_block))
#define gridDim (static_cast<const SimDim &>(sim_grid))
static constexpr int warpSize = 32;

/* Sets the indices of a thread from its linear number. */
static inline void sim_place_thread(unsigned thread) {
    sim_thread_x = thread % sim_block.x;
    sim_thread_y = thread / sim_block.x % sim_block.y;
    sim_thread_z = thread / sim_block.x / sim_block.y;
}

static inline unsigned sim_lane() {
    return (sim_thread_x + sim_block.x * (sim_thread_y + sim_block.y * sim_thread_z)) % 32;
}

/* Keeps the indices while other threads run. */
struct SimIndices {
    const unsigned x = sim_thread_x, y = sim_thread_y, z = sim_thread_z;
    __forceinline__ ~SimIndices() { sim_thread_x = x, sim_thread_y = y, sim_thread_z = z; }
};

/* ---- Barriers and warps ------------------------------------------------------------------ */

/* The line identifies the barrier: all threads must wait at the same one. */
static __forceinline__ void __syncthreads(int line = __builtin_LINE()) {
    const SimIndices kept;
    sim_barrier(line);
}

/* Each lane passes a record; the last lane to arrive runs `all` on the 32 records. */
static __forceinline__ void sim_warp_waiting(void *lane, void (*all)(void **), const char *what) {
    const SimIndices kept;
    sim_warp(lane, all, what);
}
#define sim_warp sim_warp_waiting

static inline void sim_full(unsigned mask) {
    if (mask != 0xffffffffu)
        sim_trap("a warp operation with a partial mask, which is not simulated");
}

static inline void sim_nothing(void **) {}
static inline void __syncwarp(unsigned mask = 0xffffffffu) {
    sim_full(mask);
    sim_warp(nullptr, sim_nothing, "__syncwarp");
}

template <class T> struct SimShuffle {
    T value, result;
    int lane;
};

template <class T> static void sim_shuffle_warp(void **lanes) {
    SimShuffle<T> **lane = reinterpret_cast<SimShuffle<T> **>(lanes);
    for (int i = 0; i < 32; i++)
        lane[i]->result = lane[lane[i]->lane & 31]->value;
}

template <class T> static inline T sim_shuffle(T value, int from) {
    SimShuffle<T> mine = {value, value, from};
    sim_warp(&mine, sim_shuffle_warp<T>, "shuffle");
    return mine.result;
}

template <class T> static inline T __shfl_sync(unsigned mask, T v, int lane, int width = 32) {
    sim_full(mask);
    const int base = static_cast<int>(sim_lane()) & ~(width - 1);
    return sim_shuffle(v, base | (lane & (width - 1)));
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int x, int width = 32) {
    sim_full(mask);
    const int lane = static_cast<int>(sim_lane()), to = lane ^ x;
    return sim_shuffle(v, (to & ~(width - 1)) > (lane & ~(width - 1)) ? lane : to);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T v, int by, int width = 32) {
    sim_full(mask);
    const int lane = static_cast<int>(sim_lane());
    return sim_shuffle(v, (lane & (width - 1)) + by < width ? lane + by : lane);
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T v, int by, int width = 32) {
    sim_full(mask);
    const int lane = static_cast<int>(sim_lane());
    return sim_shuffle(v, (lane & (width - 1)) >= by ? lane - by : lane);
}

struct SimVote {
    bool vote;
    unsigned all;
};

static inline void sim_vote_warp(void **lanes) {
    SimVote **lane = reinterpret_cast<SimVote **>(lanes);
    unsigned all = 0;
    for (int i = 0; i < 32; i++)
        all |= static_cast<unsigned>(lane[i]->vote) << i;
    for (int i = 0; i < 32; i++)
        lane[i]->all = all;
}

static inline unsigned __ballot_sync(unsigned mask, bool vote) {
    sim_full(mask);
    SimVote mine = {vote, 0};
    sim_warp(&mine, sim_vote_warp, "ballot");
    return mine.all;
}
static inline int __any_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) != 0; }
static inline int __all_sync(unsigned mask, bool vote) {
    return __ballot_sync(mask, vote) == 0xffffffffu;
}

/* Reduction over all lanes, in the order of an xor butterfly. */
template <class T> struct SimReduction { T value; };

template <class Op, class T> static void sim_butterfly_warp(void **lanes) {
    SimReduction<T> **lane = reinterpret_cast<SimReduction<T> **>(lanes);
    T value[32];
    for (int i = 0; i < 32; i++)
        value[i] = lane[i]->value;
    for (int half = 16; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            value[i] = Op::of(value[i], value[i + half]);
    for (int i = 0; i < 32; i++)
        lane[i]->value = value[0];
}

template <class Op, class T> static inline T sim_butterfly(T value) {
    SimReduction<T> mine = {value};
    sim_warp(&mine, sim_butterfly_warp<Op, T>, "reduction");
    return mine.value;
}

static inline void __threadfence() {}
static inline void __threadfence_block() {}

/* ---- Arithmetic -------------------------------------------------------------------------- */

static inline unsigned __float_as_uint(float x) {
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float __uint_as_float(unsigned bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline int __float_as_int(float x) { return static_cast<int>(__float_as_uint(x)); }
static inline float __int_as_float(int bits) {
    return __uint_as_float(static_cast<unsigned>(bits));
}

/* Rounds to nearest even without a branch, so that loops over it can be vectorized. */
static __forceinline__ __nv_bfloat16 sim_bfloat16(float x) {
    const unsigned bits = __float_as_uint(x);
    const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    __nv_bfloat16_raw raw;
    raw.x = static_cast<unsigned short>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
    return __nv_bfloat16(raw);
}

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline int __float2int_rn(float x) { return static_cast<int>(rintf(x)); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline void __stcs(T *p, T v) { *p = v; }

template <class A, class B> static inline std::common_type_t<A, B> max(A a, B b) {
    return a > b ? a : b;
}
template <class A, class B> static inline std::common_type_t<A, B> min(A a, B b) {
    return a < b ? a : b;
}
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline float min(float a, float b) { return fminf(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }

/* Blocks run one after the other, so these are atomic; the builtins make them visible to the race
 * flavour. */
template <class T> static inline T atomicAdd(T *p, T v) {
    static_assert(std::is_integral<T>::value, "no float atomics: their order is not defined");
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
template <class T> static inline T atomicMax(T *p, T v) {
    T seen = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (seen < v &&
           !__atomic_compare_exchange_n(p, &seen, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return seen;
}
template <class T> static inline T atomicOr(T *p, T v) {
    return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
template <class T> static inline T atomicExch(T *p, T v) {
    return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}
template <class T> static inline T atomicCAS(T *p, T expected, T v) {
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
static inline void __trap() { sim_trap("__trap"); }

/* glibc reserves these names. */
#define __expf(x) expf(x)
#define __logf(x) logf(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)

/* ---- Kernels and the module -------------------------------------------------------------- */

#ifdef SIM_FLATTEN
#define SIM_LOOP __attribute__((flatten))
#else
#define SIM_LOOP
#endif

template <auto KERNEL> struct SimEntry;
template <class... Arguments, void (*KERNEL)(Arguments...)> struct SimEntry<KERNEL> {
    static constexpr unsigned COUNT = sizeof...(Arguments);
    static constexpr unsigned BYTES[COUNT + 1] = {sizeof(Arguments)..., 0};

    template <size_t... I>
    static inline __attribute__((always_inline)) void call(void **a, std::index_sequence<I...>) {
        KERNEL(*static_cast<std::remove_reference_t<Arguments> *>(a[I])...);
    }
    static void thread(void **arguments, unsigned thread) {
        sim_place_thread(thread);
        call(arguments, std::make_index_sequence<COUNT>());
    }
    /* With SIM_FLATTEN the kernel is inlined, so its threads become an ordinary loop. */
    static SIM_LOOP void loop(void **arguments) {
        const SimDim block = sim_block;
        for (sim_thread_z = 0; sim_thread_z < block.z; sim_thread_z++)
            for (sim_thread_y = 0; sim_thread_y < block.y; sim_thread_y++)
                for (unsigned x = 0; x < block.x; x++) {
                    sim_thread_x = x;
                    call(arguments, std::make_index_sequence<COUNT>());
                }
    }
};

template <auto KERNEL, bool BLOCKS>
constexpr SimKernel sim_kernel(const char *name, unsigned max_threads) {
    using Entry = SimEntry<KERNEL>;
    if constexpr (BLOCKS)
        return {name, Entry::thread, nullptr, max_threads, Entry::COUNT, Entry::BYTES};
    else
        return {name, Entry::thread, Entry::loop, max_threads, Entry::COUNT, Entry::BYTES};
}

/* Returns the first number of __launch_bounds__, or 1024 without it. */
constexpr unsigned sim_bounds(unsigned max_threads = 1024, unsigned = 0, unsigned = 0) {
    return max_threads;
}

static inline void sim_place(SimDim grid, SimDim block, SimDim index) {
    sim_grid = grid, sim_block = block, sim_index = index;
}

/* The section needs at least one variable, so that the linker defines the symbols of its bounds. */
__attribute__((used, section("sim_shared"))) static unsigned char sim_shared_anchor[16];
extern "C" unsigned char __start_sim_shared[] __attribute__((visibility("hidden")));
extern "C" unsigned char __stop_sim_shared[] __attribute__((visibility("hidden")));

#define SIM_KERNEL(name, blocks, ...) sim_kernel<&name, blocks>(#name, sim_bounds(__VA_ARGS__)),
#define SIM_VARIABLE(name) {#name, (void *)&name, sizeof(name)},
#define SIM_MODULE(flavour)                                                         \
    extern "C" __attribute__((visibility("default")))                               \
    const SimModule sim_module = {SIM_ABI,                                          \
                                  flavour,                                          \
                                  sizeof sim_kernels / sizeof *sim_kernels - 1,     \
                                  sizeof sim_variables / sizeof *sim_variables - 1, \
                                  sim_kernels,                                      \
                                  sim_variables,                                    \
                                  sim_place,                                        \
                                  __start_sim_shared,                               \
                                  __stop_sim_shared};

#endif
