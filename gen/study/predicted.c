/* The plan's predictions for the points of a sweep, as a table or in the formats of a
 * comparison. */
#include "plan/figures.h"
#include "plan/fit.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Text and Markdown have the first SHOWN. */
enum { CARDS, WEIGHTS, TRAINING, ACTIVATIONS, PROCESS, STEP_MS, RATE, SHOWN };
enum { LAUNCHES = SHOWN, INPUT_BYTES, COMM_BYTES, EXPOSED_MS, MODEL_FLOPS, PEAK_SHARE, WORKSPACE,
       REST, FIGURES };
enum { COLUMNS = SHOWN + 2, CELL_SIZE = 128 };

static const Figure figures[FIGURES] = {
    [CARDS] = {"cards", 0, NULL, "cards", WHOLE_RUN},
    [WEIGHTS] = {"weights_bytes", 0, "weights per card", "bytes", WHOLE_RUN},
    [TRAINING] = {"gradient_and_optimizer_bytes", 0, "gradients and optimizer per card", "bytes",
                  WHOLE_RUN},
    [ACTIVATIONS] = {"activation_bytes", 0, "peak activations per card", "bytes", WHOLE_RUN},
    [PROCESS] = {"process_bytes", 0, "memory per card", "bytes", WHOLE_RUN},
    [STEP_MS] = {"step_ms", 0, "step, predicted", "ms", ONE_STEP},
    [RATE] = {"per_second", 0, "tokens, or samples, of all cards", "1/s", ONE_STEP},
    [LAUNCHES] = {"kernel_launches", 0, NULL, "launches", ONE_STEP},
    [INPUT_BYTES] = {"h2d_bytes", 0, NULL, "bytes", ONE_STEP},
    [COMM_BYTES] = {"communication_bytes", 0, NULL, "bytes", ONE_STEP},
    [EXPOSED_MS] = {"exposed_ms", 0, NULL, "ms", ONE_STEP},
    [MODEL_FLOPS] = {"model_flops", 0, NULL, "FLOP", ONE_STEP},
    [PEAK_SHARE] = {"share_of_peak", 0, NULL, "share", ONE_STEP},
    [WORKSPACE] = {"matmul_workspace_bytes", 0, NULL, "bytes", WHOLE_RUN},
    [REST] = {"scratch_rest_bytes", 0, NULL, "bytes", WHOLE_RUN},
};

/* ---- as rows of a comparison ----------------------------------------------------------------- */

static double role_bytes(const Plan *plan, const Role *roles, int count) {
    double bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += (double)plan->role_bytes[roles[i]];
    return bytes;
}

/* Returns "lora" for `adapter.type="lora"`. */
static const char *text_of(Arena *arena, const char *set) {
    const char *value = strchr(set, '=') + 1;
    size_t length = strlen(value);
    bool quoted = length > 1 && value[0] == '"';
    return arena_strndup(arena, value + quoted, length - 2 * quoted);
}

static const Toml *value_of(Arena *arena, const char *set) {
    const char *text = arena_printf(arena, "value%s", strchr(set, '='));
    TomlError error;
    const Toml *root = toml_parse(arena, "[sweep]", text, strlen(text), &error);
    return root ? toml_get(root, "value") : NULL;
}

/* A pipeline also keeps those of the other micro-batches in flight. */
static double activation_bytes(const Plan *plan) {
    int64_t kept = plan_slots(plan, ARENA_STASH) * plan->arena_bytes[ARENA_STASH];
    return (double)(plan->peak.bytes + kept);
}

static double share_of_peak(const Plan *plan) {
    double peak = plan->device->peak_flops[program_rate(plan->program)];
    return 1e3 * plan->step.model_flops / plan->step.ms / peak;
}

static Row row_of(Arena *arena, const SweepPoint *point, const Plan *plan) {
    static const Role weights[] = {ROLE_FROZEN, ROLE_WEIGHT, ROLE_ADAPTER, ROLE_BUFFER};
    static const Role training[] = {ROLE_GRADIENT, ROLE_OPTIMIZER};
    Run *run = arena_alloc(arena, sizeof *run);
    *run = (Run){.name = point->name[0] ? point->name : plan->spec->name,
                 .state = plan_fits(plan) ? "fits" : "too large",
                 .repeats = 1};
    Row row = {.run = run,
               .keys = arena_array(arena, (size_t)point->nsets + 1, sizeof *row.keys),
               .values = arena_array(arena, (size_t)point->nsets + 1, sizeof *row.values),
               .figures = arena_array(arena, FIGURES, sizeof *row.figures),
               .device = arena_strdup(arena, plan->device->title)};
    for (int i = 0; i < point->nsets; i++) {
        row.keys[i] = text_of(arena, point->sets[i]);
        row.values[i] = value_of(arena, point->sets[i]);
    }
    const double values[FIGURES] = {
        [CARDS] = plan_cards(plan),
        [WEIGHTS] = role_bytes(plan, weights, sizeof weights / sizeof *weights),
        [TRAINING] = role_bytes(plan, training, sizeof training / sizeof *training),
        [ACTIVATIONS] = activation_bytes(plan),
        [PROCESS] = (double)plan->process_bytes,
        [STEP_MS] = plan->step.ms,
        [RATE] = 1e3 * plan_step_rows(plan) / plan->step.ms,
        [LAUNCHES] = plan_step_kernels(plan),
        [INPUT_BYTES] = plan_step_input_bytes(plan),
        [COMM_BYTES] = plan_exchanged(plan).bytes,
        [EXPOSED_MS] = plan->exposed_ms,
        [MODEL_FLOPS] = plan->step.model_flops,
        [PEAK_SHARE] = share_of_peak(plan),
        [WORKSPACE] = (double)(plan->gemm_workspaces * plan->gemm_workspace_bytes),
        [REST] = (double)plan_scratch_rest(plan),
    };
    for (int i = 0; i < FIGURES; i++)
        row.figures[i] = (Spread){values[i], values[i], values[i]};
    return row;
}

static const char **keys_of(Arena *arena, const SweepPoint *point) {
    const char **keys = arena_array(arena, (size_t)point->nsets + 1, sizeof *keys);
    for (int i = 0; i < point->nsets; i++)
        keys[i] = arena_strndup(arena, point->sets[i], strcspn(point->sets[i], "="));
    return keys;
}

Predicted predicted_new(Arena *arena, const Sweep *sweep) {
    const SweepPoint *first = &sweep->points[0];
    Comparison table = {.title = arena_printf(arena, "%s, predicted", first->spec->name),
                        .keys = keys_of(arena, first),
                        .key_count = first->nsets,
                        .figures = figures,
                        .figure_count = FIGURES,
                        .rows = arena_array(arena, (size_t)sweep->count, sizeof(Row)),
                        .points = sweep->swept,
                        .predicted = true};
    return (Predicted){.table = table};
}

void predicted_add(Arena *arena, Predicted *all, const SweepPoint *point, const Plan *plan) {
    const char *title = plan->device->title, *before = all->table.device;
    if (!before || !strstr(before, title))
        all->table.device = before ? arena_printf(arena, "%s, %s", before, title)
                                   : arena_strdup(arena, title);
    all->things = arena_strdup(arena, plan->program->unit.plural);
    all->table.rows[all->table.count++] = row_of(arena, point, plan);
}

/* ---- text and Markdown ----------------------------------------------------------------------- */

typedef char Cells[COLUMNS][CELL_SIZE];

/* How a column of bytes is printed. */
typedef struct {
    const char *unit;
    double size;
    int digits; /* after the point */
} Bytes;

static double most_of(const Comparison *c, int figure) {
    double most = 0;
    for (int i = 0; i < c->count; i++)
        most = fmax(most, c->rows[i].figures[figure].median);
    return most;
}

/* Returns the least value but 0; INFINITY: there is none. */
static double least_of(const Comparison *c, int figure) {
    double least = INFINITY;
    for (int i = 0; i < c->count; i++) {
        double value = c->rows[i].figures[figure].median;
        least = value > 0 ? fmin(least, value) : least;
    }
    return least;
}

/* MiB in the table of small models and in a column below 1 GiB, else GiB. The least value has two
 * digits, unless these are more than three places after the point. */
static Bytes bytes_of(const Comparison *c, int figure) {
    bool small = most_of(c, PROCESS) < 0x1p32 || most_of(c, figure) < 0x1p30;
    Bytes bytes = small ? (Bytes){"MiB", 0x1p20, 1} : (Bytes){"GiB", 0x1p30, 1};
    for (double least = least_of(c, figure) / bytes.size; least < 1 && bytes.digits < 3; least *= 10)
        bytes.digits++;
    return bytes;
}

static bool is_bytes(int figure) { return figure >= WEIGHTS && figure <= PROCESS; }

static void head_cells(const Comparison *c, const char *things, Cells cells) {
    static const char *const titles[SHOWN] = {[WEIGHTS] = "weights",
                                                [TRAINING] = "gradients, optimizer",
                                                [ACTIVATIONS] = "activations",
                                                [PROCESS] = "per card"};
    snprintf(cells[0], CELL_SIZE, "predicted");
    for (int f = WEIGHTS; f <= PROCESS; f++)
        snprintf(cells[f + 1], CELL_SIZE, "%s, %s", titles[f], bytes_of(c, f).unit);
    snprintf(cells[CARDS + 1], CELL_SIZE, "cards");
    snprintf(cells[STEP_MS + 1], CELL_SIZE, "step, ms");
    snprintf(cells[RATE + 1], CELL_SIZE, "%s per second", things);
    cells[SHOWN + 1][0] = '\0';
}

static void row_cells(const Comparison *c, const Row *row, Cells cells) {
    snprintf(cells[0], CELL_SIZE, "%s", row->run->name);
    for (int f = 0; f < SHOWN; f++) {
        double value = row->figures[f].median;
        int digits = f != STEP_MS ? 0 : value >= 10 ? 1 : 3;
        Bytes bytes = is_bytes(f) ? bytes_of(c, f) : (Bytes){"", 1, digits};
        snprintf(cells[f + 1], CELL_SIZE, "%.*f", bytes.digits, value / bytes.size);
    }
    bool fits = !strcmp(row->run->state, "fits");
    snprintf(cells[SHOWN + 1], CELL_SIZE, "%s", fits ? "" : row->run->state);
}

static void put_markdown(Cells *table, int rows, StrBuf *out) {
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < COLUMNS; k++)
            sb_printf(out, "| %s%s", table[i][k], table[i][k][0] ? " " : "");
        sb_puts(out, "|\n");
        for (int k = 0; i == 0 && k < COLUMNS; k++)
            sb_puts(out, k == 0 ? "| ---" : k <= SHOWN ? " | ---:" : " | --- |\n");
    }
}

static int width_of(Cells *table, int rows, int column) {
    size_t width = 0;
    for (int i = 0; i < rows; i++)
        width = strlen(table[i][column]) > width ? strlen(table[i][column]) : width;
    return (int)width;
}

static void put_aligned(Cells *table, int rows, StrBuf *out) {
    for (int i = 0; i < rows; i++) {
        sb_printf(out, "%-*s", width_of(table, rows, 0), table[i][0]);
        for (int k = 1; k <= SHOWN; k++)
            sb_printf(out, "  %*s", width_of(table, rows, k), table[i][k]);
        sb_printf(out, "%s%s\n", table[i][COLUMNS - 1][0] ? "  " : "", table[i][COLUMNS - 1]);
    }
}

static void put_table(Arena *arena, const Comparison *c, const char *things, bool markdown,
                      StrBuf *out) {
    Cells *table = arena_array(arena, (size_t)c->count + 1, sizeof *table);
    head_cells(c, things, table[0]);
    for (int i = 0; i < c->count; i++)
        row_cells(c, &c->rows[i], table[i + 1]);
    (markdown ? put_markdown : put_aligned)(table, c->count + 1, out);
    put_mixed(c, out);
}

void predicted_print(Arena *arena, const Predicted *all, const char *format) {
    bool markdown = format && !strcmp(format, "markdown");
    PrintComparison print = comparison_format(markdown ? NULL : format);
    StrBuf text = {0};
    if (print == comparison_text)
        put_table(arena, &all->table, all->things, markdown, &text);
    else
        print(&all->table, &text);
    fputs(text.text, stdout);
    sb_free(&text);
}
