/* Arenas hand out cleared memory, also where a freed one had its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

#include <string.h>

static void memory_is_cleared_again(void **state) {
    (void)state;
    static const size_t sizes[] = {100, 70000, 3000000, 100, 5000000};
    for (int round = 0; round < 3; round++) {
        Arena arena = {0};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char *bytes = arena_alloc(&arena, sizes[i]);
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal(bytes[k], 0);
            memset(bytes, 1, sizes[i]);
        }
        arena_free(&arena);
    }
}

/* Two arenas at a time share no memory, although both take that of a third one. */
static void arenas_share_nothing(void **state) {
    (void)state;
    Arena freed = {0}, first = {0}, second = {0};
    arena_alloc(&freed, 100);
    arena_alloc(&freed, 3000000);
    arena_free(&freed);
    char *a = arena_alloc(&first, 100), *b = arena_alloc(&second, 100);
    memset(a, 1, 100);
    assert_int_equal(b[0], 0);
    assert_true(a + 100 <= b || b + 100 <= a);
    arena_free(&first);
    arena_free(&second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_cleared_again),
        cmocka_unit_test(arenas_share_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
