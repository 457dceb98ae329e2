/* Tests both gradients of a low-rank path against sums in double: tiles and parts that the matrix
 * does not fill, ranks that are no multiple of 16, rows that are wider than the operands. A kernel
 * that makes dy itself leaves the same bits as the kernel that reads it. */
#include "test_template_common.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    Dtype dtype, grad;
    int rows, features, rank;
    int cols, part_rows, stages;
    bool accumulate;
} Case;

enum { THREADS = 256, TILE = 16384 };

static const double alpha_v = 0.5, alpha = 2;

static int parts_of(int size, int part) { return (size + part - 1) / part; }

static void write_kernels(FILE *out, const Case *c, int index) {
    Holes holes = {.count = 0};
    hole_set(&holes, "kernel", "grads_%d", index);
    hole_set(&holes, "threads", "%d", THREADS);
    hole_set(&holes, "dtype", "%s", dtype_name(c->dtype));
    hole_set(&holes, "rows", "%d", c->rows);
    hole_set(&holes, "features", "%d", c->features);
    hole_set(&holes, "rank", "%d", c->rank);
    hole_set(&holes, "dy_stride", "%d", c->features + PADDING);
    hole_set(&holes, "b_stride", "%d", c->rank + PADDING);
    hole_set(&holes, "u_stride", "%d", c->rank + PADDING);
    hole_set(&holes, "cols", "%d", c->cols);
    hole_set(&holes, "tile_rows", "%d", TILE / c->cols);
    hole_set(&holes, "part_rows", "%d", c->part_rows);
    hole_set(&holes, "stages", "%d", c->stages);
    template_kernel(out, "low_rank_grads_mma.cu", "low_rank_grads", &holes);
    hole_set(&holes, "kernel", "add_%d", index);
    hole_set(&holes, "grad_dtype", "%s", dtype_name(c->grad));
    hole_set(&holes, "accumulate", c->accumulate ? "true" : "false");
    hole_set(&holes, "v_parts", "%d", parts_of(c->features, c->cols));
    hole_set(&holes, "db_parts", "%d", parts_of(c->rows, c->part_rows));
    hole_set(&holes, "v_stride", "%d", c->rank + PADDING);
    hole_set(&holes, "db_stride", "%d", c->rank + PADDING);
    hole_set(&holes, "v_alpha", "%.1ff", alpha_v);
    hole_set(&holes, "alpha", "%.1ff", alpha);
    template_kernel(out, "low_rank_grads_mma.cu", "add_parts", &holes);
}

static unsigned shared_bytes(const Case *c) {
    const int wide = parts_of(c->rank, 16) * 16, tile = TILE / c->cols * (c->cols + 8 + wide + 8);
    return (unsigned)(2 * (c->stages * tile + c->cols * (wide + 8)) + 4 * 128 * (wide + 4));
}

static void run_case(const Case *c, int index, CUmodule module, Matrix *dy, Matrix *b, Matrix *u,
                     Matrix *v, Matrix *db) {
    const unsigned v_parts = (unsigned)parts_of(c->features, c->cols);
    const unsigned parts = (unsigned)parts_of(c->rows, c->part_rows);
    const unsigned elements = (unsigned)((c->rows + c->features) * c->rank);
    CUdeviceptr of_v, of_db;
    char name[32];
    check_cuda(cuMemAlloc(&of_v, (size_t)v_parts * (size_t)(c->rows * c->rank) * 4), "parts of v");
    check_cuda(cuMemAlloc(&of_db, (size_t)parts * (size_t)(c->features * c->rank) * 4), "of dB");
    snprintf(name, sizeof name, "grads_%d", index);
    launch(module, name, (Grid){v_parts, parts, 1}, THREADS, shared_bytes(c),
           (void *[]){&dy->device, &b->device, &u->device, &of_v, &of_db});
    snprintf(name, sizeof name, "add_%d", index);
    launch(module, name, (Grid){(elements + 4 * THREADS - 1) / (4 * THREADS), 1, 1}, THREADS, 0,
           (void *[]){&of_v, &of_db, &v->device, &db->device});
    cuMemFree(of_v);
    cuMemFree(of_db);
}

/* Overwrites the old contents of v and dB with what they should become. */
static void expect(const Case *c, const Matrix *dy, const Matrix *b, const Matrix *u, Matrix *v,
                   Matrix *db) {
    for (int k = 0; k < c->rank; k++) {
        for (int row = 0; row < c->rows; row++) {
            double sum = 0;
            for (int i = 0; i < c->features; i++)
                sum += *matrix_at(dy, row, i) * *matrix_at(b, i, k);
            *matrix_at(v, row, k) = alpha_v * sum;
        }
        for (int i = 0; i < c->features; i++) {
            double sum = 0;
            for (int row = 0; row < c->rows; row++)
                sum += *matrix_at(dy, row, i) * *matrix_at(u, row, k);
            *matrix_at(db, i, k) = alpha * sum + (c->accumulate ? *matrix_at(db, i, k) : 0);
        }
    }
}

static void check_case(const Case *c, int index, CUmodule module) {
    uint64_t seed = 7 + (uint64_t)index;
    Matrix dy = matrix_new(c->dtype, c->rows, c->features, &seed);
    Matrix b = matrix_new(c->dtype, c->features, c->rank, &seed);
    Matrix u = matrix_new(c->dtype, c->rows, c->rank, &seed);
    Matrix v = matrix_new(c->dtype, c->rows, c->rank, &seed);
    Matrix db = matrix_new(c->grad, c->features, c->rank, &seed);
    run_case(c, index, module, &dy, &b, &u, &v, &db);
    expect(c, &dy, &b, &u, &v, &db);
    matrix_check("v", c->dtype, &v);
    matrix_check("dB", c->grad, &db);
    matrix_free(&dy);
    matrix_free(&b);
    matrix_free(&u);
    matrix_free(&v);
    matrix_free(&db);
}

static void both_gradients(void **state) {
    (void)state;
    static const Case cases[] = {
        {BF16, F32, 70, 264, 16, 128, 128, 3, false}, {BF16, F32, 200, 520, 16, 512, 64, 3, true},
        {F16, F32, 129, 256, 8, 256, 64, 2, true},    {BF16, BF16, 33, 600, 24, 256, 64, 3, false},
        {F16, F16, 1, 8, 40, 512, 32, 2, true},       {BF16, F32, 100, 136, 64, 256, 64, 2, false},
    };
    const int count = sizeof cases / sizeof *cases;
    FILE *out = template_open("low_rank_grads");
    template_prelude(out, "low_rank_grads_mma.cu");
    for (int i = 0; i < count; i++)
        write_kernels(out, &cases[i], i);
    CUmodule module = template_load(out, "low_rank_grads");
    for (int i = 0; i < count; i++)
        check_case(&cases[i], i, module);
    cuModuleUnload(module);
}

/* ---- with a prologue ------------------------------------------------------------------------- */

/* The first path's dy is x y, the second's x + y. */
typedef struct {
    Case shape;
    int paths, vector;
} Made;

/* Texts that the plan and its printer would fill in; T_0 is the type of case 0. */
static void set_prologue(Holes *holes, const Made *m, int n) {
    const int stride = m->shape.features + PADDING, two = m->paths > 1;
    hole_set(holes, "path_operands", "const T_%d *b, const T_%d *u, float *v, float *db", n, n);
    hole_set(holes, "path_list", "{b, u, v, db}%s", two ? ", {b_2, u_2, v_2, db_2}" : "");
    hole_set(holes, "operands", "const T_%d *x, const T_%d *y, T_%d *dy", n, n, n);
    hole_set(holes, "columns", "        const int at = row * %d + tile.column(0);\n", stride);
    hole_set(holes, "row", "        make_%d(x + at, y + at, dy + at, tile.operand(0));\n", m->vector);
    if (!two)
        return;
    hole_set(holes, "path_operands",
             "const T_%d *b, const T_%d *u, float *v, float *db, const T_%d *b_2, const T_%d *u_2, "
             "float *v_2, float *db_2",
             n, n, n, n);
    hole_set(holes, "operands", "const T_%d *x, const T_%d *y, T_%d *dy, T_%d *dy_2", n, n, n, n);
    hole_set(holes, "row",
             "        make_%d(x + at, y + at, dy + at, tile.operand(0), dy_2 + at, tile.operand(1));\n",
             m->vector);
}

/* What the prologues call, because a hole of these tests holds little text. */
static void write_makers(FILE *out, int vector) {
    fprintf(out,
            "template <class T>\n"
            "static __device__ void make_%d(const T *x, const T *y, T *to, T *tile,\n"
            "                               T *to_2 = nullptr, T *tile_2 = nullptr) {\n"
            "    for (int j = 0; j < %d; j++) {\n"
            "        const float a = convert<float>(x[j]), b = convert<float>(y[j]);\n"
            "        tile[j] = to[j] = convert<T>(a * b);\n"
            "        if (to_2)\n"
            "            tile_2[j] = to_2[j] = convert<T>(a + b);\n"
            "    }\n"
            "}\n",
            vector, vector);
}

static void write_made(FILE *out, const Made *m, int index) {
    const Case *c = &m->shape;
    const char *type = dtype_name(c->dtype);
    Holes holes = {.count = 0};
    hole_set(&holes, "kernel", "made_%d", index);
    hole_set(&holes, "threads", "%d", THREADS);
    hole_set(&holes, "dtype", "%s", type);
    hole_set(&holes, "rows", "%d", c->rows);
    hole_set(&holes, "features", "%d", c->features);
    hole_set(&holes, "rank", "%d", c->rank);
    hole_set(&holes, "b_stride", "%d", c->rank + PADDING);
    hole_set(&holes, "u_stride", "%d", c->rank + PADDING);
    hole_set(&holes, "cols", "%d", c->cols);
    hole_set(&holes, "tile_rows", "%d", TILE / c->cols);
    hole_set(&holes, "part_rows", "%d", c->part_rows);
    hole_set(&holes, "paths", "%d", m->paths);
    hole_set(&holes, "vector", "%d", m->vector);
    hole_set(&holes, "index", "int");
    set_prologue(&holes, m, index);
    fprintf(out, "using T_%d = %s;\n", index, type);
    template_kernel(out, "low_rank_grads_mma.cu", "pointwise_low_rank_grads", &holes);
}

static unsigned made_shared_bytes(const Made *m) {
    const Case *c = &m->shape;
    const int wide = parts_of(c->rank, 16) * 16, tile = TILE / c->cols * (c->cols + 8 + wide + 8);
    return (unsigned)(2 * (tile + m->paths * c->cols * (wide + 8)) + 4 * 128 * (wide + 4));
}

enum { MOST_PATHS = 2 };

/* The partial sums of a path. */
typedef struct {
    CUdeviceptr v, db;
} Parts;

static size_t v_bytes(const Case *c) {
    return (size_t)(parts_of(c->features, c->cols) * c->rows * c->rank) * 4;
}

static size_t db_bytes(const Case *c) {
    return (size_t)(parts_of(c->rows, c->part_rows) * c->features * c->rank) * 4;
}

static Parts parts_new(const Case *c) {
    Parts parts;
    check_cuda(cuMemAlloc(&parts.v, v_bytes(c)), "parts of v");
    check_cuda(cuMemAlloc(&parts.db, db_bytes(c)), "parts of dB");
    return parts;
}

static void parts_free(Parts *parts) {
    cuMemFree(parts->v);
    cuMemFree(parts->db);
}

/* The values that the prologue should store, with dy's padding unchanged. */
static void expect_made(const Case *c, int path, const Matrix *x, const Matrix *y, Matrix *dy) {
    for (int row = 0; row < c->rows; row++)
        for (int i = 0; i < c->features; i++)
            *matrix_at(dy, row, i) = path ? *matrix_at(x, row, i) + *matrix_at(y, row, i) : *matrix_at(x, row, i) * *matrix_at(y, row, i);
    matrix_check(path ? "x + y" : "x y", c->dtype, dy);
}

/* Compares a path's parts with those that the kernel computes from the stored dy. */
static void check_path(const Case *c, int index, CUmodule module, Matrix *dy, Matrix *b, Matrix *u,
                       const Parts *made) {
    char name[32];
    Parts read = parts_new(c);
    snprintf(name, sizeof name, "grads_%d", index);
    const Grid grid = {(unsigned)parts_of(c->features, c->cols),
                       (unsigned)parts_of(c->rows, c->part_rows), 1};
    launch(module, name, grid, THREADS, shared_bytes(c),
           (void *[]){&dy->device, &b->device, &u->device, &read.v, &read.db});
    expect_bits("v", made->v, read.v, v_bytes(c));
    expect_bits("dB", made->db, read.db, db_bytes(c));
    parts_free(&read);
}

static void check_made(const Made *m, int index, CUmodule module) {
    const Case *c = &m->shape;
    uint64_t seed = 70 + (uint64_t)index;
    char name[32];
    Matrix x = matrix_new(c->dtype, c->rows, c->features, &seed);
    Matrix y = matrix_new(c->dtype, c->rows, c->features, &seed);
    Matrix dy[MOST_PATHS], b[MOST_PATHS], u[MOST_PATHS];
    Parts parts[MOST_PATHS];
    void *args[4 * MOST_PATHS + 2 + MOST_PATHS];
    int count = 0;
    for (int i = 0; i < m->paths; i++) {
        dy[i] = matrix_new(c->dtype, c->rows, c->features, &seed);
        b[i] = matrix_new(c->dtype, c->features, c->rank, &seed);
        u[i] = matrix_new(c->dtype, c->rows, c->rank, &seed);
        parts[i] = parts_new(c);
        args[count++] = &b[i].device;
        args[count++] = &u[i].device;
        args[count++] = &parts[i].v;
        args[count++] = &parts[i].db;
    }
    args[count++] = &x.device;
    args[count++] = &y.device;
    for (int i = 0; i < m->paths; i++)
        args[count++] = &dy[i].device;
    snprintf(name, sizeof name, "made_%d", index);
    const Grid grid = {(unsigned)parts_of(c->features, c->cols),
                       (unsigned)parts_of(c->rows, c->part_rows), 1};
    launch(module, name, grid, THREADS, made_shared_bytes(m), args);
    for (int i = 0; i < m->paths; i++) {
        expect_made(c, i, &x, &y, &dy[i]);
        check_path(c, index, module, &dy[i], &b[i], &u[i], &parts[i]);
        parts_free(&parts[i]);
        matrix_free(&dy[i]);
        matrix_free(&b[i]);
        matrix_free(&u[i]);
    }
    matrix_free(&x);
    matrix_free(&y);
}

static void same_bits_with_a_prologue(void **state) {
    (void)state;
    static const Made cases[] = {
        {{BF16, F32, 70, 264, 16, 128, 128, 3, false}, 2, 8},
        {{F16, F32, 96, 1024, 16, 512, 64, 2, false}, 2, 8},
        {{BF16, F32, 129, 256, 8, 256, 64, 2, false}, 1, 4},
        {{F16, F32, 100, 136, 40, 256, 64, 2, false}, 1, 8},
    };
    const int count = sizeof cases / sizeof *cases;
    FILE *out = template_open("low_rank_made");
    template_prelude(out, "low_rank_grads_mma.cu");
    write_makers(out, 4);
    write_makers(out, 8);
    for (int i = 0; i < count; i++) {
        write_kernels(out, &cases[i].shape, i);
        write_made(out, &cases[i], i);
    }
    CUmodule module = template_load(out, "low_rank_made");
    for (int i = 0; i < count; i++)
        check_made(&cases[i], i, module);
    cuModuleUnload(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_gradients),
                                       cmocka_unit_test(same_bits_with_a_prologue)};
    device_open();
    return cmocka_run_group_tests_name("low-rank template", tests, NULL, NULL);
}
