/* Decodes JPEG and PNG files with libjpeg-turbo and libpng, each opened when its first file is
 * read.
 *
 * The few functions used are declared here, without the libraries' headers: programs are built
 * without those headers, and a program that reads no image files needs neither library. The
 * interfaces are fixed by the version in the library's name (dynlib.c). */
#include "runtime/data/data_images.h"

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
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

const char *jpeg_problem(void) {
    pthread_once(&jpeg.once, open_jpeg);
    return jpeg.problem;
}

/* Whether the file ends as it should; editors may add some bytes. */
static bool has_end(const PictureFile *file) {
    size_t last = file->size > 1024 ? file->size - 1024 : 0;
    return memmem(file->bytes + last, file->size - last, "\xFF\xD9", 2) != NULL;
}

/* Whether the library warned of what cameras and editors leave in whole pictures, as in some of
 * ImageNet's: bytes that belong to nothing. It keeps only its first warning, so the end is looked for
 * here. A scan that is damaged in a way that looks like such bytes is not told apart. */
static bool is_harmless(const PictureFile *file, const char *warning) {
    return has_end(file) && (strstr(warning, "extraneous bytes before marker") ||
                             strstr(warning, "Invalid SOS parameters for sequential JPEG"));
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
                      format, TJFLAG_LIMITSCANS) &&
        !is_harmless(file, tj.error(handle)))
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
    int failed =
        tj.header(handle, file->bytes, file->size, &width, &height, &subsampling, &colorspace);
    bool read = width > 0 && height > 0; /* although it failed: the subsampling has no name */
    if (failed && !read)
        return data_fail(error, "%s: broken JPEG: %s", file->path, tj.error(handle));
    if (!read)
        return data_fail(error, "%s: broken JPEG: it ends within its header", file->path);
    if (!check_pixels(file->path, height, width, error))
        return false;
    picture->height = height, picture->width = width;
    bool inks = colorspace == TJCS_CMYK || colorspace == TJCS_YCCK;
    return measures || jpeg_pixels(handle, file, inks, picture, error);
}

static bool read_jpeg(const PictureFile *file, bool measures, Picture *picture, DataError *error) {
    if (*jpeg_problem())
        return data_fail(error, "%s: is a JPEG file, but %s", file->path, jpeg_problem());
    void *handle = tj.init();
    if (!handle)
        rt_fail("no memory for decoding JPEG files");
    bool ok = jpeg_picture(handle, file, measures, picture, error);
    tj.destroy(handle);
    return ok;
}

/* ---- PNG ------------------------------------------------------------------------------------- */

typedef struct PngStruct PngStruct; /* libpng's */
typedef struct PngInfo PngInfo;

typedef struct {
    const PictureFile *file;
    size_t at;
    jmp_buf failed;
    char problem[128];
} PngSource;

/* The functions of libpng for simple cases (png_image_…) do not do: in Debian 12's version they mix
 * up rows of interlaced files with 16 bits, and they convert pixels by a file's gAMA, which Pillow
 * and torchvision ignore. */
static struct {
    PngStruct *(*create)(const char *version, void *source, void (*error)(PngStruct *, const char *),
                         void (*warning)(PngStruct *, const char *));
    PngInfo *(*create_info)(PngStruct *);
    void (*destroy)(PngStruct **, PngInfo **, PngInfo **);
    void *(*error_ptr)(const PngStruct *);
    void (*read_from)(PngStruct *, void *source, void (*read)(PngStruct *, uint8_t *, size_t));
    void (*read_info)(PngStruct *, PngInfo *);
    uint32_t (*width)(const PngStruct *, const PngInfo *);
    uint32_t (*height)(const PngStruct *, const PngInfo *);
    void (*expand)(PngStruct *);
    void (*scale_16)(PngStruct *);
    void (*strip_alpha)(PngStruct *);
    void (*gray_to_rgb)(PngStruct *);
    int (*passes)(PngStruct *);
    void (*update_info)(PngStruct *, PngInfo *);
    void (*read_row)(PngStruct *, uint8_t *row, uint8_t *display);
} pngs;

static void open_png(void) {
    if (!dynlib_open(LIB_PNG, png.problem, sizeof png.problem))
        return;
    find(&pngs.create, LIB_PNG, "png_create_read_struct");
    find(&pngs.create_info, LIB_PNG, "png_create_info_struct");
    find(&pngs.destroy, LIB_PNG, "png_destroy_read_struct");
    find(&pngs.error_ptr, LIB_PNG, "png_get_error_ptr");
    find(&pngs.read_from, LIB_PNG, "png_set_read_fn");
    find(&pngs.read_info, LIB_PNG, "png_read_info");
    find(&pngs.width, LIB_PNG, "png_get_image_width");
    find(&pngs.height, LIB_PNG, "png_get_image_height");
    find(&pngs.expand, LIB_PNG, "png_set_expand");
    find(&pngs.scale_16, LIB_PNG, "png_set_scale_16");
    find(&pngs.strip_alpha, LIB_PNG, "png_set_strip_alpha");
    find(&pngs.gray_to_rgb, LIB_PNG, "png_set_gray_to_rgb");
    find(&pngs.passes, LIB_PNG, "png_set_interlace_handling");
    find(&pngs.update_info, LIB_PNG, "png_read_update_info");
    find(&pngs.read_row, LIB_PNG, "png_read_row");
}

/* libpng has no other way out of an error. */
static void png_failed(PngStruct *reader, const char *problem) {
    PngSource *source = pngs.error_ptr(reader);
    snprintf(source->problem, sizeof source->problem, "%s", problem);
    longjmp(source->failed, 1);
}

static void png_warned(PngStruct *reader, const char *problem) { (void)reader, (void)problem; }

static void png_bytes(PngStruct *reader, uint8_t *bytes, size_t count) {
    PngSource *source = pngs.error_ptr(reader);
    if (count > source->file->size - source->at)
        png_failed(reader, "the file ends early");
    memcpy(bytes, source->file->bytes + source->at, count);
    source->at += count;
}

/* Each pass of an interlaced file fills in pixels of rows that the passes before it left open. */
static void png_pixels(PngStruct *reader, PngInfo *info, Picture *picture) {
    pngs.expand(reader);
    pngs.scale_16(reader);
    pngs.strip_alpha(reader);
    pngs.gray_to_rgb(reader);
    int passes = pngs.passes(reader);
    pngs.update_info(reader, info);
    picture->pixels = room_for(picture->height, picture->width, 3);
    for (int pass = 0; pass < passes; pass++)
        for (int64_t y = 0; y < picture->height; y++)
            pngs.read_row(reader, picture->pixels + 3 * picture->width * y, NULL);
    drop_samples(picture->pixels, picture->height * picture->width, 3, picture->channels);
}

static bool png_picture(PngStruct *reader, PngInfo *info, PngSource *source, bool measures,
                        Picture *picture, DataError *error) {
    if (setjmp(source->failed))
        return data_fail(error, "%s: broken PNG: %s", source->file->path, source->problem);
    pngs.read_from(reader, source, png_bytes);
    pngs.read_info(reader, info);
    picture->height = pngs.height(reader, info), picture->width = pngs.width(reader, info);
    picture->halvings = 0;
    if (!check_pixels(source->file->path, picture->height, picture->width, error))
        return false;
    if (!measures)
        png_pixels(reader, info, picture);
    return true;
}

static bool read_png(const PictureFile *file, bool measures, Picture *picture, DataError *error) {
    pthread_once(&png.once, open_png);
    if (*png.problem)
        return data_fail(error, "%s: is a PNG file, but %s", file->path, png.problem);
    PngSource source = {.file = file};
    PngStruct *reader = pngs.create("1.6.0", &source, png_failed, png_warned);
    PngInfo *info = reader ? pngs.create_info(reader) : NULL;
    if (!info)
        rt_fail("no memory for decoding PNG files");
    bool ok = png_picture(reader, info, &source, measures, picture, error);
    pngs.destroy(&reader, &info, NULL);
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
