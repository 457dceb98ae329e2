/* Tests of how files are found, compared and summed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "runtime/base/checksum.h"
#include "runtime/base/rt.h"
#include "runtime/data/data_files.h"
#include "temp_folder.h"

/* Checks that the pattern stands for one file. */
static void assert_found(const char *pattern, const char *expected) {
    char message[256];
    FileList files;
    DataError error = {message, sizeof message};
    assert_true(files_expand(&pattern, 1, "", &files, &error));
    assert_int_equal(files.count, 1);
    assert_string_equal(files.paths[0], temp_path(expected));
    files_free(&files);
}

static void an_existing_name_is_no_pattern(void **state) {
    (void)state;
    temp_file("a.txt", "a", 1);
    assert_found(temp_path("[ab].txt"), "a.txt");
    temp_file("[ab].txt", "b", 1);
    assert_found(temp_path("[ab].txt"), "[ab].txt");
    assert_found(temp_path("[a-b].txt"), "a.txt");
}

static void a_link_leads_to_the_same_file(void **state) {
    (void)state;
    temp_file("one", "1", 1);
    temp_file("other", "1", 1);
    assert_int_equal(symlink("one", temp_path("link")), 0);
    assert_true(rt_same_file(temp_path("one"), temp_path("link")));
    assert_false(rt_same_file(temp_path("one"), temp_path("other")));
    assert_false(rt_same_file(temp_path("none"), temp_path("none")));
}

static void the_checksum_is_crc32(void **state) {
    (void)state;
    assert_int_equal(crc32_add(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(crc32_add(crc32_add(0, "12345678901", 4), "56789", 5), 0xcbf43926);
    assert_int_equal(crc32_add(0, "", 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_existing_name_is_no_pattern),
        cmocka_unit_test(a_link_leads_to_the_same_file),
        cmocka_unit_test(the_checksum_is_crc32),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
