/*
 * compare.c - the error bounds within which a training step counts as right.
 *
 *   fp64        1e-10 of the reference's norm, for every tensor; for a gradient also 1e-13 of the
 *               global norm, since some are only rounding noise (a shift before a batch norm).
 *   fp32        losses and logits 1e-5; a gradient 1e-4 of its norm + 1e-6 of the global norm;
 *               a weight 1e-3 of its update's norm + 1e-7 of its own.
 *   bf16, fp16, 1.5 times PyTorch's own error at these types (errors.json), for each tensor and
 *   tf32        for the ten losses together, plus the bound for fp32, because a gradient that is
 *               tiny compared with the others is only rounding noise. The first loss is not
 *               compared separately: the error of a single number is luck, and the ten losses
 *               contain it. The held-out figures are not compared.
 *
 * Inputs must be equal, and top-1 and top-5 shares as far as they are printed. Images that the host
 * prepared are checked only through their effect on the other tensors. A missing tensor, an extra
 * one, a wrong shape, a gradient that is all zero, and NaN are failures.
 */
#include "compare.h"

#include "runtime/files/safetensors.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FP64_BOUND = 1e-10, FP32_BOUND = 1e-5;
static const double SHARE_BOUND = 1e-8; /* much less than one of the images */
static const double OWN_ERROR_FACTOR = 1.5;

enum { MAX_ROWS = 4096, LINE_BYTES = 4096 };

typedef struct Row {
    const char *name;
    double error, bound, norm;
    const char *fault; /* another failure, or NULL if only error <= bound decides */
} Row;

typedef struct Comparison {
    const CompareJob *job;
    StFile *expected, *dump, *model, *adapter; /* adapter may be NULL */
    json_t *own_errors;                        /* PyTorch's, for this dtype; else NULL */
    double grad_norm;                          /* the reference's, over all gradients */
    Row rows[MAX_ROWS];
    int count;
    char trouble[512]; /* why nothing could be compared */
} Comparison;

/* --- Files --------------------------------------------------------------------------------- */

static bool trouble(Comparison *c, const char *path, const char *what)
{
    snprintf(c->trouble, sizeof c->trouble, "%s: %s", path, what);
    return false;
}

static bool open_file(Comparison *c, StFile **file, const char *path)
{
    *file = st_open(path, c->trouble, sizeof c->trouble);
    return *file;
}

static const char *case_path(const Comparison *c, const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", c->job->case_dir, name);
    return path;
}

static bool exists(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file)
        fclose(file);
    return file;
}

static bool load_own_errors(Comparison *c)
{
    if (!strcmp(c->job->dtype, "fp64") || !strcmp(c->job->dtype, "fp32"))
        return true;
    const char *path = case_path(c, "errors.json");
    json_error_t error;
    json_t *all = json_load_file(path, 0, &error);
    if (!all)
        return trouble(c, path, error.text);
    c->own_errors = json_incref(json_object_get(all, c->job->dtype));
    json_decref(all);
    return c->own_errors ? true : trouble(c, path, "has no errors for this dtype");
}

static bool open_all(Comparison *c)
{
    if (!open_file(c, &c->expected, case_path(c, "expected.safetensors")) ||
        !open_file(c, &c->dump, c->job->dump) ||
        !open_file(c, &c->model, case_path(c, "model/model.safetensors")))
        return false;
    const char *adapter = case_path(c, "adapter/adapter_model.safetensors");
    if (exists(adapter) && !open_file(c, &c->adapter, adapter))
        return false;
    return load_own_errors(c);
}

static void close_all(Comparison *c)
{
    st_close(c->expected);
    st_close(c->dump);
    st_close(c->model);
    st_close(c->adapter);
    json_decref(c->own_errors);
}

/* --- Norms --------------------------------------------------------------------------------- */

static double norm(const StTensor *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->elements; i++)
        sum += st_value(t, i) * st_value(t, i);
    return sqrt(sum);
}

static double distance(const StTensor *a, const StTensor *b)
{
    double sum = 0;
    for (int64_t i = 0; i < a->elements; i++) {
        double d = st_value(a, i) - st_value(b, i);
        sum += d * d;
    }
    return sqrt(sum);
}

static bool same_shape(const StTensor *a, const StTensor *b)
{
    return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof a->shape);
}

static bool starts(const char *name, const char *prefix)
{
    return !strncmp(name, prefix, strlen(prefix));
}

static double global_grad_norm(const StFile *file)
{
    double sum = 0;
    for (size_t i = 0; i < st_count(file); i++) {
        const StTensor *t = st_at(file, i);
        if (starts(t->name, "grad."))
            sum += norm(t) * norm(t);
    }
    return sqrt(sum);
}

/* --- Rules --------------------------------------------------------------------------------- */

static void add_row(Comparison *c, Row row)
{
    if (c->count == MAX_ROWS)
        abort();
    c->rows[c->count++] = row;
}

/* Returns a trained tensor's value before the step; its update is the difference. */
static const StTensor *initial_value(const Comparison *c, const char *name)
{
    const StTensor *t = c->adapter ? st_find(c->adapter, name) : NULL;
    return t ? t : st_find(c->model, name);
}

static double fp32_bound(const Comparison *c, const StTensor *expected, double size,
                         const char **fault)
{
    if (starts(expected->name, "grad."))
        return 1e-4 * size + 1e-6 * c->grad_norm;
    if (!starts(expected->name, "new."))
        return FP32_BOUND * size;
    const StTensor *before = initial_value(c, expected->name + strlen("new."));
    if (!before || !same_shape(before, expected)) {
        *fault = "the fixture lacks its initial value";
        return 0;
    }
    return 1e-3 * distance(expected, before) + 1e-7 * size;
}

static double own_bound(const Comparison *c, const char *name, double size, const char **fault)
{
    const json_t *own = json_object_get(c->own_errors, name);
    if (!own)
        *fault = "errors.json lacks it";
    return OWN_ERROR_FACTOR * json_number_value(own) * size;
}

static double fp64_bound(const Comparison *c, const StTensor *expected, double size)
{
    return FP64_BOUND * size + (starts(expected->name, "grad.") ? 1e-13 * c->grad_norm : 0);
}

static bool is_input(const char *name)
{
    static const char *const inputs[] = {"input_ids", "labels", "pixels", "boxes"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (!strcmp(name, inputs[i]))
            return true;
    return false;
}

static double bound_of(const Comparison *c, const StTensor *expected, double size,
                       const char **fault)
{
    if (is_input(expected->name))
        return 0;
    if (starts(expected->name, "heldout.top"))
        return SHARE_BOUND;
    if (c->own_errors)
        return own_bound(c, expected->name, size, fault) + fp32_bound(c, expected, size, fault);
    if (!strcmp(c->job->dtype, "fp64"))
        return fp64_bound(c, expected, size);
    return fp32_bound(c, expected, size, fault);
}

static void compare_tensor(Comparison *c, const StTensor *expected)
{
    if (c->job->other_batch && is_input(expected->name))
        return;
    Row row = {.name = expected->name, .norm = norm(expected)};
    const StTensor *got = st_find(c->dump, expected->name);
    if (!got)
        row.fault = "missing in the dump";
    else if (!same_shape(got, expected))
        row.fault = "has another shape";
    else {
        row.error = distance(got, expected);
        row.bound = bound_of(c, expected, row.norm, &row.fault);
        if (starts(expected->name, "grad.") && (!(row.norm > 0) || !(norm(got) > 0)))
            row.fault = "the gradient is all zero";
    }
    add_row(c, row);
}

/* Whether the host prepared the images, so that the dump has them as the model sees them. */
static bool host_decodes(const Comparison *c)
{
    const StTensor *pixels = st_find(c->dump, "pixels");
    return pixels && pixels->dtype != ST_U8;
}

/* Whether a tensor is not part of the dumped step, or is not compared at this type. */
static bool is_left_out(const Comparison *c, const char *name)
{
    if (!strcmp(name, "pixels") || !strcmp(name, "boxes"))
        return host_decodes(c);
    return !strcmp(name, "losses") || starts(name, "heldout.") ||
           (c->own_errors && !strcmp(name, "loss"));
}

static void compare_tensors(Comparison *c)
{
    for (size_t i = 0; i < st_count(c->expected); i++)
        if (!is_left_out(c, st_at(c->expected, i)->name))
            compare_tensor(c, st_at(c->expected, i));
    for (size_t i = 0; i < st_count(c->dump); i++) {
        const char *name = st_at(c->dump, i)->name;
        if ((starts(name, "grad.") || starts(name, "new.")) && !st_find(c->expected, name))
            add_row(c, (Row){.name = name, .fault = "does not train in the reference"});
    }
}

/* --- Tables: the losses of all steps, the held-out figures ---------------------------------- */

/* Returns the index of a column in a CSV header, or -1. */
static int column_of(char *header, const char *name)
{
    int column = 0;
    char *rest = NULL;
    for (char *cell = strtok_r(header, ",\r\n", &rest); cell; cell = strtok_r(NULL, ",\r\n", &rest))
        if (!strcmp(cell, name))
            return column;
        else
            column++;
    return -1;
}

/* Returns a cell as a number, or NAN if the row ends before it or it is not a number. */
static double cell_value(const char *line, int column)
{
    for (; column && line; column--) {
        line = strchr(line, ',');
        line = line ? line + 1 : NULL;
    }
    char *end = NULL;
    double value = line ? strtod(line, &end) : NAN;
    return end && end != line ? value : NAN;
}

/* Reads a column of a CSV file; returns the number of rows, or -1 if there is no such column. */
static int read_column(Comparison *c, const char *path, const char *name, double values[MAX_ROWS])
{
    FILE *file = fopen(path, "r");
    char line[LINE_BYTES];
    if (!file || !fgets(line, sizeof line, file)) {
        trouble(c, path, "cannot be read");
        if (file)
            fclose(file);
        return -1;
    }
    int column = column_of(line, name), count = 0;
    while (column >= 0 && count < MAX_ROWS && fgets(line, sizeof line, file))
        values[count++] = cell_value(line, column);
    fclose(file);
    if (column < 0)
        snprintf(c->trouble, sizeof c->trouble, "%s: has no column \"%s\"", path, name);
    return column < 0 ? -1 : count;
}

/* Compares a tensor of the reference with a column of one of the program's tables, row by row. */
static bool compare_column(Comparison *c, const StTensor *expected, const char *path,
                           const char *column)
{
    static double values[MAX_ROWS];
    int count = read_column(c, path, column, values);
    if (count < 0)
        return false;
    Row row = {.name = expected->name, .norm = norm(expected)};
    StTensor got = {.dtype = ST_F64, .data = values, .elements = expected->elements};
    if (count < expected->elements)
        row.fault = "the table has too few rows";
    else {
        row.error = distance(&got, expected);
        row.bound = bound_of(c, expected, row.norm, &row.fault);
    }
    add_row(c, row);
    return true;
}

static bool compare_losses(Comparison *c)
{
    const StTensor *expected = st_find(c->expected, "losses");
    if (!c->job->losses)
        return true;
    if (!expected)
        return trouble(c, c->job->case_dir, "expected.safetensors has no losses");
    return compare_column(c, expected, c->job->losses, "loss");
}

static bool compare_held_out(Comparison *c)
{
    bool good = true;
    for (size_t i = 0; c->job->evaluations && !c->own_errors && i < st_count(c->expected); i++) {
        const StTensor *t = st_at(c->expected, i);
        if (starts(t->name, "heldout."))
            good = good &&
                   compare_column(c, t, c->job->evaluations, t->name + strlen("heldout."));
    }
    return good;
}

/* --- Report -------------------------------------------------------------------------------- */

static bool passes(const Row *row)
{
    return !row->fault && row->error <= row->bound; /* false for NAN too */
}

static void print_table(const Comparison *c, FILE *out)
{
    fprintf(out, "%s %s: || dump - reference ||, its bound, and the reference's own norm\n",
            c->job->case_dir, c->job->dtype);
    for (int i = 0; i < c->count; i++) {
        const Row *row = &c->rows[i];
        fprintf(out, "%-4s %-80s %10.3e %10.3e %10.3e %s\n", passes(row) ? "ok" : "FAIL",
                row->name, row->error, row->bound, row->norm, row->fault ? row->fault : "");
    }
}

bool compare_case(const CompareJob *job, FILE *out)
{
    Comparison *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->job = job;
    bool good = open_all(c);
    if (good) {
        c->grad_norm = global_grad_norm(c->expected);
        compare_tensors(c);
        good = compare_losses(c) && compare_held_out(c);
    }
    if (!good)
        fprintf(out, "%s\n", c->trouble);
    for (int i = 0; i < c->count; i++)
        good = good && passes(&c->rows[i]);
    if (!good && c->count)
        print_table(c, out);
    close_all(c);
    free(c);
    return good;
}
