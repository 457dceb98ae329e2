/* Linears of few outputs become bodies: which do, and which not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

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

enum { MOST_SETS = 5 };

static const char *const mlp =
    "[model]\nfamily = \"mlp\"\nnum_classes = 10\nimage_size = 8\nhidden_size = 64\nnum_hidden_layers = 1\n"
    "[training]\ntask = \"classify\"\nper_device_train_batch_size = 4\nsteps = 2\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"narrow\"\n";

/* How many ops of the entry compute a narrow linear, its input's and its weight's gradient, and how many
 * products are left. */
typedef struct {
    int forward, input_grad, weight_grad, products;
} Count;

static Count count_of(const Program *p, Entry entry) {
    Count n = {0};
    for (int i = 0; i < p->entry[entry].op_count; i++) {
        OpKind kind = p->entry[entry].ops[i]->kind;
        n.forward += kind == OP_narrow_linear;
        n.input_grad += kind == OP_narrow_linear_input_grad;
        n.weight_grad += kind == OP_narrow_linear_weight_grad;
        n.products += kind == OP_matmul || kind == OP_matmul_bias;
    }
    return n;
}

static void expect_entry(const Program *p, Entry entry, Count expected) {
    Count n = count_of(p, entry);
    assert_int_equal(n.forward, expected.forward);
    assert_int_equal(n.input_grad, expected.input_grad);
    assert_int_equal(n.weight_grad, expected.weight_grad);
    assert_int_equal(n.products, expected.products);
}

static Program *program_of(const char *const sets[MOST_SETS]) {
    Spec *spec = spec_of_sets(&arena, mlp, sets, MOST_SETS);
    Program *p = model_build(&arena, spec);
    passes_run(p, spec, NULL, NULL);
    return p;
}

/* Of two linears, the first one's input needs no gradient. */
static void expect(bool narrow, const char *const sets[MOST_SETS]) {
    const Program *p = program_of(sets);
    expect_entry(p, ENTRY_MICRO_STEP, narrow ? (Count){1, 1, 1, 2} : (Count){0, 0, 0, 5});
    expect_entry(p, ENTRY_EVALUATE, narrow ? (Count){1, 0, 0, 1} : (Count){0, 0, 0, 2});
}

#define EXPECT(narrow, ...) expect(narrow, (const char *const[MOST_SETS]){__VA_ARGS__})

static void classifiers_of_few_classes(void **state) {
    (void)state;
    EXPECT(true, NULL);
    EXPECT(true, "precision.dtype=bf16", "compile.fusion=false");
    EXPECT(true, "precision.dtype=fp64", "compile.matmul_bias=false");
    EXPECT(true, "model.num_classes=2");
    EXPECT(true, "model.num_classes=12");
    EXPECT(false, "model.num_classes=13");
    EXPECT(false, "compile.narrow_linears=false");
}

/* A warp has a row of the input; its gradients are of other layouts. */
static void short_rows_stay(void **state) {
    (void)state;
    const Program *p = program_of((const char *const[MOST_SETS]){"model.hidden_size=63"});
    expect_entry(p, ENTRY_MICRO_STEP, (Count){0, 1, 1, 3});
    expect_entry(p, ENTRY_EVALUATE, (Count){0, 0, 0, 2});
}

/* Where each output's share of the work takes longer than the library's kernel to start. */
static void large_products_stay(void **state) {
    (void)state;
    static const char rows[] = "training.per_device_train_batch_size=65535", width[] = "model.hidden_size=2048";
    EXPECT(false, rows, width, "precision.dtype=bf16");
    EXPECT(true, rows, width, "precision.dtype=bf16", "compile.narrow_linears=true");
}

/* Later micro-steps add to a gradient, which only a product does. */
static void sums_of_gradients_stay(void **state) {
    (void)state;
    const Program *p = program_of((const char *const[MOST_SETS]){"training.gradient_accumulation_steps=2"});
    expect_entry(p, ENTRY_MICRO_STEP, (Count){1, 1, 0, 3});
}

static const Kernel *kernel_of(const Plan *plan, const char *begins) {
    for (int i = 0; i < plan->kernel_count; i++)
        if (!strncmp(plan->kernels[i].name, begins, strlen(begins)))
            return &plan->kernels[i];
    fail_msg("no kernel begins with %s", begins);
    return NULL;
}

static Plan *plan_of(const char *classes, const char *other) {
    const char *const sets[MOST_SETS] = {"precision.dtype=bf16", classes, other};
    Spec *spec = spec_of_sets(&arena, mlp, sets, MOST_SETS);
    Program *p = model_build(&arena, spec);
    passes_run(p, spec, NULL, NULL);
    Plan *plan = plan_new(p, spec, NULL);
    plan_launches(plan);
    return plan;
}

/* A ReLU before it joins it, and that ReLU's gradient its gradients. */
static void neighbours_join(void **state) {
    (void)state;
    const Plan *plan = plan_of("model.num_classes=10", NULL);
    kernel_of(plan, "relu_narrow_linear_4x64");
    const Kernel *grads =
        kernel_of(plan, "narrow_linear_weight_grad_narrow_linear_input_grad_relu_grad_4x64");
    assert_int_equal(grads->parts, 4); /* no threads without a row */
}

/* A thread has sums of 8 columns, or of 4 where those would fill its registers: of many outputs, or of
 * fewer beside the weight's rows. */
static void sums_leave_registers(void **state) {
    (void)state;
    static const struct {
        const char *classes;
        int joined, alone;
    } cases[] = {{"model.num_classes=6", 8, 8}, {"model.num_classes=7", 4, 8},
                 {"model.num_classes=9", 4, 8}, {"model.num_classes=10", 4, 4}};
    for (int i = 0; i < 4; i++) {
        const Plan *plan = plan_of(cases[i].classes, NULL);
        const char *name = "narrow_linear_weight_grad_";
        assert_int_equal(kernel_of(plan, name)->vector, cases[i].joined);
        plan = plan_of(cases[i].classes, "compile.fusion=false");
        assert_int_equal(kernel_of(plan, name)->vector, cases[i].alone);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(classifiers_of_few_classes, free_arena),
        cmocka_unit_test_teardown(short_rows_stay, free_arena),
        cmocka_unit_test_teardown(large_products_stay, free_arena),
        cmocka_unit_test_teardown(sums_of_gradients_stay, free_arena),
        cmocka_unit_test_teardown(neighbours_join, free_arena),
        cmocka_unit_test_teardown(sums_leave_registers, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
