/* Pairs of sequences, the first preferred to the second: rows 2p and 2p + 1 of [N,1] are pair p.
 * nll is a sequence's negative log-probability.
 *
 * sequence_sum       (x[N,S]) -> [N,1]
 * sequence_sum_grad  (dsum[N,1]) -> dx[N,S]; attr.seq_len = S
 * target_count       (labels[N,S]) -> [N,1], the number of labels that are not ignored (negative)
 * packed_sum         (x[N,S], sequence[N,S], sequence[N S,1]) -> [N K,1]: row i is the sum of x
 *                    where `sequence` is i; both operands hold the same numbers. Two rows hold up to
 *                    K = attr.rows pairs, first sequences in one, second ones in the other; with
 *                    attr.one_row each row holds up to K pairs, and the result is [2 N K,1]
 * packed_sum_grad    (dsum like packed_sum's result, sequence[N S,1]) -> dx[N S,1]
 * packed_count       (labels[N,S], sequence[N,S]) -> like packed_sum's result
 * pair_loss          (nll[N,1], reference_nll[N,1], targets[N,1], weight[1]) -> loss[N/2,1], times
 *                    weight, 0 for a pair without targets (padding); attr.pair_loss and beta as in
 *                    TRL's DPOTrainer, and so is label_smoothing of `robust`; that of `sigmoid` is
 *                    conservative DPO (Mitchell, ericmitchell.ai/cdpo.pdf), which TRL had earlier
 * pair_loss_grad     (nll, reference_nll, targets, weight, dloss) -> dnll[N,1]; dloss is [1] or
 *                    [N/2,1]
 * pair_metrics       (nll, reference_nll, targets, weight) -> six values [N/2,1], each times weight:
 *                    accuracy, margin, rewards of first and second, log-probabilities of both
 *
 * The ipo loss uses means over a sequence's targets; its metrics use sums, like those of the
 * others. */
#include "graph/op_table.h"

/* Steps for one sequence. */
typedef struct {
    int logp, ratio; /* ratio: the log-ratio to the reference */
    int targets;
} Sequence;

typedef struct {
    Sequence chosen, rejected;
    int there; /* it is not padding */
} Pair;

void shape_sequence_sum(Program *p, Op *op) {
    op_expect_operands(op, 1);
    result_2d(p, op, 0, "", op->in[0]->dtype, value_rows(op->in[0]), 1);
}

void expand_sequence_sum(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    step_store(body, op->out[0], step_reduce(body, STEP_ROW_SUM, step_load(body, op->in[0])));
}

void grad_sequence_sum(Backward *b, const Op *op) {
    Value *in[] = {backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[0], OP_sequence_sum_grad, in, 1,
                  (Attr){.seq_len = value_cols(op->in[0])});
}

void shape_sequence_sum_grad(Program *p, Op *op) {
    op_expect_operands(op, 1);
    result_2d(p, op, 0, "", op->in[0]->dtype, value_rows(op->in[0]), op->attr.seq_len);
}

void expand_sequence_sum_grad(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    step_store(body, op->out[0], step_load(body, op->in[0]));
}

void shape_target_count(Program *p, Op *op) {
    op_expect_operands(op, 1);
    result_2d(p, op, 0, "", p->real, value_rows(op->in[0]), 1);
}

void expand_target_count(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int has = step_binary(body, STEP_GE, step_load(body, op->in[0]), step_const_int(body, 0));
    int one = step_select(body, has, step_const(body, 1), step_const(body, 0));
    step_store(body, op->out[0], step_reduce(body, STEP_ROW_SUM, one));
}

static int row_of(Body *body, Value *v, int row) {
    return step_load_mapped(body, v, row, COL_SAME, 0);
}

static int64_t packed_sequences(const Op *op) {
    return value_rows(op->in[0]) * op->attr.rows * (op->attr.one_row ? 2 : 1);
}

void shape_packed_sum(Program *p, Op *op) {
    op_expect_operands(op, 3);
    result_2d(p, op, 0, "", op->in[0]->dtype, packed_sequences(op), 1);
}

void shape_packed_count(Program *p, Op *op) {
    op_expect_operands(op, 2);
    result_2d(p, op, 0, "", p->real, packed_sequences(op), 1);
}

/* The row that holds the sequence with the body row's number; *own: whether an element belongs to
 * that sequence. */
static int packed_row(Body *body, const Op *op, int *own) {
    int number = step_index(body, STEP_ROW), two = step_const_int(body, 2);
    int entry = step_binary(body, STEP_DIV, number, step_const_int(body, 2 * op->attr.rows));
    int row = entry;
    if (!op->attr.one_row)
        row = step_binary(body, STEP_ADD, step_binary(body, STEP_MUL, entry, two),
                          step_binary(body, STEP_MOD, number, two));
    step_hinted(body, row, "packed_row");
    *own = step_binary(body, STEP_EQ, step_load_mapped(body, op->in[1], row, COL_SAME, 0), number);
    return row;
}

void expand_packed_sum(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = value_cols(op->in[0]);
    int own, row = packed_row(body, op, &own);
    int x = step_load_mapped(body, op->in[0], row, COL_SAME, 0);
    x = step_select(body, own, x, step_const(body, 0));
    step_store(body, op->out[0], step_reduce(body, STEP_ROW_SUM, x));
}

void expand_packed_count(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = value_cols(op->in[0]);
    int own, row = packed_row(body, op, &own);
    int label = step_load_mapped(body, op->in[0], row, COL_SAME, 0);
    int has = step_binary(body, STEP_AND, own,
                          step_binary(body, STEP_GE, label, step_const_int(body, 0)));
    int one = step_select(body, has, step_const(body, 1), step_const(body, 0));
    step_store(body, op->out[0], step_reduce(body, STEP_ROW_SUM, one));
}

void grad_packed_sum(Backward *b, const Op *op) {
    Value *in[] = {backward_of(b, op->out[0]), op->in[2]};
    Value *places = backward_op(b, op, OP_packed_sum_grad, in, 2, (Attr){0})->out[0];
    backward_emit(b, op, op->in[0], OP_reshape, &places, 1, (Attr){.rows = value_rows(op->in[0])});
}

void shape_packed_sum_grad(Program *p, Op *op) {
    op_expect_operands(op, 2);
    result_2d(p, op, 0, "", op->in[0]->dtype, value_rows(op->in[1]), 1);
}

void expand_packed_sum_grad(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = 1;
    int number = step_load(body, op->in[1]), zero = step_const_int(body, 0);
    int exists = step_binary(body, STEP_GE, number, zero);
    int sum = row_of(body, op->in[0], step_binary(body, STEP_MAX, number, zero));
    step_store(body, op->out[0], step_select(body, exists, sum, step_const(body, 0)));
}

static Sequence sequence(Body *body, const Op *op, int row) {
    int nll = row_of(body, op->in[0], row), reference = row_of(body, op->in[1], row);
    return (Sequence){step_unary(body, STEP_NEG, nll), step_binary(body, STEP_SUB, reference, nll),
                      row_of(body, op->in[2], row)};
}

static Pair pair_at(Body *body, const Op *op, int number) {
    int first = step_binary(body, STEP_MUL, number, step_const_int(body, 2));
    int second = step_binary(body, STEP_ADD, first, step_const_int(body, 1));
    step_hinted(body, first, "chosen_row");
    step_hinted(body, second, "rejected_row");
    Pair pair = {.chosen = sequence(body, op, first), .rejected = sequence(body, op, second)};
    pair.there = step_binary(body, STEP_LT, step_const(body, 0), pair.chosen.targets);
    return pair;
}

/* How much more than the reference the policy prefers the first sequence. */
static int log_ratio(Body *body, const Op *op, const Pair *pair) {
    int chosen = pair->chosen.ratio, rejected = pair->rejected.ratio;
    if (op->attr.pair_loss == PAIR_IPO) {
        chosen = step_binary(body, STEP_DIV, chosen, pair->chosen.targets);
        rejected = step_binary(body, STEP_DIV, rejected, pair->rejected.targets);
    }
    int z = step_binary(body, STEP_SUB, chosen, rejected);
    return step_hinted(body, z, "log_ratio");
}

static int times(Body *body, double factor, const char *name, int x) {
    return step_binary(body, STEP_MUL, step_named(body, factor, name), x);
}

/* -log(sigmoid(x)), without overflow */
static int minus_log_sigmoid(Body *body, int x) {
    int negative = step_unary(body, STEP_NEG, x);
    int size = step_binary(body, STEP_MAX, x, negative);
    int tail = step_unary(body, STEP_EXP, step_unary(body, STEP_NEG, size));
    tail = step_unary(body, STEP_LOG, step_binary(body, STEP_ADD, step_const(body, 1), tail));
    return step_binary(body, STEP_ADD, step_binary(body, STEP_MAX, negative, step_const(body, 0)),
                       tail);
}

/* The weights of the loss of the pair as given, and of the pair swapped. */
typedef struct {
    double right, wrong;
} Shares;

static Shares shares_of(const Op *op) {
    double smoothing = op->attr.label_smoothing;
    if (op->attr.pair_loss != PAIR_ROBUST)
        return (Shares){1 - smoothing, smoothing};
    return (Shares){(1 - smoothing) / (1 - 2 * smoothing), -smoothing / (1 - 2 * smoothing)};
}

static int loss_of(Body *body, const Op *op, int z) {
    double beta = op->attr.beta;
    if (op->attr.pair_loss == PAIR_IPO) {
        int off = step_binary(body, STEP_SUB, z, step_named(body, 1 / (2 * beta), "AIM"));
        return step_binary(body, STEP_MUL, off, off);
    }
    int x = times(body, beta, "BETA", z);
    if (op->attr.pair_loss == PAIR_HINGE)
        return step_binary(body, STEP_MAX, step_binary(body, STEP_SUB, step_const(body, 1), x),
                           step_const(body, 0));
    Shares shares = shares_of(op);
    int loss = times(body, shares.right, "RIGHT_SHARE", minus_log_sigmoid(body, x));
    if (shares.wrong == 0)
        return loss;
    int wrong = minus_log_sigmoid(body, step_unary(body, STEP_NEG, x));
    return step_binary(body, STEP_ADD, loss, times(body, shares.wrong, "WRONG_SHARE", wrong));
}

/* The derivative of loss_of with respect to z. */
static int slope_of(Body *body, const Op *op, int z) {
    double beta = op->attr.beta;
    if (op->attr.pair_loss == PAIR_IPO) {
        int off = step_binary(body, STEP_SUB, z, step_named(body, 1 / (2 * beta), "AIM"));
        return step_binary(body, STEP_MUL, step_const(body, 2), off);
    }
    int x = times(body, beta, "BETA", z);
    if (op->attr.pair_loss == PAIR_HINGE)
        return step_select(body, step_binary(body, STEP_LT, x, step_const(body, 1)),
                           step_named(body, -beta, "MINUS_BETA"), step_const(body, 0));
    Shares shares = shares_of(op);
    int right = step_unary(body, STEP_SIGMOID, step_unary(body, STEP_NEG, x));
    int slope = times(body, -beta * shares.right, "RIGHT_SLOPE", right);
    if (shares.wrong == 0)
        return slope;
    return step_binary(
        body, STEP_ADD, slope,
        times(body, beta * shares.wrong, "WRONG_SLOPE", step_unary(body, STEP_SIGMOID, x)));
}

static int weighted(Body *body, const Op *op, const Pair *pair, int x) {
    int part = step_binary(body, STEP_MUL, x, step_load(body, op->in[3]));
    return step_select(body, pair->there, part, step_const(body, 0));
}

static void expect_pairs(const Op *op, int operands) {
    op_expect_operands(op, operands);
    for (int i = 0; i < 3; i++)
        op_expect(op,
                  value_rows(op->in[i]) % 2 == 0 && value_cols(op->in[i]) == 1 &&
                      value_rows(op->in[i]) == value_rows(op->in[0]),
                  "no pairs");
}

void shape_pair_loss(Program *p, Op *op) {
    expect_pairs(op, 4);
    result_2d(p, op, 0, "", p->real, value_rows(op->in[0]) / 2, 1);
}

void expand_pair_loss(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = 1;
    Pair pair = pair_at(body, op, step_index(body, STEP_ROW));
    int loss = loss_of(body, op, log_ratio(body, op, &pair));
    step_store(body, op->out[0], weighted(body, op, &pair, loss));
}

void grad_pair_loss(Backward *b, const Op *op) {
    Value *in[] = {op->in[0], op->in[1], op->in[2], op->in[3], backward_of(b, op->out[0])};
    backward_emit(b, op, op->in[0], OP_pair_loss_grad, in, 5, op->attr);
}

void shape_pair_loss_grad(Program *p, Op *op) {
    expect_pairs(op, 5);
    result_like(p, op, 0, op->in[0]);
}

void expand_pair_loss_grad(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = 1;
    int row = step_index(body, STEP_ROW), two = step_const_int(body, 2);
    int second = step_binary(body, STEP_MOD, row, two);
    int at = step_binary(body, STEP_DIV, row, two);
    Pair pair = pair_at(body, op, step_hinted(body, at, "pair"));
    int slope = slope_of(body, op, log_ratio(body, op, &pair));
    if (op->attr.pair_loss == PAIR_IPO)
        slope = step_binary(body, STEP_DIV, slope, step_load(body, op->in[2]));
    int dloss =
        value_rows(op->in[4]) > 1 ? row_of(body, op->in[4], at) : step_load(body, op->in[4]);
    slope = step_binary(body, STEP_MUL, slope, dloss);
    slope = weighted(body, op, &pair, slope);
    int is_first = step_binary(body, STEP_EQ, second, step_const_int(body, 0));
    step_store(body, op->out[0],
               step_select(body, is_first, step_unary(body, STEP_NEG, slope), slope));
}

void shape_pair_metrics(Program *p, Op *op) {
    static const char *const suffix[] = {".accuracies", ".margins",     ".chosen",
                                         ".rejected",   ".logp_chosen", ".logp_rejected"};
    expect_pairs(op, 4);
    for (int i = 0; i < 6; i++)
        result_2d(p, op, i, suffix[i], p->real, value_rows(op->in[0]) / 2, 1);
}

void expand_pair_metrics(const Op *op, Body *body) {
    body->rows = value_rows(op->out[0]);
    body->cols = 1;
    Pair pair = pair_at(body, op, step_index(body, STEP_ROW));
    int chosen = times(body, op->attr.beta, "BETA", pair.chosen.ratio);
    int rejected = times(body, op->attr.beta, "BETA", pair.rejected.ratio);
    int better = step_select(body, step_binary(body, STEP_LT, rejected, chosen),
                             step_const(body, 1), step_const(body, 0));
    const int figures[] = {better,           step_binary(body, STEP_SUB, chosen, rejected),
                           chosen,           rejected,
                           pair.chosen.logp, pair.rejected.logp};
    for (int i = 0; i < 6; i++)
        step_store(body, op->out[i], weighted(body, op, &pair, figures[i]));
}
