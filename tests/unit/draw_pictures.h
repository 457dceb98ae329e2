/* JPEG and PNG files for tests, written by the libraries with which the runtime reads them. */
#ifndef TESTS_UNIT_DRAW_PICTURES_H
#define TESTS_UNIT_DRAW_PICTURES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes [height, width, samples], in memory. */
typedef struct {
    const uint8_t *pixels;
    int height, width, samples;
} Drawing;

/* Return the bytes of a file, for free(). Samples of a JPEG: 1, 3, or 4 (CMYK); of a PNG: gray,
 * gray and alpha, RGB, RGBA. */
uint8_t *jpeg_of(Drawing, size_t *size);
uint8_t *png_of(Drawing, size_t *size);

#endif
