/* Tests the kernels that make images from slots, bit for bit against the host: libjpeg-turbo's pixels,
 * resized by the runtime. */
#include "test_template_common.h"

#include <stdlib.h>
#include <string.h>

#include "draw_pictures.h"
#include "runtime/data/data_images.h"

/* The raw images of a kernel. */
typedef struct {
    int height, width, channels;
} Shape;

enum { SLOT = SLOT_HEAD + 2 * 64 * 300, SAMPLES = 64 * 300, THREADS = 64, FIT_THREADS = 256 };
enum { MOST_SIDE = 90 };

static const Shape shapes[] = {{16, 17, 3}, {9, 40, 1}, {33, 31, 3}, {2, 3, 3}, {8, 32, 1}};
static CUmodule module;
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void write_kernels(FILE *out, int index) {
    Holes holes = {.count = 0};
    hole_set(&holes, "slot", "%d", SLOT);
    hole_set(&holes, "samples", "%d", SAMPLES);
    hole_set(&holes, "height", "%d", shapes[index].height);
    hole_set(&holes, "width", "%d", shapes[index].width);
    hole_set(&holes, "channels", "%d", shapes[index].channels);
    hole_set(&holes, "threads", "%d", FIT_THREADS);
    hole_set(&holes, "kernel", "fit_%d", index);
    template_kernel(out, "pictures.cu", "picture_fit", &holes);
    hole_set(&holes, "threads", "%d", THREADS);
    hole_set(&holes, "kernel", "planes");
    if (index == 0)
        template_kernel(out, "pictures.cu", "picture_planes", &holes);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static uint64_t seed;

static int random_below(int count) { return (int)((random_value(&seed) + 1) / 2 * count); }

/* Noise, steps or slopes, so that neighbours differ in every way. */
static Drawing draw(int height, int width, int samples) {
    static uint8_t pixels[MOST_SIDE * MOST_SIDE * 4];
    const int kind = random_below(3);
    for (int i = 0; i < height * width; i++)
        for (int c = 0; c < samples; c++) {
            const int row = i / width, col = i % width, step = (row / 5 + col / 7 + c) % 2 * 255;
            pixels[i * samples + c] = (uint8_t)(kind == 0   ? random_below(256)
                                                : kind == 1 ? step
                                                            : row * (c + 1) * 3 + col * (3 - c));
        }
    return (Drawing){pixels, height, width, samples};
}

static JpegForm any_form(int i) {
    static const Sampling samplings[] = {TJ_444, TJ_422, TJ_420, TJ_440, TJ_411};
    return (JpegForm){.sampling = samplings[i % 5],
                      .quality = 20 + random_below(81),
                      .progressive = random_below(3) == 0,
                      .optimised = random_below(3) == 0,
                      .restart = random_below(2) * random_below(5)};
}

/* Makes the numbers that coefficients are multiplied with larger, so that sums leave the range of real
 * pictures, and 16 bits between the two dimensions. */
static void exaggerate(uint8_t *bytes, size_t size, int by) {
    for (size_t i = 2; i + 4 <= size && bytes[i + 1] != 0xda;
         i += 2 + (size_t)(bytes[i + 2] << 8 | bytes[i + 3]))
        if (bytes[i + 1] == 0xdb)
            memset(bytes + i + 5, by, 64);
}

/* ---- one batch ------------------------------------------------------------------------------- */

typedef struct {
    RtImages shape;
    int count;
    size_t raw; /* bytes of an image */
    uint8_t *slots, *want, *got;
} Case;

static Case case_new(const Shape *shape, int count) {
    static const double scale[] = {0.05, 1}, ratio[] = {0.3, 4};
    Case c = {.shape = {.height = shape->height,
                        .width = shape->width,
                        .channels = shape->channels,
                        .random_resized_crop = true,
                        .crop_scale = scale,
                        .crop_ratio = ratio,
                        .random_horizontal_flip = 0.5,
                        .slot_bytes = SLOT},
              .count = count,
              .raw = (size_t)(shape->height * shape->width * shape->channels)};
    c.slots = malloc((size_t)count * SLOT);
    c.want = malloc((size_t)count * c.raw);
    c.got = malloc((size_t)count * c.raw);
    memset(c.slots, 0x5a, (size_t)count * SLOT); /* what is not written must not matter */
    return c;
}

static void case_free(Case *c) {
    free(c->slots);
    free(c->want);
    free(c->got);
}

/* Returns false if the file is broken. */
static bool decode_on_host(const Case *c, const PictureFile *file, const uint64_t *key, uint8_t *to) {
    char text[512] = "";
    Picture picture;
    if (!picture_decode(&picture, file, c->shape.channels, 0, &(DataError){text, sizeof text}))
        return false;
    const Box part = picture_part(&picture, &c->shape, key);
    picture_cut(&picture, &part, c->shape.height, c->shape.width, to);
    picture_free(&picture);
    return true;
}

/* Puts a file into slot i, or nothing if the host must decode it; returns whether the slot is filled. */
static bool put(Case *c, int i, const uint8_t *bytes, size_t size) {
    const PictureFile file = {"picture", bytes, size};
    const uint64_t key = (uint64_t)i, *crop = i % 2 ? &key : NULL;
    const SlotHead empty = {.kind = SLOT_EMPTY};
    uint8_t *slot = c->slots + (size_t)i * SLOT, *want = c->want + (size_t)i * c->raw;
    const bool read = slot_put_jpeg(&file, &c->shape, crop, slot);
    if (!decode_on_host(c, &file, crop, want) && read)
        fail_msg("%d: a broken file is read", i);
    if (!read) {
        memcpy(slot, &empty, sizeof empty);
        memset(want, 0, c->raw);
    }
    return read;
}

/* Puts a drawing's file into slot i, with larger coefficients if `by` is not 0. Returns whether the host
 * must decode it, as it may if `by` is very large. */
static bool put_drawing(Case *c, int i, Drawing drawing, JpegForm form, int by) {
    size_t size;
    uint8_t *bytes = jpeg_as(drawing, form, &size);
    if (by)
        exaggerate(bytes, size, by);
    const bool read = put(c, i, bytes, size);
    if (!read && by < 255)
        fail_msg("%d: %d x %d x %d is not read", i, drawing.height, drawing.width, drawing.samples);
    free(bytes);
    return !read;
}

static CUdeviceptr device_bytes(const uint8_t *bytes, size_t size) {
    CUdeviceptr device;
    check_cuda(cuMemAlloc(&device, size), "cuMemAlloc");
    check_cuda(cuMemcpyHtoD(device, bytes, size), "cuMemcpyHtoD");
    return device;
}

/* Every byte is made, whatever was there before. */
static void make_planes(int count, CUdeviceptr slots, CUdeviceptr planes) {
    const size_t size = (size_t)count * SAMPLES;
    const unsigned blocks = THREADS / 8;
    uint8_t *made[2];
    for (int i = 0; i < 2; i++) {
        made[i] = malloc(size);
        check_cuda(cuMemsetD8(planes, (unsigned char)(3 + 5 * i), size), "cuMemsetD8");
        launch(module, "planes", (Grid){(unsigned)count * ((SAMPLES / 64 + blocks - 1) / blocks), 1, 1},
               THREADS, 0, (void *[]){&slots, &planes});
        check_cuda(cuMemcpyDtoH(made[i], planes, size), "cuMemcpyDtoH");
    }
    assert_memory_equal(made[0], made[1], size);
    free(made[0]);
    free(made[1]);
}

static void run_kernels(Case *c, int index) {
    const size_t result = (size_t)c->count * c->raw;
    const unsigned rows = (unsigned)(shapes[index].height + 7) / 8;
    const unsigned cols = (unsigned)(shapes[index].width + 31) / 32;
    char name[16];
    snprintf(name, sizeof name, "fit_%d", index);
    memset(c->got, 0xa5, result);
    CUdeviceptr slots = device_bytes(c->slots, (size_t)c->count * SLOT), planes;
    CUdeviceptr y = device_bytes(c->got, result);
    check_cuda(cuMemAlloc(&planes, (size_t)c->count * SAMPLES), "cuMemAlloc");
    make_planes(c->count, slots, planes);
    launch(module, name, (Grid){(unsigned)c->count * rows * cols, 1, 1}, FIT_THREADS, 0,
           (void *[]){&slots, &planes, &y});
    check_cuda(cuMemcpyDtoH(c->got, y, result), "cuMemcpyDtoH");
    cuMemFree(slots);
    cuMemFree(planes);
    cuMemFree(y);
}

static void expect_same(const Case *c) {
    for (int i = 0; i < c->count; i++) {
        const SlotHead *head = (const void *)(c->slots + (size_t)i * SLOT);
        for (size_t at = 0; at < c->raw; at++)
            if (c->got[(size_t)i * c->raw + at] != c->want[(size_t)i * c->raw + at])
                fail_msg("slot %d, %d x %d, %d planes of %d x %d, part %d x %d at %d, %d: byte %zu is "
                         "%d, not %d",
                         i, head->height, head->width, head->planes, head->down, head->across,
                         head->box.height, head->box.width, head->box.top, head->box.left, at,
                         c->got[(size_t)i * c->raw + at], c->want[(size_t)i * c->raw + at]);
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static int load(void **state) {
    (void)state;
    FILE *out = template_open("pictures");
    template_prelude(out, "pictures.cu");
    for (int i = 0; i < SHAPES; i++)
        write_kernels(out, i);
    module = template_load(out, "pictures");
    return 0;
}

static int pictures_of_a_case(void) { return *(getenv("SHORT") ? getenv("SHORT") : "") ? 60 : 200; }

/* Returns how many the host must decode. */
static int run_on_random_pictures(int by) {
    int left = 0;
    for (int index = 0; index < SHAPES; index++) {
        Case c = case_new(&shapes[index], pictures_of_a_case());
        for (int i = 0; i < c.count; i++) {
            const int side = i % 3 ? 20 : 63;
            const Drawing d = draw(1 + random_below(side), 1 + random_below(side), i % 4 ? 3 : 1);
            left += put_drawing(&c, i, d, any_form(i), by);
        }
        run_kernels(&c, index);
        expect_same(&c);
        case_free(&c);
    }
    return left;
}

static void makes_the_pixels_of_libjpeg(void **state) {
    (void)state;
    run_on_random_pictures(0);
}

static void limits_what_no_encoder_makes(void **state) {
    (void)state;
    run_on_random_pictures(6);
    assert_int_not_equal(run_on_random_pictures(255), 0);
}

static void each_size(void **state) {
    (void)state;
    Case c = case_new(&shapes[0], 5 * 19 * 19);
    for (int i = 0; i < c.count; i++)
        put_drawing(&c, i, draw(1 + i / 5 % 19, 1 + i / 95, 3),
                    (JpegForm){.sampling = any_form(i).sampling, .quality = 90}, 0);
    run_kernels(&c, 0);
    expect_same(&c);
    case_free(&c);
}

/* Files with a few wrong bytes: both find them broken, or both see the same picture. */
static void agrees_with_the_host_on_damaged_files(void **state) {
    (void)state;
    int filled = 0;
    Case c = case_new(&shapes[2], 10 * pictures_of_a_case());
    for (int i = 0; i < c.count; i++) {
        size_t size;
        uint8_t *bytes = jpeg_as(draw(1 + random_below(40), 1 + random_below(40), 3), any_form(i), &size);
        for (int wrong = random_below(3); wrong >= 0; wrong--)
            bytes[random_below((int)size)] = (uint8_t)random_below(256);
        filled += put(&c, i, bytes, size);
        free(bytes);
    }
    run_kernels(&c, 2);
    expect_same(&c);
    assert_in_range(filled, c.count / 4, c.count * 19 / 20);
    case_free(&c);
}

static void finished_images_and_padding(void **state) {
    (void)state;
    for (int index = 0; index < SHAPES; index++) {
        Case c = case_new(&shapes[index], 6);
        for (int i = 0; i < c.count; i++) {
            const SlotHead head = {.kind = i % 2 ? SLOT_SAMPLES : SLOT_EMPTY};
            uint8_t *slot = c.slots + (size_t)i * SLOT, *want = c.want + (size_t)i * c.raw;
            memcpy(slot, &head, sizeof head);
            for (size_t at = 0; at < c.raw; at++)
                slot[SLOT_HEAD + at] = (uint8_t)random_below(256);
            memcpy(want, slot + SLOT_HEAD, c.raw);
            if (head.kind == SLOT_EMPTY)
                memset(want, 0, c.raw);
        }
        run_kernels(&c, index);
        expect_same(&c);
        case_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_the_pixels_of_libjpeg),
        cmocka_unit_test(limits_what_no_encoder_makes),
        cmocka_unit_test(each_size),
        cmocka_unit_test(agrees_with_the_host_on_damaged_files),
        cmocka_unit_test(finished_images_and_padding),
    };
    seed = 7;
    device_open();
    return cmocka_run_group_tests_name("pictures template", tests, load, NULL);
}
