/* Offsets of all buffers of shard, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 176128ul

#define SEED 0ul /* i64 [1], counter */
#define STEP 256ul /* i32 [1], counter */
#define APPLIED 512ul /* i32 [1], counter */
#define BAD_STEP 768ul /* i32 [1], counter */
#define STEP_LOSS 1024ul /* f32 [1], counter */
#define EVAL_LOSS 1280ul /* f32 [1], counter */
#define LR 1536ul /* f32 [4, 1], counter */
#define BIAS_CORRECTION1 1792ul /* f32 [4, 1], counter */
#define BIAS_CORRECTION2_SQRT 2048ul /* f32 [4, 1], counter */
#define LOSS 2304ul /* f32 [4, 1], counter */
#define GRAD_NORM 2560ul /* f32 [4, 1], counter */
#define EVAL_TOP1 2816ul /* f32 [1], counter */
#define EVAL_TOP5 3072ul /* f32 [1], counter */
#define IMAGE_MEAN 3328ul /* f32 [1], constant */
#define IMAGE_STD 3584ul /* f32 [1], constant */
#define LOSS_GRAD 3840ul /* f32 [1], constant */
#define TRAINED 4096ul /* bf16 [12, 1024], weight */
#define LAYERS_2_BIAS TRAINED /* bf16 [10] */
#define LAYERS_2_WEIGHT (TRAINED + 2048ul) /* bf16 [10, 64] */
#define LAYERS_1_BIAS (TRAINED + 4096ul) /* bf16 [64] */
#define LAYERS_1_WEIGHT (TRAINED + 6144ul) /* bf16 [64, 64] */
#define LAYERS_0_BIAS (TRAINED + 14336ul) /* bf16 [64] */
#define LAYERS_0_WEIGHT (TRAINED + 16384ul) /* bf16 [64, 64] */
#define GRADIENT 28672ul /* f32 [18, 1024], gradient */
#define GRADIENT_PIECE GRADIENT /* f32 [6, 1024] */
#define LAYERS_GRADIENT_PIECE GRADIENT /* f32 [6, 1024] */
#define LAYERS_GRADIENTS (GRADIENT + 24576ul) /* f32 [12, 1024] */
#define LAYERS_2_BIAS_GRAD (GRADIENT + 24576ul) /* f32 [10] */
#define LAYERS_2_WEIGHT_GRAD (GRADIENT + 28672ul) /* f32 [10, 64] */
#define LAYERS_1_BIAS_GRAD (GRADIENT + 32768ul) /* f32 [64] */
#define LAYERS_1_WEIGHT_GRAD (GRADIENT + 36864ul) /* f32 [64, 64] */
#define LAYERS_0_BIAS_GRAD (GRADIENT + 53248ul) /* f32 [64] */
#define LAYERS_0_WEIGHT_GRAD (GRADIENT + 57344ul) /* f32 [64, 64] */
#define MASTER_PIECE 102400ul /* f32 [6, 1024], optimizer */
#define EXP_AVG_PIECE 126976ul /* f32 [6, 1024], optimizer */
#define EXP_AVG_SQ_PIECE 151552ul /* f32 [6, 1024], optimizer */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 4207616ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define IMAGES 0ul /* bf16 [512, 1], micro_step until layers.0.weight.grad */
#define LAYERS_0_BIASED 1024ul /* bf16 [8, 64], micro_step until layers.0.relu */
#define LAYERS_0_RELU 2048ul /* bf16 [8, 64], micro_step until layers.1.weight.grad */
#define LAYERS_1_BIASED 1024ul /* bf16 [8, 64], micro_step until layers.1.relu */
#define LAYERS_1_RELU 3072ul /* bf16 [8, 64], micro_step until layers.2.weight.grad */
#define LAYERS_2_BIASED 4096ul /* bf16 [8, 10], micro_step until loss.rows */
#define LOSS_ROWS 1024ul /* f32 [8, 1], micro_step until loss */
#define EVALUATE_IMAGES 0ul /* bf16 [512, 1], evaluate until layers.0 */
#define EVALUATE_LAYERS_0_BIASED 1024ul /* bf16 [8, 64], evaluate until layers.0.relu */
#define EVALUATE_LAYERS_0_RELU 0ul /* bf16 [8, 64], evaluate until layers.1 */
#define EVALUATE_LAYERS_1_BIASED 1024ul /* bf16 [8, 64], evaluate until layers.1.relu */
#define EVALUATE_LAYERS_2_BIASED 0ul /* bf16 [8, 10], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS 256ul /* f32 [8, 1], evaluate until loss */
#define EVALUATE_HITS_TOP1 512ul /* f32 [8, 1], evaluate until top1 */
#define EVALUATE_HITS_TOP5 768ul /* f32 [8, 1], evaluate until top5 */
#define LAYERS_2_BIASED_GRAD 4352ul /* bf16 [8, 10], micro_step until layers.2.weight.grad */
#define LAYERS_1_BIASED_GRAD 1024ul /* bf16 [8, 64], micro_step until layers.0.relu.grad */
#define LAYERS_0_RELU_GRAD 2048ul /* bf16 [8, 64], micro_step until layers.0.biased.grad */
#define LAYERS_0_BIASED_GRAD 1024ul /* bf16 [8, 64], micro_step until layers.0.weight.grad */
#define GRAD_NORM_COLUMNS 0ul /* f32 [1024], update until grad_norm.squared */
#define GRAD_NORM_SQUARED 4096ul /* f32 [1], update until clip_factor */
#define CLIP_FACTOR 12288ul /* f32 [1], update until adamw */
#define RATES_LR 12544ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION1 12800ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION2_SQRT 13056ul /* f32 [1], update until adamw */
#define TRAINED_PIECE 0ul /* bf16 [6, 1024], update until layers.all_gather */
#define LAYERS_0_RELU_MASK 4608ul /* u8 [8, 8], micro_step until layers.0.biased.grad */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1024ul

#define PIXELS 0ul /* u8 [512, 1] */
#define LABELS 512ul /* i32 [8, 1] */
#define LOSS_WEIGHT 768ul /* f32 [1] */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 13312ul
#define GEMM_WORKSPACE_BYTES 4194304ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 6,
    CONSTANTS = 3,
    MICRO_STEP_OUTPUTS = 22,
    UPDATE_OUTPUTS = 18,
    EVALUATE_OUTPUTS = 11,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
