/* What keys can be chosen from: the C constants and their spellings in a spec, one enum per list. The
 * list CHOICES names the enums. A new choice is an item here. */
#pragma once

/* clang-format off */

#define FAMILY_CHOICES(C)                                                                          \
    C(FAMILY_LLAMA, "llama") C(FAMILY_MLP, "mlp") C(FAMILY_CNN, "cnn")                             \
    C(FAMILY_MOBILENET_V2, "mobilenet_v2") C(FAMILY_RESNET, "resnet") C(FAMILY_QWEN2, "qwen2")     \
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
#define QUANT_CHOICES(C) C(QUANT_NONE, "none") C(QUANT_NF4, "nf4") C(QUANT_FP4, "fp4")             \
    C(QUANT_INT8, "int8")
#define KEEP_CHOICES(C) C(KEEP_FALSE, "false") C(KEEP_TRUE, "true") C(KEEP_AUTO, "auto")
#define QAT_ACTIVATION_CHOICES(C)                                                                  \
    C(QAT_ACTIVATION_NONE, "none") C(QAT_ACTIVATION_INT8, "int8")                                  \
    C(QAT_ACTIVATION_FLOAT8, "float8_e4m3fn")
#define QAT_WEIGHT_CHOICES(C)                                                                      \
    C(QAT_WEIGHT_NONE, "none") C(QAT_WEIGHT_INT4, "int4") C(QAT_WEIGHT_INT8, "int8")               \
    C(QAT_WEIGHT_FLOAT8, "float8_e4m3fn")
#define QAT_EXPORT_CHOICES(C)                                                                      \
    C(QAT_EXPORT_NONE, "none") C(QAT_EXPORT_INT4, "int4") C(QAT_EXPORT_INT8, "int8")
#define RECOMPUTE_CHOICES(C)                                                                       \
    C(RECOMPUTE_AUTO, "auto") C(RECOMPUTE_NONE, "none") C(RECOMPUTE_FULL, "full")
#define DATA_CHOICES(C)                                                                            \
    C(DATA_TEXT, "text") C(DATA_JSONL, "jsonl") C(DATA_TOKENS, "tokens")                           \
    C(DATA_SYNTHETIC, "synthetic") C(DATA_IDX, "idx") C(DATA_IMAGE_FOLDER, "image_folder")
#define LAST_BATCH_CHOICES(C)                                                                      \
    C(LAST_ROLLOVER, "rollover") C(LAST_DISCARD, "discard") C(LAST_PAD, "pad")
#define DECODE_CHOICES(C) C(DECODE_DEVICE, "device") C(DECODE_HOST, "host")
#define CROP_FROM_CHOICES(C) C(CROP_STORED, "stored") C(CROP_PICTURE, "picture")
#define LAYOUT_CHOICES(C) C(LAYOUT_NHWC, "nhwc") C(LAYOUT_NCHW, "nchw")
#define RESIDENT_CHOICES(C)                                                                        \
    C(RESIDENT_AUTO, "auto") C(RESIDENT_TRUE, "true") C(RESIDENT_FALSE, "false")
#define WHERE_GAINED_CHOICES(C)                                                                    \
    C(WHERE_GAINED, "auto") C(EVERYWHERE, "true") C(NOWHERE, "false")

#define PARALLEL_CHOICES(C) C(PARALLEL_DDP, "ddp") C(PARALLEL_DP, "dp")
#define PIPELINE_CHOICES(C) C(PIPELINE_1F1B, "1f1b") C(PIPELINE_GPIPE, "gpipe")
#define ONE_RANK_CHOICES(C)                                                                        \
    C(ONE_RANK_NONE, "none") C(ONE_RANK_DDP, "ddp") C(ONE_RANK_SHARD, "shard")                     \
    C(ONE_RANK_TENSOR, "tensor")

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
    E(QatExport, QAT_EXPORT_CHOICES)                                                               \
    E(Recompute, RECOMPUTE_CHOICES)                                                                \
    E(DataFormat, DATA_CHOICES)                                                                    \
    E(Overlong, OVERLONG_CHOICES)                                                                  \
    E(LastBatch, LAST_BATCH_CHOICES)                                                               \
    E(Decode, DECODE_CHOICES)                                                                      \
    E(CropFrom, CROP_FROM_CHOICES)                                                                 \
    E(Layout, LAYOUT_CHOICES)                                                                      \
    E(WhereGained, WHERE_GAINED_CHOICES)                                                           \
    E(Resident, RESIDENT_CHOICES)                                                                  \
    E(DataParallel, PARALLEL_CHOICES)                                                              \
    E(PipelineSchedule, PIPELINE_CHOICES)                                                          \
    E(OneRankCollectives, ONE_RANK_CHOICES)
