/* A product as the simulated cuBLASLt understands it: sim_cublaslt.c fills it from descriptors,
 * sim_gemm.c computes it.
 */
#ifndef SIM_CUBLASLT_H
#define SIM_CUBLASLT_H

#include <cublasLt.h>
#include <stddef.h>
#include <stdint.h>

/* A matrix anywhere: element (i, j) of batch b lies at i * row_stride + j * column_stride + b *
 * batch_stride elements; one of the two strides is 1. */
typedef struct Matrix {
    void *data;
    cudaDataType_t type;
    int64_t rows, columns;
    int64_t row_stride, column_stride;
    int64_t batch_stride;
} Matrix;

/* d = alpha a b + beta c + bias (a value a row of d, or none). */
typedef struct Gemm {
    Matrix a, b, c, d;
    int batches;
    double alpha, beta;
    cublasComputeType_t compute;
    const void *bias;
    cudaDataType_t bias_type;
    void *workspace;
    size_t workspace_bytes;
    int wait_ms; /* what a slow algorithm takes longer */
} Gemm;

size_t type_bytes(cudaDataType_t type); /* 0 for a type we do not have */

/* A stream operation over a Gemm. */
int gemm_run(const void *gemm);

#endif
