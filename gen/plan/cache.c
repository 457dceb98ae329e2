/* Which part of a launch's traffic stays in the L2 cache and never reaches device memory.
 *
 * The estimate is conservative. A launch finds data of an earlier launch in the cache if everything
 * that the two and the launches between them touch fits. Data that it writes does not reach memory
 * if it is overwritten equally soon. A step's launches are treated as a cycle, since the next step
 * follows; other entries begin with an empty cache and leave nothing in it. */
#include "plan/cache.h"

#include "base/rounding.h"

#include <stdlib.h>

/* Memory is tracked in pages of LEAST_PAGE bytes, the alignment of places, or in larger ones where
 * there would be more than MOST_PAGES. Each operand has all or none of the pages of a cell. */
enum { LEAST_PAGE = 256, MOST_PAGES = 1 << 20 };

typedef struct {
    const Value *value;
    bool read, written;
    int64_t begin, end; /* pages */
    int first, last;    /* cells; `last` is not one of them */
} Operand;

typedef struct {
    Launch *launch;
    const Operand *operands;
    int count;
} Visit;

/* What walks over the same launches share. */
typedef struct {
    Visit *visits;
    int count, operand_count;
    Operand *operands; /* of all visits */
    int64_t *cells;    /* by cell: its first page; behind the last one, where that ends */
    int cell_count;
    int64_t room; /* pages that the cache holds */
} Trace;

/* A walk over launches, with a window of the most recent launches that fit into the cache
 * together. */
typedef struct {
    const Trace *trace;
    int turns;    /* how often the walk repeats the launches */
    bool back;    /* from the last to the first, so that "earlier" means later in time */
    int *users;   /* by cell: how many operands in the window use it */
    int *touched; /* by cell: 1 + place in the walk of its last touch; 0: never */
    int oldest;   /* place of the first launch in the window */
    int64_t used; /* pages */
} Walk;

static const Visit *visit_at(const Walk *w, int place) {
    int at = place % w->trace->count;
    return &w->trace->visits[w->back ? w->trace->count - 1 - at : at];
}

static int64_t pages_of(const Walk *w, int cell) {
    return w->trace->cells[cell + 1] - w->trace->cells[cell];
}

static bool has_room(const Walk *w, const Visit *visit) {
    int64_t count = 0;
    for (int i = 0; i < visit->count; i++)
        count += visit->operands[i].end - visit->operands[i].begin;
    return count <= w->trace->room;
}

static void take(Walk *w, const Visit *visit) {
    for (int i = 0; i < visit->count; i++)
        for (int cell = visit->operands[i].first; cell < visit->operands[i].last; cell++)
            if (w->users[cell]++ == 0)
                w->used += pages_of(w, cell);
}

static void drop_oldest(Walk *w) {
    const Visit *visit = visit_at(w, w->oldest++);
    for (int i = 0; i < visit->count; i++)
        for (int cell = visit->operands[i].first; cell < visit->operands[i].last; cell++)
            if (--w->users[cell] == 0)
                w->used -= pages_of(w, cell);
}

/* The share of an operand that launches in the window have touched. */
static double share_there(const Walk *w, const Operand *of) {
    int64_t found = 0;
    for (int cell = of->first; cell < of->last; cell++)
        if (w->touched[cell] > w->oldest)
            found += pages_of(w, cell);
    return found ? (double)found / (double)(of->end - of->begin) : 0;
}

/* Walking forward: bytes it reads that were touched before. Walking back: bytes it writes that will
 * be written again. */
static double cached_bytes(const Walk *w, const Visit *visit) {
    double bytes = 0;
    for (int i = 0; i < visit->count; i++) {
        const Operand *of = &visit->operands[i];
        if (w->back ? of->written : of->read)
            bytes += (double)value_bytes(of->value) * share_there(w, of);
    }
    return bytes;
}

static void touch(Walk *w, int place) {
    const Visit *visit = visit_at(w, place);
    for (int i = 0; i < visit->count; i++) {
        const Operand *of = &visit->operands[i];
        for (int cell = of->first; cell < of->last && (of->written || !w->back); cell++)
            w->touched[cell] = place + 1;
    }
}

/* A launch that does not fit into the cache finds nothing and leaves nothing. */
static void step(Walk *w, int place) {
    const Visit *visit = visit_at(w, place);
    bool fits = has_room(w, visit);
    if (fits)
        take(w, visit);
    while (w->oldest < place && (!fits || w->used > w->trace->room))
        drop_oldest(w);
    if (!fits) {
        w->oldest = place + 1;
        return;
    }
    if (place >= w->trace->count * (w->turns - 1))
        visit->launch->cost.cached_bytes += cached_bytes(w, visit);
    touch(w, place);
}

static void walk(const Trace *trace, int turns, bool back, Arena *arena) {
    size_t cells = (size_t)trace->cell_count + 1;
    Walk w = {.trace = trace, .turns = turns, .back = back};
    w.users = arena_array(arena, cells, sizeof *w.users);
    w.touched = arena_array(arena, cells, sizeof *w.touched);
    for (int place = 0; place < trace->count * turns; place++)
        step(&w, place);
}

/* ---- what launches touch ----------------------------------------------------------------------- */

/* An arena's pages follow those of the arenas before it. */
typedef struct {
    int64_t bytes, first[ARENA_COUNT + 1]; /* the last one: where all end */
} Pages;

static Pages pages_for(const Plan *plan) {
    Pages pages = {.bytes = LEAST_PAGE};
    while (plan_total_bytes(plan) / pages.bytes > MOST_PAGES)
        pages.bytes *= 2;
    for (int a = 0; a < ARENA_COUNT; a++)
        pages.first[a + 1] = pages.first[a] + ceil_div(plan->arena_bytes[a], pages.bytes);
    return pages;
}

/* Whether the launch has the operand already. Only of a product is it known that it reads both at about
 * the same time. */
static bool is_read_again(const Launch *launch, int index) {
    Touched of = launch_touched(launch, index);
    for (int i = 0; i < index && launch->kind == LAUNCH_GEMM; i++) {
        Touched earlier = launch_touched(launch, i);
        if (of.read && earlier.read && earlier.value == of.value)
            return true;
    }
    return false;
}

static double bytes_read_again(const Launch *launch) {
    double bytes = 0;
    for (int i = 0; i < launch_touch_count(launch); i++)
        if (is_read_again(launch, i))
            bytes += (double)value_bytes(launch_touched(launch, i).value);
    return bytes;
}

/* Batches use changing slots, and each reads other rows of a data set: neither is found again, so
 * they count as no pages. */
static Operand operand_of(const Plan *plan, Pages pages, const Launch *launch, int index) {
    Touched of = launch_touched(launch, index);
    Operand operand = {.value = of.value, .read = of.read, .written = of.written};
    Place place = plan_place(plan, of.value);
    bool slots = place.arena == ARENA_INPUT || place.arena == ARENA_STASH;
    if (place.offset < 0 || slots || of.value->role == ROLE_DATASET || is_read_again(launch, index))
        return operand;
    ByteSpan span = value_span(of.value);
    int64_t first = pages.first[place.arena];
    operand.begin = first + place.offset / pages.bytes;
    operand.end = first + ceil_div(place.offset + span.end - span.first, pages.bytes);
    return operand;
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int cell_at(const Trace *trace, int64_t page) {
    const int64_t *cell = bsearch(&page, trace->cells, (size_t)trace->cell_count + 1,
                                  sizeof *trace->cells, ascending);
    return (int)(cell - trace->cells);
}

/* Bit `page` of a set. */
static void mark(uint64_t *set, int64_t page) { set[page / 64] |= UINT64_C(1) << page % 64; }

/* A cell begins wherever an operand begins or ends; all these lie in `pages`. */
static void find_cells(Trace *trace, int64_t pages, Arena *arena) {
    int64_t words = pages / 64 + 1;
    uint64_t *borders = arena_array(arena, (size_t)words, sizeof *borders);
    trace->cells = arena_array(arena, 2 * (size_t)trace->operand_count + 1, sizeof *trace->cells);
    for (int i = 0; i < trace->operand_count; i++) {
        mark(borders, trace->operands[i].begin);
        mark(borders, trace->operands[i].end);
    }
    int count = 0;
    for (int64_t w = 0; w < words; w++)
        for (uint64_t left = borders[w]; left; left &= left - 1)
            trace->cells[count++] = 64 * w + __builtin_ctzll(left);
    trace->cell_count = count ? count - 1 : 0;
    for (int i = 0; i < trace->operand_count; i++) {
        trace->operands[i].first = cell_at(trace, trace->operands[i].begin);
        trace->operands[i].last = cell_at(trace, trace->operands[i].end);
    }
}

static Trace trace_of(const Plan *plan, Launch *const *launches, int count, Arena *arena) {
    Pages pages = pages_for(plan);
    Trace trace = {.count = count, .room = plan->device->l2_kept_bytes / pages.bytes};
    trace.visits = arena_array(arena, (size_t)count, sizeof *trace.visits);
    int capacity = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < launch_touch_count(launches[i]); k++) {
            trace.operands = arena_grow(arena, trace.operands, trace.operand_count, &capacity,
                                        sizeof *trace.operands);
            trace.operands[trace.operand_count++] = operand_of(plan, pages, launches[i], k);
        }
    const Operand *next = trace.operands;
    for (int i = 0; i < count; i++) {
        trace.visits[i] = (Visit){launches[i], next, launch_touch_count(launches[i])};
        next += trace.visits[i].count;
    }
    find_cells(&trace, pages.first[ARENA_COUNT], arena);
    return trace;
}

/* ---- entries ----------------------------------------------------------------------------------- */

/* Appends the entry's launches to `launches`; returns the new count. */
static int append(PlanEntry *entry, Launch **launches, int count) {
    for (int i = 0; i < entry->launch_count; i++) {
        launches[count++] = &entry->launches[i];
        entry->launches[i].cost.cached_bytes = bytes_read_again(&entry->launches[i]);
    }
    return count;
}

static void walk_both_ways(const Plan *plan, Launch *const *launches, int count, int turns) {
    Arena arena = {0};
    Trace trace = trace_of(plan, launches, count, &arena);
    walk(&trace, turns, false, &arena);
    walk(&trace, turns, true, &arena);
    arena_free(&arena);
}

void find_cached(Plan *plan) {
    const Program *p = plan->program;
    bool goes_round = p->micro_steps == 1 && p->cards == 1 && p->stage.count <= 1;
    Arena scratch = {0};
    int all = 0, of_step = 0;
    for (int e = 0; e < ENTRY_COUNT; e++)
        all += plan->entry[e].launch_count;
    Launch **step = arena_array(&scratch, (size_t)all + 1, sizeof *step),
           **alone = arena_array(&scratch, (size_t)all + 1, sizeof *alone);
    for (int e = 0; e < ENTRY_COUNT; e++) {
        if (goes_round && entry_info((Entry)e)->runs != RUNS_ASIDE)
            of_step = append(&plan->entry[e], step, of_step);
        else
            walk_both_ways(plan, alone, append(&plan->entry[e], alone, 0), 1);
    }
    walk_both_ways(plan, step, of_step, 2);
    arena_free(&scratch);
}
