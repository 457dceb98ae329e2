/* Images, from files to raw images to what the model sees (data_images.c puts them together).
 *
 *     IDX files (data_idx.c) ------------------------------> raw images: bytes, all of one size
 *     JPEG, PNG (data_folder.c, data_decode.c) -> fitted --> raw images
 *                                       (data_fit.c)         -> what the model sees
 *                                                               (data_crop.c, data_resize.c)
 *
 * or, of a random part of a whole picture, from the fitted part to what the model sees.
 *
 * A raw image is what runtime.h's RtImages says it is. */
#ifndef GPUOPT_DATA_IMAGES_H
#define GPUOPT_DATA_IMAGES_H

#include "runtime/data/data_kind.h"

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

/* ---- JPEG and PNG (data_decode.c) ------------------------------------------------------------ */

typedef struct {
    const char *path; /* for messages */
    const uint8_t *bytes;
    size_t size;
} PictureFile;

/* Height and width are the file's. Of them a 2^halvings-th was decoded, rounded up: bytes [height,
 * width, channels]. */
typedef struct {
    uint8_t *pixels; /* owned */
    int64_t height, width, channels;
    int halvings;
} Picture;

enum { MOST_HALVINGS = 3 }; /* what libjpeg-turbo has fast code for */

/* What was decoded of so many rows or columns of the file's. */
static inline int64_t picture_places(const Picture *picture, int64_t size) {
    return (size + (1 << picture->halvings) - 1) >> picture->halvings;
}

/* Of a file height and width alone. Any thread, as the next one. */
bool picture_measure(Picture *picture, const PictureFile *file, DataError *error);
/* In 1 or 3 channels whatever the file has; transparency is ignored. PNG files are not halved. Nothing
 * is left to free where that fails. */
bool picture_decode(Picture *picture, const PictureFile *file, int64_t channels, int halvings,
                    DataError *error);
void picture_free(Picture *picture);

/* ---- folders of images (data_folder.c) ------------------------------------------------------- */

typedef struct {
    char *path;
    int32_t label;
} ImageFile;

typedef struct {
    ImageFile *files;
    int64_t count, capacity;
    FileList *classes; /* set by the caller: the class folders of the first root of the run */
} ImageFolder;

/* Appends the images of one root: class by class, files of a class in bytewise order. */
bool folder_add(ImageFolder *folder, const char *root, const RtImages *shape, DataError *error);
void folder_free(ImageFolder *folder);
/* Leaves out the images that cannot be read, decoded or fitted, saying so of the first few; gives
 * their number. Each image is decoded once. */
int64_t folder_skip_broken(ImageFolder *folder, const RtImages *shape, int64_t threads);
/* A raw image of a file's picture: of the random part that the key draws, or, where that is NULL, of
 * the largest one. Any thread. */
bool folder_read(const ImageFolder *folder, int64_t at, const RtImages *shape, const uint64_t *key,
                 uint8_t *raw, DataError *error);

/* ---- random parts (data_crop.c) -------------------------------------------------------------- */

/* A part of an image, mirrored or not: a raw image's numbers in the input `boxes`. */
typedef struct {
    int32_t top, left, height, width, mirrored;
} Box;

/* As torchvision's RandomResizedCrop and RandomHorizontalFlip draw them; all of the image where the
 * program asks for neither. */
Box box_draw(const RtImages *shape, uint64_t key);

/* ---- other sizes (data_fit.c, data_resize.c) ------------------------------------------------- */

/* The largest centred part of a picture that has the shape of a raw image. */
Box picture_largest(const Picture *picture, const RtImages *shape);
/* A part of a picture, in the file's pixels, mirrored where the box is, made [height, width] with
 * antialias. */
void picture_cut(const Picture *picture, const Box *part, int64_t height, int64_t width,
                 uint8_t *to);

/* What the model sees of a raw image, in floats of `dtype`: of the box that training cuts out, or,
 * where that is NULL, as a held-out image. */
void image_present(const RtImages *shape, const uint8_t *raw, const Box *box, RtDtype dtype,
                   void *out);

#endif
