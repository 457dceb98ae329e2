/* Offsets of all buffers of pretrain, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 502016ul

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
#define TRAINED 4352ul /* bf16 [27, 1024], weight */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT TRAINED /* bf16 [32, 48] */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT (TRAINED + 4096ul) /* bf16 [48, 32] */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT (TRAINED + 8192ul) /* bf16 [48, 32] */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT (TRAINED + 12288ul) /* bf16 [32, 32] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_WEIGHT (TRAINED + 14336ul) /* bf16 [96, 32] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT (TRAINED + 20480ul) /* bf16 [32, 48] */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT (TRAINED + 24576ul) /* bf16 [48, 32] */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT (TRAINED + 28672ul) /* bf16 [48, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT (TRAINED + 32768ul) /* bf16 [32, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT (TRAINED + 34816ul) /* bf16 [96, 32] */
#define MODEL_EMBED_TOKENS_WEIGHT (TRAINED + 40960ul) /* bf16 [64, 32] */
#define MODEL_NORM_WEIGHT (TRAINED + 45056ul) /* bf16 [32] */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT (TRAINED + 47104ul) /* bf16 [32] */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT (TRAINED + 49152ul) /* bf16 [32] */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT (TRAINED + 51200ul) /* bf16 [32] */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT (TRAINED + 53248ul) /* bf16 [32] */
#define GRADIENT 59648ul /* f32 [27, 1024], gradient */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_GRAD GRADIENT /* f32 [32, 48] */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_GRAD (GRADIENT + 8192ul) /* f32 [48, 32] */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_GRAD (GRADIENT + 16384ul) /* f32 [48, 32] */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_GRAD (GRADIENT + 24576ul) /* f32 [32, 32] */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD (GRADIENT + 28672ul) /* f32 [96, 32] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_GRAD (GRADIENT + 40960ul) /* f32 [32, 48] */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_GRAD (GRADIENT + 49152ul) /* f32 [48, 32] */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_GRAD (GRADIENT + 57344ul) /* f32 [48, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_GRAD (GRADIENT + 65536ul) /* f32 [32, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT_GRAD (GRADIENT + 69632ul) /* f32 [96, 32] */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD (GRADIENT + 81920ul) /* f32 [64, 32] */
#define MODEL_NORM_WEIGHT_GRAD (GRADIENT + 90112ul) /* f32 [32] */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD (GRADIENT + 94208ul) /* f32 [32] */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT_GRAD (GRADIENT + 98304ul) /* f32 [32] */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD (GRADIENT + 102400ul) /* f32 [32] */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD (GRADIENT + 106496ul) /* f32 [32] */
#define MASTER 170240ul /* f32 [27, 1024], optimizer */
#define EXP_AVG 280832ul /* f32 [27, 1024], optimizer */
#define EXP_AVG_SQ 391424ul /* f32 [27, 1024], optimizer */

/* By number, such as the layer. */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_WEIGHT - (i) * 20480ul) /* bf16 [96, 32], i = 0 to 1 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT - (i) * 20480ul) /* bf16 [32, 32], i = 0 to 1 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT - (i) * 4096ul) /* bf16 [32], i = 0 to 1 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT - (i) * 20480ul) /* bf16 [48, 32], i = 0 to 1 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT - (i) * 20480ul) /* bf16 [48, 32], i = 0 to 1 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT - (i) * 20480ul) /* bf16 [32, 48], i = 0 to 1 */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8654848ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define MODEL_EMBED_TOKENS 43008ul /* bf16 [32, 32], micro_step until model.embed_tokens.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM 45056ul /* bf16 [32, 32],
    micro_step until model.layers.0.self_attn.q_k_v_proj,
    side model.layers.0.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD 78336ul /* f32 [32, 1],
    micro_step until model.embed_tokens.grad */
#define MODEL_LAYERS_0_SELF_ATTN 47104ul /* bf16 [32, 32],
    micro_step until model.layers.0.self_attn.grad,
    side model.layers.0.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 77824ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 6144ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 49152ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.post_attention_layernorm.weight.grad.part */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 51200ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp.up_proj, side model.layers.0.mlp.gate_proj.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 78592ul /* f32 [32, 1],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.post_attention_layernorm.weight.grad.part */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 18432ul /* bf16 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ 21504ul /* bf16 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT 24576ul /* bf16 [32, 48],
    micro_step until model.layers.0.mlp.down_proj, side model.layers.0.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ 6144ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual */
#define MODEL_LAYERS_0_MLP_RESIDUAL 53248ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad,
    side model.layers.1.input_layernorm.weight.grad.part */
#define MODEL_LAYERS_1_INPUT_LAYERNORM 55296ul /* bf16 [32, 32],
    micro_step until model.layers.1.self_attn.q_k_v_proj,
    side model.layers.1.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 78848ul /* f32 [32, 1],
    micro_step until model.layers.0.mlp_residual.grad,
    side model.layers.1.input_layernorm.weight.grad.part */
#define MODEL_LAYERS_1_SELF_ATTN 57344ul /* bf16 [32, 32],
    micro_step until model.layers.1.self_attn.grad,
    side model.layers.1.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 73728ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 12288ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 59392ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.post_attention_layernorm.weight.grad.part */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 61440ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp.up_proj, side model.layers.1.mlp.gate_proj.weight.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 79104ul /* f32 [32, 1],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.post_attention_layernorm.weight.grad.part */
#define MODEL_LAYERS_1_MLP_GATE_PROJ 27648ul /* bf16 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_UP_PROJ 30720ul /* bf16 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_ACT 33792ul /* bf16 [32, 48],
    micro_step until model.layers.1.mlp.down_proj, side model.layers.1.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ 12288ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual */
#define MODEL_LAYERS_1_MLP_RESIDUAL 63488ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad, side model.norm.weight.grad.part */
#define MODEL_NORM 16384ul /* bf16 [32, 32], micro_step until model.embed_tokens.weight.grad */
#define MODEL_NORM_RSTD 79360ul /* f32 [32, 1], micro_step until model.layers.1.mlp_residual.grad,
    side model.norm.weight.grad.part */
#define LM_HEAD 12288ul /* bf16 [32, 64], micro_step until model.norm.grad */
#define LOSS_ROWS 79616ul /* f32 [32, 1], micro_step until loss.rows, side loss */
#define EVALUATE_MODEL_EMBED_TOKENS 6144ul /* bf16 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM 8192ul /* bf16 [32, 32],
    evaluate until model.layers.0.self_attn.q_k_v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 8192ul /* bf16 [32, 32],
    evaluate until model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 10240ul /* f32 [32, 2],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 9216ul /* bf16 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 11264ul /* bf16 [32, 32],
    evaluate until model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ 0ul /* bf16 [32, 48],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ 3072ul /* bf16 [32, 48],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT 6144ul /* bf16 [32, 48],
    evaluate until model.layers.0.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ 0ul /* bf16 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 6144ul /* bf16 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM 11264ul /* bf16 [32, 32],
    evaluate until model.layers.1.self_attn.q_k_v_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 8192ul /* bf16 [32, 32],
    evaluate until model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 10240ul /* f32 [32, 2],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 32],
    evaluate until model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 9216ul /* bf16 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 11264ul /* bf16 [32, 32],
    evaluate until model.layers.1.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ 0ul /* bf16 [32, 48],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ 3072ul /* bf16 [32, 48],
    evaluate until model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_ACT 6144ul /* bf16 [32, 48],
    evaluate until model.layers.1.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ 0ul /* bf16 [32, 32],
    evaluate until model.layers.1.mlp_residual */
#define EVALUATE_MODEL_NORM 4096ul /* bf16 [32, 32], evaluate until lm_head */
#define EVALUATE_LM_HEAD 0ul /* bf16 [32, 64], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS 4096ul /* f32 [32, 1], evaluate until loss */
#define MODEL_NORM_GRAD 65536ul /* bf16 [32, 32],
    micro_step until model.layers.1.mlp_residual.grad, side model.norm.weight.grad.part */
#define MODEL_NORM_WEIGHT_GRAD_PART 79616ul /* f32 [32], micro_step side model.norm.weight.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD 67584ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 12288ul /* bf16 [32, 48],
    micro_step until model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE 36864ul /* bf16 [32, 48],
    micro_step until model.layers.1.post_attention_layernorm.grad,
    side model.layers.1.mlp.gate_proj.weight.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP 39936ul /* bf16 [32, 48],
    micro_step until model.layers.1.post_attention_layernorm.grad,
    side model.layers.1.mlp.up_proj.weight.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 69632ul /* bf16 [32, 32],
    micro_step until model.layers.1.attn_residual.grad,
    side model.layers.1.post_attention_layernorm.weight.grad.part */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PART 61440ul /* f32 [32],
    micro_step side model.layers.1.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 71680ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad,
    side model.layers.1.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 27648ul /* bf16 [32, 32],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 73984ul /* f32 [32, 2],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 73728ul /* bf16 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad,
    side model.layers.1.input_layernorm.weight.grad.part */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT_GRAD_PART 12288ul /* f32 [32],
    micro_step side model.layers.1.input_layernorm.weight.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD 75776ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.mlp.down_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 6144ul /* bf16 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 27648ul /* bf16 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad,
    side model.layers.0.mlp.gate_proj.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 30720ul /* bf16 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad,
    side model.layers.0.mlp.up_proj.weight.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 18432ul /* bf16 [32, 32],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.post_attention_layernorm.weight.grad.part */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT_GRAD_PART 12288ul /* f32 [32],
    micro_step side model.layers.0.post_attention_layernorm.weight.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 20480ul /* bf16 [32, 32],
    micro_step until model.embed_tokens.grad, side model.layers.0.self_attn.o_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 22528ul /* bf16 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 78080ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_GRAD 22528ul /* bf16 [32, 32],
    micro_step until model.embed_tokens.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT_GRAD_PART 77824ul /* f32 [32],
    micro_step until model.layers.0.input_layernorm.weight.grad */
#define MODEL_EMBED_TOKENS_GRAD 0ul /* bf16 [32, 32],
    micro_step until model.embed_tokens.weight.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], update until grad_norm.squared */
#define CLIP_FACTOR 0ul /* f32 [1], update until adamw */
#define RATES_LR 256ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION1 512ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION2_SQRT 768ul /* f32 [1], update until adamw */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 96],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 64ul) /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE_X \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 64ul) /* bf16 [32, 64], row stride 96 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 128ul) /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 6144ul /* bf16 [32, 96],
    micro_step until model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ \
    MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_1_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y + 64ul) /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_ROPE \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y + 128ul) /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY 6144ul /* bf16 [32, 96],
    micro_step until model.layers.0.input_layernorm.grad,
    side model.layers.0.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY + 64ul) /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY + 128ul) /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY 12288ul /* bf16 [32, 96],
    micro_step until model.layers.1.input_layernorm.grad,
    side model.layers.1.self_attn.q_k_v_proj.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_V \
    MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_K \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY + 64ul) /* bf16 [32, 32], row stride 96 */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_Q \
    (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY + 128ul) /* bf16 [32, 32], row stride 96 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 96],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 32], row stride 96 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_ROPE \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 64ul) /* bf16 [32, 32], row stride 96 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE_X \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 64ul) /* bf16 [32, 64], row stride 96 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 128ul) /* bf16 [32, 32], row stride 96 */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 96],
    evaluate until model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ \
    EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 32], row stride 96 */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_ROPE \
    (EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y + 64ul) /* bf16 [32, 32], row stride 96 */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_Q_ROPE_X \
    (EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y + 64ul) /* bf16 [32, 64], row stride 96 */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_ROPE \
    (EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y + 128ul) /* bf16 [32, 32], row stride 96 */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_KEYS 22528ul /* i64 [32, 1],
    micro_step until model.embed_tokens.weight.grad */
#define MODEL_EMBED_TOKENS_WEIGHT_GRAD_PARTIAL 77824ul /* f32 [1, 32],
    micro_step until model.embed_tokens.weight.grad */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], update until grad_norm.columns */

/* By number, such as the layer. */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) \
    (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 10240ul) /* bf16 [32, 32], i = 0 to 1 */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + (i) * 6144ul) /* bf16 [32, 96], i = 0 to 1 */
/* bf16 [32, 64], row stride 96, i = 0 to 1 */
#define MODEL_LAYERS_SELF_ATTN_K_Q_ROPE_X(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_Q_ROPE_X + (i) * 6144ul)
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 6144ul) /* bf16 [32, 32], row stride 96, i = 0 to 1 */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 6144ul) /* bf16 [32, 32], row stride 96, i = 0 to 1 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 6144ul) /* bf16 [32, 32], row stride 96, i = 0 to 1 */
#define MODEL_LAYERS_SELF_ATTN(i) \
    (MODEL_LAYERS_0_SELF_ATTN + (i) * 10240ul) /* bf16 [32, 32], i = 0 to 1 */
#define MODEL_LAYERS_SELF_ATTN_LSE(i) \
    (MODEL_LAYERS_0_SELF_ATTN_LSE - (i) * 4096ul) /* f32 [32, 2], i = 0 to 1 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ(i) \
    (MODEL_LAYERS_0_SELF_ATTN_O_PROJ + (i) * 6144ul) /* bf16 [32, 32], i = 0 to 1 */
#define MODEL_LAYERS_ATTN_RESIDUAL(i) \
    (MODEL_LAYERS_0_ATTN_RESIDUAL + (i) * 10240ul) /* bf16 [32, 32], i = 0 to 1 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 512ul) /* f32 [32, 1], i = 0 to 1 */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) \
    (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM + (i) * 10240ul) /* bf16 [32, 32], i = 0 to 1 */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) \
    (MODEL_LAYERS_0_MLP_GATE_PROJ + (i) * 9216ul) /* bf16 [32, 48], i = 0 to 1 */
#define MODEL_LAYERS_MLP_UP_PROJ(i) \
    (MODEL_LAYERS_0_MLP_UP_PROJ + (i) * 9216ul) /* bf16 [32, 48], i = 0 to 1 */
#define MODEL_LAYERS_MLP_ACT(i) \
    (MODEL_LAYERS_0_MLP_ACT + (i) * 9216ul) /* bf16 [32, 48], i = 0 to 1 */
#define MODEL_LAYERS_MLP_DOWN_PROJ(i) \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ + (i) * 6144ul) /* bf16 [32, 32], i = 0 to 1 */
#define MODEL_LAYERS_MLP_RESIDUAL(i) \
    (MODEL_LAYERS_0_MLP_RESIDUAL + (i) * 10240ul) /* bf16 [32, 32], i = 0 to 1 */

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
    PARAMS = 20,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 2,
    MICRO_STEP_OUTPUTS = 89,
    UPDATE_OUTPUTS = 17,
    EVALUATE_OUTPUTS = 30,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
