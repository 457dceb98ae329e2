/* The two BLAS functions that the simulated device calls, as plain loops: in a bundle for GPU
 * machines its matrices are small, and OpenBLAS has 25 MB. */
#include <cblas.h>
#include <stdbool.h>

void openblas_set_num_threads(int count) { (void)count; }

#define DEFINE_GEMM(NAME, T)                                                                       \
    void NAME(const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE trans_a,                    \
              const enum CBLAS_TRANSPOSE trans_b, const blasint m, const blasint n,                \
              const blasint k, const T alpha, const T *a, const blasint lda, const T *b,           \
              const blasint ldb, const T beta, T *c, const blasint ldc) {                          \
        const bool columns = order == CblasColMajor;                                               \
        const bool a_across = columns == (trans_a != CblasNoTrans);                                \
        const bool b_across = columns == (trans_b != CblasNoTrans);                                \
        for (blasint i = 0; i < m; i++) {                                                          \
            for (blasint j = 0; j < n; j++) {                                                      \
                T sum = 0;                                                                         \
                for (blasint l = 0; l < k; l++)                                                    \
                    sum += a[a_across ? i * lda + l : l * lda + i] *                               \
                           b[b_across ? l * ldb + j : j * ldb + l];                                \
                T *to = &c[columns ? j * ldc + i : i * ldc + j];                                   \
                *to = alpha * sum + (beta == 0 ? 0 : beta * *to);                                  \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_GEMM(cblas_sgemm, float)
DEFINE_GEMM(cblas_dgemm, double)
