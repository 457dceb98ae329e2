/* Expands keys.h into data, and finds keys by name. */
#include "base/nearest.h"
#include "spec/key_info.h"
#include <stddef.h>
#include <string.h>

#define CHOICE_SPELLING(constant, spelling) spelling,
#define CHOICE_NAMES(Name, LIST) static const char *const Name##_names[] = {LIST(CHOICE_SPELLING)};
CHOICES(CHOICE_NAMES)

#define CONDITION_FUNCTION(NAME, expression, words) \
    static bool effective_##NAME(const Spec *s) {   \
        (void)s;                                    \
        return expression;                          \
    }                                               \
    static const char *const condition_##NAME = words;
CONDITIONS(CONDITION_FUNCTION)

#define INFO_INT .kind = KIND_INT
#define INFO_REAL .kind = KIND_REAL
#define INFO_REAL_OR_AUTO .kind = KIND_REAL_OR_AUTO
#define INFO_BOOL .kind = KIND_BOOL
#define INFO_REALS .kind = KIND_REALS
#define INFO_STRING .kind = KIND_STRING
#define INFO_STRINGS .kind = KIND_STRINGS
#define INFO_CHOICE(Enum)                         \
    .kind = KIND_CHOICE, .choices = Enum##_names, \
    .nchoices = sizeof Enum##_names / sizeof *Enum##_names
#define DECIDES_WEIGHTS true
#define DECIDES_RUN false
#define KEY_ROW(TABLE, LEAF, TYPE, DEFAULT, RANGE, CONDITION, EFFECT, HELP) \
    [KEY_##TABLE##_##LEAF] = {                                              \
        .table = #TABLE,                                                    \
        .leaf = #LEAF,                                                      \
        .name = #TABLE "." #LEAF,                                           \
        INFO_##TYPE,                                                        \
        .fallback = DEFAULT,                                                \
        .range = RANGE,                                                     \
        .effective = effective_##CONDITION,                                 \
        .condition = condition_##CONDITION,                                 \
        .decides_weights = DECIDES_##EFFECT,                                \
        .help = HELP,                                                       \
        .offset = offsetof(Spec, TABLE.LEAF),                               \
        .size = sizeof ((Spec *)0)->TABLE.LEAF,                             \
    },
#define TABLE_ROWS(table, KEYS) KEYS(KEY_ROW)
const KeyInfo key_info[KEY_COUNT] = {SPEC_TABLES(TABLE_ROWS)};

#define TABLE_NAME(table, KEYS) #table,
static const char *const table_names[] = {SPEC_TABLES(TABLE_NAME) "sweep"};
enum { TABLE_COUNT = sizeof table_names / sizeof *table_names };

/* What our keys are called by other tools, or elsewhere in the tools that they follow. */
static const struct {
    const char *spelling;
    Key key;
} aliases[] = {
    {"learning_rate", KEY_optimizer_lr},
    {"max_lr", KEY_optimizer_lr},
    {"adam_beta1", KEY_optimizer_beta1},
    {"adam_beta2", KEY_optimizer_beta2},
    {"adam_epsilon", KEY_optimizer_eps},
    {"epsilon", KEY_optimizer_eps},
    {"optim", KEY_optimizer_name},
    {"bucket_cap_mb", KEY_parallelism_bucket_size_mb},
    {"overlap_comm", KEY_parallelism_overlap_grad_reduce},
    {"max_steps", KEY_training_steps},
    {"num_steps", KEY_training_steps},
    {"num_iterations", KEY_training_steps},
    {"num_train_epochs", KEY_training_steps},
    {"num_epochs", KEY_training_steps},
    {"max_epochs", KEY_training_steps},
    {"epochs", KEY_training_steps},
    {"batch_size", KEY_training_per_device_train_batch_size},
    {"micro_batch_size", KEY_training_per_device_train_batch_size},
    {"local_batch_size", KEY_training_per_device_train_batch_size},
    {"grad_accum_steps", KEY_training_gradient_accumulation_steps},
    {"accumulation_steps", KEY_training_gradient_accumulation_steps},
    {"gradient_clipping", KEY_training_max_grad_norm},
    {"max_norm", KEY_training_max_grad_norm},
    {"grad_clip", KEY_training_max_grad_norm},
    {"clip_grad_norm", KEY_training_max_grad_norm},
    {"max_seq_len", KEY_training_seq_len},
    {"max_seq_length", KEY_training_seq_len},
    {"sequence_length", KEY_training_seq_len},
    {"max_length", KEY_training_seq_len},
    {"block_size", KEY_training_seq_len},
    {"cutoff_len", KEY_training_seq_len},
    {"logging_steps", KEY_training_log_every},
    {"log_interval", KEY_training_log_every},
    {"stage", KEY_training_task},
    {"eval_steps", KEY_training_eval_every},
    {"val_check_interval", KEY_training_eval_every},
    {"lora_r", KEY_adapter_r},
    {"lora_rank", KEY_adapter_r},
    {"rank", KEY_adapter_r},
    {"alpha", KEY_adapter_lora_alpha},
    {"dropout", KEY_adapter_lora_dropout},
    {"lora_target", KEY_adapter_target_modules},
    {"lora_target_modules", KEY_adapter_target_modules},
    {"peft_type", KEY_adapter_type},
    {"bnb_4bit_quant_type", KEY_quantization_quant_type},
    {"load_in_4bit", KEY_quantization_quant_type},
    {"quantization_bit", KEY_quantization_quant_type},
    {"bnb_4bit_use_double_quant", KEY_quantization_double_quant},
    {"double_quantization", KEY_quantization_double_quant},
    {"compress_statistics", KEY_quantization_double_quant},
    {"lr_scheduler_type", KEY_lr_scheduler_type},
    {"decay_type", KEY_lr_scheduler_type},
    {"warmup", KEY_lr_scheduler_warmup_steps},
    {"num_warmup_steps", KEY_lr_scheduler_warmup_steps},
    {"warmup_ratio", KEY_lr_scheduler_warmup_steps},
    {"min_lr_rate", KEY_lr_scheduler_min_lr_factor},
    {"min_lr_ratio", KEY_lr_scheduler_min_lr_factor},
    {"torch_dtype", KEY_precision_dtype},
    {"bf16", KEY_precision_dtype},
    {"mixed_precision", KEY_precision_dtype},
    {"gradient_checkpointing", KEY_activation_checkpoint_mode},
    {"dim", KEY_model_hidden_size},
    {"d_model", KEY_model_hidden_size},
    {"n_embd", KEY_model_hidden_size},
    {"n_layers", KEY_model_num_hidden_layers},
    {"n_layer", KEY_model_num_hidden_layers},
    {"n_heads", KEY_model_num_attention_heads},
    {"n_head", KEY_model_num_attention_heads},
    {"n_kv_heads", KEY_model_num_key_value_heads},
    {"norm_eps", KEY_model_rms_norm_eps},
    {"rope_scaling", KEY_model_rope_type},
    {"rope_parameters", KEY_model_rope_type},
    {"tie_embeddings", KEY_model_tie_word_embeddings},
    {"n_inner", KEY_model_intermediate_size},
    {"n_positions", KEY_model_max_position_embeddings},
    {"n_ctx", KEY_model_max_position_embeddings},
    {"model_name_or_path", KEY_model_weights},
    {"base_model", KEY_model_weights},
    {"init_from", KEY_model_weights},
    {"train_file", KEY_data_train},
    {"train_files", KEY_data_train},
    {"dataset", KEY_data_train},
    {"dataset_path", KEY_data_train},
    {"validation_file", KEY_data_validation},
    {"eval_dataset", KEY_data_validation},
    {"val_size", KEY_data_eval_fraction},
    {"sample_packing", KEY_data_packing},
    {"dataloader_pin_memory", KEY_data_pin_memory},
    {"dataloader_num_workers", KEY_data_num_workers},
    {"mean", KEY_data_image_mean},
    {"std", KEY_data_image_std},
    {"scale", KEY_data_crop_scale},
    {"ratio", KEY_data_crop_ratio},
    {"hflip_prob", KEY_data_random_horizontal_flip},
    {"val_resize_size", KEY_data_eval_resize_size},
    {"resize_size", KEY_data_eval_resize_size},
    {"crop_size", KEY_model_image_size},
    {"img_size", KEY_model_image_size},
    {"in_chans", KEY_model_image_channels},
    {"in_channels", KEY_model_image_channels},
    {"width_multiplier", KEY_model_width_mult},
    {"drop_rate", KEY_model_dropout},
    {"prefetch_factor", KEY_data_prefetch_batches},
    {"save_steps", KEY_checkpoint_interval},
    {"save_total_limit", KEY_checkpoint_keep_latest_k},
};

/* What other tools call our tables. */
static const struct {
    const char *spelling, *table;
} table_aliases[] = {
    {"train", "training"},
    {"optim", "optimizer"},
    {"scheduler", "lr_scheduler"},
    {"lora", "adapter"},
    {"peft", "adapter"},
    {"bnb", "quantization"},
    {"dataset", "data"},
    {"dataloader", "data"},
    {"distributed", "parallelism"},
    {"slurm", "job"},
    {"device", "job"},
};

const char *key_name(Key key) { return key_info[key].name; }

const char *key_leaf(Key key) { return key_info[key].leaf; }

const char *choice_name(Key key, int value) {
    const KeyInfo *info = &key_info[key];
    ENSURE(info->kind == KIND_CHOICE && value >= 0 && value < info->nchoices, "choice %d of %s",
           value, info->name);
    return info->choices[value];
}

bool spec_effective(const Spec *spec, Key key) { return key_info[key].effective(spec); }

bool spec_on_one_card(const Spec *spec) {
    return spec->parallelism.data_parallel_replicate_degree == 1 &&
           spec->parallelism.data_parallel_shard_degree == 1 &&
           spec->parallelism.tensor_parallel_degree == 1 &&
           spec->parallelism.pipeline_parallel_degree == 1;
}

int64_t spec_ranks(const Spec *spec) {
    bool one_for_all = spec->parallelism.data_parallel_mode == PARALLEL_DP;
    int64_t replicas = one_for_all ? 1 : spec->parallelism.data_parallel_replicate_degree;
    return replicas * spec->parallelism.data_parallel_shard_degree *
           spec->parallelism.tensor_parallel_degree * spec->parallelism.pipeline_parallel_degree;
}

static bool over_one_rank(const Spec *spec, OneRankCollectives strategy) {
    return spec->parallelism.one_rank_collectives == strategy && spec_on_one_card(spec);
}

bool spec_replicates(const Spec *spec) {
    return spec->parallelism.data_parallel_replicate_degree > 1 ||
           over_one_rank(spec, ONE_RANK_DDP);
}

bool spec_shards(const Spec *spec) {
    return spec->parallelism.data_parallel_shard_degree > 1 || over_one_rank(spec, ONE_RANK_SHARD);
}

bool spec_splits_tensors(const Spec *spec) {
    return spec->parallelism.tensor_parallel_degree > 1 || over_one_rank(spec, ONE_RANK_TENSOR);
}

bool spec_trains_alone(const Spec *spec) {
    return spec_on_one_card(spec) && spec->parallelism.one_rank_collectives == ONE_RANK_NONE;
}

Key key_find(const char *table, const char *leaf) {
    for (int key = 0; key < KEY_COUNT; key++)
        if (!strcmp(key_info[key].table, table) && !strcmp(key_info[key].leaf, leaf))
            return (Key)key;
    return KEY_COUNT;
}

static Key find_dotted(const char *name) {
    for (int key = 0; key < KEY_COUNT; key++)
        if (!strcmp(key_info[key].name, name))
            return (Key)key;
    return KEY_COUNT;
}

/* Returns the key that another tool spells like this, or one with this leaf in any table, or
 * NULL. */
static const char *known_elsewhere(const char *leaf) {
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!strcmp(aliases[i].spelling, leaf))
            return key_info[aliases[i].key].name;
    for (int key = 0; key < KEY_COUNT; key++)
        if (!strcmp(key_info[key].leaf, leaf))
            return key_info[key].name;
    return NULL;
}

static bool is_table(const char *name, size_t length) {
    for (int i = 0; i < TABLE_COUNT; i++)
        if (strlen(table_names[i]) == length && !strncmp(table_names[i], name, length))
            return true;
    return false;
}

/* Compares leaves if the table is known, and whole names otherwise: a long table name would make
 * any two of its keys look alike. */
static const char *nearest_key(const char *name, size_t table_length) {
    const char *candidates[KEY_COUNT];
    int keys[KEY_COUNT], count = 0;
    bool known = is_table(name, table_length);
    for (int key = 0; key < KEY_COUNT; key++) {
        if (known && (strlen(key_info[key].table) != table_length ||
                      strncmp(key_info[key].table, name, table_length)))
            continue;
        keys[count] = key;
        candidates[count++] = known ? key_info[key].leaf : key_info[key].name;
    }
    const char *nearest = nearest_name(known ? name + table_length + 1 : name, candidates, count);
    for (int i = 0; nearest && i < count; i++)
        if (candidates[i] == nearest)
            return key_info[keys[i]].name;
    return NULL;
}

static const char *did_you_mean(const char *name) {
    const char *dot = strrchr(name, '.');
    const char *nearest = dot ? nearest_key(name, (size_t)(dot - name)) : NULL;
    if (!nearest)
        nearest = known_elsewhere(dot ? dot + 1 : name);
    if (!nearest && !dot)
        nearest = nearest_name(name, table_names, TABLE_COUNT);
    return nearest;
}

static const char *where_keys_are(Arena *arena, const char *name) {
    size_t length = strcspn(name, ".");
    if (!is_table(name, length))
        return "gpuopt-gen --keys lists all keys";
    return arena_printf(arena, "gpuopt-gen --keys %.*s lists the keys of this table", (int)length,
                        name);
}

void key_unknown(Arena *arena, const char *name, Pos at) {
    if (is_table(name, strlen(name))) {
        error_at(at, "name one of its keys: TABLE.KEY", "%s is a table, not a key", name);
        return;
    }
    const char *nearest = did_you_mean(name);
    const char *more = nearest == key_info[KEY_training_steps].name && strstr(name, "epoch")
                           ? " A run says at its start how many epochs its steps are"
                           : "";
    error_at(at,
             nearest ? arena_printf(arena, "did you mean %s?%s", nearest, more)
                     : where_keys_are(arena, name),
             "unknown key %s", name);
}

bool table_exists(const char *name) { return is_table(name, strlen(name)); }

/* Returns "adapter.type or lr_scheduler.type", the keys with this leaf, or NULL. */
static const char *keys_with(Arena *arena, const char *leaf) {
    const char *list = NULL;
    for (int key = 0; key < KEY_COUNT; key++)
        if (!strcmp(key_info[key].leaf, leaf))
            list = list ? arena_printf(arena, "%s or %s", list, key_info[key].name)
                        : key_info[key].name;
    return list;
}

static const char *likely_table(const char *name) {
    for (size_t i = 0; i < sizeof table_aliases / sizeof *table_aliases; i++)
        if (!strcmp(table_aliases[i].spelling, name))
            return table_aliases[i].table;
    return nearest_name(name, table_names, TABLE_COUNT);
}

static const char *all_tables(Arena *arena) {
    const char *list = "the tables are";
    for (int i = 0; i < TABLE_COUNT; i++)
        list = arena_printf(arena, "%s%s [%s]", list, i ? "," : "", table_names[i]);
    return list;
}

void table_unknown(Arena *arena, const char *name, Pos at) {
    const char *table = likely_table(name);
    error_at(at, table ? arena_printf(arena, "did you mean [%s]?", table) : all_tables(arena),
             "unknown table [%s]", name);
}

void part_unknown(Arena *arena, const char *name) {
    const char *keys = keys_with(arena, name), *table = keys ? NULL : likely_table(name);
    const char *likely = keys    ? keys
                         : table ? arena_printf(arena, "[%s]", table)
                                 : known_elsewhere(name);
    error_at((Pos){0}, likely ? arena_printf(arena, "did you mean %s?", likely) : all_tables(arena),
             "no table or key has the name %s", name);
}

Key key_lookup(Arena *arena, const char *name, Pos at) {
    Key key = find_dotted(name);
    if (key == KEY_COUNT)
        key_unknown(arena, name, at);
    return key;
}
