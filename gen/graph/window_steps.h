/* Windows over images as scalar steps: which rows of a batch of images [N height width, C] an
 * element of another such batch has to do with. */
#ifndef GRAPH_WINDOW_STEPS_H
#define GRAPH_WINDOW_STEPS_H

#include "graph/steps.h"
#include "graph/window.h"

/* Steps that say where the body's row lies: image n, line h, place w. */
typedef struct {
    int n, h, w;
} Pixel;

/* One place under a window: steps that give its row; whether it is in the image (-1: always), for
 * elsewhere the row may be no row of the batch; and its number in the window, line by line. `name`
 * tells the taps of a body apart: "0_2". */
typedef struct {
    int row, inside, number;
    const char *name;
} Tap;

Pixel step_pixel(Body *, int64_t height, int64_t width);
/* What an output pixel reads: body rows are outputs, taps are rows of the input. Returns their
 * number. */
int window_taps(Body *, const Window *, Tap taps[MOST_TAPS]);
/* The windows that an input pixel lies under: body rows are inputs, taps are rows of the output. */
int window_taps_back(Body *, const Window *, Tap taps[MOST_TAPS]);
/* value where the tap is inside, else `otherwise`. */
int tap_select(Body *, const Tap *, int value, double otherwise);
/* Loads a value at the tap's row, 0 where that is outside, called `what` and the tap's name. */
int tap_load(Body *, const Tap *, Value *, const char *what);

#endif
