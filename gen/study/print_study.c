/* Prints a comparison as text, CSV and JSON. */
#include "study/study.h"

#include "base/json_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text ----------------------------------------------------------------------------------- */

static void pad(StrBuf *out, const char *text, size_t width) {
    sb_puts(out, text);
    for (size_t n = strlen(text); n < width; n++)
        sb_puts(out, " ");
}

static void end_line(StrBuf *out) {
    while (out->length > 0 && out->text[out->length - 1] == ' ')
        out->text[--out->length] = '\0';
    sb_puts(out, "\n");
}

static size_t longer(size_t width, const char *text) {
    return strlen(text) > width ? strlen(text) : width;
}

static size_t key_width(const Comparison *c, int key) {
    size_t width = strlen(c->keys[key]);
    for (int i = 0; i < c->count; i++)
        width = longer(width, c->rows[i].keys[key]);
    return width + 2;
}

static size_t name_width(const Comparison *c) {
    size_t width = strlen("run");
    for (int i = 0; i < c->count; i++)
        width = longer(width, c->rows[i].run->name);
    return width + 2;
}

static size_t state_width(const Comparison *c) {
    size_t width = strlen("finished");
    for (int i = 0; i < c->count; i++)
        width = longer(width, c->rows[i].run->state);
    return width + 2;
}

enum { MOST_COLUMNS = 120, NUMBER_WIDTH = 6 };

/* Returns the end of the keys from `first` on that fit beside `used` columns, at least one. */
static int keys_that_fit(const Comparison *c, int first, size_t used) {
    int end = first;
    for (; end < c->key_count; end++) {
        used += key_width(c, end);
        if (end > first && used > MOST_COLUMNS)
            break;
    }
    return end;
}

/* A line of print_runs without its number. */
static void print_run(const Comparison *c, const char *name, const char *state,
                      const char *const *keys, int first, int end, StrBuf *out) {
    pad(out, name, name_width(c));
    if (first == 0)
        pad(out, state, state_width(c));
    for (int k = first; k < end; k++)
        pad(out, keys[k], key_width(c, k));
    end_line(out);
}

/* The keys that do not fit beside names and states have tables of their own, with names. */
static void print_runs(const Comparison *c, StrBuf *out) {
    int first = 0;
    do {
        size_t used = NUMBER_WIDTH + name_width(c) + (first == 0 ? state_width(c) : 0);
        int end = keys_that_fit(c, first, used);
        sb_printf(out, "%s%*s", first ? "\n" : "", NUMBER_WIDTH, "");
        print_run(c, "run", "state", c->keys, first, end, out);
        for (int i = 0; i < c->count; i++) {
            const Row *row = &c->rows[i];
            sb_printf(out, "%*d  ", NUMBER_WIDTH - 2, i + 1);
            print_run(c, row->run->name, row->run->state, row->keys, first, end, out);
        }
        first = end;
    } while (first < c->key_count);
}

enum { VALUE_WIDTH = 14, RATIO_WIDTH = 10, RANGE_WIDTH = 26 };

/* Memory is printed in MiB, as in a plan; the other formats have bytes. */
static bool is_memory(const char *path) {
    static const char end[] = "_bytes";
    size_t length = strlen(path);
    return length >= strlen(end) && strcmp(path + length - strlen(end), end) == 0;
}

static void title_of(const Comparison *c, int figure, char text[64]) {
    const char *path = c->figures[figure].path;
    int kept = (int)(strlen(path) - (is_memory(path) ? strlen("bytes") : 0));
    snprintf(text, 64, "%.*s%s", kept, path, is_memory(path) ? "MiB" : "");
}

static void value_text(const Comparison *c, int figure, double value, char text[32]) {
    bool whole = value == floor(value) || fabs(value) >= 1e5;
    if (isnan(value))
        snprintf(text, 32, "-");
    else if (is_memory(c->figures[figure].path))
        snprintf(text, 32, "%.2f", value / 0x1p20);
    else if (fabs(value) >= LARGE_FIGURE)
        snprintf(text, 32, "%.3e", value);
    else
        snprintf(text, 32, whole ? "%.0f" : "%.4f", value);
}

/* "12.4100  x1.020   (12.3900..12.6000)" */
static void print_figure(const Comparison *c, const Row *row, int figure, size_t width,
                         StrBuf *out) {
    const Spread *spread = &row->figures[figure];
    double ratio = figure_ratio(c, row, figure);
    char median[32], least[32], most[32], relative[32] = "", range[80] = "";
    value_text(c, figure, spread->median, median);
    value_text(c, figure, spread->least, least);
    value_text(c, figure, spread->most, most);
    if (!isnan(ratio))
        snprintf(relative, sizeof relative,
                 ratio < 1e4           ? "x%.3f"
                 : ratio < LARGE_RATIO ? "x%.0f"
                                       : "x%.1e",
                 ratio);
    if (spread->least < spread->most)
        snprintf(range, sizeof range, "(%s..%s)", least, most);
    int range_width = figure_spreads(c, figure) ? RANGE_WIDTH : 0;
    sb_printf(out, "%*s%*s", (int)width - RATIO_WIDTH - range_width, median, RATIO_WIDTH, relative);
    if (range_width)
        sb_printf(out, "%*s", range_width, range);
}

static size_t figure_width(const Comparison *c, int figure) {
    size_t name = strlen(c->figures[figure].path) + 2, cell = VALUE_WIDTH + RATIO_WIDTH;
    cell += figure_spreads(c, figure) ? RANGE_WIDTH : 0;
    return name > cell ? name : cell;
}

/* Where times are simulated, predictions have a table of their own. Resumed runs have a note. */
static bool is_shown(const Comparison *c, int figure, bool predicted) {
    bool here = !c->simulated || figure_predicted(c, figure) == predicted;
    return here && figure_measured(c, figure) && strcmp(c->figures[figure].path, FIRST_STEP) != 0;
}

/* `predicted` chooses between the two kinds of figures where times are simulated. */
static void print_group(const Comparison *c, int first, int end, bool predicted, StrBuf *out) {
    int shown = 0;
    for (int f = first; f < end; f++)
        shown += is_shown(c, f, predicted);
    if (shown == 0)
        return;
    sb_printf(out, "\n%*s", NUMBER_WIDTH, "");
    pad(out, "run", name_width(c));
    for (int f = first; f < end; f++)
        if (is_shown(c, f, predicted)) {
            char title[64];
            title_of(c, f, title);
            sb_printf(out, "%*s", (int)figure_width(c, f), title);
        }
    sb_puts(out, "\n");
    for (int i = 0; i < c->count; i++) {
        if (!c->rows[i].run->repeats)
            continue;
        sb_printf(out, "%*d  ", NUMBER_WIDTH - 2, i + 1);
        pad(out, c->rows[i].run->name, name_width(c));
        for (int f = first; f < end; f++)
            if (is_shown(c, f, predicted))
                print_figure(c, &c->rows[i], f, figure_width(c, f), out);
        end_line(out);
    }
}

static void print_head(const Comparison *c, StrBuf *out) {
    int finished = 0;
    for (int i = 0; i < c->count; i++)
        finished += c->rows[i].run->repeats > 0;
    sb_printf(out, "%s%s%d of %d runs finished", c->title, c->title[0] ? ": " : "", finished,
              c->count);
    if (c->device[0])
        sb_printf(out, ", on %s%s", c->device, c->simulated ? ", simulated" : "");
    if (c->key_count == 0 && c->count > 1)
        sb_puts(out, "; their specs are the same");
    sb_puts(out, c->simulated ? "\nTimes on the simulated device say nothing about a GPU; "
                                "predictions, counts, bytes and losses do.\n\n"
                              : "\n\n");
}

static bool has_sums(const Comparison *c, SumOf sum) {
    for (int f = 0; f < c->figure_count; f++)
        if (c->figures[f].sum == sum && figure_measured(c, f))
            return true;
    return false;
}

static bool has(const Comparison *c, const char *path) {
    int figure = figure_at(c, path);
    return figure >= 0 && figure_measured(c, figure);
}

/* Says which figures are of one step and which are sums: their names do not show it. */
static void print_legend(const Comparison *c, StrBuf *out) {
    if (c->reference < 0)
        return;
    sb_puts(out, "\nOf one step: iteration_ms, feeding, communication and flops. iteration_ms is "
                 "taken over the\nsteps after the first, without profiled ones: median, and 10th "
                 "and 90th percentile, which\nneed two such steps. - means not measured.\n");
    if (has(c, "tokens_per_s"))
        sb_puts(out, "tokens_per_s counts the places of rows, padding included.\n");
    if (has(c, "data.mean_tokens"))
        sb_puts(out, "data is the training data; mean_tokens is the length of its samples after "
                     "cutting to a row.\n");
    if (has(c, "time.train_s"))
        sb_puts(out, "time.load_s is that before the first step or evaluation, time.train_s the sum "
                     "over all steps and\nthe checkpoints between them.\n");
    if (has_sums(c, SUM_OF_STEPS))
        sb_puts(out, "Sums over all steps of a run: launches, syncs, waits, skipped steps, and "
                     "counts and bytes of\ncopies and collectives.\n");
    if (has_sums(c, SUM_OF_WINDOW))
        sb_puts(out, "Sums over the steps of the profiling window: kernels.ms, and ms of copies "
                     "and collectives.\n");
    if (c->cards > 1)
        sb_puts(out, "With several cards: launches, syncs, waits, copies and flops.per_step are "
                     "sums over all cards, and\ntokens or samples per second are those of all. "
                     "iteration_ms, time, feeding, flops.share_of_peak, and\ncounts and bytes of "
                     "collectives are those of the first card, except that in one process with "
                     "several\ncards collectives are those of all. Memory is that of the card with "
                     "the most.\n");
}

static void print_resumed(const Comparison *c, StrBuf *out) {
    for (int i = 0; i < c->count; i++) {
        double step = resumed_after(c, &c->rows[i]);
        if (step > 0)
            sb_printf(out, "\nRun %d was resumed after step %.0f: its sums cover only the steps since "
                           "then.\n", i + 1, step);
    }
}

static void print_stale(const Comparison *c, StrBuf *out) {
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->rows[i].run->state, RUN_STALE)) {
            sb_puts(out, "\nstale: the point's spec has changed since it ran; make run brings it up "
                         "to date.\n");
            return;
        }
}

/* Says which figures of some runs have no ratio. The table shows steps and targets of each. */
static void print_uneven(const Comparison *c, StrBuf *out) {
    int first = c->reference + 1;
    if (any_uneven(c, SUM_OF_STEPS))
        sb_printf(out,
                  "\nSome runs took another number of steps than run %d: their time.train_s, "
                  "launches, syncs, waits,\ncopies and collectives, which are sums over all steps "
                  "of a run, have no ratio.\n",
                  first);
    if (any_uneven(c, SUM_OF_WINDOW))
        sb_printf(out,
                  "\nSome runs profiled another number of steps than run %d: their ms of kernels, "
                  "copies and\ncollectives, which are sums over all profiled steps, have no ratio.\n",
                  first);
    if (any_uneven(c, HELDOUT_MEAN))
        sb_printf(out,
                  "\nSome runs were evaluated on another number of held-out targets than run %d: "
                  "their held-out\nlosses and metrics, which are means over these, have no ratio.\n",
                  first);
}

void comparison_text(const Comparison *c, StrBuf *out) {
    print_head(c, out);
    print_runs(c, out);
    if (c->simulated)
        print_group(c, 0, c->figure_count, true, out);
    for (int first = 0, end; first < c->figure_count; first = end) {
        int group = c->figures[first].group;
        for (end = first; end < c->figure_count && c->figures[end].group == group;)
            end++;
        print_group(c, first, end, false, out);
    }
    print_legend(c, out);
    if (c->repeats > 1)
        sb_puts(out,
                "\nFigures are medians of repeated runs, with (least..most) where they differ.\n");
    if (c->reference >= 0)
        sb_printf(out, "\nx is the ratio to run %d.\n", c->reference + 1);
    print_uneven(c, out);
    print_resumed(c, out);
    print_stale(c, out);
    put_mixed(c, out);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void put_field(StrBuf *out, const char *text) {
    if (!strpbrk(text, ",\"\n")) {
        sb_puts(out, text);
        return;
    }
    sb_puts(out, "\"");
    for (; *text; text++)
        sb_printf(out, *text == '"' ? "\"\"" : "%c", *text);
    sb_puts(out, "\"");
}

static void put_number(StrBuf *out, double value) {
    sb_puts(out, ",");
    if (!isnan(value))
        sb_put_real(out, value);
}

/* What keeps rows apart that were measured, simulated and predicted. */
static void put_device(const Comparison *c, const Row *row, StrBuf *out) {
    sb_puts(out, ",");
    put_field(out, row->device ? row->device : "");
    sb_puts(out, !row->device ? "," : c->predicted || c->simulated ? ",true" : ",false");
}

void comparison_csv(const Comparison *c, StrBuf *out) {
    sb_puts(out, "run,state");
    for (int k = 0; k < c->key_count; k++)
        sb_printf(out, ",%s", c->keys[k]);
    for (int f = 0; f < c->figure_count; f++) {
        sb_printf(out, ",%s", c->figures[f].path);
        if (c->repeats > 1)
            sb_printf(out, ",%s.least,%s.most", c->figures[f].path, c->figures[f].path);
    }
    sb_printf(out, ",device.name,%s\n", c->predicted ? "predicted" : "device.simulated");
    for (int i = 0; i < c->count; i++) {
        const Row *row = &c->rows[i];
        put_field(out, row->run->name);
        sb_printf(out, ",%s", row->run->state);
        for (int k = 0; k < c->key_count; k++) {
            sb_puts(out, ",");
            put_field(out, row->keys[k]);
        }
        for (int f = 0; f < c->figure_count; f++) {
            put_number(out, row->figures[f].median);
            if (c->repeats > 1) {
                put_number(out, row->figures[f].least);
                put_number(out, row->figures[f].most);
            }
        }
        put_device(c, row, out);
        sb_puts(out, "\n");
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* In the type that it has in the spec; null: the key has no effect in this run. */
static json_t *value_json(const Toml *value) {
    if (!value)
        return json_null();
    if (value->kind == TOML_STRING)
        return json_string(value->string);
    if (value->kind == TOML_INT)
        return json_integer(value->integer);
    if (value->kind == TOML_REAL)
        return number(value->real);
    if (value->kind == TOML_BOOL)
        return json_boolean(value->boolean);
    json_t *array = json_array();
    for (int i = 0; i < value->count; i++)
        json_array_append_new(array, value_json(&value->items[i]));
    return array;
}

static json_t *row_json(const Comparison *c, const Row *row) {
    json_t *keys = json_object(), *values = json_object(), *ratios = json_object();
    json_t *ranges = json_object();
    for (int k = 0; k < c->key_count; k++)
        json_object_set_new(keys, c->keys[k], value_json(row->values[k]));
    for (int f = 0; f < c->figure_count; f++) {
        const Spread *spread = &row->figures[f];
        json_object_set_new(values, c->figures[f].path, number(spread->median));
        if (spread->least < spread->most)
            json_object_set_new(ranges, c->figures[f].path,
                                json_pack("[f, f]", spread->least, spread->most));
        json_object_set_new(ratios, c->figures[f].path, number(figure_ratio(c, row, f)));
    }
    return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "run", row->run->name, "state",
                     row->run->state, "repeats", row->run->repeats, "keys", keys, "figures", values,
                     "ratios", ratios, "ranges", ranges);
}

static json_t *figures_json(const Comparison *c) {
    json_t *all = json_object();
    for (int f = 0; f < c->figure_count; f++) {
        const Figure *figure = &c->figures[f];
        json_t *unit = figure->unit[0] ? json_string(figure->unit) : json_null();
        json_object_set_new(all, figure->path,
                            json_pack("{s:o, s:s}", "unit", unit, "over", figure_over(figure)));
    }
    return all;
}

void comparison_json(const Comparison *c, StrBuf *out) {
    json_t *runs = json_array();
    for (int i = 0; i < c->count; i++)
        json_array_append_new(runs, row_json(c, &c->rows[i]));
    json_t *root = json_pack("{s:s, s:s, s:b, s:o}", "study", c->title, "device", c->device,
                             c->predicted ? "predicted" : "simulated",
                             c->predicted || c->simulated, "runs", runs);
    ENSURE(root, "the comparison does not fit into JSON");
    const char *reference = c->reference < 0 ? NULL : c->rows[c->reference].run->name;
    json_object_set_new(root, "reference", reference ? json_string(reference) : json_null());
    json_object_set_new(root, "figures", figures_json(c));
    sb_put_json(out, root);
}
