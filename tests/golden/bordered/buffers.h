/* Offsets of all buffers of bordered, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 874496ul

#define SEED 0ul /* i64 [1], counter */
#define STEP 256ul /* i32 [1], counter */
#define APPLIED 512ul /* i32 [1], counter */
#define BAD_STEP 768ul /* i32 [1], counter */
#define STEP_LOSS 1024ul /* f32 [1], counter */
#define EVAL_LOSS 1280ul /* f32 [1], counter */
#define LR 1536ul /* f32 [10, 1], counter */
#define BIAS_CORRECTION1 1792ul /* f32 [10, 1], counter */
#define BIAS_CORRECTION2_SQRT 2048ul /* f32 [10, 1], counter */
#define LOSS 2304ul /* f32 [10, 1], counter */
#define GRAD_NORM 2560ul /* f32 [10, 1], counter */
#define ROPE_COS 2816ul /* f32 [16, 8], constant */
#define ROPE_SIN 3328ul /* f32 [16, 8], constant */
#define ROPE_INV_FREQ 3840ul /* f32 [8], constant */
#define LOSS_GRAD 4096ul /* f32 [1], constant */
#define MODEL_EMBED_TOKENS_WEIGHT 4352ul /* bf16 [64, 32], frozen */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 8448ul /* bf16 [32], frozen */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 8704ul /* bf16 [32], frozen */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT 8960ul /* bf16 [32], frozen */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT 9216ul /* bf16 [32], frozen */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT 9472ul /* bf16 [32], frozen */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT 9728ul /* bf16 [32], frozen */
#define MODEL_NORM_WEIGHT 9984ul /* bf16 [32], frozen */
#define LM_HEAD_WEIGHT 10240ul /* bf16 [64, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED 14336ul /* bf16 [88, 56], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED /* bf16 [32, 32], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED /* bf16 [64, 56] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED_SB \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 64ul) /* bf16 [64, 24], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 96ul) /* bf16 [32, 4], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 3584ul) /* bf16 [16, 32], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 3664ul) /* bf16 [16, 4], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 5376ul) /* bf16 [16, 32], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 5440ul) /* bf16 [16, 4], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_V_K_Q_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 7168ul) /* bf16 [24, 32], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 7168ul) /* bf16 [4, 32], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 8064ul) /* bf16 [4, 32], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 8960ul) /* bf16 [4, 32], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED 24320ul /* bf16 [40, 40], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT \
    MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED /* bf16 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_W_A \
    MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED /* bf16 [40, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED /* bf16 [32, 40] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_SB \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED + 64ul) /* bf16 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED + 64ul) /* bf16 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED + 2560ul) /* bf16 [4, 32], row stride 40 */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED 27648ul /* bf16 [112, 48], frozen */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED /* bf16 [48, 32], row stride 48 */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_W_A \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED /* bf16 [112, 32], row stride 48 */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED /* bf16 [96, 48] */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_SB \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 64ul) /* bf16 [96, 16], row stride 48 */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 80ul) /* bf16 [48, 4], row stride 48 */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 4608ul) /* bf16 [48, 32], row stride 48 */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 4672ul) /* bf16 [48, 4], row stride 48 */
#define MODEL_LAYERS_0_MLP_UP_GATE_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 9216ul) /* bf16 [16, 32], row stride 48 */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 9216ul) /* bf16 [4, 32], row stride 48 */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 9984ul) /* bf16 [4, 32], row stride 48 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED 38400ul /* bf16 [40, 56], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* bf16 [32, 48], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_A \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* bf16 [40, 48], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* bf16 [32, 56] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_SB \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 96ul) /* bf16 [32, 8], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 96ul) /* bf16 [32, 4], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 3584ul) /* bf16 [4, 48], row stride 56 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED 43008ul /* bf16 [88, 56], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_A \
    MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED /* bf16 [88, 32], row stride 56 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED_SB \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED + 64ul) /* bf16 [64, 24], row stride 56 */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED 52992ul /* bf16 [40, 40], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED_W_A \
    MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED /* bf16 [40, 32], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED_SB \
    (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED + 64ul) /* bf16 [32, 8], row stride 40 */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_BORDERED 56320ul /* bf16 [112, 48], frozen */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED 67072ul /* bf16 [40, 56], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_BORDERED 71680ul /* bf16 [88, 56], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BORDERED 81664ul /* bf16 [40, 40], frozen */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_BORDERED 84992ul /* bf16 [112, 48], frozen */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED 95744ul /* bf16 [40, 56], frozen */
#define TRAINED 100352ul /* bf16 [42, 1024], adapter */
#define GRADIENT 186368ul /* f32 [42, 1024], gradient */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 81920ul) /* f32 [32, 4] */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 86016ul) /* f32 [4, 32] */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 90112ul) /* f32 [16, 4] */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 94208ul) /* f32 [16, 4] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 98304ul) /* f32 [32, 4] */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 102400ul) /* f32 [4, 32] */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 106496ul) /* f32 [4, 32] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 110592ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 114688ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 118784ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 122880ul) /* f32 [48, 4] */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 126976ul) /* f32 [48, 4] */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 131072ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 135168ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 139264ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 143360ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 147456ul) /* f32 [16, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 151552ul) /* f32 [16, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 155648ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 159744ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 163840ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 167936ul) /* f32 [4, 32] */
#define MASTER 358400ul /* f32 [42, 1024], optimizer */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 114688ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 118784ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 122880ul) /* f32 [48, 4] */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 126976ul) /* f32 [48, 4] */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 131072ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 135168ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 139264ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 143360ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 147456ul) /* f32 [16, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 151552ul) /* f32 [16, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 155648ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 159744ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 163840ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 167936ul) /* f32 [4, 32] */
#define EXP_AVG 530432ul /* f32 [42, 1024], optimizer */
#define EXP_AVG_SQ 702464ul /* f32 [42, 1024], optimizer */

/* By number, such as the layer. */
/* bf16 [24, 32], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_K_Q_PROJ_LORA_A_WEIGHT_BORDER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_K_Q_PROJ_LORA_A_WEIGHT_BORDER + (i) * 28672ul)
/* bf16 [64, 56], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_SB(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_SB + (i) * 28672ul)
/* bf16 [8, 32], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_BORDER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_BORDER + (i) * 28672ul)
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_BORDERED_W_SB(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_W_SB + (i) * 28672ul) /* bf16 [32, 40], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT + (i) * 512ul) /* bf16 [32], i = 0 to 2 */
/* bf16 [16, 32], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_GATE_PROJ_LORA_A_WEIGHT_BORDER(i) \
    (MODEL_LAYERS_0_MLP_UP_GATE_PROJ_LORA_A_WEIGHT_BORDER + (i) * 28672ul)
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_BORDERED_W_SB(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_W_SB + (i) * 28672ul) /* bf16 [96, 48], i = 0 to 2 */
/* bf16 [8, 48], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_BORDER(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_BORDER + (i) * 28672ul)
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_W_SB(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_SB + (i) * 28672ul) /* bf16 [32, 56], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT + (i) * 512ul) /* bf16 [32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD - (i) * 57344ul) /* f32 [32, 4], i = 0 to 2 */
/* bf16 [32, 8], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_SB(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_SB + (i) * 28672ul)
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD - (i) * 57344ul) /* f32 [4, 48], i = 0 to 2 */
/* bf16 [40, 48], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_W_A(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_A + (i) * 28672ul)
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_B_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_LORA_B_WEIGHT_GRAD - (i) * 57344ul) /* f32 [48, 4], i = 0 to 2 */
/* bf16 [96, 16], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_BORDERED_SB(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_SB + (i) * 28672ul)
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_A_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_WEIGHT_GRAD - (i) * 57344ul) /* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_A_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_WEIGHT_GRAD - (i) * 57344ul) /* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_B_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_B_WEIGHT_GRAD - (i) * 57344ul) /* f32 [48, 4], i = 0 to 2 */
/* bf16 [112, 32], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_BORDERED_W_A(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_W_A + (i) * 28672ul)
/* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_GRAD - (i) * 57344ul)
/* bf16 [32, 8], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_BORDERED_SB(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_SB + (i) * 28672ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_GRAD - (i) * 57344ul)
/* bf16 [40, 32], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_BORDERED_W_A(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_W_A + (i) * 28672ul)
/* f32 [16, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD - (i) * 57344ul)
/* bf16 [64, 24], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_BORDERED_SB(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED_SB + (i) * 28672ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD - (i) * 57344ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_GRAD - (i) * 57344ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD - (i) * 57344ul)
/* f32 [16, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_GRAD - (i) * 57344ul)
/* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD - (i) * 57344ul)
/* bf16 [88, 32], row stride 56, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_A(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_A + ((i) - 1) * 28672ul)
/* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul)
/* bf16 [32, 32], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT + (i) * 28672ul)
/* f32 [16, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul)
/* bf16 [16, 32], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT + (i) * 28672ul)
/* f32 [16, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul)
/* bf16 [16, 32], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT + (i) * 28672ul)
/* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul)
/* bf16 [32, 32], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT + (i) * 28672ul)
/* f32 [48, 4], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_B_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_A_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul)
/* bf16 [48, 32], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT + (i) * 28672ul)
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_B_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul) /* f32 [48, 4], i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_A_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul) /* f32 [4, 32], i = 0 to 2 */
/* bf16 [48, 32], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT + (i) * 28672ul)
/* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul)
/* f32 [4, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul)
/* bf16 [32, 48], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT + (i) * 28672ul)

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8654848ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define MODEL_EMBED_TOKENS 43008ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 102400ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 98304ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 102656ul /* f32 [32, 1],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL 100352ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 102912ul /* f32 [32, 1],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 82432ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 80384ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 103168ul /* f32 [32, 1],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL 85504ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 103424ul /* f32 [32, 1],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 82688ul /* f32 [32, 2],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 87552ul /* bf16 [32, 32],
    micro_step until model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 89600ul /* f32 [32, 1],
    micro_step until model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL 93184ul /* bf16 [32, 32],
    micro_step until model.layers.2.mlp_residual.grad */
#define MODEL_NORM 95232ul /* bf16 [32, 32], micro_step until lm_head */
#define MODEL_NORM_RSTD 89856ul /* f32 [32, 1], micro_step until model.layers.2.mlp_residual.grad */
#define LM_HEAD 12288ul /* bf16 [32, 64], micro_step until model.norm.grad */
#define LOSS_ROWS 103680ul /* f32 [32, 1], micro_step until loss.rows, side loss */
#define EVALUATE_MODEL_EMBED_TOKENS 9216ul /* bf16 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 6656ul /* f32 [32, 2],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 11264ul /* bf16 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 9216ul /* bf16 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 6656ul /* f32 [32, 2],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 11264ul /* bf16 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 9216ul /* bf16 [32, 32],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 6656ul /* f32 [32, 2],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 11264ul /* bf16 [32, 32],
    evaluate until model.layers.2.mlp_residual */
#define EVALUATE_MODEL_NORM 4096ul /* bf16 [32, 32], evaluate until lm_head */
#define EVALUATE_LM_HEAD 0ul /* bf16 [32, 64], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS 4096ul /* f32 [32, 1], evaluate until loss */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED 0ul /* bf16 [32, 32],
    merge until model.layers.0.self_attn.q_proj.export */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_MERGED 0ul /* bf16 [16, 32],
    merge until model.layers.0.self_attn.k_proj.export */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_MERGED 0ul /* bf16 [16, 32],
    merge until model.layers.0.self_attn.v_proj.export */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_MERGED 0ul /* bf16 [32, 32],
    merge until model.layers.0.self_attn.o_proj.export */
#define MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_MERGED 0ul /* bf16 [48, 32],
    merge until model.layers.0.mlp.gate_proj.export */
#define MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_MERGED 0ul /* bf16 [48, 32],
    merge until model.layers.0.mlp.up_proj.export */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED 0ul /* bf16 [32, 48],
    merge until model.layers.0.mlp.down_proj.export */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_MERGED 0ul /* bf16 [32, 32],
    merge until model.layers.1.self_attn.q_proj.export */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_MERGED 0ul /* bf16 [16, 32],
    merge until model.layers.1.self_attn.k_proj.export */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_MERGED 0ul /* bf16 [16, 32],
    merge until model.layers.1.self_attn.v_proj.export */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_MERGED 0ul /* bf16 [32, 32],
    merge until model.layers.1.self_attn.o_proj.export */
#define MERGE_MODEL_LAYERS_1_MLP_GATE_PROJ_MERGED 0ul /* bf16 [48, 32],
    merge until model.layers.1.mlp.gate_proj.export */
#define MERGE_MODEL_LAYERS_1_MLP_UP_PROJ_MERGED 0ul /* bf16 [48, 32],
    merge until model.layers.1.mlp.up_proj.export */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_MERGED 0ul /* bf16 [32, 48],
    merge until model.layers.1.mlp.down_proj.export */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_MERGED 0ul /* bf16 [32, 32],
    merge until model.layers.2.self_attn.q_proj.export */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_MERGED 0ul /* bf16 [16, 32],
    merge until model.layers.2.self_attn.k_proj.export */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_MERGED 0ul /* bf16 [16, 32],
    merge until model.layers.2.self_attn.v_proj.export */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_MERGED 0ul /* bf16 [32, 32],
    merge until model.layers.2.self_attn.o_proj.export */
#define MERGE_MODEL_LAYERS_2_MLP_GATE_PROJ_MERGED 0ul /* bf16 [48, 32],
    merge until model.layers.2.mlp.gate_proj.export */
#define MERGE_MODEL_LAYERS_2_MLP_UP_PROJ_MERGED 0ul /* bf16 [48, 32],
    merge until model.layers.2.mlp.up_proj.export */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_MERGED 0ul /* bf16 [32, 48],
    merge until model.layers.2.mlp.down_proj.export */
#define MODEL_NORM_GRAD 16384ul /* bf16 [32, 32],
    micro_step until model.layers.2.mlp_residual.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 31744ul /* bf16 [32, 48],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 31744ul /* bf16 [32, 32],
    micro_step until model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 87552ul /* bf16 [32, 32],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 89600ul /* f32 [32, 2],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 27648ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 27648ul /* bf16 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 27648ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 80384ul /* bf16 [32, 32],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 82688ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 43008ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 43008ul /* bf16 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 21504ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 98304ul /* bf16 [32, 32],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 27136ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], update until grad_norm.squared */
#define CLIP_FACTOR 0ul /* f32 [1], update until adamw */
#define RATES_LR 256ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION1 512ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION2_SQRT 768ul /* f32 [1], update until adamw */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U 47104ul /* bf16 [32, 56],
    micro_step until model.layers.0.self_attn.q_proj.lora_B.weight.grad,
    side model.layers.0.self_attn.k_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U /* bf16 [32, 32], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_V_K_Q_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul) /* bf16 [32, 24], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 80ul) /* bf16 [32, 4], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 96ul) /* bf16 [32, 4], row stride 56 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 38912ul /* bf16 [32, 64],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 32], row stride 64 */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 64ul) /* bf16 [32, 16], row stride 64 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 96ul) /* bf16 [32, 16], row stride 64 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V 21504ul /* bf16 [32, 88],
    micro_step until model.layers.0.self_attn.q_proj.lora_B.weight.grad,
    side model.layers.0.self_attn.k_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 64], row stride 88 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 32], row stride 88 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_GRAD \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 64ul) /* bf16 [32, 16], row stride 88 */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 96ul) /* bf16 [32, 16], row stride 88 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_U_GRAD \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 128ul) /* bf16 [32, 4], row stride 88 */
#define MODEL_LAYERS_0_SELF_ATTN_V_K_Q_PROJ_V \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 128ul) /* bf16 [32, 24], row stride 88 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_U_GRAD \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 144ul) /* bf16 [32, 4], row stride 88 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U_GRAD \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 160ul) /* bf16 [32, 4], row stride 88 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U 77824ul /* bf16 [32, 40],
    micro_step until model.layers.0.self_attn.grad,
    side model.layers.0.self_attn.o_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN \
    MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U /* bf16 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_Y 45056ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DY_V 43008ul /* bf16 [32, 40],
    micro_step until model.layers.0.self_attn.grad,
    side model.layers.0.self_attn.o_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD \
    MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DY_V /* bf16 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_U_GRAD \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_V \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U 68608ul /* bf16 [32, 48],
    micro_step until model.layers.0.mlp.gate_up_proj.y,
    side model.layers.0.mlp.gate_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U /* bf16 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_MLP_UP_PROJ_U \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 48 */
#define MODEL_LAYERS_0_MLP_UP_GATE_PROJ_U \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + 64ul) /* bf16 [32, 16], row stride 48 */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_U \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + 80ul) /* bf16 [32, 4], row stride 48 */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 21504ul /* bf16 [32, 96],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V 0ul /* bf16 [32, 112],
    micro_step until model.layers.0.post_attention_layernorm.grad,
    side model.layers.0.mlp.gate_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V /* bf16 [32, 96], row stride 112 */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V /* bf16 [32, 48], row stride 112 */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V + 96ul) /* bf16 [32, 48], row stride 112 */
#define MODEL_LAYERS_0_MLP_UP_PROJ_U_GRAD \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V + 192ul) /* bf16 [32, 4], row stride 112 */
#define MODEL_LAYERS_0_MLP_UP_GATE_PROJ_V \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V + 192ul) /* bf16 [32, 16], row stride 112 */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_U_GRAD \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V + 208ul) /* bf16 [32, 4], row stride 112 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 50688ul /* bf16 [32, 56],
    micro_step until model.layers.0.mlp.down_proj.y,
    side model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 43008ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V 80384ul /* bf16 [32, 40],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V /* bf16 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U_GRAD \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_V \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U 54272ul /* bf16 [32, 56],
    micro_step until model.layers.1.self_attn.q_k_v_proj.y,
    side model.layers.1.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_U \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 56 */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_U \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U + 80ul) /* bf16 [32, 4], row stride 56 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U + 96ul) /* bf16 [32, 4], row stride 56 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 43008ul /* bf16 [32, 64],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V 27648ul /* bf16 [32, 88],
    micro_step until model.layers.1.input_layernorm.grad,
    side model.layers.1.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY \
    MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 64], row stride 88 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD \
    MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 32], row stride 88 */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 64ul) /* bf16 [32, 16], row stride 88 */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_V \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 96ul) /* bf16 [32, 16], row stride 88 */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_U_GRAD \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 128ul) /* bf16 [32, 4], row stride 88 */
#define MODEL_LAYERS_1_SELF_ATTN_V_K_Q_PROJ_V \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 128ul) /* bf16 [32, 24], row stride 88 */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_U_GRAD \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 144ul) /* bf16 [32, 4], row stride 88 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U_GRAD \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 160ul) /* bf16 [32, 4], row stride 88 */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_X_U 82944ul /* bf16 [32, 40],
    micro_step until model.layers.1.self_attn.grad,
    side model.layers.1.self_attn.o_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_Y 74752ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DY_V 85504ul /* bf16 [32, 40],
    micro_step until model.layers.0.mlp_residual.grad,
    side model.layers.1.self_attn.o_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_U_GRAD \
    (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_V \
    (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40 */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_X_U 71680ul /* bf16 [32, 48],
    micro_step until model.layers.1.mlp.gate_up_proj.y,
    side model.layers.1.mlp.gate_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V 7168ul /* bf16 [32, 112],
    micro_step until model.layers.1.post_attention_layernorm.grad,
    side model.layers.1.mlp.gate_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 57856ul /* bf16 [32, 56],
    micro_step until model.layers.1.mlp.down_proj.y,
    side model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 74752ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V 88064ul /* bf16 [32, 40],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U 61440ul /* bf16 [32, 56],
    micro_step until model.layers.2.self_attn.q_k_v_proj.y,
    side model.layers.2.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 27648ul /* bf16 [32, 64],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_DY_V 33280ul /* bf16 [32, 88],
    micro_step until model.layers.2.input_layernorm.grad,
    side model.layers.2.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U 90624ul /* bf16 [32, 40],
    micro_step until model.layers.2.self_attn.grad,
    side model.layers.2.self_attn.o_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_Y 65024ul /* bf16 [32, 32],
    micro_step until model.layers.2.attn_residual */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_DY_V 93184ul /* bf16 [32, 40],
    micro_step until model.layers.1.mlp_residual.grad,
    side model.layers.2.self_attn.o_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U 74752ul /* bf16 [32, 48],
    micro_step until model.layers.2.mlp.gate_up_proj.y,
    side model.layers.2.mlp.gate_proj.lora_B.weight.grad */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 6144ul /* bf16 [32, 96],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_DY_V 14336ul /* bf16 [32, 112],
    micro_step until model.layers.2.post_attention_layernorm.grad,
    side model.layers.2.mlp.gate_proj.lora_B.weight.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 65024ul /* bf16 [32, 56],
    micro_step until model.layers.2.mlp.down_proj.y,
    side model.layers.2.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 31744ul /* bf16 [32, 32],
    micro_step until model.layers.2.mlp_residual */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_DY_V 95744ul /* bf16 [32, 40],
    micro_step until model.layers.2.attn_residual.grad,
    side model.layers.2.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD \
    MODEL_LAYERS_2_MLP_DOWN_PROJ_DY_V /* bf16 [32, 32], row stride 40 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U 4096ul /* bf16 [32, 56],
    evaluate until model.layers.0.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U /* bf16 [32, 32], row stride 56 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 64],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U 4096ul /* bf16 [32, 40],
    evaluate until model.layers.0.self_attn.o_proj.y */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_Y 0ul /* bf16 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U 6144ul /* bf16 [32, 48],
    evaluate until model.layers.0.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 6144ul /* bf16 [32, 56],
    evaluate until model.layers.0.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 0ul /* bf16 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U 4096ul /* bf16 [32, 56],
    evaluate until model.layers.1.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 64],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_X_U 4096ul /* bf16 [32, 40],
    evaluate until model.layers.1.self_attn.o_proj.y */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_Y 0ul /* bf16 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_X_U 6144ul /* bf16 [32, 48],
    evaluate until model.layers.1.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 6144ul /* bf16 [32, 56],
    evaluate until model.layers.1.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 0ul /* bf16 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U 4096ul /* bf16 [32, 56],
    evaluate until model.layers.2.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 64],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U 4096ul /* bf16 [32, 40],
    evaluate until model.layers.2.self_attn.o_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_Y 0ul /* bf16 [32, 32],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U 6144ul /* bf16 [32, 48],
    evaluate until model.layers.2.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96],
    evaluate until model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 6144ul /* bf16 [32, 56],
    evaluate until model.layers.2.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 0ul /* bf16 [32, 32],
    evaluate until model.layers.2.mlp_residual */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], update until grad_norm.columns */

/* By number, such as the layer. */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 7168ul) /* bf16 [32, 32], row stride 56, i = 0 to 2 */
/* bf16 [32, 24], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_K_Q_PROJ_U(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_K_Q_PROJ_U + (i) * 7168ul)
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_X_U(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + (i) * 7168ul) /* bf16 [32, 56], i = 0 to 2 */
static const size_t model_layers_self_attn_q_k_v_proj_y_at[3] = {
    38912ul, 43008ul, 27648ul};
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y(i) \
    model_layers_self_attn_q_k_v_proj_y_at[i] /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_ROPE_X(i) \
    MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y(i) /* bf16 [32, 48], row stride 64, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) \
    MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y(i) /* bf16 [32, 32], row stride 64, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) \
    (MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y(i) + 64ul) /* bf16 [32, 16], row stride 64, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) \
    (MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y(i) + 96ul) /* bf16 [32, 16], row stride 64, i = 0 to 2 */
static const size_t model_layers_self_attn_o_proj_x_u_at[3] = {
    77824ul, 82944ul, 90624ul};
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_X_U(i) \
    model_layers_self_attn_o_proj_x_u_at[i] /* bf16 [32, 40], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN(i) \
    MODEL_LAYERS_SELF_ATTN_O_PROJ_X_U(i) /* bf16 [32, 32], row stride 40, i = 0 to 2 */
static const size_t model_layers_self_attn_lse_at[3] = {
    102400ul, 82432ul, 82688ul};
#define MODEL_LAYERS_SELF_ATTN_LSE(i) model_layers_self_attn_lse_at[i] /* f32 [32, 2], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_U(i) \
    (MODEL_LAYERS_SELF_ATTN_O_PROJ_X_U(i) + 64ul) /* bf16 [32, 8], row stride 40, i = 0 to 2 */
static const size_t model_layers_self_attn_o_proj_y_at[3] = {
    45056ul, 74752ul, 65024ul};
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_Y(i) \
    model_layers_self_attn_o_proj_y_at[i] /* bf16 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_RESIDUAL(i) \
    (MODEL_LAYERS_0_MLP_RESIDUAL - (i) * 14848ul) /* bf16 [32, 32], i = 0 to 1 */
static const size_t model_layers_attn_residual_at[3] = {
    98304ul, 80384ul, 87552ul};
#define MODEL_LAYERS_ATTN_RESIDUAL(i) \
    model_layers_attn_residual_at[i] /* bf16 [32, 32], i = 0 to 2 */
static const size_t model_layers_post_attention_layernorm_rstd_at[3] = {
    102656ul, 103168ul, 89600ul};
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) \
    model_layers_post_attention_layernorm_rstd_at[i] /* f32 [32, 1], i = 0 to 2 */
/* bf16 [32, 32], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM + (i) * 3072ul)
/* bf16 [32, 16], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_GATE_PROJ_U(i) \
    (MODEL_LAYERS_0_MLP_UP_GATE_PROJ_U + (i) * 3072ul)
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_X_U(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + (i) * 3072ul) /* bf16 [32, 48], i = 0 to 2 */
static const size_t model_layers_mlp_gate_up_proj_y_at[3] = {
    21504ul, 0ul, 6144ul};
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_Y(i) \
    model_layers_mlp_gate_up_proj_y_at[i] /* bf16 [32, 96], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_U(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_U + (i) * 7168ul) /* bf16 [32, 8], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) \
    MODEL_LAYERS_MLP_GATE_UP_PROJ_Y(i) /* bf16 [32, 48], row stride 96, i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ(i) \
    (MODEL_LAYERS_MLP_GATE_UP_PROJ_Y(i) + 96ul) /* bf16 [32, 48], row stride 96, i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT(i) \
    (MODEL_LAYERS_0_MLP_ACT + (i) * 7168ul) /* bf16 [32, 48], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_X_U(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + (i) * 7168ul) /* bf16 [32, 56], i = 0 to 2 */
static const size_t model_layers_mlp_down_proj_y_at[3] = {
    43008ul, 74752ul, 31744ul};
#define MODEL_LAYERS_MLP_DOWN_PROJ_Y(i) \
    model_layers_mlp_down_proj_y_at[i] /* bf16 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD + ((i) - 1) * 512ul) /* f32 [32, 1], i = 1 to 2 */
#define MODEL_LAYERS_MLP_RESIDUAL_GRAD(i) \
    (MODEL_LAYERS_0_MLP_RESIDUAL_GRAD + (i) * 7680ul) /* bf16 [32, 32], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_V(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_V + (i) * 7680ul) /* bf16 [32, 8], row stride 40, i = 0 to 2 */
/* bf16 [32, 4], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_U_GRAD + (i) * 7680ul)
#define MODEL_LAYERS_MLP_DOWN_PROJ_DY_V(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + (i) * 7680ul) /* bf16 [32, 40], i = 0 to 2 */
static const size_t model_layers_mlp_act_grad_at[3] = {
    43008ul, 27648ul, 31744ul};
#define MODEL_LAYERS_MLP_ACT_GRAD(i) model_layers_mlp_act_grad_at[i] /* bf16 [32, 48], i = 0 to 2 */
/* bf16 [32, 48], row stride 112, i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD_GATE(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_GATE + (i) * 7168ul)
#define MODEL_LAYERS_MLP_ACT_GRAD_UP(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_UP + (i) * 7168ul) /* bf16 [32, 48], row stride 112, i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_U(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_U + (i) * 3072ul) /* bf16 [32, 4], row stride 48, i = 0 to 2 */
/* bf16 [32, 96], row stride 112, i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_DY(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY + (i) * 7168ul)
/* bf16 [32, 16], row stride 112, i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_GATE_PROJ_V(i) \
    (MODEL_LAYERS_0_MLP_UP_GATE_PROJ_V + (i) * 7168ul)
/* bf16 [32, 4], row stride 112, i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_U_GRAD + (i) * 7168ul)
/* bf16 [32, 4], row stride 112, i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_U_GRAD + (i) * 7168ul)
#define MODEL_LAYERS_MLP_GATE_PROJ_U(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_U + (i) * 3072ul) /* bf16 [32, 4], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_DY_V(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V + (i) * 7168ul) /* bf16 [32, 112], i = 0 to 2 */
static const size_t model_layers_post_attention_layernorm_grad_at[3] = {
    21504ul, 27648ul, 31744ul};
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD(i) \
    model_layers_post_attention_layernorm_grad_at[i] /* bf16 [32, 32], i = 0 to 2 */
static const size_t model_layers_self_attn_o_proj_dy_v_at[3] = {
    43008ul, 85504ul, 93184ul};
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_DY_V(i) \
    model_layers_self_attn_o_proj_dy_v_at[i] /* bf16 [32, 40], i = 0 to 2 */
#define MODEL_LAYERS_ATTN_RESIDUAL_GRAD(i) \
    MODEL_LAYERS_SELF_ATTN_O_PROJ_DY_V(i) /* bf16 [32, 32], row stride 40, i = 0 to 2 */
/* bf16 [32, 8], row stride 40, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_V(i) \
    (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_V + ((i) - 1) * 7680ul)
/* bf16 [32, 4], row stride 40, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_U_GRAD + ((i) - 1) * 7680ul)
#define MODEL_LAYERS_SELF_ATTN_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD + ((i) - 1) * 7168ul) /* bf16 [32, 32], i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_DELTA(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA + ((i) - 1) * 6912ul) /* f32 [32, 2], i = 1 to 2 */
/* bf16 [32, 32], row stride 88, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD + ((i) - 1) * 5632ul)
/* bf16 [32, 16], row stride 88, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD + ((i) - 1) * 5632ul)
/* bf16 [32, 16], row stride 88, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_V(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD_V + ((i) - 1) * 5632ul)
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_U(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_U + (i) * 7168ul) /* bf16 [32, 4], row stride 56, i = 0 to 2 */
/* bf16 [32, 64], row stride 88, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_DY(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY + ((i) - 1) * 5632ul)
/* bf16 [32, 24], row stride 88, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_K_Q_PROJ_V(i) \
    (MODEL_LAYERS_1_SELF_ATTN_V_K_Q_PROJ_V + ((i) - 1) * 5632ul)
/* bf16 [32, 4], row stride 88, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_V_PROJ_U_GRAD + ((i) - 1) * 5632ul)
/* bf16 [32, 4], row stride 88, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_U_GRAD + ((i) - 1) * 5632ul)
/* bf16 [32, 4], row stride 88, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U_GRAD + ((i) - 1) * 5632ul)
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_U(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_U + (i) * 7168ul) /* bf16 [32, 4], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_U(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U + (i) * 7168ul) /* bf16 [32, 4], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_DY_V(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + ((i) - 1) * 5632ul) /* bf16 [32, 88], i = 1 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD - ((i) - 1) * 15360ul) /* bf16 [32, 32], i = 1 to 2 */
/* bf16 [32, 32], row stride 56, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U
/* bf16 [32, 24], row stride 56, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_V_K_Q_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul)
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_X_U \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U /* bf16 [32, 56], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 64], one for 0 to 2 */
/* bf16 [32, 48], row stride 64, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_K_ROPE_X \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y
/* bf16 [32, 32], row stride 64, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_ROPE \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y
/* bf16 [32, 16], row stride 64, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_K_ROPE \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 64ul)
/* bf16 [32, 16], row stride 64, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_V_PROJ \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 96ul)
#define EVALUATE_MODEL_LAYERS_SELF_ATTN \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U /* bf16 [32, 32], row stride 40, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_LSE \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE /* f32 [32, 2], one for 0 to 2 */
/* bf16 [32, 8], row stride 40, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_O_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U + 64ul)
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_O_PROJ_X_U \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U /* bf16 [32, 40], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_O_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_Y /* bf16 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL /* bf16 [32, 32], one for 0 to 1 */
#define EVALUATE_MODEL_LAYERS_ATTN_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL /* bf16 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_POST_ATTENTION_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U /* bf16 [32, 32], row stride 48, one for 0 to 2 */
/* bf16 [32, 16], row stride 48, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_UP_GATE_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + 64ul)
#define EVALUATE_MODEL_LAYERS_MLP_GATE_UP_PROJ_X_U \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U /* bf16 [32, 48], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_GATE_UP_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [32, 96], one for 0 to 2 */
/* bf16 [32, 8], row stride 56, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul)
#define EVALUATE_MODEL_LAYERS_MLP_GATE_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [32, 48], row stride 96, one for 0 to 2 */
/* bf16 [32, 48], row stride 96, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_UP_PROJ \
    (EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + 96ul)
#define EVALUATE_MODEL_LAYERS_MLP_ACT \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_X_U \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 56], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y /* bf16 [32, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED /* bf16 [32, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_K_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_MERGED /* bf16 [16, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_V_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_MERGED /* bf16 [16, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_O_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_MERGED /* bf16 [32, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_GATE_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_MERGED /* bf16 [48, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_UP_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_MERGED /* bf16 [48, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_DOWN_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED /* bf16 [32, 48], one for 0 to 2 */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1024ul

#define INPUT_IDS 0ul /* i32 [32, 1] */
#define LABELS 256ul /* i32 [32, 1] */
#define POSITIONS 512ul /* i32 [32, 1] */
#define LOSS_WEIGHT 768ul /* f32 [1] */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 266240ul
#define GEMM_WORKSPACE_BYTES 4194304ul
#define GEMM_SIDE_WORKSPACE 4460544ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 72,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 44,
    MICRO_STEP_OUTPUTS = 150,
    UPDATE_OUTPUTS = 58,
    EVALUATE_OUTPUTS = 52,
    MERGE_OUTPUTS = 21,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];
extern const RtOutput merge_outputs[MERGE_OUTPUTS];

#endif
