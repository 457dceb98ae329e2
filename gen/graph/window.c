/* Windows over images. */
#include "graph/window.h"

#include "graph/op_table.h"

/* How many windows fit along an axis of `size` pixels. */
static int64_t window_places(const Window *w, int64_t size) {
    return (size + 2 * w->padding - w->kernel) / w->stride + 1;
}

int64_t window_out_height(const Window *w) { return window_places(w, w->height); }
int64_t window_out_width(const Window *w) { return window_places(w, w->width); }
int64_t window_rows_in(const Window *w) { return w->height * w->width; }
int64_t window_rows_out(const Window *w) { return window_out_height(w) * window_out_width(w); }

int64_t window_rows(const Window *w) { return w->kernel * w->kernel; }
bool window_tiles(const Window *w) { return w->kernel == w->stride && w->padding == 0; }

void expect_window(const Op *op) {
    const Window *w = &op->attr.window;
    op_expect(op, w->kernel > 0 && w->stride > 0 && w->padding >= 0, "no window");
    op_expect(op, w->height > 0 && w->width > 0, "images without pixels");
    op_expect(op, w->height + 2 * w->padding >= w->kernel, "images lower than the window");
    op_expect(op, w->width + 2 * w->padding >= w->kernel, "images narrower than the window");
}

void expect_small_window(const Op *op) {
    const Window *w = &op->attr.window;
    expect_window(op);
    op_expect(op, w->kernel <= WIDEST_WINDOW, "a window too wide to be written out");
    op_expect(op, w->padding < w->kernel, "a window that lies in the padding alone");
}

static int64_t images_of(const Op *op, const Value *v, int64_t rows) {
    op_expect(op, value_rows(v) % rows == 0, "rows are not whole images");
    op_expect(op, !v->plane || v->plane == rows, "planes are not images");
    return value_rows(v) / rows;
}

int64_t expect_images_in(const Op *op, const Value *v) {
    return images_of(op, v, window_rows_in(&op->attr.window));
}
int64_t expect_images_out(const Op *op, const Value *v) {
    return images_of(op, v, window_rows_out(&op->attr.window));
}

void result_images_out(Program *p, Op *op, int i, const char *suffix, DType dtype, const Value *in,
                       int64_t cols) {
    int64_t rows = window_rows_out(&op->attr.window);
    result_images(p, op, i, suffix, dtype, expect_images_in(op, in) * rows, cols,
                  in->plane ? rows : 0);
}

void result_images_in(Program *p, Op *op, DType dtype, const Value *out, int64_t cols) {
    int64_t rows = window_rows_in(&op->attr.window);
    result_images(p, op, 0, "", dtype, expect_images_out(op, out) * rows, cols,
                  out->plane ? rows : 0);
}
