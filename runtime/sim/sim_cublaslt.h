/* A product in the simulated cuBLASLt: sim_cublaslt.c fills it in from descriptors, sim_gemm.c
 * computes it.
 */
#ifndef SIM_CUBLASLT_H
#define SIM_CUBLASLT_H

#include <cublasLt.h>
#include <stddef.h>
#include <stdint.h>

/* A matrix: element (i, j) of batch b is at i * row_stride + j * column_stride + b * batch_stride
 * elements from `data`. Either row_stride or column_stride is 1. */
typedef struct Matrix {
    void *data;
    cudaDataType_t type;
    int64_t rows, columns;
    int64_t row_stride, column_stride;
    int64_t batch_stride;
} Matrix;

/* d = alpha a b + beta c + bias; the bias has one value per row of d, or is null. */
typedef struct Gemm {
    Matrix a, b, c, d;
    int batches;
    double alpha, beta;
    cublasComputeType_t compute;
    const void *bias;
    cudaDataType_t bias_type;
    void *workspace;
    size_t workspace_bytes;
    int wait_ms; /* extra time of a slow algorithm */
} Gemm;

size_t type_bytes(cudaDataType_t type); /* 0: not supported */

/* Computes a Gemm, as a stream operation. */
int gemm_run(const void *gemm);

#endif
