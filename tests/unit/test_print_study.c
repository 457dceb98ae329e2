/* The table of runs and of the keys in which they differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/study.h"

#include <string.h>

/* Prints the table of a single run, which has not finished, whose keys all have the value 1. */
static void print(const char **keys, int count, StrBuf *out) {
    const char *ones[] = {"1", "1", "1", "1"};
    const Run run = {.name = "r8", .state = "not run"};
    Row row = {.run = &run, .keys = ones};
    const Comparison c = {.title = "",
                          .device = "",
                          .keys = keys,
                          .key_count = count,
                          .rows = &row,
                          .count = 1,
                          .reference = -1};
    comparison_text(&c, out);
}

static void test_few_keys_stand_beside_the_name(void **state) {
    (void)state;
    StrBuf out = {0};
    print((const char *[]){"adapter.r", "job.name"}, 2, &out);
    assert_string_equal(out.text, "0 of 1 runs finished\n\n"
                                  "      run  state     adapter.r  job.name\n"
                                  "   1  r8   not run   1          1\n");
    sb_free(&out);
}

static void test_runs_may_have_the_same_keys(void **state) {
    (void)state;
    StrBuf out = {0};
    print(NULL, 0, &out);
    assert_string_equal(out.text, "0 of 1 runs finished\n\n"
                                  "      run  state\n"
                                  "   1  r8   not run\n");
    sb_free(&out);
}

/* Columns that would make a line longer than a page go below, and one that is longer stands alone. */
static void test_many_keys_are_cut(void **state) {
    (void)state;
    char wide[131] = "";
    memset(wide, 'k', sizeof wide - 1);
    StrBuf out = {0};
    print((const char *[]){"parallelism.data_parallel_replicate_degree",
                           "parallelism.data_parallel_replicate_bucket", wide, "adapter.r"},
          4, &out);
    const char *table = strchr(out.text, '\n') + 2;
    char expected[1024];
    snprintf(expected, sizeof expected,
             "      run  state     %s  %s\n   1  r8   not run   1%41s  1\n\n"
             "      %s\n   1  1\n\n"
             "      adapter.r\n   1  1\n",
             "parallelism.data_parallel_replicate_degree",
             "parallelism.data_parallel_replicate_bucket", "", wide);
    assert_string_equal(table, expected);
    sb_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few_keys_stand_beside_the_name),
                                       cmocka_unit_test(test_runs_may_have_the_same_keys),
                                       cmocka_unit_test(test_many_keys_are_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
