/* adapter_config.json lists each adapted module once, however many there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pass/peft_config.h"

#include <string.h>

enum { MODULES = 70, LAYERS = 2 };

static void test_all_modules_are_listed(void **state) {
    (void)state;
    Arena arena = {0};
    Spec spec = {.adapter.r = 8};
    Program *p = program_new(&arena);
    for (int i = 0; i < LAYERS * MODULES; i++) {
        const char *name = arena_printf(&arena, "layers.%d.m%02d_proj.lora_A.weight", i / MODULES,
                                        i % MODULES);
        Value *weight = value_2d(p, name, ROLE_ADAPTER, DT_F32, 8, 16, (Pos){0});
        program_add_param(p, (Param){.weight = weight, .file_name = name});
    }
    const char *config = peft_config(p, &spec);
    for (int i = 0; i < MODULES; i++) {
        const char *found = strstr(config, arena_printf(&arena, "\"m%02d_proj\"", i));
        assert_non_null(found);
        assert_null(strstr(found + 1, arena_printf(&arena, "\"m%02d_proj\"", i)));
    }
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_modules_are_listed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
