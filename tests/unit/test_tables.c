/* Which rows of a table become a macro, and its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "emit/tables.h"

#include <string.h>

static Arena arena;

static void add(Table *t, const char *name, int64_t index, int64_t size) {
    table_row(t);
    table_name(t, NULL, name);
    table_index(t, ".at = ", index);
    table_size(t, NULL, size);
}

/* Adds layers.FIRST.x to layers.LAST.x, at first_index, first_index + step, ... */
static void add_layers(Table *t, int first, int last, int64_t first_index, int64_t step) {
    int direction = first <= last ? 1 : -1, count = (last - first) * direction + 1;
    for (int i = 0; i < count; i++)
        add(t, arena_printf(&arena, "layers.%d.x", first + i * direction), first_index + i * step, 8);
}

static void expect(Table *t, const char *text) {
    StrBuf out = {0};
    put_table(t, &out);
    assert_string_equal(out.text, text);
    sb_free(&out);
}

#define INTRODUCED "/* ROWS(n) are the rows of number n; #n is n as a string, ##n## n in a name. */\n"

static void repeated_rows_are_a_macro(void **state) {
    (void)state;
    Table t = {.arena = &arena};
    add(&t, "embedding", 0, 8);
    add_layers(&t, 1, 7, 1, 2);
    expect(&t, "    {\"embedding\", .at = 0, 8},\n" INTRODUCED "#define EACH_1_TO_7(rows) \\\n"
               "    rows(1), rows(2), rows(3), rows(4), rows(5), rows(6), rows(7)\n"
               "/* layers.{1..7} */\n#define ROWS(n) \\\n"
               "    {\"layers.\" #n \".x\", .at = 2 * n - 1, 8}\n"
               "    EACH_1_TO_7(ROWS),\n#undef ROWS\n");
    add_layers(&t, 1, 7, 2, 2); /* the next table has the list of numbers already */
    expect(&t, "/* layers.{1..7} */\n#define ROWS(n) \\\n    {\"layers.\" #n \".x\", .at = 2 * n, 8}\n"
               "    EACH_1_TO_7(ROWS),\n#undef ROWS\n");
}

static void numbers_may_count_down(void **state) {
    (void)state;
    Table t = {.arena = &arena};
    add_layers(&t, 6, 0, 10, 1);
    expect(&t, INTRODUCED "#define EACH_6_TO_0(rows) \\\n"
                          "    rows(6), rows(5), rows(4), rows(3), rows(2), rows(1), rows(0)\n"
                          "/* layers.{6..0} */\n#define ROWS(n) \\\n"
                          "    {\"layers.\" #n \".x\", .at = 16 - n, 8}\n"
                          "    EACH_6_TO_0(ROWS),\n#undef ROWS\n");
}

/* An index that goes on by another amount, and another size, end the rows of a macro. */
static void uneven_rows_end_a_macro(void **state) {
    (void)state;
    Table t = {.arena = &arena};
    add_layers(&t, 0, 6, 0, 1);
    add_layers(&t, 7, 8, 100, 1);
    add(&t, "layers.9.x", 102, 9);
    expect(&t, INTRODUCED "#define EACH_0_TO_6(rows) \\\n"
                          "    rows(0), rows(1), rows(2), rows(3), rows(4), rows(5), rows(6)\n"
                          "/* layers.{0..6} */\n#define ROWS(n) \\\n"
                          "    {\"layers.\" #n \".x\", .at = n, 8}\n"
                          "    EACH_0_TO_6(ROWS),\n#undef ROWS\n"
                          "    {\"layers.7.x\", .at = 100, 8},\n    {\"layers.8.x\", .at = 101, 8},\n"
                          "    {\"layers.9.x\", .at = 102, 9},\n");
}

static void products_do_not_overflow(void **state) {
    (void)state;
    Table t = {.arena = &arena};
    add_layers(&t, 0, 6, 7, 400000000);
    expect(&t, INTRODUCED "#define EACH_0_TO_6(rows) \\\n"
                          "    rows(0), rows(1), rows(2), rows(3), rows(4), rows(5), rows(6)\n"
                          "/* layers.{0..6} */\n#define ROWS(n) \\\n"
                          "    {\"layers.\" #n \".x\", .at = 400000000ll * n + 7, 8}\n"
                          "    EACH_0_TO_6(ROWS),\n#undef ROWS\n");
}

/* A number with leading zeros is not what #n gives. */
static void odd_numbers_are_names(void **state) {
    (void)state;
    Table t = {.arena = &arena};
    for (int i = 0; i < 8; i++)
        add(&t, arena_printf(&arena, "layers.0%d", i), i, 8);
    StrBuf out = {0};
    put_table(&t, &out);
    assert_null(strstr(out.text, "ROWS"));
    sb_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_rows_are_a_macro), cmocka_unit_test(numbers_may_count_down),
        cmocka_unit_test(uneven_rows_end_a_macro),   cmocka_unit_test(products_do_not_overflow),
        cmocka_unit_test(odd_numbers_are_names),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
