/* A file of kernels, split into parts: each kernel is in one part, on the same line; everything
 * else is in all parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/device/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "#include \"runtime/kernel.cuh\"\n\n/* extern \"C\" __global__ is a kernel's beginning */\n"
#define HELPER(name) "static __device__ float " name "(float x) {\n    return x;\n}\n\n"
#define KERNEL(name) \
    "extern \"C\" __global__ void\n" name "(float *y) {\n    if (y) {\n        *y = 1;\n    }\n}\n\n"

enum { MOST = 100, MANY = 64 };

/* A head, `kernels` kernels called k0_, k1_, …, and a helper before every third one. */
static const char *file_of(int kernels) {
    static char text[MOST * 256];
    strcpy(text, HEAD);
    for (int i = 0; i < kernels; i++) {
        if (i % 3 == 0)
            sprintf(text + strlen(text), HELPER("h%d_"), i);
        sprintf(text + strlen(text), KERNEL("k%d_"), i);
    }
    return text;
}

/* Returns the line, from 1, where a name occurs first, or 0. */
static int line_of(const char *text, const char *prefix, int i) {
    char name[16];
    snprintf(name, sizeof name, "%s%d_", prefix, i);
    const char *found = strstr(text, name);
    int line = found != NULL;
    for (const char *c = text; found && c < found; c++)
        line += *c == '\n';
    return line;
}

static int closing_braces(const char *text) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, "\n}\n")) != NULL; at++)
        count++;
    return count;
}

static void each_kernel_is_in_one_part(void **state) {
    (void)state;
    for (int kernels = 1; kernels < MOST; kernels += 11) {
        const char *source = file_of(kernels);
        const int count = jit_part_count(source, MANY);
        const int helpers = (kernels + 2) / 3;
        int homes[MOST] = {0};
        for (int part = 0; part < count; part++) {
            char *text = jit_part(source, part, count);
            int own = 0;
            assert_memory_equal(text, HEAD, strlen(HEAD));
            for (int i = 0; i < kernels; i++) {
                const int line = line_of(text, "k", i);
                homes[i] += line > 0;
                own += line > 0;
                assert_true(line == 0 || line == line_of(source, "k", i));
                assert_int_equal(line_of(text, "h", i), line_of(source, "h", i));
            }
            assert_int_equal(closing_braces(text), helpers + own);
            free(text);
        }
        for (int i = 0; i < kernels; i++)
            assert_int_equal(homes[i], 1);
    }
}

static void few_kernels_are_one_part(void **state) {
    (void)state;
    assert_int_equal(jit_part_count("", MANY), 1);
    assert_int_equal(jit_part_count(file_of(8), MANY), 1);
    assert_int_equal(jit_part_count(file_of(9), MANY), 2);
    assert_int_equal(jit_part_count(file_of(MOST), MANY), RT_MAX_MODULES);
    const char *source = file_of(8);
    char *text = jit_part(source, 0, 1);
    assert_string_equal(text, source);
    free(text);
}

static void processors_bound_the_parts(void **state) {
    (void)state;
    const char *source = file_of(MOST);
    assert_int_equal(jit_part_count(source, 1), 1);
    assert_int_equal(jit_part_count(source, 2), 2);
    assert_int_equal(jit_part_count(source, 5), 5);
    assert_int_equal(jit_part_count(source, -1), 1); /* their number is unknown */
}

/* A file that was truncated or edited is left to the compiler, and loses nothing. */
static void what_is_no_kernel_is_in_all_parts(void **state) {
    (void)state;
    const char *source = "int a;\n  extern \"C\" __global__ void indented() {\n}\n"
                         "extern \"C\" __global__ void open_ended() {\n";
    char *with = jit_part(source, 0, 2), *without = jit_part(source, 1, 2);
    assert_string_equal(with, source);
    assert_string_equal(without, "int a;\n  extern \"C\" __global__ void indented() {\n}\n\n");
    free(with);
    free(without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_is_in_one_part),
        cmocka_unit_test(few_kernels_are_one_part),
        cmocka_unit_test(processors_bound_the_parts),
        cmocka_unit_test(what_is_no_kernel_is_in_all_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
