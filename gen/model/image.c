/* Layers of image models. */
#include "model/image.h"

#include <math.h>

/* ---- input ---- */

Value *image_input(Program *p, const Spec *spec) {
    int64_t size = spec->model.image_size;
    Pos pos = spec_pos(spec, KEY_data_decode);
    if (spec->data.decode == DECODE_HOST)
        return value_2d(p, "pixels", ROLE_INPUT, p->activation, p->tokens * size * size,
                        spec->model.image_channels, pos);
    return value_2d(p, "pixels", ROLE_INPUT, DT_U8,
                    p->tokens * spec->data.image_height * spec->data.image_width,
                    spec->data.image_channels, pos);
}

Images image_pixels(Builder *b) {
    int64_t size = b->spec->model.image_size;
    return (Images){b->batch.pixels, size, size};
}

/* ---- layers ---- */

static Value *bias(Builder *b, Value *x, const char *name, double bound, Pos pos) {
    int64_t width = value_cols(x);
    const char *full = arena_printf(b->program->arena, "%s.bias", name);
    Value *v = builder_param(b, full, 1, &width, INIT_UNIFORM, bound, pos);
    return builder_op(b, OP_add_bias, arena_printf(b->program->arena, "%s.biased", name),
                      (Value *[]){x, v}, 2, (Attr){0}, pos);
}

/* x W^T + b; torch draws both within 1 / sqrt(features that come in). */
static Value *linear(Builder *b, Value *x, const char *name, ParamShape weight, Pos pos) {
    const char *full = arena_printf(b->program->arena, "%s.weight", name);
    weight.init = INIT_UNIFORM;
    weight.scale = 1 / sqrt((double)value_cols(x));
    Value *w = builder_param_as(b, full, &weight, pos);
    Value *y = builder_op(b, OP_linear, name, (Value *[]){x, w}, 2, (Attr){.alpha = 1}, pos);
    return bias(b, y, name, weight.scale, pos);
}

Value *image_linear(Builder *b, Value *x, const char *name, int64_t out_features, Pos pos) {
    return linear(b, x, name, (ParamShape){.rank = 2, .dim = {out_features, value_cols(x)}}, pos);
}

/* [N * height * width, C] as [N, height * width * C]. What the host sends is there before any op. */
static Value *flatten(Builder *b, Value *x, const char *name, Pos pos) {
    int64_t rows = b->program->tokens;
    if (x->role == ROLE_INPUT)
        return value_reshaped(b->program, x, rows, value_elements(x) / rows);
    return builder_op(b, OP_reshape, name, &x, 1, (Attr){.rows = rows}, pos);
}

Value *image_flat_linear(Builder *b, Images images, const char *name, int64_t out_features,
                         Pos pos) {
    int64_t places = images.height * images.width, channels = value_cols(images.x);
    const char *flat = arena_printf(b->program->arena, "%s.flat", name);
    Value *x = flatten(b, images.x, flat, pos);
    ParamShape weight = {.rank = 2,
                         .dim = {out_features, places * channels},
                         .file_rank = 2,
                         .split = {out_features, channels, places, 1},
                         .order = {0, 2, 1, 3}};
    return linear(b, x, name, weight, pos);
}

Value *image_relu(Builder *b, Value *x, const char *name, Pos pos) {
    return builder_op(b, OP_relu, name, &x, 1, (Attr){0}, pos);
}
