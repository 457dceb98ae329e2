/* The one table of spec keys. A row
 *
 *     K(table, leaf, TYPE, default, range, CONDITION, help)
 *
 * gives the field spec->table.leaf, its parsing, its limits, "did you mean", --set, --print-spec
 * and the reference that --keys prints. Adding a key is adding a row.
 *
 *   TYPE       INT (int64_t), REAL (double), BOOL (bool), STRING (const char *, never NULL),
 *              REAL_OR_AUTO (double; 0 where the spec says "auto"),
 *              STRINGS, REALS (lists; one item stands for a list of one), CHOICE(Enum) (from
 *              CHOICES; one spelled true or false is written as TOML has it, without quotes)
 *   default    written as in a spec; REQUIRED: an experiment in which it has an effect must say
 *              it; DERIVED: follows from other keys (spec_check.c)
 *   range      an interval of numbers, "[0, 1)", for each item of REALS; "" where TYPE has no
 *              numbers
 *   CONDITION  when the key has an effect (from CONDITIONS); a key written in vain is an error
 *   help       one sentence, with the unit
 *
 * Names are those of PEFT, TRL, torchtitan and Hugging Face's config.json. */
#pragma once

/* A row is laid out as a sentence, not as an argument list. */
/* clang-format off */

#define REQUIRED 0
#define DERIVED ""

/* ---- choices: the C constant and how a spec spells it; one enum a list ---- */

#define FAMILY_CHOICES(C)                                                                          \
    C(FAMILY_LLAMA, "llama") C(FAMILY_MLP, "mlp") C(FAMILY_CNN, "cnn")                             \
    C(FAMILY_MOBILENET_V2, "mobilenet_v2") C(FAMILY_RESNET, "resnet") C(FAMILY_QWEN2, "qwen2") \
    C(FAMILY_GPT2, "gpt2")
#define ROPE_CHOICES(C) C(ROPE_DEFAULT, "default") C(ROPE_LLAMA3, "llama3")
#define TASK_CHOICES(C)                                                                            \
    C(TASK_PRETRAIN, "pretrain") C(TASK_SFT, "sft") C(TASK_CLASSIFY, "classify")                   \
    C(TASK_DPO, "dpo")
#define PRECISION_CHOICES(C)                                                                       \
    C(PRECISION_FP64, "fp64") C(PRECISION_FP32, "fp32")                                            \
    C(PRECISION_TF32, "tf32") C(PRECISION_BF16, "bf16") C(PRECISION_FP16, "fp16")
#define OPTIMIZER_CHOICES(C) C(OPTIMIZER_ADAMW, "adamw") C(OPTIMIZER_SGD, "sgd")
#define STATE_CHOICES(C) C(STATE_FP32, "fp32") C(STATE_INT8, "int8")
#define SCHEDULE_CHOICES(C)                                                                        \
    C(SCHEDULE_CONSTANT, "constant") C(SCHEDULE_LINEAR, "linear") C(SCHEDULE_COSINE, "cosine")     \
    C(SCHEDULE_STEP, "step")
#define ADAPTER_CHOICES(C) C(ADAPTER_NONE, "none") C(ADAPTER_LORA, "lora")
#define DPO_LOSS_CHOICES(C)                                                                        \
    C(DPO_SIGMOID, "sigmoid") C(DPO_IPO, "ipo") C(DPO_HINGE, "hinge") C(DPO_ROBUST, "robust")
#define OVERLONG_CHOICES(C) C(OVERLONG_CUT, "cut") C(OVERLONG_DROP, "drop")
#define QUANT_CHOICES(C) C(QUANT_NONE, "none") C(QUANT_NF4, "nf4") C(QUANT_FP4, "fp4") \
    C(QUANT_INT8, "int8")
#define KEEP_CHOICES(C) C(KEEP_FALSE, "false") C(KEEP_TRUE, "true") C(KEEP_AUTO, "auto")
#define QAT_ACTIVATION_CHOICES(C)                                                                  \
    C(QAT_ACTIVATION_NONE, "none") C(QAT_ACTIVATION_INT8, "int8")                                  \
    C(QAT_ACTIVATION_FLOAT8, "float8_e4m3fn")
#define QAT_WEIGHT_CHOICES(C)                                                                      \
    C(QAT_WEIGHT_NONE, "none") C(QAT_WEIGHT_INT4, "int4") C(QAT_WEIGHT_INT8, "int8")               \
    C(QAT_WEIGHT_FLOAT8, "float8_e4m3fn")
#define RECOMPUTE_CHOICES(C)                                                                       \
    C(RECOMPUTE_AUTO, "auto") C(RECOMPUTE_NONE, "none") C(RECOMPUTE_FULL, "full")
#define DATA_CHOICES(C)                                                                            \
    C(DATA_TEXT, "text") C(DATA_JSONL, "jsonl") C(DATA_TOKENS, "tokens")                           \
    C(DATA_SYNTHETIC, "synthetic") C(DATA_IDX, "idx") C(DATA_IMAGE_FOLDER, "image_folder")
#define DECODE_CHOICES(C) C(DECODE_DEVICE, "device") C(DECODE_HOST, "host")
#define CROP_FROM_CHOICES(C) C(CROP_STORED, "stored") C(CROP_PICTURE, "picture")
#define LAYOUT_CHOICES(C) C(LAYOUT_NHWC, "nhwc") C(LAYOUT_NCHW, "nchw")
#define RESIDENT_CHOICES(C)                                                                        \
    C(RESIDENT_AUTO, "auto") C(RESIDENT_TRUE, "true") C(RESIDENT_FALSE, "false")

#define PARALLEL_CHOICES(C) C(PARALLEL_DDP, "ddp") C(PARALLEL_DP, "dp")
#define PIPELINE_CHOICES(C) C(PIPELINE_1F1B, "1f1b") C(PIPELINE_GPIPE, "gpipe")

#define CHOICES(E)                                                                                 \
    E(Family, FAMILY_CHOICES)                                                                      \
    E(RopeType, ROPE_CHOICES)                                                                      \
    E(Task, TASK_CHOICES)                                                                          \
    E(Precision, PRECISION_CHOICES)                                                                \
    E(OptimizerName, OPTIMIZER_CHOICES)                                                            \
    E(OptimizerState, STATE_CHOICES)                                                               \
    E(Schedule, SCHEDULE_CHOICES)                                                                  \
    E(AdapterType, ADAPTER_CHOICES)                                                                \
    E(DpoLoss, DPO_LOSS_CHOICES)                                                                   \
    E(QuantType, QUANT_CHOICES)                                                                    \
    E(KeepDecoded, KEEP_CHOICES)                                                                   \
    E(QatActivation, QAT_ACTIVATION_CHOICES)                                                       \
    E(QatWeight, QAT_WEIGHT_CHOICES)                                                               \
    E(Recompute, RECOMPUTE_CHOICES)                                                                \
    E(DataFormat, DATA_CHOICES)                                                                    \
    E(Overlong, OVERLONG_CHOICES)                                                                  \
    E(Decode, DECODE_CHOICES)                                                                      \
    E(CropFrom, CROP_FROM_CHOICES)                                                                 \
    E(Layout, LAYOUT_CHOICES)                                                                      \
    E(Resident, RESIDENT_CHOICES)                                                                  \
    E(DataParallel, PARALLEL_CHOICES)                                                              \
    E(PipelineSchedule, PIPELINE_CHOICES)

/* ---- conditions: name, expression over `const Spec *s`, what to tell who wrote it in vain ---- */

#define ROTARY_MODEL (s->model.family == FAMILY_LLAMA || s->model.family == FAMILY_QWEN2)
#define LANGUAGE_MODEL (ROTARY_MODEL || s->model.family == FAMILY_GPT2)

#define CONDITIONS(C)                                                                              \
    C(ALWAYS, true, "")                                                                            \
    C(LANGUAGE, LANGUAGE_MODEL, "a language model (model.family = \"llama\", \"qwen2\" or \"gpt2\")") \
    C(IMAGES, !LANGUAGE_MODEL,                                                                     \
      "an image model (model.family = \"mlp\", \"cnn\", \"mobilenet_v2\" or \"resnet\")")          \
    C(SIZED, LANGUAGE_MODEL || s->model.family == FAMILY_MLP,                                      \
      "model.family = \"llama\", \"qwen2\", \"gpt2\" or \"mlp\"")                                  \
    C(ROTARY, ROTARY_MODEL, "model.family = \"llama\" or \"qwen2\"")                               \
    C(GPT2, s->model.family == FAMILY_GPT2, "model.family = \"gpt2\"")                               \
    C(CNN, s->model.family == FAMILY_CNN, "model.family = \"cnn\"")                                \
    C(MOBILENET, s->model.family == FAMILY_MOBILENET_V2, "model.family = \"mobilenet_v2\"")        \
    C(RESNET, s->model.family == FAMILY_RESNET, "model.family = \"resnet\"")                       \
    C(FROM_SCRATCH, LANGUAGE_MODEL && !s->model.weights[0],                                        \
      "a language model and model.weights = \"\"")                                                 \
    C(ROPE_SCALED, ROTARY_MODEL && s->model.rope_type == ROPE_LLAMA3,                              \
      "model.rope_type = \"llama3\"")                                                              \
    C(ADAPTED, LANGUAGE_MODEL && s->adapter.type != ADAPTER_NONE,                                  \
      "an adapter (adapter.type = \"lora\")")                                                      \
    C(QUANTIZED, LANGUAGE_MODEL && s->quantization.quant_type != QUANT_NONE,                       \
      "frozen weights of few bits (quantization.quant_type = \"nf4\", \"fp4\" or \"int8\")")         \
    C(IN_4_BITS,                                                                                   \
      LANGUAGE_MODEL && (s->quantization.quant_type == QUANT_NF4 ||                                \
                         s->quantization.quant_type == QUANT_FP4),                                 \
      "frozen weights of 4 bits (quantization.quant_type = \"nf4\" or \"fp4\")")                   \
    C(FAKE_QUANTIZED,                                                                              \
      LANGUAGE_MODEL && (s->qat.weight_dtype == QAT_WEIGHT_INT4 ||                                 \
                         s->qat.weight_dtype == QAT_WEIGHT_INT8),                                  \
      "weights rounded to integers in training (qat.weight_dtype = \"int4\" or \"int8\")")         \
    C(ROUNDED,                                                                                     \
      LANGUAGE_MODEL && (s->qat.weight_dtype != QAT_WEIGHT_NONE ||                                 \
                         s->qat.activation_dtype != QAT_ACTIVATION_NONE),                          \
      "rounding in training (qat.weight_dtype or qat.activation_dtype)")                           \
    C(ADAMW, s->optimizer.name == OPTIMIZER_ADAMW, "optimizer.name = \"adamw\"")                   \
    C(SGD, s->optimizer.name == OPTIMIZER_SGD, "optimizer.name = \"sgd\"")                         \
    C(MOMENTUM, s->optimizer.name == OPTIMIZER_SGD && s->optimizer.momentum > 0,                   \
      "optimizer.momentum above 0")                                                                \
    C(LOSS_SCALED, s->precision.dtype == PRECISION_FP16, "precision.dtype = \"fp16\"")              \
    C(DECAYING,                                                                                    \
      s->lr_scheduler.type == SCHEDULE_LINEAR || s->lr_scheduler.type == SCHEDULE_COSINE,          \
      "lr_scheduler.type = \"linear\" or \"cosine\"")                                              \
    C(IN_STEPS, s->lr_scheduler.type == SCHEDULE_STEP, "lr_scheduler.type = \"step\"")             \
    C(FROM_FILES, s->data.format != DATA_SYNTHETIC, "data that is read from files")                \
    C(SPLIT, s->data.format != DATA_SYNTHETIC && s->data.validation.count == 0,                    \
      "data from files and no data.validation of its own")                                         \
    C(SAMPLES, LANGUAGE_MODEL && s->data.format != DATA_TEXT,                                      \
      "a language model and samples (any data.format but \"text\")")                               \
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
    C(PICTURE_CROP,                                                                                \
      s->data.format == DATA_IMAGE_FOLDER && s->data.random_resized_crop &&                        \
          s->data.decode == DECODE_HOST,                                                           \
      "data.format = \"image_folder\", data.random_resized_crop = true and data.decode = "         \
      "\"host\"")                                                                                  \
    C(FOLDERS, s->data.format == DATA_IMAGE_FOLDER, "data.format = \"image_folder\"")              \
    C(SKIPPING, LANGUAGE_MODEL && s->compile.skip_ignored_rows,                                    \
      "a language model and compile.skip_ignored_rows = true")                                     \
    C(ONE_GRAPH,                                                                                   \
      s->compile.cuda_graph && s->parallelism.pipeline_parallel_degree == 1 &&                     \
          !(s->parallelism.data_parallel_replicate_degree > 1 &&                                   \
            s->parallelism.data_parallel_mode == PARALLEL_DP),                                     \
      "compile.cuda_graph = true, without a pipeline and without several cards in a process")      \
    C(IN_16_BITS,                                                                                  \
      LANGUAGE_MODEL &&                                                                            \
          (s->precision.dtype == PRECISION_BF16 || s->precision.dtype == PRECISION_FP16),          \
      "a language model in 16 bits (precision.dtype = \"bf16\" or \"fp16\")")                      \
    C(CHUNKED, LANGUAGE_MODEL && s->compile.chunked_head,                                          \
      "a language model and compile.chunked_head = true")                                          \
    C(DATA_PARALLEL,                                                                               \
      s->parallelism.data_parallel_replicate_degree > 1 ||                                         \
          s->parallelism.data_parallel_shard_degree > 1,                                           \
      "parallelism.data_parallel_replicate_degree or data_parallel_shard_degree above 1")          \
    C(SHARDED, s->parallelism.data_parallel_shard_degree > 1,                                      \
      "parallelism.data_parallel_shard_degree above 1")                                            \
    C(GATHERED,                                                                                    \
      s->parallelism.data_parallel_shard_degree > 1 &&                                             \
          s->parallelism.shard_stage == SHARD_WEIGHTS &&                                           \
          s->parallelism.pipeline_parallel_degree == 1,                                            \
      "parallelism.data_parallel_shard_degree above 1 and shard_stage = 3, without a pipeline")    \
    C(SUMMED, s->parallelism.data_parallel_replicate_degree > 1 &&                                 \
                  s->parallelism.data_parallel_shard_degree == 1 &&                                \
                  s->parallelism.data_parallel_mode != PARALLEL_DP,                                \
      "several cards, each with a process and all states (parallelism.data_parallel_mode = "       \
      "\"ddp\", data_parallel_shard_degree = 1)")                                                  \
    C(OVERLAPPED, s->parallelism.data_parallel_shard_degree > 1                                    \
                      ? s->parallelism.shard_stage < SHARD_WEIGHTS                                 \
                      : s->parallelism.data_parallel_replicate_degree > 1 &&                       \
                            s->parallelism.data_parallel_mode != PARALLEL_DP &&                    \
                            s->parallelism.overlap_grad_reduce,                                    \
      "parallelism.data_parallel_shard_degree above 1 and shard_stage = 1 or 2, or "               \
      "data_parallel_replicate_degree above 1, data_parallel_mode = \"ddp\" and "                  \
      "overlap_grad_reduce = true")                                                                \
    C(TENSOR_PARALLEL, s->parallelism.tensor_parallel_degree > 1,                                  \
      "parallelism.tensor_parallel_degree above 1")                                                \
    C(SHARED_ROWS,                                                                                 \
      s->parallelism.tensor_parallel_degree > 1 && s->parallelism.sequence_parallel,               \
      "parallelism.sequence_parallel = true")                                                      \
    C(ONE_PROCESS,                                                                                 \
      s->parallelism.data_parallel_replicate_degree > 1 &&                                         \
          s->parallelism.data_parallel_mode == PARALLEL_DP,                                        \
      "parallelism.data_parallel_mode = \"dp\" and several cards")                                 \
    C(PROCESSES,                                                                                   \
      s->parallelism.tensor_parallel_degree > 1 || s->parallelism.pipeline_parallel_degree > 1 ||  \
          s->parallelism.data_parallel_shard_degree > 1 ||                                         \
          (s->parallelism.data_parallel_replicate_degree > 1 &&                                    \
           s->parallelism.data_parallel_mode != PARALLEL_DP),                                      \
      "several cards, each with a process (parallelism.data_parallel_mode = \"ddp\")")             \
    C(NORMED_REPLICAS,                                                                             \
      s->parallelism.data_parallel_replicate_degree * s->parallelism.data_parallel_shard_degree >  \
              1 &&                                                                                 \
          s->parallelism.data_parallel_mode != PARALLEL_DP &&                                      \
          (s->model.family == FAMILY_MOBILENET_V2 || s->model.family == FAMILY_RESNET),            \
      "model.family = \"mobilenet_v2\" or \"resnet\", on several cards with a process each")       \
    C(PIPELINED, s->parallelism.pipeline_parallel_degree > 1,                                      \
      "parallelism.pipeline_parallel_degree above 1")                                              \
    C(PROFILED, s->profiling.enabled, "profiling.enabled = true")

/* ---- keys ---- */

#define JOB_KEYS(K)                                                                                \
    K(job, name, STRING, DERIVED, "", ALWAYS,                                                      \
      "Name of the experiment and of its folder under build/; the spec's file name by default.")   \
    K(job, device, STRING, "\"h100-sxm\"", "", ALWAYS,                                             \
      "Device that the plan is made for: a file of gen/devices, or a path to one.")                \
    K(job, account, STRING, "\"\"", "", ALWAYS, "Slurm's account, for --slurm.")                   \
    K(job, partition, STRING, "\"\"", "", ALWAYS, "Slurm's partition, for --slurm.")               \
    K(job, time, STRING, "\"\"", "", ALWAYS,                                                       \
      "Slurm's time limit, as \"4:00:00\" or \"1-00:00:00\", for --slurm.")

#define MODEL_KEYS(K)                                                                              \
    K(model, family, CHOICE(Family), "llama", "", ALWAYS, "Architecture.")                         \
    K(model, weights, STRING, "\"\"", "", ALWAYS,                                                  \
      "Initial weights: \"\" draws them, a folder holds them as Hugging Face does, "               \
      "FILE.toml means what that spec trains.")                                                    \
    K(model, config, STRING, "\"\"", "", ALWAYS,                                                   \
      "Folder whose config.json gives the keys below.")                                            \
    K(model, vocab_size, INT, REQUIRED, "[2, 16777216]", LANGUAGE, "Rows of the embedding.")       \
    K(model, hidden_size, INT, REQUIRED, "[1, 1048576]", SIZED,                                    \
      "Width of the residual stream, or of the hidden layers of an mlp.")                          \
    K(model, intermediate_size, INT, REQUIRED, "[1, 4194304]", LANGUAGE,                           \
      "Width inside the feed-forward block.")                                                      \
    K(model, num_hidden_layers, INT, REQUIRED, "[1, 1024]", SIZED,                                 \
      "Decoder layers, or hidden layers of an mlp.")                                               \
    K(model, num_attention_heads, INT, REQUIRED, "[1, 4096]", LANGUAGE, "Query heads.")            \
    K(model, num_key_value_heads, INT, DERIVED, "[1, 4096]", ROTARY,                               \
      "Key and value heads; num_attention_heads by default.")                                      \
    K(model, head_dim, INT, DERIVED, "[8, 256]", ROTARY,                                           \
      "Width of a head, a multiple of 8; hidden_size / num_attention_heads by default.")           \
    K(model, max_position_embeddings, INT, "2048", "[1, 16777216]", LANGUAGE,                      \
      "Longest sequence that the model is meant for, in tokens.")                                  \
    K(model, rms_norm_eps, REAL, "1e-5", "(0, 1)", ROTARY,                                         \
      "Added to the mean square in RMSNorm.")                                                      \
    K(model, rope_theta, REAL, "10000.0", "[1, 1e12]", ROTARY,                                     \
      "Base of the rotary embedding's wavelengths.")                                               \
    K(model, rope_type, CHOICE(RopeType), "default", "", ROTARY,                                   \
      "Scaling of the rotary embedding's frequencies.")                                            \
    K(model, rope_factor, REAL, "8.0", "[1, 1e6]", ROPE_SCALED, "Stretch of the long waves.")      \
    K(model, rope_low_freq_factor, REAL, "1.0", "(0, 1e6]", ROPE_SCALED,                           \
      "Waves longer than the original context divided by this are stretched whole.")               \
    K(model, rope_high_freq_factor, REAL, "4.0", "(0, 1e6]", ROPE_SCALED,                          \
      "Waves shorter than the original context divided by this are left alone.")                   \
    K(model, rope_original_max_position_embeddings, INT, "8192", "[1, 16777216]", ROPE_SCALED,     \
      "Context of the model before stretching, in tokens.")                                        \
    K(model, tie_word_embeddings, BOOL, "false", "", ROTARY,                                       \
      "Whether embedding and head share one weight.")                                              \
    K(model, initializer_range, REAL, "0.02", "(0, 10]", FROM_SCRATCH,                             \
      "Standard deviation of the drawn weights.")                                                  \
    K(model, num_classes, INT, REQUIRED, "[2, 1048576]", IMAGES, "Classes to tell apart.")         \
    K(model, image_size, INT, REQUIRED, "[1, 4096]", IMAGES,                                       \
      "Height and width of what the model sees, in pixels; images of another size are resized.")   \
    K(model, image_channels, INT, "3", "[1, 3]", IMAGES,                                           \
      "Channels of what the model sees, 1 or 3; one channel is repeated where it wants three.")    \
    K(model, layers, STRINGS, REQUIRED, "", CNN,                                                   \
      "Layers in order: \"conv CHANNELS KERNEL [STRIDE [PADDING]]\", \"relu\", "                   \
      "\"max_pool KERNEL [STRIDE]\", \"dropout SHARE\", \"flatten\", \"linear FEATURES\"; a "      \
      "linear to the classes follows.")                                                            \
    K(model, width_mult, REAL, "1.0", "(0, 16]", MOBILENET,                                        \
      "Factor of all widths, which are rounded to multiples of 8.")                                \
    K(model, dropout, REAL, "0.2", "[0, 1)", MOBILENET,                                            \
      "Share of the classifier's inputs that is dropped.")                                         \
    K(model, depth, INT, REQUIRED, "[18, 50]", RESNET, "Layers with weights: 18, 34 or 50.")       \
    K(model, base_width, INT, "64", "[1, 4096]", RESNET,                                           \
      "Channels of the first stage; each of the other three doubles them.")                        \
    K(model, layer_norm_epsilon, REAL, "1e-5", "(0, 1)", GPT2, "Added to the variance in LayerNorm.")

#define TRAINING_KEYS(K)                                                                           \
    K(training, task, CHOICE(Task), "pretrain", "", ALWAYS,                                        \
      "pretrain trains every weight on every token; sft trains on completions, with an adapter "   \
      "or without; dpo trains on pairs of a chosen and a rejected completion; "                    \
      "classify trains an image model.")                                                           \
    K(training, seq_len, INT, REQUIRED, "[1, 1048576]", LANGUAGE, "Tokens in a row of the batch.") \
    K(training, per_device_train_batch_size, INT, "1", "[1, 65535]", ALWAYS,                       \
      "Rows of tokens, pairs of them, or images, in a micro-batch.")                               \
    K(training, gradient_accumulation_steps, INT, "1", "[1, 65536]", ALWAYS,                       \
      "Micro-batches in a step.")                                                                  \
    K(training, steps, INT, REQUIRED, "[0, 1000000000]", ALWAYS,                                   \
      "Optimizer steps; 0 only evaluates.")                                                        \
    K(training, seed, INT, "0", "[0, 9007199254740992]", ALWAYS,                                   \
      "Key of every random number: weights, masks, shuffling.")                                    \
    K(training, max_grad_norm, REAL, "1.0", "[0, 1e9]", ALWAYS,                                    \
      "Gradients are scaled down to this global norm; 0 leaves them alone.")                       \
    K(training, log_every, INT, "10", "[1, 1000000000]", ALWAYS, "Steps between progress lines.")  \
    K(training, eval_every, INT, "0", "[0, 1000000000]", ALWAYS,                                   \
      "Steps between evaluations; 0 evaluates before and after training only.")                    \
    K(training, label_smoothing, REAL, "0.0", "[0, 1)", IMAGES,                                    \
      "Share of each target that is spread evenly over all classes; in held-out losses too.")

#define PRECISION_KEYS(K)                                                                          \
    K(precision, dtype, CHOICE(Precision), "fp32", "", ALWAYS,                                     \
      "Type of the matrix products; bf16 and fp16 keep sums, norms, losses and what trains in "    \
      "fp32; fp16 scales its loss.")                                                               \
    K(precision, init_scale, REAL, "65536.0", "[1, 1e30]", LOSS_SCALED, "First loss scale.")       \
    K(precision, growth_factor, REAL, "2.0", "(1, 1024]", LOSS_SCALED,                             \
      "What the loss scale is multiplied by after growth_interval updates in a row.")              \
    K(precision, backoff_factor, REAL, "0.5", "(0, 1)", LOSS_SCALED,                               \
      "What it is multiplied by when gradients overflow; that step applies no update.")            \
    K(precision, growth_interval, INT, "2000", "[1, 1000000000]", LOSS_SCALED,                     \
      "Updates without an overflow after which the loss scale grows.")

#define OPTIMIZER_KEYS(K)                                                                          \
    K(optimizer, name, CHOICE(OptimizerName), "adamw", "", ALWAYS, "Update rule.")                 \
    K(optimizer, lr, REAL, "1e-4", "[0, 1000]", ALWAYS, "Learning rate at its height.")            \
    K(optimizer, beta1, REAL, "0.9", "[0, 1)", ADAMW, "Decay of the first moment.")                \
    K(optimizer, beta2, REAL, "0.999", "[0, 1)", ADAMW, "Decay of the second moment.")             \
    K(optimizer, eps, REAL, "1e-8", "(0, 1]", ADAMW, "Added to the root of the second moment.")    \
    K(optimizer, weight_decay, REAL, DERIVED, "[0, 10]", ALWAYS,                                   \
      "adamw: decoupled decay a step, times the learning rate, 0.01 by default; sgd: share of "    \
      "the weight that is added to its gradient, 0 by default.")                                   \
    K(optimizer, momentum, REAL, "0.0", "[0, 1)", SGD, "Share of the last update that is kept.")   \
    K(optimizer, nesterov, BOOL, "false", "", MOMENTUM, "Whether the momentum looks ahead.")        \
    K(optimizer, state, CHOICE(OptimizerState), "fp32", "", ADAMW,                                 \
      "How moments are kept; int8: as bitsandbytes does, in blocks of 256 codes, those of "        \
      "tensors with fewer than 4096 elements in fp32.")

#define LR_SCHEDULER_KEYS(K)                                                                       \
    K(lr_scheduler, type, CHOICE(Schedule), "constant", "", ALWAYS,                                \
      "Course of the learning rate after the warm-up.")                                            \
    K(lr_scheduler, warmup_steps, INT, "0", "[0, 1000000000]", ALWAYS,                             \
      "Steps in which the learning rate climbs from 0.")                                           \
    K(lr_scheduler, min_lr_factor, REAL, "0.0", "[0, 1]", DECAYING,                                \
      "Learning rate at the end, as a share of optimizer.lr.")                                     \
    K(lr_scheduler, step_size, INT, REQUIRED, "[1, 1000000000]", IN_STEPS,                         \
      "Steps after which the learning rate is multiplied by gamma, again and again.")              \
    K(lr_scheduler, gamma, REAL, "0.1", "(0, 1]", IN_STEPS, "Factor of the learning rate.")

#define ADAPTER_KEYS(K)                                                                            \
    K(adapter, type, CHOICE(AdapterType), "none", "", LANGUAGE,                                    \
      "Adapter that trains while the model's weights stay frozen.")                                \
    K(adapter, r, INT, "8", "[1, 8192]", ADAPTED, "Rank.")                                         \
    K(adapter, lora_alpha, REAL, "16.0", "(0, 1e6]", ADAPTED,                                      \
      "Scale: the low-rank path counts lora_alpha / r.")                                           \
    K(adapter, lora_dropout, REAL, "0.0", "[0, 1)", ADAPTED,                                       \
      "Share of the low-rank path's inputs that is dropped.")                                      \
    K(adapter, target_modules, STRINGS, "[\"all-linear\"]", "", ADAPTED,                           \
      "Linears that get an adapter: q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, "          \
      "down_proj; of gpt2 c_attn, c_proj, c_fc; all-linear means all of these.")                   \
    K(adapter, use_rslora, BOOL, "false", "", ADAPTED, "Scale by lora_alpha / sqrt(r) instead.") \
    K(adapter, use_dora, BOOL, "false", "", ADAPTED,                                               \
      "DoRA: rows of W + s B A get magnitudes of their own, which train too.")                     \
    K(adapter, modules_to_save, STRINGS, "[]", "", ADAPTED,                                        \
      "Whole modules that train beside the adapter and are saved with it: lm_head, embed_tokens.")

#define DPO_KEYS(K)                                                                                \
    K(dpo, loss_type, CHOICE(DpoLoss), "sigmoid", "", PAIRS, "Loss of a pair, as TRL names it.")   \
    K(dpo, beta, REAL, "0.1", "[1e-4, 1e6]", PAIRS,                                                \
      "Weight of the log-ratio to the reference; for ipo its tau.")                                \
    K(dpo, label_smoothing, REAL, "0.0", "[0, 0.5)", SMOOTHED_PAIRS,                               \
      "Probability that a pair is the wrong way round.")                                           \
    K(dpo, precompute_ref_log_probs, BOOL, "false", "", PAIRS,                                     \
      "Compute the reference's log-probabilities of all pairs once, before training, and keep "    \
      "them in a file; else beside each forward.")                                                 \
    K(dpo, shared_prompt, BOOL, "false", "", PAIRS,                                                \
      "A pair is one row of seq_len places, its prompt once, ahead of both completions, which "    \
      "together have to find room there.")                                                         \
    K(dpo, max_packed_pairs, INT, "8", "[2, 1024]", PACKED_PAIRS,                                  \
      "Pairs at most that share two rows, or one with shared_prompt.")

#define QUANTIZATION_KEYS(K)                                                                       \
    K(quantization, quant_type, CHOICE(QuantType), "none", "", LANGUAGE,                           \
      "How the frozen weights of the layers' linears are kept: in 4 bits, nf4 as QLoRA does, fp4 " \
      "as floats of 4 bits; int8 as integers of 8 bits with a scale a row.")                       \
    K(quantization, block_size, INT, "64", "[32, 4096]", IN_4_BITS,                                \
      "Weights that share a scale; a power of 2.")                                                 \
    K(quantization, double_quant, BOOL, "true", "", IN_4_BITS,                                     \
      "Quantise the scales too, to 8 bits.")                                                       \
    K(quantization, keep_decoded, CHOICE(KeepDecoded), "false", "", QUANTIZED,                     \
      "Keep what forward decoded until backward has read it, which else decodes again; auto: where " \
      "memory allows.")

#define QAT_KEYS(K)                                                                                \
    K(qat, activation_dtype, CHOICE(QatActivation), "none", "", LANGUAGE,                          \
      "What the layers' linears read is rounded to, a scale a token; int8: by its least and "      \
      "largest, float8_e4m3fn: by its largest magnitude.")                                         \
    K(qat, weight_dtype, CHOICE(QatWeight), "none", "", LANGUAGE,                                  \
      "What the weights of the layers' linears are rounded to in training; float8_e4m3fn has a "   \
      "scale a row.")                                                                              \
    K(qat, group_size, INT, DERIVED, "[0, 65536]", FAKE_QUANTIZED,                                 \
      "Weights in a row that share a scale, 0: all of them; by default 32, with int8 0.")          \
    K(qat, fake_quant_after_n_steps, INT, "0", "[0, 1000000000]", ROUNDED,                         \
      "Steps that train without rounding, before it begins.")                                      \
    K(qat, export, CHOICE(QatWeight), "none", "", FAKE_QUANTIZED,                                  \
      "Writes the weights in these bits at the end of the run, and evaluates the model with them.")

#define ACTIVATION_CHECKPOINT_KEYS(K)                                                              \
    K(activation_checkpoint, mode, CHOICE(Recompute), "auto", "", ALWAYS,                          \
      "What backward computes again: auto drops activations only until the plan fits, full "       \
      "keeps only what lies between layers; both round anew what [qat] rounded, none keeps it.")   \
    K(activation_checkpoint, memory_budget_gib, REAL, "0.0", "[0, 1048576]", ALWAYS,               \
      "Device memory that the plan may use, in GiB; 0 means the device's own.")

#define PARALLELISM_KEYS(K)                                                                        \
    K(parallelism, data_parallel_mode, CHOICE(DataParallel), "ddp", "", DATA_PARALLEL,             \
      "How batches are shared out; ddp: one process a card, whose gradients are summed; dp: one "  \
      "process for all cards, whose first one has the weights and updates them.")                  \
    K(parallelism, data_parallel_replicate_degree, INT, "1", "[1, 1024]", ALWAYS,                  \
      "Cards, each with the whole model and batches of its own.")                                  \
    K(parallelism, data_parallel_shard_degree, INT, "1", "[1, 1024]", ALWAYS,                      \
      "Cards with batches of their own that share out what shard_stage says; with "                \
      "data_parallel_replicate_degree so many for each of those.")                                 \
    K(parallelism, shard_stage, INT, "1", "[1, 3]", SHARDED,                                       \
      "What they share out; 1: the optimizer's states and masters; 2: gradients too, summed in "   \
      "every micro-step; 3: weights too, frozen ones included, gathered for each use.")            \
    K(parallelism, reshard_after_forward, BOOL, "true", "", GATHERED,                              \
      "Give up gathered weights behind their use in forward, and gather them again for "           \
      "backward; false: keep them until then, for half the bytes between cards.")                  \
    K(parallelism, overlap_grad_reduce, BOOL, "true", "", SUMMED,                                  \
      "Sum gradients over the cards as backward makes them, beside it; false: after it.")          \
    K(parallelism, bucket_size_mb, REAL_OR_AUTO, "\"auto\"", "(0, 1048576]", OVERLAPPED,           \
      "MiB of gradients, rounded up to whole modules of the model, that are summed at once; "      \
      "auto: what the plan predicts to be fastest, of shards 64.")                                 \
    K(parallelism, gather_outputs, BOOL, "false", "", ONE_PROCESS,                                 \
      "Logits are copied to the first card each micro-step, as nn.DataParallel does.")             \
    K(parallelism, sync_batch_norm, BOOL, "false", "", NORMED_REPLICAS,                            \
      "Whether batch norm takes its statistics of all ranks' batches.")                            \
    K(parallelism, tensor_parallel_degree, INT, "1", "[1, 1024]", ALWAYS,                          \
      "Cards that share out the heads of attention and the width of MLP, with the same batches.")  \
    K(parallelism, vocab_parallel, BOOL, "true", "", TENSOR_PARALLEL,                              \
      "Share out the vocabulary too: embedding, head and logits.")                                 \
    K(parallelism, sequence_parallel, BOOL, "false", "", TENSOR_PARALLEL,                          \
      "Share out the rows between attention and MLP: norms and what is kept for them.")            \
    K(parallelism, sequence_parallel_chunks, INT, "1", "[1, 8]", SHARED_ROWS,                      \
      "Runs of rows in which cards exchange activations, each beside the product of another.")     \
    K(parallelism, pipeline_parallel_degree, INT, "1", "[1, 1024]", ALWAYS,                        \
      "Stages that the model is cut into, a card each; gradient_accumulation_steps micro-batches " \
      "follow each other through them.")                                                           \
    K(parallelism, pipeline_schedule, CHOICE(PipelineSchedule), "1f1b", "", PIPELINED,             \
      "1f1b: a stage goes back as soon as it can; gpipe: all forwards, then all backwards.")       \
    K(parallelism, pipeline_split_points, STRINGS, "[]", "", PIPELINED,                            \
      "Modules that the second stage and those after it begin with; without them the plan's "      \
      "times decide.")                                                                             \
    K(parallelism, comm_timeout_s, REAL, "600.0", "[1, 86400]", PROCESSES,                         \
      "Seconds in which a step must end; after them a rank that waits for another gives up.")

#define DATA_KEYS(K)                                                                               \
    K(data, format, CHOICE(DataFormat), "text", "", ALWAYS,                                        \
      "text: bytes as tokens; jsonl: a sample a line; tokens: shards; synthetic: drawn; idx: "     \
      "images and labels as MNIST's; image_folder: a folder a class.")                             \
    K(data, train, STRINGS, "[]", "", FROM_FILES, "Files or patterns to train on.")                \
    K(data, validation, STRINGS, "[]", "", FROM_FILES,                                             \
      "Files or patterns held out; without them eval_fraction of train is.")                       \
    K(data, eval_fraction, REAL, "0.05", "(0, 1)", SPLIT, "Share of train that is held out.")      \
    K(data, eval_batches, INT, "8", "[1, 1000000]", ALWAYS, "Micro-batches in an evaluation.")     \
    K(data, packing, BOOL, "false", "", SAMPLES,                                                   \
      "Whether short samples share a row, pairs two of them; they never attend to each other.")    \
    K(data, overlong, CHOICE(Overlong), "cut", "", PAIRS,                                          \
      "What becomes of a pair with a sequence longer than training.seq_len; cut: its end goes, "   \
      "and all of it where no completion is left.")                                                \
    K(data, shuffle, BOOL, "true", "", FROM_FILES, "Whether every epoch has its own order.")       \
    K(data, pin_memory, BOOL, "true", "", ALWAYS, "Whether host buffers are page-locked.")         \
    K(data, numa_bind, BOOL, "true", "", ALWAYS,                                                   \
      "Whether threads, and the host memory they take, stay on the NUMA node of the card.")        \
    K(data, prefetch_batches, INT, "2", "[1, 64]", ALWAYS, "Micro-batches prepared ahead.")        \
    K(data, num_workers, INT, "1", "[0, 256]", ALWAYS,                                             \
      "Threads that prepare micro-batches; 0: none ahead, the step waits for each.")               \
    K(data, max_target_tokens, INT, "0", "[0, 2147483647]", SKIPPING,                              \
      "Most tokens with a target in a micro-batch; 0 means every token may have one.")             \
    K(data, image_height, INT, DERIVED, "[1, 16384]", IMAGES,                                      \
      "Rows of a stored image, in pixels; model.image_size by default.")                           \
    K(data, image_width, INT, DERIVED, "[1, 16384]", IMAGES,                                       \
      "Columns of a stored image, in pixels; model.image_size by default.")                        \
    K(data, image_channels, INT, DERIVED, "[1, 3]", IMAGES,                                        \
      "Channels of a stored image, 1 or 3; model.image_channels by default, 1 with idx.")          \
    K(data, image_mean, REALS, "[0.0]", "[-1000, 1000]", IMAGES,                                   \
      "Subtracted from pixels in [0, 1]: a number a channel of the model, or one for all.")        \
    K(data, image_std, REALS, "[1.0]", "(0, 1000]", IMAGES,                                        \
      "Pixels are divided by it, after image_mean is subtracted: a number a channel, or one.")     \
    K(data, random_resized_crop, BOOL, "false", "", IMAGES,                                        \
      "Whether training images are random parts of the stored ones, made model.image_size.")       \
    K(data, crop_scale, REALS, "[0.08, 1.0]", "(0, 1]", RANDOM_CROP,                               \
      "Least and largest area of such a part, as a share of the stored image's.")                  \
    K(data, crop_ratio, REALS, "[0.75, 1.3333333333333333]", "[0.001, 1000]", RANDOM_CROP,         \
      "Least and largest ratio of its width to its height.")                                       \
    K(data, crop_from, CHOICE(CropFrom), "stored", "", PICTURE_CROP,                               \
      "What such parts are cut from: stored images; or the files' whole pictures, which are then " \
      "resized with antialias, as torchvision does.")                                              \
    K(data, random_horizontal_flip, REAL, "0.0", "[0, 1]", IMAGES,                                 \
      "Probability that a training image is mirrored.")                                            \
    K(data, eval_resize_size, INT, "0", "[0, 16384]", IMAGES,                                      \
      "What the shorter side of held-out images becomes before the central model.image_size is "   \
      "taken; 0: all of the image is resized.")                                                    \
    K(data, decode, CHOICE(Decode), "device", "", IMAGES,                                          \
      "Who crops, resizes and normalises: the device, in the step, from bytes; or the host.")      \
    K(data, device_resident, CHOICE(Resident), "auto", "", RESIDENT,                               \
      "Whether the device keeps the whole set, and a batch is its places there; auto: with idx "   \
      "files that can be read, where the plan fits with the set.")                                 \
    K(data, decode_scaled, BOOL, "false", "", FOLDERS,                                             \
      "Whether JPEG files are decoded in a half, a quarter or an eighth of their size where what " \
      "is seen of them is no larger; pixels differ a little from those of the whole picture.")     \
    K(data, skip_broken, BOOL, "false", "", FOLDERS,                                               \
      "Whether images that cannot be decoded are left out; otherwise the first one is an error.")

#define CHECKPOINT_KEYS(K)                                                                         \
    K(checkpoint, interval, INT, "0", "[0, 1000000000]", ALWAYS,                                   \
      "Steps between checkpoints; 0 writes one at the end and at signals only.")                   \
    K(checkpoint, keep_latest_k, INT, "2", "[1, 1000000]", ALWAYS, "Checkpoints that are kept.")   \
    K(checkpoint, export, BOOL, "true", "", ALWAYS,                                                \
      "Whether the result is written in Hugging Face's or PEFT's format at the end.")              \
    K(checkpoint, export_base, BOOL, "false", "", IN_4_BITS,                                       \
      "Whether the frozen base is written too, in its few bits, as bitsandbytes reads it.")

#define COMPILE_KEYS(K)                                                                            \
    K(compile, fusion, BOOL, "true", "", ALWAYS, "Fuse neighbouring ops into one kernel.")         \
    K(compile, cuda_graph, BOOL, "true", "", ALWAYS, "Launch a micro-step as one CUDA graph.")     \
    K(compile, bordered, BOOL, "true", "", LANGUAGE,                                               \
      "Keep base and adapter in one bordered matrix and multiply once.")                           \
    K(compile, joined_linears, BOOL, "true", "", LANGUAGE,                                         \
      "Multiply once for linears that train and read the same, as q, k and v.")                    \
    K(compile, joined_launches, BOOL, "true", "", ALWAYS,                                          \
      "Launch once what a kernel does at one stride, as for each layer, and RoPE of q and k.")     \
    K(compile, side_stream, BOOL, "true", "", ONE_GRAPH,                                            \
      "Run kernels that nothing behind them waits for beside the others, where the plan gains "    \
      "2 % of a step's time by it.")                                                               \
    K(compile, wgmma, BOOL, "false", "", IN_16_BITS,                                               \
      "Multiply by Hopper's wgmma in attention where heads are 64 or 128 wide; no GPU has "        \
      "measured it yet.")                                                               \
    K(compile, programmatic_launch, BOOL, "false", "", ALWAYS,                                     \
      "Launch a kernel while the one before it ends (programmatic dependent launch, from "         \
      "Hopper on); no GPU has measured it yet.")                                                   \
    K(compile, chunked_head, BOOL, "true", "", LANGUAGE,                                           \
      "Never hold the logits of a whole batch.")                                                   \
    K(compile, skip_ignored_rows, BOOL, "true", "", LANGUAGE,                                      \
      "Leave tokens without a target out of the head.")                                            \
    K(compile, head_chunk_tokens, INT, "2048", "[1, 1048576]", CHUNKED,                            \
      "Tokens in a chunk of the head.")                                                            \
    K(compile, overlap, BOOL, "true", "", ALWAYS,                                                  \
      "Copy a batch to the device while it works on the one before.")                              \
    K(compile, pool_first, BOOL, "true", "", IMAGES,                                               \
      "Put a ReLU behind the max pooling that reads it, and sum gradients before it.")              \
    K(compile, layout, CHOICE(Layout), "nhwc", "", IMAGES,                                         \
      "How images lie in memory: each pixel's channels together, or channel by channel.")

#define PROFILING_KEYS(K)                                                                          \
    K(profiling, enabled, BOOL, "false", "", ALWAYS, "Record kernels in a window of steps.")       \
    K(profiling, start_step, INT, "5", "[0, 1000000000]", PROFILED, "First step of the window.")   \
    K(profiling, steps, INT, "3", "[1, 1000]", PROFILED, "Steps in the window.")                   \
    K(profiling, trace, BOOL, "true", "", PROFILED, "Write trace.json (opens in Perfetto).")

#define BENCHMARK_KEYS(K)                                                                          \
    K(benchmark, repeats, INT, "1", "[1, 100]", ALWAYS,                                            \
      "How often each point of a [sweep] runs; its figures are medians, with their range.")

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
