/* Linears with the same input become one product: tests which ones do, and which do not.
 * test_ops_model.c and the oracle compare their results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "pass/bordered.h"
#include "tests/unit/spec_plan.h"
#include "tests/unit/text_spec.h"
#include <string.h>

static Arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

enum { LAYERS = 2 };

static const char *const llama =
    "[model]\nfamily = \"llama\"\nvocab_size = 256\nhidden_size = 128\nintermediate_size = 256\n"
    "num_hidden_layers = 2\nnum_attention_heads = 4\nnum_key_value_heads = 2\n[compile]\nnarrow_linears = false\n"
    "[training]\ntask = \"pretrain\"\nseq_len = 16\nper_device_train_batch_size = 2\nsteps = 2\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"joined\"\n";

/* Weights are whole rows of the run of trained tensors, unless `sets` changes that. */
static Program *program_of(const char *const *sets, int count) {
    Spec *spec = spec_of_text(&arena, llama, sets, count);
    return program_of_spec(&arena, spec);
}

static int products(const Program *p, Entry entry) {
    int count = 0;
    for (int i = 0; i < p->entry[entry].op_count; i++)
        count += p->entry[entry].ops[i]->kind == OP_matmul;
    return count;
}

/* Checks by how many the number of a layer's products decreases. */
static void expect_fewer(const char *set, int micro_step, int evaluate) {
    const char *sets[] = {"compile.joined_linears=false", set};
    const char *joined[] = {"compile.joined_linears=true", set};
    const Program *a = program_of(sets, set ? 2 : 1), *b = program_of(joined, set ? 2 : 1);
    int trains = products(a, ENTRY_MICRO_STEP) - products(b, ENTRY_MICRO_STEP);
    int looks = products(a, ENTRY_EVALUATE) - products(b, ENTRY_EVALUATE);
    assert_int_equal(trains, LAYERS * micro_step);
    assert_int_equal(looks, LAYERS * evaluate);
}

/* Forward and twice backward have two products fewer for q, k and v, and one for gate and up. */
static void what_lasts_as_long_is_one(void **state) {
    (void)state;
    expect_fewer(NULL, 3 * (2 + 1), 2 + 1);
}

/* Without RoPE in place, q and k end with it, but v lasts until backward: forward computes it
 * separately. */
static void what_lasts_longer_is_apart(void **state) {
    (void)state;
    expect_fewer("compile.in_place=false", 1 + 1 + 2 * (2 + 1), 2 + 1);
}

static void micro_steps_add_up(void **state) {
    (void)state;
    expect_fewer("training.gradient_accumulation_steps=3", 3 * (2 + 1), 2 + 1);
}

/* Tensors begin at multiples of 1024 in the run, so there is a gap after 250 x 128. */
static void what_has_gaps_is_apart(void **state) {
    (void)state;
    expect_fewer("model.intermediate_size=250", 3 * 2, 2);
}

/* Checks by how many the number of products of two layers with adapters decreases. */
static void expect_fewer_of_adapters(const char *set, int fewer) {
    const char *sets[] = {"training.task=\"sft\"", "adapter.type=\"lora\"", "compile.joined_linears=false", set};
    const char *joined[] = {"training.task=\"sft\"", "adapter.type=\"lora\"", "compile.joined_linears=true", set};
    const Program *a = program_of(sets, 4), *b = program_of(joined, 4);
    assert_int_equal(products(a, ENTRY_MICRO_STEP) - products(b, ENTRY_MICRO_STEP), fewer);
    assert_int_equal(products(a, ENTRY_EVALUATE), products(b, ENTRY_EVALUATE));
}

/* Bordering handles an adapter's linears, except for the gradients of A: one product for q, k and
 * v, and one for gate and up; in the first layer too, where the border's backward has no gradient
 * of x. */
static void what_reads_the_same_trains_at_once(void **state) {
    (void)state;
    expect_fewer_of_adapters("adapter.r=8", LAYERS * (2 + 1));
    expect_fewer_of_adapters("adapter.r=16", LAYERS * (2 + 1));
}

/* These ranks leave columns between them, or the A matrices do not fill multiples of 1024. */
static void adapters_with_gaps_are_apart(void **state) {
    (void)state;
    expect_fewer_of_adapters("adapter.r=4", 0);
    expect_fewer_of_adapters("adapter.r=12", 0);
    expect_fewer_of_adapters("model.hidden_size=160", 0);
}

/* The reference reads weights in borders, of linears that share their input; A's gradients are one too. */
static void the_reference_of_dpo_joins_frozen_ones(void **state) {
    (void)state;
    const char *sets[] = {"compile.joined_linears=false", "training.task=\"dpo\"", "adapter.type=\"lora\"",
                          "adapter.r=8", "data.format=\"jsonl\"", "data.train=[\"x.jsonl\"]"};
    const Program *apart = program_of(sets, 6), *joined = program_of(sets + 1, 5);
    int fewer = products(apart, ENTRY_MICRO_STEP) - products(joined, ENTRY_MICRO_STEP);
    assert_int_equal(fewer, 2 * LAYERS * (2 + 1));
}

/* Each reads its own dropped-out input. Forward has three products more for the u's of a layer, and
 * backward 16: three for the v's, three for the gradients of A, and ten for those of x. Five of these
 * would be for the first layer's x, whose gradient nothing needs. */
static void adapters_with_dropout_are_apart(void **state) {
    (void)state;
    expect_fewer_of_adapters("adapter.lora_dropout=0.1", 0);
    const char *sets[] = {"training.task=\"sft\"", "adapter.type=\"lora\"", "adapter.lora_dropout=0.1"};
    const Program *p = program_of(sets, 2), *dropped = program_of(sets, 3);
    assert_int_equal(products(dropped, ENTRY_MICRO_STEP) - products(p, ENTRY_MICRO_STEP),
                     LAYERS * (3 + 16) - 5);
    assert_int_equal(products(dropped, ENTRY_EVALUATE), products(p, ENTRY_EVALUATE));
}

/* Without borders, the A's of q, k and v, and of gate and up, are such weights, although other products
 * add to x's gradient between theirs. That of the first layer's q, k and v is not needed. */
static void adapters_without_borders_are_one(void **state) {
    (void)state;
    const char *sets[] = {"training.task=\"sft\"", "adapter.type=\"lora\"", "compile.bordered=false",
                          "compile.joined_linears=false"};
    const Program *a = program_of(sets, 4), *b = program_of(sets, 3);
    assert_int_equal(products(a, ENTRY_MICRO_STEP) - products(b, ENTRY_MICRO_STEP),
                     LAYERS * 3 * (2 + 1) - 2 * 2);
    assert_int_equal(products(a, ENTRY_EVALUATE) - products(b, ENTRY_EVALUATE), LAYERS * (2 + 1));
}

/* A base that reads a rounded x has a product for this x's gradient, and the adapters one for that of
 * their x; all else is as without rounding. Nothing needs the first layer's gradients of q, k and v's
 * x. */
static void adapters_beside_a_rounded_base_are_one(void **state) {
    (void)state;
    const char *sets[] = {"training.task=\"sft\"", "adapter.type=\"lora\"",
                          "qat.activation_dtype=\"int8\""};
    const Program *p = program_of(sets, 2), *rounded = program_of(sets, 3);
    assert_int_equal(products(rounded, ENTRY_MICRO_STEP) - products(p, ENTRY_MICRO_STEP), LAYERS * 4 - 1);
    assert_int_equal(products(rounded, ENTRY_EVALUATE), products(p, ENTRY_EVALUATE));
}

static int rotations(const Program *p, Entry entry) {
    int count = 0;
    for (int i = 0; i < p->entry[entry].op_count; i++)
        count += p->entry[entry].ops[i]->kind == OP_rope || p->entry[entry].ops[i]->kind == OP_rope_grad;
    return count;
}

/* Without fusion, which lets attention's backward undo RoPE. */
static void expect_rotations(const char *const *sets, int count, int micro_step, int evaluate) {
    const char *all[3] = {"compile.fusion=false"};
    for (int i = 0; i < count; i++)
        all[i + 1] = sets[i];
    const Program *p = program_of(all, count + 1);
    assert_int_equal(rotations(p, ENTRY_MICRO_STEP), LAYERS * micro_step);
    assert_int_equal(rotations(p, ENTRY_EVALUATE), LAYERS * evaluate);
}

/* q and k are columns of one product, forward and backward, with all weights or only adapters
 * trained. */
static void q_and_k_rotate_at_once(void **state) {
    (void)state;
    const char *adapters[] = {"training.task=\"sft\"", "adapter.type=\"lora\""};
    expect_rotations(NULL, 0, 1 + 1, 1);
    expect_rotations(adapters, 2, 1 + 1, 1);
    expect_rotations(&(const char *){"compile.joined_launches=false"}, 1, 2 + 2, 2);
    expect_rotations(&(const char *){"compile.joined_linears=false"}, 1, 1 + 1, 1);
}

/* In backward, each one's kernel includes the sum for its bias. */
static void biases_keep_them_apart(void **state) {
    (void)state;
    expect_rotations(&(const char *){"model.family=\"qwen2\""}, 1, 1 + 2, 1);
}

/* Columns of a wider matrix have gaps between rows, which collectives do not skip. */
static void what_ranks_exchange_stays_dense(void **state) {
    (void)state;
    Spec *spec = spec_of_text(&arena, llama, NULL, 0);
    Program *p = model_build(&arena, spec);
    Graph *graph = &p->entry[ENTRY_EVALUATE];
    int at = 0;
    while (graph->ops[at]->kind != OP_linear)
        at++;
    Value *x = graph->ops[at]->in[0];
    GraphUses uses = uses_find(&arena, p, graph);
    assert_true(use_can_stride(&uses, x));
    Op *sum = arena_alloc(&arena, sizeof *sum);
    *sum = (Op){.kind = OP_all_reduce, .name = "sum", .in = {x}, .in_count = 1};
    graph_add(p, graph, sum);
    uses = uses_find(&arena, p, graph);
    assert_false(use_can_stride(&uses, x));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_lasts_as_long_is_one, free_arena),
        cmocka_unit_test_teardown(what_lasts_longer_is_apart, free_arena),
        cmocka_unit_test_teardown(micro_steps_add_up, free_arena),
        cmocka_unit_test_teardown(what_has_gaps_is_apart, free_arena),
        cmocka_unit_test_teardown(what_reads_the_same_trains_at_once, free_arena),
        cmocka_unit_test_teardown(adapters_with_gaps_are_apart, free_arena),
        cmocka_unit_test_teardown(the_reference_of_dpo_joins_frozen_ones, free_arena),
        cmocka_unit_test_teardown(adapters_with_dropout_are_apart, free_arena),
        cmocka_unit_test_teardown(adapters_without_borders_are_one, free_arena),
        cmocka_unit_test_teardown(adapters_beside_a_rounded_base_are_one, free_arena),
        cmocka_unit_test_teardown(q_and_k_rotate_at_once, free_arena),
        cmocka_unit_test_teardown(biases_keep_them_apart, free_arena),
        cmocka_unit_test_teardown(what_ranks_exchange_stays_dense, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
