/* Where an entry is cut into functions, and what these are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emit/blocks.h"
#include "graph/op_table.h"

#include <string.h>

static Arena arena;

/* A launch of the entry under test. Its code has about `lines` lines, at most 31. */
typedef struct {
    const char *op;
    int lines;
    Phase phase;
    const char *weight; /* that it reads; or NULL */
    int uses;           /* one buffer per number; 0: none. A decode makes it */
    OpKind kind;
    int like; /* launches with the same number, other than 0, differ only in their names */
} Row;

static int value_count;

static Value *value_named(const char *name, Role role) {
    Storage *storage = arena_alloc(&arena, sizeof *storage);
    Value *v = arena_alloc(&arena, sizeof *v);
    *storage = (Storage){.name = name, .role = role, .bytes = 4};
    *v = (Value){.name = name, .storage = storage, .rank = 1, .dim = {1}, .role = role};
    v->id = value_count++;
    return v;
}

static Value *buffer_of(int number) {
    static Value *buffers[10];
    if (!buffers[number])
        buffers[number] = value_named(arena_printf(&arena, "buffer.%d", number), ROLE_ACTIVATION);
    return buffers[number];
}

/* The argument of a launch; those that are alike have the same one. */
static Value *counter_of(int like, int arg) {
    static Value *counters[6][MAX_PARAMS];
    if (!like || !counters[like][arg])
        counters[like][arg] = value_named("counter", ROLE_COUNTER);
    return counters[like][arg];
}

static Launch launch_of(const Row *row, int index) {
    Op *op = arena_alloc(&arena, sizeof *op);
    const Op **ops = arena_array(&arena, 1, sizeof *ops);
    *op = (Op){.name = row->op, .phase = row->phase, .kind = row->kind};
    ops[0] = op;
    Launch launch = {
        .kind = LAUNCH_ZERO, .grid = {row->like ? -row->like : index}, .ops = ops, .op_count = 1};
    if (row->weight)
        launch.arg[launch.arg_count++] = value_named(row->weight, ROLE_FROZEN);
    if (row->uses) {
        bool decodes = op_is(op, TRAIT_DECODES);
        launch.written[launch.arg_count] = decodes;
        launch.read[launch.arg_count] = !decodes;
        launch.arg[launch.arg_count++] = op->out[0] = buffer_of(row->uses);
    }
    while (3 + launch.arg_count / 5 + launch.arg_count < row->lines) {
        launch.arg[launch.arg_count] = counter_of(row->like, launch.arg_count);
        launch.arg_count++;
    }
    return launch;
}

/* Returns "first_forward 3, second_forward 2": the functions and how many launches they have. */
static const char *functions_of(const Row *rows, int count, Blocks *blocks) {
    Launch *launches = arena_array(&arena, (size_t)count, sizeof *launches);
    Program program = {.arena = &arena};
    Plan *plan = arena_alloc(&arena, sizeof *plan);
    const char *text = "";
    for (int i = 0; i < count; i++)
        launches[i] = launch_of(&rows[i], i);
    program.value_count = value_count;
    plan->program = &program;
    plan->place = arena_array(&arena, 1, sizeof *plan->place); /* of all storages */
    plan->entry[ENTRY_MICRO_STEP] =
        (PlanEntry){.name = "micro_step", .launches = launches, .launch_count = count};
    *blocks = blocks_of(&arena, plan, &plan->entry[ENTRY_MICRO_STEP]);
    for (int i = 0; i < blocks->count; i++)
        text = arena_printf(&arena, "%s%s%s %d", text, i ? ", " : "", blocks->blocks[i].function,
                            blocks->blocks[i].pointers.run.length);
    return text;
}

static void expect(const Row *rows, int count, const char *functions) {
    Blocks blocks;
    assert_string_equal(functions_of(rows, count, &blocks), functions);
}

#define EXPECT(rows, functions) expect(rows, sizeof rows / sizeof *rows, functions)
#define FORWARD(name, n) \
    { .op = name, .lines = n }
#define BACKWARD(name, n) \
    { .op = name, .lines = n, .phase = PHASE_BACKWARD }
#define BACKWARD_WITH(name, n, ...) \
    { .op = name, .lines = n, .phase = PHASE_BACKWARD, __VA_ARGS__ }

/* The border is not in the middle. */
static void test_a_cut_is_at_the_border_of_modules(void **state) {
    (void)state;
    static const Row rows[] = {
        FORWARD("layers.0.self_attn.q_proj", 20),
        FORWARD("layers.0.self_attn.k_proj", 20),
        FORWARD("layers.0.mlp.gate_proj", 20),
        FORWARD("layers.0.mlp.up_proj", 20),
        FORWARD("layers.0.mlp.act", 20),
        FORWARD("layers.0.mlp.down_proj", 20),
        BACKWARD("lm_head", 4),
    };
    EXPECT(rows, "layers_0_self_attn_forward 2, layers_0_mlp_forward 4, lm_head_backward 1");
}

/* All borders are between parts of self_attn, and those of q, k and v share a buffer. */
static void test_a_cut_separates_what_shares_least(void **state) {
    (void)state;
    static const Row rows[] = {
        BACKWARD("layers.0.self_attn.o_proj.grad", 20),
        BACKWARD("layers.0.self_attn.grad", 20),
        BACKWARD_WITH("layers.0.self_attn.q_proj.lora_B.weight.grad", 20, .uses = 1),
        BACKWARD_WITH("layers.0.self_attn.k_proj.lora_B.weight.grad", 20, .uses = 1),
        BACKWARD_WITH("layers.0.self_attn.v_proj.lora_B.weight.grad", 20, .uses = 1),
        BACKWARD_WITH("layers.0.self_attn.q_k_v_proj.dx", 20, .uses = 1),
    };
    EXPECT(rows, "layers_0_self_attn_o_proj_backward 2, "
                 "layers_0_self_attn_q_proj_to_q_k_v_proj_backward 4");
}

/* A cut between q and k would leave both functions short enough. */
static void test_a_series_stays_together(void **state) {
    (void)state;
    static const Row rows[] = {
        BACKWARD_WITH("layers.0.self_attn.o_proj.grad", 31, .uses = 1),
        BACKWARD_WITH("layers.0.self_attn.grad", 31, .uses = 1),
        BACKWARD_WITH("layers.0.self_attn.q_proj.grad", 18, .uses = 1, .kind = OP_low_rank_grads),
        BACKWARD_WITH("layers.0.self_attn.k_proj.grad", 18, .uses = 1, .kind = OP_low_rank_grads),
        BACKWARD_WITH("layers.0.self_attn.v_proj.grad", 18, .uses = 1, .kind = OP_low_rank_grads),
        BACKWARD_WITH("layers.0.self_attn.q_k_v_proj.dx", 31, .uses = 1),
    };
    EXPECT(rows, "layers_0_self_attn_o_proj_backward 2, "
                 "layers_0_self_attn_q_proj_to_q_k_v_proj_backward 4");
}

/* Four layers are a loop. The fifth ends differently, but begins as they do. */
static void test_the_last_layer_calls_functions_of_the_loop(void **state) {
    (void)state;
    static const char *const ops[] = {"self_attn.q_proj", "self_attn.o_proj", "mlp.up_proj",
                                      "mlp.down_proj"};
    Row rows[21];
    for (int i = 0; i < 20; i++)
        rows[i] = (Row){.op = arena_printf(&arena, "layers.%d.%s", i / 4, ops[i % 4]),
                        .lines = 30,
                        .uses = 9,
                        .like = i == 19 ? 5 : i % 4 + 1};
    rows[20] = (Row)BACKWARD("lm_head", 4);
    Blocks blocks;
    assert_string_equal(functions_of(rows, 21, &blocks),
                        "layers_self_attn_forward 2, layers_mlp_forward 2, "
                        "layers_self_attn_forward 2, layers_4_mlp_forward 2, lm_head_backward 1");
    const Block *attn = &blocks.blocks[0], *mlp = &blocks.blocks[1];
    assert_int_equal(attn->times, 4);
    assert_int_equal(attn->pointers.run.times, 5);
    assert_int_equal(mlp->pointers.run.times, 4);
    assert_int_equal(blocks.blocks[2].called, 0);
    assert_int_equal(blocks.blocks[3].called, -1);
    rows[16].op = "layers.7.self_attn.q_proj"; /* not the next layer */
    assert_string_equal(functions_of(rows, 21, &blocks),
                        "layers_self_attn_forward 2, layers_mlp_forward 2, "
                        "layers_7_forward 1, layers_4_forward 3, lm_head_backward 1");
}

/* Only the end of the fifth layer's mlp is different. It stays apart from what follows. */
static void test_a_function_is_cut_where_the_last_layer_differs(void **state) {
    (void)state;
    static const char *const ops[] = {"self_attn", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
                                      "mlp.norm"};
    Row rows[27];
    for (int i = 0; i < 25; i++)
        rows[i] = (Row){.op = arena_printf(&arena, "layers.%d.%s", i / 5, ops[i % 5]),
                        .lines = i % 5 ? 20 : 31,
                        .uses = i % 5 ? 9 : 8,
                        .like = i == 24 ? 0 : i % 5 + 1};
    rows[25] = (Row)FORWARD("lm_head", 4);
    rows[26] = (Row)BACKWARD("lm_head", 4);
    EXPECT(rows, "layers_self_attn_forward 1, layers_mlp_gate_proj_to_down_proj_forward 3, "
                 "layers_mlp_norm_forward 1, layers_self_attn_forward 1, "
                 "layers_mlp_gate_proj_to_down_proj_forward 3, layers_4_mlp_norm_forward 1, "
                 "lm_head_forward 1, lm_head_backward 1");
}

/* Five layers as above, and then a loop over a part of eight layers from layer `first` on. */
static const char *functions_of_two_loops(int first, Phase phase) {
    static const char *const ops[] = {"self_attn.q_proj", "self_attn.o_proj", "mlp.up_proj",
                                      "mlp.down_proj"};
    Row rows[29];
    for (int i = 0; i < 20; i++)
        rows[i] = (Row){.op = arena_printf(&arena, "model.layers.%d.%s", i / 4, ops[i % 4]),
                        .lines = 30,
                        .uses = 9,
                        .like = i == 19 ? 0 : i % 4 + 1};
    for (int i = 20; i < 28; i++)
        rows[i] = (Row){.op = arena_printf(&arena, "model.layers.%d.norm", first + i - 20),
                        .lines = 30,
                        .phase = phase,
                        .like = 5};
    rows[28] = (Row)BACKWARD("lm_head", 4);
    Blocks blocks;
    return functions_of(rows, 29, &blocks);
}

/* It includes the call after the loop. */
static void test_a_range_tells_loops_apart(void **state) {
    (void)state;
    assert_string_equal(functions_of_two_loops(5, PHASE_FORWARD),
                        "layers_0_to_4_self_attn_forward 2, layers_0_to_3_mlp_forward 2, "
                        "layers_0_to_4_self_attn_forward 2, layers_4_mlp_forward 2, "
                        "layers_5_to_12_forward 1, lm_head_backward 1");
    assert_string_equal(functions_of_two_loops(0, PHASE_FORWARD), /* all layers */
                        "layers_0_to_4_self_attn_forward 2, layers_0_to_3_mlp_forward 2, "
                        "layers_0_to_4_self_attn_forward 2, layers_4_mlp_forward 2, "
                        "layers_forward 1, lm_head_backward 1");
    assert_string_equal(functions_of_two_loops(5, PHASE_BACKWARD),
                        "layers_self_attn_forward 2, layers_mlp_forward 2, "
                        "layers_self_attn_forward 2, layers_4_mlp_forward 2, "
                        "layers_backward 1, lm_head_backward 1");
}

/* One module stays whole if it is only a little too long. */
static void test_a_module_may_be_a_little_too_long(void **state) {
    (void)state;
    static const Row rows[] = {
        FORWARD("layers.0.mlp.gate_proj", 30),
        FORWARD("layers.0.mlp.act", 30),
        FORWARD("layers.0.mlp.down_proj", 30),
        BACKWARD("lm_head", 4),
    };
    EXPECT(rows, "layers_0_forward 3, lm_head_backward 1");
}

/* The gradient of the norm's result is computed by mlp, with its weight. */
static void test_backward_belongs_to_the_weight_that_it_reads(void **state) {
    (void)state;
    static const Row rows[] = {
        BACKWARD_WITH("layers.0.mlp.act.grad", 30, .weight = "layers.0.mlp.down_proj.weight"),
        BACKWARD_WITH("layers.0.norm.grad", 30, .weight = "layers.0.mlp.up_proj.weight"),
        BACKWARD_WITH("layers.0.self_attn.grad", 30, .weight = "layers.0.self_attn.o_proj.weight"),
        BACKWARD_WITH("layers.0.norm.grad", 30, .weight = "layers.0.self_attn.q_proj.weight"),
    };
    EXPECT(rows, "layers_0_mlp_backward 2, layers_0_self_attn_backward 2");
}

/* As in DPO, whose reference reads the weights of the model. */
static void test_a_decode_belongs_to_the_module_that_reads_it(void **state) {
    (void)state;
    Row rows[17];
    for (int i = 0; i < 16; i++) {
        const char *op = i % 2 ? "reference.model.layers.%d.mlp.up_proj"
                               : "model.layers.%d.mlp.up_proj.weight.decoded";
        rows[i] = (Row){.op = arena_printf(&arena, op, i / 2), .lines = 30, .like = i % 2 + 1};
        rows[i].kind = i % 2 ? OP_matmul : OP_decode_4bit;
        rows[i].uses = 8;
    }
    rows[16] = (Row)BACKWARD("lm_head", 4);
    EXPECT(rows, "reference_model_layers_forward 2, lm_head_backward 1");
    for (int i = 1; i < 16; i += 2)
        rows[i].uses = 9; /* something else */
    EXPECT(rows, "layers_and_reference_model_layers_forward 2, lm_head_backward 1");
}

static void test_small_neighbours_are_named_together(void **state) {
    (void)state;
    static const Row two[] = {FORWARD("lm_head", 9), FORWARD("loss.rows", 9), FORWARD("loss", 9),
                              BACKWARD("norm", 9)};
    EXPECT(two, "lm_head_and_loss_forward 3, norm_backward 1");
    static const Row more[] = {FORWARD("fc", 9), FORWARD("relu", 9), FORWARD("loss.rows", 9),
                               FORWARD("loss", 9), BACKWARD("norm", 9)};
    EXPECT(more, "fc_to_loss_forward 4, norm_backward 1");
}

static void test_a_function_lists_its_parts(void **state) {
    (void)state;
    static const Row rows[] = {
        FORWARD("model.layers.0.residual", 9),
        FORWARD("model.layers.0.mlp.up_proj", 9),
        FORWARD("model.layers.0.mlp.up_proj.bias", 9),
        FORWARD("model.layers.0.mlp.down_proj", 9),
        BACKWARD("lm_head.weight.grad", 9),
    };
    Blocks blocks;
    functions_of(rows, sizeof rows / sizeof *rows, &blocks);
    const Block *first = &blocks.blocks[0];
    assert_int_equal(first->content_count, 3);
    assert_string_equal(first->contents[0], "model.layers.0: residual");
    assert_string_equal(first->contents[1], "mlp.up_proj");
    assert_string_equal(first->contents[2], "mlp.down_proj");
    assert_int_equal(blocks.blocks[1].content_count, 0);
    static const Row others[] = {
        FORWARD("model.layers.0.mlp", 9),
        BACKWARD("lm_head.chunk.0.zero", 9),
        BACKWARD("lm_head.chunk.0.sum", 9),
    };
    functions_of(others, sizeof others / sizeof *others, &blocks);
    assert_string_equal(blocks.blocks[1].contents[0], "lm_head.chunk.0: zero");
}

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cut_is_at_the_border_of_modules),
        cmocka_unit_test(test_a_cut_separates_what_shares_least),
        cmocka_unit_test(test_a_series_stays_together),
        cmocka_unit_test(test_the_last_layer_calls_functions_of_the_loop),
        cmocka_unit_test(test_a_function_is_cut_where_the_last_layer_differs),
        cmocka_unit_test(test_a_range_tells_loops_apart),
        cmocka_unit_test(test_a_module_may_be_a_little_too_long),
        cmocka_unit_test(test_backward_belongs_to_the_weight_that_it_reads),
        cmocka_unit_test(test_a_decode_belongs_to_the_module_that_reads_it),
        cmocka_unit_test(test_small_neighbours_are_named_together),
        cmocka_unit_test(test_a_function_lists_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
