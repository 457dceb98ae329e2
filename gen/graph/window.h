/* Windows over images: their geometry, and the operand checks that all ops with a window share. A
 * batch of N images is a matrix [N * height * width, C] with rows in the order n, h, w; its plane,
 * if it has one, is height * width. */
#ifndef GRAPH_WINDOW_H
#define GRAPH_WINDOW_H

#include "base/limits.h"
#include "graph/graph.h"

enum { MOST_TAPS = WIDEST_WINDOW * WIDEST_WINDOW };
/* Most neighbouring rows that a thread may have together, and those beyond the first. */
enum { MOST_IN_TURN = 4, MOST_SPARE = MOST_IN_TURN - 1 };

/* Places of the window along an axis: the size of what an op with the window makes. */
int64_t window_out_height(const Window *);
int64_t window_out_width(const Window *);
/* Rows per input image, and per output image. */
int64_t window_rows_in(const Window *);
int64_t window_rows_out(const Window *);
/* Rows under a window; whether windows adjoin without overlap or padding. */
int64_t window_rows(const Window *);
bool window_tiles(const Window *);
/* Whether a max_pool2d_grad has exactly one window over each pixel and no planes; its body then has
 * one row per window. */
bool pool_grad_by_window(const Op *);

/* ---- for shape rules: a failed check is an internal fault ------------------------------------- */

/* Checks that attr.window is valid and no larger than a padded image. */
void expect_window(const Op *);
/* Also checks that it is small enough to be unrolled into steps, and never entirely in the
 * padding. */
void expect_small_window(const Op *);
/* Returns the number of input images, or output images, in v; checks that v is whole images. */
int64_t expect_images_in(const Op *, const Value *v);
int64_t expect_images_out(const Op *, const Value *v);
/* Make a result of the op, in planes if the operand is: result number i, an output image for each input
 * image of `in`; or the first result, an input image for each output image of `out`. */
void result_images_out(Program *, Op *, int i, const char *suffix, DType, const Value *in,
                       int64_t cols);
void result_images_in(Program *, Op *, DType, const Value *out, int64_t cols);

#endif
