/* Random parts of images, for training. A box is a pure function of its key: no state, no order. */
#include "runtime/data/data_images.h"

#include <math.h>

typedef struct {
    uint64_t key, drawn;
} Draws;

/* In [0, 1), in steps of 2^-53. */
static double draw(Draws *draws) {
    return (double)(mix64(draws->key, draws->drawn++) >> 11) * 0x1p-53;
}

static double draw_between(Draws *draws, double low, double high) {
    return low + draw(draws) * (high - low);
}

/* One of 0 .. count - 1. */
static int32_t draw_place(Draws *draws, int64_t count) {
    return (int32_t)(draw(draws) * (double)count);
}

/* Like Python's round(), but at least 1. */
static int32_t rounded(double value) { return (int32_t)fmax(nearbyint(value), 1); }

/* Returns the largest central part with an allowed aspect ratio. */
static Box central_box(const RtImages *shape) {
    Box box = {.height = (int32_t)shape->height, .width = (int32_t)shape->width};
    double ratio = (double)box.width / (double)box.height;
    if (ratio < shape->crop_ratio[0])
        box.height = rounded(box.width / shape->crop_ratio[0]);
    else if (ratio > shape->crop_ratio[1])
        box.width = rounded(box.height * shape->crop_ratio[1]);
    box.top = (int32_t)((shape->height - box.height) / 2);
    box.left = (int32_t)((shape->width - box.width) / 2);
    return box;
}

/* Draws area and aspect ratio until the part fits in the image; falls back to the central part. */
static Box random_box(const RtImages *shape, Draws *draws) {
    enum { TRIES = 10 };
    const double *scale = shape->crop_scale, *ratio = shape->crop_ratio;
    double area = (double)(shape->height * shape->width);
    for (int i = 0; i < TRIES; i++) {
        double part = area * draw_between(draws, scale[0], scale[1]);
        double aspect = exp(draw_between(draws, log(ratio[0]), log(ratio[1])));
        double width = nearbyint(sqrt(part * aspect)), height = nearbyint(sqrt(part / aspect));
        if (width < 1 || width > (double)shape->width || height < 1 ||
            height > (double)shape->height)
            continue;
        Box box = {.height = (int32_t)height, .width = (int32_t)width};
        box.top = draw_place(draws, shape->height - box.height + 1);
        box.left = draw_place(draws, shape->width - box.width + 1);
        return box;
    }
    return central_box(shape);
}

Box box_draw(const RtImages *shape, uint64_t key) {
    Draws draws = {.key = key};
    bool mirrored = draw(&draws) < shape->random_horizontal_flip;
    Box box = {.height = (int32_t)shape->height, .width = (int32_t)shape->width};
    if (shape->random_resized_crop)
        box = random_box(shape, &draws);
    box.mirrored = mirrored;
    return box;
}
