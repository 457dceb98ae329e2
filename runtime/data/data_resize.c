/* Resizes raw images and converts them to the model's numbers.
 *
 * Bilinear like PyTorch's interpolate with align_corners=False and antialias=False: pixel i of the
 * new axis is at (i + 0.5) * old / new - 0.5 on the old axis, clamped to its ends. */
#include "runtime/data/data_images.h"

#include <stdlib.h>

#include "runtime/base/rt.h"

enum { MAX_CHANNELS = 3 };

/* `size` places of the old axis, starting at `first`, become `resized` new places. Of these,
 * `count` are wanted, starting at `skipped`, in reverse order if mirrored. */
typedef struct {
    int64_t first, size, resized, skipped, count;
    bool mirrored;
} Axis;

/* A new place, interpolated between two old ones: (1 - share) * low + share * high. */
typedef struct {
    int64_t low, high;
    double share;
} Tap;

static Tap tap_at(const Axis *axis, int64_t i) {
    int64_t last = axis->size - 1;
    int64_t place = axis->skipped + (axis->mirrored ? axis->count - 1 - i : i);
    double at = ((double)place + 0.5) * (double)axis->size / (double)axis->resized - 0.5;
    if (at < 0)
        at = 0;
    int64_t low = (int64_t)at;
    if (low > last)
        low = last;
    return (Tap){axis->first + low, axis->first + (low < last ? low + 1 : low), at - (double)low};
}

static Tap *taps(Axis axis) {
    Tap *all = rt_alloc(sizeof *all * (size_t)axis.count);
    for (int64_t i = 0; i < axis.count; i++)
        all[i] = tap_at(&axis, i);
    return all;
}

/* Interpolates between four bytes: those of two rows at the two places of `col`. */
static double between(const uint8_t *upper, const uint8_t *lower, Tap row, Tap col,
                      int64_t channels, int64_t c) {
    int64_t low = col.low * channels + c, high = col.high * channels + c;
    double above = upper[low] + col.share * (upper[high] - upper[low]);
    double below = lower[low] + col.share * (lower[high] - lower[low]);
    return above + row.share * (below - above);
}

/* ---- to the model's numbers ------------------------------------------------------------------ */

/* (value / 255 - mean) / std as one multiplication and one addition. */
typedef struct {
    double scale, shift;
} Affine;

static void affines(const RtImages *shape, Affine *of) {
    for (int64_t c = 0; c < shape->out_channels; c++)
        of[c] = (Affine){1 / (255 * shape->std[c]), -shape->mean[c] / shape->std[c]};
}

/* Sets the axes for the rows and columns that the model sees. */
static void seen_axes(const RtImages *shape, const Box *box, Axis *rows, Axis *cols) {
    int64_t size = shape->out_size;
    *rows = (Axis){0, shape->height, size, 0, size, false};
    *cols = (Axis){0, shape->width, size, 0, size, false};
    if (box) {
        *rows = (Axis){box->top, box->height, size, 0, size, false};
        *cols = (Axis){box->left, box->width, size, 0, size, box->mirrored};
    } else if (shape->eval_height) {
        *rows = (Axis){0, shape->height, shape->eval_height, shape->eval_top, size, false};
        *cols = (Axis){0, shape->width, shape->eval_width, shape->eval_left, size, false};
    }
}

/* Writes line y of the model's input: [channels, places] with planes, else [places, channels]. */
static void put_line(const RtImages *shape, RtDtype dtype, void *out, int64_t y,
                     const double *line) {
    int64_t size = shape->out_size, channels = shape->out_channels;
    if (!shape->planes)
        rt_set_row(dtype, out, y * size * channels, line, size * channels);
    for (int64_t c = 0; shape->planes && c < channels; c++)
        rt_set_row(dtype, out, (c * size + y) * size, line + c * size, size);
}

void image_present(const RtImages *shape, const uint8_t *raw, const Box *box, RtDtype dtype,
                   void *out) {
    int64_t size = shape->out_size, stride = shape->width * shape->channels;
    int64_t channels = shape->out_channels;
    int64_t next_place = shape->planes ? 1 : channels, next_channel = shape->planes ? size : 1;
    Axis row_axis, col_axis;
    seen_axes(shape, box, &row_axis, &col_axis);
    Tap *rows = taps(row_axis), *cols = taps(col_axis);
    double *line = rt_alloc(sizeof *line * (size_t)(size * channels));
    Affine of[MAX_CHANNELS];
    affines(shape, of);
    for (int64_t y = 0; y < size; y++) {
        const uint8_t *upper = raw + rows[y].low * stride, *lower = raw + rows[y].high * stride;
        for (int64_t x = 0; x < size; x++)
            for (int64_t c = 0; c < channels; c++) {
                int64_t from = shape->channels == 1 ? 0 : c;
                double value = between(upper, lower, rows[y], cols[x], shape->channels, from);
                line[x * next_place + c * next_channel] = value * of[c].scale + of[c].shift;
            }
        put_line(shape, dtype, out, y, line);
    }
    free(line);
    free(rows);
    free(cols);
}
