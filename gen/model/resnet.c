/* ResNet (He et al., arXiv 1512.03385) with torchvision's names and initial values. A
 * bottleneck that halves the image does so in its 3x3 convolution ("v1.5"). */
#include "model/image.h"
#include "spec/resnet_depths.h"

static Images conv_norm(Builder *b, Images x, const char *conv_name, const char *norm_name,
                        Conv conv, Pos pos) {
    x = image_conv2d(b, x, conv_name, conv, pos);
    x.x = image_batch_norm(b, x.x, norm_name, pos);
    return x;
}

static Images numbered(Builder *b, Images x, int i, Conv conv, Pos pos) {
    Arena *arena = b->program->arena;
    return conv_norm(b, x, arena_printf(arena, "conv%d", i), arena_printf(arena, "bn%d", i), conv,
                     pos);
}

static Images numbered_relu(Builder *b, Images x, int i, Conv conv, Pos pos) {
    x = numbered(b, x, i, conv, pos);
    x.x = image_relu(b, x.x, arena_printf(b->program->arena, "relu%d", i), pos);
    return x;
}

static Images basic_block(Builder *b, Images x, int64_t width, int64_t stride, Pos pos) {
    Conv first = {.channels = width, .kernel = 3, .stride = stride, .padding = 1}, second = first;
    second.stride = 1;
    return numbered(b, numbered_relu(b, x, 1, first, pos), 2, second, pos);
}

static Images bottleneck(Builder *b, Images x, int64_t width, int64_t stride, Pos pos) {
    Conv first = {.channels = width, .kernel = 1, .stride = 1};
    Conv second = {.channels = width, .kernel = 3, .stride = stride, .padding = 1};
    Conv third = {.channels = 4 * width, .kernel = 1, .stride = 1};
    x = numbered_relu(b, x, 1, first, pos);
    return numbered(b, numbered_relu(b, x, 2, second, pos), 3, third, pos);
}

static Images block(Builder *b, Images in, const ResnetDepth *depth, int64_t width, int64_t stride,
                    Pos pos) {
    Images x = depth->bottleneck ? bottleneck(b, in, width, stride, pos)
                                 : basic_block(b, in, width, stride, pos);
    Conv shortcut = {.channels = value_cols(x.x), .kernel = 1, .stride = stride};
    if (stride != 1 || value_cols(in.x) != value_cols(x.x))
        in = conv_norm(b, in, "downsample.0", "downsample.1", shortcut, pos);
    Value *both[] = {x.x, in.x};
    x.x = builder_op(b, OP_add, "residual", both, 2, (Attr){0}, pos);
    x.x = image_relu(b, x.x, "relu", pos);
    return x;
}

static Images stage(Builder *b, Images x, const ResnetDepth *depth, int i, Pos pos) {
    int64_t width = b->spec->model.base_width << i;
    for (int64_t k = 0; k < depth->blocks[i]; k++) {
        b->scope = arena_printf(b->program->arena, "layer%d.%lld.", i + 1, (long long)k);
        x = block(b, x, depth, width, i > 0 && k == 0 ? 2 : 1, pos);
    }
    b->scope = "";
    return x;
}

Value *resnet_forward(Builder *b) {
    const Spec *spec = b->spec;
    Pos pos = spec_pos(spec, KEY_model_depth), width = spec_pos(spec, KEY_model_base_width);
    Conv stem = {.channels = spec->model.base_width, .kernel = 7, .stride = 2, .padding = 3};
    Images x = numbered_relu(b, image_pixels(b), 1, stem, width);
    x = image_max_pool2d(b, x, "maxpool", (Window){.kernel = 3, .stride = 2, .padding = 1}, pos);
    for (int i = 0; i < 4; i++)
        x = stage(b, x, resnet_depth(spec), i, pos);
    Linear fc = {.features = spec->model.num_classes, .places = 1};
    return image_linear(b, image_average(b, x, "avgpool", pos), "fc", fc,
                        spec_pos(spec, KEY_model_num_classes));
}
