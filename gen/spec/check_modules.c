/* Checks adapter.modules_to_save against the model. */
#include "spec/resolve.h"
#include <string.h>

/* Whether `name` is a module with weights that no adapter adapts. */
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
                       ? "choose from wpe, ln_1, ln_2, ln_f"
                       : "choose from lm_head, embed_tokens, input_layernorm, "
                         "post_attention_layernorm; linears of the layers belong in "
                         "adapter.target_modules",
                   "\"%s\" is not a module that can train alongside an adapter", name);
    if (outer && spec->model.tie_word_embeddings)
        user_error(modules->at[which],
                   "remove it, or start from a model with tie_word_embeddings = false",
                   "embedding and head share one weight, so %s cannot train by itself", name);
    for (int i = 0; i < which; i++)
        if (!strcmp(modules->items[i], name))
            user_error(modules->at[which], "list each module once", "\"%s\" is listed twice", name);
}

void check_modules_to_save(const Spec *spec) {
    for (int i = 0; i < spec->adapter.modules_to_save.count; i++)
        check_module(spec, &spec->adapter.modules_to_save, i);
}
