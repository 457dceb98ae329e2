/* Depthwise convolution: each channel has its own filter. Images are rows in the order n, h, w; the
 * weight is [kernel kernel, C], one row per tap, line by line. Results are in planes if images are.
 *
 * depthwise_conv2d              (x[N H W, C], w) -> y[N Ho Wo, C]
 * depthwise_conv2d_input_grad   (dy, w) -> dx, gathered from the windows over each pixel
 * depthwise_conv2d_weight_grad  (x, dy) -> dw in `real`, for each tap a sum over rows */
#include "graph/op_table.h"
#include "graph/window_steps.h"

static void expect_weight(const Op *op, const Value *weight, const Value *images) {
    int64_t k = op->attr.window.kernel;
    op_expect(op, value_rows(weight) == k * k && value_cols(weight) == value_cols(images),
              "weight of another shape");
}

void shape_depthwise_conv2d(Program *p, Op *op) {
    const Value *x = op->in[0];
    op_expect_operands(op, 2);
    expect_small_window(op);
    expect_weight(op, op->in[1], x);
    result_images_out(p, op, 0, "", p->activation, x, value_cols(x));
}

/* Loads the weight of a tap. */
static int load_weight(Body *body, const Tap *tap, Value *weight) {
    int w = step_load_mapped(body, weight, tap->number, COL_SAME, 0);
    return step_called(body, w, "weight_%s", tap->name);
}

/* The sum over the taps of x times the tap's weight. */
static int dot_taps(Body *body, const Tap *taps, int count, Value *x, const char *what,
                    Value *weight) {
    int sum = -1;
    for (int i = 0; i < count; i++) {
        int a = tap_load(body, &taps[i], x, what);
        int w = load_weight(body, &taps[i], weight);
        sum = sum < 0 ? step_binary(body, STEP_MUL, a, w) : step_fma(body, a, w, sum);
        step_called(body, sum, "sum_%s", taps[i].name);
    }
    return sum;
}

void expand_depthwise_conv2d(const Op *op, Body *body) {
    Tap taps[MOST_TAPS];
    body_space(body, op->out[0]);
    int count = window_taps(body, &op->attr.window, taps);
    step_store(body, op->out[0], dot_taps(body, taps, count, op->in[0], "x", op->in[1]));
}

void grad_depthwise_conv2d(Backward *b, const Op *op) {
    Value *x = op->in[0], *w = op->in[1], *dy = backward_of(b, op->out[0]);
    if (backward_needs(b, w))
        backward_emit(b, op, w, OP_depthwise_conv2d_weight_grad, (Value *[]){x, dy}, 2, op->attr);
    if (backward_needs(b, x))
        backward_emit(b, op, x, OP_depthwise_conv2d_input_grad, (Value *[]){dy, w}, 2, op->attr);
}

/* Every tap of every window counts, also those in the padding, as in ops_conv.c. */
static double flops_of_windows(const Op *op, const Value *y) {
    const Window *w = &op->attr.window;
    return 2.0 * (double)(w->kernel * w->kernel) * (double)value_elements(y);
}

double flops_depthwise_conv2d(const Op *op) { return flops_of_windows(op, op->out[0]); }

double flops_depthwise_conv2d_input_grad(const Op *op) { return flops_of_windows(op, op->in[0]); }

double flops_depthwise_conv2d_weight_grad(const Op *op) { return flops_of_windows(op, op->in[1]); }

void shape_depthwise_conv2d_input_grad(Program *p, Op *op) {
    const Value *dy = op->in[0];
    op_expect_operands(op, 2);
    expect_small_window(op);
    expect_weight(op, op->in[1], dy);
    result_images_in(p, op, p->activation, dy, value_cols(dy));
}

void expand_depthwise_conv2d_input_grad(const Op *op, Body *body) {
    Tap taps[MOST_TAPS];
    body_space(body, op->out[0]);
    int count = window_taps_back(body, &op->attr.window, taps);
    step_store(body, op->out[0], dot_taps(body, taps, count, op->in[0], "dy", op->in[1]));
}

void shape_depthwise_conv2d_weight_grad(Program *p, Op *op) {
    const Value *x = op->in[0], *dy = op->in[1];
    int64_t k = op->attr.window.kernel;
    op_expect_operands(op, 2);
    expect_small_window(op);
    op_expect(op, value_cols(x) == value_cols(dy), "channels");
    op_expect(op, expect_images_in(op, x) == expect_images_out(op, dy), "images");
    result_2d(p, op, 0, "", p->real, k * k, value_cols(x));
}

void expand_depthwise_conv2d_weight_grad(const Op *op, Body *body) {
    Tap taps[MOST_TAPS];
    body_space(body, op->in[1]);
    int count = window_taps(body, &op->attr.window, taps), dy = step_load(body, op->in[1]);
    for (int i = 0; i < count; i++) {
        int x = tap_load(body, &taps[i], op->in[0], "x");
        step_col_sum_at(body, op->out[0], i, step_binary(body, STEP_MUL, x, dy));
    }
}
