/* Folders of JPEG and PNG files: classes, decoding, fitting, which files are skipped and which are
 * refused. The files are written here, by the libraries that read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "draw_pictures.h"
#include "runtime/base/rt.h"
#include "runtime/data/data_images.h"
#include "temp_folder.h"

static char message[1024];

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes the first `keep` bytes of a file, or all if `keep` is 0. */
static void write_picture(const char *name, uint8_t *bytes, size_t size, size_t keep) {
    temp_file(name, bytes, keep ? keep : size);
    free(bytes);
}

static void write_jpeg(const char *name, Drawing drawing, size_t keep) {
    size_t size;
    uint8_t *bytes = jpeg_of(drawing, &size);
    write_picture(name, bytes, size, keep);
}

static void write_png(const char *name, Drawing drawing, size_t keep) {
    size_t size;
    uint8_t *bytes = png_of(drawing, &size);
    write_picture(name, bytes, size, keep);
}

/* Draws `height` x `width` pixels of one colour. */
static Drawing flat(int height, int width, int samples, const uint8_t *colour) {
    static uint8_t pixels[1 << 16];
    for (int i = 0; i < height * width; i++)
        memcpy(pixels + i * samples, colour, (size_t)samples);
    return (Drawing){pixels, height, width, samples};
}
#define FLAT(height, width, samples, ...) \
    flat(height, width, samples, (const uint8_t[]){__VA_ARGS__})

/* ---- a program ------------------------------------------------------------------------------- */

enum { BATCH = 2, MAX_PIXELS = 4096 };

typedef struct {
    uint8_t pixels[MAX_PIXELS];
    int32_t labels[BATCH];
    int64_t targets;
} Batch;

static const RtInput inputs[] = {{"pixels", RT_U8, MAX_PIXELS, offsetof(Batch, pixels)},
                                 {"labels", RT_I32, BATCH, offsetof(Batch, labels)}};
static RtImages images;
static RtProgram program;
static const char *train_path, *eval_path;

/* Raw images of 2 x 2 in three channels, two classes. */
static int fresh_program(void **state) {
    (void)state;
    images = (RtImages){.height = 2, .width = 2, .channels = 3, .out_size = 2, .classes = 2};
    program = (RtProgram){.data = {.format = RT_DATA_IMAGE_FOLDER,
                                   .images = &images,
                                   .eval_batches = 8,
                                   .num_workers = 2,
                                   .prefetch_batches = 2},
                          .training = {.batch = BATCH, .seq_len = 1, .micro_steps = 1},
                          .inputs = inputs,
                          .input_count = 2};
    message[0] = '\0';
    return 0;
}

static Loader *open_with(const char *train, const char *validation) {
    train_path = train ? temp_path(train) : NULL;
    eval_path = validation ? temp_path(validation) : NULL;
    program.data.train = &train_path;
    program.data.train_count = 1;
    program.data.validation = &eval_path;
    program.data.validation_count = validation != NULL;
    return loader_open(&program, 0, message, sizeof message);
}

static Loader *open_well(const char *train, const char *validation) {
    Loader *loader = open_with(train, validation);
    if (!loader)
        fail_msg("%s", message);
    return loader;
}

static bool fill(const Loader *loader, LoaderSplit split, int64_t index, Batch *b) {
    memset(b, 0x55, sizeof *b);
    return loader_fill(loader, (LoaderBatch){split, index}, b, &b->targets, message,
                       sizeof message);
}

static void assert_said(const char *expected) {
    if (!strstr(message, expected))
        fail_msg("expected \"%s\" in \"%s\"", expected, message);
}

static void assert_refused(const char *train, const char *validation, const char *expected) {
    assert_null(open_with(train, validation));
    assert_said(expected);
}

static void assert_colour(const uint8_t *pixels, int r, int g, int b, int tolerance) {
    for (int i = 0; i < 4; i++) {
        assert_in_range(pixels[3 * i] + tolerance, r, r + 2 * tolerance);
        assert_in_range(pixels[3 * i + 1] + tolerance, g, g + 2 * tolerance);
        assert_in_range(pixels[3 * i + 2] + tolerance, b, b + 2 * tolerance);
    }
}

/* ---- what is read ---------------------------------------------------------------------------- */

static void a_sub_folder_is_a_class(void **state) {
    (void)state;
    write_png("c/zebra/1.png", FLAT(2, 2, 3, 1, 2, 3), 0);
    write_png("c/zebra/deep/0.PNG", FLAT(2, 2, 3, 4, 5, 6), 0);
    write_jpeg("c/Ape/b.JPEG", FLAT(2, 2, 3, 200, 100, 50), 0);
    write_jpeg("c/Ape/a.jpg", FLAT(2, 2, 3, 20, 220, 120), 0);
    temp_file("c/Ape/notes.txt", "x", 1);
    temp_file("c/LICENSE", "x", 1);
    Loader *loader = open_well("c", "c");
    assert_int_equal(loader_facts(loader)->train_rows, 4);
    Batch b;
    assert_true(fill(loader, LOADER_TRAIN, 0, &b));
    assert_int_equal(b.labels[0], 0);
    assert_int_equal(b.labels[1], 0);
    assert_colour(b.pixels, 20, 220, 120, 3);
    assert_colour(b.pixels + 12, 200, 100, 50, 3);
    assert_true(fill(loader, LOADER_TRAIN, 1, &b));
    assert_int_equal(b.labels[0], 1);
    assert_colour(b.pixels, 1, 2, 3, 0);
    assert_colour(b.pixels + 12, 4, 5, 6, 0);
    assert_int_equal(b.pixels[24], 0x55);
    loader_close(loader);
}

static void every_kind_of_file_gives_the_channels_wanted(void **state) {
    (void)state;
    write_png("k/0/a.png", FLAT(2, 2, 1, 77), 0);
    write_png("k/0/b.png", FLAT(2, 2, 4, 10, 200, 30, 128), 0); /* transparency is ignored */
    write_png("k/0/c.jpg", FLAT(2, 2, 3, 9, 8, 7), 0);          /* a PNG, whatever its name says */
    write_jpeg("k/0/d.jpg", FLAT(2, 2, 1, 99), 0);
    write_jpeg("k/1/e.jpg", FLAT(2, 2, 4, 255, 128, 255, 204), 0); /* inverted CMYK */
    write_png("k/1/f.png", FLAT(2, 2, 2, 33, 0), 0);
    static const int expected[6][3] = {{77, 77, 77}, {10, 200, 30},   {9, 8, 7},
                                       {99, 99, 99}, {204, 102, 204}, {33, 33, 33}};
    Loader *loader = open_well("k", "k");
    Batch b;
    for (int i = 0; i < 6; i++) {
        assert_true(fill(loader, LOADER_TRAIN, i / 2, &b));
        assert_colour(b.pixels + i % 2 * 12, expected[i][0], expected[i][1], expected[i][2],
                      i == 3 || i == 4 ? 3 : 0);
    }
    loader_close(loader);
    images.channels = 1;
    loader = open_well("k", "k");
    static const int gray[6] = {77, 124, 8, 99, 144, 33};
    for (int i = 0; i < 6; i++) {
        assert_true(fill(loader, LOADER_TRAIN, i / 2, &b));
        assert_in_range(b.pixels[i % 2 * 4 + 3], gray[i] - 3, gray[i] + 3);
    }
    loader_close(loader);
}

/* Files that libpng's functions for simple cases read wrongly or convert: interlaced with 16 bits per
 * sample (2 x 4, of which rows 1 and 2 are taken), and with a gAMA of 1. */
static void pixels_are_those_of_the_file(void **state) {
    (void)state;
    static const uint8_t expected[] = {10, 60, 110, 160, 10, 60, 110, 160};
    static const uint8_t interlaced[] = {
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
        0, 2, 0, 0, 0, 4, 16, 0, 0, 0, 1, 166, 19, 93, 48, 0, 0, 0,
        31, 73, 68, 65, 84, 120, 218, 99, 56, 113, 130, 33, 47, 143, 225, 210, 37, 134,
        5, 11, 24, 184, 184, 108, 108, 24, 238, 220, 121, 246, 12, 0, 97, 190, 9, 97,
        102, 91, 187, 103, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130};
    static const uint8_t linear[] = {
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
        0, 2, 0, 0, 0, 2, 8, 0, 0, 0, 0, 87, 221, 82, 248, 0, 0, 0,
        4, 103, 65, 77, 65, 0, 1, 134, 160, 49, 232, 150, 95, 0, 0, 0, 14, 73,
        68, 65, 84, 120, 218, 99, 224, 178, 97, 200, 91, 0, 0, 2, 164, 1, 85, 130,
        176, 65, 140, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130};
    temp_file("g/0/a.png", interlaced, sizeof interlaced);
    temp_file("g/1/b.png", linear, sizeof linear);
    images.channels = 1;
    Loader *loader = open_well("g", "g");
    Batch b;
    assert_true(fill(loader, LOADER_TRAIN, 0, &b));
    assert_memory_equal(b.pixels, expected, sizeof expected);
    loader_close(loader);
}

/* 8 x 8 pixels of one colour, which has a third of the columns that brightness has. libjpeg-turbo has no
 * name for this subsampling, but decodes it. */
static void write_unnamed_subsampling(const char *name) {
    static const uint8_t start[] = {255, 216, 255, 219, 0, 67, 0};
    static const uint8_t rest[] = {
        255, 192, 0, 17, 8, 0, 8, 0, 8, 3, 1, 49, 0, 2, 17, 0, 3, 17,
        0, 255, 196, 0, 21, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 6, 255, 196, 0, 20, 16, 1, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 196, 0, 20, 1, 1, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 255, 196, 0, 20,
        17, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        255, 218, 0, 12, 3, 1, 0, 2, 17, 3, 17, 0, 63, 0, 159, 1, 94, 108,
        31, 255, 217};
    uint8_t bytes[sizeof start + 64 + sizeof rest];
    memcpy(bytes, start, sizeof start);
    memset(bytes + sizeof start, 1, 64); /* steps of the quantisation */
    memcpy(bytes + sizeof start + 64, rest, sizeof rest);
    temp_file(name, bytes, sizeof bytes);
}

static void any_subsampling_is_decoded(void **state) {
    (void)state;
    write_unnamed_subsampling("u/0/a.jpg");
    write_png("u/1/b.png", FLAT(2, 2, 3, 1, 2, 3), 0);
    Loader *loader = open_well("u", "u");
    Batch b;
    assert_true(fill(loader, LOADER_TRAIN, 0, &b));
    assert_colour(b.pixels, 200, 100, 50, 3);
    loader_close(loader);
}

/* libjpeg-turbo warns, but has all pixels. */
static void warnings_break_no_picture(void **state) {
    (void)state;
    size_t size;
    uint8_t *file = jpeg_of(FLAT(2, 2, 3, 200, 100, 50), &size), longer[2048];
    assert_true(size + 3 <= sizeof longer);
    memcpy(longer, file, size - 2);
    memset(longer + size - 2, 1, 3); /* these belong to nothing */
    memcpy(longer + size + 1, file + size - 2, 2);
    temp_file("w/0/a.jpg", longer, size + 3);
    uint8_t *scan = memmem(file, size, (const uint8_t[]){255, 218, 0, 12, 3}, 5);
    assert_non_null(scan);
    scan[12] = 7; /* the last coefficient of a scan that has all */
    temp_file("w/1/b.jpg", file, size);
    Loader *loader = open_well("w", "w");
    Batch b;
    assert_true(fill(loader, LOADER_TRAIN, 0, &b));
    for (int i = 0; i < 2; i++)
        assert_colour(b.pixels + i * 12, 200, 100, 50, 3);
    loader_close(loader);
    write_picture("w/1/b.jpg", file, size, size - 4); /* the end is missing too */
    loader = open_with("w", "w");
    assert_false(loader && fill(loader, LOADER_TRAIN, 0, &b) && fill(loader, LOADER_TRAIN, 1, &b));
    assert_said("w/1/b.jpg: broken JPEG: Invalid SOS parameters");
    loader_close(loader);
}

/* Takes columns 2 and 3 of 2 x 6, and rows 2 and 3 of 7 x 2, unchanged. */
static void images_are_cut_to_shape(void **state) {
    (void)state;
    uint8_t pixels[2 * 7 * 3];
    for (int i = 0; i < (int)sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 53);
    write_png("f/0/a.png", (Drawing){pixels, 2, 6, 3}, 0);
    write_png("f/1/b.png", (Drawing){pixels, 7, 2, 3}, 0);
    Loader *loader = open_well("f", "f");
    Batch b;
    assert_true(fill(loader, LOADER_TRAIN, 0, &b));
    assert_memory_equal(b.pixels, pixels + 2 * 3, 6);
    assert_memory_equal(b.pixels + 6, pixels + 8 * 3, 6);
    assert_memory_equal(b.pixels + 12, pixels + 2 * 2 * 3, 12);
    loader_close(loader);
}

static void cut_largest(const Picture *picture, const RtImages *shape, uint8_t *raw) {
    Box part = picture_largest(picture, shape);
    picture_cut(picture, &part, shape->height, shape->width, raw);
}

/* Pictures are cropped, and made smaller or larger: tests/oracle/fitted.csv has torch's results,
 * before rounding. */
static void pictures_are_resized_as_torch_does(void **state) {
    (void)state;
    FILE *file = fopen("tests/oracle/fitted.csv", "r");
    assert_non_null(file);
    char line[256];
    uint8_t pixels[1 << 14], raw[1 << 10];
    int count = 0;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(37 * i);
    while (fgets(line, sizeof line, file)) {
        long long height, width, channels, place;
        long long raw_height, raw_width;
        double value;
        if (sscanf(line, "%lld,%lld,%lld,%lld,%lld,%lld,%lf", &height, &width, &channels,
                   &raw_height, &raw_width, &place, &value) != 7)
            continue;
        Picture picture = {pixels, height, width, channels, 0};
        RtImages shape = {.height = raw_height, .width = raw_width, .channels = channels};
        if (place == 0)
            cut_largest(&picture, &shape, raw);
        if (fabs(raw[place] - value) > 0.5001)
            fail_msg("%d, but torch has %s", raw[place], line);
        count++;
    }
    fclose(file);
    assert_true(count > 500);
}

/* ---- parts of whole pictures ----------------------------------------------------------------- */

static const double crop_scale[] = {0.08, 1}, crop_ratio[] = {0.75, 4.0 / 3};

/* Boxes are drawn, cut out, mirrored and resized: tests/oracle/cut.csv has torchvision's results,
 * before rounding. */
static void parts_are_those_of_torchvision(void **state) {
    (void)state;
    FILE *file = fopen("tests/oracle/cut.csv", "r");
    assert_non_null(file);
    char line[256];
    uint8_t pixels[1 << 14], part[1 << 10];
    int count = 0;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(37 * i);
    while (fgets(line, sizeof line, file)) {
        long long height, width, channels, key, size, place;
        double value;
        if (sscanf(line, "%lld,%lld,%lld,%lld,%lld,%lld,%lf", &height, &width, &channels, &key, &size,
                   &place, &value) != 7)
            continue;
        Picture picture = {pixels, height, width, channels, 0};
        RtImages shape = {.height = height, .width = width, .random_resized_crop = true,
                          .crop_scale = crop_scale, .crop_ratio = crop_ratio,
                          .random_horizontal_flip = 0.5};
        Box box = box_draw(&shape, (uint64_t)key);
        if (place == 0)
            picture_cut(&picture, &box, size, size, part);
        if (fabs(part[place] - value) > 0.5001)
            fail_msg("%d, but torchvision has %s", part[place], line);
        count++;
    }
    fclose(file);
    assert_true(count > 1000);
}

/* Draws waves of many lengths, one per colour, that the presented image can show. */
static Drawing waves(int height, int width) {
    static uint8_t pixels[1 << 18];
    for (int i = 0; i < 3 * height * width; i++) {
        int y = i / 3 / width, x = i / 3 % width, colour = i % 3;
        double wave = sin(0.03 * (colour + 1) * x) + cos(0.02 * (3 - colour) * y) + sin(0.1 * (x + y));
        pixels[i] = (uint8_t)(128 + 40 * wave);
    }
    return (Drawing){pixels, height, width, 3};
}

/* Returns the largest difference between presenting the file decoded at full size and scaled; -1:
 * none. */
static int scaled_difference(const char *name, const RtImages *shape, const uint64_t *key) {
    ImageFile file = {(char *)temp_path(name), 0};
    ImageFolder one = {.files = &file, .count = 1};
    DataError error = {message, sizeof message};
    RtImages scaled = *shape;
    static uint8_t whole[1 << 16], seen[1 << 16];
    int most = -1;
    scaled.decode_scaled = true;
    assert_true(folder_read(&one, 0, shape, key, whole, &error));
    assert_true(folder_read(&one, 0, &scaled, key, seen, &error));
    for (size_t i = 0; i < raw_bytes(shape); i++) {
        int difference = abs(whole[i] - seen[i]);
        most = difference > most && difference ? difference : most;
    }
    return most;
}

/* A JPEG file is decoded at 1/2 to 1/8 of its size if the presented part needs no more: 25 x 35 of
 * 200 x 281 is an eighth. Otherwise the bytes are those of a full decode. */
static void files_are_decoded_scaled(void **state) {
    (void)state;
    enum { MOST = 12 };
    static const struct {
        int64_t height, width;
        bool scaled;
    } sizes[] = {{100, 140, true}, {101, 140, false}, {50, 70, true}, {25, 35, true}, {11, 30, true}};
    write_jpeg("s/waves.jpg", waves(200, 281), 0);
    write_png("s/waves.png", waves(60, 80), 0);
    RtImages shape = {.random_resized_crop = true, .crop_scale = crop_scale, .crop_ratio = crop_ratio,
                      .random_horizontal_flip = 0.5};
    for (int i = 0; i < 10; i++) {
        shape.height = sizes[i / 2].height, shape.width = sizes[i / 2].width;
        shape.channels = i % 2 ? 3 : 1;
        int most = scaled_difference("s/waves.jpg", &shape, NULL);
        assert_in_range(most + 1, sizes[i / 2].scaled ? 1 : 0, sizes[i / 2].scaled ? MOST + 1 : 0);
    }
    shape.height = shape.width = 24;
    for (uint64_t key = 0; key < 50; key++) /* a box of any size and place */
        assert_in_range(scaled_difference("s/waves.jpg", &shape, &key), 1, MOST);
    assert_int_equal(scaled_difference("s/waves.png", &shape, NULL), -1);
}

/* Training uses crops of pictures of 8 x 40 and 40 x 8, of which the raw images keep a fifth;
 * held-out images are as before. A crop is the same in any batch, but changes with the epoch. */
static void training_sees_parts_of_whole_pictures(void **state) {
    (void)state;
    static const double none[] = {0}, one[] = {1};
    static const RtInput floats[] = {{"pixels", RT_F32, MAX_PIXELS / 4, offsetof(Batch, pixels)},
                                     {"labels", RT_I32, BATCH, offsetof(Batch, labels)}};
    enum { LONG = 40, SHORT = 8 };
    uint8_t left[LONG * SHORT], upper[LONG * SHORT]; /* in the middle they are black */
    for (int i = 0; i < LONG * SHORT; i++) {
        left[i] = i % LONG < 16 || i % LONG >= 24 ? 255 : 0;
        upper[i] = i / SHORT < 16 || i / SHORT >= 24 ? 255 : 0;
    }
    write_png("p/0/a.png", (Drawing){left, SHORT, LONG, 1}, 0);
    write_png("p/1/b.png", (Drawing){upper, LONG, SHORT, 1}, 0);
    images = (RtImages){.height = SHORT, .width = SHORT, .channels = 1, .out_size = 4, .classes = 2,
                        .out_channels = 1, .mean = none, .std = one, .decode_on_host = true,
                        .random_resized_crop = true, .crop_pictures = true,
                        .crop_scale = crop_scale, .crop_ratio = crop_ratio};
    program.inputs = floats;
    Loader *loader = open_well("p", "p");
    Batch b, again;
    int bright[2] = {0}, same = 0;
    for (int i = 0; i < 40; i++) {
        assert_true(fill(loader, LOADER_TRAIN, i, &b));
        assert_true(fill(loader, LOADER_TRAIN, i, &again));
        assert_memory_equal(&b, &again, sizeof b);
        assert_true(fill(loader, LOADER_TRAIN, i + 1, &again));
        same += memcmp(b.pixels, again.pixels, 128) == 0;
        for (int k = 0; k < 32; k++)
            bright[k / 16] += ((const float *)b.pixels)[k] > 0.5f;
    }
    assert_true(bright[0] > 40 * 8 && bright[1] > 40 * 8 && same < 20);
    assert_true(fill(loader, LOADER_EVAL, 0, &b));
    for (int k = 0; k < 32; k++)
        assert_true(((const float *)b.pixels)[k] == 0);
    loader_close(loader);
    temp_file("p/0/a.png", "none", 4);
    loader = open_well("p", "p");
    assert_false(fill(loader, LOADER_TRAIN, 0, &b));
    assert_said("p/0/a.png: is neither a JPEG nor a PNG file");
    assert_said("; data.skip_broken = true leaves out such images");
    loader_close(loader);
}

static void the_host_resizes_what_the_device_would(void **state) {
    (void)state;
    static const double mean[] = {0.5, 0.5, 0.5}, deviation[] = {0.25, 0.25, 0.25};
    static const RtInput floats[] = {{"pixels", RT_F32, MAX_PIXELS / 4, offsetof(Batch, pixels)},
                                     {"labels", RT_I32, BATCH, offsetof(Batch, labels)}};
    images.out_size = 3, images.out_channels = 3, images.mean = mean, images.std = deviation;
    Loader *loader = open_well("f", "f");
    Batch raw, seen;
    assert_true(fill(loader, LOADER_TRAIN, 0, &raw));
    loader_close(loader);
    images.decode_on_host = true;
    program.inputs = floats;
    loader = open_well("f", "f");
    assert_true(fill(loader, LOADER_TRAIN, 0, &seen));
    float expected[2][27];
    for (int i = 0; i < 2; i++)
        image_present(&images, raw.pixels + 12 * i, NULL, RT_F32, expected[i]);
    assert_memory_equal(seen.pixels, expected, sizeof expected);
    loader_close(loader);
}

/* The images that the device keeps are those that would have been sent, wherever the files are, and
 * there is room for skipped files too. A broken file is reported by any thread that reads it. */
static void all_samples_are_decoded_first(void **state) {
    (void)state;
    uint8_t kept[4][12];
    Batch b;
    write_png("kept/0/1.png", FLAT(2, 2, 3, 10, 20, 30), 0);
    write_png("kept/0/2.png", FLAT(2, 2, 3, 40, 50, 60), 0);
    temp_file("kept/0/3.png", "none", 4);
    write_png("held/0/1.png", FLAT(2, 2, 3, 1, 2, 3), 0);
    write_png("held/1/2.png", FLAT(2, 2, 3, 4, 5, 6), 0);
    write_jpeg("kept/1/4.jpg", FLAT(2, 2, 3, 70, 80, 90), 0);
    program.data.dataset = &(const RtDataset){.samples = 6, .sample_bytes = 12};
    images.skip_broken = true;
    Loader *loader = open_well("kept", "held");
    assert_int_equal(loader_facts(loader)->skipped, 1);
    assert_int_equal(loader_facts(loader)->train_samples + loader_facts(loader)->eval_samples, 5);
    assert_true(loader_samples(loader, 1, 4, kept[0], message, sizeof message));
    assert_colour(kept[0], 40, 50, 60, 0);
    assert_colour(kept[1], 70, 80, 90, 4);
    assert_true(fill(loader, LOADER_EVAL, 0, &b));
    for (int i = 0; i < 2; i++) /* one of each class, in any order */
        assert_memory_equal(kept[2 + b.labels[i]], b.pixels + 12 * i, 12);
    loader_close(loader);
    images.skip_broken = false;
    loader = open_well("kept", "held");
    assert_false(loader_samples(loader, 0, 4, kept[0], message, sizeof message));
    assert_said("kept/0/3.png: is neither a JPEG nor a PNG file");
    loader_close(loader);
    program.data.dataset = &(const RtDataset){.samples = 5, .sample_bytes = 12};
    assert_refused("kept", "held", "there are 6 images in the files of this run, but there were 5 when");
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void bad_folders_are_refused(void **state) {
    (void)state;
    assert_refused("nowhere", NULL, "nowhere: cannot read the folder: No such file");
    mkdir(temp_path("empty"), 0777);
    assert_refused("empty", NULL, "empty: has no sub-folders; put the images of each class in");
    write_png("e/0/a.png", FLAT(2, 2, 3, 1, 2, 3), 0);
    assert_refused("e", NULL, "e: has 1 class folders, but model.num_classes is 2");
    temp_file("e/1/a.txt", "x", 1);
    assert_refused("e", NULL, "e/1: this class has no image (*.jpg, *.jpeg, *.png)");
    write_png("e/1/a.png", FLAT(2, 2, 3, 1, 2, 3), 0);
    write_png("v/0/a.png", FLAT(2, 2, 3, 1, 2, 3), 0);
    write_png("v/2/a.png", FLAT(2, 2, 3, 1, 2, 3), 0);
    assert_refused("e", "v", "v: its 2 class folders have different names than the 2 next to");
    loader_close(open_well("e", "e"));
}

typedef struct {
    const char *name, *expected;
} Bad;
static const Bad bad[] = {
    {"b/0/1.jpg", "b/0/1.jpg: broken JPEG: Premature end of JPEG file"},
    {"b/0/2.png", "b/0/2.png: broken PNG: "},
    {"b/0/3.jpg", "b/0/3.jpg: is neither a JPEG nor a PNG file"},
    {"b/0/4.png", "b/0/4.png: is empty"},
    {"b/0/5.jpg", "b/0/5.jpg: broken JPEG: it ends within its header"},
    {"b/0/6.jpg", "b/0/6.jpg: cannot be opened: No such file or directory"},
    {"b/0/7.png", "b/0/7.png: is no regular file"},
    {"b/0/8.png", "b/0/8.png: is no regular file"},
    {"b/0/9.jpg", "b/0/9.jpg: is no regular file"},
};
enum { BAD = sizeof bad / sizeof *bad };

static void write_bad_files(void) {
    uint8_t noise[3 * 16 * 16];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)(i * i * 31);
    write_jpeg("b/0/0.jpg", FLAT(2, 2, 3, 1, 2, 3), 0);
    write_jpeg(bad[0].name, (Drawing){noise, 16, 16, 3}, 900);
    write_png(bad[1].name, (Drawing){noise, 16, 16, 3}, 300);
    temp_file(bad[2].name, "GIF89a", 6);
    temp_file(bad[3].name, "", 0);
    write_jpeg(bad[4].name, (Drawing){noise, 16, 16, 3}, 20);
    unlink(temp_path(bad[5].name));
    assert_int_equal(symlink("gone", temp_path(bad[5].name)), 0);
    unlink(temp_path(bad[6].name));
    assert_int_equal(mkfifo(temp_path(bad[6].name), 0600), 0);
    mkdir(temp_path(bad[7].name), 0777);
    unlink(temp_path(bad[8].name));
    assert_int_equal(symlink("../1", temp_path(bad[8].name)), 0);
    write_png("b/1/7.png", FLAT(2, 2, 3, 7, 7, 7), 0);
}

static void bad_images_are_named(void **state) {
    (void)state;
    write_bad_files();
    for (int i = 0; i < BAD; i++) {
        uint8_t raw[12];
        ImageFile file = {(char *)temp_path(bad[i].name), 0};
        ImageFolder one = {.files = &file, .count = 1};
        DataError error = {message, sizeof message};
        assert_false(folder_read(&one, 0, &images, NULL, raw, &error));
        assert_said(bad[i].expected);
    }
    Loader *loader = open_well("b", "b"); /* found when they are read, by any thread */
    static Batch memory[4];
    void *buffers[] = {&memory[0], &memory[1], &memory[2], &memory[3]};
    int64_t targets;
    loader_start(loader, buffers);
    assert_null(
        loader_take(loader, (LoaderBatch){LOADER_TRAIN, 0}, &targets, message, sizeof message));
    assert_said(bad[0].expected);
    loader_close(loader);
}

static void bad_images_are_left_out_where_told_to(void **state) {
    (void)state;
    write_bad_files();
    images.skip_broken = true;
    fflush(stderr);
    int kept = dup(2);
    assert_non_null(freopen("/dev/null", "w", stderr));
    Loader *loader = open_with("b", "b");
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    assert_non_null(loader);
    assert_int_equal(loader_facts(loader)->train_rows, 2);
    assert_int_equal(loader_facts(loader)->skipped, 2 * BAD);
    Batch b;
    assert_true(fill(loader, LOADER_TRAIN, 0, &b));
    assert_int_equal(b.labels[0], 0);
    assert_int_equal(b.labels[1], 1);
    assert_colour(b.pixels + 12, 7, 7, 7, 0);
    loader_close(loader);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, fresh_program)
    const struct CMUnitTest tests[] = {
        TEST(a_sub_folder_is_a_class),
        TEST(every_kind_of_file_gives_the_channels_wanted),
        TEST(pixels_are_those_of_the_file),
        TEST(any_subsampling_is_decoded),
        TEST(warnings_break_no_picture),
        TEST(images_are_cut_to_shape),
        TEST(all_samples_are_decoded_first),
        TEST(pictures_are_resized_as_torch_does),
        TEST(parts_are_those_of_torchvision),
        TEST(files_are_decoded_scaled),
        TEST(training_sees_parts_of_whole_pictures),
        TEST(the_host_resizes_what_the_device_would),
        TEST(bad_folders_are_refused),
        TEST(bad_images_are_named),
        TEST(bad_images_are_left_out_where_told_to),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
