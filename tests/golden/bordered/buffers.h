/* Where every buffer of bordered lies: bytes from the start of its arena. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 874496ul

#define SEED 0ul /* i64 [1], counter seed */
#define STEP 256ul /* i32 [1], counter step */
#define APPLIED 512ul /* i32 [1], counter applied */
#define BAD_STEP 768ul /* i32 [1], counter bad_step */
#define STEP_LOSS 1024ul /* f32 [1], counter step_loss */
#define EVAL_LOSS 1280ul /* f32 [1], counter eval_loss */
#define LR 1536ul /* f32 [10, 1], counter lr */
#define BIAS_CORRECTION1 1792ul /* f32 [10, 1], counter bias_correction1 */
#define BIAS_CORRECTION2 2048ul /* f32 [10, 1], counter bias_correction2 */
#define LOSS 2304ul /* f32 [10, 1], counter loss */
#define GRAD_NORM 2560ul /* f32 [10, 1], counter grad_norm */
#define ROPE_COS 2816ul /* f32 [16, 8], constant rope.cos */
#define ROPE_SIN 3328ul /* f32 [16, 8], constant rope.sin */
#define ROPE_INV_FREQ 3840ul /* f32 [8], constant rope.inv_freq */
#define LOSS_GRAD 4096ul /* f32 [1], constant loss.grad */
#define MODEL_EMBED_TOKENS_WEIGHT 4352ul /* bf16 [64, 32], frozen model.embed_tokens.weight */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 8448ul /* bf16 [32], frozen model.layers.0.input_layernorm.weight */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 8704ul /* bf16 [32], frozen model.layers.0.post_attention_layernorm.weight */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT 8960ul /* bf16 [32], frozen model.layers.1.input_layernorm.weight */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT 9216ul /* bf16 [32], frozen model.layers.1.post_attention_layernorm.weight */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT 9472ul /* bf16 [32], frozen model.layers.2.input_layernorm.weight */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT 9728ul /* bf16 [32], frozen model.layers.2.post_attention_layernorm.weight */
#define MODEL_NORM_WEIGHT 9984ul /* bf16 [32], frozen model.norm.weight */
#define LM_HEAD_WEIGHT 10240ul /* bf16 [64, 32], frozen lm_head.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED 14336ul /* bf16 [88, 56], frozen model.layers.0.self_attn.q_k_v_proj.bordered */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED 24320ul /* bf16 [40, 40], frozen model.layers.0.self_attn.o_proj.bordered */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED 27648ul /* bf16 [112, 48], frozen model.layers.0.mlp.gate_up_proj.bordered */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED 38400ul /* bf16 [40, 56], frozen model.layers.0.mlp.down_proj.bordered */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED 43008ul /* bf16 [88, 56], frozen model.layers.1.self_attn.q_k_v_proj.bordered */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED 52992ul /* bf16 [40, 40], frozen model.layers.1.self_attn.o_proj.bordered */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_BORDERED 56320ul /* bf16 [112, 48], frozen model.layers.1.mlp.gate_up_proj.bordered */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED 67072ul /* bf16 [40, 56], frozen model.layers.1.mlp.down_proj.bordered */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_BORDERED 71680ul /* bf16 [88, 56], frozen model.layers.2.self_attn.q_k_v_proj.bordered */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BORDERED 81664ul /* bf16 [40, 40], frozen model.layers.2.self_attn.o_proj.bordered */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_BORDERED 84992ul /* bf16 [112, 48], frozen model.layers.2.mlp.gate_up_proj.bordered */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED 95744ul /* bf16 [40, 56], frozen model.layers.2.mlp.down_proj.bordered */
#define TRAINED 100352ul /* bf16 [42, 1024], adapter trained */
#define GRADIENT 186368ul /* f32 [42, 1024], gradient gradient */
#define MASTER 358400ul /* f32 [42, 1024], optimizer master */
#define EXP_AVG 530432ul /* f32 [42, 1024], optimizer exp_avg */
#define EXP_AVG_SQ 702464ul /* f32 [42, 1024], optimizer exp_avg_sq */

/* ---- SCRATCH: buffers whose lifetimes do not meet share bytes ---- */

#define SCRATCH_BYTES 6295552ul

#define MODEL_EMBED_TOKENS 66560ul /* bf16 [32, 32], activation model.embed_tokens */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE 82944ul /* bf16 [32, 32], activation model.layers.0.self_attn.q_rope */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE 99328ul /* bf16 [32, 16], activation model.layers.0.self_attn.k_rope */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 102400ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 84992ul /* bf16 [32, 32], activation model.layers.0.attn_residual */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 103168ul /* f32 [32, 1], activation model.layers.0.post_attention_layernorm.rstd */
#define MODEL_LAYERS_0_MLP_RESIDUAL 87040ul /* bf16 [32, 32], activation model.layers.0.mlp_residual */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 103424ul /* f32 [32, 1], activation model.layers.1.input_layernorm.rstd */
#define MODEL_LAYERS_1_SELF_ATTN_Q_ROPE 89088ul /* bf16 [32, 32], activation model.layers.1.self_attn.q_rope */
#define MODEL_LAYERS_1_SELF_ATTN_K_ROPE 100352ul /* bf16 [32, 16], activation model.layers.1.self_attn.k_rope */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 102656ul /* f32 [32, 2], activation model.layers.1.self_attn.lse */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 91136ul /* bf16 [32, 32], activation model.layers.1.attn_residual */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 103680ul /* f32 [32, 1], activation model.layers.1.post_attention_layernorm.rstd */
#define MODEL_LAYERS_1_MLP_RESIDUAL 93184ul /* bf16 [32, 32], activation model.layers.1.mlp_residual */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 103936ul /* f32 [32, 1], activation model.layers.2.input_layernorm.rstd */
#define MODEL_LAYERS_2_SELF_ATTN_Q_ROPE 95232ul /* bf16 [32, 32], activation model.layers.2.self_attn.q_rope */
#define MODEL_LAYERS_2_SELF_ATTN_K_ROPE 101376ul /* bf16 [32, 16], activation model.layers.2.self_attn.k_rope */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 102912ul /* f32 [32, 2], activation model.layers.2.self_attn.lse */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 97280ul /* bf16 [32, 32], activation model.layers.2.attn_residual */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 104192ul /* f32 [32, 1], activation model.layers.2.post_attention_layernorm.rstd */
#define MODEL_LAYERS_2_MLP_RESIDUAL 4096ul /* bf16 [32, 32], activation model.layers.2.mlp_residual */
#define MODEL_NORM 80384ul /* bf16 [32, 32], activation model.norm */
#define MODEL_NORM_RSTD 6144ul /* f32 [32, 1], activation model.norm.rstd */
#define LM_HEAD 0ul /* bf16 [32, 64], activation lm_head */
#define LOSS_ROWS 6400ul /* f32 [32, 1], activation loss.rows */
#define MICRO_STEP_LOSS 6656ul /* f32 [1], activation loss */
#define EVALUATE_MODEL_EMBED_TOKENS 9216ul /* bf16 [32, 32], activation model.embed_tokens */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_ROPE 6656ul /* bf16 [32, 32], activation model.layers.0.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_ROPE 11264ul /* bf16 [32, 16], activation model.layers.0.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 8704ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 11264ul /* bf16 [32, 32], activation model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 9216ul /* bf16 [32, 32], activation model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_ROPE 6656ul /* bf16 [32, 32], activation model.layers.1.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_ROPE 11264ul /* bf16 [32, 16], activation model.layers.1.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 8704ul /* f32 [32, 2], activation model.layers.1.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 11264ul /* bf16 [32, 32], activation model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 9216ul /* bf16 [32, 32], activation model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_ROPE 6656ul /* bf16 [32, 32], activation model.layers.2.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_ROPE 11264ul /* bf16 [32, 16], activation model.layers.2.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 8704ul /* f32 [32, 2], activation model.layers.2.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 11264ul /* bf16 [32, 32], activation model.layers.2.attn_residual */
#define EVALUATE_MODEL_NORM 4096ul /* bf16 [32, 32], activation model.norm */
#define EVALUATE_LM_HEAD 0ul /* bf16 [32, 64], activation lm_head */
#define EVALUATE_LOSS_ROWS 4096ul /* f32 [32, 1], activation loss.rows */
#define LOSS_ROWS_LSE 4352ul /* f32 [32, 1], activation loss.rows.lse */
#define EVALUATE_LOSS 0ul /* f32 [1], activation loss */
#define LM_HEAD_GRAD 25600ul /* bf16 [32, 64], activation lm_head.grad */
#define MODEL_NORM_GRAD 0ul /* bf16 [32, 32], activation model.norm.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 25600ul /* bf16 [32, 48], activation model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 69632ul /* bf16 [32, 32], activation model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 80384ul /* bf16 [32, 32], activation model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_Q 69632ul /* bf16 [32, 32], activation model.layers.2.self_attn.grad.q */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_K 62464ul /* bf16 [32, 16], activation model.layers.2.self_attn.grad.k */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 82432ul /* f32 [32, 2], activation model.layers.2.self_attn.grad.delta */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 56320ul /* bf16 [32, 32], activation model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 37888ul /* bf16 [32, 48], activation model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 66560ul /* bf16 [32, 32], activation model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 77824ul /* bf16 [32, 32], activation model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_Q 79872ul /* bf16 [32, 32], activation model.layers.1.self_attn.grad.q */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_K 81920ul /* bf16 [32, 16], activation model.layers.1.self_attn.grad.k */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 101376ul /* f32 [32, 2], activation model.layers.1.self_attn.grad.delta */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 33792ul /* bf16 [32, 32], activation model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 33792ul /* bf16 [32, 48], activation model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 39424ul /* bf16 [32, 32], activation model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 36352ul /* bf16 [32, 32], activation model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q 33792ul /* bf16 [32, 32], activation model.layers.0.self_attn.grad.q */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 38400ul /* bf16 [32, 16], activation model.layers.0.self_attn.grad.k */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 39424ul /* bf16 [32, 16], activation model.layers.0.self_attn.grad.v */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 35840ul /* f32 [32, 2], activation model.layers.0.self_attn.grad.delta */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_GRAD 40448ul /* bf16 [32, 16], activation model.layers.0.self_attn.k_proj.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD 35840ul /* bf16 [32, 32], activation model.layers.0.self_attn.q_proj.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_GRAD 41472ul /* bf16 [32, 4], activation model.layers.0.self_attn.v_proj.lora_A.grad */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_GRAD 41472ul /* bf16 [32, 4], activation model.layers.0.self_attn.k_proj.lora_A.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_GRAD 37888ul /* bf16 [32, 4], activation model.layers.0.self_attn.q_proj.lora_A.grad */
#define GRAD_NORM_COLUMNS 2097152ul /* f32 [1024], activation grad_norm.columns */
#define CLIP_FACTOR 0ul /* f32 [1], activation clip_factor */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U 41984ul /* bf16 [32, 56], activation model.layers.0.self_attn.q_k_v_proj.x_u */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 29696ul /* bf16 [32, 64], activation model.layers.0.self_attn.q_k_v_proj.y */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U 72704ul /* bf16 [32, 40], activation model.layers.0.self_attn.o_proj.x_u */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_Y 68608ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.y */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DY_V 33792ul /* bf16 [32, 40], activation model.layers.0.self_attn.o_proj.dy_v */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U 63488ul /* bf16 [32, 48], activation model.layers.0.mlp.gate_up_proj.x_u */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 7168ul /* bf16 [32, 96], activation model.layers.0.mlp.gate_up_proj.y */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V 0ul /* bf16 [32, 112], activation model.layers.0.mlp.gate_up_proj.dy_v */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 45568ul /* bf16 [32, 56], activation model.layers.0.mlp.down_proj.x_u */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 66560ul /* bf16 [32, 32], activation model.layers.0.mlp.down_proj.y */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V 36864ul /* bf16 [32, 40], activation model.layers.0.mlp.down_proj.dy_v */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U 49152ul /* bf16 [32, 56], activation model.layers.1.self_attn.q_k_v_proj.x_u */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 33792ul /* bf16 [32, 64], activation model.layers.1.self_attn.q_k_v_proj.y */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V 0ul /* bf16 [32, 88], activation model.layers.1.self_attn.q_k_v_proj.dy_v */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_X_U 75264ul /* bf16 [32, 40], activation model.layers.1.self_attn.o_proj.x_u */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_Y 69632ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.y */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DY_V 39424ul /* bf16 [32, 40], activation model.layers.1.self_attn.o_proj.dy_v */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_X_U 66560ul /* bf16 [32, 48], activation model.layers.1.mlp.gate_up_proj.x_u */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 13312ul /* bf16 [32, 96], activation model.layers.1.mlp.gate_up_proj.y */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V 0ul /* bf16 [32, 112], activation model.layers.1.mlp.gate_up_proj.dy_v */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 52736ul /* bf16 [32, 56], activation model.layers.1.mlp.down_proj.x_u */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 69632ul /* bf16 [32, 32], activation model.layers.1.mlp.down_proj.y */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V 69632ul /* bf16 [32, 40], activation model.layers.1.mlp.down_proj.dy_v */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U 56320ul /* bf16 [32, 56], activation model.layers.2.self_attn.q_k_v_proj.x_u */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 37888ul /* bf16 [32, 64], activation model.layers.2.self_attn.q_k_v_proj.y */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_DY_V 0ul /* bf16 [32, 88], activation model.layers.2.self_attn.q_k_v_proj.dy_v */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U 77824ul /* bf16 [32, 40], activation model.layers.2.self_attn.o_proj.x_u */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_Y 80384ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.y */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_DY_V 59904ul /* bf16 [32, 40], activation model.layers.2.self_attn.o_proj.dy_v */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U 69632ul /* bf16 [32, 48], activation model.layers.2.mlp.gate_up_proj.x_u */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 19456ul /* bf16 [32, 96], activation model.layers.2.mlp.gate_up_proj.y */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_DY_V 0ul /* bf16 [32, 112], activation model.layers.2.mlp.gate_up_proj.dy_v */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 59904ul /* bf16 [32, 56], activation model.layers.2.mlp.down_proj.x_u */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.2.mlp.down_proj.y */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_DY_V 80384ul /* bf16 [32, 40], activation model.layers.2.mlp.down_proj.dy_v */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U 4096ul /* bf16 [32, 56], activation model.layers.0.self_attn.q_k_v_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 64], activation model.layers.0.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U 4096ul /* bf16 [32, 40], activation model.layers.0.self_attn.o_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U 6144ul /* bf16 [32, 48], activation model.layers.0.mlp.gate_up_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96], activation model.layers.0.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 6144ul /* bf16 [32, 56], activation model.layers.0.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.0.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U 4096ul /* bf16 [32, 56], activation model.layers.1.self_attn.q_k_v_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 64], activation model.layers.1.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_X_U 4096ul /* bf16 [32, 40], activation model.layers.1.self_attn.o_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.y */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_X_U 6144ul /* bf16 [32, 48], activation model.layers.1.mlp.gate_up_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96], activation model.layers.1.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 6144ul /* bf16 [32, 56], activation model.layers.1.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.1.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U 4096ul /* bf16 [32, 56], activation model.layers.2.self_attn.q_k_v_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 64], activation model.layers.2.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U 4096ul /* bf16 [32, 40], activation model.layers.2.self_attn.o_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.y */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U 6144ul /* bf16 [32, 48], activation model.layers.2.mlp.gate_up_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96], activation model.layers.2.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 6144ul /* bf16 [32, 56], activation model.layers.2.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.2.mlp.down_proj.y */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [512, 1024], activation grad_norm.columns.partial */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1024ul

#define INPUT_IDS 0ul /* i32 [32, 1], input input_ids */
#define LABELS 256ul /* i32 [32, 1], input labels */
#define POSITIONS 512ul /* i32 [32, 1], input positions */
#define LOSS_WEIGHT 768ul /* f32 [1], input loss_weight */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 2101248ul
#define GEMM_WORKSPACE_BYTES 4194304ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 72,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 44,
    MICRO_STEP_OUTPUTS = 162,
    UPDATE_OUTPUTS = 55,
    EVALUATE_OUTPUTS = 57,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
