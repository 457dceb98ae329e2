/* Offsets of all buffers of tensor, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 133376ul

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
#define GROUP_RANK 2816ul /* i32 [1], counter */
#define ROPE_COS 3072ul /* f32 [16, 4], constant */
#define ROPE_SIN 3328ul /* f32 [16, 4], constant */
#define ROPE_INV_FREQ 3584ul /* f32 [4], constant */
#define LOSS_GRAD 3840ul /* f32 [1], constant */
#define MODEL_EMBED_TOKENS_WEIGHT 4096ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 8192ul /* f32 [32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT 8448ul /* f32 [8, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT 9472ul /* f32 [32, 16], frozen */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 11520ul /* f32 [32], frozen */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT 11776ul /* f32 [24, 32], frozen */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT 14848ul /* f32 [24, 32], frozen */
#define MODEL_NORM_WEIGHT 17920ul /* f32 [32], frozen */
#define LM_HEAD_WEIGHT 18176ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED 22272ul /* f32 [40, 48], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED /* f32 [24, 48] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 160ul) /* f32 [16, 8], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 3200ul) /* f32 [8, 8], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_V_Q_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 4608ul) /* f32 [16, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 4608ul) /* f32 [8, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_BORDERED + 6144ul) /* f32 [8, 32], row stride 48 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED 29952ul /* f32 [40, 32], frozen */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* f32 [32, 24], row stride 32 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* f32 [32, 32] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 96ul) /* f32 [32, 8], row stride 32 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 4096ul) /* f32 [8, 24], row stride 32 */
#define TRAINED 35072ul /* f32 [6, 1024], adapter */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT TRAINED /* f32 [8, 24] */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT (TRAINED + 4096ul) /* f32 [8, 8] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT (TRAINED + 8192ul) /* f32 [16, 8] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT (TRAINED + 12288ul) /* f32 [32, 8] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT (TRAINED + 20480ul) /* f32 [8, 32] */
#define GRADIENT 59648ul /* f32 [6, 1024], gradient */
#define GRADIENT_SHARDED GRADIENT /* f32 [3, 1024] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD GRADIENT /* f32 [8, 24] */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 4096ul) /* f32 [8, 8] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 8192ul) /* f32 [16, 8] */
#define GRADIENT_PARTIAL (GRADIENT + 12288ul) /* f32 [3, 1024] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 12288ul) /* f32 [32, 8] */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 16384ul) /* f32 [8, 32] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 20480ul) /* f32 [8, 32] */
#define EXP_AVG 84224ul /* f32 [6, 1024], optimizer */
#define EXP_AVG_SQ 108800ul /* f32 [6, 1024], optimizer */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8439552ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define MODEL_EMBED_TOKENS 6144ul /* f32 [32, 32], micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ 49152ul /* f32 [32, 8],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN 47104ul /* f32 [32, 16],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 50176ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 10240ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 14336ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 18432ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 50432ul /* f32 [32, 1],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 34816ul /* f32 [32, 24],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ 37888ul /* f32 [32, 24],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL 6144ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_NORM 10240ul /* f32 [32, 32], micro_step until lm_head */
#define MODEL_NORM_RSTD 50688ul /* f32 [32, 1], micro_step until model.layers.0.mlp_residual.grad */
#define LM_HEAD 18432ul /* f32 [32, 32], micro_step until model.norm.grad */
#define LOSS_ROWS_LSE 10752ul /* f32 [32, 1], micro_step until lm_head.grad */
#define EVALUATE_MODEL_EMBED_TOKENS 6144ul /* f32 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ 13312ul /* f32 [32, 8],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 4096ul /* f32 [32, 16],
    evaluate until model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 0ul /* f32 [32, 2],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32],
    evaluate until model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 10240ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 14336ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ 4096ul /* f32 [32, 24],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ 7168ul /* f32 [32, 24],
    evaluate until model.layers.0.mlp.act */
#define EVALUATE_MODEL_NORM 0ul /* f32 [32, 32], evaluate until lm_head */
#define EVALUATE_LM_HEAD 4096ul /* f32 [32, 32], evaluate until loss.rows.part */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_DROPOUT 22528ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_DROPOUT 26624ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.v_proj.u,
    side model.layers.0.self_attn.v_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_DROPOUT 40960ul /* f32 [32, 24],
    micro_step until model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_NORM_GRAD 10240ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD 18432ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad,
    side model.layers.0.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U_GRAD 9216ul /* f32 [32, 8],
    micro_step until model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 6144ul /* f32 [32, 24],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 10240ul /* f32 [32, 24],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 40960ul /* f32 [32, 24],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 6144ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 10240ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 6144ul /* f32 [32, 16],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 47104ul /* f32 [32, 8],
    micro_step side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 48128ul /* f32 [32, 8],
    micro_step side model.layers.0.self_attn.v_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 37888ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD 34816ul /* f32 [32, 16],
    micro_step until model.layers.0.self_attn.q_proj.u.grad,
    side model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_U_GRAD 30720ul /* f32 [32, 8],
    micro_step side model.layers.0.self_attn.v_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U_GRAD 36864ul /* f32 [32, 8],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define GRAD_NORM_SHARDED_COLUMNS 0ul /* f32 [1024], update until grad_norm.sharded.squared */
#define GRAD_NORM_SHARDED_SQUARED 4096ul /* f32 [1], update until grad_norm.shared.squared */
#define GRAD_NORM_SHARED_COLUMNS 0ul /* f32 [1024], update until grad_norm.shared.squared */
#define CLIP_FACTOR 4352ul /* f32 [1], update until adamw */
#define RATES_LR 4608ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION1 4864ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION2_SQRT 5120ul /* f32 [1], update until adamw */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U 0ul /* f32 [32, 48],
    micro_step until model.layers.0.self_attn.q_v_proj.y,
    side model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM \
    MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U + 128ul) /* f32 [32, 8], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U + 160ul) /* f32 [32, 8], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y 44032ul /* f32 [32, 24],
    micro_step until model.layers.0.self_attn.grad, side model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y /* f32 [32, 16], row stride 24 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ \
    MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y /* f32 [32, 16], row stride 24 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ \
    (MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y + 64ul) /* f32 [32, 8], row stride 24 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 30720ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp.down_proj.y,
    side model.layers.0.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* f32 [32, 24], row stride 32 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* f32 [32, 8], row stride 32 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 18432ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U 0ul /* f32 [32, 48],
    evaluate until model.layers.0.self_attn.q_v_proj.y */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U /* f32 [32, 32], row stride 48 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_Q_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_X_U + 128ul) /* f32 [32, 16], row stride 48 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y 10240ul /* f32 [32, 24],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y /* f32 [32, 16], row stride 24 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_V_PROJ_Y + 64ul) /* f32 [32, 8], row stride 24 */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 0ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT \
    EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* f32 [32, 24], row stride 32 */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_U \
    (EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* f32 [32, 8], row stride 32 */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 4096ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define LOSS_ROWS_PART_LSE 10496ul /* f32 [32, 1], micro_step until loss.rows.part.lse */
#define LOSS_ROWS_PART_TARGET 10752ul /* f32 [32, 1], micro_step until loss.rows.part.target */
#define LOSS_ROWS_PART_LSE_ALL 10240ul /* f32 [64, 1], micro_step until loss.rows */
#define LOSS_ROWS_PART_TARGET_ALL 10496ul /* f32 [64, 1], micro_step until loss.rows */
#define EVALUATE_LOSS_ROWS_PART_LSE 256ul /* f32 [32, 1], evaluate until loss.rows.part.lse */
#define EVALUATE_LOSS_ROWS_PART_TARGET 512ul /* f32 [32, 1], evaluate until loss.rows.part.target */
#define EVALUATE_LOSS_ROWS_PART_LSE_ALL 0ul /* f32 [64, 1], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS_PART_TARGET_ALL 256ul /* f32 [64, 1], evaluate until loss.rows */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1280ul

#define INPUT_IDS 0ul /* i32 [32, 1] */
#define LABELS 256ul /* i32 [32, 1] */
#define POSITIONS 512ul /* i32 [32, 1] */
#define LOSS_WEIGHT 768ul /* f32 [1] */
#define FIRST_ROW 1024ul /* i32 [1] */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 50944ul
#define GEMM_WORKSPACE_BYTES 4194304ul
#define GEMM_SIDE_WORKSPACE 4245248ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 18,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 8,
    MICRO_STEP_OUTPUTS = 61,
    UPDATE_OUTPUTS = 24,
    EVALUATE_OUTPUTS = 27,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
