/* Makers and readers by value, in two sweeps over the ops; the first one counts readers. */
#include "graph/op_table.h"

static void count_readers(const Graph *graph, int *count) {
    for (int i = 0; i < graph->op_count; i++)
        for (int k = 0; k < graph->ops[i]->in_count; k++)
            count[graph->ops[i]->in[k]->id]++;
}

GraphUses uses_find(Arena *arena, const Program *program, const Graph *graph) {
    GraphUses uses = {.graph = graph};
    if (graph->op_count == 0)
        return uses;
    uses.value_count = program->value_count;
    size_t room = (size_t)program->value_count + 2;
    uses.maker = arena_array(arena, room, sizeof *uses.maker);
    uses.first = arena_array(arena, room, sizeof *uses.first);
    /* Counts are stored two entries on. The sums turn entry v + 1 into v's first index, and filling
     * `reader` moves it to v's end, which is the first index of v + 1. */
    count_readers(graph, uses.first + 2);
    for (int v = 2; v < uses.value_count + 2; v++)
        uses.first[v] += uses.first[v - 1];
    uses.reader = arena_array(arena, (size_t)uses.first[uses.value_count + 1] + 1, sizeof(Op *));
    for (int i = 0; i < graph->op_count; i++) {
        Op *op = graph->ops[i];
        for (int k = 0; k < op->out_count; k++)
            uses.maker[op->out[k]->id] = op;
        for (int k = 0; k < op->in_count; k++)
            uses.reader[uses.first[op->in[k]->id + 1]++] = op;
    }
    return uses;
}

Op *use_maker(const GraphUses *uses, const Value *v) {
    return v->id < uses->value_count ? uses->maker[v->id] : NULL;
}

Op *const *use_readers(const GraphUses *uses, const Value *v, int *count) {
    *count = v->id < uses->value_count ? uses->first[v->id + 1] - uses->first[v->id] : 0;
    return *count ? uses->reader + uses->first[v->id] : NULL;
}

bool use_read_once(const GraphUses *uses, const Value *v) {
    int count;
    use_readers(uses, v, &count);
    return count == 1;
}

bool use_read_by_body(const GraphUses *uses, const Value *v) {
    for (Value *view = v->storage->views; view; view = view->next_view) {
        int count;
        Op *const *reader = use_readers(uses, view, &count);
        for (int i = 0; value_overlaps(view, v) && i < count; i++)
            if (op_table[reader[i]->kind].expand)
                return true;
    }
    return false;
}

bool use_read_in_backward(const GraphUses *uses, const Value *v, const Op *except) {
    int count;
    Op *const *readers = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++)
        if (readers[i] != except && readers[i]->phase != PHASE_FORWARD)
            return true;
    return false;
}

static bool is_exchanged(const GraphUses *uses, const Value *v) {
    int count;
    const Op *maker = use_maker(uses, v);
    Op *const *reader = use_readers(uses, v, &count);
    bool exchanged = maker && op_is(maker, TRAIT_COLLECTIVE) && maker->out[0] == v;
    for (int i = 0; i < count; i++)
        exchanged |= op_is(reader[i], TRAIT_COLLECTIVE) && reader[i]->in[0] == v;
    return exchanged;
}

bool use_can_stride(const GraphUses *uses, const Value *v) {
    for (const Value *view = v->storage->views; view; view = view->next_view)
        if (is_exchanged(uses, view))
            return false;
    return value_can_stride(v);
}
