/* Building and printing Bodies. */
#include "graph/steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int args;
} step_table[STEP_KIND_COUNT] = {
    [STEP_LOAD] = {"load", 0},       [STEP_STORE] = {"store", 1},
    [STEP_COL_SUM] = {"col_sum", 1}, [STEP_RESULT] = {"result", 0},
    [STEP_CONST] = {"const", 0},     [STEP_ROW] = {"row", 0},
    [STEP_COL] = {"col", 0},         [STEP_ADD] = {"add", 2},
    [STEP_SUB] = {"sub", 2},         [STEP_MUL] = {"mul", 2},
    [STEP_DIV] = {"div", 2},         [STEP_MIN] = {"min", 2},
    [STEP_MAX] = {"max", 2},         [STEP_POW] = {"pow", 2},
    [STEP_NEG] = {"neg", 1},         [STEP_EXP] = {"exp", 1},
    [STEP_LOG] = {"log", 1},         [STEP_SQRT] = {"sqrt", 1},
    [STEP_RSQRT] = {"rsqrt", 1},     [STEP_SIGMOID] = {"sigmoid", 1},
    [STEP_RINT] = {"rint", 1},       [STEP_SIN] = {"sin", 1},
    [STEP_COS] = {"cos", 1},         [STEP_MOD] = {"mod", 2},
    [STEP_LT] = {"lt", 2},           [STEP_EQ] = {"eq", 2},
    [STEP_GE] = {"ge", 2},           [STEP_AND] = {"and", 2},
    [STEP_FMA] = {"fma", 3},         [STEP_FINITE] = {"finite", 1},
    [STEP_SELECT] = {"select", 3},   [STEP_CAST] = {"cast", 1},
    [STEP_ROUND] = {"round", 1},     [STEP_UNIFORM] = {"uniform", 3},
    [STEP_ROW_SUM] = {"row_sum", 1}, [STEP_ROW_MAX] = {"row_max", 1},
    [STEP_ROW_LSE] = {"row_lse", 1}, [STEP_TOTAL] = {"total", 1},
};

int step_args(const Step *s) {
    return s->kind == STEP_LOAD ? s->arg[0] >= 0 : step_table[s->kind].args;
}

Step step_moved(Step s, const int *place) {
    for (int k = 0; k < step_args(&s); k++)
        s.arg[k] = place[s.arg[k]];
    if (s.row_index >= 0)
        s.row_index = place[s.row_index];
    return s;
}

const char *step_name(StepKind kind) { return step_table[kind].name; }

bool step_reduces_row(StepKind kind) {
    return kind == STEP_ROW_SUM || kind == STEP_ROW_MAX || kind == STEP_ROW_LSE;
}
bool step_totals(StepKind kind) { return kind == STEP_TOTAL; }
bool step_reduces(StepKind kind) { return step_reduces_row(kind) || step_totals(kind); }
bool step_writes(StepKind kind) { return kind == STEP_STORE || kind == STEP_COL_SUM; }
static bool map_shares(ColMap map) { return map == COL_DIVIDE || map == COL_PACKED; }
bool step_same_line(const Step *a, const Step *b) {
    return a->slides && b->slides && a->line == b->line && value_same_view(a->value, b->value);
}
bool step_shares(const Step *s) { return map_shares(s->col_map); }

bool step_has_columns(const Step *s) { return value_cols(s->value) > 1 && s->col_map != COL_AT; }
bool step_sums_columns(StepKind kind) { return kind == STEP_COL_SUM; }

Body *body_new(Arena *arena, int64_t rows, int64_t cols) {
    Body *body = arena_alloc(arena, sizeof *body);
    *body = (Body){.arena = arena, .rows = rows, .cols = cols};
    return body;
}

void body_space(Body *body, const Value *v) {
    body->rows = value_rows(v);
    body->cols = value_cols(v);
}

Body *body_copy(const Body *body) {
    Body *copy = arena_alloc(body->arena, sizeof *copy);
    *copy = *body;
    copy->capacity = body->count;
    copy->steps = arena_array(body->arena, (size_t)body->count, sizeof *copy->steps);
    memcpy(copy->steps, body->steps, (size_t)body->count * sizeof *copy->steps);
    return copy;
}

void body_reserve(Body *body, int steps) {
    body->steps = arena_array(body->arena, (size_t)steps, sizeof *body->steps);
    body->capacity = steps;
}

int body_append(Body *body, Step step) {
    body->steps = arena_grow(body->arena, body->steps, body->count, &body->capacity, sizeof step);
    body->steps[body->count] = step;
    return body->count++;
}

static Step blank(StepKind kind, StepType type, Level level) {
    return (Step){.kind = kind, .type = type, .level = level, .arg = {-1, -1, -1}, .row_index = -1};
}

Level level_join(Level a, Level b) {
    if (a == b || b == LEVEL_SCALAR)
        return a;
    return a == LEVEL_SCALAR ? b : LEVEL_ELEMENT;
}

static Level level_of(const Body *body, int step) {
    return step < 0 ? LEVEL_SCALAR : body->steps[step].level;
}

static StepType load_type(DType dtype) {
    if (dtype == DT_I64)
        return TYPE_LONG;
    return dtype == DT_I32 || dtype == DT_U8 || dtype == DT_I8 ? TYPE_INT : TYPE_REAL;
}

static bool map_is_half(ColMap map) { return map == COL_FIRST_HALF || map == COL_SECOND_HALF; }

int step_load_mapped(Body *body, Value *v, int row_index, ColMap map, int64_t period) {
    bool rows = value_rows(v) > 1 && row_index < 0, cols = value_cols(v) > 1 && map != COL_AT;
    ENSURE(!rows || value_rows(v) == body->rows, "%s has other rows than its kernel", v->name);
    int64_t shared = map_shares(map) ? period : 1, halves = map_is_half(map) ? 2 : 1;
    ENSURE(!cols || map == COL_MODULO || value_cols(v) * shared == body->cols * halves,
           "%s has other columns than its kernel", v->name);
    Level own = rows ? (cols ? LEVEL_ELEMENT : LEVEL_ROW) : (cols ? LEVEL_COL : LEVEL_SCALAR);
    Step s = blank(STEP_LOAD, load_type(v->dtype), level_join(own, level_of(body, row_index)));
    s.value = v;
    s.row_index = row_index;
    s.col_map = map;
    s.period = period;
    return body_append(body, s);
}

int step_load(Body *body, Value *v) { return step_load_mapped(body, v, -1, COL_SAME, 0); }

int step_load_where(Body *body, Value *v, int row_index, int condition) {
    int load = step_load_mapped(body, v, row_index, COL_SAME, 0);
    Step *s = &body->steps[load];
    s->arg[0] = condition;
    s->level = level_join(s->level, level_of(body, condition));
    return load;
}

int step_result(Body *body) {
    return body_append(body,
                       blank(STEP_RESULT, TYPE_REAL, body->cols > 1 ? LEVEL_ELEMENT : LEVEL_ROW));
}

static int constant(Body *body, StepType type, double value, const char *name) {
    Step s = blank(STEP_CONST, type, LEVEL_SCALAR);
    s.constant = value;
    s.name = name;
    return body_append(body, s);
}

/* Whole numbers of the same name are shared, so that loads at the same index can be recognised. */
static int whole(Body *body, int64_t value, const char *name) {
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (s->kind == STEP_CONST && s->type == TYPE_INT && s->constant == (double)value &&
            text_equal(s->name, name))
            return i;
    }
    return constant(body, TYPE_INT, (double)value, name);
}

int step_const(Body *body, double value) { return constant(body, TYPE_REAL, value, NULL); }

int step_named(Body *body, double value, const char *name) {
    return constant(body, TYPE_REAL, value, name);
}

int step_inverse(Body *body, int64_t n) {
    int step = step_const(body, 1 / (double)n);
    body->steps[step].inverse = n;
    return step;
}

int step_const_bool(Body *body, bool value) { return constant(body, TYPE_BOOL, value, NULL); }
int step_const_int(Body *body, int64_t value) { return whole(body, value, NULL); }

int step_extent(Body *body, int64_t value, const char *name) { return whole(body, value, name); }

/* A body's only column has index 0; so has the row of a body of one element, whose kernel has no
 * index variables. */
int step_index(Body *body, StepKind kind) {
    if (body->cols == 1 && (kind == STEP_COL || body->rows == 1))
        return step_const_int(body, 0);
    return body_append(body, blank(kind, TYPE_INT, kind == STEP_ROW ? LEVEL_ROW : LEVEL_COL));
}

static bool gives_bool(StepKind kind) {
    return kind == STEP_LT || kind == STEP_EQ || kind == STEP_GE || kind == STEP_AND ||
           kind == STEP_FINITE;
}

int step_unary(Body *body, StepKind kind, int a) {
    Step s = blank(kind, gives_bool(kind) ? TYPE_BOOL : body->steps[a].type, level_of(body, a));
    s.arg[0] = a;
    return body_append(body, s);
}

int step_binary(Body *body, StepKind kind, int a, int b) {
    StepType type = body->steps[a].type;
    ENSURE(type == body->steps[b].type, "%s of two types", step_table[kind].name);
    Step s = blank(kind, gives_bool(kind) ? TYPE_BOOL : type,
                   level_join(level_of(body, a), level_of(body, b)));
    s.arg[0] = a;
    s.arg[1] = b;
    return body_append(body, s);
}

static int ternary(Body *body, StepKind kind, int a, int b, int c) {
    Level level = level_join(level_join(level_of(body, a), level_of(body, b)), level_of(body, c));
    Step s = blank(kind, body->steps[b].type, level);
    s.arg[0] = a;
    s.arg[1] = b;
    s.arg[2] = c;
    return body_append(body, s);
}

int step_select(Body *body, int condition, int a, int b) {
    return ternary(body, STEP_SELECT, condition, a, b);
}

int step_fma(Body *body, int a, int b, int c) { return ternary(body, STEP_FMA, a, b, c); }

int step_called(Body *body, int step, const char *format, ...) {
    char name[64];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    if (body->steps[step].kind != STEP_CONST) /* which others may share */
        body->steps[step].name = arena_strdup(body->arena, name);
    return step;
}

int step_hinted(Body *body, int step, const char *hint) {
    body->steps[step].hint = hint;
    return step;
}

int step_cast(Body *body, StepType type, int a) {
    if (body->steps[a].type == type)
        return a;
    Step s = blank(STEP_CAST, type, level_of(body, a));
    s.arg[0] = a;
    return body_append(body, s);
}

int step_round(Body *body, DType dtype, int a) {
    Step s = blank(STEP_ROUND, TYPE_REAL, level_of(body, a));
    s.arg[0] = a;
    s.dtype = dtype;
    return body_append(body, s);
}

int step_uniform(Body *body, int seed, int step, int element, uint32_t stream) {
    Step s = blank(STEP_UNIFORM, TYPE_REAL, level_of(body, element));
    s.arg[0] = seed;
    s.arg[1] = step;
    s.arg[2] = element;
    s.stream = stream;
    return body_append(body, s);
}

static bool is_product(const Body *body, int step) { return body->steps[step].kind == STEP_MUL; }

int step_reduce(Body *body, StepKind kind, int a) {
    Step s = blank(kind, TYPE_REAL, LEVEL_ROW);
    s.arg[0] = a;
    s.of_product = kind == STEP_ROW_SUM && is_product(body, a);
    return body_append(body, s);
}

void step_store_at(Body *body, Value *v, int row_index, int a) {
    Step s = blank(STEP_STORE, body->steps[a].type, level_of(body, a));
    s.value = v;
    s.arg[0] = a;
    s.row_index = row_index;
    body_append(body, s);
}

void step_store(Body *body, Value *v, int a) { step_store_at(body, v, -1, a); }

int step_store_mapped(Body *body, Value *v, ColMap map, int64_t period, int a) {
    step_store(body, v, a);
    int store = body->count - 1;
    body->steps[store].col_map = map;
    body->steps[store].period = period;
    return store;
}

void step_store_reshaped(Body *body, Value *v, int a) {
    ENSURE(value_elements(v) == body->rows * body->cols, "%s has not the kernel's elements",
           v->name);
    step_store(body, v, a);
    body->steps[body->count - 1].col_map = COL_RESHAPED;
}

static void sum_rows(Body *body, Value *v, int64_t row, int64_t run, int a) {
    Step s = blank(STEP_COL_SUM, TYPE_REAL, LEVEL_COL);
    s.value = v;
    s.constant = (double)row;
    s.period = run;
    s.arg[0] = a;
    s.of_product = is_product(body, a);
    body_append(body, s);
}

void step_col_sum(Body *body, Value *v, int a) { sum_rows(body, v, 0, 0, a); }
void step_col_sum_at(Body *body, Value *v, int64_t row, int a) { sum_rows(body, v, row, 0, a); }

void step_run_sum(Body *body, Value *v, int64_t run, int a) {
    ENSURE(value_rows(v) * run == body->rows, "%s: the rows are no whole runs", v->name);
    sum_rows(body, v, 0, run, a);
}

int step_total(Body *body, int a) {
    Step s = blank(STEP_TOTAL, TYPE_REAL, LEVEL_COL);
    s.arg[0] = a;
    return body_append(body, s);
}
