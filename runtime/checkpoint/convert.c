/* Exports the final form of a model that is not the form it was trained in: tensor by tensor, while
 * the entry (convert or merge) makes them. The model's other tensors are written with them. */
#include "runtime/checkpoint/export.h"
#include "runtime/checkpoint/gather.h"
#include "runtime/comm/mesh.h"
#include "runtime/device/device.h"
#include "runtime/device/launch.h"
#include "runtime/files/outfile.h"
#include "runtime/params/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct RtExported {
    OutTensor *tensors; /* with their values in `host` */
    int count, capacity;
    bool *replaced; /* [param_count] the parameter was exported in another form */
};

/* Returns a name such as "model.layers.0.mlp.up_proj.scales" for ….weight and "scales". */
static char *part_of(const RtParam *param, const char *part) {
    const char *last = strrchr(param->name, '.');
    size_t length = last ? (size_t)(last - param->name) + 1 : 0, size = length + strlen(part) + 1;
    char *name = rt_alloc(size);
    memcpy(name, param->name, length);
    memcpy(name + length, part, strlen(part) + 1);
    return name;
}

static void append(struct RtExported *exported, OutTensor tensor) {
    if (exported->count == exported->capacity) {
        exported->capacity = 2 * exported->capacity + 64;
        exported->tensors =
            realloc(exported->tensors, (size_t)exported->capacity * sizeof *exported->tensors);
        if (!exported->tensors)
            rt_fail("out of host memory for a list of %d tensors", exported->capacity);
    }
    exported->tensors[exported->count++] = tensor;
}

/* Converts to file order a tensor that replaces a parameter with another order in memory. */
static void order_as_file(const RtParam *param, OutTensor *tensor) {
    size_t size = rt_dtype_bytes(tensor->dtype), bytes = out_tensor_bytes(tensor);
    if (bytes != (size_t)param_elements(param) * size)
        rt_internal("%s is exported with a size that differs from its file's", param->name);
    void *file = rt_alloc(bytes);
    param_to_file_order(param, 1, size, tensor->host, file);
    free(tensor->host);
    tensor->host = file;
    tensor->rank = param->rank;
    memcpy(tensor->shape, param->shape, sizeof tensor->shape);
}

static void take(Rt *rt, RtPtr from, OutTensor *tensor) {
    size_t bytes = out_tensor_bytes(tensor);
    tensor->host = rt_alloc(bytes);
    rt_read(rt, from, bytes, tensor->host);
}

/* Assembles the whole of a sharded tensor on the stage's writer. */
static void gather(Rt *rt, const RtParam *param, OutTensor *tensor) {
    void *part = tensor->host;
    tensor->shape[param->shard_axis] *= shard_ranks(rt, param);
    tensor->host = rt_alloc(out_tensor_bytes(tensor));
    shard_gather(rt, param, out_tensor_bytes(tensor), part, tensor->host);
    free(part);
}

/* All ranks read the tensor, even those that do not need it, because the devices of other ranks may
 * wait for theirs to get this far. */
static void export_part(Rt *rt, const RtParam *of, const char *part, RtPtr from, OutTensor tensor,
                        bool whole) {
    take(rt, from, &tensor);
    if (of->shard && !whole)
        gather(rt, of, &tensor);
    if (of->split[0])
        order_as_file(of, &tensor);
    if (mesh_writer(rt->program, rt->rank) == rt->rank) {
        tensor.name = part_of(of, part);
        append(rt->exported, tensor);
    } else {
        free(tensor.host);
    }
    rt->exported->replaced[of - rt->program->params] = true;
    rt_launched(rt);
}

static OutTensor matrix(RtDtype dtype, int64_t rows, int64_t cols) {
    return (OutTensor){.offset = RT_NOWHERE, .dtype = dtype, .rank = 2, .shape = {rows, cols}};
}

void rt_export(Rt *rt, RtPtr param, const char *part, RtPtr from, RtDtype dtype, int64_t rows,
               int64_t cols) {
    rt->work.fetches++;
    if (!rt->dry)
        export_part(rt, param_at(rt, param), part, from, matrix(dtype, rows, cols), false);
}

void rt_export_whole(Rt *rt, RtPtr param, const char *part, RtPtr from, RtDtype dtype, int64_t rows,
                     int64_t cols) {
    rt->work.fetches++;
    if (!rt->dry)
        export_part(rt, param_at(rt, param), part, from, matrix(dtype, rows, cols), true);
}

static void append_others(const Rt *rt, struct RtExported *exported) {
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *param = &rt->program->params[i];
        if ((param->adapter && !param->base_name) || exported->replaced[i])
            continue;
        const char *name = param->base_name ? param->base_name : param->name;
        OutTensor tensor = {.name = strdup(name),
                            .param = param,
                            .offset = RT_NOWHERE,
                            .dtype = param_saved_dtype(param),
                            .rank = param->rank};
        memcpy(tensor.shape, param->shape, sizeof tensor.shape);
        append(exported, tensor);
    }
}

static void exported_free(struct RtExported *exported) {
    for (int i = 0; i < exported->count; i++) {
        free(exported->tensors[i].name);
        free(exported->tensors[i].host);
    }
    free(exported->tensors);
    free(exported->replaced);
}

void export_entry(Rt *rt, const RtEntry *entry, const char *dir, const char *config) {
    struct RtExported exported = {0};
    exported.replaced = rt_alloc((size_t)rt->program->param_count * sizeof *exported.replaced);
    rt->exported = &exported;
    params_open(rt);
    rt_enqueue(rt, entry, 0);
    params_done(rt);
    rt->exported = NULL;
    append_others(rt, &exported);
    if (!tensors_gather(rt, &exported.tensors, &exported.count))
        export_tensors(rt, dir, "config.json", config, "model.safetensors", exported.tensors,
                       exported.count);
    exported_free(&exported);
}

/* A pipeline stage with nothing to convert still takes part in the rest. */
bool convert_run(Rt *rt) {
    char dir[RT_MAX_PATH];
    if (!rt->program->evaluate_converted.enqueue)
        return false;
    join_path(dir, rt->options.out_dir, EXPORT_QUANTIZED);
    export_entry(rt, &rt->program->convert, dir, rt->program->checkpoint.config_json);
    return true;
}
