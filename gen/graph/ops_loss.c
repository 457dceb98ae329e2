/* Losses.
 *
 * cross_entropy      (logits[T,V], labels[T,1], weight[1]) -> loss[T,1] = weight (lse - logit of
 *                    the label), 0 where the label is negative (ignored); lse[T,1]; with
 *                    attr.label_smoothing as torch has it
 * cross_entropy_grad (logits, labels, lse, weight, dloss) -> dlogits = weight dloss (softmax -
 *                    onehot); dloss is [1] or [T,1]
 * topk_hits          (logits[T,V], labels[T,1]) -> top1[T,1], top5[T,1]: 1 where the label's logit
 *                    is the largest, among the five largest; else 0, as where it is ignored
 * sum                (x[C] or x[R,1]) -> [1] */
#include "graph/op_table.h"

static int is_label(Body *body, int labels) {
    return step_binary(body, STEP_EQ, step_index(body, STEP_COL), labels);
}

static int has_target(Body *body, int labels) {
    int has = step_binary(body, STEP_GE, labels, step_const_int(body, 0));
    return step_hinted(body, has, "has_target");
}

/* What stands in the logit's place where the target gives `share` of itself among all classes. */
static int smoothed(Body *body, double share, int picked, int x) {
    int mean = step_binary(body, STEP_MUL, step_reduce(body, STEP_ROW_SUM, x),
                           step_const(body, share / (double)body->cols));
    return step_binary(body, STEP_ADD,
                       step_binary(body, STEP_MUL, picked, step_const(body, 1 - share)), mean);
}

void shape_cross_entropy(Program *p, Op *op) {
    op_expect(op, op->in_count == 3 && value_rows(op->in[1]) == value_rows(op->in[0]), "labels");
    result_2d(p, op, 0, "", p->real, value_rows(op->in[0]), 1);
    result_2d(p, op, 1, ".lse", p->real, value_rows(op->in[0]), 1);
}

void expand_cross_entropy(const Program *p, const Op *op, Body *body) {
    (void)p;
    body->rows = value_rows(op->in[0]);
    body->cols = value_cols(op->in[0]);
    int x = step_load(body, op->in[0]), labels = step_load(body, op->in[1]),
        weight = step_load(body, op->in[2]);
    int lse = step_reduce(body, STEP_ROW_LSE, x), zero = step_const(body, 0);
    int picked =
        step_reduce(body, STEP_ROW_SUM, step_select(body, is_label(body, labels), x, zero));
    if (op->attr.label_smoothing > 0)
        picked = smoothed(body, op->attr.label_smoothing, picked, x);
    step_hinted(body, picked, "target");
    int loss = step_binary(body, STEP_MUL, step_binary(body, STEP_SUB, lse, picked), weight);
    step_store(body, op->out[0], step_select(body, has_target(body, labels), loss, zero));
    step_store(body, op->out[1], lse);
}

void grad_cross_entropy(Backward *b, const Op *op) {
    Value *in[] = {op->in[0], op->in[1], op->out[1], op->in[2], backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[0], OP_cross_entropy_grad, in, 5, op->attr);
}

void shape_cross_entropy_grad(Program *p, Op *op) { result_like(p, op, 0, op->in[0]); }

void expand_cross_entropy_grad(const Program *p, const Op *op, Body *body) {
    (void)p;
    body->rows = value_rows(op->in[0]);
    body->cols = value_cols(op->in[0]);
    int x = step_load(body, op->in[0]), labels = step_load(body, op->in[1]),
        lse = step_load(body, op->in[2]);
    int factor =
        step_binary(body, STEP_MUL, step_load(body, op->in[3]), step_load(body, op->in[4]));
    step_hinted(body, factor, "scale");
    int softmax = step_unary(body, STEP_EXP, step_binary(body, STEP_SUB, x, lse));
    double share = op->attr.label_smoothing;
    if (share > 0)
        softmax =
            step_binary(body, STEP_SUB, softmax, step_const(body, share / (double)body->cols));
    step_hinted(body, softmax, "softmax");
    int less_one = step_binary(body, STEP_SUB, softmax, step_const(body, 1 - share));
    step_hinted(body, less_one, "less_one");
    int d = step_binary(body, STEP_MUL,
                        step_select(body, is_label(body, labels), less_one, softmax), factor);
    step_store(body, op->out[0],
               step_select(body, has_target(body, labels), d, step_const(body, 0)));
}

/* A class stands before another where its logit is larger, or the same and its number lower. */
static int stands_before(Body *body, int x, int target, int labels) {
    int one = step_const(body, 1), zero = step_const(body, 0);
    int lower = step_binary(body, STEP_LT, step_index(body, STEP_COL), labels);
    int tie = step_select(body, lower, one, zero);
    int not_less = step_select(body, step_binary(body, STEP_EQ, x, target), tie, one);
    return step_select(body, step_binary(body, STEP_LT, x, target), zero, not_less);
}

void shape_topk_hits(Program *p, Op *op) {
    op_expect(op, op->in_count == 2 && value_rows(op->in[1]) == value_rows(op->in[0]), "labels");
    result_2d(p, op, 0, ".top1", p->real, value_rows(op->in[0]), 1);
    result_2d(p, op, 1, ".top5", p->real, value_rows(op->in[0]), 1);
}

void expand_topk_hits(const Program *p, const Op *op, Body *body) {
    (void)p;
    body->rows = value_rows(op->in[0]);
    body->cols = value_cols(op->in[0]);
    int x = step_load(body, op->in[0]), labels = step_load(body, op->in[1]);
    int one = step_const(body, 1), zero = step_const(body, 0);
    int target =
        step_reduce(body, STEP_ROW_SUM, step_select(body, is_label(body, labels), x, zero));
    step_hinted(body, target, "target");
    int rank = step_reduce(body, STEP_ROW_SUM, stands_before(body, x, target, labels));
    step_hinted(body, rank, "rank");
    for (int i = 0; i < 2; i++) {
        int within = step_binary(body, STEP_LT, rank, step_const(body, i ? 5 : 1));
        int hit = step_select(body, within, one, zero);
        step_store(body, op->out[i], step_select(body, has_target(body, labels), hit, zero));
    }
}

void shape_sum(Program *p, Op *op) {
    op_expect(op, op->in[0]->rank == 1 || value_cols(op->in[0]) == 1, "neither [C] nor [R,1]");
    result_1d(p, op, 0, "", op->in[0]->dtype, 1);
}

void expand_sum(const Program *p, const Op *op, Body *body) {
    (void)p;
    body->rows = value_rows(op->in[0]);
    body->cols = value_cols(op->in[0]);
    int x = step_load(body, op->in[0]);
    if (op->in[0]->rank == 1)
        step_store(body, op->out[0], step_reduce(body, STEP_ROW_SUM, x));
    else
        step_col_sum(body, op->out[0], x);
}

/* The gradient of a sum is the scalar itself, which broadcasts. */
void grad_sum(Backward *b, const Op *op) {
    backward_pass(b, op->in[0], backward_of(b, op->out[0]));
}
