/* Offsets of all buffers of cnn, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 151040ul

#define SEED 0ul /* i64 [1], counter */
#define STEP 256ul /* i32 [1], counter */
#define APPLIED 512ul /* i32 [1], counter */
#define BAD_STEP 768ul /* i32 [1], counter */
#define STEP_LOSS 1024ul /* f32 [1], counter */
#define EVAL_LOSS 1280ul /* f32 [1], counter */
#define LR 1536ul /* f32 [10, 1], counter */
#define LOSS 1792ul /* f32 [10, 1], counter */
#define GRAD_NORM 2048ul /* f32 [10, 1], counter */
#define EVAL_TOP1 2304ul /* f32 [1], counter */
#define EVAL_TOP5 2560ul /* f32 [1], counter */
#define IMAGE_MEAN 2816ul /* f32 [1], constant */
#define IMAGE_STD 3072ul /* f32 [1], constant */
#define LOSS_GRAD 3328ul /* f32 [1], constant */
#define TRAINED 3584ul /* f32 [12, 1024], weight */
#define FC2_WEIGHT TRAINED /* f32 [6, 16] */
#define FC1_WEIGHT (TRAINED + 4096ul) /* f32 [16, 300] */
#define CONV2_WEIGHT (TRAINED + 24576ul) /* f32 [12, 3, 3, 8] */
#define CONV1_WEIGHT (TRAINED + 28672ul) /* f32 [8, 3, 3, 1] */
#define FC2_BIAS (TRAINED + 32768ul) /* f32 [6] */
#define FC1_BIAS (TRAINED + 36864ul) /* f32 [16] */
#define CONV2_BIAS (TRAINED + 40960ul) /* f32 [12] */
#define CONV1_BIAS (TRAINED + 45056ul) /* f32 [8] */
#define GRADIENT 52736ul /* f32 [12, 1024], gradient */
#define FC2_WEIGHT_GRAD GRADIENT /* f32 [6, 16] */
#define FC1_WEIGHT_GRAD (GRADIENT + 4096ul) /* f32 [16, 300] */
#define CONV2_WEIGHT_GRAD (GRADIENT + 24576ul) /* f32 [12, 3, 3, 8] */
#define CONV1_WEIGHT_GRAD (GRADIENT + 28672ul) /* f32 [8, 3, 3, 1] */
#define FC2_BIAS_GRAD (GRADIENT + 32768ul) /* f32 [6] */
#define FC1_BIAS_GRAD (GRADIENT + 36864ul) /* f32 [16] */
#define CONV2_BIAS_GRAD (GRADIENT + 40960ul) /* f32 [12] */
#define CONV1_BIAS_GRAD (GRADIENT + 45056ul) /* f32 [8] */
#define MOMENTUM_BUFFER 101888ul /* f32 [12, 1024], optimizer */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8654848ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define IMAGES 69120ul /* f32 [576, 1], micro_step until conv1.weight.grad */
#define RELU1 43520ul /* f32 [400, 8], micro_step until relu1.grad, side conv2.weight.grad */
#define MAX_POOL1_ARGMAX 56320ul /* u8 [100, 12], micro_step until max_pool1.grad */
#define DROPOUT1 0ul /* f32 [100, 12], micro_step until fc1, side fc1.weight.grad */
#define FC1_BIASED 57600ul /* f32 [4, 16], micro_step until relu2 */
#define RELU2 57856ul /* f32 [4, 16], micro_step until fc2.weight.grad */
#define FC2_BIASED 57600ul /* f32 [4, 6], micro_step until loss.rows */
#define LOSS_ROWS 10240ul /* f32 [4, 1], micro_step until loss.rows, side loss */
#define EVALUATE_IMAGES 12800ul /* f32 [576, 1], evaluate until conv1 */
#define EVALUATE_RELU1 0ul /* f32 [400, 8], evaluate until conv2 */
#define EVALUATE_MAX_POOL1 12800ul /* f32 [100, 12], evaluate until fc1 */
#define EVALUATE_FC1_BIASED 0ul /* f32 [4, 16], evaluate until relu2 */
#define EVALUATE_RELU2 256ul /* f32 [4, 16], evaluate until fc2 */
#define EVALUATE_FC2_BIASED 0ul /* f32 [4, 6], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS 256ul /* f32 [4, 1], evaluate until loss */
#define EVALUATE_HITS_TOP1 512ul /* f32 [4, 1], evaluate until top1 */
#define EVALUATE_HITS_TOP5 768ul /* f32 [4, 1], evaluate until top5 */
#define FC2_BIASED_GRAD 9984ul /* f32 [4, 6], micro_step until fc2.weight.grad,
    side fc2.bias.grad */
#define FC1_BIASED_GRAD 9728ul /* f32 [4, 16], micro_step until flatten1.grad,
    side fc1.weight.grad */
#define FLATTEN1_GRAD 4864ul /* f32 [4, 300], micro_step until max_pool1.grad */
#define CONV2_BIASED_GRAD 24320ul /* f32 [400, 12], micro_step until relu1.grad,
    side conv2.weight.grad */
#define CONV1_BIASED_GRAD 56320ul /* f32 [400, 8], micro_step until conv1.weight.grad,
    side conv1.bias.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], update until grad_norm.squared */
#define CLIP_FACTOR 0ul /* f32 [1], update until sgd */
#define RATES_LR 256ul /* f32 [1], update until sgd */
#define RELU2_MASK 4864ul /* u8 [4, 4], micro_step until fc2.weight.grad */
#define CONV2_WEIGHT_GRAD_PARTIAL 0ul /* f32 [7, 864], micro_step side conv2.weight.grad */
#define CONV1_WEIGHT_GRAD_PARTIAL 71424ul /* f32 [7, 72], micro_step until conv1.weight.grad */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], update until grad_norm.columns */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1536ul

#define PIXELS 0ul /* u8 [560, 1] */
#define LABELS 768ul /* i32 [4, 1] */
#define LOSS_WEIGHT 1024ul /* f32 [1] */
#define FIRST_ROW 1280ul /* i32 [1] */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 266240ul
#define GEMM_WORKSPACE_BYTES 4194304ul
#define GEMM_SIDE_WORKSPACE 4460544ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 8,
    CONSTANTS = 3,
    MICRO_STEP_OUTPUTS = 25,
    UPDATE_OUTPUTS = 12,
    EVALUATE_OUTPUTS = 12,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
