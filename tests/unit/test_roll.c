/* Rolling of repeated launches into loops, their functions, and the names in emitted C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emit/blocks.h"
#include "emit/names.h"
#include <stdio.h>
#include <string.h>

static Arena arena;

/* Returns text such as "1+3x4+2": counts of single launches, and repeated runs as LENGTHxTIMES. */
static const char *rolled_names(const char *letters, const char *names) {
    static char text[256];
    int ids[256], forms[256], count = (int)strlen(letters), covered = 0;
    for (int i = 0; i < count; i++) {
        ids[i] = letters[i];
        forms[i] = names[i];
    }
    Rolled r = roll_ids(&arena, ids, forms, count);
    text[0] = '\0';
    for (int i = 0; i < r.count; i++) {
        const Run *run = &r.runs[i];
        assert_int_equal(run->first, covered);
        for (int k = run->length; k < run->length * run->times; k++)
            assert_int_equal(ids[run->first + k], ids[run->first + k - run->length]);
        covered += run->length * run->times;
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%d", i ? "+" : "", run->length);
        at = strlen(text);
        if (run->times > 1)
            snprintf(text + at, sizeof text - at, "x%d", run->times);
    }
    assert_int_equal(covered, count);
    return text;
}

static const char *rolled(const char *letters) { return rolled_names(letters, letters); }

static void test_layers_become_a_loop(void **state) {
    (void)state;
    assert_string_equal(rolled("eabcdabcdabcdabcdh"), "1+4x4+1");
    assert_string_equal(rolled("eabcdabcdabcdabcdhxyzwxyzwxyzwf"), "1+4x4+1+4x3+1");
}

/* Where most have other names, as two different modules of one shape have, a loop would only hide that. */
static void test_other_names_stay_apart(void **state) {
    (void)state;
    assert_string_equal(rolled_names("abcdefabcdefx", "abcdefabcuvwx"), "13");
    assert_string_equal(rolled_names("abcdefabcdefx", "abcdefabcdvwx"), "6x2+1");
    assert_string_equal(rolled_names("abcdefabcdefabcdefx", "uvwxyfabcdefabcdefx"), "6x3+1");
}

static void test_the_shortest_period_wins(void **state) {
    (void)state;
    assert_string_equal(rolled("abcabcabcabcabcabcabcabc"), "3x8");
    assert_string_equal(rolled("aaaaaaaaaaaa"), "1x12");
}

static void test_short_runs_stay_as_they_are(void **state) {
    (void)state;
    assert_string_equal(rolled("abab"), "4");
    assert_string_equal(rolled("aabbccdd"), "8");
    assert_string_equal(rolled(""), "");
    assert_string_equal(rolled("abcdefabcdef"), "6x2");
}

static void test_long_repeats_come_before_short_ones(void **state) {
    (void)state;
    /* `b` repeats inside each layer, but the layers become the loop. */
    assert_string_equal(rolled("abbbbcabbbbcabbbbcabbbbc"), "6x4");
}

/* ---- functions ---- */

/* None repeats another, but all have one name, so their functions are numbered. */
static void test_many_launches_of_one_name(void **state) {
    (void)state;
    enum { COUNT = 120 };
    const Op op = {.name = "head"}, *ops[] = {&op};
    Launch launches[COUNT] = {{0}};
    for (int i = 0; i < COUNT; i++)
        launches[i] = (Launch){.kind = LAUNCH_ZERO, .grid = {i}, .ops = ops, .op_count = 1};
    Program program = {0};
    const Plan plan = {.program = &program};
    const PlanEntry entry = {.name = "evaluate", .launches = launches, .launch_count = COUNT};
    Blocks blocks = blocks_of(&arena, &plan, &entry);
    assert_true(blocks.count > 2);
    int covered = 0;
    for (int i = 0; i < blocks.count; i++) {
        const char *number = i ? arena_printf(&arena, "_%d", i + 1) : "";
        assert_string_equal(blocks.blocks[i].function,
                            arena_printf(&arena, "head_evaluate%s", number));
        assert_int_equal(blocks.blocks[i].pointers.run.first, covered);
        covered += blocks.blocks[i].pointers.run.length;
    }
    assert_int_equal(covered, COUNT);
}

/* ---- names ---- */

static void test_names_are_as_short_as_they_can_be(void **state) {
    (void)state;
    const char *dotted[] = {"model.layers.0.self_attn.q_proj.weight",
                            "model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.act",
                            "tokens"};
    const char **names = local_names(&arena, dotted, 4);
    assert_string_equal(names[0], "q_proj_weight");
    assert_string_equal(names[1], "up_proj_weight");
    assert_string_equal(names[2], "mlp_act");
    assert_string_equal(names[3], "tokens");
}

static void test_names_are_unique_and_no_keywords(void **state) {
    (void)state;
    const char *dotted[] = {"a.x", "b.x", "b.x", "for", "7", "rt", "c.x-y"};
    const char **names = local_names(&arena, dotted, 7);
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
    assert_string_equal(names[0], "a_x");
    assert_string_equal(names[1], "b_x");
    assert_string_equal(names[2], "b_x_2");
    assert_string_equal(names[3], "for_");
    assert_string_equal(names[4], "value");
    assert_string_equal(names[5], "rt_");
    assert_string_equal(names[6], "c_x_y");
}

static void test_names_keep_what_a_gradient_is_of(void **state) {
    (void)state;
    const char *dotted[] = {"layers.0.mlp.act.grad.gate", "layers.0.self_attn.grad.delta",
                            "layers.0.mlp.up_proj.weight.grad"};
    const char **names = local_names(&arena, dotted, 3);
    assert_string_equal(names[0], "act_grad_gate");
    assert_string_equal(names[1], "self_attn_grad_delta");
    assert_string_equal(names[2], "up_proj_weight_grad");
}

static void test_numbers_go_with_the_word_before_them(void **state) {
    (void)state;
    const char *dotted[] = {"layers.0.norm.rstd",     "layers.3.norm.rstd", "features.3.conv.1.0",
                            "features.3.conv.1.weight", "layers.*.output",    "layers.*.output"};
    const char **names = local_names(&arena, dotted, 6);
    assert_string_equal(names[0], "layers_0_norm_rstd");
    assert_string_equal(names[1], "layers_3_norm_rstd");
    assert_string_equal(names[2], "conv_1_0");
    assert_string_equal(names[3], "conv_1_weight");
    assert_string_equal(names[4], "output");
    assert_string_equal(names[5], "output_2");
}

static void test_strings_of_c(void **state) {
    (void)state;
    StrBuf out = {0};
    put_c_string(&out, "a\"b\\c\n\t\303\251?"
                       "?=");
    assert_string_equal(out.text, "\"a\\\"b\\\\c\\n\\011\\303\\251\\077?=\"");
    sb_free(&out);
}

static void expect_and_clear(StrBuf *out, const char *text) {
    assert_string_equal(out->text, text);
    sb_free(out);
    *out = (StrBuf){0};
}

static void test_long_lines_are_broken(void **state) {
    (void)state;
    static const char word[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; /* 45 letters */
    const char *two = arena_printf(&arena, "%s %s", word, word), *items[] = {two, "b"};
    StrBuf out = {0};
    put_list(&out, "    f(1, ", items, 2, 8, ");\n");
    expect_and_clear(&out, arena_printf(&arena, "    f(1,\n        %s,\n        b);\n", two));
    put_remark(&out, 4, "a: ", items, 2, " */\n");
    expect_and_clear(&out, arena_printf(&arena, "    /* a:\n     * %s,\n     * b */\n", two));
    put_noted(&out, 4, "f();", "b");
    expect_and_clear(&out, "    f(); /* b */\n");
    put_noted(&out, 4, "f();", two);
    expect_and_clear(&out, arena_printf(&arena, "    /* %s */\n    f();\n", two));
    put_long_string(&out, 8, "1\n2");
    expect_and_clear(&out, "\"1\\n\"\n        \"2\"");
    put_long_string(&out, 8, two);
    expect_and_clear(&out, arena_printf(&arena, "\"%s \"\n        \"%s\"", word, word));
}

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_become_a_loop), cmocka_unit_test(test_other_names_stay_apart),
        cmocka_unit_test(test_the_shortest_period_wins),
        cmocka_unit_test(test_short_runs_stay_as_they_are),
        cmocka_unit_test(test_long_repeats_come_before_short_ones),
        cmocka_unit_test(test_many_launches_of_one_name),
        cmocka_unit_test(test_names_are_as_short_as_they_can_be),
        cmocka_unit_test(test_names_are_unique_and_no_keywords),
        cmocka_unit_test(test_names_keep_what_a_gradient_is_of),
        cmocka_unit_test(test_numbers_go_with_the_word_before_them),
        cmocka_unit_test(test_strings_of_c),
        cmocka_unit_test(test_long_lines_are_broken),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
