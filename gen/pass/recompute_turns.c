/* Which ops can be repeated, and the order of all turns once it is decided what is kept. */
#include "graph/op_table.h"
#include "pass/recompute.h"

#include <string.h>

/* ---- what the graph allows ------------------------------------------------------------------ */

static void add_writer(Recomputation *r, int storage, Op *op) {
    Writers *w = &r->writers[storage];
    if (w->count && w->ops[w->count - 1] == op)
        return;
    w->ops = arena_grow(r->program->arena, w->ops, w->count, &w->capacity, sizeof op);
    w->ops[w->count++] = op;
}

/* Marks the ops that the loss depends on, from the graph's end to its start, and those that forward
 * makes for backward alone, as masks. */
static void find_forward(Recomputation *r) {
    bool *needed = arena_array(r->program->arena, (size_t)r->storage_count, sizeof *needed);
    bool *in_backward = arena_array(r->program->arena, (size_t)r->storage_count, sizeof *in_backward);
    needed[r->program->loss_of_micro_step->storage->id] = true;
    for (int i = r->op_count - 1; i >= 0; i--) {
        const Op *op = r->ops[i];
        const bool *asked = op->phase == PHASE_FORWARD ? in_backward : needed;
        for (int k = 0; k < op->out_count; k++)
            r->forward[i] |= needed[op->out[k]->storage->id] || asked[op->out[k]->storage->id];
        for (int k = 0; k < op->in_count; k++) {
            bool activation = op->in[k]->role == ROLE_ACTIVATION;
            needed[op->in[k]->storage->id] |= activation && r->forward[i];
            in_backward[op->in[k]->storage->id] |= activation && op->phase == PHASE_BACKWARD;
        }
    }
}

/* Whether another op overwrites v after the op has read it; of values that are no activations,
 * whether any other op writes them. */
static bool is_overwritten(const Recomputation *r, const Op *op, const Value *v) {
    const Writers *w = &r->writers[v->storage->id];
    for (int i = 0; i < w->count; i++) {
        bool later = w->ops[i]->id > op->id || v->role != ROLE_ACTIVATION;
        if (later && w->ops[i] != op && op_writes_part(w->ops[i], v))
            return true;
    }
    return false;
}

static bool is_repeatable(const Recomputation *r, const Op *op) {
    if (!r->forward[op->id])
        return false;
    for (int i = 0; i < op->out_count; i++)
        if (op->out[i]->role != ROLE_ACTIVATION)
            return false;
    for (int i = 0; i < op->in_count; i++)
        if (is_overwritten(r, op, op->in[i]))
            return false;
    return true;
}

void recompute_analyse(Recomputation *r) {
    for (int i = 0; i < r->op_count; i++)
        for (int k = 0; k < r->ops[i]->out_count; k++) {
            add_writer(r, r->ops[i]->out[k]->storage->id, r->ops[i]);
            r->decoded[r->ops[i]->out[k]->storage->id] |= op_is(r->ops[i], TRAIT_DECODES);
        }
    find_forward(r);
    for (int i = 0; i < r->op_count; i++)
        for (int k = 0; k < r->ops[i]->in_count; k++)
            r->read_after[r->ops[i]->in[k]->storage->id] |= !r->forward[i];
    for (int id = 0; id < r->storage_count; id++) {
        const Writers *w = &r->writers[id];
        r->repeatable[id] = w->count > 0 && r->program->storages[id]->role == ROLE_ACTIVATION;
        for (int i = 0; i < w->count; i++)
            r->repeatable[id] &= is_repeatable(r, w->ops[i]);
    }
}

/* ---- turns ---------------------------------------------------------------------------------- */

/* Whether backward recomputes the storage. */
static bool is_dropped(const Recomputation *r, const Storage *s) {
    return r->repeatable[s->id] && (!r->keep[s->id] || r->policy[s->id] == BACKWARD_MAKES);
}

bool turn_reads_twin(const Recomputation *r, const Turn *turn, const Value *v) {
    return (turn->again || !r->forward[turn->op->id]) && is_dropped(r, v->storage);
}

static void add_turn(Turns *s, Arena *arena, Turn turn) {
    s->turn = arena_grow(arena, s->turn, s->count, &s->capacity, sizeof turn);
    s->turn[s->count++] = turn;
}

static void turn_again(const Recomputation *, Turns *, Arena *, Op *);

/* Gives second turns to the ops that wrote the op's dropped operands before its own turn. A decoded
 * storage is written again as a whole, because it has other data between the rows of a weight.
 * Going by ops, not by storages, keeps the order if two storages are written alternately. */
static void require_operands(const Recomputation *r, Turns *s, Arena *arena, const Op *op) {
    for (int i = 0; i < op->in_count; i++) {
        const Value *v = op->in[i];
        const Writers *w = &r->writers[v->storage->id];
        for (int k = 0; is_dropped(r, v->storage) && k < w->count; k++)
            if (w->ops[k]->id < op->id &&
                (r->decoded[v->storage->id] || op_writes_part(w->ops[k], v)))
                turn_again(r, s, arena, w->ops[k]);
    }
}

/* Gives an op its second turn. */
static void turn_again(const Recomputation *r, Turns *s, Arena *arena, Op *op) {
    if (s->done[op->id])
        return;
    s->done[op->id] = true;
    require_operands(r, s, arena, op);
    add_turn(s, arena, (Turn){op, true});
}

static Turns turns_new(const Recomputation *r, Arena *arena) {
    Turns s = {.capacity = r->op_count + 1};
    s.turn = arena_array(arena, (size_t)s.capacity, sizeof *s.turn);
    s.done = arena_array(arena, (size_t)r->op_count + 1, sizeof *s.done);
    return s;
}

Turns recompute_turns(const Recomputation *r, Arena *arena) {
    Turns s = turns_new(r, arena);
    for (int i = 0; i < r->op_count; i++) {
        if (!r->forward[i])
            require_operands(r, &s, arena, r->ops[i]);
        add_turn(&s, arena, (Turn){r->ops[i], false});
    }
    return s;
}

double recompute_ms(const Recomputation *r, const Device *device, int storage) {
    Arena arena = {0};
    double ms = 0;
    Turns s = turns_new(r, &arena);
    for (int i = 0; i < r->writers[storage].count; i++)
        turn_again(r, &s, &arena, r->writers[storage].ops[i]);
    for (int i = 0; i < s.count; i++)
        ms += device_op_ms(device, r->program, s.turn[i].op);
    arena_free(&arena);
    return ms;
}

/* ---- memory --------------------------------------------------------------------------------- */

typedef struct {
    int *first, *last; /* turns, by storage id; twins follow the originals */
} Lives;

static void live_at(const Recomputation *r, Lives *lives, int at, const Value *v, bool is_twin) {
    if (v->role != ROLE_ACTIVATION)
        return;
    int id = v->storage->id + (is_twin ? r->storage_count : 0);
    if (lives->first[id] < 0)
        lives->first[id] = at;
    lives->last[id] = at;
}

static int64_t peak_of(const Recomputation *r, const Lives *lives, int turns, Arena *arena) {
    int64_t *change = arena_array(arena, (size_t)turns + 1, sizeof *change), live = 0, peak = 0;
    for (int id = 0; id < 2 * r->storage_count; id++) {
        if (lives->first[id] < 0)
            continue;
        int64_t bytes = r->program->storages[id % r->storage_count]->bytes;
        change[lives->first[id]] += bytes;
        change[lives->last[id] + 1] -= bytes;
    }
    for (int i = 0; i < turns; i++) {
        live += change[i];
        if (live > peak)
            peak = live;
    }
    return peak;
}

int64_t turns_peak(const Recomputation *r, const Turns *s) {
    Arena arena = {0};
    size_t storages = 2 * (size_t)r->storage_count;
    Lives lives = {arena_array(&arena, storages, sizeof(int)),
                   arena_array(&arena, storages, sizeof(int))};
    memset(lives.first, -1, storages * sizeof(int));
    for (int i = 0; i < s->count; i++) {
        const Turn *turn = &s->turn[i];
        for (int k = 0; k < turn->op->in_count; k++)
            live_at(r, &lives, i, turn->op->in[k], turn_reads_twin(r, turn, turn->op->in[k]));
        for (int k = 0; k < turn->op->out_count; k++)
            live_at(r, &lives, i, turn->op->out[k], turn->again);
    }
    int64_t peak = peak_of(r, &lives, s->count, &arena);
    arena_free(&arena);
    return peak;
}
