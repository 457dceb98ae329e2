/* The update: gradient norm, clipping, AdamW or SGD, and the step's counters. All trained tensors
 * are one run of memory seen as [R,1024], so the number of layers changes only R.
 *
 * sum_squares  (g[R,C]) -> [C] sums over rows of g^2
 * clip_factor  (norm2[1], step, bad_step, grad_norm[steps,1] [, scale]) -> factor[1], grad_norm;
 *              norm2 is the squared norm of gradients that are multiplied by scale; the factor is
 *              for these gradients too, so it includes 1 / scale. As in
 *              torch.nn.utils.clip_grad_norm_: min(1, max_norm / (norm + 1e-6)); 0 means "apply no
 *              update": the norm is not finite, or was not in an earlier step
 * update_gate  (loss[1], bad_step) -> factor[1]: 1, or 0 if the loss is not finite, or a step was bad
 *              before; for updates that do not wait for the norm
 * rates        (step, lr[steps,1] [, applied, bias1[steps,1], bias2[steps,1]])
 *              -> lr[1] [, bias1[1], bias2[1]]: lr of this step, biases of update `applied`
 * adamw        (p, g, m, v, factor, lr[1], bias1[1], bias2[1])
 *              -> p, m, v [, copy of p in another dtype]; as torch.optim.AdamW (Loshchilov and
 *              Hutter, arXiv 1711.05101)
 * adamw_int8   (p[B,256], g, codes of m, codes of v, factor, lr[1], bias1[1], bias2[1],
 *              absmax[B,1] of m, of v, map[256,1] and bounds[255,1] for m, for v)
 *              -> p, codes of m, of v, absmax of m, of v [, copy of p in another dtype]; the same,
 *              with moments coded as in bitsandbytes (Dettmers, Lewis, Shleifer, Zettlemoyer,
 *              arXiv 2110.02861): p is updated with the new moments before these are coded again
 * sgd          (p, g, factor, lr[1] [, momentum buffer])
 *              -> p [, momentum buffer] [, copy of p in another dtype]; as torch.optim.SGD; the
 *              buffer exists if attr.momentum is not 0
 *              With attr.in_backward the last result of these three is squares[R,1], each row's sum
 *              of g^2
 * record_step  (sum[1], step, history[steps,1]) -> sum reset to 0, history with the sum at `step`
 * advance_step (factor, step, applied, step_loss, loss[steps,1] [, bad_step])
 *              -> the same without factor; bad_step is the first step whose factor was 0 */
#include "graph/code_steps.h"
#include "graph/op_table.h"

void shape_sum_squares(Program *p, Op *op) {
    result_1d(p, op, 0, "", p->real, value_cols(op->in[0]));
}

void expand_sum_squares(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int g = step_load(body, op->in[0]);
    step_col_sum(body, op->out[0], step_binary(body, STEP_MUL, g, g));
}

void shape_clip_factor(Program *p, Op *op) {
    bool scaled = op->in_count == 5;
    op_expect(op, op->in_count == 4 + scaled && op->out_count == 2, "operands");
    op_expect(op, value_same_place(op->in[3], op->out[1]), "grad_norm is not in place");
    result_1d(p, op, 0, "", p->real, 1);
}

void expand_clip_factor(const Op *op, Body *body) {
    body->rows = body->cols = 1;
    int norm = step_unary(body, STEP_SQRT, step_load(body, op->in[0]));
    int scale = op->in_count > 4 ? step_load(body, op->in[4]) : -1;
    if (scale >= 0)
        norm = step_binary(body, STEP_DIV, norm, scale);
    step_hinted(body, norm, "norm");
    int step = step_load(body, op->in[1]), bad_step = step_load(body, op->in[2]);
    step_store_at(body, op->out[1], step, norm);
    int one = step_const(body, 1), zero = step_const(body, 0), factor = one;
    if (op->attr.max_norm > 0) {
        int guarded = step_binary(body, STEP_ADD, norm, step_named(body, 1e-6, "NORM_EPS"));
        factor =
            step_binary(body, STEP_DIV, step_named(body, op->attr.max_norm, "MAX_NORM"), guarded);
        factor = step_binary(body, STEP_MIN, one, factor);
    }
    if (scale >= 0)
        factor = step_binary(body, STEP_DIV, factor, scale);
    int good_so_far = step_binary(body, STEP_LT, bad_step, step_const_int(body, 0));
    step_hinted(body, good_so_far, "good_so_far");
    factor = step_called(body, step_select(body, good_so_far, factor, zero), "factor");
    step_store(body, op->out[0],
               step_select(body, step_unary(body, STEP_FINITE, norm), factor, zero));
}

void shape_update_gate(Program *p, Op *op) {
    op_expect(op, op->in_count == 2, "operands");
    result_1d(p, op, 0, "", p->real, 1);
}

void expand_update_gate(const Op *op, Body *body) {
    body->rows = body->cols = 1;
    int loss = step_load(body, op->in[0]), bad_step = step_load(body, op->in[1]);
    int one = step_const(body, 1), zero = step_const(body, 0);
    int good_so_far = step_binary(body, STEP_LT, bad_step, step_const_int(body, 0));
    step_hinted(body, good_so_far, "good_so_far");
    int gate = step_select(body, step_unary(body, STEP_FINITE, loss), one, zero);
    step_store(body, op->out[0], step_select(body, good_so_far, gate, zero));
}

static int applies(Body *body, int factor) {
    return step_hinted(body, step_binary(body, STEP_LT, step_const(body, 0), factor), "applies");
}

void shape_rates(Program *p, Op *op) {
    op_expect(op, op->in_count == 2 || op->in_count == 5, "operands");
    result_1d(p, op, 0, ".lr", p->real, 1);
    if (op->in_count == 2)
        return;
    result_1d(p, op, 1, ".bias_correction1", p->real, 1);
    result_1d(p, op, 2, ".bias_correction2_sqrt", p->real, 1);
}

void expand_rates(const Op *op, Body *body) {
    static const int table[] = {1, 3, 4};
    body->rows = body->cols = 1;
    for (int i = 0; i < op->out_count; i++) {
        int at = step_load(body, op->in[i ? 2 : 0]);
        step_store(body, op->out[i], step_load_mapped(body, op->in[table[i]], at, COL_SAME, 0));
    }
}

void shape_adamw(Program *p, Op *op) {
    (void)p;
    static const int place[] = {0, 2, 3};
    op_expect(op, op->in_count == 8 && op->out_count >= 3, "operands");
    for (int i = 0; i < 3; i++)
        op_expect(op, value_same_place(op->in[place[i]], op->out[i]),
                  "a state is not updated in place");
}

/* An element's new values, and whether to apply the update, which p already takes into account. */
typedef struct {
    int p, m, v, apply;
} AdamwStep;

/* A gradient times the factor. In backward one that is not finite counts as 0: so weights stay
 * finite, and the bad step can be run again to find out why. The last result is then each row's sum
 * of squares, for the norm. */
static int clipped(const Op *op, Body *body, int g, int factor) {
    if (op->attr.in_backward) {
        step_store(body, op->out[op->out_count - 1],
                   step_reduce(body, STEP_ROW_SUM, step_binary(body, STEP_MUL, g, g)));
        g = step_select(body, step_unary(body, STEP_FINITE, g), g, step_const(body, 0));
    }
    return step_hinted(body, step_binary(body, STEP_MUL, g, factor), "clipped");
}

/* The number of results, without the squares. */
static int result_count(const Op *op) { return op->out_count - op->attr.in_backward; }

static int decayed(Body *body, int p, int lr, double weight_decay) {
    int one = step_const(body, 1);
    int decay = step_binary(body, STEP_MUL, lr, step_named(body, weight_decay, "WEIGHT_DECAY"));
    int kept = step_binary(body, STEP_SUB, one, step_hinted(body, decay, "decay"));
    int rest = step_binary(body, STEP_MUL, p, step_hinted(body, kept, "kept"));
    return step_hinted(body, rest, "decayed");
}

/* Operands 4 to 7 are the same in both ops. */
static AdamwStep adamw_step(const Op *op, Body *body, int p, int g, int m, int v) {
    const Attr *a = &op->attr;
    int factor = step_load(body, op->in[4]), lr = step_load(body, op->in[5]);
    int bias1 = step_load(body, op->in[6]), bias2 = step_load(body, op->in[7]);
    g = clipped(op, body, g, factor);
    int to_g = step_binary(body, STEP_MUL, step_named(body, 1 - a->beta1, "ONE_MINUS_BETA1"),
                           step_binary(body, STEP_SUB, g, m));
    int new_m = step_hinted(body, step_binary(body, STEP_ADD, m, to_g), "mean");
    int g2 = step_binary(body, STEP_MUL, step_named(body, 1 - a->beta2, "ONE_MINUS_BETA2"),
                         step_binary(body, STEP_MUL, g, g));
    int kept = step_binary(body, STEP_MUL, step_named(body, a->beta2, "BETA2"), v);
    int new_v = step_hinted(body, step_binary(body, STEP_ADD, kept, g2), "mean_sq");
    int new_p = a->weight_decay > 0 ? decayed(body, p, lr, a->weight_decay) : p;
    int root = step_binary(body, STEP_DIV, step_unary(body, STEP_SQRT, new_v), bias2);
    int ratio = step_binary(body, STEP_DIV, new_m,
                            step_binary(body, STEP_ADD, root, step_named(body, a->eps, "EPS")));
    int rate = step_hinted(body, step_binary(body, STEP_DIV, lr, bias1), "rate");
    int change = step_hinted(body, step_binary(body, STEP_MUL, rate, ratio), "change");
    new_p = step_binary(body, STEP_SUB, new_p, change);
    step_hinted(body, new_p, "updated");
    int apply = applies(body, factor);
    return (AdamwStep){step_select(body, apply, new_p, p), new_m, new_v, apply};
}

void expand_adamw(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int p = step_load(body, op->in[0]), g = step_load(body, op->in[1]);
    int m = step_load(body, op->in[2]), v = step_load(body, op->in[3]);
    AdamwStep next = adamw_step(op, body, p, g, m, v);
    step_store(body, op->out[0], next.p);
    step_store(body, op->out[1], step_select(body, next.apply, next.m, m));
    step_store(body, op->out[2], step_select(body, next.apply, next.v, v));
    if (result_count(op) == 4)
        step_store(body, op->out[3], next.p);
}

void shape_adamw_int8(Program *p, Op *op) {
    (void)p;
    static const int place[] = {0, 2, 3, 8, 9};
    op_expect(op, op->in_count == 14 && op->out_count >= 5, "operands");
    for (int i = 0; i < 5; i++)
        op_expect(op, value_same_place(op->in[place[i]], op->out[i]),
                  "a state is not updated in place");
}

/* A coded moment: indices of its operands and results, and the steps that load it. */
typedef struct {
    int codes, absmax, map, bounds; /* in op->in */
    int to, absmax_to;              /* in op->out */
    int code, largest;              /* steps: before the update */
} Coded;

static int decoded(const Op *op, Body *body, Coded *c) {
    c->code = step_load(body, op->in[c->codes]);
    c->largest = step_load(body, op->in[c->absmax]);
    return fp32_of(body, STEP_MUL, listed(body, op->in[c->map], c->code), c->largest);
}

/* All threads of a row have read its old absmax when its maximum, the new one, is known. So the new one
 * can be stored over it. */
static void store_coded(const Op *op, Body *body, const Coded *c, int moment, int apply) {
    int x = step_round(body, DT_F32, moment);
    int largest = step_hinted(body, step_reduce(body, STEP_ROW_MAX, magnitude(body, x)), "absmax");
    int divisor = step_binary(body, STEP_MAX, largest, step_named(body, 1e-38, "LEAST_ABSMAX"));
    int code = count_below(body, op->in[c->bounds], fp32_of(body, STEP_DIV, x, divisor));
    step_store(body, op->out[c->to], step_select(body, apply, code, c->code));
    step_store(body, op->out[c->absmax_to], step_select(body, apply, largest, c->largest));
}

void expand_adamw_int8(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    Coded first = {.codes = 2, .absmax = 8, .map = 10, .bounds = 11, .to = 1, .absmax_to = 3};
    Coded second = {.codes = 3, .absmax = 9, .map = 12, .bounds = 13, .to = 2, .absmax_to = 4};
    int p = step_load(body, op->in[0]), g = step_load(body, op->in[1]);
    int m = decoded(op, body, &first), v = decoded(op, body, &second);
    AdamwStep next = adamw_step(op, body, p, g, m, v);
    store_coded(op, body, &first, next.m, next.apply);
    store_coded(op, body, &second, next.v, next.apply);
    step_store(body, op->out[0], next.p);
    if (result_count(op) == 6)
        step_store(body, op->out[5], next.p);
}

void shape_sgd(Program *p, Op *op) {
    (void)p;
    bool momentum = op->attr.momentum > 0;
    op_expect(op, op->in_count == 4 + momentum && op->out_count >= 1 + momentum, "operands");
    op_expect(op,
              value_same_place(op->in[0], op->out[0]) &&
                  (!momentum || value_same_place(op->in[4], op->out[1])),
              "a state is not updated in place");
}

/* Returns the direction of the update; stores the momentum buffer if there is one. */
static int sgd_direction(const Op *op, Body *body, int g, int apply) {
    if (op->attr.momentum == 0)
        return g;
    int share = step_named(body, op->attr.momentum, "MOMENTUM"),
        buffer = step_load(body, op->in[4]);
    int kept = step_binary(body, STEP_MUL, share, buffer);
    int new_buffer = step_hinted(body, step_binary(body, STEP_ADD, kept, g), "momentum");
    step_store(body, op->out[1], step_select(body, apply, new_buffer, buffer));
    if (!op->attr.nesterov)
        return new_buffer;
    return step_binary(body, STEP_ADD, g, step_binary(body, STEP_MUL, share, new_buffer));
}

void expand_sgd(const Op *op, Body *body) {
    body_space(body, op->in[0]);
    int p = step_load(body, op->in[0]), g = step_load(body, op->in[1]);
    int factor = step_load(body, op->in[2]), apply = applies(body, factor);
    int lr = step_load(body, op->in[3]);
    g = clipped(op, body, g, factor);
    if (op->attr.weight_decay > 0) {
        int share = step_named(body, op->attr.weight_decay, "WEIGHT_DECAY");
        int decay = step_binary(body, STEP_MUL, share, p);
        g = step_binary(body, STEP_ADD, g, decay);
        step_hinted(body, g, "decayed");
    }
    int way = step_binary(body, STEP_MUL, lr, sgd_direction(op, body, g, apply));
    int new_p = step_select(body, apply, step_binary(body, STEP_SUB, p, way), p);
    step_store(body, op->out[0], new_p);
    int copy = 1 + (op->attr.momentum > 0);
    if (result_count(op) > copy)
        step_store(body, op->out[copy], new_p);
}

void shape_record_step(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 3 && op->out_count == 2, "operands");
    op_expect(op,
              value_same_place(op->in[0], op->out[0]) && value_same_place(op->in[2], op->out[1]),
              "not in place");
}

void expand_record_step(const Op *op, Body *body) {
    body->rows = body->cols = 1;
    int sum = step_load(body, op->in[0]), step = step_load(body, op->in[1]);
    step_store_at(body, op->out[1], step, sum);
    step_store(body, op->out[0], step_const(body, 0));
}

void shape_advance_step(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count >= 5 && op->out_count == op->in_count - 1, "operands");
    for (int i = 0; i < op->out_count; i++)
        op_expect(op, value_same_place(op->in[i + 1], op->out[i]), "not in place");
}

void expand_advance_step(const Op *op, Body *body) {
    body->rows = body->cols = 1;
    bool stops = op->in_count == 6;
    int apply = applies(body, step_load(body, op->in[0]));
    int step = step_load(body, op->in[1]), applied = step_load(body, op->in[2]);
    int bad_step = stops ? step_load(body, op->in[5]) : -1;
    int step_loss = step_load(body, op->in[3]);
    int one = step_const_int(body, 1), zero = step_const_int(body, 0);
    step_store_at(body, op->out[3], step, step_loss);
    step_store(body, op->out[0], step_binary(body, STEP_ADD, step, one));
    step_store(body, op->out[1],
               step_select(body, apply, step_binary(body, STEP_ADD, applied, one), applied));
    if (stops) {
        int good_so_far = step_binary(body, STEP_LT, bad_step, zero);
        int first_bad = step_select(body, good_so_far, step, bad_step);
        step_store(body, op->out[4], step_select(body, apply, bad_step, first_bad));
    }
    step_store(body, op->out[2], step_const(body, 0));
}
