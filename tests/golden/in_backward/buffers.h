/* Offsets of all buffers of in_backward, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 1973504ul

#define SEED 0ul /* i64 [1], counter */
#define STEP 256ul /* i32 [1], counter */
#define APPLIED 512ul /* i32 [1], counter */
#define BAD_STEP 768ul /* i32 [1], counter */
#define STEP_LOSS 1024ul /* f32 [1], counter */
#define EVAL_LOSS 1280ul /* f32 [1], counter */
#define LR 1536ul /* f32 [4, 1], counter */
#define BIAS_CORRECTION1 1792ul /* f32 [4, 1], counter */
#define BIAS_CORRECTION2_SQRT 2048ul /* f32 [4, 1], counter */
#define LOSS 2304ul /* f32 [4, 1], counter */
#define GRAD_NORM 2560ul /* f32 [4, 1], counter */
#define GRAD_NORM_SQUARES 2816ul /* f32 [1024], counter */
#define LM_HEAD_SQUARES GRAD_NORM_SQUARES /* f32 [4, 1] */
#define MODEL_LAYERS_0_SQUARES (GRAD_NORM_SQUARES + 336ul) /* f32 [40, 1] */
#define MODEL_EMBED_TOKENS_SQUARES (GRAD_NORM_SQUARES + 496ul) /* f32 [4, 1] */
#define MODEL_NORM_VECTORS_SQUARES (GRAD_NORM_SQUARES + 512ul) /* f32 [1, 1] */
#define MODEL_LAYERS_0_VECTORS_SQUARES (GRAD_NORM_SQUARES + 532ul) /* f32 [2, 1] */
#define ROPE_COS 6912ul /* f32 [16, 16], constant */
#define ROPE_SIN 7936ul /* f32 [16, 16], constant */
#define ROPE_INV_FREQ 8960ul /* f32 [16], constant */
#define LOSS_GRAD 9216ul /* f32 [1], constant */
#define TRAINED 9472ul /* bf16 [135, 1024], weight */
#define LM_HEAD_WEIGHT TRAINED /* bf16 [64, 64] */
#define MODEL_LAYERS_0_NEW_WEIGHT (TRAINED + 172032ul) /* bf16 [40, 1024] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT (TRAINED + 172032ul) /* bf16 [64, 128] */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT (TRAINED + 188416ul) /* bf16 [256, 64] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT (TRAINED + 221184ul) /* bf16 [64, 64] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT (TRAINED + 229376ul) /* bf16 [192, 64] */
#define MODEL_EMBED_TOKENS_NEW_WEIGHT (TRAINED + 253952ul) /* bf16 [4, 1024] */
#define MODEL_EMBED_TOKENS_WEIGHT (TRAINED + 253952ul) /* bf16 [64, 64] */
#define MODEL_NORM_VECTORS_NEW_WEIGHT (TRAINED + 262144ul) /* bf16 [1, 1024] */
#define MODEL_NORM_WEIGHT (TRAINED + 262144ul) /* bf16 [64] */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT (TRAINED + 270336ul) /* bf16 [64] */
#define MODEL_LAYERS_0_VECTORS_NEW_WEIGHT (TRAINED + 272384ul) /* bf16 [2, 1024] */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT (TRAINED + 272384ul) /* bf16 [64] */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT (TRAINED + 274432ul) /* bf16 [64] */
#define MODEL_NORM_VECTORS_GRADIENTS 285952ul /* f32 [1, 1024], gradient */
#define MODEL_NORM_WEIGHT_GRAD MODEL_NORM_VECTORS_GRADIENTS /* f32 [64] */
#define MODEL_LAYERS_2_VECTORS_GRADIENTS 290048ul /* f32 [2, 1024], gradient */
#define MODEL_LAYERS_1_VECTORS_GRADIENTS 298240ul /* f32 [2, 1024], gradient */
#define MODEL_LAYERS_0_VECTORS_GRADIENTS 306432ul /* f32 [2, 1024], gradient */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD \
    MODEL_LAYERS_0_VECTORS_GRADIENTS /* f32 [64] */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD \
    (MODEL_LAYERS_0_VECTORS_GRADIENTS + 4096ul) /* f32 [64] */
#define MASTER 314624ul /* f32 [135, 1024], optimizer */
#define LM_HEAD_MASTER MASTER /* f32 [4, 1024] */
#define MODEL_LAYERS_0_MASTER (MASTER + 344064ul) /* f32 [40, 1024] */
#define MODEL_EMBED_TOKENS_MASTER (MASTER + 507904ul) /* f32 [4, 1024] */
#define MODEL_NORM_VECTORS_MASTER (MASTER + 524288ul) /* f32 [1, 1024] */
#define MODEL_LAYERS_0_VECTORS_MASTER (MASTER + 544768ul) /* f32 [2, 1024] */
#define EXP_AVG 867584ul /* f32 [135, 1024], optimizer */
#define LM_HEAD_EXP_AVG EXP_AVG /* f32 [4, 1024] */
#define MODEL_LAYERS_0_EXP_AVG (EXP_AVG + 344064ul) /* f32 [40, 1024] */
#define MODEL_EMBED_TOKENS_EXP_AVG (EXP_AVG + 507904ul) /* f32 [4, 1024] */
#define MODEL_NORM_VECTORS_EXP_AVG (EXP_AVG + 524288ul) /* f32 [1, 1024] */
#define MODEL_LAYERS_0_VECTORS_EXP_AVG (EXP_AVG + 544768ul) /* f32 [2, 1024] */
#define EXP_AVG_SQ 1420544ul /* f32 [135, 1024], optimizer */
#define LM_HEAD_EXP_AVG_SQ EXP_AVG_SQ /* f32 [4, 1024] */
#define MODEL_LAYERS_0_EXP_AVG_SQ (EXP_AVG_SQ + 344064ul) /* f32 [40, 1024] */
#define MODEL_EMBED_TOKENS_EXP_AVG_SQ (EXP_AVG_SQ + 507904ul) /* f32 [4, 1024] */
#define MODEL_NORM_VECTORS_EXP_AVG_SQ (EXP_AVG_SQ + 524288ul) /* f32 [1, 1024] */
#define MODEL_LAYERS_0_VECTORS_EXP_AVG_SQ (EXP_AVG_SQ + 544768ul) /* f32 [2, 1024] */

/* By number, such as the layer. */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT - (i) * 81920ul) /* bf16 [192, 64], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT - (i) * 81920ul) /* bf16 [64, 64], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT - (i) * 4096ul) /* bf16 [64], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_WEIGHT - (i) * 81920ul) /* bf16 [256, 64], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT - (i) * 81920ul) /* bf16 [64, 128], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT - (i) * 4096ul) /* bf16 [64], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD - (i) * 8192ul) /* f32 [64], i = 0 to 2 */
#define MODEL_LAYERS_MASTER(i) \
    (MODEL_LAYERS_0_MASTER - (i) * 163840ul) /* f32 [40, 1024], i = 0 to 2 */
#define MODEL_LAYERS_EXP_AVG(i) \
    (MODEL_LAYERS_0_EXP_AVG - (i) * 163840ul) /* f32 [40, 1024], i = 0 to 2 */
#define MODEL_LAYERS_EXP_AVG_SQ(i) \
    (MODEL_LAYERS_0_EXP_AVG_SQ - (i) * 163840ul) /* f32 [40, 1024], i = 0 to 2 */
#define MODEL_LAYERS_SQUARES(i) (MODEL_LAYERS_0_SQUARES - (i) * 160ul) /* f32 [40, 1], i = 0 to 2 */
#define MODEL_LAYERS_NEW_WEIGHT(i) \
    (MODEL_LAYERS_0_NEW_WEIGHT - (i) * 81920ul) /* bf16 [40, 1024], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT_GRAD(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD - (i) * 8192ul) /* f32 [64], i = 0 to 2 */
#define MODEL_LAYERS_VECTORS_MASTER(i) \
    (MODEL_LAYERS_0_VECTORS_MASTER - (i) * 8192ul) /* f32 [2, 1024], i = 0 to 2 */
#define MODEL_LAYERS_VECTORS_GRADIENTS(i) \
    (MODEL_LAYERS_0_VECTORS_GRADIENTS - (i) * 8192ul) /* f32 [2, 1024], i = 0 to 2 */
#define MODEL_LAYERS_VECTORS_EXP_AVG(i) \
    (MODEL_LAYERS_0_VECTORS_EXP_AVG - (i) * 8192ul) /* f32 [2, 1024], i = 0 to 2 */
#define MODEL_LAYERS_VECTORS_EXP_AVG_SQ(i) \
    (MODEL_LAYERS_0_VECTORS_EXP_AVG_SQ - (i) * 8192ul) /* f32 [2, 1024], i = 0 to 2 */
#define MODEL_LAYERS_VECTORS_SQUARES(i) \
    (MODEL_LAYERS_0_VECTORS_SQUARES - (i) * 8ul) /* f32 [2, 1], i = 0 to 2 */
#define MODEL_LAYERS_VECTORS_NEW_WEIGHT(i) \
    (MODEL_LAYERS_0_VECTORS_NEW_WEIGHT - (i) * 4096ul) /* bf16 [2, 1024], i = 0 to 2 */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8801024ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define MODEL_EMBED_TOKENS 303104ul /* bf16 [32, 64], micro_step until model.embed_tokens.grad,
    side model.layers.0.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM 307200ul /* bf16 [32, 64],
    micro_step until model.layers.0.self_attn.q_k_v_proj,
    side model.layers.0.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD 409856ul /* f32 [32, 1],
    micro_step until model.embed_tokens.grad, side model.layers.0.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN 311296ul /* bf16 [32, 64],
    micro_step until model.layers.0.self_attn.grad,
    side model.layers.0.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 409600ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 241664ul /* bf16 [32, 64],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 315392ul /* bf16 [32, 64],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 319488ul /* bf16 [32, 64],
    micro_step until model.layers.0.mlp.gate_up_proj,
    side model.layers.0.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 410112ul /* f32 [32, 1],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT 278528ul /* bf16 [32, 128],
    micro_step until model.layers.0.mlp.down_proj, side model.layers.0.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ 286720ul /* bf16 [32, 64],
    micro_step until model.layers.0.mlp_residual */
#define MODEL_LAYERS_0_MLP_RESIDUAL 323584ul /* bf16 [32, 64],
    micro_step until model.layers.0.mlp_residual.grad,
    side model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM 327680ul /* bf16 [32, 64],
    micro_step until model.layers.1.self_attn.q_k_v_proj,
    side model.layers.1.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 410368ul /* f32 [32, 1],
    micro_step until model.layers.0.mlp_residual.grad,
    side model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN 331776ul /* bf16 [32, 64],
    micro_step until model.layers.1.self_attn.grad,
    side model.layers.1.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 393216ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 286720ul /* bf16 [32, 64],
    micro_step until model.layers.1.attn_residual */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 335872ul /* bf16 [32, 64],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 339968ul /* bf16 [32, 64],
    micro_step until model.layers.1.mlp.gate_up_proj,
    side model.layers.1.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 410624ul /* f32 [32, 1],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_MLP_ACT 286720ul /* bf16 [32, 128],
    micro_step until model.layers.1.mlp.down_proj, side model.layers.1.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ 294912ul /* bf16 [32, 64],
    micro_step until model.layers.1.mlp_residual */
#define MODEL_LAYERS_1_MLP_RESIDUAL 344064ul /* bf16 [32, 64],
    micro_step until model.layers.1.mlp_residual.grad,
    side model.layers.2.input_layernorm.weight.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM 348160ul /* bf16 [32, 64],
    micro_step until model.layers.2.self_attn.q_k_v_proj,
    side model.layers.2.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 410880ul /* f32 [32, 1],
    micro_step until model.layers.1.mlp_residual.grad,
    side model.layers.2.input_layernorm.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN 352256ul /* bf16 [32, 64],
    micro_step until model.layers.2.self_attn.grad,
    side model.layers.2.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 393472ul /* f32 [32, 2],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ 294912ul /* bf16 [32, 64],
    micro_step until model.layers.2.attn_residual */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 356352ul /* bf16 [32, 64],
    micro_step until model.layers.2.attn_residual.grad,
    side model.layers.2.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 360448ul /* bf16 [32, 64],
    micro_step until model.layers.2.mlp.gate_up_proj,
    side model.layers.2.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 411136ul /* f32 [32, 1],
    micro_step until model.layers.2.attn_residual.grad,
    side model.layers.2.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_2_MLP_ACT 294912ul /* bf16 [32, 128],
    micro_step until model.layers.2.mlp.down_proj, side model.layers.2.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ 266240ul /* bf16 [32, 64],
    micro_step until model.layers.2.mlp_residual */
#define MODEL_LAYERS_2_MLP_RESIDUAL 16384ul /* bf16 [32, 64],
    micro_step until model.layers.2.mlp_residual.grad, side model.norm.weight.grad */
#define MODEL_NORM 270336ul /* bf16 [32, 64], micro_step until lm_head, side lm_head.weight.grad */
#define MODEL_NORM_RSTD 24576ul /* f32 [32, 1], micro_step until model.layers.2.mlp_residual.grad,
    side model.norm.weight.grad */
#define LM_HEAD 266240ul /* bf16 [32, 64], micro_step until model.norm.grad,
    side lm_head.weight.grad */
#define LOSS_ROWS 20480ul /* f32 [32, 1], micro_step until loss.rows, side loss */
#define EVALUATE_MODEL_EMBED_TOKENS 12288ul /* bf16 [32, 64],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM 16384ul /* bf16 [32, 64],
    evaluate until model.layers.0.self_attn.q_k_v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 16384ul /* bf16 [32, 64],
    evaluate until model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 20480ul /* f32 [32, 2],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 64],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 24576ul /* bf16 [32, 64],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 16384ul /* bf16 [32, 64],
    evaluate until model.layers.0.mlp.gate_up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT 16384ul /* bf16 [32, 128],
    evaluate until model.layers.0.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ 0ul /* bf16 [32, 64],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 12288ul /* bf16 [32, 64],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM 16384ul /* bf16 [32, 64],
    evaluate until model.layers.1.self_attn.q_k_v_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 16384ul /* bf16 [32, 64],
    evaluate until model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 20480ul /* f32 [32, 2],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 64],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 24576ul /* bf16 [32, 64],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 16384ul /* bf16 [32, 64],
    evaluate until model.layers.1.mlp.gate_up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_ACT 16384ul /* bf16 [32, 128],
    evaluate until model.layers.1.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ 0ul /* bf16 [32, 64],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 12288ul /* bf16 [32, 64],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM 16384ul /* bf16 [32, 64],
    evaluate until model.layers.2.self_attn.q_k_v_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN 16384ul /* bf16 [32, 64],
    evaluate until model.layers.2.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 20480ul /* f32 [32, 2],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 64],
    evaluate until model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 24576ul /* bf16 [32, 64],
    evaluate until model.layers.2.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 16384ul /* bf16 [32, 64],
    evaluate until model.layers.2.mlp.gate_up_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_ACT 16384ul /* bf16 [32, 128],
    evaluate until model.layers.2.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ 0ul /* bf16 [32, 64],
    evaluate until model.layers.2.mlp_residual */
#define EVALUATE_MODEL_NORM 4096ul /* bf16 [32, 64], evaluate until lm_head */
#define EVALUATE_LM_HEAD 0ul /* bf16 [32, 64], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS 4096ul /* f32 [32, 1], evaluate until loss */
#define LM_HEAD_GRADIENTS 0ul /* f32 [4, 1024], micro_step side lm_head.adamw */
#define MODEL_LAYERS_2_GRADIENTS 0ul /* f32 [40, 1024], micro_step side model.layers.2.adamw */
#define MODEL_LAYERS_1_GRADIENTS 0ul /* f32 [40, 1024], micro_step side model.layers.1.adamw */
#define MODEL_LAYERS_0_GRADIENTS 0ul /* f32 [40, 1024], micro_step side model.layers.0.adamw */
#define MODEL_EMBED_TOKENS_GRADIENTS 163840ul /* f32 [4, 1024],
    micro_step until model.embed_tokens.adamw */
#define MODEL_NORM_GRAD 20480ul /* bf16 [32, 64],
    micro_step until model.layers.2.mlp_residual.grad, side model.norm.weight.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD 364544ul /* bf16 [32, 64],
    micro_step until model.layers.2.attn_residual.grad,
    side model.layers.2.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 266240ul /* bf16 [32, 128],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 368640ul /* bf16 [32, 64],
    micro_step until model.layers.2.attn_residual.grad,
    side model.layers.2.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_2_ATTN_RESIDUAL_GRAD 372736ul /* bf16 [32, 64],
    micro_step until model.layers.1.mlp_residual.grad,
    side model.layers.2.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 196608ul /* bf16 [32, 64],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 200704ul /* f32 [32, 2],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 376832ul /* bf16 [32, 64],
    micro_step until model.layers.1.mlp_residual.grad,
    side model.layers.2.input_layernorm.weight.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD 380928ul /* bf16 [32, 64],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 253952ul /* bf16 [32, 128],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 385024ul /* bf16 [32, 64],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 389120ul /* bf16 [32, 64],
    micro_step until model.layers.0.mlp_residual.grad,
    side model.layers.1.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 180224ul /* bf16 [32, 64],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 184320ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 393216ul /* bf16 [32, 64],
    micro_step until model.layers.0.mlp_residual.grad,
    side model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD 397312ul /* bf16 [32, 64],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 241664ul /* bf16 [32, 128],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 401408ul /* bf16 [32, 64],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 405504ul /* bf16 [32, 64],
    micro_step until model.embed_tokens.grad, side model.layers.0.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 163840ul /* bf16 [32, 64],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 167936ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_GRAD 229376ul /* bf16 [32, 64],
    micro_step until model.embed_tokens.grad, side model.layers.0.input_layernorm.weight.grad */
#define MODEL_EMBED_TOKENS_GRAD 233472ul /* bf16 [32, 64],
    micro_step until model.embed_tokens.weight.grad */
#define RATES_LR 411392ul /* f32 [1], micro_step until model.embed_tokens.adamw,
    side model.layers.0.vectors.adamw */
#define RATES_BIAS_CORRECTION1 411648ul /* f32 [1], micro_step until model.embed_tokens.adamw,
    side model.layers.0.vectors.adamw */
#define RATES_BIAS_CORRECTION2_SQRT 411904ul /* f32 [1], micro_step until model.embed_tokens.adamw,
    side model.layers.0.vectors.adamw */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 229376ul /* bf16 [32, 192],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 64], row stride 192 */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 128ul) /* bf16 [32, 64], row stride 192 */
#define MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE_X \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 128ul) /* bf16 [32, 128], row stride 192 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 256ul) /* bf16 [32, 64], row stride 192 */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 163840ul /* bf16 [32, 256],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [32, 128], row stride 256 */
#define MODEL_LAYERS_0_MLP_GATE_PROJ \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + 256ul) /* bf16 [32, 128], row stride 256 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 241664ul /* bf16 [32, 192],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 180224ul /* bf16 [32, 256],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 253952ul /* bf16 [32, 192],
    micro_step until model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 196608ul /* bf16 [32, 256],
    micro_step until model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY 241664ul /* bf16 [32, 192],
    micro_step until model.layers.0.input_layernorm.grad,
    side model.layers.0.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY /* bf16 [32, 64], row stride 192 */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY + 128ul) /* bf16 [32, 64], row stride 192 */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY + 256ul) /* bf16 [32, 64], row stride 192 */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY 180224ul /* bf16 [32, 256],
    micro_step until model.layers.0.post_attention_layernorm.grad,
    side model.layers.0.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP \
    MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY /* bf16 [32, 128], row stride 256 */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY + 256ul) /* bf16 [32, 128], row stride 256 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY 253952ul /* bf16 [32, 192],
    micro_step until model.layers.1.input_layernorm.grad,
    side model.layers.1.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY 196608ul /* bf16 [32, 256],
    micro_step until model.layers.1.post_attention_layernorm.grad,
    side model.layers.1.mlp.gate_up_proj.weight.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_DY 266240ul /* bf16 [32, 192],
    micro_step until model.layers.2.input_layernorm.grad,
    side model.layers.2.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_DY 212992ul /* bf16 [32, 256],
    micro_step until model.layers.2.post_attention_layernorm.grad,
    side model.layers.2.mlp.gate_up_proj.weight.grad */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 192],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 256],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 192],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 256],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 192],
    evaluate until model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 256],
    evaluate until model.layers.2.mlp.act */
#define UPDATE_GATE 412160ul /* f32 [1], micro_step until model.embed_tokens.adamw,
    side model.layers.0.vectors.adamw */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_KEYS 237568ul /* i64 [32, 1],
    micro_step until model.embed_tokens.weight.grad */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_PARTIAL 237824ul /* f32 [1, 64],
    micro_step until model.embed_tokens.weight.grad */

/* By number, such as the layer. */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 20480ul) /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + (i) * 12288ul) /* bf16 [32, 192], i = 0 to 2 */
/* bf16 [32, 128], row stride 192, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_Q_ROPE_X(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE_X + (i) * 12288ul)
/* bf16 [32, 64], row stride 192, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 12288ul)
/* bf16 [32, 64], row stride 192, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 12288ul)
/* bf16 [32, 64], row stride 192, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 12288ul)
#define MODEL_LAYERS_SELF_ATTN(i) \
    (MODEL_LAYERS_0_SELF_ATTN + (i) * 20480ul) /* bf16 [32, 64], i = 0 to 2 */
static const size_t model_layers_self_attn_lse_at[3] = {
    409600ul, 393216ul, 393472ul};
#define MODEL_LAYERS_SELF_ATTN_LSE(i) model_layers_self_attn_lse_at[i] /* f32 [32, 2], i = 0 to 2 */
static const size_t model_layers_self_attn_o_proj_at[3] = {
    241664ul, 286720ul, 294912ul};
#define MODEL_LAYERS_SELF_ATTN_O_PROJ(i) \
    model_layers_self_attn_o_proj_at[i] /* bf16 [32, 64], i = 0 to 2 */
static const size_t model_layers_mlp_residual_at[3] = {
    323584ul, 344064ul, 16384ul};
#define MODEL_LAYERS_MLP_RESIDUAL(i) model_layers_mlp_residual_at[i] /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_ATTN_RESIDUAL(i) \
    (MODEL_LAYERS_0_ATTN_RESIDUAL + (i) * 20480ul) /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 512ul) /* f32 [32, 1], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM + (i) * 20480ul) /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_Y(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + (i) * 16384ul) /* bf16 [32, 256], i = 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ + (i) * 16384ul) /* bf16 [32, 128], row stride 256, i = 0 to 2 */
#define MODEL_LAYERS_MLP_UP_PROJ(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ + (i) * 16384ul) /* bf16 [32, 128], row stride 256, i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT(i) \
    (MODEL_LAYERS_0_MLP_ACT + (i) * 8192ul) /* bf16 [32, 128], i = 0 to 2 */
static const size_t model_layers_mlp_down_proj_at[3] = {
    286720ul, 294912ul, 266240ul};
#define MODEL_LAYERS_MLP_DOWN_PROJ(i) \
    model_layers_mlp_down_proj_at[i] /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD + (i) * 512ul) /* f32 [32, 1], i = 0 to 2 */
#define MODEL_LAYERS_MLP_RESIDUAL_GRAD(i) \
    (MODEL_LAYERS_0_MLP_RESIDUAL_GRAD - (i) * 16384ul) /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD + (i) * 12288ul) /* bf16 [32, 128], i = 0 to 2 */
/* bf16 [32, 128], row stride 256, i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD_GATE(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_GATE + (i) * 16384ul)
/* bf16 [32, 128], row stride 256, i = 0 to 2 */
#define MODEL_LAYERS_MLP_ACT_GRAD_UP(i) \
    (MODEL_LAYERS_0_MLP_ACT_GRAD_UP + (i) * 16384ul)
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_DY(i) \
    (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY + (i) * 16384ul) /* bf16 [32, 256], i = 0 to 2 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD - (i) * 16384ul) /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_ATTN_RESIDUAL_GRAD(i) \
    (MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD - (i) * 16384ul) /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD(i) \
    (MODEL_LAYERS_0_SELF_ATTN_GRAD + (i) * 16384ul) /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_DELTA(i) \
    (MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA + (i) * 16384ul) /* f32 [32, 2], i = 0 to 2 */
/* bf16 [32, 64], row stride 192, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_Q(i) \
    (MODEL_LAYERS_0_SELF_ATTN_GRAD_Q + (i) * 12288ul)
/* bf16 [32, 64], row stride 192, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_K(i) \
    (MODEL_LAYERS_0_SELF_ATTN_GRAD_K + (i) * 12288ul)
/* bf16 [32, 64], row stride 192, i = 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_GRAD_V(i) \
    (MODEL_LAYERS_0_SELF_ATTN_GRAD_V + (i) * 12288ul)
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_DY(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY + (i) * 12288ul) /* bf16 [32, 192], i = 0 to 2 */
static const size_t model_layers_input_layernorm_grad_at[3] = {
    229376ul, 393216ul, 376832ul};
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD(i) \
    model_layers_input_layernorm_grad_at[i] /* bf16 [32, 64], i = 0 to 2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_GRAD \
    MODEL_LAYERS_0_GRADIENTS /* f32 [64, 128], one for 0 to 2 */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_WEIGHT_GRAD \
    (MODEL_LAYERS_0_GRADIENTS + 32768ul) /* f32 [256, 64], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_GRAD \
    (MODEL_LAYERS_0_GRADIENTS + 98304ul) /* f32 [64, 64], one for 0 to 2 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD \
    (MODEL_LAYERS_0_GRADIENTS + 114688ul) /* f32 [192, 64], one for 0 to 2 */
#define MODEL_LAYERS_GRADIENTS MODEL_LAYERS_0_GRADIENTS /* f32 [40, 1024], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM /* bf16 [32, 64], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 192], one for 0 to 2 */
/* bf16 [32, 128], row stride 192, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_K_Q_ROPE_X \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 128ul)
/* bf16 [32, 64], row stride 192, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_Q_ROPE \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 256ul)
/* bf16 [32, 64], row stride 192, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_K_ROPE \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 128ul)
/* bf16 [32, 64], row stride 192, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_V_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y
#define EVALUATE_MODEL_LAYERS_SELF_ATTN \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN /* bf16 [32, 64], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_LSE \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE /* f32 [32, 2], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_SELF_ATTN_O_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ /* bf16 [32, 64], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL /* bf16 [32, 64], one for 0 to 1 */
#define EVALUATE_MODEL_LAYERS_ATTN_RESIDUAL \
    EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL /* bf16 [32, 64], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_POST_ATTENTION_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM /* bf16 [32, 64], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_GATE_UP_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [32, 256], one for 0 to 2 */
/* bf16 [32, 128], row stride 256, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_GATE_PROJ \
    (EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + 256ul)
#define EVALUATE_MODEL_LAYERS_MLP_UP_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [32, 128], row stride 256, one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_ACT \
    EVALUATE_MODEL_LAYERS_0_MLP_ACT /* bf16 [32, 128], one for 0 to 2 */
#define EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ /* bf16 [32, 64], one for 0 to 2 */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1024ul

#define INPUT_IDS 0ul /* i32 [32, 1] */
#define LABELS 256ul /* i32 [32, 1] */
#define POSITIONS 512ul /* i32 [32, 1] */
#define LOSS_WEIGHT 768ul /* f32 [1] */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 412416ul
#define GEMM_WORKSPACE_BYTES 4194304ul
#define GEMM_SIDE_WORKSPACE 4606720ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 30,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 2,
    MICRO_STEP_OUTPUTS = 160,
    UPDATE_OUTPUTS = 6,
    EVALUATE_OUTPUTS = 40,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
