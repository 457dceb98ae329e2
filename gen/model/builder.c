/* Functions that all model families build with. */
#include "model/model.h"

#include <string.h>

const char *builder_name(Builder *b, const char *name) {
    return arena_printf(b->program->arena, "%s%s", b->scope, name);
}

Value *builder_param_as(Builder *b, const char *name, const ParamShape *shape, Pos pos) {
    Program *p = b->program;
    const char *full = builder_name(b, name);
    Value *weight = program_weight(p, full);
    if (weight)
        return weight;
    weight = value_new(p, full, shape->buffer ? ROLE_BUFFER : ROLE_WEIGHT,
                       shape->real ? p->real : p->activation, shape->rank, shape->dim, pos);
    Param param = {.weight = weight,
                   .master = weight,
                   .file_name = full,
                   .file_rank = shape->file_rank,
                   .init = shape->init,
                   .init_scale = shape->scale};
    memcpy(param.split, shape->split, sizeof param.split);
    memcpy(param.order, shape->order, sizeof param.order);
    program_add_param(p, param);
    return weight;
}

Value *builder_param(Builder *b, const char *name, int rank, const int64_t *dim, int init,
                     double scale, Pos pos) {
    ParamShape shape = {.rank = rank, .init = init, .scale = scale};
    memcpy(shape.dim, dim, (size_t)rank * sizeof *dim);
    return builder_param_as(b, name, &shape, pos);
}

Value *builder_op(Builder *b, OpKind kind, const char *name, Value *const *in, int in_count,
                  Attr attr, Pos pos) {
    return op_add(b->program, b->graph, kind, builder_name(b, name), in, in_count, attr, pos)
        ->out[0];
}

Value *builder_linear(Builder *b, Value *x, const char *name, int64_t out_features, Pos pos) {
    const char *weight_name = arena_printf(b->program->arena, "%s.weight", name);
    Value *w = builder_param(b, weight_name, 2, (int64_t[]){out_features, value_cols(x)},
                             INIT_NORMAL, b->spec->model.initializer_range, pos);
    return builder_op(b, OP_linear, name, (Value *[]){x, w}, 2, (Attr){.alpha = 1}, pos);
}
