/* Tests the first product of a low-rank path against sums in double: tiles that the matrix does not
 * fill, ranks that are no multiple of 16, rows that are wider than the operands. A kernel that makes
 * x itself stores the same x and the same bits of u. */
#include "test_template_common.h"

typedef struct {
    Dtype dtype;
    int rows, features, rank, tile_rows;
    int vector; /* of the prologue */
} Case;

enum { THREADS = 256, TILE = 8192 };

static const double alpha = 0.5;

static int parts_of(int size, int part) { return (size + part - 1) / part; }

/* Sets what both kernels have in common. */
static void set_sizes(Holes *holes, const Case *c) {
    hole_set(holes, "threads", "%d", THREADS);
    hole_set(holes, "dtype", "%s", dtype_name(c->dtype));
    hole_set(holes, "rows", "%d", c->rows);
    hole_set(holes, "features", "%d", c->features);
    hole_set(holes, "rank", "%d", c->rank);
    hole_set(holes, "a_stride", "%d", c->features + PADDING);
    hole_set(holes, "u_stride", "%d", c->rank + PADDING);
    hole_set(holes, "tile_rows", "%d", c->tile_rows);
    hole_set(holes, "together", "%d", 2);
    hole_set(holes, "alpha", "%.1ff", alpha);
}

/* The prologue makes x = p q. Its texts are those that the plan and its printer would fill in. */
static void write_kernels(FILE *out, const Case *c, int index) {
    static const char file[] = "low_rank_matmul_mma.cu";
    const char *type = dtype_name(c->dtype);
    const int stride = c->features + PADDING;
    Holes holes = {.count = 0};
    set_sizes(&holes, c);
    hole_set(&holes, "kernel", "read_%d", index);
    hole_set(&holes, "x_stride", "%d", stride);
    template_kernel(out, file, "low_rank_matmul", &holes);
    fprintf(out, "using T_%d = %s;\n", index, type);
    hole_set(&holes, "kernel", "made_%d", index);
    hole_set(&holes, "vector", "%d", c->vector);
    hole_set(&holes, "index", "int");
    hole_set(&holes, "operands", "const T_%d *p, const T_%d *q, T_%d *x", index, index, index);
    hole_set(&holes, "columns", "        const int at = row * %d + tile.column(0);\n", stride);
    hole_set(&holes, "row", "        make<%d>(p + at, q + at, x + at, tile.operand(0));\n", c->vector);
    template_kernel(out, file, "pointwise_low_rank_matmul", &holes);
}

/* What the prologues call, because a hole of these tests holds little text. */
static const char maker[] = "template <int N, class T>\n"
                            "static __device__ void make(const T *p, const T *q, T *to, T *tile) {\n"
                            "    for (int j = 0; j < N; j++) {\n"
                            "        const float product = convert<float>(p[j]) * convert<float>(q[j]);\n"
                            "        tile[j] = to[j] = convert<T>(product);\n"
                            "    }\n"
                            "}\n";

static unsigned shared_bytes(const Case *c) {
    const int wide = parts_of(c->rank, 16) * 16;
    const int tiles = 2 * (c->tile_rows + wide) * (TILE / c->tile_rows + 8), sums = 4 * 128 * (wide + 4);
    return (unsigned)(tiles > sums ? tiles : sums);
}

/* Overwrite the old contents with what they should become; padding stays. */
static void expect_x(const Matrix *p, const Matrix *q, Matrix *x) {
    for (int row = 0; row < x->rows; row++)
        for (int i = 0; i < x->cols; i++)
            *matrix_at(x, row, i) = *matrix_at(p, row, i) * *matrix_at(q, row, i);
}

static void expect_u(const Matrix *x, const Matrix *a, Matrix *u) {
    for (int row = 0; row < u->rows; row++)
        for (int k = 0; k < u->cols; k++) {
            double sum = 0;
            for (int i = 0; i < x->cols; i++)
                sum += *matrix_at(x, row, i) * *matrix_at(a, k, i);
            *matrix_at(u, row, k) = alpha * sum;
        }
}

static void check_case(const Case *c, int index, CUmodule module) {
    uint64_t seed = 11 + (uint64_t)index;
    const Grid grid = {(unsigned)parts_of(c->rows, c->tile_rows), 1, 1};
    char name[32];
    Matrix p = matrix_new(c->dtype, c->rows, c->features, &seed);
    Matrix q = matrix_new(c->dtype, c->rows, c->features, &seed);
    Matrix x = matrix_new(c->dtype, c->rows, c->features, &seed);
    Matrix a = matrix_new(c->dtype, c->rank, c->features, &seed);
    uint64_t same = seed; /* so that both have the same padding */
    Matrix u = matrix_new(c->dtype, c->rows, c->rank, &seed);
    Matrix read = matrix_new(c->dtype, c->rows, c->rank, &same);
    snprintf(name, sizeof name, "made_%d", index);
    launch(module, name, grid, THREADS, shared_bytes(c),
           (void *[]){&a.device, &u.device, &p.device, &q.device, &x.device});
    expect_x(&p, &q, &x);
    matrix_check("x", c->dtype, &x);
    device_read(c->dtype, x.device, x.values, matrix_size(&x)); /* u is of the rounded x */
    expect_u(&x, &a, &u);
    matrix_check("u", c->dtype, &u);
    snprintf(name, sizeof name, "read_%d", index);
    launch(module, name, grid, THREADS, shared_bytes(c),
           (void *[]){&x.device, &a.device, &read.device});
    expect_bits("u", u.device, read.device, matrix_size(&u) * dtype_bytes(c->dtype));
    for (Matrix *m[] = {&p, &q, &x, &a, &u, &read}, **i = m; i < m + 6; i++)
        matrix_free(*i);
}

static void product_of_read_and_made_x(void **state) {
    (void)state;
    static const Case cases[] = {
        {BF16, 70, 264, 16, 32, 8}, {F16, 96, 1024, 16, 32, 8},  {BF16, 129, 256, 8, 16, 4},
        {F16, 33, 136, 40, 32, 8},  {BF16, 16, 520, 64, 16, 2}, {F16, 1, 8, 24, 16, 8},
    };
    const int count = sizeof cases / sizeof *cases;
    FILE *out = template_open("low_rank_matmul");
    template_prelude(out, "low_rank_matmul_mma.cu");
    fputs(maker, out);
    for (int i = 0; i < count; i++)
        write_kernels(out, &cases[i], i);
    CUmodule module = template_load(out, "low_rank_matmul");
    for (int i = 0; i < count; i++)
        check_case(&cases[i], i, module);
    cuModuleUnload(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(product_of_read_and_made_x)};
    device_open();
    return cmocka_run_group_tests_name("low-rank product template", tests, NULL, NULL);
}
