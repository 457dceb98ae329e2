/* The simulated NCCL: messages between two ranks. The messages of a group are one operation of the
 * stream, which begins all of them before it waits for any. A send completes only when the message
 * is received: real NCCL guarantees no more, so an order that needs buffering hangs here too. */
#include "sim_enqueue.h"
#include "sim_nccl.h"
#include "sim_nccl_sum.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST_TOGETHER = 16 };

typedef struct {
    void *at;
    size_t bytes;
    int peer;
    bool send;
} Message;

/* The messages of a group, as stored in a stream or a graph. */
typedef struct {
    NcclComm comm;
    int count;
    Message messages[MOST_TOGETHER];
} Group;

typedef struct {
    const Group *group;
    MPI_Request requests[MOST_TOGETHER];
} UnderWay;

/* The group that this thread is building. */
static _Thread_local struct {
    int depth;
    Group group;
    CUstream stream;
} open_group;

static bool begin(UnderWay *u, const Group *group) {
    MPI_Comm mpi = nccl_mpi(group->comm);
    u->group = group;
    for (int i = 0; i < group->count; i++) {
        const Message *m = &group->messages[i];
        const int bytes = (int)m->bytes;
        const int error = m->send
                              ? MPI_Issend(m->at, bytes, MPI_BYTE, m->peer, 0, mpi, &u->requests[i])
                              : MPI_Irecv(m->at, bytes, MPI_BYTE, m->peer, 0, mpi, &u->requests[i]);
        if (error != MPI_SUCCESS)
            return false;
    }
    return true;
}

/* See `run` in sim_enqueue.h. */
static int group_run(const void *argument) {
    const Group *group = argument;
    void **messages = nccl_messages(group->comm);
    UnderWay *u = *messages;
    int done = 0;
    bool well = true;
    if (u && u->group != group)
        return 0;
    if (!u) {
        *messages = u = calloc(1, sizeof *u);
        well = begin(u, group);
    }
    well =
        well && MPI_Testall(group->count, u->requests, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
    if (!well)
        nccl_fail(group->comm, NCCL_REMOTE_ERROR,
                  "MPI lost the other rank, or it sent a different number of bytes");
    if (well && !done)
        return 0;
    free(u);
    *messages = NULL;
    return well ? 1 : -1;
}

static NcclResult enqueue(void) {
    const Group *group = &open_group.group;
    if (!group->count)
        return NCCL_OK;
    nccl_enter(group->comm);
    bool refused =
        sim_enqueue(open_group.stream, group_run, group, sizeof *group, "ncclSendRecv") != 0;
    nccl_leave(group->comm);
    return refused ? nccl_fail(group->comm, NCCL_SYSTEM_ERROR, "the stream takes no work")
                   : NCCL_OK;
}

NcclResult ncclGroupStart(void) {
    if (open_group.depth++ == 0)
        open_group.group = (Group){0};
    return NCCL_OK;
}

NcclResult ncclGroupEnd(void) {
    if (open_group.depth == 0)
        return nccl_fail(NULL, NCCL_INVALID_USAGE, "a group ends that did not begin");
    return --open_group.depth == 0 ? enqueue() : NCCL_OK;
}

static NcclResult add(Message m, NcclType type, NcclComm comm, CUstream stream) {
    Group *group = &open_group.group;
    const NcclResult usable = nccl_usable(comm);
    if (usable != NCCL_OK)
        return usable;
    if (!sum_type_bytes(type) || m.peer < 0 || m.peer >= nccl_ranks(comm) || m.bytes > INT_MAX)
        return nccl_fail(comm, NCCL_INVALID_ARGUMENT, "no such type or peer, or too large");
    if (!sim_covers(m.at, m.bytes))
        return nccl_fail(comm, NCCL_INVALID_ARGUMENT, "the elements are not in one allocation");
    if (group->count == MOST_TOGETHER ||
        (group->count && (group->comm != comm || open_group.stream != stream)))
        return nccl_fail(comm, NCCL_INVALID_USAGE,
                         "a group is limited to one communicator, one stream and 16 messages");
    group->comm = comm;
    group->messages[group->count++] = m;
    open_group.stream = stream;
    return NCCL_OK;
}

/* A message outside a group is a group of its own. */
static NcclResult message(Message m, NcclType type, NcclComm comm, CUstream stream) {
    ncclGroupStart();
    const NcclResult added = add(m, type, comm, stream), ended = ncclGroupEnd();
    return added != NCCL_OK ? added : ended;
}

NcclResult ncclSend(const void *from, size_t count, NcclType type, int peer, NcclComm comm,
                    CUstream stream) {
    const Message m = {(void *)from, count * sum_type_bytes(type), peer, true};
    return message(m, type, comm, stream);
}

NcclResult ncclRecv(void *to, size_t count, NcclType type, int peer, NcclComm comm,
                    CUstream stream) {
    const Message m = {to, count * sum_type_bytes(type), peer, false};
    return message(m, type, comm, stream);
}
