/* Functions that an emitted entry calls: kernels, GEMMs (gemm.c), memsets, copies, observations.
 *
 * An entry is enqueued in one of three ways: normally, dry (nothing reaches the device; launches
 * are counted and the operands of GEMMs noted), or checked (each output is read back and checked
 * after the launch that wrote it, so that the first bad tensor of a step can be named). */
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/device/launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State of a checked run of one entry. */
struct RtCheck {
    const RtEntry *entry;
    int launch; /* index of the next launch */
    int output; /* index of the first unchecked output */
    char *found;
    size_t found_size;
    bool bad;
};

static RtPtr address_of(const Rt *rt, RtAt at) {
    if (at.arena == RT_INPUT)
        return rt->input + at.offset;
    return (at.arena == RT_STASH ? rt->stash : rt->arenas[at.arena]) + at.offset;
}

static void check_output(Rt *rt, struct RtCheck *check, const RtOutput *output) {
    size_t size = rt_dtype_bytes(output->dtype);
    size_t span = (size_t)((output->rows - 1) * output->row_stride + output->cols) * size;
    void *host = rt_alloc(span);
    driver_check(cu.MemcpyDtoH(host, address_of(rt, output->at), span), output->name);
    for (int64_t r = 0; r < output->rows && !check->bad; r++) {
        for (int64_t c = 0; c < output->cols && !check->bad; c++) {
            double value = rt_get(output->dtype, host, r * output->row_stride + c);
            if (isfinite(value))
                continue;
            snprintf(check->found, check->found_size, "%s[%lld, %lld] is %g", output->name,
                     (long long)r, (long long)c, value);
            check->bad = true;
        }
    }
    free(host);
}

static void check_outputs(Rt *rt, struct RtCheck *check) {
    const RtEntry *entry = check->entry;
    rt_finish_stream(rt, rt->stream);
    for (; check->output < entry->output_count; check->output++) {
        const RtOutput *output = &entry->outputs[check->output];
        if (output->launch > check->launch)
            break;
        if (!check->bad && output->rows > 0)
            check_output(rt, check, output);
    }
    check->launch++;
}

void rt_launched(Rt *rt) {
    rt->behind_kernel[rt->stream] = false;
    if (rt->check)
        check_outputs(rt, rt->check);
}

/* ---- called by entries ----------------------------------------------------------------------- */

void rt_on_stream(Rt *rt, RtStream stream) { rt->stream = stream; }

void rt_wait_stream(Rt *rt, RtStream other) {
    if (rt->dry)
        return;
    CU(EventRecord, rt->reached[other], rt->streams[other]);
    CU(StreamWaitEvent, rt->streams[rt->stream], rt->reached[other], 0);
    rt->behind_kernel[rt->stream] = false;
}

bool rt_ends_step(Rt *rt, int launches) {
    if (rt->ends_step)
        return true;
    rt->work.left_out += launches;
    if (rt->check)
        rt->check->launch += launches;
    return false;
}

/* Programmatic dependent launch: the kernel may start once all blocks of the previous kernel on the
 * stream have started. */
static CUresult launch_early(CUfunction function, const RtKernel *row, RtGrid grid, CUstream stream,
                             void *args[]) {
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value = {.programmaticStreamSerializationAllowed = 1}};
    CUlaunchConfig config = {.gridDimX = grid.x,
                             .gridDimY = grid.y,
                             .gridDimZ = grid.z,
                             .blockDimX = row->threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = row->shared_bytes,
                             .hStream = stream,
                             .attrs = &attribute,
                             .numAttrs = 1};
    return cu.LaunchKernelEx(&config, function, args, NULL);
}

void rt_launch(Rt *rt, int kernel, RtGrid grid, void *args[]) {
    rt->work.launches++;
    if (rt->dry)
        return;
    const RtKernel *row = &rt->program->kernels[kernel];
    unsigned y = grid.y ? grid.y : 1, z = grid.z ? grid.z : 1;
    CUfunction function = rt->kernels[kernel];
    CUstream stream = rt->streams[rt->stream];
    CUresult result = rt->program->training.programmatic_launch && rt->behind_kernel[rt->stream]
                          ? launch_early(function, row, (RtGrid){grid.x, y, z}, stream, args)
                          : cu.LaunchKernel(function, grid.x, y, z, row->threads, 1, 1,
                                            row->shared_bytes, stream, args, NULL);
    driver_check(result, row->name);
    rt_launched(rt);
    rt->behind_kernel[rt->stream] = true;
}

void rt_zero(Rt *rt, RtPtr to, size_t bytes) {
    rt->work.memsets++;
    if (rt->dry)
        return;
    CU(MemsetD8Async, to, 0, bytes, rt->streams[rt->stream]);
    rt_launched(rt);
}

void rt_copy(Rt *rt, RtPtr to, RtPtr from, size_t bytes) {
    rt->work.copies++;
    rt->work.copy_bytes += (int64_t)bytes;
    if (rt->dry)
        return;
    CU(MemcpyDtoDAsync, to, from, bytes, rt->streams[rt->stream]);
    rt_launched(rt);
}

void rt_observe(Rt *rt, const char *name, RtPtr from, RtDtype dtype, int64_t rows, int64_t cols,
                int64_t row_stride) {
    if (!rt->observer || rt->dry)
        return;
    /* Either may have written the tensor. */
    rt_finish_stream(rt, RT_STREAM_COMMUNICATION);
    rt_finish_stream(rt, RT_STREAM_SIDE);
    rt->observer->observe(rt->observer, rt, name, from, dtype, rows, cols, row_stride);
}

/* ---- running an entry ------------------------------------------------------------------------ */

RtWork rt_enqueue(Rt *rt, const RtEntry *entry, int slot) {
    rt->work = (RtWork){0};
    if (!entry->enqueue)
        return rt->work;
    rt_select_slot(rt, slot);
    memset(rt->behind_kernel, 0, sizeof rt->behind_kernel);
    entry->enqueue(rt);
    int64_t done = rt->work.launches + rt->work.memsets + rt->work.copies + rt->work.fetches;
    for (int kind = 0; kind < RT_COLLECTIVES; kind++)
        done += rt->work.collectives[kind].count;
    for (int i = 0; i < RT_PURPOSES; i++)
        done += rt->work.peer[i].count;
    if (done + rt->work.left_out != entry->launches || rt->stream != RT_STREAM_COMPUTE)
        rt_internal("an entry of %s enqueued %lld launches, but its plan has %d", rt->program->name,
                    (long long)done, entry->launches);
    return rt->work;
}

bool rt_enqueue_checked(Rt *rt, const RtEntry *entry, int slot, char *found, size_t found_size) {
    struct RtCheck check = {.entry = entry, .found = found, .found_size = found_size};
    rt->check = &check;
    rt_enqueue(rt, entry, slot);
    rt->check = NULL;
    return check.bad;
}
