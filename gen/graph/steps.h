/* Scalar steps: what a pointwise or row op does to one element.
 *
 * An op that is neither a matrix product nor a template describes itself as a Body: a list of typed
 * scalar steps over an iteration space of [rows, cols]. The fusion pass concatenates Bodies, and
 * one printer turns a Body into a CUDA kernel, whichever ops it came from.
 *
 * A step's *level* says what it varies with: SCALAR is the same everywhere, ROW varies by row, COL
 * by column, ELEMENT by element. A row reduction turns ELEMENT or COL into ROW. Steps compute in
 * `real` (float or double), int or bool; LOAD widens and STORE and ROUND narrow to nearest even, so
 * a value has the same bits whether it went through memory or not. */
#ifndef GRAPH_STEPS_H
#define GRAPH_STEPS_H

#include "graph/graph.h"

typedef enum {
    STEP_LOAD,    /* value[row, col], broadcast by the value's shape; see ColMap, row_index. With a
                   * condition a: where it is false, the step is 0 and reads nothing */
    STEP_STORE,   /* value[row, col] = a; row_index as for LOAD, but no other store of the body
                   * and no other row of its space may write that row, or the space is [1,1] */
    STEP_COL_SUM, /* value[constant, col] = sum of a over all rows, in a fixed order; with a period,
                   * value[row / period, col] = sum over each run of `period` rows */
    STEP_RESULT,  /* the template's result for the element, if the body is an epilogue; with a
                   * period, rows are windows of `period` places, and this is place `constant` */
    STEP_CONST,   /* constant; one with a name is declared at the kernel's top */
    STEP_ROW,     /* int: the row's index */
    STEP_COL,     /* int: the column's index */
    STEP_ADD,
    STEP_SUB,
    STEP_MUL,
    STEP_DIV,
    STEP_MIN,
    STEP_MAX,
    STEP_POW,
    STEP_NEG,
    STEP_EXP,
    STEP_LOG,
    STEP_SQRT,
    STEP_RSQRT,
    STEP_SIGMOID,
    STEP_SIN,
    STEP_COS,
    STEP_RINT, /* to the nearest whole number, ties to even */
    STEP_MOD,  /* int */
    STEP_LT,
    STEP_EQ,
    STEP_GE,      /* bool */
    STEP_AND,     /* bool, of two */
    STEP_FINITE,  /* bool: neither infinite nor NaN */
    STEP_FMA,     /* real: a b + c, rounded once */
    STEP_SELECT,  /* a ? b : c */
    STEP_CAST,    /* to `type` */
    STEP_ROUND,   /* to `dtype` and back, as a store and a load would */
    STEP_UNIFORM, /* philox in (0,1]: a = seed, b = step, c = element index; stream */
    STEP_ROW_SUM,
    STEP_ROW_MAX,
    STEP_ROW_LSE, /* over the columns of a row; LSE is log(sum(exp(a))), in one pass: each thread
                   * keeps the largest a so far, and the sum relative to it */
    STEP_TOTAL,   /* one per column: sum over all rows; only in the second pass of COL_SUM */
    STEP_KIND_COUNT
} StepKind;

typedef enum { TYPE_REAL, TYPE_INT, TYPE_BOOL, TYPE_LONG } StepType;
typedef enum { LEVEL_SCALAR, LEVEL_ROW, LEVEL_COL, LEVEL_ELEMENT, LEVELS } Level;

/* Which column a LOAD reads: its own; col % period (a table that repeats); for a rotation by halves
 * the partner, col +- period/2 within each block of `period` columns; or col / period (one element
 * for a run of columns). PACKED: the same of a u8 value, whose bytes hold a whole number of 8 / period
 * bits for each column of the run, the first in the low bits; also for a STORE, whose thread must have
 * all columns of a run. FIRST_HALF, SECOND_HALF: the column in that half of the blocks of `period`
 * columns, of a value with twice the space's columns; also for a STORE. AT: column `period` of a value
 * of any width, whatever the body's column; also for a STORE. RESHAPED: a STORE that fills the value's
 * elements in order, whatever its rows are. */
typedef enum {
    COL_SAME,
    COL_MODULO,
    COL_ROTATE,
    COL_DIVIDE,
    COL_PACKED,
    COL_FIRST_HALF,
    COL_SECOND_HALF,
    COL_AT,
    COL_RESHAPED
} ColMap;

typedef struct {
    StepKind kind;
    StepType type;
    Level level;
    int arg[3]; /* indices of earlier steps of the body; -1: none */
    Value *value;
    double constant;
    DType dtype;      /* ROUND */
    bool approximate; /* SIGMOID: kernel.cuh's approximation is accurate enough */
    ColMap col_map;
    int64_t period;   /* LOAD: of the map; COL_SUM: rows per run, 0: all; RESULT: rows per window */
    int64_t inverse;  /* CONST: n if the constant is 1 / n and should read so; else 0 */
    int row_index;    /* LOAD, STORE: the step that gives the row; -1: the body's own row */
    int operand;      /* STORE in a prologue: the template's operand, from 1, that it makes; else 0 */
    int64_t per;      /* LOAD of a foremost tap, which reads what is new to its window: `per` rows */
    int64_t moves;    /* further, it reads what is about `moves` rows further; other LOADs: 0 */
    bool slides;      /* LOAD under a window of stride 1, `line` lines and `place` places away: */
    int line, place;  /* what it reads for the next row, one at place + 1 reads for this row */
    bool spare;       /* such a LOAD beyond the window, which only a row behind this one needs */
    bool unstored;    /* STORE in a prologue: nothing but the template reads it, so it is not stored */
    uint32_t stream;  /* UNIFORM */
    bool of_product;  /* ROW_SUM, COL_SUM: a is a product; multiply and add round once */
    const char *name; /* always a variable of this name; NULL: a variable only if needed, */
    const char *hint; /* so named unless it is loaded or stored; NULL: "t" */
} Step;

typedef struct {
    Arena *arena;
    const struct Program *program; /* for expand rules: that of their op */
    int64_t rows, cols;            /* iteration space */
    Step *steps;
    int count, capacity;
} Body;

/* Without steps; the arena owns it and what is appended. */
Body *body_new(Arena *, int64_t rows, int64_t cols);
/* Makes the body's space that of a value: its rows and columns. */
void body_space(Body *, const Value *);
Body *body_copy(const Body *);

/* Each returns the new step's index. */
int step_load(Body *, Value *);
int step_load_mapped(Body *, Value *, int row_index, ColMap, int64_t period);
/* Reads the row that step row_index gives, if step `condition` is true (-1: always). */
int step_load_where(Body *, Value *, int row_index, int condition);
int step_result(Body *);
int step_const(Body *, double);
int step_named(Body *, double, const char *name); /* a constant with a name: "EPS" */
int step_inverse(Body *, int64_t n);              /* the constant 1 / n */
int step_const_int(Body *, int64_t);
int step_extent(Body *, int64_t, const char *name); /* a whole number with a name: "WIDTH" */
int step_const_bool(Body *, bool);
int step_index(Body *, StepKind row_or_col);
int step_unary(Body *, StepKind, int a);
int step_binary(Body *, StepKind, int a, int b);
int step_select(Body *, int condition, int a, int b);
int step_fma(Body *, int a, int b, int c);
int step_cast(Body *, StepType, int a);
int step_round(Body *, DType, int a);
int step_uniform(Body *, int seed, int step, int element, uint32_t stream);
int step_reduce(Body *, StepKind row_reduction, int a);
/* The level of a step with arguments of these levels. */
Level level_join(Level, Level);
/* Gives the step a name, unless it is a constant, or a hint; returns the step. */
int step_called(Body *, int step, const char *format, ...) __attribute__((format(printf, 3, 4)));
int step_hinted(Body *, int step, const char *hint);
void step_store(Body *, Value *, int a);
int step_store_mapped(Body *, Value *, ColMap, int64_t period, int a); /* returns the store */
void step_store_reshaped(Body *, Value *, int a);
void step_store_at(Body *, Value *, int row_index, int a);
void step_col_sum(Body *, Value *, int a);
void step_col_sum_at(Body *, Value *, int64_t row, int a);
void step_run_sum(Body *, Value *, int64_t run, int a);
int step_total(Body *, int a);

/* Makes room for that many steps in a body that has none yet. */
void body_reserve(Body *, int steps);
/* Appends a step unchanged; for passes that join Bodies. */
int body_append(Body *, Step);
/* How many arguments a step has; a LOAD has one if it has a condition. */
int step_args(const Step *);
/* The step in another body, in which place[i] is what step i has become. */
Step step_moved(Step, const int *place);
const char *step_name(StepKind);
bool step_reduces_row(StepKind);  /* ROW_SUM, ROW_MAX, ROW_LSE */
bool step_totals(StepKind);       /* TOTAL */
bool step_reduces(StepKind);      /* any of these: complete only after the visit that feeds it */
bool step_writes(StepKind);       /* STORE, COL_SUM */
/* Whether two LOADs read the same line of a sliding window. */
bool step_same_line(const Step *, const Step *);
bool step_shares(const Step *);   /* whether the columns of a run share an element: DIVIDE, PACKED */
bool step_sums_columns(StepKind); /* COL_SUM */
/* Whether a LOAD's or STORE's column is the body's: its value has several, and it is not AT one. */
bool step_has_columns(const Step *);

/* The body of an op that has one (op_table[kind].expand), else NULL. The arena owns it. */
Body *op_expand(Arena *, const Program *, const Op *);

#endif
