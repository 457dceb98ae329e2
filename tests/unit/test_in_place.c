/* A rotation overwrites its operand: tests where, and where not. test_ops.c compares the bodies, and
 * the oracle the numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pass/pass.h"
#include "tests/unit/spec_plan.h"
#include "tests/unit/text_spec.h"

static Arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* ---- models ---------------------------------------------------------------------------------- */

enum { LAYERS = 2, MOST_SETS = 4 };

static const char *const llama =
    "[model]\nfamily = \"llama\"\nvocab_size = 256\nhidden_size = 128\nintermediate_size = 256\n"
    "num_hidden_layers = 2\nnum_attention_heads = 4\nnum_key_value_heads = 2\n"
    "[training]\ntask = \"pretrain\"\nseq_len = 16\nper_device_train_batch_size = 2\nsteps = 2\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"overwritten\"\n";

static int count_in_place(const Graph *graph) {
    int count = 0;
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        count += op->kind == OP_rope && value_same_place(op->in[0], op->out[0]);
    }
    return count;
}

/* Checks how many rotations of micro_step and of evaluate overwrite their operands. */
static void expect(int micro_step, int evaluate, const char *const sets[MOST_SETS]) {
    Spec *spec = spec_of_sets(&arena, llama, sets, MOST_SETS);
    Program *p = program_of_spec(&arena, spec);
    assert_int_equal(count_in_place(&p->entry[ENTRY_MICRO_STEP]), micro_step);
    assert_int_equal(count_in_place(&p->entry[ENTRY_EVALUATE]), evaluate);
}

#define EXPECT(micro_step, evaluate, ...) \
    expect(micro_step, evaluate, (const char *const[MOST_SETS]){__VA_ARGS__})

static void every_rotation_overwrites(void **state) {
    (void)state;
    EXPECT(LAYERS, LAYERS, NULL);
    EXPECT(LAYERS, LAYERS, "precision.dtype=\"bf16\"");
    EXPECT(LAYERS, LAYERS, "training.task=\"sft\"", "adapter.type=\"lora\"");
    EXPECT(LAYERS, LAYERS, "compile.fusion=false");
}

/* q and k are results of their own. */
static void two_rotations_overwrite(void **state) {
    (void)state;
    EXPECT(2 * LAYERS, 2 * LAYERS, "compile.joined_launches=false");
    EXPECT(2 * LAYERS, 2 * LAYERS, "compile.joined_launches=false", "compile.joined_linears=false");
}

/* Backward repeats them, onto the product that it has computed again. */
static void clones_overwrite(void **state) {
    (void)state;
    EXPECT(2 * LAYERS, LAYERS, "activation_checkpoint.mode=\"full\"");
}

static void the_key_switches_it_off(void **state) {
    (void)state;
    EXPECT(0, 0, "compile.in_place=false");
}

/* The kernel that adds the bias, or scales for DoRA, cannot rotate. */
static void sums_are_overwritten(void **state) {
    (void)state;
    EXPECT(LAYERS, LAYERS, "model.family=\"qwen2\"");
    EXPECT(LAYERS, LAYERS, "training.task=\"sft\"", "adapter.type=\"lora\"", "adapter.use_dora=true");
}

/* ---- single ops ------------------------------------------------------------------------------ */

enum { ROWS = 16, HEAD = 32 };

/* The rotation of x, a product; x has more columns than are rotated. */
typedef struct {
    Program *program;
    Graph *graph;
    Value *y, *x;
    Op *rope;
} Ops;

static Value *value(Ops *o, const char *name, DType dtype, int64_t rows, int64_t cols) {
    return value_2d(o->program, name, ROLE_INPUT, dtype, rows, cols, (Pos){0});
}

static Op *add(Ops *o, OpKind kind, const char *name, Value *const *in, int count, Attr attr) {
    return op_add(o->program, o->graph, kind, name, in, count, attr, (Pos){0});
}

static Ops make(void) {
    Ops o = {.program = program_new(&arena)};
    o.program->activation = DT_BF16;
    o.program->real = DT_F32;
    o.graph = &o.program->entry[ENTRY_MICRO_STEP];
    Value *a = value(&o, "a", DT_BF16, ROWS, HEAD), *b = value(&o, "b", DT_BF16, 3 * HEAD, HEAD);
    o.y = add(&o, OP_matmul, "y", (Value *[]){a, b}, 2, (Attr){.alpha = 1, .transpose_b = true})->out[0];
    o.x = value_columns(o.program, o.y, 0, 2 * HEAD, "x");
    Value *places = value(&o, "places", DT_I32, ROWS, 1), *table = value(&o, "table", DT_F32, ROWS, HEAD / 2);
    o.rope = add(&o, OP_rope, "rope", (Value *[]){o.x, places, table, table}, 4, (Attr){.head_dim = HEAD});
    return o;
}

static void expect_in_place(const Ops *o, bool in_place) {
    Spec spec = {.compile = {.in_place = true}};
    assert_int_equal(pass_in_place(o->program, &spec), in_place);
    assert_int_equal(value_same_place(o->rope->out[0], o->x), in_place);
    program_verify(o->program, STAGE_KERNEL, "in_place");
}

static void a_product_is_overwritten(void **state) {
    (void)state;
    Ops o = make();
    expect_in_place(&o, true);
}

/* The other columns may be read later, but not those that are rotated. */
static void later_readers_keep_it(void **state) {
    (void)state;
    Ops rest = make(), part = make();
    Attr attr = {.alpha = 1};
    Value *c = value_columns(rest.program, rest.y, 2 * HEAD, HEAD, "c");
    Value *d = value_columns(part.program, part.y, 2 * HEAD - 8, HEAD, "d");
    add(&rest, OP_matmul, "z", (Value *[]){c, value(&rest, "w", DT_BF16, HEAD, 8)}, 2, attr);
    add(&part, OP_matmul, "z", (Value *[]){d, value(&part, "w", DT_BF16, HEAD, 8)}, 2, attr);
    expect_in_place(&rest, true);
    expect_in_place(&part, false);
}

/* Nor a kernel that reads the result and could rotate it itself. */
static void pointwise_readers_keep_it(void **state) {
    (void)state;
    Ops o = make();
    add(&o, OP_silu, "z", o.rope->out, 1, (Attr){0});
    expect_in_place(&o, false);
}

static void a_result_with_a_place_keeps_it(void **state) {
    (void)state;
    Ops o = make();
    Value *wide = value_2d(o.program, "wide", ROLE_ACTIVATION, DT_BF16, ROWS, 3 * HEAD, (Pos){0});
    value_move(o.rope->out[0], value_columns(o.program, wide, HEAD, 2 * HEAD, "columns"));
    expect_in_place(&o, false);
}

static void an_operand_that_is_given_stays(void **state) {
    (void)state;
    Ops o = make();
    o.rope->in[0] = o.x = value(&o, "input", DT_BF16, ROWS, 2 * HEAD);
    expect_in_place(&o, false);
}

static int gradients_over_logits(const char *const sets[], int count) {
    Program *p = program_of_spec(&arena, spec_of_text(&arena, llama, sets, count));
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int over = 0;
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        over += op->kind == OP_cross_entropy_grad && value_same_place(op->in[0], op->out[0]);
    }
    return over;
}

/* Each chunk's, of the 32 rows. */
static void the_logits_gradient_overwrites_them(void **state) {
    (void)state;
    assert_int_equal(gradients_over_logits(NULL, 0), 1);
    assert_int_equal(gradients_over_logits((const char *[]){"compile.head_chunk_tokens=8"}, 1), 4);
    assert_int_equal(gradients_over_logits((const char *[]){"compile.in_place=false"}, 1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_logits_gradient_overwrites_them, free_arena),
        cmocka_unit_test_teardown(every_rotation_overwrites, free_arena),
        cmocka_unit_test_teardown(two_rotations_overwrite, free_arena),
        cmocka_unit_test_teardown(clones_overwrite, free_arena),
        cmocka_unit_test_teardown(the_key_switches_it_off, free_arena),
        cmocka_unit_test_teardown(sums_are_overwritten, free_arena),
        cmocka_unit_test_teardown(a_product_is_overwritten, free_arena),
        cmocka_unit_test_teardown(later_readers_keep_it, free_arena),
        cmocka_unit_test_teardown(pointwise_readers_keep_it, free_arena),
        cmocka_unit_test_teardown(a_result_with_a_place_keeps_it, free_arena),
        cmocka_unit_test_teardown(an_operand_that_is_given_stays, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
