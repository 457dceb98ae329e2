/* Proves that a plan is correct, from the graphs, the launches and the offsets only.
 *
 *   layout   every storage that a launch touches lies inside its arena, and storages that outlive
 *            an entry share no byte with any other; whatever all cards of the process use lies in
 *            the part of STATE that all of them have
 *   inputs   the entries that a process runs around its cards' micro-steps read no batch, since
 *            they are captured once for all slots
 *   grids    CUDA can launch every kernel: its grid, the threads of a block and their shared memory
 *   order    if an op depends on another (it reads what that op writes, or overwrites what that op
 *            reads or writes), its launch begins after the other's has ended
 *   bytes    the launches of an entry are replayed over the bytes of SCRATCH: each byte records its
 *            owner and the last launch that touched it on each stream. A read must find its own
 *            storage's bytes; a storage that takes over bytes must come after all accesses of their
 *            former owner
 *
 * An entry ends when all of its launches have. If some of them run only in a step's last run, all
 * of this must hold both with and without them.
 *
 * A joined launch uses what each of the launches joined into it uses, and their operands must lie
 * at its strides.
 *
 * "After" means by stream order and events, so the proof for one order of the launches covers all
 * orders that can occur. It shares no code with what made the plan. */
#include "plan/plan_steps.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const Plan *plan;
    const Graph *graph;
    const PlanEntry *entry;
    bool ends_step; /* which kind of run is checked */
    Arena *arena;
    uint64_t *before; /* [launch][words]: bit i: launch i has ended when this one begins */
    size_t words;
    const char *fault;
} Check;

#define FAULT(c, ...) \
    (c)->fault = (c)->fault ? (c)->fault : arena_printf((c)->plan->program->arena, __VA_ARGS__)

static bool runs(const Check *c, int launch) {
    return c->ends_step || !c->entry->launches[launch].ends_step;
}

/* A wait for a launch is for everything that its stream has been given up to it. Returns the last
 * of these launches that runs, or -1. */
static int awaited(const Check *c, int launch) {
    int stream = c->entry->launches[launch].stream;
    while (launch >= 0 && (!runs(c, launch) || c->entry->launches[launch].stream != stream))
        launch--;
    return launch;
}

/* ---- after ----------------------------------------------------------------------------------- */

static bool is_before(const Check *c, int a, int b) {
    return c->before[(size_t)b * c->words + (size_t)a / 64] >> (a % 64) & 1;
}

static void add_before(Check *c, int a, int b) {
    uint64_t *of_b = &c->before[(size_t)b * c->words], *of_a = &c->before[(size_t)a * c->words];
    for (size_t w = 0; w < c->words; w++)
        of_b[w] |= of_a[w];
    of_b[a / 64] |= UINT64_C(1) << (a % 64);
}

static void find_before(Check *c) {
    int count = c->entry->launch_count;
    c->words = (size_t)count / 64 + 1;
    c->before = arena_array(c->arena, (size_t)count, c->words * sizeof *c->before);
    for (int b = 0; b < count && !c->fault; b++) {
        const Launch *launch = &c->entry->launches[b];
        for (int a = b - 1; a >= 0; a--)
            if (c->entry->launches[a].stream == launch->stream && runs(c, a)) {
                add_before(c, a, b);
                break;
            }
        for (int w = 0; w < launch->wait_count; w++) {
            if (launch->wait[w] < 0 || launch->wait[w] >= b)
                FAULT(c, "%s: launch %d waits for a later one", c->entry->name, b);
            else if (awaited(c, launch->wait[w]) >= 0)
                add_before(c, awaited(c, launch->wait[w]), b);
        }
    }
}

/* Whether a launch begins after everything that precedes the entry, as the compute stream does. */
static bool has_begun(const Check *c, int launch) {
    bool begun = false;
    for (int i = 0; i <= launch && !begun; i++)
        if (runs(c, i) && (i == launch || is_before(c, i, launch)))
            begun = c->entry->launches[i].stream == STREAM_COMPUTE || c->entry->launches[i].forks;
    return begun;
}

static void check_begin(Check *c) {
    for (int i = 0; i < c->entry->launch_count; i++)
        if (c->entry->launches[i].stream != STREAM_COMPUTE && runs(c, i) && !has_begun(c, i))
            FAULT(c, "%s: launch %d may run before it begins", c->entry->name, i);
}

/* Whatever follows the entry waits only for the compute stream. */
static void check_end(Check *c) {
    const PlanEntry *entry = c->entry;
    for (int i = 0; i < entry->launch_count; i++) {
        bool ended = entry->launches[i].stream == STREAM_COMPUTE || !runs(c, i);
        for (int w = 0; w < entry->wait_count && !ended; w++) {
            int last = awaited(c, entry->wait[w]);
            ended = last >= 0 && (i == last || is_before(c, i, last));
        }
        if (!ended)
            FAULT(c, "%s: launch %d may still run at its end", entry->name, i);
    }
}

/* ---- layout ---------------------------------------------------------------------------------- */

typedef struct {
    int64_t begin, end;
    const char *name;
} Extent;

static int by_begin(const void *a, const void *b) {
    const Extent *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : 0;
}

static void check_disjoint(Check *c, ArenaKind kind) {
    const Program *program = c->plan->program;
    Extent *extents = arena_array(c->arena, (size_t)program->storage_count + 1, sizeof *extents);
    int count = 0;
    for (int i = 0; i < program->storage_count; i++) {
        Place place = c->plan->place[i];
        const Storage *s = program->storages[i];
        if (place.offset >= 0 && place.arena == kind)
            extents[count++] = (Extent){place.offset, place.offset + s->bytes, s->name};
    }
    qsort(extents, (size_t)count, sizeof *extents, by_begin);
    for (int i = 1; i < count; i++)
        if (extents[i].begin < extents[i - 1].end)
            FAULT(c, "%s and %s share bytes that outlive an entry", extents[i - 1].name,
                  extents[i].name);
}

static ArenaKind arena_of(Role role) {
    if (role == ROLE_INPUT)
        return ARENA_INPUT;
    if (role == ROLE_STASH)
        return ARENA_STASH;
    return role_persistent(role) ? ARENA_STATE : ARENA_SCRATCH;
}

static void check_layout(Check *c) {
    const Plan *plan = c->plan;
    for (int i = 0; i < plan->program->storage_count; i++) {
        const Storage *s = plan->program->storages[i];
        Place place = plan->place[i];
        if (place.offset < 0)
            continue;
        if (place.offset % PLACE_ALIGNMENT != 0)
            FAULT(c, "%s is not aligned to %d bytes", s->name, PLACE_ALIGNMENT);
        if (place.offset + s->bytes > plan->arena_bytes[place.arena])
            FAULT(c, "%s ends outside its arena", s->name);
        if (place.arena != arena_of(s->role))
            FAULT(c, "%s lies in the wrong arena", s->name);
    }
    if (plan->gemm_workspace_offset + plan->gemm_workspaces * plan->gemm_workspace_bytes >
        plan->arena_bytes[ARENA_SCRATCH])
        FAULT(c, "the workspace of the matrix products ends outside its arena");
    if (plan->arena_bytes[ARENA_INPUT] % PLACE_ALIGNMENT ||
        plan->arena_bytes[ARENA_STASH] % PLACE_ALIGNMENT)
        FAULT(c, "a slot does not begin at a multiple of %d bytes", PLACE_ALIGNMENT);
    check_disjoint(c, ARENA_STATE);
    check_disjoint(c, ARENA_INPUT);
    check_disjoint(c, ARENA_STASH);
}

/* ---- order ----------------------------------------------------------------------------------- */

typedef struct {
    int op;
    const Value *value;
    bool write;
} Access;

enum { NOT_FOUND = -1, LEFT_OUT = -2 };

/* First and last launch that carry out an op; each of them waits for the one before it. */
typedef struct {
    int first, last;
} Span;

static void extend(Check *c, Span *span, int launch, const Op *op) {
    if (!runs(c, launch))
        span->first = LEFT_OUT;
    else if (span->first == NOT_FOUND)
        span->first = launch;
    else if (span->first >= 0 && span->last != launch && !is_before(c, span->last, launch))
        FAULT(c, "%s: launch %d goes on with %s before launch %d has ended", c->entry->name, launch,
              op->name, span->last);
    span->last = launch;
}

static Span *spans_of(Check *c) {
    Span *spans = arena_array(c->arena, (size_t)c->graph->op_count, sizeof *spans);
    for (int i = 0; i < c->graph->op_count; i++)
        spans[i] = (Span){NOT_FOUND, NOT_FOUND};
    for (int l = 0; l < c->entry->launch_count; l++)
        for (int k = 0; k < c->entry->launches[l].op_count; k++) {
            const Op *op = c->entry->launches[l].ops[k];
            if (op->id < 0 || op->id >= c->graph->op_count || c->graph->ops[op->id] != op) {
                FAULT(c, "%s: launch %d carries out %s, which is no op of this graph",
                      c->entry->name, l, op->name);
                continue;
            }
            extend(c, &spans[op->id], l, op);
        }
    for (int i = 0; i < c->graph->op_count; i++)
        if (spans[i].first == NOT_FOUND)
            FAULT(c, "%s: no launch carries out %s", c->entry->name, c->graph->ops[i]->name);
    return spans;
}

static bool in_order(const Check *c, Span a, Span b) {
    bool together = a.first <= b.last && b.first <= a.last;
    return is_before(c, a.last, b.first) || (together && a.first <= b.first);
}

static bool touches(const Launch *launch, const Access *access, const Op *op) {
    bool carries = false, has = false;
    for (int i = 0; i < launch->op_count; i++)
        carries |= launch->ops[i] == op;
    for (int i = 0; i < launch_touch_count(launch); i++)
        has |= value_overlaps(launch_touched(launch, i).value, access->value);
    return carries && has;
}

/* Narrows an op's span to the launches that touch the value. If none does, the value never leaves a
 * kernel, and the span is that of the op. */
static Span span_of(const Check *c, const Span *spans, const Access *access) {
    const Op *op = c->graph->ops[access->op];
    Span all = spans[access->op], found = {NOT_FOUND, NOT_FOUND};
    for (int l = all.first; l >= 0 && l <= all.last; l++) {
        if (!touches(&c->entry->launches[l], access, op))
            continue;
        found = (Span){found.first < 0 ? l : found.first, l};
    }
    return found.first < 0 ? all : found;
}

/* Returns the accesses of one storage after those of another, each in the order of the graph. */
static Access *by_storage(const Check *c, const Access *accesses, int count) {
    size_t storages = (size_t)c->plan->program->storage_count;
    int *next = arena_array(c->arena, storages + 1, sizeof *next); /* by storage: its next place */
    Access *sorted = arena_array(c->arena, (size_t)count, sizeof *sorted);
    for (int i = 0; i < count; i++)
        next[accesses[i].value->storage->id + 1]++;
    for (size_t s = 0; s < storages; s++)
        next[s + 1] += next[s];
    for (int i = 0; i < count; i++)
        sorted[next[accesses[i].value->storage->id]++] = accesses[i];
    return sorted;
}

/* Checks all accesses of one storage, which are in the order of the graph. */
static void check_pairs(Check *c, const Span *spans, const Access *accesses, int count) {
    for (int j = 0; j < count; j++)
        for (int i = 0; i < j && !c->fault; i++) {
            const Access *a = &accesses[i], *b = &accesses[j];
            if ((!a->write && !b->write) || a->op == b->op)
                continue;
            if (!value_overlaps(a->value, b->value))
                continue;
            if (!in_order(c, spans[a->op], spans[b->op]) &&
                !in_order(c, span_of(c, spans, a), span_of(c, spans, b)))
                FAULT(c, "%s: %s must come after %s, for %s", c->entry->name,
                      c->graph->ops[b->op]->name, c->graph->ops[a->op]->name, b->value->name);
        }
}

static void check_order(Check *c) {
    const Span *spans = spans_of(c);
    if (c->fault)
        return;
    size_t room = 0;
    int count = 0;
    for (int i = 0; i < c->graph->op_count; i++)
        room += (size_t)c->graph->ops[i]->in_count + (size_t)c->graph->ops[i]->out_count;
    Access *accesses = arena_array(c->arena, room + 1, sizeof *accesses);
    for (int i = 0; i < c->graph->op_count; i++) {
        const Op *op = c->graph->ops[i];
        if (spans[i].first == LEFT_OUT)
            continue;
        for (int k = 0; k < op->in_count; k++)
            accesses[count++] = (Access){i, op->in[k], false};
        for (int k = 0; k < op->out_count; k++)
            accesses[count++] = (Access){i, op->out[k], true};
    }
    accesses = count ? by_storage(c, accesses, count) : NULL;
    for (int begin = 0, end; begin < count; begin = end) {
        bool written = false;
        for (end = begin; end < count; end++) {
            if (accesses[end].value->storage != accesses[begin].value->storage)
                break;
            written |= accesses[end].write;
        }
        if (written)
            check_pairs(c, spans, accesses + begin, end - begin);
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* The owner of a stream's workspace is WORKSPACE - stream. */
enum { NOBODY = -1, WORKSPACE = -2 };

/* Neighbouring bytes with the same history. A piece ends where the next one begins. */
typedef struct {
    int64_t begin;
    int owner;             /* storage id */
    int last[MAX_STREAMS]; /* by stream: last launch that touched it; -1: none */
} Piece;

typedef struct {
    Piece *pieces;
    int count, capacity;
} Bytes;

static Piece untouched(int64_t begin) {
    Piece piece = {.begin = begin, .owner = NOBODY};
    for (int s = 0; s < MAX_STREAMS; s++)
        piece.last[s] = -1;
    return piece;
}

/* Index of the piece that begins at `at`; splits a piece if necessary. */
static int cut(Check *c, Bytes *bytes, int64_t at) {
    int low = 0, high = bytes->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (bytes->pieces[middle].begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < bytes->count && bytes->pieces[low].begin == at)
        return low;
    bytes->pieces =
        arena_grow(c->arena, bytes->pieces, bytes->count, &bytes->capacity, sizeof(Piece));
    memmove(&bytes->pieces[low + 1], &bytes->pieces[low],
            (size_t)(bytes->count - low) * sizeof(Piece));
    bytes->pieces[low] = bytes->pieces[low - 1];
    bytes->pieces[low].begin = at;
    bytes->count++;
    return low;
}

static const char *owner_name(const Check *c, int owner) {
    if (owner == NOBODY)
        return "nobody";
    return owner <= WORKSPACE ? "the workspace" : c->plan->program->storages[owner]->name;
}

static void take_over(Check *c, const Piece *piece, int owner, int launch) {
    for (int s = 0; s < MAX_STREAMS; s++)
        if (piece->last[s] >= 0 && !is_before(c, piece->last[s], launch))
            FAULT(c,
                  "%s: launch %d takes the bytes of %s for %s while launch %d may still use them",
                  c->entry->name, launch, owner_name(c, piece->owner), owner_name(c, owner),
                  piece->last[s]);
}

static void touch(Check *c, Bytes *bytes, int64_t begin, int64_t end, int owner, int launch,
                  bool write) {
    int first = cut(c, bytes, begin), last = cut(c, bytes, end);
    for (int i = first; i < last; i++) {
        Piece *piece = &bytes->pieces[i];
        if (piece->owner != owner && !write) {
            FAULT(c, "%s: launch %d reads %s where the bytes are those of %s", c->entry->name,
                  launch, owner_name(c, owner), owner_name(c, piece->owner));
        } else if (piece->owner != owner) {
            take_over(c, piece, owner, launch);
            *piece = untouched(piece->begin);
            piece->owner = owner;
        }
        piece->last[c->entry->launches[launch].stream] = launch;
    }
}

/* Whether the entry runs on cards other than the first. */
static bool is_everywhere(const Check *c) {
    return c->graph == &c->plan->program->entry[ENTRY_REPLICATE] ||
           c->graph == &c->plan->program->entry[ENTRY_MICRO_STEP];
}

/* A value may be written in several ranges of rows and read as a whole, gaps between rows included.
 * So a write also claims the gap after its last row, which belongs to the same storage. */
static int64_t with_last_row(const Value *v, int64_t span) {
    int64_t size = dtype_bytes(v->dtype), left = v->storage->bytes - v->offset * size;
    int64_t rows = value_rows(v) * v->row_stride * size;
    return rows < span ? span : rows < left ? rows : left;
}

static void touch_value(Check *c, Bytes *bytes, const Value *v, int launch, bool write) {
    Place place = plan_place(c->plan, v);
    int64_t size = dtype_bytes(v->dtype);
    int64_t span = ((value_rows(v) - 1) * v->row_stride + value_cols(v)) * size;
    if (place.offset < 0)
        FAULT(c, "%s: launch %d uses %s, which has no place", c->entry->name, launch, v->name);
    else if (v->offset < 0 || v->offset * size + span > v->storage->bytes)
        FAULT(c, "%s: launch %d uses %s outside its storage", c->entry->name, launch, v->name);
    else if (place.arena == ARENA_STATE && is_everywhere(c) &&
             place.offset + span > c->plan->replica_bytes)
        FAULT(c, "%s: launch %d uses %s, which the first card alone has", c->entry->name, launch,
              v->name);
    else if (place.arena == ARENA_SCRATCH)
        touch(c, bytes, place.offset, place.offset + (write ? with_last_row(v, span) : span),
              v->storage->id, launch, write);
}

/* A result may share bytes with an operand only if both are the same place, and never in a matrix
 * product. */
static void check_args(Check *c, int index) {
    const Launch *launch = &c->entry->launches[index];
    for (int i = 0; i < launch_touch_count(launch); i++) {
        Touched to = launch_touched(launch, i);
        for (int k = 0; to.written && k < launch_touch_count(launch); k++) {
            const Value *a = to.value, *b = launch_touched(launch, k).value;
            bool same_slice = i / launch->arg_count == k / launch->arg_count;
            if (i == k || !value_overlaps(a, b))
                continue;
            if (launch->kind == LAUNCH_GEMM || !same_slice || !value_same_place(a, b))
                FAULT(c, "%s: launch %d writes %s over its own %s", c->entry->name, index, a->name,
                      b->name);
        }
    }
}

static int64_t byte_of(const Check *c, const Value *v) { return plan_place(c->plan, v).offset; }

/* Each slice's operands must lie where the kernel looks for them. */
static void check_slices(Check *c, int index) {
    const Launch *launch = &c->entry->launches[index];
    for (int s = 1; s <= launch->joined_count; s++)
        for (int a = 0; a < launch->arg_count; a++) {
            const Value *v = launch->joined[s - 1].arg[a];
            int64_t stride = launch->scalar[a] * dtype_bytes(v->dtype);
            if (plan_place(c->plan, v).arena != plan_place(c->plan, launch->arg[a]).arena ||
                byte_of(c, v) != byte_of(c, launch->arg[a]) + s * stride)
                FAULT(c, "%s: launch %d does not find %s", c->entry->name, index, v->name);
        }
}

/* Products on different streams must not share a workspace. */
static void touch_workspace(Check *c, Bytes *bytes, int launch) {
    int stream = c->entry->launches[launch].stream;
    int64_t begin = plan_gemm_workspace(c->plan, stream);
    touch(c, bytes, begin, begin + c->plan->gemm_workspace_bytes, WORKSPACE - stream, launch, true);
}

static void check_bytes(Check *c) {
    const Plan *plan = c->plan;
    Bytes bytes = {arena_array(c->arena, 64, sizeof(Piece)), 2, 64};
    bytes.pieces[0] = untouched(0);
    bytes.pieces[1] = untouched(plan->arena_bytes[ARENA_SCRATCH]);
    for (int i = 0; i < c->entry->launch_count && !c->fault; i++) {
        const Launch *launch = &c->entry->launches[i];
        if (!runs(c, i))
            continue;
        check_args(c, i);
        check_slices(c, i);
        for (int write = 0; write <= 1; write++)
            for (int a = 0; a < launch_touch_count(launch) && !c->fault; a++) {
                Touched of = launch_touched(launch, a);
                if (write ? of.written : of.read)
                    touch_value(c, &bytes, of.value, i, write);
            }
        if (launch->observed && !c->fault)
            touch_value(c, &bytes, launch->observed, i, false);
        if (launch->kind == LAUNCH_GEMM && !c->fault)
            touch_workspace(c, &bytes, i);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void check_run(Check *c, bool ends_step) {
    c->ends_step = ends_step;
    find_before(c);
    if (!c->fault)
        check_begin(c);
    if (!c->fault)
        check_end(c);
    if (!c->fault)
        check_order(c);
    if (!c->fault)
        check_bytes(c);
}

/* CUDA's limits. The simulated device knows them too, but sees only what runs. The shared memory that a
 * kernel declares itself is the compiler's to check. */
static void check_grids(Check *c) {
    enum { MOST_THREADS = 1024, MOST_SHARED = 227 << 10 };
    static const int64_t most[] = {MOST_GRID_X, MOST_GRID_YZ, MOST_GRID_YZ};
    for (int i = 0; i < c->entry->launch_count; i++) {
        const Launch *launch = &c->entry->launches[i];
        if (launch->kind != LAUNCH_KERNEL)
            continue;
        const Kernel *k = &c->plan->kernels[launch->index];
        if (k->threads < 1 || k->threads > MOST_THREADS || k->shared_bytes > MOST_SHARED)
            FAULT(c, "%s has %d threads and %lld bytes of shared memory", k->name, k->threads,
                  (long long)k->shared_bytes);
        for (int d = 0; d < 3; d++)
            if (launch->grid[d] < 1 || launch->grid[d] > most[d])
                FAULT(c, "%s: launch %d of %s has %lld blocks along axis %d of its grid",
                      c->entry->name, i, k->name, (long long)launch->grid[d], d);
    }
}

static bool is_always_whole(const PlanEntry *entry) {
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].ends_step)
            return false;
    return true;
}

static void check_inputs(Check *c, Entry entry) {
    bool between = entry == ENTRY_REPLICATE || entry == ENTRY_COLLECT || entry == ENTRY_UPDATE;
    for (int i = 0; i < c->entry->launch_count && between && c->plan->program->cards > 1; i++)
        for (int k = 0; k < launch_touch_count(&c->entry->launches[i]); k++) {
            const Value *v = launch_touched(&c->entry->launches[i], k).value;
            if (v->role == ROLE_INPUT)
                FAULT(c, "%s: launch %d reads %s, a batch", c->entry->name, i, v->name);
        }
}

const char *plan_find_fault(const Plan *plan) {
    Arena arena = {0};
    Check c = {.plan = plan, .arena = &arena};
    check_layout(&c);
    for (int e = 0; e < ENTRY_COUNT && !c.fault; e++) {
        c.graph = &plan->program->entry[e];
        c.entry = &plan->entry[e];
        check_inputs(&c, (Entry)e);
        check_grids(&c);
        if (!c.fault)
            check_run(&c, true);
        if (!c.fault && !is_always_whole(c.entry))
            check_run(&c, false);
    }
    arena_free(&arena);
    return c.fault;
}

void plan_check(const Plan *plan) {
    const char *fault = plan_find_fault(plan);
    ENSURE(!fault, "the plan is wrong: %s", fault);
}
