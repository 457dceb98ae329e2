/* Fake quantisation: values are rounded to few bits but stay in their dtype, exactly as in
 * torchao's 8da4w (Int8DynActInt4WeightQATLinear). Gradients pass straight through where a code was
 * not clamped (Bengio, Leonard, Courville, arXiv 1308.3432).
 *
 * token_range             (x[T,C]) -> least[T,1], most[T,1] of each row and zero, in fp32
 * fake_quant_tokens       (x[T,C] [, ranges[2 n T,1]]) -> y[T,C]: asymmetric, each row by its least
 *                         and its largest element; where each of the n ranks of attr.group has some
 *                         columns of x, by `ranges`: rank after rank, for each token least and most
 * fake_quant_tokens_grad  (x [, ranges], dy) -> dx
 * fake_quant_weights      (w[R,C], absmax[R C/rows,1]) -> y[R,C]: symmetric, in groups of attr.rows
 *                         elements that share a scale, made from their absmax
 * fake_quant_weights_grad (w, absmax, dy) -> dw, in `real`
 * quantize_groups         (w[G,size] [, absmax[G,1]]) -> codes[G,size], scales[G,1] that
 *                         fake_quant_weights rounds to; by this absmax, else by each group's own
 * decode_groups           (codes[G,size], scales[G,1]) -> w[R,C]: the decoded elements in w's order
 * export                  (x, w): sends x out of the program as attr.part of the parameter w; each
 *                         rank of attr.group has a part of w, but all of x
 *
 * A code has attr.bits bits. Scales are rounded to the operand's dtype, all else is fp32. An fp64
 * operand is first rounded to fp32: torchao has no fp64, and a group's largest element, which lies
 * between two codes, must round to the same side in whatever order it was summed. */
#include "graph/op_table.h"

#include <math.h>

/* ---- parts ----------------------------------------------------------------------------------- */

/* An operand's dtype as quantisation sees it, and its range of codes. */
typedef struct {
    DType dtype;
    double least, most; /* codes */
} Kind;

static Kind kind_of(const Op *op) {
    DType dtype = op->in[0]->dtype;
    double half = ldexp(1, (int)op->attr.bits - 1);
    return (Kind){dtype == DT_F64 ? DT_F32 : dtype, -half, half - 1};
}

/* a combined with b, rounded once. */
static int rounded(Body *body, DType dtype, StepKind kind, int a, int b) {
    return step_round(body, dtype, step_binary(body, kind, a, b));
}

static int operand(Body *body, const Op *op) {
    Value *v = op->in[0];
    int x = step_load(body, v);
    return v->dtype == DT_F64 ? step_hinted(body, step_round(body, DT_F32, x), "x") : x;
}

static int not_below_zero(Body *body, int a) {
    return step_binary(body, STEP_MAX, a, step_const(body, 0));
}

static int scale_not_below(Body *body, int scale, double least) {
    scale = step_binary(body, STEP_MAX, scale, step_named(body, least, "LEAST_SCALE"));
    return step_hinted(body, scale, "scale");
}

static int least_code(Body *body, Kind kind) { return step_named(body, kind.least, "LEAST_CODE"); }

static int most_code(Body *body, Kind kind) { return step_named(body, kind.most, "MOST_CODE"); }

/* NaN stays NaN. */
static int clamped(Body *body, Kind kind, int a) {
    int least = least_code(body, kind), most = most_code(body, kind);
    int low = step_select(body, step_binary(body, STEP_LT, a, least), least, a);
    return step_select(body, step_binary(body, STEP_LT, most, a), most, low);
}

/* An element's code before it is clamped. */
typedef struct {
    int code, scale, zero_point; /* zero_point -1: none */
} Coded;

static Coded coded(Body *body, int x, int scale, int zero_point) {
    int inverse = rounded(body, DT_F32, STEP_DIV, step_const(body, 1), scale);
    int code = step_unary(body, STEP_RINT, rounded(body, DT_F32, STEP_MUL, x, inverse));
    if (zero_point >= 0)
        code = step_binary(body, STEP_ADD, code, zero_point);
    return (Coded){step_hinted(body, code, "code"), scale, zero_point};
}

static int decoded(Body *body, Kind kind, Coded c) {
    int code = clamped(body, kind, c.code);
    if (c.zero_point >= 0)
        code = step_binary(body, STEP_SUB, code, c.zero_point);
    return rounded(body, DT_F32, STEP_MUL, code, c.scale);
}

/* Ends a gradient's body: stores dy, the op's last operand, where the code was not clamped, else
 * 0. */
static void straight_through(Body *body, const Op *op, Kind kind, int code) {
    int dy = step_load(body, op->in[op->in_count - 1]);
    int above = step_binary(body, STEP_GE, code, least_code(body, kind));
    int below = step_binary(body, STEP_GE, most_code(body, kind), code);
    int passes = step_binary(body, STEP_AND, above, below);
    step_store(body, op->out[0], step_select(body, passes, dy, step_const(body, 0)));
}

/* ---- activations ----------------------------------------------------------------------------- */

/* The range of a row's elements, extended to include zero. */
typedef struct {
    int least, most;
} Range;

static Range own_range(Body *body, const Op *op) {
    int x = operand(body, op);
    int most = not_below_zero(body, step_reduce(body, STEP_ROW_MAX, x));
    int negative = step_reduce(body, STEP_ROW_MAX, step_unary(body, STEP_NEG, x));
    return (Range){step_unary(body, STEP_NEG, not_below_zero(body, negative)), most};
}

void shape_token_range(Program *p, Op *op) {
    op_expect_operands(op, 1);
    for (int i = 0; i < 2; i++)
        result_2d(p, op, i, i ? ".most" : ".least", DT_F32, value_rows(op->in[0]), 1);
}

void expand_token_range(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    Range range = own_range(body, op);
    step_store(body, op->out[0], range.least);
    step_store(body, op->out[1], range.most);
}

/* The range of the row over all ranks. */
static Range range_of(Body *body, const Op *op) {
    int64_t ranks = mesh_ranks(&body->program->mesh, op->attr.group), tokens = value_rows(op->in[0]);
    if (!op->attr.group)
        return own_range(body, op);
    Range range = {step_const(body, 0), step_const(body, 0)};
    int first = step_binary(body, STEP_MUL, step_index(body, STEP_ROW), step_const_int(body, 2));
    for (int64_t i = 0; i < 2 * ranks; i++) {
        int64_t ahead = i / 2 * 2 * tokens + i % 2;
        int at = step_binary(body, STEP_ADD, first, step_const_int(body, ahead));
        int x = step_load_mapped(body, op->in[1], at, COL_SAME, 0);
        int *end = i % 2 ? &range.most : &range.least;
        *end = step_binary(body, i % 2 ? STEP_MAX : STEP_MIN, *end, x);
    }
    return range;
}

/* Checks the operands: x, ranges if there is a group, and `more` others. */
static void check_tokens(const Program *p, const Op *op, int more) {
    int64_t ranks = mesh_ranks(&p->mesh, op->attr.group);
    int ranges = op->attr.group ? 1 : 0;
    op_expect(op, op->in_count == 1 + ranges + more && !op->in[0]->plane, "operands");
    op_expect(op, !ranges || value_rows(op->in[1]) == 2 * ranks * value_rows(op->in[0]), "ranges");
}

void shape_fake_quant_tokens(Program *p, Op *op) {
    check_tokens(p, op, 0);
    result_like(p, op, 0, op->in[0]);
}

/* The code of zero needs clamping because a subnormal fp16 scale may be off by a half. */
static Coded coded_tokens(Body *body, const Op *op, Kind kind) {
    int x = operand(body, op);
    Range of = range_of(body, op);
    int most = of.most, least = step_hinted(body, of.least, "least");
    int range = rounded(body, kind.dtype, STEP_SUB, most, least);
    int code_range = step_named(body, kind.most - kind.least, "CODE_RANGE");
    int scale = rounded(body, kind.dtype, STEP_DIV, range, code_range);
    scale = scale_not_below(body, scale, ldexp(1, -23)); /* fp32's epsilon */
    int steps = step_unary(body, STEP_RINT, rounded(body, kind.dtype, STEP_DIV, least, scale));
    int zero = step_binary(body, STEP_SUB, least_code(body, kind), steps);
    return coded(body, x, scale, step_hinted(body, clamped(body, kind, zero), "zero_point"));
}

void expand_fake_quant_tokens(const Op *op, Body *body) {
    Kind kind = kind_of(op);
    body_space(body, op->in[0]);
    step_store(body, op->out[0], decoded(body, kind, coded_tokens(body, op, kind)));
}

void grad_fake_quant_tokens(Backward *b, const Op *op) {
    Value *dy = backward_of(b, op->out[0]);
    bool ranges = op->in_count > 1;
    Value *in[] = {op->in[0], ranges ? op->in[1] : dy, dy};
    backward_emit(b, op, op->in[0], OP_fake_quant_tokens_grad, in, ranges ? 3 : 2, op->attr);
}

void shape_fake_quant_tokens_grad(Program *p, Op *op) {
    check_tokens(p, op, 1);
    result_like(p, op, 0, op->in[0]);
}

void expand_fake_quant_tokens_grad(const Op *op, Body *body) {
    Kind kind = kind_of(op);
    body_space(body, op->in[0]);
    straight_through(body, op, kind, coded_tokens(body, op, kind).code);
}

/* ---- weights --------------------------------------------------------------------------------- */

static void check_groups(const Op *op, int operands) {
    const Value *w = op->in[0];
    op_expect(op, op->in_count == operands, "operands");
    op_expect(op, value_elements(w) == value_rows(op->in[1]) * op->attr.rows, "groups");
    op_expect(op, value_cols(w) % op->attr.rows == 0, "a group in two rows");
}

static int group_scale(Body *body, Kind kind, int absmax) {
    int half_range = step_named(body, (kind.most - kind.least) / 2, "HALF_CODE_RANGE");
    int scale = rounded(body, kind.dtype, STEP_DIV, absmax, half_range);
    double least_normal = ldexp(1, kind.dtype == DT_F16 ? -14 : -126);
    return scale_not_below(body, scale, least_normal);
}

/* Loads the absmax of the element's group; a row's groups follow each other. */
static int absmax_of(Body *body, const Op *op) {
    int64_t groups = value_cols(op->in[0]) / op->attr.rows;
    if (groups == 1)
        return step_load(body, op->in[1]);
    int first =
        step_binary(body, STEP_MUL, step_index(body, STEP_ROW), step_const_int(body, groups));
    int group = step_binary(body, STEP_DIV, step_index(body, STEP_COL),
                            step_const_int(body, op->attr.rows));
    return step_load_mapped(body, op->in[1], step_binary(body, STEP_ADD, first, group), COL_SAME,
                            0);
}

static Coded coded_weights(Body *body, const Op *op, Kind kind) {
    int x = operand(body, op);
    return coded(body, x, group_scale(body, kind, absmax_of(body, op)), -1);
}

void shape_fake_quant_weights(Program *p, Op *op) {
    check_groups(op, 2);
    result_like(p, op, 0, op->in[0]);
}

void expand_fake_quant_weights(const Op *op, Body *body) {
    Kind kind = kind_of(op);
    body_space(body, op->in[0]);
    step_store(body, op->out[0], decoded(body, kind, coded_weights(body, op, kind)));
}

void grad_fake_quant_weights(Backward *b, const Op *op) {
    Value *in[] = {op->in[0], op->in[1], backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[0], OP_fake_quant_weights_grad, in, 3, op->attr);
}

void shape_fake_quant_weights_grad(Program *p, Op *op) {
    check_groups(op, 3);
    result_2d(p, op, 0, "", p->real, value_rows(op->in[0]), value_cols(op->in[0]));
}

void expand_fake_quant_weights_grad(const Op *op, Body *body) {
    Kind kind = kind_of(op);
    body_space(body, op->in[0]);
    straight_through(body, op, kind, coded_weights(body, op, kind).code);
}

/* ---- actual codes ---------------------------------------------------------------------------- */

void shape_quantize_groups(Program *p, Op *op) {
    int64_t groups = value_rows(op->in[0]);
    op_expect(op, op->in_count == 1 || op->in_count == 2, "operands");
    op_expect(op, op->in_count == 1 || value_rows(op->in[1]) == groups, "absmax");
    result_2d(p, op, 0, ".codes", DT_I8, groups, value_cols(op->in[0]));
    result_2d(p, op, 1, ".scales", DT_F32, groups, 1);
}

static int own_absmax(Body *body, int x) {
    int magnitude = step_binary(body, STEP_MAX, x, step_unary(body, STEP_NEG, x));
    return step_reduce(body, STEP_ROW_MAX, magnitude);
}

void expand_quantize_groups(const Op *op, Body *body) {
    Kind kind = kind_of(op);
    body_space(body, op->in[0]);
    int x = operand(body, op);
    int absmax = op->in_count > 1 ? step_load(body, op->in[1]) : own_absmax(body, x);
    Coded c = coded(body, x, group_scale(body, kind, absmax), -1);
    step_store(body, op->out[0], step_cast(body, TYPE_INT, clamped(body, kind, c.code)));
    step_store(body, op->out[1], c.scale);
}

void shape_decode_groups(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 2 && op->out_count == 1, "operands");
    op_expect(op, value_rows(op->in[0]) == value_rows(op->in[1]), "codes and scales");
    op_expect(op, value_elements(op->in[0]) == value_elements(op->out[0]), "result");
}

void expand_decode_groups(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int code = step_cast(body, TYPE_REAL, step_load(body, op->in[0]));
    int x = rounded(body, DT_F32, STEP_MUL, code, step_load(body, op->in[1]));
    step_store_reshaped(body, op->out[0], x);
}

const char *part_name(TensorPart part) {
    static const char *const names[] = {"weight", "scales", "zeros"};
    return names[part];
}

void shape_export(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 2 && op->out_count == 0 && value_dense(op->in[0]), "operands");
}
