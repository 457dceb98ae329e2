/* Resizes parts of pictures with antialias, as PyTorch's interpolate and Pillow do: a new pixel is
 * the mean of the old pixels around it, weighted by a triangle that is two new pixels wide, or two
 * old pixels where those are wider. */
#include "runtime/data/data_images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/rt.h"

/* Both sides are at least one pixel, however narrow the picture is. */
Box picture_largest(const Picture *picture, const RtImages *shape) {
    int64_t height = picture->height, width = picture->width;
    if (width * shape->height > height * shape->width)
        width = height * shape->width / shape->height;
    else
        height = width * shape->height / shape->width;
    height += height == 0;
    width += width == 0;
    return (Box){.top = (int32_t)((picture->height - height) / 2),
                 .left = (int32_t)((picture->width - width) / 2),
                 .height = (int32_t)height,
                 .width = (int32_t)width};
}

/* ---- weights --------------------------------------------------------------------------------- */

/* A range of the file's rows or columns, in units of the decoded ones. */
typedef struct {
    int64_t first;
    double begin, size; /* begin: offset within the first */
} Span;

static Span span_of(const Picture *picture, int64_t first, int64_t size) {
    double scale = 1 << picture->halvings, at = (double)first / scale;
    return (Span){(int64_t)at, at - floor(at), (double)size / scale};
}

static int64_t span_places(Span span) { return (int64_t)ceil(span.begin + span.size); }

/* The old pixels from which a new one is computed, and their weights, which add up to 1. */
typedef struct {
    int64_t first, count;
    float *weights;
} Mean;

typedef struct {
    Mean *means; /* [new size] */
    float *weights;
} Filter;

static void filter_free(Filter *filter) {
    free(filter->means);
    free(filter->weights);
}

static Filter filter_new(Span old, int64_t new_size) {
    double scale = old.size / (double)new_size, radius = fmax(scale, 1);
    int64_t widest = (int64_t)ceil(2 * radius) + 1;
    Filter filter = {rt_alloc(sizeof *filter.means * (size_t)new_size),
                     rt_alloc(sizeof *filter.weights * (size_t)(widest * new_size))};
    for (int64_t i = 0; i < new_size; i++) {
        double center = old.begin + scale * ((double)i + 0.5), sum = 0;
        int64_t first = (int64_t)fmax(center - radius + 0.5, 0);
        int64_t end = (int64_t)fmin(center + radius + 0.5, (double)span_places(old));
        Mean mean = {first, end - first, filter.weights + widest * i};
        for (int64_t k = first; k < end; k++)
            sum += fmax(1 - fabs((double)k + 0.5 - center) / radius, 0);
        for (int64_t k = first; k < end; k++)
            mean.weights[k - first] =
                (float)(fmax(1 - fabs((double)k + 0.5 - center) / radius, 0) / sum);
        filter.means[i] = mean;
    }
    return filter;
}

/* ---- one line -------------------------------------------------------------------------------- */

/* Writes the weighted mean of several rows of bytes to `line`. */
static void mean_of_rows(const Mean *mean, const uint8_t *rows, int64_t stride, int64_t wide,
                         float *line) {
    memset(line, 0, sizeof *line * (size_t)wide);
    for (int64_t k = 0; k < mean->count; k++) {
        const uint8_t *row = rows + (mean->first + k) * stride;
        float weight = mean->weights[k];
        for (int64_t i = 0; i < wide; i++)
            line[i] += weight * row[i];
    }
}

static void mean_of_places(const Mean *mean, const float *line, int64_t channels, uint8_t *to) {
    for (int64_t c = 0; c < channels; c++) {
        float sum = 0.5f;
        for (int64_t k = 0; k < mean->count; k++)
            sum += mean->weights[k] * line[(mean->first + k) * channels + c];
        to[c] = (uint8_t)fminf(sum, 255);
    }
}

void picture_cut(const Picture *picture, const Box *part, int64_t height, int64_t width,
                 uint8_t *to) {
    int64_t channels = picture->channels;
    int64_t stride = picture_places(picture, picture->width) * channels;
    Span down = span_of(picture, part->top, part->height);
    Span across = span_of(picture, part->left, part->width);
    int64_t wide = span_places(across) * channels;
    const uint8_t *first = picture->pixels + down.first * stride + across.first * channels;
    Filter rows = filter_new(down, height), cols = filter_new(across, width);
    float *line = rt_alloc(sizeof *line * (size_t)wide);
    for (int64_t y = 0; y < height; y++) {
        mean_of_rows(&rows.means[y], first, stride, wide, line);
        for (int64_t x = 0; x < width; x++, to += channels) {
            int64_t from = part->mirrored ? width - 1 - x : x;
            mean_of_places(&cols.means[from], line, channels, to);
        }
    }
    free(line);
    filter_free(&rows);
    filter_free(&cols);
}
