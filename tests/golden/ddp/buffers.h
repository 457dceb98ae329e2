/* Offsets of all buffers of ddp, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 224768ul

#define SEED 0ul /* i64 [1], counter */
#define STEP 256ul /* i32 [1], counter */
#define APPLIED 512ul /* i32 [1], counter */
#define BAD_STEP 768ul /* i32 [1], counter */
#define EVAL_LOSS 1024ul /* f32 [1], counter */
#define LR 1280ul /* f32 [10, 1], counter */
#define BIAS_CORRECTION1 1536ul /* f32 [10, 1], counter */
#define BIAS_CORRECTION2_SQRT 1792ul /* f32 [10, 1], counter */
#define LOSS 2048ul /* f32 [10, 1], counter */
#define GRAD_NORM 2304ul /* f32 [10, 1], counter */
#define ROPE_COS 2560ul /* f32 [16, 8], constant */
#define ROPE_SIN 3072ul /* f32 [16, 8], constant */
#define ROPE_INV_FREQ 3584ul /* f32 [8], constant */
#define LOSS_GRAD 3840ul /* f32 [1], constant */
#define MODEL_EMBED_TOKENS_WEIGHT 4096ul /* f32 [64, 32], frozen */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 12288ul /* f32 [32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT 12544ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT 14592ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT 16640ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 20736ul /* f32 [32], frozen */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT 20992ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT 27136ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT 33280ul /* f32 [32], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT 33536ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT 35584ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT 37632ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT 41728ul /* f32 [32], frozen */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT 41984ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT 48128ul /* f32 [48, 32], frozen */
#define MODEL_NORM_WEIGHT 54272ul /* f32 [32], frozen */
#define LM_HEAD_WEIGHT 54528ul /* f32 [64, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED 62720ul /* f32 [40, 40], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED /* f32 [32, 40] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_SB \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED + 128ul) /* f32 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED + 5120ul) /* f32 [4, 32], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED 69120ul /* f32 [40, 56], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_A \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* f32 [40, 48], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* f32 [32, 56] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_SB \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 192ul) /* f32 [32, 8], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 192ul) /* f32 [32, 4], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 7168ul) /* f32 [4, 48], row stride 56 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED 78080ul /* f32 [40, 40], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED_W_A \
    MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED /* f32 [40, 32], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED /* f32 [32, 40] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED_SB \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED + 5120ul) /* f32 [8, 32], row stride 40 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED 84480ul /* f32 [40, 56], frozen */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_W_A \
    MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED /* f32 [40, 48], row stride 56 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED /* f32 [32, 56] */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_SB \
    (MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED + 192ul) /* f32 [32, 8], row stride 56 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED + 7168ul) /* f32 [8, 48], row stride 56 */
#define TRAINED 93440ul /* f32 [8, 1024], adapter */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT (TRAINED + 16384ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT (TRAINED + 20480ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT (TRAINED + 24576ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT (TRAINED + 28672ul) /* f32 [4, 32] */
#define GRADIENT 126208ul /* f32 [8193], gradient */
#define GRADIENT_BUCKET_0 GRADIENT /* f32 [4096] */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD GRADIENT /* f32 [32, 4] */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 4096ul) /* f32 [4, 48] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 8192ul) /* f32 [32, 4] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 12288ul) /* f32 [4, 32] */
#define GRADIENT_BUCKET_1 (GRADIENT + 16384ul) /* f32 [4097] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 16384ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 20480ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 24576ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 28672ul) /* f32 [4, 32] */
#define STEP_LOSS (GRADIENT + 32768ul) /* f32 [1] */
#define EXP_AVG 159232ul /* f32 [8, 1024], optimizer */
#define EXP_AVG_SQ 192000ul /* f32 [8, 1024], optimizer */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8501760ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define MODEL_EMBED_TOKENS 65536ul /* f32 [32, 32], micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ 107520ul /* f32 [32, 16],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN 87040ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 111616ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 76800ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 91136ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 80896ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 112128ul /* f32 [32, 1],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 22528ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ 28672ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL 95232ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 112384ul /* f32 [32, 1],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ 109568ul /* f32 [32, 16],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN 99328ul /* f32 [32, 32],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 111872ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 81920ul /* f32 [32, 32],
    micro_step until model.layers.1.attn_residual */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 103424ul /* f32 [32, 32],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 15360ul /* f32 [32, 32],
    micro_step until model.layers.1.mlp.up_proj */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 112640ul /* f32 [32, 1],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_MLP_GATE_PROJ 34816ul /* f32 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_UP_PROJ 40960ul /* f32 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL 47104ul /* f32 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_NORM 81920ul /* f32 [32, 32], micro_step until lm_head */
#define MODEL_NORM_RSTD 55296ul /* f32 [32, 1], micro_step until model.layers.1.mlp_residual.grad */
#define LM_HEAD 0ul /* f32 [32, 64], micro_step until model.norm.grad */
#define LOSS_ROWS 112896ul /* f32 [32, 1], micro_step until loss.rows, side loss */
#define EVALUATE_MODEL_EMBED_TOKENS 11264ul /* f32 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ 15360ul /* f32 [32, 16],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 6144ul /* f32 [32, 32],
    evaluate until model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 10240ul /* f32 [32, 2],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 19456ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 23552ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ 7168ul /* f32 [32, 48],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ 13312ul /* f32 [32, 48],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 11264ul /* f32 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ 15360ul /* f32 [32, 16],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 6144ul /* f32 [32, 32],
    evaluate until model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 10240ul /* f32 [32, 2],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 19456ul /* f32 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 23552ul /* f32 [32, 32],
    evaluate until model.layers.1.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ 7168ul /* f32 [32, 48],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ 13312ul /* f32 [32, 48],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_NORM 8192ul /* f32 [32, 32], evaluate until lm_head */
#define EVALUATE_LM_HEAD 0ul /* f32 [32, 64], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS 8192ul /* f32 [32, 1], evaluate until loss */
#define MODEL_NORM_GRAD 51200ul /* f32 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 0ul /* f32 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE 47104ul /* f32 [32, 48],
    micro_step until model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP 53248ul /* f32 [32, 48],
    micro_step until model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 0ul /* f32 [32, 32],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 4096ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 0ul /* f32 [32, 32],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_V 57344ul /* f32 [32, 16],
    micro_step until model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 103424ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD 99328ul /* f32 [32, 16],
    micro_step until model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 0ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 0ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 34816ul /* f32 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 40960ul /* f32 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 65536ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 0ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 4096ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 0ul /* f32 [32, 16],
    micro_step side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 2048ul /* f32 [32, 16],
    micro_step side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 70656ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define GRAD_NORM_COLUMNS 0ul /* f32 [1024], update until grad_norm.squared */
#define CLIP_FACTOR 4096ul /* f32 [1], update until adamw */
#define RATES_LR 4352ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION1 4608ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION2_SQRT 4864ul /* f32 [1], update until adamw */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U 71680ul /* f32 [32, 40],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad,
    side model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U /* f32 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V 65536ul /* f32 [32, 40],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad,
    side model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V /* f32 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U_GRAD \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V + 128ul) /* f32 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_V \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 8192ul /* f32 [32, 56],
    micro_step until model.layers.0.mlp.down_proj.y,
    side model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* f32 [32, 48], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 192ul) /* f32 [32, 8], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 81920ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V 47104ul /* f32 [32, 40],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V /* f32 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U_GRAD \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 128ul) /* f32 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_V \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U 76800ul /* f32 [32, 40],
    micro_step until model.layers.1.self_attn.v_proj,
    side model.layers.1.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM \
    MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U /* f32 [32, 32], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V 52224ul /* f32 [32, 40],
    micro_step until model.layers.1.input_layernorm.grad,
    side model.layers.1.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD \
    MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V /* f32 [32, 32], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U_GRAD \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V + 128ul) /* f32 [32, 4], row stride 40 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_V \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 15360ul /* f32 [32, 56],
    micro_step until model.layers.1.mlp.down_proj.y,
    side model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_MLP_ACT MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U /* f32 [32, 48], row stride 56 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_U \
    (MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U + 192ul) /* f32 [32, 8], row stride 56 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 0ul /* f32 [32, 32],
    micro_step until model.layers.1.mlp_residual */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V 81920ul /* f32 [32, 40],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD \
    MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V /* f32 [32, 32], row stride 40 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_U_GRAD \
    (MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V + 128ul) /* f32 [32, 4], row stride 40 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_V \
    (MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V + 128ul) /* f32 [32, 8], row stride 40 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U 6144ul /* f32 [32, 40],
    evaluate until model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U /* f32 [32, 32], row stride 40 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + 128ul) /* f32 [32, 8], row stride 40 */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 0ul /* f32 [32, 56],
    evaluate until model.layers.0.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* f32 [32, 48], row stride 56 */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 192ul) /* f32 [32, 8], row stride 56 */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 15360ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U 6144ul /* f32 [32, 40],
    evaluate until model.layers.1.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U /* f32 [32, 32], row stride 40 */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U \
    (EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U + 128ul) /* f32 [32, 8], row stride 40 */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 0ul /* f32 [32, 56],
    evaluate until model.layers.1.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_1_MLP_ACT \
    EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U /* f32 [32, 48], row stride 56 */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_U \
    (EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U + 192ul) /* f32 [32, 8], row stride 56 */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 12288ul /* f32 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 59392ul /* f32 [32, 48],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 65536ul /* f32 [32, 48],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_ROPE \
    MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_Y \
    MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_1_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_Y \
    EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ \
    (EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1024ul

#define INPUT_IDS 0ul /* i32 [32, 1] */
#define LABELS 256ul /* i32 [32, 1] */
#define POSITIONS 512ul /* i32 [32, 1] */
#define LOSS_WEIGHT 768ul /* f32 [1] */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 113152ul
#define GEMM_WORKSPACE_BYTES 4194304ul
#define GEMM_SIDE_WORKSPACE 4307456ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 29,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 10,
    MICRO_STEP_OUTPUTS = 86,
    UPDATE_OUTPUTS = 23,
    EVALUATE_OUTPUTS = 38,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
