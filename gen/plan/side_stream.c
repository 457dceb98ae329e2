/* The side stream: kernels that overlap other kernels.
 *
 * A launch on which no later launch of the compute stream depends, such as the gradient of a weight
 * during backward, may run in parallel with the compute stream; an update that waits for several
 * gradients counts as dependent on the last of them. Small kernels leave most of the
 * device idle and take longer to begin than to work; with them a step becomes as short as its
 * longest chain. Large kernels gain nothing, and everything that the side stream reads stays live
 * until the entry ends. So the side stream is used only if it saves enough time and costs little
 * memory. */
#include "graph/op_table.h"
#include "plan/figures.h"
#include "plan/fit.h"
#include "plan/plan_steps.h"
#include "plan/streams.h"

#include <string.h>

/* Least predicted gain, as a share of a step's time; most memory, as a share of the budget. Both are
 * chosen: predictions can hardly tell smaller gains apart. No GPU has measured the gain; steps of small
 * models with compile.side_stream on and off would show from which prediction on there is one. */
static const double LEAST_GAIN = 0.02, MOST_MEMORY = 0.01;

/* Of a step. What each launch waits for is searched among those before it, once per division that is
 * tried: beyond this, planning would take longer than anybody waits. */
enum { MOST_LAUNCHES = 4096 };

static bool runs_in_step(int entry) { return entry_info((Entry)entry)->runs != RUNS_ASIDE; }

/* The time by which gains are judged: with copies of batches beside the device's work, so that
 * compile.overlap moves no kernel. */
static double step_ms(const Plan *plan) { return plan_step_ms(plan, plan->device_ms, true); }

/* Of a step, what a side stream could overlap even if each launch filled the device. */
static double overhead_ms(const Plan *plan) {
    double ms = 0;
    for (int e = 0; e < ENTRY_COUNT; e++) {
        const PlanEntry *entry = &plan->entry[e];
        for (int i = 0; i < entry->launch_count; i++)
            if (!is_collective(&entry->launches[i]))
                ms += plan_times(plan, (Entry)e, &entry->launches[i]) * launch_begin_ms(plan, entry, i);
    }
    return ms;
}

/* There is nothing to gain if launch overhead is a small part of a step. Stages of a pipeline are
 * priced together, later; with several cards per process, the host's launches are the limit. */
static bool may_gain(const Plan *plan) {
    const Program *p = plan->program;
    if (!plan->spec->compile.side_stream || !plan->spec->compile.cuda_graph || p->stage.count > 1 ||
        p->cards > 1)
        return false;
    return plan_step_launches(plan) <= MOST_LAUNCHES &&
           overhead_ms(plan) > LEAST_GAIN * step_ms(plan);
}

static bool is_movable(const Launch *launch) {
    bool works = launch->kind == LAUNCH_KERNEL || launch->kind == LAUNCH_GEMM ||
                 launch->kind == LAUNCH_ZERO;
    return works && launch->stream == STREAM_COMPUTE;
}

static bool is_update(const Launch *launch) {
    return launch->op_count > 0 && op_is(launch->ops[0], TRAIT_UPDATES);
}

/* Whether launch `at` depends on a launch of the compute stream between `index` and itself. */
static bool depends_on_later(const PlanEntry *entry, int at, int index) {
    for (int i = index + 1; i < at; i++)
        if (entry->launches[i].stream == STREAM_COMPUTE &&
            launches_conflict(&entry->launches[i], &entry->launches[at]))
            return true;
    return false;
}

/* Whether a later launch of the compute stream depends on it. An update of weights depends on many
 * gradients, of which only the last one counts: it can wait for the others. */
static bool is_needed(const PlanEntry *entry, int index) {
    for (int i = index + 1; i < entry->launch_count; i++) {
        const Launch *later = &entry->launches[i];
        if (later->stream == STREAM_COMPUTE &&
            launches_conflict(&entry->launches[index], later) &&
            !(is_update(later) && depends_on_later(entry, i, index)))
            return true;
    }
    return false;
}

/* A collective at the end of an entry waits for kernels that could move. So all collectives of the
 * entry go to the communication stream, where waiting does not hold up the compute stream. */
static void move_collectives(PlanEntry *entry) {
    for (int i = 0; i < entry->launch_count; i++)
        if (is_collective(&entry->launches[i]) && is_awaited(entry, i))
            return;
    for (int i = 0; i < entry->launch_count; i++)
        if (is_collective(&entry->launches[i]))
            entry->launches[i].stream = STREAM_COMMUNICATION;
}

/* Moves launches to the side stream. Goes from the last to the first, since a launch's dependents
 * must be known. The last one stays, as nothing would overlap it. Only dependences decide, so that
 * equal layers are treated alike. Stores the indices of moved launches, the last first; returns how
 * many. */
static int move_launches(PlanEntry *entry, int *moved) {
    bool other_behind = false;
    int count = 0;
    for (int i = entry->launch_count - 1; i >= 0; i--) {
        Launch *launch = &entry->launches[i];
        if (is_movable(launch) && other_behind && !is_needed(entry, i)) {
            launch->stream = STREAM_SIDE;
            moved[count++] = i;
        }
        other_behind |= launch->stream == STREAM_COMPUTE;
    }
    return count;
}

static double ms_without_last(const Plan *plan, PlanEntry *entry, const int *moved, int count,
                              int last) {
    for (int i = 0; i < count; i++)
        entry->launches[moved[i]].stream = i < last ? STREAM_COMPUTE : STREAM_SIDE;
    plan_waits(plan, entry);
    return timeline_ms(plan, entry, true, NULL);
}

/* Moves launches of the entry; if the side stream would end late, its last ones stay on the compute
 * stream. Returns false if nothing can move. */
static bool lay_out_entry(const Plan *plan, PlanEntry *entry, Arena *arena) {
    int *moved = arena_array(arena, (size_t)entry->launch_count + 1, sizeof *moved);
    move_collectives(entry);
    int count = move_launches(entry, moved), best = 0;
    if (count == 0)
        return false;
    double best_ms = ms_without_last(plan, entry, moved, count, 0);
    for (int last = 1; last < count; last *= 2) {
        double ms = ms_without_last(plan, entry, moved, count, last);
        if (ms < best_ms - plan->device->kernel_gap_ms)
            best = last, best_ms = ms;
    }
    ms_without_last(plan, entry, moved, count, best);
    return true;
}

static bool pays(const Plan *plan, double ms, int64_t bytes) {
    double more = (double)(plan->process_bytes - bytes);
    return step_ms(plan) <= (1 - LEAST_GAIN) * ms &&
           more <= MOST_MEMORY * (double)plan_budget_bytes(plan) && plan_fits(plan);
}

static void plan_again(Plan *plan) {
    plan_memory(plan);
    plan_predict(plan);
}

/* The entry as it is, with launches of its own. */
static PlanEntry copy_of(Arena *arena, const PlanEntry *entry) {
    PlanEntry copy = *entry;
    copy.launches = arena_array(arena, (size_t)entry->launch_count, sizeof(Launch));
    if (entry->launch_count > 0)
        memcpy(copy.launches, entry->launches, (size_t)entry->launch_count * sizeof(Launch));
    copy.launch_capacity = entry->launch_count;
    return copy;
}

void plan_side_stream(Plan *plan) {
    if (!may_gain(plan))
        return;
    Arena arena = {0};
    PlanEntry kept[ENTRY_COUNT];
    double ms = step_ms(plan);
    int64_t bytes = plan->process_bytes, arenas = plan_total_bytes(plan);
    for (int e = 0; e < ENTRY_COUNT; e++) {
        kept[e] = copy_of(plan->program->arena, &plan->entry[e]);
        if (runs_in_step(e) && !lay_out_entry(plan, &plan->entry[e], &arena))
            plan->entry[e] = kept[e];
    }
    plan_again(plan);
    if (!pays(plan, ms, bytes)) {
        memcpy(plan->entry, kept, sizeof kept);
        plan_again(plan);
    }
    plan->beside_bytes = plan_total_bytes(plan) - arenas;
    arena_free(&arena);
}
