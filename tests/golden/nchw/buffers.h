/* Offsets of all buffers of nchw, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 151040ul

#define SEED 0ul /* i64 [1], counter seed */
#define STEP 256ul /* i32 [1], counter step */
#define APPLIED 512ul /* i32 [1], counter applied */
#define BAD_STEP 768ul /* i32 [1], counter bad_step */
#define STEP_LOSS 1024ul /* f32 [1], counter step_loss */
#define EVAL_LOSS 1280ul /* f32 [1], counter eval_loss */
#define LR 1536ul /* f32 [10, 1], counter lr */
#define LOSS 1792ul /* f32 [10, 1], counter loss */
#define GRAD_NORM 2048ul /* f32 [10, 1], counter grad_norm */
#define EVAL_TOP1 2304ul /* f32 [1], counter eval_top1 */
#define EVAL_TOP5 2560ul /* f32 [1], counter eval_top5 */
#define IMAGE_MEAN 2816ul /* f32 [1], constant image_mean */
#define IMAGE_STD 3072ul /* f32 [1], constant image_std */
#define LOSS_GRAD 3328ul /* f32 [1], constant loss.grad */
#define TRAINED 3584ul /* f32 [12, 1024], weight trained */
#define FC2_BIAS TRAINED /* f32 [6], fc2.bias */
#define FC2_WEIGHT (TRAINED + 4096ul) /* f32 [6, 16], fc2.weight */
#define FC1_BIAS (TRAINED + 8192ul) /* f32 [16], fc1.bias */
#define FC1_WEIGHT (TRAINED + 12288ul) /* f32 [16, 300], fc1.weight */
#define CONV2_BIAS (TRAINED + 32768ul) /* f32 [12, 1], conv2.bias */
#define CONV2_WEIGHT (TRAINED + 36864ul) /* f32 [12, 1, 1, 8], conv2.weight */
#define CONV1_BIAS (TRAINED + 40960ul) /* f32 [8, 1], conv1.bias */
#define CONV1_WEIGHT (TRAINED + 45056ul) /* f32 [8, 3, 3, 1], conv1.weight */
#define GRADIENT 52736ul /* f32 [12, 1024], gradient */
#define FC2_BIAS_GRAD GRADIENT /* f32 [6], fc2.bias.grad */
#define FC2_WEIGHT_GRAD (GRADIENT + 4096ul) /* f32 [6, 16], fc2.weight.grad */
#define FC1_BIAS_GRAD (GRADIENT + 8192ul) /* f32 [16], fc1.bias.grad */
#define FC1_WEIGHT_GRAD (GRADIENT + 12288ul) /* f32 [16, 300], fc1.weight.grad */
#define CONV2_BIAS_GRAD (GRADIENT + 32768ul) /* f32 [12], conv2.bias.grad */
#define CONV2_WEIGHT_GRAD (GRADIENT + 36864ul) /* f32 [12, 1, 1, 8], conv2.weight.grad */
#define CONV1_BIAS_GRAD (GRADIENT + 40960ul) /* f32 [8], conv1.bias.grad */
#define CONV1_WEIGHT_GRAD (GRADIENT + 45056ul) /* f32 [8, 3, 3, 1], conv1.weight.grad */
#define EXP_AVG 101888ul /* f32 [12, 1024], optimizer exp_avg */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8654848ul

#define IMAGES 68864ul /* f32 [4, 1, 144], activation images */
#define CONV1 0ul /* f32 [4, 8, 100], activation conv1 */
#define RELU1 38400ul /* f32 [4, 8, 100], activation relu1 */
#define CONV2 0ul /* f32 [4, 12, 100], activation conv2 */
#define CONV2_BIASED 19200ul /* f32 [4, 12, 100], activation conv2.biased */
#define MAX_POOL1 64000ul /* f32 [4, 12, 25], activation max_pool1 */
#define MAX_POOL1_ARGMAX 56064ul /* u8 [4, 12, 25], activation max_pool1.argmax */
#define FC1 51200ul /* f32 [4, 16], activation fc1 */
#define RELU2 32000ul /* f32 [4, 16], activation relu2 */
#define FC2 51200ul /* f32 [4, 6], activation fc2 */
#define FC2_BIASED 51456ul /* f32 [4, 6], activation fc2.biased */
#define LOSS_ROWS 33280ul /* f32 [4, 1], activation loss.rows */
#define EVALUATE_IMAGES 12800ul /* f32 [4, 1, 144], activation images */
#define EVALUATE_CONV1 0ul /* f32 [4, 8, 100], activation conv1 */
#define EVALUATE_RELU1 19200ul /* f32 [4, 8, 100], activation relu1 */
#define EVALUATE_CONV2 0ul /* f32 [4, 12, 100], activation conv2 */
#define EVALUATE_CONV2_BIASED 19200ul /* f32 [4, 12, 100], activation conv2.biased */
#define EVALUATE_MAX_POOL1 0ul /* f32 [4, 12, 25], activation max_pool1 */
#define EVALUATE_MAX_POOL1_ARGMAX 4864ul /* u8 [4, 12, 25], activation max_pool1.argmax */
#define EVALUATE_FC1 4864ul /* f32 [4, 16], activation fc1 */
#define EVALUATE_RELU2 0ul /* f32 [4, 16], activation relu2 */
#define EVALUATE_FC2 256ul /* f32 [4, 6], activation fc2 */
#define EVALUATE_LOSS_ROWS 0ul /* f32 [4, 1], activation loss.rows */
#define EVALUATE_HITS_TOP1 512ul /* f32 [4, 1], activation hits.top1 */
#define EVALUATE_HITS_TOP5 768ul /* f32 [4, 1], activation hits.top5 */
#define FC2_BIASED_GRAD 33024ul /* f32 [4, 6], activation fc2.biased.grad */
#define RELU2_GRAD 51200ul /* f32 [4, 16], activation relu2.grad */
#define FC1_BIASED_GRAD 32256ul /* f32 [4, 16], activation fc1.biased.grad */
#define FLATTEN1_GRAD 51200ul /* f32 [4, 300], activation flatten1.grad */
#define CONV2_BIASED_GRAD 0ul /* f32 [4, 12, 100], activation conv2.biased.grad */
#define RELU1_GRAD 19200ul /* f32 [4, 8, 100], activation relu1.grad */
#define CONV1_BIASED_GRAD 51200ul /* f32 [4, 8, 100], activation conv1.biased.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], activation grad_norm.columns */
#define CLIP_FACTOR 0ul /* f32 [1], activation clip_factor */
#define RATES_LR 256ul /* f32 [1], activation rates.lr */
#define CONV2_BIAS_GRAD_PARTIAL 32512ul /* f32 [48, 1], activation conv2.bias.grad_partial */
#define CONV1_BIAS_GRAD_PARTIAL 32768ul /* f32 [32, 1], activation conv1.bias.grad_partial */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], activation grad_norm.columns_partial */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1280ul

#define PIXELS 0ul /* u8 [560, 1], input pixels */
#define LABELS 768ul /* i32 [4, 1], input labels */
#define LOSS_WEIGHT 1024ul /* f32 [1], input loss_weight */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 266240ul
#define GEMM_WORKSPACE_BYTES 4194304ul
#define GEMM_SIDE_WORKSPACE 4460544ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 8,
    CONSTANTS = 3,
    MICRO_STEP_OUTPUTS = 30,
    UPDATE_OUTPUTS = 12,
    EVALUATE_OUTPUTS = 16,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
