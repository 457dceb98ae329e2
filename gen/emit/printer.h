/* Printing one kernel: where we are in it and how its steps are called there. */
#ifndef EMIT_PRINTER_H
#define EMIT_PRINTER_H

#include "base/strbuf.h"
#include "plan/phases.h"
#include "plan/plan.h"

enum { MAX_NAMES = 1024 };

typedef struct {
    StrBuf *out;
    Arena *arena;
    const Kernel *kernel;
    const Body *body;
    Phases phases;
    int phase;
    int depth;         /* of indentation */
    const char **name; /* by step: its variable; NULL: written out where it is used */
    const char **slot; /* by LOAD: the variable that holds what it read; by UNIFORM: what was drawn */
    const char *col;   /* the running index of columns: "col", or "i" where one index serves all */
    const char *lane;  /* "lane", "threadIdx.x" */
    bool linear;       /* see body_is_linear */
    bool is_long;      /* indices are int64_t */
    int chunks;        /* of a row skeleton; 1: no loop and no [c] */
    bool is_first;     /* columns are those of a vector's first element, not of element j */
    const char *used[MAX_NAMES]; /* identifiers of the kernel so far */
    int used_count;
} Printer;

/* An expression and how tightly it binds. */
typedef struct {
    const char *text;
    int binding;
} Term;

void put(Printer *, const char *format, ...) __attribute__((format(printf, 2, 3))); /* one line */
const char *unique(Printer *, const char *base);
const char *real_name(const Printer *);
const char *index_type(const Printer *);

Term step_term(Printer *, int step);
const char *step_text(Printer *, int step);
/* Element of the step's value: "row * 128 + col"; `each`: of lane element j instead of the first. */
const char *step_index_text(Printer *, int step, bool each);
/* What a LOAD reads of memory, of several elements each by itself. */
const char *step_element_text(Printer *, int step);
/* What a UNIFORM is drawn from: "seed, step, stream, element". */
const char *step_draw_text(Printer *, int step);
/* Declares what one row (or the whole kernel) needs once, in the phase, and what it stores. */
void print_row_scope(Printer *, int phase);
/* The same for what step_before_rows says, and the loads of columns. */
void print_before_rows(Printer *);
void print_hoisted_loads(Printer *, int phase);
/* The loads, the element loop and the stores of one visit of the columns. */
void print_visit(Printer *, int phase);
/* Whether a LOAD is read once and kept for the phases that follow. */
bool stays_in_registers(const Printer *, int step);
void print_element_loop(Printer *);

void print_row_kernel(Printer *);    /* WARP_ROW, BLOCK_ROW, STREAM_ROW */
void print_column_kernel(Printer *); /* COLUMN */
void print_epilogue_columns(Printer *);
void print_epilogue_row(Printer *);
/* One kernel, from a body. */
void print_body_kernel(const Plan *, int kernel, StrBuf *);

/* What fills a template's holes of its epilogue: "operands", behind the template's own pointers;
 * "columns", what is the same in all rows; "row". The template declares row; column(c), the
 * first column of a thread's vector number c; found(c, j), the result at element j of that
 * vector; where a row is a window, found(k, c, j), that of row k under it. Threads without any row or
 * column are gone. */
enum { EPILOGUE_HOLES = 3 };
void print_epilogue(const Plan *, const Kernel *, Hole to[EPILOGUE_HOLES]);

#endif
