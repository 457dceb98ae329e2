/* Both gradients of a low-rank path become one op: tests which ones do, and which do not. The
 * oracle compares their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "devices/low_rank_tiles.h"
#include "tests/unit/spec_plan.h"
#include "tests/unit/text_spec.h"
#include <stdlib.h>
#include <string.h>

static Arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

enum { LAYERS = 2, RANK = 16 };

static const char *const llama =
    "[model]\nfamily = \"llama\"\nvocab_size = 256\nhidden_size = 128\nintermediate_size = 256\n"
    "num_hidden_layers = 2\nnum_attention_heads = 4\nnum_key_value_heads = 2\n"
    "[training]\ntask = \"sft\"\nseq_len = 16\nper_device_train_batch_size = 2\nsteps = 2\n"
    "[adapter]\ntype = \"lora\"\nr = 16\nlora_alpha = 32\n"
    "[precision]\ndtype = \"bf16\"\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"read_once\"\n";

static Program *program_of(const char *const *sets, int count) {
    Spec *spec = spec_of_text(&arena, llama, sets, count);
    return program_of_spec(&arena, spec);
}

/* With low_rank_grads = true, and up to two more settings. */
static Program *with(const char *a, const char *b) {
    const char *sets[] = {"compile.low_rank_grads=true", a, b};
    return program_of(sets, b ? 3 : a ? 2 : 1);
}

static int count_of(const Program *p, OpKind kind) {
    int count = 0;
    for (int i = 0; i < p->entry[ENTRY_MICRO_STEP].op_count; i++)
        count += p->entry[ENTRY_MICRO_STEP].ops[i]->kind == kind;
    return count;
}

/* Checks how many ops of a layer there are, and how many products fewer. */
static void expect_ops(const char *a, const char *b, int ops, int products) {
    const char *off[] = {"compile.low_rank_grads=false", a, b};
    const Program *p = with(a, b), *products_only = program_of(off, b ? 3 : a ? 2 : 1);
    assert_int_equal(count_of(p, OP_low_rank_grads), LAYERS * ops);
    assert_int_equal(count_of(products_only, OP_matmul) - count_of(p, OP_matmul),
                     LAYERS * products);
}

/* q, k and v have one product for their v's, and so do gate and up. */
static void each_linear_has_its_op(void **state) {
    (void)state;
    expect_ops(NULL, NULL, 7, 7 + 4);
    expect_ops("adapter.r=64", NULL, 7, 7 + 4);
    expect_ops("adapter.target_modules=[\"q_proj\",\"v_proj\"]", NULL, 2, 2 + 1);
    expect_ops("adapter.target_modules=[\"down_proj\"]", NULL, 1, 1 + 1);
}

/* sm_86 has 99 KiB of shared memory for a block, too little for large ranks. */
static void blocks_fit_shared_memory(void **state) {
    (void)state;
    const Device hopper = {.arch = "sm_90a", .multiprocessors = 132};
    const Device small = {.arch = "sm_86", .multiprocessors = 84};
    LowRankShape shape = {8192, 4096, 16, false};
    assert_true(low_rank_tiles(shape, &hopper).shared_bytes > 99 * 1024);
    assert_in_range(low_rank_tiles(shape, &small).shared_bytes, 1, 99 * 1024);
    assert_in_range(low_rank_tiles(shape, NULL).shared_bytes, 1, 99 * 1024);
    shape.rank = LOW_RANK_MOST;
    assert_true(low_rank_tiles(shape, &hopper).cols > 0);
    assert_int_equal(low_rank_tiles(shape, &small).cols, 0);
}

static void without_borders_too(void **state) {
    (void)state;
    expect_ops("compile.bordered=false", "adapter.target_modules=[\"q_proj\",\"o_proj\"]", 2, 2 + 2);
}

static void other_ranks_and_types_stay(void **state) {
    (void)state;
    expect_ops("adapter.r=4", NULL, 0, 0);
    expect_ops("adapter.r=12", NULL, 0, 0);
    expect_ops("adapter.r=72", NULL, 0, 0);
    const char *fp32[] = {"precision.dtype=\"fp32\""};
    assert_int_equal(count_of(program_of(fp32, 1), OP_low_rank_grads), 0);
}

static void auto_leaves_small_ones(void **state) {
    (void)state;
    const char *large[] = {"training.per_device_train_batch_size=512",
                           "model.intermediate_size=8192"};
    assert_int_equal(count_of(program_of(NULL, 0), OP_low_rank_grads), 0);
    assert_true(count_of(program_of(large, 2), OP_low_rank_grads) > 0);
}

static const Op *op_of(const Program *p, const char *name) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind == OP_low_rank_grads && !strcmp(graph->ops[i]->name, name))
            return graph->ops[i];
    fail_msg("no op %s", name);
    return NULL;
}

/* Each op reads its block of the joined B and writes its columns of the joined v. */
static void columns_are_those_of_the_linear(void **state) {
    (void)state;
    const Program *p = with(NULL, NULL);
    const Op *k = op_of(p, "model.layers.1.self_attn.k_proj.lora_B.weight.grad");
    const Op *q = op_of(p, "model.layers.1.self_attn.q_proj.lora_B.weight.grad");
    const Value *bq = q->in[1], *bk = k->in[1];
    assert_int_equal(value_rows(q->in[1]), 128);
    assert_int_equal(value_rows(k->in[1]), 64);
    assert_int_equal(value_cols(k->out[1]), RANK);
    assert_ptr_equal(k->out[1]->storage, q->out[1]->storage);
    /* k's rows follow q's, in columns that are as far from q's as in v. */
    int64_t columns = k->out[1]->offset - q->out[1]->offset;
    assert_int_equal(labs((long)columns), RANK);
    assert_int_equal(bk->offset - bq->offset, 128 * bq->row_stride + columns);
    assert_true(k->attr.alpha != k->attr.alpha_v); /* the border has B times the factor */
}

static void micro_steps_add_up(void **state) {
    (void)state;
    const Program *p = with("training.gradient_accumulation_steps=3", NULL);
    const Op *op = op_of(p, "model.layers.0.mlp.down_proj.lora_B.weight.grad");
    assert_true(op->attr.accumulate);
    assert_int_equal(op->in_count, 4);
    assert_true(value_same_place(op->in[3], op->out[0]));
    assert_int_equal(count_of(p, OP_low_rank_grads), LAYERS * 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_linear_has_its_op, free_arena),
        cmocka_unit_test_teardown(blocks_fit_shared_memory, free_arena),
        cmocka_unit_test_teardown(without_borders_too, free_arena),
        cmocka_unit_test_teardown(other_ranks_and_types_stay, free_arena),
        cmocka_unit_test_teardown(auto_leaves_small_ones, free_arena),
        cmocka_unit_test_teardown(columns_are_those_of_the_linear, free_arena),
        cmocka_unit_test_teardown(micro_steps_add_up, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
