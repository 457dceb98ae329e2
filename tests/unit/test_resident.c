/* data.device_resident: the number of images found in files and folders, and the default of the key
 * that follows from it. Tests that need a plan are in tests/emit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fileio.h"
#include "spec/resolve.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static Arena arena;
static char folder[] = "/tmp/test_resident_XXXXXX";
static const char *const made[] = {"spec.toml", "a.idx", "b.idx", "c.gz",
                                   "huge.idx",  "short", "text",  "pipe"};

static const char SPEC[] = "[model]\nfamily = \"mlp\"\nnum_classes = 10\nimage_size = 8\n"
                           "image_channels = 1\nhidden_size = 4\nnum_hidden_layers = 1\n"
                           "[training]\ntask = \"classify\"\nsteps = 1\n"
                           "[data]\nformat = \"idx\"\nimage_width = 6\n";

/* Only headers are read, so files need no pixels. */
static void write_header(const char *path, const char *mode, int count) {
    const unsigned char header[] = {0,
                                    0,
                                    8,
                                    3,
                                    (unsigned char)(count >> 24),
                                    (unsigned char)(count >> 16),
                                    (unsigned char)(count >> 8),
                                    (unsigned char)count,
                                    0,
                                    0,
                                    0,
                                    8,
                                    0,
                                    0,
                                    0,
                                    6};
    gzFile file = gzopen(path, mode);
    assert_int_equal(gzwrite(file, header, sizeof header), sizeof header);
    assert_int_equal(gzclose(file), Z_OK);
}

static int make_files(void **state) {
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) || mkfifo("pipe", 0600))
        return -1;
    write_header("a.idx", "wT", 100);
    write_header("b.idx", "wT", 300);
    write_header("c.gz", "w", 70000);
    write_header("huge.idx", "wT", 44739243); /* times 48 pixels: 2^31 + 16 */
    file_write("spec.toml", SPEC, sizeof SPEC - 1);
    file_write("text", "no images, but some text", 24);
    return file_write("short", "\0\0\10\3", 4) != NULL;
}

static int remove_files(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(made[i]);
    return chdir("/") || rmdir(folder);
}

static const Spec *read_with(const char *train, const char *set) {
    const char *sets[] = {arena_printf(&arena, "data.train=%s", train), set};
    return spec_read(&arena, "spec.toml", sets, set ? 2 : 1);
}

static int clean(void **state) {
    (void)state;
    arena_free(&arena);
    diag_forget_sources();
    return 0;
}

static void counts_all_files(void **state) {
    (void)state;
    static const struct {
        const char *train, *set;
        int64_t images;
    } cases[] = {{"a.idx", NULL, 100},
                 {"gone", "data.train=[\"a.idx\", \"b.idx\"]", 400},
                 {"?.idx", NULL, 400},
                 {"c.gz", "data.validation=a.idx", 70100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Spec *spec = read_with(cases[i].train, cases[i].set);
        assert_int_equal(spec->data.device_resident, RESIDENT_AUTO);
        assert_int_equal(spec->stored_images, cases[i].images);
    }
}

static void a_key_settles_it(void **state) {
    (void)state;
    const Spec *keeps = read_with("a.idx", "data.device_resident=true"),
               *sends = read_with("a.idx", "data.device_resident=false");
    assert_int_equal(keeps->data.device_resident, RESIDENT_TRUE);
    assert_int_equal(keeps->stored_images, 100);
    assert_string_equal(keeps->resident_why, "data.device_resident = true");
    assert_int_equal(sends->data.device_resident, RESIDENT_FALSE);
    assert_string_equal(sends->resident_why, "data.device_resident = false");
}

/* Missing files are not refused, because they may be created later. */
static void sends_what_cannot_be_counted(void **state) {
    (void)state;
    static const struct {
        const char *train, *set, *why;
    } cases[] = {
        {"gone", NULL, "the images of gone cannot be counted: no such file"},
        {"short", NULL, "the images of short cannot be counted: it has no IDX header"},
        {"text", NULL, "the images of text cannot be counted: it holds no IDX images"},
        {"pipe", NULL, "the images of pipe cannot be counted: it is not a regular file"},
        {"a.idx", "data.validation=gone", "the images of gone cannot be counted: no such file"},
        {"huge.idx", NULL, "the images have more than 2^31 - 1 pixels in all"},
        {"classes", "data.format=image_folder",
         "decoding a whole folder before the first step needs data.device_resident = true"},
        {"a.idx", "data.decode=host",
         "data.device_resident needs data.format = \"idx\" or \"image_folder\", and data.decode = "
         "\"device\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Spec *spec = read_with(cases[i].train, cases[i].set);
        assert_int_equal(spec->data.device_resident, RESIDENT_FALSE);
        assert_string_equal(spec->resident_why, cases[i].why);
    }
}

static void make_file(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* Counts like the loader: a class may be a link, a folder inside it may not. */
static void counts_what_a_folder_has(void **state) {
    (void)state;
    static const char *const folders[] = {"classes",    "classes/a", "classes/a/b",
                                          "classes/.c", "else",      "else/d"};
    static const char *const files[] = {
        "classes/a/1.jpg",  "classes/a/b/2.JPEG", "classes/a/b/3.png",
        "else/4.png",       "else/d/5.jpg",       "classes/6.jpg",
        "classes/a/.7.jpg", "classes/.c/8.jpg",   "classes/a/9.gif"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(folders[i], 0700), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        make_file(files[i]);
    assert_int_equal(symlink("../else", "classes/link"), 0);
    assert_int_equal(symlink("../../else", "classes/a/b/link"), 0);
    assert_int_equal(symlink("1.jpg", "classes/a/again.jpg"), 0);
    assert_int_equal(symlink("gone", "classes/a/gone.jpg"), 0);
    assert_int_equal(symlink("../../else", "classes/a/else.png"), 0);
    const char *sets[] = {"data.train=classes", "data.format=image_folder", "data.image_channels=1",
                          "data.device_resident=true"};
    assert_int_equal(spec_read(&arena, "spec.toml", sets, 4)->stored_images, 8);
    assert_int_equal(image_folder_count("classes", 2), 3);
    assert_int_equal(image_folder_count("gone", 2), 0);
    assert_int_equal(system("rm -r classes else"), 0);
}

/* The hash is that of the experiment as the user wrote it. */
static void settling_changes_a_copy(void **state) {
    (void)state;
    const Spec *spec = read_with("a.idx", NULL);
    const Spec *sends = spec_settle_resident(&arena, spec, false, "the moon is full");
    assert_int_equal(spec->data.device_resident, RESIDENT_AUTO);
    assert_int_equal(sends->data.device_resident, RESIDENT_FALSE);
    assert_string_equal(sends->resident_why, "the moon is full");
    assert_string_equal(sends->sha256, spec->sha256);
}

#define TEST(name) cmocka_unit_test_teardown(name, clean)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(counts_all_files), TEST(a_key_settles_it), TEST(sends_what_cannot_be_counted),
        TEST(counts_what_a_folder_has), TEST(settling_changes_a_copy)};
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
