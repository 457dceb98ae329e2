/* Steps as expressions of CUDA C. Parentheses follow the order of the steps exactly, so that the
 * text computes the same bits as the body. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emit/names.h"
#include "emit/printer.h"
#include "plan/kernel_names.h"
#include "plan/skeleton.h"

enum { BIND_SELECT, BIND_AND, BIND_COMPARE, BIND_ADD, BIND_MUL, BIND_UNARY, BIND_PRIMARY };

/* An expression and how tightly it binds. */
typedef struct {
    const char *text;
    int binding;
} Term;

/* How loosely the operator binds whose last character is given; 0 if it is not an operator. */
static int looseness(char operator) {
    static const char tightest_first[] = "%*/-+><=|&:,";
    const char *at = strchr(tightest_first, operator);
    return at ? 1 + (int)(at - tightest_first) : 0;
}

/* Returns where to break a line longer than `room`: at the last space after the loosest operator
 * with the fewest parentheses around it. 0 if there is none. */
static size_t break_of(const char *line, size_t room) {
    size_t best = 0;
    int depth = 0, best_cost = 0;
    for (size_t i = 1; i <= room && line[i]; i++) {
        int loose = line[i] == ' ' ? looseness(line[i - 1]) : 0;
        depth += (line[i] == '(') - (line[i] == ')');
        if (loose && (!best || 16 * depth - loose <= best_cost)) {
            best = i;
            best_cost = 16 * depth - loose;
        }
    }
    return best;
}

static int parentheses(const char *line, size_t length) {
    int open = 0;
    for (size_t i = 0; i < length; i++)
        open += (line[i] == '(') - (line[i] == ')');
    return open;
}

/* Breaks a line that is too long after its "=", then after its operators. What continues an
 * expression in parentheses is indented further. */
static void put_line(Printer *p, const char *line) {
    size_t start = *line != '#' && *line ? 4 * (size_t)p->depth : 0, indent = start;
    const char *equals = strstr(line, "= ");
    int levels = equals != NULL;
    for (bool first = true; !strchr(line, '\n') && indent + strlen(line) > PAGE; first = false) {
        size_t at = first && equals ? (size_t)(equals - line) + 1 : break_of(line, PAGE - indent);
        if (at == 0)
            break;
        sb_printf(p->out, "%*s%.*s\n", (int)indent, "", (int)at, line);
        levels += parentheses(line, at);
        line += at + 1;
        indent = start + 4 * (size_t)(levels > 1 ? levels : 1);
    }
    sb_printf(p->out, "%*s%s\n", (int)indent, "", line);
}

void put(Printer *p, const char *format, ...) {
    StrBuf line = {0};
    va_list args;
    va_start(args, format);
    sb_vprintf(&line, format, args);
    va_end(args);
    put_line(p, line.text);
    sb_free(&line);
}

void use(Printer *p, const char *name) {
    p->used = arena_grow(p->arena, p->used, p->used_count, &p->used_capacity, sizeof *p->used);
    p->used[p->used_count++] = name;
}

static bool is_used(const Printer *p, const char *name) {
    for (int i = 0; i < p->used_count; i++)
        if (!strcmp(p->used[i], name))
            return true;
    return kernel_template_mentions(p->kernel, name);
}

const char *unique(Printer *p, const char *base) {
    const char *name = base;
    for (int n = 2; is_used(p, name); n++)
        name = arena_printf(p->arena, "%s_%d", base, n);
    use(p, name);
    return name;
}

void release(Printer *p, const char *name) {
    for (int i = 0; i < p->used_count; i++)
        if (!strcmp(p->used[i], name)) {
            p->used[i] = p->used[--p->used_count];
            return;
        }
}

static const char *constant(Printer *p, const char *base, const char *type, const char *text) {
    for (int i = 0; i < p->constant_count; i++)
        if (!strcmp(p->constant[i].base, base) && !strcmp(p->constant[i].text, text))
            return p->constant[i].name;
    ENSURE(p->constant_count < MAX_CONSTANTS, "kernel %s has too many constants", p->kernel->name);
    p->constant = arena_grow(p->arena, p->constant, p->constant_count, &p->constant_capacity,
                             sizeof *p->constant);
    Constant *c = &p->constant[p->constant_count++];
    *c = (Constant){base, unique(p, base), type, text};
    return c->name;
}

/* The name that a template has for the extent; NULL if it has none. */
static const char *extent_of_tile(const Printer *p, const char *base) {
    if (p->kernel->skeleton != SKELETON_EPILOGUE)
        return NULL;
    return !strcmp(base, "COLS") ? "tile.COLUMNS" : !strcmp(base, "CHUNKS") ? "tile.VECTORS" : NULL;
}

const char *extent(Printer *p, const char *base, int64_t value) {
    const char *of_tile = extent_of_tile(p, base);
    if (of_tile)
        return of_tile;
    return constant(p, base, value > INT32_MAX ? "int64_t" : "int",
                    arena_printf(p->arena, "%lld", (long long)value));
}

const char *param_name(const Printer *p, int step) {
    if (p->kernel->param_of_step[step] < 0)
        return short_name(p->arena, p->body->steps[step].value, p->kernel);
    return p->kernel->param[p->kernel->param_of_step[step]].name;
}

const char *real_name(const Printer *p) { return dtype_c_name(p->kernel->real); }
const char *index_type(const Printer *p) { return p->is_long ? "int64_t" : "int"; }

const char *type_name(const Printer *p, StepType type) {
    static const char *const names[] = {
        [TYPE_INT] = "int", [TYPE_BOOL] = "bool", [TYPE_LONG] = "int64_t"};
    return type == TYPE_REAL ? real_name(p) : names[type];
}

/* ---- indices of elements --------------------------------------------------------------------- */

static const char *mapped_column(Printer *p, const Step *s, bool each) {
    bool plus = each && p->kernel->vector > 1;
    const char *col = plus ? arena_printf(p->arena, "%s + j", p->col) : p->col;
    if (s->col_map == COL_SAME)
        return col;
    if (s->col_map == COL_AT)
        return arena_printf(p->arena, "%lld", (long long)s->period);
    const char *inner = plus ? arena_printf(p->arena, "(%s)", col) : col;
    if (s->col_map == COL_MODULO)
        return arena_printf(p->arena, "%s %% %s", inner, extent(p, "PERIOD", s->period));
    if (step_shares(s))
        return arena_printf(p->arena, "%s / %s", inner,
                            extent(p, s->col_map == COL_PACKED ? "PER_BYTE" : "RUN", s->period));
    const char *half = extent(p, "HALF_HEAD", s->period / 2);
    if (s->col_map == COL_FIRST_HALF)
        return arena_printf(p->arena, "%s + %s / %s * %s", col, inner, half, half);
    if (s->col_map == COL_SECOND_HALF)
        return arena_printf(p->arena, "%s + (%s / %s + 1) * %s", col, inner, half, half);
    if ((s->period & (s->period - 1)) == 0)
        return arena_printf(p->arena, "(%s ^ %s)", inner, half);
    return arena_printf(p->arena, "(%s %% %s < %s ? %s + %s : %s - %s)", inner,
                        extent(p, "HEAD", s->period), half, inner, half, inner, half);
}

static const char *row_of(Printer *p, const Step *s) {
    if (s->row_index < 0)
        return value_rows(s->value) > 1 ? p->row : NULL;
    const char *row = step_text(p, s->row_index);
    return p->is_long ? arena_printf(p->arena, "static_cast<int64_t>(%s)", row) : row;
}

/* "STRIDE", or "GATE_PROJ_STRIDE" if the kernel has several, or its template uses that name, or not
 * each element has a column of its own. */
static const char *stride_name(const Printer *p, int step) {
    bool own = !step_shares(&p->body->steps[step]);
    if (own && !p->several_strides && !p->kernel->template_name)
        return "STRIDE";
    char *name = arena_printf(p->arena, "%s_stride", param_name(p, step));
    for (char *c = name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return name;
}

const char *step_stride_text(Printer *p, int step) {
    int64_t stride = p->body->steps[step].value->row_stride;
    return extent(p, stride == p->body->cols ? "COLS" : stride_name(p, step), stride);
}

/* index * stride, where index may be a sum. */
static const char *times_stride(Printer *p, const char *index, int step) {
    if (p->body->steps[step].value->row_stride == 1 || strcmp(index, "0") == 0)
        return index;
    return arena_printf(p->arena, strchr(index, ' ') ? "(%s) * %s" : "%s * %s", index,
                        step_stride_text(p, step));
}

/* Whether the step's elements have the layout of the iteration space. */
static bool is_whole(const Body *body, const Step *s) {
    const Value *v = s->value;
    return value_elements(v) > 1 && s->row_index < 0 && s->col_map == COL_SAME &&
           v->row_stride == body->cols && value_cols(v) == body->cols &&
           value_rows(v) == body->rows;
}

/* The index of a FLAT kernel's current element, in the rows of the value. */
static const char *reshaped_index(Printer *p, int step, bool each) {
    const Value *v = p->body->steps[step].value;
    bool plus = each && p->kernel->vector > 1;
    ENSURE(p->kernel->skeleton == SKELETON_FLAT, "%s in a kernel of rows", v->name);
    if (value_dense(v))
        return plus ? "i + j" : "i";
    const char *i = plus ? "(i + j)" : "i";
    const char *cols = extent(p, "RESULT_COLS", value_cols(v));
    return arena_printf(p->arena, "%s / %s * %s + %s %% %s", i, cols, step_stride_text(p, step), i,
                        cols);
}

const char *step_index_text(Printer *p, int step, bool each) {
    const Step *s = &p->body->steps[step];
    const Value *v = s->value;
    if (s->kind == STEP_COL_SUM) {
        const char *stride =
            extent(p, v->row_stride == p->body->cols ? "COLS" : "PARTIAL_STRIDE", v->row_stride);
        const char *row = arena_printf(p->arena, "worker * %s", stride);
        if (s->constant == 1)
            row = arena_printf(p->arena, "%s + COLS", row);
        else if (s->constant > 1)
            row = arena_printf(p->arena, "%s + %d * COLS", row, (int)s->constant);
        return arena_printf(p->arena, "%s + %s", row, p->col);
    }
    if (s->col_map == COL_RESHAPED)
        return reshaped_index(p, step, each);
    if (s->row_index < 0 && value_lies_flat(p->body, v))
        return times_stride(p, mapped_column(p, s, each), step);
    if (p->linear && s->row_index < 0 && value_elements(v) > 1)
        return mapped_column(p, s, each);
    if (p->kernel->skeleton == SKELETON_FLAT && is_whole(p->body, s))
        return each && p->kernel->vector > 1 ? "i + j" : "i";
    const char *row = row_of(p, s);
    const char *col = value_cols(v) > 1 ? mapped_column(p, s, each) : NULL;
    if (row)
        row = times_stride(p, row, step);
    if (row && col && strcmp(row, "0") != 0)
        return arena_printf(p->arena, "%s + %s", row, col);
    return col ? col : row ? row : "0";
}

const char *step_element_text(Printer *p, int i) {
    const char *name = param_name(p, i), *at = step_index_text(p, i, true);
    int condition = p->body->steps[i].arg[0];
    if (condition < 0)
        return arena_printf(p->arena, "%s[%s]", name, at);
    return arena_printf(p->arena, "load_if(%s, %s, %s)", step_text(p, condition), name, at);
}

const char *step_draw_text(Printer *p, int i) {
    const Step *s = &p->body->steps[i];
    return arena_printf(
        p->arena, "%s, %s, %s, %s", step_text(p, s->arg[0]), step_text(p, s->arg[1]),
        p->kernel->scalar[kernel_stream_scalar(p->kernel, i)].name, step_text(p, s->arg[2]));
}

/* ---- expressions ----------------------------------------------------------------------------- */

static Term primary(const char *text) { return (Term){text, BIND_PRIMARY}; }

static const char *within(Printer *p, Term t, int binding) {
    return t.binding >= binding ? t.text : arena_printf(p->arena, "(%s)", t.text);
}

static Term step_term(Printer *, int step);

const char *step_text(Printer *p, int step) { return step_term(p, step).text; }

/* The shortest decimal that is read back as the same number. */
static const char *real_text(Printer *p, double value) {
    bool is_float = p->kernel->real != DT_F64;
    char text[40];
    if (isinf(value))
        return value < 0 ? "-INFINITY" : "INFINITY";
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
    return arena_printf(p->arena, "%s%s%s", text, strpbrk(text, ".en") ? "" : ".0",
                        is_float ? "f" : "");
}

/* Whether the kernel's division 1 / n gives exactly the constant. */
static bool divides_exactly(const Printer *p, const Step *s) {
    double n = (double)s->inverse;
    return p->kernel->real == DT_F64 ? 1 / n == s->constant
                                     : n == (float)n && 1.0f / (float)n == (float)s->constant;
}

static Term constant_term(Printer *p, const Step *s) {
    if (s->inverse > 1 && divides_exactly(p, s)) {
        const char *n = extent(p, s->inverse == p->body->cols ? "COLS" : "COUNT", s->inverse);
        return (Term){arena_printf(p->arena, "%s / %s", real_text(p, 1), n), BIND_MUL};
    }
    if (s->type == TYPE_INT && s->name)
        return primary(extent(p, s->name, (int64_t)s->constant));
    if (s->type == TYPE_BOOL)
        return primary(s->constant ? "true" : "false");
    const char *text = s->type == TYPE_REAL
                           ? real_text(p, s->constant)
                           : arena_printf(p->arena, "%lld", (long long)s->constant);
    return (Term){text, s->constant < 0 ? BIND_UNARY : BIND_PRIMARY};
}

void name_constants(Printer *p) {
    for (int i = 0; i < p->body->count; i++) {
        const Step *s = &p->body->steps[i];
        if (s->kind == STEP_CONST && s->type == TYPE_REAL && s->name)
            p->name[i] = constant(p, s->name, real_name(p), real_text(p, s->constant));
    }
}

/* The number of a packed LOAD's column: from the vector of bytes, or from the column's own byte. */
static Term unpacked_term(Printer *p, int i) {
    int period = (int)p->body->steps[i].period;
    const char *bytes = p->slot[i];
    const char *j = p->kernel->vector > 1 ? "j" : "0";
    if (bytes && step_is_vector(p->kernel, i))
        return primary(arena_printf(p->arena, "unpack<%d>(%s, %s)", period, bytes, j));
    if (!bytes)
        bytes = step_element_text(p, i);
    else if (p->kernel->vector > 1)
        bytes = arena_printf(p->arena, "%s[j]", bytes);
    const char *col = p->kernel->vector > 1 ? arena_printf(p->arena, "%s + j", p->col) : p->col;
    return primary(arena_printf(p->arena, "unpack<%d>(%s, %s)", period, bytes, col));
}

static Term load_term(Printer *p, int i) {
    const Step *s = &p->body->steps[i];
    const char *text = p->slot[i];
    bool shared = s->col_map == COL_DIVIDE && step_is_vector(p->kernel, i);
    if (s->col_map == COL_PACKED)
        return unpacked_term(p, i);
    if (text && shared)
        text = arena_printf(p->arena, "%s[j / %d]", text, (int)s->period);
    else if (text && p->kernel->vector > 1)
        text = arena_printf(p->arena, "%s[j]", text);
    if (!text)
        text = step_element_text(p, i);
    if (s->type == TYPE_REAL && s->value->dtype != p->kernel->real)
        text = arena_printf(p->arena, "convert<%s>(%s)", real_name(p), text);
    return primary(text);
}

/* The right operand without casts that C++ does implicitly: an int operand of an int64_t
 * operation. */
static int right_operand(const Printer *p, const Step *s) {
    const Step *steps = p->body->steps, *right = &steps[s->arg[1]];
    bool implied = s->type == TYPE_LONG && right->kind == STEP_CAST && !p->name[s->arg[1]] &&
                   steps[right->arg[0]].type == TYPE_INT;
    return implied ? right->arg[0] : s->arg[1];
}

/* Whether a comparison has a constant on its left only. */
static bool is_flipped(const Printer *p, const Step *s) {
    const Step *steps = p->body->steps;
    return (s->kind == STEP_LT || s->kind == STEP_GE) && steps[s->arg[0]].kind == STEP_CONST &&
           steps[s->arg[1]].kind != STEP_CONST;
}

static const struct {
    const char *sign; /* NULL: not a binary operator */
    int binding;
} operators[STEP_KIND_COUNT] = {
    [STEP_ADD] = {"+", BIND_ADD},     [STEP_SUB] = {"-", BIND_ADD},
    [STEP_MUL] = {"*", BIND_MUL},     [STEP_DIV] = {"/", BIND_MUL},
    [STEP_MOD] = {"%", BIND_MUL},     [STEP_LT] = {"<", BIND_COMPARE},
    [STEP_EQ] = {"==", BIND_COMPARE}, [STEP_GE] = {">=", BIND_COMPARE},
    [STEP_AND] = {"&&", BIND_AND},
};

static Term binary_term(Printer *p, const Step *s) {
    int binding = operators[s->kind].binding;
    if (is_flipped(p, s)) /* "x > 0" instead of "0 < x" */
        return (Term){
            arena_printf(
                p->arena, "%s %s %s", within(p, step_term(p, s->arg[1]), binding + 1),
                s->kind == STEP_LT ? ">" : "<=", within(p, step_term(p, s->arg[0]), binding + 1)),
            binding};
    const char *a = within(p, step_term(p, s->arg[0]), binding + (binding == BIND_COMPARE));
    const char *b = within(p, step_term(p, right_operand(p, s)), binding + 1);
    return (Term){arena_printf(p->arena, "%s %s %s", a, operators[s->kind].sign, b), binding};
}

/* Functions of reals exist with and without the suffix f; those of ints in CUDA are min and max. */
static const char *const functions[STEP_KIND_COUNT] = {
    [STEP_MIN] = "fmin", [STEP_MAX] = "fmax",  [STEP_POW] = "pow", [STEP_EXP] = "exp",
    [STEP_LOG] = "log",  [STEP_SQRT] = "sqrt", [STEP_SIN] = "sin", [STEP_COS] = "cos",
    [STEP_FMA] = "fma",  [STEP_RINT] = "rint",
};

static Term call_term(Printer *p, const Step *s) {
    const char *name = s->type == TYPE_REAL ? functions[s->kind] : functions[s->kind] + 1;
    const char *f = s->type == TYPE_REAL && p->kernel->real != DT_F64 ? "f" : "";
    const char *a = step_text(p, s->arg[0]);
    if (step_args(s) == 1)
        return primary(arena_printf(p->arena, "%s%s(%s)", name, f, a));
    const char *b = step_text(p, s->arg[1]);
    if (step_args(s) == 2)
        return primary(arena_printf(p->arena, "%s%s(%s, %s)", name, f, a, b));
    return primary(
        arena_printf(p->arena, "%s%s(%s, %s, %s)", name, f, a, b, step_text(p, s->arg[2])));
}

static Term round_term(Printer *p, const Step *s) {
    if (s->dtype == p->kernel->real)
        return step_term(p, s->arg[0]);
    return primary(
        arena_printf(p->arena, "rounded<%s>(%s)", dtype_c_name(s->dtype), step_text(p, s->arg[0])));
}

static Term uniform_term(Printer *p, int i) {
    if (step_draws_vector(p->kernel, i))
        return primary(arena_printf(p->arena, "%s[j]", p->slot[i]));
    return primary(arena_printf(p->arena, "philox_uniform(%s)", step_draw_text(p, i)));
}

static Term index_term(Printer *p, const Step *s) {
    if (s->kind == STEP_ROW && p->body->rows == 1)
        return primary("0");
    bool each = s->kind == STEP_COL && p->kernel->vector > 1 && !p->is_first;
    const char *text = s->kind == STEP_ROW ? p->row : p->col;
    if (each)
        text = arena_printf(p->arena, "%s + j", text);
    if (p->is_long)
        return primary(arena_printf(p->arena, "static_cast<int>(%s)", text));
    return (Term){text, each ? BIND_ADD : BIND_PRIMARY};
}

static Term small_term(Printer *p, const Step *s) {
    const char *one = p->kernel->real == DT_F64 ? "1.0" : "1.0f",
               *f = p->kernel->real == DT_F64 ? "" : "f";
    Term a = step_term(p, s->arg[0]);
    const char *tight = within(p, a, BIND_UNARY + 1);
    if (s->kind == STEP_NEG)
        return (Term){arena_printf(p->arena, "-%s", tight), BIND_UNARY};
    if (s->kind == STEP_RSQRT)
        return (Term){arena_printf(p->arena, "%s / sqrt%s(%s)", one, f, a.text), BIND_MUL};
    if (s->kind == STEP_SIGMOID && s->approximate)
        return primary(arena_printf(p->arena, "sigmoid_approx(%s)", a.text));
    if (s->kind == STEP_SIGMOID)
        return (Term){arena_printf(p->arena, "%s / (%s + exp%s(-%s))", one, one, f, tight),
                      BIND_MUL};
    if (s->kind == STEP_FINITE)
        return primary(arena_printf(p->arena, "isfinite(%s)", a.text));
    ENSURE(s->kind == STEP_CAST, "step %s cannot be printed", step_name(s->kind));
    return primary(arena_printf(p->arena, "static_cast<%s>(%s)", type_name(p, s->type), a.text));
}

/* The template's sum for an element. In a space of one column, c and j are 0. */
static Term result_term(Printer *p, const Step *s) {
    const char *chunk = s->level == LEVEL_ELEMENT && p->chunks > 1 ? "c" : "0";
    const char *j = p->kernel->vector > 1 ? "j" : "0";
    if (s->period)
        return primary(
            arena_printf(p->arena, "tile.sum(r, %d, %s, %s)", (int)s->constant, chunk, j));
    return primary(arena_printf(p->arena, "tile.sum(r, %s, %s)", chunk, j));
}

/* The step's element in the vector that has it. */
static Term held_term(Printer *p, int i) {
    int store = p->holder[i];
    const char *text = arena_printf(p->arena, "%s[j]", p->slot[store]);
    if (p->body->steps[store].value->dtype != p->kernel->real)
        text = arena_printf(p->arena, "convert<%s>(%s)", real_name(p), text);
    return primary(text);
}

static Term select_term(Printer *p, const Step *s) {
    const char *condition = within(p, step_term(p, s->arg[0]), BIND_SELECT + 1);
    const char *a = within(p, step_term(p, s->arg[1]), BIND_SELECT + 1);
    return (Term){arena_printf(p->arena, "%s ? %s : %s", condition, a,
                               within(p, step_term(p, s->arg[2]), BIND_SELECT + 1)),
                  BIND_SELECT};
}

static Term step_term(Printer *p, int i) {
    const Step *s = &p->body->steps[i];
    if (p->name[i])
        return primary(p->name[i]);
    if (is_held(p, i))
        return held_term(p, i);
    if (operators[s->kind].sign)
        return binary_term(p, s);
    if (functions[s->kind])
        return call_term(p, s);
    switch (s->kind) {
    case STEP_CONST:
        return constant_term(p, s);
    case STEP_LOAD:
        return load_term(p, i);
    case STEP_RESULT:
        return result_term(p, s);
    case STEP_ROW:
    case STEP_COL:
        return index_term(p, s);
    case STEP_ROUND:
        return round_term(p, s);
    case STEP_UNIFORM:
        return uniform_term(p, i);
    case STEP_SELECT:
        return select_term(p, s);
    default:
        return small_term(p, s);
    }
}
