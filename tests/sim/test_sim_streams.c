/* Streams, events, graphs, memory and counts. run.sh runs this program with every kind of queue;
 * faults that only late queues find are tested by running cases again with SIM_QUEUE set.
 */
#include "sim_test.h"

enum { N = 1024 };

static CUcontext context;
static CUmodule module;
static CUfunction axpy, add_to;

static int set_up(void **state) {
    (void)state;
    context = test_context();
    module = test_module("good_kernels", "release");
    axpy = test_function(module, "axpy");
    add_to = test_function(module, "add_to");
    return 0;
}

static CUstream new_stream(void) {
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static CUevent new_event(void) {
    CUevent event;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static CUresult push_add(CUdeviceptr y, float a, CUstream stream) {
    int n = N;
    return test_launch(add_to, N / 256, 256, 0, stream, (void *[]){&y, &a, &n});
}

static CUdeviceptr zeros(void) {
    CUdeviceptr p;
    OK(cuMemAlloc(&p, N * sizeof(float)));
    OK(cuMemsetD32(p, 0, N));
    OK(cuCtxSynchronize());
    return p;
}

static float first_of(CUdeviceptr p) {
    float value;
    OK(cuMemcpyDtoH(&value, p, sizeof value));
    return value;
}

/* ---- Memory ------------------------------------------------------------------------------ */

static void fresh_memory_is_nan(void **state) {
    (void)state;
    CUdeviceptr p;
    OK(cuMemAlloc(&p, 64));
    const float value = first_of(p);
    assert_true(value != value);
    OK(cuMemFree(p));
}

static void memory_ends(void **state) {
    (void)state;
    size_t free_bytes, total_bytes, after;
    CUdeviceptr p, q;
    OK(cuMemGetInfo(&free_bytes, &total_bytes));
    assert_int_equal(total_bytes, (size_t)4 << 30);
    assert_int_equal(cuMemAlloc(&p, free_bytes + 1), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAlloc(&p, 1000));
    OK(cuMemAlloc(&q, 5000));
    OK(cuMemGetInfo(&after, &total_bytes));
    assert_int_equal(free_bytes - after, 1024 + 5120);
    OK(cuMemFree(p));
    assert_int_equal(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(q));
    OK(cuMemGetInfo(&after, &total_bytes));
    assert_int_equal(free_bytes, after);
}

static void copies_stay_in_their_allocation(void **state) {
    (void)state;
    char host[128] = {0};
    CUdeviceptr p;
    OK(cuMemAlloc(&p, 100));
    assert_int_equal(cuMemcpyHtoD(p, host, 101), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH(host, p + 50, 51), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH((void *)p, p, 10), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD8(p + 1, 0, 100), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoD(p, host, 100));
    OK(cuMemFree(p));
}

static CUDA_MEMCPY2D to_rows(CUdeviceptr to, const void *host, size_t pitch, size_t rows) {
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = host,
                           .srcPitch = 3,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .dstPitch = pitch,
                           .WidthInBytes = 3,
                           .Height = rows};
}

static void copies_of_rows_leave_gaps(void **state) {
    (void)state;
    const char host[] = "abcdefghi";
    char back[13] = {0};
    CUdeviceptr p;
    OK(cuMemAlloc(&p, 13));
    OK(cuMemsetD8(p, '.', 13));
    CUDA_MEMCPY2D copy = to_rows(p, host, 5, 3);
    OK(cuMemcpy2D(&copy));
    OK(cuMemcpyDtoH(back, p, 13));
    assert_memory_equal(back, "abc..def..ghi", 13);
    copy = to_rows(p + 1, host, 5, 3);
    assert_int_equal(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE); /* past the end */
    copy = to_rows(p, host, 2, 3);
    assert_int_equal(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE); /* rows that overlap */
    copy = to_rows((CUdeviceptr)back, host, 3, 1);
    assert_int_equal(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE); /* no device */
    OK(cuMemFree(p));
}

/* ---- Streams and events ------------------------------------------------------------------ */

/* A pageable source may be reused immediately, a pinned one only after the copy. */
static void pageable_copies_are_staged(void **state) {
    (void)state;
    float host[4] = {1, 2, 3, 4};
    CUstream stream = new_stream();
    CUdeviceptr p = zeros();
    OK(cuMemcpyHtoDAsync(p, host, sizeof host, stream));
    host[0] = 99;
    OK(cuStreamSynchronize(stream));
    assert_true(first_of(p) == 1);
    host[0] = 0;
    OK(cuMemcpyDtoHAsync(host, p, sizeof host, stream));
    assert_true(host[0] == 1);
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(p));
}

static void events_order_streams(void **state) {
    (void)state;
    CUstream a = new_stream(), b = new_stream();
    CUevent done = new_event();
    CUdeviceptr p = zeros();
    OK(push_add(p, 1, a));
    OK(cuEventRecord(done, a));
    OK(cuStreamWaitEvent(b, done, 0));
    CUdeviceptr q = zeros();
    float one = 1;
    int n = N;
    OK(test_launch(axpy, N / 256, 256, 0, b, (void *[]){&q, &p, &one, &n}));
    OK(cuStreamSynchronize(b));
    assert_true(first_of(q) == 1);
    OK(cuEventQuery(done));
    OK(cuEventSynchronize(done));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuEventDestroy(done));
}

static void polling_gets_on(void **state) {
    (void)state;
    CUstream stream = new_stream();
    CUevent done = new_event();
    CUdeviceptr p = zeros();
    for (int i = 0; i < 5; i++)
        OK(push_add(p, 1, stream));
    OK(cuEventRecord(done, stream));
    int polls = 0;
    while (cuEventQuery(done) == CUDA_ERROR_NOT_READY && polls < 1000)
        polls++;
    assert_true(polls < 1000 && first_of(p) == 5);
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
        ;
    OK(cuStreamDestroy(stream));
}

/* The legacy stream and a blocking one wait for each other; a non-blocking one does not. */
static void the_legacy_stream_joins(void **state) {
    (void)state;
    CUstream blocking;
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    CUdeviceptr p = zeros(), q = zeros();
    float one = 1;
    int n = N;
    OK(push_add(p, 3, blocking));
    OK(test_launch(axpy, N / 256, 256, 0, NULL, (void *[]){&q, &p, &one, &n}));
    OK(push_add(q, 1, blocking));
    OK(cuStreamSynchronize(blocking));
    assert_true(first_of(q) == 4);
    OK(cuStreamDestroy(blocking));
}

static void add_one(void *data) { ++*(int *)data; }

static void host_functions_take_their_turn(void **state) {
    (void)state;
    int count = 0;
    CUstream stream = new_stream();
    OK(cuLaunchHostFunc(stream, add_one, &count));
    OK(cuLaunchHostFunc(stream, add_one, &count));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(count, 2);
    OK(cuStreamDestroy(stream));
}

/* ---- Graphs ------------------------------------------------------------------------------ */

/* Returns a graph with p += 1 on stream a, then q += p on b, and then p += 10 on a. */
static CUgraphExec forked_graph(CUdeviceptr p, CUdeviceptr q) {
    CUstream a = new_stream(), b = new_stream();
    CUevent fork = new_event(), join = new_event();
    CUgraph graph;
    CUgraphExec exec;
    float one = 1;
    int n = N;
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(push_add(p, 1, a));
    OK(cuEventRecord(fork, a));
    OK(cuStreamWaitEvent(b, fork, 0));
    OK(test_launch(axpy, N / 256, 256, 0, b, (void *[]){&q, &p, &one, &n}));
    OK(cuEventRecord(join, b));
    OK(cuStreamWaitEvent(a, join, 0));
    OK(push_add(p, 10, a));
    OK(cuStreamEndCapture(a, &graph));
    size_t count = 0;
    OK(cuGraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 3);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuEventDestroy(fork));
    OK(cuEventDestroy(join));
    return exec;
}

static void graphs_replay(void **state) {
    (void)state;
    CUdeviceptr p = zeros(), q = zeros();
    CUgraphExec exec = forked_graph(p, q);
    assert_true(first_of(p) == 0);
    CUstream stream = new_stream();
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamSynchronize(stream));
    assert_true(first_of(p) == 33 && first_of(q) == 1 + 12 + 23);
    OK(cuStreamDestroy(stream));
}

static void captures_refuse(void **state) {
    (void)state;
    CUstream a = new_stream(), b = new_stream();
    CUevent event = new_event(), outside = new_event();
    CUgraph graph;
    CUdeviceptr p = zeros(), fresh;
    OK(cuEventRecord(outside, b));
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(push_add(p, 1, a), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(cuMemAlloc(&fresh, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemAlloc(&fresh, 16));
    OK(push_add(p, 1, a));
    OK(cuEventRecord(event, a));
    assert_int_equal(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
    OK(cuStreamWaitEvent(b, event, 0));
    OK(push_add(p, 1, b));
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);

    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_int_equal(cuStreamWaitEvent(a, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_ERROR_ILLEGAL_STATE);
    assert_true(first_of(p) == 0);
}

/* ---- Launches and modules ---------------------------------------------------------------- */

static void launches_are_checked(void **state) {
    (void)state;
    CUdeviceptr p = zeros();
    float a = 1;
    int n = N;
    void *arguments[] = {&p, &a, &n};
    CUfunction bounded = test_function(module, "reductions");
    assert_int_equal(test_launch(add_to, 0, 256, 0, NULL, arguments), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(test_launch(add_to, 1, 1025, 0, NULL, arguments), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(test_launch(add_to, 1, 256, 49153, NULL, arguments), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(add_to, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    OK(test_launch(add_to, 1, 256, 100000, NULL, arguments));
    assert_int_equal(test_launch(bounded, 1, 512, 0, NULL, arguments),
                     CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    OK(cuCtxSynchronize());
}

static void modules_are_told_apart(void **state) {
    (void)state;
    CUmodule other;
    CUfunction none;
    char cubin[64] = "\177ELF\002\001\001";
    cubin[18] = (char)190;
    assert_int_equal(cuModuleLoadData(&other, cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_int_equal(cuModuleLoad(&other, "/nowhere/kernels.cubin"), CUDA_ERROR_FILE_NOT_FOUND);
    assert_int_equal(cuModuleLoad(&other, "/proc/self/comm"), CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(cuModuleGetFunction(&none, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
}

/* ---- Faults that late queues find, in separate processes --------------------------------- */

/* Returns 3 if the fault changes the result. */
static int missing_wait(void) {
    CUstream a = new_stream(), b = new_stream();
    CUdeviceptr p = zeros(), q = zeros();
    float one = 1;
    int n = N;
    push_add(p, 1, a);
    test_launch(axpy, N / 256, 256, 0, b, (void *[]){&q, &p, &one, &n});
    cuStreamSynchronize(b);
    return first_of(q) == 1 ? 0 : 3;
}

static int early_reuse(void) {
    float *host;
    CUstream stream = new_stream();
    CUdeviceptr p = zeros();
    cuMemHostAlloc((void **)&host, 64, 0);
    host[0] = 1;
    cuMemcpyHtoDAsync(p, host, 4, stream);
    host[0] = 2;
    cuStreamSynchronize(stream);
    return first_of(p) == 1 ? 0 : 3;
}

static int early_read(void) {
    float *host;
    CUstream stream = new_stream();
    CUdeviceptr p = zeros();
    cuMemHostAlloc((void **)&host, 64, 0);
    host[0] = 7;
    push_add(p, 1, stream);
    cuMemcpyDtoHAsync(host, p, 4, stream);
    return host[0] == 1 ? 0 : 3;
}

/* In the graph, q += p does not wait for p += 1. */
static int missing_wait_in_graph(void) {
    CUstream a = new_stream(), b = new_stream();
    CUevent fork = new_event(), join = new_event();
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr p = zeros(), q = zeros();
    float one = 1;
    int n = N;
    cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cuEventRecord(fork, a);
    push_add(p, 1, a);
    cuStreamWaitEvent(b, fork, 0);
    test_launch(axpy, N / 256, 256, 0, b, (void *[]){&q, &p, &one, &n});
    cuEventRecord(join, b);
    cuStreamWaitEvent(a, join, 0);
    cuStreamEndCapture(a, &graph);
    cuGraphInstantiate(&exec, graph, 0);
    cuGraphLaunch(exec, a);
    cuStreamSynchronize(a);
    return first_of(q) == 1 ? 0 : 3;
}

static int use_after_free(void) {
    CUdeviceptr p = zeros();
    cuMemFree(p);
    push_add(p, 1, NULL);
    return cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS ? 3 : 0;
}

static int small_memory(void) {
    CUdeviceptr p;
    return cuMemAlloc(&p, 11 << 20) == CUDA_ERROR_OUT_OF_MEMORY && !cuMemAlloc(&p, 10 << 20) ? 3
                                                                                             : 0;
}

/* Makes a fixed number of each call, for the counts. */
static int counted(void) {
    CUstream stream = new_stream();
    CUdeviceptr p = zeros(), q = zeros();
    CUgraphExec exec = forked_graph(p, q);
    float *host, pageable[8];
    cuMemHostAlloc((void **)&host, 64, 0);
    memset(host, 0, 64);
    cuMemcpyHtoDAsync(p, host, 64, stream);
    cuMemcpyDtoHAsync(pageable, p, 32, stream);
    cuMemcpyDtoDAsync(q, p, 16, stream);
    push_add(p, 1, stream);
    cuGraphLaunch(exec, stream);
    cuGraphLaunch(exec, stream);
    cuStreamSynchronize(stream);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} cases[] = {{"missing_wait", missing_wait},
             {"early_reuse", early_reuse},
             {"early_read", early_read},
             {"missing_wait_in_graph", missing_wait_in_graph},
             {"use_after_free", use_after_free},
             {"small_memory", small_memory},
             {"counted", counted}};

static void late_queues_find_missing_waits(void **state) {
    (void)state;
    static const char *const names[] = {"missing_wait", "early_reuse", "early_read",
                                        "missing_wait_in_graph"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(test_again(names[i], "SIM_QUEUE=lazy").status, 3);
        assert_int_equal(test_again(names[i], "SIM_QUEUE=eager").status, 0);
        int found = 0;
        for (int seed = 1; seed <= 6; seed++) {
            char environment[64];
            snprintf(environment, sizeof environment, "SIM_QUEUE=lazy:%d", seed);
            found += test_again(names[i], environment).status == 3;
        }
        assert_true(found > 0);
    }
}

static void freed_memory_faults(void **state) {
    (void)state;
    const TestRun run = test_again("use_after_free", "SIM_QUEUE=lazy");
    assert_int_equal(run.status, 3);
    assert_told(&run, "illegal address");
}

static void memory_can_be_small(void **state) {
    (void)state;
    assert_int_equal(test_again("small_memory", "SIM_MEMORY_GIB=0.009").status, 0);
    assert_int_equal(test_again("small_memory", "SIM_MEMORY_GIB=0.0103").status, 3);
    const TestRun run = test_again("small_memory", "SIM_MEMORY_GIB=much");
    assert_int_equal(run.status, 1);
    assert_told(&run, "SIM_MEMORY_GIB=much");
}

static void counts_are_exact(void **state) {
    (void)state;
    char path[4096], environment[4200], text[8192] = {0};
    snprintf(path, sizeof path, "%s/counts.json", getenv("SIM_TESTS"));
    snprintf(environment, sizeof environment, "SIM_COUNTS=%s", path);
    assert_int_equal(test_again("counted", environment).status, 0);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    static const char *const lines[] = {"\"launches\": 7,",
                                        "\"graph_launches\": 2,",
                                        "\"add_to\": {\"launches\": 5,",
                                        "\"axpy\": {\"launches\": 2,",
                                        "\"h2d\": {\"pinned\": {\"count\": 1, \"bytes\": 64}, "
                                        "\"pageable\": {\"count\": 0, \"bytes\": 0}}",
                                        "\"d2h\": {\"pinned\": {\"count\": 0, \"bytes\": 0}, "
                                        "\"pageable\": {\"count\": 1, \"bytes\": 32}}",
                                        "\"d2d\": {\"pinned\": {\"count\": 1, \"bytes\": 16}",
                                        "\"memsets\": {\"count\": 2, \"bytes\": 8192}",
                                        "\"cuStreamSynchronize\": 1",
                                        "\"allocations\": 2, \"peak_bytes\": 8192"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text, lines[i]))
            fail_msg("no %s in %s", lines[i], text);
}

int main(int count, char **words) {
    for (size_t i = 0; count == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, words[1])) {
            set_up(NULL);
            return cases[i].run();
        }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_memory_is_nan),
        cmocka_unit_test(memory_ends),
        cmocka_unit_test(copies_stay_in_their_allocation),
        cmocka_unit_test(copies_of_rows_leave_gaps),
        cmocka_unit_test(pageable_copies_are_staged),
        cmocka_unit_test(events_order_streams),
        cmocka_unit_test(polling_gets_on),
        cmocka_unit_test(the_legacy_stream_joins),
        cmocka_unit_test(host_functions_take_their_turn),
        cmocka_unit_test(graphs_replay),
        cmocka_unit_test(captures_refuse),
        cmocka_unit_test(launches_are_checked),
        cmocka_unit_test(modules_are_told_apart),
        cmocka_unit_test(late_queues_find_missing_waits),
        cmocka_unit_test(freed_memory_faults),
        cmocka_unit_test(memory_can_be_small),
        cmocka_unit_test(counts_are_exact),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
