/* Offsets of all buffers of gathered, in bytes from the start of their arenas. */
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

/* Buffers at equal distances, by the number in their names. */
#define MODEL_LAYERS_WEIGHTS_PIECE(i) (MODEL_LAYERS_1_WEIGHTS_PIECE - ((i) - 1) * 16779264ul) /* bf16 [8193, 1024], model.layers.*.weights.piece */
#define MODEL_LAYERS_GRADIENT_PIECE(i) (MODEL_LAYERS_1_GRADIENT_PIECE - ((i) - 1) * 33558528ul) /* f32 [8193, 1024], model.layers.*.gradient.piece */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 1662271488ul

#define MODEL_EMBED_TOKENS 1207975936ul /* bf16 [8192, 1024], activation model.embed_tokens */
#define MODEL_LAYERS_0_INPUT_LAYERNORM 1224753152ul /* bf16 [8192, 1024], activation model.layers.0.input_layernorm */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD 1628454912ul /* f32 [8192, 1], activation model.layers.0.input_layernorm.rstd */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ 1241530368ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.v_proj */
#define MODEL_LAYERS_0_SELF_ATTN 1258307584ul /* bf16 [8192, 1024], activation model.layers.0.self_attn */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 1627406336ul /* f32 [8192, 8], activation model.layers.0.self_attn.lse */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 167776256ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.o_proj */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 1275084800ul /* bf16 [8192, 1024], activation model.layers.0.attn_residual */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 1291862016ul /* bf16 [8192, 1024], activation model.layers.0.post_attention_layernorm */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 1628487680ul /* f32 [8192, 1], activation model.layers.0.post_attention_layernorm.rstd */
#define MODEL_LAYERS_0_MLP_ACT 738205696ul /* bf16 [8192, 4096], activation model.layers.0.mlp.act */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ 167776256ul /* bf16 [8192, 1024], activation model.layers.0.mlp.down_proj */
#define MODEL_LAYERS_0_MLP_RESIDUAL 1308639232ul /* bf16 [8192, 1024], activation model.layers.0.mlp_residual */
#define MODEL_LAYERS_1_INPUT_LAYERNORM 1325416448ul /* bf16 [8192, 1024], activation model.layers.1.input_layernorm */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 1628520448ul /* f32 [8192, 1], activation model.layers.1.input_layernorm.rstd */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ 1342193664ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.v_proj */
#define MODEL_LAYERS_1_SELF_ATTN 1358970880ul /* bf16 [8192, 1024], activation model.layers.1.self_attn */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 1627668480ul /* f32 [8192, 8], activation model.layers.1.self_attn.lse */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 1140867072ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.o_proj */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 1375748096ul /* bf16 [8192, 1024], activation model.layers.1.attn_residual */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 1392525312ul /* bf16 [8192, 1024], activation model.layers.1.post_attention_layernorm */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 1628553216ul /* f32 [8192, 1], activation model.layers.1.post_attention_layernorm.rstd */
#define MODEL_LAYERS_1_MLP_ACT 805314560ul /* bf16 [8192, 4096], activation model.layers.1.mlp.act */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ 1140867072ul /* bf16 [8192, 1024], activation model.layers.1.mlp.down_proj */
#define MODEL_LAYERS_1_MLP_RESIDUAL 1409302528ul /* bf16 [8192, 1024], activation model.layers.1.mlp_residual */
#define MODEL_LAYERS_2_INPUT_LAYERNORM 1426079744ul /* bf16 [8192, 1024], activation model.layers.2.input_layernorm */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 1628585984ul /* f32 [8192, 1], activation model.layers.2.input_layernorm.rstd */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ 1442856960ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.v_proj */
#define MODEL_LAYERS_2_SELF_ATTN 1459634176ul /* bf16 [8192, 1024], activation model.layers.2.self_attn */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 1627930624ul /* f32 [8192, 8], activation model.layers.2.self_attn.lse */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ 1174421504ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.o_proj */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 1476411392ul /* bf16 [8192, 1024], activation model.layers.2.attn_residual */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 1493188608ul /* bf16 [8192, 1024], activation model.layers.2.post_attention_layernorm */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 1628618752ul /* f32 [8192, 1], activation model.layers.2.post_attention_layernorm.rstd */
#define MODEL_LAYERS_2_MLP_ACT 872423424ul /* bf16 [8192, 4096], activation model.layers.2.mlp.act */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ 1174421504ul /* bf16 [8192, 1024], activation model.layers.2.mlp.down_proj */
#define MODEL_LAYERS_2_MLP_RESIDUAL 1509965824ul /* bf16 [8192, 1024], activation model.layers.2.mlp_residual */
#define MODEL_LAYERS_3_INPUT_LAYERNORM 1526743040ul /* bf16 [8192, 1024], activation model.layers.3.input_layernorm */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_RSTD 1628651520ul /* f32 [8192, 1], activation model.layers.3.input_layernorm.rstd */
#define MODEL_LAYERS_3_SELF_ATTN_V_PROJ 1543520256ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.v_proj */
#define MODEL_LAYERS_3_SELF_ATTN 1560297472ul /* bf16 [8192, 1024], activation model.layers.3.self_attn */
#define MODEL_LAYERS_3_SELF_ATTN_LSE 1628192768ul /* f32 [8192, 8], activation model.layers.3.self_attn.lse */
#define MODEL_LAYERS_3_SELF_ATTN_O_PROJ 637538304ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.o_proj */
#define MODEL_LAYERS_3_ATTN_RESIDUAL 1577074688ul /* bf16 [8192, 1024], activation model.layers.3.attn_residual */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM 1593851904ul /* bf16 [8192, 1024], activation model.layers.3.post_attention_layernorm */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_RSTD 1628684288ul /* f32 [8192, 1], activation model.layers.3.post_attention_layernorm.rstd */
#define MODEL_LAYERS_3_MLP_ACT 536870912ul /* bf16 [8192, 4096], activation model.layers.3.mlp.act */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ 637538304ul /* bf16 [8192, 1024], activation model.layers.3.mlp.down_proj */
#define MODEL_LAYERS_3_MLP_RESIDUAL 603979776ul /* bf16 [8192, 1024], activation model.layers.3.mlp_residual */
#define MODEL_NORM 620756992ul /* bf16 [8192, 1024], activation model.norm */
#define MICRO_STEP_MODEL_NORM (MODEL_NORM + 4194304ul) /* bf16 [2048, 1024], model.norm */
#define MICRO_STEP_MODEL_NORM__2 (MODEL_NORM + 8388608ul) /* bf16 [2048, 1024], model.norm */
#define MICRO_STEP_MODEL_NORM__3 (MODEL_NORM + 12582912ul) /* bf16 [2048, 1024], model.norm */
#define MODEL_NORM_RSTD 713031680ul /* f32 [8192, 1], activation model.norm.rstd */
#define LOSS_ROWS 1610629120ul /* f32 [8192, 1], activation loss.rows */
#define MICRO_STEP_LOSS_ROWS (LOSS_ROWS + 8192ul) /* f32 [2048, 1], loss.rows */
#define MICRO_STEP_LOSS_ROWS__2 (LOSS_ROWS + 16384ul) /* f32 [2048, 1], loss.rows */
#define MICRO_STEP_LOSS_ROWS__3 (LOSS_ROWS + 24576ul) /* f32 [2048, 1], loss.rows */
#define EVALUATE_MODEL_EMBED_TOKENS 83886080ul /* bf16 [8192, 1024], activation model.embed_tokens */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM 50331648ul /* bf16 [8192, 1024], activation model.layers.0.input_layernorm */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD 67108864ul /* f32 [8192, 1], activation model.layers.0.input_layernorm.rstd */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 100663296ul /* bf16 [8192, 1024], activation model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 117440512ul /* f32 [8192, 8], activation model.layers.0.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 268443648ul /* bf16 [8192, 1024], activation model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 134217728ul /* bf16 [8192, 1024], activation model.layers.0.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT 134217728ul /* bf16 [8192, 4096], activation model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.0.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 83886080ul /* bf16 [8192, 1024], activation model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM 50331648ul /* bf16 [8192, 1024], activation model.layers.1.input_layernorm */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 100663296ul /* bf16 [8192, 1024], activation model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 117440512ul /* f32 [8192, 8], activation model.layers.1.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 268443648ul /* bf16 [8192, 1024], activation model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 134217728ul /* bf16 [8192, 1024], activation model.layers.1.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_1_MLP_ACT 134217728ul /* bf16 [8192, 4096], activation model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.1.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 83886080ul /* bf16 [8192, 1024], activation model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM 50331648ul /* bf16 [8192, 1024], activation model.layers.2.input_layernorm */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN 100663296ul /* bf16 [8192, 1024], activation model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 117440512ul /* f32 [8192, 8], activation model.layers.2.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 268443648ul /* bf16 [8192, 1024], activation model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 134217728ul /* bf16 [8192, 1024], activation model.layers.2.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_2_MLP_ACT 134217728ul /* bf16 [8192, 4096], activation model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.2.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_RESIDUAL 83886080ul /* bf16 [8192, 1024], activation model.layers.2.mlp_residual */
#define EVALUATE_MODEL_LAYERS_3_INPUT_LAYERNORM 50331648ul /* bf16 [8192, 1024], activation model.layers.3.input_layernorm */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN 100663296ul /* bf16 [8192, 1024], activation model.layers.3.self_attn */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_LSE 117440512ul /* f32 [8192, 8], activation model.layers.3.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_O_PROJ 0ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_3_ATTN_RESIDUAL 201326592ul /* bf16 [8192, 1024], activation model.layers.3.attn_residual */
#define EVALUATE_MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM 218103808ul /* bf16 [8192, 1024], activation model.layers.3.post_attention_layernorm */
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
#define LM_HEAD_GRADIENTS 637534208ul /* f32 [4096, 1024], activation lm_head.gradients */
#define MODEL_NORM_GRADIENTS 603979776ul /* f32 [2, 1024], activation model.norm.gradients */
#define MODEL_NORM_WEIGHT_GRAD MODEL_NORM_GRADIENTS /* f32 [1024], model.norm.weight.grad */
#define MODEL_NORM_GRADIENTS_GAP (MODEL_NORM_GRADIENTS + 4096ul) /* f32 [1024], model.norm.gradients.gap */
#define MODEL_LAYERS_3_GRADIENTS 671088640ul /* f32 [16386, 1024], activation model.layers.3.gradients */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT_GRAD MODEL_LAYERS_3_GRADIENTS /* f32 [1024, 4096], model.layers.3.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_2_GRADIENTS 536870912ul /* f32 [16386, 1024], activation model.layers.2.gradients */
#define MODEL_LAYERS_1_GRADIENTS 402653184ul /* f32 [16386, 1024], activation model.layers.1.gradients */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 16777216ul) /* f32 [8192, 1024], model.layers.1.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 50331648ul) /* f32 [1024], model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 50335744ul) /* f32 [1024, 1024], model.layers.1.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 54530048ul) /* f32 [3072, 1024], model.layers.1.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_1_GRADIENTS + 67112960ul) /* f32 [1024], model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_GRADIENTS 268435456ul /* f32 [16386, 1024], activation model.layers.0.gradients */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_GRAD MODEL_LAYERS_0_GRADIENTS /* f32 [1024, 4096], model.layers.0.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 16777216ul) /* f32 [8192, 1024], model.layers.0.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 50331648ul) /* f32 [1024], model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 50335744ul) /* f32 [1024, 1024], model.layers.0.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 54530048ul) /* f32 [3072, 1024], model.layers.0.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD (MODEL_LAYERS_0_GRADIENTS + 67112960ul) /* f32 [1024], model.layers.0.input_layernorm.weight.grad */
#define MODEL_EMBED_TOKENS_GRADIENTS 0ul /* f32 [4096, 1024], activation model.embed_tokens.gradients */
#define MODEL_NORM_GRAD 654311424ul /* bf16 [8192, 1024], activation model.norm.grad */
#define MICRO_STEP_MODEL_NORM_GRAD (MODEL_NORM_GRAD + 4194304ul) /* bf16 [2048, 1024], model.norm.grad */
#define MICRO_STEP_MODEL_NORM_GRAD__2 (MODEL_NORM_GRAD + 8388608ul) /* bf16 [2048, 1024], model.norm.grad */
#define MICRO_STEP_MODEL_NORM_GRAD__3 (MODEL_NORM_GRAD + 12582912ul) /* bf16 [2048, 1024], model.norm.grad */
#define MODEL_LAYERS_3_MLP_RESIDUAL_GRAD 1610629120ul /* bf16 [8192, 1024], activation model.layers.3.mlp_residual.grad */
#define MODEL_LAYERS_3_MLP_ACT_GRAD 939532288ul /* bf16 [8192, 4096], activation model.layers.3.mlp.act.grad */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_GRAD 1593851904ul /* bf16 [8192, 1024], activation model.layers.3.post_attention_layernorm.grad */
#define MODEL_LAYERS_3_ATTN_RESIDUAL_GRAD 973086720ul /* bf16 [8192, 1024], activation model.layers.3.attn_residual.grad */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD 989863936ul /* bf16 [8192, 1024], activation model.layers.3.self_attn.grad */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD_DELTA 1577074688ul /* f32 [8192, 8], activation model.layers.3.self_attn.grad.delta */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_GRAD 989863936ul /* bf16 [8192, 1024], activation model.layers.3.input_layernorm.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD 939532288ul /* bf16 [8192, 1024], activation model.layers.2.mlp_residual.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 872423424ul /* bf16 [8192, 4096], activation model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 1174421504ul /* bf16 [8192, 1024], activation model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_ATTN_RESIDUAL_GRAD 1191198720ul /* bf16 [8192, 1024], activation model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 1174421504ul /* bf16 [8192, 1024], activation model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 654319616ul /* f32 [8192, 8], activation model.layers.2.self_attn.grad.delta */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 1140867072ul /* bf16 [8192, 1024], activation model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD 1157644288ul /* bf16 [8192, 1024], activation model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 603987968ul /* bf16 [8192, 4096], activation model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 1140867072ul /* bf16 [8192, 1024], activation model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 704655360ul /* bf16 [8192, 1024], activation model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 637542400ul /* bf16 [8192, 1024], activation model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 520101888ul /* f32 [8192, 8], activation model.layers.1.self_attn.grad.delta */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 603987968ul /* bf16 [8192, 1024], activation model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD 620765184ul /* bf16 [8192, 1024], activation model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 469770240ul /* bf16 [8192, 4096], activation model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 570437632ul /* bf16 [8192, 1024], activation model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 587214848ul /* bf16 [8192, 1024], activation model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 570437632ul /* bf16 [8192, 1024], activation model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 385884160ul /* f32 [8192, 8], activation model.layers.0.self_attn.grad.delta */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_GRAD 570437632ul /* bf16 [8192, 1024], activation model.layers.0.input_layernorm.grad */
#define MODEL_EMBED_TOKENS_GRAD 335552512ul /* bf16 [8192, 1024], activation model.embed_tokens.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], activation grad_norm.columns */
#define GRAD_NORM_SQUARED 0ul /* f32 [1], activation grad_norm.squared */
#define CLIP_FACTOR 256ul /* f32 [1], activation clip_factor */
#define RATES_LR 512ul /* f32 [1], activation rates.lr */
#define RATES_BIAS_CORRECTION1 768ul /* f32 [1], activation rates.bias_correction1 */
#define RATES_BIAS_CORRECTION2 1024ul /* f32 [1], activation rates.bias_correction2 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_PROJ_Y 167776256ul /* bf16 [8192, 2048], activation model.layers.0.self_attn.q_k_proj.y */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192], activation model.layers.0.mlp.gate_up_proj.y */
#define MODEL_LAYERS_0_MLP_UP_PROJ MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [8192, 4096], row stride 8192, model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_MLP_GATE_PROJ (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + 8192ul) /* bf16 [8192, 4096], row stride 8192, model.layers.0.mlp.gate_proj */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_PROJ_Y 301993984ul /* bf16 [8192, 2048], activation model.layers.1.self_attn.q_k_proj.y */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 134217728ul /* bf16 [8192, 8192], activation model.layers.1.mlp.gate_up_proj.y */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_PROJ_Y 637538304ul /* bf16 [8192, 2048], activation model.layers.2.self_attn.q_k_proj.y */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 268435456ul /* bf16 [8192, 8192], activation model.layers.2.mlp.gate_up_proj.y */
#define MODEL_LAYERS_3_SELF_ATTN_Q_K_PROJ_Y 637538304ul /* bf16 [8192, 2048], activation model.layers.3.self_attn.q_k_proj.y */
#define MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y 402653184ul /* bf16 [8192, 8192], activation model.layers.3.mlp.gate_up_proj.y */
#define MODEL_LAYERS_3_MLP_UP_PROJ MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y /* bf16 [8192, 4096], row stride 8192, model.layers.3.mlp.up_proj */
#define MODEL_LAYERS_3_MLP_GATE_PROJ (MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y + 8192ul) /* bf16 [8192, 4096], row stride 8192, model.layers.3.mlp.gate_proj */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY 335552512ul /* bf16 [8192, 3072], activation model.layers.0.self_attn.q_k_v_proj.dy */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY /* bf16 [8192, 1024], row stride 3072, model.layers.0.self_attn.grad.v */
#define MODEL_LAYERS_0_SELF_ATTN_K_Q_PROJ_GRAD (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY + 2048ul) /* bf16 [8192, 2048], row stride 3072, model.layers.0.self_attn.k_q_proj.grad */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY 134217728ul /* bf16 [8192, 8192], activation model.layers.0.mlp.gate_up_proj.dy */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY /* bf16 [8192, 4096], row stride 8192, model.layers.0.mlp.act.grad.up */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY + 8192ul) /* bf16 [8192, 4096], row stride 8192, model.layers.0.mlp.act.grad.gate */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY 469770240ul /* bf16 [8192, 3072], activation model.layers.1.self_attn.q_k_v_proj.dy */
#define MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY + 2048ul) /* bf16 [8192, 2048], row stride 3072, model.layers.1.self_attn.k_q_proj.grad */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY 268435456ul /* bf16 [8192, 8192], activation model.layers.1.mlp.gate_up_proj.dy */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY /* bf16 [8192, 4096], row stride 8192, model.layers.1.mlp.act.grad.up */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY + 8192ul) /* bf16 [8192, 4096], row stride 8192, model.layers.1.mlp.act.grad.gate */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_DY 603987968ul /* bf16 [8192, 3072], activation model.layers.2.self_attn.q_k_v_proj.dy */
#define MODEL_LAYERS_2_SELF_ATTN_K_Q_PROJ_GRAD (MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_DY + 2048ul) /* bf16 [8192, 2048], row stride 3072, model.layers.2.self_attn.k_q_proj.grad */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_DY 402653184ul /* bf16 [8192, 8192], activation model.layers.2.mlp.gate_up_proj.dy */
#define MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_DY 402653184ul /* bf16 [8192, 3072], activation model.layers.3.self_attn.q_k_v_proj.dy */
#define MODEL_LAYERS_3_SELF_ATTN_K_Q_PROJ_GRAD (MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_DY + 2048ul) /* bf16 [8192, 2048], row stride 3072, model.layers.3.self_attn.k_q_proj.grad */
#define MODEL_LAYERS_3_MLP_GATE_UP_PROJ_DY 536870912ul /* bf16 [8192, 8192], activation model.layers.3.mlp.gate_up_proj.dy */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [8192, 3072], activation model.layers.0.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [8192, 1024], row stride 3072, model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE_X (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul) /* bf16 [8192, 2048], row stride 3072, model.layers.0.self_attn.k_q_rope.x */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192], activation model.layers.0.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [8192, 4096], row stride 8192, model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ (EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + 8192ul) /* bf16 [8192, 4096], row stride 8192, model.layers.0.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [8192, 3072], activation model.layers.1.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192], activation model.layers.1.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [8192, 3072], activation model.layers.2.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192], activation model.layers.2.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [8192, 3072], activation model.layers.3.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_V_PROJ EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [8192, 1024], row stride 3072, model.layers.3.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_Q_ROPE_X (EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul) /* bf16 [8192, 2048], row stride 3072, model.layers.3.self_attn.k_q_rope.x */
#define EVALUATE_MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192], activation model.layers.3.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_3_MLP_UP_PROJ EVALUATE_MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y /* bf16 [8192, 4096], row stride 8192, model.layers.3.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_3_MLP_GATE_PROJ (EVALUATE_MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y + 8192ul) /* bf16 [8192, 4096], row stride 8192, model.layers.3.mlp.gate_proj */
#define MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE 1073758208ul /* bf16 [8192, 2048], activation model.layers.0.self_attn.k_q_rope */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE /* bf16 [8192, 1024], row stride 2048, model.layers.0.self_attn.k_rope */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE (MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE + 2048ul) /* bf16 [8192, 1024], row stride 2048, model.layers.0.self_attn.q_rope */
#define MODEL_LAYERS_1_SELF_ATTN_K_Q_ROPE 1107312640ul /* bf16 [8192, 2048], activation model.layers.1.self_attn.k_q_rope */
#define MODEL_LAYERS_2_SELF_ATTN_K_Q_ROPE 1140867072ul /* bf16 [8192, 2048], activation model.layers.2.self_attn.k_q_rope */
#define MODEL_LAYERS_3_SELF_ATTN_K_Q_ROPE 1174421504ul /* bf16 [8192, 2048], activation model.layers.3.self_attn.k_q_rope */
#define MODEL_LAYERS_3_SELF_ATTN_K_ROPE MODEL_LAYERS_3_SELF_ATTN_K_Q_ROPE /* bf16 [8192, 1024], row stride 2048, model.layers.3.self_attn.k_rope */
#define MODEL_LAYERS_3_SELF_ATTN_Q_ROPE (MODEL_LAYERS_3_SELF_ATTN_K_Q_ROPE + 2048ul) /* bf16 [8192, 1024], row stride 2048, model.layers.3.self_attn.q_rope */
#define MODEL_LAYERS_3_SELF_ATTN_K_Q_PROJ_GRAD_X 939532288ul /* bf16 [8192, 2048], activation model.layers.3.self_attn.k_q_proj.grad.x */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD_Q (MODEL_LAYERS_3_SELF_ATTN_K_Q_PROJ_GRAD_X + 2048ul) /* bf16 [8192, 1024], row stride 2048, model.layers.3.self_attn.grad.q */
#define MODEL_LAYERS_2_SELF_ATTN_K_Q_PROJ_GRAD_X 872423424ul /* bf16 [8192, 2048], activation model.layers.2.self_attn.k_q_proj.grad.x */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_Q (MODEL_LAYERS_2_SELF_ATTN_K_Q_PROJ_GRAD_X + 2048ul) /* bf16 [8192, 1024], row stride 2048, model.layers.2.self_attn.grad.q */
#define MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD_X 603987968ul /* bf16 [8192, 2048], activation model.layers.1.self_attn.k_q_proj.grad.x */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_Q (MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD_X + 2048ul) /* bf16 [8192, 1024], row stride 2048, model.layers.1.self_attn.grad.q */
#define MODEL_LAYERS_0_SELF_ATTN_K_Q_PROJ_GRAD_X 469770240ul /* bf16 [8192, 2048], activation model.layers.0.self_attn.k_q_proj.grad.x */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K MODEL_LAYERS_0_SELF_ATTN_K_Q_PROJ_GRAD_X /* bf16 [8192, 1024], row stride 2048, model.layers.0.self_attn.grad.k */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q (MODEL_LAYERS_0_SELF_ATTN_K_Q_PROJ_GRAD_X + 2048ul) /* bf16 [8192, 1024], row stride 2048, model.layers.0.self_attn.grad.q */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE 50331648ul /* bf16 [8192, 2048], activation model.layers.0.self_attn.k_q_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_ROPE EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE /* bf16 [8192, 1024], row stride 2048, model.layers.0.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_ROPE (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE + 2048ul) /* bf16 [8192, 1024], row stride 2048, model.layers.0.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_Q_ROPE 50331648ul /* bf16 [8192, 2048], activation model.layers.1.self_attn.k_q_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_Q_ROPE 50331648ul /* bf16 [8192, 2048], activation model.layers.2.self_attn.k_q_rope */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_Q_ROPE 50331648ul /* bf16 [8192, 2048], activation model.layers.3.self_attn.k_q_rope */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_ROPE EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_Q_ROPE /* bf16 [8192, 1024], row stride 2048, model.layers.3.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_ROPE (EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_Q_ROPE + 2048ul) /* bf16 [8192, 1024], row stride 2048, model.layers.3.self_attn.q_rope */
#define LM_HEAD 637534208ul /* bf16 [2048, 4096], activation lm_head */
#define LM_HEAD_GRAD 671088640ul /* bf16 [2048, 4096], activation lm_head.grad */
#define LM_HEAD__2 671088640ul /* bf16 [2048, 4096], activation lm_head */
#define LM_HEAD_GRAD__2 687865856ul /* bf16 [2048, 4096], activation lm_head.grad */
#define LM_HEAD__3 671088640ul /* bf16 [2048, 4096], activation lm_head */
#define LM_HEAD_GRAD__3 687865856ul /* bf16 [2048, 4096], activation lm_head.grad */
#define LM_HEAD__4 671088640ul /* bf16 [2048, 4096], activation lm_head */
#define LM_HEAD_GRAD__4 687865856ul /* bf16 [2048, 4096], activation lm_head.grad */
#define EVALUATE_LM_HEAD 16777216ul /* bf16 [2048, 4096], activation lm_head */
#define EVALUATE_LM_HEAD__2 33554432ul /* bf16 [2048, 4096], activation lm_head */
#define EVALUATE_LM_HEAD__3 50331648ul /* bf16 [2048, 4096], activation lm_head */
#define EVALUATE_LM_HEAD__4 67108864ul /* bf16 [2048, 4096], activation lm_head */
#define MODEL_EMBED_TOKENS_WEIGHTS 0ul /* bf16 [4096, 1024], activation model.embed_tokens.weights */
#define MODEL_LAYERS_0_WEIGHTS 134217728ul /* bf16 [16386, 1024], activation model.layers.0.weights */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_0_WEIGHTS /* bf16 [1024, 4096], model.layers.0.mlp.down_proj.weight */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 8388608ul) /* bf16 [8192, 1024], model.layers.0.mlp.gate_up_proj.weight */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.0.post_attention_layernorm.weight */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.0.self_attn.o_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.0.self_attn.v_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 29362176ul) /* bf16 [2048, 1024], model.layers.0.self_attn.q_k_proj.weight */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT (MODEL_LAYERS_0_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.0.input_layernorm.weight */
#define MODEL_LAYERS_1_WEIGHTS 268435456ul /* bf16 [16386, 1024], activation model.layers.1.weights */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT (MODEL_LAYERS_1_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.1.input_layernorm.weight */
#define MODEL_LAYERS_2_WEIGHTS 402653184ul /* bf16 [16386, 1024], activation model.layers.2.weights */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT (MODEL_LAYERS_2_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.2.input_layernorm.weight */
#define MODEL_LAYERS_3_WEIGHTS 603979776ul /* bf16 [16386, 1024], activation model.layers.3.weights */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_3_WEIGHTS /* bf16 [1024, 4096], model.layers.3.mlp.down_proj.weight */
#define MODEL_LAYERS_3_MLP_GATE_UP_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 8388608ul) /* bf16 [8192, 1024], model.layers.3.mlp.gate_up_proj.weight */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.3.post_attention_layernorm.weight */
#define MODEL_LAYERS_3_SELF_ATTN_O_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.3.self_attn.o_proj.weight */
#define MODEL_LAYERS_3_SELF_ATTN_V_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 27265024ul) /* bf16 [1024, 1024], model.layers.3.self_attn.v_proj.weight */
#define MODEL_LAYERS_3_SELF_ATTN_Q_K_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 29362176ul) /* bf16 [2048, 1024], model.layers.3.self_attn.q_k_proj.weight */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT (MODEL_LAYERS_3_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.3.input_layernorm.weight */
#define MODEL_NORM_WEIGHTS 1610629120ul /* bf16 [2, 1024], activation model.norm.weights */
#define MODEL_NORM_WEIGHT MODEL_NORM_WEIGHTS /* bf16 [1024], model.norm.weight */
#define LM_HEAD_WEIGHTS 704643072ul /* bf16 [4096, 1024], activation lm_head.weights */
#define MODEL_NORM_WEIGHTS__2 713064448ul /* bf16 [2, 1024], activation model.norm.weights */
#define MODEL_NORM_WEIGHT__2 MODEL_NORM_WEIGHTS__2 /* bf16 [1024], model.norm.weight */
#define MODEL_LAYERS_3_WEIGHTS__2 1006641152ul /* bf16 [16386, 1024], activation model.layers.3.weights */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT__2 MODEL_LAYERS_3_WEIGHTS__2 /* bf16 [1024, 4096], model.layers.3.mlp.down_proj.weight */
#define MODEL_LAYERS_3_MLP_GATE_UP_PROJ_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 8388608ul) /* bf16 [8192, 1024], model.layers.3.mlp.gate_up_proj.weight */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 25165824ul) /* bf16 [1024], model.layers.3.post_attention_layernorm.weight */
#define MODEL_LAYERS_3_SELF_ATTN_O_PROJ_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 25167872ul) /* bf16 [1024, 1024], model.layers.3.self_attn.o_proj.weight */
#define MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_WEIGHT (MODEL_LAYERS_3_WEIGHTS__2 + 27265024ul) /* bf16 [3072, 1024], model.layers.3.self_attn.q_k_v_proj.weight */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_3_WEIGHTS__2 + 33556480ul) /* bf16 [1024], model.layers.3.input_layernorm.weight */
#define MODEL_LAYERS_2_WEIGHTS__2 1040199680ul /* bf16 [16386, 1024], activation model.layers.2.weights */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_2_WEIGHTS__2 /* bf16 [1024, 4096], model.layers.2.mlp.down_proj.weight */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_WEIGHT (MODEL_LAYERS_2_WEIGHTS__2 + 8388608ul) /* bf16 [8192, 1024], model.layers.2.mlp.gate_up_proj.weight */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT (MODEL_LAYERS_2_WEIGHTS__2 + 25165824ul) /* bf16 [1024], model.layers.2.post_attention_layernorm.weight */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT (MODEL_LAYERS_2_WEIGHTS__2 + 25167872ul) /* bf16 [1024, 1024], model.layers.2.self_attn.o_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_WEIGHT (MODEL_LAYERS_2_WEIGHTS__2 + 27265024ul) /* bf16 [3072, 1024], model.layers.2.self_attn.q_k_v_proj.weight */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_2_WEIGHTS__2 + 33556480ul) /* bf16 [1024], model.layers.2.input_layernorm.weight */
#define MODEL_LAYERS_1_WEIGHTS__2 671096832ul /* bf16 [16386, 1024], activation model.layers.1.weights */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_1_WEIGHTS__2 /* bf16 [1024, 4096], model.layers.1.mlp.down_proj.weight */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_WEIGHT (MODEL_LAYERS_1_WEIGHTS__2 + 8388608ul) /* bf16 [8192, 1024], model.layers.1.mlp.gate_up_proj.weight */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT (MODEL_LAYERS_1_WEIGHTS__2 + 25165824ul) /* bf16 [1024], model.layers.1.post_attention_layernorm.weight */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT (MODEL_LAYERS_1_WEIGHTS__2 + 25167872ul) /* bf16 [1024, 1024], model.layers.1.self_attn.o_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_WEIGHT (MODEL_LAYERS_1_WEIGHTS__2 + 27265024ul) /* bf16 [3072, 1024], model.layers.1.self_attn.q_k_v_proj.weight */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_1_WEIGHTS__2 + 33556480ul) /* bf16 [1024], model.layers.1.input_layernorm.weight */
#define MODEL_LAYERS_0_WEIGHTS__2 536879104ul /* bf16 [16386, 1024], activation model.layers.0.weights */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT__2 MODEL_LAYERS_0_WEIGHTS__2 /* bf16 [1024, 4096], model.layers.0.mlp.down_proj.weight */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 8388608ul) /* bf16 [8192, 1024], model.layers.0.mlp.gate_up_proj.weight */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 25165824ul) /* bf16 [1024], model.layers.0.post_attention_layernorm.weight */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 25167872ul) /* bf16 [1024, 1024], model.layers.0.self_attn.o_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT (MODEL_LAYERS_0_WEIGHTS__2 + 27265024ul) /* bf16 [3072, 1024], model.layers.0.self_attn.q_k_v_proj.weight */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT__2 (MODEL_LAYERS_0_WEIGHTS__2 + 33556480ul) /* bf16 [1024], model.layers.0.input_layernorm.weight */
#define EVALUATE_MODEL_EMBED_TOKENS_WEIGHTS 0ul /* bf16 [4096, 1024], activation model.embed_tokens.weights */
#define EVALUATE_MODEL_LAYERS_0_WEIGHTS 201326592ul /* bf16 [16386, 1024], activation model.layers.0.weights */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT EVALUATE_MODEL_LAYERS_0_WEIGHTS /* bf16 [1024, 4096], model.layers.0.mlp.down_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 8388608ul) /* bf16 [8192, 1024], model.layers.0.mlp.gate_up_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.0.post_attention_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.0.self_attn.o_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 27265024ul) /* bf16 [3072, 1024], model.layers.0.self_attn.q_k_v_proj.weight */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.0.input_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_1_WEIGHTS 234885120ul /* bf16 [16386, 1024], activation model.layers.1.weights */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT EVALUATE_MODEL_LAYERS_1_WEIGHTS /* bf16 [1024, 4096], model.layers.1.mlp.down_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 8388608ul) /* bf16 [8192, 1024], model.layers.1.mlp.gate_up_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.1.post_attention_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.1.self_attn.o_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 27265024ul) /* bf16 [3072, 1024], model.layers.1.self_attn.q_k_v_proj.weight */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_1_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.1.input_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_2_WEIGHTS 201326592ul /* bf16 [16386, 1024], activation model.layers.2.weights */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT EVALUATE_MODEL_LAYERS_2_WEIGHTS /* bf16 [1024, 4096], model.layers.2.mlp.down_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 8388608ul) /* bf16 [8192, 1024], model.layers.2.mlp.gate_up_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.2.post_attention_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.2.self_attn.o_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 27265024ul) /* bf16 [3072, 1024], model.layers.2.self_attn.q_k_v_proj.weight */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_2_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.2.input_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_3_WEIGHTS 234885120ul /* bf16 [16386, 1024], activation model.layers.3.weights */
#define EVALUATE_MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT EVALUATE_MODEL_LAYERS_3_WEIGHTS /* bf16 [1024, 4096], model.layers.3.mlp.down_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_MLP_GATE_UP_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 8388608ul) /* bf16 [8192, 1024], model.layers.3.mlp.gate_up_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 25165824ul) /* bf16 [1024], model.layers.3.post_attention_layernorm.weight */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_O_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 25167872ul) /* bf16 [1024, 1024], model.layers.3.self_attn.o_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 27265024ul) /* bf16 [3072, 1024], model.layers.3.self_attn.q_k_v_proj.weight */
#define EVALUATE_MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 33556480ul) /* bf16 [1024], model.layers.3.input_layernorm.weight */
#define EVALUATE_MODEL_NORM_WEIGHTS 234881024ul /* bf16 [2, 1024], activation model.norm.weights */
#define EVALUATE_MODEL_NORM_WEIGHT EVALUATE_MODEL_NORM_WEIGHTS /* bf16 [1024], model.norm.weight */
#define EVALUATE_LM_HEAD_WEIGHTS 83886080ul /* bf16 [4096, 1024], activation lm_head.weights */
#define MODEL_NORM_WEIGHT_GRAD_PARTIAL 620756992ul /* f32 [128, 1024], activation model.norm.weight.grad_partial */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 989863936ul /* f32 [128, 1024], activation model.layers.3.post_attention_layernorm.weight.grad_partial */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 956309504ul /* f32 [128, 1024], activation model.layers.3.input_layernorm.weight.grad_partial */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 603987968ul /* f32 [128, 1024], activation model.layers.2.post_attention_layernorm.weight.grad_partial */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 1174421504ul /* f32 [128, 1024], activation model.layers.2.input_layernorm.weight.grad_partial */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 721432576ul /* f32 [128, 1024], activation model.layers.1.post_attention_layernorm.weight.grad_partial */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 721432576ul /* f32 [128, 1024], activation model.layers.1.input_layernorm.weight.grad_partial */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 603992064ul /* f32 [128, 1024], activation model.layers.0.post_attention_layernorm.weight.grad_partial */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 352329728ul /* f32 [128, 1024], activation model.layers.0.input_layernorm.weight.grad_partial */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_KEYS 16777216ul /* i64 [8192, 1], activation model.embed_tokens.weight.grad.keys */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_KEYS__2 17825792ul /* i64 [8192, 1], activation model.embed_tokens.weight.grad.keys */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_PARTIAL 16777216ul /* f32 [256, 1024], activation model.embed_tokens.weight.grad.partial */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], activation grad_norm.columns_partial */

/* Buffers at equal distances, by the number in their names. */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 100663296ul) /* bf16 [8192, 1024], model.layers.*.input_layernorm */
#define MODEL_LAYERS_SELF_ATTN_Q_K_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_PROJ_WEIGHT + (i) * 134217728ul) /* bf16 [2048, 1024], model.layers.*.self_attn.q_k_proj.weight */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT + (i) * 134217728ul) /* bf16 [1024, 1024], model.layers.*.self_attn.v_proj.weight */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 100663296ul) /* bf16 [8192, 1024], model.layers.*.self_attn.v_proj */
#define MODEL_LAYERS_SELF_ATTN_K_Q_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE + (i) * 33554432ul) /* bf16 [8192, 2048], model.layers.*.self_attn.k_q_rope */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 33554432ul) /* bf16 [8192, 1024], row stride 2048, model.layers.*.self_attn.q_rope */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 33554432ul) /* bf16 [8192, 1024], row stride 2048, model.layers.*.self_attn.k_rope */
#define MODEL_LAYERS_SELF_ATTN(i) (MODEL_LAYERS_0_SELF_ATTN + (i) * 100663296ul) /* bf16 [8192, 1024], model.layers.*.self_attn */
#define MODEL_LAYERS_SELF_ATTN_LSE(i) (MODEL_LAYERS_0_SELF_ATTN_LSE + (i) * 262144ul) /* f32 [8192, 8], model.layers.*.self_attn.lse */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT + (i) * 134217728ul) /* bf16 [1024, 1024], model.layers.*.self_attn.o_proj.weight */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT + (i) * 134217728ul) /* bf16 [1024], model.layers.*.post_attention_layernorm.weight */
#define MODEL_LAYERS_ATTN_RESIDUAL(i) (MODEL_LAYERS_0_ATTN_RESIDUAL + (i) * 100663296ul) /* bf16 [8192, 1024], model.layers.*.attn_residual */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 65536ul) /* f32 [8192, 1], model.layers.*.post_attention_layernorm.rstd */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM + (i) * 100663296ul) /* bf16 [8192, 1024], model.layers.*.post_attention_layernorm */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_WEIGHT(i) (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT + (i) * 134217728ul) /* bf16 [8192, 1024], model.layers.*.mlp.gate_up_proj.weight */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_Y(i) (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + (i) * 134217728ul) /* bf16 [8192, 8192], model.layers.*.mlp.gate_up_proj.y */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) (MODEL_LAYERS_0_MLP_GATE_PROJ + (i) * 134217728ul) /* bf16 [8192, 4096], row stride 8192, model.layers.*.mlp.gate_proj */
#define MODEL_LAYERS_MLP_UP_PROJ(i) (MODEL_LAYERS_0_MLP_UP_PROJ + (i) * 134217728ul) /* bf16 [8192, 4096], row stride 8192, model.layers.*.mlp.up_proj */
#define MODEL_LAYERS_MLP_ACT(i) (MODEL_LAYERS_0_MLP_ACT + (i) * 67108864ul) /* bf16 [8192, 4096], model.layers.*.mlp.act */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT + (i) * 134217728ul) /* bf16 [1024, 4096], model.layers.*.mlp.down_proj.weight */
#define MODEL_LAYERS_MLP_RESIDUAL(i) (MODEL_LAYERS_0_MLP_RESIDUAL + (i) * 100663296ul) /* bf16 [8192, 1024], model.layers.*.mlp_residual */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD + ((i) - 1) * 65536ul) /* f32 [8192, 1], model.layers.*.input_layernorm.rstd */
#define MODEL_LAYERS_MLP_ACT_GRAD_GATE(i) (MODEL_LAYERS_1_MLP_ACT_GRAD_GATE + ((i) - 1) * 134217728ul) /* bf16 [8192, 4096], row stride 8192, model.layers.*.mlp.act.grad.gate */
#define MODEL_LAYERS_MLP_ACT_GRAD_UP(i) (MODEL_LAYERS_1_MLP_ACT_GRAD_UP + ((i) - 1) * 134217728ul) /* bf16 [8192, 4096], row stride 8192, model.layers.*.mlp.act.grad.up */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_DY(i) (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY + ((i) - 1) * 134217728ul) /* bf16 [8192, 8192], model.layers.*.mlp.gate_up_proj.dy */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_WEIGHT_GRAD + ((i) - 1) * 134217728ul) /* f32 [8192, 1024], model.layers.*.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD(i) (MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD + ((i) - 1) * 134217728ul) /* f32 [1024], model.layers.*.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_GRAD + ((i) - 1) * 134217728ul) /* f32 [1024, 1024], model.layers.*.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD + ((i) - 1) * 134217728ul) /* f32 [3072, 1024], model.layers.*.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT_GRAD(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT_GRAD + ((i) - 1) * 134217728ul) /* f32 [1024], model.layers.*.input_layernorm.weight.grad */
#define MODEL_LAYERS_GRADIENTS(i) (MODEL_LAYERS_1_GRADIENTS + ((i) - 1) * 134217728ul) /* f32 [16386, 1024], model.layers.*.gradients */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_GRAD(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_GRAD + (i) * 134217728ul) /* f32 [1024, 4096], model.layers.*.mlp.down_proj.weight.grad */

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
#define GEMM_WORKSPACE 1628717056ul
#define GEMM_WORKSPACE_BYTES 33554432ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 39,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 3,
    MICRO_STEP_OUTPUTS = 197,
    UPDATE_OUTPUTS = 18,
    EVALUATE_OUTPUTS = 66,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
