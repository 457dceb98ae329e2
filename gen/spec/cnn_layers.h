/* The layers of a cnn as a spec lists them: "conv 32 3", "relu", "max_pool 2", ... */
#pragma once
#include "spec/spec.h"

typedef enum {
    CNN_CONV,
    CNN_RELU,
    CNN_MAX_POOL,
    CNN_DROPOUT,
    CNN_FLATTEN,
    CNN_LINEAR,
} CnnLayerKind;

typedef struct {
    CnnLayerKind kind;
    Pos pos;
    int64_t features;                /* conv: channels it makes; linear: features it makes */
    int64_t kernel, stride, padding; /* conv, max_pool */
    double rate;                     /* dropout */
    int64_t height, width, channels; /* of what goes in; height 0 once flat: then features */
} CnnLayer;

/* Reads spec->model.layers and follows the shape through them; the linear to the classes is the
 * last of the result. Every mistake is a user_error at the layer. */
CnnLayer *cnn_layers(Arena *, const Spec *, int *count);
