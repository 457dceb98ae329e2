/* What adapter.use_dora and adapter.modules_to_save ask of the rest of a spec. */
#include "spec/resolve.h"
#include <string.h>

void check_dora(const Spec *spec) {
    bool weights = spec->qat.weight_dtype != QAT_WEIGHT_NONE;
    if (!spec->adapter.use_dora)
        return;
    if (weights || spec->qat.activation_dtype != QAT_ACTIVATION_NONE)
        user_error(spec_pos(spec, weights ? KEY_qat_weight_dtype : KEY_qat_activation_dtype),
                   "set adapter.use_dora = false, or remove [qat]",
                   "adapter.use_dora does not go with values that are rounded in training yet");
    if (spec->training.task == TASK_DPO && spec->adapter.lora_dropout > 0 &&
        !spec->dpo.precompute_ref_log_probs)
        user_error(spec_pos(spec, KEY_adapter_lora_dropout),
                   "set lora_dropout = 0, or dpo.precompute_ref_log_probs = true",
                   "with adapter.use_dora, dropout changes what the base reads, and the reference "
                   "of a pair is to have none");
}

/* Modules with weights of their own that no adapter adapts. */
static bool has_module(const Spec *spec, const char *name) {
    static const char *const rotary[] = {"lm_head", "embed_tokens", "input_layernorm",
                                         "post_attention_layernorm", NULL};
    static const char *const gpt2[] = {"wpe", "ln_1", "ln_2", "ln_f", NULL};
    const char *const *module = spec->model.family == FAMILY_GPT2 ? gpt2 : rotary;
    while (*module && strcmp(*module, name))
        module++;
    return *module != NULL;
}

static void check_module(const Spec *spec, const Strings *modules, int which) {
    const char *name = modules->items[which];
    bool outer = !strcmp(name, "lm_head") || !strcmp(name, "embed_tokens");
    if (!has_module(spec, name))
        user_error(modules->at[which],
                   spec->model.family == FAMILY_GPT2
                       ? "there are wpe, ln_1, ln_2, ln_f"
                       : "there are lm_head, embed_tokens, input_layernorm, "
                         "post_attention_layernorm; linears of the layers go to "
                         "adapter.target_modules",
                   "\"%s\" is no module that could train beside an adapter", name);
    if (outer && spec->model.tie_word_embeddings)
        user_error(modules->at[which],
                   "leave it out, or start from a model with tie_word_embeddings = false",
                   "embedding and head share a weight, of which %s would train alone", name);
    for (int i = 0; i < which; i++)
        if (!strcmp(modules->items[i], name))
            user_error(modules->at[which], "name each once", "\"%s\" stands there twice", name);
}

/* One of the list, for a message. */
static const char *first_module(const Spec *spec) { return spec->adapter.modules_to_save.items[0]; }

void check_modules_to_save(const Spec *spec) {
    if (!spec->adapter.modules_to_save.count)
        return;
    for (int i = 0; i < spec->adapter.modules_to_save.count; i++)
        check_module(spec, &spec->adapter.modules_to_save, i);
    if (spec->training.task == TASK_DPO)
        user_error(spec->adapter.modules_to_save.at[0], "leave it out",
                   "%s would train, and the reference of a pair is the model as it was",
                   first_module(spec));
    if (spec->checkpoint.export_base)
        user_error(spec_pos(spec, KEY_checkpoint_export_base), "set checkpoint.export_base = false",
                   "the base as it was is not all there any more: %s trains", first_module(spec));
}
