/* The side stream: kernels beside kernels.
 *
 * What nothing behind it on the compute stream waits for, as the gradient of a weight while backward
 * goes on, may run beside that. Small kernels leave most of the device idle and take longer to begin
 * than to work; there a step becomes as long as its longest chain. What large kernels work does not
 * become less, and all that the side stream reads stays until the entry ends: so it has to gain enough
 * and to cost little memory, else one stream does. */
#include "plan/streams.h"

#include <string.h>

/* Of a step's time, what it has to gain; of the memory that there is, what it may take. */
static const double LEAST_GAIN = 0.02, MOST_MEMORY = 0.01;

static bool runs_in_step(int entry) { return entry_info((Entry)entry)->runs != RUNS_ASIDE; }

/* Where kernels take next to no time to begin there is nothing to gain. Stages of a pipeline are
 * priced together, later; with several cards in a process it is the host that launches. */
static bool may_gain(const Plan *plan) {
    const Program *p = plan->program;
    if (!plan->spec->compile.side_stream || !plan->spec->compile.cuda_graph || p->stage.count > 1 ||
        p->cards > 1)
        return false;
    double begin_ms = plan->device->kernel_gap_ms + plan->device->kernel_ms;
    return plan_step_launches(plan) * begin_ms > LEAST_GAIN * plan->step.ms;
}

static bool is_movable(const Launch *launch) {
    bool works = launch->kind == LAUNCH_KERNEL || launch->kind == LAUNCH_GEMM ||
                 launch->kind == LAUNCH_ZERO || launch->kind == LAUNCH_COPY;
    return works && launch->stream == STREAM_COMPUTE && !launch->observe;
}

/* A collective at the end waits for kernels that could run beside others. On the communication stream,
 * with all other collectives of the entry, it waits for them there. */
static void move_collectives(PlanEntry *entry) {
    for (int i = 0; i < entry->launch_count; i++)
        if (is_collective(&entry->launches[i]) && is_awaited(entry, i))
            return;
    for (int i = 0; i < entry->launch_count; i++)
        if (is_collective(&entry->launches[i]))
            entry->launches[i].stream = STREAM_COMMUNICATION;
}

/* From the last to the first, for what waits has to be known. The last one stays: nothing would run
 * beside it. What waits for what alone decides, so that layers of one shape stay alike. Gives how many
 * they are, and which, the last first. */
static int move_launches(PlanEntry *entry, int *moved) {
    bool other_behind = false;
    int count = 0;
    for (int i = entry->launch_count - 1; i >= 0; i--) {
        Launch *launch = &entry->launches[i];
        if (is_movable(launch) && other_behind && !is_awaited(entry, i)) {
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
    double slowed_ms;
    return timeline_ms(plan, entry, true, &slowed_ms);
}

/* Where the side stream would end late, some of what it has last stays where it was. False: nothing can
 * move. */
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
    return plan->step.ms <= (1 - LEAST_GAIN) * ms &&
           more <= MOST_MEMORY * (double)plan_budget_bytes(plan) && plan_fits(plan);
}

static void plan_again(Plan *plan) {
    plan_memory(plan);
    plan_predict(plan);
}

/* An entry as it was with one stream. */
typedef struct {
    PlanEntry entry;
    Launch *launches;
} Kept;

static Kept keep(Arena *arena, const PlanEntry *entry) {
    size_t count = (size_t)entry->launch_count;
    Kept kept = {*entry, arena_array(arena, count + 1, sizeof(Launch))};
    if (count > 0)
        memcpy(kept.launches, entry->launches, count * sizeof(Launch));
    return kept;
}

static void put_back(PlanEntry *entry, const Kept *kept) {
    *entry = kept->entry;
    if (entry->launch_count > 0)
        memcpy(entry->launches, kept->launches, (size_t)entry->launch_count * sizeof(Launch));
}

void plan_side_stream(Plan *plan) {
    if (!may_gain(plan))
        return;
    Arena arena = {0};
    Kept kept[ENTRY_COUNT];
    double ms = plan->step.ms;
    int64_t bytes = plan->process_bytes;
    for (int e = 0; e < ENTRY_COUNT; e++) {
        kept[e] = keep(&arena, &plan->entry[e]);
        if (runs_in_step(e) && !lay_out_entry(plan, &plan->entry[e], &arena))
            put_back(&plan->entry[e], &kept[e]);
    }
    plan_again(plan);
    if (!pays(plan, ms, bytes)) {
        for (int e = 0; e < ENTRY_COUNT; e++)
            put_back(&plan->entry[e], &kept[e]);
        plan_again(plan);
    }
    arena_free(&arena);
}
