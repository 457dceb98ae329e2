/* Gradients of which a rank keeps only a piece (stage 2 of ZeRO) are summed as backward computes
 * them.
 *
 * Requires a lowered program with the train state's sections, each with its own gradient buffer.
 * Once backward has completed a section, a reduce_scatter leaves the rank the sums of its part.
 * With several micro-steps these parts are accumulated, each once backward has computed the next
 * section, which overlaps the reduce_scatter. After that the buffer is free, and the plan reuses
 * its bytes: a section waits until the one two before it is summed, so that at most two are being
 * computed or summed at a time, on any stream. The gaps between a buffer's tensors are zeroed,
 * because the norm is taken of whole pieces. */
#include "pass/pass.h"
#include "pass/sections.h"
#include "pass/train_state.h"

typedef struct {
    Program *p;
    Graph *graph;
    Pos pos;
    Op **sums; /* in order */
    int count;
    Value *part, *piece; /* a part that is still to be added to a piece; NULL: none */
} Scatter;

static void add_waiting(Scatter *s) {
    if (!s->part)
        return;
    Value *in[] = {s->piece, s->part}, *sum = value_alias(s->p, s->piece, s->piece->name);
    op_add_into(s->p, s->graph, OP_add, s->part->name, in, 2, &sum, 1, (Attr){0}, s->pos);
    s->part = NULL;
}

/* Appends the sum of a section, right after its last writer. */
static void scatter(Scatter *s, const Section *section, Op *writer) {
    Program *p = s->p;
    int64_t ranks = p->mesh.size[AXIS_SHARD], rows = section->elements / ranks / TRAIN_COLS;
    const char *name = arena_printf(p->arena, "%s.reduce_scatter", section->name);
    const char *part_name = arena_printf(p->arena, "%s.part", section->gradient->name);
    Value *piece = value_row_range(p, p->train.gradient, section->first / ranks / TRAIN_COLS, rows,
                                   arena_printf(p->arena, "%s.gradient.piece", section->name));
    Value *whole = section->gradient, *part = piece;
    if (p->micro_steps > 1)
        part = value_2d(p, part_name, ROLE_ACTIVATION, p->real, rows, TRAIN_COLS, s->pos);
    section_zero_gaps(p, s->graph, section, whole, s->pos);
    add_waiting(s);
    Op *sum = op_add_into(p, s->graph, OP_reduce_scatter, name, &whole, 1, &part, 1,
                          (Attr){.group = GROUP_SHARD}, s->pos);
    s->sums[s->count++] = sum;
    if (part == piece)
        return;
    sum->after = writer; /* overlaps all ops before its reader */
    s->part = part;
    s->piece = piece;
    if (s->count == p->train.section_count)
        add_waiting(s);
}

static void hold_back(const Scatter *s) {
    for (int i = 2; i < s->count; i++) {
        const Value *whole = s->sums[i]->in[0];
        int first = s->sums[i - 2]->id + 1;
        while (!op_writes_part(s->graph->ops[first], whole))
            first++;
        if (!s->graph->ops[first]->after)
            s->graph->ops[first]->after = s->sums[i - 2];
    }
}

static void scatter_all(Scatter *s) {
    const TrainState *t = &s->p->train;
    Op **last = arena_array(s->p->arena, (size_t)t->section_count, sizeof *last);
    for (int k = 0; k < t->section_count; k++)
        last[k] = graph_last(s->graph, op_writes_part, t->sections[k].gradient);
    const Graph old = graph_take(s->graph);
    for (int i = 0; i < old.op_count; i++) {
        graph_add(s->p, s->graph, old.ops[i]);
        for (int k = 0; k < t->section_count; k++)
            if (last[k] == old.ops[i])
                scatter(s, &t->sections[k], old.ops[i]);
    }
}

bool pass_scatter_gradients(Program *p, const Spec *spec) {
    size_t count = (size_t)p->train.section_count;
    if (p->train.shared < SHARED_GRADIENTS || !program_trains(p))
        return false;
    Scatter s = {.p = p,
                 .graph = &p->entry[ENTRY_MICRO_STEP],
                 .pos = spec_pos(spec, KEY_parallelism_shard_stage)};
    s.sums = arena_array(p->arena, count, sizeof *s.sums);
    scatter_all(&s);
    hold_back(&s);
    return true;
}
