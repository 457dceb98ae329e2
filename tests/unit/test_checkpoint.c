/* Checkpoints and exports on a device that is an array: saved state is restored bit for bit,
 * damaged files are refused by name, and a full disk loses only the new checkpoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/checkpoint_meta.h"
#include "runtime/checkpoint/export.h"
#include "runtime/checkpoint/gather.h"
#include "runtime/comm/comm.h"
#include "runtime/data/data.h"
#include "runtime/device/device.h"
#include "runtime/device/launch.h"
#include "runtime/params/params.h"
#include "tests/unit/child.h"
#include "tests/unit/no_device.h"

/* ---- a device of host memory, and a run on it ------------------------------------------------ */

enum { STATE_BYTES = 2048, STEPS = 20 };

static unsigned char device_state[STATE_BYTES];
static LoaderFacts facts;

/* With one rank nothing is sent. */
_Noreturn void comm_send(Rt *rt, int to, const void *values, int64_t bytes, const char *what) {
    (void)rt, (void)to, (void)values, (void)bytes, (void)what;
    abort();
}

_Noreturn void comm_receive(Rt *rt, int from, void *values, int64_t bytes, const char *what) {
    (void)rt, (void)from, (void)values, (void)bytes, (void)what;
    abort();
}

void rt_read_state(Rt *rt, size_t offset, size_t bytes, void *host) {
    (void)rt;
    assert_true(offset + bytes <= STATE_BYTES);
    memcpy(host, device_state + offset, bytes);
}

void rt_write_state(Rt *rt, size_t offset, size_t bytes, const void *host) {
    (void)rt;
    assert_true(offset + bytes <= STATE_BYTES);
    memcpy(device_state + offset, host, bytes);
}

int gemm_algorithm(const Rt *rt, int gemm) {
    (void)rt;
    return gemm;
}

const LoaderFacts *loader_facts(const Loader *loader) {
    (void)loader;
    return &facts;
}

/* One rank has all tensors already. */
bool tensors_gather(Rt *rt, OutTensor **tensors, int *count) {
    (void)rt;
    return !*tensors || *count < 0;
}

void comm_broadcast(Rt *rt, void *values, int bytes, const char *what) {
    (void)rt;
    (void)values;
    fail_msg("%d bytes of %s are nobody else's", bytes, what);
}

#define DENSE(n) .rank = 1, .shape = {n}, .row_stride = n
#define NONE .gradient = RT_NOWHERE, .exp_avg = RT_NOWHERE, .exp_avg_sq = RT_NOWHERE

/* `adapter` is in the columns after `base`: rows of 4 + 2 16-bit elements. */
static RtParam params[] = {
    {"base", 2, {3, 4}, 6, RT_BF16, RT_F32, 0, RT_NOWHERE, NONE},
    {"adapter",
     2,
     {3, 2},
     6,
     RT_BF16,
     RT_F32,
     8,
     64,
     .gradient = 128,
     .exp_avg = 192,
     .exp_avg_sq = 256,
     .trained = true,
     .adapter = true},
    {"norm", DENSE(5), RT_F32, RT_F32, 320, RT_NOWHERE, .gradient = 384, .exp_avg = 448,
     .exp_avg_sq = 512, .trained = true, .adapter = true},
    {"conv",
     4,
     {3, 2, 1, 2},
     2,
     RT_F32,
     RT_F32,
     576,
     RT_NOWHERE,
     .gradient = 640,
     .exp_avg = 704,
     .exp_avg_sq = 768,
     .trained = true,
     .split = {3, 2, 1, 2},
     .order = {0, 2, 3, 1},
     .cols = 2},
    {"mean", DENSE(5), RT_F32, RT_F32, 832, RT_NOWHERE, NONE, .buffer = true},
};

static RtProgram program = {
    .name = "test",
    .spec_sha256 = "abc",
    .recipe_sha256 = "fed",
    .generator = "gpuopt-gen 0",
    .real = RT_F32,
    .params = params,
    .param_count = 5,
    .counters = {.step = 1024, .applied = 1028, .bad_step = 1032, .loss = 1100, .grad_norm = 1200},
    .training = {.steps = STEPS, .batch = 3, .micro_steps = 2},
    .checkpoint = {.keep_latest_k = 2,
                   .export_model = true,
                   .config_json = "{}\n",
                   .adapter_json = "{\"r\": 2}\n"},
};

static char out_dir[64];
static float losses[STEPS], grad_norms[STEPS];
static Rt rt;

static void fresh_run(void) {
    memset(&rt, 0, sizeof rt);
    rt.program = &program;
    rt.ranks = rt.data_ranks = rt.card_count = 1;
    rt.options.out_dir = out_dir;
    strcpy(rt.data_sha256, "cafe");
    rt.options.seed = 3;
    rt.losses = losses;
    rt.grad_norms = grad_norms;
    strcpy(rt.device.name, "an array");
    facts = (LoaderFacts){.fingerprint = 77};
    for (int i = 0; i < STATE_BYTES; i++)
        device_state[i] = (unsigned char)(i * 7 + 1);
    /* masters hold values whose 16-bit copies are exact, as after an update */
    const float masters[6] = {1, -2, 3, 0.5f, -0.25f, 8};
    RtParam *adapter = &params[1];
    param_write(&rt, adapter, masters);
    const int32_t none = -1;
    rt_write_state(&rt, program.counters.bad_step, sizeof none, &none);
}

/* Sets the state to that after `step` steps. */
static void train_to(int step) {
    const int32_t applied = step - 1;
    rt.step = rt.known_steps = step;
    for (int i = 0; i < step; i++) {
        losses[i] = 10.0f / (float)(i + 1);
        grad_norms[i] = (float)i;
    }
    rt_write_state(&rt, program.counters.step, sizeof step, &step);
    rt_write_state(&rt, program.counters.applied, sizeof applied, &applied);
    rt_write_state(&rt, program.counters.loss, sizeof *losses * (size_t)step, losses);
    rt_write_state(&rt, program.counters.grad_norm, sizeof *losses * (size_t)step, grad_norms);
    const float norm[5] = {(float)step, 2, 3, 4, 5};
    param_write(&rt, &params[2], norm);
}

static int make_folder(void **state) {
    (void)state;
    strcpy(out_dir, "/tmp/test_checkpoint_XXXXXX");
    if (!mkdtemp(out_dir))
        return -1;
    fresh_run();
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", out_dir);
    return system(command);
}

/* ---- helpers --------------------------------------------------------------------------------- */

static const char *in_out(const char *name) {
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", out_dir, name);
    return path;
}

static bool exists(const char *name) { return access(in_out(name), F_OK) == 0; }

static void load(void) { checkpoint_load(&rt, NULL); }
static void save(void) { checkpoint_save(&rt); }

static char answer[4096];

typedef struct {
    void (*run)(void);
} Call;

static void call(const void *argument) { ((const Call *)argument)->run(); }

/* Runs a function that may exit in a child process; returns its exit status, keeps its messages. */
static int run_apart(void (*run)(void)) {
    int status = child_run(call, &(Call){run}, answer, sizeof answer);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void assert_refused(void (*run)(void), const char *expected) {
    int status = run_apart(run);
    if (status != 1 || strncmp(answer, "error: ", 7) != 0 || !strstr(answer, expected))
        fail_msg("expected \"%s\" and exit 1, got \"%s\" and %d", expected, answer, status);
}

static unsigned char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 16);
    *size = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- saving and restoring -------------------------------------------------------------------- */

static void a_checkpoint_restores_every_bit(void **state) {
    (void)state;
    unsigned char before[STATE_BYTES];
    train_to(5);
    memcpy(before, device_state, sizeof before);
    checkpoint_save(&rt);
    /* a new process: only the frozen parameter and the gradients are as before */
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++)
            device_state[i * 12 + 8 + k] = 0xee;
    memset(device_state + 64, 0xee, 64);
    memset(device_state + 192, 0xee, 128 + 64);
    memset(device_state + 448, 0xee, 128 + 64);
    memset(device_state + 704, 0xee, 128 + 20);
    memset(device_state + 1024, 0xee, 1024);
    memset(losses, 0, sizeof losses);
    rt.step = rt.known_steps = 0;
    checkpoint_load(&rt, NULL);
    assert_int_equal(rt.step, 5);
    assert_int_equal(rt.step_at_start, 5);
    assert_int_equal(rt.known_steps, 5);
    assert_true(losses[4] == 2.0f && grad_norms[4] == 4.0f);
    static const struct {
        size_t at, bytes;
    } live[] = {{0, 36},   {64, 24},  {192, 24}, {256, 24}, {320, 20},  {448, 20},  {512, 20},
                {576, 48}, {704, 48}, {768, 48}, {832, 20}, {1024, 12}, {1100, 20}, {1200, 20}};
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        assert_memory_equal(device_state + live[i].at, before + live[i].at, live[i].bytes);
}

/* Files have [O, I, k, k], memory [O, k, k, I]; the same holds for moments. */
static void a_checkpoint_has_the_order_of_the_file(void **state) {
    (void)state;
    char error[256];
    train_to(5);
    checkpoint_save(&rt);
    StFile *file = st_open(in_out("checkpoints/step_5/state.safetensors"), error, sizeof error);
    assert_non_null(file);
    const struct {
        const char *name;
        size_t at;
    } tensors[] = {{"conv", 576}, {"conv.exp_avg", 704}, {"conv.exp_avg_sq", 768}};
    for (int t = 0; t < 3; t++) {
        const StTensor *tensor = st_find(file, tensors[t].name);
        assert_int_equal(tensor->rank, 4);
        for (int o = 0; o < 3; o++)
            for (int i = 0; i < 2; i++)
                for (int x = 0; x < 2; x++) {
                    const unsigned char *memory = device_state + tensors[t].at;
                    const unsigned char *saved = tensor->data;
                    assert_memory_equal(saved + 4 * (o * 4 + i * 2 + x),
                                        memory + 4 * (o * 4 + x * 2 + i), 4);
                }
    }
    st_close(file);
}

static void the_loss_scale_comes_back(void **state) {
    (void)state;
    static const RtLossScale scale = {1900, 1904, 1908, 65536};
    const float value = 0x1p-7f;
    const int32_t tracker = 1234, skipped = 56;
    unsigned char before[12];
    program.loss_scale = &scale;
    train_to(5);
    rt_write_state(&rt, scale.scale, sizeof value, &value);
    rt_write_state(&rt, scale.growth_tracker, sizeof tracker, &tracker);
    rt_write_state(&rt, scale.skipped_steps, sizeof skipped, &skipped);
    memcpy(before, device_state + 1900, sizeof before);
    checkpoint_save(&rt);
    memset(device_state + 1900, 0xee, sizeof before);
    checkpoint_load(&rt, NULL);
    program.loss_scale = NULL;
    assert_memory_equal(device_state + 1900, before, sizeof before);
}

static void evaluations_come_back(void **state) {
    (void)state;
    static const RtMetric metrics[] = {{.name = "top1"}, {.name = "top5", .offset = 4}};
    RtEvaluation done[] = {{0, 2.302585092994046, {0.1, 0.5}, 0},
                           {4, 1.0 / 3.0, {0.7, (double)NAN}, 0}};
    program.metrics = metrics;
    program.metric_count = 2;
    rt.evaluations = done;
    rt.evaluation_count = 2;
    train_to(5);
    checkpoint_save(&rt);
    rt.evaluations = NULL;
    rt.evaluation_count = 0;
    checkpoint_load(&rt, NULL);
    assert_int_equal(rt.evaluation_count, 2);
    assert_int_equal(rt.evaluations[1].step, 4);
    assert_true(rt.evaluations[0].loss == done[0].loss && rt.evaluations[1].loss == done[1].loss);
    assert_true(rt.evaluations[0].metrics[1] == 0.5 && rt.evaluations[1].metrics[0] == 0.7);
    assert_true(isnan(rt.evaluations[1].metrics[1]));
    free(rt.evaluations);
    program.metric_count = 0;
}

static int saved_step(void) {
    checkpoint_load(&rt, NULL);
    return (int)rt.step;
}

static void the_latest_saves_are_kept(void **state) {
    (void)state;
    for (int step = 1; step <= 9; step += 4) {
        train_to(step);
        checkpoint_save(&rt);
    }
    assert_false(exists("checkpoints/step_1"));
    assert_true(exists("checkpoints/step_5") && exists("checkpoints/step_9"));
    /* a run that starts again in the same folder: its early steps are newer than the old late ones
     */
    train_to(2);
    checkpoint_save(&rt);
    assert_true(exists("checkpoints/step_2") && exists("checkpoints/step_9"));
    assert_false(exists("checkpoints/step_5"));
    assert_int_equal(saved_step(), 2);
    checkpoint_load(&rt, in_out("checkpoints/step_9"));
    assert_int_equal(rt.step, 9);
}

static void the_same_step_is_replaced(void **state) {
    (void)state;
    train_to(5);
    checkpoint_save(&rt);
    losses[4] = 123;
    checkpoint_save(&rt);
    losses[4] = 0;
    assert_int_equal(saved_step(), 5);
    assert_true(losses[4] == 123);
    assert_false(exists("checkpoints/.replaced") || exists("checkpoints/.writing"));
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void a_flipped_bit_is_refused(void **state) {
    (void)state;
    static const char *const files[] = {"checkpoints/step_5/state.safetensors",
                                        "checkpoints/step_5/meta.json"};
    train_to(5);
    checkpoint_save(&rt);
    for (int f = 0; f < 2; f++) {
        size_t size;
        unsigned char *bytes = read_file(in_out(files[f]), &size);
        for (size_t i = 0; i < size; i += 5) {
            unsigned char whole = bytes[i];
            bytes[i] ^= (unsigned char)(1 << i % 8);
            write_file(in_out(files[f]), bytes, size);
            bool is_space = f == 1 && strchr(" \n", whole); /* JSON's white space has no meaning */
            if (!is_space)
                assert_refused(load, f ? "meta.json: " : "is damaged: its checksum is ");
            bytes[i] = whole;
        }
        write_file(in_out(files[f]), bytes, size);
        free(bytes);
    }
    assert_int_equal(run_apart(load), 0);
}

static void a_truncated_file_is_refused(void **state) {
    (void)state;
    train_to(5);
    checkpoint_save(&rt);
    assert_int_equal(truncate(in_out("checkpoints/step_5/state.safetensors"), 100), 0);
    assert_refused(load, "state.safetensors: is damaged: it has 100 bytes");
    unlink(in_out("checkpoints/step_5/state.safetensors"));
    assert_refused(load, "state.safetensors: No such file");
    assert_int_equal(truncate(in_out("checkpoints/step_5/meta.json"), 50), 0);
    assert_refused(load, "meta.json: is damaged");
    unlink(in_out("checkpoints/step_5/meta.json"));
    assert_refused(load, "meta.json: cannot be read");
}

static void a_damaged_checkpoint_is_passed_over(void **state) {
    (void)state;
    for (int step = 5; step <= 7; step += 2) {
        train_to(step);
        checkpoint_save(&rt);
    }
    assert_int_equal(run_apart(load), 0);
    assert_string_equal(answer, "");
    assert_int_equal(truncate(in_out("checkpoints/step_7/state.safetensors"), 100), 0);
    assert_int_equal(run_apart(load), 0);
    assert_non_null(strstr(answer, "step_7/state.safetensors: is damaged"));
    assert_non_null(strstr(answer, "step_5: resuming from step 5"));
    unlink(in_out("checkpoints/step_7/meta.json"));
    assert_int_equal(run_apart(load), 0);
    assert_non_null(strstr(answer, "step_7/meta.json: cannot be read"));
    fresh_run();
    load();
    assert_int_equal(rt.step, 5);
    unlink(in_out("checkpoints/step_5/state.safetensors"));
    assert_int_equal(run_apart(load), 1);
    assert_non_null(strstr(answer, "error: "));
}

static void no_checkpoint_is_said(void **state) {
    (void)state;
    assert_refused(load, "has no checkpoint to resume from; leave out --resume");
}

static void load_as_another_program(void) {
    params[2].name = "other";
    load();
}
static void load_with_another_shape(void) {
    params[2].shape[0] = 4;
    load();
}
static void load_with_another_type(void) {
    params[2].dtype = RT_BF16;
    load();
}
static void load_into_a_short_run(void) {
    program.training.steps = 4;
    load();
}
static void load_with_another_seed(void) {
    rt.options.seed = 4;
    load();
}
static void load_on_other_frozen_weights(void) {
    device_state[1] ^= 1;
    rt.frozen_crc32 = 0;
    note_frozen(&rt);
    load();
}
static void load_of_another_version(void) {
    CheckpointMeta meta;
    char error[256];
    assert_true(meta_read(&meta, in_out("checkpoints/step_5"), error, sizeof error));
    meta.version = 1;
    assert_true(meta_write(&meta, in_out("checkpoints/step_5"), error, sizeof error));
    load();
}

static void another_run_is_refused(void **state) {
    (void)state;
    train_to(5);
    note_frozen(&rt);
    checkpoint_save(&rt);
    assert_refused(load_as_another_program, "lacks the tensor other");
    assert_refused(load_with_another_shape,
                   "tensor norm is F32 [5], but this program needs F32 [4]");
    assert_refused(load_with_another_type, "tensor norm is F32 [5], but this program needs BF16");
    assert_refused(load_into_a_short_run, "is of step 5, but training.steps is 4");
    assert_refused(load_with_another_seed, "was trained with seed 3, not 4; resume with --seed 3");
    assert_refused(load_on_other_frozen_weights, "was trained on other frozen weights");
    assert_refused(load_of_another_version, "has version 1; this program reads version 2");
}

static void load_on_another_device(void) {
    strcpy(rt.device.name, "a slice");
    facts.fingerprint++;
    program.recipe_sha256 = "def";
    load();
}
/* The weights come out the same, for example with another training.log_every. */
static void load_with_the_same_recipe(void) {
    program.spec_sha256 = "def";
    load();
}

static void other_circumstances_are_warned_of(void **state) {
    (void)state;
    train_to(5);
    checkpoint_save(&rt);
    assert_int_equal(run_apart(load), 0);
    assert_string_equal(answer, "");
    assert_int_equal(run_apart(load_with_the_same_recipe), 0);
    assert_string_equal(answer, "");
    assert_int_equal(run_apart(load_on_another_device), 0);
    assert_non_null(strstr(answer, "the spec has changed"));
    assert_non_null(strstr(answer, "leave out --resume to start from scratch"));
    assert_non_null(strstr(answer, "the data or its batches have changed"));
    assert_non_null(strstr(answer, "was written on an array, but this is a slice"));
}

static void load_on_two_ranks(void) {
    rt.ranks = rt.data_ranks = 2;
    load();
}
static void load_on_two_ranks_with_the_same_rows(void) {
    program.training.micro_steps = 1;
    load_on_two_ranks();
}
static void load_with_narrow_batches(void) {
    program.training.batch = 2;
    load();
}
static void load_with_narrow_batches_of_the_same_rows(void) {
    program.training.micro_steps = 3;
    load_with_narrow_batches();
}

static void only_other_rows_of_a_step_are_warned_of(void **state) {
    (void)state;
    static void (*const loads[2][2])(void) = {
        {load_on_two_ranks_with_the_same_rows, load_with_narrow_batches_of_the_same_rows},
        {load_on_two_ranks, load_with_narrow_batches}};
    train_to(5);
    checkpoint_save(&rt);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_apart(loads[0][i]), 0);
        assert_string_equal(answer, "");
        assert_int_equal(run_apart(loads[1][i]), 0);
        assert_non_null(strstr(answer, "the data or its batches have changed"));
    }
}

/* ---- a full disk ----------------------------------------------------------------------------- */

static rlim_t file_limit;

static void save_on_a_full_disk(void) {
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){file_limit, file_limit});
    train_to(9);
    save();
}

static void a_full_disk_leaves_the_former_checkpoint(void **state) {
    (void)state;
    train_to(5);
    checkpoint_save(&rt);
    for (file_limit = 0; file_limit < 700; file_limit += 100) {
        assert_refused(save_on_a_full_disk, "File too large; earlier checkpoints are untouched");
        assert_false(exists("checkpoints/step_9") || exists("checkpoints/.writing"));
        assert_int_equal(run_apart(load), 0);
    }
    assert_int_equal(saved_step(), 5);
}

/* ---- export ---------------------------------------------------------------------------------- */

static void assert_recorded(const char *expected) {
    size_t size;
    unsigned char *record = read_file(in_out("adapter/trainer_state.json"), &size);
    record[size] = '\0';
    assert_non_null(strstr((char *)record, expected));
    free(record);
}

static void an_adapter_is_exported(void **state) {
    (void)state;
    train_to(4);
    export_run(&rt);
    size_t size;
    char error[256];
    unsigned char *config = read_file(in_out("adapter/adapter_config.json"), &size);
    assert_memory_equal(config, "{\"r\": 2}\n", size);
    free(config);
    StFile *file = st_open(in_out("adapter/adapter_model.safetensors"), error, sizeof error);
    assert_non_null(file);
    assert_int_equal(st_count(file), 2); /* not the base */
    assert_string_equal(st_metadata(file, "format"), "pt");
    const StTensor *adapter = st_find(file, "adapter");
    assert_int_equal(adapter->dtype, ST_F32);
    assert_true(st_value(adapter, 1) == -2 && st_value(adapter, 5) == 8);
    st_close(file);
    assert_false(exists("model"));
    assert_recorded("\"global_step\": 4,");
    assert_recorded("\"seed\": 3,\n  \"spec_sha256\": \"abc\",");
    assert_recorded("\"recipe_sha256\": \"fed\",\n  \"data_sha256\": \"cafe\"\n}");
}

static void a_model_is_exported(void **state) {
    (void)state;
    char error[256];
    RtProgram whole = program;
    whole.checkpoint.adapter_json = NULL;
    rt.program = &whole;
    export_run(&rt);
    StFile *file = st_open_folder(in_out("model"), error, sizeof error);
    assert_non_null(file);
    assert_int_equal(st_count(file), 3);
    assert_int_equal(st_find(file, "base")->dtype, ST_BF16);
    assert_int_equal(st_find(file, "mean")->rank, 1);
    st_close(file);
    assert_true(exists("model/config.json"));
    whole.checkpoint.export_model = false;
    whole.checkpoint.adapter_json = "{}";
    export_run(&rt);
    assert_false(exists("adapter"));
}

/* A model that another tool wrote is not replaced; one of an earlier run is. */
static void a_foreign_model_is_kept(void **state) {
    (void)state;
    static const char foreign[] = "{\"global_step\": 9, \"log_history\": []}";
    export_run(&rt);
    assert_null(export_problem(in_out("adapter")));
    write_file(in_out("adapter/trainer_state.json"), foreign, strlen(foreign));
    assert_non_null(strstr(export_problem(in_out("adapter")), "not written by gpuopt-gen"));
    unlink(in_out("adapter/trainer_state.json"));
    assert_non_null(export_problem(in_out("adapter")));
    unlink(in_out("adapter/adapter_model.safetensors"));
    unlink(in_out("adapter/adapter_config.json"));
    assert_null(export_problem(in_out("adapter")));
}

static void export_now(void) { export_run(&rt); }

/* The record of a model says that it has no step until all of its files are there. */
static void half_an_export_is_no_model(void **state) {
    (void)state;
    train_to(4);
    export_run(&rt);
    unlink(in_out("adapter/adapter_config.json"));
    assert_int_equal(mkdir(in_out("adapter/adapter_config.json"), 0777), 0);
    assert_refused(export_now, "adapter_config.json: cannot be written");
    assert_recorded("\"global_step\": 0,");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
        T(a_checkpoint_restores_every_bit),
        T(a_checkpoint_has_the_order_of_the_file),
        T(the_loss_scale_comes_back),
        T(evaluations_come_back),
        T(the_latest_saves_are_kept),
        T(the_same_step_is_replaced),
        T(a_flipped_bit_is_refused),
        T(a_truncated_file_is_refused),
        T(a_damaged_checkpoint_is_passed_over),
        T(no_checkpoint_is_said),
        T(another_run_is_refused),
        T(other_circumstances_are_warned_of),
        T(only_other_rows_of_a_step_are_warned_of),
        T(a_full_disk_leaves_the_former_checkpoint),
        T(an_adapter_is_exported),
        T(a_model_is_exported),
        T(a_foreign_model_is_kept),
        T(half_an_export_is_no_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
