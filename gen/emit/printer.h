/* Printing one kernel: the current position in it, and the names of its steps. */
#ifndef EMIT_PRINTER_H
#define EMIT_PRINTER_H

#include "base/strbuf.h"
#include "plan/phases.h"
#include "plan/plan.h"

enum { MAX_CONSTANTS = 128 };

/* A number that has a name in a kernel: an extent, what follows from one, or a named real step. */
typedef struct {
    const char *base, *name; /* "COLS"; "COLS_2" if another number of the kernel has that name */
    const char *type, *text; /* "int", "96" */
} Constant;

typedef struct {
    StrBuf *out;
    Arena *arena;
    const Kernel *kernel;
    const Body *body;
    Phases phases;
    int phase;
    int depth;            /* levels of indentation */
    const char **name;    /* by step: its variable; NULL: written out at its uses */
    const char **slot;    /* by step: the variable that it loads, draws, sums or stores */
    int *holder;          /* by step: the STORE whose vector has its value; -1: none */
    const char *row;      /* the index of rows: "row", or for loads of several rows the first of them */
    const char *col;      /* the index of columns: "col", or "i" if there is only one index */
    const char *lane;     /* "lane", "threadIdx.x" */
    bool linear;          /* see body_is_linear */
    bool is_long;         /* indices are int64_t */
    bool one_scope;       /* elements' variables stay in scope from one phase to the next */
    int chunks;           /* of a row skeleton; if 1, there is no loop and no [c] */
    bool several_strides; /* the kernel's matrices have more than one besides COLS */
    bool any_blocks;      /* print columns so that the number of their blocks is a constant */
    const char *ahead_end; /* where rows end that ask for later ones; NULL: none does */
    bool is_first;        /* print columns of a vector's first element instead of element j */
    const char **used;    /* identifiers used in the kernel so far */
    int used_count, used_capacity;
    Constant *constant;
    int constant_count, constant_capacity;
} Printer;

void put(Printer *, const char *format, ...) __attribute__((format(printf, 2, 3))); /* one line */
void use(Printer *, const char *name); /* an identifier that the kernel has */
const char *unique(Printer *, const char *base);
void release(Printer *, const char *name); /* a variable out of scope: its name is free again */
/* Returns the name of the constant that the kernel, or its template, has for a whole number. */
const char *extent(Printer *, const char *base, int64_t value);
const char *param_name(const Printer *, int step); /* of what it loads, stores or sums */
const char *real_name(const Printer *);
const char *index_type(const Printer *);
const char *type_name(const Printer *, StepType);

const char *step_text(Printer *, int step);
/* Index in the step's value: "row * 128 + col"; `each`: of element j instead of the first. */
const char *step_index_text(Printer *, int step, bool each);
const char *step_stride_text(Printer *, int step); /* the distance between rows of its value */
/* The expression that a LOAD reads; for vectors, that of one element. */
const char *step_element_text(Printer *, int step);
/* The arguments of a UNIFORM's draw: "seed, step, stream, element". */
const char *step_draw_text(Printer *, int step);
/* Names the real steps that are constants with names. */
void name_constants(Printer *);
/* Declares what a phase needs once per row (or once per kernel), and stores what it stores per
 * row. */
void print_row_scope(Printer *, int phase);
/* The same for steps that are computed before the loop over rows, and the loads of columns. */
void print_before_rows(Printer *);
void print_hoisted_loads(Printer *, int phase);
/* Loads what the windows of several rows have in common, before the loop over these rows. */
void print_lines(Printer *);
/* In a kernel that asks for what later rows load: declares the end of the rows that do so, before the
 * loop over rows; and asks, before a row's loads. */
void print_ahead_end(Printer *);
void print_ahead(Printer *);
/* Prints the loads, the element loop and the stores of one visit of the columns. */
void print_visit(Printer *, int phase);
/* Whether the result of a LOAD is kept in registers for later phases. */
bool stays_in_registers(const Printer *, int step);
bool stores_vector(const Printer *, int step);
/* For kernels whose vectors stay in scope: lets later visits read what earlier ones have stored. */
void hold_stored(Printer *);
/* Whether a vector that an earlier visit has stored has the step's value. */
bool is_held(const Printer *, int step);

void print_row_kernel(Printer *);    /* WARP_ROW, BLOCK_ROW, STREAM_ROW */
void print_column_kernel(Printer *); /* COLUMN */
void print_epilogue_columns(Printer *);
void print_epilogue_row(Printer *);

/* The parts of a kernel that has a body. */
typedef struct {
    const char *head, *params, *statements; /* the head ends in the parameters and "{" */
    const char *sizes;                      /* its template's members of Sizes, or "" */
    Constant *constant;                     /* those that the statements mention */
    int constant_count;
} KernelText;

/* Of a kernel without a template. With any_blocks, the same whether one block has all columns of a row
 * or several blocks share them. */
KernelText kernel_text(const Plan *, const Kernel *, bool any_blocks);
/* Declares constants at the start of a function, one statement per type. */
void put_constants(Arena *, const Constant *, int count, StrBuf *);

/* Fills a template's holes for its epilogue: "operands", parameters after the template's own ones;
 * "columns", what is the same in all rows; "row", what is done for a row. The template declares
 * `tile`, a thread's results; `r`, the number of the thread's row; and `row`, its number in the
 * result, which has tile.COLUMNS columns. tile.column(c) is the first column of the thread's
 * vector c, of tile.VECTORS; tile.sum(r, c, j), the result at element j of that vector. If a row is a
 * window, tile.sum(r, k, c, j) is that of place k of the window. Threads without a row or column
 * have returned before.
 *
 * A prologue fills the same holes with what makes a vector of a row. The template declares `row` and
 * `tile`: a row has tile.COLUMNS columns, tile.column(0) is the vector's first one, and
 * tile.operand(n) is where the template expects the vector of its operand n. */
enum { EPILOGUE_HOLES = 3 };
/* Returns the constants that these parts mention, in a text that is empty otherwise. */
KernelText epilogue_text(const Plan *, const Kernel *, Hole to[EPILOGUE_HOLES]);

#endif
