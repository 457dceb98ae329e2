/* What training.task = "dpo" asks of the rest of a spec. */
#include "spec/resolve.h"

int64_t spec_micro_batch_tokens(const Spec *spec) {
    int64_t sequences = spec->training.task == TASK_DPO ? 2 : 1; /* of an entry of the batch */
    return sequences * spec->training.seq_len * spec->training.per_device_train_batch_size;
}

static void refuse_layout(const Spec *spec, Key key, bool asked, const char *words) {
    if (asked)
        user_error(spec_pos(spec, key), "use data_parallel_replicate_degree, a process a card",
                   "training.task = \"dpo\" does not go with %s yet", words);
}

void check_dpo(const Spec *spec) {
    const char *format = choice_name(KEY_data_format, (int)spec->data.format);
    if (spec->training.task != TASK_DPO)
        return;
    if (spec->adapter.type == ADAPTER_NONE)
        user_error(
            spec_pos(spec, KEY_training_task), "set adapter.type = \"lora\"",
            "training.task = \"dpo\" compares the model with itself without its adapter, and "
            "adapter.type is \"none\"");
    if (spec->data.format != DATA_JSONL && spec->data.format != DATA_SYNTHETIC)
        user_error(spec_pos(spec, KEY_data_format), "use data.format = \"jsonl\" or \"synthetic\"",
                   "training.task = \"dpo\" needs pairs, and data.format = \"%s\" has none",
                   format);
    refuse_layout(spec, KEY_parallelism_tensor_parallel_degree,
                  spec->parallelism.tensor_parallel_degree > 1, "tensor parallel cards");
    refuse_layout(spec, KEY_parallelism_pipeline_parallel_degree,
                  spec->parallelism.pipeline_parallel_degree > 1, "the stages of a pipeline");
    refuse_layout(spec, KEY_parallelism_data_parallel_shard_degree,
                  spec->parallelism.data_parallel_shard_degree > 1, "shards");
    refuse_layout(spec, KEY_parallelism_data_parallel_mode,
                  spec->parallelism.data_parallel_mode == PARALLEL_DP &&
                      spec->parallelism.data_parallel_replicate_degree > 1,
                  "data_parallel_mode = \"dp\"");
}
