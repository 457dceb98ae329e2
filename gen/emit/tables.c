/* Consecutive rows of one number are a block. Blocks of consecutive numbers that differ only in what
 * follows from the number are written as
 *
 *     #define ROWS(n) \
 *         {"model.layers." #n ".mlp.act", 12 * n + 10, MODEL_LAYERS_MLP_ACT(n), ...}, \
 *         {...}
 *         EACH_0_TO_31(ROWS),
 *     #undef ROWS
 *
 * where EACH_0_TO_31(rows) is rows(0), rows(1), ... rows(31). */
#include "emit/tables.h"

#include "base/dotted.h"
#include "emit/names.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A macro that saves fewer rows than this is harder to read than the rows themselves. */
enum { LEAST_SAVED = 6 };

/* Blocks of `length` rows each, the first one from row `first` on. */
typedef struct {
    int first, length, times;
} Repeat;

/* Whether the part is an int as C writes it. */
static bool is_plain_number(const char *part) {
    size_t length = part_length(part);
    return part_is_number(part) && (length == 1 || *part != '0') && length < 10;
}

static int number_of(const char *part) { return (int)strtol(part, NULL, 10); }

void table_row(Table *t) {
    t->rows = arena_grow(t->arena, t->rows, t->row_count, &t->row_capacity, sizeof *t->rows);
    t->rows[t->row_count++] = (Row){.first = t->cell_count, .number = -1, .number_at = -1};
}

void table_line(Table *t) { t->begins_line = true; }

static void add_cell(Table *t, Cell cell) {
    t->cells = arena_grow(t->arena, t->cells, t->cell_count, &t->cell_capacity, sizeof *t->cells);
    cell.begins_line = t->begins_line;
    t->begins_line = false;
    t->cells[t->cell_count++] = cell;
    t->rows[t->row_count - 1].count++;
}

void table_code(Table *t, const char *code) { add_cell(t, (Cell){.kind = CELL_CODE, .text = code}); }

void table_name(Table *t, const char *before, const char *name) {
    const char *part = name;
    while (*part && !is_plain_number(part))
        part = next_part(part);
    int at = *part ? (int)(part - name) : -1;
    add_cell(t, (Cell){.kind = CELL_NAME, .before = before, .text = name, .number_at = at});
    Row *row = &t->rows[t->row_count - 1];
    if (row->name)
        return;
    row->name = name;
    row->number_at = at;
    row->number = *part ? number_of(part) : -1;
}

void table_size(Table *t, const char *before, int64_t number) {
    add_cell(t, (Cell){.kind = CELL_SIZE, .before = before, .number = number});
}

void table_real(Table *t, const char *before, double real) {
    add_cell(t, (Cell){.kind = CELL_REAL, .before = before, .real = real});
}

void table_index(Table *t, const char *before, int64_t number) {
    add_cell(t, (Cell){.kind = CELL_INDEX, .before = before, .number = number});
}

void table_address(Table *t, const char *before, const Value *value, const char *behind) {
    add_cell(t, (Cell){.kind = CELL_ADDRESS, .before = before, .value = value, .behind = behind});
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Whether both have the same text up to their first numbers. */
static bool same_series(const Row *a, const Row *b) {
    return a->number >= 0 && b->number >= 0 && a->number_at == b->number_at &&
           memcmp(a->name, b->name, (size_t)a->number_at) == 0;
}

static int block_length(const Table *t, int first) {
    int end = first + 1;
    while (end < t->row_count && t->rows[end].number == t->rows[first].number &&
           same_series(&t->rows[first], &t->rows[end]))
        end++;
    return end - first;
}

/* Whether the names are equal, or each has the number of its row and they are equal but for it. */
static bool names_repeat(const Cell *a, const Row *of_a, const Cell *b, const Row *of_b) {
    if (a->number_at != b->number_at)
        return false;
    if (a->number_at < 0)
        return strcmp(a->text, b->text) == 0;
    const char *in_a = a->text + a->number_at, *in_b = b->text + b->number_at;
    return memcmp(a->text, b->text, (size_t)a->number_at) == 0 &&
           number_of(in_a) == of_a->number && number_of(in_b) == of_b->number &&
           strcmp(in_a + part_length(in_a), in_b + part_length(in_b)) == 0;
}

/* Whether the rows are alike but for indices and addresses. */
static bool rows_repeat(const Table *t, const Row *a, const Row *b) {
    bool same = same_series(a, b) && a->count == b->count;
    for (int i = 0; same && i < a->count; i++) {
        const Cell *x = &t->cells[a->first + i], *y = &t->cells[b->first + i];
        same = x->kind == y->kind && text_equal(x->before, y->before) &&
               text_equal(x->behind, y->behind) && !x->value == !y->value;
        if (x->kind == CELL_CODE)
            same = same && text_equal(x->text, y->text);
        else if (x->kind == CELL_NAME)
            same = same && names_repeat(x, a, y, b);
        else if (x->kind == CELL_SIZE)
            same = same && x->number == y->number;
        else if (x->kind == CELL_REAL)
            same = same && x->real == y->real;
    }
    return same;
}

/* Whether the indices of the row go on by the same amount as before. */
static bool indices_go_on(const Table *t, Repeat repeat, int next) {
    const Row *row = &t->rows[next], *last = row - repeat.length;
    const Row *first = &t->rows[repeat.first + (next - repeat.first) % repeat.length];
    const Row *second = first + repeat.length;
    for (int i = 0; i < row->count; i++)
        if (t->cells[row->first + i].kind == CELL_INDEX &&
            t->cells[row->first + i].number - t->cells[last->first + i].number !=
                t->cells[second->first + i].number - t->cells[first->first + i].number)
            return false;
    return true;
}

/* Whether the block after these continues them: the numbers go on, up or down. */
static bool goes_on(const Table *t, Repeat repeat) {
    int next = repeat.first + repeat.times * repeat.length;
    if (next >= t->row_count || block_length(t, next) != repeat.length)
        return false;
    const Row *first = &t->rows[repeat.first], *second = first + repeat.length;
    int step = t->rows[next].number - t->rows[next - 1].number;
    if (abs(step) != 1 || step != second->number - first->number)
        return false;
    for (int i = 0; i < repeat.length; i++)
        if (!rows_repeat(t, &first[i], &t->rows[next + i]) || !indices_go_on(t, repeat, next + i))
            return false;
    return true;
}

static Repeat repeat_at(const Table *t, int first) {
    Repeat repeat = {first, block_length(t, first), 1};
    while (goes_on(t, repeat))
        repeat.times++;
    return repeat;
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *real_text(Arena *arena, double real) {
    StrBuf text = {0};
    sb_put_real(&text, real);
    const char *copy = arena_strdup(arena, text.text);
    sb_free(&text);
    return copy;
}

static const char *plain_text(const Table *t, const Cell *cell) {
    switch (cell->kind) {
    case CELL_CODE: return cell->text;
    case CELL_NAME: return c_string(t->arena, cell->text);
    case CELL_SIZE:
    case CELL_INDEX: return arena_printf(t->arena, "%lld", cell->number);
    case CELL_REAL: return real_text(t->arena, cell->real);
    case CELL_ADDRESS:
        return cell->value ? address_text(t->arena, t->places, cell->value) : "RT_NOWHERE";
    }
    return NULL;
}

/* "\"model.layers.\" #n \".mlp\"" */
static const char *counted_string(Arena *arena, const Cell *cell) {
    if (cell->number_at < 0)
        return c_string(arena, cell->text);
    const char *before = arena_strndup(arena, cell->text, (size_t)cell->number_at);
    const char *after = cell->text + cell->number_at + part_length(cell->text + cell->number_at);
    return arena_printf(arena, "%s%s#n%s%s", *before ? c_string(arena, before) : "",
                        *before ? " " : "", *after ? " " : "",
                        *after ? c_string(arena, after) : "");
}

/* "12 * n + 10" */
static const char *counted_index(Arena *arena, const Cell *const *cells, Count n, int times) {
    long long step = (cells[1]->number - cells[0]->number) * n.direction;
    long long at_0 = cells[0]->number - n.number * step;
    int last = number_at(n, times - 1), most = last > n.number ? last : n.number;
    const char *suffix = llabs(step) * most > INT_MAX ? "ll" : "";
    const char *product =
        llabs(step) == 1 ? "n" : arena_printf(arena, "%lld%s * n", llabs(step), suffix);
    if (step == 0)
        return arena_printf(arena, "%lld", at_0);
    if (step < 0)
        return arena_printf(arena, "%lld - %s", at_0, product);
    if (at_0 == 0)
        return product;
    return arena_printf(arena, "%s %c %lld", product, at_0 < 0 ? '-' : '+', llabs(at_0));
}

/* Returns the cell's text as a function of n, or NULL if there is none. `cells` are those of all
 * blocks. */
static const char *counted_text(const Table *t, const Cell *const *cells, Count n, int times) {
    if (cells[0]->kind == CELL_NAME)
        return counted_string(t->arena, cells[0]);
    if (cells[0]->kind == CELL_INDEX)
        return counted_index(t->arena, cells, n, times);
    if (cells[0]->kind != CELL_ADDRESS || !cells[0]->value)
        return plain_text(t, cells[0]);
    const Value **values = arena_array(t->arena, (size_t)times, sizeof *values);
    for (int i = 0; i < times; i++)
        values[i] = cells[i]->value;
    return counted_address_text(t->arena, t->places, values, n, times);
}

/* Returns the text of each cell of the row; NULL if the row cannot be written for all numbers. */
static const char **row_texts(const Table *t, const Row *row, Repeat repeat) {
    const char **texts = arena_array(t->arena, (size_t)row->count, sizeof *texts);
    const Cell **cells = arena_array(t->arena, (size_t)repeat.times, sizeof *cells);
    Count n = {row->number, row[repeat.length].number - row->number};
    for (int c = 0; c < row->count; c++) {
        for (int i = 0; i < repeat.times; i++)
            cells[i] = &t->cells[row[i * repeat.length].first + c];
        texts[c] = counted_text(t, cells, n, repeat.times);
        if (!texts[c])
            return NULL;
    }
    return texts;
}

static const char **plain_texts(const Table *t, const Row *row) {
    const char **texts = arena_array(t->arena, (size_t)row->count, sizeof *texts);
    for (int c = 0; c < row->count; c++)
        texts[c] = plain_text(t, &t->cells[row->first + c]);
    return texts;
}

/* Which lists rows are made of: those of a macro or others. */
typedef struct {
    void (*put)(StrBuf *, const char *head, const char *const *items, int count, int indent,
                const char *end);
    const char *newline;
} Lines;

static const Lines plain_lines = {put_list, "\n"};
static const Lines macro_lines = {put_macro_list, " \\\n"};

static const char *whole_text(Arena *arena, const Cell *cell, const char *text) {
    if (!cell->before && !cell->behind)
        return text;
    return arena_printf(arena, "%s%s%s", cell->before ? cell->before : "", text,
                        cell->behind ? cell->behind : "");
}

static void put_row(const Table *t, StrBuf *out, const Row *row, const char *const *texts,
                    const Lines *lines, const char *end) {
    const char **items = arena_array(t->arena, (size_t)row->count, sizeof *items);
    const Cell *cells = &t->cells[row->first];
    const char *head = "    {", *between = arena_printf(t->arena, ",%s", lines->newline);
    int count = 0;
    for (int c = 0; c < row->count; c++) {
        items[count++] = whole_text(t->arena, &cells[c], texts[c]);
        bool last = c + 1 == row->count;
        if (!last && !cells[c + 1].begins_line)
            continue;
        lines->put(out, head, items, count, 5, last ? end : between);
        head = "     ";
        count = 0;
    }
}

static const char *range_name(Arena *arena, Range range) {
    return arena_printf(arena, "EACH_%d_TO_%d", range.first, range.last);
}

/* Defines the macro of the range unless the file has it. */
static void put_range(Table *t, StrBuf *out, Range range) {
    for (int i = 0; i < t->range_count; i++)
        if (t->ranges[i].first == range.first && t->ranges[i].last == range.last)
            return;
    if (t->range_count == 0)
        sb_puts(out, "/* ROWS(n) are the rows of number n; #n is n as a string, "
                     "##n## n in a name. */\n");
    t->ranges =
        arena_grow(t->arena, t->ranges, t->range_count, &t->range_capacity, sizeof *t->ranges);
    t->ranges[t->range_count++] = range;
    int step = range.first < range.last ? 1 : -1, count = abs(range.last - range.first) + 1;
    const char **items = arena_array(t->arena, (size_t)count, sizeof *items);
    for (int i = 0; i < count; i++)
        items[i] = arena_printf(t->arena, "rows(%d)", range.first + i * step);
    sb_printf(out, "#define %s(rows) \\\n", range_name(t->arena, range));
    put_macro_list(out, "    ", items, count, 4, "\n");
}

/* Writes nothing and returns false if a row has no text for all numbers. */
static bool put_macro(Table *t, StrBuf *out, Repeat repeat) {
    const Row *rows = &t->rows[repeat.first];
    const char ***texts = arena_array(t->arena, (size_t)repeat.length, sizeof *texts);
    for (int i = 0; i < repeat.length; i++)
        if (!(texts[i] = row_texts(t, &rows[i], repeat)))
            return false;
    Range range = {rows->number, rows[(repeat.times - 1) * repeat.length].number};
    put_range(t, out, range);
    sb_printf(out, "/* %.*s{%d..%d} */\n#define ROWS(n) \\\n", rows->number_at, rows->name,
              range.first, range.last);
    for (int i = 0; i < repeat.length; i++)
        put_row(t, out, &rows[i], texts[i], &macro_lines,
                i + 1 < repeat.length ? "}, \\\n" : "}\n");
    sb_printf(out, "    %s(ROWS),\n#undef ROWS\n", range_name(t->arena, range));
    return true;
}

void put_table(Table *t, StrBuf *out) {
    for (int at = 0; at < t->row_count;) {
        Repeat repeat = repeat_at(t, at);
        int end = at + repeat.length * repeat.times;
        bool worth = end - at - repeat.length >= LEAST_SAVED;
        if (!worth || !put_macro(t, out, repeat))
            for (int i = at; i < end; i++)
                put_row(t, out, &t->rows[i], plain_texts(t, &t->rows[i]), &plain_lines, "},\n");
        at = end;
    }
    t->row_count = t->cell_count = 0;
}
