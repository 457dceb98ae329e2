/* Pooling. Images are rows n, h, w; attr.window is the window over them.
 *
 * max_pool2d       (x[N H W, C]) -> y[N Ho Wo, C], argmax u8: the tap's number, line by line
 * max_pool2d_grad  (argmax, dy) -> dx: windows write the pixels under them if none overlap, else
 *                  pixels gather from the windows over them (see pool_grad_by_window)
 * global_avg_pool2d       (x[N H W, C]) -> y[N, C], the mean of each image; attr.rows = N
 * global_avg_pool2d_grad  (dy) -> dx; attr.rows = N H W, attr.plane is x's
 *
 * The results of max_pool2d and its gradient are in planes if the images are. */
#include "graph/op_table.h"
#include "graph/window_steps.h"

#include <math.h>

void shape_max_pool2d(Program *p, Op *op) {
    const Value *x = op->in[0];
    op_expect_operands(op, 1);
    expect_small_window(op);
    result_images_out(p, op, 0, "", x->dtype, x, value_cols(x));
    result_images_out(p, op, 1, ".argmax", DT_U8, x, value_cols(x));
}

/* NaN wins, as in torch. */
static int is_larger(Body *body, int x, int best) {
    return step_select(body, step_binary(body, STEP_EQ, x, x), step_binary(body, STEP_LT, best, x),
                       step_const_bool(body, true));
}

void expand_max_pool2d(const Op *op, Body *body) {
    Tap taps[MOST_TAPS];
    body_space(body, op->out[0]);
    int count = window_taps(body, &op->attr.window, taps), best = -1, argmax = -1;
    for (int i = 0; i < count; i++) {
        int x = tap_select(body, &taps[i], tap_load(body, &taps[i], op->in[0], "x"), -INFINITY);
        if (i == 0) {
            best = x;
            argmax = taps[i].number;
            continue;
        }
        int larger = step_called(body, is_larger(body, x, best), "larger_%s", taps[i].name);
        best = step_called(body, step_select(body, larger, x, best), "best_%s", taps[i].name);
        argmax = step_select(body, larger, taps[i].number, argmax);
    }
    step_store(body, op->out[0], best);
    step_store(body, op->out[1], argmax);
}

void grad_max_pool2d(Backward *b, const Op *op) {
    Value *in[] = {op->out[1], backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[0], OP_max_pool2d_grad, in, 2, op->attr);
}

void shape_max_pool2d_grad(Program *p, Op *op) {
    const Value *argmax = op->in[0], *dy = op->in[1];
    op_expect_operands(op, 2);
    expect_small_window(op);
    op_expect(op, argmax->dtype == DT_U8, "argmax of another dtype");
    op_expect(op,
              value_rows(argmax) == value_rows(dy) && value_cols(argmax) == value_cols(dy) &&
                  argmax->plane == dy->plane,
              "argmax of another shape");
    result_images_in(p, op, dy->dtype, dy, value_cols(dy));
}

bool pool_grad_by_window(const Op *op) {
    const Window *w = &op->attr.window;
    bool nothing_over = w->height % w->kernel == 0 && w->width % w->kernel == 0;
    return !op->out[0]->plane && window_tiles(w) && nothing_over;
}

/* One row per window, which writes all pixels under it; so argmax and dy are read only once. */
static void expand_by_window(const Op *op, Body *body) {
    Tap taps[MOST_TAPS];
    body_space(body, op->in[0]);
    int count = window_taps(body, &op->attr.window, taps);
    int argmax = step_load(body, op->in[0]), dy = step_load(body, op->in[1]);
    for (int i = 0; i < count; i++) {
        int mine = step_binary(body, STEP_EQ, argmax, taps[i].number);
        int dx = step_select(body, mine, dy, step_const(body, 0));
        step_store_at(body, op->out[0], taps[i].row, dx);
    }
}

void expand_max_pool2d_grad(const Op *op, Body *body) {
    Tap taps[MOST_TAPS];
    if (pool_grad_by_window(op)) {
        expand_by_window(op, body);
        return;
    }
    body_space(body, op->out[0]);
    int count = window_taps_back(body, &op->attr.window, taps), sum = -1;
    for (int i = 0; i < count; i++) {
        int argmax = tap_load(body, &taps[i], op->in[0], "argmax");
        int dy = tap_load(body, &taps[i], op->in[1], "dy");
        int mine = step_binary(body, STEP_EQ, argmax, taps[i].number);
        int part = step_select(body, mine, dy, step_const(body, 0));
        sum = sum < 0 ? part : step_binary(body, STEP_ADD, sum, part);
    }
    step_store(body, op->out[0], sum);
}

/* ---- the mean of an image -------------------------------------------------------------------- */

void shape_global_avg_pool2d(Program *p, Op *op) {
    const Value *x = op->in[0];
    op_expect_operands(op, 1);
    op_expect(op, op->attr.rows > 0 && value_rows(x) % op->attr.rows == 0, "images");
    result_2d(p, op, 0, "", x->dtype, op->attr.rows, value_cols(x));
}

void expand_global_avg_pool2d(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int64_t pixels = body->rows / op->attr.rows;
    int share = step_inverse(body, pixels);
    step_run_sum(body, op->out[0], pixels,
                 step_binary(body, STEP_MUL, step_load(body, op->in[0]), share));
}

void grad_global_avg_pool2d(Backward *b, const Op *op) {
    Attr attr = {.rows = value_rows(op->in[0]), .plane = op->in[0]->plane};
    backward_emit(b, op, op->in[0], OP_global_avg_pool2d_grad,
                  (Value *[]){backward_of(b, op->out[0])}, 1, attr);
}

void shape_global_avg_pool2d_grad(Program *p, Op *op) {
    const Value *dy = op->in[0];
    op_expect_operands(op, 1);
    op_expect(op, op->attr.rows > 0 && op->attr.rows % value_rows(dy) == 0, "images");
    result_images(p, op, 0, "", dy->dtype, op->attr.rows, value_cols(dy), op->attr.plane);
}

void expand_global_avg_pool2d_grad(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int64_t pixels = body->rows / value_rows(op->in[0]);
    int n = step_binary(body, STEP_DIV, step_index(body, STEP_ROW),
                        step_extent(body, pixels, "PLACES"));
    int dy = step_load_mapped(body, op->in[0], step_called(body, n, "n"), COL_SAME, 0);
    int share = step_inverse(body, pixels);
    step_store(body, op->out[0], step_binary(body, STEP_MUL, dy, share));
}
