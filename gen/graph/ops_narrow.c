/* Linears of few outputs, such as the last one of a classifier of few classes, as bodies: ordinary
 * kernels, which neighbouring ops can join. Kernels only; made from matrix products by a pass. Each
 * output has steps of its own; sums are in `real`, and no operand is in planes.
 *
 * narrow_linear              (x[T,in], W[out,in] [, bias]) -> alpha x W^T [+ bias]
 * narrow_linear_input_grad   (dy[T,out], W) -> alpha dy W
 * narrow_linear_weight_grad  (dy, x) -> alpha dy^T x in `real`, dense */
#include "graph/op_table.h"

/* Checks (dy or y, W) or, for the weight's gradient, (dy, W's gradient). */
static void expect_few(const Op *op, const Value *y, const Value *weight) {
    op_expect(op, value_cols(y) == value_rows(weight), "outputs differ");
    op_expect(op, value_cols(y) <= MOST_NARROW, "many outputs");
    op_expect(op, !y->plane, "in planes");
}

void shape_narrow_linear(Program *p, Op *op) {
    const Value *x = op->in[0], *w = op->in[1];
    op_expect_operands(op, op->in_count == 3 ? 3 : 2);
    op_expect(op, value_cols(x) == value_cols(w) && !x->plane, "input and weight");
    op_expect(op, op->in_count == 2 || value_elements(op->in[2]) == value_rows(w), "bias");
    result_2d(p, op, 0, "", p->activation, value_rows(x), value_rows(w));
    expect_few(op, op->out[0], w);
}

static int scaled(const Op *op, Body *body, int step) {
    double alpha = op->attr.alpha;
    return alpha == 1 ? step : step_binary(body, STEP_MUL, step, step_const(body, alpha));
}

/* Loads row i of a weight: the same for all rows of the body. */
static int load_weight(Body *body, Value *weight, int i) {
    int w = step_load_mapped(body, weight, step_const_int(body, i), COL_SAME, 0);
    return step_called(body, w, "weight_%d", i);
}

/* Loads column i of the rows of dy. */
static int load_grad(Body *body, Value *dy, int i) {
    return step_called(body, step_load_mapped(body, dy, -1, COL_AT, i), "dy_%d", i);
}

void expand_narrow_linear(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]);
    for (int i = 0; i < (int)value_cols(op->out[0]); i++) {
        int w = load_weight(body, op->in[1], i);
        int sum = step_reduce(body, STEP_ROW_SUM, step_binary(body, STEP_MUL, x, w));
        step_hinted(body, sum, arena_printf(body->arena, "sum_%d", i));
        sum = scaled(op, body, sum);
        if (op->in_count == 3) {
            int bias = step_load_mapped(body, op->in[2], -1, COL_AT, i);
            step_called(body, bias, "bias_%d", i);
            sum = step_binary(body, STEP_ADD, sum, bias);
        }
        step_store_mapped(body, op->out[0], COL_AT, i, sum);
    }
}

void shape_narrow_linear_input_grad(Program *p, Op *op) {
    op_expect_operands(op, 2);
    expect_few(op, op->in[0], op->in[1]);
    result_2d(p, op, 0, "", p->activation, value_rows(op->in[0]), value_cols(op->in[1]));
}

void expand_narrow_linear_input_grad(const Op *op, Body *body) {
    int sum = -1;
    body_space(body, op->out[0]);
    for (int i = 0; i < (int)value_cols(op->in[0]); i++) {
        int dy = load_grad(body, op->in[0], i), w = load_weight(body, op->in[1], i);
        sum = sum < 0 ? step_binary(body, STEP_MUL, dy, w) : step_fma(body, dy, w, sum);
        step_called(body, sum, "sum_%d", i);
    }
    step_store(body, op->out[0], scaled(op, body, sum));
}

void shape_narrow_linear_weight_grad(Program *p, Op *op) {
    const Value *dy = op->in[0], *x = op->in[1];
    op_expect_operands(op, 2);
    op_expect(op, value_rows(dy) == value_rows(x) && !x->plane, "rows differ");
    result_2d(p, op, 0, "", p->real, value_cols(dy), value_cols(x));
    expect_few(op, dy, op->out[0]);
    op_expect(op, op->out[0]->dtype == p->real && value_dense(op->out[0]), "result");
}

void expand_narrow_linear_weight_grad(const Op *op, Body *body) {
    body_space(body, op->in[1]);
    int x = scaled(op, body, step_load(body, op->in[1]));
    for (int i = 0; i < (int)value_cols(op->in[0]); i++) {
        int dy = load_grad(body, op->in[0], i);
        step_col_sum_at(body, op->out[0], i, step_binary(body, STEP_MUL, dy, x));
    }
}

double flops_narrow_linear_weight_grad(const Op *op) {
    return 2.0 * (double)value_elements(op->in[1]) * (double)value_cols(op->in[0]);
}
