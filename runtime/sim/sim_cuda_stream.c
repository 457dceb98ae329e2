/* The driver API: streams and events, and the interface for the other simulated libraries. */
#include "sim.h"
#include "sim_enqueue.h"
#include <stdlib.h>
#include <string.h>

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    CALL("cuStreamCreate");
    NEED_CONTEXT();
    if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    *stream = stream_new(sim_context, flags, priority);
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy(CUstream stream) {
    CALL("cuStreamDestroy");
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
        return capture_forbids(stream);
    const CUresult error = drain_stream(stream);
    if (!error)
        stream_free(stream);
    return error;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    CALL("cuStreamGetFlags");
    NEED_CONTEXT();
    *flags = stream_of(stream)->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    CALL("cuStreamGetPriority");
    NEED_CONTEXT();
    *priority = stream_of(stream)->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
    CALL("cuStreamSynchronize");
    NEED_CONTEXT();
    CUstream stream = stream_of(handle);
    const CUresult error = capture_forbids(stream);
    return error ? error : drain_stream(stream);
}

/* Each query runs one operation, so that a polling host makes progress. */
CUresult cuStreamQuery(CUstream handle) {
    CALL("cuStreamQuery");
    NEED_CONTEXT();
    CUstream stream = stream_of(handle);
    const CUresult error = capture_forbids(stream);
    if (error)
        return error;
    if (stream->first)
        stream_progress(stream);
    return sim_sticky ? sim_sticky : stream->first ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
    CALL("cuStreamWaitEvent");
    (void)flags;
    NEED_CONTEXT();
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    CUstream stream = stream_of(handle);
    if (event->capture)
        return capture_wait(stream, event);
    /* A capture cannot wait for work outside it. */
    if (stream->capture && event->mark) {
        capture_forbids(stream);
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (event->mark)
        stream_wait_mark(stream, event->mark);
    return CUDA_SUCCESS;
}

/* ---- Events ------------------------------------------------------------------------------ */

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    CALL("cuEventCreate");
    NEED_CONTEXT();
    *event = sim_need(calloc(1, sizeof **event));
    (*event)->context = sim_context;
    (*event)->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
    CALL("cuEventDestroy");
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    mark_release(event->mark);
    free(event->frontier);
    free(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
    CALL("cuEventRecord");
    NEED_CONTEXT();
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    CUstream stream = stream_of(handle);
    if (event->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) {
        capture_record(stream, event);
        return CUDA_SUCCESS;
    }
    event->capture = NULL;
    mark_release(event->mark);
    event->mark = mark_new(stream);
    event->mark->references++;
    Op *op = op_new(OP_RECORD);
    op->mark = event->mark;
    return stream_push(stream, op);
}

CUresult cuEventSynchronize(CUevent event) {
    CALL("cuEventSynchronize");
    NEED_CONTEXT();
    if (event->capture)
        return CUDA_ERROR_CAPTURED_EVENT;
    return event->mark ? drain_mark(event->mark) : CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
    CALL("cuEventQuery");
    NEED_CONTEXT();
    if (event->capture)
        return CUDA_ERROR_CAPTURED_EVENT;
    if (!event->mark || event->mark->done)
        return CUDA_SUCCESS;
    stream_progress(event->mark->stream);
    return sim_sticky ? sim_sticky : event->mark->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    CALL("cuEventElapsedTime");
    NEED_CONTEXT();
    if (start->context != end->context || !start->mark || !end->mark ||
        ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!start->mark->done || !end->mark->done)
        return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)((double)(int64_t)(end->mark->time - start->mark->time) * 1e-6);
    return CUDA_SUCCESS;
}

/* ---- Other libraries --------------------------------------------------------------------- */

CUresult sim_enqueue(CUstream stream, int (*run)(const void *argument), const void *argument,
                     size_t bytes, const char *name) {
    CALL(name);
    NEED_CONTEXT();
    Op *op = op_new(OP_CUSTOM);
    op->custom.run = run;
    op->custom.argument = memcpy(sim_need(malloc(bytes + 1)), argument, bytes);
    op->custom.bytes = bytes;
    op->custom.name = name;
    return stream_push(stream_of(stream), op);
}

__attribute__((weak)) void *__asan_region_is_poisoned(void *p, size_t bytes);

int sim_covers(const void *p, size_t bytes) {
    CALL("sim_covers");
    const bool guarded =
        __asan_region_is_poisoned && __asan_region_is_poisoned((void *)(uintptr_t)p, bytes);
    return memory_covers(p, bytes) && !guarded;
}

int sim_memory(int device, size_t *free_bytes, size_t *total_bytes) {
    CALL("sim_memory");
    if (device < 0 || device >= sim_settings.devices)
        return 0;
    memory_info(device, free_bytes, total_bytes);
    return 1;
}
