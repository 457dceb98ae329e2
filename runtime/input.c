/* Batches on their way to the device, double buffered.
 *
 * While the device works on one slot, the copy stream fills the other from a buffer of the loader's
 * ring. The host waits for two things: a batch that is not prepared yet, and the copy two batches
 * ago, whose buffer is to be filled again; that the device's slot is free is waited for on the copy
 * stream. */
#include "runtime/data.h"
#include "runtime/driver.h"
#include "runtime/rt.h"

#include <stdlib.h>

struct RtInputs {
    void **buffers; /* [count], page-locked where data.pin_memory */
    int count;
    int64_t sent;
};

static void *buffer_alloc(const RtProgram *program) {
    void *buffer;
    size_t bytes = program->arena_bytes[RT_INPUT];
    if (!program->data.pin_memory)
        return rt_alloc(bytes);
    CU(MemHostAlloc, &buffer, bytes, 0);
    return buffer;
}

void inputs_open(Rt *rt) {
    struct RtInputs *inputs = rt->inputs = rt_alloc(sizeof *inputs);
    inputs->count = loader_ring_size(rt->loader);
    inputs->buffers = rt_alloc(sizeof *inputs->buffers * (size_t)inputs->count);
    for (int i = 0; i < inputs->count; i++)
        inputs->buffers[i] = buffer_alloc(rt->program);
    loader_start(rt->loader, inputs->buffers);
}

void inputs_close(Rt *rt) {
    struct RtInputs *inputs = rt->inputs;
    loader_stop(rt->loader);
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize"); /* copies may still read the buffers */
    for (int i = 0; i < inputs->count; i++) {
        if (rt->program->data.pin_memory)
            CU(MemFreeHost, inputs->buffers[i]);
        else
            free(inputs->buffers[i]);
    }
    free(inputs->buffers);
    free(inputs);
    rt->inputs = NULL;
}

const void *input_host(const Rt *rt, int slot, const char *name) {
    const RtInput *input = program_input(rt->program, name);
    return input ? (const char *)rt->slots[slot].host + input->offset : NULL;
}

/* The slot whose turn it is, with a batch on the host. */
static int next_slot(Rt *rt, LoaderBatch which, int64_t *targets) {
    char error[1024];
    int index = (int)(rt->inputs->sent++ % RT_SLOTS);
    RtSlot *slot = &rt->slots[index];
    if (slot->used)
        rt_wait(rt, slot->copied);
    double start = rt_now_ms();
    slot->host = loader_take(rt->loader, which, targets, error, sizeof error);
    rt->measured.data_wait_ms += rt_now_ms() - start;
    if (!slot->host)
        rt_fail("%s", error);
    return index;
}

static void send(Rt *rt, int index) {
    RtSlot *slot = &rt->slots[index];
    bool overlap = rt->program->training.overlap;
    CUstream copy = rt->streams[overlap ? RT_STREAM_COPY : RT_STREAM_COMPUTE];
    size_t bytes = rt->program->arena_bytes[RT_INPUT];
    rt_select_slot(rt, index);
    if (slot->used)
        CU(StreamWaitEvent, copy, slot->free, 0);
    CU(MemcpyHtoDAsync, rt->input, slot->host, bytes, copy);
    CU(EventRecord, slot->copied, copy);
    CU(StreamWaitEvent, rt->streams[RT_STREAM_COMPUTE], slot->copied, 0);
    slot->used = true;
    RtCopies *copies = &rt->measured.copies[RT_H2D];
    copies->count++;
    copies->bytes += (int64_t)bytes;
    copies->pinned += rt->program->data.pin_memory;
}

int input_send(Rt *rt, int64_t micro_index) {
    int64_t targets;
    int slot = next_slot(rt, (LoaderBatch){LOADER_TRAIN, micro_index}, &targets);
    send(rt, slot);
    return slot;
}

int input_send_eval(Rt *rt, int64_t eval_batch, int64_t *targets) {
    int slot = next_slot(rt, (LoaderBatch){LOADER_EVAL, eval_batch}, targets);
    send(rt, slot);
    return slot;
}

void input_release(Rt *rt, int slot) {
    CU(EventRecord, rt->slots[slot].free, rt->streams[RT_STREAM_COMPUTE]);
}
