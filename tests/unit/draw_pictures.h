/* JPEG and PNG files for tests, written by the libraries with which the runtime reads them. */
#ifndef TESTS_UNIT_DRAW_PICTURES_H
#define TESTS_UNIT_DRAW_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes [height, width, samples], in memory. */
typedef struct {
    const uint8_t *pixels;
    int height, width, samples;
} Drawing;

/* How a JPEG file is written. The sampling is TurboJPEG's, except for one sample. */
typedef enum { TJ_444, TJ_422, TJ_420, TJ_GRAY, TJ_440, TJ_411 } Sampling;
typedef struct {
    Sampling sampling;
    int quality;
    bool progressive, optimised; /* optimised: with Huffman tables of its own */
    int restart;                 /* blocks between restart markers; 0: none */
} JpegForm;

/* Return the bytes of a file, for free(). Samples of a JPEG: 1, 3, or 4 (CMYK); of a PNG: gray,
 * gray and alpha, RGB, RGBA. */
uint8_t *jpeg_of(Drawing, size_t *size); /* of the best quality, with all colours */
uint8_t *jpeg_as(Drawing, JpegForm, size_t *size);
uint8_t *png_of(Drawing, size_t *size);

#endif
