/* Batch norm of what a linear without bias makes, z = batch_norm(y), y = x W^T, known from products
 * with x alone. The R rows are all pixels of all images; x has K columns and y has C; `sum` is that of
 * x's rows:
 *
 *     scatter = x^T x - sum sum^T / R   the sum over rows of (x - its mean)^T (x - its mean)
 *     cross   = W scatter               the sum over rows of (y - its mean)^T (x - its mean)
 *     the mean of y is W sum / R, and the variance of its column j is cross_j . W_j / R
 *
 * In backward, with products = dz^T x, scale = rstd weight and yhat = (y - mean) rstd:
 *
 *     centred = products - (sum of dz) sum^T / R
 *     dot     = rstd (centred . W), a number per row = the sum of dz yhat: the gradient of weight
 *     dW      = scale (centred - (rstd dot / R) cross)
 *     dx      = dz of_dz + x of_x + 1 of_ones
 *     of_dz   = scale W,  pull = (rstd dot / R) of_dz,  of_x = - W^T pull
 *
 * which are the gradients of batch_norm (ops_batch_norm.c) and the linear, in another order; of_ones,
 * a row, makes the columns of dx add up to zero. of_dz and of_x are rounded for the products. Unlike
 * that of dy, their rounding is the same in all rows, so it does not average out in sums over these:
 * pull is made of the rounded of_dz, so that what dz and yhat have in common still cancels, and of_ones
 * makes up for what is left of their means. One number of their dtype has too few digits for that, so
 * it is the sum of two, for two columns of ones beside x.
 *
 * In floats, the difference in scatter leaves the variance of y with an error of about 1e-6 of the mean
 * squares of its terms: more than sums about the mean have, and less than rounding y to bf16 does. It
 * grows where the means of x are many times its deviations. Where all rows of y are nearly equal, z is
 * noise, because mean is that of y before it was rounded. With a loss scale, of_x has that too: where
 * x is very small, it may overflow before dx would, and the scale falls.
 *
 * ones_columns         () -> [R,n], whose columns 0 and 1 are one; the others are zero
 * scatter_matrix       (x^T x[K,K], sum[K,1], sum[K]) -> scatter[K,K]; attr.rows = R
 * linear_norm_stats    (cross[C,K], W[C,K], sum[K], running_mean[C,1], running_var[C,1]) -> as
 *                      batch_norm_stats; attr.rows = R, attr.momentum
 * linear_norm_grads    (products[C,K], sum of dz[C,1], cross, W, sum[K], rstd[C,1], weight[C,1]) ->
 *                      dot[C,1], sum of dz[C,1], dW[C,K], of_dz[C,K], pull[C,K]; attr.rows = R
 * linear_norm_of_x     (of_x in `real`[K,K], sum[K,1]) -> of_x[K,K], sum of_x[K]
 * weighted_column_sum  (a[R,C], w[R,1]) -> [C] = sum over rows of a w
 * linear_norm_of_ones  (sum of_x[K], sum of dz of_dz[K]) -> [n,K], whose rows 0 and 1 add up to
 *                      of_ones; the others are zero; attr.rows = R */
#include "graph/norm_steps.h"
#include "graph/op_table.h"

static int mul(Body *body, int a, int b) { return step_binary(body, STEP_MUL, a, b); }
static int sub(Body *body, int a, int b) { return step_binary(body, STEP_SUB, a, b); }
static int mean_of(Body *body, int sum, const Op *op) {
    return mul(body, sum, step_inverse(body, op->attr.rows));
}

static void expect_matrix(const Op *op, int operand, int64_t rows, int64_t cols) {
    const Value *v = op->in[operand];
    op_expect(op, value_rows(v) == rows && value_cols(v) == cols, "operands of other shapes");
}

/* ---- forward --------------------------------------------------------------------------------- */

void shape_ones_columns(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 0 && op->out_count == 1, "operands");
    op_expect(op, value_cols(op->out[0]) >= 2, "columns");
}

void expand_ones_columns(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int col = step_index(body, STEP_COL);
    int is_one = step_binary(body, STEP_LT, col, step_const_int(body, 2));
    step_store(body, op->out[0],
               step_select(body, is_one, step_const(body, 1), step_const(body, 0)));
}

void shape_scatter_matrix(Program *p, Op *op) {
    int64_t cols = value_cols(op->in[0]);
    op_expect(op, op->in_count == 3 && op->attr.rows > 0, "operands");
    expect_matrix(op, 0, cols, cols);
    expect_matrix(op, 1, cols, 1);
    expect_matrix(op, 2, 1, cols);
    result_2d(p, op, 0, "", p->real, cols, cols);
}

void expand_scatter_matrix(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int gram = step_load(body, op->in[0]);
    int sums = mul(body, step_load(body, op->in[1]), step_load(body, op->in[2]));
    step_store(body, op->out[0], sub(body, gram, mean_of(body, sums, op)));
}

void shape_linear_norm_stats(Program *p, Op *op) {
    int64_t rows = value_rows(op->in[0]), cols = value_cols(op->in[0]);
    op_expect(op, op->in_count == 5 && op->out_count == 4 && op->attr.rows > 0, "operands");
    expect_matrix(op, 1, rows, cols);
    expect_matrix(op, 2, 1, cols);
    for (int i = 3; i < 5; i++) {
        expect_matrix(op, i, rows, 1);
        op_expect(op, value_same_place(op->in[i], op->out[i - 1]),
                  "running statistics are not in place");
    }
    result_2d(p, op, 0, ".mean", p->real, rows, 1);
    result_2d(p, op, 1, ".rstd", p->real, rows, 1);
}

void expand_linear_norm_stats(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int cross = step_load(body, op->in[0]), w = step_load(body, op->in[1]);
    int x_mean = step_hinted(body, mean_of(body, step_load(body, op->in[2]), op), "x_mean");
    int mean = step_reduce(body, STEP_ROW_SUM, mul(body, w, x_mean));
    int squares = step_reduce(body, STEP_ROW_SUM, mul(body, cross, w));
    int running_mean = step_load(body, op->in[3]), running_var = step_load(body, op->in[4]);
    int away = step_hinted(body, sub(body, mean, running_mean), "shift");
    batch_norm_store_stats(body, op, away, mean_of(body, squares, op), running_mean, running_var);
}

/* ---- backward -------------------------------------------------------------------------------- */

void shape_linear_norm_grads(Program *p, Op *op) {
    int64_t rows = value_rows(op->in[0]), cols = value_cols(op->in[0]);
    op_expect(op, op->in_count == 7 && op->attr.rows > 0, "operands");
    expect_matrix(op, 1, rows, 1);
    expect_matrix(op, 2, rows, cols);
    expect_matrix(op, 3, rows, cols);
    expect_matrix(op, 4, 1, cols);
    expect_matrix(op, 5, rows, 1);
    expect_matrix(op, 6, rows, 1);
    result_2d(p, op, 0, ".dot", p->real, rows, 1);
    result_2d(p, op, 1, ".sum", p->real, rows, 1);
    result_2d(p, op, 2, ".weight", p->real, rows, cols);
    result_2d(p, op, 3, ".of_dz", p->activation, rows, cols);
    result_2d(p, op, 4, ".pull", p->real, rows, cols);
}

void expand_linear_norm_grads(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int products = step_load(body, op->in[0]), sum = step_load(body, op->in[1]);
    int cross = step_load(body, op->in[2]), w = step_load(body, op->in[3]);
    int x_mean = step_hinted(body, mean_of(body, step_load(body, op->in[4]), op), "x_mean");
    int rstd = step_load(body, op->in[5]);
    int centred = step_hinted(body, sub(body, products, mul(body, sum, x_mean)), "centred");
    int along = step_reduce(body, STEP_ROW_SUM, mul(body, w, centred));
    int dot = step_hinted(body, mul(body, rstd, along), "dot");
    int slope = step_hinted(body, mul(body, rstd, mean_of(body, dot, op)), "slope");
    int scale = step_hinted(body, mul(body, rstd, step_load(body, op->in[6])), "scale");
    int of_dz = step_hinted(body, mul(body, scale, w), "of_dz");
    step_store(body, op->out[0], dot);
    step_store(body, op->out[1], sum);
    step_store(body, op->out[2], mul(body, scale, sub(body, centred, mul(body, slope, cross))));
    int stored = rounded_to(body, op->out[3]->dtype, of_dz);
    step_store(body, op->out[3], stored);
    step_store(body, op->out[4], mul(body, slope, stored));
}

void shape_linear_norm_of_x(Program *p, Op *op) {
    int64_t cols = value_cols(op->in[0]);
    op_expect(op, op->in_count == 2, "operands");
    expect_matrix(op, 0, cols, cols);
    expect_matrix(op, 1, cols, 1);
    result_2d(p, op, 0, "", p->activation, cols, cols);
    result_1d(p, op, 1, ".sum", p->real, cols);
}

void expand_linear_norm_of_x(const Op *op, Body *body) {
    DType stored = op->out[0]->dtype;
    body_space(body, op->in[0]);
    int exact = step_load(body, op->in[0]), sum = step_load(body, op->in[1]);
    int of_x = rounded_to(body, stored, exact);
    step_store(body, op->out[0], step_hinted(body, of_x, "of_x"));
    step_col_sum(body, op->out[1], mul(body, sum, of_x));
}

void shape_weighted_column_sum(Program *p, Op *op) {
    op_expect(op, op->in_count == 2, "operands");
    expect_matrix(op, 1, value_rows(op->in[0]), 1);
    result_1d(p, op, 0, "", p->real, value_cols(op->in[0]));
}

void expand_weighted_column_sum(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    step_col_sum(body, op->out[0],
                 mul(body, step_load(body, op->in[0]), step_load(body, op->in[1])));
}

void shape_linear_norm_of_ones(Program *p, Op *op) {
    (void)p;
    int64_t cols = value_cols(op->in[0]);
    op_expect(op, op->in_count == 2 && op->out_count == 1 && op->attr.rows > 0, "operands");
    expect_matrix(op, 1, 1, cols);
    op_expect(op, value_cols(op->out[0]) == cols && value_rows(op->out[0]) >= 2, "result");
}

void expand_linear_norm_of_ones(const Op *op, Body *body) {
    DType stored = op->out[0]->dtype;
    body_space(body, op->out[0]);
    int row = step_index(body, STEP_ROW), zero = step_const(body, 0);
    int both = step_binary(body, STEP_ADD, step_load(body, op->in[0]), step_load(body, op->in[1]));
    int exact = step_unary(body, STEP_NEG, mean_of(body, both, op));
    step_hinted(body, exact, "exact");
    int high = rounded_to(body, stored, exact);
    int low = sub(body, exact, step_hinted(body, high, "high"));
    int is_low = step_binary(body, STEP_EQ, row, step_const_int(body, 1));
    int is_high = step_binary(body, STEP_EQ, row, step_const_int(body, 0));
    int rest = step_select(body, is_low, low, zero);
    step_store(body, op->out[0], step_select(body, is_high, high, rest));
}
