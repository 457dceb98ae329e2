/* The gradients of batch norm include that of the ReLU after it: where they do, where not, and that
 * no bit changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "eval.h"
#include "model/model.h"
#include "pass/pass.h"
#include "plan/plan_steps.h"
#include "tests/unit/text_spec.h"

static Arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* ---- models ---------------------------------------------------------------------------------- */

enum { MOST_SETS = 4 };

static const char *const image_model =
    "[model]\nfamily = \"mobilenet_v2\"\nnum_classes = 10\nimage_size = 32\nwidth_mult = 0.1\n"
    "[training]\ntask = \"classify\"\nper_device_train_batch_size = 2\nsteps = 2\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"clamped\"\n";

static int count_of(const Program *p, OpKind kind) {
    int count = 0;
    for (int i = 0; i < p->entry[ENTRY_MICRO_STEP].op_count; i++)
        count += p->entry[ENTRY_MICRO_STEP].ops[i]->kind == kind;
    return count;
}

/* Checks how many batch norms' gradients include a ReLU's, and how many gradients of ReLUs remain. */
static void expect(int fused, int remaining, const char *const sets[MOST_SETS]) {
    Spec *spec = spec_of_sets(&arena, image_model, sets, MOST_SETS);
    Program *p = model_build(&arena, spec);
    passes_run(p, spec, NULL, NULL);
    int sums = count_of(p, OP_batch_norm_relu_grad_sums) + count_of(p, OP_batch_norm_relu6_grad_sums);
    int grads = count_of(p, OP_batch_norm_relu_grad) + count_of(p, OP_batch_norm_relu6_grad);
    assert_int_equal(sums, fused);
    assert_int_equal(grads, fused);
    int others = count_of(p, OP_relu_grad) + count_of(p, OP_relu_grad_masked) + count_of(p, OP_relu6_grad);
    assert_int_equal(others, remaining);
}

#define EXPECT(fused, remaining, ...) \
    expect(fused, remaining, (const char *const[MOST_SETS]){__VA_ARGS__})

static void mobilenet_fuses_all(void **state) {
    (void)state;
    enum { RELUS = 35 }; /* stem and head, one in the first block, two in each of the 16 others */
    EXPECT(RELUS, 0, NULL);
    EXPECT(RELUS, 0, "precision.dtype=\"bf16\"");
    EXPECT(RELUS, 0, "precision.dtype=\"fp16\"", "compile.layout=\"nchw\"");
    EXPECT(RELUS, 0, "training.gradient_accumulation_steps=2");
    EXPECT(0, RELUS, "compile.fusion=false");
}

/* At the end of a residual block an addition is in between, and in the stem a pool. */
static void resnet_keeps_those_after_additions(void **state) {
    (void)state;
    enum { BLOCKS = 8 };
    EXPECT(BLOCKS, BLOCKS + 1, "model.family=\"resnet\"", "model.depth=18");
    EXPECT(BLOCKS + 1, BLOCKS, "model.family=\"resnet\"", "model.depth=18", "compile.pool_first=false");
}

/* ---- single ops ------------------------------------------------------------------------------ */

enum { ROWS = 64, COLS = 24 };

/* One batch norm with its ReLU, forward and backward, and an op that comes between the ReLU's
 * gradient and its last reader. */
typedef struct {
    Program *program;
    Graph *graph;
    Value *x, *dz;
    Op *norm, *relu, *relu_grad, *sums, *between, *grad;
} Ops;

static Value *matrix(Ops *o, const char *name) {
    return value_2d(o->program, name, ROLE_FROZEN, DT_BF16, ROWS, COLS, (Pos){0});
}

static Value *channels(Ops *o, const char *name) {
    return value_1d(o->program, name, ROLE_FROZEN, DT_F32, COLS, (Pos){0});
}

static Op *add(Ops *o, OpKind kind, const char *name, Value *const *in, int count, Attr attr) {
    return op_add(o->program, o->graph, kind, name, in, count, attr, (Pos){0});
}

static Ops make(OpKind relu, OpKind relu_grad) {
    Ops o = {.program = program_new(&arena)};
    o.program->activation = DT_BF16;
    o.program->real = DT_F32;
    o.program->tokens = ROWS;
    o.graph = &o.program->entry[ENTRY_MICRO_STEP];
    o.x = matrix(&o, "x");
    o.dz = matrix(&o, "dz");
    Value *mean = channels(&o, "mean"), *rstd = channels(&o, "rstd");
    Value *w = channels(&o, "w"), *b = channels(&o, "b");
    o.norm = add(&o, OP_batch_norm, "norm", (Value *[]){o.x, mean, rstd, w, b}, 5, (Attr){0});
    o.relu = add(&o, relu, "relu", o.norm->out, 1, (Attr){0});
    Value *of_relu[] = {o.relu->out[0], o.dz};
    o.relu_grad = add(&o, relu_grad, "dy", of_relu, 2, (Attr){0});
    Value *dy = o.relu_grad->out[0], *of_sums[] = {o.x, mean, rstd, dy};
    o.sums = add(&o, OP_batch_norm_grad_sums, "sums", of_sums, 4, (Attr){0});
    o.between = add(&o, OP_silu, "between", &o.x, 1, (Attr){0});
    Value *of_grad[] = {o.x, mean, rstd, w, o.sums->out[0], o.sums->out[1], dy};
    o.grad = add(&o, OP_batch_norm_grad, "dx", of_grad, 7, (Attr){.rows = ROWS});
    for (int i = 0; i < 2; i++)
        value_set_role(o.sums->out[i], ROLE_GRADIENT);
    value_set_role(o.grad->out[0], ROLE_GRADIENT);
    return o;
}

static const Spec fusing = {.compile = {.fusion = true}};

static void expect_fused(const Ops *o, bool fused) {
    int ops = o->graph->op_count;
    assert_int_equal(pass_fuse_relu_grads(o->program, &fusing), fused);
    assert_int_equal(o->graph->op_count, ops - fused);
}

/* y comes close to 0 in the first half of the rows, and to 6 in the second, where rounding decides. */
static void fill(Memory *m, const Ops *o) {
    const double mean = 1, rstd = 0.5, weight = 2;
    for (int64_t i = 0; i < ROWS * COLS; i++) {
        double y = (i < ROWS * COLS / 2 ? 0 : 6) + 0.1 * sin(0.7 * (double)i);
        memory_set(m, o->x, i, y + mean);
        memory_set(m, o->dz, i, cos(0.3 * (double)i));
    }
    for (int64_t i = 0; i < COLS; i++) {
        memory_set(m, o->norm->in[1], i, mean);
        memory_set(m, o->norm->in[2], i, rstd);
        memory_set(m, o->norm->in[3], i, weight);
        memory_set(m, o->norm->in[4], i, 0.01 * (double)(i % 5));
    }
}

/* Returns what the step leaves in memory. */
static Memory run(const Ops *o) {
    Plan *plan = plan_new(o->program, &fusing, NULL);
    plan_launches(plan);
    Memory m = memory_new(o->program);
    fill(&m, o);
    eval_entry(&m, plan, ENTRY_MICRO_STEP);
    return m;
}

static void expect_same(const Memory *a, const Value *of_a, const Memory *b, const Value *of_b) {
    for (int64_t i = 0; i < value_elements(of_a); i++)
        assert_true(memory_get(a, of_a, i) == memory_get(b, of_b, i));
}

static void no_bit_changes(void **state) {
    (void)state;
    const OpKind relus[][2] = {{OP_relu, OP_relu_grad}, {OP_relu6, OP_relu6_grad}};
    for (int k = 0; k < 2; k++) {
        Ops before = make(relus[k][0], relus[k][1]), after = make(relus[k][0], relus[k][1]);
        expect_fused(&after, true);
        Memory a = run(&before), b = run(&after);
        for (int i = 0; i < 2; i++)
            expect_same(&a, before.sums->out[i], &b, after.sums->out[i]);
        expect_same(&a, before.grad->out[0], &b, after.grad->out[0]);
        memory_free(&a);
        memory_free(&b);
    }
}

static Ops make_relu(void) { return make(OP_relu, OP_relu_grad); }

static void both_readers_are_needed(void **state) {
    (void)state;
    Ops other = make_relu(), alone = make_relu();
    other.between->in[0] = other.relu_grad->out[0];
    expect_fused(&other, false);
    alone.graph->op_count--; /* nothing needs the gradient of x */
    expect_fused(&alone, true);
    assert_int_equal(alone.sums->kind, OP_batch_norm_relu_grad_sums);
}

static void gradients_of_another_norm_stay(void **state) {
    (void)state;
    Ops mean = make_relu(), x = make_relu(), kind = make(OP_relu6, OP_relu_grad);
    mean.sums->in[1] = channels(&mean, "other");
    x.grad->in[0] = matrix(&x, "other");
    expect_fused(&mean, false);
    expect_fused(&x, false);
    expect_fused(&kind, false);
}

static void dz_must_last(void **state) {
    (void)state;
    Ops written = make_relu(), waits = make_relu(), observed = make_relu(), awaited = make_relu();
    written.between->out[0] = value_alias(written.program, written.dz, "over dz");
    waits.grad->after = waits.between;
    observed.relu_grad->observe = "dy";
    awaited.between->after = awaited.relu_grad;
    expect_fused(&written, false);
    expect_fused(&waits, false);
    expect_fused(&observed, false);
    expect_fused(&awaited, false);
}

static void dz_is_rounded_as_dy_is(void **state) {
    (void)state;
    Ops wider = make_relu();
    wider.dz->dtype = DT_F32;
    expect_fused(&wider, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(mobilenet_fuses_all, free_arena),
        cmocka_unit_test_teardown(resnet_keeps_those_after_additions, free_arena),
        cmocka_unit_test_teardown(no_bit_changes, free_arena),
        cmocka_unit_test_teardown(both_readers_are_needed, free_arena),
        cmocka_unit_test_teardown(gradients_of_another_norm_stay, free_arena),
        cmocka_unit_test_teardown(dz_must_last, free_arena),
        cmocka_unit_test_teardown(dz_is_rounded_as_dy_is, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
