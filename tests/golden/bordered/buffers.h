/* Offsets of all buffers of bordered, in bytes from the start of their arenas. */
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
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED /* bf16 [32, 32], row stride 56, model.layers.0.self_attn.q_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_SB MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED /* bf16 [64, 56], model.layers.0.self_attn.q_k_v_proj.bordered.W|sB */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED_SB (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 64ul) /* bf16 [64, 24], row stride 56, model.layers.0.self_attn.q_k_v_proj.bordered.sB */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 96ul) /* bf16 [32, 4], row stride 56, model.layers.0.self_attn.q_proj.lora_B.border */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 3584ul) /* bf16 [16, 32], row stride 56, model.layers.0.self_attn.k_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 3664ul) /* bf16 [16, 4], row stride 56, model.layers.0.self_attn.k_proj.lora_B.border */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 5376ul) /* bf16 [16, 32], row stride 56, model.layers.0.self_attn.v_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 5440ul) /* bf16 [16, 4], row stride 56, model.layers.0.self_attn.v_proj.lora_B.border */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED_A (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 7168ul) /* bf16 [24, 32], row stride 56, model.layers.0.self_attn.q_k_v_proj.bordered.A */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_BORDER (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 7168ul) /* bf16 [4, 32], row stride 56, model.layers.0.self_attn.v_proj.lora_A.border */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_BORDER (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 8064ul) /* bf16 [4, 32], row stride 56, model.layers.0.self_attn.k_proj.lora_A.border */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_BORDER (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED + 8960ul) /* bf16 [4, 32], row stride 56, model.layers.0.self_attn.q_proj.lora_A.border */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED 24320ul /* bf16 [40, 40], frozen model.layers.0.self_attn.o_proj.bordered */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED /* bf16 [32, 32], row stride 40, model.layers.0.self_attn.o_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_W_A MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED /* bf16 [40, 32], row stride 40, model.layers.0.self_attn.o_proj.bordered.W;A */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_W_SB MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED /* bf16 [32, 40], model.layers.0.self_attn.o_proj.bordered.W|sB */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_SB (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.self_attn.o_proj.bordered.sB */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED + 64ul) /* bf16 [32, 4], row stride 40, model.layers.0.self_attn.o_proj.lora_B.border */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_A (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED + 2560ul) /* bf16 [8, 32], row stride 40, model.layers.0.self_attn.o_proj.bordered.A */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_BORDER (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED + 2560ul) /* bf16 [4, 32], row stride 40, model.layers.0.self_attn.o_proj.lora_A.border */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED 27648ul /* bf16 [112, 48], frozen model.layers.0.mlp.gate_up_proj.bordered */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED /* bf16 [48, 32], row stride 48, model.layers.0.mlp.gate_proj.weight */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_W_A MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED /* bf16 [112, 32], row stride 48, model.layers.0.mlp.gate_up_proj.bordered.W;A */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_W_SB MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED /* bf16 [96, 48], model.layers.0.mlp.gate_up_proj.bordered.W|sB */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_SB (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 64ul) /* bf16 [96, 16], row stride 48, model.layers.0.mlp.gate_up_proj.bordered.sB */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 80ul) /* bf16 [48, 4], row stride 48, model.layers.0.mlp.gate_proj.lora_B.border */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 4608ul) /* bf16 [48, 32], row stride 48, model.layers.0.mlp.up_proj.weight */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 4672ul) /* bf16 [48, 4], row stride 48, model.layers.0.mlp.up_proj.lora_B.border */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_A (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 9216ul) /* bf16 [16, 32], row stride 48, model.layers.0.mlp.gate_up_proj.bordered.A */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_BORDER (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 9216ul) /* bf16 [4, 32], row stride 48, model.layers.0.mlp.up_proj.lora_A.border */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_BORDER (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED + 9984ul) /* bf16 [4, 32], row stride 48, model.layers.0.mlp.gate_proj.lora_A.border */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED 38400ul /* bf16 [40, 56], frozen model.layers.0.mlp.down_proj.bordered */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* bf16 [32, 48], row stride 56, model.layers.0.mlp.down_proj.weight */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_A MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* bf16 [40, 48], row stride 56, model.layers.0.mlp.down_proj.bordered.W;A */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_SB MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED /* bf16 [32, 56], model.layers.0.mlp.down_proj.bordered.W|sB */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_SB (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 96ul) /* bf16 [32, 8], row stride 56, model.layers.0.mlp.down_proj.bordered.sB */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_BORDER (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 96ul) /* bf16 [32, 4], row stride 56, model.layers.0.mlp.down_proj.lora_B.border */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_A (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 3584ul) /* bf16 [8, 48], row stride 56, model.layers.0.mlp.down_proj.bordered.A */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_BORDER (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED + 3584ul) /* bf16 [4, 48], row stride 56, model.layers.0.mlp.down_proj.lora_A.border */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED 43008ul /* bf16 [88, 56], frozen model.layers.1.self_attn.q_k_v_proj.bordered */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_A MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED /* bf16 [88, 32], row stride 56, model.layers.1.self_attn.q_k_v_proj.bordered.W;A */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED_SB (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED + 64ul) /* bf16 [64, 24], row stride 56, model.layers.1.self_attn.q_k_v_proj.bordered.sB */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED 52992ul /* bf16 [40, 40], frozen model.layers.1.self_attn.o_proj.bordered */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED_W_A MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED /* bf16 [40, 32], row stride 40, model.layers.1.self_attn.o_proj.bordered.W;A */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED_SB (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED + 64ul) /* bf16 [32, 8], row stride 40, model.layers.1.self_attn.o_proj.bordered.sB */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_BORDERED 56320ul /* bf16 [112, 48], frozen model.layers.1.mlp.gate_up_proj.bordered */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_BORDERED_W_A MODEL_LAYERS_1_MLP_GATE_UP_PROJ_BORDERED /* bf16 [112, 32], row stride 48, model.layers.1.mlp.gate_up_proj.bordered.W;A */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_BORDERED_SB (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_BORDERED + 64ul) /* bf16 [96, 16], row stride 48, model.layers.1.mlp.gate_up_proj.bordered.sB */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED 67072ul /* bf16 [40, 56], frozen model.layers.1.mlp.down_proj.bordered */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_W_A MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED /* bf16 [40, 48], row stride 56, model.layers.1.mlp.down_proj.bordered.W;A */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_SB (MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED + 96ul) /* bf16 [32, 8], row stride 56, model.layers.1.mlp.down_proj.bordered.sB */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_BORDERED 71680ul /* bf16 [88, 56], frozen model.layers.2.self_attn.q_k_v_proj.bordered */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_SB MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_BORDERED /* bf16 [64, 56], model.layers.2.self_attn.q_k_v_proj.bordered.W|sB */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_BORDERED_A (MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_BORDERED + 7168ul) /* bf16 [24, 32], row stride 56, model.layers.2.self_attn.q_k_v_proj.bordered.A */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BORDERED 81664ul /* bf16 [40, 40], frozen model.layers.2.self_attn.o_proj.bordered */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BORDERED_W_SB MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BORDERED /* bf16 [32, 40], model.layers.2.self_attn.o_proj.bordered.W|sB */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BORDERED_A (MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BORDERED + 2560ul) /* bf16 [8, 32], row stride 40, model.layers.2.self_attn.o_proj.bordered.A */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_BORDERED 84992ul /* bf16 [112, 48], frozen model.layers.2.mlp.gate_up_proj.bordered */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_BORDERED_W_SB MODEL_LAYERS_2_MLP_GATE_UP_PROJ_BORDERED /* bf16 [96, 48], model.layers.2.mlp.gate_up_proj.bordered.W|sB */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_BORDERED_A (MODEL_LAYERS_2_MLP_GATE_UP_PROJ_BORDERED + 9216ul) /* bf16 [16, 32], row stride 48, model.layers.2.mlp.gate_up_proj.bordered.A */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED 95744ul /* bf16 [40, 56], frozen model.layers.2.mlp.down_proj.bordered */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED_W_SB MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED /* bf16 [32, 56], model.layers.2.mlp.down_proj.bordered.W|sB */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED_A (MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED + 3584ul) /* bf16 [8, 48], row stride 56, model.layers.2.mlp.down_proj.bordered.A */
#define TRAINED 100352ul /* bf16 [42, 1024], adapter trained */
#define GRADIENT 186368ul /* f32 [42, 1024], gradient */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 57344ul) /* f32 [32, 4], model.layers.1.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 61440ul) /* f32 [4, 48], model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_MLP_UP_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 65536ul) /* f32 [48, 4], model.layers.1.mlp.up_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 69632ul) /* f32 [48, 4], model.layers.1.mlp.gate_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_MLP_UP_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 73728ul) /* f32 [4, 32], model.layers.1.mlp.up_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 77824ul) /* f32 [4, 32], model.layers.1.mlp.gate_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 81920ul) /* f32 [32, 4], model.layers.1.self_attn.o_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 86016ul) /* f32 [4, 32], model.layers.1.self_attn.o_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 90112ul) /* f32 [16, 4], model.layers.1.self_attn.v_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 94208ul) /* f32 [16, 4], model.layers.1.self_attn.k_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 98304ul) /* f32 [32, 4], model.layers.1.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 102400ul) /* f32 [4, 32], model.layers.1.self_attn.v_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 106496ul) /* f32 [4, 32], model.layers.1.self_attn.k_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 110592ul) /* f32 [4, 32], model.layers.1.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 114688ul) /* f32 [32, 4], model.layers.0.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 118784ul) /* f32 [4, 48], model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 122880ul) /* f32 [48, 4], model.layers.0.mlp.up_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 126976ul) /* f32 [48, 4], model.layers.0.mlp.gate_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 131072ul) /* f32 [4, 32], model.layers.0.mlp.up_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 135168ul) /* f32 [4, 32], model.layers.0.mlp.gate_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 139264ul) /* f32 [32, 4], model.layers.0.self_attn.o_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 143360ul) /* f32 [4, 32], model.layers.0.self_attn.o_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 147456ul) /* f32 [16, 4], model.layers.0.self_attn.v_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 151552ul) /* f32 [16, 4], model.layers.0.self_attn.k_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 155648ul) /* f32 [32, 4], model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 159744ul) /* f32 [4, 32], model.layers.0.self_attn.v_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 163840ul) /* f32 [4, 32], model.layers.0.self_attn.k_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 167936ul) /* f32 [4, 32], model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define MASTER 358400ul /* f32 [42, 1024], optimizer master */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 114688ul) /* f32 [32, 4], model.layers.0.mlp.down_proj.lora_B.weight.master */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 118784ul) /* f32 [4, 48], model.layers.0.mlp.down_proj.lora_A.weight.master */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 122880ul) /* f32 [48, 4], model.layers.0.mlp.up_proj.lora_B.weight.master */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 126976ul) /* f32 [48, 4], model.layers.0.mlp.gate_proj.lora_B.weight.master */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 131072ul) /* f32 [4, 32], model.layers.0.mlp.up_proj.lora_A.weight.master */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 135168ul) /* f32 [4, 32], model.layers.0.mlp.gate_proj.lora_A.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 139264ul) /* f32 [32, 4], model.layers.0.self_attn.o_proj.lora_B.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 143360ul) /* f32 [4, 32], model.layers.0.self_attn.o_proj.lora_A.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 147456ul) /* f32 [16, 4], model.layers.0.self_attn.v_proj.lora_B.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 151552ul) /* f32 [16, 4], model.layers.0.self_attn.k_proj.lora_B.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 155648ul) /* f32 [32, 4], model.layers.0.self_attn.q_proj.lora_B.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 159744ul) /* f32 [4, 32], model.layers.0.self_attn.v_proj.lora_A.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 163840ul) /* f32 [4, 32], model.layers.0.self_attn.k_proj.lora_A.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 167936ul) /* f32 [4, 32], model.layers.0.self_attn.q_proj.lora_A.weight.master */
#define EXP_AVG 530432ul /* f32 [42, 1024], optimizer exp_avg */
#define EXP_AVG_SQ 702464ul /* f32 [42, 1024], optimizer exp_avg_sq */

/* Buffers at equal distances, by the number in their names. */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_BORDERED_A(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED_A + (i) * 28672ul) /* bf16 [24, 32], row stride 56, model.layers.*.self_attn.q_k_v_proj.bordered.A */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_SB(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_SB + (i) * 28672ul) /* bf16 [64, 56], model.layers.*.self_attn.q_k_v_proj.bordered.W|sB */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_BORDERED_A(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_A + (i) * 28672ul) /* bf16 [8, 32], row stride 40, model.layers.*.self_attn.o_proj.bordered.A */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_BORDERED_W_SB(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BORDERED_W_SB + (i) * 28672ul) /* bf16 [32, 40], model.layers.*.self_attn.o_proj.bordered.W|sB */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT + (i) * 512ul) /* bf16 [32], model.layers.*.post_attention_layernorm.weight */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_BORDERED_A(i) (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_A + (i) * 28672ul) /* bf16 [16, 32], row stride 48, model.layers.*.mlp.gate_up_proj.bordered.A */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_BORDERED_W_SB(i) (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_BORDERED_W_SB + (i) * 28672ul) /* bf16 [96, 48], model.layers.*.mlp.gate_up_proj.bordered.W|sB */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_A(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_A + (i) * 28672ul) /* bf16 [8, 48], row stride 56, model.layers.*.mlp.down_proj.bordered.A */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_W_SB(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_W_SB + (i) * 28672ul) /* bf16 [32, 56], model.layers.*.mlp.down_proj.bordered.W|sB */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT + ((i) - 1) * 512ul) /* bf16 [32], model.layers.*.input_layernorm.weight */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [32, 4], model.layers.*.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_SB(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_SB + ((i) - 1) * 28672ul) /* bf16 [32, 8], row stride 56, model.layers.*.mlp.down_proj.bordered.sB */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [4, 48], model.layers.*.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_W_A(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_W_A + ((i) - 1) * 28672ul) /* bf16 [40, 48], row stride 56, model.layers.*.mlp.down_proj.bordered.W;A */
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_UP_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [48, 4], model.layers.*.mlp.up_proj.lora_B.weight.grad */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_BORDERED_SB(i) (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_BORDERED_SB + ((i) - 1) * 28672ul) /* bf16 [96, 16], row stride 48, model.layers.*.mlp.gate_up_proj.bordered.sB */
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_UP_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [4, 32], model.layers.*.mlp.up_proj.lora_A.weight.grad */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_GATE_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [48, 4], model.layers.*.mlp.gate_proj.lora_B.weight.grad */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_GATE_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [4, 32], model.layers.*.mlp.gate_proj.lora_A.weight.grad */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_BORDERED_W_A(i) (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_BORDERED_W_A + ((i) - 1) * 28672ul) /* bf16 [112, 32], row stride 48, model.layers.*.mlp.gate_up_proj.bordered.W;A */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [32, 4], model.layers.*.self_attn.o_proj.lora_B.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_BORDERED_SB(i) (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED_SB + ((i) - 1) * 28672ul) /* bf16 [32, 8], row stride 40, model.layers.*.self_attn.o_proj.bordered.sB */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [4, 32], model.layers.*.self_attn.o_proj.lora_A.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_BORDERED_W_A(i) (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BORDERED_W_A + ((i) - 1) * 28672ul) /* bf16 [40, 32], row stride 40, model.layers.*.self_attn.o_proj.bordered.W;A */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [16, 4], model.layers.*.self_attn.v_proj.lora_B.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_BORDERED_SB(i) (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED_SB + ((i) - 1) * 28672ul) /* bf16 [64, 24], row stride 56, model.layers.*.self_attn.q_k_v_proj.bordered.sB */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [4, 32], model.layers.*.self_attn.v_proj.lora_A.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [16, 4], model.layers.*.self_attn.k_proj.lora_B.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [4, 32], model.layers.*.self_attn.k_proj.lora_A.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [32, 4], model.layers.*.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 57344ul) /* f32 [4, 32], model.layers.*.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_A(i) (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_BORDERED_W_A + ((i) - 1) * 28672ul) /* bf16 [88, 32], row stride 56, model.layers.*.self_attn.q_k_v_proj.bordered.W;A */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul) /* f32 [32, 4], model.layers.*.self_attn.q_proj.lora_B.weight.master */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul) /* f32 [4, 32], model.layers.*.self_attn.q_proj.lora_A.weight.master */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT + (i) * 28672ul) /* bf16 [32, 32], row stride 56, model.layers.*.self_attn.q_proj.weight */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul) /* f32 [16, 4], model.layers.*.self_attn.k_proj.lora_B.weight.master */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul) /* f32 [4, 32], model.layers.*.self_attn.k_proj.lora_A.weight.master */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT + (i) * 28672ul) /* bf16 [16, 32], row stride 56, model.layers.*.self_attn.k_proj.weight */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul) /* f32 [16, 4], model.layers.*.self_attn.v_proj.lora_B.weight.master */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul) /* f32 [4, 32], model.layers.*.self_attn.v_proj.lora_A.weight.master */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT + (i) * 28672ul) /* bf16 [16, 32], row stride 56, model.layers.*.self_attn.v_proj.weight */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul) /* f32 [32, 4], model.layers.*.self_attn.o_proj.lora_B.weight.master */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul) /* f32 [4, 32], model.layers.*.self_attn.o_proj.lora_A.weight.master */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT + (i) * 28672ul) /* bf16 [32, 32], row stride 40, model.layers.*.self_attn.o_proj.weight */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_B_WEIGHT_MASTER(i) (MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul) /* f32 [48, 4], model.layers.*.mlp.gate_proj.lora_B.weight.master */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_A_WEIGHT_MASTER(i) (MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul) /* f32 [4, 32], model.layers.*.mlp.gate_proj.lora_A.weight.master */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT(i) (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT + (i) * 28672ul) /* bf16 [48, 32], row stride 48, model.layers.*.mlp.gate_proj.weight */
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_B_WEIGHT_MASTER(i) (MODEL_LAYERS_0_MLP_UP_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul) /* f32 [48, 4], model.layers.*.mlp.up_proj.lora_B.weight.master */
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_A_WEIGHT_MASTER(i) (MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul) /* f32 [4, 32], model.layers.*.mlp.up_proj.lora_A.weight.master */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT(i) (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT + (i) * 28672ul) /* bf16 [48, 32], row stride 48, model.layers.*.mlp.up_proj.weight */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER - (i) * 57344ul) /* f32 [32, 4], model.layers.*.mlp.down_proj.lora_B.weight.master */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER - (i) * 57344ul) /* f32 [4, 48], model.layers.*.mlp.down_proj.lora_A.weight.master */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT + (i) * 28672ul) /* bf16 [32, 48], row stride 56, model.layers.*.mlp.down_proj.weight */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 8654848ul

#define MODEL_EMBED_TOKENS 43008ul /* bf16 [32, 32], activation model.embed_tokens */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 110592ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 102400ul /* bf16 [32, 32], activation model.layers.0.attn_residual */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 111104ul /* f32 [32, 1], activation model.layers.0.post_attention_layernorm.rstd */
#define MODEL_LAYERS_0_MLP_RESIDUAL 104448ul /* bf16 [32, 32], activation model.layers.0.mlp_residual */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 111360ul /* f32 [32, 1], activation model.layers.1.input_layernorm.rstd */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 110848ul /* f32 [32, 2], activation model.layers.1.self_attn.lse */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 106496ul /* bf16 [32, 32], activation model.layers.1.attn_residual */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 111616ul /* f32 [32, 1], activation model.layers.1.post_attention_layernorm.rstd */
#define MODEL_LAYERS_1_MLP_RESIDUAL 108544ul /* bf16 [32, 32], activation model.layers.1.mlp_residual */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 111872ul /* f32 [32, 1], activation model.layers.2.input_layernorm.rstd */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 94208ul /* f32 [32, 2], activation model.layers.2.self_attn.lse */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 92160ul /* bf16 [32, 32], activation model.layers.2.attn_residual */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 94464ul /* f32 [32, 1], activation model.layers.2.post_attention_layernorm.rstd */
#define MODEL_LAYERS_2_MLP_RESIDUAL 97280ul /* bf16 [32, 32], activation model.layers.2.mlp_residual */
#define MODEL_NORM 99328ul /* bf16 [32, 32], activation model.norm */
#define MODEL_NORM_RSTD 20480ul /* f32 [32, 1], activation model.norm.rstd */
#define LM_HEAD 12288ul /* bf16 [32, 64], activation lm_head */
#define LOSS_ROWS 112128ul /* f32 [32, 1], activation loss.rows */
#define EVALUATE_MODEL_EMBED_TOKENS 9728ul /* bf16 [32, 32], activation model.embed_tokens */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 11776ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 11776ul /* bf16 [32, 32], activation model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 9728ul /* bf16 [32, 32], activation model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 11776ul /* f32 [32, 2], activation model.layers.1.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 11776ul /* bf16 [32, 32], activation model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 9728ul /* bf16 [32, 32], activation model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 11776ul /* f32 [32, 2], activation model.layers.2.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 11776ul /* bf16 [32, 32], activation model.layers.2.attn_residual */
#define EVALUATE_MODEL_NORM 4096ul /* bf16 [32, 32], activation model.norm */
#define EVALUATE_LM_HEAD 0ul /* bf16 [32, 64], activation lm_head */
#define EVALUATE_LOSS_ROWS 4096ul /* f32 [32, 1], activation loss.rows */
#define EVALUATE_LOSS_ROWS_LSE 4352ul /* f32 [32, 1], activation loss.rows.lse */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.0.self_attn.q_proj.delta */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED 4096ul /* bf16 [32, 32], activation model.layers.0.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_DELTA 0ul /* f32 [16, 32], activation model.layers.0.self_attn.k_proj.delta */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_MERGED 2048ul /* bf16 [16, 32], activation model.layers.0.self_attn.k_proj.merged */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_DELTA 0ul /* f32 [16, 32], activation model.layers.0.self_attn.v_proj.delta */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_MERGED 2048ul /* bf16 [16, 32], activation model.layers.0.self_attn.v_proj.merged */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.0.self_attn.o_proj.delta */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_MERGED 4096ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.merged */
#define MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_DELTA 0ul /* f32 [48, 32], activation model.layers.0.mlp.gate_proj.delta */
#define MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_MERGED 6144ul /* bf16 [48, 32], activation model.layers.0.mlp.gate_proj.merged */
#define MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_DELTA 0ul /* f32 [48, 32], activation model.layers.0.mlp.up_proj.delta */
#define MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_MERGED 6144ul /* bf16 [48, 32], activation model.layers.0.mlp.up_proj.merged */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48], activation model.layers.0.mlp.down_proj.delta */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED 6144ul /* bf16 [32, 48], activation model.layers.0.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.1.self_attn.q_proj.delta */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_MERGED 4096ul /* bf16 [32, 32], activation model.layers.1.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_DELTA 0ul /* f32 [16, 32], activation model.layers.1.self_attn.k_proj.delta */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_MERGED 2048ul /* bf16 [16, 32], activation model.layers.1.self_attn.k_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_DELTA 0ul /* f32 [16, 32], activation model.layers.1.self_attn.v_proj.delta */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_MERGED 2048ul /* bf16 [16, 32], activation model.layers.1.self_attn.v_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.1.self_attn.o_proj.delta */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_MERGED 4096ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.merged */
#define MERGE_MODEL_LAYERS_1_MLP_GATE_PROJ_DELTA 0ul /* f32 [48, 32], activation model.layers.1.mlp.gate_proj.delta */
#define MERGE_MODEL_LAYERS_1_MLP_GATE_PROJ_MERGED 6144ul /* bf16 [48, 32], activation model.layers.1.mlp.gate_proj.merged */
#define MERGE_MODEL_LAYERS_1_MLP_UP_PROJ_DELTA 0ul /* f32 [48, 32], activation model.layers.1.mlp.up_proj.delta */
#define MERGE_MODEL_LAYERS_1_MLP_UP_PROJ_MERGED 6144ul /* bf16 [48, 32], activation model.layers.1.mlp.up_proj.merged */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48], activation model.layers.1.mlp.down_proj.delta */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_MERGED 6144ul /* bf16 [32, 48], activation model.layers.1.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.2.self_attn.q_proj.delta */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_MERGED 4096ul /* bf16 [32, 32], activation model.layers.2.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_DELTA 0ul /* f32 [16, 32], activation model.layers.2.self_attn.k_proj.delta */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_MERGED 2048ul /* bf16 [16, 32], activation model.layers.2.self_attn.k_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_DELTA 0ul /* f32 [16, 32], activation model.layers.2.self_attn.v_proj.delta */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_MERGED 2048ul /* bf16 [16, 32], activation model.layers.2.self_attn.v_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.2.self_attn.o_proj.delta */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_MERGED 4096ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.merged */
#define MERGE_MODEL_LAYERS_2_MLP_GATE_PROJ_DELTA 0ul /* f32 [48, 32], activation model.layers.2.mlp.gate_proj.delta */
#define MERGE_MODEL_LAYERS_2_MLP_GATE_PROJ_MERGED 6144ul /* bf16 [48, 32], activation model.layers.2.mlp.gate_proj.merged */
#define MERGE_MODEL_LAYERS_2_MLP_UP_PROJ_DELTA 0ul /* f32 [48, 32], activation model.layers.2.mlp.up_proj.delta */
#define MERGE_MODEL_LAYERS_2_MLP_UP_PROJ_MERGED 6144ul /* bf16 [48, 32], activation model.layers.2.mlp.up_proj.merged */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48], activation model.layers.2.mlp.down_proj.delta */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_MERGED 6144ul /* bf16 [32, 48], activation model.layers.2.mlp.down_proj.merged */
#define LM_HEAD_GRAD 16384ul /* bf16 [32, 64], activation lm_head.grad */
#define MODEL_NORM_GRAD 12288ul /* bf16 [32, 32], activation model.norm.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 31744ul /* bf16 [32, 48], activation model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 31744ul /* bf16 [32, 32], activation model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 92160ul /* bf16 [32, 32], activation model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 94464ul /* f32 [32, 2], activation model.layers.2.self_attn.grad.delta */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 83968ul /* bf16 [32, 32], activation model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 27648ul /* bf16 [32, 48], activation model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 27648ul /* bf16 [32, 32], activation model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 3072ul /* bf16 [32, 32], activation model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 86528ul /* f32 [32, 2], activation model.layers.1.self_attn.grad.delta */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 43008ul /* bf16 [32, 32], activation model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 43008ul /* bf16 [32, 48], activation model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 21504ul /* bf16 [32, 32], activation model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 102400ul /* bf16 [32, 32], activation model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 27136ul /* f32 [32, 2], activation model.layers.0.self_attn.grad.delta */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], activation grad_norm.columns */
#define CLIP_FACTOR 0ul /* f32 [1], activation clip_factor */
#define RATES_LR 256ul /* f32 [1], activation rates.lr */
#define RATES_BIAS_CORRECTION1 512ul /* f32 [1], activation rates.bias_correction1 */
#define RATES_BIAS_CORRECTION2 768ul /* f32 [1], activation rates.bias_correction2 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U 47104ul /* bf16 [32, 56], activation model.layers.0.self_attn.q_k_v_proj.x_u */
#define MODEL_LAYERS_0_INPUT_LAYERNORM MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U /* bf16 [32, 32], row stride 56, model.layers.0.input_layernorm */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 56, model.layers.0.self_attn.v_proj.lora_A */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_U (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul) /* bf16 [32, 24], row stride 56, model.layers.0.self_attn.q_k_v_proj.u */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 80ul) /* bf16 [32, 4], row stride 56, model.layers.0.self_attn.k_proj.lora_A */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 96ul) /* bf16 [32, 4], row stride 56, model.layers.0.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 38912ul /* bf16 [32, 64], activation model.layers.0.self_attn.q_k_v_proj.y */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 48], row stride 64, model.layers.0.self_attn.q_k_rope.x */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 96ul) /* bf16 [32, 16], row stride 64, model.layers.0.self_attn.v_proj */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V 21504ul /* bf16 [32, 88], activation model.layers.0.self_attn.q_k_v_proj.dy_v */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 32], row stride 88, model.layers.0.self_attn.q_proj.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 64], row stride 88, model.layers.0.self_attn.q_k_v_proj.dy */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_PROJ_GRAD MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 48], row stride 88, model.layers.0.self_attn.q_k_proj.grad */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_GRAD (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 64ul) /* bf16 [32, 16], row stride 88, model.layers.0.self_attn.k_proj.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 96ul) /* bf16 [32, 16], row stride 88, model.layers.0.self_attn.grad.v */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_LORA_A_GRAD (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 128ul) /* bf16 [32, 4], row stride 88, model.layers.0.self_attn.v_proj.lora_A.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_V (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 128ul) /* bf16 [32, 24], row stride 88, model.layers.0.self_attn.q_k_v_proj.v */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_LORA_A_GRAD (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 144ul) /* bf16 [32, 4], row stride 88, model.layers.0.self_attn.k_proj.lora_A.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_GRAD (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_DY_V + 160ul) /* bf16 [32, 4], row stride 88, model.layers.0.self_attn.q_proj.lora_A.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U 87040ul /* bf16 [32, 40], activation model.layers.0.self_attn.o_proj.x_u */
#define MODEL_LAYERS_0_SELF_ATTN MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.0.self_attn */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 40, model.layers.0.self_attn.o_proj.lora_A */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_U (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.self_attn.o_proj.u */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_Y 45056ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.y */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DY_V 43008ul /* bf16 [32, 40], activation model.layers.0.self_attn.o_proj.dy_v */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_LORA_A_GRAD (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40, model.layers.0.self_attn.o_proj.lora_A.grad */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_V (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.self_attn.o_proj.v */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U 68608ul /* bf16 [32, 48], activation model.layers.0.mlp.gate_up_proj.x_u */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U /* bf16 [32, 32], row stride 48, model.layers.0.post_attention_layernorm */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 48, model.layers.0.mlp.up_proj.lora_A */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_U (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + 64ul) /* bf16 [32, 16], row stride 48, model.layers.0.mlp.gate_up_proj.u */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + 80ul) /* bf16 [32, 4], row stride 48, model.layers.0.mlp.gate_proj.lora_A */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 21504ul /* bf16 [32, 96], activation model.layers.0.mlp.gate_up_proj.y */
#define MODEL_LAYERS_0_MLP_GATE_PROJ MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [32, 48], row stride 96, model.layers.0.mlp.gate_proj */
#define MODEL_LAYERS_0_MLP_UP_PROJ (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + 96ul) /* bf16 [32, 48], row stride 96, model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V 0ul /* bf16 [32, 112], activation model.layers.0.mlp.gate_up_proj.dy_v */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V /* bf16 [32, 96], row stride 112, model.layers.0.mlp.gate_up_proj.dy */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V /* bf16 [32, 48], row stride 112, model.layers.0.mlp.act.grad.gate */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V + 96ul) /* bf16 [32, 48], row stride 112, model.layers.0.mlp.act.grad.up */
#define MODEL_LAYERS_0_MLP_UP_PROJ_LORA_A_GRAD (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V + 192ul) /* bf16 [32, 4], row stride 112, model.layers.0.mlp.up_proj.lora_A.grad */
#define MODEL_LAYERS_0_MLP_GATE_UP_PROJ_V (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V + 192ul) /* bf16 [32, 16], row stride 112, model.layers.0.mlp.gate_up_proj.v */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_LORA_A_GRAD (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_DY_V + 208ul) /* bf16 [32, 4], row stride 112, model.layers.0.mlp.gate_proj.lora_A.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 50688ul /* bf16 [32, 56], activation model.layers.0.mlp.down_proj.x_u */
#define MODEL_LAYERS_0_MLP_ACT MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, model.layers.0.mlp.act */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 4], row stride 56, model.layers.0.mlp.down_proj.lora_A */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56, model.layers.0.mlp.down_proj.u */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 43008ul /* bf16 [32, 32], activation model.layers.0.mlp.down_proj.y */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V 80896ul /* bf16 [32, 40], activation model.layers.0.mlp.down_proj.dy_v */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_GRAD (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40, model.layers.0.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_V (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.mlp.down_proj.v */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U 54272ul /* bf16 [32, 56], activation model.layers.1.self_attn.q_k_v_proj.x_u */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_A (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 56, model.layers.1.self_attn.v_proj.lora_A */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_A (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U + 80ul) /* bf16 [32, 4], row stride 56, model.layers.1.self_attn.k_proj.lora_A */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U + 96ul) /* bf16 [32, 4], row stride 56, model.layers.1.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 43008ul /* bf16 [32, 64], activation model.layers.1.self_attn.q_k_v_proj.y */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y + 96ul) /* bf16 [32, 16], row stride 64, model.layers.1.self_attn.v_proj */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V 27648ul /* bf16 [32, 88], activation model.layers.1.self_attn.q_k_v_proj.dy_v */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 32], row stride 88, model.layers.1.self_attn.q_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 64], row stride 88, model.layers.1.self_attn.q_k_v_proj.dy */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_PROJ_GRAD MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V /* bf16 [32, 48], row stride 88, model.layers.1.self_attn.q_k_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 64ul) /* bf16 [32, 16], row stride 88, model.layers.1.self_attn.k_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_V (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 96ul) /* bf16 [32, 16], row stride 88, model.layers.1.self_attn.grad.v */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_A_GRAD (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 128ul) /* bf16 [32, 4], row stride 88, model.layers.1.self_attn.v_proj.lora_A.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_V (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 128ul) /* bf16 [32, 24], row stride 88, model.layers.1.self_attn.q_k_v_proj.v */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_A_GRAD (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 144ul) /* bf16 [32, 4], row stride 88, model.layers.1.self_attn.k_proj.lora_A.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_GRAD (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + 160ul) /* bf16 [32, 4], row stride 88, model.layers.1.self_attn.q_proj.lora_A.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_X_U 89600ul /* bf16 [32, 40], activation model.layers.1.self_attn.o_proj.x_u */
#define MODEL_LAYERS_1_SELF_ATTN MODEL_LAYERS_1_SELF_ATTN_O_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.1.self_attn */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_A (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 40, model.layers.1.self_attn.o_proj.lora_A */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_Y 74752ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.y */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DY_V 83968ul /* bf16 [32, 40], activation model.layers.1.self_attn.o_proj.dy_v */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_A_GRAD (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40, model.layers.1.self_attn.o_proj.lora_A.grad */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_V (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40, model.layers.1.self_attn.o_proj.v */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_X_U 71680ul /* bf16 [32, 48], activation model.layers.1.mlp.gate_up_proj.x_u */
#define MODEL_LAYERS_1_MLP_UP_PROJ_LORA_A (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 48, model.layers.1.mlp.up_proj.lora_A */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_LORA_A (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_X_U + 80ul) /* bf16 [32, 4], row stride 48, model.layers.1.mlp.gate_proj.lora_A */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96], activation model.layers.1.mlp.gate_up_proj.y */
#define MODEL_LAYERS_1_MLP_GATE_PROJ MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y /* bf16 [32, 48], row stride 96, model.layers.1.mlp.gate_proj */
#define MODEL_LAYERS_1_MLP_UP_PROJ (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y + 96ul) /* bf16 [32, 48], row stride 96, model.layers.1.mlp.up_proj */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V 7168ul /* bf16 [32, 112], activation model.layers.1.mlp.gate_up_proj.dy_v */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V /* bf16 [32, 96], row stride 112, model.layers.1.mlp.gate_up_proj.dy */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V /* bf16 [32, 48], row stride 112, model.layers.1.mlp.act.grad.gate */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V + 96ul) /* bf16 [32, 48], row stride 112, model.layers.1.mlp.act.grad.up */
#define MODEL_LAYERS_1_MLP_UP_PROJ_LORA_A_GRAD (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V + 192ul) /* bf16 [32, 4], row stride 112, model.layers.1.mlp.up_proj.lora_A.grad */
#define MODEL_LAYERS_1_MLP_GATE_UP_PROJ_V (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V + 192ul) /* bf16 [32, 16], row stride 112, model.layers.1.mlp.gate_up_proj.v */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_LORA_A_GRAD (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V + 208ul) /* bf16 [32, 4], row stride 112, model.layers.1.mlp.gate_proj.lora_A.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 57856ul /* bf16 [32, 56], activation model.layers.1.mlp.down_proj.x_u */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A (MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 4], row stride 56, model.layers.1.mlp.down_proj.lora_A */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 74752ul /* bf16 [32, 32], activation model.layers.1.mlp.down_proj.y */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V 92160ul /* bf16 [32, 40], activation model.layers.1.mlp.down_proj.dy_v */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_GRAD (MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40, model.layers.1.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_V (MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40, model.layers.1.mlp.down_proj.v */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U 61440ul /* bf16 [32, 56], activation model.layers.2.self_attn.q_k_v_proj.x_u */
#define MODEL_LAYERS_2_INPUT_LAYERNORM MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U /* bf16 [32, 32], row stride 56, model.layers.2.input_layernorm */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_U (MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul) /* bf16 [32, 24], row stride 56, model.layers.2.self_attn.q_k_v_proj.u */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 27648ul /* bf16 [32, 64], activation model.layers.2.self_attn.q_k_v_proj.y */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 48], row stride 64, model.layers.2.self_attn.q_k_rope.x */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ (MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y + 96ul) /* bf16 [32, 16], row stride 64, model.layers.2.self_attn.v_proj */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_DY_V 33280ul /* bf16 [32, 88], activation model.layers.2.self_attn.q_k_v_proj.dy_v */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U 94720ul /* bf16 [32, 40], activation model.layers.2.self_attn.o_proj.x_u */
#define MODEL_LAYERS_2_SELF_ATTN MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.2.self_attn */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_U (MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U + 64ul) /* bf16 [32, 8], row stride 40, model.layers.2.self_attn.o_proj.u */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_Y 65024ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.y */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_DY_V 97280ul /* bf16 [32, 40], activation model.layers.2.self_attn.o_proj.dy_v */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U 74752ul /* bf16 [32, 48], activation model.layers.2.mlp.gate_up_proj.x_u */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U /* bf16 [32, 32], row stride 48, model.layers.2.post_attention_layernorm */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_U (MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U + 64ul) /* bf16 [32, 16], row stride 48, model.layers.2.mlp.gate_up_proj.u */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 6144ul /* bf16 [32, 96], activation model.layers.2.mlp.gate_up_proj.y */
#define MODEL_LAYERS_2_MLP_GATE_PROJ MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y /* bf16 [32, 48], row stride 96, model.layers.2.mlp.gate_proj */
#define MODEL_LAYERS_2_MLP_UP_PROJ (MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y + 96ul) /* bf16 [32, 48], row stride 96, model.layers.2.mlp.up_proj */
#define MODEL_LAYERS_2_MLP_GATE_UP_PROJ_DY_V 14336ul /* bf16 [32, 112], activation model.layers.2.mlp.gate_up_proj.dy_v */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 65024ul /* bf16 [32, 56], activation model.layers.2.mlp.down_proj.x_u */
#define MODEL_LAYERS_2_MLP_ACT MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, model.layers.2.mlp.act */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_U (MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56, model.layers.2.mlp.down_proj.u */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 31744ul /* bf16 [32, 32], activation model.layers.2.mlp.down_proj.y */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_DY_V 99840ul /* bf16 [32, 40], activation model.layers.2.mlp.down_proj.dy_v */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD MODEL_LAYERS_2_MLP_DOWN_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.2.mlp_residual.grad */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U 4096ul /* bf16 [32, 56], activation model.layers.0.self_attn.q_k_v_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U /* bf16 [32, 32], row stride 56, model.layers.0.input_layernorm */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_U (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul) /* bf16 [32, 24], row stride 56, model.layers.0.self_attn.q_k_v_proj.u */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 64], activation model.layers.0.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 48], row stride 64, model.layers.0.self_attn.q_k_rope.x */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + 96ul) /* bf16 [32, 16], row stride 64, model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U 7168ul /* bf16 [32, 40], activation model.layers.0.self_attn.o_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_U (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.self_attn.o_proj.u */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U 6144ul /* bf16 [32, 48], activation model.layers.0.mlp.gate_up_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U /* bf16 [32, 32], row stride 48, model.layers.0.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_U (EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + 64ul) /* bf16 [32, 16], row stride 48, model.layers.0.mlp.gate_up_proj.u */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96], activation model.layers.0.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y /* bf16 [32, 48], row stride 96, model.layers.0.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ (EVALUATE_MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y + 96ul) /* bf16 [32, 48], row stride 96, model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 6144ul /* bf16 [32, 56], activation model.layers.0.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_U (EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56, model.layers.0.mlp.down_proj.u */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.0.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U 4096ul /* bf16 [32, 56], activation model.layers.1.self_attn.q_k_v_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_X_U /* bf16 [32, 32], row stride 56, model.layers.1.input_layernorm */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 64], activation model.layers.1.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_X_U 7168ul /* bf16 [32, 40], activation model.layers.1.self_attn.o_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.y */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_X_U 6144ul /* bf16 [32, 48], activation model.layers.1.mlp.gate_up_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96], activation model.layers.1.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 6144ul /* bf16 [32, 56], activation model.layers.1.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.1.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U 4096ul /* bf16 [32, 56], activation model.layers.2.self_attn.q_k_v_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U /* bf16 [32, 32], row stride 56, model.layers.2.input_layernorm */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_U (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_X_U + 64ul) /* bf16 [32, 24], row stride 56, model.layers.2.self_attn.q_k_v_proj.u */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y 0ul /* bf16 [32, 64], activation model.layers.2.self_attn.q_k_v_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y /* bf16 [32, 48], row stride 64, model.layers.2.self_attn.q_k_rope.x */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_V_PROJ_Y + 96ul) /* bf16 [32, 16], row stride 64, model.layers.2.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U 7168ul /* bf16 [32, 40], activation model.layers.2.self_attn.o_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_U (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_X_U + 64ul) /* bf16 [32, 8], row stride 40, model.layers.2.self_attn.o_proj.u */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_Y 0ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.y */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U 6144ul /* bf16 [32, 48], activation model.layers.2.mlp.gate_up_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U /* bf16 [32, 32], row stride 48, model.layers.2.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_U (EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_X_U + 64ul) /* bf16 [32, 16], row stride 48, model.layers.2.mlp.gate_up_proj.u */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y 0ul /* bf16 [32, 96], activation model.layers.2.mlp.gate_up_proj.y */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_PROJ EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y /* bf16 [32, 48], row stride 96, model.layers.2.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_UP_PROJ (EVALUATE_MODEL_LAYERS_2_MLP_GATE_UP_PROJ_Y + 96ul) /* bf16 [32, 48], row stride 96, model.layers.2.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 6144ul /* bf16 [32, 56], activation model.layers.2.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_MLP_ACT EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_U (EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56, model.layers.2.mlp.down_proj.u */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 9728ul /* bf16 [32, 32], activation model.layers.2.mlp.down_proj.y */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE 77824ul /* bf16 [32, 48], activation model.layers.0.self_attn.q_k_rope */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE /* bf16 [32, 32], row stride 48, model.layers.0.self_attn.q_rope */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE + 64ul) /* bf16 [32, 16], row stride 48, model.layers.0.self_attn.k_rope */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE 80896ul /* bf16 [32, 48], activation model.layers.1.self_attn.q_k_rope */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE 83968ul /* bf16 [32, 48], activation model.layers.2.self_attn.q_k_rope */
#define MODEL_LAYERS_2_SELF_ATTN_Q_ROPE MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE /* bf16 [32, 32], row stride 48, model.layers.2.self_attn.q_rope */
#define MODEL_LAYERS_2_SELF_ATTN_K_ROPE (MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE + 64ul) /* bf16 [32, 16], row stride 48, model.layers.2.self_attn.k_rope */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_PROJ_GRAD_X 6144ul /* bf16 [32, 48], activation model.layers.2.self_attn.q_k_proj.grad.x */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_PROJ_GRAD_X 0ul /* bf16 [32, 48], activation model.layers.1.self_attn.q_k_proj.grad.x */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_Q MODEL_LAYERS_1_SELF_ATTN_Q_K_PROJ_GRAD_X /* bf16 [32, 32], row stride 48, model.layers.1.self_attn.grad.q */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_K (MODEL_LAYERS_1_SELF_ATTN_Q_K_PROJ_GRAD_X + 64ul) /* bf16 [32, 16], row stride 48, model.layers.1.self_attn.grad.k */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_PROJ_GRAD_X 43008ul /* bf16 [32, 48], activation model.layers.0.self_attn.q_k_proj.grad.x */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q MODEL_LAYERS_0_SELF_ATTN_Q_K_PROJ_GRAD_X /* bf16 [32, 32], row stride 48, model.layers.0.self_attn.grad.q */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K (MODEL_LAYERS_0_SELF_ATTN_Q_K_PROJ_GRAD_X + 64ul) /* bf16 [32, 16], row stride 48, model.layers.0.self_attn.grad.k */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE 4096ul /* bf16 [32, 48], activation model.layers.0.self_attn.q_k_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_ROPE EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE /* bf16 [32, 32], row stride 48, model.layers.0.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_ROPE (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE + 64ul) /* bf16 [32, 16], row stride 48, model.layers.0.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE 4096ul /* bf16 [32, 48], activation model.layers.1.self_attn.q_k_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE 4096ul /* bf16 [32, 48], activation model.layers.2.self_attn.q_k_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_ROPE EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE /* bf16 [32, 32], row stride 48, model.layers.2.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_ROPE (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE + 64ul) /* bf16 [32, 16], row stride 48, model.layers.2.self_attn.k_rope */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], activation grad_norm.columns_partial */

/* Buffers at equal distances, by the number in their names. */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 7168ul) /* bf16 [32, 32], row stride 56, model.layers.*.input_layernorm */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_U(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_U + (i) * 7168ul) /* bf16 [32, 24], row stride 56, model.layers.*.self_attn.q_k_v_proj.u */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_X_U(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_X_U + (i) * 7168ul) /* bf16 [32, 56], model.layers.*.self_attn.q_k_v_proj.x_u */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_Y(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_V_PROJ_Y + (i) * 4096ul) /* bf16 [32, 64], model.layers.*.self_attn.q_k_v_proj.y */
#define MODEL_LAYERS_SELF_ATTN_Q_K_ROPE_X(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + (i) * 4096ul) /* bf16 [32, 48], row stride 64, model.layers.*.self_attn.q_k_rope.x */
#define MODEL_LAYERS_SELF_ATTN_Q_K_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE + (i) * 3072ul) /* bf16 [32, 48], model.layers.*.self_attn.q_k_rope */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 3072ul) /* bf16 [32, 32], row stride 48, model.layers.*.self_attn.q_rope */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 3072ul) /* bf16 [32, 16], row stride 48, model.layers.*.self_attn.k_rope */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 4096ul) /* bf16 [32, 16], row stride 64, model.layers.*.self_attn.v_proj */
#define MODEL_LAYERS_SELF_ATTN(i) (MODEL_LAYERS_0_SELF_ATTN + (i) * 2560ul) /* bf16 [32, 32], row stride 40, model.layers.*.self_attn */
#define MODEL_LAYERS_SELF_ATTN_LSE(i) (MODEL_LAYERS_0_SELF_ATTN_LSE + (i) * 256ul) /* f32 [32, 2], model.layers.*.self_attn.lse */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_U(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_U + (i) * 2560ul) /* bf16 [32, 8], row stride 40, model.layers.*.self_attn.o_proj.u */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_X_U(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_X_U + (i) * 2560ul) /* bf16 [32, 40], model.layers.*.self_attn.o_proj.x_u */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_Y(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_Y + (i) * 29696ul) /* bf16 [32, 32], model.layers.*.self_attn.o_proj.y */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_Y + (i) * 29696ul) /* bf16 [32, 32], model.layers.*.self_attn.o_proj */
#define MODEL_LAYERS_ATTN_RESIDUAL(i) (MODEL_LAYERS_0_ATTN_RESIDUAL + (i) * 4096ul) /* bf16 [32, 32], model.layers.*.attn_residual */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 512ul) /* f32 [32, 1], model.layers.*.post_attention_layernorm.rstd */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM + (i) * 3072ul) /* bf16 [32, 32], row stride 48, model.layers.*.post_attention_layernorm */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_U(i) (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_U + (i) * 3072ul) /* bf16 [32, 16], row stride 48, model.layers.*.mlp.gate_up_proj.u */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_X_U(i) (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_X_U + (i) * 3072ul) /* bf16 [32, 48], model.layers.*.mlp.gate_up_proj.x_u */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_Y(i) (MODEL_LAYERS_0_MLP_GATE_UP_PROJ_Y - (i) * 21504ul) /* bf16 [32, 96], model.layers.*.mlp.gate_up_proj.y */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) (MODEL_LAYERS_0_MLP_GATE_PROJ - (i) * 21504ul) /* bf16 [32, 48], row stride 96, model.layers.*.mlp.gate_proj */
#define MODEL_LAYERS_MLP_UP_PROJ(i) (MODEL_LAYERS_0_MLP_UP_PROJ - (i) * 21504ul) /* bf16 [32, 48], row stride 96, model.layers.*.mlp.up_proj */
#define MODEL_LAYERS_MLP_ACT(i) (MODEL_LAYERS_0_MLP_ACT + (i) * 7168ul) /* bf16 [32, 48], row stride 56, model.layers.*.mlp.act */
#define MODEL_LAYERS_MLP_DOWN_PROJ_U(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_U + (i) * 7168ul) /* bf16 [32, 8], row stride 56, model.layers.*.mlp.down_proj.u */
#define MODEL_LAYERS_MLP_DOWN_PROJ_X_U(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + (i) * 7168ul) /* bf16 [32, 56], model.layers.*.mlp.down_proj.x_u */
#define MODEL_LAYERS_MLP_DOWN_PROJ_Y(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_Y + (i) * 31744ul) /* bf16 [32, 32], model.layers.*.mlp.down_proj.y */
#define MODEL_LAYERS_MLP_RESIDUAL(i) (MODEL_LAYERS_0_MLP_RESIDUAL + (i) * 4096ul) /* bf16 [32, 32], model.layers.*.mlp_residual */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD + ((i) - 1) * 512ul) /* f32 [32, 1], model.layers.*.input_layernorm.rstd */
#define MODEL_LAYERS_MLP_RESIDUAL_GRAD(i) (MODEL_LAYERS_1_MLP_RESIDUAL_GRAD + ((i) - 1) * 7680ul) /* bf16 [32, 32], row stride 40, model.layers.*.mlp_residual.grad */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A + ((i) - 1) * 7168ul) /* bf16 [32, 4], row stride 56, model.layers.*.mlp.down_proj.lora_A */
#define MODEL_LAYERS_MLP_DOWN_PROJ_V(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_V + ((i) - 1) * 7680ul) /* bf16 [32, 8], row stride 40, model.layers.*.mlp.down_proj.v */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_GRAD + ((i) - 1) * 7680ul) /* bf16 [32, 4], row stride 40, model.layers.*.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_MLP_DOWN_PROJ_DY_V(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V + ((i) - 1) * 7680ul) /* bf16 [32, 40], model.layers.*.mlp.down_proj.dy_v */
#define MODEL_LAYERS_MLP_ACT_GRAD(i) (MODEL_LAYERS_1_MLP_ACT_GRAD + ((i) - 1) * 4096ul) /* bf16 [32, 48], model.layers.*.mlp.act.grad */
#define MODEL_LAYERS_FROM_1_MLP_GATE_PROJ(i) (MODEL_LAYERS_1_MLP_GATE_PROJ + ((i) - 1) * 6144ul) /* bf16 [32, 48], row stride 96, model.layers.*.mlp.gate_proj */
#define MODEL_LAYERS_FROM_1_MLP_UP_PROJ(i) (MODEL_LAYERS_1_MLP_UP_PROJ + ((i) - 1) * 6144ul) /* bf16 [32, 48], row stride 96, model.layers.*.mlp.up_proj */
#define MODEL_LAYERS_MLP_ACT_GRAD_GATE(i) (MODEL_LAYERS_1_MLP_ACT_GRAD_GATE + ((i) - 1) * 7168ul) /* bf16 [32, 48], row stride 112, model.layers.*.mlp.act.grad.gate */
#define MODEL_LAYERS_MLP_ACT_GRAD_UP(i) (MODEL_LAYERS_1_MLP_ACT_GRAD_UP + ((i) - 1) * 7168ul) /* bf16 [32, 48], row stride 112, model.layers.*.mlp.act.grad.up */
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_A(i) (MODEL_LAYERS_1_MLP_UP_PROJ_LORA_A + ((i) - 1) * 3072ul) /* bf16 [32, 4], row stride 48, model.layers.*.mlp.up_proj.lora_A */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_DY(i) (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY + ((i) - 1) * 7168ul) /* bf16 [32, 96], row stride 112, model.layers.*.mlp.gate_up_proj.dy */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_V(i) (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_V + ((i) - 1) * 7168ul) /* bf16 [32, 16], row stride 112, model.layers.*.mlp.gate_up_proj.v */
#define MODEL_LAYERS_MLP_UP_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_MLP_UP_PROJ_LORA_A_GRAD + ((i) - 1) * 7168ul) /* bf16 [32, 4], row stride 112, model.layers.*.mlp.up_proj.lora_A.grad */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_A(i) (MODEL_LAYERS_1_MLP_GATE_PROJ_LORA_A + ((i) - 1) * 3072ul) /* bf16 [32, 4], row stride 48, model.layers.*.mlp.gate_proj.lora_A */
#define MODEL_LAYERS_MLP_GATE_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_MLP_GATE_PROJ_LORA_A_GRAD + ((i) - 1) * 7168ul) /* bf16 [32, 4], row stride 112, model.layers.*.mlp.gate_proj.lora_A.grad */
#define MODEL_LAYERS_MLP_GATE_UP_PROJ_DY_V(i) (MODEL_LAYERS_1_MLP_GATE_UP_PROJ_DY_V + ((i) - 1) * 7168ul) /* bf16 [32, 112], model.layers.*.mlp.gate_up_proj.dy_v */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD(i) (MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD + ((i) - 1) * 4096ul) /* bf16 [32, 32], model.layers.*.post_attention_layernorm.grad */
#define MODEL_LAYERS_FROM_1_ATTN_RESIDUAL(i) (MODEL_LAYERS_1_ATTN_RESIDUAL - ((i) - 1) * 14336ul) /* bf16 [32, 32], model.layers.*.attn_residual */
#define MODEL_LAYERS_FROM_1_POST_ATTENTION_LAYERNORM_RSTD(i) (MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD - ((i) - 1) * 17152ul) /* f32 [32, 1], model.layers.*.post_attention_layernorm.rstd */
#define MODEL_LAYERS_ATTN_RESIDUAL_GRAD(i) (MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD + ((i) - 1) * 13312ul) /* bf16 [32, 32], row stride 40, model.layers.*.attn_residual.grad */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_A(i) (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_A + ((i) - 1) * 5120ul) /* bf16 [32, 4], row stride 40, model.layers.*.self_attn.o_proj.lora_A */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_V(i) (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_V + ((i) - 1) * 13312ul) /* bf16 [32, 8], row stride 40, model.layers.*.self_attn.o_proj.v */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_LORA_A_GRAD + ((i) - 1) * 13312ul) /* bf16 [32, 4], row stride 40, model.layers.*.self_attn.o_proj.lora_A.grad */
#define MODEL_LAYERS_FROM_1_SELF_ATTN(i) (MODEL_LAYERS_1_SELF_ATTN + ((i) - 1) * 5120ul) /* bf16 [32, 32], row stride 40, model.layers.*.self_attn */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_DY_V(i) (MODEL_LAYERS_1_SELF_ATTN_O_PROJ_DY_V + ((i) - 1) * 13312ul) /* bf16 [32, 40], model.layers.*.self_attn.o_proj.dy_v */
#define MODEL_LAYERS_SELF_ATTN_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD + ((i) - 1) * 89088ul) /* bf16 [32, 32], model.layers.*.self_attn.grad */
#define MODEL_LAYERS_FROM_1_SELF_ATTN_V_PROJ(i) (MODEL_LAYERS_1_SELF_ATTN_V_PROJ - ((i) - 1) * 15360ul) /* bf16 [32, 16], row stride 64, model.layers.*.self_attn.v_proj */
#define MODEL_LAYERS_FROM_1_SELF_ATTN_LSE(i) (MODEL_LAYERS_1_SELF_ATTN_LSE - ((i) - 1) * 16640ul) /* f32 [32, 2], model.layers.*.self_attn.lse */
#define MODEL_LAYERS_SELF_ATTN_GRAD_DELTA(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA + ((i) - 1) * 7936ul) /* f32 [32, 2], model.layers.*.self_attn.grad.delta */
#define MODEL_LAYERS_SELF_ATTN_GRAD_Q(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_Q + ((i) - 1) * 6144ul) /* bf16 [32, 32], row stride 48, model.layers.*.self_attn.grad.q */
#define MODEL_LAYERS_SELF_ATTN_GRAD_K(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_K + ((i) - 1) * 6144ul) /* bf16 [32, 16], row stride 48, model.layers.*.self_attn.grad.k */
#define MODEL_LAYERS_SELF_ATTN_GRAD_V(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_V + ((i) - 1) * 5632ul) /* bf16 [32, 16], row stride 88, model.layers.*.self_attn.grad.v */
#define MODEL_LAYERS_SELF_ATTN_Q_K_PROJ_GRAD_X(i) (MODEL_LAYERS_1_SELF_ATTN_Q_K_PROJ_GRAD_X + ((i) - 1) * 6144ul) /* bf16 [32, 48], model.layers.*.self_attn.q_k_proj.grad.x */
#define MODEL_LAYERS_SELF_ATTN_Q_K_PROJ_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_K_PROJ_GRAD + ((i) - 1) * 5632ul) /* bf16 [32, 48], row stride 88, model.layers.*.self_attn.q_k_proj.grad */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_A(i) (MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_A + ((i) - 1) * 7168ul) /* bf16 [32, 4], row stride 56, model.layers.*.self_attn.v_proj.lora_A */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_DY(i) (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY + ((i) - 1) * 5632ul) /* bf16 [32, 64], row stride 88, model.layers.*.self_attn.q_k_v_proj.dy */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_V(i) (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_V + ((i) - 1) * 5632ul) /* bf16 [32, 24], row stride 88, model.layers.*.self_attn.q_k_v_proj.v */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_V_PROJ_LORA_A_GRAD + ((i) - 1) * 5632ul) /* bf16 [32, 4], row stride 88, model.layers.*.self_attn.v_proj.lora_A.grad */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD + ((i) - 1) * 5632ul) /* bf16 [32, 16], row stride 88, model.layers.*.self_attn.k_proj.grad */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_A(i) (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_A + ((i) - 1) * 7168ul) /* bf16 [32, 4], row stride 56, model.layers.*.self_attn.k_proj.lora_A */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_LORA_A_GRAD + ((i) - 1) * 5632ul) /* bf16 [32, 4], row stride 88, model.layers.*.self_attn.k_proj.lora_A.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD + ((i) - 1) * 5632ul) /* bf16 [32, 32], row stride 88, model.layers.*.self_attn.q_proj.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A + ((i) - 1) * 7168ul) /* bf16 [32, 4], row stride 56, model.layers.*.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_GRAD + ((i) - 1) * 5632ul) /* bf16 [32, 4], row stride 88, model.layers.*.self_attn.q_proj.lora_A.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_K_V_PROJ_DY_V(i) (MODEL_LAYERS_1_SELF_ATTN_Q_K_V_PROJ_DY_V + ((i) - 1) * 5632ul) /* bf16 [32, 88], model.layers.*.self_attn.q_k_v_proj.dy_v */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD + ((i) - 1) * 40960ul) /* bf16 [32, 32], model.layers.*.input_layernorm.grad */
#define MODEL_LAYERS_FROM_0_MLP_RESIDUAL_GRAD(i) (MODEL_LAYERS_0_MLP_RESIDUAL_GRAD + (i) * 11264ul) /* bf16 [32, 32], row stride 40, model.layers.*.mlp_residual.grad */

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
    PARAMS = 72,
    CONSTANTS = 2,
    LOAD_OUTPUTS = 44,
    MICRO_STEP_OUTPUTS = 153,
    UPDATE_OUTPUTS = 58,
    EVALUATE_OUTPUTS = 53,
    MERGE_OUTPUTS = 42,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];
extern const RtOutput merge_outputs[MERGE_OUTPUTS];

#endif
