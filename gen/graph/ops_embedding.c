/* Embedding: (ids[T,1], W[V,H]) -> y[T,H]; its gradient (ids, dy, dW) -> dW with the rows of dy
 * added to their token's row, in the order of the batch. */
#include "graph/op_table.h"

void shape_embedding(Program *p, Op *op) {
    op_expect(op, op->in_count == 2 && value_cols(op->in[0]) == 1, "ids");
    result_2d(p, op, 0, "", p->activation, value_rows(op->in[0]), value_cols(op->in[1]));
}

void expand_embedding(const Program *p, const Op *op, Body *body) {
    (void)p;
    body->rows = value_rows(op->out[0]);
    body->cols = value_cols(op->out[0]);
    int id = step_load(body, op->in[0]);
    step_store(body, op->out[0], step_load_mapped(body, op->in[1], id, COL_SAME, 0));
}

void grad_embedding(Backward *b, const Op *op) {
    if (!backward_needs(b, op->in[1]))
        return;
    Value *in[] = {op->in[0], backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[1], OP_embedding_grad, in, 2, (Attr){.accumulate = true});
}

void shape_embedding_grad(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->attr.accumulate, "does not add");
    op_expect_operands(op, 2);
    op_expect(op, value_cols(op->in[1]) == value_cols(op->out[0]), "width");
}
