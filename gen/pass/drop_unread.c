/* Removes ops of which nobody needs a result. Passes leave some: the first layer's weights get borders
 * for an input gradient that nobody computes, and a graph without rounding (unrounded.c) needs no
 * absmax of what was rounded.
 *
 * Requires the final graphs. Collectives stay, in which other ranks take part, as do copies from other
 * cards, which nn.DataParallel makes for their own sake; ops without a result, which have an effect
 * instead; and ops whose results a dump shows. */
#include "graph/op_table.h"
#include "pass/pass.h"

typedef struct {
    GraphUses uses;
    bool *gone; /* by op id */
} Drop;

static bool is_read(const Drop *d, const Op *op, const Value *v) {
    for (const Value *view = v->storage->views; view; view = view->next_view) {
        int count;
        Op *const *readers = use_readers(&d->uses, view, &count);
        for (int i = 0; value_overlaps(view, v) && i < count; i++)
            if (readers[i] != op && !d->gone[readers[i]->id])
                return true;
    }
    return false;
}

static bool is_needed(const Drop *d, const Op *op) {
    if (op->out_count == 0 || op->observe || op_is(op, TRAIT_COLLECTIVE) || op->kind == OP_peer_copy)
        return true;
    for (int k = 0; k < op->out_count; k++)
        if (op->out[k]->role != ROLE_ACTIVATION || is_read(d, op, op->out[k]))
            return true;
    return false;
}

/* The op, or if it waits for one that goes, a copy that waits for the last one before that: passes can
 * be undone, and then the op itself comes back. */
static Op *with_edge(Program *p, const Drop *d, Op *op, Op *const *kept) {
    int id = op->after ? op->after->id : -1;
    while (id >= 0 && d->gone[id])
        id--;
    Op *after = id >= 0 ? kept[id] : NULL;
    if (after == op->after)
        return op;
    Op *copy = op_copy(p, op);
    copy->after = after;
    return copy;
}

static bool drop_from(Program *p, Graph *graph, Arena *scratch) {
    size_t room = (size_t)graph->op_count + 1;
    Drop d = {uses_find(scratch, p, graph), arena_array(scratch, room, sizeof *d.gone)};
    Op **kept = arena_array(scratch, room, sizeof *kept); /* by id before */
    int count = 0;
    for (int i = graph->op_count - 1; i >= 0; i--) {
        d.gone[i] = !is_needed(&d, graph->ops[i]);
        count += d.gone[i];
    }
    if (count == 0)
        return false;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++)
        if (!d.gone[i])
            kept[i] = with_edge(p, &d, old.ops[i], kept);
    for (int i = 0; i < old.op_count; i++)
        if (!d.gone[i])
            graph_add(p, graph, kept[i]);
    return true;
}

bool pass_drop_unread(Program *p, const Spec *spec) {
    (void)spec;
    Arena scratch = {0};
    bool any = false;
    for (int e = 0; e < ENTRY_COUNT; e++)
        any |= drop_from(p, &p->entry[e], &scratch);
    arena_free(&scratch);
    return any;
}
