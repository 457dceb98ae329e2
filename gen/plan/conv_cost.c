/* Bytes that convolutions ask of memory. Follows the loops of the templates; shapes come from the
 * op, tiles from the launch's grid. */
#include "plan/conv_cost.h"

#include "base/rounding.h"
#include "graph/window.h"

/* Number of taps inside the image, of the first `places` windows along one axis. */
static double taps_inside(const Window *w, int64_t size, int64_t places) {
    int64_t inside = 0;
    for (int64_t i = 0; i < places; i++)
        for (int64_t tap = 0; tap < w->kernel; tap++) {
            int64_t at = i * w->stride - w->padding + tap;
            inside += at >= 0 && at < size;
        }
    return (double)inside;
}

/* As Conv2dLines counts them: every image has the lines of its padding too. */
ConvLines conv_lines(const Window *w, int64_t images, int64_t tile, int64_t pool) {
    int64_t high = window_out_height(w) / pool, wide = window_out_width(w) / pool;
    int64_t overlap = w->kernel > w->stride ? w->kernel - w->stride : 0;
    int64_t of_image = high * pool * w->stride + overlap, windows = tile / (pool * pool);
    ConvLines lines = {0};
    for (int64_t i = 0; i < images * high * wide; i += windows) {
        int64_t end = smaller(i + windows, images * high * wide) - 1;
        int64_t top = i / wide % high * pool, bottom = end / wide % high * pool + pool - 1;
        int64_t first = i / wide / high * of_image + top * w->stride;
        int64_t last = end / wide / high * of_image + bottom * w->stride + w->kernel - 1;
        lines.most = larger(lines.most, last - first + 1);
        for (int64_t line = first; line <= last && line < images * of_image; line++) {
            int64_t y = line % of_image - w->padding;
            lines.read += y >= 0 && y < w->height;
        }
    }
    return lines;
}

/* Elements that the windows over an image see, without windows outside whole pooling windows. */
static double window_reads(const Window *w, const Value *x, int64_t pool) {
    int64_t high = window_out_height(w) / pool * pool, wide = window_out_width(w) / pool * pool;
    double taps = taps_inside(w, w->height, high) * taps_inside(w, w->width, wide);
    return taps * (double)value_cols(x);
}

static double result_bytes(const Launch *launch, const Value *v) {
    return (double)value_bytes(v) * (launch->read[2] ? 2 : 1);
}

/* ---- gather, without its epilogue ------------------------------------------------------------ */

/* Places and taps of one phase along one axis. */
int64_t conv_phase_places(int64_t size, int64_t phases, int64_t phase) {
    return ceil_div(size - phase, phases);
}
static int64_t phase_taps(const Window *w, int64_t phases, int64_t phase) {
    int64_t first = phases > 1 ? (phase + w->padding) % w->stride : 0;
    return ceil_div(w->kernel - first, phases);
}

/* Taps of the weight, seen as [taps x inner, results], that all blocks with the same results read.
 * Places of `images` images share tiles. */
static int64_t weight_taps(const Window *w, int64_t images, int64_t height, int64_t width,
                           int64_t phases, int64_t tile) {
    int64_t taps = 0;
    for (int64_t y = 0; y < phases; y++)
        for (int64_t x = 0; x < phases; x++) {
            int64_t rows =
                images * conv_phase_places(height, phases, y) * conv_phase_places(width, phases, x);
            taps += ceil_div(rows, tile) * phase_taps(w, phases, y) * phase_taps(w, phases, x);
        }
    return taps;
}

double conv_gather_bytes(const Op *op, const Launch *launch, int64_t tile, int64_t pool,
                         bool lines) {
    const Window *w = &op->attr.window;
    bool backward = op->kind == OP_conv2d_input_grad;
    const Value *source = launch->arg[0], *weight = launch->arg[1], *out = op->out[0];
    int64_t height = backward ? w->height : window_out_height(w);
    int64_t width = backward ? w->width : window_out_width(w);
    int64_t images = value_rows(out) / (height * width), inner = value_cols(source);
    int64_t together = out->plane ? 1 : images;
    int64_t taps = weight_taps(w, together, height / pool * pool, width / pool * pool,
                               backward ? w->stride : 1, tile) *
                   (images / together);
    double sources = lines ? conv_lines(w, images, tile, pool).read * (double)(w->width * inner)
                           : (double)images * window_reads(w, source, pool);
    double weights = (double)(taps * inner * value_cols(out)) * dtype_bytes(weight->dtype);
    return sources * (double)launch->grid[1] * dtype_bytes(source->dtype) + weights;
}

/* ---- the weight's gradient ------------------------------------------------------------------- */

double conv_weight_grad_bytes(const Op *op, const Launch *launch, int64_t tile, bool lines) {
    const Window *w = &op->attr.window;
    const Value *x = launch->arg[0], *dy = launch->arg[1];
    int64_t images = value_rows(x) / (w->height * w->width);
    double gathered = (double)images * window_reads(w, x, 1);
    if (lines)
        gathered = conv_lines(w, images, tile, 1).read * (double)(w->width * value_cols(x)) *
                   (double)launch->grid[1];
    return (double)(value_bytes(dy) * launch->grid[1]) +
           gathered * dtype_bytes(x->dtype) * (double)launch->grid[0] +
           result_bytes(launch, launch->arg[2]);
}
