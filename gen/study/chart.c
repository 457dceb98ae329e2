/* Draws a comparison: a panel per figure that has a chart, with one bar per run, starting at zero. A
 * point of a study is labelled with its name, any other run with the values of the differing keys.
 * Runs with the same value of the first differing key form a group, and bars with the same values
 * of all other keys have the same colour. A thin line over a bar's end is the range of its
 * repetitions. A sum or a mean over other steps or targets than the reference's has no bar, but a note.
 * Where times are simulated, predictions come first, and these times are not drawn. */
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MARGIN = 16,
    BARS_LEFT = 360, /* at least; to its left are the run's keys, or its name */
    BARS_WIDTH = 460,
    VALUES_WIDTH = 140,
    BAR = 14,
    LINE = 20,  /* distance between bars */
    APART = 10, /* additional distance between groups */
    TITLE = 44,
    COLOURS = 8,
    LABEL_SIZE = 512,
    LABEL_SHOWN = 48, /* characters of keys' values that fit */
    NAME_WIDTH = 36   /* of five characters of a name */
};

static const char *const colours[COLOURS] = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                             "#66ccee", "#aa3377", "#997700", "#777777"};

/* XML has no control characters. */
static void put_escaped(StrBuf *out, const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            sb_puts(out, " ");
        else if (*text == '<')
            sb_puts(out, "&lt;");
        else if (*text == '>')
            sb_puts(out, "&gt;");
        else if (*text == '&')
            sb_puts(out, "&amp;");
        else
            sb_append(out, text, 1);
}

static void put_text(StrBuf *out, int x, int y, const char *class, const char *text) {
    sb_printf(out, "  <text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
    put_escaped(out, text);
    sb_puts(out, "</text>\n");
}

static const char *leaf_of(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* Where bars begin: the name of a point is shown in full. */
static int bars_left(const Comparison *c) {
    int left = BARS_LEFT;
    for (int i = 0; c->points && i < c->count; i++) {
        int own = MARGIN + (int)strlen(c->rows[i].run->name) * NAME_WIDTH / 5;
        left = own > left ? own : left;
    }
    return left;
}

/* Writes "r, dtype": the keys whose values label the bars of a panel, or "point" if its name does. */
static void label_heads(const Comparison *c, char text[LABEL_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    if (c->points) {
        snprintf(text, LABEL_SIZE, "point");
        return;
    }
    for (int k = 0; k < c->key_count && used < LABEL_SIZE; k++)
        used += (size_t)snprintf(text + used, LABEL_SIZE - used, "%s%s", used ? ", " : "",
                                 leaf_of(c->keys[k]));
}

/* Writes "8, bf16": the values of the keys from `first` on. */
static void put_values(const Comparison *c, const Row *row, int first, char text[LABEL_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (int k = first; k < c->key_count && used < LABEL_SIZE; k++)
        used += (size_t)snprintf(text + used, LABEL_SIZE - used, "%s%s", used ? ", " : "",
                                 row->keys[k]);
}

/* Writes a point's name, else the values of all keys, or the run's name if no keys differ. */
static void label_of(const Comparison *c, const Row *row, char text[LABEL_SIZE]) {
    if (c->points || c->key_count == 0)
        snprintf(text, LABEL_SIZE, "%s", row->run->name);
    else
        put_values(c, row, 0, text);
}

/* The most of `size` bytes of a text in UTF-8 that end with a whole character. */
static int whole_characters(const char *text, int size) {
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static void put_label(const Comparison *c, StrBuf *out, int y, const char *class,
                      const char *text) {
    char shown[LABEL_SIZE + 4];
    bool cut = !c->points && strlen(text) > LABEL_SHOWN;
    int kept = cut ? whole_characters(text, LABEL_SHOWN - 2) : LABEL_SIZE;
    snprintf(shown, sizeof shown, "%.*s%s", kept, text, cut ? " …" : "");
    put_text(out, bars_left(c) - 8, y, class, shown);
}

/* Runs with the same values of all keys but the first have the same colour. */
static int colour_of(const Comparison *c, int index) {
    char own[LABEL_SIZE], other[LABEL_SIZE];
    int distinct = 0;
    if (c->key_count < 2)
        return 0;
    put_values(c, &c->rows[index], 1, own);
    for (int i = 0; i <= index; i++) {
        bool seen = false;
        put_values(c, &c->rows[i], 1, other);
        if (strcmp(own, other) == 0)
            return distinct % COLOURS;
        for (int k = 0; k < i && !seen; k++) {
            char earlier[LABEL_SIZE];
            put_values(c, &c->rows[k], 1, earlier);
            seen = strcmp(earlier, other) == 0;
        }
        distinct += !seen;
    }
    return 0;
}

static bool starts_group(const Comparison *c, int index) {
    return index > 0 && c->key_count > 1 &&
           strcmp(c->rows[index].keys[0], c->rows[index - 1].keys[0]) != 0;
}

static int panel_height(const Comparison *c) {
    int height = TITLE;
    for (int i = 0; i < c->count; i++)
        height += LINE + (starts_group(c, i) ? APART : 0);
    return height;
}

static double largest(const Comparison *c, int figure) {
    double most = 0;
    for (int i = 0; i < c->count; i++)
        if (!c->rows[i].uneven[c->figures[figure].sum])
            most = fmax(most, c->rows[i].figures[figure].most);
    return most;
}

static int put_value(double value, char *text, size_t size) {
    bool whole = value == floor(value) || fabs(value) >= 1e5;
    return snprintf(text, size, whole && fabs(value) < LARGE_FIGURE ? "%.0f" : "%.4g", value);
}

/* Writes "4.5, over 2 steps" for a value that is not comparable with the others. */
static void apart_text(const Comparison *c, const Row *row, int figure, char *text, size_t size) {
    bool steps = c->figures[figure].sum == SUM_OF_STEPS;
    int over = figure_at(c, steps ? "steps" : "loss.heldout_targets");
    int used = put_value(row->figures[figure].median, text, size);
    snprintf(text + used, size - (size_t)used, ", over %.0f %s", row->figures[over].median,
             steps ? "steps" : "targets");
}

static void put_bar(const Comparison *c, int index, int figure, int y, StrBuf *out) {
    const Row *row = &c->rows[index];
    const Spread *spread = &row->figures[figure];
    double scale = largest(c, figure) > 0 ? BARS_WIDTH / largest(c, figure) : 0;
    int left = bars_left(c);
    char text[64];
    if (isnan(spread->median)) {
        put_text(out, left + 6, y + BAR - 3, "note",
                 row->run->repeats ? "not measured" : row->run->state);
        return;
    }
    if (row->uneven[c->figures[figure].sum]) {
        apart_text(c, row, figure, text, sizeof text);
        put_text(out, left + 6, y + BAR - 3, "note", text);
        return;
    }
    sb_printf(out, "  <rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
              left, y, fmax(spread->median, 0) * scale, BAR, colours[colour_of(c, index)]);
    if (spread->least < spread->most)
        sb_printf(out, "  <path d=\"M%.1f %d h%.1f\" stroke=\"black\"/>\n",
                  left + fmax(spread->least, 0) * scale, y + BAR / 2,
                  (spread->most - fmax(spread->least, 0)) * scale);
    double ratio = figure_ratio(c, row, figure);
    int used = put_value(spread->median, text, sizeof text);
    if (!isnan(ratio))
        snprintf(text + used, sizeof text - (size_t)used, ratio < LARGE_RATIO ? "  x%.2f" : "  x%.1e",
                 ratio);
    put_text(out, left + (int)(spread->most * scale) + 6, y + BAR - 3, "value", text);
}

/* Writes "host to device (bytes, sum over 20 steps)": those of the reference. */
static void title_of(const Comparison *c, int figure, char text[LABEL_SIZE]) {
    const Figure *f = &c->figures[figure];
    bool named = !f->unit[0] || strstr(f->chart, f->unit); /* as "launches" is by its chart */
    char sum[64] = "";
    if (f->sum == SUM_OF_STEPS)
        snprintf(sum, sizeof sum, "sum over %.0f steps",
                 c->rows[c->reference].figures[figure_at(c, "steps")].median);
    const char *unit = named ? "" : f->unit, *comma = unit[0] && sum[0] ? ", " : "";
    bool more = unit[0] || sum[0];
    snprintf(text, LABEL_SIZE, "%s%s%s%s%s%s", f->chart, more ? " (" : "", unit, comma, sum,
             more ? ")" : "");
}

static int put_panel(const Comparison *c, int figure, int y, StrBuf *out) {
    char heads[LABEL_SIZE], title[LABEL_SIZE];
    label_heads(c, heads);
    title_of(c, figure, title);
    put_label(c, out, y + TITLE - 8, "label note", heads);
    put_text(out, bars_left(c), y + TITLE - 8, "title", title);
    y += TITLE;
    for (int i = 0; i < c->count; i++) {
        char label[LABEL_SIZE];
        y += starts_group(c, i) ? APART : 0;
        label_of(c, &c->rows[i], label);
        put_label(c, out, y + BAR - 3, "label", label);
        put_bar(c, i, figure, y, out);
        y += LINE;
    }
    return y;
}

/* Whether a panel compares anything: not if all other runs are over other steps or targets. */
static bool compares(const Comparison *c, SumOf sum) {
    for (int i = 0; i < c->count; i++)
        if (i != c->reference && c->rows[i].run->repeats && !c->rows[i].uneven[sum])
            return true;
    return !any_uneven(c, sum);
}

static bool is_time(const char *path) { return strstr(path, "_ms") || strstr(path, "_per_s"); }

static bool is_drawn(const Comparison *c, int figure) {
    const Figure *f = &c->figures[figure];
    bool predicted = figure_predicted(c, figure);
    bool of_device = c->simulated ? predicted || !is_time(f->path) : !predicted;
    return f->chart && of_device && figure_measured(c, figure) && compares(c, f->sum);
}

/* Draws the predictions, or all other panels. Returns where the next one begins. */
static int put_panels(const Comparison *c, bool predicted, int y, StrBuf *out) {
    for (int f = 0; f < c->figure_count; f++)
        if (is_drawn(c, f) && figure_predicted(c, f) == predicted)
            y = put_panel(c, f, y, out);
    return y;
}

/* A line below the panels for each run that was resumed. Without `out` returns only their height. */
static int put_resumed(const Comparison *c, int y, StrBuf *out) {
    int lines = 0;
    for (int i = 0; i < c->count; i++) {
        char text[LABEL_SIZE];
        double step = resumed_after(c, &c->rows[i]);
        if (step <= 0)
            continue;
        snprintf(text, sizeof text,
                 "%s was resumed after step %.0f: its sums cover only the steps since then",
                 c->rows[i].run->name, step);
        lines++;
        if (out)
            put_text(out, MARGIN, y + lines * LINE, "note", text);
    }
    return lines * LINE;
}

void comparison_svg(const Comparison *c, StrBuf *out) {
    int width = bars_left(c) + BARS_WIDTH + VALUES_WIDTH;
    int height = TITLE + MARGIN + put_resumed(c, 0, NULL);
    for (int f = 0; f < c->figure_count; f++)
        height += is_drawn(c, f) ? panel_height(c) : 0;
    sb_printf(out,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
              "viewBox=\"0 0 %d %d\">\n",
              width, height, width, height);
    sb_puts(out, "  <style>\n    text { font: 12px sans-serif; }\n"
                 "    .head { font-size: 16px; font-weight: bold; }\n"
                 "    .title { font-size: 13px; font-weight: bold; }\n"
                 "    .label { text-anchor: end; }\n    .note { fill: #777777; }\n  </style>\n");
    sb_puts(out, "  <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    char head[LABEL_SIZE];
    snprintf(head, sizeof head, "%s%s%s%s", c->title[0] ? c->title : "comparison of runs",
             c->device[0] ? ", on " : "", c->device,
             c->simulated ? " (simulated)" : "");
    put_text(out, MARGIN, MARGIN + 12, "head", head);
    put_resumed(c, put_panels(c, false, put_panels(c, true, TITLE, out), out), out);
    sb_puts(out, "</svg>\n");
}
