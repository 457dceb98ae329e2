/* Offsets of all buffers of tensor, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 133376ul

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
#define PLACE 2816ul /* i32 [1], counter place */
#define ROPE_COS 3072ul /* f32 [16, 4], constant rope.cos */
#define ROPE_SIN 3328ul /* f32 [16, 4], constant rope.sin */
#define ROPE_INV_FREQ 3584ul /* f32 [4], constant rope.inv_freq */
#define LOSS_GRAD 3840ul /* f32 [1], constant loss.grad */
#define MODEL_EMBED_TOKENS_WEIGHT 4096ul /* f32 [32, 32], frozen model.embed_tokens.weight */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 8192ul /* f32 [32], frozen model.layers.0.input_layernorm.weight */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT 8448ul /* f32 [8, 32], frozen model.layers.0.self_attn.k_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT 9472ul /* f32 [32, 16], frozen model.layers.0.self_attn.o_proj.weight */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 11520ul /* f32 [32], frozen model.layers.0.post_attention_layernorm.weight */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT 11776ul /* f32 [24, 32], frozen model.layers.0.mlp.gate_proj.weight */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT 14848ul /* f32 [24, 32], frozen model.layers.0.mlp.up_proj.weight */
#define MODEL_NORM_WEIGHT 17920ul /* f32 [32], frozen model.norm.weight */
#define LM_HEAD_WEIGHT 18176ul /* f32 [32, 32], frozen lm_head.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED 22272ul /* f32 [40, 48], frozen model.layers.0.self_attn.q_v_proj.bordered */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED_W_SB MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED /* f32 [24, 48], model.layers.0.self_attn.q_v_proj.bordered.W|sB */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 160ul) /* f32 [16, 8], row stride 48, model.layers.0.self_attn.q_proj.lora_B.border */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 3200ul) /* f32 [8, 8], row stride 48, model.layers.0.self_attn.v_proj.lora_B.border */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED_A__2 (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 4608ul) /* f32 [8, 32], row stride 48, model.layers.0.self_attn.q_v_proj.bordered.A */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED_A (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 6144ul) /* f32 [8, 32], row stride 48, model.layers.0.self_attn.q_v_proj.bordered.A */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_BORDER (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 6144ul) /* f32 [8, 32], row stride 48, model.layers.0.self_attn.q_proj.lora_A.border */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED 29952ul /* f32 [40, 32], frozen model.layers.0.mlp.down_proj.bordered */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* f32 [32, 24], row stride 32, model.layers.0.mlp.down_proj.weight */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_SB MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* f32 [32, 32], model.layers.0.mlp.down_proj.bordered.W|sB */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 96ul) /* f32 [32, 8], row stride 32, model.layers.0.mlp.down_proj.lora_B.border */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_A (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 4096ul) /* f32 [8, 24], row stride 32, model.layers.0.mlp.down_proj.bordered.A */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_BORDER (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 4096ul) /* f32 [8, 24], row stride 32, model.layers.0.mlp.down_proj.lora_A.border */
#define TRAINED 35072ul /* f32 [6, 1024], adapter trained */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT TRAINED /* f32 [8, 24], model.layers.0.mlp.down_proj.lora_A.weight */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT (TRAINED + 4096ul) /* f32 [8, 8], model.layers.0.self_attn.v_proj.lora_B.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT (TRAINED + 8192ul) /* f32 [16, 8], model.layers.0.self_attn.q_proj.lora_B.weight */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT (TRAINED + 12288ul) /* f32 [32, 8], model.layers.0.mlp.down_proj.lora_B.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT (TRAINED + 20480ul) /* f32 [8, 32], model.layers.0.self_attn.q_proj.lora_A.weight */
#define GRADIENT 59648ul /* f32 [6, 1024], gradient */
#define GRADIENT_SHARDED GRADIENT /* f32 [3, 1024], gradient.sharded */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD GRADIENT /* f32 [8, 24], model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 4096ul) /* f32 [8, 8], model.layers.0.self_attn.v_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 8192ul) /* f32 [16, 8], model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define GRADIENT_PARTIAL (GRADIENT + 12288ul) /* f32 [3, 1024], gradient.partial */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 12288ul) /* f32 [32, 8], model.layers.0.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 16384ul) /* f32 [8, 32], model.layers.0.self_attn.v_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 20480ul) /* f32 [8, 32], model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define EXP_AVG 84224ul /* f32 [6, 1024], optimizer exp_avg */
#define EXP_AVG_SQ 108800ul /* f32 [6, 1024], optimizer exp_avg_sq */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8448768ul

#define MODEL_EMBED_TOKENS 6144ul /* f32 [32, 32], activation model.embed_tokens */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ 10240ul /* f32 [32, 8], activation model.layers.0.self_attn.k_proj */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE 53248ul /* f32 [32, 16], activation model.layers.0.self_attn.q_rope */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE 57344ul /* f32 [32, 8], activation model.layers.0.self_attn.k_rope */
#define MODEL_LAYERS_0_SELF_ATTN 55296ul /* f32 [32, 16], activation model.layers.0.self_attn */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 59392ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 10240ul /* f32 [32, 32], activation model.layers.0.self_attn.o_proj */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 14336ul /* f32 [32, 32], activation model.layers.0.attn_residual */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 18432ul /* f32 [32, 32], activation model.layers.0.post_attention_layernorm */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 59648ul /* f32 [32, 1], activation model.layers.0.post_attention_layernorm.rstd */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 34816ul /* f32 [32, 24], activation model.layers.0.mlp.gate_proj */
#define MODEL_LAYERS_0_MLP_UP_PROJ 37888ul /* f32 [32, 24], activation model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_MLP_RESIDUAL 6144ul /* f32 [32, 32], activation model.layers.0.mlp_residual */
#define MODEL_NORM 10240ul /* f32 [32, 32], activation model.norm */
#define MODEL_NORM_RSTD 58880ul /* f32 [32, 1], activation model.norm.rstd */
#define LM_HEAD 18432ul /* f32 [32, 32], activation lm_head */
#define LOSS_ROWS 59904ul /* f32 [32, 1], activation loss.rows */
#define EVALUATE_MODEL_EMBED_TOKENS 6144ul /* f32 [32, 32], activation model.embed_tokens */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM_RSTD 10240ul /* f32 [32, 1], activation model.layers.0.input_layernorm.rstd */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ 13312ul /* f32 [32, 8], activation model.layers.0.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_ROPE 0ul /* f32 [32, 16], activation model.layers.0.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_ROPE 2048ul /* f32 [32, 8], activation model.layers.0.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 4096ul /* f32 [32, 16], activation model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 3072ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32], activation model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 10240ul /* f32 [32, 32], activation model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 14336ul /* f32 [32, 32], activation model.layers.0.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ 4096ul /* f32 [32, 24], activation model.layers.0.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ 7168ul /* f32 [32, 24], activation model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_NORM 0ul /* f32 [32, 32], activation model.norm */
#define EVALUATE_LM_HEAD 4096ul /* f32 [32, 32], activation lm_head */
#define EVALUATE_LOSS_ROWS 512ul /* f32 [32, 1], activation loss.rows */
#define EVALUATE_LOSS_ROWS_LSE 768ul /* f32 [32, 1], activation loss.rows.lse */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_DROPOUT 22528ul /* f32 [32, 32], activation model.layers.0.self_attn.q_proj.lora_dropout */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_DROPOUT 26624ul /* f32 [32, 32], activation model.layers.0.self_attn.v_proj.lora_dropout */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_DROPOUT 40960ul /* f32 [32, 24], activation model.layers.0.mlp.down_proj.lora_dropout */
#define LM_HEAD_GRAD 10240ul /* f32 [32, 32], activation lm_head.grad */
#define MODEL_NORM_GRAD 18432ul /* f32 [32, 32], activation model.norm.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD 10240ul /* f32 [32, 32], activation model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_GRAD 58368ul /* f32 [32, 8], activation model.layers.0.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_DROPOUT_GRAD 6144ul /* f32 [32, 24], activation model.layers.0.mlp.down_proj.lora_dropout.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 18432ul /* f32 [32, 24], activation model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 44032ul /* f32 [32, 24], activation model.layers.0.mlp.act.grad.gate */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 47104ul /* f32 [32, 24], activation model.layers.0.mlp.act.grad.up */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 6144ul /* f32 [32, 32], activation model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 18432ul /* f32 [32, 32], activation model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 6144ul /* f32 [32, 16], activation model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q 8192ul /* f32 [32, 16], activation model.layers.0.self_attn.grad.q */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 55296ul /* f32 [32, 8], activation model.layers.0.self_attn.grad.k */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 56320ul /* f32 [32, 8], activation model.layers.0.self_attn.grad.v */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 36864ul /* f32 [32, 2], activation model.layers.0.self_attn.grad.delta */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD 34816ul /* f32 [32, 16], activation model.layers.0.self_attn.q_proj.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_GRAD 6144ul /* f32 [32, 8], activation model.layers.0.self_attn.v_proj.lora_A.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_GRAD 8192ul /* f32 [32, 8], activation model.layers.0.self_attn.q_proj.lora_A.grad */
#define GRAD_NORM_SHARDED_COLUMNS 0ul /* f32 [1024], activation grad_norm.sharded.columns */
#define GRAD_NORM_SHARDED_SQUARED 4096ul /* f32 [1], activation grad_norm.sharded.squared */
#define GRAD_NORM_SHARED_COLUMNS 0ul /* f32 [1024], activation grad_norm.shared.columns */
#define CLIP_FACTOR 4352ul /* f32 [1], activation clip_factor */
#define RATES_LR 4608ul /* f32 [1], activation rates.lr */
#define RATES_BIAS_CORRECTION1 4864ul /* f32 [1], activation rates.bias_correction1 */
#define RATES_BIAS_CORRECTION2 5120ul /* f32 [1], activation rates.bias_correction2 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U 0ul /* f32 [32, 48], activation model.layers.0.self_attn.q_v_proj.x_u */
#define MODEL_LAYERS_0_INPUT_LAYERNORM MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U /* f32 [32, 32], row stride 48, model.layers.0.input_layernorm */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U + 128ul) /* f32 [32, 8], row stride 48, model.layers.0.self_attn.v_proj.lora_A */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U + 160ul) /* f32 [32, 8], row stride 48, model.layers.0.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y 50176ul /* f32 [32, 24], activation model.layers.0.self_attn.q_v_proj.y */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y /* f32 [32, 16], row stride 24, model.layers.0.self_attn.q_proj */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y + 64ul) /* f32 [32, 8], row stride 24, model.layers.0.self_attn.v_proj */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 30720ul /* f32 [32, 32], activation model.layers.0.mlp.down_proj.x_u */
#define MODEL_LAYERS_0_MLP_ACT MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* f32 [32, 24], row stride 32, model.layers.0.mlp.act */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* f32 [32, 8], row stride 32, model.layers.0.mlp.down_proj.lora_A */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 18432ul /* f32 [32, 32], activation model.layers.0.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U 0ul /* f32 [32, 48], activation model.layers.0.self_attn.q_v_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U /* f32 [32, 32], row stride 48, model.layers.0.input_layernorm */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_U (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U + 128ul) /* f32 [32, 16], row stride 48, model.layers.0.self_attn.q_v_proj.u */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y 10240ul /* f32 [32, 24], activation model.layers.0.self_attn.q_v_proj.y */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y /* f32 [32, 16], row stride 24, model.layers.0.self_attn.q_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y + 64ul) /* f32 [32, 8], row stride 24, model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 0ul /* f32 [32, 32], activation model.layers.0.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* f32 [32, 24], row stride 32, model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_U (EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* f32 [32, 8], row stride 32, model.layers.0.mlp.down_proj.u */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 4096ul /* f32 [32, 32], activation model.layers.0.mlp.down_proj.y */
#define LOSS_ROWS_PART_LSE 58624ul /* f32 [32, 1], activation loss.rows.part.lse */
#define LOSS_ROWS_PART_TARGET 59136ul /* f32 [32, 1], activation loss.rows.part.target */
#define LOSS_ROWS_PART_LSE_ALL 58368ul /* f32 [64, 1], activation loss.rows.part.lse.all */
#define LOSS_ROWS_PART_TARGET_ALL 58624ul /* f32 [64, 1], activation loss.rows.part.target.all */
#define EVALUATE_LOSS_ROWS_PART_LSE 256ul /* f32 [32, 1], activation loss.rows.part.lse */
#define EVALUATE_LOSS_ROWS_PART_TARGET 512ul /* f32 [32, 1], activation loss.rows.part.target */
#define EVALUATE_LOSS_ROWS_PART_LSE_ALL 0ul /* f32 [64, 1], activation loss.rows.part.lse.all */
#define EVALUATE_LOSS_ROWS_PART_TARGET_ALL 256ul /* f32 [64, 1], activation loss.rows.part.target.all */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1280ul

#define INPUT_IDS 0ul /* i32 [32, 1], input input_ids */
#define LABELS 256ul /* i32 [32, 1], input labels */
#define POSITIONS 512ul /* i32 [32, 1], input positions */
#define LOSS_WEIGHT 768ul /* f32 [1], input loss_weight */
#define FIRST_ROW 1024ul /* i32 [1], input first_row */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 60160ul
#define GEMM_WORKSPACE_BYTES 4194304ul
#define GEMM_SIDE_WORKSPACE 4254464ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 18,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 8,
    MICRO_STEP_OUTPUTS = 63,
    UPDATE_OUTPUTS = 24,
    EVALUATE_OUTPUTS = 30,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
