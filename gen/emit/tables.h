/* Tables of structs in emitted C. Rows that repeat with the next number in their names, such as
 * those of each layer, are written once, as a macro of the number. */
#ifndef EMIT_TABLES_H
#define EMIT_TABLES_H

#include "emit/places.h"

/* What is in a cell, and how it may change from one number to the next. */
typedef enum {
    CELL_CODE,    /* C text; not at all */
    CELL_NAME,    /* a string; in the number itself, if the string contains it */
    CELL_SIZE,    /* a number; not at all */
    CELL_REAL,    /* a number with a fraction; not at all */
    CELL_INDEX,   /* a number; by the same amount each time */
    CELL_ADDRESS, /* that of a value, or RT_NOWHERE */
} CellKind;

typedef struct {
    CellKind kind;
    bool begins_line;
    const char *before, *behind; /* ".weight = ", "}": code around it */
    const char *text;
    int number_at; /* in a name: where its first part is that is a number; -1: nowhere */
    long long number;
    double real;
    const Value *value;
} Cell;

typedef struct {
    int first, count; /* cells; the first name among them is the row's */
    const char *name;
    int number; /* the first part of the name that is a number, such as the layer; or -1 */
    int number_at;
} Row;

/* Numbers that a macro lists. */
typedef struct {
    int first, last;
} Range;

/* Of one file; its tables are filled and written one after the other. */
typedef struct {
    Arena *arena;
    const Places *places;
    Row *rows;
    int row_count, row_capacity;
    Cell *cells;
    int cell_count, cell_capacity;
    bool begins_line; /* for the next cell */
    Range *ranges;    /* that the file has macros for */
    int range_count, range_capacity;
} Table;

/* Begins a row. */
void table_row(Table *);
/* The next cell begins a line. */
void table_line(Table *);
/* These append a cell to the last row. */
void table_code(Table *, const char *code);
void table_name(Table *, const char *before, const char *name);
void table_size(Table *, const char *before, int64_t number);
void table_real(Table *, const char *before, double real);
void table_index(Table *, const char *before, int64_t number);
void table_address(Table *, const char *before, const Value *, const char *behind);

/* Writes all rows; the table is empty then. */
void put_table(Table *, StrBuf *);

#endif
