/* The program's matrix products as cuBLASLt has them: what gemm.c and gemm_tune.c share. */
#ifndef GPUOPT_GEMM_H
#define GPUOPT_GEMM_H

#include "runtime/base/rt.h"

#include <cublasLt.h>

enum { A, B, C, OPERANDS }; /* as cuBLASLt sees them: its A is our B */

typedef struct {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layout[OPERANDS];
    cublasLtMatmulAlgo_t algorithm;
    uint32_t alignment[OPERANDS]; /* bytes: the least of all calls */
    RtPtr operand[OPERANDS];      /* of the first call */
    bool called;
    double alpha64, beta64; /* scale factors in the type that the product takes them in */
    float alpha32, beta32;
    bool wide; /* factors are double */
} Gemm;

struct RtGemms {
    cublasLtHandle_t handle;
    Gemm *gemms; /* [gemm_count] */
    RtPtr workspace, side_workspace; /* of products on the compute and on the side stream */
    size_t workspace_bytes;
};

/* The library's algorithms for a product, the one that it thinks fastest first: at least one, or the
 * process ends. Returns how many of `most` there are. */
int gemm_candidates(const Rt *rt, int index, cublasLtMatmulHeuristicResult_t *found, int most);
/* Whether the library runs the product by this algorithm within the planned workspace. */
bool gemm_allows(const Rt *rt, int index, const cublasLtMatmulAlgo_t *algorithm);
/* Enqueues it with the operands of its first call. */
void gemm_try(const Rt *rt, int index, const cublasLtMatmulAlgo_t *algorithm);

#endif
