#include "pass/keep_columns.h"

static bool is_in(const ColumnsBehind *c, const Value *v) {
    int64_t col = v->offset - c->matrix->offset;
    return v->rank == 2 && v->row_stride == c->matrix->row_stride &&
           value_rows(v) == value_rows(c->matrix) && v->dtype == c->matrix->dtype &&
           col >= c->first && col + value_cols(v) <= c->first + c->cols;
}

/* The matrix whose first columns are x: the name that covers all of x's place. */
static Value *matrix_of(const Value *x) {
    for (Value *v = x->storage->views; v; v = v->next_view)
        if (v->rank == 2 && v->offset == x->offset && value_cols(v) == x->row_stride &&
            value_rows(v) == value_rows(x) && v->dtype == x->dtype)
            return v;
    return NULL;
}

/* Adds an op that fills some of the columns; false if there are too many, if backward fills them, or
 * if another op fills the same ones. */
static bool add_writer(const GraphUses *uses, ColumnsBehind *c, const Value *column) {
    Op *writer = use_maker(uses, column);
    for (const Value *v = column->storage->views; v; v = v->next_view)
        if (v != column && use_maker(uses, v) && value_overlaps(v, column))
            return false;
    if (c->writers == MAX_SITES || writer->phase != PHASE_FORWARD || !is_in(c, column))
        return false;
    int at = c->writers++;
    for (; at > 0 && c->writer[at - 1]->id > writer->id; at--)
        c->writer[at] = c->writer[at - 1];
    c->writer[at] = writer;
    return true;
}

Op *columns_last_writer(const ColumnsBehind *c) { return c->writer[c->writers - 1]; }

/* Whether an op before the last writer reads the value. */
static bool is_read_early(const GraphUses *uses, const ColumnsBehind *c, const Value *v) {
    int count;
    Op *const *readers = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++)
        if (readers[i]->id < columns_last_writer(c)->id)
            return true;
    return false;
}

/* Whether the columns are filled once, each before it is read, and can have a place of their own. */
static bool can_be_kept(const GraphUses *uses, const Value *x, ColumnsBehind *c) {
    int64_t filled = 0;
    for (Value *v = x->storage->views; v; v = v->next_view)
        if (use_maker(uses, v) && v->offset >= c->matrix->offset + c->first) {
            if (!add_writer(uses, c, v))
                return false;
            filled += value_cols(v);
        }
    for (const Value *v = x->storage->views; v; v = v->next_view)
        if (!value_overlaps(v, x) && (is_in(c, v) ? is_read_early(uses, c, v)
                                                  : use_read_in_backward(uses, v, NULL)))
            return false;
    return filled == c->cols;
}

bool columns_behind(const GraphUses *uses, const Value *x, ColumnsBehind *c) {
    *c = (ColumnsBehind){0};
    bool read = false;
    for (Value *v = x->storage->views; v; v = v->next_view)
        read |= !value_overlaps(v, x) && use_read_in_backward(uses, v, NULL);
    if (!read)
        return true;
    c->matrix = matrix_of(x);
    c->first = value_cols(x);
    c->cols = x->row_stride - c->first;
    return c->matrix && can_be_kept(uses, x, c);
}

/* Makes the maker and backward's readers of v, one of the columns, use `own`. */
static void use_instead(const GraphUses *uses, const Value *v, Value *own) {
    Op *maker = use_maker(uses, v);
    for (int i = 0; maker && i < maker->out_count; i++)
        if (maker->out[i] == v)
            maker->out[i] = own;
    int count;
    Op *const *readers = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++)
        if (readers[i]->phase != PHASE_FORWARD)
            op_read_instead(readers[i], v, own);
}

static Op *copy_new(Program *p, const char *name, Value *from, Value *to) {
    Op *op = arena_alloc(p->arena, sizeof *op);
    *op = (Op){.kind = OP_cast,
               .name = name,
               .in = {from},
               .in_count = 1,
               .out = {to},
               .out_count = 1,
               .pos = from->pos};
    return op;
}

Op *columns_keep(Program *p, const GraphUses *uses, const ColumnsBehind *c) {
    const Value *matrix = c->matrix;
    const char *name = c->writers > 1 ? joined_name(p->arena, c->writer, c->writers)
                                      : c->writer[0]->name;
    Value *to = value_columns(p, c->matrix, c->first, c->cols, name);
    Value *kept = value_2d(p, arena_printf(p->arena, "%s.kept", name), matrix->role, matrix->dtype,
                           value_rows(matrix), c->cols, matrix->pos);
    for (Value *v = matrix->storage->views; v; v = v->next_view) {
        if (v == to || !is_in(c, v))
            continue;
        Value *own = kept;
        if (value_cols(v) < c->cols)
            own = value_columns(p, kept, v->offset - to->offset, value_cols(v),
                                arena_printf(p->arena, "%s.kept", v->name));
        use_instead(uses, v, own);
    }
    return copy_new(p, name, kept, to);
}
