/* What training.task = "dpo" asks of the rest of a spec. */
#include "spec/resolve.h"

int64_t spec_micro_batch_tokens(const Spec *spec) {
    bool two = spec->training.task == TASK_DPO && !spec->dpo.shared_prompt;
    int64_t rows = two ? 2 : 1; /* of an entry of the batch */
    return rows * spec->training.seq_len * spec->training.per_device_train_batch_size;
}

static void check_shared_prompt(const Spec *spec) {
    Pos pos = spec_pos(spec, KEY_dpo_shared_prompt);
    if (!spec->dpo.shared_prompt)
        return;
    if (spec->data.packing)
        user_error(pos, "leave out data.packing, or dpo.shared_prompt",
                   "dpo.shared_prompt does not go with data.packing yet");
    if (spec->data.format == DATA_SYNTHETIC)
        user_error(pos, "use data.format = \"jsonl\" or \"tokens\", or leave out dpo.shared_prompt",
                   "dpo.shared_prompt needs pairs that have a prompt, and data.format = "
                   "\"synthetic\" has none");
}

void check_dpo(const Spec *spec) {
    const char *format = choice_name(KEY_data_format, (int)spec->data.format);
    if (spec->training.task != TASK_DPO)
        return;
    check_shared_prompt(spec);
    if (spec->adapter.type == ADAPTER_NONE && !spec->dpo.precompute_ref_log_probs)
        user_error(
            spec_pos(spec, KEY_training_task),
            "set adapter.type = \"lora\", or dpo.precompute_ref_log_probs = true to compare "
            "it with what it was before training",
            "training.task = \"dpo\" compares the model with itself without its adapter, and "
            "adapter.type is \"none\"");
    if (spec->dpo.precompute_ref_log_probs && spec->data.format == DATA_SYNTHETIC)
        user_error(
            spec_pos(spec, KEY_dpo_precompute_ref_log_probs),
            "use data.format = \"jsonl\" or \"tokens\", or leave dpo.precompute_ref_log_probs out",
            "dpo.precompute_ref_log_probs needs pairs that can be counted, and data.format = "
            "\"synthetic\" has no end of them");
    if (spec->data.format == DATA_TEXT)
        user_error(spec_pos(spec, KEY_data_format),
                   "use data.format = \"jsonl\", \"tokens\" or \"synthetic\"",
                   "training.task = \"dpo\" needs pairs, and data.format = \"%s\" has none",
                   format);
}
