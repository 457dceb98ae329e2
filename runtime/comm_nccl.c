/* NCCL: one communicator of all ranks, which never blocks the host without being watched. */
#include "runtime/comm.h"
#include "runtime/driver.h"
#include "runtime/dynlib.h"
#include "runtime/launch.h"
#include "runtime/nccl_abi.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NCCL_FUNCTIONS(X) \
    X(GetVersion)         \
    X(GetUniqueId)        \
    X(CommInitRankConfig) \
    X(CommGetAsyncError) X(CommDestroy) X(GetErrorString) X(GetLastError) X(AllReduce)

static struct {
#define X(name) __typeof__(&nccl##name) name;
    NCCL_FUNCTIONS(X)
#undef X
} nccl;

/* The watchdog asks the communicator for errors, which in NCCL also joins what a call has begun: two
 * threads must not be in it at once. NULL until it can be used. */
static NcclComm connected;
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
        rt_fail("libnccl.so.2 is version %d; several ranks need %d or later", version,
                NCCL_LEAST_VERSION);
}

/* Around each call, which may itself be what hangs. */
static void begin(const Rt *rt, const char *what) {
    watch_enter(rt, what);
    pthread_mutex_lock(&in_use);
}

/* Ends the process unless the call has succeeded or, by and by, does. */
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
        rt_fail("%s of step %lld: NCCL says %s: %s", what, (long long)rt->step + 1,
                nccl.GetErrorString(result), nccl.GetLastError(comm));
}

static void new_id(const Rt *rt, NcclId *id, const char *what) {
    begin(rt, what);
    finish(rt, NULL, nccl.GetUniqueId(id), what);
}

void nccl_open(Rt *rt) {
    static const char what[] = "the start of NCCL";
    NcclId id;
    NcclComm comm = NULL;
    NcclConfig config = NCCL_NON_BLOCKING;
    load_symbols();
    check_version();
    memset(&id, 0, sizeof id);
    if (rt->rank == 0)
        new_id(rt, &id, what);
    comm_broadcast(rt, &id, sizeof id, what);
    begin(rt, what);
    NcclResult result = nccl.CommInitRankConfig(&comm, rt->ranks, id, rt->rank, &config);
    connected = comm;
    finish(rt, comm, result, what);
}

void nccl_close(Rt *rt) {
    static const char what[] = "the end of NCCL";
    rt_finish_stream(rt, RT_STREAM_COMPUTE);
    begin(rt, what);
    NcclComm comm = connected;
    connected = NULL;
    finish(rt, NULL, comm ? nccl.CommDestroy(comm) : NCCL_OK, what);
}

/* Whoever is in a call sees its errors, so then there is nothing to ask. */
const char *nccl_async_error(void) {
    NcclResult error = NCCL_OK;
    const char *text = NULL;
    if (pthread_mutex_trylock(&in_use) != 0)
        return NULL;
    bool asked = connected && nccl.CommGetAsyncError(connected, &error) == NCCL_OK;
    if (asked && error != NCCL_OK && error != NCCL_IN_PROGRESS) {
        const char *last = nccl.GetLastError(connected);
        text = last && *last ? last : nccl.GetErrorString(error);
    }
    pthread_mutex_unlock(&in_use);
    return text;
}

/* A sum over one rank is there already. */
void rt_all_reduce(Rt *rt, RtPtr at, int64_t count, RtDtype dtype) {
    void *place = (void *)(uintptr_t)at;
    rt->work.collectives++;
    rt->work.collective_bytes += count * (int64_t)rt_dtype_bytes(dtype);
    if (rt->dry)
        return;
    rt->collective = "all_reduce";
    if (rt->comm) {
        begin(rt, rt->collective);
        finish(rt, connected,
               nccl.AllReduce(place, place, (size_t)count, types[dtype], NCCL_SUM, connected,
                              rt->streams[rt->stream]),
               rt->collective);
    }
    rt_launched(rt);
}
