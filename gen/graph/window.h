/* Windows over images: their geometry, and what every op over one checks of its operands. A
 * batch of N images is a matrix [N * height * width, C], rows in the order n, h, w; where it has
 * a plane, that is height * width. */
#ifndef GRAPH_WINDOW_H
#define GRAPH_WINDOW_H

#include "base/limits.h"
#include "graph/graph.h"

enum { MOST_TAPS = WIDEST_WINDOW * WIDEST_WINDOW };

/* Of windows along an axis of that many pixels. */
int64_t window_places(const Window *, int64_t size);
int64_t window_out_height(const Window *);
int64_t window_out_width(const Window *);
/* Rows of one image: of those that come in; of those that go out. */
int64_t window_rows_in(const Window *);
int64_t window_rows_out(const Window *);
/* Rows under a window; whether windows lie side by side, so that no row is under two of them. */
int64_t window_rows(const Window *);
bool window_tiles(const Window *);
/* Of a max_pool2d_grad: whether each pixel is under one window, so that its body has a row a window;
 * not in planes. */
bool pool_grad_by_window(const Op *);

/* ---- for shape rules: internal faults where it is not so ------------------------------------- */

/* That attr.window is one, and not larger than a padded image. */
void expect_window(const Op *);
/* Besides, that steps can have it written out, and that some of it always lies in the image. */
void expect_small_window(const Op *);
/* The number of images in v, whose rows are images that come in, or go out. */
int64_t expect_images_in(const Op *, const Value *v);
int64_t expect_images_out(const Op *, const Value *v);
/* The op's result number i: an image that goes out for each that comes in, or the other way round; in
 * planes where those are. */
void result_images_out(Program *, Op *, int i, const char *suffix, DType, const Value *in,
                       int64_t cols);
void result_images_in(Program *, Op *, int i, const char *suffix, DType, const Value *out,
                      int64_t cols);

#endif
