/* The table of the driver's functions: which drivers are too old. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/device/driver.h"
#include "temp_folder.h"
#include "tests/unit/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRING_OF(x) #x
#define EXPANDED_STRING_OF(x) STRING_OF(x)

static const char *const symbols[] = {
#define X(name) EXPANDED_STRING_OF(cu##name),
    DRIVER_FUNCTIONS(X)
#undef X
};

enum { SYMBOLS = sizeof symbols / sizeof *symbols };

/* Makes a libcuda.so.1 of functions that return 0. `present` says what becomes of a symbol. */
static void make_driver(const char *(*present)(const char *symbol)) {
    char command[512];
    FILE *file = fopen(temp_path("driver.c"), "w");
    assert_non_null(file);
    for (int i = 0; i < SYMBOLS; i++)
        if (present(symbols[i]))
            fprintf(file, "int %s(void) { return 0; }\n", present(symbols[i]));
    fclose(file);
    snprintf(command, sizeof command, "cd %s && cc -shared -fPIC -o libcuda.so.1 driver.c",
             temp_path(""));
    assert_int_equal(system(command), 0);
    setenv("LD_LIBRARY_PATH", temp_path(""), 1);
}

/* As the drivers of CUDA 12.4. */
static const char *of_12_4(const char *symbol) {
    return strcmp(symbol, "cuEventElapsedTime_v2") ? symbol : "cuEventElapsedTime";
}

static const char *without_graph_upload(const char *symbol) {
    return strcmp(symbol, "cuGraphUpload") ? symbol : NULL;
}

static void open_driver(const void *unused) {
    (void)unused;
    const char *error = driver_try_open();
    fputs(error ? error : cu.EventElapsedTime ? "" : "no time", stderr);
}

/* What opening the driver says, in a process of its own, because a library stays open. */
static const char *error_of(const char *(*present)(const char *symbol)) {
    static char text[1024];
    make_driver(present);
    child_run(open_driver, NULL, text, sizeof text);
    return text;
}

static void a_driver_of_12_4_is_complete(void **state) {
    (void)state;
    assert_string_equal(error_of(of_12_4), "");
}

static void what_a_driver_lacks_is_named(void **state) {
    (void)state;
    assert_string_equal(error_of(without_graph_upload),
                        "libcuda.so.1 has no cuGraphUpload; install a newer NVIDIA driver");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_of_12_4_is_complete),
        cmocka_unit_test(what_a_driver_lacks_is_named),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
