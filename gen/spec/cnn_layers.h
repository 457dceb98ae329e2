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
    int64_t features;                /* conv: output channels; linear: output features */
    int64_t kernel, stride, padding; /* conv, max_pool */
    double rate;                     /* dropout */
    int64_t height, width, channels; /* of the input; height 0: flat, features only */
} CnnLayer;

/* Reads spec->model.layers and computes the input shape of each. The last layer returned is the
 * linear to the classes. Errors are user_errors at the layer. */
CnnLayer *cnn_layers(Arena *, const Spec *, int *count);
