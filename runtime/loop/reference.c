/* reference.json holds the facts that the values depend on and, for both splits, one number per
 * sequence in the order of the files, with a checksum of the numbers. */
#include "runtime/loop/reference.h"
#include "runtime/device/device.h"
#include "runtime/device/launch.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/checksum.h"
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"
#include "runtime/data/data.h"
#include "runtime/device/driver.h"
#include "runtime/files/infile.h"
#include "runtime/files/outfile.h"
#include "runtime/step/pipeline.h"

#define VALUES_CRC32 "values_crc32"

enum { SIDES = 2 };

static const char *const split_names[LOADER_SPLITS] = {"train", "eval"};
static const char *const side_names[SIDES] = {"ref_chosen_logps", "ref_rejected_logps"};

typedef struct {
    int64_t rows, pairs; /* packed rows may have fewer pairs; missing ones are zeros */
    double *nll;         /* [pairs][SIDES] */
} Split;

/* The number of pairs in a row; if they are packed, the largest possible number. */
static int64_t pairs_in_row(const Rt *rt) {
    int64_t packed = rt->program->data.pairs->packed;
    return packed ? packed : 1;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void fill_rows(const Rt *rt, LoaderSplit split, int64_t first, void *slot) {
    char error[1024];
    if (!loader_fill_rows(rt->loader, split, first, slot, error, sizeof error))
        rt_fail("%s", error);
}

enum { NAMES = 2 };

/* A pipeline stage has at most one of the inputs: takes each checksum from a rank that has it. */
static void complete(Rt *rt, const RtInput *const *inputs, uint32_t *crc) {
    int64_t sums[NAMES], *all = rt_alloc((size_t)rt->ranks * sizeof sums);
    for (int i = 0; i < NAMES; i++)
        sums[i] = inputs[i] ? (int64_t)crc[i] : -1;
    comm_gather(rt, sums, all, sizeof sums, "the reference");
    for (int i = 0; i < NAMES; i++)
        for (int rank = 0; rank < rt->ranks; rank++)
            if (all[rank * NAMES + i] >= 0)
                crc[i] = (uint32_t)all[rank * NAMES + i];
    free(all);
}

/* The checksums of all tokens and of all labels, in the order of rows, which do not depend on the
 * batch size. They stay apart: labels are the tokens shifted by one, and CRC is linear, so in a
 * checksum of both a change of tokens could cancel against that of the labels. */
static json_t *data_crc32(Rt *rt, const Split *splits) {
    const RtInput *const inputs[NAMES] = {program_input(rt->program, "input_ids"),
                                          program_input(rt->program, "labels")};
    int64_t batch = rt->program->training.batch;
    uint32_t crc[NAMES] = {0};
    char text[24], *slot = rt_alloc(rt->program->arena_bytes[RT_INPUT]);
    for (int split = 0; split < LOADER_SPLITS; split++) {
        int64_t rows = splits[split].rows;
        for (int64_t first = 0; first < rows; first += batch) {
            int64_t count = rows - first < batch ? rows - first : batch;
            fill_rows(rt, (LoaderSplit)split, first, slot);
            for (int i = 0; i < NAMES; i++) {
                const RtInput *input = inputs[i];
                if (!input)
                    continue;
                size_t row = (size_t)(input->count / batch) * rt_dtype_bytes(input->dtype);
                crc[i] = crc32_add(crc[i], slot + input->offset, (size_t)count * row);
            }
        }
    }
    free(slot);
    if (rt->program->pipeline)
        complete(rt, inputs, crc);
    snprintf(text, sizeof text, "%08x %08x", crc[0], crc[1]);
    return json_string(text);
}

/* Adds the numbers of rows; those held out depend on data.eval_batches. */
static void add_rows(json_t *facts, const Split *splits) {
    for (int i = 0; i < LOADER_SPLITS; i++) {
        char name[16], rows[24];
        snprintf(name, sizeof name, "%s_rows", split_names[i]);
        snprintf(rows, sizeof rows, "%lld", (long long)splits[i].rows);
        json_object_set_new(facts, name, json_string(rows));
    }
}

static json_t *crc32_json(uint32_t crc) {
    char text[16];
    snprintf(text, sizeof text, "%08x", crc);
    return json_string(text);
}

/* The spec's facts come before those of data and weights, because errors name the first that
 * differs. */
static json_t *facts_of(Rt *rt, const Split *splits) {
    static const char is[] = " = ";
    json_t *facts = json_object();
    for (const char *line = rt->program->data.pairs->facts; *line;) {
        size_t length = strcspn(line, "\n");
        char *name = strndup(line, length), *value = name ? strstr(name, is) : NULL;
        if (!value)
            rt_internal("%s says nothing of the reference", line);
        *value = '\0';
        json_object_set_new(facts, name, json_string(value + strlen(is)));
        free(name);
        line += length + (line[length] == '\n');
    }
    add_rows(facts, splits);
    json_object_set_new(facts, "data_crc32", data_crc32(rt, splits));
    json_object_set_new(facts, "weights_crc32", crc32_json(rt->start_crc32));
    return facts;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void check_facts(const char *path, const json_t *theirs, const json_t *ours) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)ours, name, value) {
        const char *is = json_string_value(value);
        const char *was = json_string_value(json_object_get(theirs, name));
        if (!was || strcmp(was, is) != 0)
            rt_fail("%s: was made with %s = %s, but this run has %s; remove the file to make it "
                    "again, or choose another folder with --out",
                    path, name, was ? was : "(nothing)", is);
    }
}

static bool take_side(const json_t *values, int side, Split *split) {
    if (!json_is_array(values) || (int64_t)json_array_size(values) != split->pairs)
        return false;
    for (int64_t row = 0; row < split->pairs; row++) {
        const json_t *value = json_array_get(values, (size_t)row);
        if (!json_is_number(value))
            return false;
        split->nll[row * SIDES + side] = -json_number_value(value);
    }
    return true;
}

/* The checksum of the numbers, which the file stores exactly. */
static json_t *values_crc32(const Split *splits) {
    uint32_t crc = 0;
    for (int i = 0; i < LOADER_SPLITS; i++)
        crc = crc32_add(crc, splits[i].nll,
                        (size_t)(splits[i].pairs * SIDES) * sizeof *splits[i].nll);
    return crc32_json(crc);
}

static void check_values(const char *path, const json_t *root, const Split *splits) {
    json_t *is = values_crc32(splits);
    const char *was = json_string_value(json_object_get(root, VALUES_CRC32));
    if (!was || strcmp(was, json_string_value(is)) != 0)
        rt_fail("%s: is damaged: its numbers have %s = %s, but it says %s; remove the file to make "
                "it again",
                path, VALUES_CRC32, json_string_value(is), was ? was : "(nothing)");
    json_decref(is);
}

/* Returns false if there is no file. */
static bool read_file(const char *path, const json_t *facts, Split *splits) {
    json_error_t reason;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return false;
    json_t *root = infile_json(path, JSON_REJECT_DUPLICATES, &reason);
    if (!root && reason.line < 0)
        rt_fail("%s: cannot be read: %s; remove the file to make it again", path, reason.text);
    if (!root)
        rt_fail("%s:%d: not valid JSON (%s); remove the file to make it again", path, reason.line,
                reason.text);
    check_facts(path, json_object_get(root, "facts"), facts);
    for (int split = 0; split < LOADER_SPLITS; split++)
        for (int side = 0; side < SIDES; side++)
            if (!take_side(
                    json_object_get(json_object_get(root, split_names[split]), side_names[side]),
                    side, &splits[split]))
                rt_fail("%s: %s of %s are not %lld numbers; remove the file to make it again", path,
                        side_names[side], split_names[split], (long long)splits[split].pairs);
    check_values(path, root, splits);
    json_decref(root);
    return true;
}

static json_t *values_json(const Split *split) {
    json_t *both = json_object();
    for (int side = 0; side < SIDES; side++) {
        json_t *values = json_array();
        for (int64_t row = 0; row < split->pairs; row++)
            json_array_append_new(values, json_real(-split->nll[row * SIDES + side]));
        json_object_set_new(both, side_names[side], values);
    }
    return both;
}

static void write_file(const Rt *rt, json_t *facts, const Split *splits) {
    char error[1024];
    OutFile file;
    json_t *root = json_object();
    json_object_set(root, "facts", facts);
    json_object_set_new(root, VALUES_CRC32, values_crc32(splits));
    for (int split = 0; split < LOADER_SPLITS; split++)
        json_object_set_new(root, split_names[split], values_json(&splits[split]));
    bool ok = outfile_open(&file, rt->options.out_dir, REFERENCE_FILE, error, sizeof error);
    if (ok) {
        json_dumpf(root, file.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
        ok = outfile_finish(&file, error, sizeof error);
    }
    if (!ok)
        rt_fail("%s", error);
    folder_sync(rt->options.out_dir);
    json_decref(root);
}

/* ---- computing ------------------------------------------------------------------------------- */

/* `made` receives the result; in a pipeline only on the last stage. */
static void run_batch(Rt *rt, const void *host, void *made, size_t made_bytes) {
    const RtPipeline *pipeline = rt->program->pipeline;
    rt_select_slot(rt, 0);
    rt_finish_stream(rt, RT_STREAM_COMPUTE);
    CU(MemcpyHtoD, rt_input(rt, 0), host, rt->program->arena_bytes[RT_INPUT]);
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize");
    if (pipeline)
        pipeline_forward(rt, &rt->program->reference, 0);
    else
        rt_enqueue(rt, &rt->program->reference, 0);
    if (!pipeline || !pipeline->sent.count)
        rt_read_state(rt, rt->program->data.pairs->made, made_bytes, made);
    else
        rt_finish_stream(rt, RT_STREAM_COMPUTE); /* the next stage waits for the activation */
}

/* Whether the rank provides the values: one of those that work on the same batches does. */
static bool gives_values(const Rt *rt) {
    const RtPipeline *pipeline = rt->program->pipeline;
    return mesh_first(rt->program, RT_TENSOR, rt->rank) == rt->rank &&
           (!pipeline || !pipeline->sent.count);
}

/* Computes this rank's batches and leaves all other values 0. All ranks run equally many batches,
 * since they may exchange data. Returns the signal that ended it, or 0. */
static int compute_own(Rt *rt, LoaderSplit which, Split *split) {
    int64_t batch = rt->program->training.batch, each = SIDES * pairs_in_row(rt);
    size_t bytes = (size_t)(batch * each) * rt_dtype_bytes(rt->program->real);
    void *slot = rt_alloc(rt->program->arena_bytes[RT_INPUT]), *made = rt_alloc(bytes);
    bool counts = gives_values(rt);
    int signal = 0;
    for (int64_t round = 0;
         round * rt->data_ranks * batch < split->rows && !(signal = comm_first_signal(rt));
         round++) {
        int64_t first = (round * rt->data_ranks + rt->data_rank) * batch;
        fill_rows(rt, which, first, slot);
        run_batch(rt, slot, made, bytes);
        for (int64_t i = 0; counts && i < batch * each && first * each + i < split->rows * each;
             i++)
            split->nll[first * each + i] = rt_get(rt->program->real, made, i);
    }
    free(made);
    free(slot);
    return signal;
}

/* Only one rank has the bits of a value, the others have zeros, so their integer sum is the
 * value. */
static void share(Rt *rt, Split *split) {
    int count = (int)(split->pairs * SIDES);
    int64_t *bits = rt_alloc((size_t)(count + 1) * sizeof *bits);
    memcpy(bits, split->nll, (size_t)count * sizeof *bits);
    comm_sum_i64(rt, bits, count, "the reference");
    memcpy(split->nll, bits, (size_t)count * sizeof *bits);
    free(bits);
}

static void check_finite(const Split *split, const char *name) {
    for (int64_t i = 0; i < split->pairs * SIDES; i++)
        if (!isfinite(split->nll[i]))
            rt_fail("the log-probability of %s pair %lld is %g before training: check the initial "
                    "weights",
                    name, (long long)(i / SIDES), -split->nll[i]);
}

/* If the weights themselves are trained, a checkpoint no longer has the initial ones. */
static void check_start(const Rt *rt, const char *path) {
    bool moved = false;
    for (int i = 0; i < rt->program->param_count; i++)
        moved |= rt->program->params[i].trained && !rt->program->params[i].adapter;
    if (moved && rt->step > 0)
        rt_fail("%s: is missing and cannot be made at step %lld, because the weights have changed; "
                "restore it, or train from scratch",
                path, (long long)rt->step);
}

/* Leaves the measurements of training steps unchanged. Returns the signal that ended it, or 0. */
static int compute(Rt *rt, Split *splits) {
    RtMeasured training = rt->measured;
    int signal = 0;
    for (int split = 0; split < LOADER_SPLITS; split++) {
        if ((signal = compute_own(rt, (LoaderSplit)split, &splits[split])))
            break;
        share(rt, &splits[split]);
        check_finite(&splits[split], split_names[split]);
    }
    rt->measured = training;
    return signal;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool read_once(Rt *rt, const char *path, const json_t *facts, Split *splits) {
    int8_t found = rt->rank == 0 && read_file(path, facts, splits);
    comm_broadcast(rt, &found, sizeof found, "the reference");
    if (!found)
        return false;
    for (int split = 0; split < LOADER_SPLITS; split++)
        comm_broadcast(rt, splits[split].nll,
                       (int)(splits[split].pairs * SIDES) * (int)sizeof *splits[split].nll,
                       "the reference");
    return true;
}

static void take(Rt *rt, const Split *splits, const char *path, bool found) {
    printf("reference: log-probabilities of %lld rows of pairs %s %s\n",
           (long long)(splits[LOADER_TRAIN].rows + splits[LOADER_EVAL].rows),
           found ? "read from" : "computed and saved in", path);
    for (int i = 0; i < LOADER_SPLITS; i++)
        loader_attach(rt->loader, "reference_nll", (LoaderSplit)i, splits[i].nll);
}

int reference_prepare(Rt *rt) {
    char path[RT_MAX_PATH];
    Split splits[LOADER_SPLITS];
    int signal = 0;
    if (!rt->program->reference.enqueue)
        return 0;
    join_path(path, rt->options.out_dir, REFERENCE_FILE);
    for (int i = 0; i < LOADER_SPLITS; i++) {
        splits[i].rows = loader_rows(rt->loader, (LoaderSplit)i);
        splits[i].pairs = splits[i].rows * pairs_in_row(rt);
        splits[i].nll = rt_alloc((size_t)(splits[i].pairs * SIDES + 1) * sizeof *splits[i].nll);
    }
    json_t *facts = facts_of(rt, splits);
    bool found = read_once(rt, path, facts, splits);
    if (!found) {
        check_start(rt, path);
        signal = compute(rt, splits);
        if (rt->rank == 0 && !signal)
            write_file(rt, facts, splits);
    }
    json_decref(facts);
    if (!signal)
        take(rt, splits, path, found);
    return signal;
}
