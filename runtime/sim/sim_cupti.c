/* The simulated libcupti.so.13: activity records of the simulated driver's work, with real times.
 * The driver's tracer writes the records, under the driver's lock, into buffers provided by the
 * program.
 */
#include "sim_trace.h"
#include <cupti.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 KernelRecord;
typedef CUpti_ActivityMemcpy6 CopyRecord;
typedef CUpti_ActivitySynchronization2 SyncRecord;
#else
typedef CUpti_ActivityKernel9 KernelRecord;
typedef CUpti_ActivityMemcpy5 CopyRecord;
typedef CUpti_ActivitySynchronization SyncRecord;
#endif
typedef CUpti_ActivityMemset4 SetRecord;

static struct {
    bool enabled[CUPTI_ACTIVITY_KIND_COUNT];
    CUpti_BuffersCallbackRequestFunc request;
    CUpti_BuffersCallbackCompleteFunc complete;
    uint8_t *buffer;
    size_t size, used, records, most_records;
    size_t dropped;
} cupti;

/* ---- The driver's functions -------------------------------------------------------------- */

#define CBID(name, symbol) \
    { #name, #symbol, CUPTI_DRIVER_TRACE_CBID_##symbol }

static const struct {
    const char *name, *symbol;
    CUpti_CallbackId id;
} functions[] = {
    CBID(cuInit, cuInit),
    CBID(cuDriverGetVersion, cuDriverGetVersion),
    CBID(cuDeviceGet, cuDeviceGet),
    CBID(cuDeviceGetCount, cuDeviceGetCount),
    CBID(cuDeviceGetName, cuDeviceGetName),
    CBID(cuDeviceGetAttribute, cuDeviceGetAttribute),
    CBID(cuDeviceTotalMem, cuDeviceTotalMem_v2),
    CBID(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain),
    CBID(cuCtxSetCurrent, cuCtxSetCurrent),
    CBID(cuCtxGetCurrent, cuCtxGetCurrent),
    CBID(cuCtxSynchronize, cuCtxSynchronize),
    CBID(cuModuleLoad, cuModuleLoad),
    CBID(cuModuleLoadData, cuModuleLoadData),
    CBID(cuModuleUnload, cuModuleUnload),
    CBID(cuModuleGetFunction, cuModuleGetFunction),
    CBID(cuModuleGetGlobal, cuModuleGetGlobal_v2),
    CBID(cuFuncSetAttribute, cuFuncSetAttribute),
    CBID(cuFuncGetAttribute, cuFuncGetAttribute),
    CBID(cuMemGetInfo, cuMemGetInfo_v2),
    CBID(cuMemAlloc, cuMemAlloc_v2),
    CBID(cuMemFree, cuMemFree_v2),
    CBID(cuMemHostAlloc, cuMemHostAlloc),
    CBID(cuMemFreeHost, cuMemFreeHost),
    CBID(cuMemHostRegister, cuMemHostRegister_v2),
    CBID(cuMemHostUnregister, cuMemHostUnregister),
    CBID(cuMemcpy, cuMemcpy),
    CBID(cuMemcpyHtoD, cuMemcpyHtoD_v2),
    CBID(cuMemcpyDtoH, cuMemcpyDtoH_v2),
    CBID(cuMemcpyDtoD, cuMemcpyDtoD_v2),
    CBID(cuMemcpy2D, cuMemcpy2D_v2),
    CBID(cuMemcpyAsync, cuMemcpyAsync),
    CBID(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2),
    CBID(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2),
    CBID(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2),
    CBID(cuMemsetD8, cuMemsetD8_v2),
    CBID(cuMemsetD32, cuMemsetD32_v2),
    CBID(cuMemsetD8Async, cuMemsetD8Async),
    CBID(cuMemsetD32Async, cuMemsetD32Async),
    CBID(cuStreamCreate, cuStreamCreate),
    CBID(cuStreamDestroy, cuStreamDestroy_v2),
    CBID(cuStreamQuery, cuStreamQuery),
    CBID(cuStreamSynchronize, cuStreamSynchronize),
    CBID(cuStreamWaitEvent, cuStreamWaitEvent),
    CBID(cuStreamBeginCapture, cuStreamBeginCapture_v2),
    CBID(cuStreamEndCapture, cuStreamEndCapture),
    CBID(cuStreamIsCapturing, cuStreamIsCapturing),
    CBID(cuEventCreate, cuEventCreate),
    CBID(cuEventDestroy, cuEventDestroy_v2),
    CBID(cuEventRecord, cuEventRecord),
    CBID(cuEventQuery, cuEventQuery),
    CBID(cuEventSynchronize, cuEventSynchronize),
    CBID(cuEventElapsedTime, cuEventElapsedTime),
    CBID(cuLaunchKernel, cuLaunchKernel),
    CBID(cuLaunchKernelEx, cuLaunchKernelEx),
    CBID(cuLaunchHostFunc, cuLaunchHostFunc),
    CBID(cuGraphInstantiate, cuGraphInstantiateWithFlags),
    CBID(cuGraphUpload, cuGraphUpload),
    CBID(cuGraphLaunch, cuGraphLaunch),
    CBID(cuGraphDestroy, cuGraphDestroy),
    CBID(cuGraphExecDestroy, cuGraphExecDestroy),
};

static CUpti_CallbackId id_of(const char *name) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, name))
            return functions[i].id;
    return CUPTI_DRIVER_TRACE_CBID_INVALID;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (domain == CUPTI_CB_DOMAIN_DRIVER_API && functions[i].id == id) {
            *name = functions[i].symbol;
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- Buffers ----------------------------------------------------------------------------- */

static void hand_back(void) {
    if (!cupti.buffer)
        return;
    uint8_t *buffer = cupti.buffer;
    cupti.buffer = NULL;
    cupti.complete(NULL, 0, buffer, cupti.size, cupti.used);
}

static bool room_for(size_t bytes) {
    const bool full = cupti.used + bytes > cupti.size ||
                      (cupti.most_records && cupti.records == cupti.most_records);
    if (cupti.buffer && !full)
        return true;
    hand_back();
    cupti.used = cupti.records = 0;
    cupti.request(&cupti.buffer, &cupti.size, &cupti.most_records);
    return cupti.buffer && cupti.size >= bytes;
}

static void append(const void *record, size_t bytes) {
    if (!cupti.request || !room_for(bytes)) {
        cupti.dropped++;
        return;
    }
    memcpy(cupti.buffer + cupti.used, record, bytes);
    cupti.used += bytes;
    cupti.records++;
}

static size_t record_bytes(CUpti_ActivityKind kind) {
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(SetRecord);
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return sizeof(SyncRecord);
    default:
        return 0;
    }
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes,
                                       CUpti_Activity **record) {
    uint8_t *next = buffer;
    CUpti_ActivityKind kind;
    if (!buffer || !record)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (*record) {
        memcpy(&kind, *record, sizeof kind);
        next = (uint8_t *)*record + record_bytes(kind);
    }
    if (next >= buffer + valid_bytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

/* ---- Records ----------------------------------------------------------------------------- */

static void add_kernel(const SimRecord *r) {
    const bool concurrent = cupti.enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL];
    if (!concurrent && !cupti.enabled[CUPTI_ACTIVITY_KIND_KERNEL])
        return;
    KernelRecord k;
    memset(&k, 0, sizeof k);
    k.kind = concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_KERNEL;
    k.start = r->start;
    k.end = r->end;
    k.completed = r->end;
    k.deviceId = (uint32_t)r->device;
    k.contextId = 1;
    k.streamId = r->stream;
    k.gridX = (int32_t)r->grid[0];
    k.gridY = (int32_t)r->grid[1];
    k.gridZ = (int32_t)r->grid[2];
    k.blockX = (int32_t)r->block[0];
    k.blockY = (int32_t)r->block[1];
    k.blockZ = (int32_t)r->block[2];
    k.dynamicSharedMemory = (int32_t)r->shared_bytes;
    k.correlationId = r->correlation;
    k.name = r->name;
    append(&k, sizeof k);
}

static uint8_t memory_kind(const SimRecord *r, bool device) {
    if (device)
        return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    return r->pinned ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED : CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

static void add_copy(const SimRecord *r) {
    static const uint8_t kinds[] = {[COPY_H2D] = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
                                    [COPY_D2H] = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
                                    [COPY_D2D] = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD,
                                    [COPY_H2H] = CUPTI_ACTIVITY_MEMCPY_KIND_HTOH};
    CopyRecord c;
    memset(&c, 0, sizeof c);
    c.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    c.copyKind = kinds[r->copy];
    c.srcKind = memory_kind(r, r->copy == COPY_D2H || r->copy == COPY_D2D);
    c.dstKind = memory_kind(r, r->copy == COPY_H2D || r->copy == COPY_D2D);
    c.bytes = r->bytes;
    c.start = r->start;
    c.end = r->end;
    c.deviceId = (uint32_t)r->device;
    c.contextId = 1;
    c.streamId = r->stream;
    c.correlationId = r->correlation;
    append(&c, sizeof c);
}

static void add_peer_copy(const SimRecord *r) {
    CUpti_ActivityMemcpyPtoP4 c;
    memset(&c, 0, sizeof c);
    c.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    c.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    c.srcKind = c.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    c.bytes = r->bytes;
    c.start = r->start;
    c.end = r->end;
    c.deviceId = (uint32_t)r->device;
    c.contextId = 1;
    c.streamId = r->stream;
    c.srcDeviceId = (uint32_t)r->from_device;
    c.dstDeviceId = (uint32_t)r->to_device;
    c.correlationId = r->correlation;
    append(&c, sizeof c);
}

/* Copies between devices are a separate kind of record. */
static void add_any_copy(const SimRecord *r) {
    const bool peer = r->copy == COPY_D2D && r->from_device != r->to_device;
    if (!cupti.enabled[peer ? CUPTI_ACTIVITY_KIND_MEMCPY2 : CUPTI_ACTIVITY_KIND_MEMCPY])
        return;
    if (peer)
        add_peer_copy(r);
    else
        add_copy(r);
}

static void add_set(const SimRecord *r) {
    SetRecord s;
    memset(&s, 0, sizeof s);
    s.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    s.value = r->value;
    s.bytes = r->bytes;
    s.start = r->start;
    s.end = r->end;
    s.deviceId = (uint32_t)r->device;
    s.contextId = 1;
    s.streamId = r->stream;
    s.correlationId = r->correlation;
    s.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    append(&s, sizeof s);
}

static void add_call(const SimRecord *r) {
    CUpti_ActivityAPI a;
    memset(&a, 0, sizeof a);
    a.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    a.cbid = id_of(r->name);
    a.start = r->start;
    a.end = r->end;
    a.processId = (uint32_t)getpid();
    a.threadId = (uint32_t)r->thread;
    a.correlationId = r->correlation;
    append(&a, sizeof a);
}

static void add_sync(const SimRecord *r) {
    static const struct {
        const char *name;
        CUpti_ActivitySynchronizationType type;
    } types[] = {
        {"cuStreamSynchronize", CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE},
        {"cuEventSynchronize", CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE},
        {"cuCtxSynchronize", CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, r->name))
            continue;
        SyncRecord s;
        memset(&s, 0, sizeof s);
        s.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
        s.type = types[i].type;
        s.start = r->start;
        s.end = r->end;
        s.correlationId = r->correlation;
        s.contextId = 1;
        s.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
        s.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
        append(&s, sizeof s);
    }
}

static void on_record(const SimRecord *r) {
    switch (r->kind) {
    case TRACE_KERNEL:
        add_kernel(r);
        break;
    case TRACE_COPY:
        add_any_copy(r);
        break;
    case TRACE_SET:
        if (cupti.enabled[CUPTI_ACTIVITY_KIND_MEMSET])
            add_set(r);
        break;
    case TRACE_CALL:
        if (cupti.enabled[CUPTI_ACTIVITY_KIND_DRIVER])
            add_call(r);
        if (cupti.enabled[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION])
            add_sync(r);
        break;
    }
}

/* ---- The API ----------------------------------------------------------------------------- */

CUptiResult cuptiGetVersion(uint32_t *version) {
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    *timestamp = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
    *text = result == CUPTI_SUCCESS                   ? "CUPTI_SUCCESS"
            : result == CUPTI_ERROR_INVALID_PARAMETER ? "CUPTI_ERROR_INVALID_PARAMETER"
            : result == CUPTI_ERROR_MAX_LIMIT_REACHED ? "CUPTI_ERROR_MAX_LIMIT_REACHED"
            : result == CUPTI_ERROR_INVALID_KIND      ? "CUPTI_ERROR_INVALID_KIND"
                                                      : "CUPTI_ERROR_UNKNOWN";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
    if (!request || !complete)
        return CUPTI_ERROR_INVALID_PARAMETER;
    cupti.request = request;
    cupti.complete = complete;
    sim_trace_attach();
    return CUPTI_SUCCESS;
}

static CUptiResult set_enabled(CUpti_ActivityKind kind, bool enabled) {
    if ((unsigned)kind >= CUPTI_ACTIVITY_KIND_COUNT)
        return CUPTI_ERROR_INVALID_KIND;
    cupti.enabled[kind] = enabled;
    sim_trace_attach();
    bool any = false;
    for (int i = 0; i < CUPTI_ACTIVITY_KIND_COUNT; i++)
        any |= cupti.enabled[i];
    sim_trace(any ? on_record : NULL);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) { return set_enabled(kind, true); }
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) { return set_enabled(kind, false); }

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
    (void)flag;
    sim_trace_pause();
    hand_back();
    sim_trace_resume();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped) {
    (void)context, (void)stream;
    *dropped = cupti.dropped;
    cupti.dropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id) {
    (void)context, (void)per_thread;
    if (!id)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *id = sim_stream_id(stream);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void) {
    sim_trace(NULL);
    return cuptiActivityFlushAll(0);
}
