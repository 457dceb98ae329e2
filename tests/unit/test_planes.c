/* Images in planes, [n,c,h,w], give the same numbers as images stored row by row: each op runs over
 * both in one program, with and without fusion. Also tests the form of kernels over planes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "interpret.h"
#include "emit/shared_bodies.h"
#include "plan/plan_steps.h"

enum { MOST_INPUTS = 16 };

/* Each operand of images exists twice: at [0] stored row by row, at [1] in planes. */
typedef struct {
    Value *at[2];
} Pair;

typedef struct {
    Arena arena;
    Program *program;
    Graph *graph;
    Spec spec;
    Plan *plan;
    Memory memory;
    int64_t images, height, width, channels;
    Value *inputs[MOST_INPUTS]; /* filled by the test; both of a pair with the same numbers */
    int input_count;
    Pair results[MOST_INPUTS];
    int result_count;
    int names;
} Setup;

static void start(Setup *s, int64_t images, int64_t height, int64_t width, int64_t channels) {
    *s = (Setup){.images = images, .height = height, .width = width, .channels = channels};
    s->program = program_new(&s->arena);
    s->program->real = s->program->activation = DT_F64;
    s->program->tokens = images;
    s->graph = &s->program->entry[ENTRY_MICRO_STEP];
}

static const char *name_of(Setup *s, const char *what) {
    return arena_printf(&s->arena, "%s%d", what, s->names++);
}

static Value *input(Setup *s, Value *v) {
    assert_true(s->input_count < MOST_INPUTS);
    return s->inputs[s->input_count++] = v;
}

static Pair images(Setup *s, int64_t height, int64_t width) {
    Pair p;
    for (int i = 0; i < 2; i++) {
        p.at[i] = value_2d(s->program, "x", ROLE_FROZEN, DT_F64, s->images * height * width, s->channels, (Pos){0});
        p.at[i]->plane = i ? height * width : 0;
        input(s, p.at[i]);
    }
    return p;
}

static Value *channels(Setup *s, const char *name) {
    return input(s, value_1d(s->program, name, ROLE_FROZEN, DT_F64, s->channels, (Pos){0}));
}

/* A pair that uses one value for both. */
static Pair both(Value *v) { return (Pair){{v, v}}; }

static Value *weight(Setup *s, int64_t rows) {
    return input(s, value_2d(s->program, "w", ROLE_FROZEN, DT_F64, rows, s->channels, (Pos){0}));
}

/* Adds the op over both, whose results are compared; returns the first. */
static Pair add_wide(Setup *s, OpKind kind, const Pair *in, int count, Attr attr, Pair *second) {
    Op *ops[2];
    for (int i = 0; i < 2; i++) {
        Value *of[MAX_OPERANDS];
        for (int k = 0; k < count; k++) of[k] = in[k].at[i];
        Attr own = attr;
        own.plane = i ? attr.plane : 0;
        ops[i] = op_add(s->program, s->graph, kind, name_of(s, "op"), of, count, own, (Pos){0});
    }
    Pair out = {0};
    for (int r = ops[0]->out_count - 1; r >= 0; r--) {
        out = (Pair){{ops[0]->out[r], ops[1]->out[r]}};
        for (int i = 0; i < 2; i++) out.at[i]->role = ROLE_GRADIENT; /* fused or not, it is stored */
        if (r == 1 && second) *second = out;
        assert_true(s->result_count < MOST_INPUTS);
        s->results[s->result_count++] = out;
    }
    return out;
}

static Pair add(Setup *s, OpKind kind, const Pair *in, int count, Attr attr) {
    return add_wide(s, kind, in, count, attr, NULL);
}

static double number(int64_t i) { return sin(1.7 * (double)i) + 0.1 * (double)(i % 7); }

static void fill(Setup *s) {
    for (int k = 0; k < s->input_count; k++) {
        const Value *v = s->inputs[k];
        for (int64_t row = 0; row < value_rows(v); row++)
            for (int64_t col = 0; col < value_cols(v); col++) {
                int64_t i = row * value_cols(v) + col;
                double x = v->dtype == DT_U8    ? (double)(i * 37 % 256)
                           : v->dtype == DT_F64 ? number(i + value_elements(v))
                                                : (double)(i + 3);
                memory_set(&s->memory, v, value_index(v, row, col), x);
            }
    }
}

static void compare(const Setup *s, Pair p) {
    const Value *a = p.at[0], *b = p.at[1];
    for (int64_t row = 0; row < value_rows(a); row++)
        for (int64_t col = 0; col < value_cols(a); col++) {
            double x = memory_get(&s->memory, a, value_index(a, row, col));
            double y = memory_get(&s->memory, b, value_index(b, row, col));
            if (!(fabs(x - y) <= 1e-12 * (1 + fabs(x))))
                fail_msg("%lldx%lldx%lldx%lld: %s[%lld,%lld] is %.17g in planes, not %.17g", (long long)s->images, (long long)s->height, (long long)s->width, (long long)s->channels, b->name, (long long)row, (long long)col, y, x);
        }
}

static void run_and_compare(Setup *s) {
    program_verify(s->program, STAGE_KERNEL, "test");
    for (int fusion = 0; fusion < 2; fusion++) {
        s->spec.compile.fusion = fusion;
        s->plan = interpret_plan(s->program, &s->spec);
        s->memory = memory_new(s->program);
        fill(s);
        interpret_micro_step(&s->memory, s->plan);
        for (int i = 0; i < s->result_count; i++) compare(s, s->results[i]);
        memory_free(&s->memory);
    }
}

static void end(Setup *s) {
    run_and_compare(s);
    arena_free(&s->arena);
}

/* ---- ops ------------------------------------------------------------------------------------- */

/* One image and several; planes that fill vectors and odd ones; wider than a warp's row; planes of
 * one pixel, or of one after a stride. */
static const int64_t sizes[][4] = {{3, 4, 4, 6}, {2, 5, 7, 3}, {1, 4, 6, 5}, {4, 1, 1, 5}, {2, 6, 6, 1}, {2, 40, 33, 3}, {3, 2, 2, 4}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void each_size(void (*build)(Setup *)) {
    for (int i = 0; i < SIZES; i++) {
        Setup s;
        start(&s, sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3]);
        build(&s);
        end(&s);
    }
}

static void build_pointwise(Setup *s) {
    Pair x = images(s, s->height, s->width), y = images(s, s->height, s->width);
    Pair sum = add(s, OP_add, (Pair[]){x, y}, 2, (Attr){0});
    Pair biased = add(s, OP_add_bias, (Pair[]){sum, both(channels(s, "b"))}, 2, (Attr){0});
    Pair act = add(s, OP_relu6, &biased, 1, (Attr){0});
    Pair dx = add(s, OP_relu6_grad, (Pair[]){act, y}, 2, (Attr){0});
    add(s, OP_column_sum, &dx, 1, (Attr){0});
}

static void test_pointwise(void **state) { (void)state, each_size(build_pointwise); }

static Value *integer(Setup *s, const char *name, DType dtype) {
    return input(s, value_1d(s->program, name, ROLE_INPUT, dtype, 1, (Pos){0}));
}

/* The mask does not depend on the layout. */
static void build_dropout(Setup *s) {
    Pair in[] = {images(s, s->height, s->width), both(integer(s, "seed", DT_I64)), both(integer(s, "step", DT_I32)),
                 both(integer(s, "first_row", DT_I32))};
    add(s, OP_dropout, in, 4, (Attr){.rate = 0.4, .stream = 9});
}

static void test_dropout(void **state) { (void)state, each_size(build_dropout); }

static void build_batch_norm(Setup *s) {
    Pair x = images(s, s->height, s->width), dy = images(s, s->height, s->width);
    Pair mean = both(channels(s, "mean")), rstd = both(channels(s, "rstd")), w = both(channels(s, "w")), b = both(channels(s, "b"));
    add(s, OP_batch_norm_sums, (Pair[]){x, mean}, 2, (Attr){0});
    add(s, OP_batch_norm, (Pair[]){x, mean, rstd, w, b}, 5, (Attr){0});
    add(s, OP_batch_norm_eval, (Pair[]){x, mean, rstd, w, b}, 5, (Attr){.eps = 3});
    Pair sum, dot = add_wide(s, OP_batch_norm_grad_sums, (Pair[]){x, mean, rstd, dy}, 4, (Attr){0}, &sum);
    Attr rows = {.rows = value_rows(x.at[0])};
    add(s, OP_batch_norm_grad, (Pair[]){x, mean, rstd, w, dot, sum, dy}, 7, rows);
    add(s, OP_batch_norm_relu6_grad_sums, (Pair[]){x, mean, rstd, dy, w, b}, 6, (Attr){0});
    add(s, OP_batch_norm_relu_grad, (Pair[]){x, mean, rstd, w, dot, sum, dy, b}, 8, rows);
}

static void test_batch_norm(void **state) { (void)state, each_size(build_batch_norm); }

static Window window_of(const Setup *s, int64_t kernel, int64_t stride, int64_t padding) {
    return (Window){s->height, s->width, kernel, stride, padding};
}

static void add_depthwise(Setup *s, Window window) {
    Attr attr = {.window = window};
    Pair x = images(s, s->height, s->width), w = both(weight(s, window.kernel * window.kernel));
    Pair y = add(s, OP_depthwise_conv2d, (Pair[]){x, w}, 2, attr);
    add(s, OP_depthwise_conv2d_input_grad, (Pair[]){y, w}, 2, attr);
    if (s->channels > 1) add(s, OP_depthwise_conv2d_weight_grad, (Pair[]){x, y}, 2, attr);
}

static void build_depthwise(Setup *s) { add_depthwise(s, window_of(s, 3, 1, 1)); }
static void build_depthwise_strided(Setup *s) { add_depthwise(s, window_of(s, 3, 2, 1)); }

static void test_depthwise(void **state) {
    (void)state;
    each_size(build_depthwise);
    each_size(build_depthwise_strided);
}

static void build_max_pool(Setup *s) {
    Attr attr = {.window = window_of(s, 3, 2, 1)};
    Pair x = images(s, s->height, s->width), argmax;
    Pair y = add_wide(s, OP_max_pool2d, &x, 1, attr, &argmax);
    add(s, OP_max_pool2d_grad, (Pair[]){argmax, y}, 2, attr);
}

static void test_max_pool(void **state) { (void)state, each_size(build_max_pool); }

static void build_global_pool(Setup *s) {
    Pair x = images(s, s->height, s->width);
    if (s->channels == 1) return;
    Pair y = add(s, OP_global_avg_pool2d, &x, 1, (Attr){.rows = s->images});
    Attr back = {.rows = s->images * s->height * s->width, .plane = s->height * s->width};
    add(s, OP_global_avg_pool2d_grad, &y, 1, back);
}

static void test_global_pool(void **state) { (void)state, each_size(build_global_pool); }

/* Stored pixels are row by row, whatever the layout of the result. */
static void build_image_input(Setup *s) {
    s->channels = 3;
    for (int64_t from = 1; from <= 3; from += 2)
        for (int same = 0; same < 2; same++) {
            Attr attr = {.window = {.height = s->height, .width = s->width}, .out_height = same ? s->height : 7, .out_width = same ? s->width : 5};
            attr.crop = (Crop){attr.out_height, attr.out_width, 0, 0};
            attr.plane = attr.out_height * attr.out_width;
            attr.crop = (Crop){attr.out_height, attr.out_width, 0, 0};
            Value *pixels = value_2d(s->program, "pixels", ROLE_INPUT, DT_U8, s->images * s->height * s->width, from, (Pos){0});
            Pair in[] = {both(input(s, pixels)), both(channels(s, "mean")), both(channels(s, "std"))};
            add(s, OP_image_input, in, 3, attr);
        }
}

static void test_image_input(void **state) { (void)state, each_size(build_image_input); }

static Value *filters(Setup *s, int64_t kernel) {
    int64_t dim[] = {4, kernel, kernel, s->channels};
    return input(s, value_new(s->program, "w", ROLE_FROZEN, DT_F64, 4, dim, (Pos){0}));
}

static void build_conv2d(Setup *s) {
    Attr attr = {.window = window_of(s, 3, 2, 1)};
    Pair x = images(s, s->height, s->width), w = both(filters(s, 3));
    Pair y = add(s, OP_conv2d, (Pair[]){x, w}, 2, attr);
    add(s, OP_conv2d_input_grad, (Pair[]){y, w}, 2, attr);
    add(s, OP_conv2d_weight_grad, (Pair[]){x, y}, 2, attr);
}

static void test_conv2d(void **state) { (void)state, each_size(build_conv2d); }

/* ---- places of elements ---------------------------------------------------------------------- */

static void test_index(void **state) {
    (void)state;
    Value rows = {.rank = 2, .dim = {12, 3}, .row_stride = 5}, planes = {.rank = 2, .dim = {12, 3}, .row_stride = 3, .plane = 6};
    assert_int_equal(value_index(&rows, 7, 2), 37);
    int64_t next = 0; /* n, c, place */
    for (int64_t n = 0; n < 2; n++)
        for (int64_t c = 0; c < 3; c++)
            for (int64_t place = 0; place < 6; place++) assert_int_equal(value_index(&planes, n * 6 + place, c), next++);
}

/* An image in planes, read as one row, is its storage in order: channels first. */
static void test_flatten(void **state) {
    (void)state;
    Setup s;
    start(&s, 2, 2, 3, 4);
    Pair x = images(&s, 2, 3);
    Value *y = op_add(s.program, s.graph, OP_reshape, "flat", &x.at[1], 1, (Attr){.rows = 2}, (Pos){0})->out[0];
    Attr back = {.rows = 12, .plane = 6};
    Value *z = op_add(s.program, s.graph, OP_reshape, "back", &y, 1, back, (Pos){0})->out[0];
    assert_true(!y->plane && z->plane == 6 && value_same_place(z, x.at[1]) && !value_same_place(y, z));
    assert_int_equal(value_index(y, 1, 3 * 6 + 5), value_index(x.at[1], 6 + 5, 3));
    arena_free(&s.arena);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static const char *printed(Setup *s, int kernel) {
    StrBuf out = {0};
    print_body_kernel(s->plan, kernel, shared_bodies(s->plan), &out);
    const char *text = arena_strdup(&s->arena, out.text);
    sb_free(&out);
    return text;
}

static void plan_of(Setup *s) {
    s->spec.compile.fusion = true;
    interpret_keep_results(s->program);
    s->plan = interpret_plan(s->program, &s->spec);
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("no \"%s\" in\n%s", part, text);
}

/* One running index, and vectors along the pixels of a plane. */
static void test_pointwise_is_flat(void **state) {
    (void)state;
    Setup s;
    start(&s, 2, 4, 4, 6);
    Pair x = images(&s, 4, 4);
    op_add(s.program, s.graph, OP_add_bias, "y", (Value *[]){x.at[1], channels(&s, "b")}, 2, (Attr){0}, (Pos){0});
    plan_of(&s);
    assert_int_equal(s.plan->kernel_count, 1);
    const char *text = printed(&s, 0);
    assert_has(text, "row = i / COLS;");
    assert_has(text, "channel = row % CHANNELS;");
    assert_has(text, "load_vec<2>(x + i)");
    arena_free(&s.arena);
}

/* A plane's sum is computed like a row's; a second kernel adds the images. */
static void test_sums_take_two_kernels(void **state) {
    (void)state;
    Setup s;
    start(&s, 4, 8, 8, 6);
    Pair x = images(&s, 8, 8);
    op_add(s.program, s.graph, OP_column_sum, "sum", &x.at[1], 1, (Attr){0}, (Pos){0});
    plan_of(&s);
    assert_int_equal(s.plan->kernel_count, 2);
    assert_int_equal(s.plan->kernels[0].skeleton, SKELETON_WARP_ROW);
    assert_int_equal(s.plan->kernels[0].rows, 4 * 6);
    assert_int_equal(s.plan->kernels[1].skeleton, SKELETON_COLUMN);
    assert_int_equal(s.plan->kernels[1].rows, 4);
    arena_free(&s.arena);
}

/* Elements beyond 2^31 need long indices. */
static void test_long_index(void **state) {
    (void)state;
    Setup s;
    start(&s, 1 << 10, 1 << 10, 1 << 10, 3);
    Window window = window_of(&s, 3, 2, 1);
    Pair x = images(&s, s.height, s.width);
    op_add(s.program, s.graph, OP_max_pool2d, "y", &x.at[1], 1, (Attr){.window = window}, (Pos){0});
    plan_of(&s);
    assert_has(printed(&s, 0), "static_cast<int64_t>(static_cast<int>(row) - n) * FROM_PLACES");
    arena_free(&s.arena);
}

/* Images stored row by row share tiles; in planes each has its own, of at least 64 places. */
static void test_tiles_of_small_images(void **state) {
    (void)state;
    Setup s;
    start(&s, 64, 7, 7, 8);
    Attr attr = {.window = window_of(&s, 3, 1, 1)};
    int64_t dim[] = {64, 3, 3, 8};
    Value *w = value_new(s.program, "w", ROLE_FROZEN, DT_F64, 4, dim, (Pos){0});
    add(&s, OP_conv2d, (Pair[]){images(&s, 7, 7), both(w)}, 2, attr);
    s.plan = plan_new(s.program, &s.spec, NULL);
    plan_launches(s.plan);
    const Launch *launches = s.plan->entry[ENTRY_MICRO_STEP].launches;
    assert_true(launches[0].tile_share == 64 * 49 / (25 * 128.0));
    assert_true(launches[1].tile_share == 49 / 64.0);
    assert_true(launches[0].cost.flops == launches[1].cost.flops);
    arena_free(&s.arena);
}

/* The gradient of a weight [filters, 3, 3, 8] for 64 images of side x side. */
static void start_weight_grad(Setup *s, int side, int filters) {
    start(s, 64, side, side, 8);
    Attr attr = {.window = window_of(s, 3, 1, 1)};
    int64_t dim[] = {filters, 3, 3, 8};
    Value *w = value_new(s->program, "w", ROLE_FROZEN, DT_F64, 4, dim, (Pos){0});
    Pair x = images(s, side, side), y = add(s, OP_conv2d, (Pair[]){x, both(w)}, 2, attr);
    s->graph->op_count = 0;
    Value *in[] = {x.at[0], y.at[0]};
    op_add(s->program, s->graph, OP_conv2d_weight_grad, "dw", in, 2, attr, (Pos){0});
}

static int blocks_on(Setup *s, const Device *device) {
    s->plan = plan_new(s->program, &s->spec, device);
    plan_launches(s->plan);
    const int64_t *grid = s->plan->entry[ENTRY_MICRO_STEP].launches[0].grid;
    return (int)(grid[0] * grid[1] * grid[2]);
}

/* Few places: two blocks per multiprocessor, or at most one. Many: no multiprocessor has much more
 * work than the mean. */
static void test_parts_are_even(void **state) {
    (void)state;
    Setup few, many;
    start_weight_grad(&few, 7, 64);
    start_weight_grad(&many, 28, 256);
    Device device = *device_read(&few.arena, "h100-sxm", (Pos){0});
    for (device.multiprocessors = 1; device.multiprocessors <= 32; device.multiprocessors++) {
        int all = device.multiprocessors, blocks = blocks_on(&few, &device);
        if (blocks > all && blocks < 2 * all)
            fail_msg("%d blocks for %d", blocks, all);
        blocks = blocks_on(&many, &device);
        if (blocks < 0.9 * all * ((blocks + all - 1) / all))
            fail_msg("%d of many blocks for %d", blocks, all);
    }
    arena_free(&few.arena);
    arena_free(&many.arena);
}

/* Parts of the gradient of a weight [32, 3, 3, channels] for 64 images of 28 x 28. */
static int64_t parts_of_small_weight(DType dtype, int64_t channels) {
    static Spec spec = {.name = "test", .compile.fusion = true};
    Arena arena = {0};
    Program *p = program_new(&arena);
    p->activation = dtype, p->real = DT_F32, p->tf32 = true;
    int64_t dim[] = {32, 3, 3, channels};
    Value *x = value_2d(p, "x", ROLE_FROZEN, dtype, 64 * 28 * 28, channels, (Pos){0});
    Value *dy = value_2d(p, "dy", ROLE_FROZEN, dtype, 64 * 26 * 26, 32, (Pos){0});
    Value *dw = value_new(p, "dw", ROLE_GRADIENT, DT_F32, 4, dim, (Pos){0});
    Value *in[] = {x, dy}, *out = value_alias(p, dw, "conv.weight.grad");
    op_add_into(p, &p->entry[ENTRY_MICRO_STEP], OP_conv2d_weight_grad, "dw", in, 2, &out, 1,
                (Attr){.window = {.height = 28, .width = 28, .kernel = 3, .stride = 1}}, (Pos){0});
    Plan *plan = plan_new(p, &spec, device_read(&arena, "h100-sxm", (Pos){0}));
    plan_launches(plan);
    int64_t parts = plan->entry[ENTRY_MICRO_STEP].launches[0].grid[2];
    arena_free(&arena);
    return parts;
}

/* A block that reads single elements waits for each step, so a part is small then; not where it
 * multiplies from image lines. */
static void test_parts_by_elements(void **state) {
    (void)state;
    int64_t places = 64 * 26 * 26;
    assert_int_equal(parts_of_small_weight(DT_F32, 1), places / 64);
    assert_true(parts_of_small_weight(DT_F32, 8) <= places / 256);
    assert_true(parts_of_small_weight(DT_BF16, 1) <= places / 256);
    assert_true(parts_of_small_weight(DT_BF16, 8) <= places / 256);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_flatten),
        cmocka_unit_test(test_pointwise),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_batch_norm),
        cmocka_unit_test(test_depthwise),
        cmocka_unit_test(test_max_pool),
        cmocka_unit_test(test_global_pool),
        cmocka_unit_test(test_image_input),
        cmocka_unit_test(test_conv2d),
        cmocka_unit_test(test_pointwise_is_flat),
        cmocka_unit_test(test_sums_take_two_kernels),
        cmocka_unit_test(test_long_index),
        cmocka_unit_test(test_tiles_of_small_images),
        cmocka_unit_test(test_parts_are_even),
        cmocka_unit_test(test_parts_by_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
