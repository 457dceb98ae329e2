/* Text that the compiler formats itself is what snprintf makes of it. */
#include "base/format.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static size_t format(char *to, size_t room, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t length = format_text(to, room, format, args);
    va_end(args);
    return length;
}

/* Compares both, with room for the whole text and with less. */
#define CHECK(...)                                                                                 \
    for (size_t room = 0; room < 64; room++) {                                                     \
        char text[64] = "", expected[64] = "";                                                     \
        size_t length = (size_t)snprintf(expected, room, __VA_ARGS__);                             \
        assert_int_equal(format(text, room, __VA_ARGS__), length);                                 \
        assert_string_equal(text, expected);                                                       \
    }

static void test_text_is_that_of_snprintf(void **state) {
    (void)state;
    CHECK("plain");
    CHECK("%s and %s", "a", "");
    CHECK("%d %d %d", 0, INT_MIN, INT_MAX);
    CHECK("%lld %lld", LLONG_MIN, LLONG_MAX);
    CHECK("[%*s%s]", 4, "", "wide");
    CHECK("[%*s|%*s|%*s|%*s]", 5, "abc", 3, "abc", 2, "abc", -5, "abc");
    CHECK("[%.*s|%.*s|%.*s|%.*s]", 2, "abc", 0, "abc", 7, "abc", -1, "abc");
    CHECK("%s %.3f %s", "a", 1.5, "b");
}

/* As for a part of a longer text, %.*s does not read beyond its precision. */
static void test_no_byte_behind_the_part_is_read(void **state) {
    (void)state;
    char *part = malloc(3), text[8];
    memcpy(part, "abc", 3);
    assert_int_equal(format(text, sizeof text, "%.*s", 3, part), 3);
    assert_string_equal(text, "abc");
    free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text_is_that_of_snprintf),
                                       cmocka_unit_test(test_no_byte_behind_the_part_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
