/* The arithmetic of the simulated cuBLASLt: operands are converted to float (or stay double),
 * multiplied by OpenBLAS, scaled, and rounded once to the result's type. The workspace is filled
 * with NaN, to expose programs that store data there.
 */
#include "sim_cublaslt.h"
#include "sim_scalar.h"
#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

size_t type_bytes(cudaDataType_t type) {
    switch (type) {
    case CUDA_R_64F:
        return 8;
    case CUDA_R_32F:
        return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    default:
        return 0;
    }
}

/* ---- Scalars ----------------------------------------------------------------------------- */

/* Rounds to 10 mantissa bits, ties away from zero, like cvt.rna.tf32. */
static float round_tf32(float x) {
    const uint32_t bits = bits_of_float(x);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return finite ? float_of_bits((bits + 0x1000u) & 0xffffe000u) : x;
}

static void load_row(float *to, const void *from, int64_t count, cudaDataType_t type, bool tf32) {
    const uint16_t *narrow = from;
    const float *wide = from;
    for (int64_t i = 0; i < count; i++)
        to[i] = type == CUDA_R_16BF  ? from_bfloat16(narrow[i])
                : type == CUDA_R_16F ? from_half(narrow[i])
                : tf32               ? round_tf32(wide[i])
                                     : wide[i];
}

static void store_row(void *to, const float *from, int64_t count, cudaDataType_t type) {
    uint16_t *narrow = to;
    if (type == CUDA_R_32F)
        memcpy(to, from, (size_t)count * sizeof *from);
    else
        for (int64_t i = 0; i < count; i++)
            narrow[i] = type == CUDA_R_16BF ? to_bfloat16(from[i]) : to_half(from[i]);
}

/* ---- Matrices ---------------------------------------------------------------------------- */

/* A buffer that only grows; protected by the driver's lock. */
typedef struct Buffer {
    float *data;
    size_t bytes;
} Buffer;

static float *buffer_of(Buffer *buffer, int64_t elements) {
    const size_t bytes = (size_t)elements * sizeof(float);
    if (bytes > buffer->bytes) {
        free(buffer->data);
        buffer->data = malloc(bytes);
        buffer->bytes = bytes;
    }
    if (!buffer->data && bytes) {
        fprintf(stderr, "simulated device: the host is out of memory\n");
        abort();
    }
    return buffer->data;
}

static void *batch_of(const Matrix *m, int batch) {
    return (char *)m->data + (size_t)(m->batch_stride * batch) * type_bytes(m->type);
}

static bool column_major(const Matrix *m) { return m->row_stride == 1; }
static int64_t leading(const Matrix *m) {
    return column_major(m) ? m->column_stride : m->row_stride;
}
static int64_t inner(const Matrix *m) { return column_major(m) ? m->rows : m->columns; }
static int64_t outer(const Matrix *m) { return column_major(m) ? m->columns : m->rows; }

/* Returns a packed matrix of floats with the same shape and order. */
static Matrix floats_like(const Matrix *m, Buffer *buffer) {
    Matrix f = *m;
    f.type = CUDA_R_32F;
    f.data = buffer_of(buffer, m->rows * m->columns);
    f.row_stride = column_major(m) ? 1 : m->columns;
    f.column_stride = column_major(m) ? m->rows : 1;
    return f;
}

static Matrix floats_of(const Matrix *m, int batch, Buffer *buffer, bool tf32) {
    const Matrix f = floats_like(m, buffer);
    const char *from = batch_of(m, batch);
    for (int64_t i = 0; i < outer(m); i++)
        load_row((float *)f.data + i * inner(m),
                 from + (size_t)(i * leading(m)) * type_bytes(m->type), inner(m), m->type, tf32);
    return f;
}

static Matrix operand(const Matrix *m, int batch, Buffer *buffer, bool tf32) {
    if (m->type != CUDA_R_32F || tf32)
        return floats_of(m, batch, buffer, tf32);
    Matrix same = *m;
    same.data = batch_of(m, batch);
    return same;
}

/* BLAS requires leading dimensions of at least 1, even for empty matrices. */
static int blas_leading(const Matrix *m) {
    const int64_t l = leading(m) > inner(m) ? leading(m) : inner(m);
    return (int)(l > 1 ? l : 1);
}

static CBLAS_TRANSPOSE transposed(const Matrix *m, bool columns) {
    return column_major(m) == columns ? CblasNoTrans : CblasTrans;
}

/* ---- Products ---------------------------------------------------------------------------- */

static void multiply_floats(const Matrix *a, const Matrix *b, const Matrix *d, float alpha,
                            float beta) {
    const bool columns = column_major(d);
    cblas_sgemm(columns ? CblasColMajor : CblasRowMajor, transposed(a, columns),
                transposed(b, columns), (int)d->rows, (int)d->columns, (int)a->columns, alpha,
                a->data, blas_leading(a), b->data, blas_leading(b), beta, d->data, blas_leading(d));
}

static float bias_at(const Gemm *g, int64_t row) {
    float value;
    const size_t at = (size_t)row * type_bytes(g->bias_type);
    load_row(&value, (const char *)g->bias + at, 1, g->bias_type, false);
    return value;
}

static void add_bias(const Gemm *g, const Matrix *d) {
    float *data = d->data;
    for (int64_t i = 0; i < d->rows; i++)
        for (int64_t j = 0; j < d->columns; j++)
            data[i * d->row_stride + j * d->column_stride] += bias_at(g, i);
}

/* Returns the matrix that accumulates the product: the result itself, if it is float and already
 * holds beta's term. */
static Matrix sums_of(const Gemm *g, int batch, Buffer *buffer) {
    if (g->beta != 0 && (g->c.data != g->d.data || g->d.type != CUDA_R_32F))
        return floats_of(&g->c, batch, buffer, false);
    if (g->d.type != CUDA_R_32F)
        return floats_like(&g->d, buffer);
    Matrix same = g->d;
    same.data = batch_of(&g->d, batch);
    return same;
}

static void gemm_float(const Gemm *g, int batch) {
    static Buffer buffers[3];
    const bool tf32 = g->compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const Matrix a = operand(&g->a, batch, &buffers[0], tf32);
    const Matrix b = operand(&g->b, batch, &buffers[1], tf32);
    const Matrix sums = sums_of(g, batch, &buffers[2]);
    multiply_floats(&a, &b, &sums, (float)g->alpha, (float)g->beta);
    if (g->bias)
        add_bias(g, &sums);
    char *to = batch_of(&g->d, batch);
    for (int64_t i = 0; i < outer(&g->d) && sums.data != (void *)to; i++)
        store_row(to + (size_t)(i * leading(&g->d)) * type_bytes(g->d.type),
                  (const float *)sums.data + i * inner(&g->d), inner(&g->d), g->d.type);
}

static void copy_double(const Gemm *g, int batch) {
    const char *from = batch_of(&g->c, batch);
    char *to = batch_of(&g->d, batch);
    for (int64_t i = 0; i < outer(&g->d) && from != to; i++)
        memcpy(to + i * leading(&g->d) * 8, from + i * leading(&g->c) * 8,
               (size_t)inner(&g->d) * 8);
}

static void gemm_double(const Gemm *g, int batch) {
    const bool columns = column_major(&g->d);
    double *d = batch_of(&g->d, batch);
    const double *bias = g->bias;
    if (g->beta != 0)
        copy_double(g, batch);
    cblas_dgemm(columns ? CblasColMajor : CblasRowMajor, transposed(&g->a, columns),
                transposed(&g->b, columns), (int)g->d.rows, (int)g->d.columns, (int)g->a.columns,
                g->alpha, batch_of(&g->a, batch), blas_leading(&g->a), batch_of(&g->b, batch),
                blas_leading(&g->b), g->beta, d, blas_leading(&g->d));
    for (int64_t i = 0; bias && i < g->d.rows; i++)
        for (int64_t j = 0; j < g->d.columns; j++)
            d[i * g->d.row_stride + j * g->d.column_stride] += bias[i];
}

/* One thread unless the user sets another number: this gives the same bits on every machine and is
 * faster for small products. */
static void choose_threads(void) {
    static bool chosen;
    if (!chosen && !getenv("OPENBLAS_NUM_THREADS"))
        openblas_set_num_threads(1);
    chosen = true;
}

/* Data that a plan keeps in the workspace must not survive a product. Clearing all of a workspace
 * takes longer than most products here, so beyond its beginning only a part of each KiB changes. */
static void spoil_workspace(const Gemm *g) {
    const size_t bytes = g->workspace_bytes, beginning = bytes < 4096 ? bytes : 4096;
    unsigned char *workspace = g->workspace;
    memset(workspace, 0xff, beginning);
    for (size_t i = beginning; i + 16 <= bytes; i += 1024)
        memset(workspace + i, 0xff, 16);
}

int gemm_run(const void *gemm) {
    const Gemm *g = gemm;
    choose_threads();
    nanosleep(&(struct timespec){.tv_nsec = g->wait_ms * 1000000L}, NULL);
    if (g->workspace_bytes)
        spoil_workspace(g);
    for (int batch = 0; batch < g->batches; batch++) {
        if (g->compute == CUBLAS_COMPUTE_64F)
            gemm_double(g, batch);
        else
            gemm_float(g, batch);
    }
    return 1;
}
