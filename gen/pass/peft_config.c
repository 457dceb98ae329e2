/* adapter_config.json of a LoRA adapter, with PEFT's keys, so that PEFT can load the exported
 * folder. */
#include "pass/peft_config.h"
#include "base/dotted.h"
#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

/* An object with the names of adapted modules, each once, as keys: "down_proj", "q_proj", ... */
static json_t *adapted_modules(const Program *p) {
    static const char suffix[] = ".lora_A.weight";
    json_t *names = json_object();
    for (int i = 0; i < p->param_count; i++) {
        const char *name = p->params[i].weight->name;
        size_t length = strlen(name), tail = sizeof suffix - 1;
        if (length <= tail || strcmp(name + length - tail, suffix) != 0)
            continue;
        char *module = strndup(name, length - tail);
        json_object_set_new(names, name_last_part(module), json_true());
        free(module);
    }
    return names;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static json_t *sorted_keys(Arena *arena, json_t *object) {
    const char **keys = arena_array(arena, json_object_size(object), sizeof *keys), *key;
    json_t *value, *list = json_array();
    size_t count = 0;
    json_object_foreach(object, key, value) {
        keys[count++] = key;
    }
    qsort(keys, count, sizeof *keys, by_text);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(keys[i]));
    return list;
}

static json_t *texts(const Strings *strings) {
    json_t *list = json_array();
    for (int i = 0; i < strings->count; i++)
        json_array_append_new(list, json_string(strings->items[i]));
    return list;
}

const char *peft_config(const Program *p, const Spec *spec) {
    json_t *modules = adapted_modules(p);
    json_t *config =
        json_pack("{s:s, s:s, s:I, s:f, s:f, s:s, s:b, s:b, s:o, s:n, s:b}", "peft_type", "LORA",
                  "task_type", "CAUSAL_LM", "r", (json_int_t)spec->adapter.r, "lora_alpha",
                  spec->adapter.lora_alpha, "lora_dropout", spec->adapter.lora_dropout, "bias",
                  "none", "use_rslora", (int)spec->adapter.use_rslora, "use_dora",
                  (int)spec->adapter.use_dora, "target_modules",
                  sorted_keys(p->arena, modules), "base_model_name_or_path", "inference_mode", 0);
    ENSURE(config, "adapter_config.json could not be made");
    if (spec->adapter.modules_to_save.count)
        json_object_set_new(config, "modules_to_save", texts(&spec->adapter.modules_to_save));
    if (spec->model.family == FAMILY_GPT2) /* its files have weights as [in, out] */
        json_object_set_new(config, "fan_in_fan_out", json_true());
    json_decref(modules);
    return json_text(p->arena, config);
}
