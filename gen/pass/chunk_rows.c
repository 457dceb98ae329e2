/* Cuts the exchanges of tensor parallel ranks, and the row-wise ops between them, into runs of
 * rows, so that one run is computed while another is exchanged (Domino, Wang et al., arXiv
 * 2409.15241).
 *
 * Requires a lowered program, and all_gathers and reduce_scatters with attr.chunks, each of which
 * becomes that many ops. An op between them is cut if rows of its results depend only on the same
 * rows of its operands; an op that needs all rows, such as a sum over them, comes after all runs of
 * its operands. If an exchange needs something that cannot be cut, a new chain begins with it.
 *
 * A stage of a chain begins with its head: a reduce_scatter, the ops on a rank's own rows, and the
 * all_gather of their result. Then comes its work on all rows. The head of one run is placed inside
 * the work of the next run, with about half of that work's products after it. The communication
 * stream gets at most one launch ahead of time, because a wait covers everything launched on it so
 * far.
 *
 * The pass first finds a chain, and for each of its ops the stage and whether it is cut; then it
 * rewrites the chain stage by stage. */
#include "graph/op_table.h"
#include "pass/pass.h"

/* How an op of a chain runs: cut; whole, before its stage; whole, after it. */
typedef enum { CUT, AHEAD, BEHIND } Way;

typedef struct {
    Op *op;
    Way way;
    int stage;
    bool in_head; /* in the stage's head; else in its work */
    Op *last;     /* of CUT: the op for the latest run of rows so far; else NULL */
} Link;

typedef struct {
    Program *p;
    Graph *graph;
    Link *links; /* all original ops */
    int count;
    int first, end; /* the chain's links */
    int chunks;
    int64_t all_rows, own_rows;
} Chain;

/* The cut ops of a stage's head or of its work. */
typedef struct {
    Link **link;
    int count;
} Part;

static bool is_chunked(const Op *op, OpKind kind) {
    return op->kind == kind && op->attr.chunks > 1;
}

static bool is_exchange(const Op *op) {
    return is_chunked(op, OP_reduce_scatter) || is_chunked(op, OP_all_gather);
}

/* ---- what can be cut ---------------------------------------------------------------------------- */

static bool by_same_rows(const Value *a, const Value *b) {
    return value_rows(a) == value_rows(b) && a->dtype == b->dtype &&
           a->row_stride == b->row_stride && a->offset / a->row_stride == b->offset / b->row_stride;
}

/* Whether two values share bytes; if both are used by rows, other than those of the same rows. */
static bool meet(const Value *a, bool a_by_rows, const Value *b, bool b_by_rows) {
    return value_overlaps(a, b) && !(a_by_rows && b_by_rows && by_same_rows(a, b));
}

/* Whether two ops must keep their order; if both are cut, whether runs of different rows must. */
static bool in_order(const Op *a, const Op *b, bool cut) {
    for (int i = 0; i < a->out_count; i++) {
        for (int k = 0; k < b->in_count; k++)
            if (meet(a->out[i], cut, b->in[k], cut && op_reads_rows(b, k)))
                return true;
        for (int k = 0; k < b->out_count; k++)
            if (meet(a->out[i], cut, b->out[k], cut))
                return true;
    }
    for (int i = 0; i < a->in_count; i++)
        for (int k = 0; k < b->out_count; k++)
            if (meet(a->in[i], cut && op_reads_rows(a, i), b->out[k], cut))
                return true;
    return false;
}

static bool has_rows(const Chain *c, const Op *op) {
    int64_t rows = value_rows(op->out[0]);
    if (rows != c->all_rows && rows != c->own_rows)
        return false;
    int64_t samples = op_is(op, TRAIT_SAMPLES) ? op->attr.seq_len : 1;
    return rows % c->chunks == 0 && rows / c->chunks % samples == 0;
}

static bool reads_result(const Op *op, const Op *other) {
    for (int i = 0; i < other->out_count; i++)
        if (op_reads_part(op, other->out[i]))
            return true;
    return false;
}

/* Whether the op can be cut in this chain, all of whose cut ops depend on its first one. */
static bool can_cut(const Chain *c, int at) {
    const Op *op = c->links[at].op;
    if (!is_exchange(op) && (!op_goes_by_rows(op) || !has_rows(c, op) || op->after))
        return false;
    bool follows = at == c->first;
    for (int i = c->first; i < at; i++) {
        const Link *link = &c->links[i];
        bool cut = link->way == CUT;
        bool passed = link->way == AHEAD || link->stage < c->links[at].stage - 1;
        if ((cut || !passed) && in_order(link->op, op, cut))
            return false;
        follows |= cut && reads_result(op, link->op);
    }
    return follows;
}

static bool can_go_ahead(const Chain *c, int at) {
    const Op *op = c->links[at].op;
    int stage = c->links[at].stage;
    for (int i = c->first; i < at; i++) {
        const Link *link = &c->links[i];
        bool later = link->stage == stage ? link->way != AHEAD
                                          : link->stage == stage - 1 && link->way == BEHIND;
        if (later && in_order(link->op, op, false))
            return false;
    }
    return true;
}

/* ---- a chain ------------------------------------------------------------------------------------ */

/* Whether the exchange has the chain's rows and chunks. */
static bool is_of_chain(const Chain *c, const Op *op) {
    int64_t in = value_rows(op->in[0]), out = value_rows(op->out[0]);
    return op->attr.chunks == c->chunks && (in > out ? in : out) == c->all_rows &&
           (in > out ? out : in) == c->own_rows;
}

/* Derives the link's stage from the previous link: a head ends with its all_gather, and any other
 * exchange begins the next stage. */
static void enter_stage(Link *link, const Link *before) {
    link->stage = before ? before->stage : 0;
    link->in_head = before && before->in_head && !is_chunked(before->op, OP_all_gather);
    bool gathers = is_chunked(link->op, OP_all_gather);
    if (is_chunked(link->op, OP_reduce_scatter) || (gathers && !link->in_head)) {
        link->stage++;
        link->in_head = true;
    }
}

static bool add_link(Chain *c, int at) {
    Link *link = &c->links[at];
    bool exchange = is_exchange(link->op);
    if (exchange && !is_of_chain(c, link->op))
        return false;
    enter_stage(link, at > c->first ? link - 1 : NULL);
    bool cut = can_cut(c, at);
    link->way = cut ? CUT : can_go_ahead(c, at) ? AHEAD : BEHIND;
    return cut || !exchange;
}

static void find_chain(Chain *c, int first, const Op *exchange) {
    int64_t in = value_rows(exchange->in[0]), out = value_rows(exchange->out[0]);
    c->chunks = (int)exchange->attr.chunks;
    c->all_rows = in > out ? in : out;
    c->own_rows = in > out ? out : in;
    c->first = c->end = first;
    while (c->end < c->count && add_link(c, c->end))
        c->end++;
}

/* ---- its ops, run by run ------------------------------------------------------------------------ */

static Value *rows_of(Program *p, Value *v, int chunk, int chunks) {
    int64_t rows = value_rows(v) / chunks;
    const char *name = arena_printf(p->arena, "%s.rows_%c", v->name, (char)('a' + chunk));
    return value_row_range(p, v, chunk * rows, rows, name);
}

/* The last op added so far, or NULL. */
static Op *last_op(const Chain *c) {
    return c->graph->op_count ? c->graph->ops[c->graph->op_count - 1] : NULL;
}

/* The op that an exchange waits for: the one that makes its operand, else its own previous run;
 * NULL if there is neither. */
static Op *exchanged_after(const Chain *c, const Link *exchange) {
    for (const Link *link = exchange - 1; link >= c->links + c->first; link--)
        if (link->way == CUT && reads_result(exchange->op, link->op))
            return link->last;
    return exchange->last;
}

static void add_cut(Chain *c, Link *link, int chunk) {
    const Op *op = link->op;
    Value *in[MAX_OPERANDS], *out[MAX_RESULTS];
    for (int i = 0; i < op->in_count; i++)
        in[i] = op_reads_rows(op, i) ? rows_of(c->p, op->in[i], chunk, c->chunks) : op->in[i];
    for (int i = 0; i < op->out_count; i++)
        out[i] = rows_of(c->p, op->out[i], chunk, c->chunks);
    const char *name = arena_printf(c->p->arena, "%s.rows_%c", op->name, (char)('a' + chunk));
    Op *after = is_exchange(op) ? exchanged_after(c, link) : NULL;
    Attr attr = op->attr;
    attr.chunks = 0;
    link->last = op_add_into(c->p, c->graph, op->kind, name, in, op->in_count, out, op->out_count,
                             attr, op->pos);
    link->last->after = after;
    link->last->written = op->written;
}

/* Adds the stage's whole ops that run before it, or after it. Those that were held back to save
 * memory, and run before, are held back until the stage begins. */
static void add_whole(Chain *c, int stage, Way way) {
    Op *before = last_op(c);
    for (int i = c->first; i < c->end; i++) {
        Op *op = c->links[i].op;
        if (c->links[i].stage != stage || c->links[i].way != way)
            continue;
        graph_add(c->p, c->graph, op);
        if (way == AHEAD && op->after)
            op->after = before;
    }
}

static Part part_of(const Chain *c, int stage, bool in_head, Arena *arena) {
    Part part = {arena_array(arena, (size_t)(c->end - c->first), sizeof *part.link), 0};
    for (Link *link = &c->links[c->first]; link < &c->links[c->end]; link++)
        if (link->way == CUT && link->stage == stage && link->in_head == in_head)
            part.link[part.count++] = link;
    return part;
}

/* How many of the work's ops come before the head inside it: those with about half of the FLOPs. */
static int half_of(const Part *work) {
    double flops = 0, done = 0;
    for (int i = 0; i < work->count; i++)
        flops += op_flops(work->link[i]->op);
    for (int i = 0; i < work->count; i++) {
        double own = op_flops(work->link[i]->op);
        if (i > 0 && 2 * done + own > flops)
            return i;
        done += own;
    }
    return work->count;
}

/* Adds the part's ops from index `from` up to `to`, for one run of rows. */
static void add_ops(Chain *c, const Part *part, int chunk, int from, int to) {
    for (int i = from; i < to && i < part->count; i++)
        add_cut(c, part->link[i], chunk);
}

/* Adds all runs of a stage. The work of the first run contains this stage's head for the last run;
 * with that, all runs of the previous stage are done, and its whole ops can follow. The work of
 * every other run contains the next stage's head for the run before. A head's first op, the
 * exchange, comes after the first op of the work. */
static void add_stage(Chain *c, int stage) {
    Arena scratch = {0};
    Part work = part_of(c, stage, false, &scratch);
    Part own = part_of(c, stage, true, &scratch), next = part_of(c, stage + 1, true, &scratch);
    int half = half_of(&work);
    add_whole(c, stage, AHEAD);
    for (int chunk = 0; chunk < c->chunks; chunk++) {
        const Part *head = chunk ? &next : &own;
        int run = chunk ? chunk - 1 : c->chunks - 1;
        add_ops(c, &work, chunk, 0, 1);
        add_ops(c, head, run, 0, 1);
        if (chunk == 0)
            add_whole(c, stage - 1, BEHIND);
        add_ops(c, &work, chunk, 1, half);
        add_ops(c, head, run, 1, head->count);
        add_ops(c, &work, chunk, half, work.count);
    }
    arena_free(&scratch);
}

static void add_chain(Chain *c) {
    int last = c->links[c->end - 1].stage;
    for (int stage = 0; stage <= last; stage++)
        add_stage(c, stage);
    add_whole(c, last, BEHIND);
}

/* ---- the pass ----------------------------------------------------------------------------------- */

static bool has_chunks(const Graph *graph) {
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->attr.chunks > 1)
            return true;
    return false;
}

/* Makes ops that wait for an op which has been cut wait for its last run. */
static void hold_back(const Chain *c) {
    for (int i = 0; i < c->graph->op_count; i++)
        for (int k = 0; c->graph->ops[i]->after && k < c->count; k++)
            if (c->links[k].last && c->graph->ops[i]->after == c->links[k].op)
                c->graph->ops[i]->after = c->links[k].last;
}

/* The exchange with which a chain can begin, if it or the product before it is at `at`; else
 * NULL. */
static const Op *begins_with(const Chain *c, int at) {
    const Op *op = c->links[at].op, *next = at + 1 < c->count ? c->links[at + 1].op : NULL;
    if (is_exchange(op))
        return op;
    bool made = next && is_chunked(next, OP_reduce_scatter) && op->kind == OP_matmul &&
                op_goes_by_rows(op) && value_same_view(op->out[0], next->in[0]);
    return made ? next : NULL;
}

static void chunk_graph(Program *p, Graph *graph) {
    Chain c = {.p = p, .graph = graph, .count = graph->op_count};
    c.links = arena_array(p->arena, (size_t)c.count, sizeof *c.links);
    for (int i = 0; i < c.count; i++) {
        c.links[i].op = graph->ops[i];
        c.links[i].op->written = i + 1;
    }
    graph_take(graph);
    for (int i = 0; i < c.count;) {
        const Op *exchange = begins_with(&c, i);
        if (!exchange) {
            graph_add(p, graph, c.links[i++].op);
            continue;
        }
        find_chain(&c, i, exchange);
        ENSURE(c.end > i, "%s begins no chain", exchange->name);
        add_chain(&c);
        i = c.end;
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
