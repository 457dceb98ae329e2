/* Where every buffer of gathered lies: bytes from the start of its arena. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 680097024ul

#define SEED 0ul /* i64 [1], counter seed */
#define STEP 256ul /* i32 [1], counter step */
#define APPLIED 512ul /* i32 [1], counter applied */
#define BAD_STEP 768ul /* i32 [1], counter bad_step */
#define STEP_LOSS 1024ul /* f32 [1], counter step_loss */
#define EVAL_LOSS 1280ul /* f32 [1], counter eval_loss */
#define LR 1536ul /* f32 [2, 1], counter lr */
#define BIAS_CORRECTION1 1792ul /* f32 [2, 1], counter bias_correction1 */
#define BIAS_CORRECTION2 2048ul /* f32 [2, 1], counter bias_correction2 */
#define LOSS 2304ul /* f32 [2, 1], counter loss */
#define GRAD_NORM 2560ul /* f32 [2, 1], counter grad_norm */
#define ROPE_COS 2816ul /* f32 [1024, 64], constant rope.cos */
#define ROPE_SIN 264960ul /* f32 [1024, 64], constant rope.sin */
#define ROPE_INV_FREQ 527104ul /* f32 [64], constant rope.inv_freq */
#define LOSS_GRAD 527360ul /* f32 [1], constant loss.grad */
#define TRAINED_PIECE 527616ul /* bf16 [36869, 1024], weight trained.piece */
#define LM_HEAD_WEIGHTS_PIECE TRAINED_PIECE /* bf16 [2048, 1024], lm_head.weights.piece */
#define MODEL_NORM_WEIGHTS_PIECE (TRAINED_PIECE + 4194304ul) /* bf16 [1, 1024], model.norm.weights.piece */
#define MODEL_LAYERS_3_WEIGHTS_PIECE (TRAINED_PIECE + 4196352ul) /* bf16 [8193, 1024], model.layers.3.weights.piece */
#define MODEL_LAYERS_1_WEIGHTS_PIECE (TRAINED_PIECE + 37754880ul) /* bf16 [8193, 1024], model.layers.1.weights.piece */
#define MODEL_LAYERS_0_WEIGHTS_PIECE (TRAINED_PIECE + 54534144ul) /* bf16 [8193, 1024], model.layers.0.weights.piece */
#define MODEL_EMBED_TOKENS_WEIGHTS_PIECE (TRAINED_PIECE + 71313408ul) /* bf16 [2048, 1024], model.embed_tokens.weights.piece */
#define GRADIENT_PIECE 76035328ul /* f32 [36869, 1024], gradient gradient.piece */
#define LM_HEAD_GRADIENT_PIECE GRADIENT_PIECE /* f32 [2048, 1024], lm_head.gradient.piece */
#define MODEL_NORM_GRADIENT_PIECE (GRADIENT_PIECE + 8388608ul) /* f32 [1, 1024], model.norm.gradient.piece */
#define MODEL_LAYERS_1_GRADIENT_PIECE (GRADIENT_PIECE + 75509760ul) /* f32 [8193, 1024], model.layers.1.gradient.piece */
#define MODEL_LAYERS_0_GRADIENT_PIECE (GRADIENT_PIECE + 109068288ul) /* f32 [8193, 1024], model.layers.0.gradient.piece */
#define MODEL_EMBED_TOKENS_GRADIENT_PIECE (GRADIENT_PIECE + 142626816ul) /* f32 [2048, 1024], model.embed_tokens.gradient.piece */
#define MASTER_PIECE 227050752ul /* f32 [36869, 1024], optimizer master.piece */
#define EXP_AVG_PIECE 378066176ul /* f32 [36869, 1024], optimizer exp_avg.piece */
#define EXP_AVG_SQ_PIECE 529081600ul /* f32 [36869, 1024], optimizer exp_avg_sq.piece */

/* By number: what lies at even distances. */
#define MODEL_LAYERS_WEIGHTS_PIECE(i) (MODEL_LAYERS_1_WEIGHTS_PIECE - ((i) - 1) * 16779264ul) /* bf16 [8193, 1024], model.layers.*.weights.piece */
#define MODEL_LAYERS_GRADIENT_PIECE(i) (MODEL_LAYERS_1_GRADIENT_PIECE - ((i) - 1) * 33558528ul) /* f32 [8193, 1024], model.layers.*.gradient.piece */

/* ---- SCRATCH: buffers whose lifetimes do not meet share bytes ---- */

#define SCRATCH_BYTES 1662279680ul

#define MODEL_EMBED_TOKENS 1073766400ul /* bf16 [8192, 1024], activation model.embed_tokens */
#define MODEL_LAYERS_0_INPUT_LAYERNORM 1090543616ul /* bf16 [8192, 1024], activation model.layers.0.input_layernorm */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD 1628463104ul /* f32 [8192, 1], activation model.layers.0.input_layernorm.rstd */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ 67117056ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.q_proj */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ 83894272ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.k_proj */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ 1107320832ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.v_proj */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE 1124098048ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.q_rope */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE 1140875264ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.k_rope */
#define MODEL_LAYERS_0_SELF_ATTN 1157652480ul /* bf16 [8192, 1024], activation model.layers.0.self_attn */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 1627414528ul /* f32 [8192, 8], activation model.layers.0.self_attn.lse */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 67117056ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.o_proj */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 1174429696ul /* bf16 [8192, 1024], activation model.layers.0.attn_residual */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 1191206912ul /* bf16 [8192, 1024], activation model.layers.0.post_attention_layernorm */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 1628495872ul /* f32 [8192, 1], activation model.layers.0.post_attention_layernorm.rstd */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 134234112ul /* bf16 [8192, 4096], activation model.layers.0.mlp.gate_proj */
#define MODEL_LAYERS_0_MLP_UP_PROJ 201342976ul /* bf16 [8192, 4096], activation model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_MLP_ACT 268451840ul /* bf16 [8192, 4096], activation model.layers.0.mlp.act */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ 67117056ul /* bf16 [8192, 1024], activation model.layers.0.mlp.down_proj */
#define MODEL_LAYERS_0_MLP_RESIDUAL 1207984128ul /* bf16 [8192, 1024], activation model.layers.0.mlp_residual */
#define MODEL_LAYERS_1_INPUT_LAYERNORM 1224761344ul /* bf16 [8192, 1024], activation model.layers.1.input_layernorm */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 1628528640ul /* f32 [8192, 1], activation model.layers.1.input_layernorm.rstd */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ 67117056ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.q_proj */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ 83894272ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.k_proj */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ 1241538560ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.v_proj */
#define MODEL_LAYERS_1_SELF_ATTN_Q_ROPE 1258315776ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.q_rope */
#define MODEL_LAYERS_1_SELF_ATTN_K_ROPE 1275092992ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.k_rope */
#define MODEL_LAYERS_1_SELF_ATTN 1291870208ul /* bf16 [8192, 1024], activation model.layers.1.self_attn */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 1627676672ul /* f32 [8192, 8], activation model.layers.1.self_attn.lse */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 67117056ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.o_proj */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 1308647424ul /* bf16 [8192, 1024], activation model.layers.1.attn_residual */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 1325424640ul /* bf16 [8192, 1024], activation model.layers.1.post_attention_layernorm */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 1628561408ul /* f32 [8192, 1], activation model.layers.1.post_attention_layernorm.rstd */
#define MODEL_LAYERS_1_MLP_GATE_PROJ 335560704ul /* bf16 [8192, 4096], activation model.layers.1.mlp.gate_proj */
#define MODEL_LAYERS_1_MLP_UP_PROJ 402669568ul /* bf16 [8192, 4096], activation model.layers.1.mlp.up_proj */
#define MODEL_LAYERS_1_MLP_ACT 469778432ul /* bf16 [8192, 4096], activation model.layers.1.mlp.act */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ 67117056ul /* bf16 [8192, 1024], activation model.layers.1.mlp.down_proj */
#define MODEL_LAYERS_1_MLP_RESIDUAL 1342201856ul /* bf16 [8192, 1024], activation model.layers.1.mlp_residual */
#define MODEL_LAYERS_2_INPUT_LAYERNORM 1358979072ul /* bf16 [8192, 1024], activation model.layers.2.input_layernorm */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 1628594176ul /* f32 [8192, 1], activation model.layers.2.input_layernorm.rstd */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ 67117056ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.q_proj */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ 83894272ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.k_proj */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ 1375756288ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.v_proj */
#define MODEL_LAYERS_2_SELF_ATTN_Q_ROPE 1392533504ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.q_rope */
#define MODEL_LAYERS_2_SELF_ATTN_K_ROPE 1409310720ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.k_rope */
#define MODEL_LAYERS_2_SELF_ATTN 1426087936ul /* bf16 [8192, 1024], activation model.layers.2.self_attn */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 1627938816ul /* f32 [8192, 8], activation model.layers.2.self_attn.lse */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ 67117056ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.o_proj */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 1442865152ul /* bf16 [8192, 1024], activation model.layers.2.attn_residual */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 1459642368ul /* bf16 [8192, 1024], activation model.layers.2.post_attention_layernorm */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 1628626944ul /* f32 [8192, 1], activation model.layers.2.post_attention_layernorm.rstd */
#define MODEL_LAYERS_2_MLP_GATE_PROJ 536887296ul /* bf16 [8192, 4096], activation model.layers.2.mlp.gate_proj */
#define MODEL_LAYERS_2_MLP_UP_PROJ 603996160ul /* bf16 [8192, 4096], activation model.layers.2.mlp.up_proj */
#define MODEL_LAYERS_2_MLP_ACT 671105024ul /* bf16 [8192, 4096], activation model.layers.2.mlp.act */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ 67117056ul /* bf16 [8192, 1024], activation model.layers.2.mlp.down_proj */
#define MODEL_LAYERS_2_MLP_RESIDUAL 1476419584ul /* bf16 [8192, 1024], activation model.layers.2.mlp_residual */
#define MODEL_LAYERS_3_INPUT_LAYERNORM 1493196800ul /* bf16 [8192, 1024], activation model.layers.3.input_layernorm */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_RSTD 1628659712ul /* f32 [8192, 1], activation model.layers.3.input_layernorm.rstd */
#define MODEL_LAYERS_3_SELF_ATTN_Q_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.q_proj */
#define MODEL_LAYERS_3_SELF_ATTN_K_PROJ 16777216ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.k_proj */
#define MODEL_LAYERS_3_SELF_ATTN_V_PROJ 1509974016ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.v_proj */
#define MODEL_LAYERS_3_SELF_ATTN_Q_ROPE 1526751232ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.q_rope */
#define MODEL_LAYERS_3_SELF_ATTN_K_ROPE 1543528448ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.k_rope */
#define MODEL_LAYERS_3_SELF_ATTN 1560305664ul /* bf16 [8192, 1024], activation model.layers.3.self_attn */
#define MODEL_LAYERS_3_SELF_ATTN_LSE 1628200960ul /* f32 [8192, 8], activation model.layers.3.self_attn.lse */
#define MODEL_LAYERS_3_SELF_ATTN_O_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.o_proj */
#define MODEL_LAYERS_3_ATTN_RESIDUAL 1577082880ul /* bf16 [8192, 1024], activation model.layers.3.attn_residual */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM 1593860096ul /* bf16 [8192, 1024], activation model.layers.3.post_attention_layernorm */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_RSTD 1628692480ul /* f32 [8192, 1], activation model.layers.3.post_attention_layernorm.rstd */
#define MODEL_LAYERS_3_MLP_GATE_PROJ 67117056ul /* bf16 [8192, 4096], activation model.layers.3.mlp.gate_proj */
#define MODEL_LAYERS_3_MLP_UP_PROJ 738213888ul /* bf16 [8192, 4096], activation model.layers.3.mlp.up_proj */
#define MODEL_LAYERS_3_MLP_ACT 805322752ul /* bf16 [8192, 4096], activation model.layers.3.mlp.act */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.3.mlp.down_proj */
#define MODEL_LAYERS_3_MLP_RESIDUAL 16777216ul /* bf16 [8192, 1024], activation model.layers.3.mlp_residual */
#define MODEL_NORM 33554432ul /* bf16 [8192, 1024], activation model.norm */
#define MICRO_STEP_MODEL_NORM (MODEL_NORM + 4194304ul) /* bf16 [2048, 1024], model.norm */
#define MICRO_STEP_MODEL_NORM__2 (MODEL_NORM + 8388608ul) /* bf16 [2048, 1024], model.norm */
#define MICRO_STEP_MODEL_NORM__3 (MODEL_NORM + 12582912ul) /* bf16 [2048, 1024], model.norm */
#define MODEL_NORM_RSTD 914374656ul /* f32 [8192, 1], activation model.norm.rstd */
#define LOSS_ROWS 1610637312ul /* f32 [8192, 1], activation loss.rows */
#define MICRO_STEP_LOSS_ROWS (LOSS_ROWS + 8192ul) /* f32 [2048, 1], loss.rows */
#define MICRO_STEP_LOSS_ROWS__2 (LOSS_ROWS + 16384ul) /* f32 [2048, 1], loss.rows */
#define MICRO_STEP_LOSS_ROWS__3 (LOSS_ROWS + 24576ul) /* f32 [2048, 1], loss.rows */
#define MICRO_STEP_LOSS 67112960ul /* f32 [1], activation loss */
#define EVALUATE_MODEL_EMBED_TOKENS 0ul /* bf16 [8192, 1024], activation model.embed_tokens */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM 16777216ul /* bf16 [8192, 1024], activation model.layers.0.input_layernorm */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD 33554432ul /* f32 [8192, 1], activation model.layers.0.input_layernorm.rstd */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ 33554432ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.q_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ 50331648ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ 67108864ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_ROPE 16777216ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_ROPE 83886080ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 33554432ul /* bf16 [8192, 1024], activation model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 50331648ul /* f32 [8192, 8], activation model.layers.0.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 16777216ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 268443648ul /* bf16 [8192, 1024], activation model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 134217728ul /* bf16 [8192, 1024], activation model.layers.0.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ 0ul /* bf16 [8192, 4096], activation model.layers.0.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ 67108864ul /* bf16 [8192, 4096], activation model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT 134217728ul /* bf16 [8192, 4096], activation model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.0.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 16777216ul /* bf16 [8192, 1024], activation model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM 33554432ul /* bf16 [8192, 1024], activation model.layers.1.input_layernorm */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.q_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ 50331648ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ 67108864ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_ROPE 33554432ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_ROPE 83886080ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 0ul /* bf16 [8192, 1024], activation model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 50331648ul /* f32 [8192, 8], activation model.layers.1.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 33554432ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 268443648ul /* bf16 [8192, 1024], activation model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 134217728ul /* bf16 [8192, 1024], activation model.layers.1.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ 0ul /* bf16 [8192, 4096], activation model.layers.1.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ 67108864ul /* bf16 [8192, 4096], activation model.layers.1.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_ACT 134217728ul /* bf16 [8192, 4096], activation model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.1.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 16777216ul /* bf16 [8192, 1024], activation model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM 33554432ul /* bf16 [8192, 1024], activation model.layers.2.input_layernorm */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.q_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ 50331648ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ 67108864ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_ROPE 33554432ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_ROPE 83886080ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN 0ul /* bf16 [8192, 1024], activation model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 50331648ul /* f32 [8192, 8], activation model.layers.2.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ 33554432ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 268443648ul /* bf16 [8192, 1024], activation model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 134217728ul /* bf16 [8192, 1024], activation model.layers.2.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_PROJ 0ul /* bf16 [8192, 4096], activation model.layers.2.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_UP_PROJ 67108864ul /* bf16 [8192, 4096], activation model.layers.2.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_ACT 134217728ul /* bf16 [8192, 4096], activation model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.2.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_RESIDUAL 16777216ul /* bf16 [8192, 1024], activation model.layers.2.mlp_residual */
#define EVALUATE_MODEL_LAYERS_3_INPUT_LAYERNORM 33554432ul /* bf16 [8192, 1024], activation model.layers.3.input_layernorm */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.q_proj */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_PROJ 50331648ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_V_PROJ 67108864ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_ROPE 33554432ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_ROPE 83886080ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN 0ul /* bf16 [8192, 1024], activation model.layers.3.self_attn */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_LSE 50331648ul /* f32 [8192, 8], activation model.layers.3.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_O_PROJ 33554432ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_3_ATTN_RESIDUAL 201326592ul /* bf16 [8192, 1024], activation model.layers.3.attn_residual */
#define EVALUATE_MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM 218103808ul /* bf16 [8192, 1024], activation model.layers.3.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_3_MLP_GATE_PROJ 0ul /* bf16 [8192, 4096], activation model.layers.3.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_3_MLP_UP_PROJ 67108864ul /* bf16 [8192, 4096], activation model.layers.3.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_3_MLP_ACT 134217728ul /* bf16 [8192, 4096], activation model.layers.3.mlp.act */
#define EVALUATE_MODEL_LAYERS_3_MLP_DOWN_PROJ 218103808ul /* bf16 [8192, 1024], activation model.layers.3.mlp.down_proj */
#define EVALUATE_MODEL_NORM 0ul /* bf16 [8192, 1024], activation model.norm */
#define EVALUATE_MODEL_NORM__2 (EVALUATE_MODEL_NORM + 4194304ul) /* bf16 [2048, 1024], model.norm */
#define EVALUATE_MODEL_NORM__3 (EVALUATE_MODEL_NORM + 8388608ul) /* bf16 [2048, 1024], model.norm */
#define EVALUATE_MODEL_NORM__4 (EVALUATE_MODEL_NORM + 12582912ul) /* bf16 [2048, 1024], model.norm */
#define EVALUATE_LOSS_ROWS 0ul /* f32 [8192, 1], activation loss.rows */
#define EVALUATE_LOSS_ROWS__2 (EVALUATE_LOSS_ROWS + 8192ul) /* f32 [2048, 1], loss.rows */
#define EVALUATE_LOSS_ROWS__3 (EVALUATE_LOSS_ROWS + 16384ul) /* f32 [2048, 1], loss.rows */
#define EVALUATE_LOSS_ROWS__4 (EVALUATE_LOSS_ROWS + 24576ul) /* f32 [2048, 1], loss.rows */
#define EVALUATE_LOSS 32768ul /* f32 [1], activation loss */
#define LM_HEAD_GRADIENTS 0ul /* f32 [4096, 1024], activation lm_head.gradients */
#define MODEL_NORM_GRADIENTS 134225920ul /* f32 [2, 1024], activation model.norm.gradients */
#define MODEL_NORM_WEIGHT_GRAD MODEL_NORM_GRADIENTS /* f32 [1024], model.norm.weight.grad */
#define MODEL_NORM_GRADIENTS_GAP (MODEL_NORM_GRADIENTS + 4096ul) /* f32 [1024], model.norm.gradients.gap */
#define MODEL_LAYERS_3_GRADIENTS 0ul /* f32 [16386, 1024], activation model.layers.3.gradients */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT_GRAD MODEL_LAYERS_3_GRADIENTS /* f32 [1024, 4096], model.layers.3.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_3_MLP_UP_PROJ_WEIGHT_GRAD (MODEL_LAYERS_3_GRADIENTS + 16777216ul) /* f32 [4096, 1024], model.layers.3.mlp.up_proj.weight.grad */
#define MODEL_LAYERS_3_MLP_GATE_PROJ_WEIGHT_GRAD (MODEL_LAYERS_3_GRADIENTS + 33554432ul) /* f32 [4096, 1024], model.layers.3.mlp.gate_proj.weight.grad */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_3_GRADIENTS + 50331648ul) /* f32 [1024], model.layers.3.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_3_SELF_ATTN_O_PROJ_WEIGHT_GRAD (MODEL_LAYERS_3_GRADIENTS + 50335744ul) /* f32 [1024, 1024], model.layers.3.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_3_SELF_ATTN_V_PROJ_WEIGHT_GRAD (MODEL_LAYERS_3_GRADIENTS + 54530048ul) /* f32 [1024, 1024], model.layers.3.self_attn.v_proj.weight.grad */
#define MODEL_LAYERS_3_SELF_ATTN_K_PROJ_WEIGHT_GRAD (MODEL_LAYERS_3_GRADIENTS + 58724352ul) /* f32 [1024, 1024], model.layers.3.self_attn.k_proj.weight.grad */
#define MODEL_LAYERS_3_SELF_ATTN_Q_PROJ_WEIGHT_GRAD (MODEL_LAYERS_3_GRADIENTS + 62918656ul) /* f32 [1024, 1024], model.layers.3.self_attn.q_proj.weight.grad */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_3_GRADIENTS + 67112960ul) /* f32 [1024], model.layers.3.input_layernorm.weight.grad */
#define MODEL_LAYERS_2_GRADIENTS 67117056ul /* f32 [16386, 1024], activation model.layers.2.gradients */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_GRAD MODEL_LAYERS_2_GRADIENTS /* f32 [1024, 4096], model.layers.2.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_GRAD (MODEL_LAYERS_2_GRADIENTS + 16777216ul) /* f32 [4096, 1024], model.layers.2.mlp.up_proj.weight.grad */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_GRAD (MODEL_LAYERS_2_GRADIENTS + 33554432ul) /* f32 [4096, 1024], model.layers.2.mlp.gate_proj.weight.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_2_GRADIENTS + 50331648ul) /* f32 [1024], model.layers.2.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_GRAD (MODEL_LAYERS_2_GRADIENTS + 50335744ul) /* f32 [1024, 1024], model.layers.2.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_GRAD (MODEL_LAYERS_2_GRADIENTS + 54530048ul) /* f32 [1024, 1024], model.layers.2.self_attn.v_proj.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_GRAD (MODEL_LAYERS_2_GRADIENTS + 58724352ul) /* f32 [1024, 1024], model.layers.2.self_attn.k_proj.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_GRAD (MODEL_LAYERS_2_GRADIENTS + 62918656ul) /* f32 [1024, 1024], model.layers.2.self_attn.q_proj.weight.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_2_GRADIENTS + 67112960ul) /* f32 [1024], model.layers.2.input_layernorm.weight.grad */
#define MODEL_LAYERS_1_GRADIENTS 0ul /* f32 [16386, 1024], activation model.layers.1.gradients */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_GRAD MODEL_LAYERS_1_GRADIENTS /* f32 [1024, 4096], model.layers.1.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 16777216ul) /* f32 [4096, 1024], model.layers.1.mlp.up_proj.weight.grad */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 33554432ul) /* f32 [4096, 1024], model.layers.1.mlp.gate_proj.weight.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 50331648ul) /* f32 [1024], model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 50335744ul) /* f32 [1024, 1024], model.layers.1.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 54530048ul) /* f32 [1024, 1024], model.layers.1.self_attn.v_proj.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 58724352ul) /* f32 [1024, 1024], model.layers.1.self_attn.k_proj.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 62918656ul) /* f32 [1024, 1024], model.layers.1.self_attn.q_proj.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 67112960ul) /* f32 [1024], model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_GRADIENTS 67117056ul /* f32 [16386, 1024], activation model.layers.0.gradients */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_GRAD MODEL_LAYERS_0_GRADIENTS /* f32 [1024, 4096], model.layers.0.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 16777216ul) /* f32 [4096, 1024], model.layers.0.mlp.up_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 33554432ul) /* f32 [4096, 1024], model.layers.0.mlp.gate_proj.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 50331648ul) /* f32 [1024], model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 50335744ul) /* f32 [1024, 1024], model.layers.0.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 54530048ul) /* f32 [1024, 1024], model.layers.0.self_attn.v_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 58724352ul) /* f32 [1024, 1024], model.layers.0.self_attn.k_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 62918656ul) /* f32 [1024, 1024], model.layers.0.self_attn.q_proj.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 67112960ul) /* f32 [1024], model.layers.0.input_layernorm.weight.grad */
#define MODEL_EMBED_TOKENS_GRADIENTS 0ul /* f32 [4096, 1024], activation model.embed_tokens.gradients */
#define MODEL_NORM_GRAD 50331648ul /* bf16 [8192, 1024], activation model.norm.grad */
#define MICRO_STEP_MODEL_NORM_GRAD (MODEL_NORM_GRAD + 4194304ul) /* bf16 [2048, 1024], model.norm.grad */
#define MICRO_STEP_MODEL_NORM_GRAD__2 (MODEL_NORM_GRAD + 8388608ul) /* bf16 [2048, 1024], model.norm.grad */
#define MICRO_STEP_MODEL_NORM_GRAD__3 (MODEL_NORM_GRAD + 12582912ul) /* bf16 [2048, 1024], model.norm.grad */
#define MODEL_LAYERS_3_MLP_RESIDUAL_GRAD 1610637312ul /* bf16 [8192, 1024], activation model.layers.3.mlp_residual.grad */
#define MODEL_LAYERS_3_MLP_ACT_GRAD 805322752ul /* bf16 [8192, 4096], activation model.layers.3.mlp.act.grad */
#define MODEL_LAYERS_3_MLP_ACT_GRAD_GATE 872431616ul /* bf16 [8192, 4096], activation model.layers.3.mlp.act.grad.gate */
#define MODEL_LAYERS_3_MLP_ACT_GRAD_UP 939540480ul /* bf16 [8192, 4096], activation model.layers.3.mlp.act.grad.up */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_GRAD 67117056ul /* bf16 [8192, 1024], activation model.layers.3.post_attention_layernorm.grad */
#define MODEL_LAYERS_3_ATTN_RESIDUAL_GRAD 1593860096ul /* bf16 [8192, 1024], activation model.layers.3.attn_residual.grad */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD 1577082880ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.grad */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD_Q 67117056ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.grad.q */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD_K 1560305664ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.grad.k */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD_V 83894272ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.grad.v */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD_DELTA 1610637312ul /* f32 [8192, 8], activation model.layers.3.self_attn.grad.delta */
#define MODEL_LAYERS_3_SELF_ATTN_K_PROJ_GRAD 1577082880ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.k_proj.grad */
#define MODEL_LAYERS_3_SELF_ATTN_Q_PROJ_GRAD 100671488ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.q_proj.grad */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_GRAD 67117056ul /* bf16 [8192, 1024], activation model.layers.3.input_layernorm.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD 905990144ul /* bf16 [8192, 1024], activation model.layers.2.mlp_residual.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 671105024ul /* bf16 [8192, 4096], activation model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_GATE 738213888ul /* bf16 [8192, 4096], activation model.layers.2.mlp.act.grad.gate */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_UP 805322752ul /* bf16 [8192, 4096], activation model.layers.2.mlp.act.grad.up */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 922767360ul /* bf16 [8192, 1024], activation model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_ATTN_RESIDUAL_GRAD 939544576ul /* bf16 [8192, 1024], activation model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 905990144ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_Q 922767360ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.grad.q */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_K 956321792ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.grad.k */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_V 973099008ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.grad.v */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 989876224ul /* f32 [8192, 8], activation model.layers.2.self_attn.grad.delta */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_GRAD 905990144ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.k_proj.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_GRAD 989876224ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.q_proj.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 922767360ul /* bf16 [8192, 1024], activation model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD 905990144ul /* bf16 [8192, 1024], activation model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 469778432ul /* bf16 [8192, 4096], activation model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE 536887296ul /* bf16 [8192, 4096], activation model.layers.1.mlp.act.grad.gate */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP 603996160ul /* bf16 [8192, 4096], activation model.layers.1.mlp.act.grad.up */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 922767360ul /* bf16 [8192, 1024], activation model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 939544576ul /* bf16 [8192, 1024], activation model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 905990144ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_Q 922767360ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.grad.q */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_K 956321792ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.grad.k */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_V 973099008ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.grad.v */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 989876224ul /* f32 [8192, 8], activation model.layers.1.self_attn.grad.delta */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD 905990144ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.k_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD 989876224ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.q_proj.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 922767360ul /* bf16 [8192, 1024], activation model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD 905990144ul /* bf16 [8192, 1024], activation model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 268451840ul /* bf16 [8192, 4096], activation model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 335560704ul /* bf16 [8192, 4096], activation model.layers.0.mlp.act.grad.gate */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 402669568ul /* bf16 [8192, 4096], activation model.layers.0.mlp.act.grad.up */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 922767360ul /* bf16 [8192, 1024], activation model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 939544576ul /* bf16 [8192, 1024], activation model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 956321792ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q 973099008ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.grad.q */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 989876224ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.grad.k */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 1006653440ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.grad.v */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 1023430656ul /* f32 [8192, 8], activation model.layers.0.self_attn.grad.delta */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_GRAD 956321792ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.k_proj.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD 1023430656ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.q_proj.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_GRAD 973099008ul /* bf16 [8192, 1024], activation model.layers.0.input_layernorm.grad */
#define MODEL_EMBED_TOKENS_GRAD 956321792ul /* bf16 [8192, 1024], activation model.embed_tokens.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], activation grad_norm.columns */
#define GRAD_NORM_SQUARED 0ul /* f32 [1], activation grad_norm.squared */
#define CLIP_FACTOR 256ul /* f32 [1], activation clip_factor */
#define LM_HEAD 0ul /* bf16 [2048, 4096], activation lm_head */
#define LM_HEAD_GRAD 872431616ul /* bf16 [2048, 4096], activation lm_head.grad */
#define LM_HEAD__2 872431616ul /* bf16 [2048, 4096], activation lm_head */
#define LM_HEAD_GRAD__2 889208832ul /* bf16 [2048, 4096], activation lm_head.grad */
#define LM_HEAD__3 872431616ul /* bf16 [2048, 4096], activation lm_head */
#define LM_HEAD_GRAD__3 889208832ul /* bf16 [2048, 4096], activation lm_head.grad */
#define LM_HEAD__4 872431616ul /* bf16 [2048, 4096], activation lm_head */
#define LM_HEAD_GRAD__4 889208832ul /* bf16 [2048, 4096], activation lm_head.grad */
#define EVALUATE_LM_HEAD 16777216ul /* bf16 [2048, 4096], activation lm_head */
#define EVALUATE_LM_HEAD__2 33554432ul /* bf16 [2048, 4096], activation lm_head */
#define EVALUATE_LM_HEAD__3 50331648ul /* bf16 [2048, 4096], activation lm_head */
#define EVALUATE_LM_HEAD__4 67108864ul /* bf16 [2048, 4096], activation lm_head */
#define MODEL_EMBED_TOKENS_WEIGHTS 0ul /* bf16 [4096, 1024], activation model.embed_tokens.weights */
#define MODEL_LAYERS_0_WEIGHTS 0ul /* bf16 [16386, 1024], activation model.layers.0.weights */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_0_WEIGHTS /* bf16 [1024, 4096], model.layers.0.mlp.down_proj.weight */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 8388608ul) /* bf16 [4096, 1024], model.layers.0.mlp.up_proj.weight */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 16777216ul) /* bf16 [4096, 1024], model.layers.0.mlp.gate_proj.weight */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.0.post_attention_layernorm.weight */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.0.self_attn.o_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.0.self_attn.v_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 29362176ul) /* bf16 [1024, 1024], model.layers.0.self_attn.k_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 31459328ul) /* bf16 [1024, 1024], model.layers.0.self_attn.q_proj.weight */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.0.input_layernorm.weight */
#define MODEL_LAYERS_1_WEIGHTS 33558528ul /* bf16 [16386, 1024], activation model.layers.1.weights */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_1_WEIGHTS /* bf16 [1024, 4096], model.layers.1.mlp.down_proj.weight */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT (MODEL_LAYERS_1_WEIGHTS + 8388608ul) /* bf16 [4096, 1024], model.layers.1.mlp.up_proj.weight */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT (MODEL_LAYERS_1_WEIGHTS + 16777216ul) /* bf16 [4096, 1024], model.layers.1.mlp.gate_proj.weight */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT (MODEL_LAYERS_1_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.1.post_attention_layernorm.weight */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT (MODEL_LAYERS_1_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.1.self_attn.o_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT (MODEL_LAYERS_1_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.1.self_attn.v_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT (MODEL_LAYERS_1_WEIGHTS + 29362176ul) /* bf16 [1024, 1024], model.layers.1.self_attn.k_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT (MODEL_LAYERS_1_WEIGHTS + 31459328ul) /* bf16 [1024, 1024], model.layers.1.self_attn.q_proj.weight */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT (MODEL_LAYERS_1_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.1.input_layernorm.weight */
#define MODEL_LAYERS_2_WEIGHTS 0ul /* bf16 [16386, 1024], activation model.layers.2.weights */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_2_WEIGHTS /* bf16 [1024, 4096], model.layers.2.mlp.down_proj.weight */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT (MODEL_LAYERS_2_WEIGHTS + 8388608ul) /* bf16 [4096, 1024], model.layers.2.mlp.up_proj.weight */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT (MODEL_LAYERS_2_WEIGHTS + 16777216ul) /* bf16 [4096, 1024], model.layers.2.mlp.gate_proj.weight */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT (MODEL_LAYERS_2_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.2.post_attention_layernorm.weight */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT (MODEL_LAYERS_2_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.2.self_attn.o_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT (MODEL_LAYERS_2_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.2.self_attn.v_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT (MODEL_LAYERS_2_WEIGHTS + 29362176ul) /* bf16 [1024, 1024], model.layers.2.self_attn.k_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT (MODEL_LAYERS_2_WEIGHTS + 31459328ul) /* bf16 [1024, 1024], model.layers.2.self_attn.q_proj.weight */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT (MODEL_LAYERS_2_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.2.input_layernorm.weight */
#define MODEL_LAYERS_3_WEIGHTS 33558528ul /* bf16 [16386, 1024], activation model.layers.3.weights */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_3_WEIGHTS /* bf16 [1024, 4096], model.layers.3.mlp.down_proj.weight */
#define MODEL_LAYERS_3_MLP_UP_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 8388608ul) /* bf16 [4096, 1024], model.layers.3.mlp.up_proj.weight */
#define MODEL_LAYERS_3_MLP_GATE_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 16777216ul) /* bf16 [4096, 1024], model.layers.3.mlp.gate_proj.weight */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.3.post_attention_layernorm.weight */
#define MODEL_LAYERS_3_SELF_ATTN_O_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.3.self_attn.o_proj.weight */
#define MODEL_LAYERS_3_SELF_ATTN_V_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.3.self_attn.v_proj.weight */
#define MODEL_LAYERS_3_SELF_ATTN_K_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 29362176ul) /* bf16 [1024, 1024], model.layers.3.self_attn.k_proj.weight */
#define MODEL_LAYERS_3_SELF_ATTN_Q_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 31459328ul) /* bf16 [1024, 1024], model.layers.3.self_attn.q_proj.weight */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.3.input_layernorm.weight */
#define MODEL_NORM_WEIGHTS 134225920ul /* bf16 [2, 1024], activation model.norm.weights */
#define MODEL_NORM_WEIGHT MODEL_NORM_WEIGHTS /* bf16 [1024], model.norm.weight */
#define LM_HEAD_WEIGHTS 905986048ul /* bf16 [4096, 1024], activation lm_head.weights */
#define MODEL_NORM_WEIGHTS__2 67108864ul /* bf16 [2, 1024], activation model.norm.weights */
#define MODEL_NORM_WEIGHT__2 MODEL_NORM_WEIGHTS__2 /* bf16 [1024], model.norm.weight */
#define MODEL_LAYERS_3_WEIGHTS__2 1006649344ul /* bf16 [16386, 1024], activation model.layers.3.weights */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT__2 MODEL_LAYERS_3_WEIGHTS__2 /* bf16 [1024, 4096], model.layers.3.mlp.down_proj.weight */
#define MODEL_LAYERS_3_MLP_UP_PROJ_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 8388608ul) /* bf16 [4096, 1024], model.layers.3.mlp.up_proj.weight */
#define MODEL_LAYERS_3_MLP_GATE_PROJ_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 16777216ul) /* bf16 [4096, 1024], model.layers.3.mlp.gate_proj.weight */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 25165824ul) /* bf16 [1024], model.layers.3.post_attention_layernorm.weight */
#define MODEL_LAYERS_3_SELF_ATTN_O_PROJ_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 25167872ul) /* bf16 [1024, 1024], model.layers.3.self_attn.o_proj.weight */
#define MODEL_LAYERS_3_SELF_ATTN_V_PROJ_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 27265024ul) /* bf16 [1024, 1024], model.layers.3.self_attn.v_proj.weight */
#define MODEL_LAYERS_3_SELF_ATTN_K_PROJ_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 29362176ul) /* bf16 [1024, 1024], model.layers.3.self_attn.k_proj.weight */
#define MODEL_LAYERS_3_SELF_ATTN_Q_PROJ_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 31459328ul) /* bf16 [1024, 1024], model.layers.3.self_attn.q_proj.weight */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 33556480ul) /* bf16 [1024], model.layers.3.input_layernorm.weight */
#define MODEL_LAYERS_2_WEIGHTS__2 1040207872ul /* bf16 [16386, 1024], activation model.layers.2.weights */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT__2 MODEL_LAYERS_2_WEIGHTS__2 /* bf16 [1024, 4096], model.layers.2.mlp.down_proj.weight */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT__2 (MODEL_LAYERS_2_WEIGHTS__2 + 8388608ul) /* bf16 [4096, 1024], model.layers.2.mlp.up_proj.weight */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT__2 (MODEL_LAYERS_2_WEIGHTS__2 + 16777216ul) /* bf16 [4096, 1024], model.layers.2.mlp.gate_proj.weight */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_2_WEIGHTS__2 + 25165824ul) /* bf16 [1024], model.layers.2.post_attention_layernorm.weight */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT__2 (MODEL_LAYERS_2_WEIGHTS__2 + 25167872ul) /* bf16 [1024, 1024], model.layers.2.self_attn.o_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT__2 (MODEL_LAYERS_2_WEIGHTS__2 + 27265024ul) /* bf16 [1024, 1024], model.layers.2.self_attn.v_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT__2 (MODEL_LAYERS_2_WEIGHTS__2 + 29362176ul) /* bf16 [1024, 1024], model.layers.2.self_attn.k_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT__2 (MODEL_LAYERS_2_WEIGHTS__2 + 31459328ul) /* bf16 [1024, 1024], model.layers.2.self_attn.q_proj.weight */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_2_WEIGHTS__2 + 33556480ul) /* bf16 [1024], model.layers.2.input_layernorm.weight */
#define MODEL_LAYERS_1_WEIGHTS__2 872431616ul /* bf16 [16386, 1024], activation model.layers.1.weights */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT__2 MODEL_LAYERS_1_WEIGHTS__2 /* bf16 [1024, 4096], model.layers.1.mlp.down_proj.weight */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT__2 (MODEL_LAYERS_1_WEIGHTS__2 + 8388608ul) /* bf16 [4096, 1024], model.layers.1.mlp.up_proj.weight */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT__2 (MODEL_LAYERS_1_WEIGHTS__2 + 16777216ul) /* bf16 [4096, 1024], model.layers.1.mlp.gate_proj.weight */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_1_WEIGHTS__2 + 25165824ul) /* bf16 [1024], model.layers.1.post_attention_layernorm.weight */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT__2 (MODEL_LAYERS_1_WEIGHTS__2 + 25167872ul) /* bf16 [1024, 1024], model.layers.1.self_attn.o_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT__2 (MODEL_LAYERS_1_WEIGHTS__2 + 27265024ul) /* bf16 [1024, 1024], model.layers.1.self_attn.v_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT__2 (MODEL_LAYERS_1_WEIGHTS__2 + 29362176ul) /* bf16 [1024, 1024], model.layers.1.self_attn.k_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT__2 (MODEL_LAYERS_1_WEIGHTS__2 + 31459328ul) /* bf16 [1024, 1024], model.layers.1.self_attn.q_proj.weight */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_1_WEIGHTS__2 + 33556480ul) /* bf16 [1024], model.layers.1.input_layernorm.weight */
#define MODEL_LAYERS_0_WEIGHTS__2 671105024ul /* bf16 [16386, 1024], activation model.layers.0.weights */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT__2 MODEL_LAYERS_0_WEIGHTS__2 /* bf16 [1024, 4096], model.layers.0.mlp.down_proj.weight */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 8388608ul) /* bf16 [4096, 1024], model.layers.0.mlp.up_proj.weight */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 16777216ul) /* bf16 [4096, 1024], model.layers.0.mlp.gate_proj.weight */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 25165824ul) /* bf16 [1024], model.layers.0.post_attention_layernorm.weight */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 25167872ul) /* bf16 [1024, 1024], model.layers.0.self_attn.o_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 27265024ul) /* bf16 [1024, 1024], model.layers.0.self_attn.v_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 29362176ul) /* bf16 [1024, 1024], model.layers.0.self_attn.k_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 31459328ul) /* bf16 [1024, 1024], model.layers.0.self_attn.q_proj.weight */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 33556480ul) /* bf16 [1024], model.layers.0.input_layernorm.weight */
#define EVALUATE_MODEL_EMBED_TOKENS_WEIGHTS 16777216ul /* bf16 [4096, 1024], activation model.embed_tokens.weights */
#define EVALUATE_MODEL_LAYERS_0_WEIGHTS 201326592ul /* bf16 [16386, 1024], activation model.layers.0.weights */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT EVALUATE_MODEL_LAYERS_0_WEIGHTS /* bf16 [1024, 4096], model.layers.0.mlp.down_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 8388608ul) /* bf16 [4096, 1024], model.layers.0.mlp.up_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 16777216ul) /* bf16 [4096, 1024], model.layers.0.mlp.gate_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.0.post_attention_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.0.self_attn.o_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.0.self_attn.v_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 29362176ul) /* bf16 [1024, 1024], model.layers.0.self_attn.k_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 31459328ul) /* bf16 [1024, 1024], model.layers.0.self_attn.q_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.0.input_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_1_WEIGHTS 234885120ul /* bf16 [16386, 1024], activation model.layers.1.weights */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT EVALUATE_MODEL_LAYERS_1_WEIGHTS /* bf16 [1024, 4096], model.layers.1.mlp.down_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 8388608ul) /* bf16 [4096, 1024], model.layers.1.mlp.up_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 16777216ul) /* bf16 [4096, 1024], model.layers.1.mlp.gate_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.1.post_attention_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.1.self_attn.o_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.1.self_attn.v_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 29362176ul) /* bf16 [1024, 1024], model.layers.1.self_attn.k_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 31459328ul) /* bf16 [1024, 1024], model.layers.1.self_attn.q_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.1.input_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_2_WEIGHTS 201326592ul /* bf16 [16386, 1024], activation model.layers.2.weights */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT EVALUATE_MODEL_LAYERS_2_WEIGHTS /* bf16 [1024, 4096], model.layers.2.mlp.down_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 8388608ul) /* bf16 [4096, 1024], model.layers.2.mlp.up_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 16777216ul) /* bf16 [4096, 1024], model.layers.2.mlp.gate_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.2.post_attention_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.2.self_attn.o_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.2.self_attn.v_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 29362176ul) /* bf16 [1024, 1024], model.layers.2.self_attn.k_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 31459328ul) /* bf16 [1024, 1024], model.layers.2.self_attn.q_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.2.input_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_3_WEIGHTS 234885120ul /* bf16 [16386, 1024], activation model.layers.3.weights */
#define EVALUATE_MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT EVALUATE_MODEL_LAYERS_3_WEIGHTS /* bf16 [1024, 4096], model.layers.3.mlp.down_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_MLP_UP_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 8388608ul) /* bf16 [4096, 1024], model.layers.3.mlp.up_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_MLP_GATE_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 16777216ul) /* bf16 [4096, 1024], model.layers.3.mlp.gate_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.3.post_attention_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_O_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.3.self_attn.o_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_V_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.3.self_attn.v_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 29362176ul) /* bf16 [1024, 1024], model.layers.3.self_attn.k_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 31459328ul) /* bf16 [1024, 1024], model.layers.3.self_attn.q_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.3.input_layernorm.weight */
#define EVALUATE_MODEL_NORM_WEIGHTS 234881024ul /* bf16 [2, 1024], activation model.norm.weights */
#define EVALUATE_MODEL_NORM_WEIGHT EVALUATE_MODEL_NORM_WEIGHTS /* bf16 [1024], model.norm.weight */
#define EVALUATE_LM_HEAD_WEIGHTS 83886080ul /* bf16 [4096, 1024], activation lm_head.weights */
#define MODEL_NORM_WEIGHT_GRAD_PARTIAL 0ul /* f32 [128, 1024], activation model.norm.weight.grad_partial */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 83894272ul /* f32 [128, 1024], activation model.layers.3.post_attention_layernorm.weight.grad_partial */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 83894272ul /* f32 [128, 1024], activation model.layers.3.input_layernorm.weight.grad_partial */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 956321792ul /* f32 [128, 1024], activation model.layers.2.post_attention_layernorm.weight.grad_partial */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 956321792ul /* f32 [128, 1024], activation model.layers.2.input_layernorm.weight.grad_partial */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 956321792ul /* f32 [128, 1024], activation model.layers.1.post_attention_layernorm.weight.grad_partial */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 956321792ul /* f32 [128, 1024], activation model.layers.1.input_layernorm.weight.grad_partial */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 956321792ul /* f32 [128, 1024], activation model.layers.0.post_attention_layernorm.weight.grad_partial */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 989876224ul /* f32 [128, 1024], activation model.layers.0.input_layernorm.weight.grad_partial */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_KEYS 16777216ul /* i64 [8192, 1], activation model.embed_tokens.weight.grad.keys */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_KEYS__2 17825792ul /* i64 [8192, 1], activation model.embed_tokens.weight.grad.keys */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_PARTIAL 16777216ul /* f32 [256, 1024], activation model.embed_tokens.weight.grad.partial */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], activation grad_norm.columns_partial */

/* By number: what lies at even distances. */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 134217728ul) /* bf16 [8192, 1024], model.layers.*.input_layernorm */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 134217728ul) /* bf16 [8192, 1024], model.layers.*.self_attn.v_proj */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 134217728ul) /* bf16 [8192, 1024], model.layers.*.self_attn.q_rope */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 134217728ul) /* bf16 [8192, 1024], model.layers.*.self_attn.k_rope */
#define MODEL_LAYERS_SELF_ATTN(i) (MODEL_LAYERS_0_SELF_ATTN + (i) * 134217728ul) /* bf16 [8192, 1024], model.layers.*.self_attn */
#define MODEL_LAYERS_SELF_ATTN_LSE(i) (MODEL_LAYERS_0_SELF_ATTN_LSE + (i) * 262144ul) /* f32 [8192, 8], model.layers.*.self_attn.lse */
#define MODEL_LAYERS_ATTN_RESIDUAL(i) (MODEL_LAYERS_0_ATTN_RESIDUAL + (i) * 134217728ul) /* bf16 [8192, 1024], model.layers.*.attn_residual */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 65536ul) /* f32 [8192, 1], model.layers.*.post_attention_layernorm.rstd */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM + (i) * 134217728ul) /* bf16 [8192, 1024], model.layers.*.post_attention_layernorm */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) (MODEL_LAYERS_0_MLP_GATE_PROJ + (i) * 201326592ul) /* bf16 [8192, 4096], model.layers.*.mlp.gate_proj */
#define MODEL_LAYERS_MLP_UP_PROJ(i) (MODEL_LAYERS_0_MLP_UP_PROJ + (i) * 201326592ul) /* bf16 [8192, 4096], model.layers.*.mlp.up_proj */
#define MODEL_LAYERS_MLP_ACT(i) (MODEL_LAYERS_0_MLP_ACT + (i) * 201326592ul) /* bf16 [8192, 4096], model.layers.*.mlp.act */
#define MODEL_LAYERS_MLP_RESIDUAL(i) (MODEL_LAYERS_0_MLP_RESIDUAL + (i) * 134217728ul) /* bf16 [8192, 1024], model.layers.*.mlp_residual */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD + ((i) - 1) * 65536ul) /* f32 [8192, 1], model.layers.*.input_layernorm.rstd */
#define MODEL_LAYERS_MLP_ACT_GRAD(i) (MODEL_LAYERS_0_MLP_ACT_GRAD + (i) * 201326592ul) /* bf16 [8192, 4096], model.layers.*.mlp.act.grad */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 98560ul

#define INPUT_IDS 0ul /* i32 [8192, 1], input input_ids */
#define LABELS 32768ul /* i32 [8192, 1], input labels */
#define MICRO_STEP_LABELS (LABELS + 8192ul) /* i32 [2048, 1], labels */
#define MICRO_STEP_LABELS__2 (LABELS + 16384ul) /* i32 [2048, 1], labels */
#define MICRO_STEP_LABELS__3 (LABELS + 24576ul) /* i32 [2048, 1], labels */
#define POSITIONS 65536ul /* i32 [8192, 1], input positions */
#define LOSS_WEIGHT 98304ul /* f32 [1], input loss_weight */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 1628725248ul
#define GEMM_WORKSPACE_BYTES 33554432ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 39,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 3,
    MICRO_STEP_OUTPUTS = 238,
    UPDATE_OUTPUTS = 15,
    EVALUATE_OUTPUTS = 83,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
