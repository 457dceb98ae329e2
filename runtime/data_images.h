/* Images, from files to raw images to what the model sees (data_images.c puts them together).
 *
 *     IDX files (data_idx.c) ------------------------------> raw images: bytes, all of one size
 *     JPEG, PNG (data_folder.c, data_decode.c) -> fitted --> raw images
 *                                       (data_resize.c)      -> what the model sees
 *
 * A raw image is what runtime.h's RtImages says it is. */
#ifndef GPUOPT_DATA_IMAGES_H
#define GPUOPT_DATA_IMAGES_H

#include "runtime/data_kind.h"

static inline size_t raw_bytes(const RtImages *shape) {
    return (size_t)(shape->height * shape->width * shape->channels);
}

/* ---- IDX (data_idx.c) ------------------------------------------------------------------------ */

typedef struct {
    uint8_t *pixels, *labels; /* [count] raw images and their classes; owned */
    int64_t count;
} IdxSet;

/* Appends the images of one file, plain or compressed by gzip, with the classes of its label file,
 * which is found by its name: …images…idx3… -> …labels…idx1…, compressed or not. */
bool idx_read(IdxSet *set, const char *path, const RtImages *shape, DataError *error);
void idx_free(IdxSet *set);
/* The same from memory; the paths are for messages. */
bool idx_add(IdxSet *set, const char *path, const uint8_t *bytes, size_t size,
             const char *label_path, const uint8_t *label_bytes, size_t label_size,
             const RtImages *shape, DataError *error);

/* ---- other sizes (data_resize.c) ------------------------------------------------------------- */

/* What the model sees of a raw image, in floats of `dtype`. */
void image_present(const RtImages *shape, const uint8_t *raw, RtDtype dtype, void *out);

#endif
