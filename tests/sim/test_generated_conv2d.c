/* conv2d and its gradients for many shapes, planned, printed and run on the simulated device,
 * compared with plain loops in double precision. For every order of threads and every flavour, the
 * bits are those of the first run; nothing outside a view changes; in the race flavour, each kernel
 * requests the bytes that the plan counted.
 *
 *     FLAVOUR=release|asan|race SIM_FOLDER=... SIM_TESTS=... test_generated_conv2d [TEST]
 *
 * SHORT=1 omits precisions that have the same loops as another one. */
#include "generated.h"

#include <math.h>

#include "base/fileio.h"
#include "graph/op_table.h"
#include "graph/window.h"
#include "interpret.h"

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct {
    int64_t images, height, width, channels, filters, kernel, stride, padding;
    int64_t gap;     /* elements between rows of x, y and dy that do not belong to them */
    bool accumulate; /* gradients are added to existing values */
    bool planes;     /* images are stored in planes */
} Shape;

/* One image and many, one channel and many, wider and narrower than tiles and vectors, windows that
 * reach far beyond the border or skip places, strides that leave phases without a tap. */
static const Shape shapes[] = {
    {2, 9, 7, 16, 24, 3, 1, 1, 0, false, false},  {1, 12, 12, 1, 8, 3, 1, 0, 0, false, false},
    {3, 11, 13, 3, 16, 7, 2, 3, 0, false, false}, {2, 8, 8, 16, 40, 1, 2, 0, 0, true, false},
    {1, 10, 9, 32, 72, 3, 2, 1, 8, true, false},  {2, 6, 5, 13, 9, 2, 1, 1, 3, true, false},
    {1, 5, 5, 8, 16, 5, 3, 4, 8, false, false},   {1, 12, 13, 40, 136, 3, 1, 1, 0, false, false},
    {3, 20, 20, 4, 8, 3, 1, 1, 0, true, false},   {1, 3, 3, 8, 8, 1, 4, 0, 0, false, false},
    {8, 33, 33, 3, 8, 3, 2, 1, 0, false, false}, /* an odd number of columns, in parts */
    {3, 11, 14, 3, 40, 7, 2, 3, 0, true, false},  {2, 9, 10, 3, 24, 3, 2, 0, 0, false, false},
    {2, 6, 5, 12, 16, 3, 1, 1, 0, false, false},  {3, 10, 9, 5, 24, 3, 1, 1, 0, true, false},
    {2, 9, 9, 3, 8, 1, 2, 0, 0, false, false},    {2, 9, 8, 12, 136, 5, 2, 2, 0, true, false},
    {1, 6, 6, 60, 24, 5, 1, 2, 0, false, false}, /* too much for shared memory to hold lines of it */
    {3, 9, 8, 72, 64, 3, 1, 1, 0, false, false},  {1, 4, 5, 136, 72, 1, 1, 0, 8, true, false},
    {2, 12, 12, 16, 72, 1, 1, 0, 0, true, false}, /* shallow: results need more room than tiles */
    {2, 9, 7, 16, 24, 3, 1, 1, 0, false, true},   {3, 8, 8, 24, 40, 1, 1, 0, 0, true, true},
    {3, 11, 13, 3, 16, 7, 2, 3, 0, false, true},  {2, 8, 8, 16, 72, 1, 2, 0, 0, true, true},
    {1, 5, 5, 8, 16, 5, 3, 4, 0, false, true},    {1, 12, 13, 40, 136, 3, 1, 1, 0, false, true},
    {3, 20, 20, 3, 8, 3, 2, 1, 0, true, true},    {9, 16, 16, 16, 8, 1, 1, 0, 0, false, true},
    {2, 5, 7, 13, 9, 1, 1, 0, 0, false, true},    {2, 28, 28, 16, 8, 1, 1, 0, 0, false, true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static Value *images_of(Program *p, const Shape *s, const char *name, int64_t places,
                        int64_t cols) {
    Value *whole =
        value_2d(p, name, ROLE_FROZEN, p->activation, s->images * places, cols + s->gap, (Pos){0});
    whole->plane = s->planes ? places : 0;
    return s->gap ? value_columns(p, whole, 0, cols, name) : whole;
}

static void add_op(Program *p, OpKind kind, Value *a, Value *b, Value *to, Attr attr) {
    const char *name = arena_printf(p->arena, "conv.%d", p->value_count);
    Value *in[] = {a, b, to}, *out = value_alias(p, to, name);
    op_add_into(p, &p->entry[ENTRY_MICRO_STEP], kind, name, in, 2 + attr.accumulate, &out, 1, attr,
                (Pos){0});
}

static void add_shape(Program *p, const Shape *s) {
    Window window = {s->height, s->width, s->kernel, s->stride, s->padding};
    int64_t places = window_rows_out(&window), pixels = window_rows_in(&window);
    int64_t dim[] = {s->filters, s->kernel, s->kernel, s->channels};
    Attr forward = {.window = window}, backward = {.window = window, .accumulate = s->accumulate};
    Value *x = images_of(p, s, "x", pixels, s->channels),
          *dx = images_of(p, s, "dx", pixels, s->channels);
    Value *y = images_of(p, s, "y", places, s->filters),
          *dy = images_of(p, s, "dy", places, s->filters);
    Value *w = value_new(p, "w", ROLE_FROZEN, p->activation, 4, dim, (Pos){0});
    Value *dw = value_new(p, "dw", ROLE_GRADIENT, p->real, 4, dim, (Pos){0});
    add_op(p, OP_conv2d, x, w, y, forward);
    add_op(p, OP_conv2d_input_grad, dy, w, dx, backward);
    add_op(p, OP_conv2d_weight_grad, x, dy, dw, backward);
}

typedef struct {
    const char *name;
    DType activation, real;
    bool tf32;
    double tolerance; /* of the norm */
    bool alike;       /* its kernels have the same loops as another precision's */
    bool wgmma;       /* for a device with wgmma */
} Numbers;

static const Numbers all_numbers[] = {
    {"conv2d_f32", DT_F32, DT_F32, false, 1e-6, false, false},
    {"conv2d_bf16", DT_BF16, DT_F32, false, 5e-3, false, false},
    {"conv2d_wgmma", DT_BF16, DT_F32, false, 5e-3, false, true},
    {"conv2d_tf32", DT_F32, DT_F32, true, 6e-4, false, false},
    {"conv2d_f64", DT_F64, DT_F64, false, 3e-15, true, false},
    {"conv2d_f16", DT_F16, DT_F32, false, 6e-4, true, false},
};

enum { COUNTED = 3 }; /* the first ones, whose loops cover those of the others */

/* Only such shapes have kernels with wgmma. */
static bool in_vectors(const Shape *s) {
    return (s->channels | s->filters | s->gap) % 8 == 0 && !s->planes;
}

static Program *program_of(Arena *arena, const Numbers *numbers, DType activation, DType real) {
    Program *p = program_new(arena);
    p->activation = activation;
    p->real = real;
    p->tf32 = numbers->tf32 && activation != DT_F64;
    for (int i = 0; i < SHAPES; i++)
        if (!numbers->wgmma || in_vectors(&shapes[i]))
            add_shape(p, &shapes[i]);
    return p;
}

/* A Hopper whose single multiprocessor lets tiles be as wide as the templates allow, or none. */
static const Device *device_of(Arena *arena, const Numbers *numbers) {
    if (!numbers->wgmma)
        return NULL;
    Device *one = arena_alloc(arena, sizeof *one);
    *one = *device_read(arena, "h100-sxm", (Pos){0});
    one->multiprocessors = 1;
    return one;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Returns a storage's widest view, which is the first one made. */
static const Value *whole_of(const Program *p, const Storage *storage) {
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->storage == storage)
            return p->values[i];
    return NULL;
}

static int64_t storage_elements(const Value *whole) {
    return whole->storage->bytes / dtype_bytes(whole->dtype);
}

static void fill_memory(const Program *p, Memory *m) {
    uint64_t state = 7;
    for (int i = 0; i < p->storage_count; i++) {
        const Value *v = whole_of(p, p->storages[i]);
        for (int64_t k = 0; k < storage_elements(v); k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            memory_set(m, v, k, (double)(state >> 33) / (double)(1u << 30) - 1.0);
        }
    }
}

/* Copies all numbers to the storages of the same program in double precision. */
static void copy_memory(const Program *from, const Memory *m, const Program *to, Memory *exact) {
    for (int i = 0; i < to->storage_count; i++) {
        const Value *a = whole_of(from, from->storages[i]), *b = whole_of(to, to->storages[i]);
        for (int64_t k = 0; k < storage_elements(b); k++)
            memory_set(exact, b, k, memory_get(m, a, k));
    }
}

static bool in_view(const Value *v, int64_t element) {
    return element % v->row_stride < value_cols(v) && element / v->row_stride < value_rows(v);
}

/* Checks that an op's result is near the exact one, and that values around it are unchanged. */
static void compare_result(const Numbers *numbers, const Op *op, const Memory *m,
                           const Op *op_exact, const Memory *exact) {
    const Value *v = op->out[0], *want = op_exact->out[0];
    const Window *w = &op->attr.window;
    double error = 0, norm = 0;
    for (int64_t k = 0; k < value_rows(v) * v->row_stride; k++) {
        double a = memory_get(m, v, k), b = memory_get(exact, want, k);
        if (in_view(v, k)) {
            error += (a - b) * (a - b);
            norm += b * b;
        } else if (a != b) {
            fail_msg("%s of %s: element %lld beside the view changed", op_table[op->kind].name,
                     numbers->name, (long long)k);
        }
    }
    error = sqrt(error), norm = sqrt(norm);
    if (!(norm > 0) || !(error <= numbers->tolerance * norm))
        fail_msg(
            "%s %s of %lldx%lldx%lld, window %lld, stride %lld, padding %lld: off by %.3e of %.3e",
            op_table[op->kind].name, numbers->name, (long long)w->height, (long long)w->width,
            (long long)value_cols(op->in[0]), (long long)w->kernel, (long long)w->stride,
            (long long)w->padding, error, norm);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Compares with the bits that an earlier run, in another order or flavour, left in a file. */
static void compare_bits(const Case *c) {
    char path[512];
    StrBuf bits = {0};
    for (int i = 0; i < c->memory.count; i++)
        sb_append(&bits, (const char *)c->memory.bytes[i],
                  (size_t)c->plan->program->storages[i]->bytes);
    char *old;
    size_t size;
    snprintf(path, sizeof path, "%s/%s.bits", getenv("SIM_TESTS"), c->name);
    if (file_read(c->plan->program->arena, path, 64 << 20, &old, &size)) {
        assert_null(file_write(path, bits.text, bits.length));
    } else {
        assert_int_equal(size, bits.length);
        assert_memory_equal(old, bits.text, size);
    }
    sb_free(&bits);
}

static void test_precision(void **state) {
    const Numbers *numbers = *state;
    Arena arena = {0};
    Program *program = program_of(&arena, numbers, numbers->activation, numbers->real);
    Program *program_exact = program_of(&arena, numbers, DT_F64, DT_F64);
    Memory exact = memory_new(program_exact);
    Case c = case_open(numbers->name, program, device_of(&arena, numbers));
    fill_memory(program, &c.memory);
    copy_memory(program, &c.memory, program_exact, &exact);
    for (int i = 0; i < c.memory.count; i++)
        case_upload(&c, i);
    const PlanEntry *entry = &c.plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < entry->launch_count; i++)
        case_launch(&c, &entry->launches[i]);
    for (int i = 0; i < c.memory.count; i++)
        case_download(&c, i);
    const Graph *graph = &program->entry[ENTRY_MICRO_STEP],
                *graph_exact = &program_exact->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < graph->op_count; i++) {
        interpret_conv2d(&exact, graph_exact->ops[i]);
        compare_result(numbers, graph->ops[i], &c.memory, graph_exact->ops[i], &exact);
    }
    compare_bits(&c);
    case_close(&c);
    memory_free(&exact);
    arena_free(&arena);
}

static void test_bytes(void **state) {
    (void)state;
    for (int i = 0; i < COUNTED; i++) {
        const Numbers *p = &all_numbers[i];
        Arena arena = {0};
        Program *program = program_of(&arena, p, p->activation, p->real);
        generated_compare_counts(p->name, generated_plan(program, device_of(&arena, p)));
        arena_free(&arena);
    }
}

/* The race flavour, which counts bytes, runs some precisions within the test of their counts. */
int main(int argc, char **argv) {
    enum { COUNT = sizeof all_numbers / sizeof *all_numbers };
    const bool counts = argc == 1 && !strcmp(generated_flavour(), "race");
    struct CMUnitTest tests[COUNT + 1] = {0};
    int last = 0;
    for (int i = counts ? COUNTED : 0; i < COUNT; i++)
        if (!all_numbers[i].alike || !getenv("SHORT"))
            tests[last++] = (struct CMUnitTest){all_numbers[i].name, test_precision, NULL, NULL,
                                                (void *)(uintptr_t)&all_numbers[i]};
    if (counts)
        tests[last] = (struct CMUnitTest){"bytes of conv2d", test_bytes, NULL, NULL, NULL};
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
