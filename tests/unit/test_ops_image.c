/* Compares ops on images with their definitions, in fp64 (rounded results in bf16), where the gradients
 * in test_ops.c do not test them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "interpret.h"

static const Spec blank = {.parallelism = {.data_parallel_shard_degree = 1}};
static const double CLOSE = 1e-13;

typedef struct {
    Arena arena;
    Program *program;
    Graph *graph;
    const Plan *plan;
    Memory memory;
} Setup;

static void start(Setup *s) {
    *s = (Setup){0};
    s->program = program_new(&s->arena);
    s->program->real = s->program->activation = DT_F64;
    s->graph = &s->program->entry[ENTRY_MICRO_STEP];
}

/* Returns a number that identifies an element. */
static double number(int64_t i) { return sin(1.7 * (double)i) + 0.1 * (double)(i % 7); }

static Value *matrix(Setup *s, const char *name, Role role, DType dtype, int64_t rows, int64_t cols) {
    return value_2d(s->program, name, role, dtype, rows, cols, (Pos){0});
}

static Value *channels(Setup *s, const char *name, Role role, int64_t cols) {
    return value_1d(s->program, name, role, DT_F64, cols, (Pos){0});
}

static Op *add(Setup *s, OpKind kind, Value *const *in, int in_count, Attr attr) {
    return op_add(s->program, s->graph, kind, "op", in, in_count, attr, (Pos){0});
}

static void fill(Setup *s, const Value *v, double offset) {
    for (int64_t i = 0; i < value_elements(v); i++)
        memory_set(&s->memory, v, i, v->dtype == DT_U8 ? (double)(i * 37 % 256) : number(i) + offset);
}

static double at(const Setup *s, const Value *v, int64_t row, int64_t col) {
    return memory_get(&s->memory, v, row * value_cols(v) + col);
}

/* Planning adds storages, so memory comes after it. */
static void ready(Setup *s) {
    program_verify(s->program, STAGE_KERNEL, "test");
    interpret_keep_results(s->program);
    s->plan = interpret_plan(s->program, &blank);
    s->memory = memory_new(s->program);
}

static void run(Setup *s) { interpret_micro_step(&s->memory, s->plan); }

static void end(Setup *s) {
    memory_free(&s->memory);
    arena_free(&s->arena);
}

static void assert_close(double found, double expected) {
    if (!(fabs(found - expected) <= CLOSE * (1 + fabs(expected))))
        fail_msg("%.17g should be %.17g", found, expected);
}

/* ---- batch norm ------------------------------------------------------------------------------ */

enum { ROWS = 21, COLS = 6 };

typedef struct {
    double mean, var;
} Moments;

static Moments moments_of(const Setup *s, const Value *x, int64_t col) {
    Moments m = {0, 0};
    for (int64_t row = 0; row < value_rows(x); row++)
        m.mean += at(s, x, row, col) / (double)value_rows(x);
    for (int64_t row = 0; row < value_rows(x); row++)
        m.var += pow(at(s, x, row, col) - m.mean, 2) / (double)value_rows(x);
    return m;
}

static void test_batch_norm_stats(void **state) {
    (void)state;
    Setup s;
    start(&s);
    Value *x = matrix(&s, "x", ROLE_FROZEN, DT_F64, ROWS, COLS);
    Value *mean = channels(&s, "running_mean", ROLE_COUNTER, COLS);
    Value *var = channels(&s, "running_var", ROLE_COUNTER, COLS);
    Op *sums = add(&s, OP_batch_norm_sums, (Value *[]){x, mean}, 2, (Attr){0});
    Value *in[] = {sums->out[0], sums->out[1], mean, var};
    Value *out[] = {NULL, NULL, value_alias(s.program, mean, "mean"), value_alias(s.program, var, "var")};
    Attr attr = {.rows = ROWS, .momentum = 0.3, .eps = 1e-3};
    Op *stats = op_add_into(s.program, s.graph, OP_batch_norm_stats, "stats", in, 4, out, 4, attr, (Pos){0});
    ready(&s);
    fill(&s, x, 2);
    fill(&s, mean, 1);
    fill(&s, var, 5);
    run(&s);
    for (int c = 0; c < COLS; c++) {
        Moments m = moments_of(&s, x, c);
        assert_close(at(&s, stats->out[0], 0, c), m.mean);
        assert_close(at(&s, stats->out[1], 0, c), 1 / sqrt(m.var + 1e-3));
        assert_close(at(&s, mean, 0, c), 0.7 * (number(c) + 1) + 0.3 * m.mean);
        assert_close(at(&s, var, 0, c), 0.7 * (number(c) + 5) + 0.3 * m.var * ROWS / (ROWS - 1));
    }
    end(&s);
}

static void test_batch_norm_eval(void **state) {
    (void)state;
    Setup s;
    start(&s);
    Value *in[] = {matrix(&s, "x", ROLE_FROZEN, DT_F64, ROWS, COLS), channels(&s, "mean", ROLE_FROZEN, COLS),
                   channels(&s, "var", ROLE_FROZEN, COLS), channels(&s, "weight", ROLE_FROZEN, COLS),
                   channels(&s, "bias", ROLE_FROZEN, COLS)};
    Value *y = add(&s, OP_batch_norm_eval, in, 5, (Attr){.eps = 1e-3})->out[0];
    ready(&s);
    for (int i = 0; i < 5; i++)
        fill(&s, in[i], i == 2 ? 3 : 0.1 * i);
    run(&s);
    for (int i = 0; i < ROWS * COLS; i++) {
        int c = i % COLS;
        double xhat = (number(i) - (number(c) + 0.1)) / sqrt(number(c) + 3 + 1e-3);
        assert_close(at(&s, y, i / COLS, c), xhat * (number(c) + 0.1 * 3) + number(c) + 0.1 * 4);
    }
    end(&s);
}

/* ---- batch norm of a linear, by products ------------------------------------------------------- */

/* Activations among the results are bf16. */
static Op *add_rounded(Setup *s, OpKind kind, Value *const *in, int in_count, Attr attr) {
    s->program->activation = DT_BF16;
    Op *op = add(s, kind, in, in_count, attr);
    s->program->activation = DT_F64;
    return op;
}

/* pull is made of of_dz as it is stored, so that what dz and yhat have in common still cancels. */
static void test_linear_norm_grads(void **state) {
    (void)state;
    Setup s;
    start(&s);
    enum { C = 5, K = 4, R = 30 };
    Value *in[] = {matrix(&s, "products", ROLE_FROZEN, DT_F64, C, K), matrix(&s, "sum_dz", ROLE_FROZEN, DT_F64, C, 1),
                   matrix(&s, "cross", ROLE_FROZEN, DT_F64, C, K),    matrix(&s, "w", ROLE_FROZEN, DT_F64, C, K),
                   matrix(&s, "sum", ROLE_FROZEN, DT_F64, 1, K),      matrix(&s, "rstd", ROLE_FROZEN, DT_F64, C, 1),
                   matrix(&s, "weight", ROLE_FROZEN, DT_F64, C, 1)};
    Op *op = add_rounded(&s, OP_linear_norm_grads, in, 7, (Attr){.rows = R});
    ready(&s);
    for (int i = 0; i < 7; i++)
        fill(&s, in[i], 0.3 * i);
    run(&s);
    int inexact = 0;
    for (int c = 0; c < C; c++) {
        double rstd = at(&s, in[5], c, 0), dot = 0;
        for (int k = 0; k < K; k++)
            dot += rstd * at(&s, in[3], c, k) *
                   (at(&s, in[0], c, k) - at(&s, in[1], c, 0) * at(&s, in[4], 0, k) / R);
        assert_close(at(&s, op->out[0], c, 0), dot);
        for (int k = 0; k < K; k++) {
            double exact = rstd * at(&s, in[6], c, 0) * at(&s, in[3], c, k), of_dz = at(&s, op->out[3], c, k);
            inexact += of_dz != exact;
            assert_true(fabs(of_dz - exact) <= fabs(exact) / 256);
            assert_close(at(&s, op->out[4], c, k), rstd * dot / R * of_dz);
            double centred = at(&s, in[0], c, k) - at(&s, in[1], c, 0) * at(&s, in[4], 0, k) / R;
            assert_close(at(&s, op->out[2], c, k),
                         rstd * at(&s, in[6], c, 0) * (centred - rstd * dot / R * at(&s, in[2], c, k)));
        }
    }
    assert_true(inexact > C);
    end(&s);
}

/* The columns of dx add up to zero to 16 bits; one number of x's type has 8. */
static void test_linear_norm_of_ones(void **state) {
    (void)state;
    Setup s;
    start(&s);
    enum { K = 4, R = 30, BESIDE = 8 };
    Value *of_x[] = {matrix(&s, "exact", ROLE_FROZEN, DT_F64, K, K), matrix(&s, "sum", ROLE_FROZEN, DT_F64, K, 1)};
    Op *rounded = add_rounded(&s, OP_linear_norm_of_x, of_x, 2, (Attr){0});
    Value *in[] = {rounded->out[1], channels(&s, "moved", ROLE_FROZEN, K)};
    Value *shift = matrix(&s, "shift", ROLE_ACTIVATION, DT_BF16, BESIDE, K);
    op_add_into(s.program, s.graph, OP_linear_norm_of_ones, "of_ones", in, 2, &shift, 1, (Attr){.rows = R}, (Pos){0});
    ready(&s);
    fill(&s, of_x[0], 0.5);
    fill(&s, of_x[1], 9);
    fill(&s, in[1], 3);
    run(&s);
    for (int col = 0; col < K; col++) {
        double total = at(&s, in[1], 0, col);
        for (int k = 0; k < K; k++)
            total += at(&s, of_x[1], k, 0) * at(&s, rounded->out[0], k, col);
        double added = R * (at(&s, shift, 0, col) + at(&s, shift, 1, col));
        assert_true(fabs(total + added) <= fabs(total) / (256 * 256));
        for (int row = 2; row < BESIDE; row++)
            assert_close(at(&s, shift, row, col), 0);
    }
    end(&s);
}

/* ---- pools ----------------------------------------------------------------------------------- */

/* Padding is never the maximum; of equal numbers the first one is; a NaN is. */
static void test_max_pool(void **state) {
    (void)state;
    static const double pixels[] = {-3, -1, -1, -2, NAN, -5, -4, -6, -7};
    static const double largest[] = {NAN, NAN, NAN, NAN};
    static const int argmax[] = {8, 6, 2, 0};
    Setup s;
    start(&s);
    Window w = {.height = 3, .width = 3, .kernel = 3, .stride = 2, .padding = 1};
    Value *x = matrix(&s, "x", ROLE_FROZEN, DT_F64, 9, 1);
    Op *pool = add(&s, OP_max_pool2d, &x, 1, (Attr){.window = w});
    ready(&s);
    for (int with_nan = 1; with_nan >= 0; with_nan--) {
        for (int i = 0; i < 9; i++)
            memory_set(&s.memory, x, i, with_nan || i != 4 ? pixels[i] : -8);
        run(&s);
        for (int i = 0; i < 4 && with_nan; i++) {
            assert_true(isnan(largest[i]) && isnan(at(&s, pool->out[0], i, 0)));
            assert_int_equal(at(&s, pool->out[1], i, 0), argmax[i]);
        }
    }
    assert_true(at(&s, pool->out[0], 0, 0) == -1 && at(&s, pool->out[1], 0, 0) == 5);
    assert_true(at(&s, pool->out[0], 1, 0) == -1 && at(&s, pool->out[1], 1, 0) == 3);
    end(&s);
}

static void test_global_avg_pool(void **state) {
    (void)state;
    enum { IMAGES = 3, PIXELS = 49 };
    Setup s;
    start(&s);
    Value *x = matrix(&s, "x", ROLE_FROZEN, DT_F64, IMAGES * PIXELS, COLS);
    Value *y = add(&s, OP_global_avg_pool2d, &x, 1, (Attr){.rows = IMAGES})->out[0];
    ready(&s);
    fill(&s, x, 0);
    run(&s);
    for (int n = 0; n < IMAGES; n++)
        for (int c = 0; c < COLS; c++) {
            double sum = 0;
            for (int i = 0; i < PIXELS; i++)
                sum += at(&s, x, n * PIXELS + i, c);
            assert_close(at(&s, y, n, c), sum / PIXELS);
        }
    end(&s);
}

/* ---- image_input ----------------------------------------------------------------------------- */

enum { IMAGES = 2 };
static const double mean_of[] = {0.4, 0.5, 0.1}, std_of[] = {0.2, 0.3, 0.5};

/* The part of image n. */
typedef struct {
    double top, left, height, width;
    bool mirrored;
} Box;
static const Box boxes_of[IMAGES] = {{1, 0, 2, 3, true}, {0, 1, 1, 2, false}};

/* Returns the place of output i on an axis of `size` places from `first`, resized to `resized`. */
static double place_at(double i, double first, double size, double resized) {
    return first + fmin(fmax((i + 0.5) * size / resized - 0.5, 0), size - 1);
}

/* As documented for torch.nn.functional.interpolate. */
static double interpolated(const Setup *s, const Value *pixels, const Value *indices, const Attr *a, int64_t row, int64_t col) {
    int64_t height = a->window.height, width = a->window.width;
    int64_t n = row / (a->out_height * a->out_width), h = row / a->out_width % a->out_height, w = row % a->out_width;
    double y = place_at((double)(h + a->crop.top), 0, (double)height, (double)a->crop.height);
    double x = place_at((double)(w + a->crop.left), 0, (double)width, (double)a->crop.width);
    if (a->boxed) {
        const Box *box = &boxes_of[n];
        y = place_at((double)h, box->top, box->height, (double)a->out_height);
        x = place_at((double)(box->mirrored ? a->out_width - 1 - w : w), box->left, box->width, (double)a->out_width);
    }
    if (indices)
        n = (int64_t)at(s, indices, n, 0);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double line = i / 2 ? ceil(y) : floor(y), place = i % 2 ? ceil(x) : floor(x);
        double share = (i / 2 ? y - floor(y) : 1 - (y - floor(y))) * (i % 2 ? x - floor(x) : 1 - (x - floor(x)));
        sum += share * at(s, pixels, (n * height + (int64_t)line) * width + (int64_t)place, value_cols(pixels) > 1 ? col : 0);
    }
    return (sum / 255 - mean_of[col]) / std_of[col];
}

static void fill_boxes(Setup *s, const Value *boxes) {
    for (int n = 0; n < IMAGES; n++) {
        const Box *box = &boxes_of[n];
        const double numbers[BOX_NUMBERS] = {box->top, box->left, box->height, box->width, box->mirrored};
        for (int i = 0; i < BOX_NUMBERS; i++)
            memory_set(&s->memory, boxes, n * BOX_NUMBERS + i, numbers[i]);
    }
}

/* `kept`: the number of images from which the batch's two are chosen; 0: they are the batch. */
static void compare_image_input(int64_t from, int64_t kept, Attr attr) {
    Setup s;
    start(&s);
    int64_t rows = (kept ? kept : IMAGES) * attr.window.height * attr.window.width;
    Value *indices = kept ? matrix(&s, "indices", ROLE_INPUT, DT_I32, IMAGES, 1) : NULL;
    Value *boxes = attr.boxed ? matrix(&s, "boxes", ROLE_INPUT, DT_I32, BOX_NUMBERS * IMAGES, 1) : NULL;
    Value *in[] = {matrix(&s, "pixels", ROLE_INPUT, DT_U8, rows, from), channels(&s, "mean", ROLE_FROZEN, 3),
                   channels(&s, "std", ROLE_FROZEN, 3), indices ? indices : boxes, boxes};
    Value *y = add(&s, OP_image_input, in, 3 + (indices != NULL) + (boxes != NULL), attr)->out[0];
    ready(&s);
    fill(&s, in[0], 0);
    for (int c = 0; c < 3; c++) {
        memory_set(&s.memory, in[1], c, mean_of[c]);
        memory_set(&s.memory, in[2], c, std_of[c]);
    }
    for (int i = 0; kept && i < IMAGES; i++)
        memory_set(&s.memory, indices, i, (double)(kept - 1 - 2 * i));
    if (boxes)
        fill_boxes(&s, boxes);
    run(&s);
    for (int64_t i = 0; i < value_elements(y); i++)
        assert_close(at(&s, y, i / 3, i % 3), interpolated(&s, in[0], indices, &attr, i / 3, i % 3));
    end(&s);
}

static void test_image_input(void **state) {
    (void)state;
    /* Sizes of a stored image, its resized size, and the presented part: top, left, rows, columns.
     * */
    static const int64_t sizes[][8] = {{5, 4, 5, 4, 0, 0, 5, 4}, {5, 4, 9, 7, 0, 0, 9, 7}, {9, 8, 4, 5, 0, 0, 4, 5},
                                       {1, 3, 4, 1, 0, 0, 4, 1}, {5, 4, 9, 7, 2, 1, 4, 5}, {5, 4, 5, 4, 1, 0, 3, 4}};
    for (int i = 0; i < 6; i++)
        for (int64_t from = 1; from <= 3; from += 2)
            for (int64_t kept = 0; kept <= 5; kept += 5) {
                const int64_t *n = sizes[i];
                Attr attr = {.window = {.height = n[0], .width = n[1]}, .crop = {n[2], n[3], n[4], n[5]}, .out_height = n[6], .out_width = n[7]};
                compare_image_input(from, kept, attr);
            }
}

static void test_image_boxes(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{3, 3}, {5, 2}, {1, 7}};
    for (int i = 0; i < 3; i++)
        for (int64_t from = 1; from <= 3; from += 2)
            for (int64_t kept = 0; kept <= 5; kept += 5) {
                int64_t h = sizes[i][0], w = sizes[i][1];
                Attr attr = {.window = {.height = 3, .width = 4}, .crop = {h, w, 0, 0}, .out_height = h, .out_width = w, .boxed = true};
                compare_image_input(from, kept, attr);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_norm_stats), cmocka_unit_test(test_batch_norm_eval),
        cmocka_unit_test(test_linear_norm_grads), cmocka_unit_test(test_linear_norm_of_ones),
        cmocka_unit_test(test_max_pool),         cmocka_unit_test(test_global_avg_pool),
        cmocka_unit_test(test_image_input),      cmocka_unit_test(test_image_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
