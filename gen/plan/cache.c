/* Which part of a launch's traffic stays in the L2 cache and never reaches device memory.
 *
 * The estimate is conservative. A launch finds data of an earlier launch in the cache if everything
 * that the two and the launches between them touch fits. Data that it writes does not reach memory
 * if it is overwritten equally soon. A step's launches are treated as a cycle, since the next step
 * follows; other entries begin with an empty cache and leave nothing in it. */
#include "plan/cache.h"

#include "base/rounding.h"

/* Memory is tracked in pages of LEAST_PAGE bytes, the alignment of places, or in larger ones where
 * there would be more than MOST_PAGES. */
enum { LEAST_PAGE = 256, MOST_PAGES = 1 << 20 };

typedef struct {
    int64_t first, end;
} Pages;

/* A walk over launches, with a window of the most recent launches that fit into the cache
 * together. */
typedef struct {
    const Plan *plan;
    Launch *const *launches;
    int count, turns; /* launches; how often the walk repeats them */
    bool back;        /* from the last to the first, so that "earlier" means later in time */
    int64_t page_bytes;
    int64_t base[ARENA_COUNT]; /* an arena's first page */
    int *users;                /* by page: how many operands in the window use it */
    int *touched;       /* by page: 1 + place in the walk of its last touch; 0: never */
    int oldest;         /* place of the first launch in the window */
    int64_t used, room; /* pages */
} Walk;

static Launch *launch_at(const Walk *w, int place) {
    int at = place % w->count;
    return w->launches[w->back ? w->count - 1 - at : at];
}

/* Batches use changing slots, and each reads other rows of a data set: neither is found again, so
 * they count as no pages. */
static Pages pages_of(const Walk *w, const Value *v) {
    Place place = plan_place(w->plan, v);
    bool slots = place.arena == ARENA_INPUT || place.arena == ARENA_STASH;
    if (place.offset < 0 || slots || v->role == ROLE_DATASET)
        return (Pages){0, 0};
    ByteSpan span = value_span(v);
    int64_t first = place.offset / w->page_bytes, base = w->base[place.arena];
    int64_t end = ceil_div(place.offset + span.end - span.first, w->page_bytes);
    return (Pages){base + first, base + end};
}

static bool has_room(const Walk *w, const Launch *launch) {
    int64_t count = 0;
    for (int i = 0; i < launch_touches(launch); i++) {
        Pages pages = pages_of(w, launch_touched(launch, i).value);
        count += pages.end - pages.first;
    }
    return count <= w->room;
}

static void take(Walk *w, const Launch *launch) {
    for (int i = 0; i < launch_touches(launch); i++) {
        Pages pages = pages_of(w, launch_touched(launch, i).value);
        for (int64_t page = pages.first; page < pages.end; page++)
            w->used += w->users[page]++ == 0;
    }
}

static void drop_oldest(Walk *w) {
    const Launch *launch = launch_at(w, w->oldest++);
    for (int i = 0; i < launch_touches(launch); i++) {
        Pages pages = pages_of(w, launch_touched(launch, i).value);
        for (int64_t page = pages.first; page < pages.end; page++)
            w->used -= --w->users[page] == 0;
    }
}

/* The share of a value that launches in the window have touched. */
static double share_there(const Walk *w, const Value *v) {
    Pages pages = pages_of(w, v);
    int64_t found = 0;
    for (int64_t page = pages.first; page < pages.end; page++)
        found += w->touched[page] > w->oldest;
    return found ? (double)found / (double)(pages.end - pages.first) : 0;
}

/* Walking forward: bytes it reads that were touched before. Walking back: bytes it writes that will
 * be written again. */
static double cached_bytes(const Walk *w, const Launch *launch) {
    double bytes = 0;
    for (int i = 0; i < launch_touches(launch); i++) {
        Touched of = launch_touched(launch, i);
        if (w->back ? of.written : of.read)
            bytes += (double)value_bytes(of.value) * share_there(w, of.value);
    }
    return bytes;
}

static void touch(Walk *w, int place) {
    const Launch *launch = launch_at(w, place);
    for (int i = 0; i < launch_touches(launch); i++) {
        Touched of = launch_touched(launch, i);
        Pages pages = pages_of(w, of.value);
        for (int64_t page = pages.first; page < pages.end && (of.written || !w->back); page++)
            w->touched[page] = place + 1;
    }
}

/* A launch that does not fit into the cache finds nothing and leaves nothing. */
static void visit(Walk *w, int place) {
    Launch *launch = launch_at(w, place);
    bool fits = has_room(w, launch);
    if (fits)
        take(w, launch);
    while (w->oldest < place && (!fits || w->used > w->room))
        drop_oldest(w);
    if (!fits) {
        w->oldest = place + 1;
        return;
    }
    if (place >= w->count * (w->turns - 1))
        launch->cost.cached_bytes += cached_bytes(w, launch);
    touch(w, place);
}

static void walk(const Plan *plan, Launch *const *launches, int count, int turns, bool back) {
    Arena scratch = {0};
    Walk w = {plan, launches, count, turns, back, .page_bytes = LEAST_PAGE};
    int64_t pages = 0;
    while (plan_total_bytes(plan) / w.page_bytes > MOST_PAGES)
        w.page_bytes *= 2;
    w.room = plan->device->l2_kept_bytes / w.page_bytes;
    for (int a = 0; a < ARENA_COUNT; a++) {
        w.base[a] = pages;
        pages += ceil_div(plan->arena_bytes[a], w.page_bytes);
    }
    w.users = arena_array(&scratch, (size_t)pages + 1, sizeof *w.users);
    w.touched = arena_array(&scratch, (size_t)pages + 1, sizeof *w.touched);
    for (int place = 0; place < count * turns; place++)
        visit(&w, place);
    arena_free(&scratch);
}

/* Appends the entry's launches to `launches`; returns the new count. */
static int append(PlanEntry *entry, Launch **launches, int count) {
    for (int i = 0; i < entry->launch_count; i++) {
        launches[count++] = &entry->launches[i];
        entry->launches[i].cost.cached_bytes = 0;
    }
    return count;
}

static void walk_both_ways(const Plan *plan, Launch *const *launches, int count, int turns) {
    walk(plan, launches, count, turns, false);
    walk(plan, launches, count, turns, true);
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
