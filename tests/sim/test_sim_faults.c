/* Each wrong kernel is caught: by the scheduler, by a permuted order (a wrong result), by
 * AddressSanitizer or by the race flavour. Each case runs in a separate process, whose exit status
 * is 0 if the result is right and no error was reported, 3 if the result is wrong, and 4 if the
 * device reported an error. */
#include "sim_test.h"

enum { RIGHT = 0, WRONG = 3, TOLD = 4 };

typedef struct Case {
    const char *name;
    unsigned blocks, threads, shared_bytes;
    int number; /* the second argument, if it is an int */
    float (*want)(int i, const float *x);
    int results;
} Case;

static float mirrored(int i, const float *x) { return x[63 - i]; }
static float zero(int i, const float *x) { return 0 * x[i]; }
static float same(int i, const float *x) { return x[i]; }
static float mirrored_by_four(int i, const float *x) { return x[127 - 4 * i]; }
static float prefix_sum(int i, const float *x) { return i ? x[i] + prefix_sum(i - 1, x) : x[0]; }
static float of_four_rounds(int i, const float *x) {
    const int at = (i + 33) % 64;
    return x[at] + x[64 + at] + x[128 + at] + x[192 + at];
}

static const Case cases[] = {
    {"divergent_barrier", 1, 64, 0, -1, NULL, 0},
    {"two_barriers", 1, 64, 0, -1, NULL, 0},
    {"divergent_warp", 1, 32, 0, -1, NULL, 0},
    {"partial_warp", 1, 20, 0, -1, NULL, 0},
    {"missing_barrier", 1, 64, 0, -1, mirrored, 64},
    {"unwritten_shared", 2, 64, 0, -1, zero, 64},
    {"missing_second_barrier", 1, 64, 0, -1, of_four_rounds, 64},
    {"missing_syncwarp", 1, 32, 0, -1, NULL, 0},
    {"block_race", 32, 1, 0, -1, prefix_sum, 32},
    {"same_cell", 4, 1, 0, -1, NULL, 0},
    {"missing_async_wait", 1, 32, 0, -1, same, 32},
    {"missing_async_barrier", 1, 32, 0, -1, mirrored_by_four, 32},
    {"overrun_global", 1, 1, 0, 1000, NULL, 0},
    {"guarded", 1, 1, 0, 500, NULL, 0},
    {"underrun_global", 1, 1, 0, -1, NULL, 0},
    {"overrun_shared", 1, 32, 0, 1, NULL, 0},
    {"overrun_dynamic", 1, 32, 128, 1, NULL, 0},
    {"misaligned", 1, 1, 0, 1, NULL, 0},
    {"misaligned_async", 1, 1, 0, 1, NULL, 0},
    {"far_away", 1, 1, 0, -1, NULL, 0},
    {"trap", 1, 1, 0, -1, NULL, 0},
};

/* ---- Inside the process of a case -------------------------------------------------------- */

static int wrong_results(const Case *c, const float *y, const float *x) {
    for (int i = 0; i < c->results; i++)
        if (!(y[i] == c->want(i, x)))
            return WRONG;
    return RIGHT;
}

/* The kernel that overruns an allocation also overruns a guarded part inside one. */
static const char *kernel_of(const Case *c) {
    return strcmp(c->name, "guarded") ? c->name : "overrun_global";
}

void sim_poison(void *p, size_t bytes); /* the simulated driver's own */

static int run_case(const Case *c) {
    float x[256], y[1000];
    int number = c->number;
    CUdeviceptr dx, dy;
    CUmodule module;
    CUfunction function;
    char path[4096];
    CUcontext context;
    for (int i = 0; i < 256; i++)
        x[i] = (float)(i + 1);
    snprintf(path, sizeof path, "%s/bad_kernels.%s", getenv("SIM_TESTS"), getenv("FLAVOUR"));
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoad(&module, path) || cuModuleGetFunction(&function, module, kernel_of(c)) ||
        cuMemAlloc(&dx, sizeof x) || cuMemAlloc(&dy, sizeof y) || cuMemcpyHtoD(dx, x, sizeof x))
        return 2;
    if (!strcmp(c->name, "guarded"))
        sim_poison((char *)dy + 4 * number, 16);
    void *second = number < 0 ? (void *)&dx : (void *)&number;
    void *arguments[] = {&dy, second};
    if (cuLaunchKernel(function, c->blocks, 1, 1, c->threads, 1, 1, c->shared_bytes, NULL,
                       arguments, NULL))
        return 2;
    if (cuCtxSynchronize() || cuMemcpyDtoH(y, dy, sizeof y))
        return TOLD;
    return wrong_results(c, y, x);
}

/* ---- The tests --------------------------------------------------------------------------- */

static const char *sanitizer(void) {
    static char text[1024];
    snprintf(text, sizeof text, "FLAVOUR=asan,ASAN_OPTIONS=detect_leaks=0,LD_PRELOAD=%s",
             getenv("SIM_ASAN_PRELOAD"));
    return text;
}

static void told(const char *name, const char *environment, const char *words) {
    const TestRun run = test_again(name, environment);
    if (run.status != TOLD)
        fail_msg("%s under %s ended with %d: %s", name, environment, run.status, run.text);
    assert_told(&run, name);
    assert_told(&run, words);
}

static void divergence_is_told(void **state) {
    (void)state;
    static const char *const orders[] = {"FLAVOUR=release,SIM_ORDER=forward",
                                         "FLAVOUR=release,SIM_ORDER=reverse",
                                         "FLAVOUR=release,SIM_ORDER=random:1"};
    for (int i = 0; i < 3; i++) {
        told("divergent_barrier", orders[i], "40 of 64 threads wait at the barrier of line 8");
        told("two_barriers", orders[i], "divergent barrier");
        told("divergent_warp", orders[i], "16 of 32 lanes");
    }
    told("partial_warp", "FLAVOUR=release", "which has only 20 lanes");
    told("trap", "FLAVOUR=release", "__trap");
    told("far_away", "FLAVOUR=release", "illegal address");
    told("misaligned_async", "FLAVOUR=release", "not aligned to 16 bytes");
}

/* Some permuted order, or the NaNs in uninitialised shared memory, must make the result wrong. */
static void wrong_somewhere(const char *name) {
    static const char *const orders[] = {
        "FLAVOUR=release,SIM_ORDER=forward", "FLAVOUR=release,SIM_ORDER=reverse",
        "FLAVOUR=release,SIM_ORDER=random:1", "FLAVOUR=release,SIM_ORDER=random:2"};
    int wrong = 0;
    for (int i = 0; i < 4; i++)
        wrong += test_again(name, orders[i]).status == WRONG;
    if (!wrong)
        fail_msg("%s: right in every order", name);
}

static void orders_spoil_missing_barriers(void **state) {
    (void)state;
    assert_int_equal(test_again("unwritten_shared", "FLAVOUR=release").status, WRONG);
    wrong_somewhere("missing_barrier");
    wrong_somewhere("missing_second_barrier");
    wrong_somewhere("block_race");
    wrong_somewhere("missing_async_wait");
    wrong_somewhere("missing_async_barrier");
}

static void races_are_told_in_every_order(void **state) {
    (void)state;
    static const char *const orders[] = {"FLAVOUR=race,SIM_ORDER=forward",
                                         "FLAVOUR=race,SIM_ORDER=reverse",
                                         "FLAVOUR=race,SIM_ORDER=random:1"};
    for (int i = 0; i < 3; i++) {
        told("missing_barrier", orders[i], "race on shared memory");
        told("missing_second_barrier", orders[i], "race on shared memory");
        told("missing_syncwarp", orders[i], "race on shared memory");
        told("missing_async_wait", orders[i], "race on shared memory");
        told("missing_async_barrier", orders[i], "race on shared memory");
        told("block_race", orders[i], "race on global memory");
        told("same_cell", orders[i], "race on global memory");
    }
}

static void overruns_are_told(void **state) {
    (void)state;
    static const struct {
        const char *name, *words;
    } overruns[] = {
        {"overrun_global", "bad_kernels.cu"},  {"guarded", "use-after-poison"},
        {"underrun_global", "bad_kernels.cu"}, {"overrun_shared", "bad_kernels.cu"},
        {"overrun_dynamic", "bad_kernels.cu"}, {"misaligned", "misaligned address"},
    };
    for (int i = 0; i < 6; i++) {
        const TestRun run = test_again(overruns[i].name, sanitizer());
        if (run.status == RIGHT || run.status == WRONG || run.status == 2)
            fail_msg("%s ended with %d: %s", overruns[i].name, run.status, run.text);
        assert_told(&run, overruns[i].words);
    }
}

int main(int count, char **words) {
    for (size_t i = 0; count == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, words[1]))
            return run_case(&cases[i]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergence_is_told),
        cmocka_unit_test(orders_spoil_missing_barriers),
        cmocka_unit_test(races_are_told_in_every_order),
        cmocka_unit_test(overruns_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
