/* Recomputation (activation checkpointing; Chen et al., arXiv 1604.06174): forward values that
 * backward needs are dropped and computed again, by clones of their ops, which control edges hold
 * back until backward needs them.
 *
 * Requires a lowered program; after all passes that rearrange weights and the head, which match
 * forward and backward as they were written. Clones use strided views as they are. The pass looks
 * only at the graph. A *narrow place* is where all of forward that follows depends on one value,
 * such as the sum between two layers. `full` keeps every n-th narrow place, with the n of the
 * lowest peak, and as much of the end of forward as does not raise that peak; `auto` lets compile.c
 * decide how much of the rest is dropped, cheapest first. Both always recompute what costs next to
 * nothing (TRAIT_AGAIN). Clones compute the same bits: ops are deterministic, and random masks are
 * functions of seed, step and place. */
#include "pass/recompute.h"

#include "graph/op_table.h"
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

/* ---- narrow places -------------------------------------------------------------------------- */

typedef struct {
    int *first;  /* by storage id: the forward op that writes it first; -1: none */
    int *narrow; /* storages of narrow places, in order */
    int narrow_count;
} Shape;

/* The op's position before chunk_rows: interleaved runs of rows would leave no narrow place. */
static int written_as(const Recomputation *r, int i) {
    return r->ops[i]->written ? r->ops[i]->written - 1 : i;
}

static int first_backward(const Recomputation *r) {
    int first = r->op_count;
    for (int i = 0; i < r->op_count; i++)
        if (!r->forward[i] && written_as(r, i) < first)
            first = written_as(r, i);
    return first;
}

/* By op: the change in the number of storages that later forward ops read, and in the sum of their
 * ids. Where only one is left, the sum is its id. */
typedef struct {
    int *count, *sum;
} Change;

static Change changes_of(const Recomputation *r, const int *first, const int *last, Arena *arena) {
    Change change = {arena_array(arena, (size_t)r->op_count + 1, sizeof(int)),
                     arena_array(arena, (size_t)r->op_count + 1, sizeof(int))};
    for (int id = 0; id < r->storage_count; id++) {
        if (first[id] < 0 || last[id] <= first[id])
            continue;
        change.count[first[id]]++;
        change.sum[first[id]] += id;
        change.count[last[id]]--;
        change.sum[last[id]] -= id;
    }
    return change;
}

static void find_spans(const Recomputation *r, int *first, int *last) {
    for (int id = 0; id < r->storage_count; id++)
        first[id] = last[id] = -1;
    for (int i = 0; i < r->op_count; i++) {
        const Op *op = r->ops[i];
        int place = written_as(r, i);
        for (int k = 0; r->forward[i] && k < op->in_count; k++)
            if (last[op->in[k]->storage->id] < place)
                last[op->in[k]->storage->id] = place;
        for (int k = 0; r->forward[i] && k < op->out_count; k++) {
            int *at = &first[op->out[k]->storage->id];
            if ((*at < 0 || place < *at) && op->out[k]->role == ROLE_ACTIVATION)
                *at = place;
        }
    }
}

static Shape shape_of(const Recomputation *r, Arena *arena) {
    size_t storages = (size_t)r->storage_count, ops = (size_t)r->op_count + 1;
    Shape shape = {arena_array(arena, storages, sizeof(int)), arena_array(arena, ops, sizeof(int)),
                   0};
    int *last = arena_array(arena, storages, sizeof *last), count = 0, sum = 0;
    find_spans(r, shape.first, last);
    Change change = changes_of(r, shape.first, last, arena);
    for (int i = 0, end = first_backward(r); i < end; i++) {
        count += change.count[i];
        sum += change.sum[i];
        bool known = shape.narrow_count && shape.narrow[shape.narrow_count - 1] == sum;
        if (count == 1 && !known)
            shape.narrow[shape.narrow_count++] = sum;
    }
    return shape;
}

/* ---- what to keep --------------------------------------------------------------------------- */

/* Keeps every n-th narrow place, and everything after narrow place number `last`. */
static void keep_narrow(const Recomputation *r, const Shape *shape, int n, int last) {
    for (int id = 0; id < r->storage_count; id++)
        r->keep[id] = r->policy[id] == BACKWARD_READS ||
                      shape->first[id] > shape->first[shape->narrow[last]];
    for (int i = 0; i < shape->narrow_count; i += n)
        r->keep[shape->narrow[i]] = true;
}

/* The peak with the current choice of what to keep. */
static int64_t peak_of(const Recomputation *r) {
    Arena arena = {0};
    Turns turns = recompute_turns(r, &arena);
    int64_t peak = turns_peak(r, &turns);
    arena_free(&arena);
    return peak;
}

static int64_t peak_with(const Recomputation *r, const Shape *shape, int n, int last) {
    keep_narrow(r, shape, n, last);
    return peak_of(r);
}

/* The next larger n that keeps fewer places; if there is none, more than `places`. Of all n that keep
 * as many, it is the smallest, with which the stretches to recompute are shortest. */
static int next_distance(int n, int places) {
    int kept_after_first = (places - 1) / n;
    return kept_after_first ? (places - 1) / kept_after_first + 1 : places + 1;
}

/* Backward begins where forward ends, so keeping the end of forward costs little: as much of it
 * stays as the peak allows. */
static void find_least(Recomputation *r, const Shape *shape) {
    int64_t least = INT64_MAX;
    int places = shape->narrow_count, best = 1;
    for (int n = 1; n <= places; n = next_distance(n, places)) {
        int64_t peak = peak_with(r, shape, n, (places - 1) / n * n);
        if (peak < least)
            best = n;
        least = peak < least ? peak : least;
    }
    int last = places ? (places - 1) / best * best : -1;
    while (last >= best && peak_with(r, shape, best, last - best) <= least)
        last -= best;
    memset(r->keep, true, (size_t)r->storage_count); /* if there is no narrow place */
    if (places)
        keep_narrow(r, shape, best, last);
    memcpy(r->keep_least, r->keep, (size_t)r->storage_count * sizeof *r->keep);
}

bool recompute_may(const Spec *spec) {
    return spec->activation_checkpoint.mode == RECOMPUTE_AUTO ||
           spec->quantization.keep_decoded == KEEP_AUTO;
}

static bool is_always_again(const Recomputation *r, int storage) {
    const Writers *w = &r->writers[storage];
    bool again = r->repeatable[storage] && r->read_after[storage];
    for (int i = 0; i < w->count; i++)
        again &= op_is(w->ops[i], TRAIT_AGAIN);
    return again;
}

/* Decoded weights have their own key in the spec. */
static BackwardPolicy policy_of(const Recomputation *r, const Spec *spec, int storage) {
    bool kept = r->decoded[storage] ? spec->quantization.keep_decoded == KEEP_TRUE
                                    : spec->activation_checkpoint.mode == RECOMPUTE_NONE;
    if (is_always_again(r, storage))
        return BACKWARD_MAKES;
    return kept ? BACKWARD_READS : BACKWARD_ASKS_PLAN;
}

static void find_candidates(Recomputation *r) {
    for (int id = 0; id < r->storage_count; id++)
        if (r->repeatable[id] && r->read_after[id] && !r->keep_least[id] &&
            r->policy[id] != BACKWARD_MAKES)
            r->candidates[r->candidate_count++] = id;
}

static void *by_storage(const Recomputation *r, size_t size) {
    return arena_array(r->program->arena, (size_t)r->storage_count + 1, size);
}

Recomputation *recompute_new(Program *p, const Spec *spec) {
    Arena arena = {0};
    Recomputation *r = arena_alloc(p->arena, sizeof *r);
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    *r = (Recomputation){.program = p, .graph = graph, .ops = graph->ops};
    r->op_count = graph->op_count;
    r->storage_count = p->storage_count;
    r->forward = arena_array(p->arena, (size_t)r->op_count + 1, sizeof *r->forward);
    r->writers = by_storage(r, sizeof *r->writers);
    r->repeatable = by_storage(r, sizeof(bool));
    r->read_after = by_storage(r, sizeof(bool));
    r->policy = by_storage(r, sizeof *r->policy);
    r->keep = by_storage(r, sizeof(bool));
    r->keep_least = by_storage(r, sizeof(bool));
    r->decoded = by_storage(r, sizeof(bool));
    r->candidates = by_storage(r, sizeof(int));
    recompute_analyse(r);
    for (int id = 0; id < r->storage_count; id++)
        r->policy[id] = policy_of(r, spec, id);
    Shape shape = shape_of(r, &arena);
    find_least(r, &shape);
    find_candidates(r);
    arena_free(&arena);
    return r;
}

/* ---- the choice ----------------------------------------------------------------------------- */

int recompute_choices(const Recomputation *r) { return r->candidate_count; }

/* Keeps all candidates but the first `count`. */
static void choose(const Recomputation *r, int count) {
    memcpy(r->keep, r->keep_least, (size_t)r->storage_count * sizeof *r->keep);
    for (int i = count; i < r->candidate_count; i++)
        r->keep[r->candidates[i]] = true;
}

typedef struct {
    int id;
    double worth; /* bytes per millisecond */
} Ranked;

/* Of equals the earlier one comes first, because it would be kept longer. */
static int worth_more_first(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth < y->worth ? 1 : -1;
    return x->id - y->id;
}

void recompute_rank(Recomputation *r, const Device *device) {
    Arena arena = {0};
    Ranked *ranked = arena_array(&arena, (size_t)r->candidate_count + 1, sizeof *ranked);
    choose(r, 0);
    for (int i = 0; i < r->candidate_count; i++) {
        int id = r->candidates[i];
        double bytes = (double)r->program->storages[id]->bytes;
        ranked[i] = (Ranked){id, bytes / recompute_ms(r, device, id)};
    }
    qsort(ranked, (size_t)r->candidate_count, sizeof *ranked, worth_more_first);
    for (int i = 0; i < r->candidate_count; i++)
        r->candidates[i] = ranked[i].id;
    arena_free(&arena);
}

/* Restores the original graph, in which an op's id is its index in `ops`. */
static void restore(Recomputation *r) {
    graph_set_ops(r->program, r->graph, r->ops, r->op_count);
}

static int64_t peak_without(const Recomputation *r, int count) {
    choose(r, count);
    return peak_of(r);
}

int recompute_guess(Recomputation *r, int64_t bytes) {
    int too_few = 0, enough = r->candidate_count;
    restore(r);
    int64_t peak = peak_without(r, 0) - bytes;
    while (enough - too_few > 1) {
        int middle = (too_few + enough) / 2;
        *(peak_without(r, middle) <= peak ? &enough : &too_few) = middle;
    }
    return enough;
}

void recompute_drop(Recomputation *r, int count) {
    Arena arena = {0};
    restore(r);
    choose(r, count);
    Turns turns = recompute_turns(r, &arena);
    recompute_rewrite(r, &turns);
    arena_free(&arena);
    program_verify(r->program, STAGE_KERNEL, "recompute");
}

bool recompute_drops(const Recomputation *r) {
    for (int i = 0; r && i < r->candidate_count; i++)
        if (!r->keep[r->candidates[i]])
            return true;
    return false;
}

static bool makes_again(const Graph *graph) {
    bool found = false;
    for (int i = 0; i < graph->op_count; i++)
        found |= op_is(graph->ops[i], TRAIT_AGAIN);
    return found;
}

bool pass_recompute(Program *p, const Spec *spec) {
    bool full = spec->activation_checkpoint.mode == RECOMPUTE_FULL;
    if (spec->activation_checkpoint.mode == RECOMPUTE_NONE || !program_trains(p))
        return false;
    if (!full && !makes_again(&p->entry[ENTRY_MICRO_STEP]))
        return false;
    p->recomputation = recompute_new(p, spec);
    recompute_drop(p->recomputation, full ? recompute_choices(p->recomputation) : 0);
    return true;
}
