/* Root mean square norm (Zhang and Sennrich, arXiv 1910.07467), in `real` inside, rounded once.
 *
 * rms_norm             (x[R,C], w[C]) -> y = x rstd w, rstd[R,1] = 1 / sqrt(mean(x^2) + eps)
 * rms_norm_grad        (x, w, rstd, dy) -> dx = rstd (g - xhat mean(g xhat)), g = dy w,
 *                      xhat = x rstd
 * rms_norm_weight_grad (x, rstd, dy) -> dw[C] = sum over rows of dy xhat */
#include "graph/op_table.h"

static void space_of(Body *body, const Value *x) {
    body->rows = value_rows(x);
    body->cols = value_cols(x);
}

static int row_mean(Body *body, int a) {
    int mean = step_binary(body, STEP_MUL, step_reduce(body, STEP_ROW_SUM, a),
                           step_const(body, 1.0 / (double)body->cols));
    return step_hinted(body, mean, "mean");
}

void shape_rms_norm(Program *p, Op *op) {
    const Value *x = op->in[0];
    op_expect(op, op->in_count == 2 && value_cols(op->in[1]) == value_cols(x),
              "weight of another width");
    result_2d(p, op, 0, "", p->activation, value_rows(x), value_cols(x));
    result_2d(p, op, 1, ".rstd", p->real, value_rows(x), 1);
}

void expand_rms_norm(const Program *p, const Op *op, Body *body) {
    (void)p;
    space_of(body, op->in[0]);
    int x = step_load(body, op->in[0]), w = step_load(body, op->in[1]);
    int mean = row_mean(body, step_binary(body, STEP_MUL, x, x));
    int rstd = step_unary(body, STEP_RSQRT,
                          step_binary(body, STEP_ADD, mean, step_const(body, op->attr.eps)));
    step_store(body, op->out[1], step_hinted(body, rstd, "rstd"));
    step_store(body, op->out[0],
               step_binary(body, STEP_MUL, step_binary(body, STEP_MUL, x, rstd), w));
}

void grad_rms_norm(Backward *b, const Op *op) {
    Value *x = op->in[0], *w = op->in[1], *rstd = op->out[1], *dy = backward_of(b, op->out[0]);
    if (backward_needs(b, w))
        backward_emit(b, op, w, OP_rms_norm_weight_grad, (Value *[]){x, rstd, dy}, 3, (Attr){0});
    if (backward_needs(b, x))
        backward_emit(b, op, x, OP_rms_norm_grad, (Value *[]){x, w, rstd, dy}, 4, (Attr){0});
}

void shape_rms_norm_grad(Program *p, Op *op) { result_like(p, op, 0, op->in[0]); }

void expand_rms_norm_grad(const Program *p, const Op *op, Body *body) {
    (void)p;
    space_of(body, op->in[0]);
    int x = step_load(body, op->in[0]), w = step_load(body, op->in[1]);
    int rstd = step_load(body, op->in[2]), dy = step_load(body, op->in[3]);
    int xhat = step_hinted(body, step_binary(body, STEP_MUL, x, rstd), "xhat");
    int g = step_hinted(body, step_binary(body, STEP_MUL, dy, w), "dxhat");
    int mean = row_mean(body, step_binary(body, STEP_MUL, g, xhat));
    int inner = step_binary(body, STEP_SUB, g, step_binary(body, STEP_MUL, xhat, mean));
    step_hinted(body, inner, "off_xhat");
    step_store(body, op->out[0], step_binary(body, STEP_MUL, rstd, inner));
}

void shape_rms_norm_weight_grad(Program *p, Op *op) {
    result_1d(p, op, 0, "", p->real, value_cols(op->in[0]));
}

void expand_rms_norm_weight_grad(const Program *p, const Op *op, Body *body) {
    (void)p;
    space_of(body, op->in[0]);
    int x = step_load(body, op->in[0]), rstd = step_load(body, op->in[1]),
        dy = step_load(body, op->in[2]);
    int xhat = step_hinted(body, step_binary(body, STEP_MUL, x, rstd), "xhat");
    step_col_sum(body, op->out[0], step_binary(body, STEP_MUL, dy, xhat));
}
