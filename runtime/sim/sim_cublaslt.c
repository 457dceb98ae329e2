/* The simulated libcublasLt.so.13: descriptors, checks, and cublasLtMatmul as one operation of a
 * stream. Anything beyond matrix products with an optional bias is refused with
 * CUBLAS_STATUS_NOT_SUPPORTED.
 */
#include "sim_cublaslt.h"
#include "sim_enqueue.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the opaque handles point to. */
typedef struct Desc {
    int32_t compute, scale_type, pointer_mode, op_a, op_b, epilogue, bias_type;
    const void *bias;
} Desc;

typedef struct Layout {
    uint32_t type, order;
    uint64_t rows, columns;
    int64_t leading, batch_stride;
    int32_t batches;
} Layout;

typedef struct Preference {
    uint64_t workspace_bytes;
} Preference;

/* One attribute of a descriptor: its offset and size. */
typedef struct Attribute {
    int id;
    size_t offset, bytes;
} Attribute;

#define FIELD(type, field) offsetof(type, field), sizeof(((type *)0)->field)

static const Attribute desc_attributes[] = {
    {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, FIELD(Desc, compute)},
    {CUBLASLT_MATMUL_DESC_SCALE_TYPE, FIELD(Desc, scale_type)},
    {CUBLASLT_MATMUL_DESC_POINTER_MODE, FIELD(Desc, pointer_mode)},
    {CUBLASLT_MATMUL_DESC_TRANSA, FIELD(Desc, op_a)},
    {CUBLASLT_MATMUL_DESC_TRANSB, FIELD(Desc, op_b)},
    {CUBLASLT_MATMUL_DESC_EPILOGUE, FIELD(Desc, epilogue)},
    {CUBLASLT_MATMUL_DESC_BIAS_POINTER, FIELD(Desc, bias)},
    {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, FIELD(Desc, bias_type)},
    {0, 0, 0},
};

static const Attribute layout_attributes[] = {
    {CUBLASLT_MATRIX_LAYOUT_TYPE, FIELD(Layout, type)},
    {CUBLASLT_MATRIX_LAYOUT_ORDER, FIELD(Layout, order)},
    {CUBLASLT_MATRIX_LAYOUT_ROWS, FIELD(Layout, rows)},
    {CUBLASLT_MATRIX_LAYOUT_COLS, FIELD(Layout, columns)},
    {CUBLASLT_MATRIX_LAYOUT_LD, FIELD(Layout, leading)},
    {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, FIELD(Layout, batches)},
    {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, FIELD(Layout, batch_stride)},
    {0, 0, 0},
};

static const Attribute *find(const Attribute *table, int id) {
    for (; table->bytes; table++)
        if (table->id == id)
            return table;
    return NULL;
}

static cublasStatus_t set(void *object, const Attribute *table, int id, const void *value,
                          size_t bytes) {
    const Attribute *a = find(table, id);
    if (!object || !value)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!a)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (bytes != a->bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)object + a->offset, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t get(const void *object, const Attribute *table, int id, void *value,
                          size_t bytes, size_t *written) {
    const Attribute *a = find(table, id);
    if (!object || !a || (value && bytes < a->bytes))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (value)
        memcpy(value, (const char *)object + a->offset, a->bytes);
    if (written)
        *written = a->bytes;
    return CUBLAS_STATUS_SUCCESS;
}

/* Makes an opaque handle to a copy of `initial`. */
static cublasStatus_t create(void *handle, const void *initial, size_t bytes) {
    void *object = malloc(bytes);
    if (!object)
        return CUBLAS_STATUS_ALLOC_FAILED;
    memcpy(object, initial, bytes);
    memcpy(handle, &object, sizeof object);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t destroy(const void *handle) {
    free((void *)(uintptr_t)handle);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- Handles and descriptors ------------------------------------------------------------- */

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) { return create(handle, "", 1); }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy(handle); }
size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
size_t cublasLtGetCudartVersion(void) { return CUDA_VERSION; }

static const struct {
    cublasStatus_t status;
    const char *name, *text;
} statuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the requested functionality is not supported"},
};

const char *cublasLtGetStatusName(cublasStatus_t status) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "CUBLAS_STATUS_UNKNOWN";
}

const char *cublasLtGetStatusString(cublasStatus_t status) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].text;
    return "unknown error";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                        cudaDataType_t scale_type) {
    const Desc initial = {.compute = (int32_t)compute,
                          .scale_type = (int32_t)scale_type,
                          .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                          .bias_type = -1};
    return create(desc, &initial, sizeof initial);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return destroy(desc); }

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t id, const void *value,
                                              size_t bytes) {
    return set(desc, desc_attributes, (int)id, value, bytes);
}

cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t id, void *value,
                                              size_t bytes, size_t *written) {
    return get(desc, desc_attributes, (int)id, value, bytes, written);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading) {
    if (!type_bytes(type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const Layout initial = {.type = (uint32_t)type,
                            .order = CUBLASLT_ORDER_COL,
                            .rows = rows,
                            .columns = columns,
                            .leading = leading,
                            .batches = 1};
    return create(layout, &initial, sizeof initial);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    return destroy(layout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t id,
                                                const void *value, size_t bytes) {
    return set(layout, layout_attributes, (int)id, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t id, void *value,
                                                size_t bytes, size_t *written) {
    return get(layout, layout_attributes, (int)id, value, bytes, written);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    const Preference initial = {0};
    return create(preference, &initial, sizeof initial);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return destroy(preference);
}

/* Only the limit of the workspace has an effect. */
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t id,
                                                    const void *value, size_t bytes) {
    if (!preference || !value)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (id != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
        return CUBLAS_STATUS_SUCCESS;
    return bytes == sizeof(uint64_t) ? (memcpy(preference, value, bytes), CUBLAS_STATUS_SUCCESS)
                                     : CUBLAS_STATUS_INVALID_VALUE;
}

/* ---- Products ---------------------------------------------------------------------------- */

static Matrix matrix_of(const Layout *layout, const void *data, bool transpose) {
    const bool columns = layout->order == CUBLASLT_ORDER_COL;
    Matrix m = {(void *)(uintptr_t)data,       (cudaDataType_t)layout->type,
                (int64_t)layout->rows,         (int64_t)layout->columns,
                columns ? 1 : layout->leading, columns ? layout->leading : 1,
                layout->batch_stride};
    if (transpose) {
        Matrix t = m;
        t.rows = m.columns, t.columns = m.rows;
        t.row_stride = m.column_stride, t.column_stride = m.row_stride;
        return t;
    }
    return m;
}

static bool layout_fits(const Layout *layout) {
    const int64_t least =
        (int64_t)(layout->order == CUBLASLT_ORDER_COL ? layout->rows : layout->columns);
    return layout->order <= CUBLASLT_ORDER_ROW && layout->leading >= least && least > 0 &&
           layout->rows && layout->columns && layout->batches > 0;
}

static cublasStatus_t check_types(const Desc *d, const Layout *const layouts[4]) {
    const bool wide = d->compute == CUBLAS_COMPUTE_64F;
    if (!wide && d->compute != CUBLAS_COMPUTE_32F && d->compute != CUBLAS_COMPUTE_32F_FAST_TF32)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (d->scale_type != (wide ? CUDA_R_64F : CUDA_R_32F) ||
        d->pointer_mode != CUBLASLT_POINTER_MODE_HOST)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (int i = 0; i < 4; i++)
        if ((layouts[i]->type == CUDA_R_64F) != wide)
            return CUBLAS_STATUS_NOT_SUPPORTED;
    /* As in cuBLASLt's table: A and B have one type, C has D's, 16-bit results need 16-bit
     * operands. */
    const uint32_t in = layouts[0]->type, out = layouts[3]->type;
    if (layouts[1]->type != in || layouts[2]->type != out || (out != in && out != CUDA_R_32F))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (d->compute == CUBLAS_COMPUTE_32F_FAST_TF32 && in != CUDA_R_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (d->epilogue != CUBLASLT_EPILOGUE_DEFAULT && d->epilogue != CUBLASLT_EPILOGUE_BIAS)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return CUBLAS_STATUS_SUCCESS;
}

/* If results of a batch overlapped, they would depend on the order of its products. */
static bool results_apart(const Layout *d) {
    const int64_t leading = d->leading,
                  lines = (int64_t)(d->order == CUBLASLT_ORDER_COL ? d->columns : d->rows);
    return d->batches == 1 || d->batch_stride >= leading * lines;
}

static cublasStatus_t describe(const Desc *d, const Layout *const layouts[4],
                               const void *const data[4], Gemm *g) {
    if (!d)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (int i = 0; i < 4; i++)
        if (!layouts[i] || !layout_fits(layouts[i]) || layouts[i]->batches != layouts[0]->batches)
            return CUBLAS_STATUS_INVALID_VALUE;
    if (!results_apart(layouts[3]))
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = check_types(d, layouts);
    if (status)
        return status;
    *g = (Gemm){.a = matrix_of(layouts[0], data[0], d->op_a != CUBLAS_OP_N),
                .b = matrix_of(layouts[1], data[1], d->op_b != CUBLAS_OP_N),
                .c = matrix_of(layouts[2], data[2], false),
                .d = matrix_of(layouts[3], data[3], false),
                .batches = layouts[0]->batches,
                .compute = (cublasComputeType_t)d->compute,
                .bias = d->epilogue == CUBLASLT_EPILOGUE_BIAS ? d->bias : NULL,
                .bias_type = d->bias_type < 0 ? (cudaDataType_t)layouts[3]->type
                                              : (cudaDataType_t)d->bias_type};
    const bool shapes = g->a.rows == g->d.rows && g->b.columns == g->d.columns &&
                        g->a.columns == g->b.rows && g->c.rows == g->d.rows &&
                        g->c.columns == g->d.columns && layouts[2]->order == layouts[3]->order;
    const bool limits =
        g->d.rows <= INT32_MAX && g->d.columns <= INT32_MAX && g->a.columns <= INT32_MAX;
    return shapes && limits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/* Returns whether all of the matrix, including its gaps, is in one allocation. */
static bool reachable(const Matrix *m, int batches) {
    const int64_t elements = (m->rows - 1) * m->row_stride + (m->columns - 1) * m->column_stride +
                             1 + (batches - 1) * m->batch_stride;
    return sim_covers(m->data, (size_t)elements * type_bytes(m->type));
}

static cublasStatus_t check_memory(const Gemm *g) {
    const struct {
        const char *name;
        bool good;
    } checks[] = {
        {"A", reachable(&g->a, g->batches)},
        {"B", reachable(&g->b, g->batches)},
        {"C", g->beta == 0 || reachable(&g->c, g->batches)},
        {"D", reachable(&g->d, g->batches)},
        {"the bias", !g->bias || sim_covers(g->bias, (size_t)g->d.rows * type_bytes(g->bias_type))},
        {"the workspace", !g->workspace_bytes || sim_covers(g->workspace, g->workspace_bytes)},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (!checks[i].good) {
            fprintf(stderr,
                    "simulated device: cublasLtMatmul %lld x %lld x %lld: %s reaches out of its "
                    "allocation\n",
                    (long long)g->d.rows, (long long)g->d.columns, (long long)g->a.columns,
                    checks[i].name);
            return CUBLAS_STATUS_EXECUTION_FAILED;
        }
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- Names ------------------------------------------------------------------------------- */

static const char *precision_of(const Gemm *g) {
    switch (g->a.type) {
    case CUDA_R_64F:
        return "f64";
    case CUDA_R_16F:
        return "f16";
    case CUDA_R_16BF:
        return "bf16";
    default:
        return g->compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? "tf32" : "f32";
    }
}

/* Returns the one copy of a name, because names are compared by address. */
static const char *kept_name(const char *name) {
    static struct Name {
        struct Name *next;
        char text[];
    } *names;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    struct Name *found = names;
    while (found && strcmp(found->text, name) != 0)
        found = found->next;
    if (!found && (found = malloc(sizeof *found + strlen(name) + 1))) {
        memcpy(found->text, name, strlen(name) + 1);
        found->next = names;
        names = found;
    }
    pthread_mutex_unlock(&lock);
    return found ? found->text : "sim_gemm";
}

/* Appends words and a number, or nothing if it is the usual one. */
static void add_unusual(char name[256], const char *words, int64_t number, int64_t usual) {
    size_t length = strlen(name);
    if (number != usual)
        snprintf(name + length, 256 - length, "_%s%lld", words, (long long)number);
}

/* The precision, then the name of the product in the plan (gemm_name in the compiler), whose matrices
 * are stored by rows: the transpose of d is that of b times that of a. */
static const char *name_of(const Gemm *g) {
    char name[256];
    long long m = g->d.columns, n = g->d.rows, k = g->a.columns;
    const bool a_plain = g->b.row_stride == 1, b_plain = g->a.row_stride == 1;
    snprintf(name, sizeof name, "sim_%s_gemm_%lldx%lldx%lld_%c%c", precision_of(g), m, n, k,
             a_plain ? 'n' : 't', b_plain ? 'n' : 't');
    add_unusual(name, "a", g->b.row_stride * g->b.column_stride, a_plain ? k : m);
    add_unusual(name, "b", g->a.row_stride * g->a.column_stride, b_plain ? n : k);
    add_unusual(name, "c", g->d.row_stride * g->d.column_stride, n);
    add_unusual(name, "batch", g->batches, 1);
    size_t length = strlen(name);
    snprintf(name + length, sizeof name - length, "%s%s", g->beta != 0 ? "_add" : "",
             g->bias ? "_bias" : "");
    return kept_name(name);
}

static int number_of(const cublasLtMatmulAlgo_t *algorithm) { return (int)algorithm->data[0]; }

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
                              cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
                              cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
    const Layout *const layouts[4] = {(const Layout *)a_layout, (const Layout *)b_layout,
                                      (const Layout *)c_layout, (const Layout *)d_layout};
    const void *const data[4] = {a, b, c, d};
    Gemm g;
    if (!handle || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t status = describe((const Desc *)desc, layouts, data, &g);
    if (status)
        return status;
    const bool wide = g.compute == CUBLAS_COMPUTE_64F;
    g.alpha = wide ? *(const double *)alpha : *(const float *)alpha;
    g.beta = wide ? *(const double *)beta : *(const float *)beta;
    g.workspace = workspace;
    g.workspace_bytes = workspace_bytes;
    g.wait_ms = algorithm ? sim_algorithms() - 1 - number_of(algorithm) : 0;
    status = check_memory(&g);
    if (status)
        return status;
    return sim_enqueue((CUstream)stream, gemm_run, &g, sizeof g, name_of(&g))
               ? CUBLAS_STATUS_EXECUTION_FAILED
               : CUBLAS_STATUS_SUCCESS;
}

/* ---- Algorithms differ only in time; each uses the whole allowed workspace ----------- */

static cublasStatus_t describe_algorithm(cublasLtMatmulDesc_t desc, const Layout *const layouts[4],
                                         int number, size_t workspace_bytes,
                                         cublasLtMatmulHeuristicResult_t *out) {
    const void *const nothing[4] = {0};
    Gemm g;
    memset(out, 0, sizeof *out);
    out->algo.data[0] = (uint64_t)number;
    out->workspaceSize = workspace_bytes;
    out->wavesCount = 1.0f;
    out->state = describe((const Desc *)desc, layouts, nothing, &g);
    return out->state;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int *found) {
    const Layout *const layouts[4] = {(const Layout *)a, (const Layout *)b, (const Layout *)c,
                                      (const Layout *)d};
    if (!handle || wanted < 1 || !results || !found)
        return CUBLAS_STATUS_INVALID_VALUE;
    const Preference *p = (const Preference *)preference;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (*found = 0; *found < wanted && *found < sim_algorithms() && !status;) {
        status = describe_algorithm(desc, layouts, *found, p ? p->workspace_bytes : 0,
                                    &results[*found]);
        *found += status == CUBLAS_STATUS_SUCCESS;
    }
    return status;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t *algorithm,
                                       cublasLtMatmulHeuristicResult_t *result) {
    const Layout *const layouts[4] = {(const Layout *)a, (const Layout *)b, (const Layout *)c,
                                      (const Layout *)d};
    if (!handle || !algorithm || !result)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (algorithm->data[0] >= (uint64_t)sim_algorithms())
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return describe_algorithm(desc, layouts, number_of(algorithm), 0, result);
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t id,
                                                    void *value, size_t bytes, size_t *written) {
    if (!algorithm || id != CUBLASLT_ALGO_CONFIG_ID || (value && bytes < sizeof(int32_t)))
        return CUBLAS_STATUS_INVALID_VALUE;
    const int32_t number = number_of(algorithm);
    if (value)
        memcpy(value, &number, sizeof number);
    if (written)
        *written = sizeof(int32_t);
    return CUBLAS_STATUS_SUCCESS;
}
