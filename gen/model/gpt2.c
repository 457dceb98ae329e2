/* GPT-2 (Radford et al., 2019, "Language models are unsupervised multitask learners"), with Hugging
 * Face's names: pre-norm decoder layers with biases everywhere, learned positions, and a head tied
 * to the embedding. Files store its linears as [in, out]. */
#include "model/decoder.h"

#include <math.h>

/* transformers' Conv1D. */
static Value *conv1d(Builder *b, Value *x, const char *name, int64_t features, double deviation,
                     Pos pos) {
    const char *weight = arena_printf(b->program->arena, "%s.weight", name);
    int64_t in = value_cols(x);
    ParamShape shape = {.rank = 2,
                        .dim = {features, in},
                        .init = INIT_NORMAL,
                        .scale = deviation,
                        .file_rank = 2,
                        .split = {in, features, 1, 1},
                        .order = {1, 0, 2, 3}};
    Value *w = builder_param_as(b, weight, &shape, pos);
    Value *y = builder_op(b, OP_linear, name, (Value *[]){x, w}, 2, (Attr){.alpha = 1}, pos);
    return decoder_bias(b, y, name, pos);
}

/* Projections into the residual stream start smaller the more layers there are. */
static double residual_deviation(const Spec *spec) {
    return spec->model.initializer_range / sqrt(2.0 * (double)spec->model.num_hidden_layers);
}

static Value *norm(Builder *b, Value *x, const char *name) {
    Arena *arena = b->program->arena;
    Pos pos = spec_pos(b->spec, KEY_model_layer_norm_epsilon);
    int64_t width = value_cols(x);
    Value *w =
        builder_param(b, arena_printf(arena, "%s.weight", name), 1, &width, INIT_ONES, 0, pos);
    Value *bias =
        builder_param(b, arena_printf(arena, "%s.bias", name), 1, &width, INIT_ZEROS, 0, pos);
    return builder_op(b, OP_layer_norm, name, (Value *[]){x, w, bias}, 3,
                      (Attr){.eps = b->spec->model.layer_norm_epsilon}, pos);
}

static Value *attention(Builder *b, Value *x) {
    const Spec *spec = b->spec;
    Pos pos = spec_pos(spec, KEY_model_num_attention_heads);
    int64_t width = spec->model.hidden_size;
    Value *qkv = conv1d(b, x, "attn.c_attn", 3 * width, spec->model.initializer_range, pos);
    Op *split = op_add(b->program, b->graph, OP_split_columns, builder_name(b, "attn.qkv"), &qkv, 1,
                       (Attr){.rows = 3}, pos);
    Value *o = decoder_attention(b, "attn", split->out[0], split->out[1], split->out[2], pos);
    return conv1d(b, o, "attn.c_proj", width, residual_deviation(spec), pos);
}

static Value *mlp(Builder *b, Value *x) {
    const Spec *spec = b->spec;
    Pos pos = spec_pos(spec, KEY_model_intermediate_size);
    Value *y = conv1d(b, x, "mlp.c_fc", spec->model.intermediate_size,
                      spec->model.initializer_range, pos);
    y = builder_op(b, OP_gelu_tanh, "mlp.act", &y, 1, (Attr){0}, pos);
    return conv1d(b, y, "mlp.c_proj", spec->model.hidden_size, residual_deviation(spec), pos);
}

Value *gpt2_forward(Builder *b) {
    const Spec *spec = b->spec;
    Embedded tokens =
        decoder_embedding(b, b->batch.input_ids, "transformer.wte", spec->model.vocab_size,
                          spec_pos(spec, KEY_model_vocab_size));
    Embedded places = decoder_embedding(b, b->batch.positions, "transformer.wpe",
                                        spec->model.max_position_embeddings,
                                        spec_pos(spec, KEY_model_max_position_embeddings));
    Value *x = decoder_residual(b, tokens.x, places.x, "transformer.embedded");
    for (int64_t i = 0; i < spec->model.num_hidden_layers; i++) {
        b->scope = arena_printf(b->program->arena, "transformer.h.%lld.", (long long)i);
        x = decoder_residual(b, x, attention(b, norm(b, x, "ln_1")), "attn_residual");
        x = decoder_residual(b, x, mlp(b, norm(b, x, "ln_2")), "mlp_residual");
    }
    b->scope = "";
    return decoder_head(b, norm(b, x, "transformer.ln_f"), tokens.table);
}
