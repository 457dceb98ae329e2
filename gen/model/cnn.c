/* The layers listed in model.layers; convolutions are named conv1, conv2, … and linears
 * fc1, fc2, …, as in PyTorch's MNIST example. */
#include "model/image.h"
#include "spec/cnn_layers.h"

typedef struct {
    Builder *b;
    Images at;
    int64_t places; /* image_places of the images that at.x was flattened from; 1 after a linear */
    int count[CNN_LINEAR + 1];
} Walk;

static const char *next_name(Walk *w, CnnLayerKind kind) {
    static const char *const names[] = {
        [CNN_CONV] = "conv",       [CNN_RELU] = "relu",       [CNN_MAX_POOL] = "max_pool",
        [CNN_DROPOUT] = "dropout", [CNN_FLATTEN] = "flatten", [CNN_LINEAR] = "fc",
    };
    return arena_printf(w->b->program->arena, "%s%d", names[kind], ++w->count[kind]);
}

static void add_layer(Walk *w, const CnnLayer *layer) {
    const char *name = next_name(w, layer->kind);
    Pos pos = layer->pos;
    switch (layer->kind) {
    case CNN_CONV: {
        Conv conv = {.channels = layer->features,
                     .kernel = layer->kernel,
                     .stride = layer->stride,
                     .padding = layer->padding,
                     .bias = true};
        w->at = image_conv2d(w->b, w->at, name, conv, pos);
        break;
    }
    case CNN_RELU:
        w->at.x = image_relu(w->b, w->at.x, name, pos);
        break;
    case CNN_MAX_POOL:
        w->at = image_max_pool2d(w->b, w->at, name,
                                 (Window){.kernel = layer->kernel, .stride = layer->stride}, pos);
        break;
    case CNN_DROPOUT:
        w->at.x = image_dropout(w->b, w->at.x, name, layer->rate, pos);
        break;
    case CNN_FLATTEN:
        w->places = image_places(w->at);
        w->at.x = image_flatten(w->b, w->at, name, pos);
        break;
    case CNN_LINEAR:
        w->at.x = image_linear(w->b, w->at.x, name,
                               (Linear){.features = layer->features, .places = w->places}, pos);
        w->places = 1;
        break;
    }
}

Value *cnn_forward(Builder *b) {
    int count;
    CnnLayer *layers = cnn_layers(b->program->arena, b->spec, &count);
    Walk w = {.b = b, .at = image_pixels(b), .places = 1};
    for (int i = 0; i < count; i++)
        add_layer(&w, &layers[i]);
    return w.at.x;
}
