/* Random crops of images: the boxes are those that torchvision draws from the same numbers, keep
 * their limits, and depend only on seed, epoch and image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/data/data_images.h"

/* ---- one box --------------------------------------------------------------------------------- */

static void boxes_are_torchvisions(void **state) {
    (void)state;
    FILE *file = fopen("tests/oracle/crop_boxes.csv", "r");
    assert_non_null(file);
    char line[512];
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        double scale[2], ratio[2];
        RtImages shape = {.random_resized_crop = true, .crop_scale = scale, .crop_ratio = ratio};
        long long height, width, key;
        Box box;
        if (sscanf(line, "%lld,%lld,%lf,%lf,%lf,%lf,%lf,%lld,%d,%d,%d,%d,%d", &height, &width,
                   &scale[0], &scale[1], &ratio[0], &ratio[1], &shape.random_horizontal_flip, &key,
                   &box.top, &box.left, &box.height, &box.width, &box.mirrored) != 13)
            continue;
        shape.height = height, shape.width = width;
        Box drawn = box_draw(&shape, (uint64_t)key);
        if (memcmp(&drawn, &box, sizeof box))
            fail_msg("%d, %d, %d x %d, %d is not %s", drawn.top, drawn.left, drawn.height,
                     drawn.width, drawn.mirrored, line);
        rows++;
    }
    fclose(file);
    assert_true(rows >= 90);
}

static const RtImages imagenet = {.height = 200,
                                  .width = 150,
                                  .random_resized_crop = true,
                                  .crop_scale = (const double[]){0.08, 1},
                                  .crop_ratio = (const double[]){0.75, 4.0 / 3},
                                  .random_horizontal_flip = 0.25};

static void boxes_keep_to_their_limits(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    int mirrored = 0, touches[4] = {0};
    double areas = 0, aspects = 0;
    for (uint64_t key = 0; key < COUNT; key++) {
        Box b = box_draw(&imagenet, key);
        int bottom = 200 - b.top - b.height, right = 150 - b.left - b.width;
        double area = b.height * b.width / (200.0 * 150), aspect = (double)b.width / b.height;
        assert_true(b.top >= 0 && b.left >= 0 && bottom >= 0 && right >= 0);
        /* Each side is rounded, so they are off by half a pixel at most. */
        double slack = 0.5 / b.height + 0.5 / b.width;
        assert_true(area > 0.08 * (1 - 2 * slack) && area <= 1);
        assert_true(aspect > 0.75 * (1 - 2 * slack) && aspect < 4.0 / 3 * (1 + 2 * slack));
        areas += area, aspects += log(aspect), mirrored += b.mirrored;
        touches[0] += b.top == 0, touches[1] += b.left == 0;
        touches[2] += bottom == 0, touches[3] += right == 0;
    }
    assert_true(fabs(mirrored / (double)COUNT - 0.25) < 0.015);
    /* The mean of uniform areas in 0.08 .. 1 would be 0.54, but the largest fit less often. */
    assert_true(areas / COUNT > 0.4 && areas / COUNT < 0.54);
    assert_true(fabs(aspects / COUNT) < 0.1);
    assert_true(abs(touches[0] - touches[2]) < 0.03 * COUNT);
    assert_true(abs(touches[1] - touches[3]) < 0.03 * COUNT);
    for (int i = 0; i < 4; i++)
        assert_true(touches[i] > 0);
}

static void nothing_asked_for_is_nothing_cut(void **state) {
    (void)state;
    RtImages shape = {.height = 9, .width = 5};
    const Box all = {0, 0, 9, 5, 0}, mirrored = {0, 0, 9, 5, 1};
    for (uint64_t key = 0; key < 100; key++) {
        shape.random_horizontal_flip = 0;
        Box box = box_draw(&shape, key);
        assert_memory_equal(&box, &all, sizeof box);
        shape.random_horizontal_flip = 1;
        box = box_draw(&shape, key);
        assert_memory_equal(&box, &mirrored, sizeof box);
    }
}

/* ---- of a data set --------------------------------------------------------------------------- */

enum { MOST = 12, HEIGHT = 20, WIDTH = 15 };

typedef struct {
    uint8_t pixels[MOST * HEIGHT * WIDTH];
    int32_t labels[MOST];
    Box boxes[MOST];
} Batch;

static const RtInput inputs[] = {
    {"pixels", RT_U8, MOST *HEIGHT *WIDTH, offsetof(Batch, pixels)},
    {"labels", RT_I32, MOST, offsetof(Batch, labels)},
    {"boxes", RT_I32, 5 * MOST, offsetof(Batch, boxes)},
};

/* Takes `count` boxes, from `first` on, of micro-steps of `batch` images. */
static void take_boxes(int64_t batch, int64_t workers, int64_t seed, int64_t first, int64_t count,
                       Box *boxes) {
    RtImages images = imagenet;
    images.height = HEIGHT, images.width = WIDTH, images.channels = 1, images.classes = 3;
    RtProgram program = {.data = {.format = RT_DATA_SYNTHETIC,
                                  .images = &images,
                                  .eval_batches = 1,
                                  .prefetch_batches = 3,
                                  .num_workers = workers},
                         .training = {.batch = batch, .seq_len = 1, .micro_steps = 1},
                         .inputs = inputs,
                         .input_count = 3};
    char message[512];
    static Batch memory[8];
    void *buffers[8];
    Loader *loader = loader_open(&program, seed, message, sizeof message);
    assert_non_null(loader);
    assert_true(loader_ring_size(loader) <= 8);
    for (int i = 0; i < 8; i++)
        buffers[i] = &memory[i];
    loader_start(loader, buffers);
    for (int64_t done = 0; done < count; done += batch) {
        int64_t targets;
        LoaderBatch which = {LOADER_TRAIN, (first + done) / batch};
        const Batch *b = loader_take(loader, which, &targets, message, sizeof message);
        assert_non_null(b);
        memcpy(boxes + done, b->boxes, sizeof *boxes * (size_t)batch);
    }
    loader_close(loader);
}

static void a_box_is_the_same_in_any_batch(void **state) {
    (void)state;
    Box boxes[48], others[48];
    take_boxes(4, 0, 7, 0, 48, boxes);
    take_boxes(12, 3, 7, 0, 48, others);
    assert_memory_equal(boxes, others, sizeof boxes);
    take_boxes(6, 2, 7, 24, 24, others); /* as in a resumed run */
    assert_memory_equal(boxes + 24, others, sizeof boxes / 2);
    take_boxes(4, 0, 8, 0, 48, others);
    assert_memory_not_equal(boxes, others, sizeof boxes);
    for (int i = 1; i < 48; i++)
        assert_memory_not_equal(&boxes[0], &boxes[i], sizeof *boxes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_torchvisions),
        cmocka_unit_test(boxes_keep_to_their_limits),
        cmocka_unit_test(nothing_asked_for_is_nothing_cut),
        cmocka_unit_test(a_box_is_the_same_in_any_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
