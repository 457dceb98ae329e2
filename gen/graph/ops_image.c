/* Images as they come from files.
 *
 * image_input  (pixels u8 [N H0 W0, C0], mean[C], std[C]) -> [N H W, C]: pixels / 255, resized to
 *              H x W as torch's bilinear interpolation does (align_corners = False, no antialias),
 *              less the mean, over std. One channel is repeated to C. attr.window.height, width are
 *              H0, W0; attr.out_height, out_width H, W; attr.plane H W where the result lies in
 *              planes, else 0. With a fourth operand, indices[N,1], the
 *              pixels are of any number of images, and image n is that of indices[n]. */
#include "graph/op_table.h"
#include "graph/window_steps.h"

static int64_t images(const Op *op) {
    if (op->in_count > 3)
        return value_rows(op->in[3]);
    return value_rows(op->in[0]) / (op->attr.window.height * op->attr.window.width);
}

void shape_image_input(Program *p, Op *op) {
    const Attr *a = &op->attr;
    op_expect(op, op->in[0]->dtype == DT_U8, "pixels");
    op_expect(op, op->in_count == 3 || (op->in_count == 4 && op->in[3]->dtype == DT_I32),
              "indices");
    op_expect(op, value_rows(op->in[0]) % (a->window.height * a->window.width) == 0, "images");
    int64_t from = value_cols(op->in[0]), to = value_elements(op->in[1]);
    op_expect(op, (from == to || from == 1) && value_elements(op->in[2]) == to, "channels");
    int64_t places = a->out_height * a->out_width;
    op_expect(op, !a->plane || a->plane == places, "planes");
    result_images(p, op, 0, "", p->activation, images(op) * places, to, a->plane);
}

/* The two neighbours of a place on one axis, and the share of the second. */
typedef struct {
    int near, far, share;
} Between;

static Between between(Body *body, int out, int64_t outs, int64_t size, const char *axis) {
    int half = step_const(body, 0.5), zero = step_const(body, 0);
    int scale = step_const(body, (double)size / (double)outs);
    int center = step_binary(body, STEP_ADD, step_cast(body, TYPE_REAL, out), half);
    int at = step_binary(body, STEP_SUB, step_binary(body, STEP_MUL, scale, center), half);
    at = step_called(body, step_binary(body, STEP_MAX, at, zero), "%s_at", axis);
    int near = step_called(body, step_cast(body, TYPE_INT, at), "%s_near", axis);
    int next = step_binary(body, STEP_ADD, near, step_const_int(body, 1));
    int far = step_binary(body, STEP_MIN, next, step_const_int(body, size - 1));
    int share = step_binary(body, STEP_SUB, at, step_cast(body, TYPE_REAL, near));
    return (Between){near, step_called(body, far, "%s_far", axis),
                     step_called(body, share, "%s_share", axis)};
}

static int mix(Body *body, int a, int b, int share) {
    int rest = step_binary(body, STEP_SUB, step_const(body, 1), share);
    return step_binary(body, STEP_ADD, step_binary(body, STEP_MUL, rest, a),
                       step_binary(body, STEP_MUL, share, b));
}

static int load_pixel(Body *body, const Op *op, int n, int h, int w, const char *name) {
    const Window *from = &op->attr.window;
    int line = step_binary(body, STEP_MUL, n, step_const_int(body, from->height));
    line = step_binary(body, STEP_ADD, line, h);
    int row = step_binary(body, STEP_MUL, line, step_const_int(body, from->width));
    row = step_called(body, step_binary(body, STEP_ADD, row, w), "row_%s", name);
    int pixel = step_called(body, step_load_mapped(body, op->in[0], row, COL_SAME, 0), "%s", name);
    return step_cast(body, TYPE_REAL, pixel);
}

/* Which of the images output n shows. */
static int image_of(Body *body, const Op *op, int n) {
    if (op->in_count == 3)
        return n;
    return step_called(body, step_load_mapped(body, op->in[3], n, COL_SAME, 0), "image");
}

static int resized(Body *body, const Op *op, Pixel out) {
    const Attr *a = &op->attr;
    out.n = image_of(body, op, out.n);
    Between h = between(body, out.h, a->out_height, a->window.height, "h");
    Between w = between(body, out.w, a->out_width, a->window.width, "w");
    int top = mix(body, load_pixel(body, op, out.n, h.near, w.near, "top_left"),
                  load_pixel(body, op, out.n, h.near, w.far, "top_right"), w.share);
    int bottom = mix(body, load_pixel(body, op, out.n, h.far, w.near, "bottom_left"),
                     load_pixel(body, op, out.n, h.far, w.far, "bottom_right"), w.share);
    return mix(body, top, bottom, h.share);
}

/* The output's own pixel. */
static int as_stored(Body *body, const Op *op) {
    const Attr *a = &op->attr;
    if (op->in_count == 3)
        return step_cast(body, TYPE_REAL, step_load(body, op->in[0]));
    Pixel out = step_pixel(body, a->out_height, a->out_width);
    return load_pixel(body, op, image_of(body, op, out.n), out.h, out.w, "pixel");
}

void expand_image_input(const Program *p, const Op *op, Body *body) {
    (void)p;
    const Attr *a = &op->attr;
    body->rows = value_rows(op->out[0]);
    body->cols = value_cols(op->out[0]);
    bool as_is = a->out_height == a->window.height && a->out_width == a->window.width;
    int x = as_is ? as_stored(body, op)
                  : resized(body, op, step_pixel(body, a->out_height, a->out_width));
    x = step_binary(body, STEP_DIV, x, step_const(body, 255));
    x = step_binary(body, STEP_SUB, x, step_load(body, op->in[1]));
    step_store(body, op->out[0], step_binary(body, STEP_DIV, x, step_load(body, op->in[2])));
}
