/* Checks that involve several keys: derived defaults, missing keys, keys without effect, and
 * invalid combinations. One short function per subject. */
#include "base/limits.h"
#include "base/rounding.h"
#include "spec/resolve.h"
#include <float.h>
#include <string.h>

static bool is_required(const Spec *spec, Key key) {
    bool derived = key == KEY_model_intermediate_size && spec->model.family == FAMILY_GPT2;
    return key_info[key].fallback == REQUIRED && !derived && spec_effective(spec, key);
}

static void require_keys(Arena *arena, const Spec *spec) {
    for (int key = 0; key < KEY_COUNT; key++)
        if (is_required(spec, (Key)key) && spec->origin[key].kind == ORIGIN_DEFAULT)
            error_at(spec_pos(spec, (Key)key), key_hint(arena, (Key)key), "%s is missing",
                     key_info[key].name);
    exit_if_errors();
}

/* ---- model ---- */

/* GPT-2's default in transformers, whose config.json has n_inner = null for it. */
static void derive_inner_width(Spec *spec) {
    if (spec->origin[KEY_model_intermediate_size].kind == ORIGIN_DEFAULT)
        spec->model.intermediate_size = 4 * spec->model.hidden_size;
}

/* gpt2 has no model.head_dim. */
static const char *head_dim_hint(Arena *arena, const Spec *spec) {
    if (spec->model.family != FAMILY_GPT2)
        return key_hint(arena, KEY_model_head_dim);
    return "change hidden_size or num_attention_heads: their ratio must be a multiple of 8 and at "
           "most 256";
}

static void derive_heads(Arena *arena, Spec *spec) {
    int64_t hidden = spec->model.hidden_size, heads = spec->model.num_attention_heads;
    if (!spec->model.num_key_value_heads)
        spec->model.num_key_value_heads = heads;
    if (spec->model.head_dim)
        return;
    if (hidden % heads)
        user_error(spec_pos(spec, KEY_model_num_attention_heads),
                   spec->model.family == FAMILY_GPT2
                       ? "choose a divisor of hidden_size"
                       : "choose a divisor of hidden_size, or set model.head_dim",
                   "model.num_attention_heads = %lld does not divide hidden_size = %lld",
                   (long long)heads, (long long)hidden);
    spec->model.head_dim = hidden / heads;
    if (spec->model.head_dim > 256)
        user_error(spec_pos(spec, KEY_model_num_attention_heads), head_dim_hint(arena, spec),
                   "hidden_size / num_attention_heads = %lld is larger than 256",
                   (long long)spec->model.head_dim);
}

static void check_heads(Arena *arena, const Spec *spec) {
    int64_t heads = spec->model.num_attention_heads, groups = spec->model.num_key_value_heads;
    bool derived = spec->origin[KEY_model_head_dim].kind == ORIGIN_DEFAULT;
    if (heads % groups)
        user_error(spec_pos(spec, KEY_model_num_key_value_heads),
                   "choose a divisor of num_attention_heads",
                   "model.num_key_value_heads = %lld does not divide num_attention_heads = %lld",
                   (long long)groups, (long long)heads);
    if (spec->model.head_dim % 8)
        user_error(spec_pos(spec, derived ? KEY_model_num_attention_heads : KEY_model_head_dim),
                   head_dim_hint(arena, spec), "%s = %lld is not a multiple of 8",
                   derived ? "hidden_size / num_attention_heads" : "model.head_dim",
                   (long long)spec->model.head_dim);
}

static void check_rope(const Spec *spec) {
    if (spec->model.rope_type == ROPE_LLAMA3 &&
        spec->model.rope_high_freq_factor <= spec->model.rope_low_freq_factor)
        user_error(spec_pos(spec, KEY_model_rope_high_freq_factor),
                   "Llama 3 uses rope_low_freq_factor = 1.0 and rope_high_freq_factor = 4.0",
                   "rope_high_freq_factor must be larger than rope_low_freq_factor");
}

/* ---- training ---- */

int64_t spec_micro_batch_tokens(const Spec *spec) {
    bool two = spec->training.task == TASK_DPO && !spec->dpo.shared_prompt;
    int64_t rows = two ? 2 : 1; /* per entry of the batch */
    return rows * spec->training.seq_len * spec->training.per_device_train_batch_size;
}

static void check_lengths(const Spec *spec) {
    int64_t tokens = spec_micro_batch_tokens(spec);
    if (spec->training.seq_len > spec->model.max_position_embeddings)
        user_error(spec_pos(spec, KEY_training_seq_len),
                   "lower it, or raise model.max_position_embeddings if the model supports it",
                   "training.seq_len = %lld exceeds model.max_position_embeddings = %lld",
                   (long long)spec->training.seq_len,
                   (long long)spec->model.max_position_embeddings);
    if (tokens > MOST_ROWS)
        user_error(spec_pos(spec, KEY_training_per_device_train_batch_size),
                   "lower it, and raise gradient_accumulation_steps",
                   "a micro-batch of %lld tokens exceeds the limit of %d", (long long)tokens,
                   MOST_ROWS);
    if (spec->data.max_target_tokens > tokens)
        user_error(spec_pos(spec, KEY_data_max_target_tokens),
                   "lower it, or set it to 0 to allow a target for every token",
                   "data.max_target_tokens = %lld exceeds the micro-batch of %lld tokens",
                   (long long)spec->data.max_target_tokens, (long long)tokens);
}

/* The strings of jsonl are bytes too, but its samples may be arrays of tokens: the program looks. */
static void check_bytes(const Spec *spec) {
    enum { BYTES = 256 };
    if (spec->data.format == DATA_TEXT && spec->model.vocab_size < BYTES)
        user_error(spec_pos(spec, KEY_model_vocab_size),
                   "raise it, or use data.format = \"tokens\", or \"jsonl\" with arrays input_ids",
                   "data.format = \"text\" reads bytes as tokens, which needs model.vocab_size = %d "
                   "or more, not %lld",
                   BYTES, (long long)spec->model.vocab_size);
}

static void check_data(Arena *arena, const Spec *spec) {
    if (spec->data.format != DATA_SYNTHETIC && spec->data.train.count == 0)
        user_error(spec_pos(spec, KEY_data_train),
                   "set data.train = [\"FILE\"], or data.format = \"synthetic\"",
                   "data.train is missing");
    const Strings *lists[] = {&spec->data.train, &spec->data.validation};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < lists[i]->count; j++)
            if (!lists[i]->items[j][0])
                user_error(lists[i]->at[j],
                           key_hint(arena, i ? KEY_data_validation : KEY_data_train),
                           "a file name is empty");
}

/* AdamW's and SGD's defaults in PyTorch. */
static void derive_weight_decay(Spec *spec) {
    if (spec->origin[KEY_optimizer_weight_decay].kind == ORIGIN_DEFAULT)
        spec->optimizer.weight_decay = spec->optimizer.name == OPTIMIZER_ADAMW ? 0.01 : 0;
}

/* These constants keep a division from becoming 0 / 0, which they cannot do if they round to 0.
 * Numbers that are added to them are fp32, except in fp64. */
static void check_eps(const Spec *spec) {
    const struct {
        Key key;
        double value;
    } all[] = {{KEY_optimizer_eps, spec->optimizer.eps},
               {KEY_model_rms_norm_eps, spec->model.rms_norm_eps},
               {KEY_model_layer_norm_epsilon, spec->model.layer_norm_epsilon}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (spec->precision.dtype != PRECISION_FP64 && all[i].value < FLT_MIN &&
            spec_effective(spec, all[i].key))
            error_at(spec_pos(spec, all[i].key),
                     "choose at least 1.2e-38, or set precision.dtype = \"fp64\"",
                     "%s = %g is below the range of fp32", key_info[all[i].key].name, all[i].value);
    exit_if_errors();
}

/* What adapter.target_modules may name, up to a NULL. */
static const char *const *linear_names(const Spec *spec) {
    static const char *const rotary[] = {"all-linear", "q_proj",  "k_proj",    "v_proj", "o_proj",
                                         "gate_proj",  "up_proj", "down_proj", NULL};
    static const char *const gpt2[] = {"all-linear", "c_attn", "c_proj", "c_fc", NULL};
    return spec->model.family == FAMILY_GPT2 ? gpt2 : rotary;
}

static bool has_linear(const Spec *spec, const char *name) {
    const char *const *linear = linear_names(spec);
    while (*linear && strcmp(*linear, name))
        linear++;
    return *linear != NULL;
}

static const char *linear_hint(Arena *arena, const Spec *spec) {
    const char *const *linear = linear_names(spec);
    const char *hint = arena_printf(arena, "choose from %s", *linear);
    while (*++linear)
        hint = arena_printf(arena, "%s, %s", hint, *linear);
    return hint;
}

static void check_adapter(Arena *arena, const Spec *spec) {
    if (spec->adapter.type == ADAPTER_NONE)
        return;
    const Strings *targets = &spec->adapter.target_modules;
    if (targets->count == 0)
        user_error(spec_pos(spec, KEY_adapter_target_modules),
                   linear_hint(arena, spec), "adapter.target_modules is empty");
    for (int i = 0; i < targets->count; i++) {
        if (!has_linear(spec, targets->items[i]))
            user_error(targets->at[i], linear_hint(arena, spec),
                       "the model has no linear \"%s\"", targets->items[i]);
    }
}

/* A block may span rows; a byte, which holds two codes, may not. Kernels count the codes of a weight
 * in 32 bits. */
static void check_blocks(const Spec *spec) {
    int64_t size = spec->quantization.block_size, hidden = spec->model.hidden_size;
    bool in_blocks = spec_effective(spec, KEY_quantization_block_size);
    bool gpt2 = spec->model.family == FAMILY_GPT2;
    const struct {
        const char *name;
        int64_t rows, cols;
    } linears[] = {
        {gpt2 ? "attn.c_proj" : "q_proj and o_proj", hidden,
         spec->model.num_attention_heads * spec->model.head_dim},
        {"k_proj and v_proj", spec->model.num_key_value_heads * spec->model.head_dim, hidden},
        {gpt2 ? "c_fc and mlp.c_proj" : "gate_proj, up_proj and down_proj", hidden,
         spec->model.intermediate_size},
        {"attn.c_attn", gpt2 ? 3 * hidden : 0, hidden},
    };
    for (size_t i = 0; i < sizeof linears / sizeof *linears; i++) {
        int64_t elements = linears[i].rows * linears[i].cols;
        if (elements / spec->parallelism.tensor_parallel_degree > INT32_MAX)
            user_error(spec_pos(spec, KEY_quantization_quant_type),
                       "set quantization.quant_type = \"none\", or use a smaller model",
                       "there are more than %d elements in %s (%lld x %lld), the most that can be "
                       "quantized",
                       INT32_MAX, linears[i].name, (long long)linears[i].rows,
                       (long long)linears[i].cols);
        if (in_blocks && (elements % size || linears[i].rows % 2 || linears[i].cols % 2))
            user_error(spec_pos(spec, KEY_quantization_block_size),
                       "choose a smaller block size that divides rows x columns, both of them even",
                       "blocks of %lld do not evenly fill %s (%lld x %lld)", (long long)size,
                       linears[i].name, (long long)linears[i].rows, (long long)linears[i].cols);
    }
}

static void check_quantization(const Spec *spec) {
    int64_t size = spec->quantization.block_size;
    if (spec->quantization.quant_type == QUANT_NONE)
        return;
    if (spec_effective(spec, KEY_quantization_block_size) && size & (size - 1))
        user_error(spec_pos(spec, KEY_quantization_block_size), "use 64, as QLoRA does",
                   "quantization.block_size = %lld is not a power of 2", (long long)size);
    check_blocks(spec);
}

static void derive_group_size(Spec *spec) {
    if (spec->origin[KEY_qat_group_size].kind == ORIGIN_DEFAULT)
        spec->qat.group_size = spec->qat.weight_dtype == QAT_WEIGHT_INT4 ? 32 : 0;
}

static void check_groups(const Spec *spec) {
    int64_t size = spec->qat.group_size;
    bool is_default = spec->origin[KEY_qat_group_size].kind == ORIGIN_DEFAULT;
    Pos pos = spec_pos(spec, is_default ? KEY_qat_weight_dtype : KEY_qat_group_size);
    const struct {
        const char *name;
        int64_t width;
    } rows[] = {
        {"hidden_size", spec->model.hidden_size},
        {"num_attention_heads x head_dim", spec->model.num_attention_heads * spec->model.head_dim},
        {"intermediate_size", spec->model.intermediate_size},
    };
    if (size == 1)
        user_error(pos, "use 32, or 0 for one scale per row",
                   "groups of a single weight would not be rounded");
    for (size_t i = 0; size && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].width % size)
            user_error(pos,
                       "set qat.group_size to a divisor of the row lengths of all linears, or to 0 "
                       "for one scale per row",
                       "groups of %lld do not evenly fill rows of %s = %lld", (long long)size,
                       rows[i].name, (long long)rows[i].width);
}

static void check_qat_export(Arena *arena, const Spec *spec) {
    Pos pos = spec_pos(spec, KEY_qat_export);
    const char *trained = choice_name(KEY_qat_weight_dtype, (int)spec->qat.weight_dtype);
    const char *exported = choice_name(KEY_qat_export, (int)spec->qat.export);
    if (spec->qat.export == QAT_EXPORT_NONE)
        return;
    if (strcmp(exported, trained) != 0)
        user_error(pos, arena_printf(arena, "set qat.export = \"%s\"", trained),
                   "weights rounded to %s during training cannot be exported as %s", trained,
                   exported);
}

static void check_qat_delay(const Spec *spec) {
    long long steps = spec->qat.fake_quant_after_n_steps;
    Pos pos = spec_pos(spec, KEY_qat_fake_quant_after_n_steps);
    if (steps == 0)
        return;
    if (steps >= spec->training.steps)
        user_error(pos, "set it below training.steps",
                   "rounding would begin after %lld steps, but training ends after %lld", steps,
                   (long long)spec->training.steps);
}

static void check_qat(Arena *arena, Spec *spec) {
    bool weights = spec->qat.weight_dtype != QAT_WEIGHT_NONE;
    if (!weights && spec->qat.activation_dtype == QAT_ACTIVATION_NONE)
        return;
    derive_group_size(spec);
    if (weights)
        check_groups(spec);
    check_qat_export(arena, spec);
    check_qat_delay(spec);
}

/* On the device, a row's index in a step, counted over the batches of all ranks, is an int32. Each
 * micro-batch has been checked already. */
static void check_rows(Arena *arena, const Spec *spec) {
    int64_t replicas = spec->parallelism.data_parallel_replicate_degree;
    int64_t ranks = replicas * spec->parallelism.data_parallel_shard_degree;
    int64_t micro_batch = spec_micro_batch_tokens(spec);
    int64_t of_rank = micro_batch * spec->training.gradient_accumulation_steps;
    if (of_rank > INT32_MAX)
        user_error(spec_pos(spec, KEY_training_gradient_accumulation_steps),
                   arena_printf(arena, "use at most %lld micro-batches of this size per step",
                                (long long)(INT32_MAX / micro_batch)),
                   "a step of %lld micro-batches with %lld rows each exceeds the limit of 2^31 - 1 "
                   "rows",
                   (long long)spec->training.gradient_accumulation_steps, (long long)micro_batch);
    if (of_rank > INT32_MAX / ranks)
        user_error(spec_pos(spec, replicas > 1 ? KEY_parallelism_data_parallel_replicate_degree
                                               : KEY_parallelism_data_parallel_shard_degree),
                   arena_printf(arena, "use at most %lld cards for steps of this size",
                                (long long)(INT32_MAX / of_rank)),
                   "a step on %lld cards with %lld rows each exceeds the limit of 2^31 - 1 rows",
                   (long long)ranks, (long long)of_rank);
}

/* Of a micro-batch. */
static int64_t rows_of_logits(const Spec *spec) {
    int64_t rows = spec_micro_batch_tokens(spec), targets = spec->data.max_target_tokens;
    return spec->compile.skip_ignored_rows && targets > 0 && targets < rows ? targets : rows;
}

/* The head's ops are repeated for each chunk, and planning takes time with the square of that. */
static void check_chunks(Arena *arena, const Spec *spec) {
    enum { MOST_CHUNKS = 4096 };
    int64_t rows = rows_of_logits(spec);
    if (!spec_effective(spec, KEY_compile_head_chunk_tokens) ||
        rows <= MOST_CHUNKS * spec->compile.head_chunk_tokens)
        return;
    user_error(spec_pos(spec, KEY_compile_head_chunk_tokens),
               arena_printf(arena, "set it to at least %lld",
                            (long long)ceil_div(rows, MOST_CHUNKS)),
               "compile.head_chunk_tokens = %lld cuts %lld rows of logits into more than %d chunks",
               (long long)spec->compile.head_chunk_tokens, (long long)rows, MOST_CHUNKS);
}

/* Logits that are computed in chunks never exist all at the same time. */
static void check_gather(Arena *arena, const Spec *spec) {
    int64_t rows = rows_of_logits(spec);
    if (!spec->parallelism.gather_outputs ||
        !spec_effective(spec, KEY_parallelism_gather_outputs) ||
        !spec_effective(spec, KEY_compile_head_chunk_tokens) ||
        rows <= spec->compile.head_chunk_tokens)
        return;
    user_error(spec_pos(spec, KEY_parallelism_gather_outputs),
               arena_printf(arena,
                            "set compile.chunked_head = false, or compile.head_chunk_tokens = "
                            "%lld",
                            (long long)rows),
               "gather_outputs needs all logits, but compile.chunked_head computes %lld of %lld "
               "rows at a time",
               (long long)spec->compile.head_chunk_tokens, (long long)rows);
}

/* The values become words of a shell script. */
static void check_word(const Spec *spec, Key key, const char *text, const char *allowed) {
    if (text[strspn(text, allowed)])
        user_error(spec_pos(spec, key), "write it as sbatch accepts it, without spaces or quotes",
                   "%s = \"%s\" has characters that Slurm does not accept", key_name(key), text);
}

static void check_job(const Spec *spec) {
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,";
    check_word(spec, KEY_job_account, spec->job.account, word);
    check_word(spec, KEY_job_partition, spec->job.partition, word);
    check_word(spec, KEY_job_time, spec->job.time, "0123456789:-");
}

/* Whether the model has modules of these names is checked later, on its graph. */
static void check_split_points(Arena *arena, const Spec *spec) {
    const Strings *points = &spec->parallelism.pipeline_split_points;
    int64_t stages = spec->parallelism.pipeline_parallel_degree;
    if (!spec_effective(spec, KEY_parallelism_pipeline_split_points) || points->count == 0 ||
        points->count == stages - 1)
        return;
    user_error(spec_pos(spec, KEY_parallelism_pipeline_split_points),
               arena_printf(arena,
                            "name %lld modules, with which the second and later stages begin, "
                            "or none",
                            (long long)stages - 1),
               "%d split points make %d stages, but parallelism.pipeline_parallel_degree is %lld",
               points->count, points->count + 1, (long long)stages);
}

static void check_profiling(const Spec *spec) {
    int64_t last = spec->profiling.start_step + spec->profiling.steps;
    if (spec->profiling.enabled && last > spec->training.steps)
        user_error(spec_pos(spec, KEY_profiling_enabled),
                   "lower profiling.start_step or raise training.steps",
                   "the profiled window ends at step %lld, but training ends at step %lld",
                   (long long)last, (long long)spec->training.steps);
}

/* Inherited keys are exempt: a variant may switch off what the original tunes. */
static void mark_in_vain(Spec *spec) {
    for (int key = 0; key < KEY_COUNT; key++)
        spec->in_vain[key] = spec_given(spec, (Key)key) && !spec->origin[key].inherited &&
                             !spec_effective(spec, (Key)key);
}

static void check_words(const Spec *spec) {
    if (spec->training.task == TASK_CLASSIFY)
        user_error(spec_pos(spec, KEY_training_task),
                   "name an image model: model.family = \"mlp\", \"cnn\", \"mobilenet_v2\" or "
                   "\"resnet\"",
                   "training.task = \"classify\" needs an image model, but model.family is \"%s\"",
                   choice_name(KEY_model_family, (int)spec->model.family));
    if (spec->data.format == DATA_IDX || spec->data.format == DATA_IMAGE_FOLDER)
        user_error(spec_pos(spec, KEY_data_format),
                   "use data.format = \"text\", \"jsonl\", \"tokens\" or \"synthetic\"",
                   "data.format = \"%s\" holds images, but model.family is \"%s\"",
                   choice_name(KEY_data_format, (int)spec->data.format),
                   choice_name(KEY_model_family, (int)spec->model.family));
}

static void check_language(Arena *arena, Spec *spec) {
    check_words(spec);
    check_exclusions(spec);
    derive_inner_width(spec);
    derive_heads(arena, spec);
    check_heads(arena, spec);
    check_rope(spec);
    check_lengths(spec);
    check_bytes(spec);
    check_chunks(arena, spec);
    check_adapter(arena, spec);
    check_modules_to_save(spec);
    check_quantization(spec);
    check_qat(arena, spec);
}

/* The family decides which keys are needed and which have no effect, so missing keys are checked
 * first. */
void spec_check(Arena *arena, Spec *spec) {
    require_keys(arena, spec);
    if (spec_effective(spec, KEY_model_vocab_size))
        check_language(arena, spec);
    else
        check_images(arena, spec);
    derive_weight_decay(spec);
    check_eps(spec);
    check_data(arena, spec);
    check_rows(arena, spec);
    check_gather(arena, spec);
    check_tensor(arena, spec);
    check_split_points(arena, spec);
    check_profiling(spec);
    check_job(spec);
    mark_in_vain(spec);
}
