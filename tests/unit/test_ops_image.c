/* Ops on images against their definitions, in fp64: what the gradients in test_ops.c say nothing of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "interpret.h"

static const Spec blank;
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

/* A number for each element that shows where it stands. */
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

/* ---- pools ----------------------------------------------------------------------------------- */

/* Padding never wins, the first of equals does, and what is not a number does. */
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

/* As torch.nn.functional.interpolate's documentation has it. */
static double interpolated(const Setup *s, const Value *pixels, const Value *indices, const Attr *a, int64_t row, int64_t col) {
    int64_t height = a->window.height, width = a->window.width;
    int64_t n = row / (a->out_height * a->out_width), h = row / a->out_width % a->out_height, w = row % a->out_width;
    if (indices)
        n = (int64_t)at(s, indices, n, 0);
    double y = fmax(((double)h + 0.5) * (double)height / (double)a->out_height - 0.5, 0);
    double x = fmax(((double)w + 0.5) * (double)width / (double)a->out_width - 0.5, 0);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        int64_t line = (int64_t)fmin(floor(y) + i / 2, (double)height - 1);
        int64_t place = (int64_t)fmin(floor(x) + i % 2, (double)width - 1);
        double share = (i / 2 ? y - floor(y) : 1 - (y - floor(y))) * (i % 2 ? x - floor(x) : 1 - (x - floor(x)));
        sum += share * at(s, pixels, (n * height + line) * width + place, value_cols(pixels) > 1 ? col : 0);
    }
    return (sum / 255 - mean_of[col]) / std_of[col];
}

/* `kept`: the batch's two are chosen from as many images; 0: they are the batch. */
static void compare_image_input(int64_t from, int64_t kept, Attr attr) {
    Setup s;
    start(&s);
    int64_t rows = (kept ? kept : IMAGES) * attr.window.height * attr.window.width;
    Value *indices = kept ? matrix(&s, "indices", ROLE_INPUT, DT_I32, IMAGES, 1) : NULL;
    Value *in[] = {matrix(&s, "pixels", ROLE_INPUT, DT_U8, rows, from), channels(&s, "mean", ROLE_FROZEN, 3),
                   channels(&s, "std", ROLE_FROZEN, 3), indices};
    Value *y = add(&s, OP_image_input, in, kept ? 4 : 3, attr)->out[0];
    ready(&s);
    fill(&s, in[0], 0);
    for (int c = 0; c < 3; c++) {
        memory_set(&s.memory, in[1], c, mean_of[c]);
        memory_set(&s.memory, in[2], c, std_of[c]);
    }
    for (int i = 0; kept && i < IMAGES; i++)
        memory_set(&s.memory, indices, i, (double)(kept - 1 - 2 * i));
    run(&s);
    for (int64_t i = 0; i < value_elements(y); i++)
        assert_close(at(&s, y, i / 3, i % 3), interpolated(&s, in[0], indices, &attr, i / 3, i % 3));
    end(&s);
}

static void test_image_input(void **state) {
    (void)state;
    static const int64_t sizes[][4] = {{5, 4, 5, 4}, {5, 4, 9, 7}, {9, 8, 4, 5}, {1, 3, 4, 1}};
    for (int i = 0; i < 4; i++)
        for (int64_t from = 1; from <= 3; from += 2)
            for (int64_t kept = 0; kept <= 5; kept += 5)
                compare_image_input(from, kept, (Attr){.window = {.height = sizes[i][0], .width = sizes[i][1]}, .out_height = sizes[i][2], .out_width = sizes[i][3]});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_norm_stats), cmocka_unit_test(test_batch_norm_eval),
        cmocka_unit_test(test_max_pool),         cmocka_unit_test(test_global_avg_pool),
        cmocka_unit_test(test_image_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
