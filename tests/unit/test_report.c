/* The report of a run with made-up figures: every figure must be in its documented place, and sums must
 * agree. */
#include "report_run.h"
#include "runtime/report/report.h"
#include "study/compared_figures.h"

static void measured_figures_are_reported(void **state) {
    (void)state;
    write_report();
    json_t *r = json_of("report.json");
    assert_string_equal(json_string_value(at(r, "experiment")), "test");
    assert_string_equal(json_string_value(at(r, "recipe_sha256")), "fed");
    assert_string_equal(json_string_value(at(r, "data_sha256")), "cafe");
    assert_string_equal(json_string_value(at(r, "device.name")), "an H100");
    assert_true(json_is_false(at(r, "device.simulated")));
    assert_string_equal(json_string_value(at(r, "versions.driver_cuda")), "13.0");
    assert_true(json_is_null(at(r, "versions.driver")));
    assert_number(r, "steps", 7);
    assert_number(r, "seed", 9);
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
    assert_number(r, "memory.allocated_bytes", 1300);
    assert_null(find(r, "memory.measured_peak_bytes")); /* nothing measures the use of arenas */
    assert_number(r, "loss.first", 4);
    assert_number(r, "time.load_s", 1.5);
    assert_number(r, "time.train_s", 62.3);
    assert_number(r, "parameters.total", 22);
    assert_number(r, "parameters.trainable", 15);
    assert_number(r, "loss.heldout_before", 5.5);
    assert_number(r, "flops.share_of_peak", 0.2);
    assert_number(r, "predicted.kernels.launches", 70);
    assert_number(r, "predicted.graphs.launches", 21);
    assert_number(r, "predicted.communication.exposed_ms", 0.25);
    assert_true(json_is_null(at(r, "predicted.bubble"))); /* no pipeline */
    assert_number(r, "predicted.tokens_per_s", 40000);
    assert_number(r, "predicted.copies.h2d.bytes", 448);
    assert_number(r, "data.truncated", 3);
    assert_number(r, "feeding.data_wait_ms", 2);
    assert_number(r, "feeding.copy_ms", 0.5);
    assert_number(r, "feeding.compute_ms", 2.75);
    assert_number(r, "data.device_samples", 0);
    assert_number(r, "data.epochs", 7.0 * 6 / 11); /* 7 steps of two ranks with 3 micro-steps */
    assert_number(r, "numa.node", 1);
    assert_true(json_is_null(at(r, "numa.not_bound")));
    json_decref(r);
    assert_text("report.txt", "steps 0 to 7, seed 9\n");
    assert_text("report.txt", "\n22 parameters, 15 trainable; loaded in 1.5 s; trained for 62.3 s\n\n");
    assert_text("report.txt", "kernel launches a step                           10.0");
    assert_text("report.txt", "graph launches a step                            3.00               3.00");
    assert_text("report.txt", "all_reduce a step, bytes                          500                500");
    assert_text("report.txt", "iteration, median ms                            3.000");
    assert_text("report.txt", "waiting for data, mean ms a step                2.000");
    assert_text("report.txt", "input copies, mean ms a step                    0.500");
    assert_text("report.txt", "device work, mean ms a step                     2.750");
    assert_text("report.txt", "bound by                                      compute");
    assert_text("report.txt", "host memory of input copies                  pageable");
    assert_text("report.txt", "Threads and host memory: on NUMA node 1.");
    assert_text("report.txt", "samples cut                                         3");
    program.data.pairs = &(const RtPairs){0};
    write_report();
    assert_text("report.txt", "pairs cut                                           3");
}

/* Reals have nine digits, which is not enough for counts. */
static void flops_are_whole(void **state) {
    (void)state;
    program.predicted.flops = 2369257472;
    write_report();
    json_t *r = json_of("report.json");
    assert_int_equal(json_integer_value(at(r, "flops.per_step")), 2369257472);
    assert_int_equal(json_integer_value(at(r, "predicted.flops.per_step")), 2369257472);
    assert_int_equal(json_integer_value(at(r, "all_ranks.flops.per_step")), 2 * 2369257472);
    json_decref(r);
}

/* Each line is of the cards that the head names, or names its own. */
static void lines_say_of_which_cards_they_are(void **state) {
    (void)state;
    write_report();
    json_t *r = json_of("report.json");
    assert_number(r, "flops.per_step", 6e9);
    assert_number(r, "all_ranks.flops.per_step", 12e9);
    json_decref(r);
    assert_text("report.txt", "first of 2 cards                             measured");
    assert_text("report.txt", "tokens a second, all cards                      20000");
    assert_text("report.txt", "FLOPs a step, 1e9                                   -              6.000");
    assert_text("report.txt", "FLOPs a step, all cards, 1e9                        -             12.000");
    assert_text("report.txt", "allocated, most on a card, MiB");
    assert_text("report.txt", "process, most on a card, peak MiB");
    assert_text("report.txt", "the model's own work on the first card:");
    rt.ranks = 1, rt.card_count = 3;
    write_report();
    assert_text("report.txt", "all 3 cards                                  measured");
    assert_text("report.txt", "FLOPs a step, one card, 1e9                         -              6.000");
    assert_text("report.txt", "FLOPs a step, all cards, 1e9                        -             18.000");
    rt.card_count = 1;
    write_report();
    assert_no_text("report.txt", " cards");
    assert_text("report.txt", "allocated for arenas, MiB");
    assert_text("report.txt", "the model's own work on one card:");
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

static void the_driver_is_named_by_nvml(void **state) {
    (void)state;
    nvml_finds = 6; /* a device that NVML does not know has the same driver */
    process_memory_open(&rt);
    nvml_finds = 0;
    assert_int_equal(rt.device.used_before, 0);
    assert_string_equal(rt.device.driver, "580.65.06");
    process_memory_open(&rt);
    assert_int_equal(rt.device.used_before, 100);
    write_report();
    json_t *r = json_of("report.json");
    assert_string_equal(json_string_value(at(r, "versions.driver")), "580.65.06");
    assert_string_equal(json_string_value(at(r, "versions.driver_cuda")), "13.0");
    json_decref(r);
}

static void a_run_without_steps_has_no_times(void **state) {
    (void)state;
    rt.measured = (RtMeasured){.train_ms = 0.1, .before = {.loss = 5.5}, .after = {.loss = NAN}};
    rt.known_steps = 0;
    write_report();
    json_t *r = json_of("report.json");
    assert_true(json_is_null(at(r, "iteration_ms.median")) && json_is_null(at(r, "loss.last")) &&
                json_is_null(at(r, "iteration_ms.first")));
    assert_true(json_is_null(at(r, "time.load_s")) && json_is_null(at(r, "time.train_s")));
    json_decref(r);
    assert_text("report.txt", "\n22 parameters, 15 trainable\n\n");
}

static void a_simulated_run_says_so(void **state) {
    (void)state;
    static const char *const nulls[] = {"versions.driver", "versions.driver_cuda",
                                        "versions.cublaslt", "versions.nvrtc", "versions.cupti"};
    rt.device.simulated = true;
    rt.device.cublaslt_version = 130100;
    rt.device.nvrtc_version = 13000;
    write_report();
    json_t *r = json_of("report.json");
    assert_true(json_is_true(at(r, "device.simulated")));
    assert_true(json_is_null(at(r, "flops.share_of_peak")));
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        assert_true(json_is_null(at(r, nulls[i])));
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
    assert_number(r, "loss.heldout_targets", 96);
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
    rt.measured.before.metrics[0] = -4e-7;
    rt.measured.after.metrics[1] = -6e-7;
    write_report();
    assert_text("report.txt", "held-out top1 before                         0.000000");
    assert_text("report.txt", "held-out top5 after                         -0.000001");
    assert_text("report.txt", "images a second, all cards                      20000");
}

/* The report of a run with every kind of exchange, a loss scale and two metrics, which every step has
 * or only evaluations. */
static json_t *rich_report(RtUnit unit, const RtMetric metrics[2], void *of_step) {
    static const RtLossScale scale = {0, 4, 8, 65536};
    for (int kind = 0; kind < RT_COLLECTIVES; kind++)
        rt.measured.collectives[kind].count = 1;
    for (int i = 0; i < RT_PURPOSES; i++)
        rt.measured.peer[i].count = 1;
    rt.measured.before = rt.measured.after = (RtEvaluation){7, 1.5, {0.5, 1}, 96};
    rt.step_metrics[0] = rt.step_metrics[1] = of_step;
    program.loss_scale = &scale;
    program.metrics = metrics;
    program.metric_count = 2;
    program.training.unit = unit;
    write_report();
    return json_of("report.json");
}

static void what_the_compiler_compares_is_reported(void **state) {
    (void)state;
    static const RtMetric tops[] = {{.name = "top1"}, {.name = "top5"}};
    static const RtMetric rewards[] = {{.name = "rewards/accuracies"}, {.name = "rewards/margins"}};
    json_t *images = rich_report((RtUnit){"images", "images", "samples_per_s"}, tops, NULL);
    json_t *pairs = rich_report((RtUnit){"tokens", "tok", "tokens_per_s"}, rewards, losses);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const char *path = figures[i].path;
        bool relative = strstr(path, SPEEDUP) || strstr(path, EFFICIENCY);
        if (!relative && !find(images, path) && !find(pairs, path))
            fail_msg("report.json lacks %s", path);
    }
    json_decref(images);
    json_decref(pairs);
}

/* What is counted where, in the text; only text has padding. */
static void data_says_what_it_counts(void **state) {
    (void)state;
    write_report();
    assert_text("report.txt", "\nTokens a second are places of rows, padding included. Mean tokens, after cutting,");
    assert_text("report.txt", "are of the training data; what was cut or left out is counted in the held-out data too.\n");
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
    assert_text("loss.csv", "step,loss,grad_norm,lr\n1,4,1,0.5\n2,3,2,0.25\n3,2.5,3,0.75\n");
    assert_text("loss.csv", "\n4,0.100000001,inf,0.0625\n");
    losses[1] = -NAN;
    write_report();
    losses[1] = 3;
    assert_text("loss.csv", "\n2,nan,2,0.25\n");
}

static void large_losses_fit_a_column(void **state) {
    (void)state;
    losses[0] = 1.5e35f;
    write_report();
    losses[0] = 4;
    assert_text("report.txt", "loss, first step                         1.500000e+35                  -\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(measured_figures_are_reported),
        T(flops_are_whole),
        T(lines_say_of_which_cards_they_are),
        T(the_longest_binds),
        T(an_unbound_host_says_why),
        T(what_was_not_measured_is_null),
        T(the_driver_is_named_by_nvml),
        T(a_run_without_steps_has_no_times),
        T(a_simulated_run_says_so),
        T(no_footnote_without_a_window),
        T(evaluations_are_reported),
        T(what_the_compiler_compares_is_reported),
        T(data_says_what_it_counts),
        T(the_loss_scale_is_reported),
        T(losses_are_listed_by_step),
        T(large_losses_fit_a_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
