/* Weights that no rank keeps whole are gathered for as long as they are read (stage 3 of ZeRO).
 *
 * Requires all other ops in their places, recomputation included, and a pipeline's stage cut in its
 * entries, each of which gathers for itself. The readers of one module's weights
 * that no other module's stand between are a visit; for each visit an all_gather fills a buffer, which
 * these read in the weights' place. It stands behind the first op of the visit before it and is held
 * back until then, so that it may run beside the rest, which does not wait for it, and no more than two
 * visits' weights are there at once. Ops are copied, not changed: recomputation may yet be planned
 * anew, for which ungather_weights brings back what they were. */
#include "pass/pass.h"

#include <string.h>

typedef struct {
    int first; /* op */
    const char *module;
    bool *used; /* by index in Program.gathered */
} Visit;

typedef struct Gathering {
    Program *p;
    Graph *graph;
    Pos pos;
    const struct Gathering *before; /* of the entry whose ops this one's may wait for; NULL: none */
    Op **ops;                       /* as they were */
    int count;
    Visit *visits;
    int visit_count, visit_capacity;
    Value **copy; /* by index in Program.gathered: what readers of the visit at hand read */
    Op **made;    /* by place of the op in `ops` */
} Gathering;

/* -1: it lies in nothing that is gathered. */
static int gathered_index(const Program *p, const Value *v) {
    const Gathered *from = program_gathered(p, v);
    return from ? (int)(from - p->gathered) : -1;
}

static Visit *visit_of(Gathering *g, int op, const char *module) {
    Visit *last = g->visit_count ? &g->visits[g->visit_count - 1] : NULL;
    if (last && strcmp(last->module, module) == 0)
        return last;
    g->visits =
        arena_grow(g->p->arena, g->visits, g->visit_count, &g->visit_capacity, sizeof *g->visits);
    bool *used = arena_array(g->p->arena, (size_t)g->p->gathered_count, sizeof *used);
    g->visits[g->visit_count] = (Visit){op, module, used};
    return &g->visits[g->visit_count++];
}

static void find_visits(Gathering *g) {
    for (int i = 0; i < g->count; i++)
        for (int k = 0; k < g->ops[i]->in_count; k++) {
            int index = gathered_index(g->p, g->ops[i]->in[k]);
            if (index >= 0)
                visit_of(g, i, g->p->gathered[index].module)->used[index] = true;
        }
}

static void gather(Gathering *g, const Visit *visit, Op *after) {
    Program *p = g->p;
    for (int i = 0; i < p->gathered_count; i++) {
        const Gathered *from = &p->gathered[i];
        if (!visit->used[i])
            continue;
        const char *name = arena_printf(p->arena, "%s.all_gather", from->whole->name);
        Value *piece = from->piece;
        g->copy[i] = value_2d(p, from->whole->name, ROLE_ACTIVATION, from->whole->dtype,
                              value_rows(from->whole), value_cols(from->whole), g->pos);
        Op *op = op_add_into(p, g->graph, OP_all_gather, name, &piece, 1, &g->copy[i], 1,
                             (Attr){.group = GROUP_SHARD}, g->pos);
        op->after = after;
    }
}

/* What stands where the op stood. */
static Op *made_of(const Gathering *g, Op *op) {
    while (g && !(op->id < g->count && g->ops[op->id] == op))
        g = g->before;
    ENSURE(g, "%s is in no entry that ran before", op->name);
    return g->made[op->id];
}

/* The op with the copies in the weights' places. */
static Op *reading_copies(const Gathering *g, const Op *op) {
    Op *made = arena_alloc(g->p->arena, sizeof *made);
    *made = *op;
    if (op->after)
        made->after = made_of(g, op->after);
    for (int k = 0; k < op->in_count; k++) {
        int index = gathered_index(g->p, op->in[k]);
        if (index >= 0)
            made->in[k] = value_elsewhere(g->p, op->in[k], g->copy[index]);
    }
    for (int k = 0; k < op->out_count; k++)
        ENSURE(gathered_index(g->p, op->out[k]) < 0, "%s writes into a copy", op->name);
    return made;
}

static void rewrite(Gathering *g) {
    g->copy = arena_array(g->p->arena, (size_t)g->p->gathered_count, sizeof *g->copy);
    g->made = arena_array(g->p->arena, (size_t)g->count + 1, sizeof *g->made);
    graph_set_ops(g->p, g->graph, NULL, 0);
    for (int i = 0, visit = 0; i < g->count; i++) {
        bool begins = visit < g->visit_count && i == g->visits[visit].first;
        if (begins && visit == 0)
            gather(g, &g->visits[0], i > 0 ? g->made[i - 1] : NULL);
        g->made[i] = reading_copies(g, g->ops[i]);
        graph_add(g->p, g->graph, g->made[i]);
        if (begins && ++visit < g->visit_count)
            gather(g, &g->visits[visit], g->made[i]);
    }
}

static Gathering gather_in(Program *p, Graph *graph, const Gathering *before, Pos pos) {
    Gathering g = {.p = p, .graph = graph, .pos = pos, .before = before};
    g.ops = g.made = graph->ops;
    g.count = graph->op_count;
    find_visits(&g);
    if (g.visit_count)
        rewrite(&g);
    return g;
}

bool pass_gather_weights(Program *p, const Spec *spec) {
    if (!p->gathered_count)
        return false;
    p->ungathered = p->entry[ENTRY_MICRO_STEP];
    p->ungathered_backward = p->entry[ENTRY_BACKWARD];
    Gathering gathering[ENTRY_COUNT];
    for (int e = 0; e < ENTRY_COUNT; e++)
        gathering[e] = gather_in(p, &p->entry[e],
                                 e == ENTRY_BACKWARD ? &gathering[ENTRY_MICRO_STEP] : NULL,
                                 spec_pos(spec, KEY_parallelism_shard_stage));
    return true;
}

void ungather_weights(Program *p) {
    const Graph *backward = &p->ungathered_backward;
    if (!p->gathered_count)
        return;
    graph_set_ops(p, &p->entry[ENTRY_MICRO_STEP], p->ungathered.ops, p->ungathered.op_count);
    graph_set_ops(p, &p->entry[ENTRY_BACKWARD], backward->ops, backward->op_count);
}
