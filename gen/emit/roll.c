/* Finds repeated runs: the one that saves most launches becomes a loop, then the launches before
 * and after it are searched in the same way. A run saves at most all launches but those of its
 * first iteration, so the search ends soon after the layers are found. */
#include "emit/roll.h"

#include <string.h>

/* A loop that saves fewer launches than this is harder to read than the launches themselves. */
enum { LEAST_SAVED = 6 };

typedef struct {
    const int *ids, *forms; /* by launch: see roll_ids */
} Launches;

/* Returns the run in [from..to) that saves most launches: among equals the shortest, then the
 * earliest. Over the whole loop, more than half of the names differ only in digits from those of the
 * next iteration. */
static Run best_run(const Launches *of, int from, int to) {
    Run best = {from, 0, 1, 0};
    int saved = 0;
    for (int length = 1; 2 * length <= to - from && length + saved < to - from; length++) {
        int equal = 0, named = 0; /* consecutive ids, and forms, that equal those `length` later */
        for (int i = to - length - 1; i >= from; i--) {
            bool same = of->ids[i] == of->ids[i + length];
            equal = same ? equal + 1 : 0;
            named = same ? named + (of->forms[i] == of->forms[i + length]) : 0;
            int repeats = 2 * named > equal ? equal / length : 0;
            bool better = repeats * length > saved;
            bool earlier = repeats * length == saved && saved > 0 && length == best.length;
            if (better || earlier) {
                best = (Run){i, length, repeats + 1, length};
                saved = repeats * length;
            }
        }
    }
    if (saved < LEAST_SAVED)
        best.length = 0;
    return best;
}

static void add_run(Rolled *rolled, Run run) {
    if (run.length > 0)
        rolled->runs[rolled->count++] = run;
}

static void roll_range(Rolled *rolled, const Launches *of, int from, int to) {
    while (from < to) {
        Run best = best_run(of, from, to);
        if (best.length == 0)
            break;
        roll_range(rolled, of, from, best.first);
        add_run(rolled, best);
        from = best.first + best.length * best.times;
    }
    add_run(rolled, (Run){from, to - from, 1, to - from});
}

Rolled roll_ids(Arena *arena, const int *ids, const int *forms, int count) {
    Rolled rolled = {arena_array(arena, (size_t)count + 1, sizeof(Run)), 0, ids};
    roll_range(&rolled, &(Launches){ids, forms}, 0, count);
    return rolled;
}

/* ---- launches -------------------------------------------------------------------------------- */

static bool same_view(const Value *a, const Value *b) {
    return a->dtype == b->dtype && value_rows(a) == value_rows(b) &&
           value_cols(a) == value_cols(b) && a->row_stride == b->row_stride &&
           a->plane == b->plane && role_persistent(a->role) == role_persistent(b->role) &&
           (a->role == ROLE_INPUT) == (b->role == ROLE_INPUT) &&
           (a->role == ROLE_STASH) == (b->role == ROLE_STASH);
}

/* Whether both wait for launches of the same streams, in the same order. */
static bool same_waits(const PlanEntry *of_a, const Launch *a, const PlanEntry *of_b,
                       const Launch *b) {
    bool same = a->wait_count == b->wait_count;
    for (int w = 0; same && w < a->wait_count; w++)
        same = of_a->launches[a->wait[w]].stream == of_b->launches[b->wait[w]].stream;
    return same;
}

bool launches_are_alike(const PlanEntry *of_a, const Launch *a, const PlanEntry *of_b,
                        const Launch *b) {
    bool same = a->kind == b->kind && a->index == b->index && a->arg_count == b->arg_count &&
                memcmp(a->grid, b->grid, sizeof a->grid) == 0 && a->stream == b->stream &&
                a->ends_step == b->ends_step && a->forks == b->forks &&
                same_waits(of_a, a, of_b, b) && text_equal(a->observe, b->observe) &&
                a->joined_count == b->joined_count;
    for (int i = 0; same && i < a->arg_count; i++)
        same = same_view(a->arg[i], b->arg[i]);
    return same && (!a->observe || same_view(a->observed, b->observed));
}

/* A number for the name of the launch's first op without its digits. */
static int form_of(const Launch *launch) {
    char form[256];
    size_t length = 0;
    for (const char *c = launch->ops[0]->name; *c && length + 1 < sizeof form; c++)
        if (*c < '0' || *c > '9')
            form[length++] = *c;
    form[length] = '\0';
    return (int)stable_hash(form);
}

Rolled roll_entry(Arena *arena, const PlanEntry *entry) {
    int *ids = arena_array(arena, (size_t)entry->launch_count + 1, sizeof *ids), distinct = 0;
    int *forms = arena_array(arena, (size_t)entry->launch_count + 1, sizeof *forms);
    const Launch **first = arena_array(arena, (size_t)entry->launch_count + 1, sizeof *first);
    for (int i = 0; i < entry->launch_count; i++) {
        int id = 0;
        while (id < distinct && !launches_are_alike(entry, first[id], entry, &entry->launches[i]))
            id++;
        if (id == distinct)
            first[distinct++] = &entry->launches[i];
        ids[i] = id;
        forms[i] = form_of(&entry->launches[i]);
    }
    return roll_ids(arena, ids, forms, entry->launch_count);
}
