/* Several ranks, one process and one device each: how they find each other, agree and end together.
 * With one rank every function here does nothing, and neither MPI nor NCCL is opened.
 *
 *     comm_open     MPI; what must be the same on all ranks is compared
 *     comm_connect  NCCL, once the device is there
 *     collectives (runtime.h) and the sums below
 *     comm_close    all ranks are done
 *
 * A rank that fails leaves at once, and its launcher ends the others. Where no launcher does, and where
 * a rank only stands still, the watchdog of each other rank ends it after comm_timeout_s. */
#ifndef GPUOPT_COMM_H
#define GPUOPT_COMM_H

#include "runtime/base/rt.h"

/* ---- comm.c ---------------------------------------------------------------------------------- */

/* Sets rt->rank and its like. Ends the process where it was not started as the program wants. */
void comm_open(Rt *rt);
void comm_connect(Rt *rt);
void comm_close(Rt *rt);

/* Ends all ranks, with one line that names both, where one has another text than rank 0. */
void comm_agree(Rt *rt, const char *what, const char *text, const char *remedy);

/* ---- comm_mpi.c ------------------------------------------------------------------------------ */

/* Each waits for all ranks. `what` says in errors what the ranks were at. */
void comm_barrier(Rt *rt, const char *what);
void comm_sum_i64(Rt *rt, int64_t *values, int count, const char *what);
void comm_broadcast(Rt *rt, void *values, int bytes, const char *what); /* from rank 0 */
/* Each rank's bytes, in the order of ranks, to all. */
void comm_gather(Rt *rt, const void *mine, void *all, int bytes, const char *what);
/* From one rank to another, which asks for them; only these two wait. */
void comm_send(Rt *rt, int to, const void *values, int64_t bytes, const char *what);
void comm_receive(Rt *rt, int from, void *values, int64_t bytes, const char *what);

/* The signal that some rank has caught, the same answer on all ranks; 0: none. To be called once a
 * step: the answer is what was known one call earlier, so nobody waits for it. */
int comm_first_signal(Rt *rt);
void comm_end_signals(Rt *rt);

/* ---- comm_nccl.c ----------------------------------------------------------------------------- */

void nccl_open(Rt *rt);
void nccl_close(Rt *rt);
/* To or from the rank with place `peer` in a group. */
typedef struct {
    RtPtr at;
    int64_t count;
    RtDtype dtype;
    int peer;
    bool send;
} Message;

/* Enqueues messages that begin together: all are done before what is enqueued next. */
void nccl_exchange(Rt *rt, RtGroup group, const Message *messages, int count);
/* What went wrong on the communicators since; NULL: nothing. For the watchdog's thread. */
const char *nccl_async_error(void);

#endif
