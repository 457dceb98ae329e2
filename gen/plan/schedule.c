/* plan.c asks for a stage's actions. The emitted program has them as a table, and the runtime
 * carries them out in this order. stages.c asks how long a step takes: that is a simulation of all
 * stages, in which an exchange begins when both of its stages have reached it. */
#include "plan/schedule.h"

#include <math.h>

bool action_exchanges(ActionKind kind) { return kind > ACTION_BACKWARD; }

/* ---- what a stage does ----------------------------------------------------------------------- */

typedef struct {
    Arena *arena;
    StageSchedule *out;
    bool first, last;
} Writer;

/* Whether the exchange is with the stage before this one; else it is with the one behind. */
static bool is_with_previous(ActionKind kind) {
    return kind == ACTION_RECEIVE_ACTIVATION || kind == ACTION_SEND_GRADIENT;
}

/* Appends the action, unless the stage that it exchanges with does not exist. */
static void add(const Writer *w, ActionKind kind, int micro_batch) {
    StageSchedule *s = w->out;
    if (action_exchanges(kind) && (is_with_previous(kind) ? w->first : w->last))
        return;
    s->actions = arena_grow(w->arena, s->actions, s->count, &s->capacity, sizeof *s->actions);
    s->actions[s->count++] = (Action){kind, micro_batch};
}

/* `ahead` forwards, then a forward and a backward in turn, then the remaining backwards. GPipe is
 * the case in which all forwards are ahead. */
static void write(const Writer *w, int ahead, int micro_batches) {
    for (int m = 0; m < micro_batches; m++) {
        add(w, ACTION_RECEIVE_ACTIVATION, m);
        add(w, ACTION_FORWARD, m);
        add(w, ACTION_SEND_ACTIVATION, m);
        if (m < ahead)
            continue;
        add(w, ACTION_RECEIVE_GRADIENT, m - ahead);
        add(w, ACTION_BACKWARD, m - ahead);
        add(w, ACTION_SEND_GRADIENT, m - ahead);
    }
    for (int m = micro_batches - ahead; m < micro_batches; m++) {
        add(w, ACTION_RECEIVE_GRADIENT, m);
        add(w, ACTION_BACKWARD, m);
        add(w, ACTION_SEND_GRADIENT, m);
    }
}

StageSchedule schedule_of(Arena *arena, PipelineSchedule kind, int stage, int stages,
                          int micro_batches) {
    StageSchedule s = {0};
    int ahead = kind == PIPELINE_GPIPE ? micro_batches : stages - stage - 1;
    if (ahead > micro_batches)
        ahead = micro_batches;
    s.slots = ahead < micro_batches ? ahead + 1 : micro_batches;
    write(&(Writer){arena, &s, stage == 0, stage == stages - 1}, ahead, micro_batches);
    return s;
}

/* ---- how long they take ---------------------------------------------------------------------- */

typedef struct {
    const StageSchedule *stages;
    StageTime *times;
    int micro_batches;
    int *next;      /* by stage: its next action */
    double *now;    /* by stage */
    double **begun; /* by stage, kind and micro-batch: when it was ready to begin; -1: not yet */
} Run;

static double *begun(const Run *run, int stage, ActionKind kind, int micro_batch) {
    return &run->begun[stage][(size_t)kind * (size_t)run->micro_batches + (size_t)micro_batch];
}

/* When the other end of an exchange was ready to begin; -1: not yet. */
static double begun_there(const Run *run, int stage, Action action) {
    static const ActionKind other[] = {[ACTION_RECEIVE_ACTIVATION] = ACTION_SEND_ACTIVATION,
                                       [ACTION_SEND_ACTIVATION] = ACTION_RECEIVE_ACTIVATION,
                                       [ACTION_RECEIVE_GRADIENT] = ACTION_SEND_GRADIENT,
                                       [ACTION_SEND_GRADIENT] = ACTION_RECEIVE_GRADIENT};
    int there = is_with_previous(action.kind) ? stage - 1 : stage + 1;
    return *begun(run, there, other[action.kind], action.micro_batch);
}

/* Index just past the exchanges that begin together with this one. */
static int group_end(const StageSchedule *s, int first) {
    int end = first;
    while (end < s->count && action_exchanges(s->actions[end].kind))
        end++;
    return end;
}

int schedule_exchanges(const StageSchedule *s) {
    int count = 0;
    for (int i = 0; i < s->count; i++)
        if (action_exchanges(s->actions[i].kind)) {
            count++;
            i = group_end(s, i);
        }
    return count;
}

static bool exchange(Run *run, int stage) {
    const StageSchedule *s = &run->stages[stage];
    int first = run->next[stage], end = group_end(s, first);
    double done = run->now[stage];
    for (int i = first; i < end; i++)
        *begun(run, stage, s->actions[i].kind, s->actions[i].micro_batch) = run->now[stage];
    for (int i = first; i < end; i++) {
        double there = begun_there(run, stage, s->actions[i]);
        if (there < 0)
            return false;
        done = fmax(done, fmax(run->now[stage], there) + run->times[stage].exchange_ms);
    }
    run->times[stage].wait_ms += done - run->now[stage];
    run->now[stage] = done;
    run->next[stage] = end;
    return true;
}

/* Runs the stage's next action; returns false if there is none or it cannot begin yet. */
static bool act(Run *run, int stage) {
    const StageSchedule *s = &run->stages[stage];
    StageTime *time = &run->times[stage];
    if (run->next[stage] == s->count)
        return false;
    ActionKind kind = s->actions[run->next[stage]].kind;
    if (action_exchanges(kind))
        return exchange(run, stage);
    double ms = kind == ACTION_FORWARD ? time->forward_ms : time->backward_ms;
    run->now[stage] += ms;
    time->busy_ms += ms;
    run->next[stage]++;
    return true;
}

static int most_micro_batches(const StageSchedule *stages, int count) {
    int most = 0;
    for (int s = 0; s < count; s++)
        for (int i = 0; i < stages[s].count; i++)
            if (stages[s].actions[i].micro_batch >= most)
                most = stages[s].actions[i].micro_batch + 1;
    return most;
}

static Run run_new(const StageSchedule *stages, StageTime *times, int count, Arena *arena) {
    Run run = {stages,
               times,
               most_micro_batches(stages, count),
               arena_array(arena, (size_t)count, sizeof(int)),
               arena_array(arena, (size_t)count, sizeof(double)),
               arena_array(arena, (size_t)count, sizeof(double *))};
    for (int s = 0; s < count; s++) {
        times[s].busy_ms = times[s].wait_ms = 0;
        size_t exchanges = ACTION_KINDS * (size_t)run.micro_batches;
        run.begun[s] = arena_array(arena, exchanges + 1, sizeof(double));
        for (size_t i = 0; i < exchanges; i++)
            run.begun[s][i] = -1;
    }
    return run;
}

double schedule_ms(const StageSchedule *stages, StageTime *times, int count) {
    Arena arena = {0};
    Run run = run_new(stages, times, count, &arena);
    double end = 0;
    for (bool any = true; any;) {
        any = false;
        for (int s = 0; s < count; s++)
            any |= act(&run, s);
    }
    for (int s = 0; s < count; s++)
        end = run.next[s] < stages[s].count || end < 0 ? -1 : fmax(end, run.now[s]);
    for (int s = 0; s < count && end >= 0; s++)
        times[s].wait_ms += end - run.now[s];
    arena_free(&arena);
    return end;
}
