/* From the order of turns to the graph: second turns become clones that write twins. */
#include "pass/recompute.h"

typedef struct {
    const Recomputation *r;
    Value **fills;      /* by storage id: the value that fills it */
    Storage **twins;    /* by storage id */
    Value **twin_value; /* by value id */
    int value_count;
} Rewrite;

static Rewrite rewrite_new(const Recomputation *r, Arena *arena) {
    Program *p = r->program;
    Rewrite w = {r, arena_array(arena, (size_t)p->storage_count, sizeof(Value *)),
                 arena_array(arena, (size_t)p->storage_count, sizeof(Storage *)),
                 arena_array(arena, (size_t)p->value_count, sizeof(Value *)), p->value_count};
    for (int i = p->value_count - 1; i >= 0; i--) {
        Value *v = p->values[i];
        if (value_bytes(v) == v->storage->bytes)
            w.fills[v->storage->id] = v;
    }
    return w;
}

static Storage *twin_storage(Rewrite *w, Storage *s) {
    Program *p = w->r->program;
    if (!w->twins[s->id]) {
        const Value *fill = w->fills[s->id];
        ENSURE(fill, "no value fills %s", s->name);
        const char *name = arena_printf(p->arena, "%s.recomputed", s->name);
        w->twins[s->id] =
            value_new(p, name, s->role, fill->dtype, fill->rank, fill->dim, fill->pos)->storage;
    }
    return w->twins[s->id];
}

static Value *twin_of(Rewrite *w, Value *v) {
    if (!w->twin_value[v->id]) {
        Storage *storage = twin_storage(w, v->storage);
        Value *twin = value_alias(w->r->program, v, v->name);
        twin->storage = storage;
        w->twin_value[v->id] = twin;
    }
    return w->twin_value[v->id];
}

/* The op of a turn: itself where nothing of it lies elsewhere, else a copy. */
static Op *op_of(Rewrite *w, const Turn *turn) {
    Op copy = *turn->op;
    bool same = !turn->again;
    for (int i = 0; i < copy.in_count; i++) {
        if (!turn_uses_twin(w->r, turn, copy.in[i], false))
            continue;
        copy.in[i] = twin_of(w, copy.in[i]);
        same = false;
    }
    for (int i = 0; turn->again && i < copy.out_count; i++)
        copy.out[i] = twin_of(w, copy.out[i]);
    if (same)
        return turn->op;
    Op *op = arena_alloc(w->r->program->arena, sizeof *op);
    *op = copy;
    return op;
}

static void mark_clone(Rewrite *w, Op *op, Op *after) {
    op->name = arena_printf(w->r->program->arena, "%s.recomputed", op->name);
    op->recompute = true;
    op->after = after;
    op->observe = NULL;
}

void recompute_rewrite(Recomputation *r, const Turns *s) {
    Arena scratch = {0};
    Rewrite w = rewrite_new(r, &scratch);
    Op *before = NULL; /* the last op that is no clone: holds the next clones back */
    graph_set_ops(r->program, r->graph, NULL, 0);
    for (int i = 0; i < s->count; i++) {
        Op *op = op_of(&w, &s->turn[i]);
        if (s->turn[i].again)
            mark_clone(&w, op, before);
        else
            before = op;
        graph_add(r->program, r->graph, op);
    }
    arena_free(&scratch);
}
