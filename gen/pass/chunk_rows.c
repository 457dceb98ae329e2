/* What tensor parallel ranks exchange goes out and comes in by runs of rows, each beside the product
 * of another.
 *
 * Requires a lowered program, and all_gathers and reduce_scatters with attr.chunks, of which each
 * becomes so many. The product ahead of a reduce_scatter is made run by run, and what is made goes
 * out while the next is; the products that read what is gathered, and the copies they read it
 * through, follow each run while the next comes in. Products that sum over rows stand behind these.
 * The communication's stream is given no more than one launch ahead, for a wait is for all that it
 * has been given. */
#include "pass/pass.h"

/* How an op behind an all_gather is: of rows of its operand, of the sum over them, of none. */
typedef enum { BY_ROWS, OVER_ROWS, APART, NO_READER } Reader;

typedef struct {
    Program *p;
    Graph *graph;
    Op **ops;       /* as they were */
    Op **last;      /* by place there: the op for the last run of rows; NULL: it is as it was */
    Reader *reader; /* the same, behind the gather at hand */
    int count;
} Chunks;

static bool is_chunked(const Op *op, OpKind kind) {
    return op->kind == kind && op->attr.chunks > 1;
}

static Value *rows_of(Program *p, Value *v, int64_t chunk, int64_t chunks) {
    int64_t rows = value_rows(v) / chunks;
    const char *name = arena_printf(p->arena, "%s.rows_%c", v->name, (char)('a' + chunk));
    return value_row_range(p, v, chunk * rows, rows, name);
}

/* The op at a place for a run of rows of its first operand and its result. */
static Op *add_chunk(Chunks *c, int at, int64_t chunk, int64_t chunks) {
    const Op *op = c->ops[at];
    Value *in[] = {rows_of(c->p, op->in[0], chunk, chunks), op->in_count > 1 ? op->in[1] : NULL,
                   op->in_count > 2 ? rows_of(c->p, op->in[2], chunk, chunks) : NULL};
    Value *out = rows_of(c->p, op->out[0], chunk, chunks);
    const char *name = arena_printf(c->p->arena, "%s.rows_%c", op->name, (char)('a' + chunk));
    Attr attr = op->attr;
    attr.chunks = 0;
    c->last[at] =
        op_add_into(c->p, c->graph, op->kind, name, in, op->in_count, &out, 1, attr, op->pos);
    return c->last[at];
}

/* Whether rows of the result are of the same rows of the first operand alone. */
static bool goes_by_rows(const Op *op) {
    return !op->observe && ((op->kind == OP_matmul && !op->attr.transpose_a) ||
                            (op->kind == OP_cast && op->in_count == 1));
}

/* ---- ahead of a reduce_scatter ------------------------------------------------------------------ */

static bool is_made_to_scatter(const Op *op, const Op *next) {
    return is_chunked(next, OP_reduce_scatter) && goes_by_rows(op) && op->kind == OP_matmul &&
           value_same_view(op->out[0], next->in[0]);
}

/* With the product ahead of it, or without. */
static void scatter_chunks(Chunks *c, int scatter, bool with_product) {
    int64_t chunks = c->ops[scatter]->attr.chunks;
    for (int64_t i = 0; i < chunks; i++) {
        Op *made = with_product ? add_chunk(c, scatter - 1, i, chunks) : NULL;
        add_chunk(c, scatter, i, chunks)->after = made;
    }
}

/* ---- behind an all_gather ----------------------------------------------------------------------- */

/* Whether it may as well stand ahead of the other. */
static bool may_precede(const Op *op, const Op *other) {
    for (int i = 0; i < other->out_count; i++)
        if (op_reads_part(op, other->out[i]) || op_writes_part(op, other->out[i]))
            return false;
    for (int i = 0; i < op->out_count; i++)
        if (op_reads_part(other, op->out[i]))
            return false;
    return true;
}

static bool by_same_rows(const Value *a, const Value *b) {
    return !value_overlaps(a, b) || (a->row_stride == b->row_stride &&
                                     a->offset / a->row_stride == b->offset / b->row_stride);
}

/* Whether a run of its rows needs of the other, which stands before it, that run alone. */
static bool follows_by_rows(const Op *op, const Op *other) {
    const Value *made = other->out[0], *out = op->out[0];
    for (int i = 1; i < op->in_count; i++)
        if (value_overlaps(op->in[i], made))
            return false;
    return !op_reads_part(other, out) && by_same_rows(op->in[0], made) && by_same_rows(out, made);
}

static bool sums_over_rows(const Op *op) { return op->kind == OP_matmul && op->attr.transpose_a; }

static Reader reader_of(const Chunks *c, int gather, int at) {
    const Op *op = c->ops[at];
    bool by_rows = goes_by_rows(op) && value_rows(op->out[0]) == value_rows(c->ops[gather]->out[0]);
    bool apart = true;
    for (int i = gather; i < at; i++) {
        bool before = may_precede(op, c->ops[i]);
        apart &= before;
        by_rows = by_rows && (before || c->reader[i] == APART ||
                              (c->reader[i] == BY_ROWS && follows_by_rows(op, c->ops[i])));
    }
    return by_rows ? BY_ROWS : sums_over_rows(op) ? OVER_ROWS : apart ? APART : NO_READER;
}

/* How many of the ops behind the gather belong to it: up to the last that goes by rows. */
static int find_readers(Chunks *c, int gather) {
    int last = gather;
    c->reader[gather] = BY_ROWS;
    for (int i = gather + 1; i < c->count; i++) {
        c->reader[i] = reader_of(c, gather, i);
        if (c->reader[i] == NO_READER)
            break;
        if (c->reader[i] == BY_ROWS)
            last = i;
    }
    return last - gather;
}

/* Beside the first gather, and no earlier than that. */
static void add_apart(Chunks *c, int gather, int readers, Op *before) {
    for (int i = gather + 1; i <= gather + readers; i++)
        if (c->reader[i] == APART) {
            graph_add(c->p, c->graph, c->ops[i]);
            c->ops[i]->after = before;
        }
}

static void add_sums(Chunks *c, int gather, int readers) {
    for (int i = gather + 1; i <= gather + readers; i++)
        if (c->reader[i] == OVER_ROWS)
            graph_add(c->p, c->graph, c->ops[i]);
}

static Op *gather_next(Chunks *c, int gather, int64_t chunk, Op *gathered) {
    Op *next = add_chunk(c, gather, chunk, c->ops[gather]->attr.chunks);
    next->after = gathered;
    return next;
}

/* The readers' run of rows, and behind the first of them the gather of the next; returns that. */
static Op *read_chunk(Chunks *c, int gather, int readers, int64_t chunk, Op *gathered) {
    int64_t chunks = c->ops[gather]->attr.chunks;
    Op *next = NULL;
    for (int i = gather + 1; i <= gather + readers; i++) {
        if (c->reader[i] != BY_ROWS)
            continue;
        add_chunk(c, i, chunk, chunks);
        if (!next && chunk + 1 < chunks)
            next = gather_next(c, gather, chunk + 1, gathered);
    }
    if (!next && chunk + 1 < chunks)
        next = gather_next(c, gather, chunk + 1, gathered);
    return next;
}

static void gather_chunks(Chunks *c, int gather, int readers) {
    int64_t chunks = c->ops[gather]->attr.chunks;
    Op *before = c->graph->op_count ? c->graph->ops[c->graph->op_count - 1] : NULL;
    Op *gathered = add_chunk(c, gather, 0, chunks);
    add_apart(c, gather, readers, before);
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        gathered = read_chunk(c, gather, readers, chunk, gathered);
    add_sums(c, gather, readers);
}

/* ---- the pass ----------------------------------------------------------------------------------- */

static bool has_chunks(const Graph *graph) {
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->attr.chunks > 1)
            return true;
    return false;
}

/* What was held back until an op is, until all of it has run. */
static void hold_back(const Chunks *c) {
    for (int i = 0; i < c->graph->op_count; i++)
        for (int k = 0; c->graph->ops[i]->after && k < c->count; k++)
            if (c->last[k] && c->graph->ops[i]->after == c->ops[k])
                c->graph->ops[i]->after = c->last[k];
}

static void chunk_graph(Program *p, Graph *graph) {
    Chunks c = {.p = p, .graph = graph, .ops = graph->ops, .count = graph->op_count};
    c.last = arena_array(p->arena, (size_t)c.count, sizeof *c.last);
    c.reader = arena_array(p->arena, (size_t)c.count, sizeof *c.reader);
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < c.count; i++) {
        Op *op = c.ops[i];
        if (i + 1 < c.count && is_made_to_scatter(op, c.ops[i + 1])) {
            scatter_chunks(&c, ++i, true);
        } else if (is_chunked(op, OP_reduce_scatter)) {
            scatter_chunks(&c, i, false);
        } else if (is_chunked(op, OP_all_gather)) {
            int readers = find_readers(&c, i);
            gather_chunks(&c, i, readers);
            i += readers;
        } else {
            graph_add(p, graph, op);
        }
    }
    hold_back(&c);
}

bool pass_chunk_rows(Program *p, const Spec *spec) {
    (void)spec;
    bool any = false;
    for (int e = 0; e < ENTRY_COUNT; e++) {
        if (!has_chunks(&p->entry[e]))
            continue;
        chunk_graph(p, &p->entry[e]);
        any = true;
    }
    return any;
}
