/* Pointwise ops: each result element depends on the operands' elements at the same place.
 * Operands broadcast over the first one as in PyTorch; gradients exist for equal shapes. */
#include "graph/op_table.h"
#include "graph/relu_steps.h"

static bool same_shape(const Value *a, const Value *b) {
    return value_rows(a) == value_rows(b) && value_cols(a) == value_cols(b);
}

static void shape_pointwise(Program *p, Op *op, int operands) {
    op_expect_operands(op, operands);
    result_like(p, op, 0, op->in[0]);
}

void shape_unary(Program *p, Op *op) { shape_pointwise(p, op, 1); }
void shape_binary(Program *p, Op *op) { shape_pointwise(p, op, 2); }

void expand_add(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int a = step_load(body, op->in[0]), b = step_load(body, op->in[1]);
    step_store(body, op->out[0], step_binary(body, STEP_ADD, a, b));
}

void grad_add(Backward *b, const Op *op) {
    op_expect(op, same_shape(op->in[0], op->in[1]), "no gradient rule where operands broadcast");
    Value *dy = backward_of(b, op->out[0]);
    backward_pass(b, op->in[0], dy);
    backward_pass(b, op->in[1], dy);
}

void expand_mul(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int a = step_load(body, op->in[0]), b = step_load(body, op->in[1]);
    step_store(body, op->out[0], step_binary(body, STEP_MUL, a, b));
}

void grad_mul(Backward *b, const Op *op) {
    op_expect(op, same_shape(op->in[0], op->in[1]), "no gradient rule where operands broadcast");
    Value *dy = backward_of(b, op->out[0]);
    backward_emit(b, op, op->in[0], OP_mul, (Value *[]){dy, op->in[1]}, 2, (Attr){0});
    backward_emit(b, op, op->in[1], OP_mul, (Value *[]){dy, op->in[0]}, 2, (Attr){0});
}

/* y = alpha x */
void expand_scale(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int alpha = step_named(body, op->attr.alpha, "SCALE");
    step_store(body, op->out[0], step_binary(body, STEP_MUL, step_load(body, op->in[0]), alpha));
}

void grad_scale(Backward *b, const Op *op) {
    backward_emit(b, op, op->in[0], OP_scale, (Value *[]){backward_of(b, op->out[0])}, 1, op->attr);
}

/* Of an activation. Rounding its result to 16 bits is far coarser than the approximation. */
static int sigmoid(Body *body, int x) {
    DType activation = body->program->activation;
    int step = step_unary(body, STEP_SIGMOID, x);
    body->steps[step].approximate = activation == DT_BF16 || activation == DT_F16;
    return step_hinted(body, step, "sigmoid");
}

/* silu(x) = x s with s = sigmoid(x) */
static int silu(Body *body, int x) {
    return step_binary(body, STEP_MUL, x, sigmoid(body, x));
}

/* silu'(x) = s (1 + x (1 - s)) */
static int silu_slope(Body *body, int x, int s) {
    int one = step_const(body, 1);
    int rest = step_binary(body, STEP_MUL, x, step_binary(body, STEP_SUB, one, s));
    return step_binary(body, STEP_MUL, s, step_binary(body, STEP_ADD, one, rest));
}

void expand_silu(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    step_store(body, op->out[0], silu(body, step_load(body, op->in[0])));
}

void grad_silu(Backward *b, const Op *op) {
    Value *in[] = {op->in[0], backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[0], OP_silu_grad, in, 2, (Attr){0});
}

/* (x, dy) -> dx */
void expand_silu_grad(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int x = step_load(body, op->in[0]), dy = step_load(body, op->in[1]);
    int s = sigmoid(body, x);
    int slope = silu_slope(body, x, s);
    step_store(body, op->out[0], step_binary(body, STEP_MUL, dy, slope));
}

/* (gate, up) -> silu(gate) up, the gated unit of Shazeer, arXiv 2002.05202 */
void expand_swiglu(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int gate = step_load(body, op->in[0]), up = step_load(body, op->in[1]);
    step_store(body, op->out[0], step_binary(body, STEP_MUL, silu(body, gate), up));
}

/* The gradient of up, silu(gate) dy, does not depend on up. So where gate needs none, as in the first
 * layer if only up_proj has an adapter, backward does not read up, and nobody computes it again. */
void grad_swiglu(Backward *b, const Op *op) {
    Value *gate = op->in[0], *up = op->in[1], *dy = backward_of(b, op->out[0]);
    if (!backward_needs(b, gate)) {
        backward_emit(b, op, up, OP_swiglu, (Value *[]){gate, dy}, 2, (Attr){0});
        return;
    }
    Op *grad = backward_op(b, op, OP_swiglu_grad, (Value *[]){gate, up, dy}, 3, (Attr){0});
    backward_pass(b, gate, grad->out[0]);
    backward_pass(b, up, grad->out[1]);
}

/* (gate, up, dy) -> (dgate, dup) */
void shape_swiglu_grad(Program *p, Op *op) {
    const Value *like = op->in[0];
    result_2d(p, op, 0, ".gate", like->dtype, value_rows(like), value_cols(like));
    result_2d(p, op, 1, ".up", like->dtype, value_rows(like), value_cols(like));
}

void expand_swiglu_grad(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int gate = step_load(body, op->in[0]), up = step_load(body, op->in[1]),
        dy = step_load(body, op->in[2]);
    int s = sigmoid(body, gate);
    int through = step_hinted(body, step_binary(body, STEP_MUL, dy, up), "dy_up");
    int slope = silu_slope(body, gate, s), silu_gate = step_binary(body, STEP_MUL, gate, s);
    step_store(body, op->out[0], step_binary(body, STEP_MUL, through, slope));
    step_store(body, op->out[1], step_binary(body, STEP_MUL, dy, silu_gate));
}

/* GELU approximated by tanh (Hendrycks and Gimpel, arXiv 1606.08415), as in GPT-2: x (1 + tanh(z)) / 2
 * with z = sqrt(2 / pi) (x + c x^3). That is x s with s = sigmoid(2 z), where nothing cancels. */
static const double GELU_SCALE = 1.5957691216057307118, GELU_CUBE = 0.044715;

/* s */
static int gelu_sigmoid(Body *body, int x, int square) {
    int cube = step_binary(body, STEP_MUL, square, step_named(body, GELU_CUBE, "GELU_CUBE"));
    int cubic = step_hinted(body, step_binary(body, STEP_MUL, x, cube), "cubic");
    int inner = step_binary(body, STEP_ADD, x, cubic);
    int scaled = step_binary(body, STEP_MUL, inner, step_named(body, GELU_SCALE, "GELU_SCALE"));
    return sigmoid(body, step_hinted(body, scaled, "scaled"));
}

void expand_gelu_tanh(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int x = step_load(body, op->in[0]);
    int s = gelu_sigmoid(body, x, step_binary(body, STEP_MUL, x, x));
    step_store(body, op->out[0], step_binary(body, STEP_MUL, x, s));
}

void grad_gelu_tanh(Backward *b, const Op *op) {
    Value *in[] = {op->in[0], backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[0], OP_gelu_tanh_grad, in, 2, (Attr){0});
}

/* (x, dy) -> dx = dy s (1 + (1 - s) x 2 sqrt(2 / pi) (1 + 3 c x^2)) */
void expand_gelu_tanh_grad(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int x = step_load(body, op->in[0]), dy = step_load(body, op->in[1]);
    int square = step_hinted(body, step_binary(body, STEP_MUL, x, x), "square");
    int s = gelu_sigmoid(body, x, square);
    int cubes =
        step_binary(body, STEP_MUL, square, step_named(body, 3 * GELU_CUBE, "GELU_CUBE_TIMES_3"));
    int turn = step_binary(body, STEP_MUL, step_binary(body, STEP_ADD, step_const(body, 1), cubes),
                           step_named(body, GELU_SCALE, "GELU_SCALE"));
    turn = step_hinted(body, step_binary(body, STEP_MUL, x, turn), "turn");
    step_store(body, op->out[0], step_binary(body, STEP_MUL, dy, silu_slope(body, turn, s)));
}

/* y = max(x, 0); NaN stays NaN. */
static int not_below_zero(Body *body, int x) {
    int zero = step_const(body, 0);
    int y = step_select(body, step_binary(body, STEP_LT, x, zero), zero, x);
    return step_hinted(body, y, "at_least_0");
}

void expand_relu(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    step_store(body, op->out[0], not_below_zero(body, step_load(body, op->in[0])));
}

/* y = min(max(x, 0), 6) */
void expand_relu6(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int y = not_below_zero(body, step_load(body, op->in[0])), six = step_const(body, 6);
    step_store(body, op->out[0], step_select(body, step_binary(body, STEP_LT, six, y), six, y));
}

/* Uses the result, so that x need not be kept. */
void grad_relu(Backward *b, const Op *op) {
    Value *in[] = {op->out[0], backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[0], OP_relu_grad, in, 2, (Attr){0});
}

void grad_relu6(Backward *b, const Op *op) {
    Value *in[] = {op->out[0], backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[0], OP_relu6_grad, in, 2, (Attr){0});
}

int relu_grad_of(Body *body, int y, int dz) {
    int zero = step_const(body, 0);
    return step_select(body, step_binary(body, STEP_LT, zero, y), dz, zero);
}

int relu6_grad_of(Body *body, int y, int dz) {
    int below = step_binary(body, STEP_LT, y, step_const(body, 6));
    int zero = step_const(body, 0), above = step_binary(body, STEP_LT, zero, y);
    return step_select(body, step_binary(body, STEP_AND, above, below), dz, zero);
}

/* (y, dy) -> dx */
void expand_relu_grad(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int y = step_load(body, op->in[0]), dy = step_load(body, op->in[1]);
    step_store(body, op->out[0], relu_grad_of(body, y, dy));
}

/* Elements of y that share a byte of its mask: as many as one access moves, so one thread has them. */
static int64_t mask_run(const Value *y) {
    int64_t run = 16 / dtype_bytes(y->dtype);
    return run < 8 ? run : 8;
}

bool relu_has_mask(const Value *y) {
    return !y->plane && value_cols(y) % mask_run(y) == 0 && value_cols(y) > mask_run(y);
}

/* (y) -> mask[R, C / run], where y is above 0 */
void shape_relu_mask(Program *p, Op *op) {
    const Value *y = op->in[0];
    op_expect_operands(op, 1);
    op_expect(op, relu_has_mask(y), "no whole bytes");
    result_2d(p, op, 0, "", DT_U8, value_rows(y), value_cols(y) / mask_run(y));
}

void expand_relu_mask(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int y = step_load(body, op->in[0]);
    int above = step_binary(body, STEP_LT, step_const(body, 0), y);
    step_store_mapped(body, op->out[0], COL_PACKED, mask_run(op->in[0]), above);
}

/* (mask, dy) -> dx, as relu_grad */
void shape_relu_grad_masked(Program *p, Op *op) {
    const Value *mask = op->in[0], *dy = op->in[1];
    op_expect_operands(op, 2);
    bool fits = relu_has_mask(dy) && value_rows(mask) == value_rows(dy) &&
                value_cols(mask) * mask_run(dy) == value_cols(dy);
    op_expect(op, fits && mask->dtype == DT_U8, "mask of another shape");
    result_like(p, op, 0, dy);
}

void expand_relu_grad_masked(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int64_t run = mask_run(op->in[1]);
    int mask = step_load_mapped(body, op->in[0], -1, COL_PACKED, run);
    int set = step_binary(body, STEP_EQ, mask, step_const_int(body, 1));
    step_store(body, op->out[0],
               step_select(body, set, step_load(body, op->in[1]), step_const(body, 0)));
}

/* (y, dy) -> dx, which is 0 where y was clamped to 0 or 6 */
void expand_relu6_grad(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int y = step_load(body, op->in[0]), dy = step_load(body, op->in[1]);
    step_store(body, op->out[0], relu6_grad_of(body, y, dy));
}

/* (x[R,C], b[C]) -> x + b */
void shape_add_bias(Program *p, Op *op) {
    op_expect(op, op->in_count == 2 && value_elements(op->in[1]) == value_cols(op->in[0]),
              "bias of another width");
    result_like(p, op, 0, op->in[0]);
}

void grad_add_bias(Backward *b, const Op *op) {
    Value *dy = backward_of(b, op->out[0]);
    backward_pass(b, op->in[0], dy);
    backward_emit(b, op, op->in[1], OP_column_sum, &dy, 1, (Attr){0});
}

/* (x[R,C]) -> [C], the sum over rows */
void shape_column_sum(Program *p, Op *op) {
    result_1d(p, op, 0, "", p->real, value_cols(op->in[0]));
}

void expand_column_sum(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    step_col_sum(body, op->out[0], step_load(body, op->in[0]));
}

/* (x, seed, step, first_row [, place]) -> x / (1 - rate) where kept, else 0. The mask is a function
 * of the seed, the step, the op's name and the element's index in the step's global batch; it is
 * never stored, and backward is the same op. Where each rank of attr.group has some columns of x,
 * `place` is the rank's place. */
void shape_dropout(Program *p, Op *op) {
    op_expect(op,
              op->in_count == (op->attr.group ? 5 : 4) && op->attr.rate >= 0 && op->attr.rate < 1,
              "operands or rate");
    result_like(p, op, 0, op->in[0]);
}

/* The row's index in the step's global batch. An image may have many rows, but first_row counts
 * images. */
static int global_row(Body *body, Value *first_row) {
    int first = step_load(body, first_row), row = step_index(body, STEP_ROW);
    int64_t tokens = body->program->tokens, rows_each = tokens > 0 ? body->rows / tokens : 1;
    if (rows_each > 1) {
        int each = step_cast(body, TYPE_LONG, step_extent(body, rows_each, "ROWS_PER_IMAGE"));
        first = step_binary(body, STEP_MUL, step_cast(body, TYPE_LONG, first), each);
        row = step_cast(body, TYPE_LONG, row);
    }
    return step_hinted(body, step_binary(body, STEP_ADD, first, row), "global_row");
}

/* The index of the rank's first column among all columns. */
static int first_column(Body *body, Value *place) {
    int cols = step_extent(body, body->cols, "COLS");
    return step_cast(body, TYPE_LONG, step_binary(body, STEP_MUL, step_load(body, place), cols));
}

void expand_dropout(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int x = step_load(body, op->in[0]);
    int seed = step_load(body, op->in[1]), step = step_load(body, op->in[2]);
    int row = global_row(body, op->in[3]);
    int64_t parts = mesh_ranks(&body->program->mesh, op->attr.group);
    const char *name = parts > 1 ? "ALL_COLS" : "COLS";
    int cols = step_cast(body, TYPE_LONG, step_extent(body, body->cols * parts, name));
    int element = step_binary(body, STEP_MUL, step_cast(body, TYPE_LONG, row), cols);
    if (op->attr.group)
        element = step_binary(body, STEP_ADD, element, first_column(body, op->in[4]));
    step_hinted(body, element, "row_start");
    element = step_binary(body, STEP_ADD, element,
                          step_cast(body, TYPE_LONG, step_index(body, STEP_COL)));
    step_hinted(body, element, "element");
    int uniform = step_uniform(body, seed, step, element, op->attr.stream);
    step_hinted(body, uniform, "uniform");
    int keep = step_binary(body, STEP_LT, step_named(body, op->attr.rate, "DROP_RATE"), uniform);
    int scale = step_named(body, 1 / (1 - op->attr.rate), "KEPT_SCALE");
    int kept = step_hinted(body, step_binary(body, STEP_MUL, x, scale), "kept");
    step_store(body, op->out[0], step_select(body, keep, kept, step_const(body, 0)));
}

void grad_dropout(Backward *b, const Op *op) {
    Value *in[] = {backward_of(b, op->out[0]), op->in[1], op->in[2], op->in[3], op->in[4]};
    backward_emit(b, op, op->in[0], OP_dropout, in, op->in_count, op->attr);
}

/* x in the dtype of the result, which is always given */
void shape_cast(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->out_count == 1 && same_shape(op->in[0], op->out[0]),
              "result of another shape");
    op_expect(op, op->in[0]->plane == op->out[0]->plane, "result in other planes");
}

void expand_cast(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    step_store(body, op->out[0], step_load(body, op->in[0]));
}

void grad_cast(Backward *b, const Op *op) {
    backward_pass(b, op->in[0], backward_of(b, op->out[0]));
}

/* ([x]) -> zeros, in x's place if x is given */
void shape_zero(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->out_count == 1, "results");
    op_expect(op, !op->in_count || value_same_place(op->in[0], op->out[0]), "not in place");
}

/* (x) -> the same elements in memory order, as attr.rows rows (attr.plane is the result's): a view
 * of x, which costs nothing */
void shape_reshape(Program *p, Op *op) {
    Value *x = op->in[0];
    int64_t rows = op->attr.rows;
    op_expect(op, op->in_count == 1 && rows > 0 && value_elements(x) % rows == 0, "rows");
    if (!op->out_count) {
        op->out[op->out_count++] = value_reshaped(p, x, rows, value_elements(x) / rows);
        op->out[0]->name = op->name;
        op->out[0]->plane = op->attr.plane;
    }
    const Value *y = op->out[0];
    op_expect(op,
              y->storage == x->storage && y->offset == x->offset && value_rows(y) == rows &&
                  y->plane == op->attr.plane && value_bytes(y) == value_bytes(x),
              "not a view of its operand");
}

void grad_reshape(Backward *b, const Op *op) {
    Value *dy = backward_of(b, op->out[0]);
    Attr attr = {.rows = value_rows(op->in[0]), .plane = op->in[0]->plane};
    backward_pass(b, op->in[0], backward_op(b, op, OP_reshape, &dy, 1, attr)->out[0]);
}
