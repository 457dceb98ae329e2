/* Images in another size, and in the model's numbers.
 *
 * Bilinear as PyTorch's interpolate with align_corners=False and antialias=False: pixel i of the new
 * axis lies at (i + 0.5) * old / new - 0.5 of the old one, held at its ends. */
#include "runtime/data_images.h"

#include <stdlib.h>

#include "runtime/rt.h"

/* One place of an axis between two of the old one: (1 - share) * low + share * high. */
typedef struct {
    int64_t low, high;
    double share;
} Tap;

static Tap tap_at(int64_t place, int64_t old_size, int64_t new_size) {
    double at = ((double)place + 0.5) * (double)old_size / (double)new_size - 0.5;
    if (at < 0)
        at = 0;
    int64_t low = (int64_t)at;
    if (low > old_size - 1)
        low = old_size - 1;
    return (Tap){low, low + 1 < old_size ? low + 1 : low, at - (double)low};
}

static Tap *taps(int64_t old_size, int64_t new_size) {
    Tap *all = rt_alloc(sizeof *all * (size_t)new_size);
    for (int64_t i = 0; i < new_size; i++)
        all[i] = tap_at(i, old_size, new_size);
    return all;
}

/* Between four bytes: of two rows, at the places of one tap. */
static double between(const uint8_t *upper, const uint8_t *lower, Tap row, Tap col,
                      int64_t channels, int64_t c) {
    int64_t low = col.low * channels + c, high = col.high * channels + c;
    double above = upper[low] + col.share * (upper[high] - upper[low]);
    double below = lower[low] + col.share * (lower[high] - lower[low]);
    return above + row.share * (below - above);
}

void image_present(const RtImages *shape, const uint8_t *raw, RtDtype dtype, void *out) {
    int64_t size = shape->out_size, stride = shape->width * shape->channels, at = 0;
    Tap *rows = taps(shape->height, size), *cols = taps(shape->width, size);
    for (int64_t y = 0; y < size; y++) {
        const uint8_t *upper = raw + rows[y].low * stride, *lower = raw + rows[y].high * stride;
        for (int64_t x = 0; x < size; x++)
            for (int64_t c = 0; c < shape->out_channels; c++) {
                int64_t from = shape->channels == 1 ? 0 : c;
                double value = between(upper, lower, rows[y], cols[x], shape->channels, from);
                rt_set(dtype, out, at++, (value / 255.0 - shape->mean[c]) / shape->std[c]);
            }
    }
    free(rows);
    free(cols);
}
