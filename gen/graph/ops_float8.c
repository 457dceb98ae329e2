/* Fake quantisation to 8-bit floats (e4m3): values are rounded but stay in their dtype, exactly as
 * in torchao's Float8FakeQuantizeConfig with one scale per row, for tokens and weights alike.
 *
 * fake_quant_float8      (x[R,C] [, absmaxes[n R,1]]) -> y[R,C]: each row scaled by its absmax; where
 *                        each of the n ranks of attr.group has some columns of x, by the largest of
 *                        `absmaxes`, in fp32: rank after rank, for each row that of its columns
 * float8_scale_sums      (x, absmaxes, dy) -> sums[R,2], in `real`, over a rank's columns: the
 *                        gradient of the scale, the number of the row's largest elements
 * fake_quant_float8_grad (x, dy) or (x, absmaxes, sums, dy) -> dx; in `real` if x trains. The sums are
 *                        those of all ranks
 *
 * The gradient passes straight through where an element was not clamped, and through the scale to
 * the row's largest element (equal ones share it), because torchao's scale is not a constant to
 * autograd. The scale is rounded to the operand's dtype, all else is fp32, and an fp64 operand is
 * first rounded to fp32. A row of zeros stays zero; torchao divides by zero there. */
#include "graph/code_steps.h"
#include "graph/op_table.h"

#include <math.h>

static const double LARGEST = 448; /* in e4m3 */

/* Steps for an element of a row. */
typedef struct {
    int x, magnitude, absmax;
    int scale, scaled, code;
} Float8;

static int narrow(Body *body, DType dtype, int a) {
    return step_round(body, dtype == DT_F64 ? DT_F32 : dtype, a);
}

static int quotient(Body *body, DType dtype, int a, int b) {
    return narrow(body, dtype, step_binary(body, STEP_DIV, a, b));
}

static int largest_code(Body *body) { return step_named(body, LARGEST, "LARGEST_CODE"); }

static int is_inside(Body *body, const Float8 *f) {
    return step_binary(body, STEP_GE, largest_code(body), magnitude(body, f->scaled));
}

/* The largest magnitude of the row, of which other ranks may have columns. If so, it has been stored,
 * and equals that of an element here only if x is made again with the same bits. */
static int absmax_of(Body *body, const Op *op, int magnitude) {
    int64_t ranks = mesh_ranks(&body->program->mesh, op->attr.group), rows = value_rows(op->in[0]);
    if (!op->attr.group)
        return step_reduce(body, STEP_ROW_MAX, magnitude);
    int row = step_index(body, STEP_ROW), absmax = -1;
    for (int64_t i = 0; i < ranks; i++) {
        int at = i ? step_binary(body, STEP_ADD, row, step_const_int(body, i * rows)) : row;
        int one = step_load_mapped(body, op->in[1], at, COL_SAME, 0);
        absmax = i ? step_binary(body, STEP_MAX, absmax, one) : one;
    }
    return absmax;
}

/* The conversion to e4m3 clamps. */
static Float8 element(Body *body, const Op *op) {
    DType dtype = op->in[0]->dtype;
    Float8 f;
    body_space(body, op->in[0]);
    f.x = step_load(body, op->in[0]);
    if (dtype == DT_F64)
        f.x = step_hinted(body, step_round(body, DT_F32, f.x), "x");
    f.magnitude = magnitude(body, f.x);
    f.absmax = step_hinted(body, absmax_of(body, op, f.magnitude), "absmax");
    int scale = quotient(body, dtype, f.absmax, largest_code(body));
    scale = step_binary(body, STEP_MAX, scale, step_named(body, ldexp(1, -126), "LEAST_NORMAL"));
    f.scale = step_hinted(body, scale, "scale");
    f.scaled = step_hinted(body, quotient(body, DT_F32, f.x, f.scale), "scaled");
    f.code = step_round(body, DT_F8_E4M3, f.scaled);
    return f;
}

/* Checks the operands: x, absmaxes if there is a group, and `more` others. */
static void check_operands(const Program *p, const Op *op, int more) {
    int64_t ranks = mesh_ranks(&p->mesh, op->attr.group);
    int absmaxes = op->attr.group ? 1 : 0;
    op_expect(op, op->in_count == 1 + absmaxes + more && !op->in[0]->plane, "operands");
    op_expect(op, !absmaxes || value_rows(op->in[1]) == ranks * value_rows(op->in[0]), "absmaxes");
}

void shape_fake_quant_float8(Program *p, Op *op) {
    check_operands(p, op, 0);
    result_2d(p, op, 0, "", op->in[0]->dtype, value_rows(op->in[0]), value_cols(op->in[0]));
}

void expand_fake_quant_float8(const Op *op, Body *body) {
    Float8 f = element(body, op);
    int y = step_binary(body, STEP_MUL, f.code, f.scale);
    step_store(body, op->out[0], narrow(body, DT_F32, y));
}

void grad_fake_quant_float8(Backward *b, const Op *op) {
    Value *x = op->in[0], *dy = backward_of(b, op->out[0]);
    if (!op->attr.group) {
        backward_emit(b, op, x, OP_fake_quant_float8_grad, (Value *[]){x, dy}, 2, op->attr);
        return;
    }
    Value *of_sums[] = {x, op->in[1], dy};
    const Op *own = backward_op(b, op, OP_float8_scale_sums, of_sums, 3, op->attr);
    const Op *all = backward_op(b, op, OP_all_reduce, own->out, 1, (Attr){.group = op->attr.group});
    Value *in[] = {x, op->in[1], all->out[0], dy};
    backward_emit(b, op, x, OP_fake_quant_float8_grad, in, 4, op->attr);
}

/* The gradient of the row's scale: the sum of dy times the code's error, which is the code itself
 * where it was clamped. */
static int scale_gradient(Body *body, const Float8 *f, int inside, int dy) {
    int kept = step_select(body, inside, f->scaled, step_const(body, 0));
    int error = step_binary(body, STEP_SUB, f->code, kept);
    return step_reduce(body, STEP_ROW_SUM, step_binary(body, STEP_MUL, dy, error));
}

static int is_largest(Body *body, const Float8 *f) {
    return step_binary(body, STEP_GE, f->magnitude, f->absmax);
}

static int count_of_largest(Body *body, int largest) {
    int one = step_select(body, largest, step_const(body, 1), step_const(body, 0));
    return step_reduce(body, STEP_ROW_SUM, one);
}

/* Columns of the sums. */
enum { OF_SCALE, COUNT, SUMS };

void shape_float8_scale_sums(Program *p, Op *op) {
    check_operands(p, op, 1);
    op_expect(op, op->attr.group, "no group");
    result_2d(p, op, 0, ".sums", p->real, value_rows(op->in[0]), SUMS);
}

void expand_float8_scale_sums(const Op *op, Body *body) {
    Float8 f = element(body, op);
    int dy = step_load(body, op->in[2]);
    int of_scale = scale_gradient(body, &f, is_inside(body, &f), dy);
    step_store_mapped(body, op->out[0], COL_AT, OF_SCALE, of_scale);
    step_store_mapped(body, op->out[0], COL_AT, COUNT, count_of_largest(body, is_largest(body, &f)));
}

void shape_fake_quant_float8_grad(Program *p, Op *op) {
    const Value *x = op->in[0];
    check_operands(p, op, op->attr.group ? 2 : 1);
    result_2d(p, op, 0, "", value_trains(x) ? p->real : x->dtype, value_rows(x), value_cols(x));
}

void expand_fake_quant_float8_grad(const Op *op, Body *body) {
    Float8 f = element(body, op);
    int dy = step_load(body, op->in[op->in_count - 1]), zero = step_const(body, 0);
    int inside = is_inside(body, &f), largest = is_largest(body, &f), of_scale, count;
    if (op->attr.group) {
        of_scale = step_load_mapped(body, op->in[2], -1, COL_AT, OF_SCALE);
        count = step_load_mapped(body, op->in[2], -1, COL_AT, COUNT);
    } else {
        of_scale = scale_gradient(body, &f, inside, dy);
        count = count_of_largest(body, largest);
    }
    count = step_binary(body, STEP_MUL, count, largest_code(body));
    int share = step_hinted(body, step_binary(body, STEP_DIV, of_scale, count), "share");
    int negative = step_binary(body, STEP_LT, f.x, zero);
    share = step_select(body, negative, step_unary(body, STEP_NEG, share), share);
    int through = step_select(body, inside, dy, zero);
    int dx = step_binary(body, STEP_ADD, through, step_select(body, largest, share, zero));
    step_store(body, op->out[0], dx);
}
