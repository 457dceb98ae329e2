/* Matrix products.
 *
 * linear  (x[T,in], W[out,in] [, y]) -> alpha x W^T [+ y], as torch.nn.functional.linear
 * matmul  (a, b [, c]) -> alpha op(a) op(b) [+ c]; op transposes where attr says so
 * matmul_bias  (a, b, bias[n]) -> alpha op(a) op(b) + bias, as torch.addmm. Kernels only; made from
 *         a product and an add_bias by a pass.
 * low_rank_grads  (dy[T,out], B[out,r], u[T,r] [, dB]) -> alpha dy^T u [+ dB], alpha_v dy B: the
 *         gradients of B and u in y += u B^T. Kernels only; made from two products by a pass.
 * low_rank_grad_a (x[T,in], v[T,r] [, dA]) -> alpha v^T x [+ dA]: the gradient of A in u = x A^T, whose
 *         kernel can be that of low_rank_grads too, if pointwise ops make both x and dy. Kernels only;
 *         made from a product by a pass.
 * low_rank_matmul (x[T,in], A[r,in]) -> alpha x A^T: a product with few columns, whose kernel can also
 *         run the pointwise ops that make x. Kernels only; made from a product by a pass.
 *
 * Operands are not in planes.
 * With attr.accumulate the last operand is the old content of the result, added in place. */
#include "graph/op_table.h"

void shape_linear(Program *p, Op *op) {
    const Value *x = op->in[0], *w = op->in[1];
    op_expect_operands(op, 2);
    op_expect(op, value_cols(x) == value_cols(w), "input and weight differ in features");
    op_expect(op, !x->plane, "input in planes");
    result_2d(p, op, 0, "", p->activation, value_rows(x), value_rows(w));
}

void grad_linear(Backward *b, const Op *op) {
    Value *x = op->in[0], *w = op->in[1], *dy = backward_of(b, op->out[0]);
    double alpha = op->attr.alpha;
    if (backward_needs(b, w))
        backward_emit(b, op, w, OP_matmul, (Value *[]){dy, x}, 2,
                      (Attr){.alpha = alpha, .transpose_a = true});
    if (backward_needs(b, x))
        backward_emit(b, op, x, OP_matmul, (Value *[]){dy, w}, 2, (Attr){.alpha = alpha});
    if (op->attr.accumulate)
        backward_pass(b, op->in[2], dy);
}

double flops_linear(const Op *op) {
    return 2.0 * (double)value_elements(op->in[0]) * (double)value_rows(op->in[1]);
}

static void shape_product(Program *p, Op *op) {
    const Value *a = op->in[0], *b = op->in[1];
    bool ta = op->attr.transpose_a, tb = op->attr.transpose_b;
    int64_t m = ta ? value_cols(a) : value_rows(a), k = ta ? value_rows(a) : value_cols(a);
    int64_t n = tb ? value_rows(b) : value_cols(b);
    op_expect(op, k == (tb ? value_cols(b) : value_rows(b)), "inner dimensions differ");
    op_expect(op, a->dtype == b->dtype, "operands of two dtypes");
    op_expect(op, !a->plane && !b->plane, "operands in planes");
    result_2d(p, op, 0, "", p->activation, m, n);
}

void shape_matmul(Program *p, Op *op) {
    op_expect_operands(op, 2);
    shape_product(p, op);
}

void shape_matmul_bias(Program *p, Op *op) {
    const Value *bias = op->in[2];
    op_expect_operands(op, 3);
    shape_product(p, op);
    op_expect(op, value_elements(bias) == value_cols(op->out[0]), "bias of another width");
    op_expect(op, value_dense(bias) && bias->dtype == op->out[0]->dtype, "bias of another dtype");
}

double flops_matmul(const Op *op) {
    int64_t k = op->attr.transpose_a ? value_rows(op->in[0]) : value_cols(op->in[0]);
    return 2.0 * (double)value_elements(op->out[0]) * (double)k;
}

void shape_low_rank_grads(Program *p, Op *op) {
    const Value *dy = op->in[0], *b = op->in[1], *u = op->in[2];
    op_expect_operands(op, 3);
    op_expect(op, value_cols(dy) == value_rows(b), "dy and B differ in features");
    op_expect(op, value_rows(dy) == value_rows(u), "dy and u differ in rows");
    op_expect(op, value_cols(b) == value_cols(u), "B and u differ in rank");
    op_expect(op, dy->dtype == b->dtype && dy->dtype == u->dtype, "operands of several dtypes");
    op_expect(op, !dy->plane && !b->plane && !u->plane, "operands in planes");
    result_2d(p, op, 0, "", p->real, value_rows(b), value_cols(b));
    result_2d(p, op, 1, "_v", p->activation, value_rows(u), value_cols(u));
}

void shape_low_rank_grad_a(Program *p, Op *op) {
    const Value *x = op->in[0], *v = op->in[1];
    op_expect_operands(op, 2);
    op_expect(op, value_rows(x) == value_rows(v), "x and v differ in rows");
    op_expect(op, x->dtype == v->dtype, "operands of two dtypes");
    op_expect(op, !x->plane && !v->plane, "operands in planes");
    result_2d(p, op, 0, "", p->real, value_cols(v), value_cols(x));
}

double flops_low_rank_grad_a(const Op *op) {
    return 2.0 * (double)value_elements(op->in[0]) * (double)value_cols(op->in[1]);
}

void shape_low_rank_matmul(Program *p, Op *op) {
    const Value *x = op->in[0], *a = op->in[1];
    op_expect_operands(op, 2);
    op_expect(op, value_cols(x) == value_cols(a), "x and A differ in features");
    op_expect(op, x->dtype == a->dtype, "operands of two dtypes");
    op_expect(op, !x->plane && !a->plane, "operands in planes");
    result_2d(p, op, 0, "", p->activation, value_rows(x), value_rows(a));
}

double flops_low_rank_grads(const Op *op) {
    return 4.0 * (double)value_elements(op->in[0]) * (double)value_cols(op->in[1]);
}
