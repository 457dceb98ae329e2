/* Slots of pictures, from which the device makes the pixels of JPEG files: what is put into them, which
 * files are left to the host, and what the loader puts into its input. tests/sim/test_template_pictures.c
 * compares the pixels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw_pictures.h"
#include "runtime/base/rt.h"
#include "runtime/data/data_images.h"
#include "temp_folder.h"

enum { SLOT = SLOT_HEAD + 2 * 64 * 60, BATCH = 3 };

static uint8_t slot[SLOT];
static SlotHead head;

static RtImages small_shape(void) {
    return (RtImages){.height = 4, .width = 6, .channels = 3, .classes = 1, .slot_bytes = SLOT};
}

static Drawing noise(int height, int width, int samples) {
    static uint8_t pixels[64 * 64 * 4];
    for (int i = 0; i < height * width * samples; i++)
        pixels[i] = (uint8_t)(i * i * 37 >> 3);
    return (Drawing){pixels, height, width, samples};
}

static bool put(const RtImages *shape, const uint8_t *bytes, size_t size) {
    memset(slot, 0x55, sizeof slot);
    bool read = slot_put_jpeg(&(PictureFile){"file", bytes, size}, shape, NULL, slot);
    memcpy(&head, slot, sizeof head);
    return read;
}

static bool put_drawing(const RtImages *shape, Drawing drawing, JpegForm form) {
    size_t size;
    uint8_t *bytes = jpeg_as(drawing, form, &size);
    bool read = put(shape, bytes, size);
    free(bytes);
    return read;
}

static int coefficient(int block, int k) {
    int16_t value;
    memcpy(&value, slot + SLOT_HEAD + 2 * (64 * block + k), sizeof value);
    return value;
}

/* ---- what is in a slot ----------------------------------------------------------------------- */

static void heads_tell_how_colours_are_sampled(void **state) {
    (void)state;
    static const struct {
        Sampling sampling;
        int samples, planes, down, across;
    } kinds[] = {{TJ_444, 3, 3, 1, 1}, {TJ_422, 3, 3, 1, 2}, {TJ_420, 3, 3, 2, 2},
                 {TJ_440, 3, 3, 2, 1}, {TJ_411, 3, 3, 1, 4}, {TJ_GRAY, 1, 1, 1, 1}};
    for (int i = 0; i < 12; i++) {
        RtImages shape = small_shape();
        JpegForm form = {.sampling = kinds[i / 2].sampling, .quality = 90, .progressive = i % 2};
        assert_true(put_drawing(&shape, noise(19, 33, kinds[i / 2].samples), form));
        assert_int_equal(head.kind, SLOT_COEFFICIENTS);
        assert_int_equal(head.height, 19);
        assert_int_equal(head.width, 33);
        assert_int_equal(head.planes, kinds[i / 2].planes);
        assert_int_equal(head.down, kinds[i / 2].down);
        assert_int_equal(head.across, kinds[i / 2].across);
        assert_int_equal(head.box.top, 0); /* 4 x 6 of 19 x 33 */
        assert_int_equal(head.box.left, 2);
        assert_int_equal(head.box.height, 19);
        assert_int_equal(head.box.width, 28);
        assert_int_equal(head.box.mirrored, 0);
    }
}

/* One colour, of which each block has only the mean, eight times; its luma and chroma are exact. Blocks of
 * the first plane come first, line by line, then those of the others. */
static void coefficients_are_plane_by_plane(void **state) {
    (void)state;
    uint8_t pixels[20 * 33 * 3];
    for (int i = 0; i < 20 * 33; i++)
        memcpy(pixels + 3 * i, (const uint8_t[]){100, 100, (uint8_t)(i / 33 < 16 ? 100 : 200)}, 3);
    const Drawing drawing = {pixels, 20, 33, 3};
    RtImages shape = small_shape();
    for (int progressive = 0; progressive < 2; progressive++) {
        assert_true(put_drawing(&shape, drawing,
                                (JpegForm){.sampling = TJ_420, .quality = 100, .progressive = progressive,
                                           .restart = 2}));
        for (int k = 0; k < 64; k++)
            for (int plane = 0; plane < 3; plane++)
                assert_int_equal(head.tables[plane][k], 1);
        const int luma = 3 * 5, chroma = 2 * 3;
        for (int block = 0; block < luma; block++)
            assert_int_equal(coefficient(block, 0), (block < 10 ? 100 - 128 : 111 - 128) * 8);
        for (int block = 0; block < chroma; block++) {
            assert_int_equal(coefficient(luma + block, 0), block < 3 ? 0 : 50 * 8);
            assert_int_equal(coefficient(luma + chroma + block, 0), block < 3 ? 0 : -8 * 8);
            assert_int_equal(coefficient(luma + block, 1), 0);
        }
        assert_int_equal(slot[SLOT_HEAD + 2 * 64 * (luma + 2 * chroma)], 0x55);
    }
    shape.channels = 1; /* colours are not sent */
    assert_true(put_drawing(&shape, drawing, (JpegForm){.sampling = TJ_420, .quality = 100}));
    assert_int_equal(head.planes, 1);
    assert_int_equal(slot[SLOT_HEAD + 2 * 64 * 15], 0x55);
}

/* The order of files is along diagonals. */
static void tables_are_in_natural_order(void **state) {
    (void)state;
    static const int order[] = {0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25}, last[] = {62, 63};
    RtImages shape = small_shape();
    size_t size;
    uint8_t *bytes = jpeg_as(noise(9, 9, 1), (JpegForm){.quality = 50}, &size);
    uint8_t *table = memmem(bytes, size, (const uint8_t[]){255, 219, 0, 67, 0}, 5);
    assert_non_null(table);
    for (int k = 0; k < 64; k++)
        table[5 + k] = (uint8_t)(k + 1);
    assert_true(put(&shape, bytes, size));
    for (int k = 0; k < 12; k++)
        assert_int_equal(head.tables[0][order[k]], k + 1);
    for (int k = 0; k < 2; k++)
        assert_int_equal(head.tables[0][last[k]], 63 + k);
    free(bytes);
}

static void random_parts_are_those_of_the_host(void **state) {
    (void)state;
    static const double scale[] = {0.08, 1}, ratio[] = {0.75, 4.0 / 3};
    RtImages shape = small_shape(), whole;
    shape.random_resized_crop = true, shape.crop_scale = scale, shape.crop_ratio = ratio;
    shape.random_horizontal_flip = 0.5;
    whole = shape;
    whole.height = 40, whole.width = 23;
    size_t size;
    uint8_t *bytes = jpeg_as(noise(40, 23, 1), (JpegForm){.quality = 90}, &size);
    for (uint64_t key = 0; key < 20; key++) {
        Box box = box_draw(&whole, key);
        assert_true(slot_put_jpeg(&(PictureFile){"file", bytes, size}, &shape, &key, slot));
        memcpy(&head, slot, sizeof head);
        assert_memory_equal(&head.box, &box, sizeof box);
    }
    free(bytes);
}

/* ---- what is left to the host ---------------------------------------------------------------- */

static void other_pictures_are_left_to_the_host(void **state) {
    (void)state;
    RtImages shape = small_shape();
    size_t size;
    uint8_t *bytes = png_of(noise(8, 8, 3), &size);
    assert_false(put(&shape, bytes, size));
    free(bytes);
    assert_false(put_drawing(&shape, noise(8, 8, 4), (JpegForm){.quality = 90})); /* CMYK */
    bytes = jpeg_as(noise(8, 8, 3), (JpegForm){.quality = 90}, &size);
    uint8_t *frame = memmem(bytes, size, (const uint8_t[]){255, 192, 0, 17}, 4);
    assert_non_null(frame);
    assert_true(put(&shape, bytes, size));
    frame[11] = 0x21; /* the first component has two columns for one of the second and third */
    frame[14] = 0x31;
    assert_false(put(&shape, bytes, size));
    frame[11] = frame[14] = 0x11;
    frame[17] = 0x12; /* the second and third differ */
    assert_false(put(&shape, bytes, size));
    frame[17] = 0x11;
    uint8_t *scan = memmem(bytes, size, (const uint8_t[]){255, 218, 0, 12, 3}, 5);
    assert_non_null(scan);
    for (int c = 0; c < 3; c++)
        frame[10 + 3 * c] = scan[5 + 2 * c] = (uint8_t)"RGB"[c];
    assert_true(put(&shape, bytes, size)); /* JFIF knows no such components */
    uint8_t *jfif = memmem(bytes, size, "JFIF", 4);
    assert_non_null(jfif);
    jfif[0] = 'X';
    assert_false(put(&shape, bytes, size)); /* its components are red, green and blue */
    free(bytes);
}

/* A picture that the device could not decode as a whole is not decoded in part. */
static void cut_files_are_left_to_the_host(void **state) {
    (void)state;
    RtImages shape = small_shape();
    for (int progressive = 0; progressive < 2; progressive++) {
        size_t size;
        uint8_t *bytes = jpeg_as(noise(21, 17, 3),
                                 (JpegForm){.sampling = TJ_420, .quality = 50, .progressive = progressive},
                                 &size);
        uint8_t *ended = malloc(size + 2);
        assert_true(put(&shape, bytes, size));
        for (size_t keep = 0; keep < size - 2; keep++) {
            memcpy(ended, bytes, keep);
            assert_false(put(&shape, ended, keep));
            memcpy(ended + keep, (const uint8_t[]){255, 217}, 2); /* also between two scans */
            assert_false(put(&shape, ended, keep + 2));
        }
        free(ended);
        free(bytes);
    }
}

/* Some bytes that belong to nothing, a table that comes too late, and a product that no encoder makes. */
static void unusual_files_are_left_to_the_host(void **state) {
    (void)state;
    RtImages shape = small_shape();
    size_t size;
    uint8_t *bytes = jpeg_as(noise(16, 16, 1), (JpegForm){.quality = 100}, &size), longer[4096];
    assert_true(size + 80 <= sizeof longer);
    memcpy(longer, bytes, size - 2);
    memset(longer + size - 2, 1, 20);
    memcpy(longer + size + 18, (const uint8_t[]){255, 217}, 2);
    assert_false(put(&shape, longer, size + 20));
    uint8_t *table = memmem(bytes, size, (const uint8_t[]){255, 219, 0, 67, 0}, 5);
    assert_non_null(table);
    memcpy(longer + size - 2, table, 69);
    memcpy(longer + size + 67, (const uint8_t[]){255, 217}, 2);
    assert_false(put(&shape, longer, size + 69));
    memcpy(longer + size - 2, (const uint8_t[]){255, 254, 0, 3, 7, 255, 217}, 7); /* a comment */
    assert_true(put(&shape, longer, size + 5));
    memset(table + 5, 255, 64);
    assert_false(put(&shape, bytes, size));
    free(bytes);
}

static void large_pictures_are_left_to_the_host(void **state) {
    (void)state;
    RtImages shape = small_shape();
    const JpegForm form = {.quality = 90};
    assert_true(put_drawing(&shape, noise(32, 40, 3), form)); /* 60 blocks: as many as fit */
    char said[512] = "";
    const char *log = temp_file("stderr", "", 0);
    assert_non_null(freopen(log, "r+", stderr));
    assert_false(put_drawing(&shape, noise(32, 41, 3), form)); /* 72 blocks of 128 bytes */
    assert_false(put_drawing(&shape, noise(32, 49, 3), form)); /* this one is not named */
    rewind(stderr);
    assert_true(fread(said, 1, sizeof said - 1, stderr) > 0);
    assert_non_null(strstr(said, "32 x 41 pixels take 9216 bytes of coefficients, more than the 7680 of"));
    assert_non_null(strstr(said, "with data.jpeg_pixels = 3072 the device would"));
    assert_null(strstr(said, "32 x 49"));
    shape.channels = 1; /* fewer planes */
    assert_true(put_drawing(&shape, noise(32, 41, 3), form));
    shape.height = 1, shape.width = 1; /* the kernel has room for 64 weights: of 31 pixels and their edges */
    assert_true(put_drawing(&shape, noise(31, 64, 1), form));
    assert_false(put_drawing(&shape, noise(32, 64, 1), form));
}

/* ---- the loader ------------------------------------------------------------------------------ */

typedef struct {
    uint8_t slots[BATCH * SLOT];
    int32_t labels[BATCH];
} Batch;

static const RtInput inputs[] = {{"pictures", RT_U8, BATCH * SLOT, offsetof(Batch, slots)},
                                 {"labels", RT_I32, BATCH, offsetof(Batch, labels)}};

static const char *write_bytes(const char *name, uint8_t *bytes, size_t size) {
    const char *path = temp_file(name, bytes, size);
    free(bytes);
    return path;
}

static int kind_in(const Batch *batch, int entry) {
    memcpy(&head, batch->slots + (size_t)entry * SLOT, sizeof head);
    return head.kind;
}

/* A batch with a JPEG file, a PNG file, whose raw image is in its slot, and padding. */
static void the_loader_fills_slots(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = jpeg_as(noise(9, 9, 3), (JpegForm){.quality = 90}, &size);
    write_bytes("l/0/a.jpg", bytes, size);
    bytes = png_of(noise(4, 6, 3), &size);
    write_bytes("l/0/b.png", bytes, size);
    const RtImages shape = small_shape();
    const char *path = temp_path("l");
    const RtProgram program = {.data = {.format = RT_DATA_IMAGE_FOLDER,
                                        .images = &shape,
                                        .train = &path,
                                        .train_count = 1,
                                        .validation = &path,
                                        .validation_count = 1,
                                        .eval_batches = 8,
                                        .num_workers = 1,
                                        .prefetch_batches = 1},
                               .training = {.batch = BATCH, .seq_len = 1, .micro_steps = 1},
                               .inputs = inputs,
                               .input_count = 2};
    char message[512] = "";
    Batch *batch = calloc(1, sizeof *batch);
    int64_t targets;
    Loader *loader = loader_open(&program, 0, message, sizeof message);
    assert_non_null(loader);
    memset(batch->slots, 0x55, sizeof batch->slots);
    assert_true(loader_fill(loader, (LoaderBatch){LOADER_EVAL, 0}, batch, &targets, message, sizeof message));
    int jpeg = kind_in(batch, 0) == SLOT_COEFFICIENTS ? 0 : 1;
    assert_int_equal(kind_in(batch, jpeg), SLOT_COEFFICIENTS);
    assert_int_equal(kind_in(batch, 1 - jpeg), SLOT_SAMPLES);
    assert_int_equal(kind_in(batch, 2), SLOT_EMPTY);
    assert_memory_equal(batch->slots + (size_t)(1 - jpeg) * SLOT + SLOT_HEAD, noise(4, 6, 3).pixels, 4 * 6 * 3);
    assert_int_equal(batch->labels[2], -100);
    loader_close(loader);
    bytes = jpeg_as(noise(9, 9, 3), (JpegForm){.quality = 90}, &size);
    write_bytes("l/0/a.jpg", bytes, size - 30);
    loader = loader_open(&program, 0, message, sizeof message);
    assert_non_null(loader);
    assert_false(loader_fill(loader, (LoaderBatch){LOADER_EVAL, 0}, batch, &targets, message, sizeof message));
    assert_non_null(strstr(message, "l/0/a.jpg: broken JPEG: "));
    assert_non_null(strstr(message, "; data.skip_broken = true leaves out such images"));
    loader_close(loader);
    free(batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_tell_how_colours_are_sampled),
        cmocka_unit_test(coefficients_are_plane_by_plane),
        cmocka_unit_test(tables_are_in_natural_order),
        cmocka_unit_test(random_parts_are_those_of_the_host),
        cmocka_unit_test(other_pictures_are_left_to_the_host),
        cmocka_unit_test(cut_files_are_left_to_the_host),
        cmocka_unit_test(unusual_files_are_left_to_the_host),
        cmocka_unit_test(the_loader_fills_slots),
        cmocka_unit_test(large_pictures_are_left_to_the_host),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
