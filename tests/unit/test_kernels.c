/* kernels.cu as a whole: keys that must not change it, and promises of its kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"
#include "graph/window_steps.h"
#include "plan/fuse.h"
#include "plan/phases.h"
#include "plan/skeleton.h"
#include "plan/work.h"
#include "tests/unit/spec_plan.h"

static Plan *plan_of(Arena *arena, const char *path, const char *const *sets, int count) {
    Spec *spec = spec_read(arena, path, sets, count);
    return launches_of_spec(arena, spec, NULL);
}

/* Returns kernels.cu of a spec with three keys set; the caller frees it. */
static char *kernels_of(const char *path, const char *a, const char *b, const char *c) {
    Arena arena = {0};
    StrBuf out = {0};
    const char *const sets[] = {a, b, c};
    emit_kernels(plan_of(&arena, path, sets, 3), &out);
    arena_free(&arena);
    return out.text;
}

static void assert_same_text(char *a, char *b) {
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static const char *const precisions[] = {
    "precision.dtype=\"fp64\"", "precision.dtype=\"fp32\"", "precision.dtype=\"tf32\"", "precision.dtype=\"bf16\"",
};
static const char *const specs[] = {"specs/base_tiny.toml", "tests/golden/lora.toml"};

static void test_layers_share_kernels(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int fusion = 0; fusion < 2; fusion++) {
            const char *with = fusion ? "compile.fusion=true" : "compile.fusion=false";
            assert_same_text(kernels_of(specs[0], precisions[i], with, "model.num_hidden_layers=4"),
                             kernels_of(specs[0], precisions[i], with, "model.num_hidden_layers=80"));
        }
}

static void test_seed_and_rate_change_no_kernel(void **state) {
    (void)state;
    assert_same_text(kernels_of(specs[0], precisions[1], "training.seed=1", "optimizer.lr=1e-3"),
                     kernels_of(specs[0], precisions[1], "training.seed=2", "optimizer.lr=2e-3"));
}

/* Every launch passes its kernel's arguments, and covers the rows exactly once. */
static void check_launch(const Plan *plan, const Launch *launch) {
    const Kernel *k = &plan->kernels[launch->index];
    assert_int_equal(launch->arg_count, k->param_count);
    assert_true(k->threads % 32 == 0 || k->threads == 1 || k->skeleton == SKELETON_TILE);
    for (int i = 0; i < k->param_count; i++) {
        assert_int_equal(launch->arg[i]->dtype, k->param[i].dtype);
        assert_int_equal(launch->written[i], k->param[i].written);
    }
    if (!k->body || k->skeleton == SKELETON_COLUMN) return;
    int64_t rows = launch_rows(k, launch), elements = rows * k->body->cols;
    if (k->skeleton == SKELETON_FLAT)
        assert_true(launch->grid[0] * k->threads * k->vector >= elements &&
                    (launch->grid[0] - 1) * k->threads * k->vector < elements);
    if (k->workers) assert_true(k->workers * skeleton_rows_per_worker(k, rows) >= rows);
}

static void test_launches_fit_their_kernels(void **state) {
    (void)state;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 4; i++) {
            Arena arena = {0};
            const Plan *plan = plan_of(&arena, specs[s], &precisions[i], 1);
            for (int e = 0; e < ENTRY_COUNT; e++)
                for (int l = 0; l < plan->entry[e].launch_count; l++)
                    if (plan->entry[e].launches[l].kind == LAUNCH_KERNEL) check_launch(plan, &plan->entry[e].launches[l]);
            arena_free(&arena);
        }
}

static void test_no_hole_is_left(void **state) {
    (void)state;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 4; i++) {
            char *text = kernels_of(specs[s], precisions[i], "training.seed=1", "compile.fusion=true");
            assert_null(strstr(text, "/*@"));
            assert_null(strstr(text, "//@"));
            free(text);
        }
}

/* Everything that determines the order of a sum depends only on the shape. */
static void test_skeletons_follow_from_shape(void **state) {
    (void)state;
    Arena arena = {0};
    Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
    for (int64_t cols = 2; cols < 40000; cols = cols * 3 / 2 + 1) {
        Kernel narrow = {.body = NULL}, wide = {.body = NULL};
        Value *x = value_2d(&p, "x", ROLE_FROZEN, DT_BF16, 50, cols, (Pos){0});
        Value *y = value_2d(&p, "y", ROLE_FROZEN, DT_F32, 50, cols, (Pos){0});
        Body *a = body_new(&arena, 50, cols), *b = body_new(&arena, 50, cols);
        step_reduce(a, STEP_ROW_SUM, step_load(a, x));
        step_reduce(b, STEP_ROW_SUM, step_load(b, x));
        step_store(b, y, step_load(b, y));
        narrow.body = a;
        wide.body = b;
        skeleton_choose(&p, &narrow, false);
        skeleton_choose(&p, &wide, false);
        assert_int_equal(narrow.skeleton, wide.skeleton);
        assert_int_equal(narrow.threads, wide.threads);
        assert_int_equal(narrow.vector, wide.vector);
        assert_int_equal(cols % narrow.vector, 0);
        assert_true(narrow.threads % 32 == 0 && narrow.threads <= 1024);
    }
    arena_free(&arena);
}

/* The kernel of a sum over bf16 rows and, if `again`, of their differences to it. */
static Kernel of_rows(Program *p, int64_t cols, bool again) {
    Body *body = body_new(p->arena, 50, cols);
    Value *x = value_2d(p, "x", ROLE_FROZEN, DT_BF16, 50, cols, (Pos){0});
    Value *y = value_2d(p, "y", ROLE_ACTIVATION, DT_BF16, 50, again ? cols : 1, (Pos){0});
    int load = step_load(body, x), sum = step_reduce(body, STEP_ROW_SUM, load);
    step_store(body, y, again ? step_binary(body, STEP_SUB, load, sum) : sum);
    Kernel k = {.body = body};
    skeleton_choose(p, &k, false);
    return k;
}

/* A block that reads a long row twice has the multiprocessor to itself; threads follow from shape. */
static void test_long_rows_are_alone(void **state) {
    (void)state;
    Arena arena = {0};
    Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
    const int64_t most = LONG_ROW_BYTES / 2;
    Kernel once = of_rows(&p, most + 8, false), twice = of_rows(&p, most + 8, true), shorter = of_rows(&p, most, true);
    assert_true(once.threads == LONG_ROW_THREADS && twice.threads == LONG_ROW_THREADS);
    assert_true(shorter.skeleton == SKELETON_STREAM_ROW && shorter.threads == STREAM_THREADS);
    assert_true(!skeleton_is_alone(&once) && skeleton_is_alone(&twice) && !skeleton_is_alone(&shorter));
    assert_true(skeleton_blocks_together(&once) == 0 && skeleton_blocks_together(&twice) == 1);
    arena_free(&arena);
}

/* The kernel of sums over rows of what windows of stride s read: one sum for each of `taps` taps, of which
 * s s are new to the window. Without taps, the sum of the rows themselves. */
static Kernel summing(Program *p, int64_t cols, int taps, int stride) {
    Body *body = body_new(p->arena, 1 << 18, cols);
    Value *x = value_2d(p, "x", ROLE_FROZEN, DT_BF16, (1 << 18) * stride * stride, cols, (Pos){0});
    Value *to = value_2d(p, "sums", ROLE_ACTIVATION, DT_F32, taps ? taps : 1, cols, (Pos){0});
    if (!taps)
        step_col_sum(body, to, step_load(body, x));
    for (int i = 0, row = step_index(body, STEP_ROW); i < taps; i++) {
        int load = step_load_where(body, x, row, -1);
        body->steps[load].per = body->steps[load].moves = i >= taps - stride * stride;
        step_col_sum_at(body, to, i, load);
    }
    Kernel k = {.body = body, .real = p->real};
    skeleton_choose(p, &k, false);
    return k;
}

/* A thread with many sums has half as many columns if its windows overlap, but adds the same rows. */
static void test_many_sums_add_the_same_rows(void **state) {
    (void)state;
    Arena arena = {0};
    Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
    for (int64_t cols = 8; cols <= 960; cols += 8) {
        Kernel one = summing(&p, cols, 0, 1), nine = summing(&p, cols, 9, 1);
        int64_t covered = (int64_t)nine.lanes * nine.column_blocks * nine.vector;
        assert_int_equal(one.vector, 8);
        assert_int_equal(nine.vector, cols < 32 ? 8 : 4);
        assert_int_equal(summing(&p, cols, 4, 1).vector, 8);
        assert_int_equal(summing(&p, cols, 9, 2).vector, 8);
        assert_true(one.parts == nine.parts && one.workers == nine.workers);
        assert_true(covered >= cols && covered - cols < (int64_t)nine.lanes * nine.vector);
        assert_int_equal(skeleton_chunks(&nine), 1);
    }
    arena_free(&arena);
}

/* Sums with few values let all workers run at a time, and a single load is issued for several rows;
 * neither decides what is added when. */
static void test_sums_fill_the_device(void **state) {
    (void)state;
    Arena arena = {0};
    Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
    for (int64_t cols = 8; cols <= 960; cols += 8) {
        Kernel one = summing(&p, cols, 0, 1), four = summing(&p, cols, 4, 2), nine = summing(&p, cols, 9, 2);
        int warps = (one.threads + 31) / 32, together = skeleton_blocks_together(&one);
        assert_true(together * warps <= 32 && (together + 1) * warps > 32);
        assert_int_equal(skeleton_blocks_together(&four), together); /* 4 loads of 4, 4 sums of 8 */
        assert_int_equal(skeleton_blocks_together(&nine), 512 / nine.threads);
        four.workers = 1;
        assert_int_equal(skeleton_blocks_together(&four), 0);
        assert_int_equal(skeleton_rows_at_once(&one), 4);
        assert_int_equal(skeleton_rows_at_once(&four), 1);
        one.rows = 0; /* an argument */
        assert_int_equal(skeleton_rows_at_once(&one), 1);
    }
    arena_free(&arena);
}

/* Only windows that overlap ask for later rows, if a worker has so many; and each row that the loop
 * reaches two turns later has been asked for, sector by sector. */
static void test_overlapping_windows_ask_ahead(void **state) {
    (void)state;
    Arena arena = {0};
    Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
    for (int64_t cols = 32; cols <= 960; cols += 32) {
        Kernel rows = summing(&p, cols, 0, 1), apart = summing(&p, cols, 9, 2), k = summing(&p, cols, 9, 1);
        int asked = 0;
        assert_int_equal(skeleton_ahead(&k), 0);
        rows.prefetches = apart.prefetches = k.prefetches = true;
        assert_true(skeleton_ahead(&rows) == 0 && skeleton_ahead(&apart) == 0);
        int in_turn = skeleton_rows_in_turn(&k);
        assert_int_equal(skeleton_ahead(&k), (in_turn < 2 ? 2 : in_turn) * k.parts);
        assert_int_equal(skeleton_lanes_ahead(&k) * k.vector * 2, 32);
        for (int i = 0; i < k.body->count; i++)
            asked += step_is_ahead(&k, i);
        assert_int_equal(asked, 1);
        k.workers = (k.rows + 2 * k.parts - 1) / (2 * k.parts);
        assert_int_equal(skeleton_ahead(&k), 0);
    }
    Kernel k = summing(&p, 256, 9, 1);
    k.prefetches = true;
    Step *last = &k.body->steps[k.body->count - 2];
    last->per = 100;
    last->moves = 300;
    assert_int_equal(skeleton_ahead(&k), 100);
    assert_int_equal(step_moves(&k, k.body->count - 2), 300);
    arena_free(&arena);
}

/* The whole number that a step makes for a row; a condition is 1 or 0. */
static int64_t number_of(const Body *body, int step, int64_t row) {
    const Step *s = &body->steps[step];
    if (s->kind == STEP_ROW)
        return row;
    if (s->kind == STEP_CONST)
        return (int64_t)s->constant;
    int64_t a = number_of(body, s->arg[0], row), b = number_of(body, s->arg[1], row);
    switch (s->kind) {
    case STEP_LT:
        return a < b;
    case STEP_GE:
        return a >= b;
    case STEP_AND:
        return a && b;
    case STEP_ADD:
        return a + b;
    case STEP_SUB:
        return a - b;
    case STEP_MUL:
        return a * b;
    case STEP_DIV:
        return a / b;
    default:
        assert_int_equal(s->kind, STEP_MOD);
        return a % b;
    }
}

/* No tap is before the foremost ones, which move as they say they do: whole lines of a smaller image, pixels
 * of a line of an equal or larger one. */
static void check_foremost(Body *body, const Tap *taps, int count, int64_t line, bool equal) {
    for (int64_t row = 0; row < body->rows; row++) {
        int64_t foremost = INT64_MIN, any = INT64_MIN;
        for (int i = 0; i < count; i++) {
            int64_t at = number_of(body, taps[i].row, row), then = row + taps[i].per;
            any = at > any ? at : any;
            if (!taps[i].per)
                continue;
            foremost = at > foremost ? at : foremost;
            if (then < body->rows && (equal || taps[i].per % line == 0 || row / line == then / line))
                assert_int_equal(number_of(body, taps[i].row, then), at + taps[i].moves);
        }
        assert_int_equal(foremost, any);
    }
}

static void test_foremost_taps_move_evenly(void **state) {
    (void)state;
    for (int64_t kernel = 1; kernel <= 5; kernel++)
        for (int64_t stride = 1; stride <= kernel; stride++)
            for (int64_t padding = 0; padding < kernel; padding++) {
                Arena arena = {0};
                Window w = {.height = 8, .width = 9, .kernel = kernel, .stride = stride, .padding = padding};
                Body *out = body_new(&arena, window_rows_out(&w), 8), *in = body_new(&arena, 72, 8);
                Tap taps[MOST_TAPS];
                bool same = stride == 1 && kernel == 2 * padding + 1;
                int count = window_taps(out, &w, taps);
                check_foremost(out, taps, count, window_out_width(&w), same);
                assert_int_equal(taps[count - 1].moves, same ? 1 : stride * w.width);
                count = window_taps_back(in, &w, taps);
                check_foremost(in, taps, count, w.width, false);
                assert_true(taps[0].per == stride && taps[0].moves == 1);
                arena_free(&arena);
            }
}

/* Returns the tap beside `tap` on its line, one place to the right; NULL: there is none. */
static const Tap *right_of(const Tap *taps, int count, const Tap *tap) {
    for (int i = 0; i < count; i++) {
        if (taps[i].line == tap->line && taps[i].place == tap->place + 1) return &taps[i];
        for (int t = 0; t < taps[i].spare_count; t++)
            if (taps[i].spare[t].line == tap->line && taps[i].spare[t].place == tap->place + 1) return &taps[i].spare[t];
    }
    return NULL;
}

static bool is_inside(const Body *body, const Tap *tap, int64_t row) {
    return tap->inside < 0 || number_of(body, tap->inside, row);
}

/* What a tap reads for the next row of a line, the one to its right reads for this row, inside and outside the image;
 * beside the last tap there are as many as a thread may have more rows. */
static void check_beside(Body *body, const Tap *taps, int count, int64_t line, bool slides) {
    int more = line % 4 == 0 ? 3 : line % 2 == 0 ? 1 : 0, found = 0;
    for (int i = 0; i < count; i++) {
        assert_int_equal(taps[i].slides, slides && more > 0);
        const Tap *tap = &taps[i], *right = taps[i].slides ? right_of(taps, count, tap) : NULL;
        assert_int_equal(right != NULL, slides && more > 0);
        found += taps[i].spare_count;
        for (int t = 0; t < taps[i].spare_count; t++)
            assert_int_equal(taps[i].spare[t].place, taps[i].place + t + 1);
        for (int64_t row = 0; right && row < body->rows; row++) {
            if ((row + 1) % line == 0) continue;
            assert_int_equal(number_of(body, tap->row, row + 1), number_of(body, right->row, row));
            assert_int_equal(is_inside(body, tap, row + 1), is_inside(body, right, row));
        }
    }
    int lines = 1;
    while (lines * lines < count) lines++;
    assert_int_equal(found, slides ? more * lines : 0);
}

static void test_sliding_taps_are_beside_each_other(void **state) {
    (void)state;
    for (int64_t kernel = 1; kernel <= 5; kernel++)
        for (int64_t stride = 1; stride <= 2; stride++)
            for (int64_t padding = 0; padding < kernel; padding++)
                for (int64_t width = 6; width <= 9; width++) {
                    Arena arena = {0};
                    Window w = {.height = 6, .width = width, .kernel = kernel, .stride = stride, .padding = padding};
                    Body *out = body_new(&arena, 2 * window_rows_out(&w), 8), *in = body_new(&arena, 12 * width, 8);
                    Tap taps[MOST_TAPS];
                    int count = window_taps(out, &w, taps);
                    check_beside(out, taps, count, window_out_width(&w), stride == 1);
                    count = window_taps_back(in, &w, taps);
                    check_beside(in, taps, count, width, stride == 1);
                    arena_free(&arena);
                }
}

/* A kernel of a batch of images `width` wide and `cols` deep: a 3x3 depthwise convolution and the sums of its
 * results. */
static Kernel convolving(Program *p, int64_t images, int64_t width, int64_t cols, bool slides) {
    Window w = {.height = width, .width = width, .kernel = 3, .stride = 1, .padding = 1};
    Body *body = body_new(p->arena, images * width * width, cols);
    Value *x = value_2d(p, "x", ROLE_FROZEN, DT_BF16, body->rows, cols, (Pos){0});
    Value *sums = value_1d(p, "sums", ROLE_ACTIVATION, DT_F32, cols, (Pos){0});
    Tap taps[MOST_TAPS];
    int count = window_taps(body, &w, taps), sum = -1;
    for (int i = 0; i < count; i++) {
        int tap = tap_load(body, &taps[i], x, "x");
        sum = sum < 0 ? tap : step_binary(body, STEP_ADD, sum, tap);
    }
    step_col_sum(body, sums, sum);
    Kernel k = {.body = body, .real = p->real, .shares_rows = slides};
    skeleton_choose(p, &k, false);
    return k;
}

static int loads_of(const Kernel *k) {
    int count = 0;
    for (int i = 0; i < k->body->count; i++)
        count += k->body->steps[i].kind == STEP_LOAD;
    return count;
}

/* Threads have four or two rows of a line together if lines consist of so many, and load what their windows need but no
 * more. Which rows a thread adds, and in which order, does not depend on it. */
static void test_threads_have_rows_of_a_line(void **state) {
    (void)state;
    static const struct {
        int64_t width;
        int slides, places; /* of a line */
    } widths[] = {{16, 4, 6}, {14, 2, 4}, {15, 1, 3}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        Arena arena = {0};
        Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
        Kernel k = convolving(&p, 512, widths[i].width, 256, true);
        Kernel apart = convolving(&p, 512, widths[i].width, 256, false);
        assert_int_equal(skeleton_slides(&k), widths[i].slides);
        assert_int_equal(skeleton_slides(&apart), 1);
        assert_int_equal(k.vector, widths[i].slides > 1 ? 4 : 8);
        assert_true(k.workers == apart.workers && k.parts == apart.parts);
        assert_int_equal(skeleton_rows_in_turn(&k), skeleton_rows_in_turn(&apart));
        Body *body = body_copy(k.body);
        fuse_drop_spares(body, 0);
        apart.body = body;
        assert_int_equal(loads_of(&apart), 9);
        body = body_copy(k.body);
        fuse_drop_spares(body, skeleton_slides(&k) - 1);
        k.body = body;
        assert_int_equal(loads_of(&k), 3 * widths[i].places);
        assert_int_equal(skeleton_slides(&k), widths[i].slides);
        arena_free(&arena);
    }
}

/* Rows that a thread takes in turn divide those of each worker, and leave few threads idle in the last turn. */
static void test_turns_are_even(void **state) {
    (void)state;
    Arena arena = {0};
    Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
    int most = 1;
    for (int64_t rows = 64; rows < 100000; rows = rows * 9 / 8 + 2)
        for (int64_t cols = 8; cols <= 1024; cols *= 2) {
            Body *body = body_new(&arena, rows, cols);
            Value *x = value_2d(&p, "x", ROLE_FROZEN, DT_BF16, rows, cols, (Pos){0});
            step_col_sum(body, value_1d(&p, "sums", ROLE_ACTIVATION, DT_F32, cols, (Pos){0}), step_load(body, x));
            Kernel k = {.body = body, .real = p.real};
            skeleton_choose(&p, &k, false);
            int64_t each = skeleton_rows_per_worker(&k, rows), in_turn = skeleton_rows_in_turn(&k);
            int64_t turns = (each + in_turn * k.parts - 1) / (in_turn * k.parts);
            assert_true(rows % in_turn == 0 && each % in_turn == 0);
            assert_true(in_turn == 1 || 16 * each >= 15 * turns * in_turn * k.parts);
            most = in_turn > most ? (int)in_turn : most;
        }
    assert_int_equal(most, 4);
    arena_free(&arena);
}

static int workers_of(Program *p, int64_t rows, int64_t cols) {
    Body *body = body_new(p->arena, rows, cols);
    Value *x = value_2d(p, "x", ROLE_FROZEN, DT_BF16, rows, cols, (Pos){0});
    step_col_sum(body, value_1d(p, "sums", ROLE_ACTIVATION, DT_F32, cols, (Pos){0}), step_load(body, x));
    return (int)skeleton_workers(p, body, false);
}

/* Sums over few rows have blocks for many multiprocessors, each with two rows per thread or more;
 * those over many rows or columns have no more partial sums than that takes. */
static void test_few_rows_have_many_workers(void **state) {
    (void)state;
    Arena arena = {0};
    Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
    assert_int_equal(workers_of(&p, 64, 1024), 1);
    assert_int_equal(workers_of(&p, 256, 1024), 16);
    assert_int_equal(workers_of(&p, 1024, 1024), 32);
    assert_int_equal(workers_of(&p, 1024, 128), 32);
    assert_int_equal(workers_of(&p, 4096, 256), 128);
    assert_int_equal(workers_of(&p, 4096, 1024), 64);
    assert_int_equal(workers_of(&p, 8192, 1024), 128);
    assert_int_equal(workers_of(&p, 65536, 1024), 512);
    assert_int_equal(workers_of(&p, 43264, 32), 338);
    arena_free(&arena);
}

/* The kernel of y = x a b ..., or of a sum of several x; a, b, ... are `factors` vectors. */
static Kernel scaling(Program *p, int64_t rows, int64_t cols, int terms, int factors) {
    Body *body = body_new(p->arena, rows, cols);
    int y = step_load(body, value_2d(p, "x", ROLE_FROZEN, p->activation, rows, cols, (Pos){0}));
    for (int i = 1; i < terms; i++) {
        Value *x = value_2d(p, "x", ROLE_FROZEN, p->activation, rows, cols, (Pos){0});
        y = step_binary(body, STEP_ADD, y, step_load(body, x));
    }
    int product = -1; /* of the vectors */
    for (int i = 0; i < factors; i++) {
        int factor = step_load(body, value_1d(p, "a", ROLE_FROZEN, DT_F32, cols, (Pos){0}));
        product = i ? step_binary(body, STEP_MUL, product, factor) : factor;
    }
    step_store(body, value_2d(p, "y", ROLE_ACTIVATION, p->activation, rows, cols, (Pos){0}),
               factors ? step_binary(body, STEP_MUL, y, product) : y);
    Kernel k = {.body = body, .real = p->real, .shares_rows = true};
    skeleton_choose(p, &k, false);
    return k;
}

static int64_t grid_size(const Kernel *k) {
    int64_t grid[3];
    skeleton_grid(k, k->body->rows, grid);
    return grid[0];
}

/* A thread has two rows if four of five accesses are to what they share, if it has registers, and if enough
 * blocks are left. */
static void test_rows_share_a_thread(void **state) {
    (void)state;
    Arena arena = {0};
    Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
    for (int64_t cols = 8; cols <= 2048; cols *= 2) {
        int64_t least = 2 * 2048 * 256 * 8 / cols; /* rows of two for 2048 blocks of 256 threads */
        assert_int_equal(scaling(&p, least, cols, 1, 4).thread_rows, 2);
        assert_int_equal(scaling(&p, least - 2, cols, 1, 4).thread_rows, 1);
        assert_int_equal(scaling(&p, least + 1, cols, 1, 4).thread_rows, 1);
        assert_int_equal(scaling(&p, least, cols, 1, 3).thread_rows, 1);
        assert_int_equal(scaling(&p, least, cols, 2, 5).thread_rows, 1);
        assert_int_equal(scaling(&p, least, cols, 2, 6).thread_rows, 2);
        assert_int_equal(scaling(&p, least, cols, 2, 7).thread_rows, 1);
        Kernel k = scaling(&p, least, cols, 1, 4);
        assert_int_equal(grid_size(&k), 2048);
        skeleton_choose(&p, &k, true); /* rows are an argument */
        assert_int_equal(k.thread_rows, 1);
        k.shares_rows = false;
        skeleton_choose(&p, &k, false);
        assert_int_equal(k.thread_rows, 1);
    }
    p.activation = DT_F32; /* vectors of 16 bytes */
    assert_int_equal(scaling(&p, 1 << 20, 16, 1, 7).thread_rows, 1);
    assert_int_equal(scaling(&p, 1 << 20, 16, 1, 8).thread_rows, 2);
    arena_free(&arena);
}

/* What two rows share is loaded and computed once, what they have for themselves twice. */
static void test_shared_loads_count_once(void **state) {
    (void)state;
    Arena arena = {0};
    Program p = {.arena = &arena, .real = DT_F32, .activation = DT_BF16};
    Kernel two = scaling(&p, 1 << 20, 32, 1, 4), one = two;
    Launch launch = {.kind = LAUNCH_KERNEL};
    one.thread_rows = 1;
    Cost of_two = body_cost(&arena, &two, &launch), of_one = body_cost(&arena, &one, &launch);
    double elements = (1 << 20) * 32;
    assert_true(of_one.issued_bytes == elements * (2 + 4 * 4 + 2));
    assert_true(of_two.issued_bytes == elements * (2 + 4 * 4 / 2 + 2));
    /* Per element: an eighth of four times 3 instructions for the vectors, and three products. */
    assert_true(of_one.instructions - of_two.instructions == elements * (4 * 3 / 8.0 + 3) / 2);
    assert_true(of_one.flops == of_two.flops);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_share_kernels),
        cmocka_unit_test(test_seed_and_rate_change_no_kernel),
        cmocka_unit_test(test_launches_fit_their_kernels),
        cmocka_unit_test(test_no_hole_is_left),
        cmocka_unit_test(test_skeletons_follow_from_shape),
        cmocka_unit_test(test_long_rows_are_alone),
        cmocka_unit_test(test_many_sums_add_the_same_rows),
        cmocka_unit_test(test_sums_fill_the_device),
        cmocka_unit_test(test_overlapping_windows_ask_ahead),
        cmocka_unit_test(test_foremost_taps_move_evenly),
        cmocka_unit_test(test_sliding_taps_are_beside_each_other),
        cmocka_unit_test(test_threads_have_rows_of_a_line),
        cmocka_unit_test(test_turns_are_even),
        cmocka_unit_test(test_few_rows_have_many_workers),
        cmocka_unit_test(test_rows_share_a_thread),
        cmocka_unit_test(test_shared_loads_count_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
