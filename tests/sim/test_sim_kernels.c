/* Right kernels give right results, in the order and flavour that the environment selects; run.sh
 * runs this program in all of them. */
#include "sim_test.h"
#include <math.h>

static CUmodule module;

static const char *flavour(void) { return getenv("FLAVOUR") ? getenv("FLAVOUR") : "release"; }

static int set_up(void **state) {
    (void)state;
    test_context();
    module = test_module("good_kernels", flavour());
    return 0;
}

static void run(const char *name, unsigned blocks, unsigned threads, unsigned shared_bytes,
                void **arguments) {
    OK(test_launch(test_function(module, name), blocks, threads, shared_bytes, NULL, arguments));
    OK(cuCtxSynchronize());
}

static void axpy_reaches_each_element(void **state) {
    (void)state;
    enum { N = 1000 };
    float x[N], y[N], a = 3;
    int n = N;
    for (int i = 0; i < N; i++)
        x[i] = (float)i, y[i] = 1;
    CUdeviceptr dx = test_upload(x, sizeof x), dy = test_upload(y, sizeof y);
    run("axpy", 4, 256, 0, (void *[]){&dy, &dx, &a, &n});
    OK(cuMemcpyDtoH(y, dy, sizeof y));
    for (int i = 0; i < N; i++)
        assert_true(y[i] == 3 * (float)i + 1);
}

static void globals_keep_their_values(void **state) {
    (void)state;
    float y[32];
    CUdeviceptr dy = test_upload(NULL, sizeof y), table;
    size_t bytes;
    OK(cuModuleGetGlobal(&table, &bytes, module, "table"));
    assert_int_equal(bytes, 32);
    assert_int_equal(cuModuleGetGlobal(&table, &bytes, module, "nothing"), CUDA_ERROR_NOT_FOUND);
    run("globals", 1, 32, 0, (void *[]){&dy});
    OK(cuMemcpyDtoH(y, dy, sizeof y));
    for (int i = 0; i < 32; i++)
        assert_true(y[i] == 2.5f * (float)(i % 8 + 1));
}

/* Enough blocks that a random order covers every way in which the threads of a block can
 * interleave. */
static void reductions_are_exact(void **state) {
    (void)state;
    enum { BLOCKS = 8 };
    static float x[BLOCKS * 256];
    static double out[BLOCKS * 2];
    for (int i = 0; i < BLOCKS * 256; i++)
        x[i] = (float)((i * 37) % 101 - 50);
    CUdeviceptr dx = test_upload(x, sizeof x), dout = test_upload(NULL, sizeof out);
    run("reductions", BLOCKS, 256, 0, (void *[]){&dout, &dx});
    OK(cuMemcpyDtoH(out, dout, sizeof out));
    for (int b = 0; b < BLOCKS; b++) {
        double sum = 0;
        for (int i = 0; i < 256; i++)
            sum += x[256 * b + i];
        assert_true(out[2 * b] == sum && out[2 * b + 1] == sum);
    }
}

enum { LSE_ROW = 1024 };

/* Rows that increase, decrease, would overflow, have one finite term, are all -infinity, have a NaN. */
static float lse_input(int row, int i) {
    switch (row) {
    case 0:
        return (float)i / 16;
    case 1:
        return (float)(LSE_ROW - i) / 16;
    case 2:
        return 3e38f * (float)(i % 7 == 0);
    case 3:
        return i == 700 ? 5.0f : -INFINITY;
    case 4:
        return -INFINITY;
    default:
        return i == 300 ? NAN : 1.0f;
    }
}

static void log_sum_exp_of_any_row(void **state) {
    (void)state;
    enum { ROWS = 6 };
    static float x[ROWS * LSE_ROW];
    double out[ROWS * 3];
    for (int i = 0; i < ROWS * LSE_ROW; i++)
        x[i] = lse_input(i / LSE_ROW, i % LSE_ROW);
    CUdeviceptr dx = test_upload(x, sizeof x), dout = test_upload(NULL, sizeof out);
    run("log_sum_exp", ROWS, 256, 0, (void *[]){&dout, &dx});
    OK(cuMemcpyDtoH(out, dout, sizeof out));
    for (int row = 0; row < 4; row++) {
        double most = -INFINITY, sum = 0;
        for (int i = 0; i < LSE_ROW; i++)
            most = fmax(most, x[row * LSE_ROW + i]);
        for (int i = 0; i < LSE_ROW; i++)
            sum += exp(x[row * LSE_ROW + i] - most);
        double lse = most + log(sum);
        assert_true(fabs(out[3 * row] - lse) <= 1e-14 * fabs(lse));
        assert_true(fabs(out[3 * row + 1] - lse) <= 1e-6 * fabs(lse));
        assert_true(fabs(out[3 * row + 2] - lse) <= 1e-6 * fabs(lse));
    }
    for (int i = 0; i < 3; i++)
        assert_true(out[3 * 4 + i] == -INFINITY && isnan(out[3 * 5 + i]));
}

static void threads_end_at_different_times(void **state) {
    (void)state;
    enum { BLOCKS = 128 };
    static float x[BLOCKS * 32], out[BLOCKS];
    for (int i = 0; i < BLOCKS * 32; i++)
        x[i] = (float)((i * 53) % 97 - 48);
    CUdeviceptr dx = test_upload(x, sizeof x), dout = test_upload(NULL, sizeof out);
    run("first_warp", BLOCKS, 256, 0, (void *[]){&dout, &dx});
    OK(cuMemcpyDtoH(out, dout, sizeof out));
    for (int block = 0; block < BLOCKS; block++) {
        float sum = 0;
        for (int i = 0; i < 32; i++)
            sum += x[32 * block + i];
        assert_true(out[block] == sum);
    }
}

static void shuffles_move_values(void **state) {
    (void)state;
    int out[192];
    CUdeviceptr d = test_upload(NULL, sizeof out);
    run("shuffles", 1, 32, 0, (void *[]){&d});
    OK(cuMemcpyDtoH(out, d, sizeof out));
    unsigned vote = 0;
    for (int i = 0; i < 32; i += 3)
        vote |= 1u << i;
    for (int i = 0; i < 32; i++) {
        assert_int_equal(out[i], i ^ 1);
        assert_int_equal(out[32 + i], 50);
        assert_int_equal(out[64 + i], i ? i - 1 : 0);
        assert_int_equal(out[96 + i], i < 30 ? i + 2 : i);
        assert_int_equal((unsigned)out[128 + i], vote);
        assert_int_equal(out[160 + i], i ^ 4);
    }
}

/* The known answers from Random123's kat_vectors. */
static void philox_gives_known_answers(void **state) {
    (void)state;
    static const uint32_t known[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        CUdeviceptr in = test_upload(known[i], 24), d = test_upload(NULL, sizeof out);
        run("philox_block", 1, 1, 0, (void *[]){&d, &in});
        OK(cuMemcpyDtoH(out, d, sizeof out));
        assert_memory_equal(out, known[i] + 6, sizeof out);
    }
}

static void uniforms_are_uniform(void **state) {
    (void)state;
    enum { N = 4096 };
    static float u[N], again[N];
    unsigned long long seed = 42;
    unsigned step = 3;
    int n = N;
    CUdeviceptr d = test_upload(NULL, sizeof u);
    run("uniforms", N / 128, 128, 0, (void *[]){&d, &seed, &step, &n});
    OK(cuMemcpyDtoH(u, d, sizeof u));
    double mean = 0, square = 0;
    for (int i = 0; i < N; i++) {
        assert_true(u[i] > 0 && u[i] <= 1);
        mean += u[i] / N;
        square += (double)u[i] * u[i] / N;
    }
    assert_true(fabs(mean - 0.5) < 0.02 && fabs(square - 1.0 / 3) < 0.02);
    run("uniform_vectors", N / 8 / 128, 128, 0, (void *[]){&d, &seed, &step});
    OK(cuMemcpyDtoH(again, d, sizeof again));
    assert_memory_equal(again, u, sizeof u);
    memset(again, 0, sizeof again);
    OK(cuMemcpyHtoD(d, again, sizeof again));
    run("uniform_pairs", N / 2 / 128, 128, 0, (void *[]){&d, &seed, &step});
    OK(cuMemcpyDtoH(again, d, sizeof again));
    assert_memory_equal(again, u, sizeof u);
    step = 4;
    run("uniforms", N / 128, 128, 0, (void *[]){&d, &seed, &step, &n});
    OK(cuMemcpyDtoH(again, d, sizeof again));
    int same = 0;
    for (int i = 0; i < N; i++)
        same += u[i] == again[i];
    assert_true(same < 5);
}

/* Ties to even, the smallest and largest numbers, and cases where rounding twice would differ. */
static void conversions_round_once(void **state) {
    (void)state;
    static const double x[] = {1.0,
                               1.00390625,
                               1.01171875,
                               -2.5,
                               0.5,
                               1.5,
                               65504,
                               65520,
                               1e-7,
                               3.3895314e38,
                               1.00390625 + 0x1p-40,
                               1 + 0x1p-11 + 0x1p-40};
    static const float bf16[] = {1.0f,     1.0f,     1.015625f,  -2.5f,         0.5f,       1.5f,
                                 65536.0f, 65536.0f, 1.0012e-7f, 3.3895314e38f, 1.0078125f, 1.0f};
    static const float half[] = {1.0f,          1.00390625f, 1.01171875f, -2.5f,
                                 0.5f,          1.5f,        65504.0f,    INFINITY,
                                 1.1920929e-7f, INFINITY,    1.00390625f, 1.0009765625f};
    static const int whole[] = {1, 1, 1, -2, 0, 2, 65504, 65520, 0, 0, 1, 1};
    enum { N = 12 };
    float b[N], h[N];
    int w[N], n = N;
    CUdeviceptr dx = test_upload(x, sizeof x), db = test_upload(NULL, sizeof b),
                dh = test_upload(NULL, sizeof h), dw = test_upload(NULL, sizeof w);
    run("conversions", 1, 32, 0, (void *[]){&db, &dh, &dw, &dx, &n});
    OK(cuMemcpyDtoH(b, db, sizeof b));
    OK(cuMemcpyDtoH(h, dh, sizeof h));
    OK(cuMemcpyDtoH(w, dw, sizeof w));
    for (int i = 0; i < N; i++) {
        assert_true(fabsf(b[i] - bf16[i]) <= 1e-4f * fabsf(bf16[i]) * (i == 8));
        assert_true(h[i] == half[i]);
        if (i != 9)
            assert_int_equal(w[i], whole[i]);
    }
}

static void vectors_move_whole(void **state) {
    (void)state;
    uint16_t from[256], to[256];
    for (int i = 0; i < 256; i++)
        from[i] = (uint16_t)(i * 257);
    CUdeviceptr df = test_upload(from, sizeof from), dt = test_upload(NULL, sizeof to);
    run("vectors", 1, 32, 0, (void *[]){&dt, &df});
    OK(cuMemcpyDtoH(to, dt, sizeof to));
    assert_memory_equal(to, from, sizeof to);
}

static void multiply(const char *kernel, int depth) {
    float a[16 * 16], b[16 * 8], c[16 * 8], want[16 * 8];
    for (int i = 0; i < 16 * depth; i++)
        a[i] = (float)((i * 7) % 23 - 11);
    for (int i = 0; i < depth * 8; i++)
        b[i] = (float)((i * 5) % 19 - 9);
    for (int i = 0; i < 16 * 8; i++)
        c[i] = want[i] = (float)(i % 13);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < depth; k++)
                want[i * 8 + j] += a[i * depth + k] * b[k * 8 + j];
    CUdeviceptr da = test_upload(a, sizeof a), db = test_upload(b, sizeof b),
                dc = test_upload(c, sizeof c);
    run(kernel, 1, 32, 0, (void *[]){&dc, &da, &db});
    OK(cuMemcpyDtoH(c, dc, sizeof c));
    assert_memory_equal(c, want, sizeof c);
}

static void mma_is_a_matrix_product(void **state) {
    (void)state;
    multiply("product_bf16", 16);
    multiply("product_half", 16);
    multiply("product_tf32", 8);
}

static void ldmatrix_gives_fragments(void **state) {
    (void)state;
    uint16_t in[256];
    unsigned plain[128], transposed[128];
    for (int i = 0; i < 256; i++)
        in[i] = (uint16_t)(1000 + i);
    CUdeviceptr din = test_upload(in, sizeof in), dp = test_upload(NULL, sizeof plain),
                dt = test_upload(NULL, sizeof transposed);
    run("fragments", 1, 32, 0, (void *[]){&dp, &dt, &din});
    OK(cuMemcpyDtoH(plain, dp, sizeof plain));
    OK(cuMemcpyDtoH(transposed, dt, sizeof transposed));
    for (int lane = 0; lane < 32; lane++)
        for (int m = 0; m < 4; m++)
            for (int half = 0; half < 2; half++) {
                const int row = lane / 4, column = lane % 4 * 2 + half;
                const unsigned p = plain[4 * lane + m] >> 16 * half & 0xffff;
                const unsigned t = transposed[4 * lane + m] >> 16 * half & 0xffff;
                assert_int_equal(p, in[64 * m + 8 * row + column]);
                assert_int_equal(t, in[64 * m + 8 * column + row]);
            }
}

static void pipelines_land_in_time(void **state) {
    (void)state;
    enum { N = 1000, TILES = 4 };
    float x[N], y[TILES * 256];
    int n = N, tiles = TILES;
    for (int i = 0; i < N; i++)
        x[i] = (float)(i + 1);
    CUdeviceptr dx = test_upload(x, sizeof x), dy = test_upload(NULL, sizeof y);
    run("pipeline", 1, 64, 2048, (void *[]){&dy, &dx, &n, &tiles});
    OK(cuMemcpyDtoH(y, dy, sizeof y));
    for (int i = 0; i < TILES * 256; i++)
        assert_true(y[i] == (i < N ? 2 * (float)(i + 1) : 0));
}

static void atomics_do_not_race(void **state) {
    (void)state;
    int slots[256];
    unsigned zero = 0, count;
    CUdeviceptr dc = test_upload(&zero, 4), ds = test_upload(NULL, sizeof slots);
    run("count_up", 4, 64, 0, (void *[]){&dc, &ds});
    OK(cuMemcpyDtoH(&count, dc, 4));
    OK(cuMemcpyDtoH(slots, ds, sizeof slots));
    assert_int_equal(count, 256);
    for (int i = 0; i < 256; i++)
        assert_int_equal(slots[i], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axpy_reaches_each_element),
        cmocka_unit_test(globals_keep_their_values),
        cmocka_unit_test(reductions_are_exact),
        cmocka_unit_test(log_sum_exp_of_any_row),
        cmocka_unit_test(threads_end_at_different_times),
        cmocka_unit_test(shuffles_move_values),
        cmocka_unit_test(philox_gives_known_answers),
        cmocka_unit_test(uniforms_are_uniform),
        cmocka_unit_test(conversions_round_once),
        cmocka_unit_test(vectors_move_whole),
        cmocka_unit_test(mma_is_a_matrix_product),
        cmocka_unit_test(ldmatrix_gives_fragments),
        cmocka_unit_test(pipelines_land_in_time),
        cmocka_unit_test(atomics_do_not_race),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
