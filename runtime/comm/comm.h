/* Several ranks, one process and one device each: how they find each other, agree and end together.
 * With one rank every function here does nothing, and neither MPI nor NCCL is opened, unless the
 * program has collectives all the same (parallelism.one_rank_collectives): then NCCL is.
 *
 *     comm_open     opens MPI and compares what must be the same on all ranks
 *     comm_connect  opens NCCL, once the device is open
 *     collectives (runtime.h) and the sums below
 *     comm_close    waits until all ranks are done
 *
 * A rank that fails exits immediately, and its launcher ends the others. If the launcher does not,
 * or if a rank hangs, every other rank is ended by its own watchdog after comm_timeout_s. */
#ifndef GPUOPT_COMM_H
#define GPUOPT_COMM_H

#include "runtime/base/rt.h"

/* ---- comm.c ---------------------------------------------------------------------------------- */

/* Sets rt->rank, rt->ranks and so on. Ends the process if the number of ranks does not fit. */
void comm_open(Rt *rt);
void comm_connect(Rt *rt);
void comm_close(Rt *rt);

/* If a rank's text differs from rank 0's, ends all ranks with one line that names both. */
void comm_agree(Rt *rt, const char *what, const char *text, const char *remedy);

/* ---- comm_mpi.c ------------------------------------------------------------------------------ */

/* These wait for all ranks. `what` tells in errors what the ranks were doing. */
void comm_barrier(Rt *rt, const char *what);
void comm_sum_i64(Rt *rt, int64_t *values, int count, const char *what);
void comm_broadcast(Rt *rt, void *values, int bytes, const char *what); /* from rank 0 */
/* Gives all ranks the bytes of each rank, in the order of ranks. */
void comm_gather(Rt *rt, const void *mine, void *all, int bytes, const char *what);
/* Point to point: only the two ranks wait for each other. */
void comm_send(Rt *rt, int to, const void *values, int64_t bytes, const char *what);
void comm_receive(Rt *rt, int from, void *values, int64_t bytes, const char *what);

/* Returns a signal that some rank has caught, the same on all ranks, or 0. Call it once a step: it
 * returns the result of the exchange begun by the previous call, so that it hardly waits. */
int comm_first_signal(Rt *rt);
void comm_end_signals(Rt *rt);

/* ---- comm_nccl.c ----------------------------------------------------------------------------- */

void nccl_open(Rt *rt);
void nccl_close(Rt *rt);
/* A message to or from the rank with place `peer` in a group. */
typedef struct {
    RtPtr at;
    int64_t count;
    RtDtype dtype;
    int peer;
    bool send;
} Message;

/* Enqueues messages as one NCCL group: all are done before whatever is enqueued next. */
void nccl_exchange(Rt *rt, RtGroup group, const Message *messages, int count);
/* Returns an asynchronous error of a communicator, or NULL. For the watchdog's thread. */
const char *nccl_async_error(void);

#endif
