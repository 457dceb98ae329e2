/* config.json: of a Llama model with Hugging Face's keys, so that exports load there; of an image
 * model with the spec's. */
#include "model/model.h"

#include <jansson.h>
#include <stdlib.h>

static const char *torch_dtype(DType dtype) {
    return dtype == DT_F64 ? "float64" : dtype == DT_BF16 ? "bfloat16" : "float32";
}

static json_t *rope_scaling(const Spec *spec) {
    if (spec->model.rope_type == ROPE_DEFAULT)
        return json_null();
    return json_pack("{s:s, s:f, s:f, s:f, s:I}", "rope_type", "llama3", "factor",
                     spec->model.rope_factor, "low_freq_factor", spec->model.rope_low_freq_factor,
                     "high_freq_factor", spec->model.rope_high_freq_factor,
                     "original_max_position_embeddings",
                     (json_int_t)spec->model.rope_original_max_position_embeddings);
}

static json_t *shape(const Spec *spec) {
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "vocab_size",
        (json_int_t)spec->model.vocab_size, "hidden_size", (json_int_t)spec->model.hidden_size,
        "intermediate_size", (json_int_t)spec->model.intermediate_size, "num_hidden_layers",
        (json_int_t)spec->model.num_hidden_layers, "num_attention_heads",
        (json_int_t)spec->model.num_attention_heads, "num_key_value_heads",
        (json_int_t)spec->model.num_key_value_heads, "head_dim", (json_int_t)spec->model.head_dim,
        "max_position_embeddings", (json_int_t)spec->model.max_position_embeddings);
}

static const char *llama_config(Arena *arena, const Spec *spec, DType weights) {
    json_t *config = shape(spec);
    json_t *rest =
        json_pack("{s:[s], s:s, s:s, s:f, s:f, s:o, s:b, s:b, s:b, s:f, s:s}", "architectures",
                  "LlamaForCausalLM", "model_type", "llama", "hidden_act", "silu", "rms_norm_eps",
                  spec->model.rms_norm_eps, "rope_theta", spec->model.rope_theta, "rope_scaling",
                  rope_scaling(spec), "tie_word_embeddings", (int)spec->model.tie_word_embeddings,
                  "attention_bias", 0, "mlp_bias", 0, "initializer_range",
                  spec->model.initializer_range, "torch_dtype", torch_dtype(weights));
    ENSURE(config && rest && json_object_update(config, rest) == 0,
           "config.json could not be made");
    char *text = json_dumps(config, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    const char *copy = arena_strdup(arena, text);
    free(text);
    json_decref(rest);
    json_decref(config);
    return copy;
}

static const char *own_config(Arena *arena, const Spec *spec) {
    StrBuf text = {0};
    spec_print_model(spec, &text);
    const char *copy = arena_strdup(arena, text.text);
    sb_free(&text);
    return copy;
}

const char *model_config(Arena *arena, const Spec *spec, DType weights) {
    return spec->model.family == FAMILY_LLAMA ? llama_config(arena, spec, weights)
                                              : own_config(arena, spec);
}
