/* Layers of image models. */
#include "model/image.h"

#include <math.h>
#include <string.h>

#include "graph/window.h"

/* ---- input ---- */

/* The plane of the images that the model sees; all values made from them follow it. */
static int64_t plane_of(const Spec *spec) {
    bool planes = spec->compile.layout == LAYOUT_NCHW;
    return planes ? spec->model.image_size * spec->model.image_size : 0;
}

static const char *feeding_text(const Program *p, const Spec *spec) {
    if (image_slot_bytes(spec))
        return arena_printf(p->arena, "each batch is sent, JPEG files as coefficients: %s",
                            spec->resident_why);
    return p->dataset ? arena_printf(p->arena, "the device keeps all %lld images: %s",
                                     (long long)spec->stored_images, spec->resident_why)
                      : arena_printf(p->arena, "each batch is sent: %s", spec->resident_why);
}

static bool randomly_cropped(const Spec *spec) {
    return spec->data.random_resized_crop || spec->data.random_horizontal_flip > 0;
}

void image_input(Program *p, const Spec *spec, Batch *batch) {
    int64_t size = spec->model.image_size,
            stored = spec->data.image_height * spec->data.image_width;
    Pos pos = spec_pos(spec, KEY_data_decode), resident = spec_pos(spec, KEY_data_device_resident);
    if (spec->data.decode == DECODE_HOST) {
        batch->pixels = value_2d(p, "pixels", ROLE_INPUT, p->activation, p->tokens * size * size,
                                 spec->model.image_channels, pos);
        batch->pixels->plane = plane_of(spec);
    } else if (spec->data.device_resident != RESIDENT_FALSE) {
        batch->indices = value_2d(p, "indices", ROLE_INPUT, DT_I32, p->tokens, 1, resident);
        p->dataset = value_2d(p, "dataset", ROLE_DATASET, DT_U8, spec->stored_images,
                              stored * spec->data.image_channels, resident);
    } else if (image_slot_bytes(spec)) {
        batch->pictures = value_2d(p, "pictures", ROLE_INPUT, DT_U8, p->tokens,
                                   image_slot_bytes(spec), spec_pos(spec, KEY_data_jpeg_pixels));
    } else {
        batch->pixels = value_2d(p, "pixels", ROLE_INPUT, DT_U8, p->tokens * stored,
                                 spec->data.image_channels, pos);
    }
    p->feeding = feeding_text(p, spec);
    if (spec->data.decode == DECODE_DEVICE && randomly_cropped(spec) && !image_slots_have_crops(spec))
        batch->boxes = value_2d(p, "boxes", ROLE_INPUT, DT_I32, BOX_NUMBERS * p->tokens, 1,
                                spec_pos(spec, KEY_data_random_resized_crop));
}

/* Stored images, or crops, of the pictures in slots. */
static Value *decoded_pixels(Builder *b, const Window *size) {
    Value *in[] = {b->batch.pictures, NULL};
    Pos pos = spec_pos(b->spec, KEY_data_jpeg_pixels);
    Attr attr = {.out_height = size->height,
                 .out_width = size->width,
                 .out_channels = b->spec->data.image_channels};
    in[1] = builder_op(b, OP_picture_planes, "planes", in, 1, (Attr){0}, pos);
    Value *pixels = builder_op(b, OP_picture_fit, "pixels", in, 2, attr, pos);
    if (b->training)
        graph_producer(b->graph, pixels)->observe = "pixels";
    return pixels;
}

/* Pixels of the stored images: the batch's, or the whole data set on the device. */
static Value *stored_pixels(Builder *b, const Window *size) {
    Value *all = b->program->dataset;
    int64_t channels = b->spec->data.image_channels;
    if (b->batch.pictures)
        return decoded_pixels(b, size);
    if (b->batch.pixels)
        return b->batch.pixels;
    return value_reshaped(b->program, all, value_elements(all) / channels, channels);
}

/* A constant with one number per channel of the model's input. */
static Value *channel_constant(Builder *b, const char *name, Reals numbers, Key key) {
    Program *p = b->program;
    int64_t channels = b->spec->model.image_channels;
    double *data = arena_array(p->arena, (size_t)channels, sizeof *data);
    for (int64_t i = 0; i < channels; i++)
        data[i] = numbers.items[numbers.count > 1 ? i : 0];
    Value *v = value_1d(p, name, ROLE_CONSTANT, p->real, channels, spec_pos(b->spec, key));
    v->data = data;
    return v;
}

/* Which part of a stored image the graph sees: in training all of it, or the boxes. */
static Attr image_attr(const Builder *b) {
    const Spec *spec = b->spec;
    int64_t size = spec->model.image_size;
    Attr attr = {
        .window = {.height = spec->data.image_height, .width = spec->data.image_width},
        .out_height = size,
        .out_width = size,
        .plane = plane_of(spec),
        .crop = {size, size, 0, 0},
        .boxed = b->training && b->batch.boxes,
    };
    if (b->training && image_slots_have_crops(spec))
        attr.window.height = attr.window.width = size;
    if (!b->training) {
        CenterCrop crop = spec_center_crop(spec);
        attr.crop = (Crop){crop.height, crop.width, crop.top, crop.left};
    }
    return attr;
}

Images image_pixels(Builder *b) {
    const Spec *spec = b->spec;
    Batch *batch = &b->batch;
    int64_t size = spec->model.image_size;
    if (spec->data.decode == DECODE_HOST)
        return (Images){batch->pixels, size, size};
    if (!batch->mean) {
        batch->mean = channel_constant(b, "image_mean", spec->data.image_mean, KEY_data_image_mean);
        batch->std = channel_constant(b, "image_std", spec->data.image_std, KEY_data_image_std);
    }
    Attr attr = image_attr(b);
    Value *in[] = {stored_pixels(b, &attr.window), batch->mean, batch->std, NULL, NULL};
    int count = 3;
    if (batch->indices)
        in[count++] = batch->indices;
    if (attr.boxed)
        in[count++] = batch->boxes;
    Value *x = builder_op(b, OP_image_input, "images", in, count, attr,
                          spec_pos(spec, KEY_model_image_size));
    return (Images){x, size, size};
}

/* ---- layers with weights ---- */

static const char *part(Builder *b, const char *name, const char *which) {
    return arena_printf(b->program->arena, "%s.%s", name, which);
}

static Value *bias(Builder *b, Value *x, const char *name, double bound, Pos pos) {
    int64_t width = value_cols(x);
    Value *v = builder_param(b, part(b, name, "bias"), 1, &width,
                             bound > 0 ? INIT_UNIFORM : INIT_ZEROS, bound, pos);
    return builder_op(b, OP_add_bias, part(b, name, "biased"), (Value *[]){x, v}, 2, (Attr){0},
                      pos);
}

static ParamShape dense_filter(Conv c, int64_t channels) {
    return (ParamShape){.rank = 4,
                        .dim = {c.channels, c.kernel, c.kernel, channels},
                        .split = {c.channels, channels, c.kernel, c.kernel},
                        .order = {0, 2, 3, 1}};
}

/* Whether a matrix product does it. Images in planes would need one product per image. */
static bool is_linear(Images x, Conv c) {
    return c.kernel == 1 && c.stride == 1 && c.padding == 0 && !c.depthwise && !x.x->plane;
}

static ParamShape linear_filter(Conv c, int64_t channels) {
    return (ParamShape){.rank = 2,
                        .dim = {c.channels, channels},
                        .split = {c.channels, channels, 1, 1},
                        .order = {0, 1, 2, 3}};
}

static ParamShape depthwise_filter(Conv c) {
    return (ParamShape){.rank = 2,
                        .dim = {c.kernel * c.kernel, c.channels},
                        .split = {c.channels, 1, c.kernel, c.kernel},
                        .order = {2, 3, 1, 0}};
}

/* torch.nn.Conv2d draws uniformly within 1 / sqrt(fan-in); torchvision's models, which have no
 * biases, draw from a normal distribution (He et al., arXiv 1502.01852, by fan-out). */
static Value *filter(Builder *b, Images x, Conv c, const char *name, Pos pos) {
    int64_t taps = c.kernel * c.kernel, channels = value_cols(x.x);
    ParamShape shape = c.depthwise       ? depthwise_filter(c)
                       : is_linear(x, c) ? linear_filter(c, channels)
                                         : dense_filter(c, channels);
    shape.file_rank = 4;
    shape.init = c.bias ? INIT_UNIFORM : INIT_NORMAL;
    shape.scale = c.bias ? 1 / sqrt((double)(taps * (c.depthwise ? 1 : channels)))
                         : sqrt(2 / (double)(taps * c.channels));
    return builder_param_as(b, part(b, name, "weight"), &shape, pos);
}

Images image_conv2d(Builder *b, Images x, const char *name, Conv c, Pos pos) {
    int64_t channels = value_cols(x.x);
    Value *in[] = {x.x, filter(b, x, c, name, pos)};
    Window w = {x.height, x.width, c.kernel, c.stride, c.padding};
    OpKind kind = c.depthwise ? OP_depthwise_conv2d : OP_conv2d;
    Value *y = is_linear(x, c) ? builder_op(b, OP_linear, name, in, 2, (Attr){.alpha = 1}, pos)
                               : builder_op(b, kind, name, in, 2, (Attr){.window = w}, pos);
    if (c.bias)
        y = bias(b, y, name, 1 / sqrt((double)(channels * c.kernel * c.kernel)), pos);
    return (Images){y, window_out_height(&w), window_out_width(&w)};
}

Value *image_linear(Builder *b, Value *x, const char *name, Linear l, Pos pos) {
    int64_t features = value_cols(x);
    double bound = 1 / sqrt((double)features);
    ParamShape shape = {.rank = 2,
                        .dim = {l.features, features},
                        .init = l.deviation > 0 ? INIT_NORMAL : INIT_UNIFORM,
                        .scale = l.deviation > 0 ? l.deviation : bound};
    if (l.places > 1) {
        shape.file_rank = 2;
        memcpy(shape.split, (int64_t[]){l.features, features / l.places, l.places, 1},
               sizeof shape.split);
        memcpy(shape.order, (int[]){0, 2, 1, 3}, sizeof shape.order);
    }
    Value *in[] = {x, builder_param_as(b, part(b, name, "weight"), &shape, pos)};
    Value *y = builder_op(b, OP_linear, name, in, 2, (Attr){.alpha = 1}, pos);
    return bias(b, y, name, l.deviation > 0 ? 0 : bound, pos);
}

/* ---- batch norm ---- */

static Value *norm_param(Builder *b, int64_t width, const char *name, const char *which, int init,
                         bool buffer, Pos pos) {
    ParamShape shape = {.rank = 1, .dim = {width}, .init = init, .real = true, .buffer = buffer};
    return builder_param_as(b, part(b, name, which), &shape, pos);
}

static Value *norm_stat(Builder *b, int64_t width, const char *name, const char *which, Pos pos) {
    return value_1d(b->program, builder_name(b, part(b, name, which)), ROLE_ACTIVATION,
                    b->program->real, width, pos);
}

/* torch's default eps and momentum, which all these models use. */
static const Attr norm_attr = {.eps = 1e-5, .momentum = 0.1};

Value *image_batch_norm(Builder *b, Value *x, const char *name, Pos pos) {
    Program *p = b->program;
    int64_t width = value_cols(x);
    Value *weight = norm_param(b, width, name, "weight", INIT_ONES, false, pos);
    Value *shift = norm_param(b, width, name, "bias", INIT_ZEROS, false, pos);
    Value *mean = norm_param(b, width, name, "running_mean", INIT_ZEROS, true, pos);
    Value *var = norm_param(b, width, name, "running_var", INIT_ONES, true, pos);
    if (!b->training)
        return builder_op(b, OP_batch_norm_eval, name, (Value *[]){x, mean, var, weight, shift}, 5,
                          norm_attr, pos);
    Value *sums[] = {norm_stat(b, width, name, "sum", pos),
                     norm_stat(b, width, name, "sum_squares", pos)};
    Value *stats[] = {norm_stat(b, width, name, "mean", pos),
                      norm_stat(b, width, name, "rstd", pos), value_alias(p, mean, mean->name),
                      value_alias(p, var, var->name)};
    Attr attr = norm_attr;
    attr.rows = value_rows(x);
    op_add_into(p, b->graph, OP_batch_norm_sums, builder_name(b, part(b, name, "sums")),
                (Value *[]){x, mean}, 2, sums, 2, (Attr){0}, pos);
    op_add_into(p, b->graph, OP_batch_norm_stats, builder_name(b, part(b, name, "stats")),
                (Value *[]){sums[0], sums[1], mean, var}, 4, stats, 4, attr, pos);
    Value *in[] = {x, stats[0], stats[1], weight, shift};
    return builder_op(b, OP_batch_norm, name, in, 5, norm_attr, pos);
}

/* ---- layers without ---- */

Images image_max_pool2d(Builder *b, Images x, const char *name, Window w, Pos pos) {
    w.height = x.height;
    w.width = x.width;
    Value *y = builder_op(b, OP_max_pool2d, name, &x.x, 1, (Attr){.window = w}, pos);
    return (Images){y, window_out_height(&w), window_out_width(&w)};
}

Value *image_average(Builder *b, Images x, const char *name, Pos pos) {
    Attr attr = {.rows = b->program->tokens};
    return builder_op(b, OP_global_avg_pool2d, name, &x.x, 1, attr, pos);
}

Value *image_relu(Builder *b, Value *x, const char *name, Pos pos) {
    return builder_op(b, OP_relu, name, &x, 1, (Attr){0}, pos);
}

Value *image_relu6(Builder *b, Value *x, const char *name, Pos pos) {
    return builder_op(b, OP_relu6, name, &x, 1, (Attr){0}, pos);
}

Value *image_dropout(Builder *b, Value *x, const char *name, double rate, Pos pos) {
    const Counters *c = &b->program->counters;
    if (!b->training || rate == 0)
        return x;
    Value *in[] = {x, c->seed, c->step, b->batch.first_row};
    Attr attr = {.rate = rate, .stream = stable_hash(builder_name(b, name))};
    return builder_op(b, OP_dropout, name, in, 4, attr, pos);
}

int64_t image_places(Images x) { return x.x->plane ? 1 : x.height * x.width; }

/* An input needs no op: a view of it is enough. */
Value *image_flatten(Builder *b, Images x, const char *name, Pos pos) {
    int64_t rows = b->program->tokens;
    if (x.x->role == ROLE_INPUT)
        return value_reshaped(b->program, x.x, rows, value_elements(x.x) / rows);
    return builder_op(b, OP_reshape, name, &x.x, 1, (Attr){.rows = rows}, pos);
}
