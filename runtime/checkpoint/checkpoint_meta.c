/* Writes and reads meta.json by one list of members. */
#include "runtime/checkpoint/checkpoint_meta.h"
#include "runtime/device/device.h"
#include "runtime/device/launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/checksum.h"
#include "runtime/base/json_values.h"
#include "runtime/checkpoint/gather.h"
#include "runtime/comm/comm.h"
#include "runtime/data/data.h"
#include "runtime/files/infile.h"
#include "runtime/files/outfile.h"
#include "runtime/params/params.h"

/* Jansson's format letter, and the name of the member, which is also that in the file. */
#define META_MEMBERS(X)      \
    X("I", version)          \
    X("I", sequence)         \
    X("I", step)             \
    X("I", applied)          \
    X("I", bad_step)         \
    X("I", data_position)    \
    X("I", seed)             \
    X("I", state_bytes)      \
    X("s", state_crc32)      \
    X("s", frozen_crc32)     \
    X("s", data_fingerprint) \
    X("s", experiment)       \
    X("s", recipe_sha256)    \
    X("s", generator)        \
    X("s", device)           \
    X("I", driver_version)   \
    X("I", cublaslt_version) \
    X("O", gemm_algorithms)

/* ---- contents -------------------------------------------------------------------------------- */

/* Returns the whole row of which this rank has the part `mine`, and frees that. */
static void *whole_row(Rt *rt, const RtParam *param, void *mine, size_t *bytes) {
    size_t size = rt_dtype_bytes(param->dtype);
    *bytes = shard_whole_cols(rt, param) * size;
    void *row = rt_alloc(*bytes);
    shard_first_row(rt, param, size, mine, row);
    free(mine);
    return row;
}

static void *first_row(Rt *rt, const RtParam *param, size_t *bytes) {
    size_t size = rt_dtype_bytes(param->dtype);
    *bytes = (size_t)param_cols(rt, param) * size;
    void *row = rt_alloc(*bytes);
    if (param->pieces)
        pieces_read_first_row(rt, param, row);
    else
        rt_read_state(rt, param->weight, *bytes, row);
    return param->shard ? whole_row(rt, param, row, bytes) : row;
}

/* STATE never holds what `load` fetches; a checksum of its first row in the files stands for the
 * row. */
static void *fetched_row(const Rt *rt, const RtParam *param, size_t *bytes) {
    *bytes = sizeof *rt->fetched_crc32;
    uint32_t *row = rt_alloc(*bytes);
    *row = rt->fetched_crc32[param - rt->program->params];
    return row;
}

static OutTensor row_of(const RtParam *param, void *row, size_t bytes) {
    return (OutTensor){.name = (char *)param->name,
                       .host = row,
                       .dtype = RT_U8,
                       .rank = 1,
                       .shape = {(int64_t)bytes}};
}

/* The first row stands for the whole parameter: enough to recognise another model, without reading
 * gigabytes. */
static OutTensor *first_rows(Rt *rt, int *count) {
    OutTensor *rows = rt_alloc((size_t)(rt->program->param_count + 1) * sizeof *rows);
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *param = &rt->program->params[i];
        size_t bytes;
        if (param->trained || param->buffer)
            continue;
        void *row = param->fetched ? fetched_row(rt, param, &bytes) : first_row(rt, param, &bytes);
        rows[(*count)++] = row_of(param, row, bytes);
    }
    return rows;
}

static uint32_t crc32_of_rows(Rt *rt, const OutTensor *rows, int count) {
    uint32_t crc = 0;
    for (int i = 0; i < count; i++) {
        void *row = tensor_values(rt, &rows[i]);
        if (!rows[i].twice) {
            crc = crc32_add(crc, rows[i].name, strlen(rows[i].name));
            crc = crc32_add(crc, row, out_tensor_bytes(&rows[i]));
        }
        free(row);
    }
    return crc;
}

static bool is_shared_out(const RtProgram *program) {
    for (int i = 0; i < program->param_count; i++)
        if (program->params[i].shard || program->params[i].pieces)
            return true;
    return false;
}

/* Returns the same checksum on all ranks, whichever ranks hold the weights. Frees the rows. */
static uint32_t crc32_of_all(Rt *rt, OutTensor *rows, int count) {
    uint32_t crc = 0;
    int own = count;
    if (!rt->program->pipeline || !tensors_gather(rt, &rows, &count))
        crc = crc32_of_rows(rt, rows, count);
    if (rt->program->pipeline || is_shared_out(rt->program))
        comm_broadcast(rt, &crc, sizeof crc, "the checksum of weights");
    for (int i = 0; i < count; i++)
        free(rows[i].host);
    for (int i = own; i < count; i++)
        free(rows[i].name);
    free(rows);
    return crc;
}

void note_frozen(Rt *rt) {
    int count = 0;
    OutTensor *rows = first_rows(rt, &count);
    rt->frozen_crc32 = crc32_of_all(rt, rows, count);
    free(rt->fetched_crc32);
    rt->fetched_crc32 = NULL;
}

void note_start(Rt *rt) {
    const RtProgram *program = rt->program;
    OutTensor *rows = rt_alloc((size_t)(program->param_count + 1) * sizeof *rows);
    int count = 0;
    for (int i = 0; i < program->param_count; i++) {
        const RtParam *param = &program->params[i];
        size_t bytes;
        if (param->adapter)
            continue;
        void *row = param_first_row(rt, param, &bytes);
        rows[count++] = row_of(param, row, bytes);
    }
    rt->start_crc32 = crc32_of_all(rt, rows, count);
}

static int64_t read_counter(Rt *rt, size_t offset) {
    int32_t value;
    rt_read_state(rt, offset, sizeof value, &value);
    return value;
}

static json_t *evaluations_json(const Rt *rt) {
    json_t *all = json_array();
    for (int i = 0; i < rt->evaluation_count; i++) {
        const RtEvaluation *found = &rt->evaluations[i];
        json_t *row = json_pack("[I, o]", (json_int_t)found->step, number(found->loss));
        for (int k = 0; k < rt->program->metric_count; k++)
            json_array_append_new(row, number(found->metrics[k]));
        json_array_append_new(all, row);
    }
    return all;
}

void meta_of_run(Rt *rt, CheckpointMeta *meta, char strings[2][24]) {
    const RtProgram *program = rt->program;
    snprintf(strings[0], sizeof strings[0], "%08x", rt->frozen_crc32);
    snprintf(strings[1], sizeof strings[1], "%016llx",
             (unsigned long long)loader_facts(rt->loader)->fingerprint);
    *meta = (CheckpointMeta){
        .version = CHECKPOINT_VERSION,
        .step = rt->step,
        .applied = read_counter(rt, program->counters.applied),
        .bad_step = read_counter(rt, program->counters.bad_step),
        .data_position = rt->step * rows_per_step(rt),
        .seed = rt->options.seed,
        .frozen_crc32 = strings[0],
        .data_fingerprint = strings[1],
        .experiment = program->name,
        .recipe_sha256 = program->recipe_sha256,
        .generator = program->generator,
        .device = rt->device.name,
        .driver_version = rt->device.driver_version,
        .cublaslt_version = (int64_t)rt->device.cublaslt_version,
        .gemm_algorithms = json_array(),
        .evaluations = evaluations_json(rt),
        .data_sha256 = rt->data_sha256,
    };
    for (int i = 0; rt->gemms && i < program->gemm_count; i++)
        json_array_append_new(meta->gemm_algorithms, json_integer(gemm_algorithm(rt, i)));
    meta->root = json_pack("{s:o, s:o}", "gemm_algorithms", meta->gemm_algorithms, "evaluations",
                           meta->evaluations);
}

/* ---- writing and reading --------------------------------------------------------------------- */

/* The checksum of an object covers its compact, sorted text without the member "crc32". */
static void object_crc32(const json_t *object, char text[9]) {
    char *compact = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    snprintf(text, 9, "%08x", crc32_add(0, compact, strlen(compact)));
    free(compact);
}

bool meta_write(const CheckpointMeta *meta, const char *dir, char *error, size_t error_size) {
#define X(letter, member) "s:" letter ","
#define Y(letter, member) , #member, meta->member
    json_t *object = json_pack("{" META_MEMBERS(X) "}" META_MEMBERS(Y));
#undef X
#undef Y
    if (!object)
        rt_internal("a member of meta.json has no value");
    char crc[9];
    json_object_set(object, "evaluations", meta->evaluations);
    if (meta->data_sha256 && meta->data_sha256[0])
        json_object_set_new(object, "data_sha256", json_string(meta->data_sha256));
    object_crc32(object, crc);
    json_object_set_new(object, "crc32", json_string(crc));
    char *text = json_dumps(object, JSON_INDENT(2));
    bool ok = outfile_write(dir, CHECKPOINT_META, text, error, error_size);
    free(text);
    json_decref(object);
    return ok;
}

static bool fail(char *error, size_t error_size, const char *path, const char *fact) {
    snprintf(error, error_size, "%s: %s", path, fact);
    return false;
}

static bool crc_matches(json_t *object) {
    char crc[9];
    const char *recorded = json_string_value(json_object_get(object, "crc32"));
    char *copy = recorded ? strdup(recorded) : NULL;
    json_object_del(object, "crc32");
    object_crc32(object, crc);
    bool same = copy && strcmp(copy, crc) == 0;
    free(copy);
    return same;
}

static bool meta_unpack(CheckpointMeta *meta, const char *path, char *error, size_t error_size) {
    json_error_t reason;
#define X(letter, member) "s:" letter ","
#define Y(letter, member) , #member, &meta->member
    int status = json_unpack_ex(meta->root, &reason, 0, "{" META_MEMBERS(X) "}" META_MEMBERS(Y));
#undef X
#undef Y
    meta->evaluations = json_object_get(meta->root, "evaluations");
    meta->data_sha256 = json_string_value(json_object_get(meta->root, "data_sha256"));
    if (!status)
        json_decref(meta->gemm_algorithms); /* root owns it */
    return status ? fail(error, error_size, path, reason.text) : true;
}

bool meta_read(CheckpointMeta *meta, const char *dir, char *error, size_t error_size) {
    char path[RT_MAX_PATH], fact[128];
    join_path(path, dir, CHECKPOINT_META);
    json_error_t reason;
    *meta = (CheckpointMeta){.root = infile_json(path, JSON_REJECT_DUPLICATES, &reason)};
    if (!meta->root && reason.line < 0)
        return fail(error, error_size, path,
                    "cannot be read; a checkpoint is a folder named step_N");
    if (!json_is_object(meta->root) || !crc_matches(meta->root)) {
        meta_free(meta);
        return fail(error, error_size, path,
                    "is damaged: its checksum does not match its contents");
    }
    meta->version = json_integer_value(json_object_get(meta->root, "version"));
    snprintf(fact, sizeof fact, "has version %lld; this program reads version %d",
             (long long)meta->version, CHECKPOINT_VERSION);
    bool ok = meta->version == CHECKPOINT_VERSION ? meta_unpack(meta, path, error, error_size)
                                                  : fail(error, error_size, path, fact);
    if (!ok)
        meta_free(meta);
    return ok;
}

void meta_free(CheckpointMeta *meta) {
    json_decref(meta->root);
    *meta = (CheckpointMeta){0};
}

bool file_crc32(const char *path, char text[9], int64_t *bytes, char *error, size_t error_size) {
    enum { CHUNK = 1 << 20 };
    int fd;
    const char *problem = infile_open(path, &fd);
    if (problem)
        return fail(error, error_size, path, problem);
    uint8_t *chunk = rt_alloc(CHUNK);
    uint32_t crc = 0;
    ssize_t got;
    for (*bytes = 0; (got = read(fd, chunk, CHUNK)) > 0; *bytes += got)
        crc = crc32_add(crc, chunk, (size_t)got);
    bool ok = got == 0;
    free(chunk);
    close(fd);
    snprintf(text, 9, "%08x", crc);
    return ok || fail(error, error_size, path, "cannot be read");
}
