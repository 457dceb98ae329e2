#include "draw_pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/dynlib.h"

/* A pointer to a function is not a pointer to an object, so it is copied as bytes. */
static void find(void *function, Library library, const char *name) {
    void *address = dynlib_need_symbol(library, name);
    memcpy(function, &address, sizeof address);
}

static uint8_t *copy_of(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size);
    if (!copy)
        abort();
    return memcpy(copy, bytes, size);
}

/* The library's functions have no arguments for these. */
static void set_form(JpegForm form) {
    char restart[16];
    snprintf(restart, sizeof restart, "%dB", form.restart);
    setenv("TJ_OPTIMIZE", form.optimised ? "1" : "0", 1);
    if (form.restart)
        setenv("TJ_RESTART", restart, 1);
    else
        unsetenv("TJ_RESTART");
}

uint8_t *jpeg_of(Drawing d, size_t *size) {
    return jpeg_as(d, (JpegForm){.quality = 100}, size);
}

uint8_t *jpeg_as(Drawing d, JpegForm form, size_t *size) {
    enum { TJFLAG_PROGRESSIVE = 16384 };
    static const int formats[] = {[1] = 6, [3] = 0, [4] = 11};
    void *(*init)(void);
    int (*compress)(void *, const uint8_t *, int, int, int, int, uint8_t **, unsigned long *, int,
                    int, int);
    int (*destroy)(void *);
    void (*release)(uint8_t *);
    dynlib_need(LIB_TURBOJPEG);
    find(&init, LIB_TURBOJPEG, "tjInitCompress");
    find(&compress, LIB_TURBOJPEG, "tjCompress2");
    find(&destroy, LIB_TURBOJPEG, "tjDestroy");
    find(&release, LIB_TURBOJPEG, "tjFree");
    set_form(form);
    void *handle = init();
    uint8_t *bytes = NULL;
    unsigned long length = 0;
    if (compress(handle, d.pixels, d.width, 0, d.height, formats[d.samples], &bytes, &length,
                 d.samples == 1 ? TJ_GRAY : (int)form.sampling, form.quality,
                 form.progressive ? TJFLAG_PROGRESSIVE : 0))
        abort();
    uint8_t *copy = copy_of(bytes, *size = length);
    release(bytes);
    destroy(handle);
    return copy;
}

/* png_image of version 1. */
typedef struct {
    void *opaque;
    uint32_t version, width, height, format, flags, colormap_entries, warning_or_error;
    char message[64];
} PngImage;

uint8_t *png_of(Drawing d, size_t *size) {
    int (*encode)(PngImage *, void *, size_t *, int, const void *, int32_t, const void *);
    dynlib_need(LIB_PNG);
    find(&encode, LIB_PNG, "png_image_write_to_memory");
    PngImage image = {.version = 1,
                      .width = (uint32_t)d.width,
                      .height = (uint32_t)d.height,
                      .format = (uint32_t)d.samples - 1};
    static uint8_t bytes[1 << 16];
    *size = sizeof bytes;
    if (encode(&image, bytes, size, 0, d.pixels, 0, NULL) != 1)
        abort();
    return copy_of(bytes, *size);
}
