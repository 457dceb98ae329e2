/* Batch norm (Ioffe and Szegedy, arXiv 1502.03167), computed in `real`. The R rows are all pixels
 * of all images. Statistics take one pass over x, which may still be in registers: the sums of d
 * and d^2, d being the distance of x from the running mean. As long as d is of the size of the
 * standard deviation, the difference of the two sums loses no precision. Running statistics are
 * updated in place, as in torch (the variance unbiased).
 *
 * batch_norm_sums       (x[R,C], running_mean[C]) -> sum of d, sum of d^2
 * batch_norm_stats      (sum, sum_squares, running_mean, running_var) -> mean, rstd = 1 /
 *                       sqrt(var + eps), running_mean', running_var' (the last two in place);
 *                       attr.rows = R, attr.momentum
 * batch_norm            (x, mean, rstd, weight, bias) -> y = xhat weight + bias, xhat = (x - mean)
 *                       rstd. Its gradient includes the path through the statistics.
 * batch_norm_grad_sums  (x, mean, rstd, dy) -> sum of dy xhat, sum of dy: the gradients of weight
 *                       and bias
 * batch_norm_grad       (x, mean, rstd, weight, dot, sum, dy) -> dx; attr.rows = the number of rows
 *                       summed in dot and sum
 * batch_norm_eval       (x, running_mean, running_var, weight, bias) -> y
 *
 * The gradients of z = relu(y), or relu6(y), which find y again from x:
 * batch_norm_relu_grad_sums  (x, mean, rstd, dz, weight, bias) -> as batch_norm_grad_sums
 * batch_norm_relu_grad       (x, mean, rstd, weight, dot, sum, dz, bias) -> dx */
#include "graph/norm_steps.h"
#include "graph/op_table.h"
#include "graph/relu_steps.h"

static int add(Body *body, int a, int b) { return step_binary(body, STEP_ADD, a, b); }
static int sub(Body *body, int a, int b) { return step_binary(body, STEP_SUB, a, b); }
static int mul(Body *body, int a, int b) { return step_binary(body, STEP_MUL, a, b); }
static int times(Body *body, int a, double factor, const char *name) {
    return mul(body, a, step_named(body, factor, name));
}
static int divided(Body *body, int a, int64_t n) { return mul(body, a, step_inverse(body, n)); }

/* x - mean */
static int distance(Body *body, const Op *op) {
    int d = sub(body, step_load(body, op->in[0]), step_load(body, op->in[1]));
    return step_hinted(body, d, "delta");
}

static int scale_of(Body *body, int rstd, Value *weight) {
    return step_hinted(body, mul(body, rstd, step_load(body, weight)), "scale");
}

/* Checks that each operand after the first is one number per channel, or a matrix like the
 * first. */
static void expect_channels(const Op *op, int operands) {
    op_expect(op, op->in_count == operands, "operands");
    for (int i = 1; i < operands; i++) {
        bool matrix = value_rows(op->in[i]) == value_rows(op->in[0]);
        op_expect(op, matrix || value_elements(op->in[i]) == value_cols(op->in[0]), "channels");
    }
}

/* ---- forward --------------------------------------------------------------------------------- */

void shape_batch_norm_sums(Program *p, Op *op) {
    expect_channels(op, 2);
    result_1d(p, op, 0, ".sum", p->real, value_cols(op->in[0]));
    result_1d(p, op, 1, ".sum_squares", p->real, value_cols(op->in[0]));
}

void expand_batch_norm_sums(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int d = distance(body, op);
    step_col_sum(body, op->out[0], d);
    step_col_sum(body, op->out[1], mul(body, d, d));
}

void shape_batch_norm_stats(Program *p, Op *op) {
    int64_t cols = value_cols(op->in[0]);
    expect_channels(op, 4);
    op_expect(op, op->out_count == 4 && op->attr.rows > 0, "results");
    op_expect(op,
              value_same_place(op->in[2], op->out[2]) && value_same_place(op->in[3], op->out[3]),
              "running statistics are not in place");
    result_1d(p, op, 0, ".mean", p->real, cols);
    result_1d(p, op, 1, ".rstd", p->real, cols);
}

int rounded_to(Body *body, DType stored, int v) {
    return stored == body->program->real ? v : step_round(body, stored, v);
}

void batch_norm_store_stats(Body *body, const Op *op, int away, int raw_var, int running_mean,
                            int running_var) {
    double momentum = op->attr.momentum;
    int64_t n = op->attr.rows;
    int zero = step_const(body, 0);
    int var = step_select(body, step_binary(body, STEP_LT, raw_var, zero), zero, raw_var);
    step_hinted(body, var, "var");
    int rstd = step_unary(body, STEP_RSQRT, add(body, var, step_named(body, op->attr.eps, "EPS")));
    step_store(body, op->out[0], add(body, running_mean, away));
    step_store(body, op->out[1], rstd);
    double correction = n > 1 ? (double)n / (double)(n - 1) : 1;
    int unbiased = times(body, var, correction, "UNBIASED");
    int new_mean = add(body, running_mean, times(body, away, momentum, "MOMENTUM"));
    step_store(body, op->out[2], new_mean);
    int kept = times(body, running_var, 1 - momentum, "ONE_MINUS_MOMENTUM");
    step_store(body, op->out[3], add(body, kept, times(body, unbiased, momentum, "MOMENTUM")));
}

void expand_batch_norm_stats(const Op *op, Body *body) {
    int64_t n = op->attr.rows;
    body_space(body, op->in[0]);
    int sum = step_load(body, op->in[0]), squares = step_load(body, op->in[1]);
    int running_mean = step_load(body, op->in[2]), running_var = step_load(body, op->in[3]);
    int away = step_hinted(body, divided(body, sum, n), "shift");
    int exact = sub(body, divided(body, squares, n), mul(body, away, away));
    step_hinted(body, exact, "difference");
    batch_norm_store_stats(body, op, away, exact, running_mean, running_var);
}

void shape_batch_norm(Program *p, Op *op) {
    (void)p;
    expect_channels(op, 5);
    result_like(p, op, 0, op->in[0]);
}

void expand_batch_norm(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int d = distance(body, op), rstd = step_load(body, op->in[2]);
    int scale = scale_of(body, rstd, op->in[3]);
    step_store(body, op->out[0], step_fma(body, d, scale, step_load(body, op->in[4])));
}

void expand_batch_norm_eval(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int d = distance(body, op), var = step_load(body, op->in[2]);
    int rstd = step_unary(body, STEP_RSQRT, add(body, var, step_named(body, op->attr.eps, "EPS")));
    step_hinted(body, rstd, "rstd");
    int scale = scale_of(body, rstd, op->in[3]);
    step_store(body, op->out[0], step_fma(body, d, scale, step_load(body, op->in[4])));
}

/* ---- backward -------------------------------------------------------------------------------- */

void grad_batch_norm(Backward *b, const Op *op) {
    Value *x = op->in[0], *mean = op->in[1], *rstd = op->in[2], *weight = op->in[3];
    Value *dy = backward_of(b, op->out[0]), *of_sums[] = {x, mean, rstd, dy};
    Value *summed[] = {weight, op->in[4]};
    Op *sums = backward_op_of(b, op, OP_batch_norm_grad_sums, of_sums, 4, summed, 2, (Attr){0});
    Value *in[] = {x, mean, rstd, weight, sums->out[0], sums->out[1], dy};
    backward_emit(b, op, x, OP_batch_norm_grad, in, 7, (Attr){.rows = value_rows(x)});
}

static void shape_grad_sums(Program *p, Op *op, int operands) {
    expect_channels(op, operands);
    result_1d(p, op, 0, ".dot", p->real, value_cols(op->in[0]));
    result_1d(p, op, 1, ".sum", p->real, value_cols(op->in[0]));
}

void shape_batch_norm_grad_sums(Program *p, Op *op) { shape_grad_sums(p, op, 4); }
void shape_batch_norm_relu_grad_sums(Program *p, Op *op) { shape_grad_sums(p, op, 6); }

/* The gradient of an activation: of y from that of its result. */
typedef int ActivationGrad(Body *, int y, int dz);

/* dy, with y as batch_norm stored it. */
static int dy_of(const Op *op, Body *body, ActivationGrad *grad, int y, int dz) {
    int rounded = rounded_to(body, op->in[0]->dtype, y);
    return step_hinted(body, grad(body, step_hinted(body, rounded, "y"), dz), "dy");
}

static void expand_grad_sums(const Op *op, Body *body, ActivationGrad *grad) {
    body_space(body, op->in[0]);
    int d = distance(body, op), rstd = step_load(body, op->in[2]);
    int xhat = step_hinted(body, mul(body, d, rstd), "xhat"), dy = step_load(body, op->in[3]);
    if (grad) {
        int scale = scale_of(body, rstd, op->in[4]);
        dy = dy_of(op, body, grad, step_fma(body, d, scale, step_load(body, op->in[5])), dy);
    }
    step_col_sum(body, op->out[0], mul(body, dy, xhat));
    step_col_sum(body, op->out[1], dy);
}

void expand_batch_norm_grad_sums(const Op *op, Body *body) { expand_grad_sums(op, body, NULL); }
void expand_batch_norm_relu_grad_sums(const Op *op, Body *body) {
    expand_grad_sums(op, body, relu_grad_of);
}
void expand_batch_norm_relu6_grad_sums(const Op *op, Body *body) {
    expand_grad_sums(op, body, relu6_grad_of);
}

static void shape_grad(Program *p, Op *op, int operands) {
    expect_channels(op, operands);
    op_expect(op, op->attr.rows > 0, "rows");
    result_like(p, op, 0, op->in[0]);
}

void shape_batch_norm_grad(Program *p, Op *op) { shape_grad(p, op, 7); }
void shape_batch_norm_relu_grad(Program *p, Op *op) { shape_grad(p, op, 8); }

/* dx = rstd weight (dy - mean of dy - xhat (mean of dy xhat)); factors that depend only
 * on the column are multiplied first, once per thread. */
static void expand_grad(const Op *op, Body *body, ActivationGrad *grad) {
    body_space(body, op->in[0]);
    int d = distance(body, op), rstd = step_load(body, op->in[2]);
    int scale = scale_of(body, rstd, op->in[3]);
    int dot = divided(body, step_load(body, op->in[4]), op->attr.rows);
    int mean = divided(body, step_load(body, op->in[5]), op->attr.rows);
    int slope = mul(body, rstd, dot), dy = step_load(body, op->in[6]);
    if (grad)
        dy = dy_of(op, body, grad, step_fma(body, d, scale, step_load(body, op->in[7])), dy);
    int centered = step_hinted(body, sub(body, dy, mean), "centered");
    int rest = step_fma(body, step_unary(body, STEP_NEG, d), slope, centered);
    step_store(body, op->out[0], mul(body, scale, step_hinted(body, rest, "rest")));
}

void expand_batch_norm_grad(const Op *op, Body *body) { expand_grad(op, body, NULL); }
void expand_batch_norm_relu_grad(const Op *op, Body *body) { expand_grad(op, body, relu_grad_of); }
void expand_batch_norm_relu6_grad(const Op *op, Body *body) {
    expand_grad(op, body, relu6_grad_of);
}
