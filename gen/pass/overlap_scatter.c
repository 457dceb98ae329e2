/* Sums of which a rank needs its part alone go out beside backward, not after it.
 *
 * Requires a lowered program whose update begins with a reduce_scatter for each of the train state's
 * sections, in their order (stage 1 of ZeRO). Each moves to micro_step, with what stands ahead of it,
 * right behind the last op there that uses the section's gradients; with several micro-steps it runs in
 * the step's last one alone. A pipeline's stage has no last one that ends in backward alone, and keeps
 * the ops in update. */
#include "pass/pass.h"
#include "pass/train_state.h"

/* Batch norm's backward reads gradients. */
static bool uses(const Op *op, const Value *v) {
    return op_reads_part(op, v) || op_writes_part(op, v);
}

/* By section: what its sums go out behind. They take the place of sections before it, and so go out
 * behind these. */
static Op **find_places(Program *p, const Graph *graph) {
    const TrainState *t = &p->train;
    Op **place = arena_array(p->arena, (size_t)t->section_count, sizeof *place);
    for (int i = 0; i < t->section_count; i++) {
        const Section *section = &t->sections[i];
        const Value *gradients = value_row_range(p, t->gradient, section->first / TRAIN_COLS,
                                                 section->elements / TRAIN_COLS, section->name);
        place[i] = graph_last(graph, uses, gradients);
        if (i > 0 && place[i]->id < place[i - 1]->id)
            place[i] = place[i - 1];
    }
    return place;
}

/* Up to and with the first reduce_scatter; returns what is left. */
static Op **move_first(Program *p, Graph *to, Op **ops) {
    OpKind kind;
    do {
        Op *op = *ops++;
        kind = op->kind;
        graph_add(p, to, op);
        op->ends_step = p->micro_steps > 1;
    } while (kind != OP_reduce_scatter);
    return ops;
}

bool pass_overlap_scatter(Program *p, const Spec *spec) {
    (void)spec;
    Graph *graph = &p->entry[ENTRY_MICRO_STEP], *update = &p->entry[ENTRY_UPDATE];
    if (!p->train.gradient_piece || p->stage.count > 1)
        return false;
    Op **place = find_places(p, graph), **ops = graph->ops, **left = update->ops;
    int count = graph->op_count, moved = 0;
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        graph_add(p, graph, ops[i]);
        for (; moved < p->train.section_count && place[moved] == ops[i]; moved++)
            left = move_first(p, graph, left);
    }
    ENSURE(moved == p->train.section_count, "sums of gradients have no place in backward");
    graph_set_ops(p, update, left, update->op_count - (int)(left - update->ops));
    return true;
}
