/* Finds what differs between runs. */
#include "study/compared_figures.h"
#include "study/study.h"

#include "base/diag.h"
#include "base/fileio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURES = sizeof figures / sizeof *figures };

/* ---- keys ----------------------------------------------------------------------------------- */

/* Prints a value of spec.toml for people: strings without quotes. */
static void put_value(const Toml *value, StrBuf *out) {
    switch (value->kind) {
    case TOML_STRING:
        sb_puts(out, value->string);
        break;
    case TOML_INT:
        sb_printf(out, "%lld", (long long)value->integer);
        break;
    case TOML_REAL:
        sb_put_real(out, value->real);
        break;
    case TOML_BOOL:
        sb_puts(out, value->boolean ? "true" : "false");
        break;
    case TOML_ARRAY:
        sb_puts(out, "[");
        for (int i = 0; i < value->count; i++) {
            sb_puts(out, i ? ", " : "");
            put_value(&value->items[i], out);
        }
        sb_puts(out, "]");
        break;
    default:
        sb_puts(out, toml_kind_name(value->kind));
    }
}

static const json_t *find(const json_t *object, const char *path) {
    while (object && *path) {
        char name[64];
        size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        object = json_object_get(object, name);
        path += length + (path[length] == '.');
    }
    return object;
}

static const Toml *integer(Arena *arena, json_int_t value) {
    Toml *toml = arena_alloc(arena, sizeof *toml);
    *toml = (Toml){.kind = TOML_INT, .integer = value, .real = (double)value};
    return toml;
}

/* Returns the number of steps the model was trained for: --steps may have ended the run early. */
static const Toml *steps_as_run(Arena *arena, const Run *run) {
    return integer(arena, json_integer_value(find(run->reports[0], "first_step")) +
                              json_integer_value(find(run->reports[0], "steps")));
}

/* Returns the seed that the run used, which --seed may have set; NULL if its report has none. */
static const Toml *seed_as_run(Arena *arena, const Run *run) {
    const json_t *seed = find(run->reports[0], "seed");
    return seed ? integer(arena, json_integer_value(seed)) : NULL;
}

/* Returns the value of a key that the program's command line may have changed; NULL: not such a key. */
static const Toml *value_as_run(Arena *arena, const Run *run, const char *table, const char *leaf) {
    if (!run->repeats || strcmp(table, "training") != 0)
        return NULL;
    if (strcmp(leaf, "steps") == 0)
        return steps_as_run(arena, run);
    return strcmp(leaf, "seed") == 0 ? seed_as_run(arena, run) : NULL;
}

/* NULL: the key has no effect in this run. */
static const Toml *value_of(Arena *arena, const Run *run, const char *table, const char *leaf) {
    const Toml *as_run = value_as_run(arena, run, table, leaf);
    const Toml *of = run->spec ? toml_get(run->spec, table) : NULL;
    return as_run ? as_run : of && of->kind == TOML_TABLE ? toml_get(of, leaf) : NULL;
}

static const char *text_of(Arena *arena, const Toml *value) {
    if (!value)
        return "-";
    StrBuf text = {0};
    put_value(value, &text);
    const char *kept = arena_strdup(arena, text.text ? text.text : "");
    sb_free(&text);
    return kept;
}

bool values_differ(const char *a, const char *b) {
    return strcmp(a, "-") != 0 && strcmp(b, "-") != 0 && strcmp(a, b) != 0;
}

static bool differs(Arena *arena, const Run *runs, int count, const char *table, const char *leaf) {
    const char *first = "-";
    for (int i = 0; i < count; i++) {
        const Toml *value = runs[i].spec ? value_of(arena, &runs[i], table, leaf) : NULL;
        const char *text = text_of(arena, value);
        if (values_differ(first, text))
            return true;
        first = strcmp(text, "-") != 0 ? text : first;
    }
    return false;
}

static bool is_known(const Comparison *c, const char *key) {
    for (int i = 0; i < c->key_count; i++)
        if (!strcmp(c->keys[i], key))
            return true;
    return false;
}

static int keys_of(const Toml *spec) {
    int count = 0;
    for (int t = 0; spec && t < spec->count; t++)
        count += spec->items[t].count;
    return count;
}

/* A run's spec.toml lacks the keys that have no effect in it, so this goes through all runs. */
static void find_keys(Arena *arena, Comparison *c, const Run *runs, int count) {
    int most = 0;
    for (int i = 0; i < count; i++)
        most += keys_of(runs[i].spec);
    c->keys = arena_array(arena, (size_t)most + 1, sizeof *c->keys);
    for (int i = 0; i < count; i++)
        for (int t = 0; runs[i].spec && t < runs[i].spec->count; t++) {
            const Toml *table = &runs[i].spec->items[t];
            for (int k = 0; k < table->count; k++) {
                const char *leaf = table->items[k].key;
                const char *key = arena_printf(arena, "%s.%s", table->key, leaf);
                if (!is_known(c, key) && differs(arena, runs, count, table->key, leaf))
                    c->keys[c->key_count++] = key;
            }
        }
}

static const Toml **values_of(Arena *arena, const Comparison *c, const Run *run) {
    const Toml **values = arena_array(arena, (size_t)c->key_count + 1, sizeof *values);
    for (int i = 0; i < c->key_count; i++) {
        const char *dot = strchr(c->keys[i], '.');
        const char *table = arena_strndup(arena, c->keys[i], (size_t)(dot - c->keys[i]));
        values[i] = value_of(arena, run, table, dot + 1);
    }
    return values;
}

static const char **texts_of(Arena *arena, const Toml *const *values, int count) {
    const char **texts = arena_array(arena, (size_t)count + 1, sizeof *texts);
    for (int i = 0; i < count; i++)
        texts[i] = text_of(arena, values[i]);
    return texts;
}

/* ---- figures -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the figure for all ranks if the report has it: the counts of one rank are only a part of
 * a pipeline's. In a single process with several cards they already cover all cards. The legend of
 * the comparison says which figures these are. */
static const json_t *figure(const json_t *report, const char *path) {
    const json_t *ranks = json_object_get(report, "all_ranks"), *all = find(ranks, path);
    if (ranks && !all && strcmp(path, "flops.per_step") == 0)
        return NULL; /* a report of earlier versions has only the first card's */
    return all ? all : find(report, path);
}

static bool is_resumed(const json_t *report) {
    return json_number_value(find(report, FIRST_STEP)) > 0;
}

static bool any_from_start(const Run *run) {
    for (int i = 0; i < run->repeats; i++)
        if (!is_resumed(run->reports[i]))
            return true;
    return false;
}

/* A figure that any repetition lacks counts as not measured. A repetition that was resumed has no sums
 * that could stand beside those of repetitions from the start. */
static Spread spread_of(Arena *arena, const Run *run, const Figure *of) {
    int count = 0;
    double *values = arena_array(arena, (size_t)run->repeats + 1, sizeof *values);
    bool sums = of->sum == WHOLE_RUN || of->sum == SUM_OF_STEPS, whole = any_from_start(run);
    for (int i = 0; i < run->repeats; i++) {
        const json_t *value = figure(run->reports[i], of->path);
        if (!json_is_number(value))
            return (Spread){NAN, NAN, NAN};
        if (!sums || !whole || !is_resumed(run->reports[i]))
            values[count++] = json_number_value(value);
    }
    if (count == 0)
        return (Spread){NAN, NAN, NAN};
    qsort(values, (size_t)count, sizeof *values, by_value);
    double median = values[(count - 1) / 2] / 2 + values[count / 2] / 2;
    return (Spread){median, values[0], values[count - 1]};
}

static Spread *figures_of(Arena *arena, const Run *run) {
    Spread *values = arena_array(arena, FIGURES, sizeof *values);
    for (int i = 0; i < FIGURES; i++)
        values[i] = spread_of(arena, run, &figures[i]);
    return values;
}

static int figure_named(const char *path) {
    for (int i = 0; i < FIGURES; i++)
        if (strcmp(figures[i].path, path) == 0)
            return i;
    internal_fault(__FILE__, __LINE__, "no figure has the path %s", path);
}

/* Times that the host waits, and how often it does in them; NULL: once. A call that has nothing to
 * wait for takes less than IDLE_MS. */
static const struct {
    const char *ms, *count;
} waits[] = {{"syncs.ms", "syncs.count"},
             {"waits.ms", "waits.count"},
             {"feeding.data_wait_ms", NULL}};
static const double IDLE_MS = 1e-3;

/* Whether the row's time is only that of calls that never waited, which is no base for a ratio. */
static bool is_idle(const Comparison *c, const Row *row, int figure) {
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        if (strcmp(c->figures[figure].path, waits[i].ms) != 0)
            continue;
        double count = waits[i].count ? row->figures[figure_named(waits[i].count)].median : 1;
        return row->figures[figure].median < count * IDLE_MS;
    }
    return false;
}

double figure_ratio(const Comparison *c, const Row *row, int figure) {
    const Row *reference = c->reference < 0 ? NULL : &c->rows[c->reference];
    if (row->uneven[c->figures[figure].sum] || !reference || is_idle(c, reference, figure))
        return NAN;
    double base = reference->figures[figure].median;
    return base != 0 ? row->figures[figure].median / base : NAN;
}

bool any_uneven(const Comparison *c, SumOf sum) {
    for (int i = 0; i < c->count; i++)
        if (c->rows[i].uneven[sum])
            return true;
    return false;
}

bool figure_measured(const Comparison *c, int figure) {
    for (int i = 0; i < c->count; i++)
        if (!isnan(c->rows[i].figures[figure].median))
            return true;
    return false;
}

bool figure_predicted(const Comparison *c, int figure) {
    static const char start[] = "predicted.";
    return strncmp(c->figures[figure].path, start, strlen(start)) == 0;
}

bool figure_spreads(const Comparison *c, int figure) {
    for (int i = 0; i < c->count; i++)
        if (c->rows[i].figures[figure].least < c->rows[i].figures[figure].most)
            return true;
    return false;
}

int figure_at(const Comparison *c, const char *path) {
    for (int i = 0; i < c->figure_count; i++)
        if (!strcmp(c->figures[i].path, path))
            return i;
    return -1;
}

double resumed_after(const Comparison *c, const Row *row) {
    int first = figure_at(c, FIRST_STEP);
    return first < 0 || isnan(row->figures[first].most) ? 0 : row->figures[first].most;
}

const char *figure_over(const Figure *figure) {
    static const char heldout[] = "held-out data";
    static const char *const names[SUMS] = {
        [ONE_STEP] = "step",        [WHOLE_RUN] = "run",
        [SUM_OF_STEPS] = "run",     [IN_WINDOW] = "window",
        [SUM_OF_WINDOW] = "window", [TRAINING_DATA] = "training data",
        [HELDOUT_DATA] = heldout,   [HELDOUT_MEAN] = heldout};
    return names[figure->sum];
}

/* ---- cards ---------------------------------------------------------------------------------- */

static double cards_of(const Row *row) {
    return row->run->repeats ? json_number_value(find(row->run->reports[0], "cards")) : NAN;
}

/* Simulated times say nothing about speed, so their runs are compared by the predicted rates. */
static double rate_of(const Comparison *c, const Row *row) {
    const char *tokens = c->simulated ? "predicted.tokens_per_s" : "tokens_per_s";
    const char *samples = c->simulated ? "predicted.samples_per_s" : "samples_per_s";
    double rate = row->figures[figure_named(tokens)].median;
    return isnan(rate) ? row->figures[figure_named(samples)].median : rate;
}

/* Whether a key says how the work is split over cards, or how a job is called and submitted. */
static bool is_of_layout_or_job(const char *key) {
    return !strncmp(key, "parallelism.", strlen("parallelism.")) ||
           (!strncmp(key, "job.", strlen("job.")) && strcmp(key, "job.device") != 0);
}

/* Whether the runs are the same work, at most split over cards in other ways. */
static bool same_but_cards(const Comparison *c, const Row *a, const Row *b) {
    for (int k = 0; k < c->key_count; k++)
        if (!is_of_layout_or_job(c->keys[k]) && values_differ(a->keys[k], b->keys[k]))
            return false;
    return true;
}

/* Whether the run's only card exchanges data with itself, which takes time. */
static bool exchanges_alone(const Comparison *c, const Row *row) {
    for (int k = 0; k < c->key_count; k++)
        if (!strcmp(c->keys[k], "parallelism.one_rank_collectives"))
            return values_differ(row->keys[k], "none");
    return false;
}

/* The run on one card that speed-ups refer to, at best one without collectives. */
static const Row *alone(const Comparison *c, const Row *row) {
    const Row *found = NULL;
    for (int i = 0; i < c->count; i++) {
        const Row *other = &c->rows[i];
        bool one = cards_of(other) == 1 && same_but_cards(c, other, row);
        if (one && !exchanges_alone(c, other))
            return other;
        found = found || !one ? found : other;
    }
    return found;
}

/* Every card has its own batches, so the speed-up is the ratio of rates. */
static void set_speedups(Comparison *c) {
    int of = figure_named(c->simulated ? PREDICTED_SPEEDUP : SPEEDUP);
    int per_card = figure_named(c->simulated ? PREDICTED_EFFICIENCY : EFFICIENCY);
    bool several = false;
    for (int i = 0; i < c->count; i++)
        several = several || cards_of(&c->rows[i]) > 1;
    for (int i = 0; several && i < c->count; i++) {
        Row *row = &c->rows[i];
        const Row *one = alone(c, row);
        double speedup = one ? rate_of(c, row) / rate_of(c, one) : NAN;
        row->figures[of] = spread_of_one(speedup);
        row->figures[per_card] = spread_of_one(speedup / cards_of(row));
    }
}

/* Marks the runs that report another number, of steps or targets, than the reference. */
static void mark_uneven(Arena *arena, Comparison *c, SumOf sum, const char *number) {
    if (c->reference < 0)
        return;
    const Figure figure = {.path = number, .sum = WHOLE_RUN};
    double wanted = spread_of(arena, c->rows[c->reference].run, &figure).median;
    for (int i = 0; i < c->count; i++) {
        double taken = spread_of(arena, c->rows[i].run, &figure).median;
        c->rows[i].uneven[sum] = taken < wanted || taken > wanted;
    }
}

/* ---- together ------------------------------------------------------------------------------- */

static void note_device(Arena *arena, Comparison *c, Row *row) {
    const Run *run = row->run;
    const char *name = json_string_value(find(run->reports[0], "device.name"));
    bool simulated = json_is_true(find(run->reports[0], "device.simulated"));
    if (c->device[0] && simulated != c->simulated)
        user_error((Pos){0}, "compare either runs on GPUs or runs on the simulated device",
                   "%s ran on %s: simulated times say nothing about real ones", run->name,
                   simulated ? "the simulated device and earlier ones on a real one"
                             : "a real device and earlier ones on the simulated one");
    c->simulated = simulated;
    row->device = name ? name : "";
    if (name && !strstr(c->device, name))
        c->device = c->device[0] ? arena_printf(arena, "%s, %s", c->device, name) : name;
}

Comparison compare_runs(Arena *arena, const char *title, const Run *runs, int count) {
    Comparison c = {.title = title,
                    .device = "",
                    .figures = figures,
                    .figure_count = FIGURES,
                    .count = count,
                    .reference = -1};
    c.rows = arena_array(arena, (size_t)count + 1, sizeof *c.rows);
    find_keys(arena, &c, runs, count);
    for (int i = 0; i < count; i++) {
        const Toml **values = values_of(arena, &c, &runs[i]);
        c.rows[i] = (Row){.run = &runs[i],
                          .keys = texts_of(arena, values, c.key_count),
                          .values = values,
                          .figures = figures_of(arena, &runs[i])};
        if (!runs[i].repeats)
            continue;
        note_device(arena, &c, &c.rows[i]);
        c.repeats = runs[i].repeats > c.repeats ? runs[i].repeats : c.repeats;
        c.cards = cards_of(&c.rows[i]) > c.cards ? (int)cards_of(&c.rows[i]) : c.cards;
        c.reference = c.reference < 0 ? i : c.reference;
    }
    set_speedups(&c);
    mark_uneven(arena, &c, SUM_OF_STEPS, "steps");
    mark_uneven(arena, &c, SUM_OF_WINDOW, "profiling_window.steps");
    mark_uneven(arena, &c, HELDOUT_MEAN, "loss.heldout_targets");
    return c;
}

/* ---- as the user asked ---------------------------------------------------------------------- */

static const struct {
    const char *name, *file;
    PrintComparison print;
} formats[] = {{"text", "study.txt", comparison_text},
               {"csv", "study.csv", comparison_csv},
               {"json", "study.json", comparison_json},
               {"svg", "study.svg", comparison_svg}};
enum { FORMATS = sizeof formats / sizeof *formats };

PrintComparison comparison_format(const char *name) {
    for (int i = 0; name && i < FORMATS; i++)
        if (!strcmp(name, formats[i].name))
            return formats[i].print;
    if (name)
        user_error((Pos){0}, "use text, csv, json or svg; with --plan also markdown",
                   "unknown format %s", name);
    return formats[0].print;
}

static void write_files(Arena *arena, const char *folder, const Comparison *c) {
    for (int i = 0; i < FORMATS; i++) {
        StrBuf text = {0};
        const char *path = arena_printf(arena, "%s/%s", folder, formats[i].file);
        formats[i].print(c, &text);
        bool same = file_compare(path, text.text, text.length) == FILE_SAME;
        const char *why = same ? NULL : file_write(path, text.text, text.length);
        if (why)
            user_error((Pos){.file = path}, "free some disk space, or change the permissions",
                       "cannot write this file: %s", why);
        sb_free(&text);
    }
}

bool forget_study(Arena *arena, const char *folder) {
    if (!is_study(arena, folder))
        return false;
    remove(arena_printf(arena, "%s/points", folder));
    for (int i = 0; i < FORMATS; i++)
        remove(arena_printf(arena, "%s/%s", folder, formats[i].file));
    warn_at((Pos){.file = folder},
            arena_printf(arena, "gpuopt-gen --compare %s/POINT... compares points that have run",
                         folder),
            "this was the folder of a study, whose points stay, but which it no longer lists");
    return true;
}

/* Shells add a slash at the end of a folder's name. */
static const char *without_slash(Arena *arena, const char *path) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    return arena_strndup(arena, path, end);
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void compare_folders(Arena *arena, const char *const *folders, int count, const char *format) {
    PrintComparison print = comparison_format(format);
    const char *folder = without_slash(arena, folders[0]);
    bool study = count == 1 && is_study(arena, folder);
    Run *runs = study ? study_read(arena, folder, &count)
                      : arena_array(arena, (size_t)count, sizeof *runs);
    for (int i = 0; !study && i < count; i++)
        runs[i] = run_read(arena, folders[i]);
    Comparison c = compare_runs(arena, study ? last_part(folder) : "", runs, count);
    c.points = study;
    StrBuf text = {0};
    print(&c, &text);
    fputs(text.text, stdout);
    fflush(stdout);
    sb_free(&text);
    if (study)
        write_files(arena, folder, &c);
    for (int i = 0; i < count; i++)
        run_free(&runs[i]);
}
