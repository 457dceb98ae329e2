/* Embedding: (ids[T,1], W[V,H]) -> y[T,H]; its gradient (ids, dy, dW) -> dW with each row of dy
 * added to its token's row, in batch order. Where each rank of attr.group has some rows of W, ids
 * are the rank's own_ids; for a negative id y is 0, and dW ignores it.
 *
 * own_ids (ids[T,1], group_rank[1]) -> ids minus the rank's first id, or -1 where another rank has the
 * id; each rank has attr.rows ids */
#include "graph/op_table.h"

void shape_embedding(Program *p, Op *op) {
    op_expect(op, op->in_count == 2 && value_cols(op->in[0]) == 1, "ids");
    result_2d(p, op, 0, "", p->activation, value_rows(op->in[0]), value_cols(op->in[1]));
}

void expand_embedding(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int id = step_load(body, op->in[0]);
    if (!op->attr.group) {
        step_store(body, op->out[0], step_load_mapped(body, op->in[1], id, COL_SAME, 0));
        return;
    }
    int zero = step_const_int(body, 0), own = step_binary(body, STEP_GE, id, zero);
    int row = step_hinted(body, step_binary(body, STEP_MAX, id, zero), "own_row");
    int x = step_load_mapped(body, op->in[1], row, COL_SAME, 0);
    step_store(body, op->out[0], step_select(body, own, x, step_const(body, 0)));
}

void shape_own_ids(Program *p, Op *op) {
    op_expect(op, op->in_count == 2 && value_cols(op->in[0]) == 1 && op->attr.rows > 0, "operands");
    result_2d(p, op, 0, "", op->in[0]->dtype, value_rows(op->in[0]), 1);
}

void expand_own_ids(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = 1;
    int rows = step_const_int(body, op->attr.rows), none = step_const_int(body, -1);
    int first = step_binary(body, STEP_MUL, step_load(body, op->in[1]), rows);
    int id = step_binary(body, STEP_SUB, step_load(body, op->in[0]), first);
    int own = step_binary(body, STEP_AND, step_binary(body, STEP_GE, id, step_const_int(body, 0)),
                          step_binary(body, STEP_LT, id, rows));
    step_store(body, op->out[0], step_select(body, own, id, none));
}

void grad_embedding(Backward *b, const Op *op) {
    if (!backward_needs(b, op->in[1]))
        return;
    Value *in[] = {op->in[0], backward_of(b, op->out[0])};
    Attr attr = {.accumulate = true, .group = op->attr.group};
    backward_emit(b, op, op->in[1], OP_embedding_grad, in, 2, attr);
}

void shape_embedding_grad(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->attr.accumulate, "does not add");
    op_expect_operands(op, 2);
    op_expect(op, value_cols(op->in[1]) == value_cols(op->out[0]), "width");
}
