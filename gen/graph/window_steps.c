/* Windows as steps. Bounds are compared only where the shape makes it necessary. */
#include "graph/window_steps.h"

#include "base/rounding.h"

static int whole(Body *body, int64_t n) { return step_const_int(body, n); }

static int times(Body *body, int a, int64_t n, const char *name) {
    return n == 1 ? a : step_binary(body, STEP_MUL, a, step_extent(body, n, name));
}

static int plus(Body *body, int a, int64_t n) {
    if (n == 0)
        return a;
    return step_binary(body, n < 0 ? STEP_SUB : STEP_ADD, a, whole(body, n < 0 ? -n : n));
}

static int divided(Body *body, int a, int64_t n, const char *name) {
    return n == 1 ? a : step_binary(body, STEP_DIV, a, step_extent(body, n, name));
}

static int modulo(Body *body, int a, int64_t n, const char *name) {
    return n == 1 ? whole(body, 0) : step_binary(body, STEP_MOD, a, step_extent(body, n, name));
}

/* The conjunction of two conditions; -1 means always true. */
static int both(Body *body, int a, int b) {
    return a < 0 ? b : b < 0 ? a : step_binary(body, STEP_AND, a, b);
}

Pixel step_pixel(Body *body, int64_t height, int64_t width) {
    int row = step_index(body, STEP_ROW), place = modulo(body, row, height * width, "PLACES");
    int n = divided(body, row, height * width, "PLACES");
    step_called(body, place, "place");
    int h = divided(body, place, width, "WIDTH"), w = modulo(body, place, width, "WIDTH");
    return (Pixel){step_called(body, n, "n"), step_called(body, h, "h"), step_called(body, w, "w")};
}

/* ---- one axis -------------------------------------------------------------------------------- */

/* Steps for one axis: a position, whether it is inside the axis (-1: always), and its number in the
 * window. */
typedef struct {
    int at, inside, number;
} Place;

/* The constant for the number of positions that taps have on an axis. */
static int axis_size(Body *body, const char *axis, int64_t size) {
    return step_extent(body, size, *axis == 'h' ? "FROM_HEIGHT" : "FROM_WIDTH");
}

/* The position `step`, known to be in lowest .. highest, on an axis of `size` positions. */
static Place place(Body *body, int step, int64_t lowest, int64_t highest, int64_t size,
                   const char *axis) {
    Place p = {step, -1, -1};
    if (lowest < 0)
        p.inside = step_binary(body, STEP_GE, step, whole(body, 0));
    if (highest >= size) {
        int below = step_binary(body, STEP_LT, step, axis_size(body, axis, size));
        p.inside = both(body, p.inside, below);
    }
    return p;
}

static void call_place(Body *body, const Place *p, const char *axis, int k) {
    step_called(body, p->at, "%s_%d", axis, k);
    if (p->inside >= 0)
        step_called(body, p->inside, "%s_%d_inside", axis, k);
}

/* Maps out to out stride - padding + k, for each k of the window. */
static int axis_taps(Body *body, const Window *w, int out, int64_t outs, int64_t size,
                     const char *axis, Place *places) {
    int first = plus(body, times(body, out, w->stride, NULL), -w->padding);
    for (int k = 0; k < w->kernel; k++) {
        int64_t lowest = k - w->padding, highest = (outs - 1) * w->stride + lowest;
        int at = plus(body, first, k);
        places[k] = place(body, at, lowest, highest, size, axis);
        places[k].number = whole(body, k);
        if (at != out)
            call_place(body, &places[k], axis, k);
    }
    return (int)w->kernel;
}

/* Maps in to every out and k with out stride - padding + k = in: the k that are congruent to in +
 * padding modulo the stride. */
static int axis_taps_back(Body *body, const Window *w, int in, int64_t outs, int64_t size,
                          const char *axis, Place *places) {
    int64_t stride = w->stride, kernel = w->kernel, count = ceil_div(kernel, stride);
    int padded = plus(body, in, w->padding);
    int last = divided(body, padded, stride, NULL), first = modulo(body, padded, stride, NULL);
    if (padded != in)
        step_hinted(body, padded, arena_printf(body->arena, "padded_%s", axis));
    if (first != padded)
        step_hinted(body, first, arena_printf(body->arena, "first_tap_%s", axis));
    for (int k = 0; k < count; k++) {
        int64_t highest = (size - 1 + w->padding) / stride - k;
        int at = plus(body, last, -k);
        places[k] = place(body, at, w->padding / stride - k, highest, outs, axis);
        places[k].number = stride == 1 ? whole(body, k) : plus(body, first, k * stride);
        if (stride > 1 && (k + 1) * stride > kernel) { /* some residues have one k less */
            int exists = step_binary(body, STEP_LT, places[k].number, whole(body, kernel));
            places[k].inside = both(body, places[k].inside, exists);
            step_hinted(body, places[k].number, arena_printf(body->arena, "tap_%s_%d", axis, k));
            places[k].number =
                step_binary(body, STEP_MIN, places[k].number, whole(body, kernel - 1));
            step_hinted(body, places[k].number, arena_printf(body->arena, "near_tap_%s", axis));
        }
        if (at != in)
            call_place(body, &places[k], axis, k);
    }
    return (int)count;
}

/* How many rows behind a row certainly belong to its line too, if the row's own place in the line is a
 * multiple of one more than that. */
static int rows_behind(int64_t width) {
    return width % 4 == 0 ? 3 : width % 2 == 0 ? 1 : 0;
}

/* The next places on a line behind `last`, the one furthest to the right of a window of `count`: lowest
 * is how far that is from the row's own place. Returns how many. */
static int spare_places(Body *body, const Window *w, const Place *last, int64_t lowest, int64_t width,
                        int64_t size, int count, Place spare[MOST_SPARE]) {
    int behind = w->stride == 1 ? rows_behind(width) : 0;
    for (int t = 0; t < behind; t++) {
        int64_t from = lowest + t + 1;
        spare[t] = place(body, plus(body, last->at, t + 1), from, width - 1 + from, size, "w");
        call_place(body, &spare[t], "w", count + t);
    }
    return behind;
}

/* ---- both axes ------------------------------------------------------------------------------- */

static int tap_number(Body *body, int h, int w, int64_t kernel) {
    const Step *a = &body->steps[h], *b = &body->steps[w];
    if (a->kind == STEP_CONST && b->kind == STEP_CONST)
        return whole(body, (int64_t)a->constant * kernel + (int64_t)b->constant);
    return step_binary(body, STEP_ADD, times(body, h, kernel, NULL), w);
}

/* Combines the positions on both axes into taps: rows of images of height x width. */
static void join_axes(Body *body, int n, const Place *h, const Place *w, int count, int64_t height,
                      int64_t width, int64_t kernel, Tap *taps) {
    int image = step_hinted(body, times(body, n, height, "FROM_HEIGHT"), "first_line");
    for (int i = 0; i < count; i++) {
        int line = times(body, step_binary(body, STEP_ADD, image, h[i].at), width, "FROM_WIDTH");
        step_called(body, line, "line_%d", i);
        for (int k = 0; k < count; k++) {
            Tap *t = &taps[i * count + k];
            *t = (Tap){.name = arena_printf(body->arena, "%d_%d", i, k)};
            t->row =
                step_called(body, step_binary(body, STEP_ADD, line, w[k].at), "row_%s", t->name);
            t->inside = both(body, h[i].inside, w[k].inside);
            if (h[i].inside >= 0 && w[k].inside >= 0)
                step_called(body, t->inside, "inside_%s", t->name);
            t->number = tap_number(body, h[i].number, w[k].number, kernel);
            step_hinted(body, t->number, arena_printf(body->arena, "tap_%s", t->name));
        }
    }
}

/* The last rows and columns under a window are new. From a pixel to the one below, all taps move by
 * the same number of rows; if the images are equally large, also from one to the next. */
static void mark_new_taps(const Window *w, int count, int64_t out_width, Tap *taps) {
    int first = w->stride < count ? count - (int)w->stride : 0;
    bool alike = w->stride == 1 && out_width == w->width;
    for (int i = first; i < count; i++)
        for (int k = first; k < count; k++) {
            taps[i * count + k].per = alike ? 1 : out_width;
            taps[i * count + k].moves = alike ? 1 : w->stride * w->width;
        }
}

/* Marks the taps of a window that moves by `forward` (1 or -1) lines or columns from one tap to the
 * next and begins `first` lines and columns from the row's own. Gives each line its spare taps. */
static void mark_sliding(Body *body, const Place *h, int count, int64_t first, int forward,
                         const Place *spare, int spare_count, Tap *taps) {
    for (int i = 0; i < count * count && spare_count; i++) {
        int k = i % count, rightmost = forward > 0 ? count - 1 : 0;
        Tap *tap = &taps[i];
        tap->slides = true;
        tap->line = (int)first + forward * (i / count);
        tap->place = (int)first + forward * k;
        if (k != rightmost)
            continue;
        Tap *to = arena_array(body->arena, (size_t)spare_count, sizeof *to);
        int line = body->steps[tap->row].arg[0], line_inside = h[i / count].inside;
        for (int t = 0; t < spare_count; t++) {
            to[t] = *tap;
            to[t].name = arena_printf(body->arena, "%d_%d", i / count, count + t);
            to[t].row = step_called(body, step_binary(body, STEP_ADD, line, spare[t].at), "row_%s",
                                    to[t].name);
            to[t].inside = both(body, line_inside, spare[t].inside);
            if (line_inside >= 0 && spare[t].inside >= 0)
                step_called(body, to[t].inside, "inside_%s", to[t].name);
            to[t].place = tap->place + t + 1;
            to[t].per = to[t].moves = 0;
        }
        tap->spare = to;
        tap->spare_count = spare_count;
    }
}

int window_taps(Body *body, const Window *win, Tap taps[MOST_TAPS]) {
    Place h[WIDEST_WINDOW], w[WIDEST_WINDOW], spare[MOST_SPARE];
    int64_t height = window_out_height(win), width = window_out_width(win);
    Pixel out = step_pixel(body, height, width);
    ENSURE(win->kernel <= WIDEST_WINDOW, "a window of %lld", (long long)win->kernel);
    axis_taps(body, win, out.h, height, win->height, "h", h);
    int count = axis_taps(body, win, out.w, width, win->width, "w", w);
    join_axes(body, out.n, h, w, count, win->height, win->width, win->kernel, taps);
    mark_new_taps(win, count, width, taps);
    int spares = spare_places(body, win, &w[count - 1], count - 1 - win->padding, width, win->width,
                              count, spare);
    mark_sliding(body, h, count, -win->padding, 1, spare, spares, taps);
    return count * count;
}

int window_taps_back(Body *body, const Window *win, Tap taps[MOST_TAPS]) {
    Place h[WIDEST_WINDOW], w[WIDEST_WINDOW], spare[MOST_SPARE];
    int64_t height = window_out_height(win), width = window_out_width(win);
    Pixel in = step_pixel(body, win->height, win->width);
    ENSURE(win->kernel <= WIDEST_WINDOW, "a window of %lld", (long long)win->kernel);
    axis_taps_back(body, win, in.h, height, win->height, "h", h);
    int count = axis_taps_back(body, win, in.w, width, win->width, "w", w);
    join_axes(body, in.n, h, w, count, height, width, win->kernel, taps);
    /* The last window over the pixel; the others are over earlier ones too. */
    taps[0].per = win->stride;
    taps[0].moves = 1;
    int spares = spare_places(body, win, &w[0], win->padding, win->width, width, count, spare);
    mark_sliding(body, h, count, win->padding, -1, spare, spares, taps);
    return count * count;
}

/* ---- taps ------------------------------------------------------------------------------------ */

int tap_select(Body *body, const Tap *tap, int value, double otherwise) {
    if (tap->inside < 0)
        return value;
    value = step_select(body, tap->inside, value, step_const(body, otherwise));
    return step_hinted(body, value, "padded");
}

static int load_at(Body *body, const Tap *tap, Value *v, const char *what) {
    int load = step_load_where(body, v, tap->row, tap->inside);
    Step *s = &body->steps[load];
    s->per = tap->per;
    s->moves = tap->moves;
    s->slides = tap->slides;
    s->line = tap->line;
    s->place = tap->place;
    return step_called(body, load, "%s_%s", what, tap->name);
}

int tap_load(Body *body, const Tap *tap, Value *v, const char *what) {
    int load = load_at(body, tap, v, what);
    for (int t = 0; t < tap->spare_count; t++)
        body->steps[load_at(body, &tap->spare[t], v, what)].spare = true;
    return load;
}
