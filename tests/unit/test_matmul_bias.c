/* Matrix products include biases: where they do, and where not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "pass/pass.h"
#include "tests/unit/text_spec.h"

static Arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

enum { MOST_SETS = 5, LAYERS = 2, BIASES = 4 * LAYERS };

static const char *const gpt2 =
    "[model]\nfamily = \"gpt2\"\nvocab_size = 256\nhidden_size = 32\nintermediate_size = 64\n"
    "num_hidden_layers = 2\nnum_attention_heads = 4\nmax_position_embeddings = 16\n"
    "[training]\ntask = \"pretrain\"\nseq_len = 16\nper_device_train_batch_size = 2\nsteps = 2\n"
    "[data]\nformat = \"text\"\ntrain = [\"x\"]\n[job]\nname = \"biased\"\n";

static Program *program_of(const char *const sets[MOST_SETS]) {
    Spec *spec = spec_of_sets(&arena, gpt2, sets, MOST_SETS);
    Program *p = model_build(&arena, spec);
    passes_run(p, spec, NULL, NULL);
    return p;
}

static int count_of(const Graph *graph, OpKind kind) {
    int count = 0;
    for (int i = 0; i < graph->op_count; i++)
        count += graph->ops[i]->kind == kind;
    return count;
}

/* Checks how many biases products include, and how many remain, in training and in evaluation. */
static void expect(int included, int remaining, const char *const sets[MOST_SETS]) {
    const Program *p = program_of(sets);
    const Entry entries[] = {ENTRY_MICRO_STEP, ENTRY_EVALUATE};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(count_of(&p->entry[entries[i]], OP_matmul_bias), included);
        assert_int_equal(count_of(&p->entry[entries[i]], OP_add_bias), remaining);
    }
}

#define EXPECT(included, remaining, ...) \
    expect(included, remaining, (const char *const[MOST_SETS]){__VA_ARGS__})

static void products_include_biases(void **state) {
    (void)state;
    EXPECT(BIASES, 0, "precision.dtype=bf16");
    EXPECT(BIASES, 0, "precision.dtype=fp64", "compile.fusion=false");
    EXPECT(0, BIASES, "compile.matmul_bias=false");
}

/* A product that adds to another one's result leaves the bias to a kernel; one with a border does
 * not. */
static void adapters(void **state) {
    (void)state;
    EXPECT(BIASES, 0, "training.task=sft", "adapter.type=lora", "adapter.r=8",
           "adapter.target_modules=[\"c_attn\"]");
    EXPECT(BIASES - LAYERS, LAYERS, "training.task=sft", "adapter.type=lora", "adapter.r=8",
           "compile.bordered=false", "adapter.target_modules=[\"c_attn\"]");
}

/* A bias that is added to the sum of all ranks' products is not in each of them. */
static void sums_over_ranks(void **state) {
    (void)state;
    EXPECT(BIASES / 2, BIASES / 2, "parallelism.tensor_parallel_degree=2");
}

typedef enum { NOTHING, READS_RESULT, WRITES_OPERAND, READS_LATER } Other;

/* Whether the first product of evaluation includes the bias if another op comes between the two, or
 * later. */
static bool joins(Other other) {
    Program *p = program_of((const char *const[MOST_SETS]){"compile.matmul_bias=false"});
    Spec *spec = spec_of_text(&arena, gpt2, NULL, 0);
    Graph *graph = &p->entry[ENTRY_EVALUATE];
    int at = 0;
    while (graph->ops[at]->kind != OP_add_bias)
        at++;
    Op *product = graph->ops[at - 1], *add_bias = graph->ops[at];
    assert_true(product->kind == OP_matmul && product->out[0] == add_bias->in[0]);
    Value *y = product->out[0], *x = product->in[0];
    Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        if (i == at + (other == READS_LATER) && (other == READS_RESULT || other == READS_LATER))
            op_add(p, graph, OP_relu, "reader", &y, 1, (Attr){0}, product->pos);
        if (i == at && other == WRITES_OPERAND)
            op_add_into(p, graph, OP_relu, "writer", &x, 1, &x, 1, (Attr){0}, product->pos);
        graph_add(p, graph, old.ops[i]);
    }
    pass_matmul_bias(p, spec);
    return add_bias->kind == OP_matmul_bias;
}

static void nothing_else_may_use_the_two(void **state) {
    (void)state;
    assert_true(joins(NOTHING));
    assert_false(joins(READS_RESULT));
    assert_false(joins(WRITES_OPERAND));
    assert_false(joins(READS_LATER));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(products_include_biases, free_arena),
        cmocka_unit_test_teardown(adapters, free_arena),
        cmocka_unit_test_teardown(sums_over_ranks, free_arena),
        cmocka_unit_test_teardown(nothing_else_may_use_the_two, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
