/* Reads arbitrary bytes as a pair of IDX files: the result is a clear error or images that keep
 * every promise of data_images.h, never a crash. The first two bytes say where the label file
 * begins. Built by `make fuzz` with clang's libFuzzer. */
#include <stdlib.h>
#include <string.h>

#include "runtime/data/data_images.h"

enum { HEIGHT = 2, WIDTH = 3, CLASSES = 10, IMAGES_HEADER = 16, LABELS_HEADER = 8 };

static void check(bool promise) {
    if (!promise)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const RtImages shape = {.height = HEIGHT, .width = WIDTH, .channels = 1, .classes = CLASSES};
    char text[512] = "";
    DataError error = {text, sizeof text};
    IdxSet set = {0};
    if (size < 2)
        return 0;
    const uint8_t *images = bytes + 2;
    size_t image_bytes = (size_t)(bytes[0] << 8 | bytes[1]), left = size - 2;
    image_bytes = image_bytes < left ? image_bytes : left;
    const uint8_t *labels = images + image_bytes;
    if (idx_add(&set, "images-idx3", images, image_bytes, "labels-idx1", labels, left - image_bytes,
                &shape, &error)) {
        size_t count = (size_t)set.count;
        check(set.count > 0 && image_bytes == IMAGES_HEADER + count * HEIGHT * WIDTH);
        check(left - image_bytes == LABELS_HEADER + count);
        check(memcmp(set.pixels, images + IMAGES_HEADER, count * HEIGHT * WIDTH) == 0);
        for (size_t i = 0; i < count; i++)
            check(set.labels[i] < CLASSES && set.labels[i] == labels[LABELS_HEADER + i]);
    } else {
        check(text[0] != '\0' && set.count == 0);
    }
    idx_free(&set);
    return 0;
}
