/* The embedding's gradient against a plain sum in the order of the places. */
#include "test_template_common.h"

#include <stdlib.h>

typedef struct {
    Dtype dtype, grad;
    int tokens, hidden, vocab, threads;
    bool accumulate;
} Case;

enum { DY_PADDING = 8 };

static int column_count(const Case *c) {
    const int needed = (c->hidden + c->threads - 1) / c->threads;
    return needed < 4 ? needed : 4;
}

static void write_kernel(FILE *out, const Case *c, int index) {
    Holes holes = {.count = 0};
    hole_set(&holes, "kernel", "embedding_grad_%d", index);
    hole_set(&holes, "dtype", "%s", dtype_name(c->dtype));
    hole_set(&holes, "grad_dtype", "%s", dtype_name(c->grad));
    hole_set(&holes, "acc", "%s", c->grad == F64 ? "double" : "float");
    hole_set(&holes, "tokens", "%d", c->tokens);
    hole_set(&holes, "hidden", "%d", c->hidden);
    hole_set(&holes, "dy_stride", "%d", c->hidden + DY_PADDING);
    hole_set(&holes, "threads", "%d", c->threads);
    hole_set(&holes, "columns", "%d", column_count(c));
    hole_set(&holes, "accumulate", c->accumulate ? "true" : "false");
    hole_set(&holes, "leave", "%s", ""); /* all tokens are its own */
    template_kernel(out, "embedding_grad.cu", "embedding_grad", &holes);
}

static void check_case(const Case *c, int index, CUmodule module) {
    const size_t stride = (size_t)c->hidden + DY_PADDING, dw_count = (size_t)c->vocab * c->hidden;
    uint64_t seed = 99;
    int *ids = calloc((size_t)c->tokens, sizeof *ids);
    double *dy = new_values(c->tokens * stride), *want = new_values(dw_count), *got = new_values(dw_count);
    for (int t = 0; t < c->tokens; t++)
        ids[t] = (int)((random_value(&seed) + 1) / 2 * (c->vocab - 1)); /* the last id never occurs */
    for (size_t i = 0; i < c->tokens * stride; i++)
        dy[i] = random_value(&seed);
    for (size_t i = 0; i < dw_count; i++)
        want[i] = c->accumulate ? random_value(&seed) : 0;

    CUdeviceptr device_dw = device_from(c->grad, want, dw_count);
    CUdeviceptr device_dy = device_from(c->dtype, dy, c->tokens * stride);
    CUdeviceptr device_ids = device_ints(ids, (size_t)c->tokens);
    const unsigned per_block = (unsigned)(c->threads * column_count(c));
    char name[32];
    snprintf(name, sizeof name, "embedding_grad_%d", index);
    launch(module, name, (Grid){(unsigned)c->tokens, ((unsigned)c->hidden + per_block - 1) / per_block, 1},
           (unsigned)c->threads, 0, (void *[]){&device_dy, &device_ids, &device_dw});
    device_read(c->grad, device_dw, got, dw_count);

    for (int t = 0; t < c->tokens; t++)
        for (int d = 0; d < c->hidden; d++)
            want[(size_t)ids[t] * c->hidden + d] += dy[t * stride + d];
    check_close("dw", got, want, dw_count, c->grad == F64 ? 1e-15 : 1e-6);
    for (int d = 0; d < c->hidden; d++)
        assert_true(c->accumulate || got[dw_count - (size_t)c->hidden + d] == 0);
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
        {F32, F32, 300, 64, 11, 64, false},  {F64, F64, 37, 24, 100, 32, true},
        {BF16, F32, 600, 200, 7, 32, false}, {F32, F32, 1, 8, 2, 32, false},
        {F32, F32, 700, 8, 3, 32, true},
    };
    const int count = sizeof cases / sizeof *cases;
    FILE *out = template_open("embedding_grad");
    for (int i = 0; i < count; i++)
        write_kernel(out, &cases[i], i);
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
