/* Choosing rows.
 *
 * gather_rows    (x[T,C], rows[M,1], places[T,1]) -> y[M,C] = x[rows], 0 where rows is negative;
 *                places is the inverse map (negative: not chosen), which the gradient uses
 * gather_labels  (labels[T,1], rows[M,1]) -> [M,1], -100 (ignored) where rows is negative */
#include "graph/op_table.h"

/* The row to read, and whether there is one. */
static int chosen(Body *body, Value *rows, int *exists) {
    int row = step_load(body, rows), zero = step_const_int(body, 0);
    *exists = step_binary(body, STEP_GE, row, zero);
    return step_binary(body, STEP_MAX, row, zero);
}

void shape_gather_rows(Program *p, Op *op) {
    op_expect(op, op->in_count == 3 && value_cols(op->in[1]) == 1, "operands");
    op_expect(op, !op->in[0]->plane, "rows in planes");
    op_expect(op, value_rows(op->in[2]) == value_rows(op->in[0]), "inverse map");
    result_2d(p, op, 0, "", op->in[0]->dtype, value_rows(op->in[1]), value_cols(op->in[0]));
}

void expand_gather_rows(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int exists, row = chosen(body, op->in[1], &exists);
    int x = step_load_mapped(body, op->in[0], row, COL_SAME, 0);
    step_store(body, op->out[0], step_select(body, exists, x, step_const(body, 0)));
}

void grad_gather_rows(Backward *b, const Op *op) {
    Value *in[] = {backward_of(b, op->out[0]), op->in[2], op->in[1]};
    backward_emit(b, op, op->in[0], OP_gather_rows, in, 3, (Attr){0});
}

void shape_gather_labels(Program *p, Op *op) {
    op_expect(op, op->in_count == 2 && value_cols(op->in[0]) == 1 && value_cols(op->in[1]) == 1,
              "operands");
    result_2d(p, op, 0, "", op->in[0]->dtype, value_rows(op->in[1]), 1);
}

void expand_gather_labels(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = 1;
    int exists, row = chosen(body, op->in[1], &exists);
    int label = step_load_mapped(body, op->in[0], row, COL_SAME, 0);
    step_store(body, op->out[0], step_select(body, exists, label, step_const_int(body, -100)));
}
