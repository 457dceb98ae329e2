/* Offsets of all buffers of lora, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 311296ul

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
#define MODEL_EMBED_TOKENS_WEIGHT 4352ul /* f32 [64, 32], frozen */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 12544ul /* f32 [32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT 12800ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT 16896ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT 18944ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT 20992ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 25088ul /* f32 [32], frozen */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT 25344ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT 31488ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT 37632ul /* f32 [32, 48], frozen */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT 43776ul /* f32 [32], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT 44032ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT 48128ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT 50176ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT 52224ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT 56320ul /* f32 [32], frozen */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT 56576ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT 62720ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT 68864ul /* f32 [32, 48], frozen */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT 75008ul /* f32 [32], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT 75264ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT 79360ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT 81408ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT 83456ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT 87552ul /* f32 [32], frozen */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT 87808ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT 93952ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT 100096ul /* f32 [32, 48], frozen */
#define MODEL_NORM_WEIGHT 106240ul /* f32 [32], frozen */
#define LM_HEAD_WEIGHT 106496ul /* f32 [64, 32], frozen */
#define TRAINED 114688ul /* f32 [12, 1024], adapter */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT (TRAINED + 32768ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT (TRAINED + 36864ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT (TRAINED + 40960ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT (TRAINED + 45056ul) /* f32 [4, 32] */
#define GRADIENT 163840ul /* f32 [12, 1024], gradient */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 24576ul) /* f32 [32, 4] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 28672ul) /* f32 [4, 32] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 32768ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 36864ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 40960ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 45056ul) /* f32 [4, 32] */
#define EXP_AVG 212992ul /* f32 [12, 1024], optimizer */
#define EXP_AVG_SQ 262144ul /* f32 [12, 1024], optimizer */

/* By number, such as the layer. */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT + (i) * 31232ul) /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT - (i) * 16384ul) /* f32 [4, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT - (i) * 16384ul) /* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT + (i) * 31232ul) /* f32 [16, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT + (i) * 31232ul) /* f32 [16, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT + (i) * 31232ul) /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT + (i) * 31232ul) /* f32 [32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT + (i) * 31232ul) /* f32 [48, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT + (i) * 31232ul) /* f32 [48, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT + (i) * 31232ul) /* f32 [32, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT - (i) * 16384ul) /* f32 [4, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT - (i) * 16384ul) /* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT + (i) * 31232ul) /* f32 [32], i = 0 to 2 */
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

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8654848ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define MODEL_EMBED_TOKENS 0ul /* f32 [32, 32], micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_INPUT_LAYERNORM 88064ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ 141312ul /* f32 [32, 16],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN 92160ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 150528ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 75776ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 96256ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 4096ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 151296ul /* f32 [32, 1],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 8192ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ 14336ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT 20480ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ 0ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual */
#define MODEL_LAYERS_0_MLP_RESIDUAL 100352ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM 104448ul /* f32 [32, 32],
    micro_step until model.layers.1.self_attn.v_proj,
    side model.layers.1.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 151552ul /* f32 [32, 1],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ 143360ul /* f32 [32, 16],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN 108544ul /* f32 [32, 32],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 150784ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 81920ul /* f32 [32, 32],
    micro_step until model.layers.1.attn_residual */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 112640ul /* f32 [32, 32],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 0ul /* f32 [32, 32],
    micro_step until model.layers.1.mlp.up_proj */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 151808ul /* f32 [32, 1],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_MLP_GATE_PROJ 26624ul /* f32 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_UP_PROJ 32768ul /* f32 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_ACT 38912ul /* f32 [32, 48],
    micro_step until model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ 81920ul /* f32 [32, 32],
    micro_step until model.layers.1.mlp_residual */
#define MODEL_LAYERS_1_MLP_RESIDUAL 116736ul /* f32 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM 120832ul /* f32 [32, 32],
    micro_step until model.layers.2.self_attn.v_proj,
    side model.layers.2.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 152064ul /* f32 [32, 1],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ 145408ul /* f32 [32, 16],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN 124928ul /* f32 [32, 32],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 151040ul /* f32 [32, 2],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32],
    micro_step until model.layers.2.attn_residual */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 129024ul /* f32 [32, 32],
    micro_step until model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 4096ul /* f32 [32, 32],
    micro_step until model.layers.2.mlp.up_proj */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 152320ul /* f32 [32, 1],
    micro_step until model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_MLP_GATE_PROJ 45056ul /* f32 [32, 48],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_UP_PROJ 51200ul /* f32 [32, 48],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_ACT 57344ul /* f32 [32, 48],
    micro_step until model.layers.2.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ 63488ul /* f32 [32, 32],
    micro_step until model.layers.2.mlp_residual */
#define MODEL_LAYERS_2_MLP_RESIDUAL 133120ul /* f32 [32, 32],
    micro_step until model.layers.2.mlp_residual.grad */
#define MODEL_NORM 137216ul /* f32 [32, 32], micro_step until lm_head */
#define MODEL_NORM_RSTD 67584ul /* f32 [32, 1], micro_step until model.layers.2.mlp_residual.grad */
#define LM_HEAD 0ul /* f32 [32, 64], micro_step until model.norm.grad */
#define LOSS_ROWS 152576ul /* f32 [32, 1], micro_step until loss.rows, side loss */
#define EVALUATE_MODEL_EMBED_TOKENS 6144ul /* f32 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM 10240ul /* f32 [32, 32],
    evaluate until model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ 14336ul /* f32 [32, 16],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 10240ul /* f32 [32, 32],
    evaluate until model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 16384ul /* f32 [32, 2],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 18432ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 12288ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ 0ul /* f32 [32, 48],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ 6144ul /* f32 [32, 48],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT 12288ul /* f32 [32, 48],
    evaluate until model.layers.0.mlp.down_proj.u */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ 0ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 6144ul /* f32 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM 10240ul /* f32 [32, 32],
    evaluate until model.layers.1.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ 14336ul /* f32 [32, 16],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 10240ul /* f32 [32, 32],
    evaluate until model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 16384ul /* f32 [32, 2],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 18432ul /* f32 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 12288ul /* f32 [32, 32],
    evaluate until model.layers.1.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ 0ul /* f32 [32, 48],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ 6144ul /* f32 [32, 48],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_ACT 12288ul /* f32 [32, 48],
    evaluate until model.layers.1.mlp.down_proj.u */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ 0ul /* f32 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 6144ul /* f32 [32, 32],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM 10240ul /* f32 [32, 32],
    evaluate until model.layers.2.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ 14336ul /* f32 [32, 16],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN 10240ul /* f32 [32, 32],
    evaluate until model.layers.2.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 16384ul /* f32 [32, 2],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 18432ul /* f32 [32, 32],
    evaluate until model.layers.2.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 12288ul /* f32 [32, 32],
    evaluate until model.layers.2.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_PROJ 0ul /* f32 [32, 48],
    evaluate until model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_MLP_UP_PROJ 6144ul /* f32 [32, 48],
    evaluate until model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_MLP_ACT 12288ul /* f32 [32, 48],
    evaluate until model.layers.2.mlp.down_proj.u */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ 0ul /* f32 [32, 32],
    evaluate until model.layers.2.mlp_residual */
#define EVALUATE_MODEL_NORM 8192ul /* f32 [32, 32], evaluate until lm_head */
#define EVALUATE_LM_HEAD 0ul /* f32 [32, 64], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS 8192ul /* f32 [32, 1], evaluate until loss */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U 147456ul /* f32 [32, 4],
    micro_step until model.layers.0.self_attn.q_proj.lora_B,
    side model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U 147968ul /* f32 [32, 4],
    micro_step until model.layers.0.mlp.down_proj.lora_B,
    side model.layers.0.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U 148480ul /* f32 [32, 4],
    micro_step until model.layers.1.self_attn.q_proj.lora_B,
    side model.layers.1.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_U 148992ul /* f32 [32, 4],
    micro_step until model.layers.1.mlp.down_proj.lora_B,
    side model.layers.1.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_U 149504ul /* f32 [32, 4],
    micro_step until model.layers.2.self_attn.q_proj.lora_B,
    side model.layers.2.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_U 150016ul /* f32 [32, 4],
    micro_step until model.layers.2.mlp.down_proj.lora_B,
    side model.layers.2.mlp.down_proj.lora_B.weight.grad */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U 14336ul /* f32 [32, 4],
    evaluate until model.layers.0.self_attn.q_proj.lora_B */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_U 4096ul /* f32 [32, 4],
    evaluate until model.layers.0.mlp.down_proj.lora_B */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U 14336ul /* f32 [32, 4],
    evaluate until model.layers.1.self_attn.q_proj.lora_B */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_U 4096ul /* f32 [32, 4],
    evaluate until model.layers.1.mlp.down_proj.lora_B */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_U 14336ul /* f32 [32, 4],
    evaluate until model.layers.2.self_attn.q_proj.lora_B */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_U 4096ul /* f32 [32, 4],
    evaluate until model.layers.2.mlp.down_proj.lora_B */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED 0ul /* f32 [32, 32],
    merge until model.layers.0.self_attn.q_proj.export */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED 0ul /* f32 [32, 48],
    merge until model.layers.0.mlp.down_proj.export */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_MERGED 0ul /* f32 [32, 32],
    merge until model.layers.1.self_attn.q_proj.export */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_MERGED 0ul /* f32 [32, 48],
    merge until model.layers.1.mlp.down_proj.export */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_MERGED 0ul /* f32 [32, 32],
    merge until model.layers.2.self_attn.q_proj.export */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_MERGED 0ul /* f32 [32, 48],
    merge until model.layers.2.mlp.down_proj.export */
#define MODEL_NORM_GRAD 63488ul /* f32 [32, 32],
    micro_step until model.layers.2.mlp_residual.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD 137216ul /* f32 [32, 32],
    micro_step until model.layers.2.attn_residual.grad,
    side model.layers.2.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_U_GRAD 6144ul /* f32 [32, 4],
    micro_step until model.layers.2.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 0ul /* f32 [32, 48],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_GATE 57344ul /* f32 [32, 48],
    micro_step until model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_UP 63488ul /* f32 [32, 48],
    micro_step until model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 133120ul /* f32 [32, 32],
    micro_step until model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_ATTN_RESIDUAL_GRAD 45056ul /* f32 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 0ul /* f32 [32, 32],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_V 49152ul /* f32 [32, 16],
    micro_step until model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 4096ul /* f32 [32, 2],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 81920ul /* f32 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_U_GRAD 6144ul /* f32 [32, 4],
    micro_step until model.layers.2.input_layernorm.grad,
    side model.layers.2.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD 63488ul /* f32 [32, 32],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_U_GRAD 6656ul /* f32 [32, 4],
    micro_step until model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 0ul /* f32 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE 38912ul /* f32 [32, 48],
    micro_step until model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP 45056ul /* f32 [32, 48],
    micro_step until model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 116736ul /* f32 [32, 32],
    micro_step until model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 81920ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 0ul /* f32 [32, 32],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_V 67584ul /* f32 [32, 16],
    micro_step until model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 6656ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 75776ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U_GRAD 6656ul /* f32 [32, 4],
    micro_step until model.layers.1.input_layernorm.grad,
    side model.layers.1.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD 108544ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U_GRAD 7168ul /* f32 [32, 4],
    micro_step until model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 0ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 20480ul /* f32 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 26624ul /* f32 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 100352ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 112640ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 116736ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 75776ul /* f32 [32, 16],
    micro_step side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 77824ul /* f32 [32, 16],
    micro_step side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 68096ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD 112640ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.q_proj.u.grad,
    side model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U_GRAD 67584ul /* f32 [32, 4],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], update until grad_norm.squared */
#define CLIP_FACTOR 0ul /* f32 [1], update until adamw */
#define RATES_LR 256ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION1 512ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION2_SQRT 768ul /* f32 [1], update until adamw */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 69632ul /* f32 [32, 48],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 75776ul /* f32 [32, 48],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_ROPE \
    MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_1_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X 81920ul /* f32 [32, 48],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_K_Q_PROJ_GRAD 51200ul /* f32 [32, 48],
    micro_step until model.layers.2.input_layernorm.grad,
    side model.layers.2.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD 57344ul /* f32 [32, 48],
    micro_step until model.layers.1.input_layernorm.grad,
    side model.layers.1.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD \
    MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD /* f32 [32, 16], row stride 48 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD \
    (MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD + 64ul) /* f32 [32, 32], row stride 48 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48],
    evaluate until model.layers.2.self_attn */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], update until grad_norm.columns */

/* By number, such as the layer. */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 16384ul) /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ + (i) * 6144ul) /* f32 [32, 32], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_U(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U + (i) * 1024ul) /* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_PROJ + (i) * 6144ul) /* f32 [32, 16], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 2048ul) /* f32 [32, 16], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_ROPE_X(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + (i) * 6144ul) /* f32 [32, 48], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN(i) \
    (MODEL_LAYERS_0_SELF_ATTN + (i) * 16384ul) /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_LSE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_LSE + (i) * 256ul) /* f32 [32, 2], i = 0 to 2 */
static const size_t model_layers_self_attn_o_proj_at[3] = {
    75776ul, 81920ul, 0ul};
#define MODEL_LAYERS_SELF_ATTN_O_PROJ(i) \
    model_layers_self_attn_o_proj_at[i] /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_RESIDUAL(i) \
    (MODEL_LAYERS_0_MLP_RESIDUAL + (i) * 16384ul) /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_ATTN_RESIDUAL(i) \
    (MODEL_LAYERS_0_ATTN_RESIDUAL + (i) * 16384ul) /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 512ul) /* f32 [32, 1], i = 0 to 2 */
static const size_t model_layers_post_attention_layernorm_at[3] = {
    4096ul, 0ul, 4096ul};
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) \
    model_layers_post_attention_layernorm_at[i] /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ + (i) * 18432ul) /* f32 [32, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ + (i) * 18432ul) /* f32 [32, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT(i) \
    (MODEL_LAYERS_0_MLP_ACT + (i) * 18432ul) /* f32 [32, 48], i = 0 to 2 */
static const size_t model_layers_mlp_down_proj_at[3] = {
    0ul, 81920ul, 63488ul};
#define MODEL_LAYERS_MLP_DOWN_PROJ(i) \
    model_layers_mlp_down_proj_at[i] /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_U(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_U + (i) * 1024ul) /* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD + ((i) - 1) * 512ul) /* f32 [32, 1], i = 1 to 2 */
static const size_t model_layers_mlp_residual_grad_at[3] = {
    108544ul, 63488ul, 137216ul};
#define MODEL_LAYERS_MLP_RESIDUAL_GRAD(i) \
    model_layers_mlp_residual_grad_at[i] /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_U_GRAD - (i) * 512ul) /* f32 [32, 4], i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD_GATE(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_GATE + (i) * 18432ul) /* f32 [32, 48], i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD_UP(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_UP + (i) * 18432ul) /* f32 [32, 48], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD + (i) * 16384ul) /* f32 [32, 32], i = 0 to 2 */
static const size_t model_layers_attn_residual_grad_at[3] = {
    112640ul, 81920ul, 45056ul};
#define MODEL_LAYERS_ATTN_RESIDUAL_GRAD(i) \
    model_layers_attn_residual_grad_at[i] /* f32 [32, 32], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 6144ul) /* f32 [32, 32], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 6144ul) /* f32 [32, 16], row stride 48, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_DELTA(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA - ((i) - 1) * 2560ul) /* f32 [32, 2], i = 1 to 2 */
/* f32 [32, 32], row stride 48, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD - ((i) - 1) * 6144ul)
/* f32 [32, 16], row stride 48, i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD - ((i) - 1) * 6144ul)
#define MODEL_LAYERS_SELF_ATTN_GRAD_V(i) \
    (MODEL_LAYERS_1_SELF_ATTN_GRAD_V - ((i) - 1) * 18432ul) /* f32 [32, 16], i = 1 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD + ((i) - 1) * 6144ul) /* f32 [32, 32], i = 1 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_U_GRAD(i) \
    (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_U_GRAD - ((i) - 1) * 512ul) /* f32 [32, 4], i = 1 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD MODEL_LAYERS_0_MLP_ACT_GRAD /* f32 [32, 48], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD MODEL_LAYERS_1_SELF_ATTN_GRAD /* f32 [32, 32], one for 1 to 2 */
#define EVALUATE_MODEL_LAYERS_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM /* f32 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_U \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U /* f32 [32, 4], one for 0 to 2 */
/* f32 [32, 16], row stride 48, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_K_PROJ \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul)
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_V_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ /* f32 [32, 16], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_K_ROPE_X \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 48], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN /* f32 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_LSE \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE /* f32 [32, 2], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_O_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ /* f32 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL /* f32 [32, 32], one for 0 to 1 */
#define EVALUATE_MODEL_LAYERS_ATTN_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL /* f32 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_POST_ATTENTION_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM /* f32 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_GATE_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ /* f32 [32, 48], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_UP_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ /* f32 [32, 48], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_ACT \
    EVALUATE_MODEL_LAYERS_0_MLP_ACT /* f32 [32, 48], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ /* f32 [32, 32], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_U \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_U /* f32 [32, 4], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_SELF_ATTN_Q_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED /* f32 [32, 32], one for 0 to 2 */
#define MERGE_MODEL_LAYERS_MLP_DOWN_PROJ_MERGED \
    MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED /* f32 [32, 48], one for 0 to 2 */

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
    CONSTANTS = 2,
    LOAD_OUTPUTS = 2,
    MICRO_STEP_OUTPUTS = 135,
    UPDATE_OUTPUTS = 15,
    EVALUATE_OUTPUTS = 61,
    MERGE_OUTPUTS = 6,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];
extern const RtOutput merge_outputs[MERGE_OUTPUTS];

#endif
