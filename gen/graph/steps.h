/* Scalar steps: what a pointwise or row op does to one element.
 *
 * An op that is no matrix product and no template describes itself as a Body: a list of typed
 * scalar steps over an iteration space of [rows, cols]. The fusion pass concatenates Bodies, and
 * one printer turns a Body into a CUDA kernel, whatever ops it came from.
 *
 * A step's *level* says what it varies with: a SCALAR is the same everywhere, a ROW step once a
 * row, a COL step once a column, an ELEMENT step once an element. A row reduction turns ELEMENT or
 * COL into ROW. Steps compute in `real` (float or double), int or bool; LOAD widens and STORE and
 * ROUND narrow to nearest even, so a value has the same bits whether it went through memory or not.
 */
#ifndef GRAPH_STEPS_H
#define GRAPH_STEPS_H

#include "graph/graph.h"

typedef enum {
    STEP_LOAD,    /* value[row, col], broadcast by the value's shape; see ColMap, row_index. With a
                   * condition a: 0 where it does not hold, and nothing is read */
    STEP_STORE,   /* value[row, col] = a; row_index as for LOAD: rows that no other store of the body
                   * and no other row of its space has, or in spaces of [1,1] */
    STEP_COL_SUM, /* value[constant, col] = sum over all rows of a, in a fixed order; where period
                   * says a run of rows, value[row / period, col] = sum over each run */
    STEP_RESULT,  /* what a template found for the element, where the body is its epilogue; where
                   * period says that a row is a window of so many, for number `constant` of them */
    STEP_CONST,   /* constant */
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
    STEP_TANH,
    STEP_SIN,
    STEP_COS,
    STEP_RINT, /* to the nearest whole number, a half to the even one */
    STEP_MOD, /* int */
    STEP_LT,
    STEP_EQ,
    STEP_GE,      /* bool */
    STEP_AND,     /* bool, of two */
    STEP_FINITE,  /* bool: neither infinite nor NaN */
    STEP_FMA,     /* real: a b + c, rounded once */
    STEP_SELECT,  /* a ? b : c */
    STEP_CAST,    /* to `type` */
    STEP_ROUND,   /* through `dtype` and back: what a store and a load would do */
    STEP_UNIFORM, /* philox in (0,1]: a = seed, b = step, c = element index; stream */
    STEP_ROW_SUM,
    STEP_ROW_MAX,
    STEP_ROW_LSE, /* over the columns of a row; LSE is log(sum(exp(a))), in one visit: each thread
                   * carries the largest a so far, and the sum relative to it */
    STEP_TOTAL,   /* one a column: sum over all rows, in the second pass of COL_SUM alone */
    STEP_KIND_COUNT
} StepKind;

typedef enum { TYPE_REAL, TYPE_INT, TYPE_BOOL, TYPE_LONG } StepType;
typedef enum { LEVEL_SCALAR, LEVEL_ROW, LEVEL_COL, LEVEL_ELEMENT, LEVELS } Level;

/* Which column a LOAD reads: its own; col % period (a table that repeats); the partner in a rotation
 * of halves: within each block of `period` columns, col +- period/2; or col / period (what a run of
 * columns shares). A STORE may take the value's elements in their order, whatever its rows are. */
typedef enum { COL_SAME, COL_MODULO, COL_ROTATE, COL_DIVIDE, COL_RESHAPED } ColMap;

typedef struct {
    StepKind kind;
    StepType type;
    Level level;
    int arg[3]; /* indices of earlier steps of the body; -1: none */
    Value *value;
    double constant;
    DType dtype; /* ROUND */
    ColMap col_map;
    int64_t period;   /* LOAD: of the map; COL_SUM: rows of a run, 0: all; RESULT: rows of a window */
    int row_index;    /* LOAD, STORE: a step that gives the row, -1: the row itself */
    uint32_t stream;  /* UNIFORM */
    bool of_product;  /* ROW_SUM, COL_SUM: the op sums a product, which is added with one rounding */
    const char *name; /* a variable of this name; NULL: one only where it is needed, */
    const char *hint; /* then called this; NULL: after what it loads or stores */
} Step;

typedef struct {
    Arena *arena;
    int64_t rows, cols; /* iteration space */
    Step *steps;
    int count, capacity;
} Body;

Body *body_new(Arena *, int64_t rows, int64_t cols);
Body *body_copy(const Body *);

/* Each returns the new step's index. */
int step_load(Body *, Value *);
int step_load_mapped(Body *, Value *, int row_index, ColMap, int64_t period);
/* Of the row that a step gives, where a condition holds (-1: always). */
int step_load_where(Body *, Value *, int row_index, int condition);
int step_result(Body *);
int step_const(Body *, double);
int step_const_int(Body *, int64_t);
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
/* A step varies with whatever its arguments vary with. */
Level level_join(Level, Level);
/* Gives the step a name, or a hint; returns the step. */
int step_called(Body *, int step, const char *format, ...) __attribute__((format(printf, 3, 4)));
int step_hinted(Body *, int step, const char *hint);
void step_store(Body *, Value *, int a);
void step_store_reshaped(Body *, Value *, int a);
void step_store_at(Body *, Value *, int row_index, int a);
void step_col_sum(Body *, Value *, int a);
void step_col_sum_at(Body *, Value *, int64_t row, int a);
void step_run_sum(Body *, Value *, int64_t run, int a);
int step_total(Body *, int a);

/* Appends a step as it is; for passes that join Bodies. */
int body_append(Body *, Step);
/* Arguments of a step: a LOAD has one where it has a condition. */
int step_args(const Step *);
const char *step_name(StepKind);

/* The body of an op that has one (op_table[kind].expand), else NULL. */
Body *op_expand(const Program *, const Op *);

#endif
