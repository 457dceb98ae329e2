/*
 * test_safetensors.c - written files are read back; damaged ones are refused with the reason.
 */
#include "runtime/files/safetensors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/test_safetensors.XXXXXX";
static char error[512];

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Opens a file image made of `header` and `data_bytes` zero bytes. */
static StFile *open_image(const char *header, size_t data_bytes)
{
    static unsigned char image[4096];
    size_t length = strlen(header);
    assert_true(8 + length + data_bytes <= sizeof image);
    memset(image, 0, sizeof image);
    for (int i = 0; i < 8; i++)
        image[i] = (unsigned char)(length >> (8 * i));
    memcpy(image + 8, header, length);
    error[0] = 0;
    return st_open_bytes(image, 8 + length + data_bytes, "image", error, sizeof error);
}

static void refused(const char *header, size_t data_bytes, const char *reason)
{
    StFile *file = open_image(header, data_bytes);
    assert_null(file);
    if (strncmp(error, "image: ", 7) || !strstr(error, reason))
        fail_msg("\"%s\" does not give the reason \"%s\"", error, reason);
}

static void test_round_trip(void **state)
{
    (void)state;
    const double wide[2] = {1.5, -1e300};
    const float data[6] = {0, 1, 2, 3, 4, -5.5f};
    const char *path = in_folder("round.safetensors");
    StWriter *w = st_create(path);
    assert_true(st_set_metadata(w, "format", "pt"));
    assert_true(st_declare(w, "z.wide", ST_F64, 1, (int64_t[]){2}));
    assert_true(st_declare(w, "a.matrix", ST_F32, 2, (int64_t[]){2, 3}));
    assert_true(st_declare(w, "scalar", ST_F32, 0, NULL));
    assert_true(st_declare(w, "empty", ST_BF16, 2, (int64_t[]){0, 7}));
    assert_true(st_write(w, wide, sizeof wide));
    assert_true(st_write(w, data, 10));
    assert_true(st_write(w, (const char *)data + 10, sizeof data - 10));
    assert_true(st_write(w, &data[5], sizeof data[5]));
    assert_int_equal(access(path, F_OK), -1); /* the file does not exist before the end */
    assert_true(st_finish(w, error, sizeof error));

    StFile *file = st_open(path, error, sizeof error);
    assert_non_null(file);
    assert_string_equal(st_metadata(file, "format"), "pt");
    assert_null(st_metadata(file, "absent"));
    assert_int_equal(st_count(file), 4);
    assert_string_equal(st_at(file, 0)->name, "a.matrix");
    assert_null(st_find(file, "b"));
    const StTensor *t = st_find(file, "a.matrix");
    assert_int_equal(t->dtype, ST_F32);
    assert_int_equal(t->rank, 2);
    assert_int_equal(t->shape[1], 3);
    assert_int_equal(t->shape[2], 1);
    assert_memory_equal(t->data, data, sizeof data);
    assert_true(st_value(t, 5) == -5.5);
    assert_true(st_value(st_find(file, "z.wide"), 1) == -1e300);
    assert_int_equal(st_find(file, "scalar")->elements, 1);
    assert_int_equal(st_find(file, "empty")->bytes, 0);
    st_close(file);
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        StDtype dtype;
        uint64_t bits;
        double value;
    } rows[] = {
        {ST_F16, 0x3c01, 1 + 0x1p-10},
        {ST_F16, 0x8001, -0x1p-24},
        {ST_F16, 0xfc00, -INFINITY},
        {ST_F16, 0x7e00, NAN},
        {ST_BF16, 0x3f81, 1 + 0x1p-7},
        {ST_BF16, 0x7f80, INFINITY},
        {ST_F8_E4M3, 0x7e, 448},
        {ST_F8_E4M3, 0x7f, NAN},
        {ST_F8_E4M3, 0x01, 0x1p-9},
        {ST_F8_E5M2, 0x7b, 57344},
        {ST_F8_E5M2, 0xfc, -INFINITY},
        {ST_I8, 0xff, -1},
        {ST_I16, 0xfffe, -2},
        {ST_I32, 0xfffffffd, -3},
        {ST_I64, (uint64_t)-4, -4},
        {ST_U8, 0xff, 255},
        {ST_U16, 0xffff, 65535},
        {ST_U32, 0xffffffff, 4294967295.0},
        {ST_U64, 1, 1},
        {ST_BOOL, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        StTensor t = {.dtype = rows[i].dtype, .data = &rows[i].bits, .elements = 1};
        double value = st_value(&t, 0);
        assert_true(isnan(rows[i].value) ? isnan(value) : value == rows[i].value);
    }
}

static void test_refuses_bad_numbers(void **state)
{
    (void)state;
#define ENTRY(dtype, shape, offsets)                                                              \
    "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
    st_close(open_image(ENTRY("F32", "[2]", "[0,8]"), 8));
    assert_string_equal(error, "");
    refused(ENTRY("F31", "[2]", "[0,8]"), 8, "unknown dtype \"F31\"");
    refused(ENTRY("F32", "[2]", "[0,8]"), 7, "truncated");
    refused(ENTRY("F32", "[2]", "[0,8]"), 9, "1 bytes at the end belong to no tensor");
    refused(ENTRY("F32", "[2]", "[4,12]"), 12, "4 bytes before tensor \"a\" belong to no tensor");
    refused(ENTRY("F32", "[3]", "[0,8]"), 8, "holds 8 bytes where its dtype and shape need 12");
    refused(ENTRY("F32", "[2]", "[8,0]"), 8, "run backwards");
    refused(ENTRY("F32", "[2]", "[-8,0]"), 8, "run backwards");
    refused(ENTRY("F32", "[2]", "[0]"), 8, "needs two data_offsets");
    refused(ENTRY("F32", "[2]", "7"), 8, "needs two data_offsets");
    refused(ENTRY("F32", "[-1]", "[0,8]"), 8, "not a whole number");
    refused(ENTRY("F32", "[2.0]", "[0,8]"), 8, "not a whole number");
    refused(ENTRY("F32", "2", "[0,8]"), 8, "no shape");
    refused(ENTRY("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), 8, "9 dimensions");
    refused(ENTRY("F32", "[4611686018427387904,4611686018427387904]", "[0,8]"), 8, "too many");
    refused(ENTRY("F64", "[4611686018427387904]", "[0,8]"), 8, "too many elements");
    refused(ENTRY("F32", "[99999999999999999999]", "[0,8]"), 8, "bad header");
}

static void test_refuses_bad_headers(void **state)
{
    (void)state;
    refused("[]", 0, "not a JSON object");
    refused("", 0, "not a JSON object");
    refused("{\"a\":", 0, "bad header");
    refused("{\"a\":7}", 0, "no dtype");
    refused("{\"a\":{},\"a\":{}}", 0, "duplicate");
    refused("{\"__metadata__\":[]}", 0, "not an object");
    refused("{\"__metadata__\":{\"k\":1}}", 0, "not a string");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
            "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[3,7]}}", 7,
            "\"a\" and \"b\" overlap");
    assert_null(st_open_bytes("1234567", 7, "image", error, sizeof error));
    assert_non_null(strstr(error, "too few"));
    assert_null(st_open_bytes("\377\377\377\377\0\0\0\0{}", 10, "image", error, sizeof error));
    assert_non_null(strstr(error, "limit"));
    assert_null(st_open_bytes("\3\0\0\0\0\0\0\0{}", 10, "image", error, sizeof error));
    assert_non_null(strstr(error, "truncated"));
}

static void test_refuses_files(void **state)
{
    (void)state;
    assert_null(st_open(in_folder("absent"), error, sizeof error));
    assert_non_null(strstr(error, "No such file"));
    assert_null(st_open(folder, error, sizeof error));
    assert_non_null(strstr(error, "not a regular file"));
    fclose(fopen(in_folder("empty"), "w"));
    assert_null(st_open(in_folder("empty"), error, sizeof error));
    assert_non_null(strstr(error, "empty"));
}

static void write_one(const char *file, const char *tensor, float value)
{
    StWriter *w = st_create(in_folder(file));
    st_declare(w, tensor, ST_F32, 1, (int64_t[]){1});
    st_write(w, &value, sizeof value);
    assert_true(st_finish(w, error, sizeof error));
}

static void write_text(const char *file, const char *text)
{
    FILE *out = fopen(in_folder(file), "w");
    fputs(text, out);
    fclose(out);
}

static void shards_refused(const char *index, const char *reason)
{
    write_text("model.safetensors.index.json", index);
    assert_null(st_open_folder(folder, error, sizeof error));
    if (!strstr(error, reason))
        fail_msg("\"%s\" does not give the reason \"%s\"", error, reason);
}

static void test_folders(void **state)
{
    (void)state;
    assert_null(st_open_folder(folder, error, sizeof error));
    assert_non_null(strstr(error, "neither"));
    assert_null(st_open_folder(in_folder("nothing"), error, sizeof error));
    assert_non_null(strstr(error, "nothing: there is no such folder"));
    write_text("text", "");
    assert_null(st_open_folder(in_folder("text"), error, sizeof error));
    assert_non_null(strstr(error, "text: not a folder"));
    assert_null(st_open_folder(in_folder("text/model"), error, sizeof error));
    assert_non_null(strstr(error, "text/model: cannot be read: Not a directory"));
    write_one("s1.safetensors", "b", 1);
    write_one("s2.safetensors", "a", 2);
    write_one("s3.safetensors", "a", 3);
    write_text("model.safetensors.index.json",
               "{\"weight_map\":{\"b\":\"s1.safetensors\",\"a\":\"s2.safetensors\"}}");
    StFile *file = st_open_folder(folder, error, sizeof error);
    assert_non_null(file);
    assert_int_equal(st_count(file), 2);
    assert_true(st_value(st_find(file, "a"), 0) == 2);
    assert_true(st_value(st_find(file, "b"), 0) == 1);
    st_close(file);
    shards_refused("{\"weight_map\":{\"c\":\"s1.safetensors\"}}", "\"c\" is not in its shard");
    shards_refused("{\"weight_map\":{\"a\":\"s2.safetensors\",\"b\":\"s3.safetensors\"}}",
                   "in two shards");
    shards_refused("{\"weight_map\":{\"a\":\"../s2.safetensors\"}}", "not the name of a shard");
    shards_refused("{\n}}", "line 2: ");
    assert_int_equal(unlink(in_folder("model.safetensors.index.json")), 0);
    assert_int_equal(mkfifo(in_folder("model.safetensors.index.json"), 0600), 0);
    assert_null(st_open_folder(folder, error, sizeof error));
    assert_non_null(strstr(error, "index.json: not a regular file"));
    assert_int_equal(unlink(in_folder("model.safetensors.index.json")), 0);
    shards_refused("{\"weight_map\":{\"a\":\"absent.safetensors\"}}", "No such file");
    shards_refused("{\"weight_map\":{\"a\":1}}", "not a string");
    shards_refused("{}", "no weight_map");
    shards_refused("{", "line 1");
    write_one("model.safetensors", "single", 4);
    file = st_open_folder(folder, error, sizeof error);
    assert_non_null(st_find(file, "single"));
    st_close(file);
}

/* A failing writer leaves the target unchanged and no temporary file. */
static void finish_fails(StWriter *w, const char *reason)
{
    assert_false(st_finish(w, error, sizeof error));
    if (!strstr(error, reason))
        fail_msg("\"%s\" does not give the reason \"%s\"", error, reason);
    assert_int_equal(access(in_folder("target.tmp"), F_OK), -1);
    StFile *file = st_open(in_folder("target"), error, sizeof error);
    assert_non_null(file);
    assert_true(st_value(st_find(file, "kept"), 0) == 7);
    st_close(file);
}

static void test_writer_failures(void **state)
{
    (void)state;
    const float zeros[4] = {0};
    write_one("target", "kept", 7);

    StWriter *w = st_create(in_folder("target"));
    st_declare(w, "a", ST_F32, 1, (int64_t[]){2});
    st_write(w, zeros, 4);
    finish_fails(w, "4 of 8 declared bytes");

    w = st_create(in_folder("target"));
    st_declare(w, "a", ST_F32, 1, (int64_t[]){2});
    assert_false(st_write(w, zeros, 12));
    finish_fails(w, "more data");

    w = st_create(in_folder("target"));
    st_declare(w, "a", ST_U8, 1, (int64_t[]){3});
    assert_false(st_declare(w, "b", ST_F32, 1, (int64_t[]){1}));
    finish_fails(w, "misaligned");

    w = st_create(in_folder("target"));
    st_declare(w, "a", ST_U8, 0, NULL);
    assert_false(st_declare(w, "a", ST_U8, 0, NULL));
    finish_fails(w, "declared twice");

    w = st_create(in_folder("target"));
    assert_false(st_declare(w, "\xff", ST_U8, 0, NULL));
    finish_fails(w, "not UTF-8");

    w = st_create(in_folder("target"));
    st_abandon(w);
    assert_int_equal(access(in_folder("target.tmp"), F_OK), -1);

    w = st_create("/nonexistent/target");
    assert_false(st_declare(w, "a", ST_U8, 0, NULL));
    assert_false(st_finish(w, error, sizeof error));
    assert_non_null(strstr(error, "/nonexistent/target: cannot write"));
}

/* A limit on file size simulates a full disk: both make write() incomplete. */
/* A pipe, or a device such as /dev/null, is not replaced by a file. */
static void test_no_regular_file(void **state)
{
    (void)state;
    struct stat after;
    const char *path = in_folder("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    StWriter *w = st_create(path);
    st_declare(w, "a", ST_F32, 1, (int64_t[]){1});
    st_write(w, &(float){1}, sizeof(float));
    assert_false(st_finish(w, error, sizeof error));
    assert_non_null(strstr(error, "cannot write: it exists and is not a regular file"));
    assert_int_equal(stat(path, &after), 0);
    assert_true(S_ISFIFO(after.st_mode));
    unlink(path);
}

static void test_full_disk(void **state)
{
    (void)state;
    write_one("target", "kept", 7);
    struct rlimit old, low;
    getrlimit(RLIMIT_FSIZE, &old);
    low = (struct rlimit){65536, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &low);
    static const float data[1 << 15];
    StWriter *w = st_create(in_folder("target"));
    st_declare(w, "a", ST_F32, 1, (int64_t[]){1 << 15});
    st_write(w, data, sizeof data);
    bool finished = st_finish(w, error, sizeof error);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(finished);
    assert_non_null(strstr(error, "cannot write: File too large"));
    StFile *file = st_open(in_folder("target"), error, sizeof error);
    assert_non_null(st_find(file, "kept"));
    st_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),          cmocka_unit_test(test_values),
        cmocka_unit_test(test_refuses_bad_numbers), cmocka_unit_test(test_refuses_bad_headers),
        cmocka_unit_test(test_refuses_files),       cmocka_unit_test(test_folders),
        cmocka_unit_test(test_writer_failures),     cmocka_unit_test(test_no_regular_file),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
