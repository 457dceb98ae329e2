/* Quantised weights in files: bitsandbytes' own file is accepted; files that lack something or were
 * made differently are refused with the reason. */
#include "runtime/params/packed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WEIGHT "model.layers.0.mlp.up_proj.weight"
#define STATE WEIGHT ".quant_state.bitsandbytes__nf4"

static const double nf4[16] = {
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1.0};
static double dynamic[256];
static const RtConstant map = {.count = 16, .values = nf4}, nested_map = {.count = 256, .values = dynamic};

static RtPacked twice = {"nf4", 64, 256, 0, 0, 0, &map, &nested_map, true};
static RtPacked once = {"nf4", 32, 256, 0, RT_NOWHERE, RT_NOWHERE, &map, NULL, true};
static const RtParam param = {.name = WEIGHT, .rank = 2, .shape = {96, 64}, .packed = &twice};
static const RtParam param_once = {.name = WEIGHT, .rank = 2, .shape = {128, 64}, .packed = &once};

static char error[1024];

static StFile *stored(const char *case_name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/oracle/cases/%s/stored", case_name);
    StFile *file = st_open_folder(path, error, sizeof error);
    if (!file) fail_msg("%s", error);
    return file;
}

static int read_map(void **state)
{
    (void)state;
    StFile *file = stored("qlora");
    const StTensor *tensor = st_find(file, WEIGHT ".nested_quant_map");
    for (int i = 0; i < 256; i++)
        dynamic[i] = st_value(tensor, i);
    st_close(file);
    return 0;
}

/* ---- images of a file with one thing changed --------------------------------------------------- */

typedef struct {
    const char *name;   /* of the tensor that is changed: */
    const char *text;   /* to these bytes; NULL: it is omitted, */
    const char *as;     /* or renamed to this, */
    int fewer;          /* or shortened by this many elements, */
    const char *dtype;  /* or given this type, with as many bytes */
    const char *reason; /* for refusing it */
} Change;

enum { MOST_HEADER = 4096, MOST_IMAGE = 65536 };

typedef struct {
    unsigned char bytes[MOST_IMAGE];
    size_t size;
} Image;

/* Makes an image of the weight's tensors in `file`, with the change. */
static void make_image(const StFile *file, const Change *change, Image *image)
{
    static unsigned char data[MOST_IMAGE];
    char header[MOST_HEADER] = "{";
    size_t at = 0, used = 1;
    for (size_t i = 0; i < st_count(file); i++) {
        const StTensor *t = st_at(file, i);
        bool here = change && strcmp(t->name, change->name) == 0;
        if (strncmp(t->name, WEIGHT, strlen(WEIGHT))) continue;
        if (here && !change->text && !change->as && !change->fewer && !change->dtype) continue;
        const void *from = here && change->text ? change->text : t->data;
        size_t bytes = here && change->text ? strlen(change->text) : t->bytes;
        if (here && change->fewer) bytes -= (size_t)change->fewer * st_dtype_bytes(t->dtype);
        const char *dtype = here && change->dtype ? change->dtype : st_dtype_name(t->dtype);
        size_t width = strcmp(dtype, "F32") == 0 ? 4 : 1;
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 "%s\"%s\": {\"dtype\": \"%s\", \"shape\": [%zu%s], \"data_offsets\": [%zu, %zu]}",
                                 used > 1 ? ", " : "", here && change->as ? change->as : t->name, dtype,
                                 bytes / width, t->rank == 2 ? ", 1" : "", at, at + bytes);
        memcpy(data + at, from, bytes);
        at += bytes;
    }
    header[used++] = '}';
    memset(image->bytes, 0, 8);
    for (int i = 0; i < 8; i++)
        image->bytes[i] = (unsigned char)(used >> (8 * i));
    memcpy(image->bytes + 8, header, used);
    memcpy(image->bytes + 8 + used, data, at);
    image->size = 8 + used + at;
}

static bool finds(const Image *image, const RtParam *of)
{
    PackedTensors found;
    StFile *file = st_open_bytes(image->bytes, image->size, "image", error, sizeof error);
    if (!file) fail_msg("%s", error);
    error[0] = 0;
    bool ok = packed_find(file, of, &found, error, sizeof error);
    st_close(file);
    return ok;
}

static void check_refused(const char *case_name, const RtParam *of, const Change *change)
{
    static Image image;
    StFile *file = stored(case_name);
    make_image(file, change, &image);
    st_close(file);
    if (finds(&image, of)) fail_msg("taken, though it should say: %s", change->reason);
    if (strncmp(error, WEIGHT, strlen(WEIGHT)) || !strstr(error, change->reason) || !strstr(error, "; "))
        fail_msg("\"%s\" does not give the reason \"%s\" and a remedy", error, change->reason);
}

/* ---- tests ------------------------------------------------------------------------------------ */

static void test_taken(void **state)
{
    (void)state;
    PackedTensors found;
    StFile *file = stored("qlora");
    assert_true(packed_is_in(file, &param));
    if (!packed_find(file, &param, &found, error, sizeof error)) fail_msg("%s", error);
    assert_int_equal(found.codes->bytes, 96 * 64 / 2);
    assert_int_equal(found.absmax->elements, 96);
    assert_int_equal(found.nested_absmax->elements, 1);
    assert_true(found.offset == 0.32318115234375f);
    st_close(file);
    file = stored("qlora_single");
    if (!packed_find(file, &param_once, &found, error, sizeof error)) fail_msg("%s", error);
    assert_int_equal(found.absmax->elements, 256);
    assert_null(found.nested_absmax);
    st_close(file);
}

/* The family's other files have [in, out]; codes and their shape are for [out, in] nevertheless. */
static void test_turned(void **state)
{
    (void)state;
    PackedTensors found;
    RtParam turned = param;
    turned.shape[0] = 64, turned.shape[1] = 96;
    StFile *file = stored("qlora");
    assert_false(packed_find(file, &turned, &found, error, sizeof error));
    assert_non_null(strstr(error, "does not have the shape [64, 96]"));
    turned.split[0] = 64, turned.split[1] = 96, turned.split[2] = turned.split[3] = 1;
    turned.order[0] = 1, turned.order[2] = 2, turned.order[3] = 3;
    if (!packed_find(file, &turned, &found, error, sizeof error)) fail_msg("%s", error);
    size_t bytes;
    void *row = packed_first_row(file, "folder", &turned, &bytes);
    assert_int_equal(bytes, 64 / 2);
    assert_memory_equal(row, found.codes->data, bytes);
    free(row);
    st_close(file);
}

#define JSON(block, shape, nested) \
    "{\"quant_type\": \"nf4\", \"blocksize\": " block ", \"shape\": " shape nested "}"
#define NESTED(block, offset) ", \"nested_blocksize\": " block ", \"nested_offset\": " offset

static void test_refused(void **state)
{
    (void)state;
    static const Change changes[] = {
        {.name = WEIGHT ".absmax", .reason = "absmax is missing"},
        {.name = WEIGHT ".absmax", .fewer = 1, .reason = "has 95 numbers of type U8, but needs 96 of U8"},
        {.name = WEIGHT ".absmax", .dtype = "F32", .reason = "24 numbers of type F32"},
        {.name = WEIGHT ".nested_absmax", .reason = "nested_absmax is missing"},
        {.name = WEIGHT ".nested_quant_map", .reason = "nested_quant_map is missing"},
        {.name = WEIGHT ".quant_map", .fewer = 1, .reason = "has 15 numbers"},
        {.name = WEIGHT ".quant_map", .reason = "quant_map is missing"},
        {.name = WEIGHT, .reason = "is missing, but this program needs it"},
        {.name = WEIGHT, .fewer = 1, .reason = "has 3071 bytes, but its 6144 codes take 3072"},
        {.name = STATE, .reason = "is missing, but it says how"},
        {.name = STATE, .as = WEIGHT ".quant_state.bitsandbytes__fp4", .reason = "is of quant_type \"fp4\""},
        {.name = STATE, .text = "{\"quant_type\"", .reason = "is not a JSON object"},
        {.name = STATE, .text = "[1]", .reason = "is not a JSON object"},
        {.name = STATE, .text = "{}", .reason = "says quant_type \"(none)\""},
        {.name = STATE, .text = JSON("32", "[96, 64]", NESTED("256", "0.5")), .reason = "has blocks of 32"},
        {.name = STATE, .text = JSON("64", "[64, 96]", NESTED("256", "0.5")), .reason = "does not have the shape"},
        {.name = STATE, .text = JSON("64", "[96]", NESTED("256", "0.5")), .reason = "does not have the shape"},
        {.name = STATE, .text = JSON("64", "[96, 64]", ""), .reason = "has absmax of 32 bits"},
        {.name = STATE, .text = JSON("64", "[96, 64]", NESTED("128", "0.5")), .reason = "nested_blocksize"},
        {.name = STATE, .text = JSON("64", "[96, 64]", NESTED("256", "null")), .reason = "nested_offset"},
        {.name = STATE, .text = JSON("64", "[96, 64]", NESTED("256", "1e300")), .reason = "nested_offset"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        check_refused("qlora", &param, &changes[i]);
}

/* Programs whose settings differ from the file's. */
static void test_other_program(void **state)
{
    (void)state;
    RtPacked other = once;
    RtParam of = param_once;
    of.packed = &other;
    Change same = {.name = "", .reason = "has blocks of 32"};
    other.block = 64;
    check_refused("qlora_single", &of, &same);
    other = once;
    other.nested_map = &nested_map;
    same.reason = "quantization.double_quant = true; set it to false";
    check_refused("qlora_single", &of, &same);
    other = once;
    static double wrong[16];
    memcpy(wrong, nf4, sizeof wrong);
    wrong[3] += 0.001;
    other.map = &(const RtConstant){.count = 16, .values = wrong};
    same.reason = "quant_map[3] is";
    check_refused("qlora_single", &of, &same);
}

/* A damaged file is refused, or gives the same result as before. */
static void test_damaged(void **state)
{
    (void)state;
    static Image image, damaged;
    StFile *file = stored("qlora");
    make_image(file, NULL, &image);
    st_close(file);
    assert_true(finds(&image, &param));
    uint32_t random = 1;
    for (int i = 0; i < 20000; i++) {
        damaged = image;
        for (int k = 0; k < 1 + i % 3; k++) {
            random = random * 1664525 + 1013904223;
            size_t within = i % 2 ? damaged.size : 1200; /* most of it is data */
            damaged.bytes[8 + random / 7 % (within - 8)] ^= (unsigned char)(1 << random % 7);
        }
        PackedTensors found;
        file = st_open_bytes(damaged.bytes, damaged.size, "image", error, sizeof error);
        if (!file) continue;
        if (packed_find(file, &param, &found, error, sizeof error))
            assert_int_equal(found.codes->bytes, 96 * 64 / 2);
        st_close(file);
    }
}

/* Saved without the head and the prefix, as other weights may be. */
static void test_without_prefix(void **state)
{
    (void)state;
    PackedTensors found;
    RtParam with = param;
    with.name = "transformer." WEIGHT;
    StFile *file = stored("qlora");
    assert_true(packed_is_in(file, &with));
    if (!packed_find(file, &with, &found, error, sizeof error)) fail_msg("%s", error);
    assert_int_equal(found.absmax->elements, 96);
    assert_true(found.offset == 0.32318115234375f);
    st_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_taken), cmocka_unit_test(test_turned),
                                       cmocka_unit_test(test_without_prefix),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_other_program),
                                       cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, read_map, NULL);
}
