/* The memory plan and its checker: which values may share bytes, and that the checker finds every
 * kind of broken plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/plan_steps.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- plans by hand: one launch per op ---- */

static Arena arena;

static int setup(void **state) {
    (void)state;
    arena = (Arena){0};
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

static Plan *new_plan(void) {
    Program *program = program_new(&arena);
    program->real = program->activation = DT_F32;
    Plan *plan = plan_new(program, NULL, NULL);
    plan->kernels = arena_array(&arena, 1, sizeof *plan->kernels);
    plan->kernels[0] = (Kernel){.name = "add", .threads = 64};
    plan->kernel_count = plan->kernel_capacity = 1;
    return plan;
}

static Value *matrix(Plan *plan, const char *name, Role role, int64_t rows) {
    return value_2d(plan->program, name, role, DT_F32, rows, 64, (Pos){0});
}

/* The entry's end waits for its next launch, and for its earlier waits on that stream. */
static void end_with(PlanEntry *entry, int stream) {
    int w = 0;
    while (w < entry->wait_count && entry->launches[entry->wait[w]].stream != stream)
        w++;
    if (stream == 0)
        return;
    entry->wait[w] = entry->launch_count;
    entry->wait_count += w == entry->wait_count;
}

/* Adds c = a + b on one stream; returns the launch's index. */
static int add_on(Plan *plan, Entry e, int stream, Value *a, Value *b, Value *c) {
    Op *op = op_add_into(plan->program, &plan->program->entry[e], OP_add, c->name,
                         (Value *[]){a, b}, 2, &c, 1, (Attr){0}, (Pos){0});
    PlanEntry *entry = &plan->entry[e];
    if (entry->launch_count == entry->launch_capacity) {
        int capacity = entry->launch_capacity ? 2 * entry->launch_capacity : 64;
        Launch *more = arena_array(&arena, (size_t)capacity, sizeof *more);
        if (entry->launch_count)
            memcpy(more, entry->launches, (size_t)entry->launch_count * sizeof *more);
        entry->launches = more;
        entry->launch_capacity = capacity;
    }
    const Op **ops = arena_array(&arena, 1, sizeof *ops);
    ops[0] = op;
    entry->launches[entry->launch_count] = (Launch){.kind = LAUNCH_KERNEL,
                                                    .arg = {a, b, c},
                                                    .read = {true, true},
                                                    .written = {0, 0, true},
                                                    .arg_count = 3,
                                                    .grid = {1, 1, 1},
                                                    .ops = ops,
                                                    .op_count = 1,
                                                    .stream = stream,
                                                    .forks = stream > 0};
    end_with(entry, stream);
    return entry->launch_count++;
}

static int add(Plan *plan, Value *a, Value *b, Value *c) {
    return add_on(plan, ENTRY_MICRO_STEP, 0, a, b, c);
}

static Launch *launch(Plan *plan, int index) {
    return &plan->entry[ENTRY_MICRO_STEP].launches[index];
}

static int64_t offset(const Plan *plan, const Value *v) { return plan_place(plan, v).offset; }

static bool share(const Plan *plan, const Value *a, const Value *b) {
    return offset(plan, a) < offset(plan, b) + b->storage->bytes &&
           offset(plan, b) < offset(plan, a) + a->storage->bytes;
}

static void assert_right(const Plan *plan) {
    const char *fault = plan_find_fault(plan);
    if (fault)
        fail_msg("%s", fault);
}

static void assert_fault(const Plan *plan, const char *part) {
    const char *fault = plan_find_fault(plan);
    assert_non_null(fault);
    if (!strstr(fault, part))
        fail_msg("\"%s\" does not speak of \"%s\"", fault, part);
}

/* w -> a -> b -> c -> d: each value dies when the next one is computed. */
typedef struct {
    Plan *plan;
    Value *w, *a, *b, *c, *d;
} Chain;

static Chain chain(void) {
    Plan *plan = new_plan();
    Chain x = {plan,
               matrix(plan, "w", ROLE_FROZEN, 16),
               matrix(plan, "a", ROLE_ACTIVATION, 16),
               matrix(plan, "b", ROLE_ACTIVATION, 16),
               matrix(plan, "c", ROLE_ACTIVATION, 16),
               matrix(plan, "d", ROLE_ACTIVATION, 16)};
    add(plan, x.w, x.w, x.a);
    add(plan, x.a, x.a, x.b);
    add(plan, x.b, x.b, x.c);
    add(plan, x.c, x.c, x.d);
    plan_memory(plan);
    assert_right(plan);
    return x;
}

/* ---- placing ---- */

static void test_bytes_are_shared_when_lifetimes_do_not_meet(void **state) {
    (void)state;
    Chain x = chain();
    assert_true(share(x.plan, x.a, x.c));
    assert_true(share(x.plan, x.b, x.d));
    assert_false(share(x.plan, x.a, x.b));
    assert_int_equal(x.plan->arena_bytes[ARENA_SCRATCH], 2 * 16 * 64 * 4);
    assert_int_equal(x.plan->role_bytes[ROLE_ACTIVATION], 4 * 16 * 64 * 4);
}

static void test_persistent_storages_stand_alone(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *w = matrix(plan, "w", ROLE_FROZEN, 1), *g = matrix(plan, "g", ROLE_GRADIENT, 1);
    Value *x = matrix(plan, "x", ROLE_INPUT, 1), *unused = matrix(plan, "unused", ROLE_FROZEN, 1);
    Value *step = value_1d(plan->program, "step", ROLE_COUNTER, DT_I32, 1, (Pos){0});
    add(plan, w, x, g);
    plan_memory(plan);
    assert_right(plan);
    assert_int_equal(plan->place[w->storage->id].arena, ARENA_STATE);
    assert_int_equal(plan->place[x->storage->id].arena, ARENA_INPUT);
    assert_int_equal(plan->place[unused->storage->id].offset, -1);
    assert_true(offset(plan, step) >= 0); /* the host uses it */
    assert_int_equal(offset(plan, g) % 256, 0);
    assert_int_equal(plan->arena_bytes[ARENA_STATE], 3 * 256);
}

static void test_scratch_is_shared_by_entries(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *w = matrix(plan, "w", ROLE_FROZEN, 16);
    Value *a = matrix(plan, "a", ROLE_ACTIVATION, 16), *b = matrix(plan, "b", ROLE_ACTIVATION, 8);
    add_on(plan, ENTRY_MICRO_STEP, 0, w, w, a);
    Value *top = value_row_range(plan->program, w, 0, 8, "top");
    add_on(plan, ENTRY_EVALUATE, 0, top, top, b);
    plan_memory(plan);
    assert_right(plan);
    assert_int_equal(offset(plan, a), 0);
    assert_int_equal(offset(plan, b), 0);
}

static void test_streams_share_only_after_an_event(void **state) {
    (void)state;
    for (int with_event = 0; with_event <= 1; with_event++) {
        Plan *plan = new_plan();
        Value *w = matrix(plan, "w", ROLE_FROZEN, 16), *g = matrix(plan, "g", ROLE_GRADIENT, 16);
        Value *h = matrix(plan, "h", ROLE_GRADIENT, 16);
        Value *a = matrix(plan, "a", ROLE_ACTIVATION, 16),
              *b = matrix(plan, "b", ROLE_ACTIVATION, 16);
        add_on(plan, ENTRY_MICRO_STEP, 0, w, w, a);
        int last_of_a = add_on(plan, ENTRY_MICRO_STEP, 0, a, a, g);
        int first_of_b = add_on(plan, ENTRY_MICRO_STEP, 1, w, w, b);
        add_on(plan, ENTRY_MICRO_STEP, 1, b, b, h);
        if (with_event) {
            launch(plan, first_of_b)->wait[0] = last_of_a;
            launch(plan, first_of_b)->wait_count = 1;
        }
        plan_memory(plan);
        assert_right(plan);
        assert_int_equal(share(plan, a, b), with_event);
    }
}

/* ---- plans broken on purpose ---- */

static void test_shifted_offset(void **state) {
    (void)state;
    Chain x = chain();
    x.plan->place[x.b->storage->id].offset -= 256;
    assert_fault(x.plan, "takes the bytes of a for b");
}

static void test_unaligned_offset(void **state) {
    (void)state;
    Chain x = chain();
    x.plan->place[x.b->storage->id].offset += 4;
    assert_fault(x.plan, "not aligned");
}

static void test_outside_the_arena(void **state) {
    (void)state;
    Chain x = chain();
    x.plan->arena_bytes[ARENA_SCRATCH] -= 256;
    assert_fault(x.plan, "outside its arena");
}

static void test_view_outside_its_storage(void **state) {
    (void)state;
    Chain x = chain();
    Value *beyond = value_alias(x.plan->program, x.b, "beyond");
    beyond->offset = 64;
    launch(x.plan, 1)->arg[2] = beyond;
    assert_fault(x.plan, "outside its storage");
}

static void test_state_that_overlaps(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *w = matrix(plan, "w", ROLE_FROZEN, 16), *g = matrix(plan, "g", ROLE_GRADIENT, 16);
    add(plan, w, w, g);
    plan_memory(plan);
    plan->place[g->storage->id].offset -= 256;
    assert_fault(plan, "share bytes that outlive an entry");
}

static void test_swapped_order(void **state) {
    (void)state;
    Chain x = chain();
    Launch second = *launch(x.plan, 1);
    *launch(x.plan, 1) = *launch(x.plan, 2);
    *launch(x.plan, 2) = second;
    assert_fault(x.plan, "must come after");
}

/* In state, which is not computed again, an overwrite after a read is a dependence too. */
static void test_read_after_overwrite_of_state(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *w = matrix(plan, "w", ROLE_WEIGHT, 16), *a = matrix(plan, "a", ROLE_ACTIVATION, 16);
    add(plan, w, w, a);
    add(plan, w, a, value_alias(plan->program, w, "new.w"));
    plan_memory(plan);
    assert_right(plan);
    Plan *late = new_plan();
    w = matrix(late, "w", ROLE_WEIGHT, 16);
    a = matrix(late, "a", ROLE_GRADIENT, 16);
    Value *x = matrix(late, "x", ROLE_INPUT, 16);
    add(late, w, w, a);
    add(late, w, x, value_alias(late->program, w, "new.w"));
    plan_memory(late);
    assert_right(late);
    Launch first = *launch(late, 0);
    *launch(late, 0) = *launch(late, 1);
    *launch(late, 1) = first;
    assert_fault(late, "new.w must come after a");
}

/* The second launch of an op is on another stream, and waits for the first one or not. */
static void test_op_on_two_streams(void **state) {
    (void)state;
    for (int waits = 0; waits <= 1; waits++) {
        Plan *plan = new_plan();
        Value *w = matrix(plan, "w", ROLE_FROZEN, 16), *g = matrix(plan, "g", ROLE_GRADIENT, 16);
        Value *h = matrix(plan, "h", ROLE_GRADIENT, 16);
        int first = add_on(plan, ENTRY_MICRO_STEP, 0, w, w, g);
        int second = add_on(plan, ENTRY_MICRO_STEP, 1, w, w, h);
        const Op **ops = arena_array(&arena, 2, sizeof *ops);
        ops[0] = launch(plan, second)->ops[0];
        ops[1] = launch(plan, first)->ops[0];
        launch(plan, second)->ops = ops;
        launch(plan, second)->op_count = 2;
        launch(plan, second)->wait[0] = first;
        launch(plan, second)->wait_count = waits;
        plan_memory(plan);
        if (waits)
            assert_right(plan);
        else
            assert_fault(plan, "launch 1 goes on with g before launch 0 has ended");
    }
}

static void test_missing_launch(void **state) {
    (void)state;
    Chain x = chain();
    x.plan->entry[ENTRY_MICRO_STEP].launch_count--;
    assert_fault(x.plan, "no launch carries out d");
}

static void test_read_of_what_nobody_wrote(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *a = matrix(plan, "a", ROLE_ACTIVATION, 16), *g = matrix(plan, "g", ROLE_GRADIENT, 16);
    add(plan, a, a, g);
    plan_memory(plan);
    assert_fault(plan, "nobody");
}

/* With several cards, `collect` is one graph for all slots of batches. */
static void test_collect_reads_no_batch(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *batch = matrix(plan, "batch", ROLE_INPUT, 16), *w = matrix(plan, "w", ROLE_WEIGHT, 16);
    add_on(plan, ENTRY_COLLECT, 0, batch, w, w);
    plan_memory(plan);
    assert_right(plan);
    plan->program->cards = 2;
    assert_fault(plan, "reads batch, a batch");
}

/* With several cards, the other cards have only the state that micro_step uses, wherever it is
 * written. */
static void test_state_of_other_cards(void **state) {
    (void)state;
    Plan *plan = new_plan();
    plan->program->cards = 2;
    Value *m = matrix(plan, "m", ROLE_COUNTER, 16), *w = matrix(plan, "w", ROLE_WEIGHT, 16);
    Value *a = matrix(plan, "a", ROLE_ACTIVATION, 16), *g = matrix(plan, "g", ROLE_GRADIENT, 16);
    add(plan, w, w, a);
    add(plan, a, w, g);
    add_on(plan, ENTRY_UPDATE, 0, g, w, value_alias(plan->program, m, "new.m"));
    plan_memory(plan);
    assert_right(plan);
    assert_int_equal(plan->replica_bytes, plan_place(plan, m).offset);
    assert_true(plan_place(plan, g).offset + value_bytes(g) <= plan->replica_bytes);
    plan->replica_bytes = plan_place(plan, g).offset;
    assert_fault(plan, "uses g, which the first card alone has");
}

/* Two streams compute one value each, and a third launch needs both. */
static void test_missing_event(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *w = matrix(plan, "w", ROLE_FROZEN, 16), *g = matrix(plan, "g", ROLE_GRADIENT, 16);
    Value *a = matrix(plan, "a", ROLE_ACTIVATION, 16), *b = matrix(plan, "b", ROLE_ACTIVATION, 16);
    add_on(plan, ENTRY_MICRO_STEP, 0, w, w, a);
    int other = add_on(plan, ENTRY_MICRO_STEP, 1, w, w, b);
    int both = add_on(plan, ENTRY_MICRO_STEP, 0, a, b, g);
    launch(plan, both)->wait[0] = other;
    launch(plan, both)->wait_count = 1;
    plan_memory(plan);
    assert_right(plan);
    launch(plan, both)->wait_count = 0;
    assert_fault(plan, "g must come after b");
}

/* An earlier entry may still use the bytes. */
static void test_stream_that_begins_too_soon(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *w = matrix(plan, "w", ROLE_FROZEN, 16), *a = matrix(plan, "a", ROLE_ACTIVATION, 16);
    int first = add_on(plan, ENTRY_MICRO_STEP, 1, w, w, a);
    plan_memory(plan);
    assert_right(plan);
    launch(plan, first)->forks = false;
    assert_fault(plan, "may run before it begins");
}

/* The event that lets another stream reuse bytes does not correspond to a dependence of an op. */
static void test_missing_event_of_reuse(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *w = matrix(plan, "w", ROLE_FROZEN, 16), *g = matrix(plan, "g", ROLE_GRADIENT, 16);
    Value *h = matrix(plan, "h", ROLE_GRADIENT, 16);
    Value *a = matrix(plan, "a", ROLE_ACTIVATION, 16), *b = matrix(plan, "b", ROLE_ACTIVATION, 16);
    add_on(plan, ENTRY_MICRO_STEP, 0, w, w, a);
    int last_of_a = add_on(plan, ENTRY_MICRO_STEP, 0, a, a, g);
    int first_of_b = add_on(plan, ENTRY_MICRO_STEP, 1, w, w, b);
    add_on(plan, ENTRY_MICRO_STEP, 1, b, b, h);
    launch(plan, first_of_b)->wait[0] = last_of_a;
    launch(plan, first_of_b)->wait_count = 1;
    plan_memory(plan);
    assert_right(plan);
    launch(plan, first_of_b)->wait_count = 0;
    assert_fault(plan, "may still use them");
}

static void test_partial_overlap_of_own_operand(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *w = matrix(plan, "w", ROLE_FROZEN, 16), *a = matrix(plan, "a", ROLE_ACTIVATION, 16);
    add(plan, w, w, a);
    Value *upper = value_row_range(plan->program, a, 0, 8, "upper");
    Value *lower = value_row_range(plan->program, a, 4, 8, "lower");
    add(plan, upper, upper, lower);
    plan_memory(plan);
    assert_fault(plan, "over its own");
}

/* A product may not even write in place. */
static void test_product_in_place(void **state) {
    (void)state;
    Plan *plan = new_plan();
    Value *w = matrix(plan, "w", ROLE_FROZEN, 16), *a = matrix(plan, "a", ROLE_ACTIVATION, 16);
    add(plan, w, w, a);
    int index = add(plan, a, w, value_alias(plan->program, a, "a.next"));
    plan_memory(plan);
    assert_right(plan);
    launch(plan, index)->kind = LAUNCH_GEMM;
    assert_fault(plan, "over its own");
}

static void test_grids_that_cannot_be_launched(void **state) {
    (void)state;
    static const int64_t most[] = {INT32_MAX, 65535, 65535};
    Chain x = chain();
    for (int d = 0; d < 3; d++) {
        int64_t *blocks = &launch(x.plan, 2)->grid[d];
        *blocks = most[d];
        assert_right(x.plan);
        *blocks = most[d] + 1;
        assert_fault(x.plan, "launch 2 of add has");
        *blocks = 0;
        assert_fault(x.plan, "launch 2 of add has");
        *blocks = 1;
    }
    Kernel *kernel = &x.plan->kernels[0];
    *kernel = (Kernel){.name = "add", .threads = 1024, .shared_bytes = 227 << 10};
    assert_right(x.plan);
    kernel->shared_bytes++;
    assert_fault(x.plan, "add has 1024 threads and 232449 bytes");
    *kernel = (Kernel){.name = "add", .threads = 1025};
    assert_fault(x.plan, "add has 1025 threads");
    kernel->threads = 0;
    assert_fault(x.plan, "add has 0 threads");
}

static void test_workspace_is_nobody_elses(void **state) {
    (void)state;
    Chain x = chain();
    x.plan->gemm_count = 1;
    launch(x.plan, 1)->kind = LAUNCH_GEMM;
    plan_memory(x.plan);
    assert_right(x.plan);
    assert_int_equal(x.plan->gemm_workspace_bytes, 4 << 20);
    x.plan->gemm_workspace_offset = 0;
    assert_fault(x.plan, "the workspace");
}

/* ---- random graphs ---- */

static uint32_t random_state;

static int random_below(int n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (int)((random_state >> 8) % (unsigned)n);
}

/* Ops on two streams that read any earlier values, with an event wherever one stream needs the
 * other. */
static Plan *random_plan(Value **values, int count, int *writer) {
    Plan *plan = new_plan();
    values[0] = matrix(plan, "w", ROLE_FROZEN, 4);
    writer[0] = -1;
    for (int i = 1; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        int rows = 4, a = random_below(i), b = i > 4 ? i - 1 - random_below(4) : random_below(i);
        values[i] = matrix(plan, name, ROLE_ACTIVATION, rows + 60 * random_below(3));
        Value *x = value_row_range(plan->program, values[a], 0, rows, "x");
        Value *y = value_row_range(plan->program, values[b], 0, rows, "y");
        Value *z = value_row_range(plan->program, values[i], 0, rows, "z");
        int stream = random_below(2), l = add_on(plan, ENTRY_MICRO_STEP, stream, x, y, z);
        Launch *at = launch(plan, l);
        writer[i] = l;
        int needed[] = {writer[a], writer[b]};
        for (int k = 0; k < 2; k++)
            if (needed[k] >= 0 && launch(plan, needed[k])->stream != stream)
                at->wait[at->wait_count++] = needed[k];
    }
    plan_memory(plan);
    return plan;
}

static void test_random_plans_are_right(void **state) {
    (void)state;
    enum { PLANS = 400, VALUES = 40 };
    Value *values[VALUES];
    int writer[VALUES], removed = 0, found = 0;
    for (random_state = 1; random_state <= PLANS; random_state++) {
        uint32_t seed = random_state;
        Plan *plan = random_plan(values, VALUES, writer);
        assert_right(plan);
        int i = 1 + random_below(VALUES - 1);
        if (launch(plan, writer[i])->wait_count > 0) {
            launch(plan, writer[i])->wait_count = 0;
            removed++;
            found += plan_find_fault(plan) != NULL;
        }
        random_state = seed;
        arena_free(&arena);
    }
    /* Some events are implied by others, so removing them breaks nothing. */
    assert_true(removed > PLANS / 8);
    assert_true(found > removed / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bytes_are_shared_when_lifetimes_do_not_meet, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_persistent_storages_stand_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scratch_is_shared_by_entries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_streams_share_only_after_an_event, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shifted_offset, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unaligned_offset, setup, teardown),
        cmocka_unit_test_setup_teardown(test_outside_the_arena, setup, teardown),
        cmocka_unit_test_setup_teardown(test_view_outside_its_storage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_state_that_overlaps, setup, teardown),
        cmocka_unit_test_setup_teardown(test_swapped_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_read_after_overwrite_of_state, setup, teardown),
        cmocka_unit_test_setup_teardown(test_op_on_two_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_launch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_read_of_what_nobody_wrote, setup, teardown),
        cmocka_unit_test_setup_teardown(test_state_of_other_cards, setup, teardown),
        cmocka_unit_test_setup_teardown(test_collect_reads_no_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_event, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_event_of_reuse, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stream_that_begins_too_soon, setup, teardown),
        cmocka_unit_test_setup_teardown(test_partial_overlap_of_own_operand, setup, teardown),
        cmocka_unit_test_setup_teardown(test_product_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_workspace_is_nobody_elses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_grids_that_cannot_be_launched, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random_plans_are_right, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
