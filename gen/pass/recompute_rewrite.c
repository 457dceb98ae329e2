/* Builds the graph from the order of turns: second turns become clones that write twins. */
#include "graph/op_table.h"
#include "pass/again.h"
#include "pass/recompute.h"

typedef struct {
    const Recomputation *r;
    Value **fills;      /* by storage id: the value that fills it */
    Storage **twins;    /* by storage id */
    Value **twin_value; /* by value id */
} Rewrite;

static Rewrite rewrite_new(const Recomputation *r, Arena *arena) {
    Program *p = r->program;
    Rewrite w = {r, arena_array(arena, (size_t)p->storage_count, sizeof(Value *)),
                 arena_array(arena, (size_t)p->storage_count, sizeof(Storage *)),
                 arena_array(arena, (size_t)p->value_count, sizeof(Value *))};
    for (int i = p->value_count - 1; i >= 0; i--) {
        Value *v = p->values[i];
        if (value_fills(v))
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
    if (!w->twin_value[v->id])
        w->twin_value[v->id] =
            value_elsewhere(w->r->program, v, twin_storage(w, v->storage)->views);
    return w->twin_value[v->id];
}

/* The op of a turn: the original if none of its values moves, else a copy. `after` is the new form
 * of the op that it has to follow. */
static Op *op_of(Rewrite *w, const Turn *turn, Op *after) {
    Op copy = *turn->op;
    bool same = !turn->again && after == copy.after;
    copy.after = after;
    for (int i = 0; i < copy.in_count; i++) {
        if (!turn_reads_twin(w->r, turn, copy.in[i]))
            continue;
        copy.in[i] = twin_of(w, copy.in[i]);
        same = false;
    }
    for (int i = 0; turn->again && i < copy.out_count; i++)
        copy.out[i] = twin_of(w, copy.out[i]);
    if (same)
        return turn->op;
    return op_copy(w->r->program, &copy);
}

/* Finds the first turn of each op, and for each turn the one that its op has to follow, or -1. */
static void find_turns(const Turns *s, int *of_op, int *after) {
    for (int i = 0; i < s->count; i++)
        if (!s->turn[i].again)
            of_op[s->turn[i].op->id] = i;
    for (int i = 0; i < s->count; i++)
        after[i] = s->turn[i].op->after ? of_op[s->turn[i].op->after->id] : -1;
}

void recompute_rewrite(Recomputation *r, const Turns *s) {
    Arena scratch = {0};
    Rewrite w = rewrite_new(r, &scratch);
    Op *before = NULL; /* the last op that is not a clone: holds the next clones back */
    Op **made = arena_array(&scratch, (size_t)s->count + 1, sizeof *made);
    int *after = arena_array(&scratch, (size_t)s->count + 1, sizeof *after);
    find_turns(s, arena_array(&scratch, (size_t)r->op_count + 1, sizeof(int)), after);
    graph_take(r->graph);
    for (int i = 0; i < s->count; i++) {
        Op *op = made[i] = op_of(&w, &s->turn[i], after[i] < 0 ? NULL : made[after[i]]);
        if (s->turn[i].again)
            again_mark(r->program, op, before);
        else if (!op_is(op, TRAIT_COLLECTIVE)) /* clones may overlap these */
            before = op;
        graph_add(r->program, r->graph, op);
    }
    arena_free(&scratch);
}
