/* Reads parameters from Hugging Face and PEFT folders, or from a model under torch's own names.
 * Tensors that the program does not have (num_batches_tracked of a batch norm) are ignored. */
#include "runtime/comm/comm.h"
#include "runtime/files/infile.h"
#include "runtime/params/packed.h"
#include "runtime/params/params.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Members that change the model without changing shapes: if they differed, the run would silently
 * train the wrong model. */
static const char *const model_members[] = {
    "model_type",          "num_hidden_layers",
    "num_attention_heads", "num_key_value_heads",
    "head_dim",            "rms_norm_eps",
    "rope_theta",          "rope_scaling",
    "hidden_act",          "attention_bias",
    "mlp_bias",            "use_sliding_window",
    "tie_word_embeddings", "n_layer",
    "n_head",              "layer_norm_epsilon",
    "activation_function", NULL,
};
static const char *const adapter_members[] = {
    "peft_type",     "r",          "lora_alpha", "rank_pattern",
    "alpha_pattern", "use_rslora", "use_dora",   "modules_to_save", NULL,
};

static bool same_json(const json_t *a, const json_t *b);

static bool has_item(const json_t *list, const json_t *item) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (same_json(json_array_get(list, i), item))
            return true;
    return false;
}

/* Compares lists regardless of order. */
static bool same_items(const json_t *a, const json_t *b) {
    bool same = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; i < json_array_size(a) && same; i++)
        same = has_item(b, json_array_get(a, i));
    return same;
}

/* Treats 10000 and 10000.0 as equal; compares only those members of objects that both have. */
static bool same_json(const json_t *a, const json_t *b) {
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    if (json_is_array(a) && json_is_array(b))
        return same_items(a, b);
    if (!json_is_object(a) || !json_is_object(b))
        return json_equal(a, b);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key, value) {
        const json_t *other = json_object_get(b, key);
        if (other && !same_json(value, other))
            return false;
    }
    return true;
}

static void refuse_difference(const char *path, const char *member, const json_t *theirs,
                              const json_t *ours) {
    char *a = json_dumps(theirs, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    char *b = json_dumps(ours, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    rt_fail("%s: %s is %s, but this program was generated for %s; generate it again for that "
            "configuration, or use other weights",
            path, member, a ? a : "null", b ? b : "null");
}

/* Since transformers 5 rope_parameters replaces rope_theta and rope_scaling. Scaling of type
 * "default" is the same as none. */
static void split_rope(json_t *config) {
    json_t *rope = json_object_get(config, "rope_parameters");
    if (json_is_object(rope)) {
        json_object_set(config, "rope_theta", json_object_get(rope, "rope_theta"));
        json_object_set(config, "rope_scaling", rope);
    }
    const char *type =
        json_string_value(json_object_get(json_object_get(config, "rope_scaling"), "rope_type"));
    if (type && strcmp(type, "default") == 0)
        json_object_set_new(config, "rope_scaling", json_null());
}

static json_t *load_configuration(const char *path) {
    json_error_t problem;
    json_t *config = infile_json(path, 0, &problem);
    if (!config && problem.line > 0)
        rt_fail("%s:%d: not valid JSON (%s)", path, problem.line, problem.text);
    if (!config)
        rt_fail("%s: cannot be read: %s; it is needed to interpret the weights in its folder", path,
                problem.text);
    if (!json_is_object(config))
        rt_fail("%s: not a JSON object; use a folder with a valid %s", path,
                strrchr(path, '/') + 1);
    split_rope(config);
    return config;
}

/* A null or missing member matches any value, except a non-empty object (without rope_scaling there
 * is none) or list (without modules_to_save there are none). */
static bool differs(const json_t *a, const json_t *b) {
    bool a_says = a && !json_is_null(a), b_says = b && !json_is_null(b);
    if (a_says && b_says)
        return !same_json(a, b);
    const json_t *said = a_says ? a : b;
    return json_object_size(said) > 0 || json_array_size(said) > 0;
}

static bool has_any(const json_t *config, const char *const *members) {
    for (; *members; members++)
        if (json_object_get(config, *members))
            return true;
    return false;
}

/* The file may be missing if the program's configuration has none of these members, as for
 * torchvision's models, whose names and shapes say everything. */
static void compare_configuration(const char *dir, const char *file, const char *own_text,
                                  const char *const *members) {
    char path[RT_MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    json_t *ours = own_text ? json_loads(own_text, 0, NULL) : NULL;
    if (ours && !has_any(ours, members) && access(path, F_OK) != 0) {
        json_decref(ours);
        return;
    }
    json_t *theirs = load_configuration(path);
    for (; ours && *members; members++) {
        const json_t *a = json_object_get(theirs, *members), *b = json_object_get(ours, *members);
        if (differs(a, b))
            refuse_difference(path, *members, a, b);
    }
    json_decref(theirs);
    json_decref(ours);
}

StFile *weights_open_model(const char *dir, const char *spec, const char *config_json) {
    char error[1024];
    StFile *file = st_open_folder(dir, error, sizeof error);
    if (!file && spec)
        rt_fail("%s; train them first (make run SPEC=%s), or name another folder with --init DIR",
                error, spec);
    if (!file)
        rt_fail("%s; train or download the weights first, or name another folder with --init DIR",
                error);
    compare_configuration(dir, "config.json", config_json, model_members);
    return file;
}

/* Some ways to begin an adapter, such as PiSSA, take a part out of the base's weights; the adapter
 * that was trained then fits only those. */
static void refuse_changed_base(const char *dir) {
    static const char *const others[] = {"pissa", "olora", "corda", "loftq", "lora_ga", NULL};
    char path[RT_MAX_PATH];
    snprintf(path, sizeof path, "%s/adapter_config.json", dir);
    json_t *config = load_configuration(path);
    const char *how = json_string_value(json_object_get(config, "init_lora_weights"));
    for (int i = 0; how && others[i]; i++)
        if (strncmp(how, others[i], strlen(others[i])) == 0)
            rt_fail("%s: init_lora_weights is \"%s\", which also changes the base; convert the "
                    "adapter with PEFT (path_initial_model_for_weight_conversion), or use another",
                    path, how);
    json_decref(config);
}

StFile *weights_open_adapter(const char *dir, const char *adapter_json) {
    char path[RT_MAX_PATH], error[1024];
    snprintf(path, sizeof path, "%s/adapter_model.safetensors", dir);
    StFile *file = st_open(path, error, sizeof error);
    if (!file)
        rt_fail("%s; --adapter needs a folder saved by PEFT", error);
    compare_configuration(dir, "adapter_config.json", adapter_json, adapter_members);
    refuse_changed_base(dir);
    return file;
}

/* Counts the parameters that read each tensor of a file, over all ranks, because a stage of a
 * pipeline has only its own. The caller frees the result. */
static int64_t *count_readers(Rt *rt, const StFile *file) {
    size_t count = st_count(file);
    int64_t *readers = rt_alloc((count + 1) * sizeof *readers);
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *param = &rt->program->params[i];
        const char *names[] = {param->name, param->base_name};
        for (int j = 0; j < 2; j++) {
            const StTensor *tensor = names[j] ? st_find(file, weights_name(file, names[j])) : NULL;
            if (tensor)
                readers[tensor - st_at(file, 0)]++;
        }
    }
    comm_sum_i64(rt, readers, (int)count, "the comparison with the tensors of a file");
    return readers;
}

void weights_require_all_read(Rt *rt, const StFile *file, const char *dir) {
    static const char prefix[] = "base_model."; /* of all names that PEFT writes */
    int64_t *readers = count_readers(rt, file);
    for (size_t i = 0; i < st_count(file); i++) {
        const char *name = st_at(file, i)->name;
        if (strncmp(name, prefix, sizeof prefix - 1) == 0 && !readers[i])
            rt_fail("%s: tensor %s has no place in the adapter that this program was generated for; "
                    "set adapter.target_modules and modules_to_save as in %s/adapter_config.json "
                    "and generate it again, or use another adapter",
                    dir, name, dir);
    }
    free(readers);
}

/* Returns the weight of the module that a bias belongs to, or NULL. */
static const StTensor *weight_beside(const StFile *file, const char *bias) {
    static const char suffix[] = ".bias";
    char name[RT_MAX_PATH];
    size_t length = strlen(bias), module = length - (sizeof suffix - 1);
    if (length < sizeof suffix || strcmp(bias + module, suffix) != 0)
        return NULL;
    snprintf(name, sizeof name, "%.*s.weight", (int)module, bias);
    return st_find(file, name);
}

void weights_refuse_biases(Rt *rt, const StFile *file, const char *dir) {
    int64_t *readers = count_readers(rt, file);
    for (size_t i = 0; i < st_count(file); i++) {
        const char *bias = st_at(file, i)->name;
        const StTensor *weight = weight_beside(file, bias);
        if (weight && readers[weight - st_at(file, 0)] && !readers[i])
            rt_fail("%s: has %s, but this program computes %s without a bias; generate it for a "
                    "family with that bias, or use other weights",
                    dir, bias, weight->name);
    }
    free(readers);
}

static void print_shape(char *text, size_t size, int rank, const int64_t *shape) {
    size_t used = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "",
                                 (long long)shape[i]);
    if (used < size)
        snprintf(text + used, size - used, "]");
}

static void refuse_shape(const char *dir, const RtParam *param, const StTensor *tensor) {
    char theirs[128], ours[128];
    print_shape(theirs, sizeof theirs, tensor->rank, tensor->shape);
    print_shape(ours, sizeof ours, param->rank, param->shape);
    rt_fail("%s: tensor %s has shape %s, but this program was generated for %s; generate it for "
            "that model, or use other weights",
            dir, param->name, theirs, ours);
}

bool weights_are_as_saved(const StTensor *tensor, const RtParam *param) {
    return strcmp(st_dtype_name(tensor->dtype), rt_dtype_name(param_saved_dtype(param))) == 0;
}

const char *weights_name(const StFile *file, const char *name) {
    const char *dot = strchr(name, '.');
    return dot && !st_find(file, name) && st_find(file, dot + 1) ? dot + 1 : name;
}

const StTensor *weights_find(const StFile *file, const char *dir, const RtParam *param) {
    const StTensor *tensor = st_find(file, weights_name(file, param->name));
    if (!tensor)
        rt_fail("%s: no tensor %s, which this program needs; use weights of this model", dir,
                param->name);
    if (packed_is_in(file, param))
        rt_fail("%s: tensor %s is quantized to 4 bits, but this program was generated for %s; set "
                "model.weights to that folder and generate it again, or use other weights",
                dir, param->name, rt_dtype_name(param->dtype));
    if (tensor->rank != param->rank ||
        memcmp(tensor->shape, param->shape, (size_t)param->rank * sizeof *param->shape) != 0)
        refuse_shape(dir, param, tensor);
    if (!st_dtype_is_float(tensor->dtype)) /* codes, which mean nothing without their scales */
        rt_fail("%s: tensor %s has the integer type %s, but this program needs floating-point "
                "weights; save it as F32, F16 or BF16, or use other weights",
                dir, param->name, st_dtype_name(tensor->dtype));
    return tensor;
}

void weights_convert(const StTensor *tensor, const void *elements, int64_t count,
                     const RtParam *param, void *host) {
    RtDtype dtype = param_saved_dtype(param);
    StTensor some = *tensor;
    some.data = elements;
    if (weights_are_as_saved(tensor, param)) {
        memcpy(host, elements, (size_t)count * rt_dtype_bytes(dtype));
        return;
    }
    for (int64_t i = 0; i < count; i++)
        rt_set(dtype, host, i, st_value(&some, i));
}

void weights_read_first_row(const StFile *file, const char *dir, const RtParam *param, void *host) {
    const StTensor *tensor = weights_find(file, dir, param);
    weights_convert(tensor, tensor->data, param->shape[param->rank - 1], param, host);
}
