/* Pieces of decoders. */
#include "model/decoder.h"

#include <math.h>

Value *decoder_bias(Builder *b, Value *x, const char *name, Pos pos) {
    Arena *arena = b->program->arena;
    int64_t width = value_cols(x);
    Value *bias =
        builder_param(b, arena_printf(arena, "%s.bias", name), 1, &width, INIT_ZEROS, 0, pos);
    return builder_op(b, OP_add_bias, arena_printf(arena, "%s.biased", name), (Value *[]){x, bias},
                      2, (Attr){0}, pos);
}

Value *decoder_attention(Builder *b, const char *name, Value *q, Value *k, Value *v, Pos pos) {
    const Spec *spec = b->spec;
    int64_t head = spec->model.head_dim;
    Attr attr = {.alpha = 1 / sqrt((double)head),
                 .head_dim = head,
                 .heads = spec->model.num_attention_heads,
                 .kv_heads = spec->model.num_key_value_heads,
                 .seq_len = b->program->seq_len};
    return builder_op(b, OP_attention, name, (Value *[]){q, k, v, b->batch.positions}, 4, attr,
                      pos);
}

Value *decoder_residual(Builder *b, Value *x, Value *y, const char *name) {
    Pos pos = spec_pos(b->spec, KEY_model_hidden_size);
    return builder_op(b, OP_add, name, (Value *[]){x, y}, 2, (Attr){0}, pos);
}

Embedded decoder_embedding(Builder *b, Value *ids, const char *name, int64_t rows, Pos pos) {
    const char *weight = arena_printf(b->program->arena, "%s.weight", name);
    int64_t shape[] = {rows, b->spec->model.hidden_size};
    Embedded e;
    e.table =
        builder_param(b, weight, 2, shape, INIT_NORMAL, b->spec->model.initializer_range, pos);
    e.x = builder_op(b, OP_embedding, name, (Value *[]){ids, e.table}, 2, (Attr){0}, pos);
    return e;
}

Value *decoder_head(Builder *b, Value *x, Value *table) {
    Pos pos = spec_pos(b->spec, KEY_model_vocab_size);
    if (!table)
        return builder_linear(b, x, "lm_head", b->spec->model.vocab_size, pos);
    return builder_op(b, OP_linear, "lm_head", (Value *[]){x, table}, 2, (Attr){.alpha = 1}, pos);
}
