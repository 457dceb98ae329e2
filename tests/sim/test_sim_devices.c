/* Several devices in one process: copies between them, waits across them, and forbidden uses of
 * another device's memory, streams and events. run.sh sets SIM_DEVICES=2. */
#include "sim_test.h"

enum { COUNT = 1000 };

static CUcontext contexts[2];
static CUfunction add_to[2];

static void enter(int device) { OK(cuCtxSetCurrent(contexts[device])); }

static int set_up(void **state) {
    (void)state;
    OK(cuInit(0));
    for (int i = 0; i < 2; i++) {
        OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
        enter(i);
        add_to[i] = test_function(test_module("good_kernels", "release"), "add_to");
    }
    enter(0);
    return 0;
}

static CUdeviceptr ramp_on(int device) {
    float x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i + device);
    enter(device);
    return test_upload(x, sizeof x);
}

static CUresult add(int device, CUdeviceptr y, float a, CUstream stream) {
    int n = COUNT;
    return test_launch(add_to[device], 8, 128, 0, stream, (void *[]){&y, &a, &n});
}

static void assert_ramp(CUdeviceptr y, float first) {
    float got[COUNT];
    OK(cuMemcpyDtoH(got, y, sizeof got));
    for (int i = 0; i < COUNT; i++)
        assert_true(got[i] == (float)i + first);
}

/* Each device has its own memory; a copy between streams of two devices waits for an event. */
static void copies_go_from_device_to_device(void **state) {
    (void)state;
    CUdeviceptr x = ramp_on(0), y = ramp_on(1);
    CUstream streams[2];
    CUevent done;
    for (int i = 0; i < 2; i++) {
        enter(i);
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    }
    enter(0);
    OK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    OK(add(0, x, 10, streams[0]));
    OK(cuEventRecord(done, streams[0]));
    enter(1);
    OK(cuStreamWaitEvent(streams[1], done, 0));
    OK(cuMemcpyPeerAsync(y, contexts[1], x, contexts[0], COUNT * sizeof(float), streams[1]));
    OK(add(1, y, 100, streams[1]));
    OK(cuStreamSynchronize(streams[1]));
    assert_ramp(y, 110);
    enter(0);
    assert_ramp(x, 10);
}

static void copies_name_their_devices(void **state) {
    (void)state;
    CUdeviceptr x = ramp_on(0), y = ramp_on(1);
    assert_int_equal(cuMemcpyPeerAsync(y, contexts[0], x, contexts[0], 4, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyPeerAsync(y, contexts[1], x, contexts[1], 4, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyPeerAsync(y, contexts[1], x, NULL, 4, NULL),
                     CUDA_ERROR_INVALID_CONTEXT);
}

/* As in the programming guide, kernels and event records must use their stream's device. */
static void streams_stay_on_their_device(void **state) {
    (void)state;
    CUdeviceptr x = ramp_on(0);
    CUstream other;
    CUevent event;
    enter(1);
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    enter(0);
    OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    assert_int_equal(add(0, x, 1, other), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(add(1, x, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuEventRecord(event, other), CUDA_ERROR_INVALID_HANDLE);
}

static void peer_access_is_enabled_once(void **state) {
    (void)state;
    CUdeviceptr y = ramp_on(1);
    enter(0);
    OK(cuCtxEnablePeerAccess(contexts[1], 0));
    assert_int_equal(cuCtxEnablePeerAccess(contexts[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    assert_int_equal(cuCtxEnablePeerAccess(contexts[0], 0), CUDA_ERROR_INVALID_DEVICE);
    OK(add(0, y, 1, NULL));
    OK(cuCtxSynchronize());
    enter(1);
    assert_ramp(y, 2);
}

static int touch_without_access(void) {
    CUdeviceptr y = ramp_on(1);
    enter(0);
    add(0, y, 1, NULL); /* the fault shows when the kernel runs */
    return cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 1;
}

static void other_memory_is_out_of_reach(void **state) {
    (void)state;
    TestRun run = test_again("touch_without_access", "");
    assert_told(&run,
                "kernel add_to on device 0: argument 0 is on device 1, to which peer access "
                "is not enabled");
    assert_int_equal(run.status, 0);
}

int main(int count, char **words) {
    if (count == 2 && !strcmp(words[1], "touch_without_access")) {
        set_up(NULL);
        return touch_without_access();
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_go_from_device_to_device),
        cmocka_unit_test(copies_name_their_devices),
        cmocka_unit_test(streams_stay_on_their_device),
        cmocka_unit_test(peer_access_is_enabled_once),
        cmocka_unit_test(other_memory_is_out_of_reach),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
