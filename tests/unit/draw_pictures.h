/* JPEG and PNG files for tests, written by the libraries that the runtime reads them with. */
#ifndef TESTS_UNIT_DRAW_PICTURES_H
#define TESTS_UNIT_DRAW_PICTURES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes [height, width, samples], in memory. */
typedef struct {
    const uint8_t *pixels;
    int height, width, samples;
} Drawing;

/* Their bytes as a file has them, for free(). Samples of a JPEG: 1, 3, or 4 of inks; of a PNG: gray,
 * gray and alpha, RGB, RGBA. */
uint8_t *jpeg_of(Drawing, size_t *size);
uint8_t *png_of(Drawing, size_t *size);

#endif
