/* Offsets of all buffers of dp, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 139520ul

/* STATE of the other cards. */
#define REPLICA_STATE_BYTES 70912ul

#define LOSS_ROWS 0ul /* f32 [32, 1], counter */
#define ROPE_COS 256ul /* f32 [16, 8], constant */
#define ROPE_SIN 768ul /* f32 [16, 8], constant */
#define LOSS_GRAD 1280ul /* f32 [1], constant */
#define MODEL_EMBED_TOKENS_WEIGHT 1536ul /* f32 [64, 32], frozen */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 9728ul /* f32 [32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT 9984ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT 12032ul /* f32 [16, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT 14080ul /* f32 [32, 32], frozen */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 18176ul /* f32 [32], frozen */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT 18432ul /* f32 [48, 32], frozen */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT 24576ul /* f32 [48, 32], frozen */
#define MODEL_NORM_WEIGHT 30720ul /* f32 [32], frozen */
#define LM_HEAD_WEIGHT 30976ul /* f32 [64, 32], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED 39168ul /* f32 [40, 40], frozen */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_W_SB \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED /* f32 [32, 40] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_SB \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED + 128ul) /* f32 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_BORDER \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED + 5120ul) /* f32 [4, 32], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED 45568ul /* f32 [40, 56], frozen */
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
#define GRADIENT_REPLICA 54528ul /* f32 [4, 1024], gradient */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD GRADIENT_REPLICA /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD \
    (GRADIENT_REPLICA + 4096ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD \
    (GRADIENT_REPLICA + 8192ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD \
    (GRADIENT_REPLICA + 12288ul) /* f32 [4, 32] */
#define SEED 70912ul /* i64 [1], counter */
#define STEP 71168ul /* i32 [1], counter */
#define APPLIED 71424ul /* i32 [1], counter */
#define BAD_STEP 71680ul /* i32 [1], counter */
#define STEP_LOSS 71936ul /* f32 [1], counter */
#define EVAL_LOSS 72192ul /* f32 [1], counter */
#define LR 72448ul /* f32 [10, 1], counter */
#define BIAS_CORRECTION1 72704ul /* f32 [10, 1], counter */
#define BIAS_CORRECTION2_SQRT 72960ul /* f32 [10, 1], counter */
#define LOSS 73216ul /* f32 [10, 1], counter */
#define GRAD_NORM 73472ul /* f32 [10, 1], counter */
#define ROPE_INV_FREQ 73728ul /* f32 [8], constant */
#define TRAINED 73984ul /* f32 [4, 1024], adapter */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT TRAINED /* f32 [32, 4] */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT (TRAINED + 4096ul) /* f32 [4, 48] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT (TRAINED + 8192ul) /* f32 [32, 4] */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT (TRAINED + 12288ul) /* f32 [4, 32] */
#define GRADIENT 90368ul /* f32 [4, 1024], gradient */
#define EXP_AVG 106752ul /* f32 [4, 1024], optimizer */
#define EXP_AVG_SQ 123136ul /* f32 [4, 1024], optimizer */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 4460544ul

/* A buffer lives until the last launch that uses it, named as in program.c's
 * comments, and until the last one on another stream than compute. */
#define MODEL_EMBED_TOKENS 0ul /* f32 [32, 32], micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ 62464ul /* f32 [32, 16],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN 50176ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 64512ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 45056ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 54272ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 27648ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 64768ul /* f32 [32, 1],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 15360ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ 21504ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL 27648ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_NORM 45056ul /* f32 [32, 32], micro_step until lm_head */
#define MODEL_NORM_RSTD 31744ul /* f32 [32, 1], micro_step until model.layers.0.mlp_residual.grad */
#define LM_HEAD 0ul /* f32 [32, 64], micro_step until model.norm.grad */
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
#define EVALUATE_MODEL_NORM 8192ul /* f32 [32, 32], evaluate until lm_head */
#define EVALUATE_LM_HEAD 0ul /* f32 [32, 64], evaluate until loss.rows */
#define EVALUATE_LOSS_ROWS 8192ul /* f32 [32, 1], evaluate until loss */
#define MODEL_NORM_GRAD 58368ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 0ul /* f32 [32, 48],
    micro_step until model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 6144ul /* f32 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 27648ul /* f32 [32, 48],
    micro_step until model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 0ul /* f32 [32, 32],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 4096ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 45056ul /* f32 [32, 32],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 49152ul /* f32 [32, 16],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 51200ul /* f32 [32, 16],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 54272ul /* f32 [32, 2],
    micro_step until model.layers.0.self_attn.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], update until grad_norm.squared */
#define CLIP_FACTOR 0ul /* f32 [1], update until adamw */
#define RATES_LR 256ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION1 512ul /* f32 [1], update until adamw */
#define RATES_BIAS_CORRECTION2_SQRT 768ul /* f32 [1], update until adamw */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U 39936ul /* f32 [32, 40],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_INPUT_LAYERNORM \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U /* f32 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V 0ul /* f32 [32, 40],
    micro_step until model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD \
    MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V /* f32 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U_GRAD \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V + 128ul) /* f32 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_V \
    (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V + 128ul) /* f32 [32, 8], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 8192ul /* f32 [32, 56],
    micro_step until model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_ACT MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* f32 [32, 48], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 192ul) /* f32 [32, 8], row stride 56 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 0ul /* f32 [32, 32],
    micro_step until model.layers.0.mlp_residual */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V 45056ul /* f32 [32, 40],
    micro_step until model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD \
    MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V /* f32 [32, 32], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U_GRAD \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 128ul) /* f32 [32, 4], row stride 40 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_V \
    (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 128ul) /* f32 [32, 8], row stride 40 */
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
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 12288ul /* f32 [32, 32],
    evaluate until model.layers.0.mlp_residual */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 33792ul /* f32 [32, 48],
    micro_step until model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y \
    MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ \
    (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48],
    evaluate until model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y \
    EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48 */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ \
    (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48 */
#define LOSS_ROWS_ALL 0ul /* f32 [64, 1], collect until loss */
#define COLLECT_LOSS_ROWS_ALL (LOSS_ROWS_ALL + 128ul) /* f32 [32, 1] */
#define GRADIENT_CARD1 0ul /* f32 [4, 1024], collect until gradient.sum */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], update until grad_norm.columns */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1024ul

#define INPUT_IDS 0ul /* i32 [32, 1] */
#define LABELS 256ul /* i32 [32, 1] */
#define POSITIONS 512ul /* i32 [32, 1] */
#define LOSS_WEIGHT 768ul /* f32 [1] */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 266240ul
#define GEMM_WORKSPACE_BYTES 4194304ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 16,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 6,
    REPLICATE_OUTPUTS = 12,
    MICRO_STEP_OUTPUTS = 44,
    COLLECT_OUTPUTS = 5,
    UPDATE_OUTPUTS = 20,
    EVALUATE_OUTPUTS = 21,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput replicate_outputs[REPLICATE_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput collect_outputs[COLLECT_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];

#endif
