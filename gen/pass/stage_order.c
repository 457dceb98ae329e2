/* A weight is read in only one stage. So an op that reads it again, and all ops that depend on that
 * op, move up next to the weight's first reader; all other ops keep their places. */
#include "pass/stage_cuts.h"

#include <stdlib.h>

typedef struct {
    int place;
    Op *op;
} Placed;

/* By storage id. */
typedef struct {
    bool *weight;
    int *first; /* place of a weight's first reader; -1: none so far */
    int *made;  /* place of the op that made it */
    bool *moved; /* the op that made it has moved */
} Places;

static Places places_new(const Program *p, Arena *arena) {
    size_t room = (size_t)p->storage_count + 1;
    Places s = {arena_array(arena, room, sizeof(bool)), arena_array(arena, room, sizeof(int)),
                arena_array(arena, room, sizeof(int)), arena_array(arena, room, sizeof(bool))};
    for (int i = 0; i < p->param_count; i++)
        s.weight[p->params[i].weight->storage->id] = true;
    for (int i = 0; i < p->storage_count; i++)
        s.first[i] = -1;
    return s;
}

static int place_of(Places *s, const Op *op, int own) {
    bool moved = false;
    int place = 0;
    for (int k = 0; k < op->in_count; k++) {
        int id = op->in[k]->storage->id, at = s->weight[id] ? s->first[id] : s->made[id];
        moved |= s->moved[id] || (s->weight[id] && at >= 0);
        place = at > place ? at : place;
    }
    if (!moved)
        place = own;
    for (int k = 0; k < op->in_count; k++) {
        int id = op->in[k]->storage->id;
        if (s->weight[id] && s->first[id] < 0)
            s->first[id] = place;
    }
    for (int k = 0; k < op->out_count; k++) {
        s->made[op->out[k]->storage->id] = place;
        s->moved[op->out[k]->storage->id] = moved;
    }
    return place;
}

static int by_place(const void *a, const void *b) {
    const Placed *x = a, *y = b;
    return x->place != y->place ? x->place - y->place : x->op->id - y->op->id;
}

Graph stage_order(const Program *p, const Graph *graph, Arena *arena) {
    Places places = places_new(p, arena);
    int count = graph->op_count;
    Placed *placed = arena_array(arena, (size_t)count + 1, sizeof *placed);
    Graph order = {graph->name, arena_array(arena, (size_t)count + 1, sizeof(Op *)), count, count};
    for (int i = 0; i < count; i++)
        placed[i] = (Placed){place_of(&places, graph->ops[i], i), graph->ops[i]};
    qsort(placed, (size_t)count, sizeof *placed, by_place);
    for (int i = 0; i < count; i++)
        order.ops[i] = placed[i].op;
    return order;
}
