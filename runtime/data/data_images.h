/* Images, from files to raw images to what the model sees (data_images.c combines these steps).
 *
 *     IDX files (data_idx.c) ------------------------------> raw images: bytes, all of one size
 *     JPEG, PNG (data_folder.c, data_decode.c) -> fitted --> raw images
 *                                       (data_fit.c)         -> what the model sees
 *                                                               (data_crop.c, data_resize.c)
 *
 * With crop_pictures, a random part of the whole picture is fitted to the model's size instead, and
 * only its numbers are converted.
 *
 * If the device makes pixels of JPEG files, they are only read into slots (data_coefficients.c); the
 * raw images of all other pictures are made here and put into slots too.
 *
 * RtImages in runtime.h defines what a raw image is. */
#ifndef GPUOPT_DATA_IMAGES_H
#define GPUOPT_DATA_IMAGES_H

#include "runtime/data/data_kind.h"

static inline size_t raw_bytes(const RtImages *shape) {
    return (size_t)(shape->height * shape->width * shape->channels);
}

/* ---- IDX (data_idx.c) ------------------------------------------------------------------------ */

typedef struct {
    uint8_t *pixels, *labels; /* owned; [count] raw images and their classes */
    int64_t count;
} IdxSet;

/* Appends the images of one file, plain or compressed by gzip, with the classes from its label
 * file. The label file is found by name: …images…idx3… -> …labels…idx1…, compressed or not. */
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

/* Height and width are those of the file. The pixels are bytes [height, width, channels], with
 * height and width divided by 2^halvings and rounded up. */
typedef struct {
    uint8_t *pixels; /* owned */
    int64_t height, width, channels;
    int halvings;
} Picture;

enum { MOST_HALVINGS = 3 }; /* libjpeg-turbo has fast code for up to 3 */

/* Returns how many rows or columns were decoded for `size` rows or columns of the file. */
static inline int64_t picture_places(const Picture *picture, int64_t size) {
    return (size + (1 << picture->halvings) - 1) >> picture->halvings;
}

/* Sets only height and width. Like picture_decode(), may be called from any thread. */
bool picture_measure(Picture *picture, const PictureFile *file, DataError *error);
/* Decodes to 1 or 3 channels, whatever the file has; transparency is ignored. PNG files are not
 * halved. After a failure there is nothing to free. */
bool picture_decode(Picture *picture, const PictureFile *file, int64_t channels, int halvings,
                    DataError *error);
void picture_free(Picture *picture);
/* Opens libjpeg-turbo if it is not open yet. Returns why it cannot be; "": it is open. */
const char *jpeg_problem(void);

/* ---- folders of images (data_folder.c) ------------------------------------------------------- */

typedef struct {
    char *path;
    int32_t label;
} ImageFile;

typedef struct {
    ImageFile *files;
    int64_t count, capacity;
    FileList *classes; /* set by the caller: the class folders of the run's first root */
} ImageFolder;

/* Appends the images of one root, class by class; the files of a class are in bytewise order. */
bool folder_add(ImageFolder *folder, const char *root, const RtImages *shape, DataError *error);
void folder_free(ImageFolder *folder);
/* Leaves out the images that cannot be read, decoded or fitted, with a warning for the first few,
 * and returns their number. Decodes each image once. */
int64_t folder_skip_broken(ImageFolder *folder, const RtImages *shape, int64_t threads);
/* Makes a raw image from a file's picture: from the random part that *key selects, or from the
 * largest centred part if `key` is NULL. May be called from any thread. */
bool folder_read(const ImageFolder *folder, int64_t at, const RtImages *shape, const uint64_t *key,
                 uint8_t *raw, DataError *error);
/* The same, but fills a slot from which the device makes the raw image. */
bool folder_put(const ImageFolder *folder, int64_t at, const RtImages *shape, const uint64_t *key,
                uint8_t *slot, DataError *error);

/* ---- random parts (data_crop.c) -------------------------------------------------------------- */

/* A part of an image, mirrored or not; one entry of the input `boxes`. */
typedef struct {
    int32_t top, left, height, width, mirrored;
} Box;

/* Draws a box as torchvision's RandomResizedCrop and RandomHorizontalFlip do; the whole image if
 * the program uses neither. */
Box box_draw(const RtImages *shape, uint64_t key);

/* ---- slots (data_coefficients.c) -------------------------------------------------------------- */

/* A slot is RtImages.slot_bytes, SLOT_HEAD of which are the head; kernels of programs read it
 * (gen/templates/pictures.cu). SLOT_SAMPLES is followed by a raw image, SLOT_COEFFICIENTS by
 * int16 [blocks][8][8], quantised, plane by plane; a plane is blocks of 8 x 8, line by line, as many as
 * its samples touch. */
enum { SLOT_HEAD = 512, SLOT_PLANES = 3, SLOT_TAPS = 64 };
typedef enum { SLOT_EMPTY, SLOT_SAMPLES, SLOT_COEFFICIENTS } SlotKind;

/* The other planes have one sample for `down` x `across` of the first, which has one for each pixel. */
typedef struct {
    int32_t kind; /* SlotKind */
    int32_t height, width, planes;
    int32_t down, across;
    Box box; /* the part that becomes the raw image */
    int32_t unused[5];
    uint16_t tables[SLOT_PLANES][64]; /* what coefficients are multiplied with, in natural order */
} SlotHead;

/* Fills a slot with a JPEG file's coefficients. Returns false if the device cannot make the same pixels
 * as picture_decode() from them, or if the file is broken or is no JPEG file; what is in the slot is
 * then undefined. May be called from any thread. */
bool slot_put_jpeg(const PictureFile *file, const RtImages *shape, const uint64_t *key,
                   uint8_t *slot);

/* ---- other sizes (data_fit.c, data_resize.c) ------------------------------------------------- */

/* Returns the largest centred part of a picture with the aspect ratio of a raw image. */
Box picture_largest(const Picture *picture, const RtImages *shape);
/* Returns the random part that *key selects, or that one if `key` is NULL. */
Box picture_part(const Picture *picture, const RtImages *shape, const uint64_t *key);
/* Resizes a part of a picture to [height, width] with antialias. `part` is in pixels of the file;
 * the result is mirrored if the box is. */
void picture_cut(const Picture *picture, const Box *part, int64_t height, int64_t width,
                 uint8_t *to);

/* Writes what the model sees of a raw image, in floats of `dtype`: the box that training cuts out,
 * or, if `box` is NULL, the view of a held-out image. */
void image_present(const RtImages *shape, const uint8_t *raw, const Box *box, RtDtype dtype,
                   void *out);

#endif
