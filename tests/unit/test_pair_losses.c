/* The losses of pairs of sequences have the numbers of TRL's formulas, in fp64: loss, gradient and
 * metrics. The formulas are typed here as in its DPOTrainer, for one pair, and share nothing with the
 * compiler; gradients are their central differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "op_setup.h"
#include "tests/unit/spec_plan.h"
#include "tests/unit/text_spec.h"

enum { CHOSEN, REJECTED, METRICS = 6 };

static const Spec blank = {.parallelism = {.data_parallel_shard_degree = 1}};

/* Bounds for the same formula in another order, and for its differences over STEP, as a share of
 * 1 + size. Differences are also off by the rounding of the loss over STEP. */
static const double SAME = 1e-13, DIFFERENCE = 1e-9, STEP = 1e-4;
static const double WEIGHT = 0.6;

/* ---- TRL's formulas -------------------------------------------------------------------------- */

typedef struct {
    double logp[2], reference[2]; /* of the chosen sequence, of the rejected one */
    double targets[2];
} Numbers;

typedef struct {
    const char *name;
    PairLoss kind;
    double beta, smoothing;
    const char *sets[4]; /* a spec with this loss */
} Loss;

static const Loss losses[] = {
    {"sigmoid", PAIR_SIGMOID, 0.1, 0, {NULL}},
    {"sigmoid, another beta", PAIR_SIGMOID, 0.7, 0, {"dpo.beta=0.7"}},
    {"sigmoid, smoothed", PAIR_SIGMOID, 0.5, 0.2, {"dpo.beta=0.5", "dpo.label_smoothing=0.2"}},
    {"ipo", PAIR_IPO, 0.1, 0, {"dpo.loss_type=\"ipo\""}},
    {"ipo, another tau", PAIR_IPO, 1.6, 0, {"dpo.loss_type=\"ipo\"", "dpo.beta=1.6"}},
    {"hinge", PAIR_HINGE, 0.5, 0, {"dpo.loss_type=\"hinge\"", "dpo.beta=0.5"}},
    {"robust", PAIR_ROBUST, 0.3, 0, {"dpo.loss_type=\"robust\"", "dpo.beta=0.3"}},
    {"robust, smoothed",
     PAIR_ROBUST,
     0.3,
     0.2,
     {"dpo.loss_type=\"robust\"", "dpo.beta=0.3", "dpo.label_smoothing=0.2"}},
};
enum { LOSSES = sizeof losses / sizeof *losses };

static const Numbers pairs[] = {
    {{-12, -15.5}, {-12, -15.5}, {4, 7}},  /* the policy is the reference */
    {{-10.25, -17}, {-11, -16.5}, {4, 7}}, /* better by 1.25, within hinge's margin */
    {{-10, -19}, {-11.5, -15.25}, {5, 2}}, /* better by 5.25, beyond it */
    {{-14.5, -13}, {-11, -16.5}, {3, 9}},  /* worse */
    {{-3, -900}, {-700, -4}, {60, 1}},     /* much better */
    {{-900, -3}, {-4, -700}, {1, 60}},     /* much worse */
    {{-10, -19}, {-11.5, -15.25}, {0, 0}}, /* padding */
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static double log_sigmoid(double x) { return fmin(x, 0) - log1p(exp(-fabs(x))); }

static double loss_of(const Loss *l, const Numbers *n) {
    double chosen = n->logp[CHOSEN] - n->reference[CHOSEN];
    double rejected = n->logp[REJECTED] - n->reference[REJECTED];
    double logits = l->beta * (chosen - rejected), smoothing = l->smoothing;
    switch (l->kind) {
    case PAIR_SIGMOID: /* smoothed as in conservative DPO */
        return -log_sigmoid(logits) * (1 - smoothing) - log_sigmoid(-logits) * smoothing;
    case PAIR_HINGE:
        return fmax(1 - logits, 0);
    case PAIR_IPO:
        return pow(
            chosen / n->targets[CHOSEN] - rejected / n->targets[REJECTED] - 1 / (2 * l->beta), 2);
    case PAIR_ROBUST:
        return (-(1 - smoothing) * log_sigmoid(logits) + smoothing * log_sigmoid(-logits)) /
               (1 - 2 * smoothing);
    }
    fail_msg("no formula for %s", l->name);
    return 0;
}

/* d loss / d nll of a sequence */
static double gradient_of(const Loss *l, const Numbers *n, int sequence) {
    Numbers above = *n, below = *n;
    above.logp[sequence] -= STEP;
    below.logp[sequence] += STEP;
    return (loss_of(l, &above) - loss_of(l, &below)) / (2 * STEP);
}

static double metric_of(const Loss *l, const Numbers *n, int metric) {
    double chosen_reward = l->beta * (n->logp[CHOSEN] - n->reference[CHOSEN]);
    double rejected_reward = l->beta * (n->logp[REJECTED] - n->reference[REJECTED]);
    const double metrics[METRICS] = {chosen_reward > rejected_reward,
                                     chosen_reward - rejected_reward,
                                     chosen_reward,
                                     rejected_reward,
                                     n->logp[CHOSEN],
                                     n->logp[REJECTED]};
    return metrics[metric];
}

/* ---- the ops --------------------------------------------------------------------------------- */

typedef struct {
    Setup setup;
    Memory memory;
    Value *loss, *gradient, *gradient_at_once, **metrics;
} Run;

/* What reaches the gradient from behind, for a pair, or once for all of them. */
static double behind(int pair) { return 0.5 + pair; }
static const double behind_all = 1.75;

static void fill(Run *r, Value *const *in, const Value *each, const Value *all) {
    r->memory = filled_memory(&r->setup);
    for (int i = 0; i < 2 * PAIRS; i++) {
        const Numbers *n = &pairs[i / 2];
        memory_set(&r->memory, in[0], i, -n->logp[i % 2]);
        memory_set(&r->memory, in[1], i, -n->reference[i % 2]);
        memory_set(&r->memory, in[2], i, n->targets[i % 2]);
    }
    for (int i = 0; i < PAIRS; i++)
        memory_set(&r->memory, each, i, behind(i));
    memory_set(&r->memory, all, 0, behind_all);
}

/* Runs loss, gradient and metrics of all pairs. */
static void run(Run *r, const Loss *l) {
    *r = (Run){0};
    Setup *s = &r->setup;
    s->program = program_new(&s->arena);
    s->program->real = s->program->activation = DT_F64;
    s->graph = &s->program->entry[ENTRY_MICRO_STEP];
    Value *weight = value_1d(s->program, "weight", ROLE_CONSTANT, DT_F64, 1, (Pos){0});
    weight->data = &WEIGHT;
    Value *each = frozen(s, PAIRS, 1), *all = param(s, ROLE_FROZEN, 1, 1, 1, INIT_NORMAL);
    Value *in[] = {frozen(s, 2 * PAIRS, 1), frozen(s, 2 * PAIRS, 1), frozen(s, 2 * PAIRS, 1),
                   weight, each};
    Attr attr = {.pair_loss = l->kind, .beta = l->beta, .label_smoothing = l->smoothing};
    r->loss = op(s, OP_pair_loss, in, 4, attr);
    r->gradient = op(s, OP_pair_loss_grad, in, 5, attr);
    op(s, OP_pair_metrics, in, 4, attr);
    r->metrics = s->graph->ops[s->graph->op_count - 1]->out;
    in[4] = all;
    r->gradient_at_once = op(s, OP_pair_loss_grad, in, 5, attr);
    interpret_keep_results(s->program);
    fill(r, in, each, all);
    interpret_micro_step(&r->memory, interpret_plan(s->program, &blank));
}

static void run_free(Run *r) {
    memory_free(&r->memory);
    arena_free(&r->setup.arena);
}

static bool is_padding(int pair) { return pairs[pair].targets[CHOSEN] == 0; }

static void expect(const Loss *l, int pair, const char *what, double is, double of_formula,
                   double bound) {
    double wanted = is_padding(pair) ? 0 : WEIGHT * of_formula;
    if (!(fabs(is - wanted) <= (is_padding(pair) ? 0 : bound)))
        fail_msg("%s, %s of pair %d: %.17g, TRL's is %.17g", l->name, what, pair, is, wanted);
}

static double same(double size) { return SAME * (1 + fabs(size)); }

static double about(double size, double loss) {
    return DIFFERENCE * (1 + fabs(size)) + 2 * DBL_EPSILON * fabs(loss) / STEP;
}

static void test_loss(void **state) {
    const Loss *l = *state;
    Run r;
    run(&r, l);
    for (int i = 0; i < PAIRS; i++) {
        double wanted = loss_of(l, &pairs[i]);
        expect(l, i, "loss", memory_get(&r.memory, r.loss, i), wanted, same(wanted));
    }
    run_free(&r);
}

static void test_gradient(void **state) {
    const Loss *l = *state;
    Run r;
    run(&r, l);
    for (int i = 0; i < 2 * PAIRS; i++) {
        int pair = i / 2;
        double wanted = gradient_of(l, &pairs[pair], i % 2);
        double bound = about(wanted, loss_of(l, &pairs[pair]));
        expect(l, pair, "gradient", memory_get(&r.memory, r.gradient, i), behind(pair) * wanted,
               behind(pair) * bound);
        expect(l, pair, "gradient at once", memory_get(&r.memory, r.gradient_at_once, i),
               behind_all * wanted, behind_all * bound);
    }
    run_free(&r);
}

static void test_metrics(void **state) {
    const Loss *l = *state;
    static const char *const names[METRICS] = {"accuracy",        "margin",
                                               "chosen reward",   "rejected reward",
                                               "chosen log-prob", "rejected log-prob"};
    Run r;
    run(&r, l);
    for (int i = 0; i < PAIRS * METRICS; i++) {
        int pair = i / METRICS, metric = i % METRICS;
        double wanted = metric_of(l, &pairs[pair], metric);
        expect(l, pair, names[metric], memory_get(&r.memory, r.metrics[metric], pair), wanted,
               same(wanted));
    }
    run_free(&r);
}

/* ---- the spec -------------------------------------------------------------------------------- */

static const char text[] = "[model]\n"
                           "vocab_size = 24\n"
                           "hidden_size = 16\n"
                           "intermediate_size = 24\n"
                           "num_hidden_layers = 1\n"
                           "num_attention_heads = 2\n"
                           "max_position_embeddings = 12\n"
                           "[training]\n"
                           "task = \"dpo\"\n"
                           "seq_len = 12\n"
                           "per_device_train_batch_size = 1\n"
                           "steps = 4\n"
                           "[adapter]\n"
                           "type = \"lora\"\n"
                           "r = 4\n"
                           "[data]\n"
                           "format = \"jsonl\"\n"
                           "train = [\"none.jsonl\"]\n"
                           "validation = [\"none.jsonl\"]\n";

static int count_ops(const Graph *graph, OpKind kind, const Loss *l) {
    int count = 0;
    for (int i = 0; i < graph->op_count; i++) {
        const Op *o = graph->ops[i];
        if (o->kind != kind)
            continue;
        count++;
        assert_int_equal(o->attr.pair_loss, l->kind);
        assert_true(o->attr.beta == l->beta);
        assert_true(o->attr.label_smoothing == l->smoothing);
    }
    return count;
}

/* The keys reach the ops of training and of evaluation. */
static void test_spec(void **state) {
    const Loss *l = *state;
    Arena arena = {0};
    const Program *p = program_of_spec(&arena, spec_of_sets(&arena, text, l->sets, 4));
    assert_int_equal(count_ops(&p->entry[ENTRY_MICRO_STEP], OP_pair_loss, l), 1);
    assert_int_equal(count_ops(&p->entry[ENTRY_MICRO_STEP], OP_pair_loss_grad, l), 1);
    assert_int_equal(count_ops(&p->entry[ENTRY_MICRO_STEP], OP_pair_metrics, l), 1);
    assert_int_equal(count_ops(&p->entry[ENTRY_EVALUATE], OP_pair_loss, l), 1);
    assert_int_equal(count_ops(&p->entry[ENTRY_EVALUATE], OP_pair_metrics, l), 1);
    arena_free(&arena);
}

int main(void) {
    enum { TESTS = 4 };
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } kinds[TESTS] = {{"loss", test_loss},
                      {"gradient", test_gradient},
                      {"metrics", test_metrics},
                      {"spec", test_spec}};
    static char names[TESTS * LOSSES][64];
    struct CMUnitTest tests[TESTS * LOSSES];
    for (int i = 0; i < TESTS * LOSSES; i++) {
        const Loss *l = &losses[i / TESTS];
        snprintf(names[i], sizeof names[i], "%s: %s", l->name, kinds[i % TESTS].name);
        tests[i] =
            (struct CMUnitTest){names[i], kinds[i % TESTS].run, NULL, NULL, (void *)(uintptr_t)l};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
