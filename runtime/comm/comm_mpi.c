/* Communication between the hosts of ranks, by MPI (through the shim) and under the watchdog. */
#include "runtime/comm/comm_mpi.h"
#include "runtime/base/dynlib.h"
#include "runtime/base/signals.h"
#include "runtime/base/watch.h"
#include "runtime/comm/comm.h"

#include <stdlib.h>
#include <string.h>

#define SHIM_FUNCTIONS(X) \
    X(open)               \
    X(close)              \
    X(share) X(barrier) X(sum) X(gather) X(broadcast) X(send) X(receive) X(begin_max) X(end_max)

struct RtComm {
#define X(name) __typeof__(&shim_##name) name;
    SHIM_FUNCTIONS(X)
#undef X
    bool asking; /* an exchange of signals is in flight */
    int *here;   /* [local_ranks] the ranks on this machine */
};

static void load_shim(struct RtComm *comm) {
    static const char *const names[] = {
#define X(name) "shim_" #name,
        SHIM_FUNCTIONS(X)
#undef X
    };
    unsigned char *table = (unsigned char *)comm;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dynlib_need_symbol(LIB_MPI, names[i]);
        memcpy(table + i * sizeof address, &address, sizeof address);
    }
}

/* ---- opening and closing ----------------------------------------------------------------------- */

void mpi_load(Rt *rt) {
    struct RtComm *comm = rt_alloc(sizeof *comm);
    load_shim(comm);
    rt->comm = comm;
}

bool mpi_open(Rt *rt, MpiPlace *place) { return rt->comm->open(place) == 0; }

void *mpi_share(Rt *rt, size_t bytes, const int **here) {
    void *shared = NULL;
    int *ranks = rt->comm->here = rt_alloc((size_t)rt->local_ranks * sizeof *ranks);
    *here = ranks;
    return rt->comm->share(bytes, &shared, ranks) == 0 ? shared : NULL;
}

bool mpi_close(Rt *rt) {
    bool ok = rt->comm->close() == 0;
    free(rt->comm->here);
    free(rt->comm);
    rt->comm = NULL;
    return ok;
}

/* ---- waiting for other ranks ----------------------------------------------------------------- */

/* Calls the shim under the watchdog; a failure ends the process. */
#define WAIT_FOR_ALL(rt, what, call)                                                             \
    do {                                                                                         \
        watch_enter(rt, what);                                                                   \
        if ((rt)->comm->call != 0)                                                               \
            rt_fail("%s of step %lld: MPI lost another rank; continue from the last checkpoint " \
                    "with --resume",                                                             \
                    what, (long long)step_under_way(rt));                                            \
        watch_leave(rt);                                                                         \
    } while (0)

void comm_barrier(Rt *rt, const char *what) {
    if (rt->comm)
        WAIT_FOR_ALL(rt, what, barrier());
}

void comm_sum_i64(Rt *rt, int64_t *values, int count, const char *what) {
    if (rt->comm)
        WAIT_FOR_ALL(rt, what, sum(values, count));
}

void comm_gather(Rt *rt, const void *mine, void *all, int bytes, const char *what) {
    if (rt->comm)
        WAIT_FOR_ALL(rt, what, gather(mine, all, bytes));
    else
        memcpy(all, mine, (size_t)bytes);
}

void comm_broadcast(Rt *rt, void *values, int bytes, const char *what) {
    if (rt->comm)
        WAIT_FOR_ALL(rt, what, broadcast(values, bytes));
}

void comm_send(Rt *rt, int to, const void *values, int64_t bytes, const char *what) {
    WAIT_FOR_ALL(rt, what, send(to, values, bytes));
}

void comm_receive(Rt *rt, int from, void *values, int64_t bytes, const char *what) {
    WAIT_FOR_ALL(rt, what, receive(from, values, bytes));
}

int comm_first_signal(Rt *rt) {
    int64_t agreed = 0;
    if (!rt->comm)
        return signals_caught();
    if (rt->comm->asking)
        WAIT_FOR_ALL(rt, "the exchange of signals", end_max(&agreed));
    WAIT_FOR_ALL(rt, "the exchange of signals", begin_max(signals_caught()));
    rt->comm->asking = true;
    return (int)agreed;
}

void comm_end_signals(Rt *rt) {
    int64_t ignored;
    if (!rt->comm)
        return;
    if (rt->comm->asking)
        WAIT_FOR_ALL(rt, "the exchange of signals", end_max(&ignored));
    rt->comm->asking = false;
}
