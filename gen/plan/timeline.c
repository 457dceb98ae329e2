/* Simulates several streams on one time axis.
 *
 * A launch begins when its predecessor on the stream and the launches that it waits for have ended;
 * as in the program, a wait covers everything that the other stream has been given so far. Each
 * wait is assumed to cost as much as the gap between two kernels; no GPU has measured that. A
 * kernel first spends its time to begin and to end, which overlaps anything else; then it works.
 * Kernels that work at the same time share the device where their blocks occupy more
 * multiprocessors than it has. While a collective runs, kernels have only the multiprocessors that
 * it leaves. */
#include "plan/streams.h"

#include <math.h>

typedef struct {
    const Plan *plan;
    const Device *device;
    const PlanEntry *entry;
    int count; /* only launches before this one are simulated */
    bool ends_step;
    bool exchanges;            /* whether collectives take time */
    int head[MAX_STREAMS];     /* the stream's current launch; count: it has finished */
    double begin[MAX_STREAMS]; /* ms until that launch works */
    double left[MAX_STREAMS];  /* ms of work left, if it had the device to itself */
    double end[MAX_STREAMS];   /* when its predecessor ended */
    double now, slowed;        /* slowed: ms that kernels have lost to collectives */
} Timeline;

bool launch_is_programmatic(const Plan *plan, const PlanEntry *entry, int launch) {
    const Launch *at = &entry->launches[launch], *before = at;
    if (!plan->spec->compile.programmatic_launch || at->kind != LAUNCH_KERNEL || at->wait_count ||
        at->forks)
        return false;
    while (before > entry->launches && (before == at || before->stream != at->stream))
        before--;
    return before != at && before->stream == at->stream && before->kind == LAUNCH_KERNEL;
}

double launch_begin_ms(const Plan *plan, const PlanEntry *entry, int launch) {
    const Device *device = plan->device;
    bool early = launch_is_programmatic(plan, entry, launch);
    bool product = entry->launches[launch].kind == LAUNCH_GEMM;
    double own_ms = product ? device->product_ms : device->kernel_ms;
    return own_ms + (early ? device->programmatic_gap_ms : device->kernel_gap_ms);
}

static const Launch *at_head(const Timeline *t, int stream) {
    return &t->entry->launches[t->head[stream]];
}

static double waits_ms(const Timeline *t, const int *wait, int count) {
    double ms = 0;
    for (int w = 0; w < count; w++)
        if (t->exchanges || !is_collective(&t->entry->launches[wait[w]]))
            ms += t->device->kernel_gap_ms;
    return ms;
}

static void take_up(Timeline *t, int stream, const Launch *launch) {
    double ms = launch->cost.ms;
    t->begin[stream] = t->left[stream] = 0;
    if (is_collective(launch) && !t->exchanges)
        return;
    int index = (int)(launch - t->entry->launches);
    double begin = is_collective(launch) ? 0 : fmin(launch_begin_ms(t->plan, t->entry, index), ms);
    t->left[stream] = ms - begin;
    t->begin[stream] = begin + waits_ms(t, launch->wait, launch->wait_count) +
                       (launch->forks ? t->device->kernel_gap_ms : 0);
}

/* Advances the stream to its first launch at or after `from`. */
static void go_to(Timeline *t, int stream, int from) {
    while (from < t->count && (t->entry->launches[from].stream != stream ||
                               (t->entry->launches[from].ends_step && !t->ends_step)))
        from++;
    t->head[stream] = from;
    if (from < t->count)
        take_up(t, stream, &t->entry->launches[from]);
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

static bool works(const Timeline *t, int stream) {
    return t->begin[stream] <= 0 && !is_collective(at_head(t, stream));
}

/* Sets each stream's speed, 0 if it waits. Returns the share of their speed that a collective takes
 * from working kernels. */
static double find_speeds(const Timeline *t, double speed[MAX_STREAMS]) {
    double left = 1, occupied = 0;
    for (int s = 0; s < MAX_STREAMS; s++) {
        speed[s] = runs(t, s) ? 1 : 0;
        if (speed[s] > 0 && works(t, s))
            occupied += 1 - at_head(t, s)->idle;
        if (speed[s] > 0 && is_collective(at_head(t, s)) && t->exchanges)
            left = device_share_beside_collective(t->device);
    }
    double shared = fmin(1, left / occupied);
    for (int s = 0; s < MAX_STREAMS; s++)
        if (speed[s] > 0 && works(t, s))
            speed[s] = shared;
    return occupied > 0 ? 1 - shared / fmin(1, 1 / occupied) : 0;
}

static double *phase(Timeline *t, int stream) {
    return t->begin[stream] > 0 ? &t->begin[stream] : &t->left[stream];
}

/* Runs the stream's current launch for `time`. */
static void pass(Timeline *t, int stream, double speed, double time) {
    double *left = phase(t, stream);
    bool was_begin = left == &t->begin[stream];
    if (*left / speed > time) {
        *left -= time * speed;
        return;
    }
    *left = 0;
    if (was_begin && t->left[stream] > 0)
        return;
    t->end[stream] = t->now;
    go_to(t, stream, t->head[stream] + 1);
}

/* Advances to the time at which the next launch begins to work or ends; false if none runs. */
static bool advance(Timeline *t) {
    double speed[MAX_STREAMS], time = INFINITY;
    double taken = find_speeds(t, speed);
    for (int s = 0; s < MAX_STREAMS; s++)
        if (speed[s] > 0)
            time = fmin(time, *phase(t, s) / speed[s]);
    if (isinf(time))
        return false;
    t->now += time;
    t->slowed += time * taken;
    for (int s = 0; s < MAX_STREAMS; s++)
        if (speed[s] > 0)
            pass(t, s, speed[s], time);
    return true;
}

static Timeline run(const Plan *plan, const PlanEntry *entry, int count, bool ends_step,
                    bool exchanges) {
    Timeline t = {.plan = plan, .device = plan->device, .entry = entry, .count = count};
    t.ends_step = ends_step;
    t.exchanges = exchanges;
    for (int s = 0; s < MAX_STREAMS; s++)
        go_to(&t, s, 0);
    while (advance(&t))
        ;
    if (count == entry->launch_count)
        t.now += waits_ms(&t, entry->wait, entry->wait_count);
    return t;
}

double timeline_ms(const Plan *plan, const PlanEntry *entry, bool ends_step, double *slowed_ms) {
    Timeline t = run(plan, entry, entry->launch_count, ends_step, true);
    if (slowed_ms)
        *slowed_ms = t.slowed;
    return t.now;
}

double timeline_without_collectives_ms(const Plan *plan, const PlanEntry *entry, bool ends_step) {
    return run(plan, entry, entry->launch_count, ends_step, false).now;
}

double timeline_slack_ms(const Plan *plan, const PlanEntry *entry, int launch, int stream) {
    Timeline t = run(plan, entry, launch, true, true);
    const Launch *next = &entry->launches[launch];
    double begin = t.end[next->stream];
    for (int w = 0; w < next->wait_count; w++)
        begin = fmax(begin, t.end[entry->launches[next->wait[w]].stream]);
    return begin - t.end[stream];
}
