/* Backward reads masks of ReLUs: where it does, where not, and that no bit changes. */
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

enum { MOST_SETS = 5 };

#define IMAGE_MODEL(family)                                                              \
    "[model]\nfamily = " family "\nnum_classes = 10\nimage_size = 32\n"                 \
    "[training]\ntask = \"classify\"\nper_device_train_batch_size = 2\nsteps = 2\n"     \
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"masked\"\n"

static const char resnet[] = IMAGE_MODEL("\"resnet\"\ndepth = 18");
static const char cnn[] = IMAGE_MODEL("\"cnn\"");

static int count_of(const Program *p, OpKind kind) {
    int count = 0;
    for (int i = 0; i < p->entry[ENTRY_MICRO_STEP].op_count; i++)
        count += p->entry[ENTRY_MICRO_STEP].ops[i]->kind == kind;
    return count;
}

/* Checks how many ReLUs have masks, and how many gradients read a result. */
static void expect(const char *model, int masks, int whole, const char *const sets[MOST_SETS]) {
    Spec *spec = spec_of_sets(&arena, model, sets, MOST_SETS);
    Program *p = model_build(&arena, spec);
    passes_run(p, spec, NULL, NULL);
    assert_int_equal(count_of(p, OP_relu_mask), masks);
    assert_int_equal(count_of(p, OP_relu_grad_masked), masks);
    assert_int_equal(count_of(p, OP_relu_grad), whole);
}

#define EXPECT(model, masks, whole, ...) expect(model, masks, whole, (const char *const[MOST_SETS]){__VA_ARGS__})

/* At the end of each block, and behind the stem's pool; the other gradients are batch norm's. */
static void resnet_masks_all(void **state) {
    (void)state;
    enum { RELUS = 9 };
    EXPECT(resnet, RELUS, 0, NULL);
    EXPECT(resnet, RELUS, 0, "precision.dtype=\"bf16\"");
    EXPECT(resnet, RELUS, 0, "precision.dtype=\"fp64\"", "training.gradient_accumulation_steps=2");
    EXPECT(resnet, 0, RELUS, "compile.relu_masks=false");
    EXPECT(resnet, 0, RELUS, "compile.layout=\"nchw\"");
    EXPECT(resnet, 0, 2 * RELUS - 1, "compile.fusion=false");
}

/* Between a convolution and its ReLU there is only a bias, behind linear layers no epilogue. */
static void epilogues_keep_theirs(void **state) {
    (void)state;
    static const char two[] =
        "model.layers=[\"conv 16 3\", \"relu\", \"flatten\", \"linear 64\", \"relu\", \"linear 10\"]";
    EXPECT(cnn, 1, 1, two, "compile.narrow_linears=false");
    EXPECT(cnn, 0, 2, two); /* a linear of few outputs is of rows, and the ReLU joins it */
    EXPECT(cnn, 0, 1, "model.layers=[\"conv 16 3\", \"relu\", \"flatten\", \"linear 10\"]");
    EXPECT(cnn, 0, 1, "model.layers=[\"conv 16 3\", \"relu\", \"max_pool 2\", \"flatten\", \"linear 10\"]");
}

/* Rows of 8 numbers in 16 bits are one byte of a mask; those of 20 are no whole bytes. */
static void masks_need_whole_bytes(void **state) {
    (void)state;
    static const struct {
        const char *width, *dtype;
        int masks;
    } cases[] = {{"24", "bf16", 1}, {"20", "bf16", 0}, {"8", "bf16", 0}, {"16", "fp16", 1},
                 {"20", "fp32", 1}, {"22", "fp32", 0}, {"4", "fp32", 0}, {"22", "fp64", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *layers = arena_printf(&arena, "model.layers=[\"flatten\", \"linear %s\", \"relu\", \"linear 10\"]",
                                          cases[i].width);
        EXPECT(cnn, cases[i].masks, !cases[i].masks, layers,
               arena_printf(&arena, "precision.dtype=\"%s\"", cases[i].dtype), "compile.narrow_linears=false");
    }
}

static int64_t scratch_of(const char *mode, const char *masks) {
    const char *const sets[MOST_SETS] = {"precision.dtype=\"bf16\"", "model.image_size=64",
                                          "training.per_device_train_batch_size=64", mode, masks};
    Spec *spec = spec_of_sets(&arena, resnet, sets, MOST_SETS);
    Program *p = model_build(&arena, spec);
    passes_run(p, spec, NULL, NULL);
    Plan *plan = plan_new(p, spec, NULL);
    plan_launches(plan);
    plan_memory(plan);
    return plan->arena_bytes[ARENA_SCRATCH];
}

/* Recomputation drops what masks were made of, and makes masks again. */
static void masks_hold_no_results(void **state) {
    (void)state;
    static const char none[] = "activation_checkpoint.mode=\"none\"", full[] = "activation_checkpoint.mode=\"full\"";
    static const char on[] = "compile.relu_masks=true", off[] = "compile.relu_masks=false";
    int64_t kept = scratch_of(none, on), with = scratch_of(full, on), without = scratch_of(full, off);
    assert_true(10 * without < 8 * kept);
    assert_true(10 * with < 11 * without);
}

/* ---- single ops ------------------------------------------------------------------------------ */

enum { ROWS = 24, COLS = 40 };

/* A sum with its ReLU, whose result two gradients read. */
typedef struct {
    Program *program;
    Value *x, *dy;
    Op *relu, *grad[2];
} Ops;

static Op *add(Ops *o, OpKind kind, const char *name, Value *a, Value *b) {
    return op_add(o->program, &o->program->entry[ENTRY_MICRO_STEP], kind, name, (Value *[]){a, b}, b ? 2 : 1, (Attr){0},
                  (Pos){0});
}

static Ops make(DType dtype) {
    Ops o = {.program = program_new(&arena)};
    o.program->activation = dtype;
    o.program->real = dtype == DT_F64 ? DT_F64 : DT_F32;
    o.x = value_2d(o.program, "x", ROLE_FROZEN, dtype, ROWS, COLS, (Pos){0});
    o.dy = value_2d(o.program, "dy", ROLE_FROZEN, dtype, ROWS, COLS, (Pos){0});
    o.relu = add(&o, OP_relu, "relu", add(&o, OP_add, "sum", o.x, o.x)->out[0], NULL);
    for (int i = 0; i < 2; i++) {
        o.grad[i] = add(&o, OP_relu_grad, i ? "dx" : "dx_2", o.relu->out[0], o.dy);
        value_set_role(o.grad[i]->out[0], ROLE_GRADIENT);
    }
    return o;
}

static const Spec masking = {.compile = {.fusion = true, .relu_masks = true}};

/* Zeros of both signs, numbers close to them, infinities and NaN. */
static double number(int64_t i) {
    static const double special[] = {0.0, -0.0, 1e-30, -1e-30, INFINITY, -INFINITY, NAN};
    return i % 3 == 0 ? special[i / 3 % 7] : sin(0.7 * (double)i);
}

static Memory run(const Ops *o) {
    Plan *plan = plan_new(o->program, &masking, NULL);
    plan_launches(plan);
    Memory m = memory_new(o->program);
    for (int64_t i = 0; i < ROWS * COLS; i++) {
        memory_set(&m, o->x, i, number(i));
        memory_set(&m, o->dy, i, cos(0.3 * (double)i));
    }
    eval_entry(&m, plan, ENTRY_MICRO_STEP);
    return m;
}

static bool same_bits(double a, double b) { return a == b && signbit(a) == signbit(b); }

static void no_bit_changes(void **state) {
    (void)state;
    const DType dtypes[] = {DT_BF16, DT_F16, DT_F32, DT_F64};
    for (int k = 0; k < 4; k++) {
        Ops before = make(dtypes[k]), after = make(dtypes[k]);
        assert_true(pass_relu_masks(after.program, &masking));
        assert_int_equal(count_of(after.program, OP_relu_mask), 1);
        assert_int_equal(count_of(after.program, OP_relu_grad_masked), 2);
        Memory a = run(&before), b = run(&after);
        for (int64_t i = 0; i < 2 * ROWS * COLS; i++)
            assert_true(same_bits(memory_get(&a, before.grad[i % 2]->out[0], i / 2),
                                  memory_get(&b, after.grad[i % 2]->out[0], i / 2)));
        memory_free(&a);
        memory_free(&b);
    }
}

static void others_stay(void **state) {
    (void)state;
    Ops observed = make(DT_BF16), clamped = make(DT_BF16), other = make(DT_BF16);
    observed.grad[0]->observe = "dx";
    assert_true(pass_relu_masks(observed.program, &masking));
    assert_int_equal(observed.grad[0]->kind, OP_relu_grad);
    assert_int_equal(observed.grad[1]->kind, OP_relu_grad_masked);
    clamped.relu->kind = OP_relu6;
    assert_false(pass_relu_masks(clamped.program, &masking));
    for (int i = 0; i < 2; i++) other.grad[i]->in[0] = other.x;
    assert_false(pass_relu_masks(other.program, &masking));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(resnet_masks_all, free_arena),
        cmocka_unit_test_teardown(epilogues_keep_theirs, free_arena),
        cmocka_unit_test_teardown(masks_need_whole_bytes, free_arena),
        cmocka_unit_test_teardown(masks_hold_no_results, free_arena),
        cmocka_unit_test_teardown(no_bit_changes, free_arena),
        cmocka_unit_test_teardown(others_stay, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
