/* The functions of libgpuopt_mpi.so, which the machine's own mpicc builds next to a program for
 * several ranks: what the runtime needs of MPI, without MPI's types. They wait for all ranks unless
 * noted otherwise and return 0 on success. Call them from one thread only. */
#ifndef GPUOPT_MPI_SHIM_H
#define GPUOPT_MPI_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int rank, ranks;
    int local_rank, local_ranks; /* among the ranks on this machine */
} MpiPlace;

int shim_open(MpiPlace *place);
int shim_close(void);
/* Allocates memory shared by the ranks of this machine until shim_close(), `bytes` for each rank,
 * in the order of here[local_ranks], which receives their rank numbers. */
int shim_share(int bytes, void **memory, int *here);
int shim_barrier(void);
/* Sums over all ranks, in place. */
int shim_sum(int64_t *values, int count);
/* Gives all ranks the bytes of each rank, in the order of ranks; and those of rank 0. */
int shim_gather(const void *mine, void *all, int bytes);
int shim_broadcast(void *values, int bytes);
/* Point to point; only the two ranks wait. */
int shim_send(int to, const void *values, int64_t bytes);
int shim_receive(int from, void *values, int64_t bytes);
/* A non-blocking maximum over all ranks: begin, and wait for it later. At most one in flight. */
int shim_begin_max(int64_t value);
int shim_end_max(int64_t *value);

#endif
