/* Tests the simulated NVRTC, CUPTI and NVML. */
#include "sim_test.h"
#include <cupti.h>
#include <dlfcn.h>
#include <nvrtc.h>

static int set_up(void **state) {
    (void)state;
    test_context();
    return 0;
}

static void the_device_is_known(void **state) {
    (void)state;
    char name[64];
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *function;
    assert_non_null(self);
    const int *simulated = dlsym(self, "gpuopt_simulated");
    assert_true(simulated && *simulated == 1);
    OK(cuDeviceGetName(name, sizeof name, 0));
    assert_string_equal(name, "Simulated device (CPU)");
    OK(cuGetProcAddress("cuMemAlloc", &function, 12000, 0, NULL));
    assert_true(function == dlsym(self, "cuMemAlloc_v2"));
    assert_int_equal(cuGetProcAddress("cuNothing", &function, 12000, 0, NULL),
                     CUDA_ERROR_NOT_FOUND);
    const char *word;
    OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &word));
    assert_string_equal(word, "CUDA_ERROR_OUT_OF_MEMORY");
}

/* ---- NVRTC ------------------------------------------------------------------------------- */

static nvrtcResult compile(const char *source, char **image, char *log, size_t log_bytes) {
    nvrtcProgram program;
    size_t bytes;
    const char *options[] = {"--gpu-architecture=sm_90a", "-DFACTOR=3.0f"};
    assert_int_equal(nvrtcCreateProgram(&program, source, "jit.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    const nvrtcResult result = nvrtcCompileProgram(program, 2, options);
    assert_int_equal(nvrtcGetProgramLogSize(program, &bytes), NVRTC_SUCCESS);
    assert_true(bytes >= 1 && bytes < log_bytes);
    assert_int_equal(nvrtcGetProgramLog(program, log), NVRTC_SUCCESS);
    if (!result) {
        assert_int_equal(nvrtcGetCUBINSize(program, &bytes), NVRTC_SUCCESS);
        *image = malloc(bytes);
        assert_int_equal(nvrtcGetCUBIN(program, *image), NVRTC_SUCCESS);
    }
    assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
    return result;
}

static void nvrtc_compiles(void **state) {
    (void)state;
    static char log[65536];
    char *image;
    CUmodule module;
    float value = 0;
    assert_int_equal(compile("extern \"C\" __global__ void jit(float *y) { *y = FACTOR; }", &image,
                             log, sizeof log),
                     NVRTC_SUCCESS);
    OK(cuModuleLoadData(&module, image));
    CUdeviceptr d = test_upload(&value, sizeof value);
    OK(test_launch(test_function(module, "jit"), 1, 1, 0, NULL, (void *[]){&d}));
    OK(cuMemcpyDtoH(&value, d, sizeof value));
    assert_true(value == 3);
    OK(cuModuleUnload(module));
    free(image);
}

static void nvrtc_tells_errors(void **state) {
    (void)state;
    static char log[65536];
    char *image;
    assert_int_equal(compile("extern \"C\" __global__ void jit(float *y) { *y = missing; }", &image,
                             log, sizeof log),
                     NVRTC_ERROR_COMPILATION);
    assert_non_null(strstr(log, "jit.cu"));
    assert_non_null(strstr(log, "missing"));
    assert_int_equal(compile("int no_kernel;", &image, log, sizeof log), NVRTC_ERROR_COMPILATION);
}

/* ---- CUPTI ------------------------------------------------------------------------------- */

static struct {
    int kernels, copies, sets, launches, syncs;
    uint64_t bytes, kernel_ns;
    bool pinned, named, ordered;
} seen;

static void on_request(uint8_t **buffer, size_t *size, size_t *most) {
    *size = 4096; /* small, so that several are needed */
    *buffer = aligned_alloc(8, *size);
    *most = 0;
}

static void see(const CUpti_Activity *r) {
    const char *name = NULL;
    if (r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        const CUpti_ActivityKernel9 *k = (const void *)r;
        seen.kernels++;
        seen.kernel_ns += k->end - k->start;
        seen.ordered &= k->end >= k->start && k->gridX == 4 && k->blockX == 256;
        seen.named &= !strcmp(k->name, "add_to");
    } else if (r->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy5 *c = (const void *)r;
        seen.copies++;
        seen.bytes += c->bytes;
        seen.pinned |= c->srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    } else if (r->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        seen.sets++;
    } else if (r->kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) {
        seen.syncs++;
    } else if (r->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
        const CUpti_ActivityAPI *a = (const void *)r;
        cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, a->cbid, &name);
        seen.launches += name && !strcmp(name, "cuLaunchKernel");
    }
}

static void on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                        size_t valid) {
    (void)context, (void)stream, (void)size;
    CUpti_Activity *record = NULL;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        see(record);
    free(buffer);
}

static void work(CUfunction function) {
    int n = 1024;
    float a = 1, *host;
    CUdeviceptr d = test_upload(NULL, 4096);
    OK(cuMemHostAlloc((void **)&host, 4096, 0));
    memset(host, 0, 4096);
    OK(cuMemcpyHtoDAsync(d, host, 4096, NULL));
    OK(cuMemsetD8Async(d, 0, 4096, NULL));
    for (int i = 0; i < 50; i++)
        OK(test_launch(function, 4, 256, 0, NULL, (void *[]){&d, &a, &n}));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFreeHost(host));
    OK(cuMemFree(d));
}

static void cupti_records_activity(void **state) {
    (void)state;
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DRIVER,
        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
    CUfunction function = test_function(test_module("good_kernels", "release"), "add_to");
    uint64_t before, after;
    size_t dropped;
    seen.named = seen.ordered = true;
    assert_int_equal(cuptiActivityRegisterCallbacks(on_request, on_complete), CUPTI_SUCCESS);
    for (int i = 0; i < 5; i++)
        assert_int_equal(cuptiActivityEnable(kinds[i]), CUPTI_SUCCESS);
    cuptiGetTimestamp(&before);
    work(function);
    cuptiGetTimestamp(&after);
    for (int i = 0; i < 5; i++)
        assert_int_equal(cuptiActivityDisable(kinds[i]), CUPTI_SUCCESS);
    assert_int_equal(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
    assert_int_equal(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped), CUPTI_SUCCESS);
    assert_int_equal(dropped, 0);
    assert_int_equal(seen.kernels, 50);
    assert_int_equal(seen.launches, 50);
    assert_int_equal(seen.copies, 1);
    assert_int_equal(seen.bytes, 4096);
    assert_int_equal(seen.sets, 1);
    assert_int_equal(seen.syncs, 1);
    assert_true(seen.pinned && seen.named && seen.ordered);
    assert_true(seen.kernel_ns > 0 && seen.kernel_ns < after - before);
    work(function);
    cuptiActivityFlushAll(0);
    assert_int_equal(seen.kernels, 50);
}

static CUgraphExec captured(CUstream stream, CUdeviceptr d) {
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemsetD8Async(d, 0, 4096, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    return exec;
}

/* Launches a graph that is older than CUPTI's initialisation (`late`) or younger. */
static int launch_recorded(bool late) {
    CUstream stream;
    CUgraphExec exec = NULL;
    test_context();
    CUdeviceptr d = test_upload(NULL, 4096);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (late)
        exec = captured(stream, d);
    assert_int_equal(cuptiActivityRegisterCallbacks(on_request, on_complete), CUPTI_SUCCESS);
    if (!late)
        exec = captured(stream, d);
    OK(cuGraphLaunch(exec, stream));
    assert_int_equal(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET), CUPTI_SUCCESS);
    return (int)cuGraphLaunch(exec, stream);
}

static void cupti_calls_memsets_of_graphs_kernels(void **state) {
    (void)state;
    CUstream stream;
    CUdeviceptr d = test_upload(NULL, 4096);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraphExec exec = captured(stream, d);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
    assert_int_equal(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET), CUPTI_SUCCESS);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
    assert_int_equal(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET), CUPTI_SUCCESS);
    assert_int_equal(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
    assert_int_equal(seen.kernels, 1);
    assert_int_equal(seen.sets, 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(d));
}

static void cupti_must_be_older_than_graphs(void **state) {
    (void)state;
    const TestRun late = test_again("late", ""), early = test_again("early", "");
    assert_int_equal(early.status, 0);
    assert_int_equal(late.status, 1);
    assert_told(&late, "before CUPTI was initialised");
}

/* ---- NVML -------------------------------------------------------------------------------- */

static void nvml_tells_memory(void **state) {
    (void)state;
    typedef struct Memory {
        unsigned long long total, free, used;
    } Memory;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW), *device;
    if (!library) {
        char path[4096];
        snprintf(path, sizeof path, "%s/libnvidia-ml.so.1", getenv("SIM_FOLDER"));
        library = dlopen(path, RTLD_NOW);
    }
    assert_non_null(library);
    int (*find)(const char *, void **), (*memory_info)(void *, Memory *);
    *(void **)&find = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&memory_info = dlsym(library, "nvmlDeviceGetMemoryInfo");
    char bus[32];
    Memory before, after;
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
    assert_int_equal(find(bus, &device), 0);
    assert_int_equal(memory_info(device, &before), 0);
    CUdeviceptr d = test_upload(NULL, 1 << 20);
    assert_int_equal(memory_info(device, &after), 0);
    assert_int_equal(after.used - before.used, 1 << 20);
    OK(cuMemFree(d));
    assert_true(find("0000:77:00.0", &device) != 0);
}

int main(int argc, char **argv) {
    if (argc > 1)
        return launch_recorded(!strcmp(argv[1], "late")) != CUDA_SUCCESS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_is_known), cmocka_unit_test(nvrtc_compiles),
        cmocka_unit_test(nvrtc_tells_errors),  cmocka_unit_test(cupti_records_activity),
        cmocka_unit_test(cupti_calls_memsets_of_graphs_kernels),
        cmocka_unit_test(cupti_must_be_older_than_graphs), cmocka_unit_test(nvml_tells_memory),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
