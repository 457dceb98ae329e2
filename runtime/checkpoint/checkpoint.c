/* Writing checkpoints and resuming from them. */
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/device/device.h"
#include "runtime/files/outfile.h"
#include "runtime/params/params.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/checkpoint/checkpoint_meta.h"
#include "runtime/checkpoint/gather.h"

enum { ERROR_SIZE = RT_MAX_PATH + 512 };

/* ---- saved tensors --------------------------------------------------------------------------- */

/* Whether training changes the parameter. */
static bool is_saved(const RtParam *param) { return param->trained || param->buffer; }

typedef struct {
    OutTensor *items;
    int count;
} Tensors;

static OutTensor *tensor_add(Tensors *tensors, const char *name, const char *suffix,
                             RtDtype dtype) {
    OutTensor *tensor = &tensors->items[tensors->count++];
    size_t size = strlen(name) + strlen(suffix) + 1;
    *tensor = (OutTensor){.name = rt_alloc(size), .dtype = dtype};
    snprintf(tensor->name, size, "%s%s", name, suffix);
    return tensor;
}

static void row_add(Tensors *tensors, const char *name, void *host, size_t offset, RtDtype dtype,
                    int64_t count) {
    OutTensor *tensor = tensor_add(tensors, name, "", dtype);
    tensor->host = host;
    tensor->offset = offset;
    tensor->rank = 1;
    tensor->shape[0] = count;
}

static OutTensor *moment_add(Tensors *tensors, const RtParam *param, const char *suffix,
                             size_t offset, RtParam as) {
    OutTensor *tensor = tensor_add(tensors, param->name, suffix, as.master_dtype);
    out_tensor_as(tensor, offset, as);
    return tensor;
}

/* Adds a tensor with one number for every `each` elements of the parameter, padded to whole
 * blocks. */
static void codes_add(Tensors *tensors, const RtParam *param, const char *suffix, size_t offset,
                      RtDtype dtype, int64_t each) {
    int64_t blocks = (param_elements(param) + RT_MOMENT_BLOCK - 1) / RT_MOMENT_BLOCK;
    RtParam as = param_as_numbers(param, dtype, blocks * RT_MOMENT_BLOCK / each);
    as.piece_first /= each;
    as.piece_elements /= each;
    as.piece_at /= each;
    OutTensor *tensor = moment_add(tensors, param, suffix, offset, as);
    tensor->rank = 1;
    tensor->shape[0] = param_elements(&as);
}

/* If files have another order than memory, memory's is part of the name: blocks in one order are
 * not blocks in another. */
static void ordered_codes_add(Tensors *tensors, const RtParam *param, const char *part,
                              size_t offset) {
    char suffix[64];
    const int *order = param->order;
    snprintf(suffix, sizeof suffix, "%s", part);
    if (param->split[0])
        snprintf(suffix, sizeof suffix, "%s.order_%d%d%d%d", part, order[0], order[1], order[2],
                 order[3]);
    codes_add(tensors, param, suffix, offset, RT_U8, 1);
}

/* Codes are saved unchanged, in memory order. They are saved in whole blocks, because code 0 does
 * not stand for 0, and the last block's absmax covers the padding after the tensor too. */
static void coded_moments_add(Tensors *tensors, const RtParam *param) {
    ordered_codes_add(tensors, param, ".exp_avg", param->exp_avg);
    ordered_codes_add(tensors, param, ".exp_avg_sq", param->exp_avg_sq);
    codes_add(tensors, param, ".exp_avg_absmax", param->exp_avg_absmax, RT_F32, RT_MOMENT_BLOCK);
    codes_add(tensors, param, ".exp_avg_sq_absmax", param->exp_avg_sq_absmax, RT_F32,
              RT_MOMENT_BLOCK);
}

static void shaped_as(OutTensor *tensor, const RtParam *param) {
    tensor->rank = param->rank;
    memcpy(tensor->shape, param->shape, sizeof tensor->shape);
}

/* Adds moments that are numbers, not codes. */
static void moments_add(Tensors *tensors, const RtParam *param, int64_t coded_elements) {
    RtParam as = *param;
    as.piece_at -= coded_elements;
    if (param->exp_avg != RT_NOWHERE)
        shaped_as(moment_add(tensors, param, ".exp_avg", param->exp_avg, as), param);
    if (param->exp_avg_sq != RT_NOWHERE)
        shaped_as(moment_add(tensors, param, ".exp_avg_sq", param->exp_avg_sq, as), param);
}

static void param_add(Tensors *tensors, const RtParam *param, int64_t coded_elements) {
    OutTensor *tensor = tensor_add(tensors, param->name, "", param_saved_dtype(param));
    tensor->param = param;
    tensor->offset = RT_NOWHERE;
    shaped_as(tensor, param);
    if (param->coded_moments)
        coded_moments_add(tensors, param);
    else
        moments_add(tensors, param, coded_elements);
}

/* Steps before a resume may have had another schedule. The host alone reads it. Checkpoints of earlier
 * versions lack it. */
#define RATES "lr"

static void loss_scale_add(Tensors *tensors, const RtLossScale *scale, RtDtype real) {
    row_add(tensors, "loss_scale", NULL, scale->scale, real, 1);
    row_add(tensors, "growth_tracker", NULL, scale->growth_tracker, RT_I32, 1);
    row_add(tensors, "skipped_steps", NULL, scale->skipped_steps, RT_I32, 1);
}

/* All tensors of a checkpoint after `steps` steps. */
static Tensors tensors_of_run(const Rt *rt, int64_t steps) {
    const RtProgram *program = rt->program;
    size_t params = (size_t)program->param_count, metrics = (size_t)program->metric_count;
    Tensors tensors = {.items = rt_alloc(sizeof(OutTensor) * (5 * params + 6 + metrics))};
    for (int i = 0; i < program->param_count; i++)
        if (is_saved(&program->params[i]))
            param_add(&tensors, &program->params[i], program->coded_elements);
    row_add(&tensors, "loss", rt->losses, program->counters.loss, program->real, steps);
    row_add(&tensors, "grad_norm", rt->grad_norms, program->counters.grad_norm, program->real,
            steps);
    if (rt->rates)
        row_add(&tensors, RATES, rt->rates, RT_NOWHERE, RT_F64, steps);
    for (int i = 0; i < program->metric_count; i++)
        if (rt->step_metrics[i])
            row_add(&tensors, program->metrics[i].name, rt->step_metrics[i],
                    program->metrics[i].history, program->real, steps);
    if (program->loss_scale)
        loss_scale_add(&tensors, program->loss_scale, program->real);
    return tensors;
}

static void tensors_free(Tensors *tensors) {
    for (int i = 0; i < tensors->count; i++)
        out_tensor_free(&tensors->items[i]);
    free(tensors->items);
}

/* ---- the folder of checkpoints --------------------------------------------------------------- */

typedef struct {
    char path[RT_MAX_PATH];
    int64_t sequence; /* -1: its meta.json cannot be read */
    int64_t step;
    char state_crc32[9];
} Saved;

typedef struct {
    Saved *items;
    int count;
} SavedList;

static void copy_crc32(char to[9], const char *from) { snprintf(to, 9, "%s", from); }

static int by_sequence(const void *a, const void *b) {
    int64_t x = ((const Saved *)a)->sequence, y = ((const Saved *)b)->sequence;
    return (x > y) - (x < y);
}

static void saved_add(SavedList *list, const char *root, const char *name) {
    Saved *items = realloc(list->items, sizeof *items * ((size_t)list->count + 1));
    if (!items)
        rt_fail("out of memory while listing checkpoints");
    list->items = items;
    Saved *saved = &items[list->count++];
    join_path(saved->path, root, name);
    char error[ERROR_SIZE];
    CheckpointMeta meta;
    saved->sequence = -1;
    if (meta_read(&meta, saved->path, error, sizeof error)) {
        saved->sequence = meta.sequence;
        saved->step = meta.step;
        copy_crc32(saved->state_crc32, meta.state_crc32);
        meta_free(&meta);
    }
}

/* Lists checkpoints, oldest save first; those that cannot be read come before all others. */
static SavedList saved_list(const char *root) {
    SavedList list = {0};
    DIR *dir = opendir(root);
    if (!dir)
        return list;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strncmp(entry->d_name, "step_", 5) == 0)
            saved_add(&list, root, entry->d_name);
    closedir(dir);
    if (list.count)
        qsort(list.items, (size_t)list.count, sizeof *list.items, by_sequence);
    return list;
}

/* A checkpoint's folder contains only files. On failure the next save tries again. */
static void folder_remove(const char *path) {
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char file[RT_MAX_PATH];
        join_path(file, path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(file);
    }
    closedir(dir);
    rmdir(path);
}

static void prune(const char *root, int64_t keep) {
    SavedList list = saved_list(root);
    for (int i = 0; keep > 0 && i + keep < list.count; i++)
        folder_remove(list.items[i].path);
    free(list.items);
}

/* ---- saving ---------------------------------------------------------------------------------- */

/* Gathers the tensors of all ranks; rank 0 writes the file. */
static bool write_state(Rt *rt, const char *path, char *error) {
    Tensors tensors = tensors_of_run(rt, rt->step);
    bool others = tensors_gather(rt, &tensors.items, &tensors.count);
    bool ok = others || tensors_write(rt, path, "pt", tensors.items, tensors.count, error, ERROR_SIZE);
    tensors_free(&tensors);
    return ok;
}

/* Writes the state's checksum to crc[9]. */
static bool write_folder(Rt *rt, const char *dir, int64_t sequence, char *crc, char *error) {
    char state[RT_MAX_PATH], strings[2][24];
    join_path(state, dir, CHECKPOINT_STATE);
    if (!write_state(rt, state, error))
        return false;
    CheckpointMeta meta;
    meta_of_run(rt, &meta, strings);
    meta.sequence = sequence;
    meta.state_crc32 = crc;
    bool ok = file_crc32(state, crc, &meta.state_bytes, error, ERROR_SIZE) &&
              meta_write(&meta, dir, error, ERROR_SIZE);
    meta_free(&meta);
    folder_sync(dir);
    return ok;
}

/* Replaces `path` by `temporary`. Exchanging the two, where the file system can, leaves no moment
 * without a folder at `path`, should the run be killed. */
static bool put_in_place(const char *temporary, const char *path, const char *aside, char *error) {
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
        folder_remove(temporary);
        return true;
    }
    folder_remove(aside);
    bool replaced = rename(path, aside) == 0;
    if (rename(temporary, path)) {
        snprintf(error, ERROR_SIZE, "%s: cannot be written: %s", path, strerror(errno));
        if (replaced)
            rename(aside, path);
        return false;
    }
    if (replaced)
        folder_remove(aside);
    return true;
}

static void save_folder(Rt *rt) {
    char root[RT_MAX_PATH], name[64], path[RT_MAX_PATH], temporary[RT_MAX_PATH], aside[RT_MAX_PATH];
    char error[ERROR_SIZE], crc[9];
    join_path(root, rt->options.out_dir, CHECKPOINTS);
    snprintf(name, sizeof name, "step_%lld", (long long)rt->step);
    join_path(path, root, name);
    join_path(temporary, root, ".writing");
    join_path(aside, root, ".replaced");
    SavedList list = saved_list(root);
    int64_t newest = list.count ? list.items[list.count - 1].sequence : 0;
    free(list.items);
    folder_remove(temporary);
    if (!rt_make_folder(temporary))
        rt_fail("%s: the folder cannot be created: %s; choose another one with --out", temporary,
                strerror(errno));
    if (!write_folder(rt, temporary, newest < 0 ? 1 : newest + 1, crc, error) ||
        !put_in_place(temporary, path, aside, error)) {
        folder_remove(temporary);
        rt_fail("%s; %s", error,
                rt->state_crc32[0] /* not if the folder has only another run's checkpoints */
                    ? "earlier checkpoints are untouched: free some space and continue with --resume"
                    : "this run has nothing to resume from: free some space and start again");
    }
    copy_crc32(rt->state_crc32, crc);
    folder_sync(root);
    prune(root, rt->program->checkpoint.keep_latest_k);
}

void checkpoint_save(Rt *rt) {
    if (rt->rank == 0)
        save_folder(rt);
    else
        write_state(rt, NULL, NULL); /* sends this rank's parts to rank 0 */
}

int64_t checkpoint_newest(const Rt *rt, char *dir, char state_crc32[9]) {
    char root[RT_MAX_PATH];
    join_path(root, rt->options.out_dir, CHECKPOINTS);
    SavedList list = saved_list(root);
    const Saved *newest = list.count ? &list.items[list.count - 1] : NULL;
    int64_t step = newest && newest->sequence >= 0 ? newest->step : -1;
    if (step >= 0) {
        snprintf(dir, RT_MAX_PATH, "%s", newest->path);
        copy_crc32(state_crc32, newest->state_crc32);
    }
    free(list.items);
    return step;
}

/* ---- loading --------------------------------------------------------------------------------- */

#define RESUME_REMEDY "remove this checkpoint, or choose another one with --resume DIR"

static bool state_is_whole(const char *path, const CheckpointMeta *meta, char *why) {
    char crc[9];
    int64_t bytes;
    if (!file_crc32(path, crc, &bytes, why, ERROR_SIZE))
        return false;
    if (bytes != meta->state_bytes)
        snprintf(why, ERROR_SIZE, "%s: is damaged: it has %lld bytes, but %lld were written", path,
                 (long long)bytes, (long long)meta->state_bytes);
    else if (strcmp(crc, meta->state_crc32) != 0)
        snprintf(why, ERROR_SIZE, "%s: is damaged: its checksum is %s, but %s was written", path,
                 crc, meta->state_crc32);
    else
        return true;
    return false;
}

/* Reads the folder's meta.json; returns false, with the reason, if it or the state is damaged. */
static bool read_whole(const char *dir, CheckpointMeta *meta, char *why) {
    char state[RT_MAX_PATH];
    join_path(state, dir, CHECKPOINT_STATE);
    if (!meta_read(meta, dir, why, ERROR_SIZE))
        return false;
    bool whole = state_is_whole(state, meta, why);
    if (!whole)
        meta_free(meta);
    return whole;
}

/* Finds the newest intact checkpoint. Each one that is skipped gives a warning, so that a run never
 * falls back silently. Those whose meta.json cannot be read may be the newest, so they come
 * first. */
static void read_newest(const Rt *rt, char *dir, CheckpointMeta *meta) {
    char root[RT_MAX_PATH], why[ERROR_SIZE];
    join_path(root, rt->options.out_dir, CHECKPOINTS);
    SavedList list = saved_list(root);
    if (!list.count)
        rt_fail("%s: has no checkpoint to resume from; leave out --resume to start from scratch",
                root);
    int unreadable = 0, tried = 0;
    while (unreadable < list.count && list.items[unreadable].sequence < 0)
        unreadable++;
    for (bool whole = false; !whole; tried++) {
        if (tried == list.count)
            rt_fail("%s; " RESUME_REMEDY, why);
        if (tried > 0)
            rt_warn("%s", why);
        int i = tried < unreadable ? tried : list.count - 1 - (tried - unreadable);
        snprintf(dir, RT_MAX_PATH, "%s", list.items[i].path);
        whole = read_whole(dir, meta, why);
    }
    if (tried > 1)
        rt_warn("%s: resuming from step %lld, the newest intact checkpoint", dir,
                (long long)meta->step);
    free(list.items);
}

static void read_given(const char *given, char *dir, CheckpointMeta *meta) {
    char why[ERROR_SIZE];
    snprintf(dir, RT_MAX_PATH, "%s", given);
    if (!read_whole(dir, meta, why))
        rt_fail("%s; " RESUME_REMEDY, why);
}

static void print_shape(int rank, const int64_t *shape, char text[96]) {
    int used = snprintf(text, 96, "[");
    for (int i = 0; i < rank && used < 64; i++)
        used +=
            snprintf(text + used, 96 - (size_t)used, i ? ", %lld" : "%lld", (long long)shape[i]);
    snprintf(text + used, 96 - (size_t)used, "]");
}

/* Returns the saved tensor; ends the process unless it has the program's type and shape. */
static const StTensor *saved_tensor(const StFile *file, const char *path, const OutTensor *wanted) {
    const StTensor *found = st_find(file, wanted->name);
    if (!found)
        rt_fail("%s: lacks the tensor %s; it belongs to another experiment: choose a checkpoint of "
                "this one with --resume DIR",
                path, wanted->name);
    bool same = found->rank == wanted->rank && found->dtype == out_tensor_dtype(wanted);
    for (int i = 0; same && i < wanted->rank; i++)
        same = found->shape[i] == wanted->shape[i];
    if (!same) {
        char has[96], needs[96];
        print_shape(found->rank, found->shape, has);
        print_shape(wanted->rank, wanted->shape, needs);
        rt_fail("%s: tensor %s is %s %s, but this program needs %s %s; the checkpoint belongs to "
                "another experiment",
                path, wanted->name, st_dtype_name(found->dtype), has, rt_dtype_name(wanted->dtype),
                needs);
    }
    return found;
}

static void check_run(const Rt *rt, const char *dir, const CheckpointMeta *saved,
                      const CheckpointMeta *now) {
    if (saved->step < 0 || saved->step > rt->program->training.steps)
        rt_fail("%s: is of step %lld, but training.steps is %lld; raise it, or start from scratch "
                "without --resume",
                dir, (long long)saved->step, (long long)rt->program->training.steps);
    if (saved->seed != now->seed)
        rt_fail("%s: was trained with seed %lld, not %lld; resume with --seed %lld", dir,
                (long long)saved->seed, (long long)now->seed, (long long)saved->seed);
    if (strcmp(saved->frozen_crc32, now->frozen_crc32) != 0)
        rt_fail("%s: was trained on other frozen weights; use --init with the folder that the run "
                "started from",
                dir);
}

/* Warns of differences that may change later bits but do not prevent resuming. */
static void warn_differences(const char *dir, const CheckpointMeta *saved,
                             const CheckpointMeta *now) {
    if (strcmp(saved->recipe_sha256, now->recipe_sha256) != 0)
        rt_warn("%s: the spec has changed since, or is another variant (--set); training continues "
                "with the present spec; leave out --resume to start from scratch",
                dir);
    if (strcmp(saved->data_fingerprint, now->data_fingerprint) != 0 ||
        saved->data_position != now->data_position)
        rt_warn("%s: the data or its batches have changed since it was written; a held-out loss "
                "of before may be one of other samples",
                dir);
    if (strcmp(saved->device, now->device) != 0)
        rt_warn("%s: was written on %s, but this is %s: losses may differ in their last digits",
                dir, saved->device, now->device);
    else if (saved->driver_version != now->driver_version ||
             saved->cublaslt_version != now->cublaslt_version ||
             (json_array_size(now->gemm_algorithms) &&
              !json_equal(saved->gemm_algorithms, now->gemm_algorithms)))
        rt_warn("%s: was written with another driver, cuBLASLt or choice of its algorithms: losses "
                "may differ in their last digits",
                dir);
}

static void restore_tensor(Rt *rt, const OutTensor *tensor, const StTensor *saved) {
    void *values = rt_alloc(saved->bytes);
    memcpy(values, saved->data, saved->bytes);
    if (tensor->param && tensor->offset == RT_NOWHERE)
        param_write(rt, tensor->param, values);
    else if (tensor->param)
        param_write_part(rt, tensor->param, tensor->offset, values);
    else if (tensor->offset != RT_NOWHERE && saved->bytes)
        rt_write_state(rt, tensor->offset, saved->bytes, values);
    if (tensor->host)
        memcpy(tensor->host, values, saved->bytes);
    free(values);
}

static bool is_lacking_rates(const StFile *file, const OutTensor *wanted) {
    return strcmp(wanted->name, RATES) == 0 && !st_find(file, RATES);
}

static void restore_tensors(Rt *rt, const char *path, int64_t steps) {
    char error[ERROR_SIZE];
    StFile *file = st_open(path, error, sizeof error);
    if (!file)
        rt_fail("%s; " RESUME_REMEDY, error);
    Tensors tensors = tensors_of_run(rt, steps);
    for (int i = 0; i < tensors.count; i++)
        if (!is_lacking_rates(file, &tensors.items[i]))
            saved_tensor(file, path, &tensors.items[i]);
    for (int i = 0; i < tensors.count; i++)
        if (!is_lacking_rates(file, &tensors.items[i]))
            restore_tensor(rt, &tensors.items[i], st_find(file, tensors.items[i].name));
    tensors_free(&tensors);
    st_close(file);
}

static void restore_counters(Rt *rt, const CheckpointMeta *meta) {
    const RtCounters *counters = &rt->program->counters;
    const int32_t step = (int32_t)meta->step, applied = (int32_t)meta->applied;
    const int32_t bad_step = (int32_t)meta->bad_step;
    rt_write_state(rt, counters->step, sizeof step, &step);
    rt_write_state(rt, counters->applied, sizeof applied, &applied);
    rt_write_state(rt, counters->bad_step, sizeof bad_step, &bad_step);
    rt->step = rt->step_at_start = rt->known_steps = meta->step;
}

static double value_of(const json_t *row, size_t i) {
    const json_t *value = json_array_get(row, i);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void restore_evaluations(Rt *rt, const CheckpointMeta *meta) {
    size_t count = json_array_size(meta->evaluations);
    free(rt->evaluations);
    rt->evaluations = rt_alloc(count * sizeof *rt->evaluations);
    rt->evaluation_count = (int)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(meta->evaluations, i);
        RtEvaluation *found = &rt->evaluations[i];
        *found = (RtEvaluation){.step = json_integer_value(json_array_get(row, 0)),
                                .loss = value_of(row, 1)};
        for (int k = 0; k < rt->program->metric_count; k++)
            found->metrics[k] = value_of(row, 2 + (size_t)k);
    }
}

void checkpoint_load(Rt *rt, const char *given) {
    char dir[RT_MAX_PATH], state[RT_MAX_PATH], strings[2][24];
    CheckpointMeta saved, now;
    if (given)
        read_given(given, dir, &saved);
    else
        read_newest(rt, dir, &saved);
    join_path(state, dir, CHECKPOINT_STATE);
    meta_of_run(rt, &now, strings);
    now.data_position = saved.step * rows_per_step(rt);
    check_run(rt, dir, &saved, &now);
    restore_tensors(rt, state, saved.step);
    restore_counters(rt, &saved);
    restore_evaluations(rt, &saved);
    copy_crc32(rt->state_crc32, saved.state_crc32);
    if (rt->rank == 0)
        printf("resuming from %s, after step %lld\n", dir, (long long)saved.step);
    warn_differences(dir, &saved, &now);
    meta_free(&saved);
    meta_free(&now);
}
