/* Hundreds of fused kernels, printed, compiled for the simulated device and run there: after each
 * launch its storages equal those of the reference interpreter byte for byte. In the race flavour,
 * each kernel requests the bytes that the plan counted.
 *
 *     FLAVOUR=release|asan|race SIM_FOLDER=... SIM_TESTS=... test_generated_kernels [TEST]
 *
 * Modules are compiled into SIM_TESTS and reused by later runs. */
#include "generated.h"

#include <math.h>

#include "random_graph.h"

enum { PARTS = 13, WIDE_PARTS = 1, OPS = 14 };

/* ---- one program ----------------------------------------------------------------------------- */

static void case_start(Case *c, Arena *arena, const char *name, DType activation, DType real) {
    RandomGraph graph = random_graph(arena, 20, activation, real, OPS, PARTS, WIDE_PARTS);
    *c = case_open(name, graph.program, NULL);
    random_fill(&graph, &c->memory, 3);
    for (int i = 0; i < c->memory.count; i++) case_upload(c, i);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Returns the element that contains byte number `byte` of a storage. */
static double element_in(const Value *v, const unsigned char *bytes, int64_t byte) {
    unsigned char *pointers[1] = {(unsigned char *)(uintptr_t)bytes};
    Storage storage = *v->storage;
    Value whole = *v;
    storage.id = 0;
    whole.storage = &storage;
    whole.offset = 0;
    return memory_get(&(Memory){1, pointers}, &whole, byte / dtype_bytes(v->dtype));
}

/* Compares the whole storage, so that stores outside a view are found too. */
static void compare_storage(const Case *c, const Launch *launch, const Value *v) {
    const Storage *storage = v->storage;
    const unsigned char *expected = c->memory.bytes[storage->id];
    unsigned char *found = malloc((size_t)storage->bytes);
    OK(cuMemcpyDtoH(found, c->buffers[storage->id], (size_t)storage->bytes));
    for (int64_t i = 0; i < storage->bytes; i++)
        if (found[i] != expected[i] && !(isnan(element_in(v, found, i)) && isnan(element_in(v, expected, i))))
            fail_msg("%s: byte %lld of %s differs, element %g should be %g", c->plan->kernels[launch->index].name,
                     (long long)i, storage->name, element_in(v, found, i), element_in(v, expected, i));
    free(found);
}

static void run_launch(Case *c, const Launch *launch) {
    Memory memory = c->memory;
    eval_launch(&memory, c->plan, launch);
    if (launch->kind != LAUNCH_KERNEL) {
        for (int i = 0; i < launch->arg_count; i++) case_upload(c, launch->arg[i]->storage->id);
        return;
    }
    case_launch(c, launch);
    for (int i = 0; i < launch->arg_count; i++)
        if (launch->written[i]) compare_storage(c, launch, launch->arg[i]);
}

static void run_launches(Case *c) {
    const PlanEntry *entry = &c->plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < entry->launch_count; i++) run_launch(c, &entry->launches[i]);
    printf("[          ] %d kernels, %d launches\n", c->plan->kernel_count, entry->launch_count);
    case_close(c);
}

static void run_case(const char *name, DType activation, DType real) {
    Arena arena = {0};
    Case c;
    case_start(&c, &arena, name, activation, real);
    run_launches(&c);
    arena_free(&arena);
}

static void test_f32(void **state) {
    (void)state;
    run_case("f32", DT_F32, DT_F32);
}

static void test_bf16(void **state) {
    (void)state;
    run_case("bf16", DT_BF16, DT_F32);
}

static void test_f64(void **state) {
    (void)state;
    run_case("f64", DT_F64, DT_F64);
}

/* ---- threads with two rows ------------------------------------------------------------------- */

static Value *given(Program *p, const char *name, const char *what, Role role, DType dtype, int64_t rows, int64_t cols) {
    const char *full = arena_printf(p->arena, "%s.%s", name, what);
    return rows == 1 ? value_1d(p, full, role, dtype, cols, (Pos){0}) : value_2d(p, full, role, dtype, rows, cols, (Pos){0});
}

/* x = dropout(r batch_norm(batch_norm(batch_norm(x)))), where r is a number per row. */
static void add_norms(Program *p, const char *name, int64_t rows, int64_t cols) {
    static const char *const of_columns[] = {"", "mean", "rstd", "weight", "bias"}, *const of_all[] = {"", "seed", "step", "first_row"};
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    Value *x = given(p, name, "x", ROLE_GRADIENT, p->real, rows, cols), *in[5] = {x}, *factor[2], *drawn[4];
    for (int norm = 0; norm < 3; norm++) {
        for (int i = 1; i < 5; i++) in[i] = given(p, name, of_columns[i], ROLE_FROZEN, p->real, 1, cols);
        in[0] = op_add(p, graph, OP_batch_norm, name, in, 5, (Attr){0}, (Pos){0})->out[0];
    }
    factor[0] = in[0], factor[1] = given(p, name, "r", ROLE_FROZEN, p->real, rows, 1);
    drawn[0] = op_add(p, graph, OP_mul, name, factor, 2, (Attr){0}, (Pos){0})->out[0];
    for (int i = 1; i < 4; i++) drawn[i] = given(p, name, of_all[i], ROLE_INPUT, i > 1 ? DT_I32 : DT_I64, 1, 1);
    Value *result = value_alias(p, x, arena_printf(p->arena, "%s.result", name));
    op_add_into(p, graph, OP_dropout, name, drawn, 4, &result, 1, (Attr){.rate = 0.25, .stream = 1000}, (Pos){0});
}

/* The fewest rows with which threads have two, but for some more in the last block: with an element of
 * each, and with a vector. */
static Program *pairs_program(Arena *arena) {
    Program *p = program_new(arena);
    p->activation = p->real = DT_F32;
    add_norms(p, "odd", 149800, 7);
    add_norms(p, "even", 349530, 6);
    return p;
}

static void test_pairs(void **state) {
    (void)state;
    Arena arena = {0};
    Case c = case_open("pairs", pairs_program(&arena), NULL);
    const Program *p = c.plan->program;
    random_fill(&(RandomGraph){.program = c.plan->program}, &c.memory, 3);
    for (int i = 0; i < p->value_count; i++)
        for (int64_t k = 0; p->values[i]->role == ROLE_GRADIENT && k < value_elements(p->values[i]); k++)
            memory_set(&c.memory, p->values[i], k, (double)(k % 7));
    for (int i = 0; i < c.memory.count; i++) case_upload(&c, i);
    assert_int_equal(c.plan->kernel_count, 2);
    for (int i = 0; i < 2; i++) assert_int_equal(c.plan->kernels[i].thread_rows, 2);
    run_launches(&c);
    arena_free(&arena);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Attention of several shapes over whole sequences, for which only bytes are compared. With a
 * prefix, and if rows are segmented, a warp's last row is its own sample, so that all tiles that
 * the warp visits are masked: no samples need more bytes. With `rotated`, backward undoes RoPE. */
static void add_attention(Program *p, int64_t seq, int64_t heads, int64_t kv_heads, int64_t head_dim, bool prefixed,
                          bool rotated) {
    static int count;
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int64_t tokens = 2 * seq;
    const char *name = arena_printf(p->arena, "attention.%d", count++);
    Value *q = value_2d(p, "q", ROLE_FROZEN, p->activation, tokens, heads * head_dim, (Pos){0});
    Value *k = value_2d(p, "k", ROLE_FROZEN, p->activation, tokens, kv_heads * head_dim, (Pos){0});
    Value *v = value_2d(p, "v", ROLE_FROZEN, p->activation, tokens, kv_heads * head_dim, (Pos){0});
    Value *positions = value_2d(p, prefixed || p->segmented ? "broken" : "positions", ROLE_INPUT, DT_I32, tokens, 1, (Pos){0});
    Attr attr = {.alpha = 1, .heads = heads, .kv_heads = kv_heads, .head_dim = head_dim, .seq_len = seq};
    Value *prefix = prefixed ? value_2d(p, "prefix", ROLE_FROZEN, DT_I32, tokens, 2, (Pos){0}) : NULL;
    int operands = prefixed ? 5 : 4;
    Op *forward = op_add(p, graph, OP_attention, name, (Value *[]){q, k, v, positions, prefix}, operands, attr, (Pos){0});
    Value *in[11] = {q, k, v, positions, forward->out[0], forward->out[1], q, prefix};
    Value *table = value_2d(p, "table", ROLE_FROZEN, p->real, seq, head_dim / 2, (Pos){0});
    Value *rope[] = {positions, table, table};
    operands += 3;
    for (int i = 0; rotated && i < 3; i++) in[operands++] = rope[i];
    op_add(p, graph, OP_attention_grad, arena_printf(p->arena, "%s.grad", name), in, operands, attr, (Pos){0});
}

static Program *attention_program(Arena *arena, DType activation, DType real, bool segmented) {
    Program *p = program_new(arena);
    p->segmented = segmented;
    p->activation = activation;
    p->real = real;
    add_attention(p, 37, 2, 1, 24, false, false);
    add_attention(p, 160, 2, 2, 64, false, false);
    add_attention(p, 100, 2, 2, 64, true, false);
    add_attention(p, 100, 2, 1, 128, false, false);
    add_attention(p, 70, 2, 1, 136, false, false);
    add_attention(p, 70, 2, 1, 136, true, false);
    add_attention(p, 37, 2, 1, 32, false, true);
    add_attention(p, 100, 2, 2, 64, true, true);
    add_attention(p, 100, 2, 1, 128, false, true);
    return p;
}

static void run_attention(const char *name, DType activation, DType real, bool segmented) {
    Arena arena = {0};
    Program *program = attention_program(&arena, activation, real, segmented);
    Case c = case_open(name, program, NULL);
    for (int i = 0; i < c.memory.count; i++) memset(c.memory.bytes[i], 0, (size_t)program->storages[i]->bytes);
    for (int i = 0; i < program->value_count; i++) {
        const Value *v = program->values[i];
        int64_t seq = value_rows(v) / 2;
        for (int64_t k = 0; v->role == ROLE_INPUT && k < value_rows(v); k++) {
            bool alone = strcmp(v->name, "broken") == 0 && k % seq % 16 == 15;
            memory_set(&c.memory, v, k, alone ? 0 : (double)(k % seq));
        }
    }
    for (int i = 0; i < c.memory.count; i++) case_upload(&c, i);
    const PlanEntry *entry = &c.plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < entry->launch_count; i++) case_launch(&c, &entry->launches[i]);
    case_close(&c);
    arena_free(&arena);
}

static void test_attention_f32(void **state) {
    (void)state;
    run_attention("attention_f32", DT_F32, DT_F32, false);
}

static void test_attention_bf16(void **state) {
    (void)state;
    run_attention("attention_bf16", DT_BF16, DT_F32, false);
}

static void test_attention_bf16_segmented(void **state) {
    (void)state;
    run_attention("attention_bf16_segmented", DT_BF16, DT_F32, true);
}

static void test_bytes_of_bodies(void **state) {
    (void)state;
    Arena arena = {0};
    RandomGraph g = random_graph(&arena, 20, DT_F32, DT_F32, OPS, PARTS, WIDE_PARTS);
    generated_compare_counts("f32", generated_plan(g.program, NULL));
    generated_compare_counts("pairs", generated_plan(pairs_program(&arena), NULL));
    arena_free(&arena);
}

static void test_bytes_of_attention(void **state) {
    (void)state;
    Arena arena = {0};
    generated_compare_counts("attention_f32", generated_plan(attention_program(&arena, DT_F32, DT_F32, false), NULL));
    generated_compare_counts("attention_bf16", generated_plan(attention_program(&arena, DT_BF16, DT_F32, false), NULL));
    generated_compare_counts("attention_bf16_segmented", generated_plan(attention_program(&arena, DT_BF16, DT_F32, true), NULL));
    arena_free(&arena);
}

/* The race flavour, which counts bytes, runs some tests within those that compare the counts. */
int main(int argc, char **argv) {
    const struct CMUnitTest counted[] = {
        {"f32", test_f32, NULL, NULL, NULL},
        {"pairs", test_pairs, NULL, NULL, NULL},
        {"attention_f32", test_attention_f32, NULL, NULL, NULL},
        {"attention_bf16", test_attention_bf16, NULL, NULL, NULL},
        {"attention_bf16_segmented", test_attention_bf16_segmented, NULL, NULL, NULL},
    };
    const struct CMUnitTest counts[] = {
        {"bytes of bodies", test_bytes_of_bodies, NULL, NULL, NULL},
        {"bytes of attention", test_bytes_of_attention, NULL, NULL, NULL},
    };
    const struct CMUnitTest others[] = {
        {"bf16", test_bf16, NULL, NULL, NULL},
        {"f64", test_f64, NULL, NULL, NULL},
    };
    const bool race = !strcmp(generated_flavour(), "race");
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    else if (getenv("SHORT")) cmocka_set_skip_filter("f64"); /* same steps as f32 */
    int failed = cmocka_run_group_tests(others, NULL, NULL);
    if (argc > 1 || !race) failed += cmocka_run_group_tests(counted, NULL, NULL);
    if (argc == 1 && race) failed += cmocka_run_group_tests(counts, NULL, NULL);
    return failed;
}
