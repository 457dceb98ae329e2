/* The driver API: memory, copies, fills. */
#include "sim.h"
#include <stdlib.h>
#include <string.h>

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    CALL("cuMemGetInfo");
    NEED_CONTEXT();
    memory_info(sim_context->device, free_bytes, total_bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes) {
    CALL("cuMemAlloc");
    NEED_CONTEXT();
    const CUresult error = capture_forbids_unsafe();
    return error ? error : memory_allocate(sim_context->device, bytes, pointer);
}

/* Waits for the device, like the real function. */
CUresult cuMemFree(CUdeviceptr pointer) {
    CALL("cuMemFree");
    NEED_CONTEXT();
    if (!pointer)
        return CUDA_SUCCESS;
    CUresult error = capture_forbids_unsafe();
    if (!error)
        error = drain_all();
    return error ? error : memory_free(pointer);
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer) {
    CALL("cuMemGetAddressRange");
    CUdeviceptr found;
    size_t length;
    if (!memory_range(pointer, &found, &length))
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = found;
    if (bytes)
        *bytes = length;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    CALL("cuMemHostAlloc");
    (void)flags;
    NEED_CONTEXT();
    const CUresult error = capture_forbids_unsafe();
    if (error)
        return error;
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *pointer = host_allocate(bytes);
    return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAllocHost(void **pointer, size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }

CUresult cuMemFreeHost(void *pointer) {
    CALL("cuMemFreeHost");
    NEED_CONTEXT();
    const CUresult error = drain_all();
    if (error)
        return error;
    return host_free(pointer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags) {
    CALL("cuMemHostRegister");
    (void)flags;
    NEED_CONTEXT();
    return host_register(pointer, bytes) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult cuMemHostUnregister(void *pointer) {
    CALL("cuMemHostUnregister");
    NEED_CONTEXT();
    drain_all();
    return host_unregister(pointer) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *device, void *host, unsigned flags) {
    CALL("cuMemHostGetDevicePointer");
    (void)flags;
    *device = (CUdeviceptr)host;
    return host_is_pinned(host, 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Copies ------------------------------------------------------------------------------ */

static SimCopyKind kind_of(const void *to, const void *from) {
    if (memory_is_device(to))
        return memory_is_device(from) ? COPY_D2D : COPY_H2D;
    return memory_is_device(from) ? COPY_D2H : COPY_H2H;
}

static bool reachable(const void *p, size_t bytes) {
    return memory_is_device(p) ? memory_covers(p, bytes) : p != NULL;
}

static CUresult push_copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                          bool staged) {
    Op *op = op_new(OP_COPY);
    op->copy.to = (void *)to;
    op->copy.from = (const void *)from;
    op->copy.bytes = bytes;
    op->copy.rows = 1;
    op->copy.kind = kind_of(op->copy.to, op->copy.from);
    op->copy.pinned = (memory_is_device(op->copy.to) || host_is_pinned(op->copy.to, bytes)) &&
                      (memory_is_device(op->copy.from) || host_is_pinned(op->copy.from, bytes));
    if (staged && !memory_is_device(op->copy.from) && !host_is_pinned(op->copy.from, bytes))
        op->copy.staged = memcpy(sim_need(malloc(bytes)), op->copy.from, bytes);
    return stream_push(stream, op);
}

/* Copies of pageable memory are not really asynchronous: the driver has read the source, or written
 * the target, when the call returns. During capture only the addresses are recorded. */
static CUresult copy_async(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle) {
    if (!bytes)
        return CUDA_SUCCESS;
    if (!reachable((void *)to, bytes) || !reachable((void *)from, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    CUstream stream = stream_of(handle);
    const bool capturing = stream->capture != NULL;
    const CUresult error = push_copy(stream, to, from, bytes, !capturing);
    const bool to_pageable = !memory_is_device((void *)to) && !host_is_pinned((void *)to, bytes);
    return error || capturing || !to_pageable ? error : drain_stream(stream);
}

static CUresult copy_now(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    if (!bytes)
        return CUDA_SUCCESS;
    if (!reachable((void *)to, bytes) || !reachable((void *)from, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult error = capture_forbids_legacy();
    if (!error)
        error = push_copy(sim_context->legacy, to, from, bytes, false);
    return error ? error : drain_stream(sim_context->legacy);
}

/* Returns whether source and target are of the kind that the call's name says. */
static bool ends(CUdeviceptr to, CUdeviceptr from, SimCopyKind kind) {
    return kind_of((void *)to, (void *)from) == kind;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    CALL("cuMemcpy");
    NEED_CONTEXT();
    return copy_now(to, from, bytes);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
    CALL("cuMemcpyHtoD");
    NEED_CONTEXT();
    if (bytes && !ends(to, (CUdeviceptr)from, COPY_H2D))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_now(to, (CUdeviceptr)from, bytes);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
    CALL("cuMemcpyDtoH");
    NEED_CONTEXT();
    if (bytes && !ends((CUdeviceptr)to, from, COPY_D2H))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_now((CUdeviceptr)to, from, bytes);
}

/* One end of a copy of rows. */
typedef struct {
    CUdeviceptr at;
    size_t pitch, span;
    bool whole; /* type, pitch and range are valid */
} Rows;

static Rows rows_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                    const CUDA_MEMCPY2D *c) {
    bool on_device = type == CU_MEMORYTYPE_DEVICE;
    Rows r = {.at = on_device ? device : (CUdeviceptr)host, .pitch = pitch ? pitch : c->WidthInBytes};
    r.span = (c->Height - 1) * r.pitch + c->WidthInBytes;
    r.whole = (on_device || type == CU_MEMORYTYPE_HOST) && r.pitch >= c->WidthInBytes &&
              memory_is_device((void *)r.at) == on_device && reachable((void *)r.at, r.span);
    return r;
}

static bool is_pinned(Rows r) {
    return memory_is_device((void *)r.at) || host_is_pinned((void *)r.at, r.span);
}

/* Arrays and offsets are not supported. Counts as one copy, whatever the number of rows. */
CUresult cuMemcpy2D(const CUDA_MEMCPY2D *c) {
    CALL("cuMemcpy2D");
    NEED_CONTEXT();
    if (!c->Height || !c->WidthInBytes)
        return CUDA_SUCCESS;
    Rows to = rows_of(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch, c);
    Rows from = rows_of(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch, c);
    bool offset = c->srcXInBytes || c->srcY || c->dstXInBytes || c->dstY;
    const CUresult error = capture_forbids_legacy();
    if (error || offset || !to.whole || !from.whole)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    Op *op = op_new(OP_COPY);
    op->copy.to = (void *)to.at;
    op->copy.from = (const void *)from.at;
    op->copy.bytes = c->WidthInBytes;
    op->copy.rows = c->Height;
    op->copy.to_pitch = to.pitch;
    op->copy.from_pitch = from.pitch;
    op->copy.kind = kind_of(op->copy.to, op->copy.from);
    op->copy.pinned = is_pinned(to) && is_pinned(from);
    const CUresult pushed = stream_push(sim_context->legacy, op);
    return pushed ? pushed : drain_stream(sim_context->legacy);
}

/* The host does not wait for copies between device memory, as with the real driver. */
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    CALL("cuMemcpyDtoD");
    NEED_CONTEXT();
    if (bytes && !ends(to, from, COPY_D2D))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_async(to, from, bytes, NULL);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    CALL("cuMemcpyAsync");
    NEED_CONTEXT();
    return copy_async(to, from, bytes, stream);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    CALL("cuMemcpyHtoDAsync");
    NEED_CONTEXT();
    if (bytes && !ends(to, (CUdeviceptr)from, COPY_H2D))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_async(to, (CUdeviceptr)from, bytes, stream);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    CALL("cuMemcpyDtoHAsync");
    NEED_CONTEXT();
    if (bytes && !ends((CUdeviceptr)to, from, COPY_D2H))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_async((CUdeviceptr)to, from, bytes, stream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    CALL("cuMemcpyDtoDAsync");
    NEED_CONTEXT();
    if (bytes && !ends(to, from, COPY_D2D))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_async(to, from, bytes, stream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream) {
    CALL("cuMemcpyPeerAsync");
    NEED_CONTEXT();
    if (!to_context || !from_context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (bytes && (memory_device((void *)to) != to_context->device ||
                  memory_device((void *)from) != from_context->device))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_async(to, from, bytes, stream);
}

/* ---- Fills ------------------------------------------------------------------------------- */

static CUresult fill(CUdeviceptr to, unsigned value, unsigned width, size_t count,
                     CUstream handle) {
    NEED_CONTEXT();
    if (!count)
        return CUDA_SUCCESS;
    if (to % width || !memory_covers((void *)to, count * width))
        return CUDA_ERROR_INVALID_VALUE;
    Op *op = op_new(OP_SET);
    op->set.to = (void *)to;
    op->set.count = count;
    op->set.value = value;
    op->set.width = width;
    return stream_push(stream_of(handle), op);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
    CALL("cuMemsetD8");
    return fill(to, value, 1, count, NULL);
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
    CALL("cuMemsetD16");
    return fill(to, value, 2, count, NULL);
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
    CALL("cuMemsetD32");
    return fill(to, value, 4, count, NULL);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    CALL("cuMemsetD8Async");
    return fill(to, value, 1, count, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    CALL("cuMemsetD16Async");
    return fill(to, value, 2, count, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    CALL("cuMemsetD32Async");
    return fill(to, value, 4, count, stream);
}
