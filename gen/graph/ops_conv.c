/* Convolutions of images, over attr.window, as torch.nn.functional.conv2d computes them.
 *
 * conv2d             (x[N H W, I], w[O,k,k,I]) -> y[N Ho Wo, O]
 * conv2d_input_grad  (dy, w [, dx]) -> dx like x
 * conv2d_weight_grad (x, dy [, dw]) -> dw like w
 *
 * The images of an op are all in planes, or none are.
 * Weights are dense, one filter per row, channels innermost. With attr.accumulate the last operand
 * is the result's old content, to which the op adds in place. Launch rules implement all three. */
#include "graph/op_table.h"
#include "graph/window.h"

static void expect_weight(const Op *op, const Value *w) {
    int64_t k = op->attr.window.kernel;
    op_expect(op, w->rank == 4 && w->dim[1] == k && w->dim[2] == k && value_dense(w), "weight");
}

void shape_conv2d(Program *p, Op *op) {
    const Value *x = op->in[0], *w = op->in[1];
    expect_window(op);
    expect_weight(op, w);
    op_expect(op, op->in_count == 2 && value_cols(x) == value_cols(w), "channels");
    result_images_out(p, op, 0, "", p->activation, x, w->dim[0]);
}

void grad_conv2d(Backward *b, const Op *op) {
    Value *x = op->in[0], *w = op->in[1], *dy = backward_of(b, op->out[0]);
    Attr attr = {.window = op->attr.window};
    backward_emit(b, op, w, OP_conv2d_weight_grad, (Value *[]){x, dy}, 2, attr);
    backward_emit(b, op, x, OP_conv2d_input_grad, (Value *[]){dy, w}, 2, attr);
}

void shape_conv2d_input_grad(Program *p, Op *op) {
    const Value *dy = op->in[0], *w = op->in[1];
    expect_window(op);
    expect_weight(op, w);
    op_expect_operands(op, 2);
    op_expect(op, value_cols(dy) == w->dim[0], "channels");
    result_images_in(p, op, p->activation, dy, value_cols(w));
}

void shape_conv2d_weight_grad(Program *p, Op *op) {
    const Value *x = op->in[0], *dy = op->in[1];
    const Window *w = &op->attr.window;
    expect_window(op);
    op_expect_operands(op, 2);
    op_expect(op, expect_images_in(op, x) == expect_images_out(op, dy), "images");
    op_expect(op, !x->plane == !dy->plane, "planes");
    int64_t dim[] = {value_cols(dy), w->kernel, w->kernel, value_cols(x)};
    result_shaped(p, op, 0, p->activation, 4, dim);
    expect_weight(op, op->out[0]);
}

/* Every tap of every window counts, also those in the padding, as is usual. */
double flops_conv2d(const Op *op) {
    return 2.0 * (double)value_rows(op->out[0]) * (double)value_elements(op->in[1]);
}

double flops_conv2d_input_grad(const Op *op) {
    return 2.0 * (double)value_rows(op->in[0]) * (double)value_elements(op->in[1]);
}

double flops_conv2d_weight_grad(const Op *op) {
    return 2.0 * (double)value_rows(op->in[1]) * (double)value_elements(op->out[0]);
}
