/* Streams: what overlaps what, and what waits for what.
 *
 * A collective on which nothing in its entry depends, or that is held back, moves to the
 * communication stream if other work follows it that it can overlap. All such collectives of the
 * entry then move, and all others of their groups, so that each group's collectives keep one order.
 * Everything else is on the compute stream.
 *
 * A launch waits for launches on other streams whose results it needs, whose operands it
 * overwrites, or that its ops must come after. A wait covers everything that the other stream has
 * been given so far (an event is recorded at that point). So the compute stream may wait early,
 * before the other stream is given work that nothing needs yet. An entry begins on the compute
 * stream, and ends when all of its streams have. If all this is predicted to cost more than it
 * saves, the entry uses one stream. */
#include "plan/streams.h"

#include "plan/plan_steps.h"
#include "plan/predict.h"

#include <math.h>
#include <string.h>

bool is_collective(const Launch *launch) { return launch->kind == LAUNCH_COLLECTIVE; }

bool launches_conflict(const Launch *a, const Launch *b) {
    for (int i = 0; i < launch_touch_count(a); i++) {
        Touched of_a = launch_touched(a, i);
        for (int k = 0; k < launch_touch_count(b); k++) {
            Touched of_b = launch_touched(b, k);
            if ((of_a.written || of_b.written) && value_overlaps(of_a.value, of_b.value))
                return true;
        }
    }
    return false;
}

Storages launch_storages(const Launch *launch) {
    Storages storages = {0};
    for (int i = 0; i < launch_touch_count(launch); i++) {
        Touched of = launch_touched(launch, i);
        uint64_t bit = UINT64_C(1) << of.value->storage->id % 64;
        storages.used |= bit;
        storages.written |= of.written ? bit : 0;
    }
    return storages;
}

bool storages_conflict(Storages a, Storages b) {
    return (a.written & b.used) | (a.used & b.written);
}

bool is_awaited(const PlanEntry *entry, int index) {
    for (int i = index + 1; i < entry->launch_count; i++)
        if (entry->launches[i].stream == STREAM_COMPUTE &&
            launches_conflict(&entry->launches[index], &entry->launches[i]))
            return true;
    return false;
}

/* Whether a collective can move. A held-back collective is placed early so that other work overlaps
 * it; recomputed clones are not. */
static bool is_loose(const PlanEntry *entry, int index) {
    const Launch *launch = &entry->launches[index];
    const Op *op = launch->ops[0];
    return is_collective(launch) &&
           ((op->after && op->phase != PHASE_RECOMPUTE) || !is_awaited(entry, index));
}

/* Ranks that run a group's collectives in different orders deadlock, so all of them move. */
static void move_group(const Plan *plan, PlanEntry *entry, RankGroup group) {
    for (int i = 0; i < entry->launch_count; i++)
        if (is_collective(&entry->launches[i]) &&
            plan->collectives[entry->launches[i].index].group == group)
            entry->launches[i].stream = STREAM_COMMUNICATION;
}

static void choose_streams(const Plan *plan, PlanEntry *entry) {
    bool overlaps = false, other_behind = false;
    for (int i = entry->launch_count - 1; i >= 0; i--) {
        bool loose = is_loose(entry, i);
        entry->launches[i].stream = loose ? STREAM_COMMUNICATION : STREAM_COMPUTE;
        overlaps |= loose && other_behind;
        other_behind |= !loose;
    }
    for (int i = 0; i < entry->launch_count; i++)
        if (!overlaps)
            entry->launches[i].stream = STREAM_COMPUTE;
        else if (entry->launches[i].stream == STREAM_COMMUNICATION)
            move_group(plan, entry, plan->collectives[entry->launches[i].index].group);
}

/* Whether any op of `launch` must run after an op of `other`, one of the two being a collective.
 * Between others a control edge only keeps their order in the graph, so that results do not lie in
 * memory early. */
static bool is_held(const Launch *launch, const Launch *other) {
    if (!is_collective(launch) && !is_collective(other))
        return false;
    for (int i = 0; i < launch->op_count; i++)
        for (int k = 0; launch->ops[i]->after && k < other->op_count; k++)
            if (other->ops[k] == launch->ops[i]->after)
                return true;
    return false;
}

/* What the launches so far have been given and have waited for. The tables have two parts: for
 * launches that always run, which may not rely on those that some runs leave out, and for others. */
typedef struct {
    const Plan *plan;
    PlanEntry *entry;
    const Storages *storages; /* by launch */
    bool given[MAX_STREAMS];  /* streams that have launches */
    /* By stream and other stream: the last launch on the one that waited for the other; -1: none.
     * Whatever the other had been given by then has finished. */
    int waited[2][MAX_STREAMS][MAX_STREAMS];
    bool forked[2][MAX_STREAMS]; /* streams that wait for everything that precedes the entry */
} Waits;

static void note_wait(Waits *w, int index, int stream) {
    const Launch *launch = &w->entry->launches[index];
    for (int part = launch->ends_step; part < 2; part++)
        if (w->waited[part][launch->stream][stream] < index)
            w->waited[part][launch->stream][stream] = index;
}

static void note_fork(Waits *w, const Launch *launch) {
    for (int part = launch->ends_step; part < 2; part++)
        w->forked[part][launch->stream] |= launch->forks;
}

/* By stream: the last launch that this one must come after and that may still be running; -1: none.
 * Launches that have finished are excluded, since a wait for one would also cover everything that
 * its stream has been given since. */
static void find_needed(const Waits *w, int index, int needed[MAX_STREAMS]) {
    const PlanEntry *entry = w->entry;
    const Launch *launch = &entry->launches[index];
    int ended[MAX_STREAMS], all_ended = index;
    for (int s = 0; s < MAX_STREAMS; s++) {
        needed[s] = -1;
        ended[s] = w->given[s] ? w->waited[launch->ends_step][launch->stream][s] : index;
        if (s != launch->stream && ended[s] < all_ended)
            all_ended = ended[s];
    }
    for (int i = index - 1; i > all_ended; i--) {
        const Launch *other = &entry->launches[i];
        if (other->stream != launch->stream && needed[other->stream] < 0 &&
            i > ended[other->stream] &&
            ((storages_conflict(w->storages[i], w->storages[index]) &&
              launches_conflict(other, launch)) ||
             is_held(launch, other)))
            needed[other->stream] = i;
    }
}

/* A wait for a launch covers everything that its stream has been given so far; returns the last of
 * these launches. */
static int given_last(const PlanEntry *entry, int index, int needed) {
    int stream = entry->launches[needed].stream, last = index - 1;
    while (entry->launches[last].stream != stream)
        last--;
    return last;
}

/* Whether a launch may wait on behalf of a later one on its stream. */
static bool may_wait_for(const Launch *launch, const Launch *later) {
    return launch->stream == STREAM_COMPUTE && later->stream == STREAM_COMPUTE &&
           (!launch->ends_step || later->ends_step);
}

/* Chooses the launch that waits: the dependent launch itself, or an earlier one that precedes
 * further work of the other stream. Takes the one at which the other stream is predicted to have
 * been finished for the longest time. */
static int place_wait(const Plan *plan, const PlanEntry *entry, int index, int needed) {
    int stream = entry->launches[needed].stream, best = index;
    double best_slack = NAN; /* of `best`; computed once there is another choice */
    bool given_more = false;
    for (int i = index - 1; i > needed; i--) {
        given_more |= entry->launches[i].stream == stream;
        if (!given_more || !may_wait_for(&entry->launches[i], &entry->launches[index]))
            continue;
        if (isnan(best_slack))
            best_slack = timeline_slack_ms(plan, entry, best, stream);
        double slack = timeline_slack_ms(plan, entry, i, stream);
        if (slack > best_slack)
            best = i, best_slack = slack;
        given_more = false;
    }
    return best;
}

/* Whether a launch comes after everything that precedes the entry without a wait of its own: it is
 * on the compute stream, or follows a launch on its stream that has waited. */
static bool has_begun(const Waits *w, const Launch *launch) {
    int part = launch->ends_step, stream = launch->stream;
    return stream == STREAM_COMPUTE || w->forked[part][stream] ||
           w->waited[part][stream][STREAM_COMPUTE] >= 0;
}

static void add_waits(Waits *w, int index) {
    Launch *launch = &w->entry->launches[index];
    int needed[MAX_STREAMS];
    find_needed(w, index, needed);
    launch->wait_count = 0;
    for (int s = 0; s < MAX_STREAMS; s++) {
        if (needed[s] < 0)
            continue;
        int at = place_wait(w->plan, w->entry, index, needed[s]);
        Launch *waiting = &w->entry->launches[at];
        waiting->wait[waiting->wait_count++] = given_last(w->entry, at, needed[s]);
        note_wait(w, at, s);
    }
    launch->forks = needed[STREAM_COMPUTE] < 0 && !has_begun(w, launch);
    note_fork(w, launch);
    w->given[launch->stream] = true;
}

static void join_streams(PlanEntry *entry) {
    int last[MAX_STREAMS]; /* -1: none */
    memset(last, -1, sizeof last);
    for (int i = 0; i < entry->launch_count; i++)
        last[entry->launches[i].stream] = i;
    entry->wait_count = 0;
    for (int s = STREAM_COMPUTE + 1; s < MAX_STREAMS; s++)
        if (last[s] >= 0)
            entry->wait[entry->wait_count++] = last[s];
}

void plan_waits(const Plan *plan, PlanEntry *entry) {
    Arena scratch = {0};
    Storages *storages = arena_array(&scratch, (size_t)entry->launch_count, sizeof *storages);
    for (int i = 0; i < entry->launch_count; i++)
        storages[i] = launch_storages(&entry->launches[i]);
    Waits waits = {.plan = plan, .entry = entry, .storages = storages};
    memset(waits.waited, -1, sizeof waits.waited);
    for (int i = 0; i < entry->launch_count; i++)
        add_waits(&waits, i);
    join_streams(entry);
    arena_free(&scratch);
}

static void use_one_stream(const Plan *plan, PlanEntry *entry) {
    for (int i = 0; i < entry->launch_count; i++)
        entry->launches[i].stream = STREAM_COMPUTE;
    plan_waits(plan, entry);
}

void plan_streams(Plan *plan) {
    for (int e = 0; e < ENTRY_COUNT && plan->collective_count > 0; e++) {
        PlanEntry *entry = &plan->entry[e];
        price_launches(plan, entry);
        join_buckets(plan, entry);
        double alone = timeline_ms(plan, entry, true, NULL);
        choose_streams(plan, entry);
        plan_waits(plan, entry);
        if (timeline_ms(plan, entry, true, NULL) >= alone)
            use_one_stream(plan, entry);
    }
}
