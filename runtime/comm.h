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

#include "runtime/rt.h"

#include <stdatomic.h>

/* ---- comm.c ---------------------------------------------------------------------------------- */

/* The rank that this process was started as, as its launcher tells it; 0 without one. */
int comm_launched_rank(void);

/* Sets rt->rank and its like. Ends the process where it was not started as the program wants. */
void comm_open(Rt *rt);
void comm_connect(Rt *rt);
void comm_close(Rt *rt);

/* Ends all ranks, with one line that names both, where one has another text than rank 0. */
void comm_agree(Rt *rt, const char *what, const char *text, const char *remedy);

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
/* What went wrong on the communicator since; NULL: nothing. From any thread. */
const char *nccl_async_error(void);

/* ---- comm_watch.c ---------------------------------------------------------------------------- */

/* What the ranks of a machine let each other know, so that one which waits can say for whom. */
typedef struct {
    _Atomic double alive_ms; /* when its watchdog last looked, by the machine's clock; 0: never */
    _Atomic long long step;  /* from 1 */
    atomic_bool waiting;     /* for other ranks or the device; else it works */
} WatchPost;

void watch_start(const Rt *rt);
/* `posts` of the ranks on this machine, which are `here`; both must last. */
void watch_share(const Rt *rt, WatchPost *posts, const int *here);
void watch_stop(void);

/* Around whatever lasts as long as another rank wants. May be nested; the outermost counts. */
void watch_enter(const Rt *rt, const char *what);
void watch_leave(const Rt *rt);
/* The same around a wait for the device. */
void watch_enter_device(const Rt *rt);

/* In a signal's handler: a line that says which rank got it, and what it was at. */
void watch_tell_signal(int number);

#endif
