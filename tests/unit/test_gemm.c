/* What a run says if cuBLASLt cannot compute a matrix product. The library is one of stubs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/dynlib.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/device/gemm.h"
#include "runtime/device/launch.h"
#include "temp_folder.h"
#include "tests/unit/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const stubs[] = {"Create",
                                    "Destroy",
                                    "GetVersion",
                                    "Matmul",
                                    "MatmulDescCreate",
                                    "MatmulDescDestroy",
                                    "MatmulAlgoCheck",
                                    "MatmulDescSetAttribute",
                                    "MatrixLayoutCreate",
                                    "MatrixLayoutDestroy",
                                    "MatrixLayoutSetAttribute",
                                    "MatmulPreferenceCreate",
                                    "MatmulPreferenceDestroy",
                                    "MatmulPreferenceSetAttribute"};

/* Makes a library that knows no algorithm and says so by this status. */
static void make_library(cublasStatus_t status) {
    char command[512];
    FILE *file = fopen(temp_path("lt.c"), "w");
    assert_non_null(file);
    for (size_t i = 0; i < sizeof stubs / sizeof *stubs; i++)
        fprintf(file, "int cublasLt%s(void) { return 0; }\n", stubs[i]);
    fprintf(file, "int cublasLtMatmulAlgoGetHeuristic(void) { return %d; }\n", (int)status);
    fputs("const char *cublasLtGetStatusString(void) { return \"a status\"; }\n", file);
    fclose(file);
    snprintf(command, sizeof command, "cd %s && cc -shared -fPIC -o libcublasLt.so.12 lt.c",
             temp_path(""));
    assert_int_equal(system(command), 0);
}

static CUresult synchronize(CUstream stream) {
    (void)stream;
    return CUDA_SUCCESS;
}

static void choose(const void *bias) {
    const RtGemm row = {.name = "scores", .m = 2, .n = 3, .k = 4, .bias = *(const bool *)bias};
    const RtProgram program = {.name = "p", .gemms = &row, .gemm_count = 1};
    Rt rt = {.program = &program};
    cublasLtMatmulHeuristicResult_t found;
    cu.StreamSynchronize = synchronize;
    dynlib_only_in(temp_path(""));
    gemms_open(&rt);
    gemm_candidates(&rt, 0, &found, 1);
}

/* What choosing an algorithm says, in a process of its own, which it ends. */
static const char *error_of(cublasStatus_t status, bool bias) {
    static char text[1024];
    make_library(status);
    child_run(choose, &bias, text, sizeof text);
    return text;
}

static void a_missing_algorithm_has_a_remedy(void **state) {
    (void)state;
    static const cublasStatus_t says[] = {CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_SUCCESS};
    for (int i = 0; i < 2; i++) {
        assert_string_equal(
            error_of(says[i], true),
            "error: cuBLASLt has no algorithm for scores (2 x 3 x 4) within 0 bytes of "
            "workspace; set compile.matmul_bias = false and generate the program "
            "again\n");
        assert_string_equal(
            error_of(says[i], false),
            "error: cuBLASLt has no algorithm for scores (2 x 3 x 4) within 0 bytes of "
            "workspace\n");
    }
}

static void other_failures_have_their_status(void **state) {
    (void)state;
    assert_string_equal(error_of(CUBLAS_STATUS_INVALID_VALUE, true),
                        "error: cublasLtMatmulAlgoGetHeuristic for scores: a status\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_algorithm_has_a_remedy),
        cmocka_unit_test(other_failures_have_their_status),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
