/* Offsets of all buffers of gathered, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 680097024ul

#define SEED 0ul /* i64 [1], counter */
#define STEP 256ul /* i32 [1], counter */
#define APPLIED 512ul /* i32 [1], counter */
#define BAD_STEP 768ul /* i32 [1], counter */
#define STEP_LOSS 1024ul /* f32 [1], counter */
#define EVAL_LOSS 1280ul /* f32 [1], counter */
#define LR 1536ul /* f32 [2, 1], counter */
#define BIAS_CORRECTION1 1792ul /* f32 [2, 1], counter */
#define BIAS_CORRECTION2_SQRT 2048ul /* f32 [2, 1], counter */
#define LOSS 2304ul /* f32 [2, 1], counter */
#define GRAD_NORM 2560ul /* f32 [2, 1], counter */
#define ROPE_COS 2816ul /* f32 [1024, 64], constant */
#define ROPE_SIN 264960ul /* f32 [1024, 64], constant */
#define ROPE_INV_FREQ 527104ul /* f32 [64], constant */
#define LOSS_GRAD 527360ul /* f32 [1], constant */
#define TRAINED_PIECE 527616ul /* bf16 [36869, 1024], weight */
#define LM_HEAD_WEIGHTS_PIECE TRAINED_PIECE /* bf16 [2048, 1024] */
#define MODEL_NORM_WEIGHTS_PIECE (TRAINED_PIECE + 4194304ul) /* bf16 [1, 1024] */
#define MODEL_LAYERS_3_WEIGHTS_PIECE (TRAINED_PIECE + 4196352ul) /* bf16 [8193, 1024] */
#define MODEL_LAYERS_1_WEIGHTS_PIECE (TRAINED_PIECE + 37754880ul) /* bf16 [8193, 1024] */
#define MODEL_LAYERS_0_WEIGHTS_PIECE (TRAINED_PIECE + 54534144ul) /* bf16 [8193, 1024] */
#define MODEL_EMBED_TOKENS_WEIGHTS_PIECE (TRAINED_PIECE + 71313408ul) /* bf16 [2048, 1024] */
#define GRADIENT_PIECE 76035328ul /* f32 [36869, 1024], gradient */
#define LM_HEAD_GRADIENT_PIECE GRADIENT_PIECE /* f32 [2048, 1024] */
#define MODEL_NORM_GRADIENT_PIECE (GRADIENT_PIECE + 8388608ul) /* f32 [1, 1024] */
#define MODEL_LAYERS_1_GRADIENT_PIECE (GRADIENT_PIECE + 75509760ul) /* f32 [8193, 1024] */
#define MODEL_LAYERS_0_GRADIENT_PIECE (GRADIENT_PIECE + 109068288ul) /* f32 [8193, 1024] */
#define MODEL_EMBED_TOKENS_GRADIENT_PIECE (GRADIENT_PIECE + 142626816ul) /* f32 [2048, 1024] */
#define MASTER_PIECE 227050752ul /* f32 [36869, 1024], optimizer */
#define EXP_AVG_PIECE 378066176ul /* f32 [36869, 1024], optimizer */
#define EXP_AVG_SQ_PIECE 529081600ul /* f32 [36869, 1024], optimizer */

/* By number, such as the layer. */
#define MODEL_LAYERS_WEIGHTS_PIECE(i) \
    (MODEL_LAYERS_0_WEIGHTS_PIECE - (i) * 16779264ul) /* bf16 [8193, 1024], i = 0 to 3 */
#define MODEL_LAYERS_GRADIENT_PIECE(i) \
    (MODEL_LAYERS_0_GRADIENT_PIECE - (i) * 33558528ul) /* f32 [8193, 1024], i = 0 to 3 */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 1662271488ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define MODEL_EMBED_TOKENS 1275084800ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM 1291862016ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD 1628454912ul /* f32 [8192, 1],
    micro_step until model.layers.0.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN 1308639232ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 1627406336ul /* f32 [8192, 8],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 838873088ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 1325416448ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 1342193664ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 1628487680ul /* f32 [8192, 1],
    micro_step until model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT 738205696ul /* bf16 [8192, 4096],
    micro_step until model.layers.0.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ 838873088ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.mlp_residual */
#define MODEL_LAYERS_0_MLP_RESIDUAL 1358970880ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM 1375748096ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 1628520448ul /* f32 [8192, 1],
    micro_step until model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN 1392525312ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 1627668480ul /* f32 [8192, 8],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 905981952ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.attn_residual */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 1409302528ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 1426079744ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 1628553216ul /* f32 [8192, 1],
    micro_step until model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_MLP_ACT 805314560ul /* bf16 [8192, 4096],
    micro_step until model.layers.1.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ 905981952ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.mlp_residual */
#define MODEL_LAYERS_1_MLP_RESIDUAL 1442856960ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.input_layernorm.weight.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM 1459634176ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 1628585984ul /* f32 [8192, 1],
    micro_step until model.layers.2.input_layernorm.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN 1476411392ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 1627930624ul /* f32 [8192, 8],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ 973090816ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.attn_residual */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 1493188608ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 1509965824ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 1628618752ul /* f32 [8192, 1],
    micro_step until model.layers.2.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_2_MLP_ACT 872423424ul /* bf16 [8192, 4096],
    micro_step until model.layers.2.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ 973090816ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.mlp_residual */
#define MODEL_LAYERS_2_MLP_RESIDUAL 1526743040ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.input_layernorm.weight.grad */
#define MODEL_LAYERS_3_INPUT_LAYERNORM 1543520256ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_RSTD 1628651520ul /* f32 [8192, 1],
    micro_step until model.layers.3.input_layernorm.weight.grad */
#define MODEL_LAYERS_3_SELF_ATTN 1560297472ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.self_attn.grad */
#define MODEL_LAYERS_3_SELF_ATTN_LSE 1628192768ul /* f32 [8192, 8],
    micro_step until model.layers.3.self_attn.grad */
#define MODEL_LAYERS_3_SELF_ATTN_O_PROJ 939532288ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.attn_residual */
#define MODEL_LAYERS_3_ATTN_RESIDUAL 1577074688ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM 1593851904ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_RSTD 1628684288ul /* f32 [8192, 1],
    micro_step until model.layers.3.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_3_MLP_ACT 536870912ul /* bf16 [8192, 4096],
    micro_step until model.layers.3.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ 939532288ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.mlp_residual */
#define MODEL_LAYERS_3_MLP_RESIDUAL 956309504ul /* bf16 [8192, 1024],
    micro_step until model.norm.weight.grad */
#define MODEL_NORM 973086720ul /* bf16 [8192, 1024], micro_step until lm_head.weight.grad.chunk.3 */
#define MODEL_NORM_CHUNK_0 MODEL_NORM /* bf16 [2048, 1024] */
#define MODEL_NORM_CHUNK_1 (MODEL_NORM + 4194304ul) /* bf16 [2048, 1024] */
#define MODEL_NORM_CHUNK_2 (MODEL_NORM + 8388608ul) /* bf16 [2048, 1024] */
#define MODEL_NORM_CHUNK_3 (MODEL_NORM + 12582912ul) /* bf16 [2048, 1024] */
#define MODEL_NORM_RSTD 1233133568ul /* f32 [8192, 1], micro_step until model.norm.weight.grad */
#define LOSS_ROWS 1610629120ul /* f32 [8192, 1], micro_step until loss */
#define LOSS_ROWS_CHUNK_0 LOSS_ROWS /* f32 [2048, 1] */
#define LOSS_ROWS_CHUNK_1 (LOSS_ROWS + 8192ul) /* f32 [2048, 1] */
#define LOSS_ROWS_CHUNK_2 (LOSS_ROWS + 16384ul) /* f32 [2048, 1] */
#define LOSS_ROWS_CHUNK_3 (LOSS_ROWS + 24576ul) /* f32 [2048, 1] */
#define EVALUATE_MODEL_EMBED_TOKENS 50331648ul /* bf16 [8192, 1024],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM 67108864ul /* bf16 [8192, 1024],
    evaluate until model.layers.0.self_attn.q_k_v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 67108864ul /* bf16 [8192, 1024],
    evaluate until model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 83886080ul /* f32 [8192, 8],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* bf16 [8192, 1024],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 268443648ul /* bf16 [8192, 1024],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 134217728ul /* bf16 [8192, 1024],
    evaluate until model.layers.0.mlp.gate_up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT 134217728ul /* bf16 [8192, 4096],
    evaluate until model.layers.0.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 50331648ul /* bf16 [8192, 1024],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM 67108864ul /* bf16 [8192, 1024],
    evaluate until model.layers.1.self_attn.q_k_v_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 67108864ul /* bf16 [8192, 1024],
    evaluate until model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 83886080ul /* f32 [8192, 8],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 0ul /* bf16 [8192, 1024],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 268443648ul /* bf16 [8192, 1024],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 134217728ul /* bf16 [8192, 1024],
    evaluate until model.layers.1.mlp.gate_up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_ACT 134217728ul /* bf16 [8192, 4096],
    evaluate until model.layers.1.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 50331648ul /* bf16 [8192, 1024],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM 67108864ul /* bf16 [8192, 1024],
    evaluate until model.layers.2.self_attn.q_k_v_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN 67108864ul /* bf16 [8192, 1024],
    evaluate until model.layers.2.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 83886080ul /* f32 [8192, 8],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ 0ul /* bf16 [8192, 1024],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 268443648ul /* bf16 [8192, 1024],
    evaluate until model.layers.2.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 134217728ul /* bf16 [8192, 1024],
    evaluate until model.layers.2.mlp.gate_up_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_ACT 134217728ul /* bf16 [8192, 4096],
    evaluate until model.layers.2.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ 0ul /* bf16 [8192, 1024],
    evaluate until model.layers.2.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_MLP_RESIDUAL 50331648ul /* bf16 [8192, 1024],
    evaluate until model.layers.3.attn_residual */
#define EVALUATE_MODEL_LAYERS_3_INPUT_LAYERNORM 67108864ul /* bf16 [8192, 1024],
    evaluate until model.layers.3.self_attn.q_k_v_proj */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN 67108864ul /* bf16 [8192, 1024],
    evaluate until model.layers.3.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_LSE 83886080ul /* f32 [8192, 8],
    evaluate until model.layers.3.self_attn */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_O_PROJ 0ul /* bf16 [8192, 1024],
    evaluate until model.layers.3.attn_residual */
#define EVALUATE_MODEL_LAYERS_3_ATTN_RESIDUAL 201326592ul /* bf16 [8192, 1024],
    evaluate until model.layers.3.mlp_residual */
#define EVALUATE_MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM 218103808ul /* bf16 [8192, 1024],
    evaluate until model.layers.3.mlp.gate_up_proj */
#define EVALUATE_MODEL_LAYERS_3_MLP_ACT 134217728ul /* bf16 [8192, 4096],
    evaluate until model.layers.3.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_3_MLP_DOWN_PROJ 218103808ul /* bf16 [8192, 1024],
    evaluate until model.layers.3.mlp_residual */
#define EVALUATE_MODEL_NORM 0ul /* bf16 [8192, 1024], evaluate until lm_head.chunk.3 */
#define EVALUATE_MODEL_NORM_CHUNK_0 EVALUATE_MODEL_NORM /* bf16 [2048, 1024] */
#define EVALUATE_MODEL_NORM_CHUNK_1 (EVALUATE_MODEL_NORM + 4194304ul) /* bf16 [2048, 1024] */
#define EVALUATE_MODEL_NORM_CHUNK_2 (EVALUATE_MODEL_NORM + 8388608ul) /* bf16 [2048, 1024] */
#define EVALUATE_MODEL_NORM_CHUNK_3 (EVALUATE_MODEL_NORM + 12582912ul) /* bf16 [2048, 1024] */
#define EVALUATE_LOSS_ROWS 41943040ul /* f32 [8192, 1], evaluate until loss */
#define EVALUATE_LOSS_ROWS_CHUNK_0 EVALUATE_LOSS_ROWS /* f32 [2048, 1] */
#define EVALUATE_LOSS_ROWS_CHUNK_1 (EVALUATE_LOSS_ROWS + 8192ul) /* f32 [2048, 1] */
#define EVALUATE_LOSS_ROWS_CHUNK_2 (EVALUATE_LOSS_ROWS + 16384ul) /* f32 [2048, 1] */
#define EVALUATE_LOSS_ROWS_CHUNK_3 (EVALUATE_LOSS_ROWS + 24576ul) /* f32 [2048, 1] */
#define LM_HEAD_GRADIENTS 939532288ul /* f32 [4096, 1024],
    micro_step until lm_head.weight.grad.chunk.3, communication lm_head.reduce_scatter */
#define MODEL_NORM_GRADIENTS 940056576ul /* f32 [2, 1024],
    micro_step until model.norm.gradients.gap, communication model.norm.reduce_scatter */
#define MODEL_NORM_WEIGHT_GRAD MODEL_NORM_GRADIENTS /* f32 [1024] */
#define MODEL_NORM_GRADIENTS_GAP (MODEL_NORM_GRADIENTS + 4096ul) /* f32 [1024] */
#define MODEL_LAYERS_3_GRADIENTS 671088640ul /* f32 [16386, 1024],
    micro_step until model.layers.3.input_layernorm.weight.grad,
    communication model.layers.3.reduce_scatter */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT_GRAD MODEL_LAYERS_3_GRADIENTS /* f32 [1024, 4096] */
#define MODEL_LAYERS_2_GRADIENTS 536870912ul /* f32 [16386, 1024],
    micro_step until model.layers.2.input_layernorm.weight.grad,
    communication model.layers.2.reduce_scatter */
#define MODEL_LAYERS_1_GRADIENTS 402653184ul /* f32 [16386, 1024],
    micro_step until model.layers.1.input_layernorm.weight.grad,
    communication model.layers.1.reduce_scatter */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_WEIGHT_GRAD \
    (MODEL_LAYERS_1_GRADIENTS + 16777216ul) /* f32 [8192, 1024] */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD \
    (MODEL_LAYERS_1_GRADIENTS + 50331648ul) /* f32 [1024] */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_GRAD \
    (MODEL_LAYERS_1_GRADIENTS + 50335744ul) /* f32 [1024, 1024] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD \
    (MODEL_LAYERS_1_GRADIENTS + 54530048ul) /* f32 [3072, 1024] */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT_GRAD \
    (MODEL_LAYERS_1_GRADIENTS + 67112960ul) /* f32 [1024] */
#define MODEL_LAYERS_0_GRADIENTS 268435456ul /* f32 [16386, 1024],
    micro_step until model.layers.0.input_layernorm.weight.grad,
    communication model.layers.0.reduce_scatter */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_GRAD MODEL_LAYERS_0_GRADIENTS /* f32 [1024, 4096] */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT_GRAD \
    (MODEL_LAYERS_0_GRADIENTS + 16777216ul) /* f32 [8192, 1024] */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD \
    (MODEL_LAYERS_0_GRADIENTS + 50331648ul) /* f32 [1024] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_GRAD \
    (MODEL_LAYERS_0_GRADIENTS + 50335744ul) /* f32 [1024, 1024] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD \
    (MODEL_LAYERS_0_GRADIENTS + 54530048ul) /* f32 [3072, 1024] */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD \
    (MODEL_LAYERS_0_GRADIENTS + 67112960ul) /* f32 [1024] */
#define MODEL_EMBED_TOKENS_GRADIENTS 0ul /* f32 [4096, 1024],
    micro_step until model.embed_tokens.weight.grad,
    communication model.embed_tokens.reduce_scatter */
#define MODEL_NORM_GRAD 989863936ul /* bf16 [8192, 1024], micro_step until model.norm.weight.grad */
#define MODEL_NORM_GRAD_CHUNK_0 MODEL_NORM_GRAD /* bf16 [2048, 1024] */
#define MODEL_NORM_GRAD_CHUNK_1 (MODEL_NORM_GRAD + 4194304ul) /* bf16 [2048, 1024] */
#define MODEL_NORM_GRAD_CHUNK_2 (MODEL_NORM_GRAD + 8388608ul) /* bf16 [2048, 1024] */
#define MODEL_NORM_GRAD_CHUNK_3 (MODEL_NORM_GRAD + 12582912ul) /* bf16 [2048, 1024] */
#define MODEL_LAYERS_3_MLP_RESIDUAL_GRAD 1610629120ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_3_MLP_ACT_GRAD 939532288ul /* bf16 [8192, 4096],
    micro_step until model.layers.3.mlp.act.grad */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_GRAD 1593851904ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_3_ATTN_RESIDUAL_GRAD 989863936ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.input_layernorm.weight.grad */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD 402653184ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.self_attn.grad */
#define MODEL_LAYERS_3_SELF_ATTN_GRAD_DELTA 1577074688ul /* f32 [8192, 8],
    micro_step until model.layers.3.self_attn.grad */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_GRAD 1157636096ul /* bf16 [8192, 1024],
    micro_step until model.layers.3.input_layernorm.weight.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD 1174413312ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 872423424ul /* bf16 [8192, 4096],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 1157636096ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_2_ATTN_RESIDUAL_GRAD 1191190528ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.input_layernorm.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 1157636096ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 654319616ul /* f32 [8192, 8],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 1207967744ul /* bf16 [8192, 1024],
    micro_step until model.layers.2.input_layernorm.weight.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD 1224744960ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 603987968ul /* bf16 [8192, 4096],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 704655360ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 1241522176ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 1258299392ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 520101888ul /* f32 [8192, 8],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 1258299392ul /* bf16 [8192, 1024],
    micro_step until model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD 704655360ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 469770240ul /* bf16 [8192, 4096],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 335552512ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 469770240ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 486547456ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 385884160ul /* f32 [8192, 8],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_GRAD 486547456ul /* bf16 [8192, 1024],
    micro_step until model.layers.0.input_layernorm.weight.grad */
#define MODEL_EMBED_TOKENS_GRAD 503324672ul /* bf16 [8192, 1024],
    micro_step until model.embed_tokens.weight.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], update until grad_norm.squared */
#define GRAD_NORM_SQUARED 0ul /* f32 [1], update until clip_factor */
#define CLIP_FACTOR 256ul /* f32 [1], update until adamw */
#define RATES_LR 512ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION1 768ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION2_SQRT 1024ul /* f32 [1], update until adamw */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 1006641152ul /* bf16 [8192, 3072],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [8192, 1024], row stride 3072 */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul) /* bf16 [8192, 1024], row stride 3072 */
#define MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE_X \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul) /* bf16 [8192, 2048], row stride 3072 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 4096ul) /* bf16 [8192, 1024], row stride 3072 */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [8192, 4096], row stride 8192 */
#define MODEL_LAYERS_0_MLP_GATE_PROJ \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + 8192ul) /* bf16 [8192, 4096], row stride 8192 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 1056972800ul /* bf16 [8192, 3072],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 134217728ul /* bf16 [8192, 8192],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 1107304448ul /* bf16 [8192, 3072],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 268435456ul /* bf16 [8192, 8192],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y 1157636096ul /* bf16 [8192, 3072],
    micro_step until model.layers.3.self_attn.grad */
#define MODEL_LAYERS_3_SELF_ATTN_V_PROJ \
    MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [8192, 1024], row stride 3072 */
#define MODEL_LAYERS_3_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul) /* bf16 [8192, 1024], row stride 3072 */
#define MODEL_LAYERS_3_SELF_ATTN_K_Q_ROPE_X \
    (MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul) /* bf16 [8192, 2048], row stride 3072 */
#define MODEL_LAYERS_3_SELF_ATTN_Q_ROPE \
    (MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y + 4096ul) /* bf16 [8192, 1024], row stride 3072 */
#define MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y 402653184ul /* bf16 [8192, 8192],
    micro_step until model.layers.3.mlp.act.grad */
#define MODEL_LAYERS_3_MLP_UP_PROJ \
    MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y /* bf16 [8192, 4096], row stride 8192 */
#define MODEL_LAYERS_3_MLP_GATE_PROJ \
    (MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y + 8192ul) /* bf16 [8192, 4096], row stride 8192 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY 335552512ul /* bf16 [8192, 3072],
    micro_step until model.layers.0.input_layernorm.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY /* bf16 [8192, 1024], row stride 3072 */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY + 2048ul) /* bf16 [8192, 1024], row stride 3072 */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY + 4096ul) /* bf16 [8192, 1024], row stride 3072 */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY 134217728ul /* bf16 [8192, 8192],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY /* bf16 [8192, 4096], row stride 8192 */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY + 8192ul) /* bf16 [8192, 4096], row stride 8192 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY 469770240ul /* bf16 [8192, 3072],
    micro_step until model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY 268435456ul /* bf16 [8192, 8192],
    micro_step until model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP \
    MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY /* bf16 [8192, 4096], row stride 8192 */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE \
    (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY + 8192ul) /* bf16 [8192, 4096], row stride 8192 */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_DY 603987968ul /* bf16 [8192, 3072],
    micro_step until model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_DY 402653184ul /* bf16 [8192, 8192],
    micro_step until model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_DY 939532288ul /* bf16 [8192, 3072],
    micro_step until model.layers.3.input_layernorm.grad */
#define MODEL_LAYERS_3_MLP_GATE_UP_PROJ_DY 536870912ul /* bf16 [8192, 8192],
    micro_step until model.layers.3.post_attention_layernorm.grad */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [8192, 3072],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [8192, 3072],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [8192, 3072],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192],
    evaluate until model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [8192, 3072],
    evaluate until model.layers.3.self_attn */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_V_PROJ \
    EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [8192, 1024], row stride 3072 */
/* bf16 [8192, 1024], row stride 3072 */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_ROPE \
    (EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul)
/* bf16 [8192, 2048], row stride 3072 */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_K_Q_ROPE_X \
    (EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul)
/* bf16 [8192, 1024], row stride 3072 */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_ROPE \
    (EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_Y + 4096ul)
#define EVALUATE_MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [8192, 8192],
    evaluate until model.layers.3.mlp.act */
#define EVALUATE_MODEL_LAYERS_3_MLP_UP_PROJ \
    EVALUATE_MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y /* bf16 [8192, 4096], row stride 8192 */
#define EVALUATE_MODEL_LAYERS_3_MLP_GATE_PROJ \
    (EVALUATE_MODEL_LAYERS_3_MLP_GATE_UP_PROJ_Y + 8192ul) /* bf16 [8192, 4096], row stride 8192 */
#define LM_HEAD_CHUNK_0 1207967744ul /* bf16 [2048, 4096],
    micro_step until model.norm.grad.chunk.0 */
#define LM_HEAD_CHUNK_1 1207967744ul /* bf16 [2048, 4096],
    micro_step until model.norm.grad.chunk.1 */
#define LM_HEAD_CHUNK_2 1207967744ul /* bf16 [2048, 4096],
    micro_step until model.norm.grad.chunk.2 */
#define LM_HEAD_CHUNK_3 1207967744ul /* bf16 [2048, 4096],
    micro_step until model.norm.grad.chunk.3 */
#define EVALUATE_LM_HEAD_CHUNK_0 16777216ul /* bf16 [2048, 4096],
    evaluate until loss.rows.chunk.0 */
#define EVALUATE_LM_HEAD_CHUNK_1 16777216ul /* bf16 [2048, 4096],
    evaluate until loss.rows.chunk.1 */
#define EVALUATE_LM_HEAD_CHUNK_2 16777216ul /* bf16 [2048, 4096],
    evaluate until loss.rows.chunk.2 */
#define EVALUATE_LM_HEAD_CHUNK_3 16777216ul /* bf16 [2048, 4096],
    evaluate until loss.rows.chunk.3 */
#define MODEL_EMBED_TOKENS_WEIGHTS 0ul /* bf16 [4096, 1024], micro_step until model.embed_tokens,
    communication model.embed_tokens.weights.all_gather */
#define MODEL_LAYERS_0_WEIGHTS 805314560ul /* bf16 [16386, 1024],
    micro_step until model.layers.0.mlp.down_proj,
    communication model.layers.0.weights.all_gather */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_0_WEIGHTS /* bf16 [1024, 4096] */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT \
    (MODEL_LAYERS_0_WEIGHTS + 8388608ul) /* bf16 [8192, 1024] */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT \
    (MODEL_LAYERS_0_WEIGHTS + 25165824ul) /* bf16 [1024] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT \
    (MODEL_LAYERS_0_WEIGHTS + 25167872ul) /* bf16 [1024, 1024] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT \
    (MODEL_LAYERS_0_WEIGHTS + 27265024ul) /* bf16 [3072, 1024] */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT \
    (MODEL_LAYERS_0_WEIGHTS + 33556480ul) /* bf16 [1024] */
#define MODEL_LAYERS_1_WEIGHTS 872423424ul /* bf16 [16386, 1024],
    micro_step until model.layers.1.mlp.down_proj,
    communication model.layers.1.weights.all_gather */
#define MODEL_LAYERS_2_WEIGHTS 939532288ul /* bf16 [16386, 1024],
    micro_step until model.layers.2.mlp.down_proj,
    communication model.layers.2.weights.all_gather */
#define MODEL_LAYERS_3_WEIGHTS 603979776ul /* bf16 [16386, 1024],
    micro_step until model.layers.3.mlp.down_proj,
    communication model.layers.3.weights.all_gather */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_3_WEIGHTS /* bf16 [1024, 4096] */
#define MODEL_LAYERS_3_MLP_GATE_UP_PROJ_WEIGHT \
    (MODEL_LAYERS_3_WEIGHTS + 8388608ul) /* bf16 [8192, 1024] */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT \
    (MODEL_LAYERS_3_WEIGHTS + 25165824ul) /* bf16 [1024] */
#define MODEL_LAYERS_3_SELF_ATTN_O_PROJ_WEIGHT \
    (MODEL_LAYERS_3_WEIGHTS + 25167872ul) /* bf16 [1024, 1024] */
#define MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_WEIGHT \
    (MODEL_LAYERS_3_WEIGHTS + 27265024ul) /* bf16 [3072, 1024] */
#define MODEL_NORM_WEIGHTS 989863936ul /* bf16 [2, 1024],
    micro_step until model.layers.3.mlp_residual, communication model.norm.weights.all_gather */
#define MODEL_NORM_WEIGHT MODEL_NORM_WEIGHTS /* bf16 [1024] */
#define LM_HEAD_WEIGHTS 1224744960ul /* bf16 [4096, 1024],
    micro_step until model.norm.grad.chunk.3, communication lm_head.weights.all_gather */
#define MODEL_NORM_WEIGHTS_BACKWARD 1233166336ul /* bf16 [2, 1024],
    micro_step until model.norm.weight.grad, communication model.norm.weights.all_gather,
    model.norm.weights */
#define MODEL_NORM_WEIGHT_BACKWARD MODEL_NORM_WEIGHTS_BACKWARD /* bf16 [1024], model.norm.weight */
#define MODEL_LAYERS_3_WEIGHTS_BACKWARD 1207967744ul /* bf16 [16386, 1024],
    micro_step until model.layers.3.input_layernorm.weight.grad,
    communication model.layers.3.weights.all_gather, model.layers.3.weights */
#define MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT_BACKWARD \
    MODEL_LAYERS_3_WEIGHTS_BACKWARD /* bf16 [1024, 4096], model.layers.3.mlp.down_proj.weight */
#define MODEL_LAYERS_2_WEIGHTS_BACKWARD 1241526272ul /* bf16 [16386, 1024],
    micro_step until model.layers.2.input_layernorm.weight.grad,
    communication model.layers.2.weights.all_gather, model.layers.2.weights */
#define MODEL_LAYERS_1_WEIGHTS_BACKWARD 671096832ul /* bf16 [16386, 1024],
    micro_step until model.layers.1.input_layernorm.weight.grad,
    communication model.layers.1.weights.all_gather, model.layers.1.weights */
#define MODEL_LAYERS_0_WEIGHTS_BACKWARD 536879104ul /* bf16 [16386, 1024],
    micro_step until model.layers.0.input_layernorm.weight.grad,
    communication model.layers.0.weights.all_gather, model.layers.0.weights */
/* bf16 [8192, 1024], model.layers.0.mlp.gate_up_proj.weight */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT_BACKWARD \
    (MODEL_LAYERS_0_WEIGHTS_BACKWARD + 8388608ul)
/* bf16 [1024], model.layers.0.post_attention_layernorm.weight */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_BACKWARD \
    (MODEL_LAYERS_0_WEIGHTS_BACKWARD + 25165824ul)
/* bf16 [1024, 1024], model.layers.0.self_attn.o_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_BACKWARD \
    (MODEL_LAYERS_0_WEIGHTS_BACKWARD + 25167872ul)
/* bf16 [3072, 1024], model.layers.0.self_attn.q_k_v_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT_BACKWARD \
    (MODEL_LAYERS_0_WEIGHTS_BACKWARD + 27265024ul)
/* bf16 [1024], model.layers.0.input_layernorm.weight */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_BACKWARD \
    (MODEL_LAYERS_0_WEIGHTS_BACKWARD + 33556480ul)
#define EVALUATE_MODEL_EMBED_TOKENS_WEIGHTS 0ul /* bf16 [4096, 1024],
    evaluate until model.embed_tokens, communication model.embed_tokens.weights.all_gather */
#define EVALUATE_MODEL_LAYERS_0_WEIGHTS 201326592ul /* bf16 [16386, 1024],
    evaluate until model.layers.0.mlp.down_proj, communication model.layers.0.weights.all_gather */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT \
    (EVALUATE_MODEL_LAYERS_0_WEIGHTS + 33556480ul) /* bf16 [1024] */
#define EVALUATE_MODEL_LAYERS_1_WEIGHTS 234885120ul /* bf16 [16386, 1024],
    evaluate until model.layers.1.mlp.down_proj, communication model.layers.1.weights.all_gather */
#define EVALUATE_MODEL_LAYERS_2_WEIGHTS 201326592ul /* bf16 [16386, 1024],
    evaluate until model.layers.2.mlp.down_proj, communication model.layers.2.weights.all_gather */
#define EVALUATE_MODEL_LAYERS_3_WEIGHTS 234885120ul /* bf16 [16386, 1024],
    evaluate until model.layers.3.mlp.down_proj, communication model.layers.3.weights.all_gather */
#define EVALUATE_MODEL_LAYERS_3_MLP_DOWN_PROJ_WEIGHT \
    EVALUATE_MODEL_LAYERS_3_WEIGHTS /* bf16 [1024, 4096] */
#define EVALUATE_MODEL_LAYERS_3_MLP_GATE_UP_PROJ_WEIGHT \
    (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 8388608ul) /* bf16 [8192, 1024] */
#define EVALUATE_MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT \
    (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 25165824ul) /* bf16 [1024] */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_O_PROJ_WEIGHT \
    (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 25167872ul) /* bf16 [1024, 1024] */
#define EVALUATE_MODEL_LAYERS_3_SELF_ATTN_Q_K_V_PROJ_WEIGHT \
    (EVALUATE_MODEL_LAYERS_3_WEIGHTS + 27265024ul) /* bf16 [3072, 1024] */
#define EVALUATE_MODEL_NORM_WEIGHTS 234881024ul /* bf16 [2, 1024],
    evaluate until model.layers.3.mlp_residual, communication model.norm.weights.all_gather */
#define EVALUATE_MODEL_NORM_WEIGHT EVALUATE_MODEL_NORM_WEIGHTS /* bf16 [1024] */
#define EVALUATE_LM_HEAD_WEIGHTS 33554432ul /* bf16 [4096, 1024], evaluate until lm_head.chunk.3,
    communication lm_head.weights.all_gather */
#define MODEL_NORM_WEIGHT_GRAD_PARTIAL 939532288ul /* f32 [128, 1024],
    micro_step until model.norm.weight.grad */
#define MODEL_LAYERS_3_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 939532288ul /* f32 [128, 1024],
    micro_step until model.layers.3.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_3_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 1191190528ul /* f32 [128, 1024],
    micro_step until model.layers.3.input_layernorm.weight.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 1207967744ul /*
    f32 [128, 1024], micro_step until model.layers.2.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 603987968ul /* f32 [128, 1024],
    micro_step until model.layers.2.input_layernorm.weight.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 721432576ul /* f32 [128, 1024],
    micro_step until model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 721432576ul /* f32 [128, 1024],
    micro_step until model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL 352329728ul /* f32 [128, 1024],
    micro_step until model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL 520101888ul /* f32 [128, 1024],
    micro_step until model.layers.0.input_layernorm.weight.grad */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_KEYS 335552512ul /* i64 [8192, 1],
    micro_step until model.embed_tokens.weight.grad */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_KEYS__2 336601088ul /* i64 [8192, 1],
    micro_step until model.embed_tokens.weight.grad, model.embed_tokens.weight.grad.keys */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_PARTIAL 335552512ul /* f32 [256, 1024],
    micro_step until model.embed_tokens.weight.grad */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], update until grad_norm.columns */

/* By number, such as the layer. */
static const size_t model_layers_weights_at[3] = {
    872423424ul, 939532288ul, 603979776ul};
#define MODEL_LAYERS_WEIGHTS(i) \
    model_layers_weights_at[(i) - 1] /* bf16 [16386, 1024], i = 1 to 3 */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 83886080ul) /* bf16 [8192, 1024], i = 0 to 3 */
/* bf16 [3072, 1024], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT + (i) * 67108864ul)
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + (i) * 50331648ul) /* bf16 [8192, 3072], i = 0 to 3 */
/* bf16 [8192, 2048], row stride 3072, i = 0 to 3 */
#define MODEL_LAYERS_SELF_ATTN_K_Q_ROPE_X(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE_X + (i) * 50331648ul)
/* bf16 [8192, 1024], row stride 3072, i = 0 to 3 */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 50331648ul)
/* bf16 [8192, 1024], row stride 3072, i = 0 to 3 */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 50331648ul)
/* bf16 [8192, 1024], row stride 3072, i = 0 to 3 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 50331648ul)
#define MODEL_LAYERS_SELF_ATTN(i) \
    (MODEL_LAYERS_0_SELF_ATTN + (i) * 83886080ul) /* bf16 [8192, 1024], i = 0 to 3 */
#define MODEL_LAYERS_SELF_ATTN_LSE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_LSE + (i) * 262144ul) /* f32 [8192, 8], i = 0 to 3 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT + (i) * 67108864ul) /* bf16 [1024, 1024], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ + (i) * 67108864ul) /* bf16 [8192, 1024], i = 0 to 2 */
#define MODEL_LAYERS_MLP_RESIDUAL(i) \
    (MODEL_LAYERS_0_MLP_RESIDUAL + (i) * 83886080ul) /* bf16 [8192, 1024], i = 0 to 2 */
/* bf16 [1024], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT + (i) * 67108864ul)
#define MODEL_LAYERS_ATTN_RESIDUAL(i) \
    (MODEL_LAYERS_0_ATTN_RESIDUAL + (i) * 83886080ul) /* bf16 [8192, 1024], i = 0 to 3 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 65536ul) /* f32 [8192, 1], i = 0 to 3 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM + (i) * 83886080ul) /* bf16 [8192, 1024], i = 0 to 3 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT + (i) * 67108864ul) /* bf16 [8192, 1024], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_Y(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + (i) * 134217728ul) /* bf16 [8192, 8192], i = 0 to 3 */
/* bf16 [8192, 4096], row stride 8192, i = 0 to 3 */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ + (i) * 134217728ul)
/* bf16 [8192, 4096], row stride 8192, i = 0 to 3 */
#define MODEL_LAYERS_MLP_UP_PROJ(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ + (i) * 134217728ul)
#define MODEL_LAYERS_MLP_ACT(i) \
    (MODEL_LAYERS_0_MLP_ACT + (i) * 67108864ul) /* bf16 [8192, 4096], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT + (i) * 67108864ul) /* bf16 [1024, 4096], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ + (i) * 67108864ul) /* bf16 [8192, 1024], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_WEIGHTS(i) + 33556480ul) /* bf16 [1024], i = 1 to 3 */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD + (i) * 65536ul) /* f32 [8192, 1], i = 0 to 3 */
static const size_t model_layers_weights_backward_at[4] = {
    536879104ul, 671096832ul, 1241526272ul, 1207967744ul};
#define MODEL_LAYERS_WEIGHTS_BACKWARD(i) \
    model_layers_weights_backward_at[i] /* bf16 [16386, 1024], i = 0 to 3 */
static const size_t model_layers_mlp_act_grad_at[4] = {
    469770240ul, 603987968ul, 872423424ul, 939532288ul};
#define MODEL_LAYERS_MLP_ACT_GRAD(i) \
    model_layers_mlp_act_grad_at[i] /* bf16 [8192, 4096], i = 0 to 3 */
/* bf16 [8192, 4096], row stride 8192, i = 0 to 3 */
#define MODEL_LAYERS_MLP_ACT_GRAD_GATE(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_GATE + (i) * 134217728ul)
/* bf16 [8192, 4096], row stride 8192, i = 0 to 3 */
#define MODEL_LAYERS_MLP_ACT_GRAD_UP(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_UP + (i) * 134217728ul)
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_DY(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY + (i) * 134217728ul) /* bf16 [8192, 8192], i = 0 to 3 */
/* f32 [8192, 1024], i = 0 to 3 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT_GRAD + (i) * 134217728ul)
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_WEIGHT_BACKWARD(i) \
    (MODEL_LAYERS_WEIGHTS_BACKWARD(i) + 8388608ul) /* bf16 [8192, 1024], i = 1 to 3 */
static const size_t model_layers_post_attention_layernorm_grad_at[3] = {
    704655360ul, 1157636096ul, 1593851904ul};
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD(i) \
    model_layers_post_attention_layernorm_grad_at[(i) - 1] /* bf16 [8192, 1024], i = 1 to 3 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT_BACKWARD(i) \
    (MODEL_LAYERS_WEIGHTS_BACKWARD(i) + 25165824ul) /* bf16 [1024], i = 1 to 3 */
static const size_t model_layers_mlp_residual_grad_at[4] = {
    704655360ul, 1224744960ul, 1174413312ul, 1610629120ul};
#define MODEL_LAYERS_MLP_RESIDUAL_GRAD(i) \
    model_layers_mlp_residual_grad_at[i] /* bf16 [8192, 1024], i = 0 to 3 */
static const size_t model_layers_post_attention_layernorm_weight_grad_partial_at[3] = {
    721432576ul, 1207967744ul, 939532288ul};
/* f32 [128, 1024], i = 1 to 3 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PARTIAL(i) \
    model_layers_post_attention_layernorm_weight_grad_partial_at[(i) - 1]
static const size_t model_layers_attn_residual_grad_at[3] = {
    1241522176ul, 1191190528ul, 989863936ul};
#define MODEL_LAYERS_ATTN_RESIDUAL_GRAD(i) \
    model_layers_attn_residual_grad_at[(i) - 1] /* bf16 [8192, 1024], i = 1 to 3 */
/* f32 [1024], i = 0 to 3 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD + (i) * 134217728ul)
/* f32 [1024, 1024], i = 0 to 3 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_GRAD + (i) * 134217728ul)
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_BACKWARD(i) \
    (MODEL_LAYERS_WEIGHTS_BACKWARD(i) + 25167872ul) /* bf16 [1024, 1024], i = 1 to 3 */
static const size_t model_layers_self_attn_grad_at[3] = {
    1258299392ul, 1157636096ul, 402653184ul};
#define MODEL_LAYERS_SELF_ATTN_GRAD(i) \
    model_layers_self_attn_grad_at[(i) - 1] /* bf16 [8192, 1024], i = 1 to 3 */
static const size_t model_layers_self_attn_grad_delta_at[3] = {
    520101888ul, 654319616ul, 1577074688ul};
#define MODEL_LAYERS_SELF_ATTN_GRAD_DELTA(i) \
    model_layers_self_attn_grad_delta_at[(i) - 1] /* f32 [8192, 8], i = 1 to 3 */
static const size_t model_layers_self_attn_q_k_v_proj_dy_at[3] = {
    469770240ul, 603987968ul, 939532288ul};
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_DY(i) \
    model_layers_self_attn_q_k_v_proj_dy_at[(i) - 1] /* bf16 [8192, 3072], i = 1 to 3 */
/* bf16 [8192, 1024], row stride 3072, i = 1 to 3 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_Q(i) \
    (MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_DY(i) + 4096ul)
/* bf16 [8192, 1024], row stride 3072, i = 1 to 3 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_K(i) \
    (MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_DY(i) + 2048ul)
#define MODEL_LAYERS_SELF_ATTN_GRAD_V(i) \
    MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_DY(i) /* bf16 [8192, 1024], row stride 3072, i = 1 to 3 */
/* f32 [3072, 1024], i = 0 to 3 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD + (i) * 134217728ul)
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_WEIGHT_BACKWARD(i) \
    (MODEL_LAYERS_WEIGHTS_BACKWARD(i) + 27265024ul) /* bf16 [3072, 1024], i = 1 to 3 */
/* bf16 [8192, 1024], i = 1 to 3 */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD(i) \
    (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD - ((i) - 1) * 50331648ul)
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT_BACKWARD(i) \
    (MODEL_LAYERS_WEIGHTS_BACKWARD(i) + 33556480ul) /* bf16 [1024], i = 1 to 3 */
static const size_t model_layers_input_layernorm_weight_grad_partial_at[3] = {
    721432576ul, 603987968ul, 1191190528ul};
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT_GRAD_PARTIAL(i) \
    model_layers_input_layernorm_weight_grad_partial_at[(i) - 1] /* f32 [128, 1024], i = 1 to 3 */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD + (i) * 134217728ul) /* f32 [1024], i = 0 to 3 */
#define MODEL_LAYERS_GRADIENTS(i) \
    (MODEL_LAYERS_0_GRADIENTS + (i) * 134217728ul) /* f32 [16386, 1024], i = 0 to 3 */
/* f32 [1024, 4096], i = 0 to 3 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_GRAD + (i) * 134217728ul)
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_BACKWARD(i) \
    MODEL_LAYERS_WEIGHTS_BACKWARD(i) /* bf16 [1024, 4096], i = 0 to 2 */
static const size_t evaluate_model_layers_weights_at[4] = {
    201326592ul, 234885120ul, 201326592ul, 234885120ul};
#define EVALUATE_MODEL_LAYERS_WEIGHTS(i) \
    evaluate_model_layers_weights_at[i] /* bf16 [16386, 1024], i = 0 to 3 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_WEIGHT(i) \
    (EVALUATE_MODEL_LAYERS_WEIGHTS(i) + 27265024ul) /* bf16 [3072, 1024], i = 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT(i) \
    (EVALUATE_MODEL_LAYERS_WEIGHTS(i) + 25167872ul) /* bf16 [1024, 1024], i = 0 to 2 */
#define EVALUATE_MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) \
    (EVALUATE_MODEL_LAYERS_WEIGHTS(i) + 25165824ul) /* bf16 [1024], i = 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_GATE_UP_PROJ_WEIGHT(i) \
    (EVALUATE_MODEL_LAYERS_WEIGHTS(i) + 8388608ul) /* bf16 [8192, 1024], i = 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT(i) \
    EVALUATE_MODEL_LAYERS_WEIGHTS(i) /* bf16 [1024, 4096], i = 0 to 2 */
#define EVALUATE_MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i) \
    (EVALUATE_MODEL_LAYERS_WEIGHTS(i) + 33556480ul) /* bf16 [1024], i = 1 to 3 */
#define EVALUATE_MODEL_LAYERS_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM /* bf16 [8192, 1024], one for 0 to 3 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [8192, 3072], one for 0 to 2 */
/* bf16 [8192, 2048], row stride 3072, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_K_Q_ROPE_X \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul)
/* bf16 [8192, 1024], row stride 3072, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_ROPE \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 4096ul)
/* bf16 [8192, 1024], row stride 3072, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_K_ROPE \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 2048ul)
/* bf16 [8192, 1024], row stride 3072, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_V_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y
#define EVALUATE_MODEL_LAYERS_SELF_ATTN \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN /* bf16 [8192, 1024], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_LSE \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE /* f32 [8192, 8], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_O_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ /* bf16 [8192, 1024], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL /* bf16 [8192, 1024], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_ATTN_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL /* bf16 [8192, 1024], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_POST_ATTENTION_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM /* bf16 [8192, 1024], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_GATE_UP_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [8192, 8192], one for 0 to 2 */
/* bf16 [8192, 4096], row stride 8192, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_GATE_PROJ \
    (EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + 8192ul)
/* bf16 [8192, 4096], row stride 8192, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_UP_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y
#define EVALUATE_MODEL_LAYERS_MLP_ACT \
    EVALUATE_MODEL_LAYERS_0_MLP_ACT /* bf16 [8192, 4096], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ /* bf16 [8192, 1024], one for 0 to 2 */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 98560ul

#define INPUT_IDS 0ul /* i32 [8192, 1] */
#define LABELS 32768ul /* i32 [8192, 1] */
#define LABELS_CHUNK_0 LABELS /* i32 [2048, 1] */
#define LABELS_CHUNK_1 (LABELS + 8192ul) /* i32 [2048, 1] */
#define LABELS_CHUNK_2 (LABELS + 16384ul) /* i32 [2048, 1] */
#define LABELS_CHUNK_3 (LABELS + 24576ul) /* i32 [2048, 1] */
#define POSITIONS 65536ul /* i32 [8192, 1] */
#define LOSS_WEIGHT 98304ul /* f32 [1] */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 1628717056ul
#define GEMM_WORKSPACE_BYTES 33554432ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 39,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 3,
    MICRO_STEP_OUTPUTS = 189,
    UPDATE_OUTPUTS = 18,
    EVALUATE_OUTPUTS = 65,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
