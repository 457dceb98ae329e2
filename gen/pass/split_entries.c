/* Splits micro_step of a pipeline stage into two entries, forward and backward, because other
 * micro-batches run between them.
 *
 * Requires the phases of its ops. Backward gets the ops of its phases, forward ops that are
 * computed together with their gradient, and ops that compute something only from weights and only
 * for backward, so that it is not kept for each micro-batch. What forward leaves for backward
 * becomes STASH, of which each micro-batch in flight has its own copy. */
#include "graph/op_table.h"
#include "pass/pass.h"

typedef struct {
    const Program *program;
    bool *read, *written; /* by storage id: whether an op of backward does it */
} Split;

static bool is_backward(const Split *b, const Op *op) {
    bool found = op->phase != PHASE_FORWARD || op->with_gradient;
    for (int i = 0; i < op->in_count; i++)
        found |= b->written[op->in[i]->storage->id];
    for (int i = 0; i < op->out_count; i++)
        found |= b->written[op->out[i]->storage->id] || b->read[op->out[i]->storage->id];
    return found;
}

static void mark(bool *storages, Value *const *values, int count) {
    for (int i = 0; i < count; i++)
        storages[values[i]->storage->id] = true;
}

/* Whether v does not change within a step. */
static bool stays(const Program *p, const Value *v) {
    bool found = value_trains(v) || v->role == ROLE_FROZEN || v->role == ROLE_CONSTANT;
    for (int i = 0; i < p->group_rank_count; i++)
        found |= p->group_ranks[i].value == v;
    return found;
}

/* Whether the op reads only values that do not change, and makes scratch that no op of forward
 * reads. */
static bool can_wait(const Program *p, const Op *op, const bool *needed) {
    bool found = true;
    for (int i = 0; i < op->in_count; i++)
        found &= stays(p, op->in[i]);
    for (int i = 0; i < op->out_count; i++)
        found &= op->out[i]->role == ROLE_ACTIVATION && !needed[op->out[i]->storage->id];
    return found;
}

/* Moves to backward those ops of forward whose results only backward needs. */
static void leave_to_backward(const Program *p, bool *later, Arena *arena) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    bool *needed = arena_array(arena, (size_t)p->storage_count + 1, sizeof *needed);
    for (int i = graph->op_count - 1; i >= 0; i--) {
        if (later[i])
            continue;
        later[i] = can_wait(p, graph->ops[i], needed);
        if (!later[i])
            mark(needed, graph->ops[i]->in, graph->ops[i]->in_count);
    }
}

static bool *backward_ops(Split *b, Arena *arena) {
    const Graph *graph = &b->program->entry[ENTRY_MICRO_STEP];
    bool *later = arena_array(arena, (size_t)graph->op_count + 1, sizeof *later);
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        later[i] = is_backward(b, op);
        if (!later[i])
            continue;
        mark(b->read, op->in, op->in_count);
        mark(b->written, op->out, op->out_count);
    }
    leave_to_backward(b->program, later, arena);
    return later;
}

static void split(Program *p, Split *b, Arena *arena) {
    Graph *forward = &p->entry[ENTRY_MICRO_STEP], *backward = &p->entry[ENTRY_BACKWARD];
    const bool *later = backward_ops(b, arena);
    const Graph old = graph_take(forward);
    for (int i = 0; i < old.op_count; i++)
        graph_add(p, later[i] ? backward : forward, old.ops[i]);
}

static bool *used_storages(const Program *p, const Graph *graph, Arena *arena) {
    bool *used = arena_array(arena, (size_t)p->storage_count + 1, sizeof *used);
    for (int i = 0; i < graph->op_count; i++) {
        mark(used, graph->ops[i]->in, graph->ops[i]->in_count);
        mark(used, graph->ops[i]->out, graph->ops[i]->out_count);
    }
    return used;
}

/* Gives values the role STASH, or ACTIVATION again, like their storages. */
static void set_roles(Program *p) {
    for (int i = 0; i < p->value_count; i++) {
        Value *v = p->values[i];
        Role role = v->storage->role;
        if (role == ROLE_STASH || (v->role == ROLE_STASH && role == ROLE_ACTIVATION))
            v->role = role;
    }
}

static void keep_shared(Program *p, Arena *arena) {
    const bool *forward = used_storages(p, &p->entry[ENTRY_MICRO_STEP], arena);
    const bool *backward = used_storages(p, &p->entry[ENTRY_BACKWARD], arena);
    for (int i = 0; i < p->storage_count; i++)
        if (forward[i] && backward[i] && p->storages[i]->role == ROLE_ACTIVATION)
            p->storages[i]->role = ROLE_STASH;
    set_roles(p);
}

bool pass_split_entries(Program *p, const Spec *spec) {
    (void)spec;
    if (p->stage.count <= 1)
        return false;
    Arena arena = {0};
    Split b = {p, arena_array(&arena, (size_t)p->storage_count + 1, sizeof(bool)),
               arena_array(&arena, (size_t)p->storage_count + 1, sizeof(bool))};
    split(p, &b, &arena);
    keep_shared(p, &arena);
    p->entry[ENTRY_MICRO_STEP].name = "forward";
    arena_free(&arena);
    return true;
}

static bool is_exchanged(const PipelineStage *stage, const Storage *s) {
    for (int i = 0; i < STAGE_EXCHANGES; i++)
        if (stage->exchanged[i] && stage->exchanged[i]->storage == s)
            return true;
    return false;
}

void unstash_values(Program *p) {
    if (p->stage.count <= 1)
        return;
    for (int i = 0; i < p->storage_count; i++)
        if (p->storages[i]->role == ROLE_STASH && !is_exchanged(&p->stage, p->storages[i]))
            p->storages[i]->role = ROLE_ACTIVATION;
    set_roles(p);
}
