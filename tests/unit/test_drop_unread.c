/* Which ops drop_unread removes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "op_setup.h"
#include "pass/pass.h"
#include "tests/unit/spec_plan.h"
#include "tests/unit/text_spec.h"

static const Spec blank;

static int start(void **state) {
    static Setup s;
    s = (Setup){0};
    s.program = program_new(&s.arena);
    s.program->real = s.program->activation = DT_F64;
    s.graph = &s.program->entry[ENTRY_MICRO_STEP];
    *state = &s;
    return 0;
}

static int end(void **state) {
    arena_free(&((Setup *)*state)->arena);
    return 0;
}

static Op *doubled(Setup *s, Value *x) {
    op1(s, OP_scale, x, (Attr){.alpha = 2});
    return s->graph->ops[s->graph->op_count - 1];
}

/* Copies x to where it outlives the entry. */
static void keep(Setup *s, Value *x) {
    Value *kept = value_2d(s->program, name_of(s, "kept"), ROLE_GRADIENT, DT_F64, ROWS, COLS, (Pos){0});
    op_add_into(s->program, s->graph, OP_cast, "keep", &x, 1, &kept, 1, (Attr){0}, (Pos){0});
}

static void expect_ops(Setup *s, int count) {
    pass_drop_unread(s->program, &blank);
    assert_int_equal(s->graph->op_count, count);
}

static void a_chain_goes(void **state) {
    Setup *s = *state;
    Op *first = doubled(s, frozen(s, ROWS, COLS)), *second = doubled(s, first->out[0]);
    doubled(s, second->out[0]);
    keep(s, first->out[0]);
    expect_ops(s, 2);
    assert_ptr_equal(s->graph->ops[0], first);
}

static void what_is_read_in_part_stays(void **state) {
    Setup *s = *state;
    Op *wide = doubled(s, frozen(s, ROWS, 2 * COLS));
    keep(s, value_columns(s->program, wide->out[0], COLS, COLS, "right"));
    expect_ops(s, 2);
}

static void what_a_dump_shows_stays(void **state) {
    Setup *s = *state;
    doubled(s, frozen(s, ROWS, COLS))->observe = "logits";
    expect_ops(s, 1);
}

static void collectives_stay(void **state) {
    Setup *s = *state;
    Op *sum = doubled(s, frozen(s, ROWS, COLS));
    Value *x = sum->out[0];
    op_add_into(s->program, s->graph, OP_all_reduce, "sum", &x, 1,
                (Value *[]){value_alias(s->program, x, "summed")}, 1, (Attr){0}, (Pos){0});
    expect_ops(s, 2);
}

static void copies_from_other_cards_stay(void **state) {
    Setup *s = *state;
    Value *theirs = frozen(s, ROWS, COLS);
    Value *ours = value_2d(s->program, "ours", ROLE_ACTIVATION, DT_F64, ROWS, COLS, (Pos){0});
    op_add_into(s->program, s->graph, OP_peer_copy, "copy", &theirs, 1, &ours, 1, (Attr){.card = 1}, (Pos){0});
    expect_ops(s, 1);
}

static void control_edges_pass_on(void **state) {
    Setup *s = *state;
    Value *x = frozen(s, ROWS, COLS);
    Op *first = doubled(s, x), *unread = doubled(s, x), *last = doubled(s, x);
    unread->after = first;
    last->after = unread;
    keep(s, first->out[0]);
    keep(s, last->out[0]);
    expect_ops(s, 4);
    assert_ptr_equal(s->graph->ops[1]->after, first);
    assert_ptr_equal(last->after, unread); /* for when passes are undone */
}

/* Backward would read the border of the first layer's inputs, but the embedding is frozen. */
static void kept_weights_of_the_first_layer_have_no_border_below(void **state) {
    Setup *s = *state;
    static const char *const sets[] = {"quantization.quant_type=\"nf4\"", "quantization.keep_decoded=true"};
    Spec *spec = spec_of_text(&s->arena,
        "[model]\nfamily = \"llama\"\nvocab_size = 256\nhidden_size = 128\nintermediate_size = 256\n"
        "num_hidden_layers = 2\nnum_attention_heads = 4\nnum_key_value_heads = 2\n[adapter]\ntype = \"lora\"\n"
        "[training]\ntask = \"sft\"\nseq_len = 16\nper_device_train_batch_size = 2\nsteps = 2\n"
        "[data]\nformat = \"synthetic\"\n[job]\nname = \"kept\"\n", sets, 2);
    Program *p = program_of_spec(&s->arena, spec);
    int borders = 0;
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < graph->op_count; i++)
        borders += strstr(graph->ops[i]->name, "self_attn.q_k_v_proj.y.weight_decoded.below") != NULL;
    assert_int_equal(borders, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_chain_goes, start, end),
        cmocka_unit_test_setup_teardown(what_is_read_in_part_stays, start, end),
        cmocka_unit_test_setup_teardown(what_a_dump_shows_stays, start, end),
        cmocka_unit_test_setup_teardown(collectives_stay, start, end),
        cmocka_unit_test_setup_teardown(copies_from_other_cards_stay, start, end),
        cmocka_unit_test_setup_teardown(control_edges_pass_on, start, end),
        cmocka_unit_test_setup_teardown(kept_weights_of_the_first_layer_have_no_border_below, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
