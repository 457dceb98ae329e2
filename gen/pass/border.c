/* Finds the structure that bordering rewrites; names and parts of a border. */
#include "base/dotted.h"
#include "base/rounding.h"
#include "graph/op_table.h"
#include "pass/bordered.h"

#include <string.h>

static Op *reader_of(const GraphUses *uses, const Value *v, int operand) {
    int count;
    Op *const *reader = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++)
        if (reader[i]->kind == OP_linear && reader[i]->in_count > operand &&
            reader[i]->in[operand] == v)
            return reader[i];
    return NULL;
}

/* A site ends in a linear that accumulates onto a plain linear with a frozen weight. */
static bool match_site(const GraphUses *uses, Op *base, Site *site) {
    if (base->kind != OP_linear || base->attr.accumulate || base->attr.alpha != 1)
        return false;
    if (base->in[1]->role != ROLE_FROZEN)
        return false;
    Op *up = reader_of(uses, base->out[0], 2);
    if (!up || !up->attr.accumulate || !value_trains(up->in[1]))
        return false;
    Op *down = use_maker(uses, up->in[0]);
    if (!down || down->kind != OP_linear || down->attr.accumulate || !value_trains(down->in[1]))
        return false;
    *site = (Site){.base = base, .down = down, .up = up, .out = value_rows(base->in[1])};
    site->rank = value_cols(up->in[0]);
    site->width = round_up(site->rank, RANK_MULTIPLE);
    return true;
}

static Border *group_of(Arena *arena, Borders *all, Op *base) {
    for (int i = 0; i < all->count; i++)
        if (all->border[i].x == base->in[0] && all->border[i].count < MAX_SITES)
            return &all->border[i];
    all->border = arena_grow(arena, all->border, all->count, &all->capacity, sizeof(Border));
    Border *b = &all->border[all->count++];
    *b = (Border){.x = base->in[0], .in = value_cols(base->in[0])};
    return b;
}

const char *linears_name(Arena *arena, const char *const *names, int count) {
    const char *name = names[0], *ending = strrchr(name_last_part(name), '_');
    if (count == 1)
        return name;
    ending = ending ? ending : "";
    const char *joined = arena_strndup(arena, name, strlen(name) - strlen(ending));
    for (int i = 1; i < count; i++) {
        const char *part = name_last_part(names[i]);
        size_t length = strlen(part), tail = strlen(ending);
        bool alike = length > tail && strcmp(part + length - tail, ending) == 0;
        length -= alike ? tail : 0;
        joined = arena_printf(arena, "%s_%.*s", joined, (int)length, part);
    }
    return arena_printf(arena, "%s%s", joined, ending);
}

/* The same for names that differ in one part. */
static const char *joined_names(Arena *arena, const char *const *names, int count) {
    const char *first = names[0], *linears[MAX_SITES] = {0};
    if (count == 1)
        return first;
    size_t same = common_length(first, names[1]);
    same += first[same] == '.';
    size_t end = same + part_length(first + same);
    for (int i = 0; i < count; i++) {
        bool alike = strlen(names[i]) > same && strncmp(names[i], first, same) == 0;
        size_t length = alike ? same + part_length(names[i] + same) : end;
        linears[i] = arena_strndup(arena, names[i], length);
    }
    return arena_printf(arena, "%s%s", linears_name(arena, linears, count), first + end);
}

const char *joined_name(Arena *arena, Op *const *ops, int count) {
    const char *names[MAX_SITES] = {0};
    for (int i = 0; i < count; i++)
        names[i] = ops[i]->name;
    return joined_names(arena, names, count);
}

static bool lies_before(const Value *a, const Value *b) {
    return a->storage == b->storage ? a->offset < b->offset : a->storage->id < b->storage->id;
}

/* Orders the A's as the train state does, so that they are one matrix both there and in the
 * border. */
static void place_sides(Border *b) {
    for (int i = 0; i < b->count; i++)
        for (int k = 0; k < b->count; k++)
            if (lies_before(b->site[k].down->in[1], b->site[i].down->in[1]))
                b->site[i].side += b->site[k].width;
}

static void name_border(Arena *arena, Border *b) {
    const char *names[MAX_SITES] = {0}, *by_side[MAX_SITES] = {0}, *a[MAX_SITES] = {0};
    for (int i = 0; i < b->count; i++) {
        int before = 0;
        for (int k = 0; k < b->count; k++)
            before += b->site[k].side < b->site[i].side;
        names[i] = by_side[before] = b->site[i].base->name;
        a[before] = b->site[i].down->in[1]->name;
    }
    b->name = linears_name(arena, names, b->count);
    b->side_name = linears_name(arena, by_side, b->count);
    b->a_name = joined_names(arena, a, b->count);
}

Borders borders_find(Program *p, const GraphUses *uses, Arena *arena) {
    const Graph *graph = uses->graph;
    Borders all = {0};
    for (int i = 0; i < graph->op_count; i++) {
        Site site;
        if (!match_site(uses, graph->ops[i], &site))
            continue;
        Border *b = group_of(arena, &all, site.base);
        site.row = b->out;
        b->out += site.out;
        b->side += site.width;
        b->site[b->count++] = site;
    }
    for (int i = 0; i < all.count; i++) {
        place_sides(&all.border[i]);
        name_border(p->arena, &all.border[i]);
    }
    return all;
}

bool border_has_one_input(const Border *b) {
    for (int i = 1; i < b->count; i++)
        if (b->site[i].down->in[0] != b->site[0].down->in[0])
            return false;
    return true;
}

int64_t border_zeros_of_a(const Border *b) {
    int64_t zeros = b->side * b->in;
    for (int i = 0; i < b->count; i++)
        zeros -= b->site[i].rank * b->in;
    return zeros;
}

int64_t border_zeros_of_b(const Border *b) {
    int64_t zeros = b->out * b->side;
    for (int i = 0; i < b->count; i++)
        zeros -= b->site[i].out * b->site[i].rank;
    return zeros;
}

Value *border_block(Program *p, const Border *b, int64_t row, int64_t rows, int64_t col,
                    int64_t cols, const char *name) {
    return value_columns(p, value_row_range(p, b->border, row, rows, name), col, cols, name);
}

Value *border_part(Program *p, const Border *b, int64_t row, int64_t rows, int64_t col,
                   int64_t cols, const char *part) {
    const char *name = arena_printf(p->arena, "%s.%s", b->border->name, part);
    return border_block(p, b, row, rows, col, cols, name);
}

Value *border_rows_of_a(Program *p, const Border *b, int64_t row, int64_t rows, const char *a) {
    return border_block(p, b, b->out + row, rows, 0, b->in, arena_printf(p->arena, "%s.border", a));
}
