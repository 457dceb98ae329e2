/* Weights scaled by the norms of their rows, as in DoRA (Liu et al., arXiv 2402.09353).
 *
 * scale_columns             (z[T,C], m[C], norm[C]) -> y = z m / norm; norm gets no gradient
 * scale_columns_weight_grad (z, dy, norm) -> dm[C] = sum over rows of dy z / norm
 *
 * row_squares   (w[R,C]) -> [R,1], each row's sum of squares
 * low_rank_norm (squares[R,1], e[R,K], b[R,K]) -> [R,1] = sqrt(squares + sum over k of e b)
 * where_finite  (m[C], other[C]) -> m where it is finite, else other, in m's place
 * rows_of_norm  (w[R,C], delta[R,C], m[R,1]) -> (w + delta) m / norm of its row, rounded once */
#include "graph/op_table.h"

static void expect_columns(const Op *op, const Value *of, const Value *column) {
    op_expect(op, value_elements(column) == value_cols(of), "columns of another width");
}

void shape_scale_columns(Program *p, Op *op) {
    op_expect(op, op->in_count == 3, "operands");
    expect_columns(op, op->in[0], op->in[1]);
    expect_columns(op, op->in[0], op->in[2]);
    result_like(p, op, 0, op->in[0]);
}

void expand_scale_columns(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int z = step_load(body, op->in[0]);
    int m = step_load(body, op->in[1]), norm = step_load(body, op->in[2]);
    int factor = step_hinted(body, step_binary(body, STEP_DIV, m, norm), "factor");
    step_store(body, op->out[0], step_binary(body, STEP_MUL, z, factor));
}

void grad_scale_columns(Backward *b, const Op *op) {
    Value *z = op->in[0], *m = op->in[1], *norm = op->in[2], *dy = backward_of(b, op->out[0]);
    if (backward_needs(b, m))
        backward_emit(b, op, m, OP_scale_columns_weight_grad, (Value *[]){z, dy, norm}, 3,
                      (Attr){0});
    if (backward_needs(b, z))
        backward_emit(b, op, z, OP_scale_columns, (Value *[]){dy, m, norm}, 3, (Attr){0});
}

void shape_scale_columns_weight_grad(Program *p, Op *op) {
    op_expect(op, op->in_count == 3, "operands");
    expect_columns(op, op->in[0], op->in[2]);
    result_1d(p, op, 0, "", p->real, value_cols(op->in[0]));
}

void expand_scale_columns_weight_grad(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int z = step_load(body, op->in[0]), dy = step_load(body, op->in[1]);
    int inverse = step_binary(body, STEP_DIV, step_const(body, 1), step_load(body, op->in[2]));
    step_hinted(body, inverse, "inverse");
    step_col_sum(body, op->out[0],
                 step_binary(body, STEP_MUL, step_binary(body, STEP_MUL, z, dy), inverse));
}

void shape_row_squares(Program *p, Op *op) {
    op_expect(op, op->in_count == 1, "operands");
    result_2d(p, op, 0, "", p->real, value_rows(op->in[0]), 1);
}

void expand_row_squares(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int w = step_load(body, op->in[0]);
    step_store(body, op->out[0],
               step_reduce(body, STEP_ROW_SUM, step_binary(body, STEP_MUL, w, w)));
}

void shape_low_rank_norm(Program *p, Op *op) {
    const Value *e = op->in[1], *b = op->in[2];
    op_expect(op, op->in_count == 3 && value_rows(op->in[0]) == value_rows(e), "operands");
    op_expect(op, value_rows(e) == value_rows(b) && value_cols(e) == value_cols(b), "another shape");
    result_2d(p, op, 0, "", p->real, value_rows(e), 1);
}

void expand_low_rank_norm(const Op *op, Body *body) {
    body_space(body, op->in[1]);
    int squares = step_load(body, op->in[0]);
    int e = step_load(body, op->in[1]), b = step_load(body, op->in[2]);
    int more = step_reduce(body, STEP_ROW_SUM, step_binary(body, STEP_MUL, e, b));
    int sum = step_binary(body, STEP_ADD, squares, more);
    step_store(body, op->out[0], step_unary(body, STEP_SQRT, sum));
}

void shape_where_finite(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 2 && op->out_count == 1, "operands");
    op_expect(op, value_same_place(op->in[0], op->out[0]), "not in place");
    expect_columns(op, op->in[0], op->in[1]);
}

void expand_where_finite(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int m = step_load(body, op->in[0]), other = step_load(body, op->in[1]);
    step_store(body, op->out[0],
               step_select(body, step_unary(body, STEP_FINITE, m), m, other));
}

void shape_rows_of_norm(Program *p, Op *op) {
    const Value *w = op->in[0], *delta = op->in[1];
    op_expect(op, op->in_count == 3 && value_rows(w) == value_rows(op->in[2]), "operands");
    op_expect(op, value_rows(w) == value_rows(delta) && value_cols(w) == value_cols(delta),
              "another shape");
    result_like(p, op, 0, w);
}

void expand_rows_of_norm(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int w = step_load(body, op->in[0]), delta = step_load(body, op->in[1]);
    int sum = step_hinted(body, step_binary(body, STEP_ADD, w, delta), "sum");
    int squares = step_reduce(body, STEP_ROW_SUM, step_binary(body, STEP_MUL, sum, sum));
    int norm = step_hinted(body, step_unary(body, STEP_SQRT, squares), "norm");
    int factor = step_binary(body, STEP_DIV, step_load(body, op->in[2]), norm);
    step_store(body, op->out[0], step_binary(body, STEP_MUL, step_hinted(body, factor, "factor"), sum));
}
