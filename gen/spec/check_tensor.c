/* What parallelism.tensor_parallel_degree asks of a model. */
#include "spec/resolve.h"

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* "2 or 4": the nearest divisors of n below and above, 1 left out. */
static const char *nearest_degrees(Arena *arena, int64_t n, int64_t degree) {
    int64_t below = degree < n ? degree : n, above = degree;
    while (n % below)
        below--;
    while (above < n && n % above)
        above++;
    if (below == 1 && above >= n && n == 1)
        return "no degree but 1 splits it evenly";
    if (below == 1)
        return arena_printf(arena, "the nearest degree that splits it evenly is %lld",
                            (long long)above);
    if (above >= n && below == n)
        return arena_printf(arena, "the largest degree that splits it evenly is %lld",
                            (long long)n);
    return arena_printf(arena, "the nearest degrees that split it evenly are %lld and %lld",
                        (long long)below, (long long)above);
}

/* `all` is what every degree divides. */
static void check_vocabulary(Arena *arena, const Spec *spec, int64_t all) {
    static const char remedy[] = "set parallelism.vocab_parallel = false";
    int64_t degree = spec->parallelism.tensor_parallel_degree, words = spec->model.vocab_size;
    if (!spec->parallelism.vocab_parallel || words % degree == 0)
        return;
    user_error(spec_pos(spec, KEY_parallelism_tensor_parallel_degree),
               all == 1 ? remedy
                        : arena_printf(arena, "%s, or see: %s", remedy,
                                       nearest_degrees(arena, all, degree)),
               "model.vocab_size = %lld does not divide by tensor_parallel_degree = %lld",
               (long long)words, (long long)degree);
}

static void check_rows_of_ranks(Arena *arena, const Spec *spec) {
    int64_t degree = spec->parallelism.tensor_parallel_degree;
    int64_t rows = spec->training.seq_len * spec->training.per_device_train_batch_size;
    Pos pos = spec_pos(spec, KEY_parallelism_sequence_parallel);
    if (!spec->parallelism.sequence_parallel)
        return;
    if (!spec->parallelism.vocab_parallel)
        user_error(pos, "set parallelism.vocab_parallel = true, or sequence_parallel = false",
                   "sequence_parallel needs the vocabulary shared out too");
    if (rows % degree)
        user_error(pos, nearest_degrees(arena, rows, degree),
                   "a micro-batch of %lld tokens does not divide by tensor_parallel_degree = %lld",
                   (long long)rows, (long long)degree);
}

/* A card has rows of what attention and MLP read with, and columns of what they end in. */
static void check_blocks_of_ranks(const Spec *spec) {
    int64_t ranks = spec->parallelism.tensor_parallel_degree, size = spec->quantization.block_size;
    int64_t hidden = spec->model.hidden_size, inner = spec->model.intermediate_size / ranks;
    int64_t heads = spec->model.num_attention_heads / ranks * spec->model.head_dim;
    int64_t kv_heads = spec->model.num_key_value_heads / ranks * spec->model.head_dim;
    const struct {
        const char *name;
        int64_t run;
    } parts[] = {
        {"q_proj", heads * hidden},
        {"k_proj and v_proj", kv_heads * hidden},
        {"gate_proj and up_proj", inner * hidden},
        {"o_proj", heads},
        {"down_proj", inner},
    };
    Key key = spec_given(spec, KEY_quantization_block_size)
                  ? KEY_quantization_block_size
                  : KEY_parallelism_tensor_parallel_degree;
    if (!spec_effective(spec, KEY_quantization_block_size))
        return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].run % size)
            user_error(spec_pos(spec, key),
                       "take a smaller quantization.block_size, or fewer tensor parallel cards",
                       "blocks of %lld would be cut: a card's part of %s has runs of %lld elements",
                       (long long)size, parts[i].name, (long long)parts[i].run);
}

/* Of the rows of o_proj and down_proj a card has a part. */
static void check_groups_of_ranks(const Spec *spec) {
    int64_t ranks = spec->parallelism.tensor_parallel_degree, size = spec->qat.group_size;
    const struct {
        const char *name;
        int64_t width;
    } rows[] = {{"o_proj", spec->model.num_attention_heads / ranks * spec->model.head_dim},
                {"down_proj", spec->model.intermediate_size / ranks}};
    Key key = spec_given(spec, KEY_qat_group_size) ? KEY_qat_group_size
                                                   : KEY_parallelism_tensor_parallel_degree;
    if (spec->qat.weight_dtype == QAT_WEIGHT_NONE || size == 0)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].width % size)
            user_error(spec_pos(spec, key),
                       "take a smaller qat.group_size, or 0 for a scale a row",
                       "groups of %lld would be cut: a card's part of a row of %s has %lld elements",
                       (long long)size, rows[i].name, (long long)rows[i].width);
}

/* The gradient of a row's scale would be a sum over cards. */
static void check_float8(const Spec *spec) {
    bool weights = spec->qat.weight_dtype == QAT_WEIGHT_FLOAT8;
    if (weights || spec->qat.activation_dtype == QAT_ACTIVATION_FLOAT8)
        user_error(spec_pos(spec, weights ? KEY_qat_weight_dtype : KEY_qat_activation_dtype),
                   "round to integers, or set parallelism.tensor_parallel_degree = 1",
                   "rows that are rounded to float8_e4m3fn are not shared out over tensor parallel "
                   "cards yet");
}

void check_tensor(Arena *arena, const Spec *spec) {
    int64_t degree = spec->parallelism.tensor_parallel_degree;
    Pos pos = spec_pos(spec, KEY_parallelism_tensor_parallel_degree);
    if (degree == 1)
        return;
    if (spec_effective(spec, KEY_parallelism_gather_outputs))
        user_error(pos, "set parallelism.data_parallel_mode = \"ddp\"",
                   "cards that share out a model have a process each, and data_parallel_mode is "
                   "\"dp\"");
    if (!spec_effective(spec, KEY_model_num_attention_heads))
        user_error(pos, "use parallelism.data_parallel_replicate_degree",
                   "tensor_parallel_degree splits language models, and model.family is \"%s\"",
                   choice_name(KEY_model_family, (int)spec->model.family));
    if (spec->model.family == FAMILY_GPT2)
        user_error(pos, "use data_parallel_replicate_degree, or pipeline_parallel_degree",
                   "tensor_parallel_degree does not split model.family = \"gpt2\" yet, whose "
                   "queries, keys and values are one product");
    const struct {
        Key key;
        int64_t size;
    } split[] = {{KEY_model_num_key_value_heads, spec->model.num_key_value_heads},
                 {KEY_model_num_attention_heads, spec->model.num_attention_heads},
                 {KEY_model_intermediate_size, spec->model.intermediate_size}};
    enum { SPLIT = sizeof split / sizeof *split };
    int64_t all = 0;
    for (int i = 0; i < SPLIT; i++)
        all = common_divisor(split[i].size, all);
    for (int i = 0; i < SPLIT; i++)
        if (split[i].size % degree)
            user_error(pos, nearest_degrees(arena, all, degree),
                       "%s = %lld does not divide by tensor_parallel_degree = %lld",
                       key_info[split[i].key].name, (long long)split[i].size, (long long)degree);
    check_vocabulary(arena, spec, common_divisor(all, spec->model.vocab_size));
    check_rows_of_ranks(arena, spec);
    check_blocks_of_ranks(spec);
    check_groups_of_ranks(spec);
    check_float8(spec);
}
