/* Initial weights define the model's shape: a folder by its config.json, which also says whether
 * the weights are quantized, a base spec by its [model]. A spec may repeat these keys but not
 * contradict them. */
#include "spec/resolve.h"
#include "base/fileio.h"
#include <string.h>

bool is_model_shape(Key key) {
    return !strcmp(key_info[key].table, "model") && key != KEY_model_weights &&
           key != KEY_model_config;
}

static _Noreturn void contradiction(Arena *arena, const Spec *spec, const Spec *from, Key key) {
    StrBuf values = {0};
    key_print(spec, key, &values);
    sb_append(&values, "", 1);
    size_t second = values.length;
    key_print(from, key, &values);
    const char *ours = arena_strdup(arena, values.text);
    const char *theirs = arena_strdup(arena, values.text + second);
    sb_free(&values);
    const char *where = arena_strdup(arena, pos_text(spec_pos(from, key)));
    user_error(spec_pos(spec, key), "remove the key, or make both say the same",
               "%s = %s contradicts %s, which says %s", key_info[key].name, ours, where, theirs);
}

/* A key without effect contradicts nothing, and is reported as such. A key comes after those that
 * decide whether it has one. */
static void adopt_key(Arena *arena, Spec *spec, const Spec *from, OriginKind as, Key key) {
    if (spec->origin[key].kind != ORIGIN_DEFAULT) {
        if (spec_effective(spec, key) && !key_same(spec, from, key))
            contradiction(arena, spec, from, key);
        return;
    }
    key_copy(spec, from, key);
    spec->origin[key] = (Origin){as, spec_pos(from, key), false};
}

/* Takes the model keys that `from` sets and, if defaults_too, those that it leaves at their
 * defaults. */
static void adopt(Arena *arena, Spec *spec, const Spec *from, OriginKind as, bool defaults_too) {
    for (int i = 0; i < KEY_COUNT; i++) {
        Key key = (Key)i;
        if (is_model_shape(key) && (defaults_too || from->origin[key].kind != ORIGIN_DEFAULT))
            adopt_key(arena, spec, from, as, key);
    }
}

static void adopt_config(Arena *arena, Spec *spec, const char *folder, Key named_by) {
    Spec *config = arena_alloc(arena, sizeof *config);
    config_json_read(arena, config, folder, spec_pos(spec, named_by));
    adopt(arena, spec, config, ORIGIN_CONFIG, false);
    if (named_by != KEY_model_weights ||
        config->origin[KEY_quantization_quant_type].kind == ORIGIN_DEFAULT)
        return;
    adopt_key(arena, spec, config, ORIGIN_CONFIG, KEY_quantization_quant_type);
    adopt_key(arena, spec, config, ORIGIN_CONFIG, KEY_quantization_double_quant);
    spec->weights_quantized = true;
}

static void adopt_base(Arena *arena, Spec *spec, const char *path, const ReadChain *chain) {
    const Spec *base = spec_read_base(arena, path, spec_pos(spec, KEY_model_weights), chain);
    if (!strcmp(base->name, spec->name))
        user_error(spec_pos(spec, KEY_model_weights), "give one of them another job.name",
                   "%s and this spec would both be built in build/%s", path, base->name);
    if (base->adapter.type != ADAPTER_NONE)
        user_error(spec_pos(spec, KEY_model_weights), "name a spec that trains a whole model",
                   "%s trains only an adapter, not a model to start from", path);
    adopt(arena, spec, base, ORIGIN_BASE, true);
    spec->base_spec = path;
    spec->init_dir = arena_printf(arena, "build/%s/out/model", base->name);
}

static bool names_spec(const char *weights) {
    size_t length = strlen(weights);
    return length > 5 && !strcmp(weights + length - 5, ".toml");
}

/* Weights of torchvision's image models have no config.json; then the spec has all keys. */
static bool needs_config(Arena *arena, const Spec *spec, const char *folder) {
    return spec_effective(spec, KEY_model_vocab_size) ||
           is_file(arena_printf(arena, "%s/config.json", folder));
}

void resolve_weights(Arena *arena, Spec *spec, const ReadChain *chain) {
    const char *weights = spec->model.weights;
    if (spec->model.config[0])
        adopt_config(arena, spec, spec->model.config, KEY_model_config);
    if (names_spec(weights)) {
        adopt_base(arena, spec, weights, chain);
    } else if (weights[0]) {
        if (!is_folder(weights))
            user_error(spec_pos(spec, KEY_model_weights),
                       "name a folder with config.json and safetensors, or a spec (FILE.toml)",
                       "there is no folder %s", weights);
        if (needs_config(arena, spec, weights))
            adopt_config(arena, spec, weights, KEY_model_weights);
        spec->init_dir = weights;
    }
}
