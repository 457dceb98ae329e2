/* The verifier: checks what must hold for a Program between any two passes. */
#include "graph/op_table.h"

#include <string.h>

typedef struct {
    const Program *program;
    const Graph *graph;
    const char *where;
    /* By value id, for the current graph: index of the op that wrote it, and of the op that
     * overwrote its bytes; -1: none. */
    int *written, *overwritten;
    /* By storage id: the values in it written so far, newest first, and their bytes; `all` spans
     * the bytes of this value and of all older ones. */
    struct Link {
        const Value *value;
        ByteSpan span, all;
        struct Link *next;
    } * *in_storage;
    Arena scratch;
} Check;

static void check_operand(const Check *c, const Op *op, const Value *v) {
    const char *graph = c->graph->name;
    ENSURE(c->overwritten[v->id] < 0, "after %s, in %s: %s reads %s, which %s has overwritten",
           c->where, graph, op->name, v->name, c->graph->ops[c->overwritten[v->id]]->name);
    if (c->written[v->id] >= 0 || role_persistent(v->role) || v->role == ROLE_INPUT)
        return;
    ByteSpan span = value_span(v);
    for (struct Link *l = c->in_storage[v->storage->id]; l && spans_meet(l->all, span); l = l->next)
        if (spans_meet(l->span, span) && value_overlaps(l->value, v))
            return; /* a view of something written */
    ENSURE(false, "after %s, in %s: %s reads %s, which nothing wrote", c->where, graph, op->name,
           v->name);
}

static void mark_overwritten(Check *c, int index, const Value *result) {
    const Op *op = c->graph->ops[index];
    for (int i = 0; i < op->in_count; i++)
        if (op->in[i] != result && value_overlaps(op->in[i], result))
            c->overwritten[op->in[i]->id] = index;
    ByteSpan span = value_span(result);
    for (struct Link *l = c->in_storage[result->storage->id]; l && spans_meet(l->all, span);
         l = l->next)
        if (spans_meet(l->span, span) && value_overlaps(l->value, result))
            c->overwritten[l->value->id] = index;
}

static ByteSpan span_of_both(ByteSpan a, ByteSpan b) {
    return (ByteSpan){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

static void check_result(Check *c, int index, const Value *v) {
    const Op *op = c->graph->ops[index];
    ENSURE(c->written[v->id] < 0, "after %s, in %s: %s writes %s a second time", c->where,
           c->graph->name, op->name, v->name);
    bool settled = v->role == ROLE_INPUT || (v->role == ROLE_FROZEN && !op_is(op, TRAIT_MOVES));
    ENSURE(!settled, "after %s, in %s: %s writes %s, which is %s", c->where, c->graph->name,
           op->name, v->name, role_name(v->role));
    c->written[v->id] = index;
    if (!op_is(op, TRAIT_VIEW))
        mark_overwritten(c, index, v);
    ByteSpan span = value_span(v);
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
        check_result(c, index, op->out[i]);
}

/* Clears only the graph's own table entries, because the tables are larger than most graphs. */
static void forget(Check *c) {
    for (int i = 0; i < c->graph->op_count; i++) {
        const Op *op = c->graph->ops[i];
        for (int k = 0; k < op->in_count; k++)
            c->overwritten[op->in[k]->id] = -1;
        for (int k = 0; k < op->out_count; k++) {
            c->written[op->out[k]->id] = c->overwritten[op->out[k]->id] = -1;
            c->in_storage[op->out[k]->storage->id] = NULL;
        }
    }
}

static void check_value(const Value *v, const char *where) {
    ENSURE(v->offset >= 0 && value_span(v).end <= v->storage->bytes, "after %s: %s lies outside %s",
           where, v->name, v->storage->name);
}

void program_verify(const Program *p, Stage stage, const char *where) {
    for (int i = 0; i < p->value_count; i++)
        check_value(p->values[i], where);
    Check c = {.program = p, .where = where};
    size_t values = (size_t)p->value_count + 1;
    c.written = arena_array(&c.scratch, values, sizeof *c.written);
    c.overwritten = arena_array(&c.scratch, values, sizeof *c.overwritten);
    c.in_storage = arena_array(&c.scratch, (size_t)p->storage_count + 1, sizeof(struct Link *));
    memset(c.written, -1, values * sizeof *c.written);
    memset(c.overwritten, -1, values * sizeof *c.overwritten);
    for (int e = 0; e < ENTRY_COUNT; e++) {
        c.graph = &p->entry[e];
        for (int i = 0; i < c.graph->op_count; i++)
            check_op(&c, i, stage);
        forget(&c);
    }
    arena_free(&c.scratch);
}
