/* Writes trained tensors in the formats of other tools. */
#include "runtime/checkpoint/export.h"
#include "runtime/files/outfile.h"
#include "runtime/params/params.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/checkpoint/gather.h"
#include "runtime/files/infile.h"
#include "runtime/params/packed.h"

static int tensors_of(Rt *rt, bool adapter, OutTensor *tensors) {
    const RtProgram *program = rt->program;
    int count = 0;
    for (int i = 0; i < program->param_count; i++) {
        const RtParam *param = &program->params[i];
        if (param->adapter != adapter)
            continue;
        if (param->packed) {
            count += packed_tensors(rt, param, &tensors[count]);
            continue;
        }
        OutTensor *tensor = &tensors[count++];
        *tensor = (OutTensor){.name = strdup(param->name),
                              .param = param,
                              .offset = RT_NOWHERE,
                              .dtype = param_saved_dtype(param),
                              .rank = param->rank};
        memcpy(tensor->shape, param->shape, sizeof tensor->shape);
    }
    return count;
}

static void tensors_free(OutTensor *tensors, int count) {
    for (int i = 0; i < count; i++) {
        out_tensor_free(&tensors[i]);
        free(tensors[i].host);
    }
    free(tensors);
}

#define TRAINER_STATE "trainer_state.json"
enum { TRAINER_STATE_BYTES = 512 };

/* The training progress under the names of Hugging Face's trainer. It shows whether the model had
 * all of its steps, and what it was trained from (runtime/scripts/run.sh reads all of it). Free
 * it. */
static char *state_text(const Rt *rt, int64_t step, int64_t steps) {
    const RtProgram *program = rt->program;
    const char *data = rt->data_sha256;
    char *text = rt_alloc(TRAINER_STATE_BYTES);
    snprintf(text, TRAINER_STATE_BYTES,
             "{\n  \"global_step\": %lld,\n  \"max_steps\": %lld,\n  \"seed\": %lld,\n"
             "  \"spec_sha256\": \"%s\",\n  \"recipe_sha256\": \"%s\"%s%s%s\n}\n",
             (long long)step, (long long)steps, (long long)rt->options.seed, program->spec_sha256,
             program->recipe_sha256, data[0] ? ",\n  \"data_sha256\": \"" : "", data,
             data[0] ? "\"" : "");
    return text;
}

/* The record in a folder that a program of ours wrote, or NULL. */
static json_t *read_state(const char *dir) {
    char path[RT_MAX_PATH];
    json_error_t error;
    join_path(path, dir, TRAINER_STATE);
    json_t *state = infile_json(path, 0, &error);
    if (json_object_get(state, "spec_sha256"))
        return state;
    json_decref(state);
    return NULL;
}

/* The record of a complete folder. If this run trains nothing, it is that of the adapter that is
 * merged; an adapter of another tool has all of its steps, 0 of 0. Free it. */
static char *final_state(const Rt *rt) {
    const char *adapter = rt->options.adapter_dir;
    if (rt->step > 0 || !adapter)
        return state_text(rt, rt->step, rt->program->training.steps);
    json_t *state = read_state(adapter);
    if (!state)
        return state_text(rt, 0, 0);
    char *fields = json_dumps(state, JSON_INDENT(2));
    size_t size = strlen(fields) + sizeof "\n";
    char *text = rt_alloc(size);
    snprintf(text, size, "%s\n", fields);
    free(fields);
    json_decref(state);
    return text;
}

/* Returns whether a model or an adapter is in the folder that no program of ours wrote: it has no
 * record of its training. */
static bool holds_foreign(const char *dir) {
    static const char *const names[] = {"config.json", "model.safetensors",
                                        "model.safetensors.index.json", "adapter_config.json",
                                        "adapter_model.safetensors"};
    char path[RT_MAX_PATH];
    json_t *state = read_state(dir);
    bool ours = state != NULL;
    json_decref(state);
    for (size_t i = 0; !ours && i < sizeof names / sizeof *names; i++) {
        join_path(path, dir, names[i]);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

const char *export_problem(const char *dir) {
    const char *problem = rt_folder_problem(dir);
    if (!problem && holds_foreign(dir))
        return "it holds a model that was not written by gpuopt-gen";
    return problem;
}

void export_tensors(Rt *rt, const char *dir, const char *config_name, const char *config,
                    const char *tensors_name, const OutTensor *tensors, int count) {
    char path[RT_MAX_PATH], error[RT_MAX_PATH + 256];
    join_path(path, dir, tensors_name);
    if (!rt_make_folder(dir))
        rt_fail("%s: the folder cannot be created; choose another one", dir);
    /* A record without steps first: files of two runs never look like a whole model. */
    char *last = final_state(rt), *first = state_text(rt, 0, rt->program->training.steps);
    if (!outfile_write(dir, TRAINER_STATE, first, error, sizeof error) ||
        !tensors_write(rt, path, "pt", tensors, count, error, sizeof error) ||
        !outfile_write(dir, config_name, config, error, sizeof error) ||
        !outfile_write(dir, TRAINER_STATE, last, error, sizeof error))
        rt_fail("%s; free some space, or choose another folder", error);
    free(first);
    free(last);
    folder_sync(dir);
}

static void export_folder(Rt *rt, const char *folder, const char *config_name, const char *config,
                          const char *tensors_name, bool adapter) {
    char dir[RT_MAX_PATH];
    join_path(dir, rt->options.out_dir, folder);
    OutTensor *tensors =
        rt_alloc(sizeof *tensors * PACKED_TENSORS * (size_t)rt->program->param_count);
    int count = tensors_of(rt, adapter, tensors);
    if (!tensors_gather(rt, &tensors, &count))
        export_tensors(rt, dir, config_name, config, tensors_name, tensors, count);
    tensors_free(tensors, count);
}

bool export_has(const char *name, size_t length) {
    static const char *const folders[] = {EXPORT_ADAPTER, EXPORT_MODEL, EXPORT_BASE,
                                          EXPORT_QUANTIZED};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strlen(folders[i]) == length && strncmp(folders[i], name, length) == 0)
            return true;
    return false;
}

static void check_folder(const Rt *rt, const char *folder) {
    char path[RT_MAX_PATH];
    join_path(path, rt->options.out_dir, folder);
    const char *problem = export_problem(path);
    if (problem)
        rt_fail("%s: cannot write results there: %s; move it away, or choose another folder with "
                "--out",
                path, problem);
}

void export_check(const Rt *rt) {
    const RtCheckpoint *settings = &rt->program->checkpoint;
    if (settings->export_base)
        check_folder(rt, EXPORT_BASE);
    if (settings->export_model)
        check_folder(rt, settings->adapter_json ? EXPORT_ADAPTER : EXPORT_MODEL);
    if (rt->program->evaluate_converted.enqueue)
        check_folder(rt, EXPORT_QUANTIZED);
}

/* Results of this run replace those of an earlier one, but what that one exported stays. */
static void tell_of_earlier_export(const Rt *rt, const char *folder) {
    char dir[RT_MAX_PATH];
    join_path(dir, rt->options.out_dir, folder);
    if (rt->rank == 0 && access(dir, F_OK) == 0)
        printf("%s was exported by an earlier run; this one does not replace it "
               "(checkpoint.export = false)\n",
               dir);
}

void export_run(Rt *rt) {
    const RtCheckpoint *settings = &rt->program->checkpoint;
    if (settings->export_base)
        export_folder(rt, EXPORT_BASE, "config.json", settings->config_json, "model.safetensors",
                      false);
    if (!settings->export_model)
        tell_of_earlier_export(rt, settings->adapter_json ? EXPORT_ADAPTER : EXPORT_MODEL);
    else if (settings->adapter_json)
        export_folder(rt, EXPORT_ADAPTER, "adapter_config.json", settings->adapter_json,
                      "adapter_model.safetensors", true);
    else
        export_folder(rt, EXPORT_MODEL, "config.json", settings->config_json, "model.safetensors",
                      false);
}
