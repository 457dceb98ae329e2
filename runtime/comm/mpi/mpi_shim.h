/* What the runtime needs of MPI, free of any MPI's own types: libgpuopt_mpi.so, which the machine's own
 * mpicc builds beside a program for several ranks, has these functions. They wait for all ranks where
 * they say nothing else, and give 0 for success. Call them from one thread. */
#ifndef GPUOPT_MPI_SHIM_H
#define GPUOPT_MPI_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int rank, ranks;
    int local_rank, local_ranks; /* of those on this machine */
} MpiPlace;

int shim_open(MpiPlace *place);
int shim_close(void);
/* Memory that all ranks of this machine see, `bytes` for each, in the order of `here`: their ranks,
 * [local_ranks]. It lasts until shim_close(). */
int shim_share(int bytes, void **memory, int *here);
int shim_barrier(void);
/* In place, over ranks. */
int shim_sum(int64_t *values, int count);
/* Each rank's bytes, in the order of ranks, to all; rank 0's bytes to all. */
int shim_gather(const void *mine, void *all, int bytes);
int shim_broadcast(void *values, int bytes);
/* From one rank to another. */
int shim_send(int to, const void *values, int64_t bytes);
int shim_receive(int from, void *values, int64_t bytes);
/* A maximum that does not wait: begun, and waited for later. One may be under way. */
int shim_begin_max(int64_t value);
int shim_end_max(int64_t *value);

#endif
