/* The interface between a simulated module (the shared object that replaces a cubin) and the
 * simulated driver, in C and C++. The module's side is sim_device.h, the driver's side sim_block.c
 * and sim_race.c.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_ABI = 2 };

typedef enum SimFlavour { SIM_RELEASE, SIM_ASAN, SIM_RACE } SimFlavour;

typedef struct SimDim {
    unsigned x, y, z;
} SimDim;

typedef struct SimKernel {
    const char *name;
    void (*thread)(void **arguments, unsigned thread); /* runs one thread, by its linear number */
    void (*loop)(void **arguments); /* runs all threads of a block; null if threads may wait */
    unsigned max_threads;           /* from __launch_bounds__, else 1024 */
    unsigned argument_count;
    const unsigned *argument_bytes;
} SimKernel;

/* A __device__ or __constant__ variable. */
typedef struct SimVariable {
    const char *name;
    void *address;
    unsigned long bytes;
} SimVariable;

/* Exported by every module as sim_module. */
typedef struct SimModule {
    int abi;
    SimFlavour flavour;
    unsigned kernel_count, variable_count;
    const SimKernel *kernels;
    const SimVariable *variables;
    void (*place)(SimDim grid, SimDim block, SimDim index); /* sets gridDim, blockDim, blockIdx */
    unsigned char *shared_begin, *shared_end;               /* the module's static __shared__ */
} SimModule;

/* The records that lanes pass to the tensor-core operations below. */
typedef struct SimRow {
    unsigned short row[8];
    unsigned *out; /* four registers */
} SimRow;

typedef struct SimMma {
    float *c;
    const unsigned *a, *b;
} SimMma;

/* The driver's side, called by the threads of a kernel. sim_barrier() and sim_warp() return when
 * the other threads have arrived; until then other threads run. */
void sim_barrier(int line);
void sim_warp(void *lane, void (*all)(void **lanes), const char *what);
void sim_cp_async(void *smem, const void *gmem, int bytes, int valid);
void sim_cp_async_commit(void);
void sim_cp_async_wait(int groups);
void *sim_dynamic_shared(void);
void sim_grid_dependency_synchronize(void);
void sim_read_only(const void *gmem); /* a load that assumes that nobody writes there */
void sim_trap(const char *message); /* fails the launch; does not return */

/* For sim_warp: ldmatrix.x4 of SimRow, mma.m16n8k16 and mma.m16n8k8 of SimMma. */
void sim_ldmatrix(void **lanes);
void sim_ldmatrix_trans(void **lanes);
void sim_mma_bf16(void **lanes);
void sim_mma_f16(void **lanes);
void sim_mma_tf32(void **lanes);

/* c (16 x columns) += a (16 x k) b (k x columns), row-major; each sum adds in the order of k.
 * `columns` is a multiple of 8. */
void sim_multiply(unsigned columns, unsigned k, float *c, const float *a, const float *b);

#ifdef __cplusplus
}
#endif

#endif
