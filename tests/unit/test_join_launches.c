/* Launches at a constant stride are joined: tests which ones are, and which are not. The oracle and
 * fuzz-layouts compare their results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"
#include "plan/plan_steps.h"
#include "plan/work.h"
#include "tests/unit/spec_plan.h"

enum { COPIES = 4, ROWS = 16, COLS = 64 };

typedef struct {
    Arena arena;
    Program *program;
    Spec spec;
    Plan *plan;
    Value *from[COPIES], *to[COPIES];
} Setup;

static Value *matrix(Setup *s, Role role, int64_t rows) {
    return value_2d(s->program, "m", role, DT_F32, rows, COLS, (Pos){0});
}

static void start(Setup *s) {
    *s = (Setup){.spec.compile.joined_launches = true};
    s->program = program_new(&s->arena);
    s->program->real = s->program->activation = DT_F32;
}

static Op *copy(Setup *s, Value *from, Value *to) {
    return op_add_into(s->program, &s->program->entry[ENTRY_MICRO_STEP], OP_cast, "copy", &from, 1, &to, 1, (Attr){0}, (Pos){0});
}

static void make_matrices(Setup *s, Role from, Role to) {
    for (int i = 0; i < COPIES; i++) {
        s->from[i] = matrix(s, from, ROWS);
        s->to[i] = matrix(s, to, ROWS);
    }
}

static void copy_all(Setup *s) {
    for (int i = 0; i < COPIES; i++) copy(s, s->from[i], s->to[i]);
}

static const PlanEntry *plan(Setup *s) {
    s->plan = plan_new(s->program, &s->spec, NULL);
    plan_launches(s->plan);
    plan_lasting(s->plan);
    plan_join_launches(s->plan);
    plan_memory(s->plan);
    const char *fault = plan_find_fault(s->plan);
    if (fault) fail_msg("%s", fault);
    return &s->plan->entry[ENTRY_MICRO_STEP];
}

static void expect(Setup *s, int launches, int first_has) {
    const PlanEntry *entry = plan(s);
    assert_int_equal(entry->launch_count, launches);
    assert_int_equal(1 + entry->launches[0].joined_count, first_has);
    assert_int_equal(entry->launches[0].grid[2], first_has);
}

static void what_lies_at_one_stride_is_one(void **state) {
    Setup s;
    (void)state;
    start(&s);
    make_matrices(&s, ROLE_OPTIMIZER, ROLE_FROZEN);
    copy_all(&s);
    expect(&s, 1, COPIES);
    const Launch *launch = s.plan->entry[ENTRY_MICRO_STEP].launches;
    assert_int_equal(launch->op_count, COPIES);
    assert_int_equal(launch->scalar[0], ROWS * COLS);
    assert_int_equal(launch->scalar[1], ROWS * COLS);
    Cost all = launch_work(s.plan, launch);
    assert_true(all.issued_bytes == COPIES * 2 * ROWS * COLS * 4);
    arena_free(&s.arena);
}

static void the_key_switches_it_off(void **state) {
    Setup s;
    (void)state;
    start(&s);
    s.spec.compile.joined_launches = false;
    make_matrices(&s, ROLE_OPTIMIZER, ROLE_FROZEN);
    copy_all(&s);
    expect(&s, COPIES, 1);
    arena_free(&s.arena);
}

/* Columns of one matrix, whose place is not known yet. */
static void parts_of_one_storage_need_no_place(void **state) {
    Setup s;
    (void)state;
    start(&s);
    make_matrices(&s, ROLE_FROZEN, ROLE_FROZEN);
    Value *all = matrix(&s, ROLE_ACTIVATION, COPIES * ROWS);
    for (int i = 0; i < COPIES; i++) copy(&s, s.from[i], value_row_range(s.program, all, i * ROWS, ROWS, "part"));
    expect(&s, 1, COPIES);
    arena_free(&s.arena);
}

/* The places of scratch values are not known yet. */
static void scratch_stays_apart(void **state) {
    Setup s;
    (void)state;
    start(&s);
    make_matrices(&s, ROLE_FROZEN, ROLE_ACTIVATION);
    copy_all(&s);
    for (int i = 0; i < COPIES; i++) copy(&s, s.to[i], matrix(&s, ROLE_OPTIMIZER, ROWS));
    expect(&s, 2 * COPIES, 1);
    arena_free(&s.arena);
}

/* The first op, of another shape, is what the copies wait for: all of them, or all but the last, which
 * waits for nothing. */
static void only_what_waits_alike_is_joined(void **state) {
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        Setup s;
        start(&s);
        make_matrices(&s, ROLE_FROZEN, ROLE_OPTIMIZER);
        Op *first = copy(&s, matrix(&s, ROLE_FROZEN, 2 * ROWS), matrix(&s, ROLE_OPTIMIZER, 2 * ROWS));
        for (int i = 0; i < COPIES; i++)
            copy(&s, s.from[i], s.to[i])->after = apart && i == COPIES - 1 ? NULL : first;
        const PlanEntry *entry = plan(&s);
        assert_int_equal(entry->launch_count, 2 + apart);
        assert_int_equal(1 + entry->launches[1].joined_count, COPIES - apart);
        arena_free(&s.arena);
    }
}

/* Another value lies between the second and the third, so they are joined two by two. */
static void an_uneven_one_ends_the_series(void **state) {
    Setup s;
    (void)state;
    start(&s);
    for (int i = 0; i < COPIES; i++) {
        s.from[i] = matrix(&s, ROLE_OPTIMIZER, ROWS);
        s.to[i] = matrix(&s, ROLE_FROZEN, ROWS);
        if (i == 1) copy(&s, matrix(&s, ROLE_FROZEN, 1), matrix(&s, ROLE_FROZEN, 1));
    }
    copy_all(&s);
    expect(&s, 3, 1);
    arena_free(&s.arena);
}

static int joined_by_name(const char *const names[COPIES]) {
    Setup s;
    start(&s);
    make_matrices(&s, ROLE_OPTIMIZER, ROLE_FROZEN);
    for (int i = 0; i < COPIES; i++) copy(&s, s.from[i], s.to[i])->name = names[i];
    int count = 1 + plan(&s)->launches[0].joined_count;
    arena_free(&s.arena);
    return count;
}

/* The names of a series differ in one part, so that it can be described. */
static void names_differ_in_one_part(void **state) {
    (void)state;
    assert_int_equal(joined_by_name((const char *const[]){"0.q.A", "1.q.A", "2.q.A", "3.q.A"}), COPIES);
    assert_int_equal(joined_by_name((const char *const[]){"0.q.A", "0.k.A", "0.v.A", "0.o.A"}), COPIES);
    assert_int_equal(joined_by_name((const char *const[]){"0.q.A", "0.k.A", "1.q.A", "1.k.A"}), 2);
    assert_int_equal(joined_by_name((const char *const[]){"0.q.A", "1.k.A", "2.v.A", "3.o.A"}), 1);
    assert_int_equal(joined_by_name((const char *const[]){"0.q", "0.q.A", "0.q.A.B", "0"}), 1);
}

/* Each copies the result of the one before. */
static void a_chain_stays_a_chain(void **state) {
    Setup s;
    (void)state;
    start(&s);
    s.to[0] = matrix(&s, ROLE_FROZEN, ROWS);
    for (int i = 1; i < COPIES; i++) {
        s.to[i] = matrix(&s, ROLE_FROZEN, ROWS);
        copy(&s, s.to[i - 1], s.to[i]);
    }
    expect(&s, COPIES - 1, 1);
    arena_free(&s.arena);
}

/* The last one copies a value that is computed after the first one. */
static void what_must_come_later_does(void **state) {
    Setup s;
    (void)state;
    start(&s);
    make_matrices(&s, ROLE_OPTIMIZER, ROLE_FROZEN);
    for (int i = 0; i < COPIES; i++) {
        Value *twice[] = {s.from[3], s.from[3]};
        copy(&s, s.from[i], s.to[i]);
        Value *sum = value_alias(s.program, s.from[3], "sum");
        if (i == 1) {
            op_add_into(s.program, &s.program->entry[ENTRY_MICRO_STEP], OP_add, "sum", twice, 2, &sum, 1, (Attr){0}, (Pos){0});
            s.from[3] = sum;
        }
    }
    expect(&s, 3, COPIES - 1);
    arena_free(&s.arena);
}

/* A plan whose slices are not where the kernel looks is refused. */
static void the_checker_finds_a_wrong_stride(void **state) {
    Setup s;
    (void)state;
    start(&s);
    make_matrices(&s, ROLE_OPTIMIZER, ROLE_FROZEN);
    copy_all(&s);
    plan(&s);
    s.plan->entry[ENTRY_MICRO_STEP].launches[0].scalar[1] += COLS;
    assert_non_null(plan_find_fault(s.plan));
    assert_non_null(strstr(plan_find_fault(s.plan), "does not find"));
    arena_free(&s.arena);
}

/* Returns kernels.cu of LoRA with this number of layers; the caller frees it. */
static char *kernels_of(const char *layers) {
    Arena arena = {0};
    StrBuf out = {0};
    const char *const sets[] = {layers, "training.task=\"sft\"", "adapter.type=\"lora\""};
    Spec *spec = spec_read(&arena, "specs/base_tiny.toml", sets, 3);
    emit_kernels(plan_of_spec(&arena, spec, NULL), &out);
    arena_free(&arena);
    return out.text;
}

static void any_number_of_layers_has_the_same_kernels(void **state) {
    (void)state;
    char *few = kernels_of("model.num_hidden_layers=4"), *many = kernels_of("model.num_hidden_layers=80");
    assert_non_null(strstr(few, "border_stride"));
    assert_string_equal(few, many);
    free(few);
    free(many);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_at_one_stride_is_one),
        cmocka_unit_test(the_key_switches_it_off),
        cmocka_unit_test(parts_of_one_storage_need_no_place),
        cmocka_unit_test(scratch_stays_apart),
        cmocka_unit_test(only_what_waits_alike_is_joined),
        cmocka_unit_test(an_uneven_one_ends_the_series),
        cmocka_unit_test(names_differ_in_one_part),
        cmocka_unit_test(a_chain_stays_a_chain),
        cmocka_unit_test(what_must_come_later_does),
        cmocka_unit_test(the_checker_finds_a_wrong_stride),
        cmocka_unit_test(any_number_of_layers_has_the_same_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
