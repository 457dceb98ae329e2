/* Checks that parallelism.tensor_parallel_degree fits the model. */
#include "spec/resolve.h"

#include <string.h>

#include "base/rounding.h"

/* What degrees must fit: `all` is a multiple of the degree; key heads, unless there are none, are a
 * multiple or a divisor of it. */
typedef struct {
    int64_t all, key_heads;
} Evenly;

static bool splits(const Evenly *of, int64_t degree) {
    bool keys = !of->key_heads || of->key_heads % degree == 0 || degree % of->key_heads == 0;
    return of->all % degree == 0 && keys;
}

/* Names the nearest degrees that fit, below and above; 1 only if no other does. */
static const char *nearest_degrees(Arena *arena, const Evenly *of, int64_t degree) {
    int64_t below = degree, above = degree;
    while (!splits(of, below))
        below--;
    while (above <= of->all && !splits(of, above))
        above++;
    bool is_above = above <= of->all;
    if (below == 1 && !is_above)
        return "only degree 1 fits the model";
    if (below == 1)
        return arena_printf(arena, "the nearest degree that fits the model is %lld",
                            (long long)above);
    if (!is_above)
        return arena_printf(arena, "the largest degree that fits the model is %lld",
                            (long long)below);
    return arena_printf(arena, "the nearest degrees that fit the model are %lld and %lld",
                        (long long)below, (long long)above);
}

const char *spec_nearest_degrees(Arena *arena, int64_t width, int64_t degree) {
    return nearest_degrees(arena, &(Evenly){.all = width}, degree);
}

/* Returns the remedy and, if degrees above 1 can fit, the nearest ones as an alternative. */
static const char *or_degrees(Arena *arena, const char *remedy, const Evenly *of, int64_t degree) {
    if (of->all == 1)
        return remedy;
    return arena_printf(arena, "%s; otherwise %s", remedy, nearest_degrees(arena, of, degree));
}

static const char whole_vocabulary[] = "set parallelism.vocab_parallel = false";

static void check_vocabulary(Arena *arena, const Spec *spec, Evenly of) {
    int64_t degree = spec->parallelism.tensor_parallel_degree, words = spec->model.vocab_size;
    of.all = common_divisor(of.all, words);
    if (!spec->parallelism.vocab_parallel || words % degree == 0)
        return;
    user_error(spec_pos(spec, KEY_parallelism_tensor_parallel_degree),
               or_degrees(arena, whole_vocabulary, &of, degree),
               "model.vocab_size = %lld is not divisible by tensor_parallel_degree = %lld",
               (long long)words, (long long)degree);
}

/* A table of positions is split by rows, as the vocabulary is. */
static void check_positions(Arena *arena, const Spec *spec, Evenly of) {
    int64_t degree = spec->parallelism.tensor_parallel_degree;
    int64_t places = spec->model.max_position_embeddings;
    of.all = common_divisor(common_divisor(of.all, spec->model.vocab_size), places);
    if (spec->model.family == FAMILY_GPT2 && spec->parallelism.vocab_parallel && places % degree)
        user_error(spec_pos(spec, KEY_parallelism_tensor_parallel_degree),
                   or_degrees(arena, whole_vocabulary, &of, degree),
                   "model.max_position_embeddings = %lld is not divisible by "
                   "tensor_parallel_degree = %lld",
                   (long long)places, (long long)degree);
}

/* Names the nearest lengths of a row, below and above, with which a micro-batch has a multiple of
 * `rows` rows, if the model has so many positions. */
static const char *row_remedy(Arena *arena, const Spec *spec, int64_t rows) {
    int64_t length = spec->training.seq_len, batch = spec_micro_batch_tokens(spec) / length;
    int64_t step = rows / common_divisor(rows, batch);
    int64_t below = length / step * step, above = below + step;
    bool is_above = above <= spec->model.max_position_embeddings;
    const char *lengths =
        below > 0 && is_above
            ? arena_printf(arena, " to %lld or %lld", (long long)below, (long long)above)
        : below > 0 || is_above
            ? arena_printf(arena, " to %lld", (long long)(below > 0 ? below : above))
            : "";
    return arena_printf(arena, "change training.seq_len%s, or training.per_device_train_batch_size",
                        lengths);
}

/* Where rows are split, the vocabulary is too (exclusions.c). */
static void check_rows_of_ranks(Arena *arena, const Spec *spec, Evenly of) {
    int64_t degree = spec->parallelism.tensor_parallel_degree;
    int64_t chunks = spec->parallelism.sequence_parallel_chunks;
    int64_t rows = spec_micro_batch_tokens(spec);
    if (!spec->parallelism.sequence_parallel)
        return;
    of.all = common_divisor(common_divisor(of.all, spec->model.vocab_size), rows);
    if (rows % degree)
        user_error(spec_pos(spec, KEY_parallelism_sequence_parallel),
                   or_degrees(arena, row_remedy(arena, spec, degree * chunks), &of, degree),
                   "a micro-batch of %lld tokens is not divisible by tensor_parallel_degree = %lld",
                   (long long)rows, (long long)degree);
    if (rows / degree % chunks)
        user_error(spec_pos(spec, KEY_parallelism_sequence_parallel_chunks),
                   arena_printf(arena, "choose a divisor of a card's rows, or %s",
                                row_remedy(arena, spec, degree * chunks)),
                   "a card's %lld rows of a micro-batch are not divisible by "
                   "sequence_parallel_chunks = %lld",
                   (long long)(rows / degree), (long long)chunks);
}

/* A linear of a layer, or linears that are split alike. */
typedef struct {
    const char *name;
    int64_t run; /* elements of a card's part that follow each other in the whole weight */
} Part;

enum { PARTS = 5 };

/* A card has one run of whole rows of the input projections of attention and MLP, a part of each
 * row of their output projections. */
static void parts_of(const Spec *spec, Part parts[PARTS]) {
    int64_t ranks = spec->parallelism.tensor_parallel_degree, hidden = spec->model.hidden_size;
    int64_t heads = spec->model.num_attention_heads / ranks * spec->model.head_dim;
    int64_t keys = spec->model.num_key_value_heads;
    int64_t kv_heads = (keys > ranks ? keys / ranks : 1) * spec->model.head_dim;
    int64_t inner = spec->model.intermediate_size / ranks;
    bool gpt2 = spec->model.family == FAMILY_GPT2;
    const Part all[PARTS] = {
        {gpt2 ? "attn.c_attn" : "q_proj", heads * hidden},
        {gpt2 ? "attn.c_attn" : "k_proj and v_proj", kv_heads * hidden},
        {gpt2 ? "mlp.c_fc" : "gate_proj and up_proj", inner * hidden},
        {gpt2 ? "attn.c_proj" : "o_proj", heads},
        {gpt2 ? "mlp.c_proj" : "down_proj", inner},
    };
    memcpy(parts, all, sizeof all);
}

Key spec_splitting_key(const Spec *spec) {
    return spec->parallelism.tensor_parallel_degree > 1 ? KEY_parallelism_tensor_parallel_degree
                                                        : KEY_parallelism_one_rank_collectives;
}

/* How to split tensors less. */
static const char *split_less(const Spec *spec) {
    return spec->parallelism.tensor_parallel_degree > 1
               ? "lower parallelism.tensor_parallel_degree"
               : "set parallelism.one_rank_collectives = \"none\"";
}

/* Each run must hold whole blocks or groups. */
static void check_runs(const Spec *spec, Key key, int64_t size, const char *what,
                       const char *remedy) {
    Part parts[PARTS];
    parts_of(spec, parts);
    for (int i = 0; i < PARTS; i++)
        if (parts[i].run % size)
            user_error(
                spec_pos(spec, spec_given(spec, key) ? key : spec_splitting_key(spec)), remedy,
                "%s of %lld would be cut: a card's part of %s has runs of %lld elements",
                what, (long long)size, parts[i].name, (long long)parts[i].run);
}

/* Names the largest blocks that fill the runs of all linears, if blocks may be that small. */
static const char *block_remedy(Arena *arena, const Spec *spec) {
    Part parts[PARTS];
    int64_t common = 0;
    parts_of(spec, parts);
    for (int i = 0; i < PARTS; i++)
        common = common_divisor(common, parts[i].run);
    int64_t most = common & -common; /* the largest power of 2 that divides it */
    if (!key_in_range(KEY_quantization_block_size, (double)most))
        return arena_printf(arena,
                            "no quantization.block_size fits: set quantization.quant_type = "
                            "\"int8\", or %s",
                            split_less(spec));
    return arena_printf(arena, "set quantization.block_size = %lld, or %s", (long long)most,
                        split_less(spec));
}

static void check_few_bits(Arena *arena, const Spec *spec) {
    if (spec_effective(spec, KEY_quantization_block_size))
        check_runs(spec, KEY_quantization_block_size, spec->quantization.block_size, "blocks",
                   block_remedy(arena, spec));
    if (spec_effective(spec, KEY_qat_group_size) && spec->qat.group_size)
        check_runs(spec, KEY_qat_group_size, spec->qat.group_size, "groups",
                   "lower qat.group_size, or set it to 0 for one scale per row");
}

void check_tensor(Arena *arena, const Spec *spec) {
    int64_t degree = spec->parallelism.tensor_parallel_degree;
    Pos pos = spec_pos(spec, KEY_parallelism_tensor_parallel_degree);
    bool language = spec_effective(spec, KEY_model_vocab_size);
    if (!spec_splits_tensors(spec) || !language) /* the pass checks the layers of image models */
        return;
    const struct {
        Key key;
        int64_t size;
    } split[] = {{KEY_model_num_attention_heads, spec->model.num_attention_heads},
                 {KEY_model_intermediate_size, spec->model.intermediate_size}};
    enum { SPLIT = sizeof split / sizeof *split };
    Evenly of = {.key_heads = spec->model.num_key_value_heads};
    for (int i = 0; i < SPLIT; i++)
        of.all = common_divisor(split[i].size, of.all);
    for (int i = 0; i < SPLIT; i++)
        if (split[i].size % degree)
            user_error(pos, nearest_degrees(arena, &of, degree),
                       "%s = %lld is not divisible by tensor_parallel_degree = %lld",
                       key_info[split[i].key].name, (long long)split[i].size, (long long)degree);
    if (!splits(&of, degree))
        user_error(
            pos, nearest_degrees(arena, &of, degree),
            "model.num_key_value_heads = %lld is neither a multiple nor a divisor of "
            "tensor_parallel_degree = %lld",
            (long long)of.key_heads, (long long)degree);
    check_vocabulary(arena, spec, of);
    check_positions(arena, spec, of);
    check_rows_of_ranks(arena, spec, of);
    check_few_bits(arena, spec);
}
