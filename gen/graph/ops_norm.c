/* Norms of rows, computed in `real`, rounded once: root mean square norm (Zhang and Sennrich, arXiv
 * 1910.07467), and layer norm (Ba, Kiros and Hinton, arXiv 1607.06450).
 *
 * rms_norm             (x[R,C], w[C]) -> y = x rstd w, rstd[R,1] = 1 / sqrt(mean(x^2) + eps)
 * rms_norm_apply       (x, w, rstd) -> y
 * rms_norm_grad        (x, w, rstd, dy) -> dx = rstd (g - xhat mean(g xhat)), g = dy w,
 *                      xhat = x rstd
 * rms_norm_weight_grad (x, rstd, dy) -> dw[C] = sum over rows of dy xhat
 *
 * layer_norm             (x[R,C], w[C], b[C]) -> y = xhat w + b, mean[R,1], rstd[R,1], with
 *                        xhat = (x - mean) rstd, rstd = 1 / sqrt(mean((x - mean)^2) + eps)
 * layer_norm_apply       (x, w, b, mean, rstd) -> y
 * layer_norm_grad        (x, w, mean, rstd, dy) -> dx = rstd (g - mean(g) - xhat mean(g xhat)),
 *                        g = dy w
 * layer_norm_weight_grad (x, mean, rstd, dy) -> dw[C] = sum over rows of dy xhat */
#include "graph/op_table.h"

static int row_mean(Body *body, int a) {
    int mean = step_binary(body, STEP_MUL, step_reduce(body, STEP_ROW_SUM, a),
                           step_inverse(body, body->cols));
    return step_hinted(body, mean, "mean");
}

void shape_rms_norm(Program *p, Op *op) {
    const Value *x = op->in[0];
    op_expect(op, op->in_count == 2 && value_cols(op->in[1]) == value_cols(x),
              "weight of another width");
    result_2d(p, op, 0, "", p->activation, value_rows(x), value_cols(x));
    result_2d(p, op, 1, ".rstd", p->real, value_rows(x), 1);
}

/* The steps that make y, once rstd is known. */
static void apply_rms_norm(const Op *op, Body *body, int x, int w, int rstd) {
    int xhat = step_hinted(body, step_binary(body, STEP_MUL, x, rstd), "xhat");
    step_store(body, op->out[0], step_binary(body, STEP_MUL, xhat, w));
}

void expand_rms_norm(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), w = step_load(body, op->in[1]);
    int mean = row_mean(body, step_binary(body, STEP_MUL, x, x));
    int rstd = step_unary(body, STEP_RSQRT,
                          step_binary(body, STEP_ADD, mean, step_named(body, op->attr.eps, "EPS")));
    step_store(body, op->out[1], step_hinted(body, rstd, "rstd"));
    apply_rms_norm(op, body, x, w, rstd);
}

void shape_norm_apply(Program *p, Op *op) {
    result_2d(p, op, 0, "", p->activation, value_rows(op->in[0]), value_cols(op->in[0]));
}

void expand_rms_norm_apply(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), w = step_load(body, op->in[1]);
    apply_rms_norm(op, body, x, w, step_load(body, op->in[2]));
}

void grad_rms_norm(Backward *b, const Op *op) {
    Value *x = op->in[0], *w = op->in[1], *rstd = op->out[1], *dy = backward_of(b, op->out[0]);
    if (backward_needs(b, w))
        backward_emit(b, op, w, OP_rms_norm_weight_grad, (Value *[]){x, rstd, dy}, 3, (Attr){0});
    if (backward_needs(b, x))
        backward_emit(b, op, x, OP_rms_norm_grad, (Value *[]){x, w, rstd, dy}, 4, (Attr){0});
}

void shape_rms_norm_grad(Program *p, Op *op) { result_like(p, op, 0, op->in[0]); }

void expand_rms_norm_grad(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), w = step_load(body, op->in[1]);
    int rstd = step_load(body, op->in[2]), dy = step_load(body, op->in[3]);
    int xhat = step_hinted(body, step_binary(body, STEP_MUL, x, rstd), "xhat");
    int g = step_hinted(body, step_binary(body, STEP_MUL, dy, w), "dxhat");
    int mean = row_mean(body, step_binary(body, STEP_MUL, g, xhat));
    int along = step_hinted(body, step_binary(body, STEP_MUL, xhat, mean), "along_xhat");
    int inner = step_binary(body, STEP_SUB, g, along);
    step_hinted(body, inner, "off_xhat");
    step_store(body, op->out[0], step_binary(body, STEP_MUL, rstd, inner));
}

void shape_rms_norm_weight_grad(Program *p, Op *op) {
    result_1d(p, op, 0, "", p->real, value_cols(op->in[0]));
}

void expand_rms_norm_weight_grad(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), rstd = step_load(body, op->in[1]),
        dy = step_load(body, op->in[2]);
    int xhat = step_hinted(body, step_binary(body, STEP_MUL, x, rstd), "xhat");
    step_col_sum(body, op->out[0], step_binary(body, STEP_MUL, dy, xhat));
}

/* ---- layer norm ------------------------------------------------------------------------------ */

void shape_layer_norm(Program *p, Op *op) {
    const Value *x = op->in[0];
    op_expect(op,
              op->in_count == 3 && value_elements(op->in[1]) == value_cols(x) &&
                  value_elements(op->in[2]) == value_cols(x),
              "weight or bias of another width");
    result_2d(p, op, 0, "", p->activation, value_rows(x), value_cols(x));
    result_2d(p, op, 1, ".mean", p->real, value_rows(x), 1);
    result_2d(p, op, 2, ".rstd", p->real, value_rows(x), 1);
}

static int centred(Body *body, int x, int mean) {
    return step_hinted(body, step_binary(body, STEP_SUB, x, mean), "centred");
}

/* The steps that make y, once mean and rstd are known. */
static void apply_layer_norm(const Op *op, Body *body, int from_mean, int rstd, int w, int b) {
    int xhat = step_hinted(body, step_binary(body, STEP_MUL, from_mean, rstd), "xhat");
    int scaled = step_binary(body, STEP_MUL, xhat, w);
    step_store(body, op->out[0], step_binary(body, STEP_ADD, scaled, b));
}

void expand_layer_norm(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), w = step_load(body, op->in[1]),
        b = step_load(body, op->in[2]);
    int mean = row_mean(body, x), from_mean = centred(body, x, mean);
    int variance = row_mean(body, step_binary(body, STEP_MUL, from_mean, from_mean));
    step_hinted(body, variance, "variance");
    int rstd =
        step_unary(body, STEP_RSQRT,
                   step_binary(body, STEP_ADD, variance, step_named(body, op->attr.eps, "EPS")));
    step_store(body, op->out[1], mean);
    step_store(body, op->out[2], step_hinted(body, rstd, "rstd"));
    apply_layer_norm(op, body, from_mean, rstd, w, b);
}

void expand_layer_norm_apply(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), w = step_load(body, op->in[1]),
        b = step_load(body, op->in[2]);
    int from_mean = centred(body, x, step_load(body, op->in[3]));
    apply_layer_norm(op, body, from_mean, step_load(body, op->in[4]), w, b);
}

void grad_layer_norm(Backward *b, const Op *op) {
    Value *x = op->in[0], *w = op->in[1], *mean = op->out[1], *rstd = op->out[2];
    Value *dy = backward_of(b, op->out[0]);
    backward_emit(b, op, w, OP_layer_norm_weight_grad, (Value *[]){x, mean, rstd, dy}, 4,
                  (Attr){0});
    backward_emit(b, op, op->in[2], OP_column_sum, &dy, 1, (Attr){0});
    backward_emit(b, op, x, OP_layer_norm_grad, (Value *[]){x, w, mean, rstd, dy}, 5, (Attr){0});
}

void shape_layer_norm_grad(Program *p, Op *op) { result_like(p, op, 0, op->in[0]); }

static int layer_norm_xhat(Body *body, int x, int mean, int rstd) {
    return step_hinted(body, step_binary(body, STEP_MUL, centred(body, x, mean), rstd), "xhat");
}

void expand_layer_norm_grad(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), w = step_load(body, op->in[1]);
    int mean = step_load(body, op->in[2]), rstd = step_load(body, op->in[3]);
    int dy = step_load(body, op->in[4]), xhat = layer_norm_xhat(body, x, mean, rstd);
    int g = step_hinted(body, step_binary(body, STEP_MUL, dy, w), "dxhat");
    int along = row_mean(body, step_binary(body, STEP_MUL, g, xhat));
    int off_mean = step_binary(body, STEP_SUB, g, row_mean(body, g));
    step_hinted(body, off_mean, "off_mean");
    int inner = step_binary(body, STEP_SUB, off_mean, step_binary(body, STEP_MUL, xhat, along));
    step_store(body, op->out[0],
               step_binary(body, STEP_MUL, rstd, step_hinted(body, inner, "off_xhat")));
}

void shape_layer_norm_weight_grad(Program *p, Op *op) {
    result_1d(p, op, 0, "", p->real, value_cols(op->in[0]));
}

void expand_layer_norm_weight_grad(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), mean = step_load(body, op->in[1]),
        rstd = step_load(body, op->in[2]), dy = step_load(body, op->in[3]);
    int xhat = layer_norm_xhat(body, x, mean, rstd);
    step_col_sum(body, op->out[0], step_binary(body, STEP_MUL, dy, xhat));
}
