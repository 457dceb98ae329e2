#define _POSIX_C_SOURCE 200809L
#include "test_template_common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* ---- Templates ----------------------------------------------------------------------------------- */

void hole_set(Holes *holes, const char *name, const char *format, ...) {
    int i = 0;
    while (i < holes->count && strcmp(holes->holes[i].name, name) != 0)
        i++;
    if (i == holes->count)
        holes->count++;
    assert_true(i < (int)(sizeof holes->holes / sizeof *holes->holes));
    holes->holes[i].name = name;
    va_list args;
    va_start(args, format);
    vsnprintf(holes->holes[i].value, sizeof holes->holes[i].value, format, args);
    va_end(args);
}

static const char *hole_value(const Holes *holes, const char *name, size_t length) {
    for (int i = 0; i < holes->count; i++)
        if (strlen(holes->holes[i].name) == length && !memcmp(holes->holes[i].name, name, length))
            return holes->holes[i].value;
    return NULL;
}

static char *read_template(const char *file) {
    char path[256];
    snprintf(path, sizeof path, "gen/templates/%s", file);
    FILE *in = fopen(path, "rb");
    if (!in)
        fail_msg("cannot open %s: run from the root of the tree", path);
    char *text = calloc(1, 1 << 20);
    const size_t size = fread(text, 1, (1 << 20) - 1, in);
    assert_true(size > 0 && size < (1 << 20) - 1);
    fclose(in);
    return text;
}

/* Returns the text between the line `marker` and the next `//@end`. */
static char *section_of(char *text, const char *marker) {
    const size_t length = strlen(marker);
    char *at = text;
    while ((at = strstr(at, marker)) != NULL && at[length] != '\n')
        at++;
    if (!at)
        fail_msg("the template lacks %s", marker);
    at += length + 1;
    char *end = strstr(at, "//@end");
    assert_non_null(end);
    *end = '\0';
    return at;
}

/* Prints all sections of `text` whose first line begins with `marker`. */
static void print_sections(FILE *out, const char *text, const char *marker) {
    for (const char *at = text; (at = strstr(at, marker)) != NULL;) {
        const char *body = strchr(at, '\n') + 1, *end = strstr(body, "//@end");
        assert_non_null(end);
        fprintf(out, "%.*s", (int)(end - body), body);
        at = end;
    }
}

void template_prelude(FILE *out, const char *file) {
    char *text = read_template(file);
    for (const char *other = text; (other = strstr(other, "//@prelude ")) != NULL;) {
        other += strlen("//@prelude ");
        char *line = strndup(other, strcspn(other, "\n"));
        template_prelude(out, line);
        free(line);
    }
    print_sections(out, text, "//@prelude\n");
    print_sections(out, text, "//@prelude?");
    print_sections(out, text, "//@body ");
    free(text);
}

/* Prints the value of the hole whose name begins at `name`. */
static void fill_hole(FILE *out, const Holes *holes, const char *name, const char *name_end) {
    const size_t length = (size_t)(name_end - name);
    const char *value = hole_value(holes, name, length);
    if (value)
        fputs(value, out);
    else
        fail_msg("the hole %.*s has no value", (int)length, name);
}

void template_kernel(FILE *out, const char *file, const char *section, const Holes *holes) {
    char *text = read_template(file), marker[64];
    snprintf(marker, sizeof marker, "//@kernel %s", section);
    const char *at = section_of(text, marker), *hole;
    while ((hole = strstr(at, "/*@")) != NULL) {
        fwrite(at, 1, (size_t)(hole - at), out);
        const char *name = hole + 3, *name_end = strstr(name, "*/"), *end = strstr(name, "/*@*/");
        assert_true(name_end && end && name_end < end);
        fill_hole(out, holes, name, name_end);
        at = end + 5;
    }
    fputs(at, out);
    free(text);
}

FILE *template_open(const char *name) {
    char path[256];
    mkdir("build", 0777);
    mkdir(setting("TEST_TMP", "build/tests"), 0777);
    snprintf(path, sizeof path, "%s/%s.cu", setting("TEST_TMP", "build/tests"), name);
    FILE *out = fopen(path, "wb");
    if (!out)
        fail_msg("cannot write %s", path);
    fputs("#include \"runtime/kernel.cuh\"\n", out);
    return out;
}

CUmodule template_load(FILE *out, const char *name) {
    const char *dir = setting("TEST_TMP", "build/tests"),
               *flavour = setting("SIM_FLAVOUR", "release");
    char command[1024], path[256];
    assert_int_equal(fclose(out), 0);
    /* TEST_REUSE must not find the module of the host's compiler where PTX is asked for. */
    snprintf(path, sizeof path, "%s/%s.%s%s.sim", dir, name, flavour, setting("SIM_PTX", ""));
    snprintf(command, sizeof command, "%s --flavour %s -I . %s/%s.cu -o %s",
             setting("SIMCC", "build/sim/simcc"), flavour, dir, name, path);
    const bool reuse = *setting("TEST_REUSE", "") && access(path, R_OK) == 0;
    if (!reuse && system(command) != 0)
        fail_msg("failed: %s", command);
    CUmodule module;
    check_cuda(cuModuleLoad(&module, path), path);
    return module;
}

/* ---- Device -------------------------------------------------------------------------------------- */

void check_cuda(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS)
        return;
    const char *name = "?";
    cuGetErrorName(result, &name);
    fail_msg("%s: %s", what, name);
}

void device_open(void) {
    CUdevice device;
    CUcontext context;
    check_cuda(cuInit(0), "cuInit");
    check_cuda(cuDeviceGet(&device, 0), "cuDeviceGet");
    check_cuda(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check_cuda(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

void launch(CUmodule module, const char *kernel, Grid grid, unsigned threads, unsigned shared_bytes,
            void *args[]) {
    CUfunction function;
    check_cuda(cuModuleGetFunction(&function, module, kernel), kernel);
    if (shared_bytes > 48 * 1024)
        check_cuda(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      (int)shared_bytes),
                   kernel);
    check_cuda(cuLaunchKernel(function, grid.x, grid.y, grid.z, threads, 1, 1, shared_bytes, NULL,
                              args, NULL),
               kernel);
    check_cuda(cuCtxSynchronize(), kernel);
}

/* ---- Tensors ------------------------------------------------------------------------------------- */

const char *dtype_name(Dtype dtype) {
    static const char *const names[] = {"double", "float", "float", "__nv_bfloat16", "__half"};
    return names[dtype];
}

size_t dtype_bytes(Dtype dtype) {
    static const size_t bytes[] = {8, 4, 4, 2, 2};
    return bytes[dtype];
}

__extension__ typedef _Float16 Half;

static uint16_t bf16_of(double x) {
    const float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, 4);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static double double_of_bf16(uint16_t half) {
    const uint32_t bits = (uint32_t)half << 16;
    float single;
    memcpy(&single, &bits, 4);
    return single;
}

static void store_value(Dtype dtype, void *at, double x) {
    const float single = (float)x;
    const uint16_t bf16 = bf16_of(x);
    const Half half = (Half)single;
    memcpy(at,
           dtype == F64    ? (const void *)&x
           : dtype == BF16 ? (const void *)&bf16
           : dtype == F16  ? (const void *)&half
                           : (const void *)&single,
           dtype_bytes(dtype));
}

static double load_value(Dtype dtype, const void *at) {
    double x;
    float single;
    uint16_t bf16;
    Half half;
    switch (dtype) {
    case F64:
        memcpy(&x, at, sizeof x);
        return x;
    case BF16:
        memcpy(&bf16, at, sizeof bf16);
        return double_of_bf16(bf16);
    case F16:
        memcpy(&half, at, sizeof half);
        return (double)half;
    default:
        memcpy(&single, at, sizeof single);
        return single;
    }
}

CUdeviceptr device_from(Dtype dtype, double *values, size_t count) {
    const size_t bytes = dtype_bytes(dtype);
    char *staged = malloc(count * bytes);
    for (size_t i = 0; i < count; i++) {
        store_value(dtype, staged + i * bytes, values[i]);
        values[i] = load_value(dtype, staged + i * bytes);
    }
    CUdeviceptr device;
    check_cuda(cuMemAlloc(&device, count * bytes), "cuMemAlloc");
    check_cuda(cuMemcpyHtoD(device, staged, count * bytes), "cuMemcpyHtoD");
    free(staged);
    return device;
}

CUdeviceptr device_ints(const int *values, size_t count) {
    CUdeviceptr device;
    check_cuda(cuMemAlloc(&device, count * sizeof *values), "cuMemAlloc");
    check_cuda(cuMemcpyHtoD(device, values, count * sizeof *values), "cuMemcpyHtoD");
    return device;
}

void device_read(Dtype dtype, CUdeviceptr from, double *values, size_t count) {
    const size_t bytes = dtype_bytes(dtype);
    char *staged = malloc(count * bytes);
    check_cuda(cuMemcpyDtoH(staged, from, count * bytes), "cuMemcpyDtoH");
    for (size_t i = 0; i < count; i++)
        values[i] = load_value(dtype, staged + i * bytes);
    free(staged);
}

double random_value(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 33) / (double)(1u << 30) - 1.0;
}

double *new_values(size_t count) {
    double *values = calloc(count, sizeof *values);
    assert_non_null(values);
    return values;
}

void check_close(const char *what, const double *got, const double *want, size_t count,
                 double tolerance) {
    double error = 0, norm = 0;
    for (size_t i = 0; i < count; i++) {
        error += (got[i] - want[i]) * (got[i] - want[i]);
        norm += want[i] * want[i];
    }
    error = sqrt(error), norm = sqrt(norm);
    if (getenv("TEST_VERBOSE"))
        printf("    %-48s %.2e of %.1e\n", what, error / norm, tolerance);
    if (!(norm > 0) || !(error <= tolerance * norm))
        fail_msg("%s: off by %.3e of %.3e, at most %.1e of it is allowed", what, error, norm,
                 tolerance);
}

/* ---- Matrices with random elements ----------------------------------------------------------- */

size_t matrix_size(const Matrix *m) { return (size_t)m->rows * (size_t)(m->cols + PADDING); }

double *matrix_at(const Matrix *m, int row, int col) {
    return m->values + (size_t)row * (size_t)(m->cols + PADDING) + col;
}

Matrix matrix_new(Dtype dtype, int rows, int cols, uint64_t *seed) {
    Matrix m = {rows, cols, NULL, 0};
    m.values = new_values(matrix_size(&m));
    for (size_t i = 0; i < matrix_size(&m); i++)
        m.values[i] = random_value(seed);
    m.device = device_from(dtype, m.values, matrix_size(&m));
    return m;
}

void matrix_free(Matrix *m) {
    cuMemFree(m->device);
    free(m->values);
}

void matrix_check(const char *what, Dtype dtype, const Matrix *m) {
    double tolerance = dtype == F32 ? 1e-6 : dtype == F16 ? 1e-3 : 5e-3;
    double *got = new_values(matrix_size(m));
    device_read(dtype, m->device, got, matrix_size(m));
    check_close(what, got, m->values, matrix_size(m), tolerance);
    free(got);
}

void expect_bits(const char *what, CUdeviceptr got, CUdeviceptr want, size_t bytes) {
    unsigned char *a = malloc(bytes), *b = malloc(bytes);
    assert_non_null(a);
    assert_non_null(b);
    check_cuda(cuMemcpyDtoH(a, got, bytes), what);
    check_cuda(cuMemcpyDtoH(b, want, bytes), what);
    if (memcmp(a, b, bytes) != 0)
        fail_msg("%s: the bits differ", what);
    free(a);
    free(b);
}
