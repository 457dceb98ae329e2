/* The parts of dotted names, and the numbers among these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/dotted.h"

#include <string.h>

static Arena arena;
static const char name[] = "model.layers.12.mlp.up_proj";

static void test_parts_are_walked_both_ways(void **state) {
    (void)state;
    const char *part = name;
    assert_int_equal(part_length(part), 5);
    assert_ptr_equal(previous_part(name, part), name);
    part = next_part(part);
    assert_int_equal(part - name, strlen("model."));
    assert_ptr_equal(previous_part(name, part), name);
    part = name_last_part(name);
    assert_string_equal(part, "up_proj");
    assert_string_equal(previous_part(name, part), "mlp.up_proj");
    assert_string_equal(next_part(part), "");
    assert_string_equal(name_last_part("loss"), "loss");
}

static void test_parts_are_compared_as_a_whole(void **state) {
    (void)state;
    assert_true(same_part("mlp.act", "mlp"));
    assert_false(same_part("mlp", "mlp_2.act"));
    assert_true(part_is_number("12.mlp"));
    assert_false(part_is_number("8_to_10"));
    assert_false(part_is_number("v2"));
    assert_false(part_is_number(""));
}

static void test_the_first_number_may_be_a_range_or_a_star(void **state) {
    (void)state;
    assert_string_equal(first_number(name), "12.mlp.up_proj");
    assert_string_equal(first_number("layers.8_to_10.mlp.0"), "8_to_10.mlp.0");
    assert_string_equal(first_number("layers.*.mlp"), "*.mlp");
    assert_null(first_number("conv2d.bias"));
}

static void test_what_names_have_in_common_ends_between_parts(void **state) {
    (void)state;
    assert_int_equal(common_length("a.bc.d", "a.be.d"), 1);
    assert_int_equal(common_length("a.b", "a.b.c"), 3);
    assert_int_equal(common_length("a.b", "a.bc"), 1);
    assert_int_equal(common_length("a.b", "a.b"), 3);
    assert_int_equal(common_length("ab", "ac"), 0);
}

static void test_names_differ_in_the_same_part(void **state) {
    (void)state;
    assert_true(differ_in_one_part("a.0.x", "a.1.x", "a.12.x"));
    assert_true(differ_in_one_part("a.0", "a.0", "a.0"));
    assert_false(differ_in_one_part("a.0.x", "a.1.x", "a.1.y"));
    assert_false(differ_in_one_part("a.0", "a.1", "a.2.x"));
}

static void test_numbers_become_stars(void **state) {
    (void)state;
    assert_string_equal(without_numbers(&arena, "features.10.conv.0"), "features.*.conv.*");
    assert_string_equal(starred_name(&arena, "layers.1.conv.2", "layers.12.conv.2"), "layers.*.conv.2");
    assert_string_equal(starred_name(&arena, "embed", "layers.0.mlp"), "layers.0.mlp");
}

static void test_names_that_count(void **state) {
    (void)state;
    int a, b;
    assert_string_equal(counted_name(&arena, "layers.9.mlp.act", "layers.10.mlp.act", &a, &b),
                        "layers.*.mlp.act");
    assert_int_equal(a, 9);
    assert_int_equal(b, 10);
    assert_string_equal(counted_name(&arena, "2", "1", &a, &b), "*");
    assert_int_equal(a, 2);
    assert_int_equal(b, 1);
    assert_null(counted_name(&arena, "layers", "layers.1", &a, &b));
    assert_null(counted_name(&arena, "layers.1.y", "layers.1", &a, &b));
    assert_null(counted_name(&arena, "embed.y", "layers.0.y", &a, &b));
    assert_null(counted_name(&arena, "layers.0.y", "layers.0.y", &a, &b));
    assert_null(counted_name(&arena, "layers.0.chunk.1.y", "layers.1.chunk.2.y", &a, &b));
    assert_null(counted_name(&arena, "layers.0.q.y", "layers.1.k.y", &a, &b));
    assert_true(number_in("layers.*.y", "layers.12.y", &a));
    assert_int_equal(a, 12);
    assert_false(number_in("layers.*.y", "layers.12.x", &a));
    assert_false(number_in("layers.*.y", "layers.q.y", &a));
    assert_false(number_in("layers.1.y", "layers.1.y", &a));
}

static void test_names_of_what_is_spanned(void **state) {
    (void)state;
    const char *const up[] = {"layers.9.act", "layers.10.act", "layers.11.act"};
    const char *const down[] = {"layers.2.act", "layers.1.act", "layers.0.act"};
    const char *const gaps[] = {"layers.0.act", "layers.2.act", "layers.4.act"};
    const char *const words[] = {"act.rows_a", "act.rows_b", "act.rows_c"};
    const char *const same[] = {"act", "act"};
    assert_string_equal(spanned_name(&arena, up, 1), "layers.9.act");
    assert_string_equal(spanned_name(&arena, up, 2), "layers.{9,10}.act");
    assert_string_equal(spanned_name(&arena, up, 3), "layers.{9..11}.act");
    assert_string_equal(spanned_name(&arena, down, 3), "layers.{2..0}.act");
    assert_string_equal(spanned_name(&arena, gaps, 3), "layers.{0,2,4}.act");
    assert_string_equal(spanned_name(&arena, words, 3), "act.{rows_a,rows_b,rows_c}");
    assert_string_equal(spanned_name(&arena, same, 2), "act");
}

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_walked_both_ways),
        cmocka_unit_test(test_parts_are_compared_as_a_whole),
        cmocka_unit_test(test_the_first_number_may_be_a_range_or_a_star),
        cmocka_unit_test(test_what_names_have_in_common_ends_between_parts),
        cmocka_unit_test(test_names_differ_in_the_same_part),
        cmocka_unit_test(test_numbers_become_stars),
        cmocka_unit_test(test_names_that_count),
        cmocka_unit_test(test_names_of_what_is_spanned),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
