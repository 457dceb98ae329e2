/* What adapter.modules_to_save asks of a model. */
#include "spec/resolve.h"
#include <string.h>

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

void check_modules_to_save(const Spec *spec) {
    for (int i = 0; i < spec->adapter.modules_to_save.count; i++)
        check_module(spec, &spec->adapter.modules_to_save, i);
}
