/* The verifier: checks what must hold for a Program between any two passes. */
#include "graph/op_table.h"

typedef struct {
    const Program *program;
    const Graph *graph;
    const char *where;
    /* By value id, for the current graph: whether an op wrote it, and the op that overwrote its
     * bytes; NULL: none. */
    bool *written;
    const Op **overwritten;
    /* By storage id: the values in it written so far, newest first, and their bytes; `all` spans
     * the bytes of this value and of all older ones. */
    struct Link {
        const Value *value;
        ByteSpan span, all;
        struct Link *next;
    } * *in_storage;
    Arena scratch;
} Check;

static ByteSpan checked_span(const Check *c, const Value *v) {
    ByteSpan span = value_span(v);
    ENSURE(v->offset >= 0 && span.end <= v->storage->bytes, "after %s: %s lies outside %s",
           c->where, v->name, v->storage->name);
    return span;
}

static void check_operand(const Check *c, const Op *op, const Value *v) {
    const char *graph = c->graph->name;
    const Op *overwriter = c->overwritten[v->id];
    ENSURE(!overwriter, "after %s, in %s: %s reads %s, which %s has overwritten", c->where, graph,
           op->name, v->name, overwriter->name);
    if (c->written[v->id])
        return;
    ByteSpan span = checked_span(c, v);
    if (role_persistent(v->role) || v->role == ROLE_INPUT)
        return;
    for (struct Link *l = c->in_storage[v->storage->id]; l && spans_meet(l->all, span); l = l->next)
        if (spans_meet(l->span, span) && value_overlaps(l->value, v))
            return; /* a view of something written */
    ENSURE(false, "after %s, in %s: %s reads %s, which nothing wrote", c->where, graph, op->name,
           v->name);
}

static void mark_overwritten(Check *c, const Op *op, const Value *result, ByteSpan span) {
    for (int i = 0; i < op->in_count; i++)
        if (op->in[i] != result && value_overlaps(op->in[i], result))
            c->overwritten[op->in[i]->id] = op;
    for (struct Link *l = c->in_storage[result->storage->id]; l && spans_meet(l->all, span);
         l = l->next)
        if (spans_meet(l->span, span) && value_overlaps(l->value, result))
            c->overwritten[l->value->id] = op;
}

static ByteSpan span_of_both(ByteSpan a, ByteSpan b) {
    return (ByteSpan){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

static void check_result(Check *c, const Op *op, const Value *v) {
    ByteSpan span = checked_span(c, v);
    ENSURE(!c->written[v->id], "after %s, in %s: %s writes %s a second time", c->where,
           c->graph->name, op->name, v->name);
    bool settled = v->role == ROLE_INPUT || (v->role == ROLE_FROZEN && !op_is(op, TRAIT_MOVES));
    ENSURE(!settled, "after %s, in %s: %s writes %s, which is %s", c->where, c->graph->name,
           op->name, v->name, role_name(v->role));
    c->written[v->id] = true;
    if (!op_is(op, TRAIT_VIEW))
        mark_overwritten(c, op, v, span);
    struct Link *older = c->in_storage[v->storage->id];
    struct Link *link = arena_alloc(&c->scratch, sizeof *link);
    *link = (struct Link){v, span, older ? span_of_both(span, older->all) : span, older};
    c->in_storage[v->storage->id] = link;
}

/* In a pipeline stage, a backward op may have to run after a forward op. */
static bool runs_after(const Check *c, int index, const Op *before) {
    const Program *p = c->program;
    const Graph *forward = &p->entry[ENTRY_MICRO_STEP];
    if (before->id < index && c->graph->ops[before->id] == before)
        return true;
    return c->graph == &p->entry[ENTRY_BACKWARD] && before->id < forward->op_count &&
           forward->ops[before->id] == before;
}

static void check_op(Check *c, int index, Stage stage) {
    Op *op = c->graph->ops[index];
    ENSURE(op_is(op, stage), "after %s, in %s: %s (%s) is not allowed at this stage", c->where,
           c->graph->name, op->name, op_table[op->kind].name);
    ENSURE(!op->attr.accumulate || op_is(op, TRAIT_ADDS), "after %s: %s cannot add onto its result",
           c->where, op->name);
    ENSURE(op->id == index, "after %s: %s has a stale index", c->where, op->name);
    ENSURE(!op->after || runs_after(c, index, op->after), "after %s: %s runs before %s", c->where,
           op->name, op->after->name);
    ENSURE(!op->ends_step || c->graph == &c->program->entry[ENTRY_MICRO_STEP] ||
               c->graph == &c->program->entry[ENTRY_EARLY_MICRO_STEP],
           "after %s: %s is in %s, which ends no step", c->where, op->name, c->graph->name);
    ENSURE(op->phase != PHASE_RECOMPUTE || op->after, "after %s: nothing holds %s back", c->where,
           op->name);
    for (int i = 0; i < op->in_count; i++)
        check_operand(c, op, op->in[i]);
    ENSURE(op->out_count > 0 || op_is(op, TRAIT_SINK), "after %s: %s has no result", c->where,
           op->name);
    op_table[op->kind].shape((Program *)c->program, op);
    for (int i = 0; i < op->out_count; i++)
        check_result(c, op, op->out[i]);
}

/* Clears only the graph's own table entries, because the tables are larger than most graphs. */
static void forget(Check *c) {
    for (int i = 0; i < c->graph->op_count; i++) {
        const Op *op = c->graph->ops[i];
        for (int k = 0; k < op->in_count; k++)
            c->overwritten[op->in[k]->id] = NULL;
        for (int k = 0; k < op->out_count; k++) {
            c->written[op->out[k]->id] = false;
            c->overwritten[op->out[k]->id] = NULL;
            c->in_storage[op->out[k]->storage->id] = NULL;
        }
    }
}

void program_verify(const Program *p, Stage stage, const char *where) {
    Check c = {.program = p, .where = where};
    size_t values = (size_t)p->value_count + 1;
    c.written = arena_array(&c.scratch, values, sizeof *c.written);
    c.overwritten = arena_array(&c.scratch, values, sizeof *c.overwritten);
    c.in_storage = arena_array(&c.scratch, (size_t)p->storage_count + 1, sizeof(struct Link *));
    for (int e = 0; e < ENTRY_COUNT; e++) {
        c.graph = &p->entry[e];
        for (int i = 0; i < c.graph->op_count; i++)
            check_op(&c, i, stage);
        forget(&c);
    }
    arena_free(&c.scratch);
}
