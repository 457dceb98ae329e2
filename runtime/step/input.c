/* Sends batches to the device, double buffered.
 *
 * While the device works on one slot, the copy stream fills the other from a buffer of the loader's
 * ring. The host waits for two things: a batch that is not ready yet, and the copy of two batches
 * ago, whose buffer is about to be refilled. The copy stream, not the host, waits until the
 * device's slot is free. Copies from pageable memory are staged by the driver, and the call may or
 * may not wait for the stream, so the host waits for each of them here, where the wait is
 * counted. */
#include "runtime/base/rt.h"
#include "runtime/data/data.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/step/input.h"

#include <stdlib.h>

/* The events of one batch on the device. A slot needs those of two batches at a time; older ones
 * are kept until they have surely happened and can be read without waiting. */
typedef struct {
    CUevent begins; /* before the copy, on the copy stream */
    CUevent copied;
    CUevent done; /* after the last read of the slot */
    bool counted; /* the batch belongs to a timed training step */
} Passage;

enum { LAG = 2 }; /* batches sent this many rounds of the slots ago are done */

struct RtInputs {
    void **buffers; /* [count], page-locked with data.pin_memory; only the first card has any */
    int count;
    Passage *passages; /* [passage_count]; batch i has passages[i % passage_count] */
    int passage_count;
    int64_t sent, read;         /* batches */
    int64_t counted;            /* batches read that are counted */
    double copy_ms, compute_ms; /* sums over the counted batches */
};

/* All cards use the first card's buffers. */
static void *buffer_alloc(const RtProgram *program) {
    void *buffer;
    size_t bytes = program->arena_bytes[RT_INPUT];
    bytes += !bytes; /* a pipeline stage may have no inputs */
    if (!program->data.pin_memory)
        return rt_alloc(bytes);
    CU(MemHostAlloc, &buffer, bytes, 0);
    return buffer;
}

static void open_buffers(Rt *rt) {
    struct RtInputs *inputs = rt->inputs;
    inputs->count = loader_ring_size(rt->loader);
    inputs->buffers = rt_alloc(sizeof *inputs->buffers * (size_t)inputs->count);
    for (int i = 0; i < inputs->count; i++)
        inputs->buffers[i] = buffer_alloc(rt->program);
    loader_start(rt->loader, inputs->buffers);
}

void inputs_open(Rt *rt) {
    struct RtInputs *inputs = rt->inputs = rt_alloc(sizeof *inputs);
    inputs->passage_count = 2 * LAG * rt->slot_count;
    inputs->passages = rt_alloc((size_t)inputs->passage_count * sizeof *inputs->passages);
    for (int i = 0; i < inputs->passage_count; i++) {
        CU(EventCreate, &inputs->passages[i].begins, CU_EVENT_DEFAULT);
        CU(EventCreate, &inputs->passages[i].copied, CU_EVENT_DEFAULT);
        CU(EventCreate, &inputs->passages[i].done, CU_EVENT_DEFAULT);
    }
    if (rt->card == 0)
        open_buffers(rt);
}

void inputs_close(Rt *rt) {
    struct RtInputs *inputs = rt->inputs;
    if (rt->card == 0)
        loader_stop(rt->loader);
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize"); /* copies may still read the buffers */
    for (int i = 0; i < inputs->count; i++) {
        if (rt->program->data.pin_memory)
            CU(MemFreeHost, inputs->buffers[i]);
        else
            free(inputs->buffers[i]);
    }
    for (int i = 0; i < inputs->passage_count; i++) {
        CU(EventDestroy, inputs->passages[i].begins);
        CU(EventDestroy, inputs->passages[i].copied);
        CU(EventDestroy, inputs->passages[i].done);
    }
    free(inputs->passages);
    free(inputs->buffers);
    free(inputs);
    rt->inputs = NULL;
}

void *input_read(Rt *rt, int slot, const char *name) {
    const RtInput *input = program_input(rt->program, name);
    if (!input)
        return NULL;
    size_t bytes = (size_t)input->count * rt_dtype_bytes(input->dtype);
    void *host = rt_alloc(bytes);
    rt_select_slot(rt, slot);
    rt_read(rt, rt_input(rt, input->offset), bytes, host);
    return host;
}

/* ---- times ----------------------------------------------------------------------------------- */

static Passage *passage_of(struct RtInputs *inputs, int64_t batch) {
    return &inputs->passages[batch % inputs->passage_count];
}

static double between(CUevent from, CUevent to) {
    float ms = 0;
    CU(EventElapsedTime, &ms, from, to);
    return ms;
}

/* Work on a batch begins when it has arrived and the previous batch is done. */
static void read_one(struct RtInputs *inputs) {
    int64_t batch = inputs->read++;
    const Passage *p = passage_of(inputs, batch);
    if (!p->counted)
        return;
    double compute = between(p->copied, p->done);
    if (batch > 0) {
        double since = between(passage_of(inputs, batch - 1)->done, p->done);
        compute = since < compute ? since : compute;
    }
    inputs->copy_ms += between(p->begins, p->copied);
    inputs->compute_ms += compute;
    inputs->counted++;
}

void inputs_collect(Rt *rt) {
    struct RtInputs *inputs = rt->inputs;
    while (inputs->read < inputs->sent)
        read_one(inputs);
    if (!inputs->counted)
        return;
    double steps = (double)inputs->counted / (double)rt->program->training.micro_steps;
    rt->first->measured.copy_ms = inputs->copy_ms / steps;
    rt->first->measured.compute_ms = inputs->compute_ms / steps;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Returns the events of the next batch, after reading those of batches LAG rounds ago. */
static Passage *next_passage(Rt *rt, RtSlot *slot, LoaderBatch which) {
    struct RtInputs *inputs = rt->inputs;
    while (inputs->read + LAG * rt->slot_count <= inputs->sent)
        read_one(inputs);
    Passage *passage = passage_of(inputs, inputs->sent++);
    passage->counted = which.split == LOADER_TRAIN && !rt->observer;
    slot->copied = passage->copied;
    slot->done = passage->done;
    return passage;
}

/* The slot for a batch: slots take turns. A pipeline's step has many batches and finds them by
 * number. */
static int slot_of(const Rt *rt, LoaderBatch which) {
    bool numbered = rt->program->pipeline && which.split == LOADER_TRAIN;
    return (int)(numbered ? which.index % rt->slot_count : rt->inputs->sent % RT_SLOTS);
}

/* Chooses the batch's slot and takes the batch from the loader. Its host buffer is refilled once
 * each card has taken RT_SLOTS more batches. */
static int next_slot(Rt *rt, LoaderBatch which, int64_t *targets) {
    struct RtInputs *inputs = rt->inputs;
    char error[1024];
    int index = slot_of(rt, which);
    RtSlot *slot = &rt->slots[index];
    if (inputs->sent >= RT_SLOTS)
        rt_wait(rt, passage_of(inputs, inputs->sent - RT_SLOTS)->copied);
    double start = rt_now_ms();
    slot->host = loader_take(rt->loader, which, targets, error, sizeof error);
    rt->first->measured.data_wait_ms += rt_now_ms() - start;
    if (!slot->host)
        rt_fail("%s", error);
    return index;
}

static void send(Rt *rt, int index, LoaderBatch which) {
    RtSlot *slot = &rt->slots[index];
    CUevent before = slot->done;
    Passage *passage = next_passage(rt, slot, which);
    RtStream stream = rt->program->training.overlap ? RT_STREAM_COPY : RT_STREAM_COMPUTE;
    CUstream copy = rt->streams[stream];
    size_t bytes = rt->program->arena_bytes[RT_INPUT];
    rt_select_slot(rt, index);
    if (slot->used)
        CU(StreamWaitEvent, copy, before, 0);
    CU(EventRecord, passage->begins, copy);
    if (bytes > 0)
        CU(MemcpyHtoDAsync, rt->input, slot->host, bytes, copy);
    CU(EventRecord, slot->copied, copy);
    CU(StreamWaitEvent, rt->streams[RT_STREAM_COMPUTE], slot->copied, 0);
    slot->used = true;
    if (!rt->program->data.pin_memory)
        rt_sync(rt, stream);
    RtCopies *copies = &rt->first->measured.copies[RT_H2D];
    copies->count += bytes > 0;
    copies->bytes += (int64_t)bytes;
    copies->pinned += bytes > 0 && rt->program->data.pin_memory;
}

int input_send(Rt *rt, int64_t micro_index) {
    int64_t targets;
    LoaderBatch which = {LOADER_TRAIN, micro_index};
    int slot = next_slot(rt, which, &targets);
    send(rt, slot, which);
    return slot;
}

int input_send_eval(Rt *rt, int64_t eval_batch, int64_t *targets) {
    LoaderBatch which = {LOADER_EVAL, eval_batch};
    int slot = next_slot(rt, which, targets);
    send(rt, slot, which);
    return slot;
}

void input_release(Rt *rt, int slot) {
    CU(EventRecord, rt->slots[slot].done, rt->streams[RT_STREAM_COMPUTE]);
}
