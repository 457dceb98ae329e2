/* Preludes and bodies of templates: which ones are printed, and that each is printed once for any
 * number of kernels. This file has its own templates instead of the compiler's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/embed.h"
#include "emit/fill_template.h"

static const char many[] = "//@prelude shared.cuh\n"
                           "//@prelude\nALWAYS\n//@end\n"
                           "//@prelude?size=wide\nWIDE\n//@end\n"
                           "//@prelude?size=wide_rows\nWIDE_ROWS\n//@end\n"
                           "//@prelude?size=wide\nWIDE_AGAIN\n//@end\n"
                           "//@prelude?size_of=wide\nSIZE_OF_WIDE\n//@end\n"
                           "//@body other\nBODY\n//@end\n"
                           "//@body others\nOTHER_BODY\n//@end\n";
static const char plain[] = "//@prelude shared.cuh\n"
                            "//@prelude?size=wide\nPLAIN_WIDE\n//@end\n"
                            "//@prelude\nPLAIN\n//@end\n";
static const char both[] = "//@prelude shared.cuh\n"
                           "//@prelude plain.cu\n"
                           "//@prelude\nBOTH\n//@end\n";
static const char shared[] = "//@prelude?size=deep\nSHARED_DEEP\n//@end\n"
                             "//@prelude?size=wide\nSHARED_WIDE\n//@end\n";

/* The table that embed.c searches. */
extern const Embedded embedded_files[];
extern const int embedded_file_count;
const Embedded embedded_files[] = {
    {"gen/templates/many.cu", many, sizeof many - 1, ""},
    {"gen/templates/plain.cu", plain, sizeof plain - 1, ""},
    {"gen/templates/both.cu", both, sizeof both - 1, ""},
    {"gen/templates/shared.cuh", shared, sizeof shared - 1, ""},
};
const int embedded_file_count = sizeof embedded_files / sizeof *embedded_files;

/* A kernel: its template, and its value for the hole `size`, or NULL. */
typedef const char *const Kernels[][2];

static void assert_text(const Plan *plan, const char *expected) {
    StrBuf out = {0};
    print_template_preludes(plan, &out);
    assert_string_equal(out.text, expected);
    sb_free(&out);
}

static void assert_prints(const char *expected, const char *const (*kernels)[2], int count) {
    Kernel made[4] = {0};
    Hole holes[4] = {0};
    Plan plan = {.kernels = made, .kernel_count = count};
    for (int i = 0; i < count; i++) {
        holes[i] = (Hole){.hole = "size", .value = kernels[i][1]};
        made[i] = (Kernel){.template_name = kernels[i][0],
                           .template_kernel = "kernel",
                           .holes = &holes[i],
                           .hole_count = kernels[i][1] != NULL};
    }
    assert_text(&plan, expected);
}

static void test_none_is_filled(void **state) {
    (void)state;
    assert_prints("\nALWAYS\n\nPLAIN\n",
                  (Kernels){{"many.cu", NULL}, {NULL, NULL}, {"plain.cu", "flat"}}, 3);
}

/* All preludes for a value, including those in an included file; a longer value or hole is
 * different. */
static void test_several_are_filled(void **state) {
    (void)state;
    assert_prints("\nSHARED_WIDE\n\nALWAYS\n\nWIDE\n\nWIDE_AGAIN\n",
                  (Kernels){{"many.cu", "wide"}, {"many.cu", "wide"}}, 2);
    assert_prints("\nALWAYS\n\nWIDE_ROWS\n", (Kernels){{"many.cu", "wide_rows"}}, 1);
    assert_prints("\nALWAYS\n", (Kernels){{"many.cu", "wid"}}, 1);
    assert_prints("\nSHARED_DEEP\n\nSHARED_WIDE\n\nALWAYS\n\nWIDE\n\nWIDE_AGAIN\n",
                  (Kernels){{"many.cu", NULL}, {"many.cu", "deep"}, {"many.cu", "wide"}}, 3);
}

/* A file that two templates include is printed once, with the parts that the kernels of either
 * need. */
static void test_two_templates_share_a_file(void **state) {
    (void)state;
    assert_prints("\nSHARED_DEEP\n\nALWAYS\n\nPLAIN\n",
                  (Kernels){{"many.cu", NULL}, {"plain.cu", "deep"}}, 2);
}

/* A file may include several, and these the same one. */
static void test_a_template_includes_files(void **state) {
    (void)state;
    assert_prints("\nSHARED_DEEP\n\nPLAIN\n\nBOTH\n", (Kernels){{"both.cu", "deep"}}, 1);
}

/* A body is printed after the preludes, once for two kernels that have it. A kernel of the same name in
 * another template does not have it. */
static void test_kernels_share_a_body(void **state) {
    (void)state;
    Kernel kernels[] = {{.template_name = "many.cu", .template_kernel = "other"},
                        {.template_name = "many.cu", .template_kernel = "kernel"},
                        {.template_name = "many.cu", .template_kernel = "other"}};
    assert_text(&(Plan){.kernels = kernels, .kernel_count = 3}, "\nALWAYS\n\nBODY\n");
    assert_text(&(Plan){.kernels = &kernels[1], .kernel_count = 1}, "\nALWAYS\n");
    kernels[0].template_name = kernels[2].template_name = "plain.cu";
    assert_text(&(Plan){.kernels = kernels, .kernel_count = 3}, "\nPLAIN\n\nALWAYS\n");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_is_filled),
        cmocka_unit_test(test_several_are_filled),
        cmocka_unit_test(test_two_templates_share_a_file),
        cmocka_unit_test(test_a_template_includes_files),
        cmocka_unit_test(test_kernels_share_a_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
