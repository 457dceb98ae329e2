/* What the families of image models build with: layers over batches of images, with torch's names,
 * file layouts and initial values. */
#ifndef MODEL_IMAGE_H
#define MODEL_IMAGE_H

#include "model/model.h"

/* A batch of images [N * height * width, channels], rows in the order n, h, w; in planes where
 * compile.layout is nchw. */
typedef struct {
    Value *x;
    int64_t height, width;
} Images;

/* Makes the input "pixels": with data.decode = "device" U8, as stored; else of the activations'
 * dtype, as the model sees them. With data.device_resident "indices" instead, and the dataset. Where
 * the device crops or mirrors at random, "boxes" beside them. */
void image_input(Program *, const Spec *, Batch *);
/* Fills program->loader. */
void image_settings(Program *, const Spec *);
/* The batch's images as the model sees them. */
Images image_pixels(Builder *);

/* Each layer is named scope + name, and so are its parameters: NAME.weight, NAME.bias, … */

/* As torch.nn.Conv2d. */
typedef struct {
    int64_t channels; /* that it makes */
    int64_t kernel, stride, padding;
    bool depthwise; /* groups = channels, as many as come in */
    bool bias;      /* drawn as Conv2d does; without one, as torchvision's models are */
} Conv;
Images image_conv2d(Builder *, Images, const char *name, Conv, Pos);
/* The window's image is the operand's. */
Images image_max_pool2d(Builder *, Images, const char *name, Window, Pos);
/* The mean over each image: [N, channels]. */
Value *image_average(Builder *, Images, const char *name, Pos);
/* As torch.nn.BatchNorm2d: with the batch's statistics in training, with the running ones else. */
Value *image_batch_norm(Builder *, Value *, const char *name, Pos);
Value *image_relu(Builder *, Value *, const char *name, Pos);
Value *image_relu6(Builder *, Value *, const char *name, Pos);
/* Drops in training only. */
Value *image_dropout(Builder *, Value *, const char *name, double rate, Pos);
/* [N, height * width * channels], in the order in which they lie: the channels innermost, or, in
 * planes, outermost as torch has them. */
Value *image_flatten(Builder *, Images, const char *name, Pos);
/* Linear.places of what reads them flattened. */
int64_t image_places(Images);

/* As torch.nn.Linear. */
typedef struct {
    int64_t features; /* that it makes */
    int64_t
        places; /* of flattened pixels whose channels are innermost, unlike the file's; else 1 */
    double deviation; /* of normal weights, with a bias of zeros; 0: drawn as Linear does */
} Linear;
Value *image_linear(Builder *, Value *x, const char *name, Linear, Pos);

#endif
