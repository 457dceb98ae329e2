/* Cuts micro_step of a pipeline's stage in two entries, forward and backward, for other micro-batches
 * pass between them.
 *
 * Requires a lowered program, and is the last pass. Backward is what depends on gradients, or is
 * computed along with them. What forward leaves for it becomes STASH, of which each micro-batch in
 * flight has its own. */
#include "graph/op_table.h"
#include "pass/pass.h"

typedef struct {
    const Program *program;
    bool *read, *written; /* by storage id: by an op of backward */
} Split;

static bool is_gradient(const Program *p, const Value *v) {
    return v == p->loss_gradient || v == p->stage.received_gradient || v == p->counters.loss_scale;
}

static bool is_backward(const Split *b, const Op *op) {
    bool found = op->recompute || op->with_gradient;
    for (int i = 0; i < op->in_count; i++)
        found |= is_gradient(b->program, op->in[i]) || b->written[op->in[i]->storage->id];
    for (int i = 0; i < op->out_count; i++)
        found |= b->written[op->out[i]->storage->id] || b->read[op->out[i]->storage->id];
    return found;
}

static void mark(bool *storages, Value *const *values, int count) {
    for (int i = 0; i < count; i++)
        storages[values[i]->storage->id] = true;
}

static void split(Program *p, Split *b) {
    Graph *forward = &p->entry[ENTRY_MICRO_STEP], *backward = &p->entry[ENTRY_BACKWARD];
    Op **ops = forward->ops;
    int count = forward->op_count;
    graph_set_ops(p, forward, NULL, 0);
    graph_set_ops(p, backward, NULL, 0);
    for (int i = 0; i < count; i++) {
        if (!is_backward(b, ops[i])) {
            graph_add(p, forward, ops[i]);
            continue;
        }
        mark(b->read, ops[i]->in, ops[i]->in_count);
        mark(b->written, ops[i]->out, ops[i]->out_count);
        graph_add(p, backward, ops[i]);
    }
}

static bool *used_storages(const Program *p, const Graph *graph, Arena *arena) {
    bool *used = arena_array(arena, (size_t)p->storage_count + 1, sizeof *used);
    for (int i = 0; i < graph->op_count; i++) {
        mark(used, graph->ops[i]->in, graph->ops[i]->in_count);
        mark(used, graph->ops[i]->out, graph->ops[i]->out_count);
    }
    return used;
}

/* As their storages have it. */
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

void pass_split_entries(Program *p, const Spec *spec) {
    (void)spec;
    if (p->stage.count <= 1)
        return;
    Arena arena = {0};
    Split b = {p, arena_array(&arena, (size_t)p->storage_count + 1, sizeof(bool)),
               arena_array(&arena, (size_t)p->storage_count + 1, sizeof(bool))};
    split(p, &b);
    keep_shared(p, &arena);
    p->entry[ENTRY_MICRO_STEP].name = "forward";
    arena_free(&arena);
}

static bool is_exchanged(const PipelineStage *stage, const Storage *s) {
    for (int i = 0; i < STAGE_EXCHANGES; i++)
        if (stage->exchanged[i] && stage->exchanged[i]->storage == s)
            return true;
    return false;
}

void join_entries(Program *p) {
    Graph *forward = &p->entry[ENTRY_MICRO_STEP], *backward = &p->entry[ENTRY_BACKWARD];
    if (p->stage.count <= 1)
        return;
    for (int i = 0; i < p->storage_count; i++)
        if (p->storages[i]->role == ROLE_STASH && !is_exchanged(&p->stage, p->storages[i]))
            p->storages[i]->role = ROLE_ACTIVATION;
    set_roles(p);
    for (int i = 0; i < backward->op_count; i++)
        graph_add(p, forward, backward->ops[i]);
    graph_set_ops(p, backward, NULL, 0);
}
