/* Offsets of all buffers of lora, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 311296ul

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
#define MODEL_EMBED_TOKENS_WEIGHT 4352ul /* f32 [64, 32], frozen model.embed_tokens.weight */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 12544ul /* f32 [32], frozen model.layers.0.input_layernorm.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT 12800ul /* f32 [32, 32], frozen model.layers.0.self_attn.q_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT 16896ul /* f32 [16, 32], frozen model.layers.0.self_attn.k_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT 18944ul /* f32 [16, 32], frozen model.layers.0.self_attn.v_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT 20992ul /* f32 [32, 32], frozen model.layers.0.self_attn.o_proj.weight */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 25088ul /* f32 [32], frozen model.layers.0.post_attention_layernorm.weight */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT 25344ul /* f32 [48, 32], frozen model.layers.0.mlp.gate_proj.weight */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT 31488ul /* f32 [48, 32], frozen model.layers.0.mlp.up_proj.weight */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT 37632ul /* f32 [32, 48], frozen model.layers.0.mlp.down_proj.weight */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT 43776ul /* f32 [32], frozen model.layers.1.input_layernorm.weight */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT 44032ul /* f32 [32, 32], frozen model.layers.1.self_attn.q_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT 48128ul /* f32 [16, 32], frozen model.layers.1.self_attn.k_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT 50176ul /* f32 [16, 32], frozen model.layers.1.self_attn.v_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT 52224ul /* f32 [32, 32], frozen model.layers.1.self_attn.o_proj.weight */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT 56320ul /* f32 [32], frozen model.layers.1.post_attention_layernorm.weight */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT 56576ul /* f32 [48, 32], frozen model.layers.1.mlp.gate_proj.weight */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT 62720ul /* f32 [48, 32], frozen model.layers.1.mlp.up_proj.weight */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT 68864ul /* f32 [32, 48], frozen model.layers.1.mlp.down_proj.weight */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT 75008ul /* f32 [32], frozen model.layers.2.input_layernorm.weight */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT 75264ul /* f32 [32, 32], frozen model.layers.2.self_attn.q_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT 79360ul /* f32 [16, 32], frozen model.layers.2.self_attn.k_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT 81408ul /* f32 [16, 32], frozen model.layers.2.self_attn.v_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT 83456ul /* f32 [32, 32], frozen model.layers.2.self_attn.o_proj.weight */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT 87552ul /* f32 [32], frozen model.layers.2.post_attention_layernorm.weight */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT 87808ul /* f32 [48, 32], frozen model.layers.2.mlp.gate_proj.weight */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT 93952ul /* f32 [48, 32], frozen model.layers.2.mlp.up_proj.weight */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT 100096ul /* f32 [32, 48], frozen model.layers.2.mlp.down_proj.weight */
#define MODEL_NORM_WEIGHT 106240ul /* f32 [32], frozen model.norm.weight */
#define LM_HEAD_WEIGHT 106496ul /* f32 [64, 32], frozen lm_head.weight */
#define TRAINED 114688ul /* f32 [12, 1024], adapter trained */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_LORA_B_WEIGHT TRAINED /* f32 [32, 4], model.layers.2.mlp.down_proj.lora_B.weight */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_LORA_A_WEIGHT (TRAINED + 4096ul) /* f32 [4, 48], model.layers.2.mlp.down_proj.lora_A.weight */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT (TRAINED + 8192ul) /* f32 [32, 4], model.layers.2.self_attn.q_proj.lora_B.weight */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT (TRAINED + 12288ul) /* f32 [4, 32], model.layers.2.self_attn.q_proj.lora_A.weight */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT (TRAINED + 32768ul) /* f32 [32, 4], model.layers.0.mlp.down_proj.lora_B.weight */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT (TRAINED + 36864ul) /* f32 [4, 48], model.layers.0.mlp.down_proj.lora_A.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT (TRAINED + 40960ul) /* f32 [32, 4], model.layers.0.self_attn.q_proj.lora_B.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT (TRAINED + 45056ul) /* f32 [4, 32], model.layers.0.self_attn.q_proj.lora_A.weight */
#define GRADIENT 163840ul /* f32 [12, 1024], gradient */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 16384ul) /* f32 [32, 4], model.layers.1.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 20480ul) /* f32 [4, 48], model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 24576ul) /* f32 [32, 4], model.layers.1.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 28672ul) /* f32 [4, 32], model.layers.1.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 32768ul) /* f32 [32, 4], model.layers.0.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 36864ul) /* f32 [4, 48], model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 40960ul) /* f32 [32, 4], model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 45056ul) /* f32 [4, 32], model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define EXP_AVG 212992ul /* f32 [12, 1024], optimizer exp_avg */
#define EXP_AVG_SQ 262144ul /* f32 [12, 1024], optimizer exp_avg_sq */

/* Buffers at equal distances, by the number in their names. */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT + (i) * 31232ul) /* f32 [32, 32], model.layers.*.self_attn.q_proj.weight */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT - (i) * 16384ul) /* f32 [4, 32], model.layers.*.self_attn.q_proj.lora_A.weight */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT - (i) * 16384ul) /* f32 [32, 4], model.layers.*.self_attn.q_proj.lora_B.weight */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT + (i) * 31232ul) /* f32 [16, 32], model.layers.*.self_attn.k_proj.weight */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT + (i) * 31232ul) /* f32 [16, 32], model.layers.*.self_attn.v_proj.weight */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT + (i) * 31232ul) /* f32 [32, 32], model.layers.*.self_attn.o_proj.weight */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT + (i) * 31232ul) /* f32 [32], model.layers.*.post_attention_layernorm.weight */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT(i) (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT + (i) * 31232ul) /* f32 [48, 32], model.layers.*.mlp.gate_proj.weight */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT(i) (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT + (i) * 31232ul) /* f32 [48, 32], model.layers.*.mlp.up_proj.weight */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT + (i) * 31232ul) /* f32 [32, 48], model.layers.*.mlp.down_proj.weight */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT - (i) * 16384ul) /* f32 [4, 48], model.layers.*.mlp.down_proj.lora_A.weight */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT - (i) * 16384ul) /* f32 [32, 4], model.layers.*.mlp.down_proj.lora_B.weight */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 16384ul) /* f32 [32, 4], model.layers.*.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 16384ul) /* f32 [4, 48], model.layers.*.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 16384ul) /* f32 [32, 4], model.layers.*.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 16384ul) /* f32 [4, 32], model.layers.*.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT + ((i) - 1) * 31232ul) /* f32 [32], model.layers.*.input_layernorm.weight */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8654848ul

#define MODEL_EMBED_TOKENS 6144ul /* f32 [32, 32], activation model.embed_tokens */
#define MODEL_LAYERS_0_INPUT_LAYERNORM 96256ul /* f32 [32, 32], activation model.layers.0.input_layernorm */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ 145408ul /* f32 [32, 16], activation model.layers.0.self_attn.v_proj */
#define MODEL_LAYERS_0_SELF_ATTN 100352ul /* f32 [32, 32], activation model.layers.0.self_attn */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 154624ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32], activation model.layers.0.self_attn.o_proj */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 104448ul /* f32 [32, 32], activation model.layers.0.attn_residual */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 10240ul /* f32 [32, 32], activation model.layers.0.post_attention_layernorm */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 155392ul /* f32 [32, 1], activation model.layers.0.post_attention_layernorm.rstd */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 16384ul /* f32 [32, 48], activation model.layers.0.mlp.gate_proj */
#define MODEL_LAYERS_0_MLP_UP_PROJ 22528ul /* f32 [32, 48], activation model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_MLP_ACT 28672ul /* f32 [32, 48], activation model.layers.0.mlp.act */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ 83968ul /* f32 [32, 32], activation model.layers.0.mlp.down_proj */
#define MODEL_LAYERS_0_MLP_RESIDUAL 108544ul /* f32 [32, 32], activation model.layers.0.mlp_residual */
#define MODEL_LAYERS_1_INPUT_LAYERNORM 112640ul /* f32 [32, 32], activation model.layers.1.input_layernorm */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 155648ul /* f32 [32, 1], activation model.layers.1.input_layernorm.rstd */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ 147456ul /* f32 [32, 16], activation model.layers.1.self_attn.v_proj */
#define MODEL_LAYERS_1_SELF_ATTN 116736ul /* f32 [32, 32], activation model.layers.1.self_attn */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 154880ul /* f32 [32, 2], activation model.layers.1.self_attn.lse */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 90112ul /* f32 [32, 32], activation model.layers.1.self_attn.o_proj */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 120832ul /* f32 [32, 32], activation model.layers.1.attn_residual */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 0ul /* f32 [32, 32], activation model.layers.1.post_attention_layernorm */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 155904ul /* f32 [32, 1], activation model.layers.1.post_attention_layernorm.rstd */
#define MODEL_LAYERS_1_MLP_GATE_PROJ 34816ul /* f32 [32, 48], activation model.layers.1.mlp.gate_proj */
#define MODEL_LAYERS_1_MLP_UP_PROJ 40960ul /* f32 [32, 48], activation model.layers.1.mlp.up_proj */
#define MODEL_LAYERS_1_MLP_ACT 47104ul /* f32 [32, 48], activation model.layers.1.mlp.act */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ 90112ul /* f32 [32, 32], activation model.layers.1.mlp.down_proj */
#define MODEL_LAYERS_1_MLP_RESIDUAL 124928ul /* f32 [32, 32], activation model.layers.1.mlp_residual */
#define MODEL_LAYERS_2_INPUT_LAYERNORM 129024ul /* f32 [32, 32], activation model.layers.2.input_layernorm */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 156160ul /* f32 [32, 1], activation model.layers.2.input_layernorm.rstd */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ 149504ul /* f32 [32, 16], activation model.layers.2.self_attn.v_proj */
#define MODEL_LAYERS_2_SELF_ATTN 133120ul /* f32 [32, 32], activation model.layers.2.self_attn */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 155136ul /* f32 [32, 2], activation model.layers.2.self_attn.lse */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ 0ul /* f32 [32, 32], activation model.layers.2.self_attn.o_proj */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 137216ul /* f32 [32, 32], activation model.layers.2.attn_residual */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 4096ul /* f32 [32, 32], activation model.layers.2.post_attention_layernorm */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 156416ul /* f32 [32, 1], activation model.layers.2.post_attention_layernorm.rstd */
#define MODEL_LAYERS_2_MLP_GATE_PROJ 53248ul /* f32 [32, 48], activation model.layers.2.mlp.gate_proj */
#define MODEL_LAYERS_2_MLP_UP_PROJ 59392ul /* f32 [32, 48], activation model.layers.2.mlp.up_proj */
#define MODEL_LAYERS_2_MLP_ACT 65536ul /* f32 [32, 48], activation model.layers.2.mlp.act */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ 71680ul /* f32 [32, 32], activation model.layers.2.mlp.down_proj */
#define MODEL_LAYERS_2_MLP_RESIDUAL 141312ul /* f32 [32, 32], activation model.layers.2.mlp_residual */
#define MODEL_NORM 8192ul /* f32 [32, 32], activation model.norm */
#define MODEL_NORM_RSTD 75776ul /* f32 [32, 1], activation model.norm.rstd */
#define LM_HEAD 0ul /* f32 [32, 64], activation lm_head */
#define LOSS_ROWS 156672ul /* f32 [32, 1], activation loss.rows */
#define EVALUATE_MODEL_EMBED_TOKENS 12288ul /* f32 [32, 32], activation model.embed_tokens */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM 6144ul /* f32 [32, 32], activation model.layers.0.input_layernorm */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ 16384ul /* f32 [32, 16], activation model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 0ul /* f32 [32, 32], activation model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 4096ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 4096ul /* f32 [32, 32], activation model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 18432ul /* f32 [32, 32], activation model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 22528ul /* f32 [32, 32], activation model.layers.0.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ 0ul /* f32 [32, 48], activation model.layers.0.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ 6144ul /* f32 [32, 48], activation model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT 12288ul /* f32 [32, 48], activation model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ 0ul /* f32 [32, 32], activation model.layers.0.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 12288ul /* f32 [32, 32], activation model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM 6144ul /* f32 [32, 32], activation model.layers.1.input_layernorm */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ 16384ul /* f32 [32, 16], activation model.layers.1.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 0ul /* f32 [32, 32], activation model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 4096ul /* f32 [32, 2], activation model.layers.1.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 4096ul /* f32 [32, 32], activation model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 18432ul /* f32 [32, 32], activation model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 22528ul /* f32 [32, 32], activation model.layers.1.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ 0ul /* f32 [32, 48], activation model.layers.1.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ 6144ul /* f32 [32, 48], activation model.layers.1.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_ACT 12288ul /* f32 [32, 48], activation model.layers.1.mlp.act */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ 0ul /* f32 [32, 32], activation model.layers.1.mlp.down_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 12288ul /* f32 [32, 32], activation model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM 6144ul /* f32 [32, 32], activation model.layers.2.input_layernorm */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ 16384ul /* f32 [32, 16], activation model.layers.2.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN 0ul /* f32 [32, 32], activation model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 4096ul /* f32 [32, 2], activation model.layers.2.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ 4096ul /* f32 [32, 32], activation model.layers.2.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 18432ul /* f32 [32, 32], activation model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 22528ul /* f32 [32, 32], activation model.layers.2.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_PROJ 0ul /* f32 [32, 48], activation model.layers.2.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_UP_PROJ 6144ul /* f32 [32, 48], activation model.layers.2.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_ACT 12288ul /* f32 [32, 48], activation model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ 0ul /* f32 [32, 32], activation model.layers.2.mlp.down_proj */
#define EVALUATE_MODEL_NORM 8192ul /* f32 [32, 32], activation model.norm */
#define EVALUATE_LM_HEAD 0ul /* f32 [32, 64], activation lm_head */
#define EVALUATE_LOSS_ROWS 8192ul /* f32 [32, 1], activation loss.rows */
#define EVALUATE_LOSS_ROWS_LSE 8448ul /* f32 [32, 1], activation loss.rows.lse */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A 151552ul /* f32 [32, 4], activation model.layers.0.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A 152064ul /* f32 [32, 4], activation model.layers.0.mlp.down_proj.lora_A */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A 152576ul /* f32 [32, 4], activation model.layers.1.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A 153088ul /* f32 [32, 4], activation model.layers.1.mlp.down_proj.lora_A */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_LORA_A 153600ul /* f32 [32, 4], activation model.layers.2.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_LORA_A 154112ul /* f32 [32, 4], activation model.layers.2.mlp.down_proj.lora_A */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A 10240ul /* f32 [32, 4], activation model.layers.0.self_attn.q_proj.lora_A */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A 4096ul /* f32 [32, 4], activation model.layers.0.mlp.down_proj.lora_A */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A 10240ul /* f32 [32, 4], activation model.layers.1.self_attn.q_proj.lora_A */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A 4096ul /* f32 [32, 4], activation model.layers.1.mlp.down_proj.lora_A */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_LORA_A 10240ul /* f32 [32, 4], activation model.layers.2.self_attn.q_proj.lora_A */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_LORA_A 4096ul /* f32 [32, 4], activation model.layers.2.mlp.down_proj.lora_A */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.0.self_attn.q_proj.delta */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED 4096ul /* f32 [32, 32], activation model.layers.0.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48], activation model.layers.0.mlp.down_proj.delta */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED 6144ul /* f32 [32, 48], activation model.layers.0.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.1.self_attn.q_proj.delta */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_MERGED 4096ul /* f32 [32, 32], activation model.layers.1.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48], activation model.layers.1.mlp.down_proj.delta */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_MERGED 6144ul /* f32 [32, 48], activation model.layers.1.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.2.self_attn.q_proj.delta */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_MERGED 4096ul /* f32 [32, 32], activation model.layers.2.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48], activation model.layers.2.mlp.down_proj.delta */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_MERGED 6144ul /* f32 [32, 48], activation model.layers.2.mlp.down_proj.merged */
#define LM_HEAD_GRAD 8192ul /* f32 [32, 64], activation lm_head.grad */
#define MODEL_NORM_GRAD 71680ul /* f32 [32, 32], activation model.norm.grad */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD 12288ul /* f32 [32, 32], activation model.layers.2.mlp_residual.grad */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_LORA_A_GRAD 141312ul /* f32 [32, 4], activation model.layers.2.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 0ul /* f32 [32, 48], activation model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_GATE 6144ul /* f32 [32, 48], activation model.layers.2.mlp.act.grad.gate */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_UP 71680ul /* f32 [32, 48], activation model.layers.2.mlp.act.grad.up */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 0ul /* f32 [32, 32], activation model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_ATTN_RESIDUAL_GRAD 53248ul /* f32 [32, 32], activation model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 57344ul /* f32 [32, 32], activation model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_V 4096ul /* f32 [32, 16], activation model.layers.2.self_attn.grad.v */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 141824ul /* f32 [32, 2], activation model.layers.2.self_attn.grad.delta */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 0ul /* f32 [32, 32], activation model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_LORA_A_GRAD 75776ul /* f32 [32, 4], activation model.layers.2.self_attn.q_proj.lora_A.grad */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD 71680ul /* f32 [32, 32], activation model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_GRAD 76288ul /* f32 [32, 4], activation model.layers.1.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 53248ul /* f32 [32, 48], activation model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE 59392ul /* f32 [32, 48], activation model.layers.1.mlp.act.grad.gate */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP 0ul /* f32 [32, 48], activation model.layers.1.mlp.act.grad.up */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 124928ul /* f32 [32, 32], activation model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 53248ul /* f32 [32, 32], activation model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 90112ul /* f32 [32, 32], activation model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_V 57344ul /* f32 [32, 16], activation model.layers.1.self_attn.grad.v */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 76800ul /* f32 [32, 2], activation model.layers.1.self_attn.grad.delta */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 0ul /* f32 [32, 32], activation model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_GRAD 76800ul /* f32 [32, 4], activation model.layers.1.self_attn.q_proj.lora_A.grad */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD 83968ul /* f32 [32, 32], activation model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_GRAD 77312ul /* f32 [32, 4], activation model.layers.0.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 34816ul /* f32 [32, 48], activation model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 40960ul /* f32 [32, 48], activation model.layers.0.mlp.act.grad.gate */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 53248ul /* f32 [32, 48], activation model.layers.0.mlp.act.grad.up */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 108544ul /* f32 [32, 32], activation model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 0ul /* f32 [32, 32], activation model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 53248ul /* f32 [32, 32], activation model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q 0ul /* f32 [32, 32], activation model.layers.0.self_attn.grad.q */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 83968ul /* f32 [32, 16], activation model.layers.0.self_attn.grad.k */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 86016ul /* f32 [32, 16], activation model.layers.0.self_attn.grad.v */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 57856ul /* f32 [32, 2], activation model.layers.0.self_attn.grad.delta */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD 88064ul /* f32 [32, 32], activation model.layers.0.self_attn.q_proj.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_GRAD 57344ul /* f32 [32, 4], activation model.layers.0.self_attn.q_proj.lora_A.grad */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], activation grad_norm.columns */
#define CLIP_FACTOR 0ul /* f32 [1], activation clip_factor */
#define RATES_LR 256ul /* f32 [1], activation rates.lr */
#define RATES_BIAS_CORRECTION1 512ul /* f32 [1], activation rates.bias_correction1 */
#define RATES_BIAS_CORRECTION2 768ul /* f32 [1], activation rates.bias_correction2 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48], activation model.layers.0.self_attn.q_k_rope.x */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48, model.layers.0.self_attn.q_proj */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48, model.layers.0.self_attn.k_proj */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE 77824ul /* f32 [32, 48], activation model.layers.0.self_attn.q_k_rope */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE /* f32 [32, 32], row stride 48, model.layers.0.self_attn.q_rope */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE + 128ul) /* f32 [32, 16], row stride 48, model.layers.0.self_attn.k_rope */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48], activation model.layers.1.self_attn.q_k_rope.x */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE 83968ul /* f32 [32, 48], activation model.layers.1.self_attn.q_k_rope */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48], activation model.layers.2.self_attn.q_k_rope.x */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE 90112ul /* f32 [32, 48], activation model.layers.2.self_attn.q_k_rope */
#define MODEL_LAYERS_2_SELF_ATTN_K_Q_PROJ_GRAD_X 71680ul /* f32 [32, 48], activation model.layers.2.self_attn.k_q_proj.grad.x */
#define MODEL_LAYERS_2_SELF_ATTN_K_Q_PROJ_GRAD 6144ul /* f32 [32, 48], activation model.layers.2.self_attn.k_q_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD_X 0ul /* f32 [32, 48], activation model.layers.1.self_attn.k_q_proj.grad.x */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_K MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD_X /* f32 [32, 16], row stride 48, model.layers.1.self_attn.grad.k */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_Q (MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD_X + 64ul) /* f32 [32, 32], row stride 48, model.layers.1.self_attn.grad.q */
#define MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD 59392ul /* f32 [32, 48], activation model.layers.1.self_attn.k_q_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD /* f32 [32, 16], row stride 48, model.layers.1.self_attn.k_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD (MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD + 64ul) /* f32 [32, 32], row stride 48, model.layers.1.self_attn.q_proj.grad */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48], activation model.layers.0.self_attn.q_k_rope.x */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48, model.layers.0.self_attn.q_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48, model.layers.0.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE 6144ul /* f32 [32, 48], activation model.layers.0.self_attn.q_k_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_ROPE EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE /* f32 [32, 32], row stride 48, model.layers.0.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_ROPE (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE + 128ul) /* f32 [32, 16], row stride 48, model.layers.0.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48], activation model.layers.1.self_attn.q_k_rope.x */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE 6144ul /* f32 [32, 48], activation model.layers.1.self_attn.q_k_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X 0ul /* f32 [32, 48], activation model.layers.2.self_attn.q_k_rope.x */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X /* f32 [32, 32], row stride 48, model.layers.2.self_attn.q_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X + 128ul) /* f32 [32, 16], row stride 48, model.layers.2.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE 6144ul /* f32 [32, 48], activation model.layers.2.self_attn.q_k_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_ROPE EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE /* f32 [32, 32], row stride 48, model.layers.2.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_ROPE (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE + 128ul) /* f32 [32, 16], row stride 48, model.layers.2.self_attn.k_rope */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], activation grad_norm.columns_partial */

/* Buffers at equal distances, by the number in their names. */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 16384ul) /* f32 [32, 32], model.layers.*.input_layernorm */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A + (i) * 1024ul) /* f32 [32, 4], model.layers.*.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 2048ul) /* f32 [32, 16], model.layers.*.self_attn.v_proj */
#define MODEL_LAYERS_SELF_ATTN_Q_K_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE + (i) * 6144ul) /* f32 [32, 48], model.layers.*.self_attn.q_k_rope */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 6144ul) /* f32 [32, 32], row stride 48, model.layers.*.self_attn.q_rope */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 6144ul) /* f32 [32, 16], row stride 48, model.layers.*.self_attn.k_rope */
#define MODEL_LAYERS_SELF_ATTN(i) (MODEL_LAYERS_0_SELF_ATTN + (i) * 16384ul) /* f32 [32, 32], model.layers.*.self_attn */
#define MODEL_LAYERS_SELF_ATTN_LSE(i) (MODEL_LAYERS_0_SELF_ATTN_LSE + (i) * 256ul) /* f32 [32, 2], model.layers.*.self_attn.lse */
#define MODEL_LAYERS_ATTN_RESIDUAL(i) (MODEL_LAYERS_0_ATTN_RESIDUAL + (i) * 16384ul) /* f32 [32, 32], model.layers.*.attn_residual */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 512ul) /* f32 [32, 1], model.layers.*.post_attention_layernorm.rstd */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) (MODEL_LAYERS_0_MLP_GATE_PROJ + (i) * 18432ul) /* f32 [32, 48], model.layers.*.mlp.gate_proj */
#define MODEL_LAYERS_MLP_UP_PROJ(i) (MODEL_LAYERS_0_MLP_UP_PROJ + (i) * 18432ul) /* f32 [32, 48], model.layers.*.mlp.up_proj */
#define MODEL_LAYERS_MLP_ACT(i) (MODEL_LAYERS_0_MLP_ACT + (i) * 18432ul) /* f32 [32, 48], model.layers.*.mlp.act */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A + (i) * 1024ul) /* f32 [32, 4], model.layers.*.mlp.down_proj.lora_A */
#define MODEL_LAYERS_MLP_RESIDUAL(i) (MODEL_LAYERS_0_MLP_RESIDUAL + (i) * 16384ul) /* f32 [32, 32], model.layers.*.mlp_residual */
#define MODEL_LAYERS_MLP_RESIDUAL_GRAD(i) (MODEL_LAYERS_1_MLP_RESIDUAL_GRAD - ((i) - 1) * 59392ul) /* f32 [32, 32], model.layers.*.mlp_residual.grad */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_GRAD + ((i) - 1) * 65024ul) /* f32 [32, 4], model.layers.*.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_MLP_ACT_GRAD(i) (MODEL_LAYERS_1_MLP_ACT_GRAD - ((i) - 1) * 53248ul) /* f32 [32, 48], model.layers.*.mlp.act.grad */
#define MODEL_LAYERS_MLP_ACT_GRAD_GATE(i) (MODEL_LAYERS_1_MLP_ACT_GRAD_GATE - ((i) - 1) * 53248ul) /* f32 [32, 48], model.layers.*.mlp.act.grad.gate */
#define MODEL_LAYERS_MLP_ACT_GRAD_UP(i) (MODEL_LAYERS_1_MLP_ACT_GRAD_UP + ((i) - 1) * 71680ul) /* f32 [32, 48], model.layers.*.mlp.act.grad.up */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD(i) (MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD - ((i) - 1) * 124928ul) /* f32 [32, 32], model.layers.*.post_attention_layernorm.grad */
#define MODEL_LAYERS_SELF_ATTN_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD - ((i) - 1) * 32768ul) /* f32 [32, 32], model.layers.*.self_attn.grad */
#define MODEL_LAYERS_SELF_ATTN_GRAD_DELTA(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA + ((i) - 1) * 65024ul) /* f32 [32, 2], model.layers.*.self_attn.grad.delta */
#define MODEL_LAYERS_SELF_ATTN_GRAD_Q(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_Q + ((i) - 1) * 71680ul) /* f32 [32, 32], row stride 48, model.layers.*.self_attn.grad.q */
#define MODEL_LAYERS_SELF_ATTN_GRAD_K(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_K + ((i) - 1) * 71680ul) /* f32 [32, 16], row stride 48, model.layers.*.self_attn.grad.k */
#define MODEL_LAYERS_SELF_ATTN_GRAD_V(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_V - ((i) - 1) * 53248ul) /* f32 [32, 16], model.layers.*.self_attn.grad.v */
#define MODEL_LAYERS_SELF_ATTN_K_Q_PROJ_GRAD_X(i) (MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD_X + ((i) - 1) * 71680ul) /* f32 [32, 48], model.layers.*.self_attn.k_q_proj.grad.x */
#define MODEL_LAYERS_SELF_ATTN_K_Q_PROJ_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_K_Q_PROJ_GRAD - ((i) - 1) * 53248ul) /* f32 [32, 48], model.layers.*.self_attn.k_q_proj.grad */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD - ((i) - 1) * 53248ul) /* f32 [32, 16], row stride 48, model.layers.*.self_attn.k_proj.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD - ((i) - 1) * 53248ul) /* f32 [32, 32], row stride 48, model.layers.*.self_attn.q_proj.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_GRAD - ((i) - 1) * 1024ul) /* f32 [32, 4], model.layers.*.self_attn.q_proj.lora_A.grad */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD + ((i) - 1) * 512ul) /* f32 [32, 1], model.layers.*.input_layernorm.rstd */
#define MODEL_LAYERS_FROM_0_MLP_RESIDUAL_GRAD(i) (MODEL_LAYERS_0_MLP_RESIDUAL_GRAD - (i) * 12288ul) /* f32 [32, 32], model.layers.*.mlp_residual.grad */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1024ul

#define INPUT_IDS 0ul /* i32 [32, 1], input input_ids */
#define LABELS 256ul /* i32 [32, 1], input labels */
#define POSITIONS 512ul /* i32 [32, 1], input positions */
#define LOSS_WEIGHT 768ul /* f32 [1], input loss_weight */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 266240ul
#define GEMM_WORKSPACE_BYTES 4194304ul
#define GEMM_SIDE_WORKSPACE 4460544ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 42,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 2,
    MICRO_STEP_OUTPUTS = 138,
    UPDATE_OUTPUTS = 15,
    EVALUATE_OUTPUTS = 62,
    MERGE_OUTPUTS = 12,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];
extern const RtOutput merge_outputs[MERGE_OUTPUTS];

#endif
