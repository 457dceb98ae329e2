/* Several streams on one axis of time: a launch begins when the one before it on its stream and those
 * that it waits for have ended: all that another stream has been given so far, as in the program. While
 * a collective runs, kernels have the multiprocessors that it leaves. */
#include "plan/streams.h"

#include <math.h>

typedef struct {
    const PlanEntry *entry;
    int count; /* launches from here on are left out */
    bool ends_step;
    double share;             /* of the multiprocessors, what a collective leaves */
    int head[MAX_STREAMS];    /* the launch that a stream is at; count: it has done all */
    double left[MAX_STREAMS]; /* ms that this one still takes with all multiprocessors */
    double end[MAX_STREAMS];  /* when the one before it ended */
    double now, slowed;       /* slowed: ms that kernels have lost to collectives */
} Timeline;

static const Launch *at_head(const Timeline *t, int stream) {
    return &t->entry->launches[t->head[stream]];
}

/* To the stream's first launch at or behind `from`. */
static void go_to(Timeline *t, int stream, int from) {
    while (from < t->count && (t->entry->launches[from].stream != stream ||
                               (t->entry->launches[from].ends_step && !t->ends_step)))
        from++;
    t->head[stream] = from;
    t->left[stream] = from < t->count ? t->entry->launches[from].cost.ms : 0;
}

static bool runs(const Timeline *t, int stream) {
    if (t->head[stream] == t->count)
        return false;
    const Launch *launch = at_head(t, stream);
    for (int w = 0; w < launch->wait_count; w++)
        if (t->head[t->entry->launches[launch->wait[w]].stream] < t->head[stream])
            return false;
    return true;
}

/* Of each stream: 0 where it waits. */
static void find_speeds(const Timeline *t, double speed[MAX_STREAMS]) {
    bool exchanges = false;
    for (int s = 0; s < MAX_STREAMS; s++) {
        speed[s] = runs(t, s) ? 1 : 0;
        exchanges |= speed[s] > 0 && at_head(t, s)->kind == LAUNCH_COLLECTIVE;
    }
    for (int s = 0; s < MAX_STREAMS; s++)
        if (exchanges && speed[s] > 0 && at_head(t, s)->kind != LAUNCH_COLLECTIVE)
            speed[s] = t->share;
}

/* To where the next launch ends; false: none runs any more. */
static bool advance(Timeline *t) {
    double speed[MAX_STREAMS], time = INFINITY;
    find_speeds(t, speed);
    for (int s = 0; s < MAX_STREAMS; s++)
        if (speed[s] > 0)
            time = fmin(time, t->left[s] / speed[s]);
    if (isinf(time))
        return false;
    t->now += time;
    for (int s = 0; s < MAX_STREAMS; s++) {
        if (speed[s] <= 0)
            continue;
        t->slowed += time * (1 - speed[s]);
        if (t->left[s] / speed[s] > time) {
            t->left[s] -= time * speed[s];
            continue;
        }
        t->end[s] = t->now;
        go_to(t, s, t->head[s] + 1);
    }
    return true;
}

static Timeline run(const Plan *plan, const PlanEntry *entry, int count, bool ends_step) {
    Timeline t = {.entry = entry, .count = count, .ends_step = ends_step};
    t.share = device_share_beside_collective(plan->device);
    for (int s = 0; s < MAX_STREAMS; s++)
        go_to(&t, s, 0);
    while (advance(&t))
        ;
    return t;
}

double timeline_ms(const Plan *plan, const PlanEntry *entry, bool ends_step, double *slowed_ms) {
    Timeline t = run(plan, entry, entry->launch_count, ends_step);
    *slowed_ms = t.slowed;
    return t.now;
}

double timeline_slack_ms(const Plan *plan, const PlanEntry *entry, int launch, int stream) {
    Timeline t = run(plan, entry, launch, true);
    const Launch *next = &entry->launches[launch];
    double begin = t.end[next->stream];
    for (int w = 0; w < next->wait_count; w++)
        begin = fmax(begin, t.end[entry->launches[next->wait[w]].stream]);
    return begin - t.end[stream];
}
