/* Collectives: what the ranks of attr.group do together. Each rank calls them in the same order.
 *
 * all_reduce      (x) -> the sum of all ranks' x, in x's place; the same bits on each rank
 * all_gather      (x [R,C]) -> [n R, C], the rows of all ranks in rank order; with attr.chunks, x
 *                 is that many equal runs of rows, each of which is gathered in this way
 * reduce_scatter  (x [n R, C]) -> [R,C], the rank's own rows of the sum of all ranks' x;
 *                 attr.chunks as for all_gather
 * broadcast       (x) -> the first rank's x, in x's place
 * peer_copy       (x) -> x as card attr.card of this process has it, in x's own place or another;
 *                 part of attr.purpose
 * own_rows        (x [n R,C], group_rank [1]) -> [R,C], the rank's own rows of x, which all ranks have
 * spread          (x) -> x, which all ranks have: its gradient is the sum of their gradients
 *
 * The gradient of an all_reduce's sum is the same on all ranks, and is the gradient of each addend.
 * The gradient of a gathered value is the sum of the ranks' partial gradients. */
#include "graph/op_table.h"

static void shape_in_place(Op *op) {
    op_expect(op, op->in_count == 1 && op->out_count == 1, "operands");
    op_expect(op, value_same_view(op->in[0], op->out[0]) && value_dense(op->in[0]), "not in place");
}

void shape_all_reduce(Program *p, Op *op) {
    if (!op->out_count)
        op->out[op->out_count++] = value_alias(p, op->in[0], op->name);
    shape_in_place(op);
}

void grad_all_reduce(Backward *b, const Op *op) {
    backward_pass(b, op->in[0], backward_of(b, op->out[0]));
}

void shape_spread(Program *p, Op *op) {
    if (!op->out_count)
        op->out[op->out_count++] = value_alias(p, op->in[0], op->in[0]->name);
    op_expect(op, op->in_count == 1 && value_same_view(op->in[0], op->out[0]), "not x itself");
}

/* In place: dy was made for x's readers and has no other use. */
void grad_spread(Backward *b, const Op *op) {
    Value *dy = backward_of(b, op->out[0]);
    backward_emit(b, op, op->in[0], OP_all_reduce, &dy, 1, (Attr){.group = op->attr.group});
}

void shape_broadcast(Program *p, Op *op) {
    (void)p;
    shape_in_place(op);
}

void shape_all_gather(Program *p, Op *op) {
    const Value *x = op->in[0];
    op_expect_operands(op, 1);
    op_expect(op, value_dense(x), "not dense");
    result_2d(p, op, 0, ".all", x->dtype, value_rows(x) * mesh_ranks(&p->mesh, op->attr.group),
              value_cols(x));
}

void shape_reduce_scatter(Program *p, Op *op) {
    const Value *x = op->in[0];
    int64_t ranks = mesh_ranks(&p->mesh, op->attr.group);
    op_expect_operands(op, 1);
    op_expect(op, value_dense(x) && value_rows(x) % ranks == 0, "rows");
    result_2d(p, op, 0, ".part", x->dtype, value_rows(x) / ranks, value_cols(x));
}

void shape_own_rows(Program *p, Op *op) {
    const Value *x = op->in[0];
    int64_t ranks = mesh_ranks(&p->mesh, op->attr.group);
    op_expect_operands(op, 2);
    op_expect(op, value_rows(x) % ranks == 0, "rows");
    result_2d(p, op, 0, ".own", x->dtype, value_rows(x) / ranks, value_cols(x));
}

void expand_own_rows(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int before =
        step_binary(body, STEP_MUL, step_load(body, op->in[1]), step_const_int(body, body->rows));
    int row = step_binary(body, STEP_ADD, before, step_index(body, STEP_ROW));
    step_store(body, op->out[0], step_load_mapped(body, op->in[0], row, COL_SAME, 0));
}

void shape_peer_copy(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 1 && op->out_count == 1, "operands");
    const Value *x = op->in[0], *y = op->out[0];
    op_expect(op, value_dense(x) && value_dense(y) && x->dtype == y->dtype, "not dense");
    op_expect(op, value_elements(x) == value_elements(y), "sizes");
    op_expect(op, role_persistent(x->role), "not persistent, so no other card can read it");
}

const char *purpose_name(Purpose purpose) {
    static const char *const names[] = {"broadcast", "gather", "reduce"};
    return names[purpose];
}

static Attr of_same_rows(const Op *op) {
    return (Attr){.group = op->attr.group, .chunks = op->attr.chunks};
}

void grad_all_gather(Backward *b, const Op *op) {
    Value *dy = backward_of(b, op->out[0]);
    backward_emit(b, op, op->in[0], OP_reduce_scatter, &dy, 1, of_same_rows(op));
}

void grad_reduce_scatter(Backward *b, const Op *op) {
    Value *dy = backward_of(b, op->out[0]);
    backward_emit(b, op, op->in[0], OP_all_gather, &dy, 1, of_same_rows(op));
}
