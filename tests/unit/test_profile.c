/* The profile's files, and the profile's part of the report, from a CUPTI with known records: every
 * figure must be in its documented place, and sums must agree. */
#include "report_run.h"
#include "runtime/report/report.h"

/* ---- records --------------------------------------------------------------------------------- */

static void kernel(const char *name, uint64_t start, uint64_t length) {
    activities[activity_count++].kernel =
        (CUpti_ActivityKernel9){.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                .name = name,
                                .start = start,
                                .end = start + length,
                                .gridX = 3,
                                .blockX = 64,
                                .streamId = 13};
}

static void copy(CUpti_ActivityMemcpyKind kind, uint64_t start, uint64_t length, uint64_t bytes) {
    activities[activity_count++].copy =
        (CUpti_ActivityMemcpy5){.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                .copyKind = (uint8_t)kind,
                                .srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
                                .start = start,
                                .end = start + length,
                                .bytes = bytes};
}

static void call(uint32_t id, uint64_t start, uint64_t length) {
    activities[activity_count++].call = (CUpti_ActivityAPI){.kind = CUPTI_ACTIVITY_KIND_DRIVER,
                                                            .cbid = id,
                                                            .start = start,
                                                            .end = start + length,
                                                            .threadId = 5};
}

static void write_trace(void) {
    write_report();
    trace_write(&rt);
}

static void profiled_run(void) {
    kernel("gemm", 2000, 300);
    kernel("norm, \"fast\"", 1000, 100);
    kernel("gemm", 3000, 501);
    copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 500, 50, 2000000);
    call(7, 900, 20);
    call(8, 930, 10);
    rt.profile = profile_open(&rt);
    assert_non_null(rt.profile);
    assert_int_equal(enabled, 0);
    profile_begin(rt.profile, 3);
    assert_int_equal(enabled, 5);
    profile_end(rt.profile, 2);
    assert_int_equal(enabled, 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void kernel_times_agree_everywhere(void **state) {
    (void)state;
    double in_trace = 0;
    size_t i;
    json_t *event;
    profiled_run();
    write_report();
    assert_text("report.txt", "device ms *");
    assert_text("report.txt", "\n* from a profiled window of 2 steps");
    write_trace();
    json_t *r = json_of("report.json"), *trace = json_of("trace.json");
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event) {
        const char *category = json_string_value(json_object_get(event, "cat"));
        if (category && strcmp(category, "kernel") == 0)
            in_trace += json_number_value(json_object_get(event, "dur"));
    }
    assert_number(r, "kernels.ms", 901e-6);
    assert_true(fabs(in_trace - 901e-3) < 1e-12);
    assert_number(r, "copies.h2d.ms", 50e-6);
    assert_number(r, "profiling_window.steps", 2);
    assert_number(r, "profiling_window.first", 3);
    assert_number(r, "profiling_window.last", 4);
    assert_number(r, "profiling_window.records", 6);
    json_decref(r);
    json_decref(trace);
}

/* Records that CUPTI hands over at a pause and at the end are one window. */
static void a_window_may_pause(void **state) {
    (void)state;
    rt.profile = profile_open(&rt);
    profile_begin(rt.profile, 3);
    kernel("gemm", 2000, 300);
    profile_pause(rt.profile);
    assert_int_equal(enabled, 0);
    assert_int_equal(profile_count(rt.profile), 1);
    profile_resume(rt.profile);
    assert_int_equal(enabled, 5);
    kernel("norm", 1000, 100);
    profile_end(rt.profile, 2);
    assert_int_equal(profile_count(rt.profile), 2);
    assert_string_equal(profile_record(rt.profile, 0)->name, "norm");
    assert_int_equal(profile_origin(rt.profile), 500);
    profile_pause(NULL);
    profile_resume(NULL);
}

static void events_lie_on_one_clock(void **state) {
    (void)state;
    profiled_run();
    write_trace();
    json_t *trace = json_of("trace.json");
    const json_t *first = json_array_get(json_object_get(trace, "traceEvents"), 2);
    assert_string_equal(json_string_value(at(first, "name")), "[CUDA memcpy Host-to-Device]");
    assert_number(first, "ts", 0.1); /* the other rank began its window a little earlier */
    assert_true(json_is_true(at(first, "args.pinned")));
    const json_t *gemm = json_array_get(json_object_get(trace, "traceEvents"), 6);
    assert_string_equal(json_string_value(at(gemm, "name")), "gemm");
    assert_number(gemm, "ts", 1.6);
    assert_number(gemm, "tid", 13);
    json_decref(trace);
}

static void a_window_may_be_one_step(void **state) {
    (void)state;
    rt.profile = profile_open(&rt);
    profile_begin(rt.profile, 3);
    profile_end(rt.profile, 1);
    write_report();
    assert_text("report.txt", "\n* from a profiled window of 1 step, not");
}

static void traces_of_ranks_are_one(void **state) {
    (void)state;
    profiled_run();
    write_trace();
    json_t *trace = json_of("trace.json");
    const json_t *events = at(trace, "traceEvents");
    assert_int_equal(json_array_size(events), 2 + 6 + 1);
    assert_string_equal(json_string_value(at(json_array_get(events, 1), "args.name")),
                        "rank 0, an H100");
    assert_string_equal(json_string_value(at(json_array_get(events, 8), "name")), "of rank 1");
    assert_number(trace, "otherData.ranks", 2);
    assert_string_equal(json_string_value(at(trace, "otherData.spec_sha256")), "abc");
    assert_number(trace, "otherData.steps", 2);
    assert_int_equal(json_integer_value(json_array_get(at(trace, "otherData.window"), 0)), 3);
    assert_int_equal(json_integer_value(json_array_get(at(trace, "otherData.window"), 1)), 4);
    json_decref(trace);
}

/* Only streams that have records are rows. */
static void streams_are_named(void **state) {
    (void)state;
    rt.streams[RT_STREAM_SIDE] = (CUstream)13;
    rt.streams[RT_STREAM_COPY] = (CUstream)14;
    profiled_run();
    profile_know_streams(&rt);
    rt.streams[RT_STREAM_SIDE] = rt.streams[RT_STREAM_COPY] = NULL;
    write_trace();
    assert_text("trace.json", "{\"ph\": \"M\", \"pid\": 2, \"tid\": 13, \"name\": \"thread_name\", "
                              "\"args\": {\"name\": \"side\"}},\n");
    assert_no_text("trace.json", "\"tid\": 14");
    json_decref(json_of("trace.json"));
}

/* 1000 ns, of which 300 overlap other kernels: 100 the first gemm and 200 the second. */
static void collectives_have_times(void **state) {
    (void)state;
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 2200, 1000);
    profiled_run();
    write_report();
    json_t *r = json_of("report.json");
    assert_number(r, "collectives.all_reduce.ms", 750e-6); /* the other rank's took 500 ns */
    assert_number(r, "collectives.all_reduce.bus_gbs", 2); /* 1000 bytes in 500 ns */
    assert_number(r, "communication.ms", 500e-6);
    assert_number(r, "communication.exposed_ms", 350e-6);
    assert_number(r, "communication.overlapped_ms", 150e-6);
    assert_number(r, "imbalance.iteration", 1.0 / 3);
    assert_number(r, "imbalance.data_wait_ms", 3);
    assert_number(r, "imbalance.work", 0);
    assert_number(r, "kernels.launches", 70);
    assert_number(r, "all_ranks.kernels.launches", 140);
    assert_number(r, "all_ranks.copies.h2d.bytes", 896);
    assert_number(r, "all_ranks.syncs.count", 2);
    assert_number(r, "all_ranks.kernels.ms", 2 * json_number_value(at(r, "kernels.ms")));
    const json_t *other = json_array_get(at(r, "per_rank"), 1);
    assert_number(other, "rank", 1);
    assert_number(other, "iteration_ms", 6);
    assert_number(other, "work_ms", 450.5e-6);
    json_decref(r);
    assert_text("report.txt", " 33.3 %");
    assert_no_text("report.txt", "not measured");
}

/* Both ranks work half of the window's step. */
static void stages_wait_for_each_other(void **state) {
    (void)state;
    double unprofiled = times[2];
    profiled_run();
    times[2] = -2 * 450.5e-6;
    program.mesh[RT_AXIS_REPLICATE] = 0;
    program.mesh[RT_AXIS_PIPELINE] = 2;
    write_report();
    times[2] = unprofiled;
    json_t *r = json_of("report.json");
    assert_number(r, "bubble", 0.5);
    assert_number(r, "predicted.bubble", 0.125);
    json_decref(r);
    assert_text("report.txt", "bubble, share without work *                50.0 %, predicted        12.5 %\n");
}

static void collectives_without_a_window_are_not_measured(void **state) {
    (void)state;
    write_report();
    json_t *r = json_of("report.json");
    assert_true(json_is_null(at(r, "collectives.all_reduce.bus_gbs")));
    assert_true(json_is_null(at(r, "communication.exposed_ms")));
    assert_number(r, "imbalance.iteration", 1.0 / 3);
    json_decref(r);
    assert_text("report.txt", "Work and collectives of ranks were not measured");
    rt.ranks = 1;
    write_report();
    assert_no_text("report.json", "per_rank");
    assert_no_text("report.txt", "not measured");
}

static void memsets_of_graphs_are_no_kernels(void **state) {
    (void)state;
    kernel("memset32", 2600, 70);
    profiled_run();
    write_report();
    json_t *r = json_of("report.json");
    assert_number(r, "kernels.ms", 901e-6);
    assert_number(r, "memsets.ms", 70e-6);
    json_decref(r);
    write_trace();
    assert_text("cuda_gpu_mem_time_sum.csv", ",[CUDA memset]\n");
    assert_no_text("cuda_gpu_kern_sum.csv", "memset");
}

/* CUPTI does not tell the size of a graph's memsets. An unknown size is not one of 0 bytes. */
static void memsets_have_a_size_or_none(void **state) {
    (void)state;
    activities[activity_count++].set = (CUpti_ActivityMemset4){.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                                                               .start = 2400,
                                                               .end = 2450,
                                                               .bytes = 3000000};
    kernel("memset32", 2600, 70);
    profiled_run();
    write_trace();
    assert_text("cuda_gpu_mem_time_sum.csv", ",120,2,60.0,");
    assert_text("cuda_gpu_mem_size_sum.csv",
                "\n3.000000,1,3.000000,3.000000,3.000000,3.000000,0.000000,[CUDA memset]\n");
    assert_text("trace.json", "\"bytes\": 3000000}");
    assert_no_text("trace.json", "\"bytes\": 0}");
}

static void summaries_read_as_those_of_nsys(void **state) {
    (void)state;
    profiled_run();
    write_trace();
    assert_text("cuda_gpu_kern_sum.csv",
                "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev "
                "(ns),Name\n88.9,801,2,400.5,400.5,300.0,501.0,142.1,gemm\n"
                "11.1,100,1,100.0,100.0,100.0,100.0,0.0,\"norm, \"\"fast\"\"\"\n");
    assert_text("cuda_gpu_mem_time_sum.csv",
                "100.0,50,1,50.0,50.0,50.0,50.0,0.0,[CUDA memcpy Host-to-Device]\n");
    assert_text("cuda_gpu_mem_size_sum.csv", "\n2.000000,1,2.000000,");
    assert_text("cuda_api_sum.csv", "\n66.7,20,1,20.0,20.0,20.0,20.0,0.0,cuLaunchKernel\n");
    assert_text("cuda_api_sum.csv", ",unknown driver call\n");
}

static void profiling_stays_off(void **state) {
    (void)state;
    setenv("NSYS_PROFILING_SESSION_ID", "1", 1);
    assert_null(profile_open(&rt)); /* prints a line to stderr */
    unsetenv("NSYS_PROFILING_SESSION_ID");
    has_cupti = false;
    assert_null(profile_open(&rt));
    program.profiling.enabled = false;
    assert_null(profile_open(&rt));
    profile_begin(NULL, 1);
    profile_end(NULL, 1);
    assert_int_equal(profile_steps(NULL), 0);
    assert_true(isnan(profile_ms(NULL, PROFILE_KERNEL)));
}

static void a_removed_report_leaves_no_window(void **state) {
    (void)state;
    static const char *const names[] = {"report.json",
                                        "trace.json",
                                        "cuda_gpu_kern_sum.csv",
                                        "cuda_gpu_mem_time_sum.csv",
                                        "cuda_gpu_mem_size_sum.csv",
                                        "cuda_api_sum.csv"};
    char path[128];
    profiled_run();
    write_trace();
    report_remove(&rt);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", out_dir, names[i]);
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_text("report.txt", "steps 0 to 7");
}

static void an_empty_window_is_a_trace(void **state) {
    (void)state;
    rt.profile = profile_open(&rt);
    profile_begin(rt.profile, 3);
    profile_end(rt.profile, 1);
    write_trace();
    json_decref(json_of("trace.json"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(kernel_times_agree_everywhere),
        T(a_window_may_pause),
        T(events_lie_on_one_clock),
        T(a_window_may_be_one_step),
        T(traces_of_ranks_are_one),
        T(streams_are_named),
        T(collectives_have_times),
        T(stages_wait_for_each_other),
        T(collectives_without_a_window_are_not_measured),
        T(memsets_of_graphs_are_no_kernels),
        T(memsets_have_a_size_or_none),
        T(summaries_read_as_those_of_nsys),
        T(profiling_stays_off),
        T(a_removed_report_leaves_no_window),
        T(an_empty_window_is_a_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
