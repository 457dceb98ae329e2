/* Ops whose results gradients do not test, in fp64: dropout's mask, top-k hits, what a norm makes
 * again; and that there is no backward if nothing trains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "graph/op_table.h"
#include "op_setup.h"
#include "pass/pass.h"

static const Spec blank = {.parallelism = {.data_parallel_shard_degree = 1}};

/* Runs the dropout case forward, with the given first row in the global batch and rate; kept[i]
 * says whether element i was kept. */
static void run_dropout(int first_row, double rate, bool *kept) {
    static const int seed = 1234, step = 3;
    Setup s = {0};
    s.program = program_new(&s.arena);
    s.program->real = s.program->activation = DT_F64;
    s.graph = &s.program->entry[ENTRY_MICRO_STEP];
    Value *x = activation(&s, COLS);
    Value *in[] = {x, integers(&s, 1, &seed), integers(&s, 1, &step), integers(&s, 1, &first_row)};
    Value *y = op(&s, OP_dropout, in, 4, (Attr){.rate = rate, .stream = 77});
    add_loss(&s, y);
    pass_lower(s.program, &blank);
    Memory m = filled_memory(&s);
    interpret_step(&m, interpret_plan(s.program, &blank));
    for (int64_t i = 0; i < value_elements(y); i++) {
        double before = memory_get(&m, x, i), after = memory_get(&m, y, i);
        kept[i] = after != 0;
        assert_true(fabs(after - (kept[i] ? before / (1 - rate) : 0)) <= 1e-15 * fabs(after));
    }
    memory_free(&m);
    arena_free(&s.arena);
}

/* Kept elements are scaled to preserve the mean; the mask depends on places in the global batch. */
static void test_dropout(void **state) {
    (void)state;
    bool kept[ROWS * COLS], later[ROWS * COLS];
    int count = 0;
    run_dropout(40, 0.4, kept);
    run_dropout(42, 0.4, later);
    for (int i = 0; i < ROWS * COLS; i++)
        count += kept[i];
    assert_true(count > 18 && count < 40); /* of 48; 28.8 are expected, give or take 3.4 */
    assert_memory_equal(kept + 2 * COLS, later, (ROWS - 2) * COLS * sizeof *kept);
    run_dropout(40, 0, kept);
    for (int i = 0; i < ROWS * COLS; i++)
        assert_true(kept[i]);
}

/* Ranks by logit, ties by number; -100 is ignored. */
static void test_topk_hits(void **state) {
    (void)state;
    enum { CHOICES = 7 };
    static const double logits[ROWS][CHOICES] = {
        {0, 5, 1, 2, 3, 4, -1}, /* 2 is fifth */
        {0, 5, 1, 2, 3, 4, -1}, /* 1 is first */
        {9, 5, 1, 2, 3, 4, 1},  /* 2 is sixth */
        {7, 7, 1, 2, 3, 4, 1},  /* 1 is after 0 */
        {7, 7, 1, 2, 3, 4, 1},  /* 0 is before 1 */
        {9, 9, 9, 9, 9, 9, 9},  /* ignored */
    };
    static const int labels[ROWS] = {2, 1, 2, 1, 0, -100};
    static const int hits[2][ROWS] = {{0, 1, 0, 0, 1, 0}, {1, 1, 0, 1, 1, 0}};
    Setup s = {0};
    s.program = program_new(&s.arena);
    s.program->real = s.program->activation = DT_F64;
    s.graph = &s.program->entry[ENTRY_MICRO_STEP];
    Value *x = frozen(&s, ROWS, CHOICES), *in[] = {x, integers(&s, ROWS, labels)};
    op(&s, OP_topk_hits, in, 2, (Attr){0});
    interpret_keep_results(s.program);
    Memory m = filled_memory(&s);
    for (int i = 0; i < ROWS * CHOICES; i++)
        memory_set(&m, x, i, logits[i / CHOICES][i % CHOICES]);
    interpret_micro_step(&m, interpret_plan(s.program, &blank));
    for (int i = 0; i < 2 * ROWS; i++)
        assert_int_equal(memory_get(&m, s.graph->ops[0]->out[i / ROWS], i % ROWS),
                         hits[i / ROWS][i % ROWS]);
    memory_free(&m);
    arena_free(&s.arena);
}

/* Checks that the op's first result, made again from its operands and its other results, has the same
 * bits. */
static void expect_applied(OpKind kind, int weights) {
    Setup s = {0};
    s.program = program_new(&s.arena);
    s.program->real = s.program->activation = DT_F64;
    s.graph = &s.program->entry[ENTRY_MICRO_STEP];
    Value *in[3] = {frozen(&s, ROWS, COLS)};
    for (int i = 1; i <= weights; i++)
        in[i] = param(&s, ROLE_FROZEN, 1, 1, COLS, INIT_NORMAL);
    Value *y = op(&s, kind, in, 1 + weights, (Attr){.eps = 1e-2});
    Op apply;
    assert_true(op_applied(s.graph->ops[0], &apply));
    Value *again = op(&s, apply.kind, apply.in, apply.in_count, apply.attr);
    interpret_keep_results(s.program);
    Memory m = filled_memory(&s);
    interpret_micro_step(&m, interpret_plan(s.program, &blank));
    for (int64_t i = 0; i < value_elements(y); i++) {
        double element = memory_get(&m, y, i);
        assert_true(element != 0);
        assert_memory_equal(&element, &(double){memory_get(&m, again, i)}, sizeof element);
    }
    memory_free(&m);
    arena_free(&s.arena);
}

static void test_norms_are_made_again(void **state) {
    (void)state;
    expect_applied(OP_rms_norm, 1);
    expect_applied(OP_layer_norm, 2);
    assert_false(op_applied(&(Op){.kind = OP_swiglu}, &(Op){0}));
}

/* If nothing trains, there is no backward. */
static void test_frozen_weights_cost_nothing(void **state) {
    (void)state;
    Setup s = {0};
    s.program = program_new(&s.arena);
    s.program->real = s.program->activation = DT_F64;
    s.graph = &s.program->entry[ENTRY_MICRO_STEP];
    add_loss(&s, op2(&s, OP_linear, frozen(&s, ROWS, WIDTH), frozen(&s, COLS, WIDTH)));
    int forward = s.graph->op_count;
    pass_train_state(s.program, &blank);
    pass_autodiff(s.program, &blank);
    assert_int_equal(s.graph->op_count, forward);
    assert_null(s.program->train.gradient);
    arena_free(&s.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_topk_hits),
        cmocka_unit_test(test_norms_are_made_again),
        cmocka_unit_test(test_frozen_weights_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
