/* Weights that no rank keeps whole are gathered while they are read (stage 3 of ZeRO).
 *
 * Requires all other ops in their final order, including recomputation, and a pipeline stage that
 * is split into its entries, each of which gathers for itself. A visit is a series of readers of
 * one module's weights, with no reader of another module's in between. For each visit an all_gather
 * fills a buffer that the readers read instead of the weights. The all_gather comes after the first
 * op of the previous visit and is held back until then, so that it overlaps the rest of that visit,
 * and the weights of at most two visits exist at a time. With reshard_after_forward = false
 * (FSDP2's name), backward reads what forward has gathered and gathers nothing again. If a visit
 * writes the weights too, each rank keeps its piece of the result. Ops are copied, not changed,
 * because this pass may be undone. */
#include "pass/pass.h"

#include <string.h>

typedef struct {
    int first; /* op */
    const char *module;
    bool *used, *written; /* by index in Program.gathered */
} Visit;

typedef struct Gathering {
    Program *p;
    Graph *graph;
    Pos pos;
    const struct Gathering *before; /* of an entry whose ops this entry's may wait for; or NULL */
    Op **ops;                       /* the original ones */
    int count;
    Visit *visits;
    int visit_count, visit_capacity;
    bool keeps;   /* a copy stays for all later visits */
    Value **copy; /* by index in Program.gathered: what the current visit reads */
    Op **made;    /* the copies of `ops`, in the same order */
} Gathering;

/* Index in Program.gathered of what v is a part of, or -1. */
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
    size_t count = (size_t)g->p->gathered_count;
    bool *used = arena_array(g->p->arena, count, sizeof *used);
    bool *written = arena_array(g->p->arena, count, sizeof *written);
    g->visits[g->visit_count] = (Visit){op, module, used, written};
    return &g->visits[g->visit_count++];
}

static int visit_by(Gathering *g, int op, const Value *v) {
    int index = gathered_index(g->p, v);
    if (index >= 0)
        visit_of(g, op, g->p->gathered[index].module)->used[index] = true;
    return index;
}

static void find_visits(Gathering *g) {
    for (int i = 0; i < g->count; i++) {
        const Op *op = g->ops[i];
        for (int k = 0; k < op->in_count; k++)
            visit_by(g, i, op->in[k]);
        for (int k = 0; k < op->out_count; k++) {
            int index = visit_by(g, i, op->out[k]);
            if (index >= 0)
                g->visits[g->visit_count - 1].written[index] = true;
        }
    }
}

static void gather(Gathering *g, const Visit *visit, Op *after) {
    Program *p = g->p;
    for (int i = 0; i < p->gathered_count; i++) {
        const Gathered *from = &p->gathered[i];
        if (!visit->used[i] || (g->keeps && g->copy[i]))
            continue;
        const char *name = arena_printf(p->arena, "%s.all_gather", from->whole->name);
        Value *piece = from->piece;
        g->copy[i] = value_2d(p, from->whole->name, ROLE_ACTIVATION, from->whole->dtype,
                              value_rows(from->whole), value_cols(from->whole), g->pos);
        Op *op = op_add_into(p, g->graph, OP_all_gather, name, &piece, 1, &g->copy[i], 1,
                             (Attr){.group = GROUP_SHARD}, g->pos);
        op->after = after;
        if (after && after->phase != PHASE_FORWARD)
            op->phase = PHASE_BACKWARD; /* which it overlaps */
    }
}

/* Keeps the rank's pieces of what a visit has written. */
static void keep_written(const Gathering *g, const Visit *visit) {
    Program *p = g->p;
    for (int i = 0; i < p->gathered_count; i++) {
        if (!visit->written[i])
            continue;
        Value *piece = value_alias(p, p->gathered[i].piece, p->gathered[i].piece->name);
        Value *in[] = {value_alias(p, g->copy[i], g->copy[i]->name),
                       program_group_rank(p, GROUP_SHARD)};
        if (piece->role == ROLE_FROZEN)
            piece->role = ROLE_BUFFER; /* no op may write a frozen value */
        op_add_into(p, g->graph, OP_own_rows, piece->name, in, 2, &piece, 1,
                    (Attr){.group = GROUP_SHARD}, g->pos);
    }
}

/* The copy of an op of this entry or of one that ran before. */
static Op *made_of(const Gathering *g, Op *op) {
    while (g && !(op->id < g->count && g->ops[op->id] == op))
        g = g->before;
    ENSURE(g, "%s is in no entry that ran before", op->name);
    return g->made[op->id];
}

/* What ops read and write instead of v. */
static Value *copy_of(const Gathering *g, Value *v) {
    int index = gathered_index(g->p, v);
    return index < 0 ? v : value_elsewhere(g->p, v, g->copy[index]);
}

/* A copy of the op that reads and writes the gathered copies instead of the weights. */
static Op *with_copies(const Gathering *g, const Op *op) {
    Op *made = op_copy(g->p, op);
    if (op->after)
        made->after = made_of(g, op->after);
    for (int k = 0; k < op->in_count; k++)
        made->in[k] = copy_of(g, op->in[k]);
    for (int k = 0; k < op->out_count; k++)
        made->out[k] = copy_of(g, op->out[k]);
    return made;
}

static void rewrite(Gathering *g) {
    g->copy = arena_array(g->p->arena, (size_t)g->p->gathered_count, sizeof *g->copy);
    g->made = arena_array(g->p->arena, (size_t)g->count + 1, sizeof *g->made);
    graph_take(g->graph);
    const Visit *now = NULL, *next = g->visits, *end = next + g->visit_count;
    for (int i = 0; i < g->count; i++) {
        bool begins = next < end && i == next->first;
        if (begins && now)
            keep_written(g, now);
        if (begins && !now)
            gather(g, next, i > 0 ? g->made[i - 1] : NULL);
        if (begins)
            now = next++;
        g->made[i] = with_copies(g, g->ops[i]);
        graph_add(g->p, g->graph, g->made[i]);
        if (begins && next < end)
            gather(g, next, g->made[i]);
    }
    keep_written(g, now);
}

static Gathering gather_in(Program *p, const Spec *spec, Entry entry, const Gathering *before) {
    Gathering g = {.p = p, .graph = &p->entry[entry], .before = before};
    g.pos = spec_pos(spec, KEY_parallelism_shard_stage);
    g.keeps = entry == ENTRY_MICRO_STEP &&
              spec_effective(spec, KEY_parallelism_reshard_after_forward) &&
              !spec->parallelism.reshard_after_forward;
    g.ops = g.made = g.graph->ops;
    g.count = g.graph->op_count;
    find_visits(&g);
    if (g.visit_count)
        rewrite(&g);
    return g;
}

bool pass_gather_weights(Program *p, const Spec *spec) {
    if (!p->gathered_count)
        return false;
    Gathering gathering[ENTRY_COUNT];
    for (int e = 0; e < ENTRY_COUNT; e++)
        gathering[e] =
            gather_in(p, spec, e, e == ENTRY_BACKWARD ? &gathering[ENTRY_MICRO_STEP] : NULL);
    return true;
}
