/* What to change in a spec whose plan does not fit the memory: a list of remedies; for each part of the
 * memory, those that help most come first. */
#include "spec/less_memory.h"

static bool may_be_quantized(const Spec *s) {
    return s->adapter.type != ADAPTER_NONE && s->quantization.quant_type == QUANT_NONE &&
           s->qat.weight_dtype == QAT_WEIGHT_NONE;
}

static bool is_in_8_bits(const Spec *s) { return s->quantization.quant_type == QUANT_INT8; }

static bool keeps_decoded(const Spec *s) {
    return spec_effective(s, KEY_quantization_keep_decoded) &&
           s->quantization.keep_decoded == KEEP_TRUE;
}

static bool is_wide(const Spec *s) {
    return s->precision.dtype != PRECISION_BF16 && s->precision.dtype != PRECISION_FP16;
}

static bool may_have_adapter(const Spec *s) {
    return spec_effective(s, KEY_adapter_type) && s->adapter.type == ADAPTER_NONE &&
           s->training.task != TASK_PRETRAIN;
}

static bool is_adamw(const Spec *s) { return s->optimizer.name == OPTIMIZER_ADAMW; }

static bool has_fp32_moments(const Spec *s) {
    return is_adamw(s) && s->optimizer.state == STATE_FP32;
}

static bool may_have_adapter_or_codes(const Spec *s) {
    return may_have_adapter(s) && has_fp32_moments(s);
}

/* Whether backward could update the weights if gradients were not clipped. */
static bool clips_in_vain(const Spec *s) {
    return s->training.max_grad_norm > 0 && s->training.gradient_accumulation_steps == 1 &&
           s->precision.dtype != PRECISION_FP16 && spec_trains_alone(s);
}

static bool may_have_adapter_or_clips(const Spec *s) {
    return may_have_adapter(s) && clips_in_vain(s);
}

static bool is_sharded(const Spec *s) { return s->parallelism.data_parallel_shard_degree > 1; }

static bool keeps_whole_gradients(const Spec *s) {
    return is_sharded(s) && s->parallelism.shard_stage < SHARD_GRADIENTS;
}

static bool keeps_whole_weights(const Spec *s) {
    return is_sharded(s) && s->parallelism.shard_stage < SHARD_WEIGHTS;
}

static bool may_be_sharded(const Spec *s) {
    bool one_process = s->parallelism.data_parallel_mode == PARALLEL_DP &&
                       s->parallelism.data_parallel_replicate_degree > 1;
    return s->parallelism.one_rank_collectives == ONE_RANK_NONE && !one_process;
}

static bool is_gpipe(const Spec *s) {
    return spec_effective(s, KEY_parallelism_pipeline_schedule) &&
           s->parallelism.pipeline_schedule == PIPELINE_GPIPE;
}

static bool may_have_fewer_in_flight(const Spec *s) {
    return is_gpipe(s) &&
           s->training.gradient_accumulation_steps > s->parallelism.pipeline_parallel_degree;
}

static bool keeps_all_activations(const Spec *s) {
    return s->activation_checkpoint.mode == RECOMPUTE_NONE;
}

/* gpipe keeps the activations of all rows of a step, whatever micro-batch they are in. */
static bool may_be_halved(const Spec *s) {
    return s->training.per_device_train_batch_size > 1 && !is_gpipe(s);
}

static bool has_tokens(const Spec *s) { return spec_effective(s, KEY_training_seq_len); }
static bool always(const Spec *s) { return s != NULL; }

enum {
    OF_TRAINED = PART_WEIGHTS | PART_GRADIENTS | PART_STATES,
    OF_ANY_WEIGHTS = OF_TRAINED | PART_FROZEN,
    OF_ROWS = PART_ACTIVATIONS | PART_KEPT | PART_BATCHES
};

#define AN_ADAPTER \
    "with an adapter (adapter.type) only its weights need gradients and optimizer state"
#define CODED_MOMENTS "optimizer.state = \"int8\" keeps the moments in 8 bits"
#define NO_CLIPPING \
    "with training.max_grad_norm = 0 the gradients of few modules exist at the same time"
#define TWO_CARDS "parallelism.data_parallel_shard_degree = 2 "

static const struct {
    unsigned parts;
    bool (*applies)(const Spec *);
    const char *remedy;
} remedies[] = {
    {PART_FROZEN, may_be_quantized,
     "quantization.quant_type = \"nf4\" keeps the layers' frozen weights in 4 bits"},
    {PART_FROZEN, is_in_8_bits,
     "quantization.quant_type = \"nf4\" keeps the layers' frozen weights in 4 bits instead of 8"},
    {PART_FROZEN, is_wide,
     "precision.dtype = \"bf16\" keeps frozen weights in 16 bits that are in no fewer"},
    {PART_STATES, may_have_adapter_or_codes, AN_ADAPTER "; else " CODED_MOMENTS},
    {PART_STATES, has_fp32_moments, CODED_MOMENTS},
    {PART_GRADIENTS, may_have_adapter_or_clips, AN_ADAPTER "; " NO_CLIPPING},
    {OF_TRAINED, may_have_adapter, AN_ADAPTER},
    {PART_GRADIENTS, clips_in_vain, NO_CLIPPING},
    {PART_GRADIENTS, keeps_whole_gradients,
     "parallelism.shard_stage = 2 splits gradients between the cards too"},
    {PART_WEIGHTS | PART_FROZEN, keeps_whole_weights,
     "parallelism.shard_stage = 3 splits weights between the cards too"},
    {OF_ANY_WEIGHTS, is_sharded,
     "a higher parallelism.data_parallel_shard_degree splits them between more cards"},
    {PART_STATES, may_be_sharded, TWO_CARDS "splits them between two cards"},
    {PART_GRADIENTS, may_be_sharded, TWO_CARDS "and shard_stage = 2 split them between two cards"},
    {PART_WEIGHTS | PART_FROZEN, may_be_sharded,
     TWO_CARDS "and shard_stage = 3 split them between two cards"},
    {PART_STATES, is_adamw, "optimizer.name = \"sgd\" keeps no moments"},
    {PART_ADAPTERS, always, "a smaller adapter.r needs fewer weights, gradients and moments"},
    {PART_KEPT, may_have_fewer_in_flight,
     "parallelism.pipeline_schedule = \"1f1b\" keeps the activations of fewer micro-batches"},
    {PART_ACTIVATIONS | PART_KEPT, keeps_all_activations,
     "activation_checkpoint.mode = \"auto\" recomputes activations instead of keeping them"},
    {PART_ACTIVATIONS, keeps_decoded,
     "quantization.keep_decoded = false decodes weights for each use instead of keeping them"},
    {OF_ROWS, may_be_halved,
     "halve training.per_device_train_batch_size and double training.gradient_accumulation_steps: "
     "a step of as many rows, half as many at a time"},
    {OF_ROWS, is_wide, "precision.dtype = \"bf16\" keeps most activations in 16 bits"},
    {OF_ROWS, has_tokens, "a shorter training.seq_len needs fewer activations"},
    {OF_ROWS, always, "a smaller model.image_size needs fewer activations"},
    {PART_DATASET, always,
     "data.device_resident = false sends each batch instead of keeping the data set on the device"},
    {PART_COUNTERS, always,
     "these tables have rows for each step: fewer training.steps need less; a later run can go on "
     "from the weights of this one"},
};

const char *spec_less_memory(const Spec *spec, MemoryPart largest) {
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (remedies[i].parts & (unsigned)largest && remedies[i].applies(spec))
            return remedies[i].remedy;
    return "use a device with more memory (job.device), or a model with fewer weights";
}
