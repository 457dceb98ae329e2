/* Compares fused with unfused programs bit for bit, on random graphs; and tests what must not be
 * fused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/group.h"
#include "plan/phases.h"
#include "plan/plan_steps.h"
#include "plan/skeleton.h"
#include "random_graph.h"

enum { WIDE_GRAPHS = 16 };

static Plan *plan_of(Program *program, bool fusion) {
    static Spec specs[2]; /* a plan keeps its spec */
    specs[fusion].name = "test";
    specs[fusion].compile.fusion = fusion;
    Plan *plan = plan_new(program, &specs[fusion], NULL);
    plan_launches(plan);
    return plan;
}

/* Storages that outlive the entry have the same bits. */
static void assert_same(const Program *p, const Memory *a, const Memory *b, uint64_t seed) {
    for (int i = 0; i < p->value_count; i++) {
        const Value *v = p->values[i];
        if (v->role != ROLE_GRADIENT) continue;
        if (memcmp(a->bytes[v->storage->id], b->bytes[v->storage->id], (size_t)v->storage->bytes))
            fail_msg("graph %llu: %s differs", (unsigned long long)seed, v->name);
    }
}

static void run(const RandomGraph *g, const Plan *plan, Memory *memory) {
    random_fill(g, memory, 7);
    eval_entry(memory, plan, ENTRY_MICRO_STEP);
}

static int launches(const Plan *plan) { return plan->entry[ENTRY_MICRO_STEP].launch_count; }

/* Returns how many launches fusion saved. */
static int compare(uint64_t seed, DType activation, DType real, bool wide) {
    Arena arena = {0};
    RandomGraph g = random_graph(&arena, seed, activation, real, 4 + (int)(seed % 13), 1, wide);
    Plan *unfused = plan_of(g.program, false), *fused = plan_of(g.program, true);
    Memory a = memory_new(g.program), b = memory_new(g.program);
    run(&g, unfused, &a);
    run(&g, fused, &b);
    assert_same(g.program, &a, &b, seed);
    int saved = launches(unfused) - launches(fused);
    memory_free(&a);
    memory_free(&b);
    arena_free(&arena);
    return saved;
}

/* How many graphs a test draws if it usually draws `count`: GRAPHS_TIMES is set by make check-all. */
static int graphs_of(int count) {
    const char *times = getenv("GRAPHS_TIMES");
    return times ? count * (int)strtol(times, NULL, 10) : count;
}

/* Returns how many launches per graph fusion saved. */
static int compare_many(DType activation, DType real, int count, bool wide) {
    int saved = 0, graphs = graphs_of(count);
    for (int seed = 0; seed < graphs; seed++) saved += compare((uint64_t)seed, activation, real, wide);
    printf("[          ] %d graphs, %d launches saved\n", graphs, saved);
    return saved / graphs;
}

static void test_f32(void **state) {
    (void)state;
    assert_true(compare_many(DT_F32, DT_F32, 400, false) >= 2);
}

static void test_bf16(void **state) {
    (void)state;
    assert_true(compare_many(DT_BF16, DT_F32, 400, false) >= 2);
}

static void test_f64(void **state) {
    (void)state;
    assert_true(compare_many(DT_F64, DT_F64, 200, false) >= 2);
}

/* Each phase of a kernel reads such a row again. */
static void test_rows_wider_than_registers(void **state) {
    (void)state;
    assert_true(compare_many(DT_F32, DT_F32, WIDE_GRAPHS, true) >= 1);
    assert_true(compare_many(DT_BF16, DT_F32, WIDE_GRAPHS, true) >= 1);
    assert_true(compare_many(DT_F64, DT_F64, WIDE_GRAPHS, true) >= 1);
}

/* ---- by hand --------------------------------------------------------------------------------- */

typedef struct {
    Arena *arena;
    Program *program;
    Graph *graph;
} Hand;

static Hand hand_new(Arena *arena) {
    Hand h = {arena, program_new(arena), NULL};
    h.program->real = h.program->activation = DT_F32;
    h.graph = &h.program->entry[ENTRY_MICRO_STEP];
    return h;
}

static Value *matrix(Hand *h, const char *name, Role role, int64_t rows, int64_t cols) {
    return value_2d(h->program, name, role, DT_F32, rows, cols, (Pos){0});
}

static Value *op1(Hand *h, OpKind kind, const char *name, Value *a, Value *b, Value *to) {
    Value *in[] = {a, b};
    Attr attr = {.alpha = 2, .eps = 1e-5};
    return op_add_into(h->program, h->graph, kind, name, in, b ? 2 : 1, &to, to ? 1 : 0, attr, (Pos){0})->out[0];
}

static int launches_of(Hand *h) {
    int count = launches(plan_of(h->program, true));
    arena_free(h->arena);
    return count;
}

/* y = norm(a + b) with the sum stored as well: one kernel. */
static void test_residual_and_norm(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *a = matrix(&h, "a", ROLE_FROZEN, 4, 64), *b = matrix(&h, "b", ROLE_FROZEN, 4, 64);
    Value *w = value_1d(h.program, "w", ROLE_FROZEN, DT_F32, 64, (Pos){0});
    Value *x = op1(&h, OP_add, "x", a, b, NULL);
    op1(&h, OP_rms_norm, "y", x, w, NULL);
    op1(&h, OP_scale, "z", x, NULL, matrix(&h, "kept", ROLE_GRADIENT, 4, 64));
    assert_int_equal(launches_of(&h), 1);
}

/* z = 2 a + 2 b: what makes b's part joined nothing, because a product came between. The sum joins that
 * of a, which is nearer; then that of b moves down and joins too. */
static void test_sum_of_two_makers(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *b = matrix(&h, "b", ROLE_FROZEN, 64, 64), *w = matrix(&h, "w", ROLE_FROZEN, 64, 64);
    Value *of_b = op1(&h, OP_scale, "of_b", b, NULL, NULL);
    Value *of_a = op1(&h, OP_scale, "of_a", op1(&h, OP_matmul, "a", w, w, NULL), NULL, NULL);
    op1(&h, OP_add, "z", of_a, of_b, matrix(&h, "kept", ROLE_GRADIENT, 64, 64));
    assert_int_equal(launches_of(&h), 2);
}

/* A product reads 2 b later: it is stored anyway, and the sum reads it. */
static void test_maker_with_another_reader(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *b = matrix(&h, "b", ROLE_FROZEN, 64, 64), *w = matrix(&h, "w", ROLE_FROZEN, 64, 64);
    Value *of_b = op1(&h, OP_scale, "of_b", b, NULL, NULL);
    Value *of_a = op1(&h, OP_scale, "of_a", op1(&h, OP_matmul, "a", w, w, NULL), NULL, NULL);
    op1(&h, OP_add, "z", of_a, of_b, matrix(&h, "kept", ROLE_GRADIENT, 64, 64));
    op1(&h, OP_matmul, "c", of_b, w, matrix(&h, "also_kept", ROLE_GRADIENT, 64, 64));
    assert_int_equal(launches_of(&h), 4);
}

/* The product overwrites what the first maker reads, so that this cannot wait for the sum. */
static void test_maker_that_cannot_wait(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *b = matrix(&h, "b", ROLE_GRADIENT, 64, 64), *w = matrix(&h, "w", ROLE_FROZEN, 64, 64);
    Value *of_b = op1(&h, OP_scale, "of_b", b, NULL, NULL);
    Value *a = op1(&h, OP_matmul, "a", w, w, value_alias(h.program, b, "b2"));
    Value *of_a = op1(&h, OP_scale, "of_a", a, NULL, NULL);
    op1(&h, OP_add, "z", of_a, of_b, matrix(&h, "kept", ROLE_GRADIENT, 64, 64));
    assert_int_equal(launches_of(&h), 3);
}

/* A reader between two ops prevents fusion: it needs the first, and the second overwrites its
 * operand. */
static void test_overwriting_waits(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *a = matrix(&h, "a", ROLE_FROZEN, 64, 64);
    Value *x = op1(&h, OP_scale, "x", a, NULL, NULL);
    op_add(h.program, h.graph, OP_matmul, "m", (Value *[]){x, a}, 2, (Attr){.alpha = 1}, (Pos){0});
    op1(&h, OP_add, "again", x, a, value_alias(h.program, x, "x2"));
    assert_int_equal(launches_of(&h), 3);
}

/* The rotation reads the other half of the row, which other threads compute. */
static void test_rotation_reads_memory(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *a = matrix(&h, "a", ROLE_FROZEN, 4, 64), *table = matrix(&h, "cos", ROLE_FROZEN, 9, 32);
    Value *places = value_2d(h.program, "places", ROLE_INPUT, DT_I32, 4, 1, (Pos){0});
    Value *x = op1(&h, OP_scale, "x", a, NULL, NULL);
    op_add(h.program, h.graph, OP_rope, "r", (Value *[]){x, places, table, table}, 4, (Attr){.head_dim = 64}, (Pos){0});
    assert_int_equal(launches_of(&h), 2);
}

/* A sum over rows is complete only after its second pass. */
static void test_sum_over_rows_ends_a_kernel(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *a = matrix(&h, "a", ROLE_FROZEN, 1000, 64);
    Value *sums = op1(&h, OP_sum_squares, "sums", a, NULL, NULL);
    op1(&h, OP_mul, "x", a, sums, NULL);
    assert_int_equal(launches_of(&h), 3);
}

static Op *batch_norm_op(Hand *h, OpKind kind, const char *name, Value *const *in, int count, Attr attr) {
    return op_add(h->program, h->graph, kind, name, in, count, attr, (Pos){0});
}

static Value *channels(Hand *h, const char *name, Role role) {
    return value_1d(h->program, name, role, DT_F32, 64, (Pos){0});
}

/* The kernels: sums with their producer; totals with the statistics; norm, activation and residual.
 * In backward: mask and sums; totals with the gradients of weight and bias; dx. */
static void test_batch_norm_takes_three_kernels(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *a = matrix(&h, "a", ROLE_FROZEN, 600, 64), *w = channels(&h, "w", ROLE_FROZEN);
    Value *mean = channels(&h, "running_mean", ROLE_COUNTER), *var = channels(&h, "running_var", ROLE_COUNTER);
    Value *x = op1(&h, OP_scale, "x", a, NULL, NULL);
    Op *sums = batch_norm_op(&h, OP_batch_norm_sums, "sums", (Value *[]){x, mean}, 2, (Attr){0});
    Value *out[] = {NULL, NULL, value_alias(h.program, mean, "mean2"), value_alias(h.program, var, "var2")};
    Op *stats = op_add_into(h.program, h.graph, OP_batch_norm_stats, "stats",
                            (Value *[]){sums->out[0], sums->out[1], mean, var}, 4, out, 4, (Attr){.rows = 600}, (Pos){0});
    Value *m = stats->out[0], *rstd = stats->out[1];
    Value *y = batch_norm_op(&h, OP_batch_norm, "bn", (Value *[]){x, m, rstd, w, w}, 5, (Attr){0})->out[0];
    Value *act = op1(&h, OP_relu6, "act", y, NULL, NULL);
    Value *sum = op1(&h, OP_add, "residual", act, a, NULL), *b = matrix(&h, "b", ROLE_FROZEN, 64, 64);
    Value *back = op_add(h.program, h.graph, OP_matmul, "back", (Value *[]){sum, b}, 2, (Attr){.alpha = 1}, (Pos){0})->out[0];
    Value *dy = op1(&h, OP_relu6_grad, "dy", act, back, NULL);
    Op *dots = batch_norm_op(&h, OP_batch_norm_grad_sums, "dots", (Value *[]){x, m, rstd, dy}, 4, (Attr){0});
    op1(&h, OP_scale, "dw", dots->out[0], NULL, channels(&h, "dw", ROLE_GRADIENT));
    op1(&h, OP_scale, "db", dots->out[1], NULL, channels(&h, "db", ROLE_GRADIENT));
    Value *in[] = {x, m, rstd, w, dots->out[0], dots->out[1], dy}, *dx = matrix(&h, "dx", ROLE_GRADIENT, 600, 64);
    op_add_into(h.program, h.graph, OP_batch_norm_grad, "dx", in, 7, &dx, 1, (Attr){.rows = 600}, (Pos){0});
    assert_int_equal(launches_of(&h), 3 + 1 + 3);
}

/* One thread would overwrite a number that the others load. */
static void test_scalar_in_place(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *a = matrix(&h, "a", ROLE_FROZEN, 100, 64);
    Value *s = value_1d(h.program, "s", ROLE_COUNTER, DT_F32, 1, (Pos){0});
    op1(&h, OP_mul, "x", a, s, NULL);
    op1(&h, OP_add, "s", s, s, value_alias(h.program, s, "s2"));
    assert_int_equal(launches_of(&h), 2);
}

/* After a row's sum all threads have loaded it; stores that do not depend on the sum wait too. */
static void test_scalar_in_place_behind_a_sum(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *a = matrix(&h, "a", ROLE_FROZEN, 100, 1), *v[3];
    for (int i = 0; i < 3; i++)
        v[i] = value_1d(h.program, (const char *[]){"s", "t", "u"}[i], ROLE_COUNTER, DT_F32, 1, (Pos){0});
    Value *sum = op1(&h, OP_sum, "sum", a, NULL, NULL);
    op1(&h, OP_add, "t", v[1], sum, value_alias(h.program, v[1], "t2"));
    op1(&h, OP_mul, "u", v[0], sum, v[2]);
    op1(&h, OP_scale, "s", v[0], NULL, value_alias(h.program, v[0], "s2"));
    const Plan *plan = plan_of(h.program, true);
    assert_int_equal(launches(plan), 1);
    Phases phases = phases_of(&arena, plan->kernels[0].body);
    for (int i = 0; i < phases.body->count; i++)
        if (phases.body->steps[i].kind == STEP_STORE) assert_int_equal(phases.at[i], 1);
    arena_free(&arena);
}

/* The phase of the store over x if it is halved in place beside another op. */
static int phase_of_halving(Arena *arena, OpKind beside) {
    Hand h = hand_new(arena);
    Value *x = matrix(&h, "x", ROLE_OPTIMIZER, 4, 64);
    Value *w = value_1d(h.program, "w", ROLE_FROZEN, DT_F32, 64, (Pos){0});
    bool norm = beside == OP_rms_norm;
    op1(&h, beside, "beside", x, norm ? w : NULL, matrix(&h, "kept", ROLE_GRADIENT, 4, norm ? 64 : 1));
    op1(&h, OP_scale, "half", x, NULL, value_alias(h.program, x, "half"));
    const Plan *plan = plan_of(h.program, true);
    assert_int_equal(launches(plan), 1);
    Phases phases = phases_of(arena, plan->kernels[0].body);
    assert_int_equal(phases.count, 2);
    for (int i = 0; i < phases.body->count; i++)
        if (phases.body->steps[i].kind == STEP_STORE && value_same_place(phases.body->steps[i].value, x))
            return phases.at[i];
    fail_msg("nothing is stored over %s", x->name);
    return -1;
}

/* A store over what the row's sum reads too need not wait for the sum. It waits if the result of the
 * sum is used together with what it overwrites. */
static void test_store_in_place_beside_a_row_sum(void **state) {
    (void)state;
    Arena arena = {0};
    assert_int_equal(phase_of_halving(&arena, OP_row_squares), 0);
    assert_int_equal(phase_of_halving(&arena, OP_rms_norm), 1);
    arena_free(&arena);
}

/* Values that are read only inside a group are never stored. */
static void test_inner_values_stay_in_registers(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *a = matrix(&h, "a", ROLE_FROZEN, 4, 64);
    Value *x = op1(&h, OP_silu, "x", a, NULL, NULL);
    op1(&h, OP_scale, "y", x, NULL, matrix(&h, "kept", ROLE_GRADIENT, 4, 64));
    Plan *plan = plan_of(h.program, true);
    const Launch *launch = &plan->entry[ENTRY_MICRO_STEP].launches[0];
    assert_int_equal(launches(plan), 1);
    assert_int_equal(launch->arg_count, 2);
    for (int i = 0; i < launch->arg_count; i++) assert_ptr_not_equal(launch->arg[i]->storage, x->storage);
    arena_free(&arena);
}

static int launches_of_sums(int64_t rows) {
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *x = op1(&h, OP_scale, "x", matrix(&h, "a", ROLE_FROZEN, rows, 1), NULL, NULL);
    op1(&h, OP_sum, "sum", x, NULL, value_1d(h.program, "kept", ROLE_GRADIENT, DT_F32, 1, (Pos){0}));
    Value *y = op1(&h, OP_silu, "y", x, NULL, NULL);
    op1(&h, OP_sum, "sum2", y, NULL, value_1d(h.program, "kept2", ROLE_GRADIENT, DT_F32, 1, (Pos){0}));
    return launches_of(&h);
}

/* One block sums few rows and computes what it sums; more rows are computed by many blocks. */
static void test_few_rows_are_computed_where_they_are_summed(void **state) {
    (void)state;
    assert_int_equal(launches_of_sums(128), 1);
    assert_int_equal(launches_of_sums(129), 3);
}

/* A dump reads one value after a launch. */
static void test_launch_shows_one_value(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *x = op1(&h, OP_silu, "x", matrix(&h, "a", ROLE_FROZEN, 4, 64), NULL, NULL);
    op1(&h, OP_silu, "y", x, NULL, matrix(&h, "kept", ROLE_GRADIENT, 4, 64));
    for (int i = 0; i < 2; i++) h.graph->ops[i]->observe = h.graph->ops[i]->name;
    Plan *plan = plan_of(h.program, true);
    assert_int_equal(launches(plan), 2);
    for (int i = 0; i < 2; i++)
        assert_ptr_equal(plan->entry[ENTRY_MICRO_STEP].launches[i].observed, h.graph->ops[i]->out[0]);
    arena_free(&arena);
}

/* What earlier ops of a group pass on takes no parameter, so that more ops fit. */
static void test_inner_values_take_no_parameters(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *x = matrix(&h, "a", ROLE_FROZEN, 4, 64);
    for (int i = 0; i < GROUP_OPS - 1; i++) x = op1(&h, OP_silu, "x", x, NULL, NULL);
    op1(&h, OP_silu, "x", x, NULL, matrix(&h, "kept", ROLE_GRADIENT, 4, 64));
    assert_int_equal(launches_of(&h), 1);
}

/* ---- epilogues ------------------------------------------------------------------------------- */

enum { PLACES = 2 * 6 * 6, CHANNELS = 16 };

/* Input and result have the same number of channels and of places. */
static Value *convolution(Hand *h, OpKind kind, const char *name, Value *x) {
    int64_t dim[] = {CHANNELS, 3, 3, CHANNELS};
    Value *w = value_new(h->program, "w", ROLE_FROZEN, x->dtype, 4, dim, (Pos){0});
    Attr attr = {.window = {.height = 6, .width = 6, .kernel = 3, .stride = 1, .padding = 1}};
    return op_add(h->program, h->graph, kind, name, (Value *[]){x, w}, 2, attr, (Pos){0})->out[0];
}

static Value *places(Hand *h, const char *name, Role role) { return matrix(h, name, role, PLACES, CHANNELS); }

static const Launch *launch_with(const Plan *plan, OpKind kind) {
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < entry->launch_count; i++)
        for (int k = 0; k < entry->launches[i].op_count; k++)
            if (entry->launches[i].ops[k]->kind == kind) return &entry->launches[i];
    fail_msg("no launch with op kind %d", (int)kind);
    return NULL;
}

static bool stores(const Launch *launch, const Value *v) {
    for (int i = 0; i < launch->arg_count; i++)
        if (launch->written[i] && launch->arg[i] == v) return true;
    return false;
}

/* Bias, activation and residual: the result itself is never stored. */
static void test_convolution_with_epilogue(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *y = convolution(&h, OP_conv2d, "y", places(&h, "x", ROLE_FROZEN));
    Value *bias = value_1d(h.program, "bias", ROLE_FROZEN, DT_F32, CHANNELS, (Pos){0});
    Value *act = op1(&h, OP_relu, "act", op1(&h, OP_add_bias, "biased", y, bias, NULL), NULL, NULL);
    Value *to = places(&h, "to", ROLE_GRADIENT);
    op1(&h, OP_add, "sum", places(&h, "shortcut", ROLE_FROZEN), act, to);
    Plan *plan = plan_of(h.program, true);
    const Launch *launch = launch_with(plan, OP_conv2d);
    assert_int_equal(launches(plan), 1);
    assert_int_equal(launch->arg_count, 5);
    assert_true(stores(launch, to) && !stores(launch, y));
    arena_free(&arena);
}

/* A matrix product reads the unchanged result. */
static void test_result_with_other_readers_is_stored(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *y = convolution(&h, OP_conv2d, "y", places(&h, "x", ROLE_FROZEN)), *to = places(&h, "to", ROLE_GRADIENT);
    op1(&h, OP_relu, "act", y, NULL, to);
    op_add(h.program, h.graph, OP_matmul, "m", (Value *[]){y, y}, 2, (Attr){.alpha = 1, .transpose_b = true}, (Pos){0});
    Plan *plan = plan_of(h.program, true);
    const Launch *launch = launch_with(plan, OP_conv2d);
    assert_int_equal(launches(plan), 2);
    assert_true(stores(launch, to) && stores(launch, y));
    arena_free(&arena);
}

/* An activation's mask joins the epilogue; the sum over rows that follows does not. */
static void test_epilogue_ends_before_a_sum(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *dx = convolution(&h, OP_conv2d_input_grad, "dx", places(&h, "dy", ROLE_FROZEN));
    Value *masked = places(&h, "masked", ROLE_GRADIENT);
    op1(&h, OP_relu_grad, "mask", places(&h, "act", ROLE_FROZEN), dx, masked);
    op1(&h, OP_column_sum, "db", masked, NULL, value_1d(h.program, "db", ROLE_GRADIENT, DT_F32, CHANNELS, (Pos){0}));
    Plan *plan = plan_of(h.program, true);
    const Launch *launch = launch_with(plan, OP_conv2d_input_grad);
    assert_int_equal(launch->op_count, 2);
    assert_true(stores(launch, masked) && !stores(launch, dx));
    assert_ptr_not_equal(launch_with(plan, OP_column_sum), launch);
    arena_free(&arena);
}

/* A result in a wider type stays outside: the norm converts what it reads, instead of reading it
 * wide. */
static void test_epilogue_that_moves_more_is_left(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    h.program->activation = DT_BF16;
    Value *x = value_2d(h.program, "x", ROLE_FROZEN, DT_BF16, PLACES, CHANNELS, (Pos){0});
    Value *y = convolution(&h, OP_conv2d, "y", x), *wide = places(&h, "wide", ROLE_ACTIVATION);
    op1(&h, OP_cast, "wide", y, NULL, wide);
    op1(&h, OP_rms_norm, "norm", wide, value_1d(h.program, "w", ROLE_FROZEN, DT_F32, CHANNELS, (Pos){0}), NULL);
    Plan *plan = plan_of(h.program, true);
    assert_int_equal(launch_with(plan, OP_conv2d)->op_count, 1);
    assert_ptr_equal(launch_with(plan, OP_cast), launch_with(plan, OP_rms_norm));
    arena_free(&arena);
}

/* Other blocks still read the operand that the sum overwrites. */
static void test_epilogue_spares_the_source(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *x = op1(&h, OP_silu, "x", places(&h, "a", ROLE_FROZEN), NULL, NULL);
    Value *y = convolution(&h, OP_conv2d, "y", x);
    op1(&h, OP_add, "x2", x, y, value_alias(h.program, x, "x2"));
    assert_int_equal(launches_of(&h), 3);
}

/* ---- windows over a result ------------------------------------------------------------------- */

static Op *pool_of(Hand *h, Value *y, int64_t kernel, int64_t stride) {
    Attr attr = {.window = {.height = 6, .width = 6, .kernel = kernel, .stride = stride}};
    return op_add(h->program, h->graph, OP_max_pool2d, "pool", &y, 1, attr, (Pos){0});
}

/* Ops after the pool join too; neither result, biased result nor pool are stored. */
static void test_pool_in_an_epilogue(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *y = convolution(&h, OP_conv2d, "y", places(&h, "x", ROLE_FROZEN));
    Value *bias = value_1d(h.program, "bias", ROLE_FROZEN, DT_F32, CHANNELS, (Pos){0});
    Value *biased = op1(&h, OP_add_bias, "biased", y, bias, NULL);
    Op *pool = pool_of(&h, biased, 2, 2);
    Value *to = matrix(&h, "to", ROLE_GRADIENT, PLACES / 4, CHANNELS);
    op1(&h, OP_relu, "act", pool->out[0], NULL, to);
    Plan *plan = plan_of(h.program, true);
    const Launch *launch = launch_with(plan, OP_conv2d);
    assert_int_equal(launches(plan), 1);
    assert_int_equal(launch->op_count, 4);
    assert_int_equal(launch->arg_count, 4);
    assert_true(stores(launch, to) && !stores(launch, biased) && !stores(launch, pool->out[0]));
    assert_int_equal(plan->kernels[launch->index].rows, PLACES / 4);
    arena_free(&arena);
}

/* Residuals are read at the places under the window. */
static void test_pool_of_a_sum(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *y = convolution(&h, OP_conv2d, "y", places(&h, "x", ROLE_FROZEN));
    pool_of(&h, op1(&h, OP_add, "sum", places(&h, "shortcut", ROLE_FROZEN), y, NULL), 2, 2);
    Plan *plan = plan_of(h.program, true);
    assert_int_equal(launches(plan), 1);
    assert_int_equal(launch_with(plan, OP_conv2d)->op_count, 3);
    arena_free(&arena);
}

static int launches_with_pool(int64_t kernel, int64_t stride, bool read_otherwise) {
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *y = convolution(&h, OP_conv2d, "y", places(&h, "x", ROLE_FROZEN));
    pool_of(&h, y, kernel, stride);
    if (read_otherwise)
        op_add(h.program, h.graph, OP_matmul, "m", (Value *[]){y, y}, 2, (Attr){.alpha = 1, .transpose_b = true}, (Pos){0});
    Plan *plan = plan_of(h.program, true);
    int count = launches(plan);
    arena_free(&arena);
    return count;
}

/* A pool does not join if the result has other readers, or if its windows cross other threads'
 * rows. */
static void test_pool_that_stays_apart(void **state) {
    (void)state;
    assert_int_equal(launches_with_pool(2, 2, false), 1);
    assert_int_equal(launches_with_pool(2, 2, true), 3);
    assert_int_equal(launches_with_pool(2, 1, false), 2);
    assert_int_equal(launches_with_pool(3, 3, false), 2);
}

/* The clone of a value waits for backward; joined with the original it would save no memory. */
static void test_control_edge_is_kept(void **state) {
    (void)state;
    Arena arena = {0};
    Hand h = hand_new(&arena);
    Value *a = matrix(&h, "a", ROLE_FROZEN, 64, 64);
    op1(&h, OP_silu, "x", a, NULL, matrix(&h, "kept", ROLE_GRADIENT, 64, 64));
    op_add(h.program, h.graph, OP_matmul, "m", (Value *[]){a, a}, 2, (Attr){.alpha = 1}, (Pos){0});
    op1(&h, OP_silu, "clone", a, NULL, matrix(&h, "kept2", ROLE_GRADIENT, 64, 64));
    h.graph->ops[2]->after = h.graph->ops[1];
    Plan *plan = plan_of(h.program, true);
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    int matmul = 0, clone = 0;
    for (int i = 0; i < entry->launch_count; i++)
        for (int k = 0; k < entry->launches[i].op_count; k++) {
            if (entry->launches[i].ops[k] == h.graph->ops[1]) matmul = i;
            if (entry->launches[i].ops[k] == h.graph->ops[2]) clone = i;
        }
    assert_true(clone > matmul);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residual_and_norm),
        cmocka_unit_test(test_sum_of_two_makers),
        cmocka_unit_test(test_maker_with_another_reader),
        cmocka_unit_test(test_maker_that_cannot_wait),
        cmocka_unit_test(test_overwriting_waits),
        cmocka_unit_test(test_rotation_reads_memory),
        cmocka_unit_test(test_sum_over_rows_ends_a_kernel),
        cmocka_unit_test(test_batch_norm_takes_three_kernels),
        cmocka_unit_test(test_scalar_in_place),
        cmocka_unit_test(test_scalar_in_place_behind_a_sum),
        cmocka_unit_test(test_store_in_place_beside_a_row_sum),
        cmocka_unit_test(test_inner_values_stay_in_registers),
        cmocka_unit_test(test_few_rows_are_computed_where_they_are_summed),
        cmocka_unit_test(test_launch_shows_one_value),
        cmocka_unit_test(test_inner_values_take_no_parameters),
        cmocka_unit_test(test_convolution_with_epilogue),
        cmocka_unit_test(test_result_with_other_readers_is_stored),
        cmocka_unit_test(test_epilogue_ends_before_a_sum),
        cmocka_unit_test(test_epilogue_that_moves_more_is_left),
        cmocka_unit_test(test_epilogue_spares_the_source),
        cmocka_unit_test(test_pool_in_an_epilogue),
        cmocka_unit_test(test_pool_of_a_sum),
        cmocka_unit_test(test_pool_that_stays_apart),
        cmocka_unit_test(test_control_edge_is_kept),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_f64),
        cmocka_unit_test(test_rows_wider_than_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
