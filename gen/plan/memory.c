/* Gives every storage its place.
 *
 * STATE, INPUT and STASH storages are laid out consecutively. If the process drives several cards,
 * the part of STATE that the other cards need comes first, and they have only that part. SCRATCH
 * storages share bytes where their lifetimes allow. A storage lives from its first use to its last;
 * two may share if every use of one happens before every use of the other, in each entry on its
 * own, since scratch keeps nothing between entries. "Happens before" follows from stream order and
 * events.
 *
 * Storages are placed from the largest to the smallest, each in the smallest gap that fits between
 * storages already placed that are live at the same time. */
#include "base/rounding.h"
#include "plan/plan_steps.h"

#include <stdlib.h>
#include <string.h>

static int64_t aligned(int64_t bytes) { return round_up(bytes, PLACE_ALIGNMENT); }

/* ---- lifetimes ------------------------------------------------------------------------------- */

/* First and last use, as indices of launches: over all streams, and on each stream (first -1: not
 * used there). `streams` is 1 + the last stream with a use; 0: never used. */
typedef struct {
    int begin, end, streams;
    int first[MAX_STREAMS], last[MAX_STREAMS];
} Life;

/* For one entry with launches: lifetimes by storage, and for each launch the last launch on each
 * stream that is certain to have ended when it begins. */
typedef struct {
    const PlanEntry *entry;
    Life *life;
    int (*ended)[MAX_STREAMS];
    bool ordered; /* all launches are on one stream */
} Lives;

static void use(Lives *lives, const Value *value, int launch) {
    Life *life = &lives->life[value->storage->id];
    if (!life->streams) {
        life->begin = launch;
        for (int s = 0; s < MAX_STREAMS; s++)
            life->first[s] = life->last[s] = -1;
    }
    life->end = launch;
    int stream = lives->entry->launches[launch].stream;
    if (life->streams <= stream)
        life->streams = stream + 1;
    if (life->first[stream] < 0)
        life->first[stream] = launch;
    life->last[stream] = launch;
}

static void use_all(Lives *lives, int index) {
    const Launch *launch = &lives->entry->launches[index];
    for (int i = 0; i < launch_touch_count(launch); i++)
        use(lives, launch_touched(launch, i).value, index);
    if (launch->observed)
        use(lives, launch->observed, index);
}

/* Records that `from`, and all that had ended when it began, has ended when `to` begins. */
static void learn(Lives *lives, int to, int from) {
    int stream = lives->entry->launches[from].stream;
    for (int s = 0; s < MAX_STREAMS; s++)
        if (lives->ended[from][s] > lives->ended[to][s])
            lives->ended[to][s] = lives->ended[from][s];
    if (from > lives->ended[to][stream])
        lives->ended[to][stream] = from;
}

/* Whether `launch` may rely on a wait for `other`: a launch that always runs may not rely on one
 * that is sometimes left out. */
static bool tells(const Launch *launch, const Launch *other) {
    return launch->ends_step || !other->ends_step;
}

static Lives lives_of(const Plan *plan, const PlanEntry *entry, Arena *arena) {
    Lives lives = {entry, arena_array(arena, (size_t)plan->program->storage_count, sizeof(Life)),
                   arena_array(arena, (size_t)entry->launch_count, sizeof(int[MAX_STREAMS])), true};
    int previous[2][MAX_STREAMS]; /* the last launch that always runs, and the last one; -1: none */
    memset(previous, -1, sizeof previous);
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        lives.ordered &= launch->stream == entry->launches[0].stream;
        for (int s = 0; s < MAX_STREAMS; s++)
            lives.ended[i][s] = -1;
        if (previous[launch->ends_step][launch->stream] >= 0)
            learn(&lives, i, previous[launch->ends_step][launch->stream]);
        for (int w = 0; w < launch->wait_count; w++)
            if (tells(launch, &entry->launches[launch->wait[w]]))
                learn(&lives, i, launch->wait[w]);
        previous[true][launch->stream] = i;
        if (!launch->ends_step)
            previous[false][launch->stream] = i;
        use_all(&lives, i);
    }
    return lives;
}

static bool ends_before(const Lives *lives, const Life *a, const Life *b) {
    for (int s = 0; s < a->streams; s++)
        for (int t = 0; t < b->streams; t++)
            if (a->last[s] >= 0 && b->first[t] >= 0 && a->last[s] > lives->ended[b->first[t]][s])
                return false;
    return true;
}

/* Whether some launch is in both ranges. */
static bool overlap(int begin_a, int end_a, int begin_b, int end_b) {
    return begin_a <= end_b && begin_b <= end_a;
}

/* Whether two lifetimes meet. If they do not overlap in launch order, only the earlier one can end
 * before the other begins. */
static bool meet(const Lives *lives, const Life *a, const Life *b) {
    if (overlap(a->begin, a->end, b->begin, b->end))
        return true;
    if (lives->ordered)
        return false;
    return a->end < b->begin ? !ends_before(lives, a, b) : !ends_before(lives, b, a);
}

/* By storage: a bit for each entry that uses it. */
static unsigned *entries_of(const Program *program, const Lives *lives, Arena *arena) {
    unsigned *entries = arena_array(arena, (size_t)program->storage_count, sizeof *entries);
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; lives[e].entry && i < program->storage_count; i++)
            entries[i] |= (unsigned)(lives[e].life[i].streams > 0) << e;
    return entries;
}

static bool *storages_in_use(const Plan *plan, const unsigned *entries, Arena *arena) {
    const Program *program = plan->program;
    bool *used = arena_array(arena, (size_t)program->storage_count, sizeof *used);
    /* The host reads and writes counters, and what follows, even if no launch does. */
    for (int i = 0; i < program->storage_count; i++) {
        const Storage *s = program->storages[i];
        used[i] = entries[i] || (s->role == ROLE_COUNTER && s->views);
    }
    for (int i = 0; i < STAGE_EXCHANGES; i++)
        if (program->stage.exchanged[i])
            used[program->stage.exchanged[i]->storage->id] = true;
    for (int i = 0; i < program->param_count; i++) {
        const Param *param = &program->params[i];
        const Value *parts[] = {param_place(param),      param->master,     param->gradient,
                                param->exp_avg,          param->exp_avg_sq, param->exp_avg_absmax,
                                param->exp_avg_sq_absmax};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            if (parts[k] && !(param->gathered && parts[k] == param->weight))
                used[parts[k]->storage->id] = true;
    }
    return used;
}

/* Lifetimes, and which storages are used at all. */
typedef struct {
    Lives lives[ENTRY_COUNT]; /* zeros for an entry without launches */
    const unsigned *entries;
    const bool *used;
} Uses;

/* Whether two storages are live together in an entry. */
static bool live_together(const Uses *uses, int a, int b) {
    for (unsigned both = uses->entries[a] & uses->entries[b]; both; both &= both - 1) {
        const Lives *lives = &uses->lives[__builtin_ctz(both)];
        if (meet(lives, &lives->life[a], &lives->life[b]))
            return true;
    }
    return false;
}

static Uses uses_of(const Plan *plan, Arena *arena) {
    Uses uses = {0};
    for (int e = 0; e < ENTRY_COUNT; e++)
        if (plan->entry[e].launch_count > 0)
            uses.lives[e] = lives_of(plan, &plan->entry[e], arena);
    uses.entries = entries_of(plan->program, uses.lives, arena);
    uses.used = storages_in_use(plan, uses.entries, arena);
    return uses;
}

/* ---- places ---------------------------------------------------------------------------------- */

static void append(Plan *plan, const Storage *storage, ArenaKind kind) {
    plan->place[storage->id] = (Place){kind, plan->arena_bytes[kind]};
    plan->arena_bytes[kind] += aligned(storage->bytes);
}

/* Places the chosen storages, ordered by role. */
static void place_in_order(Plan *plan, const bool *chosen) {
    static const Role order[] = {ROLE_COUNTER, ROLE_CONSTANT, ROLE_FROZEN,   ROLE_WEIGHT,
                                 ROLE_ADAPTER, ROLE_BUFFER,   ROLE_GRADIENT, ROLE_OPTIMIZER,
                                 ROLE_DATASET, ROLE_INPUT,    ROLE_STASH};
    static const ArenaKind arena[ROLE_COUNT] = {
        [ROLE_INPUT] = ARENA_INPUT, [ROLE_STASH] = ARENA_STASH};
    const Program *program = plan->program;
    for (size_t r = 0; r < sizeof order / sizeof *order; r++)
        for (int i = 0; i < program->storage_count; i++)
            if (chosen[i] && program->storages[i]->role == order[r])
                append(plan, program->storages[i], arena[order[r]]);
}

/* With several cards, storages that micro_step does not touch exist only on the first card. */
static void place_lasting(Plan *plan, const Uses *uses, Arena *arena) {
    size_t count = (size_t)plan->program->storage_count;
    bool *early = arena_array(arena, count, sizeof *early),
         *late = arena_array(arena, count, sizeof *late);
    for (size_t i = 0; i < count; i++) {
        bool everywhere = plan->program->cards == 1 || (uses->entries[i] >> ENTRY_MICRO_STEP & 1);
        early[i] = uses->used[i] && everywhere;
        late[i] = uses->used[i] && !everywhere;
    }
    place_in_order(plan, early);
    plan->replica_bytes = plan->arena_bytes[ARENA_STATE];
    place_in_order(plan, late);
}

static int larger_first(const void *a, const void *b) {
    const Storage *x = *(Storage *const *)a, *y = *(Storage *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->id - y->id;
}

/* Placed storages, ordered by offset: one list of all, and one per entry. Most storages are used by
 * a single entry and need only search that entry's list. */
enum { ALL = ENTRY_COUNT, LISTS };

typedef struct {
    int64_t begin, end; /* its bytes, aligned */
    int id;             /* of the storage */
    int first, last;    /* its first and last use in the list's entry; not in the list of all */
} Slot;

typedef struct {
    Slot *slots[LISTS];
    int count[LISTS];
} Placed;

static int list_for(unsigned entries) {
    bool one = entries && !(entries & (entries - 1));
    return one ? __builtin_ctz(entries) : ALL;
}

/* Whether the storage needs other bytes than the slot. Where all launches are on one stream, its life
 * in the only entry that uses it and the slot say so themselves. */
static bool is_apart(const Uses *uses, const Life *only, int storage, const Slot *slot) {
    if (only)
        return overlap(only->begin, only->end, slot->first, slot->last);
    return live_together(uses, storage, slot->id);
}

static int64_t smallest_gap(const Uses *uses, const Placed *placed, const Storage *storage) {
    int64_t size = aligned(storage->bytes), end = 0, best = -1, best_gap = INT64_MAX;
    int list = list_for(uses->entries[storage->id]), count = placed->count[list];
    const Slot *slots = placed->slots[list];
    bool ordered = list != ALL && uses->lives[list].ordered;
    const Life *only = ordered ? &uses->lives[list].life[storage->id] : NULL;
    for (int i = 0; i < count; i++) {
        /* A slot that ends below `end` changes nothing: most lifetimes need no comparison. */
        if (slots[i].end <= end || !is_apart(uses, only, storage->id, &slots[i]))
            continue;
        int64_t gap = slots[i].begin - end;
        if (gap >= size && gap < best_gap) {
            best = end;
            best_gap = gap;
        }
        end = slots[i].end;
    }
    return best >= 0 ? best : end;
}

/* Index of the first slot that begins behind `begin`. */
static int first_behind(const Slot *slots, int count, int64_t begin) {
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (slots[middle].begin <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_by_offset(Placed *placed, int list, Slot slot) {
    int count = placed->count[list]++;
    int at = first_behind(placed->slots[list], count, slot.begin);
    Slot *place = &placed->slots[list][at];
    memmove(place + 1, place, (size_t)(count - at) * sizeof slot);
    *place = slot;
}

static void insert(Placed *placed, const Uses *uses, Slot slot) {
    insert_by_offset(placed, ALL, slot);
    for (unsigned left = uses->entries[slot.id]; left; left &= left - 1) {
        int e = __builtin_ctz(left);
        slot.first = uses->lives[e].life[slot.id].begin;
        slot.last = uses->lives[e].life[slot.id].end;
        insert_by_offset(placed, e, slot);
    }
}

static void place_scratch(Plan *plan, const Uses *uses, Arena *arena) {
    const Program *program = plan->program;
    Storage **sorted = arena_array(arena, (size_t)program->storage_count, sizeof *sorted);
    Placed placed = {.count = {0}};
    int count = 0;
    for (int i = 0; i < program->storage_count; i++)
        if (uses->used[i] && program->storages[i]->role == ROLE_ACTIVATION)
            sorted[count++] = program->storages[i];
    for (int list = 0; list < LISTS; list++)
        placed.slots[list] = arena_array(arena, (size_t)count, sizeof(Slot));
    qsort(sorted, (size_t)count, sizeof *sorted, larger_first);
    for (int i = 0; i < count; i++) {
        int id = sorted[i]->id;
        int64_t offset = smallest_gap(uses, &placed, sorted[i]);
        Slot slot = {.begin = offset, .end = offset + aligned(sorted[i]->bytes), .id = id};
        plan->place[id] = (Place){ARENA_SCRATCH, offset};
        if (slot.end > plan->arena_bytes[ARENA_SCRATCH])
            plan->arena_bytes[ARENA_SCRATCH] = slot.end;
        insert(&placed, uses, slot);
    }
}

static bool multiplies_beside(const Plan *plan) {
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            const Launch *launch = &plan->entry[e].launches[i];
            if (launch->kind == LAUNCH_GEMM && launch->stream == STREAM_SIDE)
                return true;
        }
    return false;
}

/* In bytes. NVIDIA recommends 32 MiB on Hopper and 4 MiB on other GPUs (cuBLAS documentation,
 * cublasSetWorkspace). LARGE_SCRATCH is chosen: of less scratch, 32 MiB would be a large part. */
enum { SMALL_WORKSPACE = 4 << 20, LARGE_WORKSPACE = 32 << 20, LARGE_SCRATCH = 1 << 30 };

/* cuBLASLt's workspace is live whenever a product runs, so it shares no bytes, and each stream has
 * its own. */
static void place_workspaces(Plan *plan) {
    if (plan->gemm_count == 0)
        return;
    int64_t *scratch = &plan->arena_bytes[ARENA_SCRATCH];
    plan->gemm_workspaces = multiplies_beside(plan) ? 2 : 1;
    plan->gemm_workspace_bytes = *scratch < LARGE_SCRATCH ? SMALL_WORKSPACE : LARGE_WORKSPACE;
    plan->gemm_workspace_offset = *scratch;
    *scratch += plan->gemm_workspaces * plan->gemm_workspace_bytes;
}

static void place_none(Plan *plan, const Uses *uses) {
    const Program *program = plan->program;
    plan->place = arena_array(program->arena, (size_t)program->storage_count, sizeof(Place));
    memset(plan->arena_bytes, 0, sizeof plan->arena_bytes);
    memset(plan->role_bytes, 0, sizeof plan->role_bytes);
    for (int i = 0; i < program->storage_count; i++) {
        plan->place[i].offset = -1;
        if (uses->used[i])
            plan->role_bytes[program->storages[i]->role] += program->storages[i]->bytes;
    }
}

void plan_lasting(Plan *plan) {
    Arena arena = {0};
    Uses uses = uses_of(plan, &arena);
    place_none(plan, &uses);
    place_lasting(plan, &uses, &arena);
    arena_free(&arena);
}

void plan_memory(Plan *plan) {
    Arena arena = {0};
    Uses uses = uses_of(plan, &arena);
    place_none(plan, &uses);
    place_lasting(plan, &uses, &arena);
    place_scratch(plan, &uses, &arena);
    place_workspaces(plan);
    arena_free(&arena);
}
