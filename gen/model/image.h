/* Layers over batches of images, for the families of image models, with torch's names, file layouts
 * and initial values. */
#ifndef MODEL_IMAGE_H
#define MODEL_IMAGE_H

#include "model/model.h"

/* A batch of images [N * height * width, channels], rows in the order n, h, w; in planes where
 * compile.layout is nchw. */
typedef struct {
    Value *x;
    int64_t height, width;
} Images;

/* Makes the input "pixels": with data.decode = "device" U8 as stored, else in the activations'
 * dtype as the model sees them. With data.device_resident, makes "indices" and the dataset instead;
 * if the device decodes JPEG files, "pictures".
 * If the device crops or mirrors at random, also makes "boxes". */
void image_input(Program *, const Spec *, Batch *);
/* Fills program->loader. */
void image_settings(Program *, const Spec *);
/* Returns the bytes of an image's slot, with which the device decodes JPEG files; 0: it does not. */
int64_t image_slot_bytes(const Spec *);
/* Whether it cuts random crops of whole pictures out then. */
bool image_slots_have_crops(const Spec *);
/* The batch's images as the model sees them. */
Images image_pixels(Builder *);

/* Each layer is named scope + name, and so are its parameters: NAME.weight, NAME.bias, … */

/* As torch.nn.Conv2d. */
typedef struct {
    int64_t channels; /* output channels */
    int64_t kernel, stride, padding;
    bool depthwise; /* groups = channels = input channels */
    bool bias;      /* initialised as in Conv2d; without a bias, as in torchvision's models */
} Conv;
Images image_conv2d(Builder *, Images, const char *name, Conv, Pos);
/* The window's image size is taken from the operand. */
Images image_max_pool2d(Builder *, Images, const char *name, Window, Pos);
/* The mean over each image: [N, channels]. */
Value *image_average(Builder *, Images, const char *name, Pos);
/* As torch.nn.BatchNorm2d: uses the batch's statistics in training, else the running ones. */
Value *image_batch_norm(Builder *, Value *, const char *name, Pos);
Value *image_relu(Builder *, Value *, const char *name, Pos);
Value *image_relu6(Builder *, Value *, const char *name, Pos);
/* Active only in training. */
Value *image_dropout(Builder *, Value *, const char *name, double rate, Pos);
/* [N, height * width * channels] in memory order: channels innermost or, in planes, outermost as in
 * torch. */
Value *image_flatten(Builder *, Images, const char *name, Pos);
/* Linear.places for a linear that reads these images flattened. */
int64_t image_places(Images);

/* As torch.nn.Linear. */
typedef struct {
    int64_t features; /* output features */
    int64_t
        places; /* pixels per flattened image with channels innermost, unlike the file; else 1 */
    double deviation; /* of normal weights, with a zero bias; 0: initialised as in Linear */
} Linear;
Value *image_linear(Builder *, Value *x, const char *name, Linear, Pos);

#endif
