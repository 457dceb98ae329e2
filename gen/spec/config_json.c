/* Reads config.json: Hugging Face's, which names some model keys in its own way, or that of an
 * image model as spec_print_model writes it. */
#include "spec/resolve.h"
#include "base/fileio.h"
#include <jansson.h>
#include <string.h>

enum { MAX_CONFIG_BYTES = 1024 * 1024 };

typedef struct {
    Arena *arena;
    const char *path, *text;
    /* What was found, as values with positions. Copied from jansson's tree, which is freed before
     * any value is checked, because a check may not return. */
    Toml *items;
    Key *keys; /* of items */
    int count;
    Pos fault_pos;
    const char *fault; /* the first thing in the file that is not supported; NULL: nothing */
    const char *remedy;
} ConfigFile;

/* jansson keeps no positions, so this finds the first `"name"` in the text that a colon follows. */
static Pos find_member(const ConfigFile *file, const char *name) {
    const char *quoted = arena_printf(file->arena, "\"%s\"", name);
    const char *at = file->text;
    while ((at = strstr(at, quoted))) {
        const char *behind = at + strlen(quoted);
        if (behind[strspn(behind, " \t\r\n")] == ':')
            break;
        at = behind;
    }
    Pos pos = {file->path, at ? 1 : 0, 1};
    for (const char *c = file->text; at && c < at; c++) {
        pos.col = *c == '\n' ? 1 : pos.col + 1;
        pos.line += *c == '\n';
    }
    return pos;
}

static Toml value_of(Arena *arena, const json_t *json);

static Toml array_of(Arena *arena, const json_t *json) {
    int count = (int)json_array_size(json);
    Toml list = {.kind = TOML_ARRAY, .items = arena_array(arena, (size_t)count, sizeof(Toml))};
    for (; list.count < count; list.count++)
        list.items[list.count] = value_of(arena, json_array_get(json, (size_t)list.count));
    return list;
}

static Toml value_of(Arena *arena, const json_t *json) {
    switch (json_typeof(json)) {
    case JSON_INTEGER:
        return (Toml){.kind = TOML_INT,
                      .integer = json_integer_value(json),
                      .real = (double)json_integer_value(json)};
    case JSON_REAL:
        return (Toml){.kind = TOML_REAL, .real = json_real_value(json)};
    case JSON_TRUE:
    case JSON_FALSE:
        return (Toml){.kind = TOML_BOOL, .boolean = json_is_true(json)};
    case JSON_STRING:
        return (Toml){.kind = TOML_STRING, .string = arena_strdup(arena, json_string_value(json))};
    case JSON_ARRAY:
        return array_of(arena, json);
    default:
        return (Toml){.kind = TOML_TABLE};
    }
}

/* Returns NULL for null too: transformers writes it for what is not set. */
static const json_t *member_of(const json_t *object, const char *name) {
    const json_t *json = json_object_get(object, name);
    return json_is_null(json) ? NULL : json;
}

static void take(ConfigFile *file, const json_t *object, const char *name, Key key) {
    const json_t *json = member_of(object, name);
    if (!json)
        return;
    Toml *item = &file->items[file->count];
    *item = value_of(file->arena, json);
    item->pos = find_member(file, name);
    for (int i = 0; i < item->count; i++)
        item->items[i].pos = item->pos;
    file->keys[file->count++] = key;
}

static void take_text(ConfigFile *file, const char *name, Key key, Toml value) {
    value.pos = find_member(file, name);
    file->items[file->count] = value;
    file->keys[file->count++] = key;
}

static void refuse(ConfigFile *file, const char *member, const char *fault) {
    if (file->fault)
        return;
    file->fault = fault;
    file->fault_pos = find_member(file, member);
}

/* `rope_scaling` up to transformers 4; `rope_parameters`, which holds rope_theta too, since 5. */
static void take_rope(ConfigFile *file, const json_t *rope) {
    const char *type_name = member_of(rope, "rope_type") ? "rope_type" : "type";
    const json_t *json = member_of(rope, type_name);
    const char *type = json ? json_string_value(json) : "default";
    take(file, rope, "rope_theta", KEY_model_rope_theta);
    if (!type) {
        refuse(file, type_name, "the type of rotary scaling must be a string");
        return;
    }
    if (!strcmp(type, "default")) {
        take_text(file, type_name, KEY_model_rope_type,
                  (Toml){.kind = TOML_STRING, .string = "default"});
        return;
    }
    if (strcmp(type, "llama3"))
        refuse(file, type_name,
               arena_printf(file->arena, "rotary scaling is \"default\" or \"llama3\" here, not \"%s\"",
                            type));
    take(file, rope, type_name, KEY_model_rope_type);
    take(file, rope, "factor", KEY_model_rope_factor);
    take(file, rope, "low_freq_factor", KEY_model_rope_low_freq_factor);
    take(file, rope, "high_freq_factor", KEY_model_rope_high_freq_factor);
    take(file, rope, "original_max_position_embeddings",
         KEY_model_rope_original_max_position_embeddings);
}

static void refuse_if(ConfigFile *file, const json_t *root, const char *member, bool value) {
    const json_t *is = json_object_get(root, member);
    if (is && (value ? json_is_true(is) : json_is_false(is)))
        refuse(file, member,
               arena_printf(file->arena, "%s = %s is not supported", member,
                            value ? "true" : "false"));
}

static void check_activation(ConfigFile *file, const json_t *root, const char *member,
                             const char *only) {
    const json_t *act = json_object_get(root, member);
    if (act && (!json_is_string(act) || strcmp(json_string_value(act), only)))
        refuse(file, member,
               arena_printf(file->arena, "%s other than \"%s\" is not supported", member, only));
}

/* Takes a member or, if it is absent, the default of transformers, which differs from ours. */
static void take_or(ConfigFile *file, const json_t *root, const char *member, Key key, Toml else_) {
    if (member_of(root, member))
        take(file, root, member, key);
    else
        take_text(file, member, key, else_);
}

static void take_rotary(ConfigFile *file, const json_t *root) {
    static const Key plain[] = {
        KEY_model_hidden_size,         KEY_model_intermediate_size,
        KEY_model_num_hidden_layers,   KEY_model_num_attention_heads,
        KEY_model_num_key_value_heads, KEY_model_head_dim,
        KEY_model_max_position_embeddings, KEY_model_tie_word_embeddings,
    };
    check_activation(file, root, "hidden_act", "silu");
    refuse_if(file, root, "attention_bias", true);
    refuse_if(file, root, "mlp_bias", true);
    refuse_if(file, root, "use_sliding_window", true);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        take(file, root, key_info[plain[i]].leaf, plain[i]);
    take_or(file, root, "rms_norm_eps", KEY_model_rms_norm_eps,
            (Toml){.kind = TOML_REAL, .real = 1e-6});
    const json_t *newer = member_of(root, "rope_parameters");
    const json_t *older = member_of(root, "rope_scaling");
    const char *name = newer ? "rope_parameters" : "rope_scaling";
    const json_t *rope = newer ? newer : older;
    take(file, root, "rope_theta", KEY_model_rope_theta);
    if (rope && !json_is_object(rope))
        refuse(file, name, arena_printf(file->arena, "%s must be an object", name));
    if (newer && older && !json_equal(newer, older))
        refuse(file, "rope_scaling", "rope_scaling and rope_parameters differ");
    take_rope(file, rope);
}

/* Ignores the dropout rates in the file: only a spec sets dropout. */
static void take_gpt2(ConfigFile *file, const json_t *root) {
    int64_t width = json_integer_value(json_object_get(root, "n_embd"));
    check_activation(file, root, "activation_function", "gelu_new");
    refuse_if(file, root, "scale_attn_weights", false);
    refuse_if(file, root, "scale_attn_by_inverse_layer_idx", true);
    refuse_if(file, root, "add_cross_attention", true);
    refuse_if(file, root, "tie_word_embeddings", false);
    take(file, root, "n_embd", KEY_model_hidden_size);
    take(file, root, "n_layer", KEY_model_num_hidden_layers);
    take(file, root, "n_head", KEY_model_num_attention_heads);
    take(file, root, "layer_norm_epsilon", KEY_model_layer_norm_epsilon);
    take_or(file, root, "n_positions", KEY_model_max_position_embeddings,
            (Toml){.kind = TOML_INT, .integer = 1024, .real = 1024});
    take_or(file, root, "n_inner", KEY_model_intermediate_size,
            (Toml){.kind = TOML_INT, .integer = 4 * width, .real = 4 * (double)width});
}

/* The Hugging Face model of each family. */
static const struct {
    const char *architecture, *model_type, *family;
    void (*take)(ConfigFile *, const json_t *root); /* keys that not all have, or not by one name */
} families[] = {
    {"LlamaForCausalLM", "llama", "llama", take_rotary},
    {"Qwen2ForCausalLM", "qwen2", "qwen2", take_rotary},
    {"GPT2LMHeadModel", "gpt2", "gpt2", take_gpt2},
};

static void take_family(ConfigFile *file, const json_t *root) {
    const json_t *list = member_of(root, "architectures");
    const char *member = list ? "architectures" : "model_type";
    const char *name =
        json_string_value(list ? json_array_get(list, 0) : json_object_get(root, "model_type"));
    for (size_t i = 0; name && i < sizeof families / sizeof *families; i++)
        if (!strcmp(name, list ? families[i].architecture : families[i].model_type)) {
            take_text(file, member, KEY_model_family,
                      (Toml){.kind = TOML_STRING, .string = families[i].family});
            families[i].take(file, root);
            return;
        }
    refuse(file, member,
           arena_printf(file->arena, "architecture %s is not supported",
                        name ? name : "(none given)"));
}

/* Whether all linears but lm_head are quantized, as they are without a list. */
static bool skips_the_head_alone(const json_t *how) {
    const json_t *skipped = json_object_get(how, "llm_int8_skip_modules"), *name;
    size_t i;
    json_array_foreach(skipped, i, name)
        if (!json_is_string(name) || strcmp(json_string_value(name), "lm_head") != 0)
            return false;
    return true;
}

/* Reads the bitsandbytes settings that transformers writes, with its defaults for absent members.
 * The block size is stored with the weights instead. */
static void take_quantization(ConfigFile *file, const json_t *root) {
    const json_t *how = member_of(root, "quantization_config");
    const char *method = json_string_value(json_object_get(how, "quant_method"));
    if (!how)
        return;
    if (!method || strcmp(method, "bitsandbytes") ||
        !json_is_true(json_object_get(how, "load_in_4bit"))) {
        refuse(file, "quantization_config",
               "quantized weights can only be read in the 4-bit format of bitsandbytes "
               "(\"load_in_4bit\": true)");
        return;
    }
    if (!skips_the_head_alone(how)) {
        refuse(file, "quantization_config",
               "modules other than lm_head in llm_int8_skip_modules are not supported yet");
        return;
    }
    if (!json_object_get(how, "bnb_4bit_quant_type"))
        take_text(file, "quantization_config", KEY_quantization_quant_type,
                  (Toml){.kind = TOML_STRING, .string = "fp4"});
    if (!json_object_get(how, "bnb_4bit_use_double_quant"))
        take_text(file, "quantization_config", KEY_quantization_double_quant,
                  (Toml){.kind = TOML_BOOL});
    take(file, how, "bnb_4bit_quant_type", KEY_quantization_quant_type);
    take(file, how, "bnb_4bit_use_double_quant", KEY_quantization_double_quant);
}

static void take_all(ConfigFile *file, const json_t *root) {
    take_family(file, root);
    take(file, root, "vocab_size", KEY_model_vocab_size);
    take(file, root, "initializer_range", KEY_model_initializer_range);
    take_quantization(file, root);
}

/* Reads our own format, which names the family as a spec does. */
static void take_own(ConfigFile *file, const json_t *root) {
    for (int key = 0; key < KEY_COUNT; key++)
        if (is_model_shape((Key)key))
            take(file, root, key_info[key].leaf, (Key)key);
}

static const char *read_text(Arena *arena, const char *path, Pos blame, size_t *size) {
    char *text;
    const char *why = file_read(arena, path, MAX_CONFIG_BYTES, &text, size);
    if (why)
        user_error(blame, "name a folder with a config.json as transformers writes it",
                   "cannot read %s: %s", path, why);
    return text;
}

static void parse(ConfigFile *file, size_t size) {
    json_error_t error;
    json_t *root = json_loadb(file->text, size, JSON_REJECT_DUPLICATES, &error);
    if (json_object_get(root, "family")) {
        take_own(file, root);
    } else if (json_is_object(root)) {
        take_all(file, root);
    } else {
        file->fault =
            root ? "the file must hold one JSON object" : arena_strdup(file->arena, error.text);
        file->fault_pos = (Pos){file->path, root ? 1 : error.line, root ? 1 : error.column};
        file->remedy = "download or export the model again";
    }
    json_decref(root);
}

void config_json_read(Arena *arena, Spec *config, const char *folder, Pos blame) {
    size_t size;
    ConfigFile file = {
        .arena = arena,
        .path = arena_printf(arena, "%s/config.json", folder),
        .items = arena_array(arena, KEY_COUNT, sizeof(Toml)),
        .keys = arena_array(arena, KEY_COUNT, sizeof(Key)),
        .remedy = "supported: LlamaForCausalLM, Qwen2ForCausalLM and GPT2LMHeadModel as "
                  "transformers saves them",
    };
    file.text = read_text(arena, file.path, blame, &size);
    parse(&file, size);
    if (file.fault)
        user_error(file.fault_pos, file.remedy, "%s", file.fault);
    for (int i = 0; i < file.count; i++)
        key_assign(arena, config, file.keys[i], &file.items[i],
                   (Origin){ORIGIN_CONFIG, file.items[i].pos, false});
    exit_if_errors();
}
