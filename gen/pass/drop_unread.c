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

static bool drop_from(Program *p, Graph *graph, Arena *scratch) {
    Drop d = {uses_find(scratch, p, graph),
              arena_array(scratch, (size_t)graph->op_count + 1, sizeof *d.gone)};
    bool any = false;
    for (int i = graph->op_count - 1; i >= 0; i--)
        any |= d.gone[i] = !is_needed(&d, graph->ops[i]);
    for (int i = 0; any && i < graph->op_count; i++)
        while (graph->ops[i]->after && d.gone[graph->ops[i]->after->id])
            graph->ops[i]->after = graph->ops[i]->after->after;
    if (any)
        graph_remove(p, graph, d.gone);
    return any;
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
