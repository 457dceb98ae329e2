/* Where in a program most scratch is live: a lower bound of what a plan needs, however well its
 * buffers share bytes. */
#include "plan/plan_steps.h"

#include <string.h>

static void find_peak(Plan *plan, Entry e, Arena *arena) {
    const PlanEntry *entry = &plan->entry[e];
    int storages = plan->program->storage_count;
    int *first = arena_array(arena, (size_t)storages + 1, sizeof *first);
    int *last = arena_array(arena, (size_t)storages + 1, sizeof *last);
    int64_t *change = arena_array(arena, (size_t)entry->launch_count + 2, sizeof *change), live = 0;
    memset(first, -1, (size_t)storages * sizeof *first);
    for (int i = 0; i < entry->launch_count; i++)
        for (int a = 0; a < launch_touch_count(&entry->launches[i]); a++) {
            int id = launch_touched(&entry->launches[i], a).value->storage->id;
            if (first[id] < 0)
                first[id] = i;
            last[id] = i;
        }
    for (int id = 0; id < storages; id++) {
        if (first[id] < 0 || plan->place[id].arena != ARENA_SCRATCH)
            continue;
        change[first[id]] += plan->program->storages[id]->bytes;
        change[last[id] + 1] -= plan->program->storages[id]->bytes;
    }
    for (int i = 0; i < entry->launch_count; i++) {
        live += change[i];
        if (live > plan->peak.bytes)
            plan->peak = (Peak){e, i, live};
    }
}

void plan_peak(Plan *plan) {
    Arena arena = {0};
    plan->peak = (Peak){0};
    for (int e = 0; e < ENTRY_COUNT; e++)
        if (plan->entry[e].launch_count > 0)
            find_peak(plan, (Entry)e, &arena);
    arena_free(&arena);
}
