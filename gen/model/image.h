/* What the families of image models build with: layers over batches of images, with torch's names,
 * file layouts and initial values. */
#ifndef MODEL_IMAGE_H
#define MODEL_IMAGE_H

#include "model/model.h"

/* A batch of images [N * height * width, channels], rows in the order n, h, w. */
typedef struct {
    Value *x;
    int64_t height, width;
} Images;

/* The input "pixels": with data.decode = "device" U8, as stored; else of the activations' dtype, as
 * the model sees them. */
Value *image_input(Program *, const Spec *);
/* The batch's images as the model sees them. */
Images image_pixels(Builder *);

/* As torch.nn.Linear, with NAME.weight and NAME.bias. */
Value *image_linear(Builder *, Value *x, const char *name, int64_t out_features, Pos);
/* Flattens images as torch does, channels first; then as image_linear. */
Value *image_flat_linear(Builder *, Images, const char *name, int64_t out_features, Pos);
Value *image_relu(Builder *, Value *x, const char *name, Pos);

#endif
