/* Gradients of which a rank keeps its piece alone (stage 2 of ZeRO).
 *
 * Requires a lowered program in which each section of what trains has a buffer of its own for its
 * gradients. Where backward has made all of a section, a reduce_scatter leaves the rank the sums of
 * its part; with several micro-steps these are added up. The buffer is of no use behind that, so that
 * the plan gives its bytes to others: a section waits for the last but one before it, so that there
 * are no more than two that are being made or summed up, on whichever stream. What a buffer has between
 * tensors is zero, for the norm is of whole pieces. */
#include "pass/pass.h"
#include "pass/train_state.h"

typedef struct {
    Program *p;
    Graph *graph;
    Pos pos;
    Op **sums; /* in order */
    int count;
} Scatter;

static void zero_gap(const Scatter *s, const Section *section, int64_t from, int64_t to) {
    const char *name = arena_printf(s->p->arena, "%s.gap", section->gradient->name);
    if (from == to)
        return;
    Value *gap = value_at(s->p, section->gradient, from, 1, (int64_t[]){to - from}, name);
    op_add_into(s->p, s->graph, OP_zero, name, NULL, 0, &gap, 1, (Attr){0}, s->pos);
}

/* Parameters lie in the section in the reverse of their order. */
static void zero_gaps(const Scatter *s, const Section *section, int64_t part_at) {
    int64_t end = 0;
    for (int i = s->p->param_count - 1; i >= 0; i--) {
        const Param *param = &s->p->params[i];
        if (!param->pieces || !param->gradient_in_pieces || param->piece_at != part_at)
            continue;
        zero_gap(s, section, end, param->piece_first);
        end = param->piece_first + value_elements(param->weight);
    }
    zero_gap(s, section, end, section->elements);
}

static void scatter(Scatter *s, const Section *section) {
    Program *p = s->p;
    int64_t ranks = p->mesh.size[AXIS_SHARD], rows = section->elements / ranks / TRAIN_COLS;
    int64_t part_at = section->first / ranks;
    const char *name = arena_printf(p->arena, "%s.reduce_scatter", section->name);
    const char *part_name = arena_printf(p->arena, "%s.part", section->gradient->name);
    Value *piece =
        value_row_range(p, p->train.gradient, part_at / TRAIN_COLS, rows, section->gradient->name);
    Value *whole = section->gradient, *part = piece;
    bool adds = p->micro_steps > 1;
    if (adds)
        part = value_2d(p, part_name, ROLE_ACTIVATION, p->real, rows, TRAIN_COLS, s->pos);
    zero_gaps(s, section, part_at);
    s->sums[s->count++] = op_add_into(p, s->graph, OP_reduce_scatter, name, &whole, 1, &part, 1,
                                      (Attr){.group = GROUP_SHARD}, s->pos);
    if (!adds)
        return;
    Value *in[] = {piece, part}, *sum = value_alias(p, piece, piece->name);
    op_add_into(p, s->graph, OP_add, part_name, in, 2, &sum, 1, (Attr){0}, s->pos);
}

static bool writes(const Op *op, const Storage *storage) {
    for (int i = 0; i < op->out_count; i++)
        if (op->out[i]->storage == storage)
            return true;
    return false;
}

static void hold_back(const Scatter *s) {
    for (int i = 2; i < s->count; i++) {
        const Storage *storage = s->sums[i]->in[0]->storage;
        int first = s->sums[i - 2]->id + 1;
        while (!writes(s->graph->ops[first], storage))
            first++;
        if (!s->graph->ops[first]->after)
            s->graph->ops[first]->after = s->sums[i - 2];
    }
}

/* The last op that writes into the section's gradients. */
static const Op *last_writer(const Graph *graph, const Section *section) {
    for (int i = graph->op_count - 1; i >= 0; i--)
        if (writes(graph->ops[i], section->gradient->storage))
            return graph->ops[i];
    internal_fault(__FILE__, __LINE__, "%s is never made", section->gradient->name);
}

bool pass_scatter_gradients(Program *p, const Spec *spec) {
    const TrainState *t = &p->train;
    if (spec->parallelism.shard_stage < SHARD_GRADIENTS || t->section_count == 0)
        return false;
    Scatter s = {.p = p,
                 .graph = &p->entry[ENTRY_MICRO_STEP],
                 .pos = spec_pos(spec, KEY_parallelism_shard_stage)};
    s.sums = arena_array(p->arena, (size_t)t->section_count, sizeof *s.sums);
    const Op **last = arena_array(p->arena, (size_t)t->section_count, sizeof *last);
    for (int k = 0; k < t->section_count; k++)
        last[k] = last_writer(s.graph, &t->sections[k]);
    Op **ops = s.graph->ops;
    int count = s.graph->op_count;
    graph_set_ops(p, s.graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        graph_add(p, s.graph, ops[i]);
        for (int k = 0; k < t->section_count; k++)
            if (last[k] == ops[i])
                scatter(&s, &t->sections[k]);
    }
    hold_back(&s);
    return true;
}
