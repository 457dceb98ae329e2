/* Tests the embedding's gradient bit for bit: the places of an id are added in order, in chunks
 * that start at its first place. */
#include "test_template_common.h"

#include <stdlib.h>

typedef struct {
    Dtype dtype, grad;
    int tokens, hidden, vocab;
    int tile, ways; /* of the sort */
    int vector;
    bool accumulate;
} Case;

enum { DY_PADDING = 8, CHUNK = 32, SUM_THREADS = 64, MERGE_THREADS = 32, SORT_THREADS = 32 };

static int count_of(const Case *c) {
    int count = c->tile;
    while (count < c->tokens)
        count *= 2;
    return count;
}

static int ways_of(const Case *c, int run) {
    const int runs = count_of(c) / run;
    return runs < c->ways ? runs : c->ways;
}

static void write_merges(FILE *out, const Case *c, int index) {
    for (int run = c->tile; run < count_of(c); run *= ways_of(c, run)) {
        Holes holes = {.count = 0};
        hole_set(&holes, "kernel", "merge_%d_%d", index, run);
        hole_set(&holes, "run", "%d", run);
        hole_set(&holes, "ways", "%d", ways_of(c, run));
        hole_set(&holes, "threads", "%d", MERGE_THREADS);
        template_kernel(out, "embedding_grad.cu", "merge_places", &holes);
    }
}

static void write_kernels(FILE *out, const Case *c, int index) {
    Holes holes = {.count = 0};
    hole_set(&holes, "tokens", "%d", c->tokens);
    hole_set(&holes, "tile", "%d", c->tile);
    hole_set(&holes, "threads", "%d", SORT_THREADS);
    hole_set(&holes, "kernel", "sort_%d", index);
    template_kernel(out, "embedding_grad.cu", "sort_places", &holes);
    write_merges(out, c, index);
    hole_set(&holes, "count", "%d", count_of(c));
    hole_set(&holes, "dtype", "%s", dtype_name(c->dtype));
    hole_set(&holes, "grad_dtype", "%s", dtype_name(c->grad));
    hole_set(&holes, "acc", "%s", c->grad == F64 ? "double" : "float");
    hole_set(&holes, "hidden", "%d", c->hidden);
    hole_set(&holes, "chunk", "%d", CHUNK);
    hole_set(&holes, "dy_stride", "%d", c->hidden + DY_PADDING);
    hole_set(&holes, "threads", "%d", SUM_THREADS);
    hole_set(&holes, "vector", "%d", c->vector);
    hole_set(&holes, "accumulate", c->accumulate ? "true" : "false");
    hole_set(&holes, "kernel", "parts_%d", index);
    template_kernel(out, "embedding_grad.cu", "run_parts", &holes);
    hole_set(&holes, "kernel", "sums_%d", index);
    template_kernel(out, "embedding_grad.cu", "run_sums", &holes);
}

static void run_kernel(CUmodule module, const char *kernel, int index, Grid grid, unsigned threads,
                       void *args[]) {
    char name[32];
    snprintf(name, sizeof name, "%s_%d", kernel, index);
    launch(module, name, grid, threads, 0, args);
}

/* Sorts; returns the one of the two buffers that has the sorted keys at the end. */
static CUdeviceptr sort(const Case *c, int index, CUmodule module, CUdeviceptr ids,
                        CUdeviceptr keys[2]) {
    int from = 0;
    run_kernel(module, "sort", index, (Grid){(unsigned)(count_of(c) / c->tile), 1, 1}, SORT_THREADS,
               (void *[]){&ids, &keys[0]});
    for (int run = c->tile; run < count_of(c); run *= ways_of(c, run), from ^= 1) {
        char name[16];
        snprintf(name, sizeof name, "merge_%d", index);
        run_kernel(module, name, run, (Grid){(unsigned)(count_of(c) / MERGE_THREADS), 1, 1},
                   MERGE_THREADS, (void *[]){&keys[from], &keys[from ^ 1]});
    }
    return keys[from];
}

static void run_case(const Case *c, int index, CUmodule module, CUdeviceptr dy, CUdeviceptr ids,
                     CUdeviceptr dw) {
    const int windows = (c->tokens + CHUNK - 1) / CHUNK, warps = SUM_THREADS / 32;
    const unsigned columns = (unsigned)((c->hidden + 32 * c->vector - 1) / (32 * c->vector));
    CUdeviceptr keys[2], partial;
    for (int i = 0; i < 2; i++)
        check_cuda(cuMemAlloc(&keys[i], (size_t)count_of(c) * 8), "keys");
    check_cuda(cuMemAlloc(&partial, (size_t)(windows * c->hidden * 8)), "partial");
    CUdeviceptr sorted = sort(c, index, module, ids, keys);
    run_kernel(module, "parts", index, (Grid){(unsigned)((windows + warps - 1) / warps), columns, 1},
               SUM_THREADS, (void *[]){&dy, &sorted, &partial});
    run_kernel(module, "sums", index, (Grid){(unsigned)((c->tokens + warps - 1) / warps), columns, 1},
               SUM_THREADS, (void *[]){&dy, &sorted, &partial, &dw});
    cuMemFree(keys[0]);
    cuMemFree(keys[1]);
    cuMemFree(partial);
}

/* Adds with the rounding of the kernel's sums. */
static double add(const Case *c, double a, double b) {
    return c->grad == F64 ? a + b : (double)((float)a + (float)b);
}

static void expect(const Case *c, const int *ids, const double *dy, int id, double *row) {
    for (int d = 0; d < c->hidden; d++) {
        double sum = 0, chunk = 0;
        int seen = 0;
        for (int t = 0; t < c->tokens; t++) {
            if (ids[t] != id)
                continue;
            chunk = add(c, chunk, dy[(size_t)t * (size_t)(c->hidden + DY_PADDING) + (size_t)d]);
            if (++seen % CHUNK == 0) {
                sum = seen == CHUNK ? chunk : add(c, sum, chunk);
                chunk = 0;
            }
        }
        if (seen % CHUNK)
            sum = seen < CHUNK ? chunk : add(c, sum, chunk);
        if (seen)
            row[d] = c->accumulate ? add(c, row[d], sum) : sum;
    }
}

static void check_case(const Case *c, int index, CUmodule module) {
    const size_t stride = (size_t)c->hidden + DY_PADDING, dw_count = (size_t)c->vocab * c->hidden;
    uint64_t seed = 99;
    int *ids = calloc((size_t)c->tokens, sizeof *ids);
    double *dy = new_values(c->tokens * stride), *want = new_values(dw_count), *got = new_values(dw_count);
    for (int t = 0; t < c->tokens; t++) { /* the first id often, the last never, some of other ranks */
        const double at = (random_value(&seed) + 1) / 2;
        ids[t] = (int)(at * at * (c->vocab - 1)) - (t % 7 == 3 ? c->vocab : 0);
    }
    for (size_t i = 0; i < c->tokens * stride; i++)
        dy[i] = random_value(&seed);
    for (size_t i = 0; i < dw_count; i++)
        want[i] = random_value(&seed);

    CUdeviceptr device_dw = device_from(c->grad, want, dw_count);
    CUdeviceptr device_dy = device_from(c->dtype, dy, c->tokens * stride);
    CUdeviceptr device_ids = device_ints(ids, (size_t)c->tokens);
    run_case(c, index, module, device_dy, device_ids, device_dw);
    device_read(c->grad, device_dw, got, dw_count);

    for (int id = 0; id < c->vocab; id++)
        expect(c, ids, dy, id, want + (size_t)id * (size_t)c->hidden);
    assert_memory_equal(got, want, dw_count * sizeof *want);
    cuMemFree(device_dw);
    cuMemFree(device_dy);
    cuMemFree(device_ids);
    free(ids);
    free(dy);
    free(want);
    free(got);
}

static void sums_by_token(void **state) {
    (void)state;
    static const Case cases[] = {
        {F32, F32, 300, 64, 11, 512, 8, 2, false}, {F64, F64, 37, 24, 100, 64, 8, 1, true},
        {BF16, F32, 600, 264, 7, 128, 2, 8, true}, {F32, F32, 1, 8, 2, 1, 8, 1, false},
        {F32, F32, 700, 8, 3, 32, 4, 1, true},     {F16, F32, 1000, 33, 400, 32, 8, 1, true},
    };
    const int count = sizeof cases / sizeof *cases;
    FILE *out = template_open("embedding_grad");
    template_prelude(out, "embedding_grad.cu");
    for (int i = 0; i < count; i++)
        write_kernels(out, &cases[i], i);
    CUmodule module = template_load(out, "embedding_grad");
    for (int i = 0; i < count; i++)
        check_case(&cases[i], i, module);
    cuModuleUnload(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_by_token)};
    device_open();
    return cmocka_run_group_tests_name("embedding template", tests, NULL, NULL);
}
