/* Offsets of all buffers of qlora, in bytes from the start of their arenas. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "runtime/runtime.h"

/* ---- STATE: kept from step to step ---- */

#define STATE_BYTES 272640ul

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
#define NF4_MAP 4352ul /* f32 [16, 1], constant nf4_map */
#define NF4_BOUNDS 4608ul /* f32 [15, 1], constant nf4_bounds */
#define ABSMAX_MAP 4864ul /* f32 [256, 1], constant absmax_map */
#define ABSMAX_BOUNDS 5888ul /* f32 [255, 1], constant absmax_bounds */
#define MODEL_EMBED_TOKENS_WEIGHT 6912ul /* bf16 [64, 32], frozen model.embed_tokens.weight */
#define MODEL_LAYERS_0_INPUT_LAYERNORM_WEIGHT 11008ul /* bf16 [32], frozen model.layers.0.input_layernorm.weight */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT 11264ul /* bf16 [32], frozen model.layers.0.post_attention_layernorm.weight */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT 11520ul /* bf16 [32], frozen model.layers.1.input_layernorm.weight */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_WEIGHT 11776ul /* bf16 [32], frozen model.layers.1.post_attention_layernorm.weight */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_WEIGHT 12032ul /* bf16 [32], frozen model.layers.2.input_layernorm.weight */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_WEIGHT 12288ul /* bf16 [32], frozen model.layers.2.post_attention_layernorm.weight */
#define MODEL_NORM_WEIGHT 12544ul /* bf16 [32], frozen model.norm.weight */
#define LM_HEAD_WEIGHT 12800ul /* bf16 [64, 32], frozen lm_head.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_CODES 16896ul /* u8 [32, 16], frozen model.layers.0.self_attn.q_proj.weight.codes */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX 17408ul /* u8 [16, 1], frozen model.layers.0.self_attn.q_proj.weight.absmax */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET 17664ul /* f32 [1, 1], frozen model.layers.0.self_attn.q_proj.weight.absmax_offset */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2 17920ul /* f32 [1, 1], frozen model.layers.0.self_attn.q_proj.weight.absmax2 */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_CODES 18176ul /* u8 [16, 16], frozen model.layers.0.self_attn.k_proj.weight.codes */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX 18432ul /* u8 [8, 1], frozen model.layers.0.self_attn.k_proj.weight.absmax */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET 18688ul /* f32 [1, 1], frozen model.layers.0.self_attn.k_proj.weight.absmax_offset */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2 18944ul /* f32 [1, 1], frozen model.layers.0.self_attn.k_proj.weight.absmax2 */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_CODES 19200ul /* u8 [16, 16], frozen model.layers.0.self_attn.v_proj.weight.codes */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX 19456ul /* u8 [8, 1], frozen model.layers.0.self_attn.v_proj.weight.absmax */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET 19712ul /* f32 [1, 1], frozen model.layers.0.self_attn.v_proj.weight.absmax_offset */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2 19968ul /* f32 [1, 1], frozen model.layers.0.self_attn.v_proj.weight.absmax2 */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_CODES 20224ul /* u8 [32, 16], frozen model.layers.0.self_attn.o_proj.weight.codes */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX 20736ul /* u8 [16, 1], frozen model.layers.0.self_attn.o_proj.weight.absmax */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET 20992ul /* f32 [1, 1], frozen model.layers.0.self_attn.o_proj.weight.absmax_offset */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2 21248ul /* f32 [1, 1], frozen model.layers.0.self_attn.o_proj.weight.absmax2 */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_CODES 21504ul /* u8 [48, 16], frozen model.layers.0.mlp.gate_proj.weight.codes */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX 22272ul /* u8 [24, 1], frozen model.layers.0.mlp.gate_proj.weight.absmax */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET 22528ul /* f32 [1, 1], frozen model.layers.0.mlp.gate_proj.weight.absmax_offset */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX2 22784ul /* f32 [1, 1], frozen model.layers.0.mlp.gate_proj.weight.absmax2 */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_CODES 23040ul /* u8 [48, 16], frozen model.layers.0.mlp.up_proj.weight.codes */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX 23808ul /* u8 [24, 1], frozen model.layers.0.mlp.up_proj.weight.absmax */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET 24064ul /* f32 [1, 1], frozen model.layers.0.mlp.up_proj.weight.absmax_offset */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX2 24320ul /* f32 [1, 1], frozen model.layers.0.mlp.up_proj.weight.absmax2 */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_CODES 24576ul /* u8 [32, 24], frozen model.layers.0.mlp.down_proj.weight.codes */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX 25344ul /* u8 [24, 1], frozen model.layers.0.mlp.down_proj.weight.absmax */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET 25600ul /* f32 [1, 1], frozen model.layers.0.mlp.down_proj.weight.absmax_offset */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX2 25856ul /* f32 [1, 1], frozen model.layers.0.mlp.down_proj.weight.absmax2 */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_CODES 26112ul /* u8 [32, 16], frozen model.layers.1.self_attn.q_proj.weight.codes */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX 26624ul /* u8 [16, 1], frozen model.layers.1.self_attn.q_proj.weight.absmax */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET 26880ul /* f32 [1, 1], frozen model.layers.1.self_attn.q_proj.weight.absmax_offset */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2 27136ul /* f32 [1, 1], frozen model.layers.1.self_attn.q_proj.weight.absmax2 */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_CODES 27392ul /* u8 [16, 16], frozen model.layers.1.self_attn.k_proj.weight.codes */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX 27648ul /* u8 [8, 1], frozen model.layers.1.self_attn.k_proj.weight.absmax */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET 27904ul /* f32 [1, 1], frozen model.layers.1.self_attn.k_proj.weight.absmax_offset */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2 28160ul /* f32 [1, 1], frozen model.layers.1.self_attn.k_proj.weight.absmax2 */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_CODES 28416ul /* u8 [16, 16], frozen model.layers.1.self_attn.v_proj.weight.codes */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX 28672ul /* u8 [8, 1], frozen model.layers.1.self_attn.v_proj.weight.absmax */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET 28928ul /* f32 [1, 1], frozen model.layers.1.self_attn.v_proj.weight.absmax_offset */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2 29184ul /* f32 [1, 1], frozen model.layers.1.self_attn.v_proj.weight.absmax2 */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_CODES 29440ul /* u8 [32, 16], frozen model.layers.1.self_attn.o_proj.weight.codes */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX 29952ul /* u8 [16, 1], frozen model.layers.1.self_attn.o_proj.weight.absmax */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET 30208ul /* f32 [1, 1], frozen model.layers.1.self_attn.o_proj.weight.absmax_offset */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2 30464ul /* f32 [1, 1], frozen model.layers.1.self_attn.o_proj.weight.absmax2 */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_CODES 30720ul /* u8 [48, 16], frozen model.layers.1.mlp.gate_proj.weight.codes */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_ABSMAX 31488ul /* u8 [24, 1], frozen model.layers.1.mlp.gate_proj.weight.absmax */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET 31744ul /* f32 [1, 1], frozen model.layers.1.mlp.gate_proj.weight.absmax_offset */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_ABSMAX2 32000ul /* f32 [1, 1], frozen model.layers.1.mlp.gate_proj.weight.absmax2 */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_CODES 32256ul /* u8 [48, 16], frozen model.layers.1.mlp.up_proj.weight.codes */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_ABSMAX 33024ul /* u8 [24, 1], frozen model.layers.1.mlp.up_proj.weight.absmax */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET 33280ul /* f32 [1, 1], frozen model.layers.1.mlp.up_proj.weight.absmax_offset */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_ABSMAX2 33536ul /* f32 [1, 1], frozen model.layers.1.mlp.up_proj.weight.absmax2 */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_CODES 33792ul /* u8 [32, 24], frozen model.layers.1.mlp.down_proj.weight.codes */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_ABSMAX 34560ul /* u8 [24, 1], frozen model.layers.1.mlp.down_proj.weight.absmax */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET 34816ul /* f32 [1, 1], frozen model.layers.1.mlp.down_proj.weight.absmax_offset */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_ABSMAX2 35072ul /* f32 [1, 1], frozen model.layers.1.mlp.down_proj.weight.absmax2 */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_CODES 35328ul /* u8 [32, 16], frozen model.layers.2.self_attn.q_proj.weight.codes */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX 35840ul /* u8 [16, 1], frozen model.layers.2.self_attn.q_proj.weight.absmax */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET 36096ul /* f32 [1, 1], frozen model.layers.2.self_attn.q_proj.weight.absmax_offset */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2 36352ul /* f32 [1, 1], frozen model.layers.2.self_attn.q_proj.weight.absmax2 */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_CODES 36608ul /* u8 [16, 16], frozen model.layers.2.self_attn.k_proj.weight.codes */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX 36864ul /* u8 [8, 1], frozen model.layers.2.self_attn.k_proj.weight.absmax */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET 37120ul /* f32 [1, 1], frozen model.layers.2.self_attn.k_proj.weight.absmax_offset */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2 37376ul /* f32 [1, 1], frozen model.layers.2.self_attn.k_proj.weight.absmax2 */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_CODES 37632ul /* u8 [16, 16], frozen model.layers.2.self_attn.v_proj.weight.codes */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX 37888ul /* u8 [8, 1], frozen model.layers.2.self_attn.v_proj.weight.absmax */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET 38144ul /* f32 [1, 1], frozen model.layers.2.self_attn.v_proj.weight.absmax_offset */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2 38400ul /* f32 [1, 1], frozen model.layers.2.self_attn.v_proj.weight.absmax2 */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_CODES 38656ul /* u8 [32, 16], frozen model.layers.2.self_attn.o_proj.weight.codes */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX 39168ul /* u8 [16, 1], frozen model.layers.2.self_attn.o_proj.weight.absmax */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET 39424ul /* f32 [1, 1], frozen model.layers.2.self_attn.o_proj.weight.absmax_offset */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2 39680ul /* f32 [1, 1], frozen model.layers.2.self_attn.o_proj.weight.absmax2 */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_CODES 39936ul /* u8 [48, 16], frozen model.layers.2.mlp.gate_proj.weight.codes */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_ABSMAX 40704ul /* u8 [24, 1], frozen model.layers.2.mlp.gate_proj.weight.absmax */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET 40960ul /* f32 [1, 1], frozen model.layers.2.mlp.gate_proj.weight.absmax_offset */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_ABSMAX2 41216ul /* f32 [1, 1], frozen model.layers.2.mlp.gate_proj.weight.absmax2 */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_CODES 41472ul /* u8 [48, 16], frozen model.layers.2.mlp.up_proj.weight.codes */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_ABSMAX 42240ul /* u8 [24, 1], frozen model.layers.2.mlp.up_proj.weight.absmax */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET 42496ul /* f32 [1, 1], frozen model.layers.2.mlp.up_proj.weight.absmax_offset */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_ABSMAX2 42752ul /* f32 [1, 1], frozen model.layers.2.mlp.up_proj.weight.absmax2 */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_CODES 43008ul /* u8 [32, 24], frozen model.layers.2.mlp.down_proj.weight.codes */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_ABSMAX 43776ul /* u8 [24, 1], frozen model.layers.2.mlp.down_proj.weight.absmax */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET 44032ul /* f32 [1, 1], frozen model.layers.2.mlp.down_proj.weight.absmax_offset */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_ABSMAX2 44288ul /* f32 [1, 1], frozen model.layers.2.mlp.down_proj.weight.absmax2 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_RIGHT 44544ul /* bf16 [32, 8], frozen model.layers.0.self_attn.q_proj.bordered.right */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_BORDER MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_RIGHT /* bf16 [32, 4], row stride 8, model.layers.0.self_attn.q_proj.lora_B.border */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_BELOW 45056ul /* bf16 [8, 32], frozen model.layers.0.self_attn.q_proj.bordered.below */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_BORDER MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_BELOW /* bf16 [4, 32], model.layers.0.self_attn.q_proj.lora_A.border */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_RIGHT 45568ul /* bf16 [32, 8], frozen model.layers.0.mlp.down_proj.bordered.right */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_BORDER MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_RIGHT /* bf16 [32, 4], row stride 8, model.layers.0.mlp.down_proj.lora_B.border */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_BELOW 46080ul /* bf16 [8, 48], frozen model.layers.0.mlp.down_proj.bordered.below */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_BORDER MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_BELOW /* bf16 [4, 48], model.layers.0.mlp.down_proj.lora_A.border */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED_RIGHT 46848ul /* bf16 [32, 8], frozen model.layers.1.self_attn.q_proj.bordered.right */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED_BELOW 47360ul /* bf16 [8, 32], frozen model.layers.1.self_attn.q_proj.bordered.below */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_RIGHT 47872ul /* bf16 [32, 8], frozen model.layers.1.mlp.down_proj.bordered.right */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_BELOW 48384ul /* bf16 [8, 48], frozen model.layers.1.mlp.down_proj.bordered.below */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_BORDERED_RIGHT 49152ul /* bf16 [32, 8], frozen model.layers.2.self_attn.q_proj.bordered.right */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_BORDERED_BELOW 49664ul /* bf16 [8, 32], frozen model.layers.2.self_attn.q_proj.bordered.below */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED_RIGHT 50176ul /* bf16 [32, 8], frozen model.layers.2.mlp.down_proj.bordered.right */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_BORDERED_BELOW 50688ul /* bf16 [8, 48], frozen model.layers.2.mlp.down_proj.bordered.below */
#define TRAINED 51456ul /* bf16 [12, 1024], adapter trained */
#define GRADIENT 76032ul /* f32 [12, 1024], gradient */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 16384ul) /* f32 [32, 4], model.layers.1.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 20480ul) /* f32 [4, 48], model.layers.1.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 24576ul) /* f32 [32, 4], model.layers.1.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 28672ul) /* f32 [4, 32], model.layers.1.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 32768ul) /* f32 [32, 4], model.layers.0.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 36864ul) /* f32 [4, 48], model.layers.0.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD (GRADIENT + 40960ul) /* f32 [32, 4], model.layers.0.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD (GRADIENT + 45056ul) /* f32 [4, 32], model.layers.0.self_attn.q_proj.lora_A.weight.grad */
#define MASTER 125184ul /* f32 [12, 1024], optimizer master */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 32768ul) /* f32 [32, 4], model.layers.0.mlp.down_proj.lora_B.weight.master */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 36864ul) /* f32 [4, 48], model.layers.0.mlp.down_proj.lora_A.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER (MASTER + 40960ul) /* f32 [32, 4], model.layers.0.self_attn.q_proj.lora_B.weight.master */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER (MASTER + 45056ul) /* f32 [4, 32], model.layers.0.self_attn.q_proj.lora_A.weight.master */
#define EXP_AVG 174336ul /* f32 [12, 1024], optimizer exp_avg */
#define EXP_AVG_SQ 223488ul /* f32 [12, 1024], optimizer exp_avg_sq */

/* Buffers at equal distances, by the number in their names. */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_CODES(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [16, 16], model.layers.*.self_attn.k_proj.weight.codes */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], model.layers.*.self_attn.k_proj.weight.absmax_offset */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], model.layers.*.self_attn.k_proj.weight.absmax2 */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [8, 1], model.layers.*.self_attn.k_proj.weight.absmax */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_CODES(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [16, 16], model.layers.*.self_attn.v_proj.weight.codes */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], model.layers.*.self_attn.v_proj.weight.absmax_offset */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], model.layers.*.self_attn.v_proj.weight.absmax2 */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [8, 1], model.layers.*.self_attn.v_proj.weight.absmax */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_CODES(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [32, 16], model.layers.*.self_attn.o_proj.weight.codes */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], model.layers.*.self_attn.o_proj.weight.absmax_offset */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], model.layers.*.self_attn.o_proj.weight.absmax2 */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [16, 1], model.layers.*.self_attn.o_proj.weight.absmax */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_CODES(i) (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [48, 16], model.layers.*.mlp.gate_proj.weight.codes */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET(i) (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], model.layers.*.mlp.gate_proj.weight.absmax_offset */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_ABSMAX2(i) (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], model.layers.*.mlp.gate_proj.weight.absmax2 */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_ABSMAX(i) (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [24, 1], model.layers.*.mlp.gate_proj.weight.absmax */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_CODES(i) (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [48, 16], model.layers.*.mlp.up_proj.weight.codes */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET(i) (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], model.layers.*.mlp.up_proj.weight.absmax_offset */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_ABSMAX2(i) (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], model.layers.*.mlp.up_proj.weight.absmax2 */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_ABSMAX(i) (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [24, 1], model.layers.*.mlp.up_proj.weight.absmax */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_CODES(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [32, 16], model.layers.*.self_attn.q_proj.weight.codes */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], model.layers.*.self_attn.q_proj.weight.absmax_offset */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], model.layers.*.self_attn.q_proj.weight.absmax2 */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [16, 1], model.layers.*.self_attn.q_proj.weight.absmax */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_CODES(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_CODES + (i) * 9216ul) /* u8 [32, 24], model.layers.*.mlp.down_proj.weight.codes */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX_OFFSET + (i) * 9216ul) /* f32 [1], model.layers.*.mlp.down_proj.weight.absmax_offset */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_ABSMAX2(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX2 + (i) * 9216ul) /* f32 [1, 1], model.layers.*.mlp.down_proj.weight.absmax2 */
#define MODEL_LAYERS_MLP_DOWN_PROJ_WEIGHT_ABSMAX(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX + (i) * 9216ul) /* u8 [24, 1], model.layers.*.mlp.down_proj.weight.absmax */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_BORDERED_A(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_BELOW + (i) * 2304ul) /* bf16 [8, 32], model.layers.*.self_attn.q_proj.bordered.A */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED_RIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_BORDERED_RIGHT + (i) * 2304ul) /* bf16 [32, 8], model.layers.*.self_attn.q_proj.y.weight_decoded.right */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_WEIGHT(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_WEIGHT + (i) * 512ul) /* bf16 [32], model.layers.*.post_attention_layernorm.weight */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_A(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_BELOW + (i) * 2304ul) /* bf16 [8, 48], model.layers.*.mlp.down_proj.bordered.A */
#define MODEL_LAYERS_MLP_DOWN_PROJ_Y_WEIGHT_DECODED_RIGHT(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_BORDERED_RIGHT + (i) * 2304ul) /* bf16 [32, 8], model.layers.*.mlp.down_proj.y.weight_decoded.right */
#define MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_WEIGHT + ((i) - 1) * 512ul) /* bf16 [32], model.layers.*.input_layernorm.weight */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 16384ul) /* f32 [32, 4], model.layers.*.mlp.down_proj.lora_B.weight.grad */
#define MODEL_LAYERS_MLP_DOWN_PROJ_BORDERED_SB(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_RIGHT + ((i) - 1) * 2304ul) /* bf16 [32, 8], model.layers.*.mlp.down_proj.bordered.sB */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 16384ul) /* f32 [4, 48], model.layers.*.mlp.down_proj.lora_A.weight.grad */
#define MODEL_LAYERS_MLP_ACT_GRAD_WEIGHT_DECODED_BELOW(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_BORDERED_BELOW + ((i) - 1) * 2304ul) /* bf16 [8, 48], model.layers.*.mlp.act.grad.weight_decoded.below */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_GRAD - ((i) - 1) * 16384ul) /* f32 [32, 4], model.layers.*.self_attn.q_proj.lora_B.weight.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_BORDERED_SB(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED_RIGHT + ((i) - 1) * 2304ul) /* bf16 [32, 8], model.layers.*.self_attn.q_proj.bordered.sB */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_GRAD - ((i) - 1) * 16384ul) /* f32 [4, 32], model.layers.*.self_attn.q_proj.lora_A.weight.grad */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED_BELOW(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_BORDERED_BELOW + ((i) - 1) * 2304ul) /* bf16 [8, 32], model.layers.*.input_layernorm.grad.weight_decoded.below */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_B_WEIGHT_MASTER - (i) * 16384ul) /* f32 [32, 4], model.layers.*.self_attn.q_proj.lora_B.weight.master */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_WEIGHT_MASTER - (i) * 16384ul) /* f32 [4, 32], model.layers.*.self_attn.q_proj.lora_A.weight.master */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_B_WEIGHT_MASTER - (i) * 16384ul) /* f32 [32, 4], model.layers.*.mlp.down_proj.lora_B.weight.master */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_WEIGHT_MASTER - (i) * 16384ul) /* f32 [4, 48], model.layers.*.mlp.down_proj.lora_A.weight.master */

/* ---- SCRATCH: buffers with disjoint lifetimes share memory ---- */

#define SCRATCH_BYTES 4460544ul

#define MODEL_EMBED_TOKENS 40448ul /* bf16 [32, 32], activation model.embed_tokens */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ 75264ul /* bf16 [32, 16], activation model.layers.0.self_attn.v_proj */
#define MODEL_LAYERS_0_SELF_ATTN 56832ul /* bf16 [32, 32], activation model.layers.0.self_attn */
#define MODEL_LAYERS_0_SELF_ATTN_LSE 78336ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ 42496ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj */
#define MODEL_LAYERS_0_ATTN_RESIDUAL 58880ul /* bf16 [32, 32], activation model.layers.0.attn_residual */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 44544ul /* bf16 [32, 32], activation model.layers.0.post_attention_layernorm */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD 79104ul /* f32 [32, 1], activation model.layers.0.post_attention_layernorm.rstd */
#define MODEL_LAYERS_0_MLP_GATE_PROJ 18944ul /* bf16 [32, 48], activation model.layers.0.mlp.gate_proj */
#define MODEL_LAYERS_0_MLP_UP_PROJ 22016ul /* bf16 [32, 48], activation model.layers.0.mlp.up_proj */
#define MODEL_LAYERS_0_MLP_RESIDUAL 60928ul /* bf16 [32, 32], activation model.layers.0.mlp_residual */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD 79360ul /* f32 [32, 1], activation model.layers.1.input_layernorm.rstd */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ 76288ul /* bf16 [32, 16], activation model.layers.1.self_attn.v_proj */
#define MODEL_LAYERS_1_SELF_ATTN 62976ul /* bf16 [32, 32], activation model.layers.1.self_attn */
#define MODEL_LAYERS_1_SELF_ATTN_LSE 78592ul /* f32 [32, 2], activation model.layers.1.self_attn.lse */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ 43520ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj */
#define MODEL_LAYERS_1_ATTN_RESIDUAL 65024ul /* bf16 [32, 32], activation model.layers.1.attn_residual */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 34304ul /* bf16 [32, 32], activation model.layers.1.post_attention_layernorm */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_RSTD 79616ul /* f32 [32, 1], activation model.layers.1.post_attention_layernorm.rstd */
#define MODEL_LAYERS_1_MLP_GATE_PROJ 25088ul /* bf16 [32, 48], activation model.layers.1.mlp.gate_proj */
#define MODEL_LAYERS_1_MLP_UP_PROJ 28160ul /* bf16 [32, 48], activation model.layers.1.mlp.up_proj */
#define MODEL_LAYERS_1_MLP_RESIDUAL 67072ul /* bf16 [32, 32], activation model.layers.1.mlp_residual */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_RSTD 79872ul /* f32 [32, 1], activation model.layers.2.input_layernorm.rstd */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ 77312ul /* bf16 [32, 16], activation model.layers.2.self_attn.v_proj */
#define MODEL_LAYERS_2_SELF_ATTN 69120ul /* bf16 [32, 32], activation model.layers.2.self_attn */
#define MODEL_LAYERS_2_SELF_ATTN_LSE 78848ul /* f32 [32, 2], activation model.layers.2.self_attn.lse */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ 54272ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj */
#define MODEL_LAYERS_2_ATTN_RESIDUAL 71168ul /* bf16 [32, 32], activation model.layers.2.attn_residual */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 0ul /* bf16 [32, 32], activation model.layers.2.post_attention_layernorm */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_RSTD 80128ul /* f32 [32, 1], activation model.layers.2.post_attention_layernorm.rstd */
#define MODEL_LAYERS_2_MLP_GATE_PROJ 31232ul /* bf16 [32, 48], activation model.layers.2.mlp.gate_proj */
#define MODEL_LAYERS_2_MLP_UP_PROJ 34304ul /* bf16 [32, 48], activation model.layers.2.mlp.up_proj */
#define MODEL_LAYERS_2_MLP_RESIDUAL 73216ul /* bf16 [32, 32], activation model.layers.2.mlp_residual */
#define MODEL_NORM 54272ul /* bf16 [32, 32], activation model.norm */
#define MODEL_NORM_RSTD 80384ul /* f32 [32, 1], activation model.norm.rstd */
#define LM_HEAD 0ul /* bf16 [32, 64], activation lm_head */
#define LOSS_ROWS 54272ul /* f32 [32, 1], activation loss.rows */
#define EVALUATE_MODEL_EMBED_TOKENS 8192ul /* bf16 [32, 32], activation model.embed_tokens */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ 10240ul /* bf16 [32, 16], activation model.layers.0.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN 6144ul /* bf16 [32, 32], activation model.layers.0.self_attn */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_LSE 0ul /* f32 [32, 2], activation model.layers.0.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_0_ATTN_RESIDUAL 10240ul /* bf16 [32, 32], activation model.layers.0.attn_residual */
#define EVALUATE_MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM 12288ul /* bf16 [32, 32], activation model.layers.0.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ 3584ul /* bf16 [32, 48], activation model.layers.0.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ 6656ul /* bf16 [32, 48], activation model.layers.0.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_0_MLP_RESIDUAL 8192ul /* bf16 [32, 32], activation model.layers.0.mlp_residual */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ 10240ul /* bf16 [32, 16], activation model.layers.1.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN 6144ul /* bf16 [32, 32], activation model.layers.1.self_attn */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_LSE 0ul /* f32 [32, 2], activation model.layers.1.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_1_ATTN_RESIDUAL 10240ul /* bf16 [32, 32], activation model.layers.1.attn_residual */
#define EVALUATE_MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM 12288ul /* bf16 [32, 32], activation model.layers.1.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ 3584ul /* bf16 [32, 48], activation model.layers.1.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ 6656ul /* bf16 [32, 48], activation model.layers.1.mlp.up_proj */
#define EVALUATE_MODEL_LAYERS_1_MLP_RESIDUAL 8192ul /* bf16 [32, 32], activation model.layers.1.mlp_residual */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ 10240ul /* bf16 [32, 16], activation model.layers.2.self_attn.v_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN 6144ul /* bf16 [32, 32], activation model.layers.2.self_attn */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_LSE 0ul /* f32 [32, 2], activation model.layers.2.self_attn.lse */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ 0ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj */
#define EVALUATE_MODEL_LAYERS_2_ATTN_RESIDUAL 10240ul /* bf16 [32, 32], activation model.layers.2.attn_residual */
#define EVALUATE_MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM 12288ul /* bf16 [32, 32], activation model.layers.2.post_attention_layernorm */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_PROJ 3584ul /* bf16 [32, 48], activation model.layers.2.mlp.gate_proj */
#define EVALUATE_MODEL_LAYERS_2_MLP_UP_PROJ 6656ul /* bf16 [32, 48], activation model.layers.2.mlp.up_proj */
#define EVALUATE_MODEL_NORM 4096ul /* bf16 [32, 32], activation model.norm */
#define EVALUATE_LM_HEAD 0ul /* bf16 [32, 64], activation lm_head */
#define EVALUATE_LOSS_ROWS 4096ul /* f32 [32, 1], activation loss.rows */
#define EVALUATE_LOSS_ROWS_LSE 4352ul /* f32 [32, 1], activation loss.rows.lse */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.0.self_attn.q_proj.delta */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED 4096ul /* bf16 [32, 32], activation model.layers.0.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_BASE 0ul /* bf16 [16, 32], activation model.layers.0.self_attn.k_proj.base */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_BASE 0ul /* bf16 [16, 32], activation model.layers.0.self_attn.v_proj.base */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BASE 0ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.base */
#define MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_BASE 0ul /* bf16 [48, 32], activation model.layers.0.mlp.gate_proj.base */
#define MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_BASE 0ul /* bf16 [48, 32], activation model.layers.0.mlp.up_proj.base */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48], activation model.layers.0.mlp.down_proj.delta */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED 6144ul /* bf16 [32, 48], activation model.layers.0.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.1.self_attn.q_proj.delta */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_MERGED 4096ul /* bf16 [32, 32], activation model.layers.1.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_BASE 0ul /* bf16 [16, 32], activation model.layers.1.self_attn.k_proj.base */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_BASE 0ul /* bf16 [16, 32], activation model.layers.1.self_attn.v_proj.base */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BASE 0ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.base */
#define MERGE_MODEL_LAYERS_1_MLP_GATE_PROJ_BASE 0ul /* bf16 [48, 32], activation model.layers.1.mlp.gate_proj.base */
#define MERGE_MODEL_LAYERS_1_MLP_UP_PROJ_BASE 0ul /* bf16 [48, 32], activation model.layers.1.mlp.up_proj.base */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48], activation model.layers.1.mlp.down_proj.delta */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_MERGED 6144ul /* bf16 [32, 48], activation model.layers.1.mlp.down_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_DELTA 0ul /* f32 [32, 32], activation model.layers.2.self_attn.q_proj.delta */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_MERGED 4096ul /* bf16 [32, 32], activation model.layers.2.self_attn.q_proj.merged */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_BASE 0ul /* bf16 [16, 32], activation model.layers.2.self_attn.k_proj.base */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_BASE 0ul /* bf16 [16, 32], activation model.layers.2.self_attn.v_proj.base */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BASE 0ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.base */
#define MERGE_MODEL_LAYERS_2_MLP_GATE_PROJ_BASE 0ul /* bf16 [48, 32], activation model.layers.2.mlp.gate_proj.base */
#define MERGE_MODEL_LAYERS_2_MLP_UP_PROJ_BASE 0ul /* bf16 [48, 32], activation model.layers.2.mlp.up_proj.base */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_DELTA 0ul /* f32 [32, 48], activation model.layers.2.mlp.down_proj.delta */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_MERGED 6144ul /* bf16 [32, 48], activation model.layers.2.mlp.down_proj.merged */
#define LM_HEAD_GRAD 4096ul /* bf16 [32, 64], activation lm_head.grad */
#define MODEL_NORM_GRAD 0ul /* bf16 [32, 32], activation model.norm.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD 15360ul /* bf16 [32, 48], activation model.layers.2.mlp.act.grad */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_GATE 0ul /* bf16 [32, 48], activation model.layers.2.mlp.act.grad.gate */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_UP 3072ul /* bf16 [32, 48], activation model.layers.2.mlp.act.grad.up */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD 6144ul /* bf16 [32, 32], activation model.layers.2.post_attention_layernorm.grad */
#define MODEL_LAYERS_2_ATTN_RESIDUAL_GRAD 0ul /* bf16 [32, 32], activation model.layers.2.attn_residual.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD 54272ul /* bf16 [32, 32], activation model.layers.2.self_attn.grad */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_Q 15360ul /* bf16 [32, 32], activation model.layers.2.self_attn.grad.q */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_K 17408ul /* bf16 [32, 16], activation model.layers.2.self_attn.grad.k */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_V 2048ul /* bf16 [32, 16], activation model.layers.2.self_attn.grad.v */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_DELTA 18432ul /* f32 [32, 2], activation model.layers.2.self_attn.grad.delta */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_GRAD 3072ul /* bf16 [32, 16], activation model.layers.2.self_attn.k_proj.grad */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD 54272ul /* bf16 [32, 32], activation model.layers.2.input_layernorm.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD 3840ul /* bf16 [32, 48], activation model.layers.1.mlp.act.grad */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_GATE 0ul /* bf16 [32, 48], activation model.layers.1.mlp.act.grad.gate */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_UP 11776ul /* bf16 [32, 48], activation model.layers.1.mlp.act.grad.up */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD 6144ul /* bf16 [32, 32], activation model.layers.1.post_attention_layernorm.grad */
#define MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD 51712ul /* bf16 [32, 32], activation model.layers.1.attn_residual.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD 43520ul /* bf16 [32, 32], activation model.layers.1.self_attn.grad */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_Q 53760ul /* bf16 [32, 32], activation model.layers.1.self_attn.grad.q */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_K 45568ul /* bf16 [32, 16], activation model.layers.1.self_attn.grad.k */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_V 55808ul /* bf16 [32, 16], activation model.layers.1.self_attn.grad.v */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA 77312ul /* f32 [32, 2], activation model.layers.1.self_attn.grad.delta */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD 43008ul /* bf16 [32, 16], activation model.layers.1.self_attn.k_proj.grad */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD 53760ul /* bf16 [32, 32], activation model.layers.1.input_layernorm.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD 3840ul /* bf16 [32, 48], activation model.layers.0.mlp.act.grad */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_GATE 0ul /* bf16 [32, 48], activation model.layers.0.mlp.act.grad.gate */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_UP 6912ul /* bf16 [32, 48], activation model.layers.0.mlp.act.grad.up */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD 43008ul /* bf16 [32, 32], activation model.layers.0.post_attention_layernorm.grad */
#define MODEL_LAYERS_0_ATTN_RESIDUAL_GRAD 49152ul /* bf16 [32, 32], activation model.layers.0.attn_residual.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD 51200ul /* bf16 [32, 32], activation model.layers.0.self_attn.grad */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_Q 49152ul /* bf16 [32, 32], activation model.layers.0.self_attn.grad.q */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_K 40448ul /* bf16 [32, 16], activation model.layers.0.self_attn.grad.k */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_V 41472ul /* bf16 [32, 16], activation model.layers.0.self_attn.grad.v */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_DELTA 76288ul /* f32 [32, 2], activation model.layers.0.self_attn.grad.delta */
#define GRAD_NORM_COLUMNS 262144ul /* f32 [1024], activation grad_norm.columns */
#define CLIP_FACTOR 0ul /* f32 [1], activation clip_factor */
#define RATES_LR 256ul /* f32 [1], activation rates.lr */
#define RATES_BIAS_CORRECTION1 512ul /* f32 [1], activation rates.bias_correction1 */
#define RATES_BIAS_CORRECTION2 768ul /* f32 [1], activation rates.bias_correction2 */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U 46592ul /* bf16 [32, 40], activation model.layers.0.self_attn.q_proj.x_u */
#define MODEL_LAYERS_0_INPUT_LAYERNORM MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.0.input_layernorm */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 40, model.layers.0.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.self_attn.q_proj.u */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V 0ul /* bf16 [32, 40], activation model.layers.0.self_attn.q_proj.dy_v */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_GRAD MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.0.self_attn.q_proj.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_LORA_A_GRAD (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40, model.layers.0.self_attn.q_proj.lora_A.grad */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_V (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.self_attn.q_proj.v */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 8192ul /* bf16 [32, 56], activation model.layers.0.mlp.down_proj.x_u */
#define MODEL_LAYERS_0_MLP_ACT MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, model.layers.0.mlp.act */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 4], row stride 56, model.layers.0.mlp.down_proj.lora_A */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_U (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56, model.layers.0.mlp.down_proj.u */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 3584ul /* bf16 [32, 32], activation model.layers.0.mlp.down_proj.y */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V 40448ul /* bf16 [32, 40], activation model.layers.0.mlp.down_proj.dy_v */
#define MODEL_LAYERS_0_MLP_RESIDUAL_GRAD MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.0.mlp_residual.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_LORA_A_GRAD (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40, model.layers.0.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_V (MODEL_LAYERS_0_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.mlp.down_proj.v */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U 49152ul /* bf16 [32, 40], activation model.layers.1.self_attn.q_proj.x_u */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U + 64ul) /* bf16 [32, 4], row stride 40, model.layers.1.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V 40448ul /* bf16 [32, 40], activation model.layers.1.self_attn.q_proj.dy_v */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.1.self_attn.q_proj.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_GRAD (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40, model.layers.1.self_attn.q_proj.lora_A.grad */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_V (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40, model.layers.1.self_attn.q_proj.v */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 11776ul /* bf16 [32, 56], activation model.layers.1.mlp.down_proj.x_u */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A (MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 4], row stride 56, model.layers.1.mlp.down_proj.lora_A */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 54272ul /* bf16 [32, 32], activation model.layers.1.mlp.down_proj.y */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V 43520ul /* bf16 [32, 40], activation model.layers.1.mlp.down_proj.dy_v */
#define MODEL_LAYERS_1_MLP_RESIDUAL_GRAD MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.1.mlp_residual.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_GRAD (MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 4], row stride 40, model.layers.1.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_V (MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V + 64ul) /* bf16 [32, 8], row stride 40, model.layers.1.mlp.down_proj.v */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_X_U 51712ul /* bf16 [32, 40], activation model.layers.2.self_attn.q_proj.x_u */
#define MODEL_LAYERS_2_INPUT_LAYERNORM MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.2.input_layernorm */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_U (MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_X_U + 64ul) /* bf16 [32, 8], row stride 40, model.layers.2.self_attn.q_proj.u */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_DY_V 43520ul /* bf16 [32, 40], activation model.layers.2.self_attn.q_proj.dy_v */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 15360ul /* bf16 [32, 56], activation model.layers.2.mlp.down_proj.x_u */
#define MODEL_LAYERS_2_MLP_ACT MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, model.layers.2.mlp.act */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_U (MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56, model.layers.2.mlp.down_proj.u */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 3584ul /* bf16 [32, 32], activation model.layers.2.mlp.down_proj.y */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_DY_V 54272ul /* bf16 [32, 40], activation model.layers.2.mlp.down_proj.dy_v */
#define MODEL_LAYERS_2_MLP_RESIDUAL_GRAD MODEL_LAYERS_2_MLP_DOWN_PROJ_DY_V /* bf16 [32, 32], row stride 40, model.layers.2.mlp_residual.grad */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U 3072ul /* bf16 [32, 40], activation model.layers.0.self_attn.q_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_INPUT_LAYERNORM EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.0.input_layernorm */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.self_attn.q_proj.u */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U 0ul /* bf16 [32, 56], activation model.layers.0.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_0_MLP_ACT EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, model.layers.0.mlp.act */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_U (EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56, model.layers.0.mlp.down_proj.u */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y 12288ul /* bf16 [32, 32], activation model.layers.0.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U 3072ul /* bf16 [32, 40], activation model.layers.1.self_attn.q_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_INPUT_LAYERNORM EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.1.input_layernorm */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_X_U 0ul /* bf16 [32, 56], activation model.layers.1.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_Y 12288ul /* bf16 [32, 32], activation model.layers.1.mlp.down_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_X_U 3072ul /* bf16 [32, 40], activation model.layers.2.self_attn.q_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_INPUT_LAYERNORM EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_X_U /* bf16 [32, 32], row stride 40, model.layers.2.input_layernorm */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_U (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_X_U + 64ul) /* bf16 [32, 8], row stride 40, model.layers.2.self_attn.q_proj.u */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U 0ul /* bf16 [32, 56], activation model.layers.2.mlp.down_proj.x_u */
#define EVALUATE_MODEL_LAYERS_2_MLP_ACT EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U /* bf16 [32, 48], row stride 56, model.layers.2.mlp.act */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_U (EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_X_U + 96ul) /* bf16 [32, 8], row stride 56, model.layers.2.mlp.down_proj.u */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y 7168ul /* bf16 [32, 32], activation model.layers.2.mlp.down_proj.y */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 0ul /* bf16 [32, 48], activation model.layers.0.self_attn.q_k_rope.x */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* bf16 [32, 32], row stride 48, model.layers.0.self_attn.q_proj.y */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 64ul) /* bf16 [32, 16], row stride 48, model.layers.0.self_attn.k_proj */
#define MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE 37376ul /* bf16 [32, 48], activation model.layers.0.self_attn.q_k_rope */
#define MODEL_LAYERS_0_SELF_ATTN_Q_ROPE MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE /* bf16 [32, 32], row stride 48, model.layers.0.self_attn.q_rope */
#define MODEL_LAYERS_0_SELF_ATTN_K_ROPE (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE + 64ul) /* bf16 [32, 16], row stride 48, model.layers.0.self_attn.k_rope */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 11776ul /* bf16 [32, 48], activation model.layers.1.self_attn.q_k_rope.x */
#define MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE 40448ul /* bf16 [32, 48], activation model.layers.1.self_attn.q_k_rope */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X 15360ul /* bf16 [32, 48], activation model.layers.2.self_attn.q_k_rope.x */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X /* bf16 [32, 32], row stride 48, model.layers.2.self_attn.q_proj.y */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ (MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X + 64ul) /* bf16 [32, 16], row stride 48, model.layers.2.self_attn.k_proj */
#define MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE 43520ul /* bf16 [32, 48], activation model.layers.2.self_attn.q_k_rope */
#define MODEL_LAYERS_2_SELF_ATTN_Q_ROPE MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE /* bf16 [32, 32], row stride 48, model.layers.2.self_attn.q_rope */
#define MODEL_LAYERS_2_SELF_ATTN_K_ROPE (MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE + 64ul) /* bf16 [32, 16], row stride 48, model.layers.2.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X 0ul /* bf16 [32, 48], activation model.layers.0.self_attn.q_k_rope.x */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X /* bf16 [32, 32], row stride 48, model.layers.0.self_attn.q_proj.y */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + 64ul) /* bf16 [32, 16], row stride 48, model.layers.0.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE 3072ul /* bf16 [32, 48], activation model.layers.0.self_attn.q_k_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_ROPE EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE /* bf16 [32, 32], row stride 48, model.layers.0.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_ROPE (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE + 64ul) /* bf16 [32, 16], row stride 48, model.layers.0.self_attn.k_rope */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE_X 0ul /* bf16 [32, 48], activation model.layers.1.self_attn.q_k_rope.x */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_K_ROPE 3072ul /* bf16 [32, 48], activation model.layers.1.self_attn.q_k_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X 0ul /* bf16 [32, 48], activation model.layers.2.self_attn.q_k_rope.x */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X /* bf16 [32, 32], row stride 48, model.layers.2.self_attn.q_proj.y */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE_X + 64ul) /* bf16 [32, 16], row stride 48, model.layers.2.self_attn.k_proj */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE 3072ul /* bf16 [32, 48], activation model.layers.2.self_attn.q_k_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_ROPE EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE /* bf16 [32, 32], row stride 48, model.layers.2.self_attn.q_rope */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_ROPE (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_K_ROPE + 64ul) /* bf16 [32, 16], row stride 48, model.layers.2.self_attn.k_rope */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 3072ul /* bf16 [32, 40], activation model.layers.0.self_attn.q_proj.y.weight_decoded */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_DECODED MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 32], row stride 40, model.layers.0.self_attn.q_proj.weight.decoded */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED_RIGHT (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.self_attn.q_proj.y.weight_decoded.right */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_DECODED 42496ul /* bf16 [16, 32], activation model.layers.0.self_attn.k_proj.weight_decoded */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_DECODED 42496ul /* bf16 [16, 32], activation model.layers.0.self_attn.v_proj.weight_decoded */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_DECODED 44544ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.weight_decoded */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_DECODED 22016ul /* bf16 [48, 32], activation model.layers.0.mlp.gate_proj.weight_decoded */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_DECODED 25088ul /* bf16 [48, 32], activation model.layers.0.mlp.up_proj.weight_decoded */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 0ul /* bf16 [32, 56], activation model.layers.0.mlp.down_proj.y.weight_decoded */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_DECODED MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 48], row stride 56, model.layers.0.mlp.down_proj.weight.decoded */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED_RIGHT (MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED + 96ul) /* bf16 [32, 8], row stride 56, model.layers.0.mlp.down_proj.y.weight_decoded.right */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 14848ul /* bf16 [32, 40], activation model.layers.1.self_attn.q_proj.y.weight_decoded */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_DECODED 14848ul /* bf16 [16, 32], activation model.layers.1.self_attn.k_proj.weight_decoded */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_DECODED 14848ul /* bf16 [16, 32], activation model.layers.1.self_attn.v_proj.weight_decoded */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_DECODED 51712ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.weight_decoded */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_DECODED 11776ul /* bf16 [48, 32], activation model.layers.1.mlp.gate_proj.weight_decoded */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_DECODED 31232ul /* bf16 [48, 32], activation model.layers.1.mlp.up_proj.weight_decoded */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 0ul /* bf16 [32, 56], activation model.layers.1.mlp.down_proj.y.weight_decoded */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 43520ul /* bf16 [32, 40], activation model.layers.2.self_attn.q_proj.y.weight_decoded */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_DECODED MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 32], row stride 40, model.layers.2.self_attn.q_proj.weight.decoded */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED_RIGHT (MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED + 64ul) /* bf16 [32, 8], row stride 40, model.layers.2.self_attn.q_proj.y.weight_decoded.right */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_DECODED 54272ul /* bf16 [16, 32], activation model.layers.2.self_attn.k_proj.weight_decoded */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_DECODED 54272ul /* bf16 [16, 32], activation model.layers.2.self_attn.v_proj.weight_decoded */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_DECODED 15360ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.weight_decoded */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_DECODED 34304ul /* bf16 [48, 32], activation model.layers.2.mlp.gate_proj.weight_decoded */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_DECODED 15360ul /* bf16 [48, 32], activation model.layers.2.mlp.up_proj.weight_decoded */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 0ul /* bf16 [32, 56], activation model.layers.2.mlp.down_proj.y.weight_decoded */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_DECODED MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 48], row stride 56, model.layers.2.mlp.down_proj.weight.decoded */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED_RIGHT (MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED + 96ul) /* bf16 [32, 8], row stride 56, model.layers.2.mlp.down_proj.y.weight_decoded.right */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_WEIGHT_DECODED 0ul /* bf16 [40, 48], activation model.layers.2.mlp.act.grad.weight_decoded */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_DECODED__2 MODEL_LAYERS_2_MLP_ACT_GRAD_WEIGHT_DECODED /* bf16 [32, 48], model.layers.2.mlp.down_proj.weight.decoded */
#define MODEL_LAYERS_2_MLP_ACT_GRAD_WEIGHT_DECODED_BELOW (MODEL_LAYERS_2_MLP_ACT_GRAD_WEIGHT_DECODED + 3072ul) /* bf16 [8, 48], model.layers.2.mlp.act.grad.weight_decoded.below */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED 15360ul /* bf16 [48, 32], activation model.layers.2.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_2_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED__2 15360ul /* bf16 [48, 32], activation model.layers.2.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_2_SELF_ATTN_GRAD_WEIGHT_DECODED 15360ul /* bf16 [32, 32], activation model.layers.2.self_attn.grad.weight_decoded */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED 15360ul /* bf16 [16, 32], activation model.layers.2.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__2 2048ul /* bf16 [16, 32], activation model.layers.2.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_2_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3 15360ul /* bf16 [40, 32], activation model.layers.2.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_1_MLP_ACT_GRAD_WEIGHT_DECODED 0ul /* bf16 [40, 48], activation model.layers.1.mlp.act.grad.weight_decoded */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED 14848ul /* bf16 [48, 32], activation model.layers.1.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED__2 3072ul /* bf16 [48, 32], activation model.layers.1.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_1_SELF_ATTN_GRAD_WEIGHT_DECODED 53760ul /* bf16 [32, 32], activation model.layers.1.self_attn.grad.weight_decoded */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED 44032ul /* bf16 [16, 32], activation model.layers.1.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__2 55808ul /* bf16 [16, 32], activation model.layers.1.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3 43008ul /* bf16 [40, 32], activation model.layers.1.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_DECODED MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3 /* bf16 [32, 32], model.layers.1.self_attn.q_proj.weight.decoded */
#define MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED_BELOW (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3 + 2048ul) /* bf16 [8, 32], model.layers.1.input_layernorm.grad.weight_decoded.below */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_WEIGHT_DECODED 0ul /* bf16 [40, 48], activation model.layers.0.mlp.act.grad.weight_decoded */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_DECODED__2 MODEL_LAYERS_0_MLP_ACT_GRAD_WEIGHT_DECODED /* bf16 [32, 48], model.layers.0.mlp.down_proj.weight.decoded */
#define MODEL_LAYERS_0_MLP_ACT_GRAD_WEIGHT_DECODED_BELOW (MODEL_LAYERS_0_MLP_ACT_GRAD_WEIGHT_DECODED + 3072ul) /* bf16 [8, 48], model.layers.0.mlp.act.grad.weight_decoded.below */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED 3072ul /* bf16 [48, 32], activation model.layers.0.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED__2 3072ul /* bf16 [48, 32], activation model.layers.0.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_0_SELF_ATTN_GRAD_WEIGHT_DECODED 53248ul /* bf16 [32, 32], activation model.layers.0.self_attn.grad.weight_decoded */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 5632ul /* bf16 [32, 40], activation model.layers.0.self_attn.q_proj.y.weight_decoded */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_DECODED EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 32], row stride 40, model.layers.0.self_attn.q_proj.weight.decoded */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED_RIGHT (EVALUATE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED + 64ul) /* bf16 [32, 8], row stride 40, model.layers.0.self_attn.q_proj.y.weight_decoded.right */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_DECODED 5632ul /* bf16 [16, 32], activation model.layers.0.self_attn.k_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_DECODED 5632ul /* bf16 [16, 32], activation model.layers.0.self_attn.v_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_DECODED 2048ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32], activation model.layers.0.mlp.gate_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32], activation model.layers.0.mlp.up_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 3584ul /* bf16 [32, 56], activation model.layers.0.mlp.down_proj.y.weight_decoded */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_DECODED EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 48], row stride 56, model.layers.0.mlp.down_proj.weight.decoded */
#define EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED_RIGHT (EVALUATE_MODEL_LAYERS_0_MLP_DOWN_PROJ_Y_WEIGHT_DECODED + 96ul) /* bf16 [32, 8], row stride 56, model.layers.0.mlp.down_proj.y.weight_decoded.right */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 5632ul /* bf16 [32, 40], activation model.layers.1.self_attn.q_proj.y.weight_decoded */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_DECODED 5632ul /* bf16 [16, 32], activation model.layers.1.self_attn.k_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_DECODED 5632ul /* bf16 [16, 32], activation model.layers.1.self_attn.v_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_DECODED 2048ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32], activation model.layers.1.mlp.gate_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32], activation model.layers.1.mlp.up_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_1_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 3584ul /* bf16 [32, 56], activation model.layers.1.mlp.down_proj.y.weight_decoded */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED 5632ul /* bf16 [32, 40], activation model.layers.2.self_attn.q_proj.y.weight_decoded */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_DECODED EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 32], row stride 40, model.layers.2.self_attn.q_proj.weight.decoded */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED_RIGHT (EVALUATE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED + 64ul) /* bf16 [32, 8], row stride 40, model.layers.2.self_attn.q_proj.y.weight_decoded.right */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_DECODED 5632ul /* bf16 [16, 32], activation model.layers.2.self_attn.k_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_DECODED 5632ul /* bf16 [16, 32], activation model.layers.2.self_attn.v_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_DECODED 2048ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32], activation model.layers.2.mlp.gate_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_DECODED 0ul /* bf16 [48, 32], activation model.layers.2.mlp.up_proj.weight_decoded */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED 3584ul /* bf16 [32, 56], activation model.layers.2.mlp.down_proj.y.weight_decoded */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_DECODED EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED /* bf16 [32, 48], row stride 56, model.layers.2.mlp.down_proj.weight.decoded */
#define EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED_RIGHT (EVALUATE_MODEL_LAYERS_2_MLP_DOWN_PROJ_Y_WEIGHT_DECODED + 96ul) /* bf16 [32, 8], row stride 56, model.layers.2.mlp.down_proj.y.weight_decoded.right */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_MERGED_WEIGHT_DECODED 6144ul /* bf16 [32, 32], activation model.layers.0.self_attn.q_proj.merged.weight_decoded */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_K_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32], activation model.layers.0.self_attn.k_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_V_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32], activation model.layers.0.self_attn.v_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_0_SELF_ATTN_O_PROJ_BASE_WEIGHT_DECODED 2048ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_0_MLP_GATE_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32], activation model.layers.0.mlp.gate_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_0_MLP_UP_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32], activation model.layers.0.mlp.up_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_0_MLP_DOWN_PROJ_MERGED_WEIGHT_DECODED 9216ul /* bf16 [32, 48], activation model.layers.0.mlp.down_proj.merged.weight_decoded */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_MERGED_WEIGHT_DECODED 6144ul /* bf16 [32, 32], activation model.layers.1.self_attn.q_proj.merged.weight_decoded */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_K_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32], activation model.layers.1.self_attn.k_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_V_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32], activation model.layers.1.self_attn.v_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_1_SELF_ATTN_O_PROJ_BASE_WEIGHT_DECODED 2048ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_1_MLP_GATE_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32], activation model.layers.1.mlp.gate_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_1_MLP_UP_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32], activation model.layers.1.mlp.up_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_1_MLP_DOWN_PROJ_MERGED_WEIGHT_DECODED 9216ul /* bf16 [32, 48], activation model.layers.1.mlp.down_proj.merged.weight_decoded */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_MERGED_WEIGHT_DECODED 6144ul /* bf16 [32, 32], activation model.layers.2.self_attn.q_proj.merged.weight_decoded */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_K_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32], activation model.layers.2.self_attn.k_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_V_PROJ_BASE_WEIGHT_DECODED 1024ul /* bf16 [16, 32], activation model.layers.2.self_attn.v_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_2_SELF_ATTN_O_PROJ_BASE_WEIGHT_DECODED 2048ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_2_MLP_GATE_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32], activation model.layers.2.mlp.gate_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_2_MLP_UP_PROJ_BASE_WEIGHT_DECODED 3072ul /* bf16 [48, 32], activation model.layers.2.mlp.up_proj.base.weight_decoded */
#define MERGE_MODEL_LAYERS_2_MLP_DOWN_PROJ_MERGED_WEIGHT_DECODED 9216ul /* bf16 [32, 48], activation model.layers.2.mlp.down_proj.merged.weight_decoded */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT 0ul /* bf16 [16, 32], activation model.layers.0.self_attn.k_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_EVEN MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT /* bf16 [256, 1], row stride 2, model.layers.0.self_attn.k_proj.weight.even */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ODD (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT + 2ul) /* bf16 [256, 1], row stride 2, model.layers.0.self_attn.k_proj.weight.odd */
#define MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1], activation model.layers.0.self_attn.k_proj.weight.absmax_whole */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT 0ul /* bf16 [16, 32], activation model.layers.0.self_attn.v_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_EVEN MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT /* bf16 [256, 1], row stride 2, model.layers.0.self_attn.v_proj.weight.even */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ODD (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT + 2ul) /* bf16 [256, 1], row stride 2, model.layers.0.self_attn.v_proj.weight.odd */
#define MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1], activation model.layers.0.self_attn.v_proj.weight.absmax_whole */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT 0ul /* bf16 [32, 32], activation model.layers.0.self_attn.o_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_EVEN MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT /* bf16 [512, 1], row stride 2, model.layers.0.self_attn.o_proj.weight.even */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ODD (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT + 2ul) /* bf16 [512, 1], row stride 2, model.layers.0.self_attn.o_proj.weight.odd */
#define MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1], activation model.layers.0.self_attn.o_proj.weight.absmax_whole */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT 0ul /* bf16 [48, 32], activation model.layers.0.mlp.gate_proj.weight */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_EVEN MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT /* bf16 [768, 1], row stride 2, model.layers.0.mlp.gate_proj.weight.even */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ODD (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT + 2ul) /* bf16 [768, 1], row stride 2, model.layers.0.mlp.gate_proj.weight.odd */
#define MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1], activation model.layers.0.mlp.gate_proj.weight.absmax_whole */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT 0ul /* bf16 [48, 32], activation model.layers.0.mlp.up_proj.weight */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_EVEN MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT /* bf16 [768, 1], row stride 2, model.layers.0.mlp.up_proj.weight.even */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ODD (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT + 2ul) /* bf16 [768, 1], row stride 2, model.layers.0.mlp.up_proj.weight.odd */
#define MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1], activation model.layers.0.mlp.up_proj.weight.absmax_whole */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT 0ul /* bf16 [16, 32], activation model.layers.1.self_attn.k_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1], activation model.layers.1.self_attn.k_proj.weight.absmax_whole */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT 0ul /* bf16 [16, 32], activation model.layers.1.self_attn.v_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1], activation model.layers.1.self_attn.v_proj.weight.absmax_whole */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT 0ul /* bf16 [32, 32], activation model.layers.1.self_attn.o_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1], activation model.layers.1.self_attn.o_proj.weight.absmax_whole */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT 0ul /* bf16 [48, 32], activation model.layers.1.mlp.gate_proj.weight */
#define MODEL_LAYERS_1_MLP_GATE_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1], activation model.layers.1.mlp.gate_proj.weight.absmax_whole */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT 0ul /* bf16 [48, 32], activation model.layers.1.mlp.up_proj.weight */
#define MODEL_LAYERS_1_MLP_UP_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1], activation model.layers.1.mlp.up_proj.weight.absmax_whole */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT 0ul /* bf16 [16, 32], activation model.layers.2.self_attn.k_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_K_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1], activation model.layers.2.self_attn.k_proj.weight.absmax_whole */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT 0ul /* bf16 [16, 32], activation model.layers.2.self_attn.v_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_V_PROJ_WEIGHT_ABSMAX_WHOLE 1024ul /* f32 [8, 1], activation model.layers.2.self_attn.v_proj.weight.absmax_whole */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT 0ul /* bf16 [32, 32], activation model.layers.2.self_attn.o_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_O_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1], activation model.layers.2.self_attn.o_proj.weight.absmax_whole */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT 0ul /* bf16 [48, 32], activation model.layers.2.mlp.gate_proj.weight */
#define MODEL_LAYERS_2_MLP_GATE_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1], activation model.layers.2.mlp.gate_proj.weight.absmax_whole */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT 0ul /* bf16 [48, 32], activation model.layers.2.mlp.up_proj.weight */
#define MODEL_LAYERS_2_MLP_UP_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1], activation model.layers.2.mlp.up_proj.weight.absmax_whole */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT 0ul /* bf16 [32, 32], activation model.layers.0.self_attn.q_proj.weight */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_EVEN MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT /* bf16 [512, 1], row stride 2, model.layers.0.self_attn.q_proj.weight.even */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ODD (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT + 2ul) /* bf16 [512, 1], row stride 2, model.layers.0.self_attn.q_proj.weight.odd */
#define MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1], activation model.layers.0.self_attn.q_proj.weight.absmax_whole */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT 0ul /* bf16 [32, 48], activation model.layers.0.mlp.down_proj.weight */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_EVEN MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT /* bf16 [768, 1], row stride 2, model.layers.0.mlp.down_proj.weight.even */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ODD (MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT + 2ul) /* bf16 [768, 1], row stride 2, model.layers.0.mlp.down_proj.weight.odd */
#define MODEL_LAYERS_0_MLP_DOWN_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1], activation model.layers.0.mlp.down_proj.weight.absmax_whole */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT 0ul /* bf16 [32, 32], activation model.layers.1.self_attn.q_proj.weight */
#define MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1], activation model.layers.1.self_attn.q_proj.weight.absmax_whole */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT 0ul /* bf16 [32, 48], activation model.layers.1.mlp.down_proj.weight */
#define MODEL_LAYERS_1_MLP_DOWN_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1], activation model.layers.1.mlp.down_proj.weight.absmax_whole */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT 0ul /* bf16 [32, 32], activation model.layers.2.self_attn.q_proj.weight */
#define MODEL_LAYERS_2_SELF_ATTN_Q_PROJ_WEIGHT_ABSMAX_WHOLE 2048ul /* f32 [16, 1], activation model.layers.2.self_attn.q_proj.weight.absmax_whole */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT 0ul /* bf16 [32, 48], activation model.layers.2.mlp.down_proj.weight */
#define MODEL_LAYERS_2_MLP_DOWN_PROJ_WEIGHT_ABSMAX_WHOLE 3072ul /* f32 [24, 1], activation model.layers.2.mlp.down_proj.weight.absmax_whole */
#define GRAD_NORM_COLUMNS_PARTIAL 0ul /* f32 [64, 1024], activation grad_norm.columns_partial */

/* Buffers at equal distances, by the number in their names. */
#define MODEL_LAYERS_INPUT_LAYERNORM(i) (MODEL_LAYERS_0_INPUT_LAYERNORM + (i) * 2560ul) /* bf16 [32, 32], row stride 40, model.layers.*.input_layernorm */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_U(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_U + (i) * 2560ul) /* bf16 [32, 8], row stride 40, model.layers.*.self_attn.q_proj.u */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_WEIGHT_DECODED + (i) * 11776ul) /* bf16 [32, 32], row stride 40, model.layers.*.self_attn.q_proj.weight.decoded */
#define MODEL_LAYERS_FROM_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED_RIGHT(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED_RIGHT + (i) * 11776ul) /* bf16 [32, 8], row stride 40, model.layers.*.self_attn.q_proj.y.weight_decoded.right */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_X_U(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_X_U + (i) * 2560ul) /* bf16 [32, 40], model.layers.*.self_attn.q_proj.x_u */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y_WEIGHT_DECODED + (i) * 11776ul) /* bf16 [32, 40], model.layers.*.self_attn.q_proj.y.weight_decoded */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_Y(i) (MODEL_LAYERS_0_SELF_ATTN_Q_PROJ_Y + (i) * 11776ul) /* bf16 [32, 32], row stride 48, model.layers.*.self_attn.q_proj.y */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ_WEIGHT_DECODED - (i) * 27648ul) /* bf16 [16, 32], model.layers.*.self_attn.k_proj.weight.decoded */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ(i) (MODEL_LAYERS_0_SELF_ATTN_K_PROJ + (i) * 11776ul) /* bf16 [32, 16], row stride 48, model.layers.*.self_attn.k_proj */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ_WEIGHT_DECODED - (i) * 27648ul) /* bf16 [16, 32], model.layers.*.self_attn.v_proj.weight.decoded */
#define MODEL_LAYERS_SELF_ATTN_V_PROJ(i) (MODEL_LAYERS_0_SELF_ATTN_V_PROJ + (i) * 1024ul) /* bf16 [32, 16], model.layers.*.self_attn.v_proj */
#define MODEL_LAYERS_SELF_ATTN_Q_K_ROPE_X(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE_X + (i) * 11776ul) /* bf16 [32, 48], model.layers.*.self_attn.q_k_rope.x */
#define MODEL_LAYERS_SELF_ATTN_Q_K_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_Q_K_ROPE + (i) * 3072ul) /* bf16 [32, 48], model.layers.*.self_attn.q_k_rope */
#define MODEL_LAYERS_SELF_ATTN_Q_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_Q_ROPE + (i) * 3072ul) /* bf16 [32, 32], row stride 48, model.layers.*.self_attn.q_rope */
#define MODEL_LAYERS_SELF_ATTN_K_ROPE(i) (MODEL_LAYERS_0_SELF_ATTN_K_ROPE + (i) * 3072ul) /* bf16 [32, 16], row stride 48, model.layers.*.self_attn.k_rope */
#define MODEL_LAYERS_SELF_ATTN(i) (MODEL_LAYERS_0_SELF_ATTN + (i) * 6144ul) /* bf16 [32, 32], model.layers.*.self_attn */
#define MODEL_LAYERS_SELF_ATTN_LSE(i) (MODEL_LAYERS_0_SELF_ATTN_LSE + (i) * 256ul) /* f32 [32, 2], model.layers.*.self_attn.lse */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ_WEIGHT_DECODED + (i) * 7168ul) /* bf16 [32, 32], model.layers.*.self_attn.o_proj.weight.decoded */
#define MODEL_LAYERS_SELF_ATTN_O_PROJ(i) (MODEL_LAYERS_0_SELF_ATTN_O_PROJ + (i) * 1024ul) /* bf16 [32, 32], model.layers.*.self_attn.o_proj */
#define MODEL_LAYERS_ATTN_RESIDUAL(i) (MODEL_LAYERS_0_ATTN_RESIDUAL + (i) * 6144ul) /* bf16 [32, 32], model.layers.*.attn_residual */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_RSTD(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM_RSTD + (i) * 512ul) /* f32 [32, 1], model.layers.*.post_attention_layernorm.rstd */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM(i) (MODEL_LAYERS_0_POST_ATTENTION_LAYERNORM - (i) * 10240ul) /* bf16 [32, 32], model.layers.*.post_attention_layernorm */
#define MODEL_LAYERS_MLP_GATE_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_0_MLP_GATE_PROJ_WEIGHT_DECODED - (i) * 10240ul) /* bf16 [48, 32], model.layers.*.mlp.gate_proj.weight.decoded */
#define MODEL_LAYERS_MLP_GATE_PROJ(i) (MODEL_LAYERS_0_MLP_GATE_PROJ + (i) * 6144ul) /* bf16 [32, 48], model.layers.*.mlp.gate_proj */
#define MODEL_LAYERS_MLP_UP_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT_DECODED + (i) * 6144ul) /* bf16 [48, 32], model.layers.*.mlp.up_proj.weight.decoded */
#define MODEL_LAYERS_MLP_UP_PROJ(i) (MODEL_LAYERS_0_MLP_UP_PROJ + (i) * 6144ul) /* bf16 [32, 48], model.layers.*.mlp.up_proj */
#define MODEL_LAYERS_MLP_ACT(i) (MODEL_LAYERS_0_MLP_ACT + (i) * 3584ul) /* bf16 [32, 48], row stride 56, model.layers.*.mlp.act */
#define MODEL_LAYERS_MLP_DOWN_PROJ_U(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_U + (i) * 3584ul) /* bf16 [32, 8], row stride 56, model.layers.*.mlp.down_proj.u */
#define MODEL_LAYERS_MLP_DOWN_PROJ_X_U(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_X_U + (i) * 3584ul) /* bf16 [32, 56], model.layers.*.mlp.down_proj.x_u */
#define MODEL_LAYERS_MLP_DOWN_PROJ_Y(i) (MODEL_LAYERS_0_MLP_DOWN_PROJ_Y + (i) * 50688ul) /* bf16 [32, 32], model.layers.*.mlp.down_proj.y */
#define MODEL_LAYERS_MLP_RESIDUAL(i) (MODEL_LAYERS_0_MLP_RESIDUAL + (i) * 6144ul) /* bf16 [32, 32], model.layers.*.mlp_residual */
#define MODEL_LAYERS_INPUT_LAYERNORM_RSTD(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_RSTD + ((i) - 1) * 512ul) /* f32 [32, 1], model.layers.*.input_layernorm.rstd */
#define MODEL_LAYERS_MLP_RESIDUAL_GRAD(i) (MODEL_LAYERS_1_MLP_RESIDUAL_GRAD + ((i) - 1) * 10752ul) /* bf16 [32, 32], row stride 40, model.layers.*.mlp_residual.grad */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A + ((i) - 1) * 3584ul) /* bf16 [32, 4], row stride 56, model.layers.*.mlp.down_proj.lora_A */
#define MODEL_LAYERS_MLP_DOWN_PROJ_V(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_V + ((i) - 1) * 10752ul) /* bf16 [32, 8], row stride 40, model.layers.*.mlp.down_proj.v */
#define MODEL_LAYERS_MLP_DOWN_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_LORA_A_GRAD + ((i) - 1) * 10752ul) /* bf16 [32, 4], row stride 40, model.layers.*.mlp.down_proj.lora_A.grad */
#define MODEL_LAYERS_MLP_DOWN_PROJ_DY_V(i) (MODEL_LAYERS_1_MLP_DOWN_PROJ_DY_V + ((i) - 1) * 10752ul) /* bf16 [32, 40], model.layers.*.mlp.down_proj.dy_v */
#define MODEL_LAYERS_MLP_ACT_GRAD(i) (MODEL_LAYERS_1_MLP_ACT_GRAD + ((i) - 1) * 11520ul) /* bf16 [32, 48], model.layers.*.mlp.act.grad */
#define MODEL_LAYERS_MLP_ACT_GRAD_UP(i) (MODEL_LAYERS_1_MLP_ACT_GRAD_UP - ((i) - 1) * 8704ul) /* bf16 [32, 48], model.layers.*.mlp.act.grad.up */
#define MODEL_LAYERS_FROM_1_MLP_UP_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED + ((i) - 1) * 512ul) /* bf16 [48, 32], model.layers.*.mlp.up_proj.weight.decoded */
#define MODEL_LAYERS_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED(i) (MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED + ((i) - 1) * 512ul) /* bf16 [48, 32], model.layers.*.post_attention_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_FROM_1_MLP_GATE_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_1_POST_ATTENTION_LAYERNORM_GRAD_WEIGHT_DECODED__2 + ((i) - 1) * 12288ul) /* bf16 [48, 32], model.layers.*.mlp.gate_proj.weight.decoded */
#define MODEL_LAYERS_ATTN_RESIDUAL_GRAD(i) (MODEL_LAYERS_1_ATTN_RESIDUAL_GRAD - ((i) - 1) * 51712ul) /* bf16 [32, 32], model.layers.*.attn_residual.grad */
#define MODEL_LAYERS_FROM_1_SELF_ATTN_O_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_WEIGHT_DECODED - ((i) - 1) * 38400ul) /* bf16 [32, 32], model.layers.*.self_attn.o_proj.weight.decoded */
#define MODEL_LAYERS_SELF_ATTN_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD + ((i) - 1) * 10752ul) /* bf16 [32, 32], model.layers.*.self_attn.grad */
#define MODEL_LAYERS_SELF_ATTN_GRAD_DELTA(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_DELTA - ((i) - 1) * 58880ul) /* f32 [32, 2], model.layers.*.self_attn.grad.delta */
#define MODEL_LAYERS_SELF_ATTN_GRAD_Q(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_Q - ((i) - 1) * 38400ul) /* bf16 [32, 32], model.layers.*.self_attn.grad.q */
#define MODEL_LAYERS_SELF_ATTN_GRAD_K(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_K - ((i) - 1) * 28160ul) /* bf16 [32, 16], model.layers.*.self_attn.grad.k */
#define MODEL_LAYERS_SELF_ATTN_GRAD_V(i) (MODEL_LAYERS_1_SELF_ATTN_GRAD_V - ((i) - 1) * 53760ul) /* bf16 [32, 16], model.layers.*.self_attn.grad.v */
#define MODEL_LAYERS_SELF_ATTN_K_PROJ_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_K_PROJ_GRAD - ((i) - 1) * 39936ul) /* bf16 [32, 16], model.layers.*.self_attn.k_proj.grad */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_GRAD + ((i) - 1) * 3072ul) /* bf16 [32, 32], row stride 40, model.layers.*.self_attn.q_proj.grad */
#define MODEL_LAYERS_FROM_1_SELF_ATTN_V_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED - ((i) - 1) * 28672ul) /* bf16 [16, 32], model.layers.*.self_attn.v_proj.weight.decoded */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD + ((i) - 1) * 512ul) /* bf16 [32, 32], model.layers.*.input_layernorm.grad */
#define MODEL_LAYERS_FROM_1_SELF_ATTN_K_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__2 - ((i) - 1) * 53760ul) /* bf16 [16, 32], model.layers.*.self_attn.k_proj.weight.decoded */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A + ((i) - 1) * 2560ul) /* bf16 [32, 4], row stride 40, model.layers.*.self_attn.q_proj.lora_A */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_V(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_V + ((i) - 1) * 3072ul) /* bf16 [32, 8], row stride 40, model.layers.*.self_attn.q_proj.v */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_LORA_A_GRAD(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_LORA_A_GRAD + ((i) - 1) * 3072ul) /* bf16 [32, 4], row stride 40, model.layers.*.self_attn.q_proj.lora_A.grad */
#define MODEL_LAYERS_FROM_1_SELF_ATTN_Q_PROJ_WEIGHT_DECODED(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_WEIGHT_DECODED - ((i) - 1) * 27648ul) /* bf16 [32, 32], model.layers.*.self_attn.q_proj.weight.decoded */
#define MODEL_LAYERS_FROM_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED_BELOW(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED_BELOW - ((i) - 1) * 27648ul) /* bf16 [8, 32], model.layers.*.input_layernorm.grad.weight_decoded.below */
#define MODEL_LAYERS_SELF_ATTN_Q_PROJ_DY_V(i) (MODEL_LAYERS_1_SELF_ATTN_Q_PROJ_DY_V + ((i) - 1) * 3072ul) /* bf16 [32, 40], model.layers.*.self_attn.q_proj.dy_v */
#define MODEL_LAYERS_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED(i) (MODEL_LAYERS_1_INPUT_LAYERNORM_GRAD_WEIGHT_DECODED__3 - ((i) - 1) * 27648ul) /* bf16 [40, 32], model.layers.*.input_layernorm.grad.weight_decoded */
#define MODEL_LAYERS_FROM_0_MLP_RESIDUAL_GRAD(i) (MODEL_LAYERS_0_MLP_RESIDUAL_GRAD + (i) * 3072ul) /* bf16 [32, 32], row stride 40, model.layers.*.mlp_residual.grad */

/* ---- INPUT: one batch ---- */

#define INPUT_BYTES 1024ul

#define INPUT_IDS 0ul /* i32 [32, 1], input input_ids */
#define LABELS 256ul /* i32 [32, 1], input labels */
#define POSITIONS 512ul /* i32 [32, 1], input positions */
#define LOSS_WEIGHT 768ul /* f32 [1], input loss_weight */

/* cuBLASLt's workspace, in SCRATCH */
#define GEMM_WORKSPACE 266240ul
#define GEMM_WORKSPACE_BYTES 4194304ul

/* ---- tables of values.c ---- */

enum {
    PARAMS = 42,
    CONSTANTS = 6,
    LOAD_OUTPUTS = 140,
    MICRO_STEP_OUTPUTS = 179,
    UPDATE_OUTPUTS = 28,
    EVALUATE_OUTPUTS = 83,
    MERGE_OUTPUTS = 48,
};

extern const RtParam params[PARAMS];
extern const RtConstant constants[CONSTANTS];
extern const RtOutput load_outputs[LOAD_OUTPUTS];
extern const RtOutput micro_step_outputs[MICRO_STEP_OUTPUTS];
extern const RtOutput update_outputs[UPDATE_OUTPUTS];
extern const RtOutput evaluate_outputs[EVALUATE_OUTPUTS];
extern const RtOutput merge_outputs[MERGE_OUTPUTS];

#endif
