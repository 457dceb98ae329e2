/* Tests both gradients of a low-rank path, and that of its A, against sums in double: tiles and parts
 * that the matrix does not fill, ranks that are no multiple of 16, rows that are wider than the
 * operands. A kernel that makes dy and x itself leaves the same bits as the kernels that read them. */
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

/* dA = v^T x, with dy for x and u for v. */
static void write_kernels_of_a(FILE *out, const Case *c, int index) {
    Holes holes = {.count = 0};
    hole_set(&holes, "kernel", "grad_a_%d", index);
    hole_set(&holes, "threads", "%d", THREADS);
    hole_set(&holes, "dtype", "%s", dtype_name(c->dtype));
    hole_set(&holes, "rows", "%d", c->rows);
    hole_set(&holes, "features", "%d", c->features);
    hole_set(&holes, "rank", "%d", c->rank);
    hole_set(&holes, "x_stride", "%d", c->features + PADDING);
    hole_set(&holes, "v_stride", "%d", c->rank + PADDING);
    hole_set(&holes, "cols", "%d", c->cols);
    hole_set(&holes, "tile_rows", "%d", TILE / c->cols);
    hole_set(&holes, "part_rows", "%d", c->part_rows);
    hole_set(&holes, "stages", "%d", c->stages);
    template_kernel(out, "low_rank_grads_mma.cu", "low_rank_grad_a", &holes);
    hole_set(&holes, "kernel", "add_a_%d", index);
    hole_set(&holes, "grad_dtype", "%s", dtype_name(c->grad));
    hole_set(&holes, "accumulate", c->accumulate ? "true" : "false");
    hole_set(&holes, "da_parts", "%d", parts_of(c->rows, c->part_rows));
    hole_set(&holes, "da_stride", "%d", c->features + PADDING);
    hole_set(&holes, "alpha", "%.1ff", alpha);
    template_kernel(out, "low_rank_grads_mma.cu", "add_parts_of_a", &holes);
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

static Grid grid_of(const Case *c) {
    return (Grid){(unsigned)parts_of(c->features, c->cols), (unsigned)parts_of(c->rows, c->part_rows),
                  1};
}

static size_t db_bytes(const Case *c) {
    return (size_t)(parts_of(c->rows, c->part_rows) * c->features * c->rank) * 4;
}

static void multiply_for_a(const Case *c, int index, CUmodule module, Matrix *x, Matrix *v,
                           CUdeviceptr *parts) {
    char name[32];
    check_cuda(cuMemAlloc(parts, db_bytes(c)), "parts of dA");
    snprintf(name, sizeof name, "grad_a_%d", index);
    launch(module, name, grid_of(c), THREADS, shared_bytes(c),
           (void *[]){&x->device, &v->device, parts});
}

static void run_case_of_a(const Case *c, int index, CUmodule module, Matrix *x, Matrix *v,
                          Matrix *da) {
    const unsigned elements = (unsigned)(c->features * c->rank);
    CUdeviceptr parts;
    char name[32];
    multiply_for_a(c, index, module, x, v, &parts);
    snprintf(name, sizeof name, "add_a_%d", index);
    launch(module, name, (Grid){(elements + 4 * THREADS - 1) / (4 * THREADS), 1, 1}, THREADS, 0,
           (void *[]){&parts, &da->device});
    cuMemFree(parts);
}

/* Overwrites the old contents of dA with what it should become. */
static void expect_da(const Case *c, const Matrix *x, const Matrix *v, Matrix *da) {
    for (int k = 0; k < c->rank; k++)
        for (int i = 0; i < c->features; i++) {
            double sum = 0;
            for (int row = 0; row < c->rows; row++)
                sum += *matrix_at(x, row, i) * *matrix_at(v, row, k);
            *matrix_at(da, k, i) = alpha * sum + (c->accumulate ? *matrix_at(da, k, i) : 0);
        }
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
    Matrix da = matrix_new(c->grad, c->rank, c->features, &seed);
    run_case_of_a(c, index, module, &dy, &u, &da);
    expect_da(c, &dy, &u, &da);
    matrix_check("dA", c->grad, &da);
    matrix_free(&da);
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
    for (int i = 0; i < count; i++) {
        write_kernels(out, &cases[i], i);
        write_kernels_of_a(out, &cases[i], i);
    }
    CUmodule module = template_load(out, "low_rank_grads");
    for (int i = 0; i < count; i++)
        check_case(&cases[i], i, module);
    cuModuleUnload(module);
}

/* ---- with a prologue ------------------------------------------------------------------------- */

/* The first path's dy is x y, the second's x + y; the x of the path of which dA is computed is x - y. */
typedef struct {
    Case shape;
    int paths, grads_a, vector;
} Made;

/* Texts that the plan and its printer would fill in; T_0 is the type of case 0. The places of values
 * that a kernel does not make are NULL. */
static void set_prologue(Holes *holes, const Made *m, int n) {
    char two[96] = "", of_a[48] = "";
    if (m->paths > 1)
        snprintf(two, sizeof two, ", const T_%d *b_2, const T_%d *u_2, float *v_2, float *db_2", n, n);
    if (m->grads_a)
        snprintf(of_a, sizeof of_a, ", const T_%d *v_a, float *da", n);
    hole_set(holes, "path_operands", "const T_%d *b, const T_%d *u, float *v, float *db%s%s", n, n, two,
             of_a);
    hole_set(holes, "path_list", "{b, u, v, db}%s%s", m->paths > 1 ? ", {b_2, u_2, v_2, db_2}" : "",
             m->grads_a ? ", {nullptr, v_a, nullptr, da}" : "");
    hole_set(holes, "operands", "const T_%d *x, const T_%d *y, T_%d *dy, T_%d *dy_2, T_%d *x_a", n, n, n,
             n, n);
    hole_set(holes, "columns", "        const int at = row * %d + tile.column(0);\n",
             m->shape.features + PADDING);
    hole_set(holes, "row", "        make_%d<%d>(x, y, dy, dy_2, x_a, at, tile);\n", m->vector, m->paths);
}

/* What the prologues call, because a hole of these tests holds little text. */
static void write_makers(FILE *out, int vector) {
    fprintf(out,
            "template <int PATHS, class T, class Tile>\n"
            "static __device__ void make_%d(const T *x, const T *y, T *dy, T *dy_2, T *x_a, int at,\n"
            "                               const Tile &tile) {\n"
            "    for (int j = 0; j < %d; j++) {\n"
            "        const float a = convert<float>(x[at + j]), b = convert<float>(y[at + j]);\n"
            "        if (dy)\n"
            "            tile.operand(0)[j] = dy[at + j] = convert<T>(a * b);\n"
            "        if (dy_2)\n"
            "            tile.operand(1)[j] = dy_2[at + j] = convert<T>(a + b);\n"
            "        if (x_a)\n"
            "            tile.operand(PATHS)[j] = x_a[at + j] = convert<T>(a - b);\n"
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
    hole_set(&holes, "grads_a", "%d", m->grads_a);
    hole_set(&holes, "v_stride", "%d", c->rank + PADDING);
    hole_set(&holes, "vector", "%d", m->vector);
    hole_set(&holes, "index", "int");
    set_prologue(&holes, m, index);
    fprintf(out, "using T_%d = %s;\n", index, type);
    template_kernel(out, "low_rank_grads_mma.cu",
                    m->paths ? "pointwise_low_rank_grads" : "pointwise_low_rank_grad_a", &holes);
}

static unsigned made_shared_bytes(const Made *m) {
    const Case *c = &m->shape;
    const int wide = parts_of(c->rank, 16) * 16;
    const int rows = TILE / c->cols / (m->paths + !m->paths) * (m->paths + m->grads_a);
    if (!m->paths)
        return (unsigned)(2 * rows * (c->cols + 8 + wide + 8));
    return (unsigned)(2 * (rows * (c->cols + 8 + wide + 8) + m->paths * c->cols * (wide + 8)) +
                      4 * 128 * (wide + 4));
}

enum { MOST_PATHS = 2, MOST_OPERANDS = MOST_PATHS + 1 };

/* The partial sums of a path. */
typedef struct {
    CUdeviceptr v, db;
} Parts;

static size_t v_bytes(const Case *c) {
    return (size_t)(parts_of(c->features, c->cols) * c->rows * c->rank) * 4;
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
static void expect_made(const Case *c, int which, const Matrix *x, const Matrix *y, Matrix *made) {
    static const char *const names[] = {"x y", "x + y", "x - y"};
    for (int row = 0; row < c->rows; row++)
        for (int i = 0; i < c->features; i++) {
            double a = *matrix_at(x, row, i), b = *matrix_at(y, row, i);
            *matrix_at(made, row, i) = which == 0 ? a * b : which == 1 ? a + b : a - b;
        }
    matrix_check(names[which], c->dtype, made);
}

/* Compares a path's parts with those that the kernel computes from the stored dy. */
static void check_path(const Case *c, int index, CUmodule module, Matrix *dy, Matrix *b, Matrix *u,
                       const Parts *made) {
    char name[32];
    Parts read = parts_new(c);
    snprintf(name, sizeof name, "grads_%d", index);
    launch(module, name, grid_of(c), THREADS, shared_bytes(c),
           (void *[]){&dy->device, &b->device, &u->device, &read.v, &read.db});
    expect_bits("v", made->v, read.v, v_bytes(c));
    expect_bits("dB", made->db, read.db, db_bytes(c));
    parts_free(&read);
}

static void check_path_of_a(const Case *c, int index, CUmodule module, Matrix *x, Matrix *v,
                            CUdeviceptr made) {
    CUdeviceptr read;
    multiply_for_a(c, index, module, x, v, &read);
    expect_bits("dA", made, read, db_bytes(c));
    cuMemFree(read);
}

/* The matrices and parts of a path; that of A, the last one, has no B. */
typedef struct {
    Matrix made, b, u;
    Parts parts;
} Path;

static Path path_new(const Case *c, uint64_t *seed) {
    return (Path){matrix_new(c->dtype, c->rows, c->features, seed),
                  matrix_new(c->dtype, c->features, c->rank, seed),
                  matrix_new(c->dtype, c->rows, c->rank, seed), parts_new(c)};
}

static void path_free(Path *path) {
    matrix_free(&path->made);
    matrix_free(&path->b);
    matrix_free(&path->u);
    parts_free(&path->parts);
}

static void run_made(const Made *m, int index, CUmodule module, Matrix *x, Matrix *y, Path *path) {
    CUdeviceptr none = 0;
    void *args[4 * MOST_OPERANDS + 2 + MOST_OPERANDS];
    int count = 0;
    char name[32];
    for (int i = 0; i < m->paths + m->grads_a; i++) {
        if (i < m->paths)
            args[count++] = &path[i].b.device;
        args[count++] = &path[i].u.device;
        if (i < m->paths)
            args[count++] = &path[i].parts.v;
        args[count++] = &path[i].parts.db;
    }
    args[count++] = &x->device;
    args[count++] = &y->device;
    args[count++] = m->paths ? &path[0].made.device : &none;
    args[count++] = m->paths > 1 ? &path[1].made.device : &none;
    args[count++] = m->grads_a ? &path[m->paths].made.device : &none;
    snprintf(name, sizeof name, "made_%d", index);
    launch(module, name, grid_of(&m->shape), THREADS, made_shared_bytes(m), args);
}

static void check_made(const Made *m, int index, CUmodule module) {
    const Case *c = &m->shape;
    uint64_t seed = 70 + (uint64_t)index;
    Matrix x = matrix_new(c->dtype, c->rows, c->features, &seed);
    Matrix y = matrix_new(c->dtype, c->rows, c->features, &seed);
    Path path[MOST_OPERANDS];
    for (int i = 0; i < m->paths + m->grads_a; i++)
        path[i] = path_new(c, &seed);
    run_made(m, index, module, &x, &y, path);
    for (int i = 0; i < m->paths + m->grads_a; i++) {
        Path *p = &path[i];
        expect_made(c, i < m->paths ? i : 2, &x, &y, &p->made);
        if (i < m->paths)
            check_path(c, index, module, &p->made, &p->b, &p->u, &p->parts);
        else
            check_path_of_a(c, index, module, &p->made, &p->u, p->parts.db);
        path_free(p);
    }
    matrix_free(&x);
    matrix_free(&y);
}

static void same_bits_with_a_prologue(void **state) {
    (void)state;
    static const Made cases[] = {
        {{BF16, F32, 70, 264, 16, 128, 128, 3, false}, 2, 0, 8},
        {{F16, F32, 96, 1024, 16, 512, 64, 2, false}, 2, 0, 8},
        {{BF16, F32, 129, 256, 8, 256, 64, 2, false}, 1, 0, 4},
        {{F16, F32, 100, 136, 40, 256, 64, 2, false}, 1, 0, 8},
        {{BF16, F32, 160, 512, 16, 256, 64, 3, false}, 2, 1, 8},
        {{F16, F32, 129, 264, 24, 128, 128, 2, false}, 1, 1, 4},
        {{BF16, F32, 128, 512, 16, 512, 64, 3, false}, 0, 1, 8},
        {{F16, F32, 131, 264, 8, 256, 128, 2, false}, 0, 1, 4},
        {{BF16, F32, 260, 264, 48, 128, 128, 2, false}, 0, 1, 8},
        {{BF16, F32, 70, 512, 64, 256, 64, 2, false}, 0, 1, 8},
    };
    const int count = sizeof cases / sizeof *cases;
    FILE *out = template_open("low_rank_made");
    template_prelude(out, "low_rank_grads_mma.cu");
    write_makers(out, 4);
    write_makers(out, 8);
    for (int i = 0; i < count; i++) {
        write_kernels(out, &cases[i].shape, i);
        write_kernels_of_a(out, &cases[i].shape, i);
        write_made(out, &cases[i], i);
    }
    CUmodule module = template_load(out, "low_rank_made");
    for (int i = 0; i < count; i++)
        check_made(&cases[i], i, module);
    cuModuleUnload(module);
}

/* An argument selects tests. */
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_gradients),
                                       cmocka_unit_test(same_bits_with_a_prologue)};
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    device_open();
    return cmocka_run_group_tests_name("low-rank template", tests, NULL, NULL);
}
