/* Few-bit weights in blocks, each with its largest magnitude (absmax), bit for bit as in
 * bitsandbytes: 4-bit codes and double quantisation of QLoRA (Dettmers, Pagnoni, Holtzman,
 * Zettlemoyer, arXiv 2305.14314), and rows of 8-bit integers (LLM.int8: Dettmers, Lewis, Belkada,
 * Zettlemoyer, arXiv 2208.07339). A block is a run of elements in the matrix's order; there are B
 * blocks.
 *
 * fetch           (kept) -> w, read from its file: the parameter that STATE keeps as `kept`
 * block_absmax    (w[B,size]) -> absmax[B,1]
 *                 (x[B,1], offset[1]) -> the same for x - offset in blocks of attr.rows, of which
 *                 the last may be shorter
 * mean            (x[1,B]) -> [1]
 * quantize_4bit   (even[N/2,1], odd[N/2,1], absmax[B,1], bounds[15,1] [, order[16,1]]) ->
 *                 codes[N/2,1]: two neighbours per byte, the first in the high half
 * quantize_absmax (absmax[B,1], offset[1], absmax2[B/256,1], bounds[255,1] [, group_rank]) ->
 *                 codes[B,1]
 * decode_4bit     (codes[B,size/2], absmax[B,1], map[16,1]
 *                 [, offset[1], absmax2, map[256,1] [, group_rank]]) -> w[R,C]; with offset, absmax2
 *                 and its map, absmax holds codes
 * quantize_rows   (w[R,C], absmax[R,1]) -> codes[R,C]; absmax becomes the code 127
 * decode_rows     (codes[R,C], absmax[R,1]) -> w[R,C]
 *
 * With a group_rank, the blocks are only the rank's own, but absmax2 covers all blocks: the ranks of
 * attr.group take turns at runs of attr.span blocks.
 *
 * A number's code is how many bounds are less than it, the bounds being the midpoints between
 * neighbours in the map; where a map is not ascending, `order` translates that count to the code.
 * Comparisons and decoding use fp32 in every precision, because codes must not depend on it. */
#include "base/rounding.h"
#include "graph/code_steps.h"
#include "graph/op_table.h"

/* ---- parts ----------------------------------------------------------------------------------- */

static int rounded(Body *body, int a) { return step_round(body, DT_F32, a); }

/* a combined with b, rounded to fp32. */
int fp32_of(Body *body, StepKind kind, int a, int b) {
    return rounded(body, step_binary(body, kind, a, b));
}

static int int_of(Body *body, StepKind kind, int a, int64_t b) {
    return step_binary(body, kind, a, step_const_int(body, b));
}

/* The index of the row's block in absmax2; the op may have the operand number `place`. */
static int group_of(const Op *op, Body *body, int place) {
    int64_t span = op->attr.span, ranks = mesh_ranks(&body->program->mesh, op->attr.group);
    int block = step_index(body, STEP_ROW);
    if (op->in_count > place) {
        int spans = int_of(body, STEP_DIV, block, span);
        int before = step_binary(body, STEP_ADD, int_of(body, STEP_MUL, spans, ranks),
                                 step_load(body, op->in[place]));
        block = step_binary(body, STEP_ADD, int_of(body, STEP_MUL, before, span),
                            int_of(body, STEP_MOD, block, span));
    }
    return step_hinted(body, int_of(body, STEP_DIV, block, op->attr.rows), "group");
}

/* The index of the element in the body's space. */
static int place_of(Body *body) {
    int col = step_index(body, STEP_COL);
    if (body->rows == 1)
        return col;
    int row = int_of(body, STEP_MUL, step_index(body, STEP_ROW), body->cols);
    step_hinted(body, row, "row_start");
    return step_binary(body, STEP_ADD, row, col);
}

/* Row `index` of a list [n,1], which no step of the body writes. */
int listed(Body *body, Value *list, int index) {
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (s->kind == STEP_LOAD && s->value == list && s->row_index == index)
            return i;
    }
    return step_load_mapped(body, list, index, COL_SAME, 0);
}

int magnitude(Body *body, int a) {
    return step_binary(body, STEP_MAX, a, step_unary(body, STEP_NEG, a));
}

/* x relative to absmax; 0 in a block of zeros. */
static int normalized(Body *body, int x, int absmax) {
    int least = step_named(body, 1e-38, "LEAST_ABSMAX");
    int inverse =
        fp32_of(body, STEP_DIV, step_const(body, 1), step_binary(body, STEP_MAX, absmax, least));
    int share = step_hinted(body, step_binary(body, STEP_MUL, x, inverse), "normalized");
    return step_hinted(body, rounded(body, share), "normalized");
}

/* How many of 2^n - 1 ascending bounds are less than x. */
int count_below(Body *body, Value *bounds, int x) {
    int64_t half = (value_rows(bounds) + 1) / 2;
    int code = -1, probe = step_const_int(body, half - 1);
    for (; half > 0; half /= 2) {
        int above = step_binary(body, STEP_LT, listed(body, bounds, probe), x);
        int more = step_select(body, above, step_const_int(body, half), step_const_int(body, 0));
        code = code < 0 ? more : step_binary(body, STEP_ADD, code, more);
        step_hinted(body, code, "code");
        probe = half > 2 ? int_of(body, STEP_ADD, code, half / 2 - 1) : code;
    }
    return code;
}

/* ---- fetch ----------------------------------------------------------------------------------- */

void shape_fetch(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 1 && op->out_count == 1 && value_dense(op->out[0]), "operands");
}

/* ---- quantisation ---------------------------------------------------------------------------- */

void shape_block_absmax(Program *p, Op *op) {
    int64_t rows = value_rows(op->in[0]);
    if (op->in_count == 2)
        rows = ceil_div(rows, op->attr.rows);
    result_2d(p, op, 0, "", DT_F32, rows, 1);
}

/* Element [row, col] of a list seen as rows of the body's width. Past its end the last element is
 * repeated, which changes no maximum. */
static int in_blocks(Body *body, Value *list) {
    return listed(body, list, int_of(body, STEP_MIN, place_of(body), value_rows(list) - 1));
}

void expand_block_absmax(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = op->in_count == 2 ? op->attr.rows : value_cols(op->in[0]);
    int x;
    if (op->in_count == 2) {
        x = fp32_of(body, STEP_SUB, in_blocks(body, op->in[0]), step_load(body, op->in[1]));
        step_hinted(body, x, "centred");
    } else
        x = step_load(body, op->in[0]);
    step_store(body, op->out[0], step_reduce(body, STEP_ROW_MAX, magnitude(body, x)));
}

void shape_mean(Program *p, Op *op) {
    op_expect(op, value_rows(op->in[0]) == 1, "not one row");
    result_1d(p, op, 0, "", DT_F32, 1);
}

void expand_mean(const Op *op, Body *body) {
    body->rows = 1;
    body->cols = value_cols(op->in[0]);
    int sum = step_reduce(body, STEP_ROW_SUM, step_load(body, op->in[0]));
    step_store(body, op->out[0],
               step_binary(body, STEP_DIV, sum, step_const(body, (double)body->cols)));
}

void shape_quantize_4bit(Program *p, Op *op) {
    op_expect(op, op->in_count >= 4 && value_cols(op->in[0]) == 1, "operands");
    op_expect(op, value_rows(op->in[0]) % value_rows(op->in[2]) == 0, "blocks");
    result_2d(p, op, 0, "", DT_U8, value_rows(op->in[0]), 1);
}

void expand_quantize_4bit(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = 1;
    int64_t bytes_of_block = body->rows / value_rows(op->in[2]);
    int block = int_of(body, STEP_DIV, step_index(body, STEP_ROW), bytes_of_block);
    int absmax = listed(body, op->in[2], block);
    int code[2];
    for (int i = 0; i < 2; i++) {
        int x = normalized(body, step_load(body, op->in[i]), absmax);
        code[i] = count_below(body, op->in[3], x);
        if (op->in_count > 4)
            code[i] = listed(body, op->in[4], code[i]);
    }
    step_store(body, op->out[0],
               step_binary(body, STEP_ADD, int_of(body, STEP_MUL, code[0], 16), code[1]));
}

void shape_quantize_absmax(Program *p, Op *op) {
    op_expect(op, op->in_count >= 4 && value_cols(op->in[0]) == 1, "operands");
    result_2d(p, op, 0, "", DT_U8, value_rows(op->in[0]), 1);
}

void expand_quantize_absmax(const Op *op, Body *body) {
    body->rows = value_rows(op->in[0]);
    body->cols = 1;
    int group = group_of(op, body, 4);
    int x = fp32_of(body, STEP_SUB, step_load(body, op->in[0]), step_load(body, op->in[1]));
    x = normalized(body, x, listed(body, op->in[2], group));
    step_store(body, op->out[0], count_below(body, op->in[3], x));
}

/* ---- decoding -------------------------------------------------------------------------------- */

void shape_decode_4bit(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 3 || op->in_count >= 6, "operands");
    op_expect(op, value_rows(op->in[0]) == value_rows(op->in[1]), "codes and absmax");
    op_expect(op, op->out_count == 1 && value_elements(op->out[0]) == 2 * value_elements(op->in[0]),
              "result");
}

/* The block's absmax, decoded if it is a code. */
static int absmax_of(const Op *op, Body *body) {
    int absmax = step_load(body, op->in[1]);
    if (op->in_count == 3)
        return absmax;
    int group = group_of(op, body, 6);
    int absmax2 = listed(body, op->in[4], group);
    int difference = fp32_of(body, STEP_MUL, listed(body, op->in[5], absmax), absmax2);
    return step_hinted(body, fp32_of(body, STEP_ADD, difference, step_load(body, op->in[3])),
                       "scale");
}

void expand_decode_4bit(const Op *op, Body *body) {
    body->rows = value_rows(op->in[0]);
    body->cols = 2 * value_cols(op->in[0]);
    int codes = step_load_mapped(body, op->in[0], -1, COL_DIVIDE, 2);
    int second = int_of(body, STEP_EQ, int_of(body, STEP_MOD, step_index(body, STEP_COL), 2), 1);
    int code = step_select(body, second, int_of(body, STEP_MOD, codes, 16),
                           int_of(body, STEP_DIV, codes, 16));
    int absmax = absmax_of(op, body);
    int w = listed(body, op->in[2], step_hinted(body, code, "code"));
    step_store_reshaped(body, op->out[0], fp32_of(body, STEP_MUL, w, absmax));
}

/* ---- rows of integers ------------------------------------------------------------------------ */

enum { MOST_CODE = 127 };

void shape_quantize_rows(Program *p, Op *op) {
    op_expect(op, op->in_count == 2 && value_elements(op->in[1]) == value_rows(op->in[0]), "rows");
    result_2d(p, op, 0, "", DT_I8, value_rows(op->in[0]), value_cols(op->in[0]));
}

/* The scale is rounded as in bitsandbytes' torch reference, because many 16-bit weights lie halfway
 * between two codes. A row of zeros gets codes 0. */
void expand_quantize_rows(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int least = step_named(body, 1e-35, "LEAST_ABSMAX");
    int absmax = step_binary(body, STEP_MAX, step_load(body, op->in[1]), least);
    int inverse = fp32_of(body, STEP_DIV, step_const(body, 1), absmax);
    int scale = fp32_of(body, STEP_MUL, inverse, step_named(body, MOST_CODE, "MOST_CODE"));
    int code = fp32_of(body, STEP_MUL, step_load(body, op->in[0]), scale);
    step_store(body, op->out[0], step_cast(body, TYPE_INT, step_unary(body, STEP_RINT, code)));
}

void shape_decode_rows(Program *p, Op *op) {
    op_expect(op, op->in_count == 2 && value_elements(op->in[1]) == value_rows(op->in[0]), "rows");
    result_2d(p, op, 0, "", p->activation, value_rows(op->in[0]), value_cols(op->in[0]));
}

void expand_decode_rows(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int code = step_cast(body, TYPE_REAL, step_load(body, op->in[0]));
    int w = fp32_of(body, STEP_MUL, code, step_load(body, op->in[1]));
    int unit = step_named(body, (double)(1.0f / MOST_CODE), "CODE_UNIT");
    step_store(body, op->out[0], fp32_of(body, STEP_MUL, w, unit));
}
