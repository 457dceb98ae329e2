/* Compares cublasLtMatmul with a plain triple loop: types, transposes, orders, strides, batches,
 * bias, accumulation, and as part of a graph. */
#include "sim_test.h"
#include <cublasLt.h>
#include <math.h>

enum { M = 13, N = 9, K = 11, BATCHES = 2, PAD = 3, WORKSPACE_BYTES = 16384 };

__extension__ typedef _Float16 Half;

typedef struct Shape {
    cudaDataType_t in, out;
    cublasComputeType_t compute;
    bool transpose_a, transpose_b, row_major, bias;
    double alpha, beta;
} Shape;

static cublasLtHandle_t handle;

static int set_up(void **state) {
    (void)state;
    test_context();
    assert_int_equal(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
    return 0;
}

static size_t bytes_of(cudaDataType_t type) {
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

/* Small integers over 4: exact in every type. */
static double number(int i, int seed) { return ((i * 29 + seed * 17) % 21 - 10) * 0.25; }

static void put(void *array, cudaDataType_t type, size_t i, double value) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    const Half h = (Half)f;
    const uint16_t bf16 = (uint16_t)(bits >> 16);
    switch (type) {
    case CUDA_R_64F:
        ((double *)array)[i] = value;
        break;
    case CUDA_R_32F:
        ((float *)array)[i] = f;
        break;
    case CUDA_R_16BF:
        memcpy((char *)array + 2 * i, &bf16, 2);
        break;
    default:
        memcpy((char *)array + 2 * i, &h, 2);
    }
}

static double get(const void *array, cudaDataType_t type, size_t i) {
    uint16_t narrow;
    float f;
    Half h;
    if (type == CUDA_R_64F)
        return ((const double *)array)[i];
    if (type == CUDA_R_32F)
        return ((const float *)array)[i];
    memcpy(&narrow, (const char *)array + 2 * i, 2);
    const uint32_t bits = (uint32_t)narrow << 16;
    memcpy(&f, &bits, 4);
    memcpy(&h, &narrow, 2);
    return type == CUDA_R_16BF ? (double)f : (double)h;
}

/* A matrix in memory, padded and batched. */
typedef struct Array {
    cudaDataType_t type;
    int rows, columns, leading;
    bool row_major;
    size_t elements;
    char *host;
    CUdeviceptr device;
    cublasLtMatrixLayout_t layout;
} Array;

static size_t place(const Array *a, int batch, int i, int j) {
    const size_t one = a->elements / BATCHES;
    return (size_t)batch * one + (a->row_major ? (size_t)i * (size_t)a->leading + (size_t)j
                                               : (size_t)j * (size_t)a->leading + (size_t)i);
}

static double at(const Array *a, int batch, int i, int j) {
    return get(a->host, a->type, place(a, batch, i, j));
}

static Array array_of(cudaDataType_t type, int rows, int columns, bool row_major, int seed) {
    Array a = {.type = type, .rows = rows, .columns = columns, .row_major = row_major};
    a.leading = (row_major ? columns : rows) + PAD;
    a.elements = (size_t)BATCHES * (size_t)a.leading * (size_t)(row_major ? rows : columns);
    a.host = malloc(a.elements * bytes_of(type));
    for (size_t i = 0; i < a.elements; i++)
        put(a.host, type, i, number((int)i, seed));
    a.device = test_upload(a.host, a.elements * bytes_of(type));
    const int32_t order = row_major ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL, batches = BATCHES;
    const int64_t stride = (int64_t)(a.elements / BATCHES);
    assert_int_equal(
        cublasLtMatrixLayoutCreate(&a.layout, type, (uint64_t)rows, (uint64_t)columns, a.leading),
        0);
    assert_int_equal(cublasLtMatrixLayoutSetAttribute(a.layout, CUBLASLT_MATRIX_LAYOUT_ORDER,
                                                      &order, sizeof order),
                     0);
    assert_int_equal(cublasLtMatrixLayoutSetAttribute(a.layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                      &batches, sizeof batches),
                     0);
    assert_int_equal(cublasLtMatrixLayoutSetAttribute(a.layout,
                                                      CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                      &stride, sizeof stride),
                     0);
    return a;
}

static void array_free(Array *a) {
    OK(cuMemFree(a->device));
    cublasLtMatrixLayoutDestroy(a->layout);
    free(a->host);
}

static cublasLtMatmulDesc_t describe(const Shape *s, CUdeviceptr bias) {
    cublasLtMatmulDesc_t desc;
    const cublasOperation_t t = CUBLAS_OP_T;
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    const bool wide = s->compute == CUBLAS_COMPUTE_64F;
    assert_int_equal(cublasLtMatmulDescCreate(&desc, s->compute, wide ? CUDA_R_64F : CUDA_R_32F),
                     0);
    if (s->transpose_a)
        cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t);
    if (s->transpose_b)
        cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &t, sizeof t);
    if (s->bias) {
        cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                       sizeof epilogue);
        assert_int_equal(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                        &bias, sizeof bias),
                         0);
    }
    return desc;
}

static cublasStatus_t multiply(const Shape *s, cublasLtMatmulDesc_t desc, const Array *a,
                               const Array *b, const Array *c, const Array *d,
                               CUdeviceptr workspace, CUstream stream) {
    const float alpha = (float)s->alpha, beta = (float)s->beta;
    const bool wide = s->compute == CUBLAS_COMPUTE_64F;
    return cublasLtMatmul(handle, desc, wide ? (const void *)&s->alpha : &alpha, (void *)a->device,
                          a->layout, (void *)b->device, b->layout,
                          wide ? (const void *)&s->beta : &beta, (void *)c->device, c->layout,
                          (void *)d->device, d->layout, NULL, (void *)workspace,
                          workspace ? WORKSPACE_BYTES : 0, (cudaStream_t)stream);
}

static void compare(const Shape *s, const Array *a, const Array *b, const Array *c, const Array *d,
                    const char *bias) {
    char *result = malloc(d->elements * bytes_of(d->type));
    OK(cuMemcpyDtoH(result, d->device, d->elements * bytes_of(d->type)));
    for (int batch = 0; batch < BATCHES; batch++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                double want = s->beta ? s->beta * at(c, batch, i, j) : 0;
                for (int k = 0; k < K; k++)
                    want += s->alpha * (s->transpose_a ? at(a, batch, k, i) : at(a, batch, i, k)) *
                            (s->transpose_b ? at(b, batch, j, k) : at(b, batch, k, j));
                want += s->bias ? get(bias, s->out, (size_t)i) : 0;
                const double got = get(result, d->type, place(d, batch, i, j));
                const double unit = d->type == CUDA_R_16BF  ? 0x1p-8
                                    : d->type == CUDA_R_16F ? 0x1p-11
                                                            : 0;
                if (!(fabs(got - want) <= unit * fabs(want)))
                    fail_msg("(%d,%d,%d) is %g, not %g", batch, i, j, got, want);
            }
    free(result);
}

/* The beginning of the workspace has become NaN, and a part of each KiB after it. */
static void assert_spoiled(CUdeviceptr workspace) {
    double words[WORKSPACE_BYTES / sizeof(double)];
    OK(cuMemcpyDtoH(words, workspace, sizeof words));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (i < 4096 / sizeof(double) || i % 128 == 0)
            assert_true(isnan(words[i]));
}

/* With beta = 0, a NaN in C must not reach the result. */
static void check(const Shape *s, bool in_place) {
    const bool r = s->row_major;
    Array a = s->transpose_a ? array_of(s->in, K, M, r, 1) : array_of(s->in, M, K, r, 1);
    Array b = s->transpose_b ? array_of(s->in, N, K, r, 2) : array_of(s->in, K, N, r, 2);
    Array c = array_of(s->out, M, N, r, 3), d = array_of(s->out, M, N, r, 4);
    char bias[M * 8];
    for (int i = 0; i < M; i++)
        put(bias, s->out, (size_t)i, number(i, 5));
    CUdeviceptr dbias = test_upload(bias, sizeof bias);
    CUdeviceptr workspace = test_upload(NULL, WORKSPACE_BYTES);
    OK(cuMemsetD8(workspace, 0, WORKSPACE_BYTES));
    if (s->beta == 0)
        OK(cuMemsetD8(c.device, 0xff, c.elements * bytes_of(c.type)));
    cublasLtMatmulDesc_t desc = describe(s, dbias);
    const Array *out = in_place ? &c : &d;
    assert_int_equal(multiply(s, desc, &a, &b, &c, out, workspace, NULL), CUBLAS_STATUS_SUCCESS);
    compare(s, &a, &b, &c, out, bias);
    assert_spoiled(workspace);
    cublasLtMatmulDescDestroy(desc);
    OK(cuMemFree(dbias));
    OK(cuMemFree(workspace));
    array_free(&a);
    array_free(&b);
    array_free(&c);
    array_free(&d);
}

static void products_match_a_triple_loop(void **state) {
    (void)state;
    static const struct {
        cudaDataType_t in, out;
        cublasComputeType_t compute;
    } types[] = {{CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
                 {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
                 {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
                 {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
                 {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
                 {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F}};
    for (int t = 0; t < 6; t++)
        for (int bits = 0; bits < 32; bits++) {
            const Shape s = {types[t].in, types[t].out,       types[t].compute,
                             bits & 1,    bits & 2,           bits & 4,
                             bits & 8,    bits & 8 ? 0.5 : 1, bits & 16 ? 1 : 0};
            check(&s, false);
            check(&s, true);
        }
}

/* 1 + 2^-11 is a tie that tf32 rounds away from zero to 1 + 2^-10; 1 + 2^-12 becomes 1. */
static void tf32_has_ten_bits(void **state) {
    (void)state;
    static const float x[] = {1 + 0x1p-11f, 1 + 0x1p-12f}, one = 1, zero = 0;
    static const float want[] = {1 + 0x1p-10f, 1};
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t l;
    assert_int_equal(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F), 0);
    assert_int_equal(cublasLtMatrixLayoutCreate(&l, CUDA_R_32F, 1, 1, 1), 0);
    for (int i = 0; i < 2; i++) {
        float got;
        CUdeviceptr a = test_upload(&x[i], 4), b = test_upload(&one, 4), d = test_upload(NULL, 4);
        assert_int_equal(cublasLtMatmul(handle, desc, &one, (void *)a, l, (void *)b, l, &zero,
                                        (void *)d, l, (void *)d, l, NULL, NULL, 0, NULL),
                         0);
        OK(cuMemcpyDtoH(&got, d, 4));
        assert_true(got == want[i]);
    }
}

/* With a stride of 0, all products of the batch read the same matrix. */
static void a_batch_may_share_an_operand(void **state) {
    (void)state;
    static const float w[] = {1, 2, 3, 4}, x[] = {1, 10, 100, 1000}, one = 1, zero = 0;
    static const float want[] = {31, 42, 3100, 4200};
    const int32_t batches = 2;
    const int64_t strides[] = {0, 2, 2};
    CUdeviceptr at[] = {test_upload(w, sizeof w), test_upload(x, sizeof x),
                        test_upload(NULL, sizeof x)};
    cublasLtMatrixLayout_t l[3];
    cublasLtMatmulDesc_t desc;
    float got[4];
    assert_int_equal(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cublasLtMatrixLayoutCreate(&l[i], CUDA_R_32F, 2, i ? 1 : 2, 2), 0);
        cublasLtMatrixLayoutSetAttribute(l[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches,
                                         sizeof batches);
        cublasLtMatrixLayoutSetAttribute(l[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                         &strides[i], sizeof strides[i]);
    }
    for (int shared = 0; shared < 2; shared++) {
        const cublasLtMatrixLayout_t to = shared ? l[0] : l[2];
        assert_int_equal(cublasLtMatmul(handle, desc, &one, (void *)at[0], l[0], (void *)at[1],
                                        l[1], &zero, (void *)at[2], to, (void *)at[2], to, NULL,
                                        NULL, 0, NULL),
                         shared ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS);
    }
    OK(cuMemcpyDtoH(got, at[2], sizeof got));
    assert_memory_equal(got, want, sizeof got);
}

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    const Shape s = {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, false, false, false, false, 1, 0};
    Array a = array_of(CUDA_R_32F, M, K, false, 1), b = array_of(CUDA_R_32F, K, N, false, 2),
          c = array_of(CUDA_R_32F, M, N, false, 3), bad = array_of(CUDA_R_32F, M, N + 1, false, 3);
    cublasLtMatmulDesc_t desc = describe(&s, 0);
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    uint64_t limit = 1 << 20;
    int found = 0;
    assert_int_equal(cublasLtMatmulPreferenceCreate(&preference), 0);
    assert_int_equal(cublasLtMatmulPreferenceSetAttribute(preference,
                                                          CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                          &limit, sizeof limit),
                     0);
    assert_int_equal(cublasLtMatmulAlgoGetHeuristic(handle, desc, a.layout, b.layout, c.layout,
                                                    c.layout, preference, 1, &result, &found),
                     0);
    assert_int_equal(found, 1);
    assert_int_equal(result.workspaceSize, limit);
    assert_int_equal(multiply(&s, desc, &a, &b, &c, &bad, 0, NULL), CUBLAS_STATUS_INVALID_VALUE);
    bad.device += 4;
    assert_int_equal(multiply(&s, desc, &a, &b, &bad, &bad, 0, NULL), CUBLAS_STATUS_INVALID_VALUE);
    c.device += 4 * (PAD + 1);
    assert_int_equal(multiply(&s, desc, &a, &b, &c, &c, 0, NULL), CUBLAS_STATUS_EXECUTION_FAILED);
    const cublasLtEpilogue_t gelu = CUBLASLT_EPILOGUE_GELU;
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &gelu, sizeof gelu);
    assert_int_equal(cublasLtMatmulAlgoGetHeuristic(handle, desc, a.layout, b.layout, c.layout,
                                                    c.layout, preference, 1, &result, &found),
                     CUBLAS_STATUS_NOT_SUPPORTED);
}

static void products_are_captured(void **state) {
    (void)state;
    const Shape s = {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, false, false, false, false, 1, 1};
    Array a = array_of(CUDA_R_32F, M, K, false, 1), b = array_of(CUDA_R_32F, K, N, false, 2),
          c = array_of(CUDA_R_32F, M, N, false, 3);
    cublasLtMatmulDesc_t desc = describe(&s, 0);
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    float before, after, first = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(multiply(&s, desc, &a, &b, &c, &c, 0, stream), 0);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuMemcpyDtoH(&before, c.device, 4));
    for (int k = 0; k < K; k++)
        first += (float)(at(&a, 0, 0, k) * at(&b, 0, k, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(&after, c.device, 4));
    assert_true(after == before + 2 * first && first != 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_match_a_triple_loop),
        cmocka_unit_test(tf32_has_ten_bits),
        cmocka_unit_test(a_batch_may_share_an_operand),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(products_are_captured),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
