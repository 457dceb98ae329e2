/* Wrong kernels, each with one fault that the simulated device must find; a comment names it. A test
 * expects line numbers of this file. */
#include "runtime/kernel.cuh"

/* A barrier that some threads do not reach. */
extern "C" __global__ void divergent_barrier(float *y) {
    if (threadIdx.x < 40)
        __syncthreads();
    y[threadIdx.x] = 1;
}

/* Threads wait at two different barriers. */
extern "C" __global__ void two_barriers(float *y) {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
    y[threadIdx.x] = 1;
}

/* Half a warp shuffles. */
extern "C" __global__ void divergent_warp(float *y) {
    if (threadIdx.x % 2)
        y[threadIdx.x] = warp_sum(1.0f);
}

extern "C" __global__ void partial_warp(float *y) { y[threadIdx.x] = warp_sum(1.0f); }

/* No barrier between the write and the neighbour's read. */
extern "C" __global__ void missing_barrier(float *y, const float *x) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = tile[63 - threadIdx.x];
    __syncthreads();
}

/* Uninitialised shared memory is not zero. */
extern "C" __global__ void unwritten_shared(float *y) {
    __shared__ float tile[64];
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
    tile[threadIdx.x] = 0;
}

/* No barrier at the loop's end: the next iteration overwrites what a slow thread still reads. */
extern "C" __global__ void missing_second_barrier(float *y, const float *x) {
    __shared__ float tile[64];
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        tile[threadIdx.x] = x[64 * i + threadIdx.x];
        __syncthreads();
        sum += tile[(threadIdx.x + 33) % 64];
    }
    y[threadIdx.x] = sum;
}

/* Lanes of a warp exchange through memory without __syncwarp. */
extern "C" __global__ void missing_syncwarp(float *y, const float *x) {
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = warp_sum(1.0f) + tile[threadIdx.x ^ 1];
}

/* A block reads what the block before it writes. */
extern "C" __global__ void block_race(float *y, const float *x) {
    const float before = blockIdx.x ? y[blockIdx.x - 1] : 0;
    y[blockIdx.x] = before + x[blockIdx.x];
}

/* All blocks write one sum. */
extern "C" __global__ void same_cell(float *y) { y[0] = static_cast<float>(blockIdx.x); }

/* The copy may not have landed. */
extern "C" __global__ void missing_async_wait(float *y, const float *x) {
    __shared__ __align__(16) float tile[128];
    cp_async_16(tile + 4 * threadIdx.x, x + 4 * threadIdx.x, true);
    cp_async_commit();
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
    cp_async_wait<0>();
}

/* The copy has landed for the thread that issued it, not for the others. */
extern "C" __global__ void missing_async_barrier(float *y, const float *x) {
    __shared__ __align__(16) float tile[128];
    cp_async_16(tile + 4 * threadIdx.x, x + 4 * threadIdx.x, true);
    cp_async_commit();
    cp_async_wait<0>();
    y[threadIdx.x] = tile[127 - 4 * threadIdx.x];
}

extern "C" __global__ void overrun_global(float *y, int n) { y[n] = 1; }
extern "C" __global__ void underrun_global(float *y) { y[-1] = 1; }

extern "C" __global__ void overrun_shared(float *y, int n) {
    __shared__ float tile[32];
    tile[n + threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void overrun_dynamic(float *y, int n) {
    DYNAMIC_SHARED(float, tile);
    tile[n + threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void misaligned(float *y, int offset) {
    store_vec<4>(y + offset, Vec<float, 4>{});
}

/* Nothing is read from this address, but it must be aligned nevertheless. */
extern "C" __global__ void misaligned_async(float *y, int offset) {
    __shared__ __align__(16) float tile[4];
    cp_async_16(tile, y + offset, false);
}

extern "C" __global__ void far_away(float *y) { y[1ll << 40] = 1; }
extern "C" __global__ void trap() { __trap(); }
