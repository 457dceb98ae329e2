/* Right kernels: in every order of threads and every flavour, they must give the same results and
 * no error. */
#include "runtime/kernel.cuh"

extern "C" __global__ void axpy(float *y, const float *x, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

extern "C" __global__ void add_to(float *y, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = y[i] + a;
}

__device__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ float scale = 2.5f;

extern "C" __global__ void globals(float *y) {
    y[threadIdx.x] = scale * static_cast<float>(table[threadIdx.x % 8]);
}

/* out[block] = {sum in double, in float} of the block's 256 values. */
extern "C" __global__ void __launch_bounds__(256) reductions(double *out, const float *x) {
    const float v = x[blockIdx.x * 256 + threadIdx.x];
    const double sum = block_sum<256>(static_cast<double>(v));
    const float sum32 = block_sum<256>(v);
    if (threadIdx.x == 3) {
        out[2 * blockIdx.x] = sum;
        out[2 * blockIdx.x + 1] = sum32;
    }
}

/* out[block] = {lse in double, in float, and of vectors in float} of the block's 1024 values. */
extern "C" __global__ void __launch_bounds__(256) log_sum_exp(double *out, const float *x) {
    SumOfExps<double> exps;
    SumOfExps<float> exps32;
    for (int i = threadIdx.x; i < 1024; i += 256) {
        exps.add(x[1024 * blockIdx.x + i]);
        exps32.add(x[1024 * blockIdx.x + i]);
    }
    SumOfExps<float> of_vectors;
    of_vectors.add(load_vec<4>(x + 1024 * blockIdx.x + 4 * threadIdx.x));
    const double lse = block_lse<256>(exps), lse32 = block_lse<256>(exps32);
    const double lse_of_vectors = block_lse<256>(of_vectors);
    if (threadIdx.x == 3) {
        out[3 * blockIdx.x] = lse;
        out[3 * blockIdx.x + 1] = lse32;
        out[3 * blockIdx.x + 2] = lse_of_vectors;
    }
}

/* One warp works and the others end immediately, so that in a random order threads end, wait and
 * begin at the same time. out[block] = the sum of 32 values. */
extern "C" __global__ void first_warp(float *out, const float *x) {
    if (threadIdx.x >= 32)
        return;
    const float sum = warp_sum(x[32 * blockIdx.x + threadIdx.x]);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

/* Each lane's value from its neighbour, from lane 5, from below and above, and the vote. */
extern "C" __global__ void shuffles(int *out) {
    const int lane = threadIdx.x;
    out[lane] = warp_shfl_xor(lane, 1);
    out[32 + lane] = warp_shfl(lane * 10, 5);
    out[64 + lane] = __shfl_up_sync(0xffffffffu, lane, 1);
    out[96 + lane] = __shfl_down_sync(0xffffffffu, lane, 2);
    out[128 + lane] = static_cast<int>(__ballot_sync(0xffffffffu, lane % 3 == 0));
    out[160 + lane] = __shfl_xor_sync(0xffffffffu, lane, 4, 8);
}

extern "C" __global__ void philox_block(uint32_t *out, const uint32_t *in) {
    const uint4 r = philox4x32(make_uint2(in[4], in[5]), make_uint4(in[0], in[1], in[2], in[3]));
    out[0] = r.x, out[1] = r.y, out[2] = r.z, out[3] = r.w;
}

extern "C" __global__ void uniforms(float *out, unsigned long long seed, unsigned step, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = philox_uniform(seed, step, 7, i);
}

extern "C" __global__ void uniform_vectors(float *out, unsigned long long seed, unsigned step) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    store_vec(out + i, philox_uniforms<8>(seed, step, 7, i));
}

extern "C" __global__ void uniform_pairs(float *out, unsigned long long seed, unsigned step) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    store_vec(out + i, philox_uniforms<2>(seed, step, 7, i));
}

/* Converts values to a 16-bit type and back. */
extern "C" __global__ void conversions(float *bf16, float *half, int *whole, const double *x,
                                       int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        bf16[i] = convert<float>(convert<__nv_bfloat16>(x[i]));
        half[i] = convert<float>(convert<__half>(x[i]));
        whole[i] = convert<int>(x[i]);
        if (convert<float>(convert<__nv_bfloat16>(convert<float>(x[i]))) !=
            convert<float>(__float2bfloat16_rn(convert<float>(x[i]))))
            bf16[i] = -12345.0f;
    }
}

extern "C" __global__ void vectors(__nv_bfloat16 *to, const __nv_bfloat16 *from) {
    const Vec<__nv_bfloat16, 8> v = load_vec<8>(from + 8 * threadIdx.x);
    store_vec<8>(to + 8 * threadIdx.x, v);
}

/* ---- Fragments, filled element by element as in the PTX ISA's tables --------------------- */

template <class T> __device__ unsigned pack(T low, T high) {
    unsigned short a, b;
    memcpy(&a, &low, 2);
    memcpy(&b, &high, 2);
    return a | static_cast<unsigned>(b) << 16;
}

/* c (16 x 8) += a (16 x 16) b (16 x 8), all row-major. */
template <class T> __device__ void multiply_16816(float *c, const float *a, const float *b) {
    const int lane = threadIdx.x % 32, group = lane >> 2, member = lane % 4;
    unsigned af[4], bf[2];
    for (int i = 0; i < 8; i += 2) {
        const int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
        const int column = i < 4 ? member * 2 : member * 2 + 8;
        af[i / 2] = pack(convert<T>(a[row * 16 + column]), convert<T>(a[row * 16 + column + 1]));
    }
    for (int i = 0; i < 4; i += 2) {
        const int row = i < 2 ? member * 2 : member * 2 + 8;
        bf[i / 2] = pack(convert<T>(b[row * 8 + group]), convert<T>(b[(row + 1) * 8 + group]));
    }
    float cf[4];
    for (int i = 0; i < 4; i++)
        cf[i] = c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    mma_16816(cf, af, bf, T());
    for (int i = 0; i < 4; i++)
        c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = cf[i];
}

extern "C" __global__ void product_bf16(float *c, const float *a, const float *b) {
    multiply_16816<__nv_bfloat16>(c, a, b);
}
extern "C" __global__ void product_half(float *c, const float *a, const float *b) {
    multiply_16816<__half>(c, a, b);
}

/* c (16 x 8) += a (16 x 8) b (8 x 8). */
extern "C" __global__ void product_tf32(float *c, const float *a, const float *b) {
    const int lane = threadIdx.x % 32, group = lane >> 2, member = lane % 4;
    unsigned af[4], bf[2];
    for (int i = 0; i < 4; i++)
        af[i] = to_tf32(a[(i % 2 ? group + 8 : group) * 8 + (i < 2 ? member : member + 4)]);
    for (int i = 0; i < 2; i++)
        bf[i] = to_tf32(b[(i ? member + 4 : member) * 8 + group]);
    float cf[4];
    for (int i = 0; i < 4; i++)
        cf[i] = c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    mma_1688_tf32(cf, af, bf);
    for (int i = 0; i < 4; i++)
        c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = cf[i];
}

/* The fragments that ldmatrix loads from four 8 x 8 matrices of 16-bit numbers. */
extern "C" __global__ void fragments(unsigned *plain, unsigned *transposed,
                                     const unsigned short *in) {
    __shared__ __align__(16) unsigned short tile[4][8][8];
    for (int i = threadIdx.x; i < 256; i += 32)
        tile[i / 64][i / 8 % 8][i % 8] = in[i];
    __syncthreads();
    unsigned r[4], t[4];
    ldmatrix_x4(r, tile[threadIdx.x / 8][threadIdx.x % 8]);
    ldmatrix_x4_trans(t, tile[threadIdx.x / 8][threadIdx.x % 8]);
    for (int i = 0; i < 4; i++) {
        plain[4 * threadIdx.x + i] = r[i];
        transposed[4 * threadIdx.x + i] = t[i];
    }
}

/* Two stages of tiles, as in pipelined kernels: y = 2 x, with zeros beyond n. */
extern "C" __global__ void __launch_bounds__(64)
    pipeline(float *y, const float *x, int n, int tiles) {
    DYNAMIC_SHARED(float, stage);
    const int t = threadIdx.x;
    for (int i = 0; i < tiles + 1; i++) {
        if (i < tiles) {
            const int at = i * 256 + 4 * t;
            cp_async_16(stage + i % 2 * 256 + 4 * t, x + (at < n ? at : 0), at < n);
        }
        cp_async_commit();
        cp_async_wait<1>();
        __syncthreads();
        if (i > 0)
            for (int j = t; j < 256; j += 64)
                y[(i - 1) * 256 + j] = 2 * stage[(i - 1) % 2 * 256 + j];
        __syncthreads();
    }
}

extern "C" __global__ void count_up(unsigned *counter, int *slots) {
    const unsigned place = atomicAdd(counter, 1u);
    slots[place] = 1;
}
