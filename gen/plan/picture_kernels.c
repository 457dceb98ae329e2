/* Pictures: kernels, geometry and what a slot holds are in the template's head comment. */
#include <math.h>

#include "base/rounding.h"
#include "plan/template_kernels.h"

enum { THREADS = 256, BLOCK = 64 /* coefficients */, TILE_ROWS = 8, TILE_COLS = 32 };

static Filling filling(const Plan *plan, const Op *op, const char *kernel) {
    const Value *pictures = op->in[0];
    int64_t room = value_cols(pictures) - SLOT_HEAD_BYTES;
    Filling f = filling_new(plan, op, "pictures.cu", kernel);
    f.kernel.threads = THREADS;
    fill_int(&f, "slot", value_cols(pictures));
    fill_int(&f, "samples", room / 2);
    fill_reads(&f, "pictures", pictures);
    return f;
}

/* pictures -> planes. The cost is an upper bound, as if pictures filled their slots: coefficients, what
 * they are multiplied with, samples; and the head for each thread. */
void plan_picture_planes(Plan *plan, Entry entry, const Group *group) {
    enum { EACH = 2 + 2 + 1, OF_HEAD = 48 };
    const Op *op = group->ops[0];
    const Value *planes = op->out[0];
    int64_t images = value_rows(planes), samples = value_cols(planes);
    int64_t blocks = images * ceil_div(samples / BLOCK, THREADS / 8);
    Filling f = filling(plan, op, "picture_planes");
    f.kernel.name = arena_printf(f.arena, "picture_planes_%lld", (long long)samples);
    fill_writes(&f, "planes", planes);
    fill_grid(&f, blocks, 1, 1);
    fill_cost(&f, (double)(images * samples * EACH + blocks * THREADS * OF_HEAD), 0);
    fill_finish(plan, entry, &f, op);
}

/* Pixels of a picture that are read for an axis of the result, as often as they are read: a mean is
 * over the pixels less than one new pixel away, or less than one old one where those are wider. */
static double taps(double size, double resized) {
    return resized * fmin(2 * fmax(size / resized, 1) + 1, size);
}

/* pictures, planes -> images. The cost is an upper bound for parts with the aspect ratio of the result,
 * of pictures in 4:2:0 that fill their slots: each pixel is one sample and four of each other plane. */
void plan_picture_fit(Plan *plan, Entry entry, const Group *group) {
    enum { EACH = 1 + 2 * 4, OF_HEAD = 48 };
    const Op *op = group->ops[0];
    const Value *planes = op->in[1], *y = op->out[0];
    int64_t height = op->attr.out_height, width = op->attr.out_width;
    int64_t images = value_rows(planes), channels = value_cols(y);
    int64_t tiles = ceil_div(height, TILE_ROWS) * ceil_div(width, TILE_COLS);
    ENSURE(value_dense(y), "%s: images with a stride", op->name);
    Filling f = filling(plan, op, "picture_fit");
    f.kernel.name = arena_printf(f.arena, "picture_fit_%lldx%lldx%lld", (long long)height,
                                 (long long)width, (long long)channels);
    fill_int(&f, "height", height);
    fill_int(&f, "width", width);
    fill_int(&f, "channels", channels);
    fill_reads(&f, "planes", planes);
    fill_writes(&f, "y", y);
    fill_grid(&f, images * tiles, 1, 1);
    double pixels = (double)value_cols(planes) * 2 / 3;
    double scale = sqrt(pixels / (double)(height * width));
    double weighted = taps(scale * (double)height, (double)height) *
                      taps(scale * (double)width, (double)width);
    fill_cost(&f,
              (double)images * (weighted * EACH + (double)(tiles * THREADS * OF_HEAD)) +
                  (double)value_bytes(y),
              (double)(2 * images * channels) * weighted);
    fill_finish(plan, entry, &f, op);
}
