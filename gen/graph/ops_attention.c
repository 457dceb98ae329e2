/* Attention and rotary positions.
 *
 * rope_table     (inv_freq[hd/2]) -> cos[S,hd/2], sin[S,hd/2] of place times frequency
 * rope           (x[T,heads hd], positions[T,1], cos, sin) -> x rotated by halves (Su et al., arXiv
 *                2104.09864, in Hugging Face's layout)
 * rope_grad      the inverse rotation
 * attention      (q[T,heads hd], k[T,kv_heads hd], v, positions) -> o like q, lse[T,heads]
 *                causal within a sample: query i of a batch row sees keys i - positions[i] .. i;
 *                with a fifth operand, prefix[T,2], it also sees keys prefix[i][0] ..
 *                prefix[i][1] - 1; gen/templates/attention_fma.cu says how a row is traversed
 * attention_grad (q, k, v, positions, o, lse, do, and prefix) -> dq, dk, dv, delta[T,heads] =
 *                rowsum(do o); with three more operands, positions, cos and sin of rope, dq and dk
 *                are rotated back, as if rope_grad followed
 *
 * Attention is implemented by a template, the other ops by scalar steps. */
#include "graph/attention_operands.h"
#include "graph/op_table.h"

void shape_rope_table(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->out_count == 2 && value_cols(op->out[0]) == value_cols(op->in[0]), "results");
}

void expand_rope_table(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int place = step_cast(body, TYPE_REAL, step_index(body, STEP_ROW));
    step_hinted(body, place, "position");
    int angle = step_binary(body, STEP_MUL, place, step_load(body, op->in[0]));
    step_hinted(body, angle, "angle");
    step_store(body, op->out[0], step_unary(body, STEP_COS, angle));
    step_store(body, op->out[1], step_unary(body, STEP_SIN, angle));
}

void shape_rope(Program *p, Op *op) {
    int64_t head = op->attr.head_dim;
    op_expect(op, op->in_count == 4 && head % 2 == 0 && value_cols(op->in[0]) % head == 0,
              "head_dim");
    op_expect(op, value_cols(op->in[2]) == head / 2 && value_cols(op->in[3]) == head / 2, "table");
    result_like(p, op, 0, op->in[0]);
}

/* In place, each element of the space is a pair that is rotated together, so that no thread reads
 * what another one writes. */
static void rotate_pairs(const Op *op, Body *body) {
    int64_t head = op->attr.head_dim;
    Value *x = op->in[0], *y = op->out[0];
    body->rows = value_rows(x);
    body->cols = value_cols(x) / 2;
    int place = step_load(body, op->in[1]);
    int cos = step_load_mapped(body, op->in[2], place, COL_MODULO, head / 2);
    int sin = step_load_mapped(body, op->in[3], place, COL_MODULO, head / 2);
    int x1 = step_load_mapped(body, x, -1, COL_FIRST_HALF, head),
        x2 = step_load_mapped(body, x, -1, COL_SECOND_HALF, head);
    step_called(body, x1, "x1");
    step_called(body, x2, "x2");
    int y1 = step_binary(body, STEP_SUB, step_binary(body, STEP_MUL, x1, cos),
                         step_binary(body, STEP_MUL, x2, sin));
    int y2 = step_binary(body, STEP_ADD, step_binary(body, STEP_MUL, x2, cos),
                         step_binary(body, STEP_MUL, x1, sin));
    step_called(body, step_store_mapped(body, y, COL_FIRST_HALF, head, y1), "y1");
    step_called(body, step_store_mapped(body, y, COL_SECOND_HALF, head, y2), "y2");
}

static void rotate(const Op *op, Body *body, bool back) {
    int64_t head = op->attr.head_dim;
    body_space(body, op->in[0]);
    int place = step_load(body, op->in[1]);
    int cos = step_load_mapped(body, op->in[2], place, COL_MODULO, head / 2);
    int sin = step_load_mapped(body, op->in[3], place, COL_MODULO, head / 2);
    int x = step_load(body, op->in[0]),
        partner = step_load_mapped(body, op->in[0], -1, COL_ROTATE, head);
    int in_head =
        step_binary(body, STEP_MOD, step_index(body, STEP_COL), step_extent(body, head, "HEAD"));
    int first = step_binary(body, STEP_LT, in_head, step_extent(body, head / 2, "HALF_HEAD"));
    step_called(body, partner, "partner");
    int straight = step_hinted(body, step_binary(body, STEP_MUL, x, cos), "x_cos");
    int crossed = step_hinted(body, step_binary(body, STEP_MUL, partner, sin), "partner_sin");
    int minus = step_binary(body, STEP_SUB, straight, crossed),
        plus = step_binary(body, STEP_ADD, straight, crossed);
    int y = back ? step_select(body, first, plus, minus) : step_select(body, first, minus, plus);
    step_store(body, op->out[0], y);
}

void expand_rope(const Op *op, Body *body) {
    if (value_same_place(op->in[0], op->out[0]))
        rotate_pairs(op, body);
    else
        rotate(op, body, false);
}

void expand_rope_grad(const Op *op, Body *body) {
    rotate(op, body, true);
}

void grad_rope(Backward *b, const Op *op) {
    Value *in[] = {backward_of(b, op->out[0]), op->in[1], op->in[2], op->in[3]};
    backward_emit(b, op, op->in[0], OP_rope_grad, in, 4, op->attr);
}

void shape_attention(Program *p, Op *op) {
    const Value *q = op->in[ATTENTION_Q], *k = op->in[ATTENTION_K], *v = op->in[ATTENTION_V];
    const Attr *a = &op->attr;
    op_expect(op, op->in_count == 4 || op->in_count == 5, "operands");
    op_expect(op, value_cols(q) == a->heads * a->head_dim, "q");
    op_expect(op, value_cols(k) == a->kv_heads * a->head_dim && value_cols(v) == value_cols(k),
              "k or v");
    op_expect(op, a->heads % a->kv_heads == 0 && value_rows(q) % a->seq_len == 0,
              "heads or seq_len");
    op_expect(op, op->in_count == 4 || value_cols(op->in[ATTENTION_PREFIX]) == 2, "prefix");
    result_2d(p, op, 0, "", p->activation, value_rows(q), value_cols(q));
    result_2d(p, op, 1, ".lse", p->real, value_rows(q), a->heads);
}

void grad_attention(Backward *b, const Op *op) {
    Value *in[] = {op->in[ATTENTION_Q],
                   op->in[ATTENTION_K],
                   op->in[ATTENTION_V],
                   op->in[ATTENTION_POSITIONS],
                   op->out[0],
                   op->out[1],
                   backward_of(b, op->out[0]),
                   op->in[ATTENTION_PREFIX]};
    Op *grad = backward_op(b, op, OP_attention_grad, in, op->in_count + 3, op->attr);
    for (int i = 0; i < 3; i++)
        backward_pass(b, op->in[i], grad->out[i]);
}

/* In heads longer than LONGEST_ROTATED, two blocks share a row of dk (the templates' `split`). */
enum { ROPE_OPERANDS = 3, LONGEST_ROTATED = 128 };

const Value *attention_prefix(const Op *op) {
    int place = op->kind == OP_attention ? ATTENTION_PREFIX : ATTENTION_GRAD_OPERANDS;
    int end = op->in_count - (attention_rope(op) ? ROPE_OPERANDS : 0);
    return end > place ? op->in[place] : NULL;
}

Value *const *attention_rope(const Op *op) {
    bool has = op->kind == OP_attention_grad && op->in_count >= ATTENTION_GRAD_OPERANDS + ROPE_OPERANDS;
    return has ? op->in + op->in_count - ROPE_OPERANDS : NULL;
}

bool attention_can_undo_rope(const Op *op) {
    int64_t head = op->attr.head_dim;
    return head <= LONGEST_ROTATED && head * dtype_bytes(op->in[0]->dtype) % (2 * 16) == 0;
}

static void check_rope(const Program *p, const Op *op) {
    Value *const *rope = attention_rope(op);
    op_expect(op, attention_can_undo_rope(op), "head_dim");
    op_expect(op, value_rows(rope[0]) == value_rows(op->in[0]) && value_dense(rope[0]),
              "positions of rope");
    for (int i = 1; i < ROPE_OPERANDS; i++)
        op_expect(op,
                  rope[i]->dtype == p->real && value_dense(rope[i]) &&
                      value_cols(rope[i]) == op->attr.head_dim / 2,
                  "table");
}

void shape_attention_grad(Program *p, Op *op) {
    static const char *const suffix[] = {".q", ".k", ".v"};
    int extra = op->in_count - ATTENTION_GRAD_OPERANDS;
    op_expect(op, extra == 0 || extra == 1 || extra == ROPE_OPERANDS || extra == ROPE_OPERANDS + 1,
              "operands");
    if (attention_rope(op))
        check_rope(p, op);
    for (int i = 0; i < 3; i++)
        result_2d(p, op, i, suffix[i], op->in[i]->dtype, value_rows(op->in[i]),
                  value_cols(op->in[i]));
    result_2d(p, op, 3, ".delta", p->real, value_rows(op->in[0]), op->attr.heads);
}

/* Two products over the (S+1)/2 keys that a query sees on average. Samples shorter than a row need
 * less. Backward has four, the gradients of both operands of each. Its kernels also compute the
 * scores again, each for itself, but that is recomputation. */
double flops_attention(const Op *op) {
    return 4.0 * (double)value_elements(op->in[0]) * (double)(op->attr.seq_len + 1) / 2;
}

double flops_attention_grad(const Op *op) { return 2 * flops_attention(op); }
