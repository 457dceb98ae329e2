/* Images as data: IDX files, random images, resizing as in PyTorch, and every error message for bad
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "runtime/base/rt.h"
#include "runtime/data/data_images.h"
#include "temp_folder.h"

static char message[1024];

/* ---- a program with images ------------------------------------------------------------------- */

enum { BATCH = 4, MAX_PIXELS = 4096 };

/* A slot with all inputs of an image model. */
typedef struct {
    union {
        uint8_t bytes[MAX_PIXELS];
        float floats[MAX_PIXELS];
        double doubles[MAX_PIXELS];
        uint16_t halves[MAX_PIXELS];
    } pixels;
    int32_t labels[BATCH];
    double loss_weight;
    int32_t first_row;
    int64_t targets; /* what the loader says */
} Batch;

static RtInput inputs[] = {
    {"pixels", RT_U8, MAX_PIXELS, offsetof(Batch, pixels)},
    {"labels", RT_I32, BATCH, offsetof(Batch, labels)},
    {"loss_weight", RT_F64, 1, offsetof(Batch, loss_weight)},
    {"first_row", RT_I32, 1, offsetof(Batch, first_row)},
};

static const double no_mean[] = {0, 0, 0}, no_std[] = {1, 1, 1};
static RtImages images;   /* of the current test */
static RtProgram program; /* the same */
static const char *train_path, *eval_path;

/* 2 x 3 bytes, 10 classes, as they are in the files. */
static int fresh_program(void **state) {
    (void)state;
    images = (RtImages){.height = 2,
                        .width = 3,
                        .channels = 1,
                        .out_size = 3,
                        .out_channels = 1,
                        .classes = 10,
                        .mean = no_mean,
                        .std = no_std};
    program = (RtProgram){.data = {.format = RT_DATA_IDX,
                                   .images = &images,
                                   .eval_batches = 8,
                                   .eval_fraction = 0.25},
                          .training = {.batch = BATCH, .seq_len = 1, .micro_steps = 2},
                          .inputs = inputs,
                          .input_count = sizeof inputs / sizeof *inputs};
    inputs[0].dtype = RT_U8;
    message[0] = '\0';
    return 0;
}

static Loader *open_with(const char *train, const char *validation, int64_t seed) {
    train_path = train;
    eval_path = validation;
    program.data.train = &train_path;
    program.data.train_count = train != NULL;
    program.data.validation = &eval_path;
    program.data.validation_count = validation != NULL;
    return loader_open(&program, seed, message, sizeof message);
}

static Loader *open_well(const char *train, const char *validation, int64_t seed) {
    Loader *loader = open_with(train, validation, seed);
    if (!loader)
        fail_msg("%s", message);
    return loader;
}

static void assert_refused(const char *train, const char *expected) {
    assert_null(open_with(train, NULL, 0));
    if (!strstr(message, expected))
        fail_msg("expected \"%s\" in \"%s\"", expected, message);
}

static void fill(const Loader *loader, LoaderSplit split, int64_t index, Batch *b) {
    memset(b, 0x55, sizeof *b);
    if (!loader_fill(loader, (LoaderBatch){split, index}, b, &b->targets, message, sizeof message))
        fail_msg("%s", message);
}

/* ---- IDX files ------------------------------------------------------------------------------- */

static const char *file_with(const char *name, const uint8_t *bytes, size_t size) {
    const char *path = temp_path(name);
    bool compressed = strstr(name, ".gz") != NULL;
    gzFile file = gzopen(path, compressed ? "wb" : "wbT");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

static void put(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* `count` images of 2 x 3: image i of bytes 10 * (first + i) + 0..5, class (first + i) % 10. */
static const char *idx_images(const char *name, uint32_t count, int first) {
    uint8_t bytes[16 + 6 * 64];
    put(bytes, 2051), put(bytes + 4, count), put(bytes + 8, 2), put(bytes + 12, 3);
    for (uint32_t i = 0; i < count * 6; i++)
        bytes[16 + i] = (uint8_t)(10 * (first + (int)(i / 6)) + (int)(i % 6));
    return file_with(name, bytes, 16 + 6 * count);
}

static const char *idx_labels(const char *name, uint32_t count, int first) {
    uint8_t bytes[8 + 64];
    put(bytes, 2049), put(bytes + 4, count);
    for (uint32_t i = 0; i < count; i++)
        bytes[8 + i] = (uint8_t)((first + (int)i) % 10);
    return file_with(name, bytes, 8 + count);
}

static void idx_files_are_bytes_and_labels(void **state) {
    (void)state;
    const char *train = idx_images("a-images-idx3-ubyte", 8, 0);
    idx_labels("a-labels-idx1-ubyte.gz", 8, 0); /* found although it is compressed */
    const char *eval = idx_images("b.images.idx3.gz", 5, 20);
    idx_labels("b.labels.idx1.gz", 5, 20);
    Loader *loader = open_well(train, eval, 0);
    assert_int_equal(loader_facts(loader)->train_rows, 8);
    assert_int_equal(loader_facts(loader)->eval_rows, 5);
    assert_int_equal(loader_eval_batches(loader), 2);
    Batch b;
    fill(loader, LOADER_TRAIN, 1, &b);
    for (int i = 0; i < BATCH; i++) {
        assert_int_equal(b.labels[i], 4 + i);
        for (int k = 0; k < 6; k++)
            assert_int_equal(b.pixels.bytes[6 * i + k], 10 * (4 + i) + k);
    }
    assert_int_equal(b.pixels.bytes[6 * BATCH], 0x55);
    assert_int_equal(b.first_row, BATCH);
    assert_true(b.loss_weight == 1.0 / (2 * BATCH));
    fill(loader, LOADER_EVAL, 1, &b);
    assert_int_equal(b.labels[0], 4);
    assert_int_equal(b.pixels.bytes[5], 245);
    assert_int_equal(b.labels[1], -100);
    assert_int_equal(b.pixels.bytes[6], 0);
    assert_int_equal(b.targets, 1);
    loader_close(loader);
}

/* Held out from the training files: every image is in one split, independent of the seed. */
static void held_out_images_are_drawn(void **state) {
    (void)state;
    const char *train = idx_images("h-images-idx3", 24, 0);
    idx_labels("h-labels-idx1", 24, 0);
    program.data.shuffle = true;
    int32_t held_out[2][8];
    for (int seed = 0; seed < 2; seed++) {
        Loader *loader = open_well(train, NULL, seed);
        assert_int_equal(loader_facts(loader)->train_rows, 18);
        assert_int_equal(loader_facts(loader)->eval_rows, 6);
        int seen = 0;
        Batch b;
        for (int i = 0; i < 2; i++) {
            fill(loader, LOADER_EVAL, i, &b);
            for (int k = 0; k < BATCH; k++) {
                held_out[seed][BATCH * i + k] = b.pixels.bytes[6 * k] / 10;
                seen |= b.labels[k] < 0 ? 0 : 1 << b.pixels.bytes[6 * k] / 10;
            }
        }
        assert_int_equal(__builtin_popcount((unsigned)seen), 6);
        for (int i = 0; i < 9; i++) { /* two epochs */
            fill(loader, LOADER_TRAIN, i, &b);
            for (int k = 0; k < BATCH; k++)
                assert_int_equal(seen >> b.pixels.bytes[6 * k] / 10 & 1 && i < 4, 0);
            for (int k = 0; i < 4 && k < BATCH; k++)
                seen |= 1 << b.pixels.bytes[6 * k] / 10;
        }
        loader_close(loader);
    }
    assert_memory_equal(held_out[0], held_out[1], sizeof held_out[0]);
}

static void drawn_images_follow_the_seed(void **state) {
    (void)state;
    program.data.format = RT_DATA_SYNTHETIC;
    images.height = 5, images.width = 7, images.channels = 3;
    Loader *one = open_well(NULL, NULL, 1), *two = open_well(NULL, NULL, 2);
    assert_int_equal(loader_facts(one)->train_rows, 0);
    assert_int_equal(loader_eval_batches(one), 8);
    Batch a, b;
    fill(one, LOADER_TRAIN, 1000000, &a);
    fill(one, LOADER_TRAIN, 1000000, &b);
    assert_memory_equal(&a, &b, sizeof a);
    fill(two, LOADER_TRAIN, 1000000, &b);
    assert_memory_not_equal(a.pixels.bytes, b.pixels.bytes, 105);
    fill(one, LOADER_EVAL, 0, &b);
    assert_memory_not_equal(a.pixels.bytes, b.pixels.bytes, 105);
    int classes = 0;
    for (int i = 0; i < 50; i++) {
        fill(one, LOADER_TRAIN, i, &b);
        for (int k = 0; k < BATCH; k++)
            classes |= 1 << b.labels[k];
    }
    assert_int_equal(classes, (1 << 10) - 1);
    assert_int_equal(b.pixels.bytes[4 * 105], 0x55);
    loader_close(one);
    loader_close(two);
}

/* ---- what the model sees --------------------------------------------------------------------- */

/* torch.nn.functional.interpolate((x / 255 - mean) / std, size, mode="bilinear") in float64. */
static const double mean[] = {0.5, 0.25, 0.125}, deviation[] = {0.5, 2, 0.25};
static const double larger[] = {-0.9245098039215686,  -0.03357843137254901, 0.8117647058823529,
                                -0.3803921568627451,  0.10245098039215689,  1.5862745098039215,
                                0.17843137254901964,  0.07745098039215688,  1.3862745098039213,
                                0.5656862745098039,   -0.10024509803921568, 0.2784313725490196,
                                -0.16960784313725494, 0.15514705882352942,  2.3215686274509806,
                                -0.096078431372549,   0.1735294117647059,   0.9,
                                -0.196078431372549,   0.14852941176470588,  0.7,
                                -0.4362745098039215,  0.08848039215686275,  1.788235294117647,
                                0.5852941176470587,   0.030147058823529412, 1.3215686274509806,
                                -0.12549019607843137, 0.04852941176470588,  1.4686274509803923,
                                -0.22549019607843132, 0.1411764705882353,   1.268627450980392,
                                0.3186274509803922,   0.27720588235294114,  0.788235294117647,
                                -0.4166666666666667,  0.030637254901960776, 1.3254901960784315,
                                -0.0294117647058824,  0.16666666666666666,  2.4137254901960783,
                                -0.12941176470588242, 0.16519607843137254,  2.2137254901960786,
                                -0.6833333333333335,  0.026715686274509806, 0.792156862745098};
static const double smaller[] = {-0.32941176470588235, 0.11519607843137256,  1.2490196078431373,
                                 -0.1529411764705882,  0.06519607843137254,  0.8490196078431372,
                                 0.3019607843137255,   -0.00931372549019608, 1.0058823529411764,
                                 0.10196078431372549,  0.22303921568627452,  0.6058823529411765};
static const double gray[] = {-1.0,
                              -0.125,
                              -0.5,
                              -0.8549019607843136,
                              -0.08872549019607842,
                              -0.20980392156862743,
                              -0.7098039215686274,
                              -0.05245098039215686,
                              0.08039215686274515,
                              -0.7098039215686274,
                              -0.05245098039215686,
                              0.0803921568627451,
                              -0.5647058823529411,
                              -0.01617647058823529,
                              0.3705882352941176,
                              -0.4196078431372548,
                              0.020098039215686272,
                              0.6607843137254901,
                              -0.41960784313725485,
                              0.020098039215686286,
                              0.6607843137254903,
                              -0.2745098039215686,
                              0.056372549019607844,
                              0.9509803921568627,
                              -0.12941176470588234,
                              0.09264705882352942,
                              1.241176470588235};

static void assert_presented(int64_t height, int64_t width, int64_t channels, int64_t size,
                             const double *expected, int count) {
    uint8_t raw[64];
    for (int i = 0; i < (int)sizeof raw; i++)
        raw[i] = (uint8_t)(i * 37);
    const RtImages shape = {.height = height,
                            .width = width,
                            .channels = channels,
                            .out_size = size,
                            .out_channels = 3,
                            .mean = mean,
                            .std = deviation};
    static const double tolerance[] = {
        [RT_F64] = 1e-14, [RT_F32] = 1e-7, [RT_F16] = 1e-3, [RT_BF16] = 8e-3};
    for (RtDtype dtype = RT_F64; dtype <= RT_BF16; dtype++) {
        double out[64];
        image_present(&shape, raw, NULL, dtype, out);
        assert_int_equal(count, size * size * 3);
        for (int i = 0; i < count; i++)
            assert_true(fabs(rt_get(dtype, out, i) - expected[i]) <=
                        tolerance[dtype] * fmax(1, fabs(expected[i])));
    }
}

static void images_are_resized_as_torch_does(void **state) {
    (void)state;
    assert_presented(5, 3, 3, 4, larger, sizeof larger / sizeof *larger);
    assert_presented(5, 3, 3, 2, smaller, sizeof smaller / sizeof *smaller);
    assert_presented(2, 2, 1, 3, gray, sizeof gray / sizeof *gray);
}

static void the_host_decodes_where_it_is_told_to(void **state) {
    (void)state;
    const char *train = idx_images("d-images-idx3", 4, 0);
    idx_labels("d-labels-idx1", 4, 0);
    images.decode_on_host = true;
    images.out_channels = 3;
    images.mean = mean;
    images.std = deviation;
    inputs[0].dtype = RT_F32;
    program.data.eval_fraction = 0.3;
    Loader *loader = open_well(train, train, 0);
    Batch b;
    fill(loader, LOADER_TRAIN, 0, &b);
    float expected[27];
    const uint8_t raw[] = {20, 21, 22, 23, 24, 25};
    image_present(&images, raw, NULL, RT_F32, expected);
    assert_memory_equal(b.pixels.floats + 2 * 27, expected, sizeof expected);
    assert_int_equal(b.pixels.bytes[sizeof expected * BATCH], 0x55);
    loader_close(loader);
}

/* A batch then contains indices instead of images. */
static void the_device_may_keep_the_images(void **state) {
    (void)state;
    const char *train = idx_images("k-images-idx3", 8, 0),
               *eval = idx_images("l-images-idx3", 2, 9);
    idx_labels("k-labels-idx1", 8, 0);
    idx_labels("l-labels-idx1", 2, 9);
    uint8_t kept[10][6];
    program.data.dataset = &(const RtDataset){.samples = 10, .sample_bytes = 6};
    inputs[0] = (RtInput){"indices", RT_I32, BATCH, 0};
    program.data.shuffle = true;
    Loader *loader = open_well(train, eval, 0);
    assert_true(loader_samples(loader, 0, 7, kept[0], message, sizeof message));
    assert_true(loader_samples(loader, 7, 3, kept[7], message, sizeof message));
    assert_int_equal(kept[3][0], 30);
    assert_int_equal(kept[9][0], 100);
    Batch b;
    int seen = 0;
    for (int i = 0; i < 2; i++) {
        fill(loader, LOADER_TRAIN, i, &b);
        for (int k = 0; k < BATCH; k++) {
            int32_t index = ((int32_t *)b.pixels.bytes)[k];
            assert_int_equal(index % 10, b.labels[k]);
            seen |= 1 << index;
        }
    }
    assert_int_equal(seen, 255);
    fill(loader, LOADER_EVAL, 0, &b);
    const int32_t expected[] = {8, 9, 0, 0};
    assert_memory_equal(b.pixels.bytes, expected, sizeof expected);
    loader_close(loader);
    for (int samples = 9; samples <= 11; samples += 2) {
        program.data.dataset = &(const RtDataset){.samples = samples, .sample_bytes = 6};
        assert_null(open_with(train, eval, 0));
        assert_non_null(strstr(message, "there are 10 images in the files of this run, but"));
        assert_non_null(strstr(message, "generate it again"));
    }
    program.data.dataset = NULL;
    inputs[0] = (RtInput){"pixels", RT_U8, MAX_PIXELS, offsetof(Batch, pixels)};
}

static void a_ring_of_images_changes_nothing(void **state) {
    (void)state;
    const char *train = idx_images("r-images-idx3", 24, 0);
    idx_labels("r-labels-idx1", 24, 0);
    program.data.shuffle = true;
    program.data.num_workers = 3;
    program.data.prefetch_batches = 2;
    Loader *loader = open_well(train, NULL, 5);
    static Batch memory[4];
    void *buffers[] = {&memory[0], &memory[1], &memory[2], &memory[3]};
    assert_int_equal(loader_ring_size(loader), 4);
    memset(memory, 0x55, sizeof memory);
    loader_start(loader, buffers);
    for (int64_t i = 0; i < 40; i++) {
        LoaderBatch which = {i % 10 == 9 ? LOADER_EVAL : LOADER_TRAIN, i % 10 == 9 ? 0 : i};
        Batch expected;
        int64_t targets;
        fill(loader, which.split, which.index, &expected);
        const Batch *taken = loader_take(loader, which, &targets, message, sizeof message);
        assert_memory_equal(taken->pixels.bytes, expected.pixels.bytes, 6 * BATCH);
        assert_memory_equal(taken->labels, expected.labels, sizeof expected.labels);
    }
    loader_close(loader);
}

/* ---- bad files ------------------------------------------------------------------------------- */

static void bad_idx_files_are_refused(void **state) {
    (void)state;
    const char *good = idx_images("x-images-idx3", 4, 0);
    assert_refused("/nonexistent/images-idx3", "/nonexistent/images-idx3: no such file");
    assert_refused(good, "label file");
    assert_refused(good, "x-labels-idx1 is not there, compressed or not");
    assert_refused(idx_images("y", 4, 0), "its name has no \"images\" and \"idx3\"");
    idx_labels("x-labels-idx1", 5, 0);
    assert_refused(good, "x-labels-idx1: 5 labels, but");
    assert_refused(good, "x-images-idx3 has 4 images");
    idx_labels("x-labels-idx1", 4, 7);
    images.classes = 9;
    assert_refused(good, "x-labels-idx1: label 2 (byte 10) is 9, but model.num_classes is 9");
    images.classes = 10;
    images.height = 3;
    assert_refused(good, "x-images-idx3: its images are 2 x 3, but the program was made for 3 x 3");
    images.height = 2;
    file_with("x-labels-idx1", (const uint8_t *)"", 0);
    assert_refused(good, "x-labels-idx1: is empty");
    file_with("x-labels-idx1", (const uint8_t *)"\0\0\x08\x03\0\0\0\0", 8);
    assert_refused(good, "x-labels-idx1: holds no IDX labels: it begins with 2051, not with 2049");
    file_with("x-labels-idx1", (const uint8_t *)"\0\0\x08\x01\0\0\0\x04\1\2\3", 11);
    assert_refused(good, "promises 4 labels (4 bytes after it), but 3 bytes follow: the file is "
                         "truncated");
}

static void bad_image_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *expected;
    } cases[] = {
        {"", 0, "is empty; it should hold images"},
        {"\0\0\x08\x03\0\0", 6, "has 6 bytes, fewer than its header of 16"},
        {"\0\0\x08\x01\0\0\0\1\0\0\0\2\0\0\0\3abcdef", 22, "begins with 2049, not with 2051"},
        {"\0\0\x08\x03\0\0\0\0\0\0\0\2\0\0\0\3", 16, "holds no image"},
        {"\0\0\x08\x03\0\0\0\1\0\0\0\2\0\0\0\3abcde", 21,
         "its header promises 1 images of 2 x 3 (6 bytes after it), but 5 bytes follow: the file is "
         "truncated"},
        {"\0\0\x08\x03\0\0\0\1\0\0\0\2\0\0\0\3abcdefg", 23, "but 7 bytes follow: it has trailing"},
        {"\0\0\x08\x03\xff\xff\xff\xff\0\0\0\2\0\0\0\3abcdef", 22,
         "promises 4294967295 images of 2 x 3 (25769803770 bytes after it), but 6 bytes follow"},
        {"\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff""abcdef", 22,
         "promises 4294967295 images of 4294967295 x 4294967295 (18446744073709551615 bytes"},
    };
    idx_labels("z-labels-idx1", 1, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(file_with("z-images-idx3", (const uint8_t *)cases[i].bytes, cases[i].size),
                       cases[i].expected);
    const char *path = idx_images("z-images-idx3.gz", 60, 0);
    assert_int_equal(truncate(path, 60), 0);
    assert_refused(path, "z-images-idx3.gz: cannot be decompressed: ");
}

/* ---- real ones ------------------------------------------------------------------------------- */

/* Debian's package dataset-fashion-mnist: 28 x 28, 10 classes of equal size, 10,000 test images. */
static void fashion_mnist_is_read(void **state) {
    (void)state;
    const char *train = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz";
    const char *test = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
    if (access(train, R_OK) != 0)
        skip();
    images.height = images.width = images.out_size = 28;
    Loader *loader = open_well(train, test, 0);
    assert_int_equal(loader_facts(loader)->train_rows, 60000);
    assert_int_equal(loader_facts(loader)->eval_rows, 10000);
    Batch b;
    int classes[10] = {0};
    double sum = 0;
    for (int64_t i = 0; i < 60000 / BATCH; i++) {
        fill(loader, LOADER_TRAIN, i, &b);
        for (int k = 0; k < BATCH; k++)
            classes[b.labels[k]]++;
        for (int k = 0; k < BATCH * 784; k++)
            sum += b.pixels.bytes[k];
    }
    for (int c = 0; c < 10; c++)
        assert_int_equal(classes[c], 6000);
    assert_true(fabs(sum / 60000 / 784 / 255 - 0.2860) < 1e-4); /* the usual normalisation */
    loader_close(loader);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, fresh_program)
    const struct CMUnitTest tests[] = {
        TEST(idx_files_are_bytes_and_labels),       TEST(held_out_images_are_drawn),
        TEST(drawn_images_follow_the_seed),         TEST(images_are_resized_as_torch_does),
        TEST(the_host_decodes_where_it_is_told_to), TEST(the_device_may_keep_the_images),
        TEST(a_ring_of_images_changes_nothing),     TEST(bad_idx_files_are_refused),
        TEST(bad_image_files_are_refused),          TEST(fashion_mnist_is_read),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
