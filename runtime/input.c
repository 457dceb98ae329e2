/* Batches on their way to the device, double buffered.
 *
 * While the device works on one slot, the host fills the other and the copy stream carries it over.
 * The host waits only for its own buffer (the copy out of it two batches ago); that the device's
 * slot is free is waited for on the copy stream. */
#include "runtime/data.h"
#include "runtime/driver.h"
#include "runtime/rt.h"

#include <stdlib.h>
#include <string.h>

struct RtInputs {
    RtHostBatch batches[RT_SLOTS]; /* views of the slots' buffers */
    int32_t *unused;               /* takes what the program does not read */
    const RtInput *loss_weight, *first_row;
    int64_t sent;
};

static const RtInput *find(const RtProgram *program, const char *name) {
    for (int i = 0; i < program->input_count; i++)
        if (strcmp(program->inputs[i].name, name) == 0)
            return &program->inputs[i];
    return NULL;
}

const void *input_host(const Rt *rt, int slot, const char *name) {
    const RtInput *input = find(rt->program, name);
    return input ? (const char *)rt->slots[slot].host + input->offset : NULL;
}

static int32_t *place(Rt *rt, int slot, const char *name) {
    const RtInput *input = find(rt->program, name);
    return input ? (int32_t *)((char *)rt->slots[slot].host + input->offset) : rt->inputs->unused;
}

void inputs_open(Rt *rt) {
    const RtProgram *program = rt->program;
    struct RtInputs *inputs = rt->inputs = rt_alloc(sizeof *inputs);
    int64_t tokens = program->training.batch * program->training.seq_len;
    inputs->unused = rt_alloc((size_t)tokens * sizeof *inputs->unused);
    inputs->loss_weight = find(program, "loss_weight");
    inputs->first_row = find(program, "first_row");
    for (int slot = 0; slot < RT_SLOTS; slot++)
        inputs->batches[slot] = (RtHostBatch){.input_ids = place(rt, slot, "input_ids"),
                                              .labels = place(rt, slot, "labels"),
                                              .positions = place(rt, slot, "positions")};
}

void inputs_close(Rt *rt) {
    free(rt->inputs->unused);
    free(rt->inputs);
    rt->inputs = NULL;
}

static int next_slot(Rt *rt) {
    int index = (int)(rt->inputs->sent++ % RT_SLOTS);
    if (rt->slots[index].used)
        rt_wait(rt, rt->slots[index].copied);
    return index;
}

static void put_scalar(const Rt *rt, int slot, const RtInput *input, double value) {
    if (input)
        rt_set(input->dtype, (char *)rt->slots[slot].host + input->offset, 0, value);
}

/* Which places have a target, and where each of them went. */
static void put_targets(Rt *rt, int slot) {
    const RtInput *rows = find(rt->program, "target_rows");
    const RtInput *places = find(rt->program, "target_places");
    if (!rows || !places)
        return;
    const int32_t *labels = rt->inputs->batches[slot].labels;
    int32_t *row = place(rt, slot, "target_rows"), *at = place(rt, slot, "target_places");
    int32_t count = 0;
    for (int32_t t = 0; t < places->count; t++) {
        at[t] = labels[t] >= 0 ? count : -1;
        if (labels[t] >= 0 && count < rows->count)
            row[count++] = t;
    }
    for (int64_t i = count; i < rows->count; i++)
        row[i] = -1;
}

static void send(Rt *rt, int index) {
    RtSlot *slot = &rt->slots[index];
    const RtHostBatch *batch = &rt->inputs->batches[index];
    bool overlap = rt->program->training.overlap;
    CUstream copy = rt->streams[overlap ? RT_STREAM_COPY : RT_STREAM_COMPUTE];
    size_t bytes = rt->program->arena_bytes[RT_INPUT];
    put_targets(rt, index);
    put_scalar(rt, index, rt->inputs->loss_weight, batch->loss_weight);
    put_scalar(rt, index, rt->inputs->first_row, batch->first_row);
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
    int slot = next_slot(rt);
    loader_fill(rt->loader, micro_index, &rt->inputs->batches[slot]);
    send(rt, slot);
    return slot;
}

int input_send_eval(Rt *rt, int64_t eval_batch, int64_t *targets) {
    int slot = next_slot(rt);
    loader_fill_eval(rt->loader, eval_batch, &rt->inputs->batches[slot]);
    *targets = rt->inputs->batches[slot].targets;
    send(rt, slot);
    return slot;
}

void input_release(Rt *rt, int slot) {
    CU(EventRecord, rt->slots[slot].free, rt->streams[RT_STREAM_COMPUTE]);
}
