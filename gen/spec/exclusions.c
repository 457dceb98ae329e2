/* What does not go together: one list of features and of what excludes what, mostly for now ("yet").
 * Sizes that do not divide are checked where they belong (spec_check.c and its like), and what only a
 * graph can tell by the pass that finds it. */
#include "spec/resolve.h"

/* Name, key, and what of its values makes the feature, over `const Spec *s`. A key that has no effect
 * asks for nothing. */
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
    F(FLOAT8_WEIGHTS, qat_weight_dtype, s->qat.weight_dtype == QAT_WEIGHT_FLOAT8)                  \
    F(FLOAT8_INPUTS, qat_activation_dtype, s->qat.activation_dtype == QAT_ACTIVATION_FLOAT8)       \
    F(LATER_ROUNDING, qat_fake_quant_after_n_steps, s->qat.fake_quant_after_n_steps > 0)           \
    F(QAT_EXPORT, qat_export, s->qat.export != QAT_WEIGHT_NONE)                                    \
    F(FULL_RECOMPUTE, activation_checkpoint_mode,                                                  \
      s->activation_checkpoint.mode == RECOMPUTE_FULL)                                             \
    F(ONE_PROCESS, parallelism_data_parallel_mode,                                                 \
      s->parallelism.data_parallel_mode == PARALLEL_DP)                                            \
    F(SHARDS, parallelism_data_parallel_shard_degree,                                              \
      s->parallelism.data_parallel_shard_degree > 1)                                               \
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
/* The feature, whose key the message shows, and what it does not go with: any of these. */
static const struct {
    Feature feature, with[4];
    const char *fact, *remedy;
} exclusions[] = {
    /* tasks */
    {ADAPTER, {FROM_NOTHING},
     "an adapter needs a trained model, and training.task is \"pretrain\"",
     "set training.task = \"sft\""},
    {REFERENCE_BESIDE, {NO_ADAPTER},
     "training.task = \"dpo\" compares the model with itself without its adapter, and adapter.type is "
     "\"none\"",
     "set adapter.type = \"lora\", or dpo.precompute_ref_log_probs = true to compare it with what it "
     "was before training"},
    {TEXT, {PAIRS},
     "training.task = \"dpo\" needs pairs, and data.format = \"text\" has none",
     "use data.format = \"jsonl\", \"tokens\" or \"synthetic\""},
    {REFERENCE_BEFORE, {SYNTHETIC},
     "dpo.precompute_ref_log_probs needs pairs that can be counted, and data.format = \"synthetic\" "
     "has no end of them",
     "use data.format = \"jsonl\" or \"tokens\", or leave dpo.precompute_ref_log_probs out"},
    {SHARED_PROMPT, {SYNTHETIC},
     "dpo.shared_prompt needs pairs that have a prompt, and data.format = \"synthetic\" has none",
     "use data.format = \"jsonl\" or \"tokens\", or leave out dpo.shared_prompt"},
    {WHOLE_MODULES, {PAIRS},
     "what adapter.modules_to_save names would train, and the reference of a pair is the model as it "
     "was",
     "leave out adapter.modules_to_save"},
    {DORA_DROPOUT, {REFERENCE_BESIDE},
     "with adapter.use_dora, dropout changes what the base reads, and the reference of a pair is to "
     "have none",
     "set lora_dropout = 0, or dpo.precompute_ref_log_probs = true"},

    /* a base in few bits */
    {FEW_BITS, {NO_ADAPTER},
     "weights of few bits are frozen, and without an adapter every weight trains",
     "set adapter.type = \"lora\", or quantization.quant_type = \"none\""},
    {FEW_BITS, {ROUNDED_WEIGHTS}, /* only what they read is there to be rounded */
     "a base in few bits is rounded to them already, and would be rounded to two grids at once",
     "remove qat.weight_dtype, and leave activation_dtype, or remove quantization.quant_type"},
    {EXPORT_BASE, {WHOLE_MODULES},
     "the base as it was is not all there any more: what adapter.modules_to_save names trains",
     NO_EXPORT_BASE},
    {KEEP_DECODED, {STAGES}, /* which would keep a copy a micro-batch */
     "decoded weights are not kept in stages of a pipeline yet",
     "set quantization.keep_decoded = false"},
    {CHOOSE_DECODED, {FULL_RECOMPUTE},
     "with activation_checkpoint.mode = \"full\" the plan chooses nothing to keep",
     "say true or false, or set activation_checkpoint.mode = \"auto\""},

    /* rounding in training */
    {LATER_ROUNDING, {ROUNDED_BASE},
     "what an adapter is added to is rounded at load, before the first step",
     "remove it, or let every weight train (adapter.type = \"none\")"},
    {LATER_ROUNDING, {REFERENCE_BEFORE},
     "the reference computed before training is rounded from the first step on",
     "remove it, or dpo.precompute_ref_log_probs"},
    {LATER_ROUNDING, {STAGES, ONE_PROCESS},
     "rounding does not begin later on stages of a pipeline or cards of one process yet",
     ONLY_REPLICAS},
    {QAT_EXPORT, {GPT2_MODEL},
     "files of gpt2 hold its weights as [in, out], and groups of few bits lie along in: there is no "
     "form of them to write yet",
     "set qat.export = \"none\""},

    /* cards */
    {ONE_PROCESS, {SHARDS, TENSOR_CARDS, STAGES},
     "data_parallel_mode = \"dp\" is one process, and cards that share out a model or its training "
     "have a process each",
     "set data_parallel_mode = \"ddp\": a process a card"},
    {TENSOR_CARDS, {IMAGE_MODEL},
     "tensor_parallel_degree splits language models, and model.family is an image model",
     "use parallelism.data_parallel_replicate_degree"},
    {TENSOR_CARDS, {FLOAT8_WEIGHTS, FLOAT8_INPUTS}, /* a scale's gradient sums over cards */
     "rows that are rounded to float8_e4m3fn are not shared out over tensor parallel cards yet",
     "round to integers, or set parallelism.tensor_parallel_degree = 1"},
    {SHARED_ROWS, {WHOLE_VOCABULARY},
     "sequence_parallel needs the vocabulary shared out too",
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
    sb_puts(out, "\nWhat does not go together:\n\n");
    for (int row = 0; row < EXCLUSION_COUNT; row++) {
        print_keys(row, out);
        sb_printf(out, "\n      %s\n", exclusions[row].fact);
    }
}
