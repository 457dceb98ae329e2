/* Windows over images as scalar steps: for an element of one batch of images [N height width, C],
 * which rows of another batch share a window with it. */
#ifndef GRAPH_WINDOW_STEPS_H
#define GRAPH_WINDOW_STEPS_H

#include "graph/steps.h"
#include "graph/window.h"

/* Steps that give the position of the body's row: image n, line h, column w. */
typedef struct {
    int n, h, w;
} Pixel;

/* One tap of a window. Steps give its row, whether it is inside the image (-1: always; outside, the
 * row may not exist in the batch), and its number in the window, counted line by line. `name` tells
 * a body's taps apart: "0_2". `per` and `moves` are those of its loads, `line` and `place` too if the
 * window slides. The last tap of a sliding window's line has `spare` taps beside it. */
typedef struct Tap {
    int row, inside, number;
    const char *name;
    int64_t per, moves;
    bool slides;
    int line, place;
    const struct Tap *spare; /* [MOST_SPARE], of which spare_count are used */
    int spare_count;
} Tap;

/* Appends them; height and width are those of an image. */
Pixel step_pixel(Body *, int64_t height, int64_t width);
/* The taps that an output pixel reads: body rows are outputs, taps are rows of the input. Returns
 * the number of taps. */
int window_taps(Body *, const Window *, Tap taps[MOST_TAPS]);
/* The windows over an input pixel: body rows are inputs, taps are rows of the output. */
int window_taps_back(Body *, const Window *, Tap taps[MOST_TAPS]);
/* `value` if the tap is inside the image, else `otherwise`. */
int tap_select(Body *, const Tap *, int value, double otherwise);
/* Loads the value at the tap's row, or 0 if that is outside the image. The variable is
 * WHAT_TAPNAME. */
int tap_load(Body *, const Tap *, Value *, const char *what);

#endif
