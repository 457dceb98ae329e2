/* The table of all spec keys. A row
 *
 *     K(table, leaf, TYPE, default, range, CONDITION, EFFECT, help)
 *
 * defines the field spec->table.leaf, its parsing and limits, "did you mean", --set, --print-spec
 * and the reference that --keys prints. To add a key, add a row.
 *
 *   TYPE       INT (int64_t), REAL (double), BOOL (bool), STRING (const char *, never NULL),
 *              REAL_OR_AUTO (double; 0 if the spec says "auto"),
 *              STRINGS, REALS (lists; a single item is a list of one), CHOICE(Enum) (one of
 *              key_choices.h; the choices true and false are written without quotes, as in TOML)
 *   default    as written in a spec; REQUIRED: must be given if the key has an effect, unless help
 *              names a family's default; DERIVED: computed from other keys (spec_check.c)
 *   range      an interval of numbers, "[0, 1)", for each item of REALS; "" if TYPE has no
 *              numbers
 *   CONDITION  when the key has an effect (from CONDITIONS); giving it otherwise is an error
 *   EFFECT     WEIGHTS: the trained weights depend on the value, or may, if only by rounding;
 *              RUN: they have the same bits with any value. Paths of data and of initial weights are
 *              RUN, because a hash of what they contain is kept too (runtime/data/data_hash.h). So is
 *              job.device, although tiles that suit it, and choices that "auto" leaves to its plan, may
 *              round differently.
 *   help       one sentence, with the unit
 *
 * Names follow PEFT, TRL, torchtitan and Hugging Face's config.json. */
#pragma once

#include "spec/key_choices.h"

/* Rows are laid out as sentences, not as argument lists. */
/* clang-format off */

#define REQUIRED 0
#define DERIVED ""

/* ---- conditions: name, expression over `const Spec *s`, what the key needs, in words ---- */

#define ROTARY_MODEL (s->model.family == FAMILY_LLAMA || s->model.family == FAMILY_QWEN2)
#define LANGUAGE_MODEL (ROTARY_MODEL || s->model.family == FAMILY_GPT2)
/* Whether heads have this width; conditions are asked before model.head_dim is derived. */
#define HEADS_OF(width)                                                                            \
    (s->model.head_dim ? s->model.head_dim == (width)                                              \
                       : s->model.hidden_size == (width) * s->model.num_attention_heads)
#define CONVOLUTIONS (s->model.family == FAMILY_CNN || s->model.family == FAMILY_RESNET)
#define ONE_PROCESS_FOR_ALL                                                                        \
    (s->parallelism.data_parallel_replicate_degree > 1 &&                                          \
     s->parallelism.data_parallel_mode == PARALLEL_DP)

#define CONDITIONS(C)                                                                              \
    C(ALWAYS, true, "")                                                                            \
    C(LANGUAGE, LANGUAGE_MODEL,                                                                    \
      "a language model (model.family = \"llama\", \"qwen2\" or \"gpt2\")")                        \
    C(IMAGES, !LANGUAGE_MODEL,                                                                     \
      "an image model (model.family = \"mlp\", \"cnn\", \"mobilenet_v2\" or \"resnet\")")          \
    C(SIZED, LANGUAGE_MODEL || s->model.family == FAMILY_MLP,                                      \
      "model.family = \"llama\", \"qwen2\", \"gpt2\" or \"mlp\"")                                  \
    C(ROTARY, ROTARY_MODEL, "model.family = \"llama\" or \"qwen2\"")                               \
    C(GPT2, s->model.family == FAMILY_GPT2, "model.family = \"gpt2\"")                             \
    C(BIASED, s->model.family != FAMILY_LLAMA,                                                     \
      "a model with biases (any model.family but \"llama\")")                                      \
    C(CNN, s->model.family == FAMILY_CNN, "model.family = \"cnn\"")                                \
    C(MOBILENET, s->model.family == FAMILY_MOBILENET_V2, "model.family = \"mobilenet_v2\"")        \
    C(RESNET, s->model.family == FAMILY_RESNET, "model.family = \"resnet\"")                       \
    C(POOLED, CONVOLUTIONS, "model.family = \"cnn\" or \"resnet\"")                                \
    C(MASKED,                                                                                      \
      s->compile.fusion && (s->model.family == FAMILY_MLP || s->model.family == FAMILY_CNN ||      \
                            (s->model.family == FAMILY_RESNET && s->compile.layout == LAYOUT_NHWC)), \
      "compile.fusion = true and model.family = \"mlp\", \"cnn\", or \"resnet\" with compile.layout " \
      "= \"nhwc\"")                                                                                \
    C(NORMS_BEHIND_1X1,                                                                            \
      (s->model.family == FAMILY_MOBILENET_V2 ||                                                   \
       (s->model.family == FAMILY_RESNET && s->model.depth == 50)) &&                              \
          s->compile.layout == LAYOUT_NHWC && s->precision.dtype != PRECISION_TF32 &&              \
          !s->parallelism.sync_batch_norm,                                                         \
      "model.family = \"mobilenet_v2\", or \"resnet\" with model.depth = 50, with compile.layout = " \
      "\"nhwc\", any precision.dtype but \"tf32\", and parallelism.sync_batch_norm = false")       \
    C(FROM_SCRATCH, LANGUAGE_MODEL && !s->model.weights[0],                                        \
      "a language model and model.weights = \"\"")                                                 \
    C(ROPE_SCALED, ROTARY_MODEL && s->model.rope_type == ROPE_LLAMA3,                              \
      "model.rope_type = \"llama3\"")                                                              \
    C(ADAPTED, LANGUAGE_MODEL && s->adapter.type != ADAPTER_NONE,                                  \
      "an adapter (adapter.type = \"lora\")")                                                      \
    C(QUANTIZED, LANGUAGE_MODEL && s->quantization.quant_type != QUANT_NONE,                       \
      "quantized weights (quantization.quant_type = \"nf4\", \"fp4\" or \"int8\")")                \
    C(IN_4_BITS,                                                                                   \
      LANGUAGE_MODEL && (s->quantization.quant_type == QUANT_NF4 ||                                \
                         s->quantization.quant_type == QUANT_FP4),                                 \
      "4-bit weights (quantization.quant_type = \"nf4\" or \"fp4\")")                              \
    C(FAKE_QUANTIZED,                                                                              \
      LANGUAGE_MODEL && (s->qat.weight_dtype == QAT_WEIGHT_INT4 ||                                 \
                         s->qat.weight_dtype == QAT_WEIGHT_INT8),                                  \
      "weights rounded to integers during training (qat.weight_dtype = \"int4\" or \"int8\")")     \
    C(ROUNDED,                                                                                     \
      LANGUAGE_MODEL && (s->qat.weight_dtype != QAT_WEIGHT_NONE ||                                 \
                         s->qat.activation_dtype != QAT_ACTIVATION_NONE),                          \
      "rounding during training (qat.weight_dtype or qat.activation_dtype)")                       \
    C(ADAMW, s->optimizer.name == OPTIMIZER_ADAMW, "optimizer.name = \"adamw\"")                   \
    C(SGD, s->optimizer.name == OPTIMIZER_SGD, "optimizer.name = \"sgd\"")                         \
    C(MOMENTUM, s->optimizer.name == OPTIMIZER_SGD && s->optimizer.momentum > 0,                   \
      "optimizer.momentum above 0")                                                                \
    C(LOSS_SCALED, s->precision.dtype == PRECISION_FP16, "precision.dtype = \"fp16\"")             \
    C(DECAYING,                                                                                    \
      s->lr_scheduler.type == SCHEDULE_LINEAR || s->lr_scheduler.type == SCHEDULE_COSINE,          \
      "lr_scheduler.type = \"linear\" or \"cosine\"")                                              \
    C(IN_STEPS, s->lr_scheduler.type == SCHEDULE_STEP, "lr_scheduler.type = \"step\"")             \
    C(FROM_FILES, s->data.format != DATA_SYNTHETIC,                                                \
      "data read from files (any data.format but \"synthetic\")")                                  \
    C(SPLIT, s->data.format != DATA_SYNTHETIC && s->data.validation.count == 0,                    \
      "data read from files and an empty data.validation")                                         \
    C(SAMPLES, LANGUAGE_MODEL && s->data.format != DATA_TEXT,                                      \
      "a language model and any data.format but \"text\"")                                         \
    C(PACKED_PAIRS, LANGUAGE_MODEL && s->training.task == TASK_DPO && s->data.packing,             \
      "training.task = \"dpo\" and data.packing = true")                                           \
    C(PAIRS, LANGUAGE_MODEL && s->training.task == TASK_DPO, "training.task = \"dpo\"")            \
    C(SMOOTHED_PAIRS,                                                                              \
      LANGUAGE_MODEL && s->training.task == TASK_DPO &&                                            \
          (s->dpo.loss_type == DPO_SIGMOID || s->dpo.loss_type == DPO_ROBUST),                     \
      "training.task = \"dpo\" and dpo.loss_type = \"sigmoid\" or \"robust\"")                     \
    C(RESIDENT, (s->data.format == DATA_IDX || s->data.format == DATA_IMAGE_FOLDER) &&             \
                    s->data.decode == DECODE_DEVICE,                                               \
      "data.format = \"idx\" or \"image_folder\", and data.decode = \"device\"")                   \
    C(RANDOM_CROP, !LANGUAGE_MODEL && s->data.random_resized_crop,                                 \
      "data.random_resized_crop = true")                                                           \
    C(SLOTS, spec_sends_slots(s), "data.format = \"image_folder\" and data.decode = \"device\", "  \
      "with neither data.device_resident nor data.decode_scaled = true")                           \
    C(PICTURE_CROP, spec_may_cut_pictures(s), "data.format = \"image_folder\" and "                \
      "data.random_resized_crop = true; data.decode = \"host\" or data.jpeg_pixels above 0")       \
    C(FOLDERS, s->data.format == DATA_IMAGE_FOLDER, "data.format = \"image_folder\"")              \
    C(SKIPPING, LANGUAGE_MODEL && s->compile.skip_ignored_rows,                                    \
      "a language model and compile.skip_ignored_rows = true")                                     \
    C(ONE_GRAPH,                                                                                   \
      s->compile.cuda_graph && s->parallelism.pipeline_parallel_degree == 1 &&                     \
          !(s->parallelism.data_parallel_replicate_degree > 1 &&                                   \
            s->parallelism.data_parallel_mode == PARALLEL_DP),                                     \
      "compile.cuda_graph = true, no pipeline and one card per process")                           \
    C(WARPGROUPS,                                                                                  \
      (s->precision.dtype == PRECISION_BF16 || s->precision.dtype == PRECISION_FP16) &&            \
          (LANGUAGE_MODEL ? HEADS_OF(64) || HEADS_OF(128)                                          \
                          : CONVOLUTIONS && s->compile.layout == LAYOUT_NHWC),                     \
      "16-bit precision (precision.dtype = \"bf16\" or \"fp16\"), and a language model with "      \
      "heads of width 64 or 128, or model.family = \"cnn\" or \"resnet\" with compile.layout = "   \
      "\"nhwc\"")                                                                                  \
    C(UPDATED_BY_LAYER,                                                                            \
      s->training.max_grad_norm == 0 && s->training.gradient_accumulation_steps == 1 &&            \
          s->precision.dtype != PRECISION_FP16 && spec_trains_alone(s),                            \
      "training.max_grad_norm = 0, gradient_accumulation_steps = 1, one card, and any "            \
      "precision.dtype but \"fp16\"")                                                              \
    C(ADAPTED_IN_16_BITS,                                                                          \
      LANGUAGE_MODEL && s->adapter.type != ADAPTER_NONE &&                                         \
          (s->precision.dtype == PRECISION_BF16 || s->precision.dtype == PRECISION_FP16),          \
      "an adapter in 16-bit precision (precision.dtype = \"bf16\" or \"fp16\")")                   \
    C(CHUNKED, LANGUAGE_MODEL && s->compile.chunked_head,                                          \
      "a language model and compile.chunked_head = true")                                          \
    C(DATA_PARALLEL,                                                                               \
      s->parallelism.data_parallel_replicate_degree > 1 ||                                         \
          s->parallelism.data_parallel_shard_degree > 1,                                           \
      "parallelism.data_parallel_replicate_degree or data_parallel_shard_degree above 1")          \
    C(SHARDED, spec_shards(s),                                                                     \
      "parallelism.data_parallel_shard_degree above 1, or one_rank_collectives = \"shard\"")       \
    C(GATHERED,                                                                                    \
      spec_shards(s) && s->parallelism.shard_stage == SHARD_WEIGHTS &&                             \
          s->parallelism.pipeline_parallel_degree == 1,                                            \
      "parallelism.data_parallel_shard_degree above 1 and shard_stage = 3, without a pipeline")    \
    C(SUMMED, spec_replicates(s) && !spec_shards(s) && !ONE_PROCESS_FOR_ALL,                       \
      "parallelism.data_parallel_replicate_degree above 1, data_parallel_mode = \"ddp\" and "      \
      "data_parallel_shard_degree = 1")                                                            \
    C(OVERLAPPED, spec_shards(s) ? s->parallelism.shard_stage < SHARD_WEIGHTS                      \
                                 : spec_replicates(s) && !ONE_PROCESS_FOR_ALL &&                   \
                                       s->parallelism.overlap_grad_reduce,                         \
      "parallelism.data_parallel_shard_degree above 1 and shard_stage = 1 or 2; or "               \
      "data_parallel_replicate_degree above 1, data_parallel_mode = \"ddp\" and "                  \
      "overlap_grad_reduce = true")                                                                \
    C(SPLIT_LANGUAGE, spec_splits_tensors(s) && LANGUAGE_MODEL,                                    \
      "a language model, and parallelism.tensor_parallel_degree above 1 or one_rank_collectives "  \
      "= \"tensor\"")                                                                              \
    C(SHARED_ROWS, spec_splits_tensors(s) && s->parallelism.sequence_parallel,                     \
      "parallelism.sequence_parallel = true")                                                      \
    C(ONE_PROCESS, ONE_PROCESS_FOR_ALL,                                                            \
      "parallelism.data_parallel_mode = \"dp\" and data_parallel_replicate_degree above 1")        \
    C(PROCESSES, !spec_trains_alone(s) && !ONE_PROCESS_FOR_ALL,                                    \
      "several processes: a degree in [parallelism] above 1, and data_parallel_mode = \"ddp\"; "   \
      "or one_rank_collectives")                                                                   \
    C(NORMED_REPLICAS,                                                                             \
      (spec_replicates(s) || spec_shards(s)) && !ONE_PROCESS_FOR_ALL &&                            \
          (s->model.family == FAMILY_MOBILENET_V2 || s->model.family == FAMILY_RESNET),            \
      "model.family = \"mobilenet_v2\" or \"resnet\", with parallelism."                           \
      "data_parallel_replicate_degree or data_parallel_shard_degree above 1, or "                  \
      "one_rank_collectives = \"ddp\" or \"shard\", and one process per card")                     \
    C(ONE_CARD, spec_on_one_card(s), "every degree in [parallelism] at 1")                         \
    C(PIPELINED, s->parallelism.pipeline_parallel_degree > 1,                                      \
      "parallelism.pipeline_parallel_degree above 1")                                              \
    C(PROFILED, s->profiling.enabled, "profiling.enabled = true")

/* ---- keys ---- */

#define JOB_KEYS(K)                                                                                \
    K(job, name, STRING, DERIVED, "", ALWAYS, RUN,                                                 \
      "Name of the experiment and of its folder under build/; the spec's file name by default.")   \
    K(job, device, STRING, "\"h100-sxm\"", "", ALWAYS, RUN,                                        \
      "Device to plan for: the name of a file in gen/devices, or the path of a device file.")      \
    K(job, account, STRING, "\"\"", "", ALWAYS, RUN, "Slurm account, for --slurm.")                \
    K(job, partition, STRING, "\"\"", "", ALWAYS, RUN, "Slurm partition, for --slurm.")            \
    K(job, time, STRING, "\"\"", "", ALWAYS, RUN,                                                  \
      "Slurm time limit, such as \"4:00:00\" or \"1-00:00:00\", for --slurm.")

#define MODEL_KEYS(K)                                                                              \
    K(model, family, CHOICE(Family), "llama", "", ALWAYS, WEIGHTS, "Model architecture.")          \
    K(model, weights, STRING, "\"\"", "", ALWAYS, RUN,                                             \
      "Initial weights: \"\" initializes them at random, a folder holds them in Hugging Face's "   \
      "format, FILE.toml takes the model that the named spec trains.")                             \
    K(model, config, STRING, "\"\"", "", ALWAYS, RUN,                                              \
      "Folder whose config.json sets the model keys below.")                                       \
    K(model, vocab_size, INT, REQUIRED, "[2, 16777216]", LANGUAGE, WEIGHTS,                        \
      "Vocabulary size: rows of the embedding.")                                                   \
    K(model, hidden_size, INT, REQUIRED, "[1, 1048576]", SIZED, WEIGHTS,                           \
      "Width of the residual stream, or of the hidden layers of an mlp.")                          \
    K(model, intermediate_size, INT, REQUIRED, "[1, 4194304]", LANGUAGE, WEIGHTS,                  \
      "Width inside the feed-forward block; 4 * hidden_size by default with gpt2.")                \
    K(model, num_hidden_layers, INT, REQUIRED, "[1, 1024]", SIZED, WEIGHTS,                        \
      "Number of decoder layers, or of hidden layers of an mlp.")                                  \
    K(model, num_attention_heads, INT, REQUIRED, "[1, 4096]", LANGUAGE, WEIGHTS,                   \
      "Number of query heads.")                                                                    \
    K(model, num_key_value_heads, INT, DERIVED, "[1, 4096]", ROTARY, WEIGHTS,                      \
      "Number of key and value heads; num_attention_heads by default.")                            \
    K(model, head_dim, INT, DERIVED, "[8, 256]", ROTARY, WEIGHTS,                                  \
      "Width of a head, a multiple of 8; hidden_size / num_attention_heads by default.")           \
    K(model, max_position_embeddings, INT, "2048", "[1, 16777216]", LANGUAGE, WEIGHTS,             \
      "Longest sequence that the model supports, in tokens.")                                      \
    K(model, rms_norm_eps, REAL, "1e-5", "(0, 1)", ROTARY, WEIGHTS,                                \
      "Constant added to the mean square in RMSNorm.")                                             \
    K(model, rope_theta, REAL, "10000.0", "[1, 1e12]", ROTARY, WEIGHTS,                            \
      "Base of the rotary embedding's wavelengths.")                                               \
    K(model, rope_type, CHOICE(RopeType), "default", "", ROTARY, WEIGHTS,                          \
      "Scaling of the rotary embedding's frequencies.")                                            \
    K(model, rope_factor, REAL, "8.0", "[1, 1e6]", ROPE_SCALED, WEIGHTS,                           \
      "Factor by which long wavelengths are stretched.")                                           \
    K(model, rope_low_freq_factor, REAL, "1.0", "(0, 1e6]", ROPE_SCALED, WEIGHTS,                  \
      "Wavelengths longer than the original context divided by this are stretched in full.")       \
    K(model, rope_high_freq_factor, REAL, "4.0", "(0, 1e6]", ROPE_SCALED, WEIGHTS,                 \
      "Wavelengths shorter than the original context divided by this are not stretched.")          \
    K(model, rope_original_max_position_embeddings, INT, "8192", "[1, 16777216]", ROPE_SCALED,     \
      WEIGHTS, "Context length before stretching, in tokens.")                                     \
    K(model, tie_word_embeddings, BOOL, "false", "", ROTARY, WEIGHTS,                              \
      "Whether the embedding and the head share one weight.")                                      \
    K(model, initializer_range, REAL, "0.02", "(0, 10]", FROM_SCRATCH, WEIGHTS,                    \
      "Standard deviation of randomly initialized weights.")                                       \
    K(model, num_classes, INT, REQUIRED, "[2, 1048576]", IMAGES, WEIGHTS, "Number of classes.")    \
    K(model, image_size, INT, REQUIRED, "[1, 4096]", IMAGES, WEIGHTS,                              \
      "Height and width of the model's input, in pixels; images of another size are resized.")     \
    K(model, image_channels, INT, "3", "[1, 3]", IMAGES, WEIGHTS,                                  \
      "Channels of the model's input, 1 or 3; if 3, images with one channel repeat it.")           \
    K(model, layers, STRINGS, REQUIRED, "", CNN, WEIGHTS,                                          \
      "Layers in order: \"conv CHANNELS KERNEL [STRIDE [PADDING]]\", \"relu\", \"max_pool "        \
      "KERNEL [STRIDE]\", \"dropout RATE\", \"flatten\", \"linear FEATURES\"; a final linear to "  \
      "the classes is added.")                                                                     \
    K(model, width_mult, REAL, "1.0", "(0, 16]", MOBILENET, WEIGHTS,                               \
      "Factor applied to all widths, which are rounded to multiples of 8.")                        \
    K(model, dropout, REAL, "0.2", "[0, 1)", MOBILENET, WEIGHTS,                                   \
      "Dropout rate of the classifier's inputs.")                                                  \
    K(model, depth, INT, REQUIRED, "{18, 34, 50}", RESNET, WEIGHTS,                                \
      "Number of layers with weights.")                                                            \
    K(model, base_width, INT, "64", "[1, 4096]", RESNET, WEIGHTS,                                  \
      "Channels of the first stage; each of the three later stages doubles them.")                 \
    K(model, layer_norm_epsilon, REAL, "1e-5", "(0, 1)", GPT2, WEIGHTS,                            \
      "Constant added to the variance in LayerNorm.")

#define TRAINING_KEYS(K)                                                                           \
    K(training, task, CHOICE(Task), "pretrain", "", ALWAYS, WEIGHTS,                               \
      "pretrain trains every weight on every token; sft trains on completions, with or without "   \
      "an adapter; dpo trains on pairs of a chosen and a rejected completion; classify trains "    \
      "an image model.")                                                                           \
    K(training, seq_len, INT, REQUIRED, "[1, 1048576]", LANGUAGE, WEIGHTS,                         \
      "Tokens per row of the batch.")                                                              \
    K(training, per_device_train_batch_size, INT, "1", "[1, 65535]", ALWAYS, WEIGHTS,              \
      "Size of a micro-batch: rows of tokens, pairs for dpo, or images.")                          \
    K(training, gradient_accumulation_steps, INT, "1", "[1, 65536]", ALWAYS, WEIGHTS,              \
      "Micro-batches per step.")                                                                   \
    K(training, steps, INT, REQUIRED, "[0, 1000000000]", ALWAYS, WEIGHTS,                          \
      "Optimizer steps; 0 only evaluates.")                                                        \
    K(training, seed, INT, "0", "[0, 9007199254740992]", ALWAYS, WEIGHTS,                          \
      "Seed of all random numbers: weights, dropout masks, shuffling.")                            \
    K(training, max_grad_norm, REAL, "1.0", "[0, 1e9]", ALWAYS, WEIGHTS,                           \
      "Gradients with a larger global norm are scaled down to this norm; 0 turns clipping off.")   \
    K(training, log_every, INT, "10", "[1, 1000000000]", ALWAYS, RUN,                              \
      "Steps between progress lines; evaluations and checkpoints print one too.")                  \
    K(training, eval_every, INT, "0", "[0, 1000000000]", ALWAYS, RUN,                              \
      "Steps between evaluations; 0 evaluates only before and after training.")                    \
    K(training, label_smoothing, REAL, "0.0", "[0, 1)", IMAGES, WEIGHTS,                           \
      "Fraction of each target that is spread evenly over all classes, in held-out losses too.")

#define PRECISION_KEYS(K)                                                                          \
    K(precision, dtype, CHOICE(Precision), "fp32", "", ALWAYS, WEIGHTS,                            \
      "Type of the matrix products; bf16 and fp16 keep sums, norms, losses and trained "           \
      "parameters in fp32; fp16 scales its loss.")                                                 \
    K(precision, init_scale, REAL, "65536.0", "[1, 1e30]", LOSS_SCALED, WEIGHTS,                   \
      "Initial loss scale.")                                                                       \
    K(precision, growth_factor, REAL, "2.0", "(1, 1024]", LOSS_SCALED, WEIGHTS,                    \
      "Factor applied to the loss scale after growth_interval updates in a row.")                  \
    K(precision, backoff_factor, REAL, "0.5", "(0, 1)", LOSS_SCALED, WEIGHTS,                      \
      "Factor applied to the loss scale when gradients overflow; that step is not applied.")       \
    K(precision, growth_interval, INT, "2000", "[1, 1000000000]", LOSS_SCALED, WEIGHTS,            \
      "Updates in a row without overflow after which the loss scale grows.")

#define OPTIMIZER_KEYS(K)                                                                          \
    K(optimizer, name, CHOICE(OptimizerName), "adamw", "", ALWAYS, WEIGHTS, "Update rule.")        \
    K(optimizer, lr, REAL, "1e-4", "[0, 1000]", ALWAYS, WEIGHTS, "Peak learning rate.")            \
    K(optimizer, beta1, REAL, "0.9", "[0, 1)", ADAMW, WEIGHTS, "Decay rate of the first moment.")  \
    K(optimizer, beta2, REAL, "0.999", "[0, 1)", ADAMW, WEIGHTS,                                   \
      "Decay rate of the second moment.")                                                          \
    K(optimizer, eps, REAL, "1e-8", "(0, 1]", ADAMW, WEIGHTS,                                      \
      "Constant added to the root of the second moment.")                                          \
    K(optimizer, weight_decay, REAL, DERIVED, "[0, 10]", ALWAYS, WEIGHTS,                          \
      "adamw: decoupled decay per step, times the learning rate, 0.01 by default; sgd: fraction "  \
      "of the weight that is added to its gradient, 0 by default.")                                \
    K(optimizer, momentum, REAL, "0.0", "[0, 1)", SGD, WEIGHTS,                                    \
      "Fraction of the previous update that is kept.")                                             \
    K(optimizer, nesterov, BOOL, "false", "", MOMENTUM, WEIGHTS,                                   \
      "Whether to use Nesterov momentum.")                                                         \
    K(optimizer, state, CHOICE(OptimizerState), "fp32", "", ADAMW, WEIGHTS,                        \
      "Storage of the moments; int8: 8-bit codes in blocks of 256, as in bitsandbytes, but fp32 "  \
      "for tensors with fewer than 4096 elements.")

#define LR_SCHEDULER_KEYS(K)                                                                       \
    K(lr_scheduler, type, CHOICE(Schedule), "constant", "", ALWAYS, WEIGHTS,                       \
      "Schedule of the learning rate after warm-up.")                                              \
    K(lr_scheduler, warmup_steps, INT, "0", "[0, 1000000000]", ALWAYS, WEIGHTS,                    \
      "Steps over which the learning rate rises from 0.")                                          \
    K(lr_scheduler, min_lr_factor, REAL, "0.0", "[0, 1]", DECAYING, WEIGHTS,                       \
      "Learning rate after the last step, as a fraction of optimizer.lr.")                         \
    K(lr_scheduler, step_size, INT, REQUIRED, "[1, 1000000000]", IN_STEPS, WEIGHTS,                \
      "The learning rate is multiplied by gamma every so many steps.")                             \
    K(lr_scheduler, gamma, REAL, "0.1", "(0, 1]", IN_STEPS, WEIGHTS,                               \
      "Factor applied to the learning rate every step_size steps.")

#define ADAPTER_KEYS(K)                                                                            \
    K(adapter, type, CHOICE(AdapterType), "none", "", LANGUAGE, WEIGHTS,                           \
      "Adapter that trains while the model's weights stay frozen.")                                \
    K(adapter, r, INT, "8", "[1, 8192]", ADAPTED, WEIGHTS, "Rank of the adapter.")                 \
    K(adapter, lora_alpha, REAL, "16.0", "(0, 1e6]", ADAPTED, WEIGHTS,                             \
      "Scaling: the low-rank path is multiplied by lora_alpha / r.")                               \
    K(adapter, lora_dropout, REAL, "0.0", "[0, 1)", ADAPTED, WEIGHTS,                              \
      "Dropout rate of the low-rank path's inputs.")                                               \
    K(adapter, target_modules, STRINGS, "[\"all-linear\"]", "", ADAPTED, WEIGHTS,                  \
      "Linears that get an adapter: q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, "          \
      "down_proj; for gpt2 c_attn, c_proj, c_fc; all-linear means all of them.")                   \
    K(adapter, use_rslora, BOOL, "false", "", ADAPTED, WEIGHTS,                                    \
      "Scale by lora_alpha / sqrt(r) instead of lora_alpha / r.")                                  \
    K(adapter, use_dora, BOOL, "false", "", ADAPTED, WEIGHTS,                                      \
      "DoRA: give each row of W + s B A a magnitude of its own, which trains too.")                \
    K(adapter, modules_to_save, STRINGS, "[]", "", ADAPTED, WEIGHTS,                               \
      "Modules that train in full alongside the adapter and are saved with it, such as lm_head.")

#define DPO_KEYS(K)                                                                                \
    K(dpo, loss_type, CHOICE(DpoLoss), "sigmoid", "", PAIRS, WEIGHTS,                              \
      "Loss of a pair, by its name in TRL.")                                                       \
    K(dpo, beta, REAL, "0.1", "[1e-4, 1e6]", PAIRS, WEIGHTS,                                       \
      "Weight of the log-ratio to the reference; for ipo its tau.")                                \
    K(dpo, label_smoothing, REAL, "0.0", "[0, 0.5)", SMOOTHED_PAIRS, WEIGHTS,                      \
      "Assumed probability that a pair's labels are swapped.")                                     \
    K(dpo, precompute_ref_log_probs, BOOL, "false", "", PAIRS, WEIGHTS,                            \
      "Compute the reference's log-probabilities of all pairs once, before training, and keep "    \
      "them in a file; false computes them with each forward pass.")                               \
    K(dpo, shared_prompt, BOOL, "false", "", PAIRS, WEIGHTS,                                       \
      "Store a pair as one row of seq_len tokens: its prompt once, followed by both "              \
      "completions, which must both fit.")                                                         \
    K(dpo, max_packed_pairs, INT, "8", "[2, 1024]", PACKED_PAIRS, WEIGHTS,                         \
      "Maximum number of pairs packed into two rows, or into one with shared_prompt.")

#define QUANTIZATION_KEYS(K)                                                                       \
    K(quantization, quant_type, CHOICE(QuantType), "none", "", LANGUAGE, WEIGHTS,                  \
      "Format of the frozen weights of the layers' linears: nf4 (4 bits, as in QLoRA), fp4 "       \
      "(4-bit floats), int8 (8-bit integers with one scale per row).")                             \
    K(quantization, block_size, INT, "64", "[32, 4096]", IN_4_BITS, WEIGHTS,                       \
      "Weights that share a scale; a power of 2.")                                                 \
    K(quantization, double_quant, BOOL, "true", "", IN_4_BITS, WEIGHTS,                            \
      "Quantize the scales too, to 8 bits.")                                                       \
    K(quantization, keep_decoded, CHOICE(KeepDecoded), "false", "", QUANTIZED, RUN,                \
      "Keep weights decoded in forward for backward, which otherwise decodes them again; auto: "   \
      "where memory allows.")

#define QAT_KEYS(K)                                                                                \
    K(qat, activation_dtype, CHOICE(QatActivation), "none", "", LANGUAGE, WEIGHTS,                 \
      "Type that inputs of the layers' linears are rounded to, with one scale per token; int8: "   \
      "from the minimum and maximum; float8_e4m3fn: from the largest magnitude.")                  \
    K(qat, weight_dtype, CHOICE(QatWeight), "none", "", LANGUAGE, WEIGHTS,                         \
      "Type that weights of the layers' linears are rounded to in training; float8_e4m3fn has "    \
      "one scale per row.")                                                                        \
    K(qat, group_size, INT, DERIVED, "[0, 65536]", FAKE_QUANTIZED, WEIGHTS,                        \
      "Weights of a row that share a scale; 0: the whole row; by default 32, or 0 with int8.")     \
    K(qat, fake_quant_after_n_steps, INT, "0", "[0, 1000000000]", ROUNDED, WEIGHTS,                \
      "Steps to train without rounding before it begins.")                                         \
    K(qat, export, CHOICE(QatExport), "none", "", FAKE_QUANTIZED, RUN,                             \
      "Write the weights in this type at the end of the run, and evaluate the model with them.")

#define ACTIVATION_CHECKPOINT_KEYS(K)                                                              \
    K(activation_checkpoint, mode, CHOICE(Recompute), "auto", "", ALWAYS, RUN,                     \
      "What backward recomputes; auto: only as many activations as the plan needs to fit; full: "  \
      "all but those between layers; none: nothing. auto and full also repeat the rounding of "    \
      "[qat].")                                                                                    \
    K(activation_checkpoint, memory_budget_gib, REAL, "0.0", "[0, 1048576]", ALWAYS, RUN,          \
      "Device memory that the plan may use, in GiB; 0 means all of the device's memory.")

#define PARALLELISM_KEYS(K)                                                                        \
    K(parallelism, data_parallel_mode, CHOICE(DataParallel), "ddp", "", DATA_PARALLEL, WEIGHTS,    \
      "How replicas run; ddp: one process per card, gradients are summed; dp: one process for "    \
      "all cards, the first of which holds the weights and updates them.")                         \
    K(parallelism, data_parallel_replicate_degree, INT, "1", "[1, 1024]", ALWAYS, WEIGHTS,         \
      "Number of replicas: each has the whole model and its own batches.")                         \
    K(parallelism, data_parallel_shard_degree, INT, "1", "[1, 1024]", ALWAYS, WEIGHTS,             \
      "Number of cards, each with its own batches, that split what shard_stage names; with "       \
      "data_parallel_replicate_degree, the number per replica.")                                   \
    K(parallelism, shard_stage, INT, "1", "[1, 3]", SHARDED, WEIGHTS,                              \
      "What is sharded; 1: optimizer states and master weights; 2: gradients too, summed in "      \
      "every micro-step; 3: weights too, frozen ones included, gathered for each use.")            \
    K(parallelism, reshard_after_forward, BOOL, "true", "", GATHERED, RUN,                         \
      "Free gathered weights after their use in forward, and gather them again for backward; "     \
      "false: keep them until backward, which halves the bytes between cards.")                    \
    K(parallelism, overlap_grad_reduce, BOOL, "true", "", SUMMED, WEIGHTS,                         \
      "Sum gradients over the cards while backward computes them; false: after backward.")         \
    K(parallelism, bucket_size_mb, REAL_OR_AUTO, "\"auto\"", "(0, 1048576]", OVERLAPPED, WEIGHTS,  \
      "MiB of gradients summed at a time, rounded up to whole modules of the model; auto: what "   \
      "the plan predicts to be fastest, or 64 with shards.")                                       \
    K(parallelism, gather_outputs, BOOL, "false", "", ONE_PROCESS, RUN,                            \
      "Copy logits to the first card in each micro-step, as nn.DataParallel does.")                \
    K(parallelism, sync_batch_norm, BOOL, "false", "", NORMED_REPLICAS, WEIGHTS,                   \
      "Whether batch norm takes its statistics over the batches of all ranks.")                    \
    K(parallelism, tensor_parallel_degree, INT, "1", "[1, 1024]", ALWAYS, WEIGHTS,                 \
      "Number of cards that split a layer: attention heads and the MLP's width, or channels of "   \
      "convolutions; on the same batches.")                                                        \
    K(parallelism, vocab_parallel, BOOL, "true", "", SPLIT_LANGUAGE, WEIGHTS,                      \
      "Split the vocabulary too: embedding, head and logits.")                                     \
    K(parallelism, sequence_parallel, BOOL, "false", "", SPLIT_LANGUAGE, WEIGHTS,                  \
      "Split the rows between attention and MLP too: norms and the activations kept for them.")    \
    K(parallelism, sequence_parallel_chunks, INT, "1", "[1, 8]", SHARED_ROWS, WEIGHTS,             \
      "Number of row chunks in which cards exchange activations, each overlapping the product "    \
      "of another chunk.")                                                                         \
    K(parallelism, pipeline_parallel_degree, INT, "1", "[1, 1024]", ALWAYS, WEIGHTS,               \
      "Number of stages that the model is cut into, one card each; the "                           \
      "gradient_accumulation_steps micro-batches of a step pass through them one after another.")  \
    K(parallelism, pipeline_schedule, CHOICE(PipelineSchedule), "1f1b", "", PIPELINED, RUN,        \
      "1f1b: a stage starts each backward as early as it can; gpipe: all forwards, then all "      \
      "backwards.")                                                                                \
    K(parallelism, pipeline_split_points, STRINGS, "[]", "", PIPELINED, WEIGHTS,                   \
      "Modules that the second and later stages begin with; without them, the plan's predicted "   \
      "times decide.")                                                                             \
    K(parallelism, one_rank_collectives, CHOICE(OneRankCollectives), "none", "", ONE_CARD,         \
      WEIGHTS,                                                                                     \
      "The strategy whose collectives a run on one card makes too, in communicators of one rank: " \
      "to try NCCL, and to see what a strategy's own kernels and copies cost.")                    \
    K(parallelism, comm_timeout_s, REAL, "600.0", "[1, 86400]", PROCESSES, RUN,                    \
      "Seconds that a step may take; after them, a rank that waits for another one gives up.")

#define DATA_KEYS(K)                                                                               \
    K(data, format, CHOICE(DataFormat), "text", "", ALWAYS, WEIGHTS,                               \
      "text: bytes as tokens; jsonl: one sample per line, {\"prompt\": \"\", "                     \
      "\"completion\": \"\"}, {\"text\": \"\"} or arrays input_ids and labels, or for dpo "        \
      "prompt, chosen and rejected; strings are bytes as tokens; tokens: shards of tokens; "       \
      "synthetic: random; idx: images and labels in MNIST's format; image_folder: one folder "     \
      "per class.")                                                                                \
    K(data, train, STRINGS, "[]", "", FROM_FILES, RUN, "Files or patterns to train on.")           \
    K(data, validation, STRINGS, "[]", "", FROM_FILES, RUN,                                        \
      "Held-out files or patterns; without them, eval_fraction of train is held out.")             \
    K(data, eval_fraction, REAL, "0.05", "(0, 1)", SPLIT, WEIGHTS,                                 \
      "Fraction of train that is held out.")                                                       \
    K(data, eval_batches, INT, "8", "[1, 1000000]", ALWAYS, RUN,                                   \
      "Micro-batches per evaluation: the first ones of the held-out data, in the order of the "    \
      "files; images from folders are mixed, always in the same order.")                           \
    K(data, packing, BOOL, "false", "", SAMPLES, WEIGHTS,                                          \
      "Whether short samples share a row, or short pairs two rows; they never attend to each "     \
      "other.")                                                                                    \
    K(data, overlong, CHOICE(Overlong), "cut", "", PAIRS, WEIGHTS,                                 \
      "What happens to a pair with a sequence longer than training.seq_len; cut: its end is cut "  \
      "off, and the pair dropped if no completion is left; drop: the pair is dropped.")            \
    K(data, shuffle, BOOL, "true", "", FROM_FILES, WEIGHTS,                                        \
      "Whether every epoch has a new order.")                                                      \
    K(data, last_batch, CHOICE(LastBatch), "rollover", "", FROM_FILES, WEIGHTS,                    \
      "What follows an epoch's last whole step. rollover: the rows that are left and then the "    \
      "next epoch's; discard: the next epoch, without them; pad: a step of them and the epoch's "  \
      "first rows. The last two are PyTorch's DistributedSampler with drop_last = True and False, " \
      "by whole steps of all ranks.")                                                              \
    K(data, pin_memory, BOOL, "true", "", ALWAYS, RUN, "Whether host buffers are page-locked.")    \
    K(data, numa_bind, BOOL, "true", "", ALWAYS, RUN,                                              \
      "Whether threads, and the host memory they allocate, stay on the NUMA node of the card.")    \
    K(data, prefetch_batches, INT, "2", "[1, 64]", ALWAYS, RUN,                                    \
      "Micro-batches prepared in advance.")                                                        \
    K(data, num_workers, INT, "1", "[0, 256]", ALWAYS, RUN,                                        \
      "Threads that prepare micro-batches in advance; with 0, the step waits for each one.")       \
    K(data, max_target_tokens, INT, "0", "[0, 2147483647]", SKIPPING, WEIGHTS,                     \
      "Maximum number of tokens with a target in a micro-batch; 0 means every token may have "     \
      "one.")                                                                                      \
    K(data, image_height, INT, DERIVED, "[1, 16384]", IMAGES, WEIGHTS,                             \
      "Height of a stored image, in pixels; model.image_size by default.")                         \
    K(data, image_width, INT, DERIVED, "[1, 16384]", IMAGES, WEIGHTS,                              \
      "Width of a stored image, in pixels; model.image_size by default.")                          \
    K(data, image_channels, INT, DERIVED, "[1, 3]", IMAGES, WEIGHTS,                               \
      "Channels of a stored image, 1 or 3; model.image_channels by default, 1 with idx.")          \
    K(data, image_mean, REALS, "[0.0]", "[-1000, 1000]", IMAGES, WEIGHTS,                          \
      "Subtracted from pixels in [0, 1]: one number per channel of the model, or one for all.")    \
    K(data, image_std, REALS, "[1.0]", "(0, 1000]", IMAGES, WEIGHTS,                               \
      "Divisor of pixels after image_mean is subtracted: one number per channel, or one for all.") \
    K(data, random_resized_crop, BOOL, "false", "", IMAGES, WEIGHTS,                               \
      "Whether to train on random crops of the images, resized to model.image_size.")              \
    K(data, crop_scale, REALS, "[0.08, 1.0]", "(0, 1]", RANDOM_CROP, WEIGHTS,                      \
      "Smallest and largest area of a crop, as a fraction of the image's area.")                   \
    K(data, crop_ratio, REALS, "[0.75, 1.3333333333333333]", "[0.001, 1000]", RANDOM_CROP,         \
      WEIGHTS, "Smallest and largest ratio of a crop's width to its height.")                      \
    K(data, crop_from, CHOICE(CropFrom), "stored", "", PICTURE_CROP, WEIGHTS,                      \
      "What crops are cut from: stored images, or the full pictures in the files; the latter "     \
      "are resized with antialiasing, as torchvision does.")                                       \
    K(data, random_horizontal_flip, REAL, "0.0", "[0, 1]", IMAGES, WEIGHTS,                        \
      "Probability that a training image is mirrored.")                                            \
    K(data, eval_resize_size, INT, "0", "[0, 16384]", IMAGES, RUN,                                 \
      "Size that the shorter side of held-out images is resized to before the center crop of "     \
      "model.image_size; 0: the whole image is resized instead.")                                  \
    K(data, decode, CHOICE(Decode), "device", "", IMAGES, WEIGHTS,                                 \
      "Where images are decoded (but for JPEG's entropy coding), cropped, resized, normalised.")   \
    K(data, jpeg_pixels, INT, DERIVED, "[0, 67108864]", SLOTS, RUN,                                \
      "Pixels of the largest JPEG file in 4:2:0 that the device decodes, with room for 3 bytes of " \
      "each; the host decodes larger ones. 4 image_height image_width by default.")                \
    K(data, device_resident, CHOICE(Resident), "auto", "", RESIDENT, RUN,                          \
      "Whether the device keeps the whole data set and a batch is a list of indices into it; "     \
      "auto: with idx files that the compiler can read, if the plan fits with the set.")           \
    K(data, decode_scaled, BOOL, "false", "", FOLDERS, WEIGHTS,                                    \
      "Whether JPEG files are decoded at 1/2, 1/4 or 1/8 of their size where the part in use "     \
      "needs no more; pixels then differ slightly from those of a full decode.")                   \
    K(data, skip_broken, BOOL, "false", "", FOLDERS, WEIGHTS,                                      \
      "Whether images that cannot be decoded are skipped; otherwise the first one is an error.")

#define CHECKPOINT_KEYS(K)                                                                         \
    K(checkpoint, interval, INT, "0", "[0, 1000000000]", ALWAYS, RUN,                              \
      "Steps between checkpoints; 0 writes one only at the end and on signals.")                   \
    K(checkpoint, keep_latest_k, INT, "2", "[1, 1000000]", ALWAYS, RUN,                            \
      "Number of checkpoints to keep.")                                                            \
    K(checkpoint, export, BOOL, "true", "", ALWAYS, RUN,                                           \
      "Whether to write the result in Hugging Face's or PEFT's format at the end.")                \
    K(checkpoint, export_base, BOOL, "false", "", IN_4_BITS, RUN,                                  \
      "Whether to write the quantized base too, in a format that bitsandbytes reads.")

#define COMPILE_KEYS(K)                                                                            \
    K(compile, fusion, BOOL, "true", "", ALWAYS, RUN, "Fuse neighbouring ops into one kernel.")    \
    K(compile, cuda_graph, BOOL, "true", "", ALWAYS, RUN,                                          \
      "Launch each micro-step as one CUDA graph.")                                                 \
    K(compile, bordered, BOOL, "true", "", ADAPTED, WEIGHTS,                                       \
      "Keep base and adapter in one bordered matrix and multiply once.")                           \
    K(compile, joined_linears, BOOL, "true", "", LANGUAGE, WEIGHTS,                                \
      "Compute linears that train and share their input, such as q, k and v, as one product, and " \
      "so those of DPO's reference.")                                                              \
    K(compile, low_rank_grads, CHOICE(WhereGained), "auto", "", ADAPTED_IN_16_BITS, WEIGHTS,       \
      "Compute the two gradients of an adapter that read dy by one kernel, if r is a multiple of " \
      "8 up to 64; auto: where the plan predicts a gain.")                                         \
    K(compile, low_rank_matmul, CHOICE(WhereGained), "auto", "", ADAPTED_IN_16_BITS, WEIGHTS,      \
      "Compute an adapter's product x A^T by the kernel that makes x, if pointwise ops make it "   \
      "and r is at most 64 (not bordered: a multiple of 8); auto: where the plan predicts a gain.") \
    K(compile, low_rank_grad_a, CHOICE(WhereGained), "auto", "", ADAPTED_IN_16_BITS, WEIGHTS,      \
      "Let backward make an adapter's input again, if a norm or pointwise ops make it, for the "    \
      "gradient of A; forward then does not keep it; auto: where the plan predicts a gain, or a "   \
      "loss of less time than it takes to read that input once.")                                   \
    K(compile, optimizer_in_backward, CHOICE(WhereGained), "auto", "", UPDATED_BY_LAYER, RUN,      \
      "Let backward update each module's weights once their gradients are complete, so that the "  \
      "gradients of few modules exist at the same time; auto: if whole weights train, small "      \
      "modules together, and gradients of up to 64 MiB last until the next step.")                 \
    K(compile, joined_launches, BOOL, "true", "", ALWAYS, RUN,                                     \
      "Merge launches of one kernel on operands at a constant stride, such as one per layer, or "  \
      "RoPE of q and k.")                                                                          \
    K(compile, matmul_bias, BOOL, "true", "", BIASED, WEIGHTS,                                     \
      "Let matrix products add biases in their epilogue, before their results are rounded.")       \
    K(compile, narrow_linears, CHOICE(WhereGained), "auto", "", ALWAYS, WEIGHTS,                   \
      "Compute linears of 64 or more inputs and 2 to 12 outputs, and gradients of those of few "   \
      "outputs, by kernels that ops beside them join; auto: where the plan predicts a gain.")      \
    K(compile, in_place, BOOL, "true", "", LANGUAGE, WEIGHTS,                                      \
      "Let RoPE overwrite q and k, whose memory would otherwise be kept as long as that of v, "    \
      "and the logits' gradient the logits.")                                                      \
    K(compile, side_stream, BOOL, "true", "", ONE_GRAPH, RUN,                                      \
      "Run kernels that no later one waits for on a second stream, where the plan predicts a "     \
      "gain of 2 % of a step's time and a step has at most 4096 launches.")                        \
    K(compile, wgmma, CHOICE(WhereGained), "auto", "", WARPGROUPS, WEIGHTS,                        \
      "Use Hopper's wgmma in attention with heads of width 64 or 128, and in convolutions whose "  \
      "channels and filters are multiples of 8; auto: on a device that has it. Such kernels run "  \
      "on no other device.")                                                                       \
    K(compile, programmatic_launch, BOOL, "false", "", ALWAYS, RUN,                                \
      "Launch a kernel while the previous one ends (Hopper or later); measured for one small CNN.") \
    K(compile, prefetch_rows, BOOL, "false", "", IMAGES, RUN,                                      \
      "Let kernels whose windows overlap, such as depthwise convolutions and max pools, fetch "     \
      "into the L2 cache what they read of later rows; no GPU has measured it.")                   \
    K(compile, thread_rows, BOOL, "true", "", IMAGES, RUN,                                         \
      "Let threads have several pixels where these share most of what they read.")                 \
    K(compile, chunked_head, BOOL, "true", "", LANGUAGE, WEIGHTS,                                  \
      "Compute logits in chunks, so that those of a whole batch never exist at the same time.")    \
    K(compile, skip_ignored_rows, BOOL, "true", "", LANGUAGE, WEIGHTS,                             \
      "Skip tokens without a target in the head.")                                                 \
    K(compile, head_chunk_tokens, INT, "2048", "[1, 1048576]", CHUNKED, WEIGHTS,                   \
      "Tokens per chunk of the head. With few, multiprocessors are idle; the plan shows it.")      \
    K(compile, overlap, BOOL, "true", "", ALWAYS, RUN,                                             \
      "Copy a batch to the device while it works on the previous one.")                            \
    K(compile, pool_first, BOOL, "true", "", POOLED, WEIGHTS,                                      \
      "Run max pooling before its ReLU, and sum gradients over pooling windows, not pixels.")      \
    K(compile, relu_masks, BOOL, "true", "", MASKED, RUN,                                          \
      "Let backward read masks of ReLUs, one bit per element, where their signs are enough.")      \
    K(compile, gram_batch_norm, CHOICE(WhereGained), "auto", "", NORMS_BEHIND_1X1, WEIGHTS,        \
      "Compute batch norms behind 1x1 convolutions, forward and backward, from products with the "  \
      "convolution's input; auto: where the plan predicts a gain, as behind those that widen it, "  \
      "but not in fp32, whose sums would lose precision.")                                     \
    K(compile, layout, CHOICE(Layout), "nhwc", "", IMAGES, WEIGHTS,                                \
      "Layout of images: channels of a pixel together (nhwc), or channel by channel (nchw).")

#define PROFILING_KEYS(K)                                                                          \
    K(profiling, enabled, BOOL, "false", "", ALWAYS, RUN, "Record kernels in a window of steps.")  \
    K(profiling, start_step, INT, "5", "[0, 1000000000]", PROFILED, RUN,                           \
      "Steps before the window; after a resume they count from there.")                            \
    K(profiling, steps, INT, "3", "[1, 1000]", PROFILED, RUN, "Steps in the window.")              \
    K(profiling, trace, BOOL, "true", "", PROFILED, RUN, "Write trace.json (opens in Perfetto).")

#define BENCHMARK_KEYS(K)                                                                          \
    K(benchmark, repeats, INT, "1", "[1, 100]", ALWAYS, RUN,                                       \
      "Number of runs of each point of a [sweep]; its figures are medians with their range.")

#define SPEC_TABLES(T)                                                                             \
    T(job, JOB_KEYS)                                                                               \
    T(model, MODEL_KEYS)                                                                           \
    T(training, TRAINING_KEYS)                                                                     \
    T(precision, PRECISION_KEYS)                                                                   \
    T(optimizer, OPTIMIZER_KEYS)                                                                   \
    T(lr_scheduler, LR_SCHEDULER_KEYS)                                                             \
    T(adapter, ADAPTER_KEYS)                                                                       \
    T(dpo, DPO_KEYS)                                                                               \
    T(quantization, QUANTIZATION_KEYS)                                                             \
    T(qat, QAT_KEYS)                                                                               \
    T(activation_checkpoint, ACTIVATION_CHECKPOINT_KEYS)                                           \
    T(parallelism, PARALLELISM_KEYS)                                                               \
    T(data, DATA_KEYS)                                                                             \
    T(checkpoint, CHECKPOINT_KEYS)                                                                 \
    T(compile, COMPILE_KEYS)                                                                       \
    T(profiling, PROFILING_KEYS)                                                                   \
    T(benchmark, BENCHMARK_KEYS)
/* clang-format on */
