/* Unsupported combinations: a list of features and of which exclude each other, mostly for now
 * ("yet"). Sizes that do not divide are checked in spec_check.c and similar files, and what only
 * the graph shows is checked by the pass concerned. */
#include "spec/resolve.h"

/* Name, key, and an expression over `const Spec *s`: whether the key's value requests the feature.
 * A key without effect requests nothing. */
/* clang-format off */
#define FEATURES(F)                                                                                \
    F(IMAGE_MODEL, model_family, !LANGUAGE_MODEL)                                                  \
    F(GPT2_MODEL, model_family, s->model.family == FAMILY_GPT2)                                    \
    F(FROM_NOTHING, training_task, s->training.task == TASK_PRETRAIN)                              \
    F(PAIRS, training_task, s->training.task == TASK_DPO)                                          \
    F(REFERENCE_BESIDE, training_task,                                                             \
      s->training.task == TASK_DPO && !s->dpo.precompute_ref_log_probs)                            \
    F(REFERENCE_BEFORE, dpo_precompute_ref_log_probs, s->dpo.precompute_ref_log_probs)             \
    F(SHARED_PROMPT, dpo_shared_prompt, s->dpo.shared_prompt)                                      \
    F(TEXT, data_format, s->data.format == DATA_TEXT)                                              \
    F(SYNTHETIC, data_format, s->data.format == DATA_SYNTHETIC)                                    \
    F(ADAPTER, adapter_type, s->adapter.type != ADAPTER_NONE)                                      \
    F(NO_ADAPTER, adapter_type, s->adapter.type == ADAPTER_NONE)                                   \
    F(DORA_DROPOUT, adapter_lora_dropout, s->adapter.use_dora && s->adapter.lora_dropout > 0)      \
    F(WHOLE_MODULES, adapter_modules_to_save, s->adapter.modules_to_save.count > 0)                \
    F(FEW_BITS, quantization_quant_type, s->quantization.quant_type != QUANT_NONE)                 \
    F(KEEP_DECODED, quantization_keep_decoded, s->quantization.keep_decoded != KEEP_FALSE)         \
    F(CHOOSE_DECODED, quantization_keep_decoded, s->quantization.keep_decoded == KEEP_AUTO)        \
    F(EXPORT_BASE, checkpoint_export_base, s->checkpoint.export_base)                              \
    F(ROUNDED_WEIGHTS, qat_weight_dtype, s->qat.weight_dtype != QAT_WEIGHT_NONE)                   \
    F(ROUNDED_BASE, qat_weight_dtype,                                                              \
      s->qat.weight_dtype != QAT_WEIGHT_NONE && s->adapter.type != ADAPTER_NONE)                   \
    F(LATER_ROUNDING, qat_fake_quant_after_n_steps, s->qat.fake_quant_after_n_steps > 0)           \
    F(QAT_EXPORT, qat_export, s->qat.export != QAT_EXPORT_NONE)                                    \
    F(FULL_RECOMPUTE, activation_checkpoint_mode,                                                  \
      s->activation_checkpoint.mode == RECOMPUTE_FULL)                                             \
    F(ONE_PROCESS, parallelism_data_parallel_mode,                                                 \
      s->parallelism.data_parallel_mode == PARALLEL_DP)                                            \
    F(SHARDS, parallelism_data_parallel_shard_degree, spec_shards(s))                              \
    F(STAGES, parallelism_pipeline_parallel_degree,                                                \
      s->parallelism.pipeline_parallel_degree > 1)                                                 \
    F(TENSOR_CARDS, parallelism_tensor_parallel_degree, s->parallelism.tensor_parallel_degree > 1) \
    F(SHARED_ROWS, parallelism_sequence_parallel, s->parallelism.sequence_parallel)                \
    F(WHOLE_VOCABULARY, parallelism_vocab_parallel, !s->parallelism.vocab_parallel)
/* clang-format on */

#define FEATURE_ID(NAME, ...) NAME,
typedef enum { NOTHING, FEATURES(FEATURE_ID) FEATURE_COUNT } Feature;

#define FEATURE_FUNCTION(NAME, key, expression) \
    static bool asks_##NAME(const Spec *s) { return expression; }
FEATURES(FEATURE_FUNCTION)

#define FEATURE_ROW(NAME, key, expression) [NAME] = {KEY_##key, asks_##NAME},
static const struct {
    Key key;
    bool (*asked)(const Spec *);
} features[FEATURE_COUNT] = {FEATURES(FEATURE_ROW)};

#define NO_EXPORT_BASE "set checkpoint.export_base = false"
#define ONLY_REPLICAS "use data_parallel_replicate_degree with data_parallel_mode = \"ddp\""

/* clang-format off */
/* A feature, whose key the message points at, and the features that it excludes. */
static const struct {
    Feature feature, with[4];
    const char *fact, *remedy;
} exclusions[] = {
    /* tasks */
    {ADAPTER, {FROM_NOTHING},
     "an adapter needs a trained model, but training.task is \"pretrain\"",
     "set training.task = \"sft\", and model.weights to a folder or to the spec that trains it"},
    {REFERENCE_BESIDE, {NO_ADAPTER},
     "training.task = \"dpo\" takes the model without its adapter as reference, but adapter.type "
     "is \"none\"",
     "set adapter.type = \"lora\", or dpo.precompute_ref_log_probs = true to take the initial "
     "model as reference"},
    {TEXT, {PAIRS},
     "training.task = \"dpo\" needs pairs, but data.format = \"text\" has none",
     "use data.format = \"jsonl\", \"tokens\" or \"synthetic\""},
    {REFERENCE_BEFORE, {SYNTHETIC},
     "dpo.precompute_ref_log_probs needs a finite data set, but data.format = \"synthetic\" never "
     "ends",
     "use data.format = \"jsonl\" or \"tokens\", or remove dpo.precompute_ref_log_probs"},
    {SHARED_PROMPT, {SYNTHETIC},
     "dpo.shared_prompt needs pairs with a prompt, but data.format = \"synthetic\" has none",
     "use data.format = \"jsonl\" or \"tokens\", or remove dpo.shared_prompt"},
    {WHOLE_MODULES, {PAIRS},
     "adapter.modules_to_save trains modules that the reference of training.task = \"dpo\" needs "
     "unchanged",
     "remove adapter.modules_to_save"},
    {DORA_DROPOUT, {REFERENCE_BESIDE},
     "with adapter.use_dora, dropout also changes the input of the base, but the reference of "
     "training.task = \"dpo\" must run without dropout",
     "set adapter.lora_dropout = 0, or dpo.precompute_ref_log_probs = true"},

    /* a quantized base */
    {FEW_BITS, {NO_ADAPTER},
     "quantized weights are frozen, but without an adapter every weight trains",
     "set adapter.type = \"lora\", or quantization.quant_type = \"none\""},
    {FEW_BITS, {ROUNDED_WEIGHTS}, /* only its activations can be rounded */
     "quantized weights are already rounded; qat.weight_dtype would round them to a second grid",
     "remove qat.weight_dtype (qat.activation_dtype may stay), or remove quantization.quant_type"},
    {EXPORT_BASE, {WHOLE_MODULES},
     "checkpoint.export_base writes the original base, but adapter.modules_to_save trains parts of "
     "it",
     NO_EXPORT_BASE},
    {KEEP_DECODED, {STAGES}, /* a stage would keep a copy per micro-batch */
     "quantization.keep_decoded is not supported with pipelines yet",
     "set quantization.keep_decoded = false"},
    {CHOOSE_DECODED, {FULL_RECOMPUTE},
     "with activation_checkpoint.mode = \"full\", the plan cannot choose what to keep",
     "set quantization.keep_decoded to true or false, or activation_checkpoint.mode = \"auto\""},

    /* rounding in training */
    {LATER_ROUNDING, {ROUNDED_BASE},
     "with an adapter, the base is rounded when it is loaded, so rounding cannot begin later",
     "remove the key, or train every weight (adapter.type = \"none\")"},
    {LATER_ROUNDING, {REFERENCE_BEFORE},
     "the reference that is computed before training is rounded, so rounding cannot begin later",
     "remove the key, or dpo.precompute_ref_log_probs"},
    {LATER_ROUNDING, {STAGES, ONE_PROCESS},
     "qat.fake_quant_after_n_steps is not supported with pipelines or data_parallel_mode = \"dp\" "
     "yet",
     ONLY_REPLICAS},
    {QAT_EXPORT, {GPT2_MODEL},
     "qat.export is not supported for gpt2 yet: its files hold weights as [in, out], but groups "
     "lie along in",
     "set qat.export = \"none\""},

    /* cards */
    {ONE_PROCESS, {SHARDS, TENSOR_CARDS, STAGES},
     "data_parallel_mode = \"dp\" runs one process, but shards, tensor parallelism and pipelines "
     "need one process per card",
     "set data_parallel_mode = \"ddp\""},
    {SHARED_ROWS, {WHOLE_VOCABULARY},
     "sequence_parallel needs vocab_parallel",
     "set parallelism.vocab_parallel = true, or sequence_parallel = false"},
};
/* clang-format on */
enum {
    EXCLUSION_COUNT = sizeof exclusions / sizeof *exclusions,
    MOST_WITH = sizeof exclusions->with / sizeof *exclusions->with
};

static bool asks(const Spec *spec, Feature feature) {
    return feature && spec_effective(spec, features[feature].key) && features[feature].asked(spec);
}

static bool excluded(const Spec *spec, int row) {
    bool any = false;
    for (int i = 0; i < MOST_WITH; i++)
        any |= asks(spec, exclusions[row].with[i]);
    return any && asks(spec, exclusions[row].feature);
}

void check_exclusions(const Spec *spec) {
    for (int row = 0; row < EXCLUSION_COUNT; row++)
        if (excluded(spec, row))
            error_at(spec_pos(spec, features[exclusions[row].feature].key), exclusions[row].remedy,
                     "%s", exclusions[row].fact);
    exit_if_errors();
}

/* "adapter.use_dora and qat.weight_dtype, qat.activation_dtype" */
static void print_keys(int row, StrBuf *out) {
    sb_printf(out, "  %s and ", key_name(features[exclusions[row].feature].key));
    for (int i = 0; i < MOST_WITH && exclusions[row].with[i]; i++)
        sb_printf(out, "%s%s", i ? ", " : "", key_name(features[exclusions[row].with[i]].key));
}

void print_exclusions(StrBuf *out) {
    sb_puts(out, "\nUnsupported combinations:\n\n");
    for (int row = 0; row < EXCLUSION_COUNT; row++) {
        print_keys(row, out);
        sb_printf(out, "\n      %s\n", exclusions[row].fact);
    }
}
