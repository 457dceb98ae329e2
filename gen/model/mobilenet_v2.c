/* MobileNet v2 (Sandler et al., arXiv 1801.04381) with torchvision's names and initial values:
 * inverted residuals, which widen by a 1x1 convolution, filter each channel separately, and narrow
 * again without an activation. */
#include "model/image.h"

#include <math.h>

/* Rounds a width as torchvision does: to a multiple of 8, but not below 90 % of the width. */
static int64_t rounded(double width) {
    int64_t multiple = (int64_t)(width + 4) / 8 * 8;
    multiple = multiple < 8 ? 8 : multiple;
    return (double)multiple < 0.9 * width ? multiple + 8 : multiple;
}

static int64_t scaled(const Builder *b, int64_t width) {
    return rounded((double)width * b->spec->model.width_mult);
}

/* Conv2dNormActivation: NAME.0 and NAME.1. */
static Images conv_norm_relu6(Builder *b, Images x, const char *name, Conv conv, Pos pos) {
    Arena *arena = b->program->arena;
    x = image_conv2d(b, x, arena_printf(arena, "%s.0", name), conv, pos);
    x.x = image_batch_norm(b, x.x, arena_printf(arena, "%s.1", name), pos);
    x.x = image_relu6(b, x.x, arena_printf(arena, "%s.2", name), pos);
    return x;
}

typedef struct {
    int64_t expansion, channels, stride;
} Block;

static Images inverted_residual(Builder *b, Images in, Block block, Pos pos) {
    Arena *arena = b->program->arena;
    int64_t width = value_cols(in.x), hidden = width * block.expansion;
    int part = 0;
    Images x = in;
    if (block.expansion != 1)
        x = conv_norm_relu6(b, x, arena_printf(arena, "conv.%d", part++),
                            (Conv){.channels = hidden, .kernel = 1, .stride = 1}, pos);
    Conv filter = {.channels = hidden, .kernel = 3, .stride = block.stride, .padding = 1};
    filter.depthwise = true;
    x = conv_norm_relu6(b, x, arena_printf(arena, "conv.%d", part++), filter, pos);
    Conv narrow = {.channels = block.channels, .kernel = 1, .stride = 1};
    x = image_conv2d(b, x, arena_printf(arena, "conv.%d", part++), narrow, pos);
    x.x = image_batch_norm(b, x.x, arena_printf(arena, "conv.%d", part), pos);
    if (block.stride == 1 && width == block.channels)
        x.x = builder_op(b, OP_add, "residual", (Value *[]){in.x, x.x}, 2, (Attr){0}, pos);
    return x;
}

/* Table 2 of the paper: expansion, channels, blocks, stride of the first block. */
static const int64_t stages[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                    {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

static Images features(Builder *b, Pos pos) {
    int64_t place = 0;
    Conv first = {.channels = scaled(b, 32), .kernel = 3, .stride = 2, .padding = 1};
    Images x = conv_norm_relu6(b, image_pixels(b), "features.0", first, pos);
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
        for (int64_t i = 0; i < stages[s][2]; i++) {
            Block block = {stages[s][0], scaled(b, stages[s][1]), i ? 1 : stages[s][3]};
            b->scope = arena_printf(b->program->arena, "features.%lld.", (long long)++place);
            x = inverted_residual(b, x, block, pos);
        }
    b->scope = "";
    int64_t last = rounded(1280 * fmax(1, b->spec->model.width_mult));
    const char *name = arena_printf(b->program->arena, "features.%lld", (long long)++place);
    return conv_norm_relu6(b, x, name, (Conv){.channels = last, .kernel = 1, .stride = 1}, pos);
}

Value *mobilenet_v2_forward(Builder *b) {
    Pos pos = spec_pos(b->spec, KEY_model_width_mult);
    Value *x = image_average(b, features(b, pos), "avgpool", pos);
    x = image_dropout(b, x, "classifier.0", b->spec->model.dropout,
                      spec_pos(b->spec, KEY_model_dropout));
    Linear classifier = {.features = b->spec->model.num_classes, .places = 1, .deviation = 0.01};
    return image_linear(b, x, "classifier.1", classifier, spec_pos(b->spec, KEY_model_num_classes));
}
