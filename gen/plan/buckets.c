/* Joins collectives over neighbouring bytes into buckets.
 *
 * A bucket begins once all of its bytes are ready, so small buckets begin early; but each pays a
 * latency, so large ones end early. Pieces are taken in the order of their bytes, and a bucket ends
 * with the piece that makes it as large as requested. */
#include "plan/collectives.h"
#include "plan/streams.h"

#include <math.h>

/* A collective that may be joined with its neighbours, and when it can begin. */
typedef struct {
    Launch launch;
    double ready_ms; /* when all that precedes it on the compute stream has ended */
    int after;       /* number of launches that precede it, not counting pieces */
} Piece;

typedef struct {
    Plan *plan;
    Piece *pieces; /* in the order of their bytes */
    int count;
    double end_ms; /* when all other launches have ended */
} Pieces;

static bool is_piece(const Plan *plan, const PlanEntry *entry, int index) {
    const Launch *launch = &entry->launches[index];
    if (launch->kind != LAUNCH_COLLECTIVE || launch->op_count != 1 ||
        plan->collectives[launch->index].kind != COLLECTIVE_ALL_REDUCE)
        return false;
    for (int i = index + 1; i < entry->launch_count; i++)
        for (int a = 0; a < launch_touch_count(&entry->launches[i]); a++)
            if (value_overlaps(launch_touched(&entry->launches[i], a).value, launch->arg[0]))
                return false;
    return true;
}

static bool lies_behind(const Plan *plan, const Launch *a, const Launch *b) {
    const Value *x = a->arg[0], *y = b->arg[0];
    return plan->collectives[a->index].group == plan->collectives[b->index].group &&
           x->storage == y->storage && x->dtype == y->dtype && a->ends_step == b->ends_step &&
           x->offset + value_elements(x) == y->offset;
}

/* Keeps the pieces of a storage in the order of their offsets. */
static void insert_piece(Pieces *p, Piece piece) {
    int at = p->count++;
    for (; at > 0; at--) {
        const Value *before = p->pieces[at - 1].launch.arg[0], *v = piece.launch.arg[0];
        if (before->storage != v->storage || before->offset < v->offset)
            break;
        p->pieces[at] = p->pieces[at - 1];
    }
    p->pieces[at] = piece;
}

/* Takes the pieces out of the entry. */
static Pieces take_pieces(Plan *plan, PlanEntry *entry, Arena *arena) {
    Pieces p = {plan, arena_array(arena, (size_t)entry->launch_count + 1, sizeof(Piece)), 0, 0};
    bool *taken = arena_array(arena, (size_t)entry->launch_count + 1, sizeof *taken);
    int kept = 0;
    for (int i = 0; i < entry->launch_count; i++)
        taken[i] = is_piece(plan, entry, i);
    for (int i = 0; i < entry->launch_count; i++) {
        if (taken[i]) {
            insert_piece(&p, (Piece){entry->launches[i], p.end_ms, kept});
            continue;
        }
        p.end_ms += entry->launches[i].cost.ms;
        entry->launches[kept++] = entry->launches[i];
    }
    entry->launch_count = kept;
    return p;
}

/* ---- how large ------------------------------------------------------------------------------- */

static double piece_bytes(const Piece *piece) { return (double)value_bytes(piece->launch.arg[0]); }

static Party piece_party(const Pieces *p, int index) {
    const Collective *c = &p->plan->collectives[p->pieces[index].launch.index];
    return collective_party(p->plan, c);
}

/* How many pieces, from `first` on, form one bucket of `size` bytes. */
static int bucket_pieces(const Pieces *p, int first, double size) {
    double bytes = piece_bytes(&p->pieces[first]);
    int count = 1;
    while (first + count < p->count && bytes < size &&
           lies_behind(p->plan, &p->pieces[first + count - 1].launch,
                       &p->pieces[first + count].launch))
        bytes += piece_bytes(&p->pieces[first + count++]);
    return count;
}

/* The time from the end of all other launches to the end of the last bucket, plus one launch
 * overhead per bucket. */
static double cost_of_size(const Pieces *p, double size) {
    const Device *device = p->plan->device;
    double end = 0, cost = 0;
    for (int first = 0, count; first < p->count; first += count) {
        double bytes = 0, ready = 0;
        count = bucket_pieces(p, first, size);
        for (int i = first; i < first + count; i++) {
            bytes += piece_bytes(&p->pieces[i]);
            ready = fmax(ready, p->pieces[i].ready_ms);
        }
        end = fmax(end, ready) + device_all_reduce_ms(device, piece_party(p, first), bytes);
        cost += device->kernel_gap_ms;
    }
    return cost + fmax(end - p->end_ms, 0);
}

/* In bytes: 1 MiB, the smallest all_reduce of which device files have a measured time. */
static const double LEAST_BUCKET = 1048576;

/* Tries sizes from LEAST_BUCKET on, doubling until everything is one bucket. */
static double best_size(const Pieces *p) {
    double all = 0, best = 0, least = INFINITY;
    for (int i = 0; i < p->count; i++)
        all += piece_bytes(&p->pieces[i]);
    for (double size = LEAST_BUCKET, before = 0; before < all; before = size, size *= 2) {
        double cost = cost_of_size(p, size);
        if (cost > least)
            continue;
        least = cost;
        best = size;
    }
    return best;
}

/* ---- the buckets ----------------------------------------------------------------------------- */

static const Value *whole_of(const Pieces *p, int first, int count, int number) {
    Arena *arena = p->plan->program->arena;
    const Value *from = p->pieces[first].launch.arg[0];
    const Value *to = p->pieces[first + count - 1].launch.arg[0];
    Value *whole = arena_alloc(arena, sizeof *whole);
    *whole = *from;
    whole->name = arena_printf(arena, "%s.bucket.%d", from->storage->name, number);
    whole->rank = 1;
    whole->dim[0] = whole->row_stride = to->offset + value_elements(to) - from->offset;
    return whole;
}

static Piece bucket_of(const Pieces *p, int first, int count, int number) {
    Piece bucket = p->pieces[first];
    const Op **ops = arena_array(p->plan->program->arena, (size_t)count, sizeof *ops);
    for (int i = 0; i < count; i++) {
        const Piece *piece = &p->pieces[first + i];
        ops[i] = piece->launch.ops[0];
        bucket.after = piece->after > bucket.after ? piece->after : bucket.after;
    }
    Collective whole = p->plan->collectives[bucket.launch.index];
    bucket.launch.arg[0] = whole_of(p, first, count, number);
    whole.count = value_elements(bucket.launch.arg[0]);
    bucket.launch.index = plan_collective(p->plan, whole);
    bucket.launch.ops = ops;
    bucket.launch.op_count = count;
    return bucket;
}

/* Stores the buckets in the order in which they can begin; returns how many there are. */
static int make_buckets(const Pieces *p, double size, Piece *buckets) {
    int made = 0;
    for (int first = 0, count; first < p->count; first += count) {
        count = bucket_pieces(p, first, size);
        Piece bucket = bucket_of(p, first, count, made);
        int at = made++;
        for (; at > 0 && buckets[at - 1].after > bucket.after; at--)
            buckets[at] = buckets[at - 1];
        buckets[at] = bucket;
    }
    return made;
}

/* Inserts each bucket after the launches that precede it. */
static void put_buckets(PlanEntry *entry, const Piece *buckets, int count) {
    int from = entry->launch_count - 1, to = entry->launch_count += count;
    for (int left = count; left > 0;)
        entry->launches[--to] =
            from >= buckets[left - 1].after ? entry->launches[from--] : buckets[--left].launch;
}

void join_buckets(Plan *plan, PlanEntry *entry) {
    Arena arena = {0};
    Pieces p = take_pieces(plan, entry, &arena);
    Piece *buckets = arena_array(&arena, (size_t)p.count + 1, sizeof *buckets);
    double mib = plan->spec->parallelism.bucket_size_mb;
    double size = p.count > 0 && mib == 0 ? best_size(&p) : 1048576 * mib;
    put_buckets(entry, buckets, make_buckets(&p, size, buckets));
    arena_free(&arena);
}
