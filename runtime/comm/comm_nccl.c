/* NCCL: one communicator for each group of ranks. All calls run under the watchdog. */
#include "runtime/base/dynlib.h"
#include "runtime/base/watch.h"
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"
#include "runtime/comm/nccl_abi.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/device/launch.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NCCL_FUNCTIONS(X)                                                                       \
    X(GetVersion)                                                                               \
    X(GetUniqueId)                                                                              \
    X(CommInitRankConfig)                                                                       \
    X(CommGetAsyncError)                                                                        \
    X(CommDestroy) X(GetErrorString) X(GetLastError) X(AllReduce) X(AllGather) X(ReduceScatter) \
        X(Broadcast) X(GroupStart) X(GroupEnd) X(Send) X(Recv)

static struct {
#define X(name) __typeof__(&nccl##name) name;
    NCCL_FUNCTIONS(X)
#undef X
} nccl;

/* Communicators by group; NULL until usable. The watchdog asks them for errors, which in NCCL also
 * completes a call that has begun, so the mutex keeps two threads from using them together. */
static NcclComm connected[RT_GROUPS];
static pthread_mutex_t in_use = PTHREAD_MUTEX_INITIALIZER;

static const NcclType types[] = {
    [RT_F64] = NCCL_F64, [RT_F32] = NCCL_F32, [RT_F16] = NCCL_F16, [RT_BF16] = NCCL_BF16,
    [RT_I64] = NCCL_I64, [RT_I32] = NCCL_I32, [RT_U8] = NCCL_U8};

static void load_symbols(void) {
    static const char *const names[] = {
#define X(name) "nccl" #name,
        NCCL_FUNCTIONS(X)
#undef X
    };
    unsigned char *table = (unsigned char *)&nccl;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dynlib_need_symbol(LIB_NCCL, names[i]);
        memcpy(table + i * sizeof address, &address, sizeof address);
    }
}

static void check_version(void) {
    int version = 0;
    if (nccl.GetVersion(&version) != NCCL_OK || version < NCCL_LEAST_VERSION)
        rt_fail("libnccl.so.2 is version %d, but %d or later is needed; install a newer NCCL",
                version, NCCL_LEAST_VERSION);
}

/* begin() and finish() enclose each NCCL call, which may itself hang. Without `what` the device's work
 * is waited for. */
static void begin(const Rt *rt, const char *what) {
    if (what)
        watch_enter(rt, what);
    else
        watch_enter_device(rt);
    pthread_mutex_lock(&in_use);
}

/* Waits until the call has completed; ends the process if it failed. */
static void finish(const Rt *rt, NcclComm comm, NcclResult result, const char *what) {
    while (result == NCCL_IN_PROGRESS) {
        NcclResult asked = nccl.CommGetAsyncError(comm, &result);
        if (asked != NCCL_OK)
            result = asked;
        if (result == NCCL_IN_PROGRESS)
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    pthread_mutex_unlock(&in_use);
    watch_leave(rt);
    if (result != NCCL_OK)
        rt_fail("%s of step %lld: NCCL reports %s: %s", what, (long long)step_under_way(rt),
                nccl.GetErrorString(result), nccl.GetLastError(comm));
}

/* Returns by rank the ids that ranks made: each group's first rank makes the group's id. */
static NcclId *share_ids(Rt *rt, RtGroup group, const char *what) {
    NcclId mine;
    memset(&mine, 0, sizeof mine);
    if (mesh_first(rt->program, group, rt->rank) == rt->rank) {
        begin(rt, what);
        finish(rt, NULL, nccl.GetUniqueId(&mine), what);
    }
    NcclId *all = rt_alloc((size_t)rt->ranks * sizeof *all);
    comm_gather(rt, &mine, all, sizeof mine, what);
    return all;
}

static void open_group(Rt *rt, RtGroup group) {
    static const char what[] = "the start of NCCL";
    NcclConfig config = NCCL_NON_BLOCKING;
    NcclComm comm = NULL;
    const RtProgram *program = rt->program;
    NcclId *ids = share_ids(rt, group, what);
    int ranks = mesh_in_group(program, group, rt->rank) ? mesh_group_size(program, group) : 1;
    begin(rt, what);
    const NcclId id = ids[mesh_first(program, group, rt->rank)];
    int number = mesh_group_rank(program, group, rt->rank);
    NcclResult result = nccl.CommInitRankConfig(&comm, ranks, id, number, &config);
    connected[group] = comm;
    finish(rt, comm, result, what);
    free(ids);
}

/* All ranks have the same table of groups, so they open the communicators in the same order. */
void nccl_open(Rt *rt) {
    const RtProgram *program = rt->program;
    load_symbols();
    check_version();
    for (int i = 0; i < program->group_count; i++)
        open_group(rt, mesh_group(program, program->groups[i]));
}

void nccl_close(Rt *rt) {
    static const char what[] = "the end of NCCL";
    rt_finish_stream(rt, RT_STREAM_COMPUTE);
    for (RtGroup group = 1; group < RT_GROUPS; group++) {
        begin(rt, what);
        NcclComm comm = connected[group];
        connected[group] = NULL;
        finish(rt, NULL, comm ? nccl.CommDestroy(comm) : NCCL_OK, what);
    }
}

static const char *async_error_of(NcclComm comm) {
    NcclResult error = NCCL_OK;
    bool asked = comm && nccl.CommGetAsyncError(comm, &error) == NCCL_OK;
    if (!asked || error == NCCL_OK || error == NCCL_IN_PROGRESS)
        return NULL;
    const char *last = nccl.GetLastError(comm);
    return last && *last ? last : nccl.GetErrorString(error);
}

/* A thread inside an NCCL call sees its errors itself, so nothing is asked then. */
const char *nccl_async_error(void) {
    static char words[256];
    const char *text = NULL;
    if (pthread_mutex_trylock(&in_use) != 0)
        return NULL;
    for (RtGroup group = 1; group < RT_GROUPS && !text; group++)
        text = async_error_of(connected[group]);
    if (text)
        snprintf(words, sizeof words, "NCCL reports %s", text);
    pthread_mutex_unlock(&in_use);
    return text ? words : NULL;
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* A collective being enqueued. */
typedef struct {
    const char *name;
    NcclComm comm;
    CUstream stream;
    void *to, *from;
    size_t count; /* elements of one rank's part; of the whole for all_reduce and broadcast */
    NcclType type;
} Collective;

static void count_work(Rt *rt, RtCollective kind, RtGroup group, int64_t bytes) {
    const bool parts = kind == RT_ALL_GATHER || kind == RT_REDUCE_SCATTER;
    const int ranks = mesh_group_size(rt->program, group);
    const int64_t all = bytes * (parts ? ranks : 1);
    const double shared = (double)(ranks - 1) / ranks;
    RtExchanged *sum = &rt->work.collectives[kind];
    sum->count++;
    sum->bytes += all;
    sum->bus_bytes += (double)all * (kind == RT_BROADCAST    ? 1
                                     : kind == RT_ALL_REDUCE ? 2 * shared
                                                             : shared);
}

/* Like begin(). Without a graph the call may have to wait for what the device was given before. */
static void begin_collective(const Rt *rt, RtCollective kind) {
    if (!rt->capturing)
        watch_enqueued(kind);
    begin(rt, rt->capturing ? collective_name(kind) : NULL);
}

/* Counts the collective; returns false in a dry run. */
static bool start(Rt *rt, Collective *c, RtCollective kind, RtGroup group, RtPtr to, RtPtr from,
                  int64_t count, RtDtype dtype) {
    count_work(rt, kind, group, count * (int64_t)rt_dtype_bytes(dtype));
    if (rt->dry)
        return false;
    *c = (Collective){collective_name(kind),
                      connected[mesh_group(rt->program, group)],
                      rt->streams[rt->stream],
                      (void *)(uintptr_t)to,
                      (void *)(uintptr_t)from,
                      (size_t)count,
                      types[dtype]};
    if (!c->comm)
        rt_fail("%s: its group of ranks has no communicator", c->name);
    begin_collective(rt, kind);
    return true;
}

static void end(Rt *rt, const Collective *c, NcclResult result) {
    finish(rt, c->comm, result, c->name);
    rt_launched(rt);
}

void rt_all_reduce(Rt *rt, RtGroup group, RtPtr at, int64_t count, RtDtype dtype) {
    Collective c;
    if (start(rt, &c, RT_ALL_REDUCE, group, at, at, count, dtype))
        end(rt, &c, nccl.AllReduce(c.from, c.to, c.count, c.type, NCCL_SUM, c.comm, c.stream));
}

void rt_all_gather(Rt *rt, RtGroup group, RtPtr to, RtPtr from, int64_t count, RtDtype dtype) {
    Collective c;
    if (start(rt, &c, RT_ALL_GATHER, group, to, from, count, dtype))
        end(rt, &c, nccl.AllGather(c.from, c.to, c.count, c.type, c.comm, c.stream));
}

void rt_reduce_scatter(Rt *rt, RtGroup group, RtPtr to, RtPtr from, int64_t count, RtDtype dtype) {
    Collective c;
    if (start(rt, &c, RT_REDUCE_SCATTER, group, to, from, count, dtype))
        end(rt, &c, nccl.ReduceScatter(c.from, c.to, c.count, c.type, NCCL_SUM, c.comm, c.stream));
}

void rt_broadcast(Rt *rt, RtGroup group, RtPtr at, int64_t count, RtDtype dtype) {
    Collective c;
    if (start(rt, &c, RT_BROADCAST, group, at, at, count, dtype))
        end(rt, &c, nccl.Broadcast(c.from, c.to, c.count, c.type, 0, c.comm, c.stream));
}

/* ---- messages -------------------------------------------------------------------------------- */

static NcclResult add_message(const Message *m, NcclComm comm, CUstream stream) {
    void *at = (void *)(uintptr_t)m->at;
    const size_t count = (size_t)m->count;
    return m->send ? nccl.Send(at, count, types[m->dtype], m->peer, comm, stream)
                   : nccl.Recv(at, count, types[m->dtype], m->peer, comm, stream);
}

void nccl_exchange(Rt *rt, RtGroup group, const Message *messages, int count) {
    NcclComm comm = connected[mesh_group(rt->program, group)];
    RtExchanged *work = &rt->work.collectives[RT_SEND_RECV];
    work->count++;
    for (int i = 0; i < count; i++)
        if (messages[i].send)
            work->bytes += messages[i].count * (int64_t)rt_dtype_bytes(messages[i].dtype);
    work->bus_bytes = (double)work->bytes;
    if (rt->dry)
        return;
    begin_collective(rt, RT_SEND_RECV);
    NcclResult result = nccl.GroupStart();
    for (int i = 0; i < count && (result == NCCL_OK || result == NCCL_IN_PROGRESS); i++)
        result = add_message(&messages[i], comm, rt->streams[RT_STREAM_COMPUTE]);
    NcclResult ended = nccl.GroupEnd();
    bool added = result == NCCL_OK || result == NCCL_IN_PROGRESS;
    finish(rt, comm, added ? ended : result, collective_name(RT_SEND_RECV));
}
