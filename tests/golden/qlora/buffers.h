/* Offsets of all buffers of qlora, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 272640ul

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
#define NF4_MAP 4352ul /* f32 [16, 1], constant */
#define NF4_BOUNDS 4608ul /* f32 [15, 1], constant */
#define ABSMAX_MAP 4864ul /* f32 [256, 1], constant */
#define ABSMAX_BOUNDS 5888ul /* f32 [255, 1], constant */
#define MODEL_EMBED_TOKENS_WEIGHT 6912ul /* bf16 [64, 32], frozen */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 11008ul /* bf16 [32], frozen */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 11264ul /* bf16 [32], frozen */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT 11520ul /* bf16 [32], frozen */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT 11776ul /* bf16 [32], frozen */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT 12032ul /* bf16 [32], frozen */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT 12288ul /* bf16 [32], frozen */
#define MODEL_NORM_WEIGHT 12544ul /* bf16 [32], frozen */
#define LM_HEAD_WEIGHT 12800ul /* bf16 [64, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_CODES 16896ul /* u8 [32, 16], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX 17408ul /* u8 [16, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET 17664ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2 17920ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_CODES 18176ul /* u8 [16, 16], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX 18432ul /* u8 [8, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET 18688ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2 18944ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_CODES 19200ul /* u8 [16, 16], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX 19456ul /* u8 [8, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET 19712ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2 19968ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_CODES 20224ul /* u8 [32, 16], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX 20736ul /* u8 [16, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET 20992ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2 21248ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_CODES 21504ul /* u8 [48, 16], frozen */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX 22272ul /* u8 [24, 1], frozen */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET 22528ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX2 22784ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_CODES 23040ul /* u8 [48, 16], frozen */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX 23808ul /* u8 [24, 1], frozen */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET 24064ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX2 24320ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_CODES 24576ul /* u8 [32, 24], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX 25344ul /* u8 [24, 1], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET 25600ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX2 25856ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_CODES 26112ul /* u8 [32, 16], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX 26624ul /* u8 [16, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET 26880ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2 27136ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_CODES 27392ul /* u8 [16, 16], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX 27648ul /* u8 [8, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET 27904ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2 28160ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_CODES 28416ul /* u8 [16, 16], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX 28672ul /* u8 [8, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET 28928ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2 29184ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_CODES 29440ul /* u8 [32, 16], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX 29952ul /* u8 [16, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET 30208ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2 30464ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_CODES 30720ul /* u8 [48, 16], frozen */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_ABSMAX 31488ul /* u8 [24, 1], frozen */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET 31744ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_ABSMAX2 32000ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_CODES 32256ul /* u8 [48, 16], frozen */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_ABSMAX 33024ul /* u8 [24, 1], frozen */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET 33280ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_ABSMAX2 33536ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_CODES 33792ul /* u8 [32, 24], frozen */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_ABSMAX 34560ul /* u8 [24, 1], frozen */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET 34816ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_ABSMAX2 35072ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_CODES 35328ul /* u8 [32, 16], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX 35840ul /* u8 [16, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET 36096ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2 36352ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_CODES 36608ul /* u8 [16, 16], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX 36864ul /* u8 [8, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET 37120ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2 37376ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_CODES 37632ul /* u8 [16, 16], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX 37888ul /* u8 [8, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET 38144ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2 38400ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_CODES 38656ul /* u8 [32, 16], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX 39168ul /* u8 [16, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET 39424ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2 39680ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_CODES 39936ul /* u8 [48, 16], frozen */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_ABSMAX 40704ul /* u8 [24, 1], frozen */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET 40960ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_ABSMAX2 41216ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_CODES 41472ul /* u8 [48, 16], frozen */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_ABSMAX 42240ul /* u8 [24, 1], frozen */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET 42496ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_ABSMAX2 42752ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_CODES 43008ul /* u8 [32, 24], frozen */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_ABSMAX 43776ul /* u8 [24, 1], frozen */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET 44032ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_ABSMAX2 44288ul /* f32 [1, 1], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_RIGHT 44544ul /* bf16 [32, 8], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_BORDER \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_RIGHT /* bf16 [32, 4], row stride 8 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_BELOW 45056ul /* bf16 [8, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_BORDER \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_BELOW /* bf16 [4, 32] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_RIGHT 45568ul /* bf16 [32, 8], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_BORDER \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_RIGHT /* bf16 [32, 4], row stride 8 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_BELOW 46080ul /* bf16 [8, 48], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_BORDER \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_BELOW /* bf16 [4, 48] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED_RIGHT 46848ul /* bf16 [32, 8], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED_BELOW 47360ul /* bf16 [8, 32], frozen */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_RIGHT 47872ul /* bf16 [32, 8], frozen */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_BELOW 48384ul /* bf16 [8, 48], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_BORDERED_RIGHT 49152ul /* bf16 [32, 8], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_BORDERED_BELOW 49664ul /* bf16 [8, 32], frozen */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED_RIGHT 50176ul /* bf16 [32, 8], frozen */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED_BELOW 50688ul /* bf16 [8, 48], frozen */
#define TRAINED 51456ul /* bf16 [12, 1024], adapter */
#define GRADIENT 76032ul /* f32 [12, 1024], gradient */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 24576ul) /* f32 [32, 4] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 28672ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 32768ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 36864ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 40960ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 45056ul) /* f32 [4, 32] */
#define MASTER 125184ul /* f32 [12, 1024], optimizer */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 32768ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 36864ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 40960ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 45056ul) /* f32 [4, 32] */
#define EXP_AVG 174336ul /* f32 [12, 1024], optimizer */
#define EXP_AVG_SQ 223488ul /* f32 [12, 1024], optimizer */

/* By number, such as the layer. */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_CODES(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [16, 16], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [8, 1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_CODES(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [16, 16], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [8, 1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_CODES(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [32, 16], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [16, 1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_CODES(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [48, 16], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_ABSMAX2(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_ABSMAX(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [24, 1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_CODES(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [48, 16], i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_ABSMAX2(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_ABSMAX(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [24, 1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_CODES(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [32, 16], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [16, 1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_CODES(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [32, 24], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_ABSMAX2(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_ABSMAX(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [24, 1], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_BORDERED_BELOW(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_BELOW + (i) * 2304ul) /* bf16 [8, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_BORDERED_RIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_RIGHT + (i) * 2304ul) /* bf16 [32, 8], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT + (i) * 512ul) /* bf16 [32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_BELOW(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_BELOW + (i) * 2304ul) /* bf16 [8, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_RIGHT(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_RIGHT + (i) * 2304ul) /* bf16 [32, 8], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT + (i) * 512ul) /* bf16 [32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD - (i) * 16384ul) /* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD - (i) * 16384ul) /* f32 [4, 48], i = 0 to 2 */
/* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD - (i) * 16384ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD - (i) * 16384ul)
/* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER - (i) * 16384ul)
/* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER - (i) * 16384ul)
/* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER - (i) * 16384ul)
/* f32 [4, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER - (i) * 16384ul)

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8654848ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define MODEL_EMBED_TOKENS 45056ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ 75776ul /* bf16 [32, 16],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN 61440ul /* bf16 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 78848ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 42496ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 63488ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 51200ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 79616ul /* f32 [32, 1],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 14848ul /* bf16 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ 17920ul /* bf16 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL 65536ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 79872ul /* f32 [32, 1],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ 76800ul /* bf16 [32, 16],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN 67584ul /* bf16 [32, 32],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 79104ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 45568ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 69632ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 7680ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp.up_proj */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 80128ul /* f32 [32, 1],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_MLP_GATE_PROJ 20992ul /* bf16 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_UP_PROJ 24064ul /* bf16 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL 71680ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 80384ul /* f32 [32, 1],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ 77824ul /* bf16 [32, 16],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN 56320ul /* bf16 [32, 32],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 79360ul /* f32 [32, 2],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ 58368ul /* bf16 [32, 32],
    micro_step until model.layers.2.attn_residual */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 73728ul /* bf16 [32, 32],
    micro_step until model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 0ul /* bf16 [32, 32],
    micro_step until model.layers.2.mlp.up_proj */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 80640ul /* f32 [32, 1],
    micro_step until model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_MLP_GATE_PROJ 27136ul /* bf16 [32, 48],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_UP_PROJ 30208ul /* bf16 [32, 48],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL 33280ul /* bf16 [32, 32],
    micro_step until model.layers.2.mlp_residual.grad */
#define MODEL_NORM 58368ul /* bf16 [32, 32], micro_step until lm_head */
#define MODEL_NORM_RSTD 37376ul /* f32 [32, 1], micro_step until model.layers.2.mlp_residual.grad */
#define LM_HEAD 0ul /* bf16 [32, 64], micro_step until model.norm.grad */
#define LOSS_ROWS 80896ul /* f32 [32, 1], micro_step until loss.rows, side loss */
#define EVALUATE_MODEL_EMBED_TOKENS 8192ul /* bf16 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ 5632ul /* bf16 [32, 16],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 3072ul /* bf16 [32, 32],
    evaluate until model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 5120ul /* f32 [32, 2],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 10240ul /* bf16 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 12288ul /* bf16 [32, 32],
    evaluate until model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ 3584ul /* bf16 [32, 48],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ 6656ul /* bf16 [32, 48],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 8192ul /* bf16 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ 5632ul /* bf16 [32, 16],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 3072ul /* bf16 [32, 32],
    evaluate until model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 5120ul /* f32 [32, 2],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 10240ul /* bf16 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 12288ul /* bf16 [32, 32],
    evaluate until model.layers.1.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ 3584ul /* bf16 [32, 48],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ 6656ul /* bf16 [32, 48],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 8192ul /* bf16 [32, 32],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ 5632ul /* bf16 [32, 16],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN 3072ul /* bf16 [32, 32],
    evaluate until model.layers.2.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 5120ul /* f32 [32, 2],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 32],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 10240ul /* bf16 [32, 32],
    evaluate until model.layers.2.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 12288ul /* bf16 [32, 32],
    evaluate until model.layers.2.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_PROJ 3584ul /* bf16 [32, 48],
    evaluate until model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_MLP_UP_PROJ 6656ul /* bf16 [32, 48],
    evaluate until model.layers.2.mlp.act */
#define EVALUATE_MODEL_NORM 4096ul /* bf16 [32, 32], evaluate until lm_head */
#define EVALUATE_LM_HEAD 0ul /* bf16 [32, 64], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS 4096ul /* f32 [32, 1], evaluate until loss */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32],
    merge until model.layers.0.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED 4096ul /* bf16 [32, 32],
    merge until model.layers.0.self_attn.q_proj.export */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_BASE 0ul /* bf16 [16, 32],
    merge until model.layers.0.self_attn.k_proj.export */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_BASE 0ul /* bf16 [16, 32],
    merge until model.layers.0.self_attn.v_proj.export */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BASE 0ul /* bf16 [32, 32],
    merge until model.layers.0.self_attn.o_proj.export */
#define MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_BASE 0ul /* bf16 [48, 32],
    merge until model.layers.0.mlp.gate_proj.export */
#define MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_BASE 0ul /* bf16 [48, 32],
    merge until model.layers.0.mlp.up_proj.export */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48],
    merge until model.layers.0.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED 6144ul /* bf16 [32, 48],
    merge until model.layers.0.mlp.down_proj.export */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32],
    merge until model.layers.1.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_MERGED 4096ul /* bf16 [32, 32],
    merge until model.layers.1.self_attn.q_proj.export */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_BASE 0ul /* bf16 [16, 32],
    merge until model.layers.1.self_attn.k_proj.export */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_BASE 0ul /* bf16 [16, 32],
    merge until model.layers.1.self_attn.v_proj.export */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BASE 0ul /* bf16 [32, 32],
    merge until model.layers.1.self_attn.o_proj.export */
#define MERGE_MODEL_LAYERS_1_MLP_GATE_PROJ_BASE 0ul /* bf16 [48, 32],
    merge until model.layers.1.mlp.gate_proj.export */
#define MERGE_MODEL_LAYERS_1_MLP_UP_PROJ_BASE 0ul /* bf16 [48, 32],
    merge until model.layers.1.mlp.up_proj.export */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48],
    merge until model.layers.1.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_MERGED 6144ul /* bf16 [32, 48],
    merge until model.layers.1.mlp.down_proj.export */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32],
    merge until model.layers.2.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_MERGED 4096ul /* bf16 [32, 32],
    merge until model.layers.2.self_attn.q_proj.export */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_BASE 0ul /* bf16 [16, 32],
    merge until model.layers.2.self_attn.k_proj.export */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_BASE 0ul /* bf16 [16, 32],
    merge until model.layers.2.self_attn.v_proj.export */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BASE 0ul /* bf16 [32, 32],
    merge until model.layers.2.self_attn.o_proj.export */
#define MERGE_MODEL_LAYERS_2_MLP_GATE_PROJ_BASE 0ul /* bf16 [48, 32],
    merge until model.layers.2.mlp.gate_proj.export */
#define MERGE_MODEL_LAYERS_2_MLP_UP_PROJ_BASE 0ul /* bf16 [48, 32],
    merge until model.layers.2.mlp.up_proj.export */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48],
    merge until model.layers.2.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_MERGED 6144ul /* bf16 [32, 48],
    merge until model.layers.2.mlp.down_proj.export */
#define MODEL_NORM_GRAD 35328ul /* bf16 [32, 32],
    micro_step until model.layers.2.mlp_residual.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 33280ul /* bf16 [32, 48],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_GATE 0ul /* bf16 [32, 48],
    micro_step until model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_UP 36352ul /* bf16 [32, 48],
    micro_step until model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 30208ul /* bf16 [32, 32],
    micro_step until model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_ATTN_RESIDUAL_GRAD 27136ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 0ul /* bf16 [32, 32],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_Q 2048ul /* bf16 [32, 32],
    micro_step until model.layers.2.self_attn.q_proj.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_K 73728ul /* bf16 [32, 16],
    micro_step until model.layers.2.self_attn.k_proj.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_V 74752ul /* bf16 [32, 16],
    micro_step until model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 58368ul /* f32 [32, 2],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_GRAD 45568ul /* bf16 [32, 16],
    micro_step until model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 0ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 27136ul /* bf16 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE 0ul /* bf16 [32, 48],
    micro_step until model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP 30208ul /* bf16 [32, 48],
    micro_step until model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 45568ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 0ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 2048ul /* bf16 [32, 32],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_Q 20992ul /* bf16 [32, 32],
    micro_step until model.layers.1.self_attn.q_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_K 45568ul /* bf16 [32, 16],
    micro_step until model.layers.1.self_attn.k_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_V 47616ul /* bf16 [32, 16],
    micro_step until model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 38912ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD 42496ul /* bf16 [32, 16],
    micro_step until model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 2048ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 20992ul /* bf16 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 0ul /* bf16 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 24064ul /* bf16 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 17920ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 14848ul /* bf16 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 16896ul /* bf16 [32, 32],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 42496ul /* bf16 [32, 16],
    micro_step side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 43520ul /* bf16 [32, 16],
    micro_step side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 38912ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], update until grad_norm.squared */
#define CLIP_FACTOR 0ul /* f32 [1], update until adamw */
#define RATES_LR 256ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION1 512ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION2_SQRT 768ul /* f32 [1], update until adamw */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U 48640ul /* bf16 [32, 40],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad,
    side model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U /* bf16 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + 64ul) /* bf16 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V 0ul /* bf16 [32, 40],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad,
    side model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V /* bf16 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U_GRAD \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_V \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 4096ul /* bf16 [32, 56],
    micro_step until model.layers.0.mlp.down_proj.y,
    side model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 42496ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V 42496ul /* bf16 [32, 40],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U 51200ul /* bf16 [32, 40],
    micro_step until model.layers.1.self_attn.v_proj,
    side model.layers.1.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V 45056ul /* bf16 [32, 40],
    micro_step until model.layers.1.input_layernorm.grad,
    side model.layers.1.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD \
    MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V /* bf16 [32, 32], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U_GRAD \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_V \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 7680ul /* bf16 [32, 56],
    micro_step until model.layers.1.mlp.down_proj.y,
    side model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 45568ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V 36352ul /* bf16 [32, 40],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_X_U 53760ul /* bf16 [32, 40],
    micro_step until model.layers.2.self_attn.v_proj,
    side model.layers.2.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_DY_V 56320ul /* bf16 [32, 40],
    micro_step until model.layers.2.input_layernorm.grad,
    side model.layers.2.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 11264ul /* bf16 [32, 56],
    micro_step until model.layers.2.mlp.down_proj.y,
    side model.layers.2.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 35328ul /* bf16 [32, 32],
    micro_step until model.layers.2.mlp_residual */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_DY_V 58880ul /* bf16 [32, 40],
    micro_step until model.layers.2.attn_residual.grad,
    side model.layers.2.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD \
    MODEL_LAYERS_2_MLP_DOWN_PROJ_DY_V /* bf16 [32, 32], row stride 40 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U 3072ul /* bf16 [32, 40],
    evaluate until model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U /* bf16 [32, 32], row stride 40 */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 0ul /* bf16 [32, 56],
    evaluate until model.layers.0.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 12288ul /* bf16 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U 3072ul /* bf16 [32, 40],
    evaluate until model.layers.1.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 0ul /* bf16 [32, 56],
    evaluate until model.layers.1.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 12288ul /* bf16 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_X_U 3072ul /* bf16 [32, 40],
    evaluate until model.layers.2.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 0ul /* bf16 [32, 56],
    evaluate until model.layers.2.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 7168ul /* bf16 [32, 32],
    evaluate until model.layers.2.mlp_residual */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 39424ul /* bf16 [32, 48],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* bf16 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* bf16 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 64ul) /* bf16 [32, 16], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 64ul) /* bf16 [32, 16], row stride 48 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 42496ul /* bf16 [32, 48],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_ROPE \
    MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X /* bf16 [32, 32], row stride 48 */
#define MODEL_LAYERS_1_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X + 64ul) /* bf16 [32, 16], row stride 48 */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X 45568ul /* bf16 [32, 48],
    micro_step until model.layers.2.self_attn.grad */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 0ul /* bf16 [32, 48],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 0ul /* bf16 [32, 48],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X 0ul /* bf16 [32, 48],
    evaluate until model.layers.2.self_attn */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 42496ul /* bf16 [32, 40],
    micro_step until model.layers.0.self_attn.q_proj.y */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_DECODED 47104ul /* bf16 [16, 32],
    micro_step until model.layers.0.self_attn.k_proj */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_DECODED 47104ul /* bf16 [16, 32],
    micro_step until model.layers.0.self_attn.v_proj */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_DECODED 51200ul /* bf16 [32, 32],
    micro_step until model.layers.0.self_attn.o_proj */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    micro_step until model.layers.0.mlp.gate_proj */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    micro_step until model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 0ul /* bf16 [32, 56],
    micro_step until model.layers.0.mlp.down_proj.y */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 45568ul /* bf16 [32, 40],
    micro_step until model.layers.1.self_attn.q_proj.y */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_DECODED 45568ul /* bf16 [16, 32],
    micro_step until model.layers.1.self_attn.k_proj */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_DECODED 45568ul /* bf16 [16, 32],
    micro_step until model.layers.1.self_attn.v_proj */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_DECODED 0ul /* bf16 [32, 32],
    micro_step until model.layers.1.self_attn.o_proj */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    micro_step until model.layers.1.mlp.gate_proj */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    micro_step until model.layers.1.mlp.up_proj */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 0ul /* bf16 [32, 56],
    micro_step until model.layers.1.mlp.down_proj.y */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 11264ul /* bf16 [32, 40],
    micro_step until model.layers.2.self_attn.q_proj.y */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_DECODED 73728ul /* bf16 [16, 32],
    micro_step until model.layers.2.self_attn.k_proj */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_DECODED 73728ul /* bf16 [16, 32],
    micro_step until model.layers.2.self_attn.v_proj */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_DECODED 11264ul /* bf16 [32, 32],
    micro_step until model.layers.2.self_attn.o_proj */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_DECODED 11264ul /* bf16 [48, 32],
    micro_step until model.layers.2.mlp.gate_proj */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_DECODED 11264ul /* bf16 [48, 32],
    micro_step until model.layers.2.mlp.up_proj */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 0ul /* bf16 [32, 56],
    micro_step until model.layers.2.mlp.down_proj.y */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_WEIGHT_DECODED 0ul /* bf16 [40, 48],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED 27136ul /* bf16 [48, 32],
    micro_step until model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED__2 27136ul /* bf16 [48, 32],
    micro_step until model.layers.2.post_attention_layernorm.grad,
    model.layers.2.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_WEIGHT_DECODED 2048ul /* bf16 [32, 32],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED 73728ul /* bf16 [16, 32],
    micro_step until model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__2 2048ul /* bf16 [16, 32],
    micro_step until model.layers.2.input_layernorm.grad,
    model.layers.2.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3 45568ul /* bf16 [40, 32],
    micro_step until model.layers.2.input_layernorm.grad,
    model.layers.2.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_WEIGHT_DECODED 0ul /* bf16 [40, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED 33280ul /* bf16 [48, 32],
    micro_step until model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED__2 20992ul /* bf16 [48, 32],
    micro_step until model.layers.1.post_attention_layernorm.grad,
    model.layers.1.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_WEIGHT_DECODED 45568ul /* bf16 [32, 32],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED 43520ul /* bf16 [16, 32],
    micro_step until model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__2 47616ul /* bf16 [16, 32],
    micro_step until model.layers.1.input_layernorm.grad,
    model.layers.1.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3 42496ul /* bf16 [40, 32],
    micro_step until model.layers.1.input_layernorm.grad,
    model.layers.1.input_layernorm.grad.weight_decoded */
/* bf16 [32, 32], model.layers.1.self_attn.q_proj.weight.decoded */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_DECODED_BACKWARD \
    MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED_BELOW \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3 + 2048ul) /* bf16 [8, 32] */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_WEIGHT_DECODED 0ul /* bf16 [40, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED 14848ul /* bf16 [48, 32],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED__2 14848ul /* bf16 [48, 32],
    micro_step until model.layers.0.post_attention_layernorm.grad,
    model.layers.0.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_WEIGHT_DECODED 0ul /* bf16 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 5632ul /* bf16 [32, 40],
    evaluate until model.layers.0.self_attn.q_proj.y */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_DECODED 5632ul /* bf16 [16, 32],
    evaluate until model.layers.0.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_DECODED 6656ul /* bf16 [16, 32],
    evaluate until model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_DECODED 5120ul /* bf16 [32, 32],
    evaluate until model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    evaluate until model.layers.0.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    evaluate until model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 3584ul /* bf16 [32, 56],
    evaluate until model.layers.0.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 5632ul /* bf16 [32, 40],
    evaluate until model.layers.1.self_attn.q_proj.y */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_DECODED 5632ul /* bf16 [16, 32],
    evaluate until model.layers.1.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_DECODED 6656ul /* bf16 [16, 32],
    evaluate until model.layers.1.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_DECODED 5120ul /* bf16 [32, 32],
    evaluate until model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    evaluate until model.layers.1.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    evaluate until model.layers.1.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 3584ul /* bf16 [32, 56],
    evaluate until model.layers.1.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 5632ul /* bf16 [32, 40],
    evaluate until model.layers.2.self_attn.q_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_DECODED 5632ul /* bf16 [16, 32],
    evaluate until model.layers.2.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_DECODED 6656ul /* bf16 [16, 32],
    evaluate until model.layers.2.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_DECODED 5120ul /* bf16 [32, 32],
    evaluate until model.layers.2.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    evaluate until model.layers.2.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32],
    evaluate until model.layers.2.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 3584ul /* bf16 [32, 56],
    evaluate until model.layers.2.mlp.down_proj.y */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED_WEIGHT_DECODED 6144ul /* bf16 [32, 32],
    merge until model.layers.0.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32],
    merge until model.layers.0.self_attn.k_proj.base */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32],
    merge until model.layers.0.self_attn.v_proj.base */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BASE_WEIGHT_DECODED 2048ul /* bf16 [32, 32],
    merge until model.layers.0.self_attn.o_proj.base */
#define MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32],
    merge until model.layers.0.mlp.gate_proj.base */
#define MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32],
    merge until model.layers.0.mlp.up_proj.base */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED_WEIGHT_DECODED 9216ul /* bf16 [32, 48],
    merge until model.layers.0.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_MERGED_WEIGHT_DECODED 6144ul /* bf16 [32, 32],
    merge until model.layers.1.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32],
    merge until model.layers.1.self_attn.k_proj.base */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32],
    merge until model.layers.1.self_attn.v_proj.base */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BASE_WEIGHT_DECODED 2048ul /* bf16 [32, 32],
    merge until model.layers.1.self_attn.o_proj.base */
#define MERGE_MODEL_LAYERS_1_MLP_GATE_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32],
    merge until model.layers.1.mlp.gate_proj.base */
#define MERGE_MODEL_LAYERS_1_MLP_UP_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32],
    merge until model.layers.1.mlp.up_proj.base */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_MERGED_WEIGHT_DECODED 9216ul /* bf16 [32, 48],
    merge until model.layers.1.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_MERGED_WEIGHT_DECODED 6144ul /* bf16 [32, 32],
    merge until model.layers.2.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32],
    merge until model.layers.2.self_attn.k_proj.base */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32],
    merge until model.layers.2.self_attn.v_proj.base */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BASE_WEIGHT_DECODED 2048ul /* bf16 [32, 32],
    merge until model.layers.2.self_attn.o_proj.base */
#define MERGE_MODEL_LAYERS_2_MLP_GATE_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32],
    merge until model.layers.2.mlp.gate_proj.base */
#define MERGE_MODEL_LAYERS_2_MLP_UP_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32],
    merge until model.layers.2.mlp.up_proj.base */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_MERGED_WEIGHT_DECODED 9216ul /* bf16 [32, 48],
    merge until model.layers.2.mlp.down_proj.merged */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT 0ul /* bf16 [16, 32],
    load until model.layers.0.self_attn.k_proj.weight.codes */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1],
    load until model.layers.0.self_attn.k_proj.weight.absmax */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT 0ul /* bf16 [16, 32],
    load until model.layers.0.self_attn.v_proj.weight.codes */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1],
    load until model.layers.0.self_attn.v_proj.weight.absmax */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT 0ul /* bf16 [32, 32],
    load until model.layers.0.self_attn.o_proj.weight.codes */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1],
    load until model.layers.0.self_attn.o_proj.weight.absmax */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT 0ul /* bf16 [48, 32],
    load until model.layers.0.mlp.gate_proj.weight.codes */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1],
    load until model.layers.0.mlp.gate_proj.weight.absmax */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT 0ul /* bf16 [48, 32],
    load until model.layers.0.mlp.up_proj.weight.codes */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1],
    load until model.layers.0.mlp.up_proj.weight.absmax */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT 0ul /* bf16 [16, 32],
    load until model.layers.1.self_attn.k_proj.weight.codes */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1],
    load until model.layers.1.self_attn.k_proj.weight.absmax */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT 0ul /* bf16 [16, 32],
    load until model.layers.1.self_attn.v_proj.weight.codes */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1],
    load until model.layers.1.self_attn.v_proj.weight.absmax */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT 0ul /* bf16 [32, 32],
    load until model.layers.1.self_attn.o_proj.weight.codes */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1],
    load until model.layers.1.self_attn.o_proj.weight.absmax */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT 0ul /* bf16 [48, 32],
    load until model.layers.1.mlp.gate_proj.weight.codes */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1],
    load until model.layers.1.mlp.gate_proj.weight.absmax */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT 0ul /* bf16 [48, 32],
    load until model.layers.1.mlp.up_proj.weight.codes */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1],
    load until model.layers.1.mlp.up_proj.weight.absmax */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT 0ul /* bf16 [16, 32],
    load until model.layers.2.self_attn.k_proj.weight.codes */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1],
    load until model.layers.2.self_attn.k_proj.weight.absmax */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT 0ul /* bf16 [16, 32],
    load until model.layers.2.self_attn.v_proj.weight.codes */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1],
    load until model.layers.2.self_attn.v_proj.weight.absmax */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT 0ul /* bf16 [32, 32],
    load until model.layers.2.self_attn.o_proj.weight.codes */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1],
    load until model.layers.2.self_attn.o_proj.weight.absmax */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT 0ul /* bf16 [48, 32],
    load until model.layers.2.mlp.gate_proj.weight.codes */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1],
    load until model.layers.2.mlp.gate_proj.weight.absmax */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT 0ul /* bf16 [48, 32],
    load until model.layers.2.mlp.up_proj.weight.codes */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1],
    load until model.layers.2.mlp.up_proj.weight.absmax */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT 0ul /* bf16 [32, 32],
    load until model.layers.0.self_attn.q_proj.weight.codes */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1],
    load until model.layers.0.self_attn.q_proj.weight.absmax */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT 0ul /* bf16 [32, 48],
    load until model.layers.0.mlp.down_proj.weight.codes */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1],
    load until model.layers.0.mlp.down_proj.weight.absmax */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT 0ul /* bf16 [32, 32],
    load until model.layers.1.self_attn.q_proj.weight.codes */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1],
    load until model.layers.1.self_attn.q_proj.weight.absmax */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT 0ul /* bf16 [32, 48],
    load until model.layers.1.mlp.down_proj.weight.codes */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1],
    load until model.layers.1.mlp.down_proj.weight.absmax */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT 0ul /* bf16 [32, 32],
    load until model.layers.2.self_attn.q_proj.weight.codes */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1],
    load until model.layers.2.self_attn.q_proj.weight.absmax */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT 0ul /* bf16 [32, 48],
    load until model.layers.2.mlp.down_proj.weight.codes */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1],
    load until model.layers.2.mlp.down_proj.weight.absmax */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], update until grad_norm.columns */

/* By number, such as the layer. */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT \
    MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT /* bf16 [16, 32], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_WHOLE \
    MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_WHOLE /* f32 [8, 1], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_EVEN \
    MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT /* bf16 [256, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_ODD \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT + 2ul) /* bf16 [256, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT \
    MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT /* bf16 [16, 32], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_WHOLE \
    MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_WHOLE /* f32 [8, 1], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_EVEN \
    MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT /* bf16 [256, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_ODD \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT + 2ul) /* bf16 [256, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT \
    MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT /* bf16 [32, 32], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_WHOLE \
    MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_WHOLE /* f32 [16, 1], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_EVEN \
    MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT /* bf16 [512, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_ODD \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT + 2ul) /* bf16 [512, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT \
    MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT /* bf16 [48, 32], one for 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_ABSMAX_WHOLE \
    MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX_WHOLE /* f32 [24, 1], one for 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_EVEN \
    MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT /* bf16 [768, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_ODD \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT + 2ul) /* bf16 [768, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT \
    MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT /* bf16 [48, 32], one for 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_ABSMAX_WHOLE \
    MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX_WHOLE /* f32 [24, 1], one for 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_EVEN \
    MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT /* bf16 [768, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_ODD \
    (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT + 2ul) /* bf16 [768, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT /* bf16 [32, 32], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_WHOLE \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_WHOLE /* f32 [16, 1], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_EVEN \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT /* bf16 [512, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_ODD \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT + 2ul) /* bf16 [512, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT /* bf16 [32, 48], one for 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_ABSMAX_WHOLE \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX_WHOLE /* f32 [24, 1], one for 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_EVEN \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT /* bf16 [768, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_ODD \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT + 2ul) /* bf16 [768, 1], row stride 2, one for 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 2560ul) /* bf16 [32, 32], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_U(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U + (i) * 2560ul) /* bf16 [32, 8], row stride 40, i = 0 to 2 */
static const size_t model_layers_self_attn_q_proj_y_weight_decoded_at[3] = {
    42496ul, 45568ul, 11264ul};
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED(i) \
    model_layers_self_attn_q_proj_y_weight_decoded_at[i] /* bf16 [32, 40], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_DECODED(i) \
    MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED(i) /* bf16 [32, 32], row stride 40, i = 0 to 2 */
/* bf16 [32, 8], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED_RIGHT(i) \
    (MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED(i) + 64ul)
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_X_U(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + (i) * 2560ul) /* bf16 [32, 40], i = 0 to 2 */
/* bf16 [32, 32], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y + (i) * 3072ul)
static const size_t model_layers_self_attn_k_proj_weight_decoded_at[3] = {
    47104ul, 45568ul, 73728ul};
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_DECODED(i) \
    model_layers_self_attn_k_proj_weight_decoded_at[i] /* bf16 [16, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ + (i) * 3072ul) /* bf16 [32, 16], row stride 48, i = 0 to 2 */
static const size_t model_layers_self_attn_v_proj_weight_decoded_at[3] = {
    47104ul, 45568ul, 73728ul};
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_DECODED(i) \
    model_layers_self_attn_v_proj_weight_decoded_at[i] /* bf16 [16, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 1024ul) /* bf16 [32, 16], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_ROPE_X(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + (i) * 3072ul) /* bf16 [32, 48], i = 0 to 2 */
static const size_t model_layers_self_attn_at[3] = {
    61440ul, 67584ul, 56320ul};
#define MODEL_LAYERS_SELF_ATTN(i) model_layers_self_attn_at[i] /* bf16 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_LSE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_LSE + (i) * 256ul) /* f32 [32, 2], i = 0 to 2 */
static const size_t model_layers_self_attn_o_proj_weight_decoded_at[3] = {
    51200ul, 0ul, 11264ul};
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_DECODED(i) \
    model_layers_self_attn_o_proj_weight_decoded_at[i] /* bf16 [32, 32], i = 0 to 2 */
static const size_t model_layers_self_attn_o_proj_at[3] = {
    42496ul, 45568ul, 58368ul};
#define MODEL_LAYERS_SELF_ATTN_O_PROJ(i) \
    model_layers_self_attn_o_proj_at[i] /* bf16 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_RESIDUAL(i) \
    (MODEL_LAYERS_0_MLP_RESIDUAL + (i) * 6144ul) /* bf16 [32, 32], i = 0 to 1 */
static const size_t model_layers_attn_residual_at[3] = {
    63488ul, 69632ul, 73728ul};
#define MODEL_LAYERS_ATTN_RESIDUAL(i) \
    model_layers_attn_residual_at[i] /* bf16 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 512ul) /* f32 [32, 1], i = 0 to 2 */
static const size_t model_layers_post_attention_layernorm_at[3] = {
    51200ul, 7680ul, 0ul};
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) \
    model_layers_post_attention_layernorm_at[i] /* bf16 [32, 32], i = 0 to 2 */
static const size_t model_layers_mlp_gate_proj_weight_decoded_at[3] = {
    0ul, 0ul, 11264ul};
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_DECODED(i) \
    model_layers_mlp_gate_proj_weight_decoded_at[i] /* bf16 [48, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ + (i) * 6144ul) /* bf16 [32, 48], i = 0 to 2 */
static const size_t model_layers_mlp_up_proj_weight_decoded_at[3] = {
    0ul, 0ul, 11264ul};
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_DECODED(i) \
    model_layers_mlp_up_proj_weight_decoded_at[i] /* bf16 [48, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ + (i) * 6144ul) /* bf16 [32, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_U(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_U + (i) * 3584ul) /* bf16 [32, 8], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT(i) \
    (MODEL_LAYERS_0_MLP_ACT + (i) * 3584ul) /* bf16 [32, 48], row stride 56, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_X_U(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + (i) * 3584ul) /* bf16 [32, 56], i = 0 to 2 */
static const size_t model_layers_mlp_down_proj_y_at[3] = {
    42496ul, 45568ul, 35328ul};
#define MODEL_LAYERS_MLP_DOWN_PROJ_Y(i) \
    model_layers_mlp_down_proj_y_at[i] /* bf16 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD + ((i) - 1) * 512ul) /* f32 [32, 1], i = 1 to 2 */
static const size_t model_layers_mlp_down_proj_dy_v_at[3] = {
    42496ul, 36352ul, 58880ul};
#define MODEL_LAYERS_MLP_DOWN_PROJ_DY_V(i) \
    model_layers_mlp_down_proj_dy_v_at[i] /* bf16 [32, 40], i = 0 to 2 */
#define MODEL_LAYERS_MLP_RESIDUAL_GRAD(i) \
    MODEL_LAYERS_MLP_DOWN_PROJ_DY_V(i) /* bf16 [32, 32], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_V(i) \
    (MODEL_LAYERS_MLP_DOWN_PROJ_DY_V(i) + 64ul) /* bf16 [32, 8], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_MLP_DOWN_PROJ_DY_V(i) + 64ul) /* bf16 [32, 4], row stride 40, i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD + (i) * 6144ul) /* bf16 [32, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD_UP(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_UP + (i) * 6144ul) /* bf16 [32, 48], i = 0 to 2 */
static const size_t model_layers_post_attention_layernorm_grad_weight_decoded_at[3] = {
    14848ul, 33280ul, 27136ul};
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED(i) \
    model_layers_post_attention_layernorm_grad_weight_decoded_at[i] /* bf16 [48, 32], i = 0 to 2 */
static const size_t model_layers_post_attention_layernorm_grad_at[3] = {
    17920ul, 45568ul, 30208ul};
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD(i) \
    model_layers_post_attention_layernorm_grad_at[i] /* bf16 [32, 32], i = 0 to 2 */
/* bf16 [48, 32], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED__2(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED__2 + (i) * 6144ul)
static const size_t model_layers_attn_residual_grad_at[3] = {
    14848ul, 0ul, 27136ul};
#define MODEL_LAYERS_ATTN_RESIDUAL_GRAD(i) \
    model_layers_attn_residual_grad_at[i] /* bf16 [32, 32], i = 0 to 2 */
/* bf16 [32, 32], i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_WEIGHT_DECODED(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD_WEIGHT_DECODED - ((i) - 1) * 43520ul)
#define MODEL_LAYERS_SELF_ATTN_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD - ((i) - 1) * 2048ul) /* bf16 [32, 32], i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 3072ul) /* bf16 [32, 32], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 3072ul) /* bf16 [32, 16], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_DELTA(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA + ((i) - 1) * 19456ul) /* f32 [32, 2], i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_Q(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD_Q - ((i) - 1) * 18944ul) /* bf16 [32, 32], i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_K(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD_K + ((i) - 1) * 28160ul) /* bf16 [32, 16], i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_V(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD_V + ((i) - 1) * 27136ul) /* bf16 [32, 16], i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD + ((i) - 1) * 3072ul) /* bf16 [32, 16], i = 1 to 2 */
/* bf16 [32, 32], row stride 40, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD + ((i) - 1) * 11264ul)
/* bf16 [16, 32], i = 1 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED + ((i) - 1) * 30208ul)
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD - ((i) - 1) * 2048ul) /* bf16 [32, 32], i = 1 to 2 */
/* bf16 [16, 32], i = 1 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__2(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__2 - ((i) - 1) * 45568ul)
/* bf16 [32, 8], row stride 40, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_V(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_V + ((i) - 1) * 11264ul)
/* bf16 [32, 4], row stride 40, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U_GRAD + ((i) - 1) * 11264ul)
/* bf16 [32, 32], i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_DECODED_BACKWARD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_DECODED_BACKWARD + ((i) - 1) * 3072ul)
/* bf16 [8, 32], i = 1 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED_BELOW(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED_BELOW + ((i) - 1) * 3072ul)
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_DY_V(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V + ((i) - 1) * 11264ul) /* bf16 [32, 40], i = 1 to 2 */
/* bf16 [40, 32], i = 1 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3 + ((i) - 1) * 3072ul)
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_DECODED \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 48], row stride 56, one for 0 to 2 */
/* bf16 [32, 8], row stride 56, one for 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_Y_WEIGHT_DECODED_RIGHT \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED + 96ul)
#define MODEL_LAYERS_MLP_DOWN_PROJ_Y_WEIGHT_DECODED \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 56], one for 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD_WEIGHT_DECODED_BELOW \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_WEIGHT_DECODED + 3072ul) /* bf16 [8, 48], one for 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD_WEIGHT_DECODED \
    MODEL_LAYERS_0_MLP_ACT_GRAD_WEIGHT_DECODED /* bf16 [40, 48], one for 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD_GATE \
    MODEL_LAYERS_0_MLP_ACT_GRAD_GATE /* bf16 [32, 48], one for 0 to 2 */
static const size_t evaluate_model_layers_mlp_down_proj_y_at[3] = {
    12288ul, 12288ul, 7168ul};
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_Y(i) \
    evaluate_model_layers_mlp_down_proj_y_at[i] /* bf16 [32, 32], i = 0 to 2 */
#define EVALUATE_MODEL_LAYERS_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U /* bf16 [32, 32], row stride 40, one for 0 to 2 */
/* bf16 [32, 8], row stride 40, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + 64ul)
/* bf16 [32, 32], row stride 40, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_DECODED \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED
/* bf16 [32, 8], row stride 40, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED_RIGHT \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED + 64ul)
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_X_U \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U /* bf16 [32, 40], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 40], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* bf16 [32, 32], row stride 48, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_DECODED \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_DECODED /* bf16 [16, 32], one for 0 to 2 */
/* bf16 [32, 16], row stride 48, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_K_PROJ \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 64ul)
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_DECODED \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_DECODED /* bf16 [16, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_V_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ /* bf16 [32, 16], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_K_ROPE_X \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* bf16 [32, 48], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN /* bf16 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_LSE \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE /* f32 [32, 2], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_DECODED \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_DECODED /* bf16 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_O_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ /* bf16 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL /* bf16 [32, 32], one for 0 to 1 */
#define EVALUATE_MODEL_LAYERS_ATTN_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL /* bf16 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_POST_ATTENTION_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM /* bf16 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_DECODED \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_DECODED /* bf16 [48, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_GATE_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ /* bf16 [32, 48], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_DECODED \
    EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_DECODED /* bf16 [48, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_UP_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ /* bf16 [32, 48], one for 0 to 2 */
/* bf16 [32, 8], row stride 56, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul)
#define EVALUATE_MODEL_LAYERS_MLP_ACT \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, one for 0 to 2 */
/* bf16 [32, 48], row stride 56, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_DECODED \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED
/* bf16 [32, 8], row stride 56, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_Y_WEIGHT_DECODED_RIGHT \
    (EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED + 96ul)
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_X_U \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 56], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_Y_WEIGHT_DECODED \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 56], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_DELTA \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DELTA /* f32 [32, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_MERGED_WEIGHT_DECODED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED_WEIGHT_DECODED /* bf16 [32, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED /* bf16 [32, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_K_PROJ_BASE_WEIGHT_DECODED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_BASE_WEIGHT_DECODED /* bf16 [16, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_K_PROJ_BASE \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_BASE /* bf16 [16, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_V_PROJ_BASE_WEIGHT_DECODED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_BASE_WEIGHT_DECODED /* bf16 [16, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_V_PROJ_BASE \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_BASE /* bf16 [16, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_O_PROJ_BASE_WEIGHT_DECODED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BASE_WEIGHT_DECODED /* bf16 [32, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_O_PROJ_BASE \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BASE /* bf16 [32, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_GATE_PROJ_BASE_WEIGHT_DECODED \
    MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_BASE_WEIGHT_DECODED /* bf16 [48, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_GATE_PROJ_BASE \
    MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_BASE /* bf16 [48, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_UP_PROJ_BASE_WEIGHT_DECODED \
    MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_BASE_WEIGHT_DECODED /* bf16 [48, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_UP_PROJ_BASE \
    MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_BASE /* bf16 [48, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_DOWN_PROJ_DELTA \
    MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_DELTA /* f32 [32, 48], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_DOWN_PROJ_MERGED_WEIGHT_DECODED \
    MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED_WEIGHT_DECODED /* bf16 [32, 48], one for 0 to 2 */
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
    PARAMS = 42,
    CONSTANTS = 6,
    LOAD_OUTPUTS = 140,
    MICRO_STEP_OUTPUTS = 178,
    UPDATE_OUTPUTS = 28,
    EVALUATE_OUTPUTS = 82,
    MERGE_OUTPUTS = 48,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];
extern const RtOutput merge_outputs[MERGE_OUTPUTS];

#endif
