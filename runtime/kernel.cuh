/* The one device header of every kernels.cu: conversions, vector accesses, warp and block
 * reductions, random numbers, and the tensor-core instructions that CUDA C++ has no name for.
 *
 * Compiles with nvcc and NVRTC (sm_80 and later) and, with GPUOPT_SIM defined, with the host C++
 * compiler of the simulated device. Next to each instruction in inline PTX is the call that
 * simulates it. Fragment layouts follow the PTX ISA, sections "Matrix Fragments for mma.m16n8k16",
 * "mma.m16n8k8" and "ldmatrix". Functions whose names end in _approx are approximate, and serve
 * programs in 16 bits only; there are no other fast-math functions. */
#ifndef GPUOPT_KERNEL_CUH
#define GPUOPT_KERNEL_CUH

#ifdef __CUDACC_RTC__
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
#define INFINITY __int_as_float(0x7f800000)
#else
#include <stdint.h>
#endif
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define SHARED __shared__

/* DYNAMIC_SHARED(float, tile): a pointer to the launch's dynamic shared memory, aligned to 128
 * bytes. */
#ifdef GPUOPT_SIM
#define DYNAMIC_SHARED(type, name) type *name = reinterpret_cast<type *>(sim_dynamic_shared())
#else
extern __shared__ __align__(128) unsigned char gpuopt_dynamic_shared[];
#define DYNAMIC_SHARED(type, name) type *name = reinterpret_cast<type *>(gpuopt_dynamic_shared)
#endif

/* ---- Conversions: convert<To>(x), round to nearest even ---------------------------------- */

/* Types without a direct conversion go through float, which holds every 16-bit value exactly. */
template <class To, class From> struct Conversion {
    static __device__ To of(From x) { return static_cast<To>(static_cast<float>(x)); }
};
template <class T> struct Conversion<T, T> {
    static __device__ T of(T x) { return x; }
};
template <> struct Conversion<float, double> {
    static __device__ float of(double x) { return static_cast<float>(x); }
};
template <> struct Conversion<double, int> {
    static __device__ double of(int x) { return x; }
};
template <> struct Conversion<int, double> {
    static __device__ int of(double x) { return static_cast<int>(rint(x)); }
};
template <class From> struct Conversion<int, From> {
    static __device__ int of(From x) { return static_cast<int>(rintf(static_cast<float>(x))); }
};
template <> struct Conversion<int, int> {
    static __device__ int of(int x) { return x; }
};
/* A bf16 is the upper half of a float. */
template <> struct Conversion<float, __nv_bfloat16> {
    static __device__ float of(__nv_bfloat16 x) {
        uint16_t bits;
        memcpy(&bits, &x, sizeof bits);
        return __uint_as_float(static_cast<uint32_t>(bits) << 16);
    }
};
template <> struct Conversion<__nv_bfloat16, float> {
#ifdef GPUOPT_SIM
    static __device__ __nv_bfloat16 of(float x) { return sim_bfloat16(x); }
#else
    static __device__ __nv_bfloat16 of(float x) { return __float2bfloat16_rn(x); }
#endif
};
/* These two do not go through float, which would round twice. */
template <> struct Conversion<__nv_bfloat16, double> {
    static __device__ __nv_bfloat16 of(double x) { return __double2bfloat16(x); }
};
template <> struct Conversion<__nv_bfloat16, int> {
    static __device__ __nv_bfloat16 of(int x) { return __double2bfloat16(x); }
};
template <> struct Conversion<__half, float> {
    static __device__ __half of(float x) { return __float2half_rn(x); }
};
template <> struct Conversion<__half, double> {
    static __device__ __half of(double x) { return __double2half(x); }
};
template <> struct Conversion<__half, int> {
    static __device__ __half of(int x) { return __double2half(x); }
};

/* An 8-bit float, torch's float8_e4m3fn: 4 exponent bits, 3 mantissa bits, no infinities. Codes are
 * in the order of their values, with 8 codes from each power of 2 to the next. Conversion
 * saturates: larger values become the largest finite one. */
struct Float8 {
    unsigned char bits;

    explicit __device__ Float8(float x) {
        const unsigned sign = __float_as_uint(x) >> 31 << 7;
        const float size = fminf(fabsf(x), 448.0f);
        const unsigned power = max(__float_as_uint(size) >> 23, 121u); /* at least 2^-6 */
        const float count = rintf(size / __uint_as_float((power - 3) << 23));
        const unsigned code = (power - 121) * 8 + static_cast<unsigned>(count);
        bits = static_cast<unsigned char>(sign | (x == x ? code : 0x7fu));
    }
    explicit __device__ operator float() const {
        const unsigned power = bits >> 3 & 15, code = bits & 127;
        const float count = static_cast<float>(power ? 8 + (bits & 7) : code);
        const float size = count * __uint_as_float(((power ? power : 1) + 117) << 23);
        return code == 127 ? __uint_as_float(0x7fc00000u) : bits >> 7 ? -size : size;
    }
};

template <class To, class From> __device__ __forceinline__ To convert(From x) {
    return Conversion<To, From>::of(x);
}

/* x after being stored as a T and loaded again. */
template <class T, class Real> struct Rounding {
    static __device__ Real of(Real x) { return convert<Real>(convert<T>(x)); }
};
#ifndef GPUOPT_SIM
/* A bf16 is the upper half of a float, so packing it above a zero half gives the rounded float: one
 * instruction instead of two. */
template <> struct Rounding<__nv_bfloat16, float> {
    static __device__ float of(float x) {
        uint32_t pair;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(x), "f"(0.0f));
        return __uint_as_float(pair);
    }
};
#endif
template <class T, class Real> __device__ __forceinline__ Real rounded(Real x) {
    return Rounding<T, Real>::of(x);
}

/* ---- Vector accesses --------------------------------------------------------------------- */

/* Element i of an array that is aligned to pairs if EVEN. A bf16 is taken from its pair by a shift:
 * of a shift and a conversion, the compiler makes one instruction. */
template <bool EVEN, class T> __device__ __forceinline__ T element_of(const T *v, int i) {
    return v[i];
}
#ifndef GPUOPT_SIM
template <> __device__ __forceinline__ __nv_bfloat16 element_of<true>(const __nv_bfloat16 *v, int i) {
    uint32_t pair;
    memcpy(&pair, v + i / 2 * 2, sizeof pair);
    const uint16_t bits = static_cast<uint16_t>(i % 2 ? pair >> 16 : pair);
    __nv_bfloat16 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#endif

/* N elements of T, moved by one access of up to 16 bytes, or by several if they take more. */
template <class T, int N> struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vec {
    T v[N];
    __device__ T &operator[](int i) { return v[i]; }
    __device__ T operator[](int i) const { return element_of<N % 2 == 0>(v, i); }
};

template <int BYTES> struct RawWord { using type = uint4; };
template <> struct RawWord<1> { using type = unsigned char; };
template <> struct RawWord<2> { using type = unsigned short; };
template <> struct RawWord<4> { using type = unsigned int; };
template <> struct RawWord<8> { using type = uint2; };

/* `p` must be aligned to the vector's size, or to 16 bytes if the vector is larger. */
template <int N, class T> __device__ __forceinline__ Vec<T, N> load_vec(const T *p) {
    using Word = typename RawWord<sizeof(T) * N>::type;
    constexpr int WORDS = sizeof(T) * N / sizeof(Word);
    Word words[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = reinterpret_cast<const Word *>(p)[i];
    Vec<T, N> out;
    memcpy(&out, words, sizeof out);
    return out;
}

/* p[at] if `there`, else 0; p is then not read. */
template <class T, class Index>
__device__ __forceinline__ T load_if(bool there, const T *p, Index at) {
    return there ? p[at] : T{};
}

/* Selects word by word: the compiler would split a select between vectors into their elements. */
template <class Word> __device__ __forceinline__ Word word_if(bool there, const Word *p) {
    return there ? *p : Word{};
}
__device__ __forceinline__ uint4 word_if(bool there, const uint4 *p) {
    unsigned x = 0, y = 0, z = 0, w = 0;
    if (there) {
        const uint4 word = *p;
        x = word.x, y = word.y, z = word.z, w = word.w;
    }
    return make_uint4(x, y, z, w);
}

/* The vector at p + at if `there`, else zeros; p is then not read. */
template <int N, class T, class Index>
__device__ __forceinline__ Vec<T, N> load_vec_if(bool there, const T *p, Index at) {
    using Word = typename RawWord<sizeof(T) * N>::type;
    constexpr int WORDS = sizeof(T) * N / sizeof(Word);
    Word words[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = word_if(there, reinterpret_cast<const Word *>(p + at) + i);
    Vec<T, N> out;
    memcpy(&out, words, sizeof out);
    return out;
}

/* If `there`, asks the L2 cache for what is COUNT elements after p, without waiting. It is predicated
 * in PTX, since ptxas would branch around an `if`. */
template <int64_t COUNT, class T> __device__ __forceinline__ void prefetch_if(bool there, const T *p) {
#ifdef GPUOPT_SIM
    if (there) /* so that a wrong address is noticed */
        static_cast<void>(*reinterpret_cast<const volatile unsigned char *>(p + COUNT));
#else
    asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %0, 0;\n"
                 "@there prefetch.global.L2 [%1 + %2];\n}\n" ::"r"(static_cast<int>(there)),
                 "l"(__cvta_generic_to_global(p)), "n"(COUNT * static_cast<int64_t>(sizeof(T))));
#endif
}

template <int N, class T> __device__ __forceinline__ void store_vec(T *p, const Vec<T, N> &value) {
    using Word = typename RawWord<sizeof(T) * N>::type;
    constexpr int WORDS = sizeof(T) * N / sizeof(Word);
    Word words[WORDS];
    memcpy(words, &value, sizeof value);
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        reinterpret_cast<Word *>(p)[i] = words[i];
}

template <class To, class From, int N>
__device__ __forceinline__ Vec<To, N> convert_vec(const Vec<From, N> &from) {
    Vec<To, N> to;
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = convert<To>(from[i]);
    return to;
}

/* Numbers of 8 / PER_BYTE bits, PER_BYTE to a byte, the first in the low bits. */
template <int PER_BYTE> __device__ __forceinline__ int unpack(uint8_t byte, int i) {
    constexpr int BITS = 8 / PER_BYTE;
    return byte >> (i % PER_BYTE * BITS) & ((1 << BITS) - 1);
}

/* Number i of those in the bytes. */
template <int PER_BYTE, int N>
__device__ __forceinline__ int unpack(const Vec<uint8_t, N> &bytes, int i) {
    return unpack<PER_BYTE>(bytes[i / PER_BYTE], i);
}

/* Sets number i, which must have been 0. */
template <int PER_BYTE, int N>
__device__ __forceinline__ void pack(Vec<uint8_t, N> &bytes, int i, int number) {
    bytes[i / PER_BYTE] |= static_cast<uint8_t>(number << (i % PER_BYTE * (8 / PER_BYTE)));
}

/* ---- Warps: all 32 lanes must call these -------------------------------------------------- */

#ifdef GPUOPT_SIM
template <class T> __device__ __forceinline__ T warp_shfl_xor(T v, int mask) {
    return sim_shuffle(v, static_cast<int>(sim_lane()) ^ mask);
}
template <class T> __device__ __forceinline__ T warp_shfl(T v, int lane) {
    return sim_shuffle(v, lane & 31);
}
#else
template <class T> __device__ __forceinline__ T warp_shfl_xor(T v, int mask) {
    return __shfl_xor_sync(0xffffffffu, v, mask);
}
template <class T> __device__ __forceinline__ T warp_shfl(T v, int lane) {
    return __shfl_sync(0xffffffffu, v, lane);
}
#endif

struct SumOf {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return a + b; }
};
struct MaxOf {
    static __device__ __forceinline__ float of(float a, float b) { return fmaxf(a, b); }
    static __device__ __forceinline__ double of(double a, double b) { return fmax(a, b); }
    static __device__ __forceinline__ int of(int a, int b) { return a > b ? a : b; }
};

/* A running log-sum-exp: the maximum of the numbers so far and the sum of exp(number - maximum).
 * The maximum starts at the lowest finite number, because -INFINITY minus -INFINITY is NaN. */
template <class T> struct SumOfExps {
    T max = static_cast<T>(sizeof(T) == 8 ? -0x1.fffffffffffffp1023 : -0x1.fffffep127);
    T sum = 0;
    __device__ __forceinline__ void add(T x);
    template <int N> __device__ __forceinline__ void add(const Vec<T, N> &x);
};

__device__ __forceinline__ float exp_of(float x) { return expf(x); }
__device__ __forceinline__ double exp_of(double x) { return exp(x); }
__device__ __forceinline__ float log_of(float x) { return logf(x); }
__device__ __forceinline__ double log_of(double x) { return log(x); }

/* One exponential: the sum or the new term has the smaller maximum, and is rescaled to the larger. */
template <class T> __device__ __forceinline__ void SumOfExps<T>::add(T x) {
    const T rise = x - max, e = exp_of(rise > 0 ? -rise : rise);
    sum = rise > 0 ? sum * e + 1 : sum + e;
    max = MaxOf::of(max, x);
}

/* Rescales the sum once, for all N; their exponentials do not wait for each other. An infinite x makes
 * the sum NaN. */
template <class T> template <int N>
__device__ __forceinline__ void SumOfExps<T>::add(const Vec<T, N> &x) {
    T most = max;
#pragma unroll
    for (int i = 0; i < N; i++)
        most = MaxOf::of(most, x[i]);
    sum *= exp_of(max - most);
#pragma unroll
    for (int i = 0; i < N; i++)
        sum += exp_of(x[i] - most);
    max = most;
}

/* A butterfly: all lanes add the same pairs, so all get the same bits. The simulated version adds
 * the same pairs, but synchronizes the warp once instead of five times. */
template <class Op, class T> __device__ __forceinline__ T warp_reduce(T v) {
#ifdef GPUOPT_SIM
    return sim_butterfly<Op>(v);
#else
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1)
        v = Op::of(v, warp_shfl_xor(v, mask));
    return v;
#endif
}

template <class T> __device__ __forceinline__ T warp_sum(T v) { return warp_reduce<SumOf>(v); }
template <class T> __device__ __forceinline__ T warp_max(T v) { return warp_reduce<MaxOf>(v); }
template <class T> __device__ __forceinline__ T warp_lse(SumOfExps<T> v) {
    const T most = warp_max(v.max);
    return most + log_of(warp_sum(v.sum * exp_of(v.max - most)));
}

/* ---- Blocks: all threads of a one-dimensional block of THREADS (a multiple of 32) -------- */

/* Room for one number per warp. Not a template: g++ would place a template's
 * variable outside the simulated device's shared memory, where races are detected. */
__device__ __forceinline__ void *warp_results() {
    __shared__ double of_warp[32];
    return of_warp;
}

/* Every thread combines the warps' results in the order of the warps, so all threads get the same
 * bits in every run. After the last barrier the caller may call again immediately, and one thread
 * may overwrite what all threads have read before. */
template <class Op, int THREADS, class T> __device__ __forceinline__ T block_reduce(T v) {
    static_assert(THREADS % 32 == 0 && THREADS <= 1024, "a block is whole warps");
    v = warp_reduce<Op>(v);
    if constexpr (THREADS > 32) {
        T *of_warp = static_cast<T *>(warp_results());
        if (threadIdx.x % 32 == 0)
            of_warp[threadIdx.x / 32] = v;
        __syncthreads();
        v = of_warp[0];
#pragma unroll
        for (int i = 1; i < THREADS / 32; i++)
            v = Op::of(v, of_warp[i]);
        __syncthreads();
    } else {
        __syncwarp();
    }
    return v;
}

template <int THREADS, class T> __device__ __forceinline__ T block_sum(T v) {
    return block_reduce<SumOf, THREADS>(v);
}
template <int THREADS, class T> __device__ __forceinline__ T block_max(T v) {
    return block_reduce<MaxOf, THREADS>(v);
}
template <int THREADS, class T> __device__ __forceinline__ T block_lse(SumOfExps<T> v) {
    const T most = block_max<THREADS>(v.max);
    return most + log_of(block_sum<THREADS>(v.sum * exp_of(v.max - most)));
}

/* ---- Blocks of PARTS times LANES threads that hold sums of the same columns -------------- */

template <class T> __device__ __forceinline__ void add_onto(T &sum, T x) { sum += x; }
template <class T, int N>
__device__ __forceinline__ void add_onto(Vec<T, N> &sum, const Vec<T, N> &x) {
#pragma unroll
    for (int i = 0; i < N; i++)
        sum[i] += x[i];
}

/* Adds the values that threads of the same lane hold, in the order of the parts. Threads of the
 * first part get the sum. `share` has room for one T per thread. */
template <int PARTS, int LANES, class T>
__device__ __forceinline__ T sum_of_parts(T *share, T mine) {
    __syncthreads(); /* an earlier call may still be reading */
    share[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x < LANES)
        for (int part = 1; part < PARTS; part++)
            add_onto(mine, share[part * LANES + threadIdx.x]);
    return mine;
}

/* ---- Launches ---------------------------------------------------------------------------- */

/* Programmatic dependent launch: the first statement of every kernel that may be launched while its
 * predecessor on the stream is still finishing. Waits until the predecessor's writes are visible,
 * then allows the successor to launch, which waits here in turn. So at most two kernels are
 * resident at a time. */
__device__ __forceinline__ void grid_dependency_synchronize() {
#ifdef GPUOPT_SIM
    sim_grid_dependency_synchronize();
#else
    asm volatile("griddepcontrol.wait;\n" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;\n");
#endif
}

/* ---- Exponentials ------------------------------------------------------------------------ */

/* 2^x in one instruction, as accurate as exp2f, except that results below 2^-126 become 0. */
__device__ __forceinline__ float exp2_or_zero(float x) {
#ifdef GPUOPT_SIM
    const float y = exp2f(x);
    return y < 0x1p-126f ? 0.0f : y;
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
    return y;
#endif
}

/* e^x, with an error of up to 2 + 1.173 |x| ulp, as __expf in the CUDA programming guide. */
__device__ __forceinline__ float exp_approx(float x) { return exp2_or_zero(x * 1.44269504f); }

/* 1 / x in one instruction, with an error of 1 ulp by the PTX ISA (the programming guide has 2 for
 * __fdividef), except that results below 2^-126 become 0. */
__device__ __forceinline__ float reciprocal_approx(float x) {
#ifdef GPUOPT_SIM
    const float y = 1.0f / x;
    return fabsf(y) < 0x1p-126f ? 0.0f : y;
#else
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
    return y;
#endif
}

/* 1 / (1 + e^-x), with an error of up to 4 + 1.173 |x| ulp: 2^-16 where it is least accurate, before
 * the result becomes 0. */
__device__ __forceinline__ float sigmoid_approx(float x) {
    return reciprocal_approx(1.0f + exp_approx(-x));
}

/* ---- Random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, 2011) -------------------- */

__device__ __forceinline__ uint4 philox4x32(uint2 key, uint4 counter) {
    for (int round = 0; round < 10; round++) {
        const uint64_t a = static_cast<uint64_t>(0xD2511F53u) * counter.x;
        const uint64_t b = static_cast<uint64_t>(0xCD9E8D57u) * counter.z;
        counter = make_uint4(
            static_cast<uint32_t>(b >> 32) ^ counter.y ^ key.x, static_cast<uint32_t>(b),
            static_cast<uint32_t>(a >> 32) ^ counter.w ^ key.y, static_cast<uint32_t>(a));
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}

/* Uniform numbers in (0, 1] for elements 4 block .. 4 block + 3 of random stream `stream` at `step`. */
__device__ __forceinline__ Vec<float, 4> philox_draw(uint64_t seed, uint32_t step, uint32_t stream,
                                                      uint64_t block) {
    const uint4 r = philox4x32(
        make_uint2(static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)),
        make_uint4(static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), step, stream));
    const uint32_t bits[] = {r.x, r.y, r.z, r.w};
    Vec<float, 4> uniform;
#pragma unroll
    for (int i = 0; i < 4; i++)
        uniform[i] = static_cast<float>((bits[i] >> 8) + 1) * 0x1p-24f;
    return uniform;
}

/* The number of element `index` only. */
__device__ __forceinline__ float philox_uniform(uint64_t seed, uint32_t step, uint32_t stream,
                                                uint64_t index) {
    const Vec<float, 4> block = philox_draw(seed, step, stream, index / 4);
    const uint32_t part = static_cast<uint32_t>(index % 4);
    return part == 0 ? block[0] : part == 1 ? block[1] : part == 2 ? block[2] : block[3];
}

/* The numbers of N elements from `first` on: both multiples of 4, or N = 2 and `first` even. */
template <int N>
__device__ __forceinline__ Vec<float, N> philox_uniforms(uint64_t seed, uint32_t step,
                                                         uint32_t stream, uint64_t first) {
    Vec<float, N> uniform;
    if constexpr (N == 2) {
        const Vec<float, 4> block = philox_draw(seed, step, stream, first / 4);
        uniform[0] = first % 4 == 0 ? block[0] : block[2];
        uniform[1] = first % 4 == 0 ? block[1] : block[3];
    } else {
#pragma unroll
        for (int i = 0; i < N; i += 4) {
            const Vec<float, 4> block = philox_draw(seed, step, stream, first / 4 + i / 4);
            memcpy(&uniform[i], &block, sizeof block);
        }
    }
    return uniform;
}

/* ---- Asynchronous copies from global to shared memory ------------------------------------ */

/* Copies 16 bytes, or writes 16 zero bytes if !valid (gmem is then not read). Both pointers must be
 * aligned to 16. */
__device__ __forceinline__ void cp_async_16(void *smem, const void *gmem, bool valid) {
#ifdef GPUOPT_SIM
    sim_cp_async(smem, gmem, 16, valid);
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(smem))),
                 "l"(gmem), "r"(valid ? 16 : 0)
                 : "memory");
#endif
}

/* The same for 4 bytes, aligned to 4. */
__device__ __forceinline__ void cp_async_4(void *smem, const void *gmem, bool valid) {
#ifdef GPUOPT_SIM
    sim_cp_async(smem, gmem, 4, valid);
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(smem))),
                 "l"(gmem), "r"(valid ? 4 : 0)
                 : "memory");
#endif
}

__device__ __forceinline__ void cp_async_commit() {
#ifdef GPUOPT_SIM
    sim_cp_async_commit();
#else
    asm volatile("cp.async.commit_group;\n" ::: "memory");
#endif
}

/* Waits until at most N of this thread's groups are still in flight. Other threads see the data
 * only after a subsequent barrier. */
template <int N> __device__ __forceinline__ void cp_async_wait() {
#ifdef GPUOPT_SIM
    sim_cp_async_wait(N);
#else
    asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
#endif
}

/* ---- Matrix fragments -------------------------------------------------------------------- */

#ifdef GPUOPT_SIM

template <bool TRANSPOSED> __device__ inline void ldmatrix(unsigned r[4], const void *smem_row) {
    const uint4 row = *static_cast<const uint4 *>(smem_row);
    SimRow lane = {{}, r};
    memcpy(lane.row, &row, sizeof row);
    sim_warp(&lane, TRANSPOSED ? sim_ldmatrix_trans : sim_ldmatrix, "ldmatrix");
}

#else

template <bool TRANSPOSED>
__device__ __forceinline__ void ldmatrix(unsigned r[4], const void *row) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(address)
                     : "memory");
}

#endif

/* Loads four 8 x 8 matrices of 16-bit elements: lane 8i + r passes the address of row r of matrix i
 * (16 bytes, aligned), and r[i] becomes this lane's fragment of matrix i. _trans loads the
 * fragments of the transposed matrices. */
__device__ __forceinline__ void ldmatrix_x4(unsigned r[4], const void *smem_row) {
    ldmatrix<false>(r, smem_row);
}
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned r[4], const void *smem_row) {
    ldmatrix<true>(r, smem_row);
}

/* c (16 x 8, fp32) += a (16 x 16, row-major) b (16 x 8, column-major), by one warp. The type of the
 * last argument is the type of the operands. */
__device__ __forceinline__ void mma_16816(float c[4], const unsigned a[4], const unsigned b[2],
                                          __nv_bfloat16) {
#ifdef GPUOPT_SIM
    SimMma lane = {c, a, b};
    sim_warp(&lane, sim_mma_bf16, "mma");
#else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__device__ __forceinline__ void mma_16816(float c[4], const unsigned a[4], const unsigned b[2],
                                          __half) {
#ifdef GPUOPT_SIM
    SimMma lane = {c, a, b};
    sim_warp(&lane, sim_mma_f16, "mma");
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

/* c (16 x 8, fp32) += a (16 x 8, row-major) b (8 x 8, column-major), operands from to_tf32. */
__device__ __forceinline__ void mma_1688_tf32(float c[4], const unsigned a[4],
                                              const unsigned b[2]) {
#ifdef GPUOPT_SIM
    SimMma lane = {c, a, b};
    sim_warp(&lane, sim_mma_tf32, "mma");
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

/* Rounds to 10 mantissa bits, ties away from zero (cvt.rna, the only mode available on sm_80). */
__device__ __forceinline__ unsigned to_tf32(float x) {
#ifdef GPUOPT_SIM
    const unsigned bits = __float_as_uint(x);
    return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
#else
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(bits) : "f"(x));
    return bits;
#endif
}

#endif
