/* The program's matrix products in cuBLASLt's terms, shared by gemm.c and gemm_tune.c. */
#ifndef GPUOPT_GEMM_H
#define GPUOPT_GEMM_H

#include "runtime/base/rt.h"

#include <cublasLt.h>

enum { A, B, C, OPERANDS, BIAS = OPERANDS, POINTERS }; /* cuBLASLt's operands: its A is our B */

typedef struct {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layout[OPERANDS];
    cublasLtMatmulAlgo_t algorithm;
    uint32_t alignment[POINTERS]; /* bytes: the smallest of all calls */
    RtPtr operand[POINTERS];      /* of the first call; BIAS is 0 if there is none */
    bool called;
    double alpha64, beta64; /* scale factors in the type that cuBLASLt expects */
    float alpha32, beta32;
    bool wide; /* use the double factors */
} Gemm;

struct RtGemms {
    cublasLtHandle_t handle;
    Gemm *gemms; /* [gemm_count] */
    RtPtr workspace, side_workspace; /* for GEMMs on the compute and on the side stream */
    size_t workspace_bytes;
};

/* Fills `found` with at most `most` algorithms for a GEMM, best by the library's estimate first,
 * and returns their number. Ends the process if there is none. */
int gemm_candidates(const Rt *rt, int index, cublasLtMatmulHeuristicResult_t *found, int most);
/* Whether the library can run the GEMM with this algorithm within the planned workspace. */
bool gemm_allows(const Rt *rt, int index, const cublasLtMatmulAlgo_t *algorithm);
/* Enqueues the GEMM with the operands of its first call. */
void gemm_try(const Rt *rt, int index, const cublasLtMatmulAlgo_t *algorithm);

#endif
