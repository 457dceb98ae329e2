/* The report and the profile's files, from a run with made-up figures and a CUPTI with known
 * records: every figure must be in its documented place, and sums must agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cupti.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/dynlib.h"
#include "runtime/comm/comm.h"
#include "runtime/data/data.h"
#include "runtime/device/driver.h"
#include "runtime/params/params.h"
#include "runtime/report/profile.h"
#include "runtime/report/report.h"
#include "runtime/report/report_ranks.h"

/* ---- a driver, a loader and a CUPTI ---------------------------------------------------------- */

static CUresult synchronize(void) { return CUDA_SUCCESS; }
Driver cu = {.CtxSynchronize = synchronize};

void driver_check(CUresult result, const char *call) {
    (void)call;
    assert_int_equal(result, CUDA_SUCCESS);
}

const LoaderFacts *loader_facts(const Loader *loader) {
    static const LoaderFacts facts = {.train_rows = 11, .train_samples = 12, .truncated = 3};
    (void)loader;
    return &facts;
}

double rt_learning_rate(const RtTraining *training, int64_t step) {
    (void)training;
    return 0.5 / (double)(step + 1);
}

/* The other rank is slower, its calls are shorter. */
void comm_gather(Rt *run, const void *mine, void *all, int bytes, const char *what) {
    (void)what;
    for (int r = 0; r < run->ranks; r++)
        memcpy((char *)all + r * bytes, mine, (size_t)bytes);
    if (run->ranks < 2)
        return;
    if (bytes == sizeof(RankFigures)) {
        RankFigures *other = (RankFigures *)all + 1;
        other->iteration_ms *= 2, other->data_wait_ms += 3, other->memory.measured += 40;
        other->window_origin -= 100;
        other->kind_ms[RT_ALL_REDUCE] *= 0.5;
    } else {
        *(double *)(void *)((char *)all + bytes) *= 0.5;
    }
}

static const char other_event[] = "{\"ph\": \"X\", \"pid\": 4, \"name\": \"of rank 1\"}";

void comm_receive(Rt *run, int from, void *values, int64_t bytes, const char *what) {
    int64_t size = sizeof other_event - 1;
    (void)run, (void)what, (void)from;
    memcpy(values, bytes == sizeof size ? (const void *)&size : other_event, (size_t)bytes);
}

void comm_send(Rt *run, int to, const void *values, int64_t bytes, const char *what) {
    (void)run, (void)to, (void)values, (void)bytes, (void)what;
    fail();
}

typedef union {
    CUpti_Activity any;
    CUpti_ActivityKernel9 kernel;
    CUpti_ActivityMemcpy5 copy;
    CUpti_ActivityMemset4 set;
    CUpti_ActivityAPI call;
} Activity;

static Activity activities[16];
static int activity_count, next_activity;
static int enabled;
static bool has_cupti;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;

static CUptiResult get_version(uint32_t *version) {
    *version = 130000;
    return CUPTI_SUCCESS;
}
static CUptiResult get_timestamp(uint64_t *now) {
    *now = 500;
    return CUPTI_SUCCESS;
}
static CUptiResult get_result_string(CUptiResult result, const char **text) {
    (void)result;
    *text = "an error";
    return CUPTI_SUCCESS;
}
static CUptiResult get_callback_name(CUpti_CallbackDomain domain, uint32_t id, const char **name) {
    (void)domain;
    *name = id == 7 ? "cuLaunchKernel" : NULL;
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
static CUptiResult register_callbacks(CUpti_BuffersCallbackRequestFunc on_request,
                                      CUpti_BuffersCallbackCompleteFunc on_complete) {
    request = on_request;
    complete = on_complete;
    return CUPTI_SUCCESS;
}
static CUptiResult enable(CUpti_ActivityKind kind) {
    (void)kind;
    enabled++;
    return CUPTI_SUCCESS;
}
static CUptiResult disable(CUpti_ActivityKind kind) {
    (void)kind;
    enabled--;
    return CUPTI_SUCCESS;
}
static CUptiResult get_next(uint8_t *buffer, size_t valid, CUpti_Activity **record) {
    (void)buffer, (void)valid;
    if (next_activity == activity_count)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = &activities[next_activity++].any;
    return CUPTI_SUCCESS;
}
static CUptiResult get_dropped(CUcontext context, uint32_t stream, size_t *dropped) {
    (void)context, (void)stream;
    *dropped = 0;
    return CUPTI_SUCCESS;
}
static CUptiResult flush(uint32_t flags) {
    uint8_t *buffer;
    size_t size, records;
    (void)flags;
    request(&buffer, &size, &records);
    complete(NULL, 0, buffer, size, size);
    return CUPTI_SUCCESS;
}

void *dynlib_open(Library library, char *error, size_t error_size) {
    assert_int_equal(library, LIB_CUPTI);
    snprintf(error, error_size, "no libcupti");
    return has_cupti ? &activities : NULL;
}

void *dynlib_symbol(Library library, const char *name) {
    static const struct {
        const char *name;
        void (*function)(void);
    } symbols[] = {
#define S(symbol, ours) {#symbol, (void (*)(void))ours}
        S(cuptiGetVersion, get_version),
        S(cuptiGetTimestamp, get_timestamp),
        S(cuptiGetResultString, get_result_string),
        S(cuptiGetCallbackName, get_callback_name),
        S(cuptiActivityRegisterCallbacks, register_callbacks),
        S(cuptiActivityEnable, enable),
        S(cuptiActivityDisable, disable),
        S(cuptiActivityFlushAll, flush),
        S(cuptiActivityGetNextRecord, get_next),
        S(cuptiActivityGetNumDroppedRecords, get_dropped),
    };
    assert_int_equal(library, LIB_CUPTI);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(symbols[i].name, name) == 0) {
            void *address;
            memcpy(&address, &symbols[i].function, sizeof address);
            return address;
        }
    return NULL;
}

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

/* ---- a run ----------------------------------------------------------------------------------- */

static char out_dir[64];
static RtProgram program;
static const RtPlannedExchange exchanges[] = {{"all_reduce", 2, 500}};
static double times[] = {90, 5, -70, 1, 3, 2, 4}; /* the negative one was profiled */
static float losses[] = {4, 3, 2.5f, 0.1f}, norms[] = {1, 2, 3, INFINITY};
static Rt rt;

static int setup(void **state) {
    (void)state;
    strcpy(out_dir, "/tmp/test_report_XXXXXX");
    if (!mkdtemp(out_dir))
        return -1;
    program = (RtProgram){
        .name = "test",
        .spec_sha256 = "abc",
        .recipe_sha256 = "fed",
        .generator = "gpuopt-gen 0",
        .real = RT_F32,
        .precision = "fp32",
        .arena_bytes = {1000, 200, 30},
        .training = {.batch = 1,
                     .seq_len = 10,
                     .micro_steps = 3,
                     .unit = {"tokens", "tok", "tokens_per_s"}},
        .profiling = {.enabled = true, .trace = true},
        .predicted = {.device = "h100-sxm",
                      .iteration_ms = 1.5,
                      .arena_bytes = 1260,
                      .flops = 6e9,
                      .peak_flops = 1e13,
                      .h2d_bytes = 64,
                      .kernel_launches = 10,
                      .exchanges = exchanges,
                      .exchange_count = 1},
    };
    rt = (Rt){.program = &program,
              .ranks = 2,
              .data_ranks = 2, .card_count = 1,
              .options = {.out_dir = out_dir, .data_sha256 = "cafe"},
              .device = {.name = "an H100", .driver_version = 13000},
              .numa = {.node = 1},
              .losses = losses,
              .grad_norms = norms,
              .known_steps = 4,
              .step = 7};
    rt.measured = (RtMeasured){.steps = 7,
                               .iteration_ms = times,
                               .launches = 70,
                               .graph_launches = 21,
                               .launch_ms = 0.25,
                               .copies = {{.count = 21, .bytes = 448, .pinned = 21}},
                               .syncs = 1,
                               .collectives = {[RT_ALL_REDUCE] = {14, 3500, 3500}},
                               .data_wait_ms = 14,
                               .copy_ms = 0.5,
                               .compute_ms = 2.75,
                               .before = {.loss = 5.5},
                               .after = {.loss = NAN}};
    has_cupti = true;
    enabled = next_activity = activity_count = 0;
    unsetenv("NSYS_PROFILING_SESSION_ID");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char command[128];
    profile_close(rt.profile);
    ranks_free(&rt);
    snprintf(command, sizeof command, "rm -rf %s", out_dir);
    return system(command);
}

static void write_report(void) {
    ranks_free(&rt);
    ranks_gather(&rt);
    report_write(&rt);
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
    profile_begin(rt.profile);
    assert_int_equal(enabled, 5);
    profile_end(rt.profile, 2);
    assert_int_equal(enabled, 0);
}

static json_t *json_of(const char *name) {
    char path[128];
    json_error_t error;
    snprintf(path, sizeof path, "%s/%s", out_dir, name);
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        fail_msg("%s: %d: %s", path, error.line, error.text);
    return root;
}

/* "a.b.c" */
static const json_t *at(const json_t *root, const char *path) {
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key; root && (key = strsep(&rest, "."));)
        root = json_object_get(root, key);
    if (!root)
        fail_msg("report.json lacks %s", path);
    return root;
}

static void assert_number(const json_t *root, const char *path, double expected) {
    double value = json_number_value(at(root, path));
    if (!json_is_number(at(root, path)) || fabs(value - expected) > 1e-9 * fabs(expected))
        fail_msg("%s is %g, not %g", path, value, expected);
}

static void assert_text(const char *name, const char *expected) {
    char path[128], text[4096];
    snprintf(path, sizeof path, "%s/%s", out_dir, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (!strstr(text, expected))
        fail_msg("%s: expected \"%s\" in \"%s\"", name, expected, text);
}

static void assert_no_text(const char *name, const char *unwanted) {
    char path[128], text[4096];
    snprintf(path, sizeof path, "%s/%s", out_dir, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (strstr(text, unwanted))
        fail_msg("%s: \"%s\" in \"%s\"", name, unwanted, text);
}

/* ---- the report ------------------------------------------------------------------------------ */

static void measured_figures_are_reported(void **state) {
    (void)state;
    write_report();
    json_t *r = json_of("report.json");
    assert_string_equal(json_string_value(at(r, "experiment")), "test");
    assert_string_equal(json_string_value(at(r, "recipe_sha256")), "fed");
    assert_string_equal(json_string_value(at(r, "data_sha256")), "cafe");
    assert_string_equal(json_string_value(at(r, "device.name")), "an H100");
    assert_true(json_is_false(at(r, "device.simulated")));
    assert_string_equal(json_string_value(at(r, "versions.driver")), "13.0");
    assert_number(r, "steps", 7);
    assert_number(r, "iteration_ms.median", 3);
    assert_number(r, "iteration_ms.p10", 1.4);
    assert_number(r, "iteration_ms.p90", 4.6);
    assert_number(r, "iteration_ms.first", 90);
    assert_number(r, "tokens_per_s", 20000);
    assert_number(r, "ranks", 2);
    assert_number(r, "collectives.all_reduce.count", 14);
    assert_number(r, "collectives.all_reduce.bytes", 3500);
    assert_number(r, "predicted.collectives.all_reduce.count", 14);
    assert_number(r, "predicted.collectives.all_reduce.bytes", 3500);
    assert_number(r, "kernels.launches", 70);
    assert_number(r, "graphs.launches", 21);
    assert_number(r, "copies.h2d.bytes", 448);
    assert_number(r, "memory.measured_peak_bytes", 1300);
    assert_number(r, "loss.first", 4);
    assert_number(r, "loss.heldout_before", 5.5);
    assert_number(r, "flops.share_of_peak", 0.2);
    assert_number(r, "predicted.kernels.launches", 70);
    assert_number(r, "predicted.copies.h2d.bytes", 448);
    assert_number(r, "data.truncated", 3);
    assert_number(r, "feeding.data_wait_ms", 2);
    assert_number(r, "feeding.copy_ms", 0.5);
    assert_number(r, "feeding.compute_ms", 2.75);
    assert_number(r, "data.device_samples", 0);
    assert_number(r, "numa.node", 1);
    assert_true(json_is_null(at(r, "numa.not_bound")));
    json_decref(r);
    assert_text("report.txt", "kernel launches a step                           10.0");
    assert_text("report.txt", "all_reduce a step, bytes                          500                500");
    assert_text("report.txt", "iteration, median ms                            3.000");
    assert_text("report.txt", "waiting for data a step, host ms                2.000");
    assert_text("report.txt", "bound by                                      compute");
    assert_text("report.txt", "host memory of input copies                  pageable");
    assert_text("report.txt", "Threads and host memory: on NUMA node 1.");
    assert_text("report.txt", "samples cut                                         3");
    program.data.pairs = &(const RtPairs){0};
    write_report();
    assert_text("report.txt", "pairs cut                                           3");
}

static void the_longest_binds(void **state) {
    (void)state;
    static const char *const names[] = {"data", "copy", "compute"};
    for (int i = 0; i < 3; i++) {
        rt.measured.data_wait_ms = 7 * (i == 0 ? 5 : 1); /* of 7 steps */
        rt.measured.copy_ms = i == 1 ? 5 : 2;
        rt.measured.compute_ms = i == 2 ? 5 : 3;
        write_report();
        json_t *r = json_of("report.json");
        assert_string_equal(json_string_value(at(r, "feeding.bound_by")), names[i]);
        json_decref(r);
    }
}

static void an_unbound_host_says_why(void **state) {
    (void)state;
    rt.numa = (Numa){.node = -1, .why = "it is too far"};
    program.data.pin_memory = true;
    write_report();
    json_t *r = json_of("report.json");
    assert_true(json_is_null(at(r, "numa.node")));
    assert_string_equal(json_string_value(at(r, "numa.not_bound")), "it is too far");
    assert_string_equal(json_string_value(at(r, "feeding.host_memory")), "pinned");
    json_decref(r);
    assert_text("report.txt", "Threads and host memory: not bound to a NUMA node: it is too far.");
}

static void what_was_not_measured_is_null(void **state) {
    (void)state;
    static const char *const nulls[] = {
        "loss.heldout_after", "kernels.ms",     "copies.h2d.ms", "memory.process_peak_bytes",
        "profiling_window",   "versions.cupti", "versions.nvrtc"};
    write_report();
    json_t *r = json_of("report.json");
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        assert_true(json_is_null(at(r, nulls[i])));
    json_decref(r);
}

static void a_run_without_steps_has_no_times(void **state) {
    (void)state;
    rt.measured = (RtMeasured){.before = {.loss = 5.5}, .after = {.loss = NAN}};
    rt.known_steps = 0;
    write_report();
    json_t *r = json_of("report.json");
    assert_true(json_is_null(at(r, "iteration_ms.median")) && json_is_null(at(r, "loss.last")) &&
                json_is_null(at(r, "iteration_ms.first")));
    json_decref(r);
}

static void a_simulated_run_says_so(void **state) {
    (void)state;
    rt.device.simulated = true;
    write_report();
    json_t *r = json_of("report.json");
    assert_true(json_is_true(at(r, "device.simulated")));
    assert_true(json_is_null(at(r, "flops.share_of_peak")));
    json_decref(r);
    assert_text("report.txt", "on an H100, simulated");
    assert_text("report.txt", "its times say nothing about a GPU");
    assert_text("report.txt", "iteration, median ms                            3.000"
                              "                  -\n"); /* no prediction */
}

static void no_footnote_without_a_window(void **state) {
    (void)state;
    write_report();
    assert_no_text("report.txt", "*");
}

static void evaluations_are_reported(void **state) {
    (void)state;
    static const RtMetric metrics[] = {{.name = "top1"}, {.name = "top5", .offset = 4}};
    RtEvaluation done[] = {
        {0, 5.5, {0.125, 0.5}, 0}, {4, 2.5, {0.25, 0.75}, 0}, {7, 1.5, {0.5, 1}, 96}};
    program.metrics = metrics;
    program.metric_count = 2;
    program.training.unit = (RtUnit){"images", "images", "samples_per_s"};
    rt.evaluations = done;
    rt.evaluation_count = 3;
    rt.measured.before = done[0];
    rt.measured.after = done[2];
    write_report();
    json_t *r = json_of("report.json");
    assert_number(r, "accuracy.before.top1", 0.125);
    assert_number(r, "accuracy.after.top5", 1);
    assert_number(r, "loss.heldout_after", 1.5);
    assert_number(r, "samples_per_s", 20000);
    assert_null(json_object_get(r, "tokens_per_s"));
    const json_t *second = json_array_get(at(r, "evaluations"), 1);
    assert_number(second, "step", 4);
    assert_number(second, "loss", 2.5);
    assert_number(second, "top1", 0.25);
    json_decref(r);
    assert_text("eval.csv", "step,loss,top1,top5\n0,5.5,0.125,0.5\n4,2.5,0.25,0.75\n7,1.5,0.5,1\n");
    assert_text("report.txt", "held-out top1 before                         0.125000");
    assert_text("report.txt", "held-out top5 after                          1.000000");
    assert_text("report.txt", "held-out images                                    96");
    assert_text("report.txt", "images a second                                 20000");
}

static void the_loss_scale_is_reported(void **state) {
    (void)state;
    static const RtLossScale scale = {0, 4, 8, 65536};
    write_report();
    json_t *without = json_of("report.json");
    assert_null(json_object_get(without, "loss_scale"));
    json_decref(without);
    program.loss_scale = &scale;
    rt.measured.loss_scale = 1024;
    rt.measured.skipped_steps = 3;
    write_report();
    json_t *r = json_of("report.json");
    assert_number(r, "loss_scale.final", 1024);
    assert_number(r, "loss_scale.skipped_steps", 3);
    json_decref(r);
    assert_text("report.txt", "steps without an update                             3");
}

static void losses_are_listed_by_step(void **state) {
    (void)state;
    write_report();
    assert_text("loss.csv", "step,loss,grad_norm,lr\n1,4,1,0.5\n2,3,2,0.25\n3,2.5,3,0.166666667\n");
    assert_text("loss.csv", "\n4,0.100000001,inf,0.125\n");
}

/* ---- the profile ----------------------------------------------------------------------------- */

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
    assert_number(r, "profiling_window.records", 6);
    json_decref(r);
    json_decref(trace);
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
    json_decref(trace);
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
    profile_begin(NULL);
    profile_end(NULL, 1);
    assert_int_equal(profile_steps(NULL), 0);
    assert_true(isnan(profile_ms(NULL, PROFILE_KERNEL)));
}

static void an_empty_window_is_a_trace(void **state) {
    (void)state;
    rt.profile = profile_open(&rt);
    profile_begin(rt.profile);
    profile_end(rt.profile, 1);
    write_trace();
    json_decref(json_of("trace.json"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(measured_figures_are_reported),
        T(the_longest_binds),
        T(an_unbound_host_says_why),
        T(what_was_not_measured_is_null),
        T(a_run_without_steps_has_no_times),
        T(a_simulated_run_says_so),
        T(no_footnote_without_a_window),
        T(evaluations_are_reported),
        T(the_loss_scale_is_reported),
        T(losses_are_listed_by_step),
        T(kernel_times_agree_everywhere),
        T(events_lie_on_one_clock),
        T(traces_of_ranks_are_one),
        T(collectives_have_times),
        T(collectives_without_a_window_are_not_measured),
        T(summaries_read_as_those_of_nsys),
        T(profiling_stays_off),
        T(an_empty_window_is_a_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
