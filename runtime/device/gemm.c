/* Matrix products by cuBLASLt.
 *
 * cuBLASLt is column-major: a row-major matrix [r, c] is a column-major one [c, r] with the same
 * leading dimension. So C = op(A) op(B) is computed as C^T = op(B)^T op(A)^T, with A and B swapped
 * and nothing moved.
 *
 * An algorithm is chosen once for every row of the program's table, before anything is captured:
 * the library's first choice, or a measured one (gemm_tune.c). It depends on the alignment of the
 * operands, which a dry run through all entries finds. Each GEMM then runs once, since the library
 * loads a kernel at its first launch, which should not happen during capture. */
#include "runtime/base/checksum.h"
#include "runtime/base/dynlib.h"
#include "runtime/device/device.h"
#include "runtime/device/gemm.h"
#include "runtime/device/launch.h"

#include <stdlib.h>
#include <string.h>

#define GEMM_FUNCTIONS(X)           \
    X(Create)                       \
    X(Destroy)                      \
    X(GetVersion)                   \
    X(GetStatusString)              \
    X(Matmul)                       \
    X(MatmulDescCreate)             \
    X(MatmulDescDestroy)            \
    X(MatmulDescSetAttribute)       \
    X(MatrixLayoutCreate)           \
    X(MatrixLayoutDestroy)          \
    X(MatrixLayoutSetAttribute)     \
    X(MatmulPreferenceCreate)       \
    X(MatmulPreferenceDestroy)      \
    X(MatmulPreferenceSetAttribute) \
    X(MatmulAlgoGetHeuristic)       \
    X(MatmulAlgoCheck)

static struct {
#define X(name) __typeof__(&cublasLt##name) name;
    GEMM_FUNCTIONS(X)
#undef X
} lt;

static const char *const symbols[] = {
#define X(name) "cublasLt" #name,
    GEMM_FUNCTIONS(X)
#undef X
};

static void check(cublasStatus_t status, const char *call, const char *gemm) {
    if (status != CUBLAS_STATUS_SUCCESS)
        rt_fail("%s for %s: %s", call, gemm, lt.GetStatusString(status));
}

static cudaDataType_t data_type(RtDtype dtype) {
    switch (dtype) {
    case RT_F64:
        return CUDA_R_64F;
    case RT_F32:
        return CUDA_R_32F;
    case RT_F16:
        return CUDA_R_16F;
    case RT_BF16:
        return CUDA_R_16BF;
    default:
        rt_internal("no matrix product takes %s", rt_dtype_name(dtype));
    }
}

static cublasComputeType_t compute_type(RtCompute compute) {
    switch (compute) {
    case RT_COMPUTE_F32:
        return CUBLAS_COMPUTE_32F;
    case RT_COMPUTE_TF32:
        return CUBLAS_COMPUTE_32F_FAST_TF32;
    case RT_COMPUTE_F64:
        return CUBLAS_COMPUTE_64F;
    }
    rt_internal("no such compute type: %d", (int)compute);
}

/* ---- preparation ----------------------------------------------------------------------------- */

static void open_library(void) {
    unsigned char *table = (unsigned char *)&lt;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dynlib_need_symbol(LIB_CUBLASLT, symbols[i]);
        memcpy(table + i * sizeof address, &address, sizeof address);
    }
}

static void describe(const Gemm *gemm, const RtGemm *row, cublasLtMatmulDescAttributes_t what,
                     const void *value, size_t bytes) {
    check(lt.MatmulDescSetAttribute(gemm->desc, what, value, bytes),
          "cublasLtMatmulDescSetAttribute", row->name);
}

static void make_descriptor(Gemm *gemm, const RtGemm *row) {
    static const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    gemm->wide = row->compute == RT_COMPUTE_F64;
    gemm->alpha64 = row->alpha;
    gemm->beta64 = row->beta;
    gemm->alpha32 = (float)row->alpha;
    gemm->beta32 = (float)row->beta;
    check(lt.MatmulDescCreate(&gemm->desc, compute_type(row->compute),
                              gemm->wide ? CUDA_R_64F : CUDA_R_32F),
          "cublasLtMatmulDescCreate", row->name);
    cublasOperation_t op_a = row->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t op_b = row->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    describe(gemm, row, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof op_a);
    describe(gemm, row, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof op_b);
    if (row->bias)
        describe(gemm, row, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
}

/* To choose an algorithm, the library only asks how the address is aligned. */
static void set_bias(const Gemm *gemm, const RtGemm *row, RtPtr bias) {
    const void *at = (const void *)(uintptr_t)bias;
    if (row->bias)
        describe(gemm, row, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &at, sizeof at);
}

static void set_layout(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t what,
                       const void *value, size_t bytes, const RtGemm *row) {
    check(lt.MatrixLayoutSetAttribute(layout, what, value, bytes),
          "cublasLtMatrixLayoutSetAttribute", row->name);
}

/* `rows` and `cols` are those of the row-major matrix as stored. */
static cublasLtMatrixLayout_t layout(const RtGemm *row, RtDtype dtype, int64_t rows, int64_t cols,
                                     int64_t stride) {
    cublasLtMatrixLayout_t made;
    check(lt.MatrixLayoutCreate(&made, data_type(dtype), (uint64_t)cols, (uint64_t)rows, stride),
          "cublasLtMatrixLayoutCreate", row->name);
    return made;
}

static void lay_out_batch(Gemm *gemm, const RtGemm *row) {
    const int64_t stride[OPERANDS] = {
        [A] = row->stride_b, [B] = row->stride_a, [C] = row->stride_c};
    int32_t count = (int32_t)row->batch_count;
    for (int i = 0; i < OPERANDS; i++) {
        set_layout(gemm->layout[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count, row);
        set_layout(gemm->layout[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride[i],
                   sizeof stride[i], row);
    }
}

static void lay_out(Gemm *gemm, const RtGemm *row) {
    bool ta = row->transpose_a, tb = row->transpose_b;
    gemm->layout[A] = layout(row, row->b, tb ? row->n : row->k, tb ? row->k : row->n, row->ldb);
    gemm->layout[B] = layout(row, row->a, ta ? row->k : row->m, ta ? row->m : row->k, row->lda);
    gemm->layout[C] = layout(row, row->c, row->m, row->n, row->ldc);
    if (row->batch_count > 0)
        lay_out_batch(gemm, row);
}

static void prefer(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t what,
                   const void *value, size_t bytes, const RtGemm *row) {
    check(lt.MatmulPreferenceSetAttribute(preference, what, value, bytes),
          "cublasLtMatmulPreferenceSetAttribute", row->name);
}

static cublasLtMatmulPreference_t preference_of(const Rt *rt, int index) {
    const Gemm *gemm = &rt->gemms->gemms[index];
    const RtGemm *row = &rt->program->gemms[index];
    cublasLtMatmulPreference_t preference;
    uint64_t workspace = rt->gemms->workspace_bytes;
    /* Split-k parts are summed in the compute type and in a fixed order. */
    uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    static const cublasLtMatmulPreferenceAttributes_t alignments[OPERANDS] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
    };
    check(lt.MatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate", row->name);
    prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace, row);
    prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof reductions,
           row);
    for (int i = 0; i < OPERANDS; i++)
        prefer(preference, alignments[i], &gemm->alignment[i], sizeof gemm->alignment[i], row);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &gemm->alignment[C],
           sizeof gemm->alignment[C], row);
    return preference;
}

int gemm_candidates(const Rt *rt, int index, cublasLtMatmulHeuristicResult_t *found, int most) {
    const struct RtGemms *gemms = rt->gemms;
    const Gemm *gemm = &gemms->gemms[index];
    const RtGemm *row = &rt->program->gemms[index];
    int count = 0, good = 0;
    cublasLtMatmulPreference_t preference = preference_of(rt, index);
    set_bias(gemm, row, gemm->alignment[BIAS]);
    cublasStatus_t status = lt.MatmulAlgoGetHeuristic(
        gemms->handle, gemm->desc, gemm->layout[A], gemm->layout[B], gemm->layout[C],
        gemm->layout[C], preference, most, found, &count);
    lt.MatmulPreferenceDestroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED)
        count = 0; /* of types or an epilogue that no algorithm has */
    else
        check(status, "cublasLtMatmulAlgoGetHeuristic", row->name);
    for (int i = 0; i < count; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS)
            found[good++] = found[i];
    if (good == 0)
        rt_fail("cuBLASLt has no algorithm for %s (%lld x %lld x %lld) within %zu bytes of "
                "workspace%s",
                row->name, (long long)row->m, (long long)row->n, (long long)row->k,
                gemms->workspace_bytes,
                row->bias ? "; set compile.matmul_bias = false and generate the program again" : "");
    return good;
}

bool gemm_allows(const Rt *rt, int index, const cublasLtMatmulAlgo_t *algorithm) {
    const struct RtGemms *gemms = rt->gemms;
    const Gemm *gemm = &gemms->gemms[index];
    cublasLtMatmulHeuristicResult_t result;
    set_bias(gemm, &rt->program->gemms[index], gemm->alignment[BIAS]);
    return lt.MatmulAlgoCheck(gemms->handle, gemm->desc, gemm->layout[A], gemm->layout[B],
                              gemm->layout[C], gemm->layout[C], algorithm,
                              &result) == CUBLAS_STATUS_SUCCESS &&
           result.workspaceSize <= gemms->workspace_bytes;
}

/* Runs the entries that may have products. Every card runs micro_step; only the first card runs the
 * others. */
static void dry_run(Rt *rt) {
    const RtProgram *p = rt->program;
    const RtEntry *entries[] = {&p->load,
                                &p->micro_step,
                                &p->forward,
                                &p->backward,
                                &p->update,
                                &p->evaluate,
                                &p->reference,
                                &p->evaluate_converted,
                                &p->early_micro_step,
                                &p->merge};
    rt->dry = rt->ends_step = true;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        for (int slot = 0; slot < rt->slot_count; slot++) {
            if (p->pipeline)
                rt_select_stash(rt, slot);
            if (rt->card == 0 || entries[i] == &p->micro_step)
                rt_enqueue(rt, entries[i], slot);
        }
    rt->dry = false;
}

static void multiply(const Rt *rt, int index, const RtPtr operand[POINTERS],
                     const cublasLtMatmulAlgo_t *algorithm) {
    const struct RtGemms *gemms = rt->gemms;
    const Gemm *gemm = &gemms->gemms[index];
    const void *alpha = gemm->wide ? (const void *)&gemm->alpha64 : &gemm->alpha32;
    const void *beta = gemm->wide ? (const void *)&gemm->beta64 : &gemm->beta32;
    bool beside = rt->stream == RT_STREAM_SIDE;
    RtPtr workspace = beside ? gemms->side_workspace : gemms->workspace;
    void *at[OPERANDS];
    for (int i = 0; i < OPERANDS; i++)
        at[i] = (void *)(uintptr_t)operand[i];
    set_bias(gemm, &rt->program->gemms[index], operand[BIAS]);
    check(lt.Matmul(gemms->handle, gemm->desc, alpha, at[A], gemm->layout[A], at[B],
                    gemm->layout[B], beta, at[C], gemm->layout[C], at[C], gemm->layout[C],
                    algorithm, (void *)(uintptr_t)workspace, gemms->workspace_bytes,
                    (cudaStream_t)rt->streams[rt->stream]),
          "cublasLtMatmul", rt->program->gemms[index].name);
}

void gemm_try(const Rt *rt, int index, const cublasLtMatmulAlgo_t *algorithm) {
    multiply(rt, index, rt->gemms->gemms[index].operand, algorithm);
}

static void choose_algorithm(const Rt *rt, int index) {
    cublasLtMatmulHeuristicResult_t best;
    gemm_candidates(rt, index, &best, 1);
    rt->gemms->gemms[index].algorithm = best.algo;
}

/* Destroys the contents of the arenas. */
void gemms_open(Rt *rt) {
    const RtProgram *program = rt->program;
    struct RtGemms *gemms = rt->gemms = rt_alloc(sizeof *gemms);
    gemms->gemms = rt_alloc((size_t)program->gemm_count * sizeof *gemms->gemms);
    dry_run(rt);
    if (program->gemm_count == 0)
        return;
    open_library();
    rt->device.cublaslt_version = lt.GetVersion();
    check(lt.Create(&gemms->handle), "cublasLtCreate", program->name);
    gemms->workspace = rt_scratch(rt, program->gemm_workspace);
    gemms->side_workspace = rt_scratch(rt, program->gemm_side_workspace);
    gemms->workspace_bytes = program->gemm_workspace_bytes;
    for (int i = 0; i < program->gemm_count; i++)
        if (gemms->gemms[i].called) {
            make_descriptor(&gemms->gemms[i], &program->gemms[i]);
            lay_out(&gemms->gemms[i], &program->gemms[i]);
        }
    rt->device.tuned = !rt->options.tune && gemms_read_tuned(rt);
    for (int i = 0; i < program->gemm_count; i++)
        if (gemms->gemms[i].called) {
            if (!rt->device.tuned)
                choose_algorithm(rt, i);
            gemm_try(rt, i, &gemms->gemms[i].algorithm);
        }
    rt_finish_stream(rt, RT_STREAM_COMPUTE);
}

void gemms_close(Rt *rt) {
    struct RtGemms *gemms = rt->gemms;
    for (int i = 0; i < rt->program->gemm_count; i++) {
        if (!gemms->gemms[i].called)
            continue;
        lt.MatmulDescDestroy(gemms->gemms[i].desc);
        for (int k = 0; k < OPERANDS; k++)
            lt.MatrixLayoutDestroy(gemms->gemms[i].layout[k]);
    }
    if (gemms->handle)
        lt.Destroy(gemms->handle);
    free(gemms->gemms);
    free(gemms);
    rt->gemms = NULL;
}

/* ---- use ------------------------------------------------------------------------------------- */

/* The largest power of two that divides the address, but at most 256, cuBLASLt's maximum. */
static uint32_t alignment_of(RtPtr address) {
    uint32_t alignment = 256;
    while (address % alignment)
        alignment /= 2;
    return alignment;
}

static void note_operands(Gemm *gemm, const RtPtr operand[POINTERS]) {
    for (int i = 0; i < POINTERS; i++) {
        uint32_t alignment = alignment_of(operand[i]);
        if (!gemm->called || alignment < gemm->alignment[i])
            gemm->alignment[i] = alignment;
        if (!gemm->called)
            gemm->operand[i] = operand[i];
    }
    gemm->called = true;
}

static void enqueue(Rt *rt, int index, const RtPtr operand[POINTERS]) {
    rt->work.launches++;
    if (rt->dry) {
        note_operands(&rt->gemms->gemms[index], operand);
        return;
    }
    if (!rt->gemms->gemms[index].called)
        rt_internal("no entry of the dry run has the product %s", rt->program->gemms[index].name);
    multiply(rt, index, operand, &rt->gemms->gemms[index].algorithm);
    rt_launched(rt);
}

void rt_gemm(Rt *rt, int index, RtPtr a, RtPtr b, RtPtr c) {
    enqueue(rt, index, (const RtPtr[POINTERS]){[A] = b, [B] = a, [C] = c});
}

void rt_gemm_bias(Rt *rt, int index, RtPtr a, RtPtr b, RtPtr c, RtPtr bias) {
    enqueue(rt, index, (const RtPtr[POINTERS]){[A] = b, [B] = a, [C] = c, [BIAS] = bias});
}

uint32_t gemms_crc32(const Rt *rt) {
    uint32_t crc = 0;
    for (int i = 0; i < rt->program->gemm_count; i++) {
        const Gemm *gemm = &rt->gemms->gemms[i];
        if (gemm->called)
            crc = crc32_add(crc, &gemm->algorithm, sizeof gemm->algorithm);
    }
    return crc;
}

int gemm_algorithm(const Rt *rt, int index) {
    typedef cublasStatus_t GetAttribute(const cublasLtMatmulAlgo_t *,
                                        cublasLtMatmulAlgoConfigAttributes_t, void *, size_t,
                                        size_t *);
    void *address = dynlib_symbol(LIB_CUBLASLT, "cublasLtMatmulAlgoConfigGetAttribute");
    const Gemm *gemm = &rt->gemms->gemms[index];
    if (!address || !gemm->called)
        return -1;
    GetAttribute *get;
    memcpy(&get, &address, sizeof address);
    int id = -1;
    size_t written;
    get(&gemm->algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id, &written);
    return id;
}
