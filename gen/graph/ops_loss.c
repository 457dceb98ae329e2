/* Losses.
 *
 * cross_entropy      (logits[T,V], labels[T,1], weight[1]) -> loss[T,1] = weight (lse - logit of
 *                    the label), 0 where the label is negative (ignored); lse[T,1]; with
 *                    attr.label_smoothing as in torch
 * cross_entropy_grad (logits, labels, lse, weight, dloss) -> dlogits = weight dloss (softmax -
 *                    onehot); dloss is [1] or [T,1]
 * Where each rank of attr.group has some columns of the logits, both ops have one more operand, the
 * rank's number, and `lower` splits the first op into these (all ranks get the same loss and lse):
 * cross_entropy_part (logits, labels, group_rank) -> lse[T,1] of the rank's columns, target[T,1]: the
 *                    label's logit, or 0 if another rank has it; with smoothing, the rank's part of
 *                    the smoothed logit
 * cross_entropy_join (lse[nT,1], target[nT,1], labels, weight) of n ranks -> loss[T,1], lse[T,1]
 * topk_hits          (logits[T,V], labels[T,1]) -> top1[T,1], top5[T,1]: 1 where the label's logit
 *                    is the largest, or among the five largest; else, or if it is ignored, 0
 * sum                (x[C] or x[R,1]) -> [1] */
#include "graph/loss_operands.h"
#include "graph/op_table.h"

static int is_label(Body *body, int labels) {
    int is = step_binary(body, STEP_EQ, step_index(body, STEP_COL), labels);
    return step_hinted(body, is, "is_label");
}

/* Labels relative to the rank's first class. */
static int own_labels(Body *body, int labels, Value *group_rank) {
    int first =
        step_binary(body, STEP_MUL, step_load(body, group_rank), step_const_int(body, body->cols));
    return step_hinted(body, step_binary(body, STEP_SUB, labels, first), "own_label");
}

static double class_count(const Op *op, const Body *body) {
    return (double)body->cols * (double)mesh_ranks(&body->program->mesh, op->attr.group);
}

static int has_target(Body *body, int labels) {
    int has = step_binary(body, STEP_GE, labels, step_const_int(body, 0));
    return step_hinted(body, has, "has_target");
}

/* The label's logit, smoothed: the target spreads `share` of itself evenly over all classes. */
static int smoothed(Body *body, double share, double classes, int picked, int x) {
    int sum = step_hinted(body, step_reduce(body, STEP_ROW_SUM, x), "logit_sum");
    int mean = step_binary(body, STEP_MUL, sum, step_named(body, share / classes, "CLASS_SHARE"));
    int own = step_binary(body, STEP_MUL, picked, step_named(body, 1 - share, "LABEL_SHARE"));
    return step_binary(body, STEP_ADD, own, mean);
}

/* The label's logit, smoothed if there is label smoothing. */
static int pick(const Op *op, Body *body, int x, int labels) {
    int picked = step_reduce(body, STEP_ROW_SUM,
                             step_select(body, is_label(body, labels), x, step_const(body, 0)));
    step_hinted(body, picked, "label_logit");
    if (op->attr.label_smoothing > 0)
        picked = smoothed(body, op->attr.label_smoothing, class_count(op, body), picked, x);
    return step_hinted(body, picked, "target");
}

void shape_cross_entropy(Program *p, Op *op) {
    op_expect(op, op->in_count == (op->attr.group ? 4 : 3), "operands");
    op_expect(op, value_rows(op->in[LOSS_LABELS]) == value_rows(op->in[0]), "labels");
    result_2d(p, op, 0, "", p->real, value_rows(op->in[0]), 1);
    result_2d(p, op, 1, ".lse", p->real, value_rows(op->in[0]), 1);
}

void expand_cross_entropy(const Op *op, Body *body) {
    op_expect(op, !op->attr.group, "is not one kernel");
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), labels = step_load(body, op->in[LOSS_LABELS]),
        weight = step_load(body, op->in[LOSS_WEIGHT]);
    int lse = step_reduce(body, STEP_ROW_LSE, x), zero = step_const(body, 0);
    int picked = pick(op, body, x, labels);
    int loss = step_binary(body, STEP_MUL, step_binary(body, STEP_SUB, lse, picked), weight);
    step_hinted(body, loss, "loss");
    step_store(body, op->out[0], step_select(body, has_target(body, labels), loss, zero));
    step_store(body, op->out[1], lse);
}

void grad_cross_entropy(Backward *b, const Op *op) {
    Value *in[] = {op->in[0],
                   op->in[LOSS_LABELS],
                   op->out[1],
                   op->in[LOSS_WEIGHT],
                   backward_of(b, op->out[0]),
                   op->in[LOSS_GROUP_RANK]};
    backward_emit(b, op, op->in[0], OP_cross_entropy_grad, in, op->attr.group ? 6 : 5, op->attr);
}

void shape_cross_entropy_grad(Program *p, Op *op) { result_like(p, op, 0, op->in[0]); }

void expand_cross_entropy_grad(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]), labels = step_load(body, op->in[LOSS_GRAD_LABELS]),
        lse = step_load(body, op->in[LOSS_GRAD_LSE]);
    int upstream = step_load(body, op->in[LOSS_GRAD_UPSTREAM]),
        weight = step_load(body, op->in[LOSS_GRAD_WEIGHT]);
    int factor = step_binary(body, STEP_MUL, weight, upstream);
    step_hinted(body, factor, "scale");
    int softmax = step_unary(body, STEP_EXP, step_binary(body, STEP_SUB, x, lse));
    double share = op->attr.label_smoothing;
    if (share > 0)
        softmax = step_binary(body, STEP_SUB, softmax,
                              step_named(body, share / class_count(op, body), "CLASS_SHARE"));
    step_hinted(body, softmax, "softmax");
    int label_share = share > 0 ? step_named(body, 1 - share, "LABEL_SHARE") : step_const(body, 1);
    int less_one = step_binary(body, STEP_SUB, softmax, label_share);
    step_hinted(body, less_one, "less_one");
    int own = op->attr.group ? own_labels(body, labels, op->in[LOSS_GRAD_GROUP_RANK]) : labels;
    int d = step_binary(body, STEP_MUL, step_select(body, is_label(body, own), less_one, softmax),
                        factor);
    step_hinted(body, d, "d_logit");
    step_store(body, op->out[0],
               step_select(body, has_target(body, labels), d, step_const(body, 0)));
}

void shape_cross_entropy_part(Program *p, Op *op) {
    op_expect(op, op->in_count == 3 && value_rows(op->in[1]) == value_rows(op->in[0]), "labels");
    result_2d(p, op, 0, ".lse", p->real, value_rows(op->in[0]), 1);
    result_2d(p, op, 1, ".target", p->real, value_rows(op->in[0]), 1);
}

void expand_cross_entropy_part(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int x = step_load(body, op->in[0]);
    int labels = own_labels(body, step_load(body, op->in[1]), op->in[2]);
    step_store(body, op->out[0], step_reduce(body, STEP_ROW_LSE, x));
    step_store(body, op->out[1], pick(op, body, x, labels));
}

void shape_cross_entropy_join(Program *p, Op *op) {
    int64_t rows = value_rows(op->in[2]);
    op_expect(op,
              op->in_count == 4 && value_rows(op->in[0]) % rows == 0 &&
                  value_rows(op->in[1]) == value_rows(op->in[0]),
              "operands");
    result_2d(p, op, 0, "", p->real, rows, 1);
    result_2d(p, op, 1, ".lse", p->real, rows, 1);
}

/* The row's number from rank number `rank`. */
static int found_by(Body *body, Value *all, int64_t rank) {
    int row = step_index(body, STEP_ROW);
    if (rank > 0)
        row = step_binary(body, STEP_ADD, row, step_const_int(body, rank * body->rows));
    return step_load_mapped(body, all, row, COL_SAME, 0);
}

/* log(sum(exp(x))) */
static int join_lse(Body *body, const int *x, int64_t count) {
    int most = x[0], sum = -1;
    for (int64_t i = 1; i < count; i++)
        most = step_binary(body, STEP_MAX, most, x[i]);
    for (int64_t i = 0; i < count; i++) {
        int part = step_unary(body, STEP_EXP, step_binary(body, STEP_SUB, x[i], most));
        sum = i == 0 ? part : step_binary(body, STEP_ADD, sum, part);
    }
    return step_binary(body, STEP_ADD, most, step_unary(body, STEP_LOG, sum));
}

void expand_cross_entropy_join(const Op *op, Body *body) {
    body->rows = value_rows(op->in[2]);
    body->cols = 1;
    int64_t ranks = value_rows(op->in[0]) / body->rows;
    int labels = step_load(body, op->in[2]), weight = step_load(body, op->in[3]);
    int *lse = arena_array(body->arena, (size_t)ranks, sizeof *lse), target = -1;
    for (int64_t i = 0; i < ranks; i++) {
        lse[i] = found_by(body, op->in[0], i);
        int found = found_by(body, op->in[1], i);
        target = i == 0 ? found : step_binary(body, STEP_ADD, target, found);
    }
    int all = join_lse(body, lse, ranks);
    int loss = step_binary(body, STEP_MUL, step_binary(body, STEP_SUB, all, target), weight);
    step_store(body, op->out[0],
               step_select(body, has_target(body, labels), loss, step_const(body, 0)));
    step_store(body, op->out[1], all);
}

/* 1 if the column's class ranks above the label's: a larger logit, or the same and a lower
 * number. */
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

void expand_topk_hits(const Op *op, Body *body) {
    body_space(body, op->in[0]);
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

void expand_sum(const Op *op, Body *body) {
    body_space(body, op->in[0]);
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
