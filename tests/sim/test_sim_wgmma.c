/* A warpgroup's products via nvcc's PTX: every width, layout of a matrix in shared memory and kind
 * of operand, compared with a plain product; and faults in kernels that a GPU would not report. The
 * kernels are generated here, because a file with all widths would be long. */
#include "sim_test.h"

enum { ROWS = 64, DEPTH = 32, MOST_COLUMNS = 256, THREADS = 128, SHARED = 48 << 10 };

typedef struct Form {
    const char *type;
    bool from_registers, transposed_a, transposed_b;
} Form;

static const Form forms[] = {
    {"bf16", false, false, false}, {"bf16", false, true, true}, {"bf16", true, false, true},
    {"f16", false, false, true},   {"f16", false, true, false}, {"f16", true, false, false},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- The kernels --------------------------------------------------------------------------------- */

/* The names of wrong kernels, each with its fault, and the expected report. */
static const struct {
    const char *name, *told;
} faults[] = {
    {"no_proxy_fence", "without a fence.proxy.async"},
    {"no_fence", "wgmma without a wgmma.fence"},
    {"early_write", "without a fence.proxy.async"},
    {"one_warp", "only some warps of a warpgroup"},
    {"no_wait", "never waited for"},
    {"other_operands", "issue different wgmma instructions"},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static void write_product(FILE *out, const Form *form, int columns) {
    fprintf(out, "asm volatile(\"{wgmma.mma_async.sync.aligned.m64n%dk16.f32.%s.%s {", columns,
            form->type, form->type);
    for (int i = 0; i < columns / 2; i++)
        fprintf(out, "%s%%%d", i ? ", " : "", i);
    int next = columns / 2;
    if (form->from_registers) {
        fprintf(out, "}, {%%%d, %%%d, %%%d, %%%d}, %%%d, 1, -1, 1, %d;}\\n\" : ", next, next + 1,
                next + 2, next + 3, next + 4, form->transposed_b);
    } else {
        fprintf(out, "}, %%%d, %%%d, 1, 1, -1, %d, %d;}\\n\" : ", next, next + 1,
                form->transposed_a, form->transposed_b);
    }
    for (int i = 0; i < columns / 2; i++)
        fprintf(out, "%s\"+f\"(d[%d])", i ? ", " : "", i);
    fprintf(out, form->from_registers
                     ? " : \"r\"(r[0]), \"r\"(r[1]), \"r\"(r[2]), \"r\"(r[3]), \"l\"(b) : \"memory\");\n"
                     : " : \"l\"(a), \"l\"(b) : \"memory\");\n");
}

/* sums -= a b, over a depth of two steps; from registers, a is one fragment per step and thread. */
static void write_kernel(FILE *out, const char *name, const char *fault, const Form *form, int columns) {
    const bool waits = strcmp(fault, "no_wait");
    fprintf(out,
            "extern \"C\" __global__ void __launch_bounds__(128) %s(float *sums, const uint4 *image, "
            "const unsigned *fragments, unsigned long long a, unsigned long long a_step, "
            "unsigned long long b, unsigned long long b_step) {\n"
            "extern __shared__ __align__(1024) uint4 tile[];\n"
            "const int thread = threadIdx.x;\n"
            "for (int i = thread; i < %d; i += 128) tile[i] = image[i];\n",
            name, SHARED / 16);
    if (strcmp(fault, "no_proxy_fence"))
        fprintf(out, "asm volatile(\"fence.proxy.async;\" ::: \"memory\");\n");
    fprintf(out,
            "__syncthreads();\n"
            "const unsigned long long base = (unsigned)__cvta_generic_to_shared(tile) / 16;\n"
            "a += base; b += base;\n"
            "float d[%d];\nunsigned r[4];\n"
            "for (int i = 0; i < %d; i++) d[i] = sums[thread * %d + i];\n",
            columns / 2, columns / 2, columns / 2);
    if (!strcmp(fault, "one_warp"))
        fprintf(out, "if (thread >= 32) return;\n");
    if (!strcmp(fault, "other_operands"))
        fprintf(out, "if (thread >= 32) b += 2;\n");
    fprintf(out, "for (int step = 0; step < 2; step++, a += a_step, b += b_step) {\n"
                 "for (int i = 0; i < 4; i++) r[i] = fragments[(step * 128 + thread) * 4 + i];\n");
    if (strcmp(fault, "no_fence"))
        fprintf(out, "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n");
    write_product(out, form, columns);
    fprintf(out, "asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n");
    if (!strcmp(fault, "early_write"))
        fprintf(out, "tile[thread] = tile[thread + 128];\n");
    if (waits)
        fprintf(out, "asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n");
    fprintf(out, "}\nfor (int i = 0; i < %d; i++) sums[thread * %d + i] = d[i];\n}\n", columns / 2,
            columns / 2);
}

/* The same sums as two groups of one step: the first is complete while the other is in flight. */
static void write_groups(FILE *out, const Form *form, int columns) {
    fprintf(out,
            "extern \"C\" __global__ void __launch_bounds__(128) groups(float *sums, const uint4 *image, "
            "const unsigned *, unsigned long long a, unsigned long long a_step, unsigned long long b, "
            "unsigned long long b_step) {\n"
            "extern __shared__ __align__(1024) uint4 tile[];\n"
            "for (int i = threadIdx.x; i < %d; i += 128) tile[i] = image[i];\n"
            "asm volatile(\"fence.proxy.async;\" ::: \"memory\");\n"
            "__syncthreads();\n"
            "const unsigned long long base = (unsigned)__cvta_generic_to_shared(tile) / 16;\n"
            "a += base; b += base; sums += threadIdx.x * %d;\n"
            "float first[%d], second[%d];\n"
            "for (int i = 0; i < %d; i++) first[i] = sums[i], second[i] = 0;\n"
            "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n",
            SHARED / 16, columns / 2, columns / 2, columns / 2, columns / 2);
    for (int step = 0; step < 2; step++) {
        fprintf(out, "{float (&d)[%d] = %s;\n", columns / 2, step ? "second" : "first");
        write_product(out, form, columns);
        fprintf(out, "asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"
                     "a += a_step; b += b_step;}\n");
    }
    for (int left = 1; left >= 0; left--)
        fprintf(out,
                "asm volatile(\"wgmma.wait_group.sync.aligned %d;\" ::: \"memory\");\n"
                "for (int i = 0; i < %d; i++) sums[i] %s;\n",
                left, columns / 2,
                left ? "= first[i] + (second[i] == second[i] ? 1000 : 0)" : "+= second[i]");
    fprintf(out, "}\n");
}

static bool has_form(int columns, int form) { return form == 0 || columns % 56 == 8; }

static void write_kernels(const char *path) {
    FILE *out = fopen(path, "w");
    char name[64];
    assert_non_null(out);
    for (int columns = 8; columns <= MOST_COLUMNS; columns += 8)
        for (int form = 0; form < FORMS; form++)
            if (has_form(columns, form)) {
                snprintf(name, sizeof name, "product_%d_%d", columns, form);
                write_kernel(out, name, "", &forms[form], columns);
            }
    write_groups(out, &forms[0], 16);
    fprintf(out, "extern \"C\" __global__ void incomplete_warpgroup(int *count) { atomicAdd(count, 1); }\n");
    for (int i = 0; i < FAULTS; i++)
        write_kernel(out, faults[i].name, faults[i].name, &forms[0], 16);
    fclose(out);
}

/* ---- Layouts of a matrix, as made by the hardware's copies
 * ---------------------------------------- */

typedef struct Layout {
    int width; /* bytes of a swizzled row; 16: not swizzled */
    bool transposed;
    int places; /* rows of a, columns of b */
} Layout;

/* Swizzled rows exchange their 16-byte pieces, in patterns of 8 rows of 128 bytes, 4 rows of 64
 * used twice, or 2 rows of 32 used four times. */
static int swizzled(const Layout *l, int row, int byte) {
    const int line = row * l->width / 128;
    return row * l->width + (byte / 16 ^ line % (l->width / 16)) * 16 + byte % 16;
}

static int byte_of(const Layout *l, int place, int k) {
    if (l->width == 16 && l->transposed)
        return place / 8 * 512 + k / 8 * 128 + k % 8 * 16 + place % 8 * 2;
    if (l->width == 16)
        return k / 8 * l->places * 16 + place * 16 + k % 8 * 2;
    const int row = l->transposed ? k : place, column = l->transposed ? place : k;
    const int rows = l->transposed ? DEPTH : l->places, columns = l->width / 2;
    return column / columns * rows * l->width + swizzled(l, row, column % columns * 2);
}

/* Returns the descriptor of a matrix at `start`; `step` is its increment for the next 16 of k. */
static uint64_t descriptor(const Layout *l, int start, uint64_t *step) {
    static const uint64_t modes[] = {[1] = 0, [2] = 3, [4] = 2, [8] = 1};
    uint64_t leading = 1, stride = (uint64_t)l->width / 2;
    *step = l->width > 32 ? 2 : (uint64_t)l->places * 2;
    if (l->width == 16 && l->transposed)
        leading = 8, stride = 32, *step = 16;
    else if (l->width == 16)
        leading = (uint64_t)l->places, stride = 8, *step = 2 * leading;
    else if (l->transposed)
        leading = DEPTH * (uint64_t)l->width / 16, *step = (uint64_t)l->width;
    return (uint64_t)(start / 16) | leading << 16 | stride << 32 | modes[l->width / 16] << 62;
}

/* ---- Products ------------------------------------------------------------------------------------- */

static float number(int i, int j) { return (float)((i * 7 + j * 13 + i * j) % 9 - 4); }

/* Converts a small integer, which both types represent exactly. */
static uint16_t bits_of(const char *type, float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    if (!strcmp(type, "bf16"))
        return (uint16_t)(bits >> 16);
    const uint32_t exponent = bits >> 23 & 255;
    return (uint16_t)((bits >> 16 & 0x8000) | (exponent ? (exponent - 112) << 10 : 0) |
                      (bits >> 13 & 0x3ff));
}

static void put_matrix(unsigned char *image, const char *type, const Layout *l, int seed) {
    for (int i = 0; i < l->places; i++)
        for (int k = 0; k < DEPTH; k++) {
            const uint16_t bits = bits_of(type, number(i + seed, k));
            memcpy(image + byte_of(l, i, k), &bits, 2);
        }
}

/* Row and column of a thread's sum number i. */
static int row_of(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
static int column_of(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

static void put_fragments(unsigned *fragments, const char *type) {
    for (int step = 0; step < 2; step++)
        for (int thread = 0; thread < THREADS; thread++)
            for (int i = 0; i < 4; i++) {
                const int row = thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8;
                const int k = step * 16 + thread % 4 * 2 + i / 2 * 8;
                fragments[(step * THREADS + thread) * 4 + i] =
                    bits_of(type, number(row, k)) | (unsigned)bits_of(type, number(row, k + 1)) << 16;
            }
}

enum { SEED_B = 100, START_B = 16 << 10 };

/* Launches a kernel and returns the launch's result; writes its output to `sums`. */
static CUresult multiply(CUmodule module, const char *name, const Form *form, int columns, int width_a,
                         int width_b, float *sums) {
    static unsigned char image[SHARED];
    unsigned fragments[2 * THREADS * 4];
    uint64_t a_step, b_step;
    const Layout a = {width_a, form->transposed_a, ROWS}, b = {width_b, form->transposed_b, columns};
    memset(image, 0xff, sizeof image);
    put_matrix(image, form->type, &a, 0);
    put_matrix(image + START_B, form->type, &b, SEED_B);
    put_fragments(fragments, form->type);
    uint64_t a_bits = descriptor(&a, 0, &a_step), b_bits = descriptor(&b, START_B, &b_step);
    const size_t bytes = THREADS * (size_t)columns / 2 * sizeof *sums;
    for (int i = 0; i < THREADS * columns / 2; i++)
        sums[i] = (float)(i % 10);
    CUdeviceptr dsums = test_upload(sums, bytes), dimage = test_upload(image, sizeof image);
    CUdeviceptr dfragments = test_upload(fragments, sizeof fragments);
    OK(test_launch(test_function(module, name), 1, THREADS, SHARED, NULL,
                   (void *[]){&dsums, &dimage, &dfragments, &a_bits, &a_step, &b_bits, &b_step}));
    const CUresult result = cuCtxSynchronize();
    if (result == CUDA_SUCCESS) {
        OK(cuMemcpyDtoH(sums, dsums, bytes));
        for (int i = 0; i < 3; i++)
            OK(cuMemFree((CUdeviceptr[]){dsums, dimage, dfragments}[i]));
    }
    return result;
}

static void check_kernel(CUmodule module, const char *name, int columns, int form, int width_a,
                         int width_b) {
    static float sums[THREADS * MOST_COLUMNS / 2];
    OK(multiply(module, name, &forms[form], columns, width_a, width_b, sums));
    for (int at = 0; at < THREADS * columns / 2; at++) {
        const int thread = at / (columns / 2), i = at % (columns / 2);
        float want = (float)(at % 10);
        for (int k = 0; k < DEPTH; k++)
            want -= number(row_of(thread, i), k) * number(SEED_B + column_of(thread, i), k);
        if (sums[at] != want)
            fail_msg("%s, swizzles of %d and %d bytes: thread %d sum %d is %g, not %g", name, width_a,
                     width_b, thread, i, (double)sums[at], (double)want);
    }
}

static void check_product(CUmodule module, int columns, int form, int width_a, int width_b) {
    char name[64];
    snprintf(name, sizeof name, "product_%d_%d", columns, form);
    check_kernel(module, name, columns, form, width_a, width_b);
}

static CUmodule load(void) {
    test_context();
    return test_module("wgmma_kernels", getenv("FLAVOUR"));
}

static void products_are_exact(void **state) {
    (void)state;
    CUmodule module = load();
    for (int columns = 8; columns <= MOST_COLUMNS; columns += 8)
        for (int form = 0; form < FORMS; form++)
            for (int width = 16; has_form(columns, form) && width <= 128; width *= 2)
                check_product(module, columns, form, 2048 / width, width);
}

static void a_group_stays_under_way(void **state) {
    (void)state;
    check_kernel(load(), "groups", 16, 0, 128, 128);
}

/* Its threads are not taken for some of the next block's warpgroup. */
static void a_smaller_block_may_come_before(void **state) {
    (void)state;
    CUmodule module = load();
    int count = 0;
    CUdeviceptr dcount = test_upload(&count, sizeof count);
    OK(test_launch(test_function(module, "incomplete_warpgroup"), 1, THREADS - 1, 0, NULL, (void *[]){&dcount}));
    OK(cuMemcpyDtoH(&count, dcount, sizeof count));
    OK(cuMemFree(dcount));
    assert_int_equal(count, THREADS - 1);
    check_product(module, 16, 0, 128, 128);
}

static int run_fault(const char *name) {
    static float sums[THREADS * MOST_COLUMNS / 2];
    return multiply(load(), name, &forms[0], 16, 128, 128, sums) == CUDA_SUCCESS ? 0 : 4;
}

static void faults_are_told(void **state) {
    (void)state;
    for (int i = 0; i < FAULTS; i++) {
        const TestRun run = test_again(faults[i].name, "NONE=");
        assert_int_equal(run.status, 4);
        assert_told(&run, faults[i].told);
    }
}

/* `write PATH` writes the kernels. */
int main(int count, char **words) {
    if (count == 3)
        return write_kernels(words[2]), 0;
    if (count == 2)
        return run_fault(words[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_exact),
        cmocka_unit_test(a_group_stays_under_way),
        cmocka_unit_test(a_smaller_block_may_come_before),
        cmocka_unit_test(faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
