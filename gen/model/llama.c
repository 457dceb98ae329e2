/* The Llama family (Touvron et al., arXiv 2302.13971; Llama 3: arXiv 2407.21783), with Hugging
 * Face's names: pre-norm decoder layers with rotary grouped-query attention and a gated MLP. Qwen2
 * (arXiv 2407.10671) adds biases on queries, keys and values. */
#include "model/decoder.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* Llama 3 stretches long wavelengths (Hugging Face's rope type "llama3"). */
static double llama3_frequency(const Spec *spec, double frequency) {
    double context = (double)spec->model.rope_original_max_position_embeddings;
    double low = spec->model.rope_low_freq_factor, high = spec->model.rope_high_freq_factor;
    double wave = 2 * PI / frequency;
    if (wave < context / high)
        return frequency;
    if (wave > context / low)
        return frequency / spec->model.rope_factor;
    double smooth = (context / wave - low) / (high - low);
    return (1 - smooth) * frequency / spec->model.rope_factor + smooth * frequency;
}

static Value *inverse_frequencies(Builder *b, Pos pos) {
    const Spec *spec = b->spec;
    int64_t half = spec->model.head_dim / 2;
    double *data = arena_array(b->program->arena, (size_t)half, sizeof *data);
    for (int64_t i = 0; i < half; i++) {
        data[i] = pow(spec->model.rope_theta, -2.0 * (double)i / (double)spec->model.head_dim);
        if (spec->model.rope_type == ROPE_LLAMA3)
            data[i] = llama3_frequency(spec, data[i]);
    }
    Value *v = value_1d(b->program, "rope.inv_freq", ROLE_CONSTANT, b->program->real, half, pos);
    v->data = data;
    return v;
}

typedef struct {
    Value *cos, *sin; /* real [seq_len, head_dim/2] */
} RopeTable;

/* The cosines and sines of all positions are computed once, in the load graph. */
static RopeTable rope_table(Builder *b) {
    static const char *const cos_name = "rope.cos", *const sin_name = "rope.sin";
    Program *p = b->program;
    Graph *load = &p->entry[ENTRY_LOAD];
    if (load->op_count)
        return (RopeTable){load->ops[0]->out[0], load->ops[0]->out[1]};
    Pos pos = spec_pos(b->spec, KEY_model_rope_theta);
    int64_t half = b->spec->model.head_dim / 2;
    RopeTable t = {value_2d(p, cos_name, ROLE_CONSTANT, p->real, p->seq_len, half, pos),
                   value_2d(p, sin_name, ROLE_CONSTANT, p->real, p->seq_len, half, pos)};
    Value *in = inverse_frequencies(b, pos);
    op_add_into(p, load, OP_rope_table, "rope.table", &in, 1, (Value *[]){t.cos, t.sin}, 2,
                (Attr){0}, pos);
    return t;
}

static Value *norm(Builder *b, Value *x, const char *name) {
    Pos pos = spec_pos(b->spec, KEY_model_rms_norm_eps);
    int64_t width = value_cols(x);
    const char *weight = arena_printf(b->program->arena, "%s.weight", name);
    Value *w = builder_param(b, weight, 1, &width, INIT_ONES, 0, pos);
    return builder_op(b, OP_rms_norm, name, (Value *[]){x, w}, 2,
                      (Attr){.eps = b->spec->model.rms_norm_eps}, pos);
}

static Value *rope(Builder *b, Value *x, RopeTable t, const char *name) {
    Attr attr = {.head_dim = b->spec->model.head_dim};
    Value *in[] = {x, b->batch.positions, t.cos, t.sin};
    return builder_op(b, OP_rope, name, in, 4, attr, spec_pos(b->spec, KEY_model_rope_theta));
}

static Value *projection(Builder *b, Value *x, const char *name, int64_t heads, Pos pos) {
    Value *y = builder_linear(b, x, name, heads * b->spec->model.head_dim, pos);
    return b->spec->model.family == FAMILY_QWEN2 ? decoder_bias(b, y, name, pos) : y;
}

static Value *attention(Builder *b, Value *x, RopeTable t) {
    const Spec *spec = b->spec;
    Pos pos = spec_pos(spec, KEY_model_num_attention_heads);
    int64_t heads = spec->model.num_attention_heads, kv = spec->model.num_key_value_heads;
    Value *q = projection(b, x, "self_attn.q_proj", heads, pos);
    Value *k = projection(b, x, "self_attn.k_proj", kv, pos);
    Value *v = projection(b, x, "self_attn.v_proj", kv, pos);
    q = rope(b, q, t, "self_attn.q_rope");
    k = rope(b, k, t, "self_attn.k_rope");
    Value *o = decoder_attention(b, "self_attn", q, k, v, pos);
    return builder_linear(b, o, "self_attn.o_proj", spec->model.hidden_size, pos);
}

static Value *mlp(Builder *b, Value *x) {
    Pos pos = spec_pos(b->spec, KEY_model_intermediate_size);
    int64_t inner = b->spec->model.intermediate_size;
    Value *gate = builder_linear(b, x, "mlp.gate_proj", inner, pos);
    Value *up = builder_linear(b, x, "mlp.up_proj", inner, pos);
    Value *act = builder_op(b, OP_swiglu, "mlp.act", (Value *[]){gate, up}, 2, (Attr){0}, pos);
    return builder_linear(b, act, "mlp.down_proj", b->spec->model.hidden_size, pos);
}

static Value *decoder_layer(Builder *b, Value *x, RopeTable t) {
    Value *y = attention(b, norm(b, x, "input_layernorm"), t);
    x = decoder_residual(b, x, y, "attn_residual");
    y = mlp(b, norm(b, x, "post_attention_layernorm"));
    return decoder_residual(b, x, y, "mlp_residual");
}

Value *llama_forward(Builder *b) {
    const Spec *spec = b->spec;
    Pos pos = spec_pos(spec, KEY_model_vocab_size);
    RopeTable rope = rope_table(b);
    Embedded embed = decoder_embedding(b, b->batch.input_ids, "model.embed_tokens",
                                       spec->model.vocab_size, pos);
    Value *x = embed.x;
    for (int64_t i = 0; i < spec->model.num_hidden_layers; i++) {
        b->scope = arena_printf(b->program->arena, "model.layers.%lld.", (long long)i);
        x = decoder_layer(b, x, rope);
    }
    b->scope = "";
    x = norm(b, x, "model.norm");
    return decoder_head(b, x, spec->model.tie_word_embeddings ? embed.table : NULL);
}
