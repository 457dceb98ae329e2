/* Copies CUPTI's activity records from its buffers into one list. */
#include "runtime/report/profile.h"

#include <cupti.h>
#include <math.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/dynlib.h"
#include "runtime/device/driver.h"

enum { BUFFER_BYTES = 1 << 20, BUFFER_ALIGNMENT = 8 };

#define CUPTI_FUNCTIONS(X)       \
    X(GetVersion)                \
    X(GetTimestamp)              \
    X(GetResultString)           \
    X(GetCallbackName)           \
    X(GetStreamIdEx)             \
    X(ActivityRegisterCallbacks) \
    X(ActivityEnable)            \
    X(ActivityDisable)           \
    X(ActivityFlushAll)          \
    X(ActivityGetNextRecord)     \
    X(ActivityGetNumDroppedRecords)

static struct {
#define X(name) __typeof__(&cupti##name) name;
    CUPTI_FUNCTIONS(X)
#undef X
} cupti;

static const CUpti_ActivityKind activities[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2 /* from card to card */, CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_DRIVER};

typedef struct {
    int card;
    RtStream stream;
    uint32_t id; /* of records */
} KnownStream;

struct Profile {
    ProfileRecord *records;
    int64_t count, capacity;
    char **names; /* interned: equal names are equal pointers */
    int name_count;
    KnownStream *streams;
    int stream_count;
    int64_t first_step, steps, dropped;
    uint32_t version;
    uint64_t origin;
    pthread_mutex_t lock; /* CUPTI completes buffers on a thread of its own */
};

/* CUPTI's callbacks take no user pointer. */
static Profile *current;

/* ---- records --------------------------------------------------------------------------------- */

static const char *intern(Profile *p, const char *name) {
    for (int i = 0; i < p->name_count; i++)
        if (strcmp(p->names[i], name) == 0)
            return p->names[i];
    char **names = realloc(p->names, sizeof *names * ((size_t)p->name_count + 1));
    char *copy = strdup(name);
    if (!names || !copy)
        rt_fail("out of memory while profiling; lower profiling.steps");
    p->names = names;
    return p->names[p->name_count++] = copy;
}

static void add(Profile *p, ProfileRecord record) {
    if (!record.start || record.end < record.start)
        return; /* CUPTI has no times for it */
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 1024;
        p->records = realloc(p->records, sizeof record * (size_t)p->capacity);
        if (!p->records)
            rt_fail("out of memory while profiling; lower profiling.steps");
    }
    p->records[p->count++] = record;
}

/* The structs below are the oldest ones with the fields that we read; newer CUPTI versions only
 * append fields. */

static void add_memset(Profile *p, const CUpti_ActivityMemset4 *m) {
    add(p, (ProfileRecord){
               .kind = PROFILE_MEMSET,
               .name = intern(p, "[CUDA memset]"),
               .start = m->start,
               .end = m->end,
               .device = m->deviceId,
               .stream = m->streamId,
               .correlation = m->correlationId,
               .bytes = m->bytes,
           });
}

/* The driver runs memsets of a graph as kernels of its own, whose records do not have the bytes. */
static bool is_memset(const char *kernel) { return strncmp(kernel, "memset", 6) == 0; }

static void add_kernel(Profile *p, const CUpti_ActivityKernel9 *k) {
    if (is_memset(k->name)) {
        CUpti_ActivityMemset4 set = {.start = k->start,
                                     .end = k->end,
                                     .deviceId = k->deviceId,
                                     .streamId = k->streamId,
                                     .correlationId = k->correlationId};
        add_memset(p, &set);
        return;
    }
    add(p, (ProfileRecord){
               .kind = PROFILE_KERNEL,
               .name = intern(p, k->name),
               .start = k->start,
               .end = k->end,
               .device = k->deviceId,
               .stream = k->streamId,
               .correlation = k->correlationId,
               .grid = {(uint32_t)k->gridX, (uint32_t)k->gridY, (uint32_t)k->gridZ},
               .block = {(uint32_t)k->blockX, (uint32_t)k->blockY, (uint32_t)k->blockZ},
               .registers = k->registersPerThread,
               .shared_bytes = (uint32_t)(k->staticSharedMemory + k->dynamicSharedMemory),
           });
}

static void add_copy(Profile *p, const CUpti_ActivityMemcpy5 *c) {
    static const char *const names[RT_COPY_KINDS] = {"[CUDA memcpy Host-to-Device]",
                                                     "[CUDA memcpy Device-to-Host]",
                                                     "[CUDA memcpy Device-to-Device]"};
    RtCopyKind kind = c->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD   ? RT_H2D
                      : c->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? RT_D2H
                                                                       : RT_D2D;
    add(p, (ProfileRecord){
               .kind = PROFILE_COPY,
               .name = intern(p, names[kind]),
               .start = c->start,
               .end = c->end,
               .device = c->deviceId,
               .stream = c->streamId,
               .correlation = c->correlationId,
               .bytes = c->bytes,
               .copy = kind,
               .pinned = c->srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED ||
                         c->dstKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
           });
}

static void add_peer_copy(Profile *p, const CUpti_ActivityMemcpyPtoP4 *c) {
    add(p, (ProfileRecord){
               .kind = PROFILE_COPY,
               .name = intern(p, "[CUDA memcpy Peer-to-Peer]"),
               .start = c->start,
               .end = c->end,
               .device = c->deviceId,
               .stream = c->streamId,
               .correlation = c->correlationId,
               .bytes = c->bytes,
               .copy = RT_D2D,
               .peer = true,
           });
}

static void add_call(Profile *p, const CUpti_ActivityAPI *call) {
    const char *name = NULL;
    if (cupti.GetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, call->cbid, &name) || !name)
        name = "unknown driver call";
    add(p, (ProfileRecord){
               .kind = PROFILE_API,
               .name = intern(p, name),
               .start = call->start,
               .end = call->end,
               .stream = call->threadId,
               .correlation = call->correlationId,
           });
}

static void add_activity(Profile *p, const CUpti_Activity *activity) {
    switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        add_kernel(p, (const CUpti_ActivityKernel9 *)activity);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        add_copy(p, (const CUpti_ActivityMemcpy5 *)activity);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        add_peer_copy(p, (const CUpti_ActivityMemcpyPtoP4 *)activity);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        add_memset(p, (const CUpti_ActivityMemset4 *)activity);
        break;
    case CUPTI_ACTIVITY_KIND_DRIVER:
        add_call(p, (const CUpti_ActivityAPI *)activity);
        break;
    default:
        break;
    }
}

/* ---- CUPTI ----------------------------------------------------------------------------------- */

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records) {
    *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *max_records = 0; /* as many as fit */
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
                                      size_t size, size_t valid_bytes) {
    (void)size;
    CUpti_Activity *activity = NULL;
    size_t dropped = 0;
    if (!current) {
        free(buffer);
        return;
    }
    pthread_mutex_lock(&current->lock);
    while (valid_bytes &&
           cupti.ActivityGetNextRecord(buffer, valid_bytes, &activity) == CUPTI_SUCCESS)
        add_activity(current, activity);
    if (cupti.ActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
        current->dropped += (int64_t)dropped;
    pthread_mutex_unlock(&current->lock);
    free(buffer);
}

static bool succeeded(CUptiResult result, const char *call) {
    const char *reason = "unknown error";
    if (result == CUPTI_SUCCESS)
        return true;
    cupti.GetResultString(result, &reason);
    rt_warn("profiling is off: %s: %s", call, reason);
    return false;
}

static const char *other_profiler(void) {
    static const struct {
        const char *variable, *tool;
    } signs[] = {{"NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
                 {"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "Nsight Compute"},
                 {"NV_NSIGHT_INJECTION_PORT_BASE", "Nsight Compute"},
                 {"CUDA_INJECTION64_PATH", "another profiler"}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (getenv(signs[i].variable))
            return signs[i].tool;
    return NULL;
}

static bool load_cupti(void) {
    char error[1024];
    if (!dynlib_open(LIB_CUPTI, error, sizeof error)) {
        rt_warn("profiling is off: %s", error);
        return false;
    }
    const char *missing = NULL;
#define X(function)                                                          \
    *(void **)&cupti.function = dynlib_symbol(LIB_CUPTI, "cupti" #function); \
    if (!cupti.function)                                                     \
        missing = "cupti" #function;
    CUPTI_FUNCTIONS(X)
#undef X
    if (missing) {
        rt_warn("profiling is off: the CUPTI found has no %s; install CUDA 12.4 or newer", missing);
        return false;
    }
    return succeeded(cupti.ActivityRegisterCallbacks(buffer_requested, buffer_completed),
                     "cuptiActivityRegisterCallbacks");
}

Profile *profile_open(Rt *rt) {
    if (!rt->program->profiling.enabled)
        return NULL;
    const char *tool = other_profiler();
    if (tool) {
        rt_warn("profiling is off: %s is attached", tool);
        return NULL;
    }
    if (!load_cupti())
        return NULL;
    Profile *p = rt_alloc(sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    cupti.GetVersion(&p->version);
    return current = p;
}

void profile_close(Profile *p) {
    if (!p)
        return;
    current = NULL;
    for (int i = 0; i < p->name_count; i++)
        free(p->names[i]);
    free(p->names);
    free(p->streams);
    free(p->records);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- streams --------------------------------------------------------------------------------- */

void profile_know_streams(const Rt *card) {
    Profile *p = card->profile;
    if (!p)
        return;
    size_t count = (size_t)p->stream_count + RT_STREAMS;
    p->streams = realloc(p->streams, sizeof *p->streams * count);
    if (!p->streams)
        rt_fail("out of memory while profiling");
    for (int i = 0; i < RT_STREAMS; i++) {
        KnownStream *known = &p->streams[p->stream_count];
        *known = (KnownStream){.card = card->card, .stream = (RtStream)i};
        p->stream_count +=
            cupti.GetStreamIdEx(card->context, card->streams[i], 0, &known->id) == CUPTI_SUCCESS;
    }
}

const char *profile_stream_name(const Profile *p, int card, uint32_t stream) {
    static const char *const names[RT_STREAMS] = {"compute", "communication", "side", "copy"};
    for (int i = 0; i < p->stream_count; i++)
        if (p->streams[i].card == card && p->streams[i].id == stream)
            return names[p->streams[i].stream];
    return NULL;
}

/* ---- the window ------------------------------------------------------------------------------ */

static void wait_for_device(void) { driver_check(cu.CtxSynchronize(), "cuCtxSynchronize"); }

void profile_resume(Profile *p) {
    if (!p)
        return;
    wait_for_device();
    for (size_t i = 0; i < sizeof activities / sizeof *activities; i++)
        succeeded(cupti.ActivityEnable(activities[i]), "cuptiActivityEnable");
}

/* CUPTI may keep records of ended work until it is told to hand them over. */
void profile_pause(Profile *p) {
    if (!p)
        return;
    wait_for_device();
    for (size_t i = 0; i < sizeof activities / sizeof *activities; i++)
        succeeded(cupti.ActivityDisable(activities[i]), "cuptiActivityDisable");
    succeeded(cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
}

void profile_begin(Profile *p, int64_t first_step) {
    if (!p)
        return;
    p->first_step = first_step;
    wait_for_device();
    cupti.GetTimestamp(&p->origin);
    profile_resume(p);
}

static int by_start(const void *a, const void *b) {
    const ProfileRecord *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

void profile_end(Profile *p, int64_t steps) {
    if (!p)
        return;
    profile_pause(p);
    pthread_mutex_lock(&p->lock);
    if (p->count)
        qsort(p->records, (size_t)p->count, sizeof *p->records, by_start);
    p->steps = steps;
    pthread_mutex_unlock(&p->lock);
    if (p->dropped)
        rt_warn("CUPTI dropped %lld records: the profile is incomplete", (long long)p->dropped);
}

int64_t profile_count(const Profile *p) { return p ? p->count : 0; }

const ProfileRecord *profile_record(const Profile *p, int64_t index) { return &p->records[index]; }

int64_t profile_steps(const Profile *p) { return p ? p->steps : 0; }

int64_t profile_first_step(const Profile *p) { return p ? p->first_step : 0; }

int64_t profile_dropped(const Profile *p) { return p ? p->dropped : 0; }

uint32_t profile_cupti_version(const Profile *p) { return p ? p->version : 0; }

uint64_t profile_origin(const Profile *p) { return p ? p->origin : 0; }

/* Sums whole nanoseconds, so that other sums of the same records give the same number. */
static double sum_ms(const Profile *p, ProfileKind kind, int copy) {
    uint64_t sum = 0;
    if (!profile_steps(p))
        return NAN;
    for (int64_t i = 0; i < p->count; i++) {
        const ProfileRecord *r = &p->records[i];
        if (r->kind == kind && (copy < 0 || (int)r->copy == copy))
            sum += r->end - r->start;
    }
    return 1e-6 * (double)sum;
}

double profile_ms(const Profile *p, ProfileKind kind) { return sum_ms(p, kind, -1); }

double profile_copy_ms(const Profile *p, RtCopyKind kind) {
    return sum_ms(p, PROFILE_COPY, (int)kind);
}

/* ---- NVTX ------------------------------------------------------------------------------------ */

void profile_range_push(const char *name) { nvtxRangePushA(name); }

void profile_range_pop(void) { nvtxRangePop(); }
