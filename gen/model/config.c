/* config.json: for language models with Hugging Face's keys, so that exports load there; for image
 * models with the spec's keys. */
#include "model/model.h"
#include "base/json_text.h"

#include <jansson.h>

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

static json_t *llama_parts(void) {
    return json_pack("{s:[s], s:s, s:b, s:b}", "architectures", "LlamaForCausalLM", "model_type",
                     "llama", "attention_bias", 0, "mlp_bias", 0);
}

static json_t *qwen2_parts(void) {
    return json_pack("{s:[s], s:s, s:b}", "architectures", "Qwen2ForCausalLM", "model_type", "qwen2",
                     "use_sliding_window", 0);
}

static json_t *rotary_parts(const Spec *spec, DType weights) {
    return json_pack("{s:s, s:f, s:f, s:o, s:b, s:f, s:s}", "hidden_act", "silu", "rms_norm_eps",
                     spec->model.rms_norm_eps, "rope_theta", spec->model.rope_theta,
                     "rope_scaling", rope_scaling(spec), "tie_word_embeddings",
                     (int)spec->model.tie_word_embeddings, "initializer_range",
                     spec->model.initializer_range, "torch_dtype", torch_dtype(weights));
}

/* How 4-bit weights are stored, in transformers' words for bitsandbytes. Files have no 8-bit
 * ones. */
static json_t *quantized_parts(const Spec *spec, DType weights) {
    if (!spec_effective(spec, KEY_quantization_double_quant))
        return json_object();
    const char *type =
        choice_name(KEY_quantization_quant_type, (int)spec->quantization.quant_type);
    return json_pack("{s:{s:s, s:b, s:b, s:s, s:b, s:s, s:s}}", "quantization_config",
                     "quant_method", "bitsandbytes", "load_in_4bit", 1, "load_in_8bit", 0,
                     "bnb_4bit_quant_type", type, "bnb_4bit_use_double_quant",
                     (int)spec->quantization.double_quant, "bnb_4bit_compute_dtype",
                     torch_dtype(weights), "bnb_4bit_quant_storage", "uint8");
}

/* The text of all parts merged into one object. Consumes the parts. */
static const char *joined(Arena *arena, json_t *const *parts, int count) {
    json_t *config = json_object();
    for (int i = 0; i < count; i++)
        ENSURE(parts[i] && json_object_update(config, parts[i]) == 0,
               "config.json could not be made");
    for (int i = 0; i < count; i++)
        json_decref(parts[i]);
    return json_text(arena, config);
}

static const char *llama_config(Arena *arena, const Spec *spec, DType weights) {
    json_t *family = spec->model.family == FAMILY_QWEN2 ? qwen2_parts() : llama_parts();
    json_t *parts[] = {shape(spec), rotary_parts(spec, weights), family,
                       quantized_parts(spec, weights)};
    return joined(arena, parts, sizeof parts / sizeof *parts);
}

static const char *gpt2_config(Arena *arena, const Spec *spec, DType weights) {
    json_t *shape = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I}", "vocab_size", (json_int_t)spec->model.vocab_size,
        "n_embd", (json_int_t)spec->model.hidden_size, "n_inner",
        (json_int_t)spec->model.intermediate_size, "n_layer",
        (json_int_t)spec->model.num_hidden_layers, "n_head",
        (json_int_t)spec->model.num_attention_heads, "n_positions",
        (json_int_t)spec->model.max_position_embeddings);
    json_t *rest = json_pack(
        "{s:[s], s:s, s:s, s:f, s:f, s:f, s:f, s:b, s:f, s:s, s:n, s:n}", "architectures",
        "GPT2LMHeadModel", "model_type", "gpt2", "activation_function", "gelu_new",
        "layer_norm_epsilon", spec->model.layer_norm_epsilon, "attn_pdrop", 0.0, "embd_pdrop", 0.0,
        "resid_pdrop", 0.0, "tie_word_embeddings", 1, "initializer_range",
        spec->model.initializer_range, "torch_dtype", torch_dtype(weights), "bos_token_id",
        "eos_token_id");
    return joined(arena, (json_t *[]){shape, rest, quantized_parts(spec, weights)}, 3);
}

static const char *own_config(Arena *arena, const Spec *spec) {
    StrBuf text = {0};
    spec_print_model(spec, &text);
    const char *copy = arena_strdup(arena, text.text);
    sb_free(&text);
    return copy;
}

const char *model_config(Arena *arena, const Spec *spec, DType weights) {
    if (!spec_effective(spec, KEY_model_vocab_size))
        return own_config(arena, spec);
    return spec->model.family == FAMILY_GPT2 ? gpt2_config(arena, spec, weights)
                                             : llama_config(arena, spec, weights);
}
