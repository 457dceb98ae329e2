/* Decodes JPEG and PNG files with libjpeg-turbo and libpng, each opened when its first file is
 * read.
 *
 * The few functions used are declared here, without the libraries' headers: programs are built
 * without those headers, and a program that reads no image files needs neither library. The
 * interfaces are fixed by the version in the library's name (dynlib.c) and, for libpng, in
 * PngImage. */
#include "runtime/data/data_images.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/dynlib.h"
#include "runtime/base/rt.h"

enum { MAX_PIXELS = 1 << 27 }; /* more than any photograph; a header can claim anything */

/* ---- converting pixels ----------------------------------------------------------------------- */

/* The weights of ITU-R 601, in 65536ths. */
static uint8_t luma(const uint8_t *rgb) {
    return (uint8_t)((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16);
}

/* Reduces each pixel from `from` samples to the first three, or to their luma. */
static void drop_samples(uint8_t *pixels, int64_t count, int from, int64_t channels) {
    for (int64_t i = 0; i < count && from != channels; i++) {
        const uint8_t rgb[3] = {pixels[i * from], pixels[i * from + 1], pixels[i * from + 2]};
        if (channels == 1)
            pixels[i] = luma(rgb);
        else
            memcpy(pixels + 3 * i, rgb, sizeof rgb);
    }
}

/* CMYK files store the complements of the inks, as Adobe writes them. */
static void cmyk_to_rgbk(uint8_t *pixels, int64_t count) {
    for (int64_t i = 0; i < 4 * count; i += 4)
        for (int c = 0; c < 3; c++)
            pixels[i + c] = (uint8_t)((pixels[i + c] * pixels[i + 3] + 127) / 255);
}

static bool check_pixels(const char *path, int64_t height, int64_t width, DataError *error) {
    if (height <= MAX_PIXELS / width)
        return true;
    return data_fail(error, "%s: its header says %lld x %lld; up to %d pixels can be read", path,
                     (long long)height, (long long)width, MAX_PIXELS);
}

static uint8_t *room_for(int64_t height, int64_t width, int samples) {
    return rt_alloc((size_t)(height * width * samples));
}

/* ---- JPEG ------------------------------------------------------------------------------------ */

enum { TJPF_RGB = 0, TJPF_GRAY = 6, TJPF_CMYK = 11 };
enum { TJCS_CMYK = 3, TJCS_YCCK = 4 };
enum { TJFLAG_LIMITSCANS = 32768 }; /* a file with endless scans is an error */

static struct {
    void *(*init)(void);
    int (*header)(void *handle, const unsigned char *bytes, unsigned long size, int *width,
                  int *height, int *subsampling, int *colorspace);
    int (*decompress)(void *handle, const unsigned char *bytes, unsigned long size,
                      unsigned char *pixels, int width, int pitch, int height, int format,
                      int flags);
    char *(*error)(void *handle);
    int (*destroy)(void *handle);
} tj;

static struct {
    pthread_once_t once;
    char problem[512]; /* "": the library is open */
} jpeg = {.once = PTHREAD_ONCE_INIT}, png = {.once = PTHREAD_ONCE_INIT};

/* C does not convert object pointers to function pointers, so the pointer is copied as bytes. */
static void find(void *function, Library library, const char *name) {
    void *address = dynlib_need_symbol(library, name);
    memcpy(function, &address, sizeof address);
}

static void open_jpeg(void) {
    if (!dynlib_open(LIB_TURBOJPEG, jpeg.problem, sizeof jpeg.problem))
        return;
    find(&tj.init, LIB_TURBOJPEG, "tjInitDecompress");
    find(&tj.header, LIB_TURBOJPEG, "tjDecompressHeader3");
    find(&tj.decompress, LIB_TURBOJPEG, "tjDecompress2");
    find(&tj.error, LIB_TURBOJPEG, "tjGetErrorStr2");
    find(&tj.destroy, LIB_TURBOJPEG, "tjDestroy");
}

/* The library decodes at the largest of its scaled sizes that fits in the requested one. */
static bool jpeg_pixels(void *handle, const PictureFile *file, bool inks, Picture *picture,
                        DataError *error) {
    int64_t height = picture_places(picture, picture->height);
    int64_t width = picture_places(picture, picture->width), channels = picture->channels;
    int samples = inks ? 4 : (int)channels;
    int format = inks ? TJPF_CMYK : channels == 1 ? TJPF_GRAY : TJPF_RGB;
    picture->pixels = room_for(height, width, samples);
    if (tj.decompress(handle, file->bytes, file->size, picture->pixels, (int)width, 0, (int)height,
                      format, TJFLAG_LIMITSCANS))
        return data_fail(error, "%s: broken JPEG: %s", file->path, tj.error(handle));
    if (inks) {
        cmyk_to_rgbk(picture->pixels, height * width);
        drop_samples(picture->pixels, height * width, samples, channels);
    }
    return true;
}

static bool jpeg_picture(void *handle, const PictureFile *file, bool measures, Picture *picture,
                         DataError *error) {
    int width = 0, height = 0, subsampling, colorspace = 0;
    if (tj.header(handle, file->bytes, file->size, &width, &height, &subsampling, &colorspace))
        return data_fail(error, "%s: broken JPEG: %s", file->path, tj.error(handle));
    if (width < 1 || height < 1)
        return data_fail(error, "%s: broken JPEG: it ends within its header", file->path);
    if (!check_pixels(file->path, height, width, error))
        return false;
    picture->height = height, picture->width = width;
    bool inks = colorspace == TJCS_CMYK || colorspace == TJCS_YCCK;
    return measures || jpeg_pixels(handle, file, inks, picture, error);
}

static bool read_jpeg(const PictureFile *file, bool measures, Picture *picture, DataError *error) {
    pthread_once(&jpeg.once, open_jpeg);
    if (*jpeg.problem)
        return data_fail(error, "%s: is a JPEG file, but %s", file->path, jpeg.problem);
    void *handle = tj.init();
    if (!handle)
        rt_fail("no memory for decoding JPEG files");
    bool ok = jpeg_picture(handle, file, measures, picture, error);
    tj.destroy(handle);
    return ok;
}

/* ---- PNG ------------------------------------------------------------------------------------- */

/* png_image of version 1. */
typedef struct {
    void *opaque;
    uint32_t version, width, height, format, flags, colormap_entries, warning_or_error;
    char message[64];
} PngImage;

enum { PNG_VERSION = 1, PNG_ALPHA = 1, PNG_RGB = 2, PNG_16BIT_SRGB = 4 };

static struct {
    int (*begin)(PngImage *image, const void *bytes, size_t size);
    int (*finish)(PngImage *image, const void *background, void *pixels, int32_t row_stride,
                  void *colormap);
    void (*free)(PngImage *image);
} pngs;

static void open_png(void) {
    if (!dynlib_open(LIB_PNG, png.problem, sizeof png.problem))
        return;
    find(&pngs.begin, LIB_PNG, "png_image_begin_read_from_memory");
    find(&pngs.finish, LIB_PNG, "png_image_finish_read");
    find(&pngs.free, LIB_PNG, "png_image_free");
}

static bool png_picture(PngImage *image, const PictureFile *file, bool measures, Picture *picture,
                        DataError *error) {
    if (!pngs.begin(image, file->bytes, file->size))
        return data_fail(error, "%s: broken PNG: %s", file->path, image->message);
    if (!check_pixels(file->path, image->height, image->width, error))
        return false;
    picture->height = image->height, picture->width = image->width;
    picture->halvings = 0;
    if (measures)
        return true;
    bool alpha = image->format & PNG_ALPHA;
    int samples = alpha ? 4 : 3;
    image->format = PNG_RGB | (alpha ? PNG_ALPHA : 0);
    image->flags |= PNG_16BIT_SRGB;
    picture->pixels = room_for(picture->height, picture->width, samples);
    if (!pngs.finish(image, NULL, picture->pixels, 0, NULL))
        return data_fail(error, "%s: broken PNG: %s", file->path, image->message);
    drop_samples(picture->pixels, picture->height * picture->width, samples, picture->channels);
    return true;
}

static bool read_png(const PictureFile *file, bool measures, Picture *picture, DataError *error) {
    pthread_once(&png.once, open_png);
    if (*png.problem)
        return data_fail(error, "%s: is a PNG file, but %s", file->path, png.problem);
    PngImage image = {.version = PNG_VERSION};
    bool ok = png_picture(&image, file, measures, picture, error);
    pngs.free(&image);
    return ok;
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool begins_with(const PictureFile *file, const uint8_t *start, size_t size) {
    return file->size >= size && memcmp(file->bytes, start, size) == 0;
}

static bool read_picture(const PictureFile *file, bool measures, Picture *picture,
                         DataError *error) {
    static const uint8_t jpeg_start[] = {0xff, 0xd8, 0xff}, png_start[] = {0x89, 'P', 'N', 'G'};
    if (file->size == 0)
        return data_fail(error, "%s: is empty; it should be an image", file->path);
    if (begins_with(file, jpeg_start, sizeof jpeg_start))
        return read_jpeg(file, measures, picture, error);
    if (begins_with(file, png_start, sizeof png_start))
        return read_png(file, measures, picture, error);
    return data_fail(error, "%s: is neither a JPEG nor a PNG file, whatever its name says",
                     file->path);
}

bool picture_measure(Picture *picture, const PictureFile *file, DataError *error) {
    *picture = (Picture){0};
    return read_picture(file, true, picture, error);
}

bool picture_decode(Picture *picture, const PictureFile *file, int64_t channels, int halvings,
                    DataError *error) {
    *picture = (Picture){.channels = channels, .halvings = halvings};
    bool ok = read_picture(file, false, picture, error);
    if (!ok)
        picture_free(picture);
    return ok;
}

void picture_free(Picture *picture) {
    free(picture->pixels);
    *picture = (Picture){0};
}
