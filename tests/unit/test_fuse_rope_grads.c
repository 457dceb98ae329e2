/* attention_grad undoes the RoPE of q and k itself: tests where it does, and where not. Test
 * programs of templates compare the bits, test_ops_model.c and the oracle the numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/attention_operands.h"
#include "graph/op_table.h"
#include "model/model.h"
#include "pass/pass.h"
#include "tests/unit/text_spec.h"

#include <string.h>

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
    "[training]\ntask = \"sft\"\nseq_len = 16\nper_device_train_batch_size = 2\nsteps = 2\n"
    "[adapter]\ntype = \"lora\"\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"rotated\"\n";

/* Checks how many attention_grads of micro_step undo RoPE, and how many rope_grads remain. */
static void expect(int undoing, int remaining, const char *const sets[MOST_SETS]) {
    Spec *spec = spec_of_sets(&arena, llama, sets, MOST_SETS);
    Program *p = model_build(&arena, spec);
    passes_run(p, spec, NULL, NULL);
    for (int i = 0; i < p->entry[ENTRY_MICRO_STEP].op_count; i++) {
        const Op *op = p->entry[ENTRY_MICRO_STEP].ops[i];
        undoing -= attention_rope(op) != NULL;
        remaining -= op->kind == OP_rope_grad;
    }
    assert_int_equal(undoing, 0);
    assert_int_equal(remaining, 0);
}

#define EXPECT(undoing, remaining, ...) \
    expect(undoing, remaining, (const char *const[MOST_SETS]){__VA_ARGS__})

/* Whether micro_step has an op whose result, or one of whose operands, is the value. */
static bool any_has(const Program *p, const Value *v, bool result) {
    for (int i = 0; i < p->entry[ENTRY_MICRO_STEP].op_count; i++) {
        const Op *op = p->entry[ENTRY_MICRO_STEP].ops[i];
        for (int k = 0; k < (result ? op->out_count : op->in_count); k++)
            if ((result ? op->out[k] : op->in[k]) == v)
                return true;
    }
    return false;
}

/* The gradients of q and k, columns of one matrix, keep the names by which adapters read them. */
static void readers_name_the_results(void **state) {
    (void)state;
    Spec *spec = spec_of_sets(&arena, llama, (const char *const[MOST_SETS]){NULL}, MOST_SETS);
    Program *p = model_build(&arena, spec);
    passes_run(p, spec, NULL, NULL);
    int found = 0;
    for (int i = 0; i < p->value_count; i++) {
        const char *end = strstr(p->values[i]->name, "_proj.grad");
        if (!end || strcmp(end, "_proj.grad") != 0 || !any_has(p, p->values[i], false))
            continue;
        bool of_attention = end[-1] == 'q' || end[-1] == 'k';
        found += of_attention && any_has(p, p->values[i], true);
    }
    assert_int_equal(found, 2 * LAYERS);
}

static void all_layers_undo_rope(void **state) {
    (void)state;
    EXPECT(LAYERS, 0, NULL);
    EXPECT(LAYERS, 0, "compile.joined_launches=false");
    EXPECT(LAYERS, 0, "compile.bordered=false");
    EXPECT(LAYERS, 0, "precision.dtype=\"bf16\"");
    EXPECT(LAYERS, 0, "precision.dtype=\"fp64\"");
    EXPECT(LAYERS, 0, "model.family=\"qwen2\"");
    EXPECT(LAYERS, 0, "activation_checkpoint.mode=\"full\"");
}

/* In the first layer, nothing needs the gradient of k, or that of q. */
static void one_of_them_suffices(void **state) {
    (void)state;
    EXPECT(LAYERS, 0, "adapter.target_modules=[\"q_proj\"]");
    EXPECT(LAYERS, 0, "adapter.target_modules=[\"k_proj\"]");
    EXPECT(LAYERS - 1, 0, "adapter.target_modules=[\"down_proj\"]");
}

/* Tokens rotate by other positions than those that attention's mask reads. */
static void shared_prompts_have_other_positions(void **state) {
    (void)state;
    EXPECT(LAYERS, 0, "training.task=\"dpo\"", "data.format=\"jsonl\"", "data.train=[\"none.jsonl\"]",
           "dpo.shared_prompt=true");
}

static void fusion_switches_it_off(void **state) {
    (void)state;
    EXPECT(0, LAYERS, "compile.fusion=false");
    EXPECT(0, 2 * LAYERS, "compile.fusion=false", "compile.joined_launches=false");
}

/* Blocks share rows of dk, or half a head is not whole chunks. */
static void other_heads_stay(void **state) {
    (void)state;
    EXPECT(LAYERS, 0, "model.head_dim=128");
    EXPECT(0, LAYERS, "model.head_dim=160");
    EXPECT(0, LAYERS, "model.head_dim=8", "precision.dtype=\"bf16\"");
    EXPECT(LAYERS, 0, "model.head_dim=8", "precision.dtype=\"fp32\"");
}

/* ---- single ops ------------------------------------------------------------------------------ */

enum { ROWS = 16, HEAD = 32, HEADS = 2, SEQ = 8 };

/* One attention_grad, an op in between that rotates nothing, and the rope_grads of q and k. */
typedef struct {
    Program *program;
    Graph *graph;
    Value *other; /* operand of the op in between */
    Op *attention, *between, *rope[2];
} Ops;

static Value *value(Ops *o, const char *name, DType dtype, int64_t cols) {
    return value_2d(o->program, name, ROLE_INPUT, dtype, ROWS, cols, (Pos){0});
}

static Op *add(Ops *o, OpKind kind, const char *name, Value *const *in, int count, Attr attr) {
    return op_add(o->program, o->graph, kind, name, in, count, attr, (Pos){0});
}

static Ops make(void) {
    Ops o = {.program = program_new(&arena)};
    Program *p = o.program;
    p->activation = DT_BF16;
    p->real = DT_F32;
    o.graph = &p->entry[ENTRY_MICRO_STEP];
    Attr attr = {.alpha = 1, .heads = HEADS, .kv_heads = HEADS, .head_dim = HEAD, .seq_len = SEQ};
    Value *x = value(&o, "x", DT_BF16, HEADS * HEAD), *places = value(&o, "places", DT_I32, 1);
    Value *lse = value(&o, "lse", DT_F32, HEADS), *table = value(&o, "table", DT_F32, HEAD / 2);
    o.attention = add(&o, OP_attention_grad, "attention", (Value *[]){x, x, x, places, x, lse, x}, 7, attr);
    o.other = value(&o, "other", DT_BF16, HEADS * HEAD);
    o.between = add(&o, OP_silu, "between", &o.other, 1, (Attr){0});
    for (int i = 0; i < 2; i++)
        o.rope[i] = add(&o, OP_rope_grad, i ? "k" : "q",
                        (Value *[]){o.attention->out[i], places, table, table}, 4, attr);
    return o;
}

static void expect_fused(const Ops *o, bool fused) {
    Spec spec = {.compile = {.fusion = true}};
    Value *dq = o->rope[0]->out[0], *dk = o->rope[1]->out[0];
    assert_int_equal(pass_fuse_rope_grads(o->program, &spec), fused);
    assert_int_equal(o->graph->op_count, fused ? 2 : 4);
    assert_int_equal(attention_rope(o->attention) != NULL, fused);
    assert_int_equal(o->attention->out[0] == dq && o->attention->out[1] == dk, fused);
}

static void both_are_fused(void **state) {
    (void)state;
    Ops o = make();
    expect_fused(&o, true);
}

static void another_reader_keeps_them(void **state) {
    (void)state;
    Ops o = make();
    o.between->in[0] = o.attention->out[1];
    expect_fused(&o, false);
}

static void what_is_awaited_stays(void **state) {
    (void)state;
    Ops o = make(), waits = make(), observed = make();
    o.between->after = o.rope[0];
    waits.rope[1]->after = waits.between;
    observed.rope[0]->observe = "grad";
    expect_fused(&o, false);
    expect_fused(&waits, false);
    expect_fused(&observed, false);
}

static void other_angles_stay(void **state) {
    (void)state;
    Ops positions = make(), head = make();
    positions.rope[1]->in[1] = value(&positions, "more", DT_I32, 1);
    head.rope[0]->attr.head_dim = HEAD / 2;
    expect_fused(&positions, false);
    expect_fused(&head, false);
}

/* The place of the result is used earlier. */
static void early_stores_are_refused(void **state) {
    (void)state;
    Ops read = make(), written = make(), own = make();
    read.rope[0]->out[0] = value_alias(read.program, read.other, "dq");
    written.rope[0]->out[0] = value_alias(written.program, written.between->out[0], "dq");
    own.rope[1]->out[0] = value_alias(own.program, own.attention->in[6], "dk");
    expect_fused(&read, false);
    expect_fused(&written, false);
    expect_fused(&own, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(all_layers_undo_rope, free_arena),
        cmocka_unit_test_teardown(readers_name_the_results, free_arena),
        cmocka_unit_test_teardown(one_of_them_suffices, free_arena),
        cmocka_unit_test_teardown(shared_prompts_have_other_positions, free_arena),
        cmocka_unit_test_teardown(fusion_switches_it_off, free_arena),
        cmocka_unit_test_teardown(other_heads_stay, free_arena),
        cmocka_unit_test_teardown(both_are_fused, free_arena),
        cmocka_unit_test_teardown(another_reader_keeps_them, free_arena),
        cmocka_unit_test_teardown(what_is_awaited_stays, free_arena),
        cmocka_unit_test_teardown(other_angles_stay, free_arena),
        cmocka_unit_test_teardown(early_stores_are_refused, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
