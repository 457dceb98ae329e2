/* The table of runs and of the keys in which they differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the table of a single run, which has not finished, whose keys all have the value 1. */
static void print(const char **keys, int count, StrBuf *out) {
    const char *ones[] = {"1", "1", "1", "1"};
    const Run run = {.name = "r8", .state = "not run"};
    Row row = {.run = &run, .keys = ones};
    const Comparison c = {.title = "",
                          .device = "",
                          .keys = keys,
                          .key_count = count,
                          .rows = &row,
                          .count = 1,
                          .reference = -1};
    comparison_text(&c, out);
}

static void test_few_keys_stand_beside_the_name(void **state) {
    (void)state;
    StrBuf out = {0};
    print((const char *[]){"adapter.r", "job.name"}, 2, &out);
    assert_string_equal(out.text, "0 of 1 runs finished\n\n"
                                  "      run  state     adapter.r  job.name\n"
                                  "   1  r8   not run   1          1\n");
    sb_free(&out);
}

static void test_runs_may_have_the_same_keys(void **state) {
    (void)state;
    StrBuf out = {0};
    print(NULL, 0, &out);
    assert_string_equal(out.text, "0 of 1 runs finished\n\n"
                                  "      run  state\n"
                                  "   1  r8   not run\n");
    sb_free(&out);
}

/* Columns that would make a line longer than a page go below, and one that is longer stands alone. */
static void test_many_keys_are_cut(void **state) {
    (void)state;
    char wide[131] = "";
    memset(wide, 'k', sizeof wide - 1);
    StrBuf out = {0};
    print((const char *[]){"parallelism.data_parallel_replicate_degree",
                           "parallelism.data_parallel_replicate_bucket", wide, "adapter.r"},
          4, &out);
    const char *table = strchr(out.text, '\n') + 2;
    char expected[1024];
    snprintf(expected, sizeof expected,
             "      run  state     %s  %s\n   1  r8   not run   1%41s  1\n\n"
             "      run  %s\n   1  r8   1\n\n"
             "      run  adapter.r\n   1  r8   1\n",
             "parallelism.data_parallel_replicate_degree",
             "parallelism.data_parallel_replicate_bucket", "", wide);
    assert_string_equal(table, expected);
    sb_free(&out);
}

/* ---- made-up reports ------------------------------------------------------------------------- */

static Arena arena;

/* There is room for another report. */
static Run run_with(const char *name, const char *spec, const char *report) {
    TomlError error;
    json_t **reports = arena_array(&arena, 2, sizeof *reports);
    reports[0] = json_loads(report, 0, NULL);
    assert_non_null(reports[0]);
    return (Run){name, "finished", toml_parse(&arena, "spec", spec, strlen(spec), &error), reports,
                 1};
}

/* A finished run of a program whose spec has seed 0 and 4 steps. */
static Run run_of(const char *name, const char *report) {
    return run_with(name, "[training]\nseed = 0\nsteps = 4\n", report);
}

static Comparison compare(Run *runs, int count) {
    return compare_runs(&arena, "", runs, count);
}

static void free_runs(Run *runs, int count) {
    for (int i = 0; i < count; i++)
        run_free(&runs[i]);
    arena_free(&arena);
}

/* A program's --steps and --seed change what the spec says; older reports have no seed. */
static void test_keys_are_as_the_run_had_them(void **state) {
    (void)state;
    Run runs[] = {run_of("a", "{\"first_step\": 0, \"steps\": 4, \"seed\": 0}"),
                  run_of("b", "{\"first_step\": 0, \"steps\": 4, \"seed\": 5}"),
                  run_of("c", "{\"first_step\": 1, \"steps\": 3}")};
    Comparison c = compare(runs, 3);
    assert_int_equal(c.key_count, 1);
    assert_string_equal(c.keys[0], "training.seed");
    assert_string_equal(c.rows[1].keys[0], "5");
    assert_string_equal(c.rows[2].keys[0], "0");
    free_runs(runs, 3);
}

/* A pipeline's second stage also works; the legend says which figures are of all cards. */
static void test_figures_are_of_all_cards(void **state) {
    (void)state;
    Run runs[] = {
        run_of("one", "{\"cards\": 1, \"flops\": {\"per_step\": 6.5e9}}"),
        run_of("two", "{\"cards\": 2, \"flops\": {\"per_step\": 2.5e9},"
                      " \"all_ranks\": {\"flops\": {\"per_step\": 6.5e9}}}")};
    static const char legend[] = "With several cards: launches, syncs, waits, copies and "
                                 "flops.per_step are sums over all cards";
    StrBuf text = {0};
    Comparison c = compare(runs, 2);
    comparison_text(&c, &text);
    assert_non_null(strstr(text.text, legend));
    assert_non_null(strstr(text.text, "\n   2  two      6500000000    x1.000\n"));
    sb_free(&text);
    c = compare(runs, 1);
    comparison_text(&c, &text);
    assert_null(strstr(text.text, "several cards"));
    sb_free(&text);
    free_runs(runs, 2);
}

/* ---- units ---------------------------------------------------------------------------------- */

/* Two runs of 4 steps that differ in keys of all types, and one in which these have no effect. */
static void print_units(PrintComparison print, StrBuf *out) {
    static const char spec[3][128] = {
        "[adapter]\nr = 8\nuse_dora = false\nlora_alpha = 2.5\ntarget_modules = [\"q\"]\ntype = \"a\"",
        "[adapter]\nr = 16\nuse_dora = true\nlora_alpha = 5.0\ntarget_modules = [2]\ntype = \"b\"",
        ""};
    static const char report[] = "{\"first_step\": 0, \"steps\": 4, \"kernels\": {\"launches\": 40},"
                                 " \"device\": {\"name\": \"D\", \"simulated\": false}}";
    Run runs[] = {run_of("a", report), run_of("b", report), run_of("c", report)};
    TomlError error;
    for (int i = 0; i < 3; i++)
        runs[i].spec = toml_parse(&arena, "spec", spec[i], strlen(spec[i]), &error);
    Comparison c = compare(runs, 3);
    print(&c, out);
    free_runs(runs, 3);
}

static void assert_json(const json_t *root, const char *expected) {
    char *text = json_dumps(root, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void test_json_has_units_and_types(void **state) {
    (void)state;
    StrBuf out = {0};
    print_units(comparison_json, &out);
    json_t *root = json_loads(out.text, 0, NULL), *runs = json_object_get(root, "runs");
    const json_t *of = json_object_get(root, "figures");
    assert_json(json_object_get(root, "reference"), "\"a\"");
    assert_json(json_object_get(of, "iteration_ms.median"), "{\"unit\":\"ms\",\"over\":\"step\"}");
    assert_json(json_object_get(of, "copies.h2d.bytes"), "{\"unit\":\"bytes\",\"over\":\"run\"}");
    assert_json(json_object_get(of, "kernels.ms"), "{\"unit\":\"ms\",\"over\":\"window\"}");
    assert_json(json_object_get(of, "speedup"), "{\"unit\":null,\"over\":\"step\"}");
    assert_json(json_object_get(json_array_get(runs, 1), "keys"),
                "{\"adapter.r\":16,\"adapter.use_dora\":true,\"adapter.lora_alpha\":5.0,"
                "\"adapter.target_modules\":[2],\"adapter.type\":\"b\"}");
    assert_json(json_object_get(json_object_get(json_array_get(runs, 2), "keys"), "adapter.r"), "null");
    json_decref(root);
    sb_free(&out);
}

static void test_charts_have_units(void **state) {
    (void)state;
    StrBuf out = {0};
    print_units(comparison_svg, &out);
    assert_non_null(strstr(out.text, ">kernel launches (sum over 4 steps)<"));
    sb_free(&out);
}

/* Two runs with long names that differ in the last of several keys. */
static void print_points(bool points, StrBuf *out) {
    static const char *const names[] = {"dpo+qlora_with-a-name-longer-than-labels-of-keys_few_1card",
                                        "dpo+qlora_with-a-name-longer-than-labels-of-keys_many_1card"};
    static const char report[] = "{\"steps\": 4, \"kernels\": {\"launches\": 40}}";
    Run runs[2];
    for (int i = 0; i < 2; i++) {
        char spec[256];
        snprintf(spec, sizeof spec,
                 "[data]\ncache = \"a-folder-with-a-name-longer-than-what-is-shown-of-keys/%d\"\n"
                 "[job]\nname = \"job%d\"\n", i, i);
        runs[i] = run_with(names[i], spec, report);
    }
    Comparison c = compare(runs, 2);
    c.points = points;
    comparison_svg(&c, out);
    free_runs(runs, 2);
}

/* A point's name says what it is, and all of it is shown; other runs are told apart by keys. */
static void test_bars_have_the_names_of_points(void **state) {
    (void)state;
    StrBuf out = {0};
    print_points(true, &out);
    assert_non_null(strstr(out.text, "class=\"label note\">point<"));
    assert_non_null(strstr(out.text, ">dpo+qlora_with-a-name-longer-than-labels-of-keys_few_1card<"));
    assert_non_null(strstr(out.text, ">dpo+qlora_with-a-name-longer-than-labels-of-keys_many_1card<"));
    int width = 0, left = 0;
    const char *bar = strstr(out.text, "width=\"460.0\""), *svg = strstr(out.text, " width=\"");
    assert_non_null(bar);
    while (bar > out.text && *bar != '<')
        bar--;
    assert_int_equal(sscanf(bar, "<rect x=\"%d\"", &left), 1);
    assert_int_equal(sscanf(svg, " width=\"%d\"", &width), 1);
    assert_true(left > 59 * 7 && width == left + 600);
    sb_free(&out);
    print_points(false, &out);
    assert_non_null(strstr(out.text, "class=\"label note\">cache, name<"));
    assert_non_null(strstr(out.text, ">a-folder-with-a-name-longer-than-what-is-shown …<"));
    assert_null(strstr(out.text, "dpo"));
    assert_non_null(strstr(out.text, " width=\"960\""));
    sb_free(&out);
}

/* The losses of a run that diverges, and their ratios, are longer than a cell in all their digits. Values are
 * cut between characters, and what XML forbids is left out. */
static void print_diverged(PrintComparison print, StrBuf *out) {
    static const char spec[] = "[data]\ntrain = [\"a\\u0001%s\"]\n";
    static const char wide[] = "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
                               "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9";
    char text[256];
    snprintf(text, sizeof text, spec, wide);
    Run runs[] = {run_with("a", "[data]\ntrain = [\"b\"]\n", "{\"loss\": {\"last\": 2.5}}"),
                  run_with("b", text, "{\"loss\": {\"last\": 1.5e308}}")};
    runs[1].reports[runs[1].repeats++] = json_loads("{\"loss\": {\"last\": 1.6e308}}", 0, NULL);
    Comparison c = compare(runs, 2);
    print(&c, out);
    free_runs(runs, 2);
}

static void test_large_figures_have_exponents(void **state) {
    (void)state;
    StrBuf out = {0};
    print_diverged(comparison_text, &out);
    assert_non_null(strstr(out.text, " 1.550e+308 x6.2e+307  (1.500e+308..1.600e+308)\n"));
    sb_free(&out);
    print_diverged(comparison_svg, &out);
    assert_non_null(strstr(out.text, ">1.55e+308  x6.2e+307<"));
    assert_non_null(strstr(out.text, ">[a \u00e9\u00e9"));
    assert_non_null(strstr(out.text, "\u00e9 \u2026<"));
    sb_free(&out);
}

/* Only runs of text have tokens, which include padding. */
static void test_legend_explains_tokens(void **state) {
    (void)state;
    static const char *const reports[] = {"{\"tokens_per_s\": 9.0, \"data\": {\"mean_tokens\": 5.5}}",
                                          "{\"samples_per_s\": 9.0}"};
    for (int i = 0; i < 2; i++) {
        Run run = run_of("a", reports[i]);
        StrBuf out = {0};
        Comparison c = compare(&run, 1);
        comparison_text(&c, &out);
        assert_true(i == !strstr(out.text, "\ntokens_per_s counts the places of rows, padding included.\n"));
        assert_true(i == !strstr(out.text, "; mean_tokens is the length of its samples after cutting"));
        sb_free(&out);
        free_runs(&run, 1);
    }
}

/* ---- resumed runs ---------------------------------------------------------------------------- */

/* Both took two steps, so their sums are comparable, but only the first began at the start. */
static void print_resumed(PrintComparison print, StrBuf *out) {
    Run runs[] = {run_of("a", "{\"first_step\": 0, \"steps\": 2, \"kernels\": {\"launches\": 40}}"),
                  run_of("b", "{\"first_step\": 3, \"steps\": 2, \"kernels\": {\"launches\": 40}}")};
    Comparison c = compare(runs, 2);
    print(&c, out);
    free_runs(runs, 2);
}

/* A resumed repetition has fewer steps than the others: its step counts, its sums do not. */
static void test_resumed_repetition_has_no_sums(void **state) {
    (void)state;
    static const char *const reports[] = {
        "{\"first_step\": 0, \"steps\": 60, \"kernels\": {\"launches\": 600}, \"tokens_per_s\": 10.0}",
        "{\"first_step\": 50, \"steps\": 10, \"kernels\": {\"launches\": 100}, \"tokens_per_s\": 20.0}"};
    Run runs[] = {run_of("a", reports[1]), run_of("b", reports[1])};
    runs[0].reports[runs[0].repeats++] = json_loads(reports[0], 0, NULL);
    runs[1].reports[runs[1].repeats++] = json_loads(reports[1], 0, NULL);
    Comparison c = compare(runs, 2);
    int steps = figure_at(&c, "steps"), launches = figure_at(&c, "kernels.launches");
    assert_true(c.rows[0].figures[steps].median == 60 && c.rows[1].figures[steps].median == 10);
    assert_true(c.rows[0].figures[launches].least == 600 && c.rows[1].figures[launches].most == 100);
    assert_true(c.rows[0].figures[figure_at(&c, "tokens_per_s")].median == 15);
    assert_true(resumed_after(&c, &c.rows[0]) == 0 && resumed_after(&c, &c.rows[1]) == 50);
    free_runs(runs, 2);
}

static void test_resumed_runs_are_named(void **state) {
    (void)state;
    StrBuf out = {0};
    print_resumed(comparison_text, &out);
    assert_non_null(strstr(out.text, "\nRun 2 was resumed after step 3: its sums cover only the steps"));
    assert_null(strstr(out.text, "Run 1 was"));
    assert_null(strstr(out.text, "first_step"));
    sb_free(&out);
    print_resumed(comparison_svg, &out);
    assert_non_null(strstr(out.text, ">b was resumed after step 3: its sums cover only"));
    assert_null(strstr(out.text, ">a was"));
    sb_free(&out);
    print_resumed(comparison_json, &out);
    assert_non_null(strstr(out.text, "\"first_step\": 0.0"));
    assert_non_null(strstr(out.text, "\"first_step\": 3.0"));
    sb_free(&out);
    print_resumed(comparison_csv, &out);
    assert_non_null(strstr(out.text, ",first_step,steps,"));
    sb_free(&out);
}

/* ---- totals ---------------------------------------------------------------------------------- */

/* The third report is of an earlier version. */
static void print_totals(PrintComparison print, StrBuf *out) {
    static const char *const reports[] = {
        "{\"first_step\": 0, \"steps\": 4, \"time\": {\"load_s\": 0.5, \"train_s\": 8.0}, "
        "\"parameters\": {\"total\": 1000, \"trainable\": 1000}}",
        "{\"first_step\": 2, \"steps\": 2, \"time\": {\"load_s\": 1.5, \"train_s\": 4.25}, "
        "\"parameters\": {\"total\": 1100, \"trainable\": 100}}",
        "{\"first_step\": 0, \"steps\": 4}"};
    Run runs[] = {run_of("a", reports[0]), run_of("b", reports[1]), run_of("c", reports[2])};
    Comparison c = compare(runs, 3);
    print(&c, out);
    free_runs(runs, 3);
}

static void test_sizes_and_times_are_compared(void **state) {
    (void)state;
    StrBuf out = {0};
    print_totals(comparison_text, &out);
    assert_non_null(strstr(out.text, " time.load_s "));
    assert_non_null(strstr(out.text, " 1.5000    x3.000 "));
    assert_non_null(strstr(out.text, " 4.2500              ")); /* of fewer steps */
    assert_non_null(strstr(out.text, " 1100    x1.100 "));
    assert_non_null(strstr(out.text, " 100    x0.100\n"));
    assert_non_null(strstr(out.text, "\ntime.load_s is that before the first step"));
    sb_free(&out);
    print_totals(comparison_csv, &out);
    assert_non_null(strstr(out.text, ",time.load_s,time.train_s,parameters.total,parameters.trainable,"));
    assert_non_null(strstr(out.text, ",1.5,4.25,1100.0,100.0,"));
    sb_free(&out);
    print_totals(comparison_json, &out);
    json_t *root = json_loads(out.text, 0, NULL), *of = json_object_get(root, "figures");
    const json_t *last = json_object_get(json_array_get(json_object_get(root, "runs"), 2), "figures");
    assert_json(json_object_get(of, "time.train_s"), "{\"unit\":\"s\",\"over\":\"run\"}");
    assert_json(json_object_get(of, "parameters.total"), "{\"unit\":\"parameters\",\"over\":\"run\"}");
    assert_json(json_object_get(last, "parameters.trainable"), "null");
    assert_json(json_object_get(last, "time.load_s"), "null");
    json_decref(root);
    sb_free(&out);
}

/* ---- runs that cannot be compared -------------------------------------------------------------- */

/* The third run was resumed, and evaluated on other data than the first two. `first` is compared with. */
static void print_uneven(int first, PrintComparison print, StrBuf *out) {
    static const char *const reports[] = {
        "{\"first_step\": 0, \"steps\": 4, \"kernels\": {\"launches\": 40},"
        " \"loss\": {\"heldout_after\": 2.5, \"heldout_targets\": 32}}",
        "{\"first_step\": 0, \"steps\": 4, \"kernels\": {\"launches\": 60},"
        " \"loss\": {\"heldout_after\": 2.0, \"heldout_targets\": 32}}",
        "{\"first_step\": 2, \"steps\": 2, \"kernels\": {\"launches\": 21},"
        " \"loss\": {\"heldout_after\": 4.25, \"heldout_targets\": 1712}}"};
    Run runs[] = {run_of("a", reports[first]), run_of("b", reports[1]), run_of("c", reports[2 - first])};
    Comparison c = compare(runs, 3);
    print(&c, out);
    free_runs(runs, 3);
}

static double ratio_of(const json_t *root, size_t run, const char *path) {
    const json_t *row = json_array_get(json_object_get(root, "runs"), run);
    const json_t *ratio = json_object_get(json_object_get(row, "ratios"), path);
    return json_is_null(ratio) ? 0 : json_real_value(ratio);
}

/* One run that covers other steps or data leaves the ratios of the others. */
static void test_each_run_has_its_ratios(void **state) {
    (void)state;
    StrBuf out = {0};
    print_uneven(0, comparison_json, &out);
    json_t *root = json_loads(out.text, 0, NULL);
    sb_free(&out);
    assert_float_equal(ratio_of(root, 1, "kernels.launches"), 1.5, 1e-12);
    assert_float_equal(ratio_of(root, 2, "kernels.launches"), 0, 0);
    assert_float_equal(ratio_of(root, 1, "loss.heldout_after"), 0.8, 1e-12);
    assert_float_equal(ratio_of(root, 2, "loss.heldout_after"), 0, 0);
    json_decref(root);
    print_uneven(0, comparison_text, &out);
    assert_non_null(strstr(out.text, " 60    x1.500"));
    assert_non_null(strstr(out.text, "\nSome runs took another number of steps than run 1: their"));
    assert_non_null(strstr(out.text, "\nSome runs were evaluated on another number of held-out targets"));
    assert_null(strstr(out.text, "Some runs profiled"));
    sb_free(&out);
}

/* The run has a note instead of a bar. */
static void test_charts_leave_out_what_has_no_ratio(void **state) {
    (void)state;
    StrBuf out = {0};
    print_uneven(0, comparison_svg, &out);
    const char *launches = strstr(out.text, ">kernel launches (sum over 4 steps)<");
    const char *losses = strstr(out.text, ">held-out loss<");
    assert_non_null(launches);
    assert_non_null(losses);
    assert_non_null(strstr(launches, "width=\"460.0\" height"));
    assert_non_null(strstr(launches, ">60  x1.50<"));
    assert_non_null(strstr(launches, "class=\"note\">21, over 2 steps<"));
    assert_non_null(strstr(losses, "width=\"460.0\" height")); /* the longest of those that have bars */
    assert_non_null(strstr(losses, ">2  x0.80<"));
    assert_non_null(strstr(losses, "class=\"note\">4.25, over 1712 targets<"));
    sb_free(&out);
}

/* Nothing is left to compare with the first run. */
static void test_charts_of_one_run_alone_are_not_drawn(void **state) {
    (void)state;
    StrBuf out = {0};
    print_uneven(2, comparison_svg, &out);
    assert_null(strstr(out.text, ">kernel launches"));
    assert_null(strstr(out.text, ">held-out loss<"));
    sb_free(&out);
}

/* ---- simulated times ------------------------------------------------------------------------- */

/* Prints the comparison of two reports of one run with one report of another, on two cards, which is
 * slower but predicted to be 1.5 times as fast. */
static void print_cards(bool simulated, PrintComparison print, StrBuf *out) {
    char text[3][512];
    static const double ms[] = {7, 9, 16}, measured[] = {90, 110, 50}, rates[] = {100, 100, 150};
    for (int i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i],
                 "{\"cards\": %d, \"device\": {\"name\": \"D\", \"simulated\": %s}, "
                 "\"iteration_ms\": {\"median\": %.1f}, \"tokens_per_s\": %.1f, "
                 "\"predicted\": {\"iteration_ms\": {\"median\": 4.0}, \"tokens_per_s\": %.1f}}",
                 1 + i / 2, simulated ? "true" : "false", ms[i], measured[i], rates[i]);
    Run runs[] = {run_of("one", text[0]), run_of("two", text[2])};
    runs[0].reports[runs[0].repeats++] = json_loads(text[1], 0, NULL);
    Comparison c = compare(runs, 2);
    print(&c, out);
    free_runs(runs, 2);
}

static void test_simulated_times_are_not_drawn(void **state) {
    (void)state;
    StrBuf out = {0};
    print_cards(true, comparison_svg, &out);
    static const char panel[] = "class=\"title\">", predicted[] = "predicted: iteration (ms)<";
    const char *first = strstr(out.text, panel) + strlen(panel);
    assert_int_equal(strncmp(first, predicted, strlen(predicted)), 0);
    assert_non_null(strstr(out.text, ">predicted: throughput (tokens/s)<"));
    assert_non_null(strstr(out.text, ">predicted: speed-up over one card<"));
    assert_null(strstr(out.text, ">iteration, median (ms)<"));
    assert_null(strstr(out.text, ">throughput (tokens/s)<"));
    assert_null(strstr(out.text, ">speed-up over one card<"));
    sb_free(&out);
}

/* With the range of repeated runs. */
static void test_measured_times_are_drawn(void **state) {
    (void)state;
    StrBuf out = {0};
    print_cards(false, comparison_svg, &out);
    assert_non_null(strstr(out.text, ">iteration, median (ms)<"));
    assert_non_null(strstr(out.text, ">speed-up over one card<"));
    assert_non_null(strstr(out.text, "<path "));
    assert_null(strstr(out.text, "predicted: "));
    sb_free(&out);
}

static void test_simulated_runs_have_predicted_speedups(void **state) {
    (void)state;
    StrBuf out = {0};
    print_cards(true, comparison_text, &out);
    assert_non_null(strstr(out.text, " predicted.speedup "));
    assert_non_null(strstr(out.text, " predicted.efficiency"));
    assert_null(strstr(out.text, " speedup"));
    assert_non_null(strstr(out.text, " 1.5000    x1.500 "));
    sb_free(&out);
    print_cards(false, comparison_text, &out);
    assert_non_null(strstr(out.text, " speedup "));
    assert_null(strstr(out.text, "predicted.speedup"));
    assert_non_null(strstr(out.text, " 0.5000    x0.500 "));
    sb_free(&out);
}

/* Collectives of a single card take time, so a run without them is the better base, but they are
 * better than none. */
static void test_speedups_are_over_a_card_without_collectives(void **state) {
    (void)state;
    static const char report[] = "{\"cards\": %d, \"tokens_per_s\": %d.0}";
    static const char *const specs[] = {"[parallelism]\none_rank_collectives = \"ddp\"\n",
                                        "[parallelism]\none_rank_collectives = \"none\"\n",
                                        "[parallelism]\ndata_parallel_replicate_degree = 2\n"};
    Run runs[3];
    for (int without = 0; without < 2; without++) {
        for (int i = 0; i < 3; i++) {
            char text[64];
            snprintf(text, sizeof text, report, 1 + i / 2, 50 * (i + 1));
            runs[i] = run_with("run", specs[i == 1 && !without ? 0 : i], text);
        }
        Comparison c = compare(runs, 3);
        for (int f = 0; f < c.figure_count; f++)
            if (!strcmp(c.figures[f].path, "speedup"))
                assert_float_equal(c.rows[2].figures[f].median, without ? 1.5 : 3, 1e-12);
        free_runs(runs, 3);
    }
}

/* Rows of plans say so, where those of runs say whether their device was simulated. */
static void test_predictions_are_no_measurements(void **state) {
    (void)state;
    const Run run = {.name = "a", .state = "fits", .repeats = 1};
    Row row = {.run = &run, .device = "D"};
    Comparison c = {.title = "", .device = "D", .rows = &row, .count = 1, .predicted = true};
    StrBuf out = {0};
    comparison_csv(&c, &out);
    assert_string_equal(out.text, "run,state,device.name,predicted\na,fits,D,true\n");
    sb_free(&out);
    comparison_json(&c, &out);
    assert_non_null(strstr(out.text, "\"predicted\": true"));
    assert_null(strstr(out.text, "simulated"));
    sb_free(&out);
    c.predicted = false;
    comparison_csv(&c, &out);
    assert_string_equal(out.text, "run,state,device.name,device.simulated\na,fits,D,false\n");
    sb_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few_keys_stand_beside_the_name),
                                       cmocka_unit_test(test_runs_may_have_the_same_keys),
                                       cmocka_unit_test(test_many_keys_are_cut),
                                       cmocka_unit_test(test_keys_are_as_the_run_had_them),
                                       cmocka_unit_test(test_figures_are_of_all_cards),
                                       cmocka_unit_test(test_json_has_units_and_types),
                                       cmocka_unit_test(test_charts_have_units),
                                       cmocka_unit_test(test_bars_have_the_names_of_points),
                                       cmocka_unit_test(test_large_figures_have_exponents),
                                       cmocka_unit_test(test_legend_explains_tokens),
                                       cmocka_unit_test(test_resumed_runs_are_named),
                                       cmocka_unit_test(test_resumed_repetition_has_no_sums),
                                       cmocka_unit_test(test_sizes_and_times_are_compared),
                                       cmocka_unit_test(test_each_run_has_its_ratios),
                                       cmocka_unit_test(test_charts_leave_out_what_has_no_ratio),
                                       cmocka_unit_test(
                                           test_charts_of_one_run_alone_are_not_drawn),
                                       cmocka_unit_test(test_simulated_times_are_not_drawn),
                                       cmocka_unit_test(test_measured_times_are_drawn),
                                       cmocka_unit_test(test_simulated_runs_have_predicted_speedups),
                                       cmocka_unit_test(
                                           test_speedups_are_over_a_card_without_collectives),
                                       cmocka_unit_test(test_predictions_are_no_measurements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
