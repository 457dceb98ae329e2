/* --dump: inputs and results of the first step as one safetensors file, so that a step can be
 * checked against a framework.
 *
 *     input_ids, labels  I32 [batch, seq_len] of the first micro-batch (of the first card); labels
 *                        are at their token's own place, as in Hugging Face. A sample's first
 *                        token is never a target, so its label is -100 whatever the data says.
 *     pixels, labels     for images instead: [batch, elements of an image] as sent, or as the
 *                        device keeps them or decodes them (bytes, or the host's floats in the
 *                        order of compile.layout), and their classes, I32 [batch]
 *     boxes              I32 [batch, 5], if the device cuts random parts out of the images
 *     loss               real, a scalar: of the whole step
 *     logits             [rows with a target, vocabulary] of the first micro-batch
 *     grad.NAME          summed over all micro-steps and cards, before clipping
 *     new.NAME           after the update; the master if there is one */
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/export.h"
#include "runtime/checkpoint/gather.h"
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"
#include "runtime/data/data.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/device/launch.h"
#include "runtime/files/outfile.h"
#include "runtime/files/safetensors.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/reference.h"
#include "runtime/params/params.h"
#include "runtime/report/profile.h"
#include "runtime/report/report.h"
#include "runtime/step/input.h"
#include "runtime/step/pipeline.h"
#include "runtime/step/step.h"

#include "runtime/base/rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the file's metadata, so that a later run replaces only a dump. */
#define DUMP_FORMAT "gpuopt-gen dump"

typedef struct {
    char name[256];
    RtDtype dtype;
    int rank;
    int64_t shape[4];
    unsigned char *data;
    size_t bytes;
} Entry;

typedef struct {
    RtObserver observer;
    Entry *entries;
    int count, room;
    int sections; /* number of sections whose gradients have been recorded */
    bool shown;   /* the first batch's inputs and logits have been recorded */
} Dump;

static Entry *add(Dump *dump, const char *prefix, const char *name, RtDtype dtype,
                  int rank, const int64_t *shape) {
    if (dump->count == dump->room) {
        dump->room = 2 * dump->room + 64;
        dump->entries = realloc(dump->entries, (size_t)dump->room * sizeof *dump->entries);
        if (!dump->entries)
            rt_fail("no memory for --dump");
    }
    Entry *entry = &dump->entries[dump->count++];
    *entry = (Entry){.dtype = dtype, .rank = rank, .bytes = rt_dtype_bytes(dtype)};
    snprintf(entry->name, sizeof entry->name, "%s%s", prefix, name);
    for (int i = 0; i < rank; i++) {
        entry->shape[i] = shape[i];
        entry->bytes *= (size_t)shape[i];
    }
    entry->data = rt_alloc(entry->bytes);
    return entry;
}

static Entry *find(Dump *dump, const char *name) {
    for (int i = 0; i < dump->count; i++)
        if (strcmp(dump->entries[i].name, name) == 0)
            return &dump->entries[i];
    return NULL;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static void add_gradients(Rt *rt, Dump *dump, int section, RtPtr pieces);

static bool has_sections(const RtProgram *program) {
    for (int i = 0; i < program->param_count; i++)
        if (program->params[i].section)
            return true;
    return false;
}

/* "grad" stands for all gradients, this rank's piece of them, or a section; they are dumped under
 * their own names. */
static void observe(RtObserver *observer, Rt *rt, const char *name, RtPtr from, RtDtype dtype,
                    int64_t rows, int64_t cols, int64_t row_stride) {
    Dump *dump = (Dump *)observer;
    if (strcmp(name, "grad") == 0) {
        int section = has_sections(rt->program) ? ++dump->sections : 0;
        add_gradients(rt, dump, section, rt->program->piece_elements ? from : 0);
        return;
    }
    if (rows == 0)
        return;
    size_t size = rt_dtype_bytes(dtype), row = (size_t)cols * size;
    size_t span = ((size_t)(rows - 1) * (size_t)row_stride + (size_t)cols) * size;
    unsigned char *host = rt_alloc(span);
    rt_finish_stream(rt, RT_STREAM_COMPUTE);
    CU(MemcpyDtoH, host, from, span);
    Entry *entry = find(dump, name);
    if (!entry)
        entry = add(dump, "", name, dtype, 2, (int64_t[]){0, cols});
    entry->data = realloc(entry->data, entry->bytes + (size_t)rows * row);
    if (!entry->data)
        rt_fail("no memory for --dump");
    for (int64_t r = 0; r < rows; r++, entry->bytes += row)
        memcpy(entry->data + entry->bytes, host + (size_t)(r * row_stride) * size, row);
    entry->shape[0] += rows;
    free(host);
}

/* Adds an input as it was sent; it has a second axis if there is more than one element per row. */
static void add_sent(Rt *rt, Dump *dump, int slot, const char *name) {
    for (int i = 0; i < rt->program->input_count; i++) {
        const RtInput *input = &rt->program->inputs[i];
        const int64_t shape[] = {rt->program->training.batch,
                                 input->count / rt->program->training.batch};
        if (strcmp(input->name, name) != 0)
            continue;
        Entry *entry = add(dump, "", name, input->dtype, shape[1] > 1 ? 2 : 1, shape);
        free(entry->data);
        entry->data = input_read(rt, slot, name);
    }
}

/* Adds the samples of a batch that consists of indices into the data set. */
static void add_kept(Rt *rt, Dump *dump, int slot, const char *name) {
    const RtDataset *dataset = rt->program->data.dataset;
    int32_t *indices = dataset ? input_read(rt, slot, "indices") : NULL;
    char error[1024];
    if (!indices)
        return;
    const int64_t shape[] = {rt->program->training.batch, dataset->sample_bytes};
    unsigned char *to = add(dump, "", name, RT_U8, 2, shape)->data;
    for (int64_t i = 0; i < shape[0]; i++)
        if (!loader_samples(rt->loader, indices[i], 1, to + i * shape[1], error, sizeof error))
            rt_fail("%s", error);
    free(indices);
}

static void add_images(Rt *rt, Dump *dump, int slot) {
    add_sent(rt, dump, slot, "pixels");
    add_kept(rt, dump, slot, "pixels");
    add_sent(rt, dump, slot, "boxes");
    add_sent(rt, dump, slot, "labels");
}

/* Undoes the shift of labels: labels[t] is the token after place t in its sample. */
static void add_tokens(Rt *rt, Dump *dump, int slot) {
    const RtTraining *t = &rt->program->training;
    const int64_t shape[] = {t->batch, t->seq_len}, count = t->batch * t->seq_len;
    int32_t *ids = input_read(rt, slot, "input_ids");
    int32_t *shifted = input_read(rt, slot, "labels");
    int32_t *positions = input_read(rt, slot, "positions");
    if (ids)
        memcpy(add(dump, "", "input_ids", RT_I32, 2, shape)->data, ids,
               (size_t)count * sizeof *ids);
    if (shifted && positions) {
        int32_t *labels = (int32_t *)add(dump, "", "labels", RT_I32, 2, shape)->data;
        for (int64_t i = 0; i < count; i++)
            labels[i] = positions[i] > 0 ? shifted[i - 1] : -100;
    }
    free(ids);
    free(shifted);
    free(positions);
}

/* Adds the inputs that this rank has: a pipeline stage has only those that it reads. */
static void add_inputs(Rt *rt, Dump *dump, int slot) {
    if (rt->program->data.images)
        add_images(rt, dump, slot);
    else
        add_tokens(rt, dump, slot);
}

/* Keeps only the rows of logits that have a target. Logits cover either all tokens, or compacted
 * rows with those without a target last. */
static void keep_targets(Rt *rt, Dump *dump, int slot) {
    Entry *logits = find(dump, "logits");
    int32_t *labels = logits ? input_read(rt, slot, "labels") : NULL;
    int64_t tokens = rt->program->training.batch * rt->program->training.seq_len, kept = 0;
    if (!labels)
        return;
    bool compacted = logits->shape[0] != tokens;
    size_t row = (size_t)logits->shape[1] * rt_dtype_bytes(logits->dtype);
    for (int64_t t = 0; t < tokens; t++) {
        if (labels[t] < 0)
            continue;
        if (!compacted)
            memmove(logits->data + (size_t)kept * row, logits->data + (size_t)t * row, row);
        kept++;
    }
    logits->shape[0] = kept;
    logits->bytes = (size_t)kept * row;
    free(labels);
}

/* The device makes pixels as rows of channels. */
static void join_pixels(const Rt *rt, Dump *dump) {
    Entry *pixels = find(dump, "pixels");
    int64_t batch = rt->program->training.batch;
    if (!pixels)
        return;
    pixels->shape[1] *= pixels->shape[0] / batch;
    pixels->shape[0] = batch;
}

/* Ranks that divide the vocabulary hold columns of the logits: joins them to whole rows. */
static void join_logits(Rt *rt, Dump *dump) {
    Entry *logits = find(dump, "logits");
    int64_t vocabulary = rt->program->data.vocab_size;
    if (!logits || logits->shape[1] == vocabulary || !vocabulary)
        return;
    int writer = mesh_writer(rt->program, rt->rank);
    if (mesh_first(rt->program, RT_TENSOR, rt->rank) != writer)
        return; /* a copy of the first group's logits, or those of other batches: not written */
    static const char what[] = "the gathering of logits";
    if (rt->rank != writer) {
        comm_send(rt, writer, logits->data, (int64_t)logits->bytes, what);
        return;
    }
    int ranks = mesh_group_size(rt->program, RT_TENSOR);
    size_t part = (size_t)logits->shape[1] * rt_dtype_bytes(logits->dtype);
    size_t rows = (size_t)logits->shape[0], row = part * (size_t)ranks;
    unsigned char *whole = rt_alloc(rows * row);
    for (int r = 0; r < ranks; r++) { /* the axes are innermost: the ranks are consecutive */
        if (r > 0)
            comm_receive(rt, writer + r, logits->data, (int64_t)logits->bytes, what);
        for (size_t i = 0; i < rows; i++)
            memcpy(whole + i * row + (size_t)r * part, logits->data + i * part, part);
    }
    free(logits->data);
    logits->data = whole;
    logits->shape[1] *= ranks;
    logits->bytes = rows * row;
}

/* Divides gradients by the loss scale, so that the dump has those of the loss itself. */
static void unscale(Rt *rt, Entry *entry) {
    const RtLossScale *at = rt->program->loss_scale;
    double scale = 0;
    if (!at)
        return;
    rt_read_state(rt, at->scale, rt_dtype_bytes(rt->program->real), &scale);
    scale = rt_get(rt->program->real, &scale, 0);
    int64_t count = (int64_t)(entry->bytes / rt_dtype_bytes(entry->dtype));
    for (int64_t i = 0; i < count; i++)
        rt_set(entry->dtype, entry->data, i, rt_get(entry->dtype, entry->data, i) / scale);
}

static void read_gradient(Rt *rt, const RtParam *param, RtPtr pieces, void *host) {
    if (pieces)
        param_read_pieces(rt, param, pieces, host);
    else if (param->section)
        param_read_at(rt, param, rt_scratch(rt, param->gradient), host);
    else
        param_read_part(rt, param, param->gradient, host);
}

/* Records the gradients of a section, or with 0 those that micro_step leaves. If update sums them
 * over ranks before it uses them, whole or in pieces, a second call replaces them by the sums. */
static void add_gradients(Rt *rt, Dump *dump, int section, RtPtr pieces) {
    char name[sizeof dump->entries->name];
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *p = &rt->program->params[i];
        if (!p->trained || p->section != section)
            continue;
        snprintf(name, sizeof name, "grad.%s", p->name);
        Entry *entry = find(dump, name);
        if (!entry)
            entry = add(dump, "", name, p->master_dtype, p->rank, p->shape);
        read_gradient(rt, p, pieces, entry->data);
        unscale(rt, entry);
    }
}

static void add_updated(Rt *rt, Dump *dump) {
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *p = &rt->program->params[i];
        if (p->trained || p->buffer)
            param_read(rt, p,
                       add(dump, "new.", p->name, param_saved_dtype(p), p->rank, p->shape)->data);
    }
}

static void add_loss(Rt *rt, Dump *dump) {
    Entry *entry = add(dump, "", "loss", rt->program->real, 0, NULL);
    rt_read_state(rt, rt->program->counters.loss, entry->bytes, entry->data);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes the tensors of all ranks that have a part. */
static void write_dump(Rt *rt, const Dump *dump, const char *path) {
    OutTensor *tensors = rt_alloc((size_t)(dump->count + 1) * sizeof *tensors);
    char error[1024];
    int count = 0;
    for (; count < dump->count; count++) {
        Entry *entry = &dump->entries[count];
        tensors[count] = (OutTensor){
            .name = entry->name, .host = entry->data, .dtype = entry->dtype, .rank = entry->rank};
        memcpy(tensors[count].shape, entry->shape, sizeof entry->shape);
    }
    if (!tensors_gather(rt, &tensors, &count) &&
        !tensors_write(rt, path, DUMP_FORMAT, tensors, count, error, sizeof error))
        rt_fail("%s; --dump needs a writable file", error);
    for (int i = dump->count; i < count; i++) /* of other ranks */
        free(tensors[i].name);
    free(tensors);
}

/* ---- the step -------------------------------------------------------------------------------- */

static void run_update(Rt *rt, Dump *dump, const RtEntry *update, int slot) {
    add_gradients(rt, dump, 0, 0);
    rt->observer = &dump->observer;
    rt_enqueue(rt, update, slot);
    rt->observer = NULL;
}

/* Inputs and logits are recorded only for the first card's first batch. */
static bool run_phase(Rt *rt, RtPhase phase, int slot, void *context) {
    Dump *dump = context;
    RtWork work = {0};
    const RtEntry *entries[RT_PHASE_ENTRIES];
    int count = phase_begin(rt, phase, entries), update = 0;
    bool schedule = phase == RT_PHASE_STEP;
    bool works = schedule || entries[0] == &rt->program->micro_step ||
                 entries[0] == &rt->program->early_micro_step;
    bool shown = works && rt->card == 0 && !dump->shown;
    if (shown) {
        add_inputs(rt, dump, slot);
        rt->observer = &dump->observer;
        dump->shown = true;
    }
    if (schedule)
        pipeline_schedule(rt, slot, &work, NULL, 0);
    else
        rt_enqueue(rt, entries[update++], slot);
    rt->observer = NULL;
    if (shown) {
        join_pixels(rt, dump);
        join_logits(rt, dump);
        keep_targets(rt, dump, slot);
    }
    if (update < count)
        run_update(rt, dump, entries[update], slot);
    return false;
}

/* Returns whether DIR is the folder or in it, and then writes DIR/NAME, relative to the folder, to
 * `below`. */
static bool is_in(const char *folder, const char *dir, const char *name, char below[RT_MAX_PATH]) {
    char *outer = realpath(folder, NULL), *inner = realpath(dir, NULL);
    size_t length = outer ? strlen(outer) : 0;
    bool in = outer && inner && strncmp(outer, inner, length) == 0 &&
              (inner[length] == '/' || !inner[length]);
    if (in && inner[length])
        snprintf(below, RT_MAX_PATH, "%s/%s", inner + length + 1, name);
    else if (in)
        snprintf(below, RT_MAX_PATH, "%s", name);
    free(outer);
    free(inner);
    return in;
}

/* Returns whether the run writes a result to DIR/NAME, or has the folder DIR for its results. */
static bool is_result(const Rt *rt, const char *dir, const char *name) {
    char below[RT_MAX_PATH];
    if (rt->options.merge_dir && is_in(rt->options.merge_dir, dir, name, below))
        return true;
    if (!is_in(rt->options.out_dir, dir, name, below))
        return false;
    size_t first = strcspn(below, "/");
    bool checkpoint = first == strlen(CHECKPOINTS) && strncmp(below, CHECKPOINTS, first) == 0;
    return checkpoint || export_has(below, first) || report_has(below) || trace_has(below) ||
           strcmp(below, REFERENCE_FILE) == 0;
}

/* Returns whether a file would be lost: any but an earlier dump. */
static bool is_other_file(const char *path) {
    char error[1024];
    if (access(path, F_OK) != 0)
        return false;
    StFile *file = st_open(path, error, sizeof error);
    const char *format = file ? st_metadata(file, "format") : NULL;
    bool other = !format || strcmp(format, DUMP_FORMAT) != 0;
    st_close(file);
    return other;
}

void dump_check(const Rt *rt) {
    char dir[RT_MAX_PATH], error[RT_MAX_PATH + 256];
    const char *path = rt->options.dump_file, *slash = strrchr(path, '/');
    if (slash)
        snprintf(dir, sizeof dir, "%.*s", slash > path ? (int)(slash - path) : 1, path);
    else
        snprintf(dir, sizeof dir, ".");
    if (!outfile_check(dir, slash ? slash + 1 : path, error, sizeof error))
        rt_fail("--dump: %s; name another file", error);
    if (is_result(rt, dir, slash ? slash + 1 : path))
        rt_fail("--dump: %s: this run writes results there; name another file", path);
    if (is_other_file(path))
        rt_fail("--dump: %s: exists, and is no dump of an earlier run; name another file", path);
}

void dump_first_step(Rt *rt) {
    Dump dump = {.observer = {observe}};
    RtMeasured training = rt->measured;
    rt_step(rt, 0, run_phase, &dump);
    add_loss(rt, &dump);
    add_updated(rt, &dump);
    rt->measured = training;
    rt->step = 1;
    write_dump(rt, &dump, rt->options.dump_file);
    for (int i = 0; i < dump.count; i++)
        free(dump.entries[i].data);
    free(dump.entries);
}
