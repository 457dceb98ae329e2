/* A run with made-up figures, and a driver, a loader and a CUPTI with known records. For test_report.c
 * and test_profile.c. */
#ifndef REPORT_RUN_H
#define REPORT_RUN_H

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
#include "runtime/device/device.h"
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
    static const LoaderFacts facts = {.train_rows = 11, .epoch_rows = 11, .train_samples = 12,
                                      .truncated = 3, .mean_tokens = 5};
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
        other->iteration_ms *= 2, other->data_wait_ms += 3, other->memory.allocated += 40;
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
static CUptiResult get_stream_id(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id) {
    (void)context, (void)per_thread;
    *id = (uint32_t)(uintptr_t)stream;
    return stream ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM;
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

static int nvml_init(void) { return 0; }
static int nvml_finds = 0; /* or an error */
static int nvml_find(const char *bus_id, void **device) {
    (void)bus_id;
    *device = &activities;
    return nvml_finds;
}
static int nvml_memory(void *device, unsigned long long memory[3]) {
    (void)device;
    memory[2] = 100;
    return 0;
}
static int nvml_driver(char *version, unsigned length) {
    snprintf(version, length, "580.65.06");
    return 0;
}

void *dynlib_open(Library library, char *error, size_t error_size) {
    if (library == LIB_NVML)
        return &activities;
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
        S(cuptiGetStreamIdEx, get_stream_id),
        S(cuptiActivityRegisterCallbacks, register_callbacks),
        S(cuptiActivityEnable, enable),
        S(cuptiActivityDisable, disable),
        S(cuptiActivityFlushAll, flush),
        S(cuptiActivityGetNextRecord, get_next),
        S(cuptiActivityGetNumDroppedRecords, get_dropped),
        S(nvmlInit_v2, nvml_init),
        S(nvmlDeviceGetHandleByPciBusId_v2, nvml_find),
        S(nvmlDeviceGetMemoryInfo, nvml_memory),
        S(nvmlSystemGetDriverVersion, nvml_driver),
    };
    assert_true(library == LIB_CUPTI || library == LIB_NVML);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(symbols[i].name, name) == 0) {
            void *address;
            memcpy(&address, &symbols[i].function, sizeof address);
            return address;
        }
    return NULL;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Rows are padded; the last one is no parameter. */
static const RtParam params[] = {
    {.name = "w", .rank = 2, .shape = {3, 5}, .row_stride = 8, .trained = true},
    {.name = "b", .rank = 1, .shape = {7}, .row_stride = 8},
    {.name = "running_mean", .rank = 1, .shape = {4}, .row_stride = 4, .buffer = true}};

static char out_dir[64];
static RtProgram program;
static const RtPlannedExchange exchanges[] = {{"all_reduce", 2, 500}};
static double times[] = {90, 5, -70, 1, 3, 2, 4}; /* the negative one was profiled */
static float losses[] = {4, 3, 2.5f, 0.1f}, norms[] = {1, 2, 3, INFINITY};
static double rates[] = {0.5, 0.25, 0.75, 0.0625};
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
        .mesh = {[RT_AXIS_REPLICATE] = 2},
        .params = params,
        .param_count = sizeof params / sizeof *params,
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
                      .graph_launches = 3,
                      .exposed_ms = 0.25,
                      .bubble = 0.125,
                      .exchanges = exchanges,
                      .exchange_count = 1},
    };
    rt = (Rt){.program = &program,
              .ranks = 2,
              .data_ranks = 2, .card_count = 1,
              .options = {.out_dir = out_dir, .seed = 9},
              .data_sha256 = "cafe",
              .device = {.name = "an H100", .driver_version = 13000},
              .numa = {.node = 1},
              .losses = losses,
              .grad_norms = norms,
              .rates = rates,
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
                               .load_ms = 1500,
                               .train_ms = 62300,
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

static json_t *json_of(const char *name) {
    char path[128];
    json_error_t error;
    snprintf(path, sizeof path, "%s/%s", out_dir, name);
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        fail_msg("%s: %d: %s", path, error.line, error.text);
    return root;
}

/* "a.b.c"; returns NULL if there is no such figure. */
static const json_t *find(const json_t *root, const char *path) {
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key; root && (key = strsep(&rest, "."));)
        root = json_object_get(root, key);
    return root;
}

static const json_t *at(const json_t *root, const char *path) {
    const json_t *found = find(root, path);
    if (!found)
        fail_msg("report.json lacks %s", path);
    return found;
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

#endif
