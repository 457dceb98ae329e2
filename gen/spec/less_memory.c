/* What to change in a spec whose plan does not fit the memory: a list of remedies; for each part of the
 * memory, those that help most come first. Whoever names one has tried it, so a row need not say
 * where it is refused or changes nothing. */
#include "spec/less_memory.h"
#include "spec/key_info.h"

#include <string.h>

/* Random weights have nothing that an adapter could adapt. */
static bool may_have_adapter(const Spec *s) { return s->training.task != TASK_PRETRAIN; }

static bool is_sharded(const Spec *s) { return s->parallelism.data_parallel_shard_degree > 1; }
/* With one_rank_collectives, one card is what the experiment is about. */
static bool may_be_sharded(const Spec *s) {
    return !is_sharded(s) && s->parallelism.one_rank_collectives == ONE_RANK_NONE;
}

static bool has_odd_batch(const Spec *s) {
    return s->training.per_device_train_batch_size % 2;
}
static bool has_even_batch(const Spec *s) { return !has_odd_batch(s); }

enum {
    OF_TRAINED = PART_WEIGHTS | PART_GRADIENTS | PART_STATES,
    OF_ANY_WEIGHTS = OF_TRAINED | PART_FROZEN,
    OF_ROWS = PART_ACTIVATIONS | PART_KEPT | PART_BATCHES
};

/* Instead of a value: relative to what the spec has. */
#define HALVED "half"
#define DOUBLED "double"

typedef struct {
    Key key;
    const char *value; /* as TOML, HALVED or DOUBLED; NULL: there is no such change */
} Change;

static const struct {
    unsigned parts;
    bool (*applies)(const Spec *); /* NULL: always */
    Change changes[CHANGES_PER_REMEDY];
    const char *effect; /* a sentence without its subject, the changes */
} rows[] = {
    {PART_FROZEN, NULL, {{KEY_quantization_quant_type, "\"nf4\""}},
     "keeps the layers' frozen weights in 4 bits"},
    {PART_FROZEN, NULL, {{KEY_precision_dtype, "\"bf16\""}}, "keeps frozen weights in 16 bits"},
    {OF_TRAINED, may_have_adapter, {{KEY_adapter_type, "\"lora\""}},
     "trains an adapter: only its weights need gradients and optimizer state"},
    {PART_STATES, NULL, {{KEY_optimizer_state, "\"int8\""}}, "keeps the moments in 8 bits"},
    {PART_GRADIENTS, NULL, {{KEY_training_max_grad_norm, "0"}},
     "lets backward update each module: the gradients of few exist at the same time"},
    {PART_GRADIENTS, is_sharded, {{KEY_parallelism_shard_stage, "2"}},
     "splits gradients between the cards too"},
    {PART_WEIGHTS | PART_FROZEN, is_sharded, {{KEY_parallelism_shard_stage, "3"}},
     "splits weights between the cards too"},
    {OF_ANY_WEIGHTS, is_sharded, {{KEY_parallelism_data_parallel_shard_degree, DOUBLED}},
     "splits the same between more cards"},
    {PART_STATES, may_be_sharded, {{KEY_parallelism_data_parallel_shard_degree, "2"}},
     "splits optimizer state between two cards"},
    {PART_GRADIENTS, may_be_sharded,
     {{KEY_parallelism_data_parallel_shard_degree, "2"}, {KEY_parallelism_shard_stage, "2"}},
     "split gradients and optimizer state between two cards"},
    {PART_WEIGHTS | PART_FROZEN, may_be_sharded,
     {{KEY_parallelism_data_parallel_shard_degree, "2"}, {KEY_parallelism_shard_stage, "3"}},
     "split weights, gradients and optimizer state between two cards"},
    {PART_STATES, NULL, {{KEY_optimizer_name, "\"sgd\""}}, "keeps no moments"},
    {PART_ADAPTERS, NULL, {{KEY_adapter_r, HALVED}},
     "needs fewer weights, gradients and moments"},
    {PART_KEPT, NULL, {{KEY_parallelism_pipeline_schedule, "\"1f1b\""}},
     "keeps the activations of fewer micro-batches"},
    {PART_ACTIVATIONS | PART_KEPT, NULL, {{KEY_activation_checkpoint_mode, "\"auto\""}},
     "recomputes activations instead of keeping them"},
    {PART_ACTIVATIONS, NULL, {{KEY_quantization_keep_decoded, "false"}},
     "decodes weights for each use instead of keeping them"},
    {PART_BATCHES, NULL, {{KEY_data_jpeg_pixels, HALVED}},
     "makes slots of pictures smaller; the host decodes pictures that are larger"},
    {OF_ROWS, has_even_batch,
     {{KEY_training_per_device_train_batch_size, HALVED},
      {KEY_training_gradient_accumulation_steps, DOUBLED}},
     "take as many rows per step, half as many at a time"},
    {OF_ROWS, has_odd_batch,
     {{KEY_training_per_device_train_batch_size, HALVED},
      {KEY_training_gradient_accumulation_steps, DOUBLED}},
     "take a few rows less per step, in micro-batches of less than half the size"},
    {OF_ROWS, NULL, {{KEY_precision_dtype, "\"bf16\""}}, "keeps most activations in 16 bits"},
    {OF_ROWS, NULL, {{KEY_training_seq_len, HALVED}}, "needs fewer activations"},
    {OF_ROWS, NULL, {{KEY_model_image_size, HALVED}}, "needs fewer activations"},
    {PART_DATASET, NULL, {{KEY_data_device_resident, "false"}},
     "sends each batch instead of keeping the data set on the device"},
    {PART_COUNTERS, NULL, {{KEY_training_steps, HALVED}},
     "makes the tables with a row per step smaller; a later run can go on from the weights"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *value_of(Arena *arena, const Spec *spec, Change change) {
    bool halved = !strcmp(change.value, HALVED), doubled = !strcmp(change.value, DOUBLED);
    if (!halved && !doubled)
        return change.value;
    ENSURE(key_info[change.key].kind == KIND_INT, "%s", key_name(change.key));
    int64_t now = *(const int64_t *)((const char *)spec + key_info[change.key].offset);
    return arena_printf(arena, "%lld", (long long)(halved ? now / 2 : 2 * now));
}

/* "training.seq_len = 512 needs fewer activations"; a second key of the same table lacks its name. */
static Remedy remedy_of(Arena *arena, const Spec *spec, int row) {
    Remedy remedy = {.text = "", .other_technique = rows[row].changes[0].key == KEY_adapter_type};
    for (int i = 0; i < CHANGES_PER_REMEDY && rows[row].changes[i].value; i++) {
        Change change = rows[row].changes[i];
        const char *value = value_of(arena, spec, change);
        remedy.sets[remedy.nsets++] = arena_printf(arena, "%s=%s", key_name(change.key), value);
        remedy.text = i == 0 ? arena_printf(arena, "%s = %s", key_name(change.key), value)
                             : arena_printf(arena, "%s and %s = %s", remedy.text,
                                            key_leaf(change.key), value);
    }
    remedy.text = arena_printf(arena, "%s %s", remedy.text, rows[row].effect);
    return remedy;
}

const Remedy *spec_less_memory(Arena *arena, const Spec *spec, MemoryPart largest, int *count) {
    Remedy *remedies = arena_array(arena, ROWS, sizeof *remedies);
    *count = 0;
    for (int row = 0; row < ROWS; row++)
        if (rows[row].parts & (unsigned)largest && (!rows[row].applies || rows[row].applies(spec)))
            remedies[(*count)++] = remedy_of(arena, spec, row);
    return remedies;
}
