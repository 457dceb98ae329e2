/* Joins launches of one kernel whose operands are one stride apart: each becomes a slice of the
 * joined launch's grid.
 *
 * Requires the places of persistent storages. Layers are alike, so their weights are one stride
 * apart from layer to layer. Work on each of these, such as copying adapters to where products read
 * them, is then done for all layers by one launch that gets the strides as arguments. Only launches
 * whose order does not matter are joined; the joined launch takes the place of the first. Their
 * names must differ in one part only, such as the layer's number. So a report can say what a launch
 * spans, and q of one layer, k of the next and v of the third, which may be one stride apart too,
 * are not joined. */
#include "base/dotted.h"
#include "plan/plan_steps.h"
#include "plan/streams.h"

#include <string.h>

enum { MOST_TRIED = 32 }; /* candidates for second of a series: a layer has fewer alike */

typedef struct {
    const Plan *plan;
    PlanEntry *entry;
    bool *open;      /* by launch: may be in a series */
    bool *gone;      /* by launch: joined to an earlier one */
    int *next;       /* by launch that is or was open: the next one of its kernel */
    int *clear_from; /* by launch: it conflicts with none of those from here to itself */
    Storages *storages; /* by launch */
    int *series;     /* launches that could be joined, in order */
    int *best;
} Join;

typedef struct {
    int64_t of[MAX_SCALARS]; /* by operand; in elements */
} Strides;

/* Whether the kernel can take strides as arguments: it has no other scalars, all launches have the
 * same rows, and z is free. */
static bool takes_strides(const Kernel *k) {
    return !k->template_name && k->rows && k->param_count <= MAX_SCALARS &&
           (k->strided || !k->scalar_count);
}

/* Whether control edges, if the launch has any, are those of one op. */
static bool has_one_edge(const Launch *launch) {
    bool held = false;
    for (int i = 0; i < launch->op_count; i++)
        held |= launch->ops[i]->after != NULL;
    return !held || launch->op_count == 1;
}

static bool may_join(const Plan *plan, const Launch *launch) {
    return launch->kind == LAUNCH_KERNEL && !launch->observe && has_one_edge(launch) &&
           takes_strides(&plan->kernels[launch->index]);
}

/* Whether the order of two launches matters. */
static bool are_bound(const Join *j, int a, int b) {
    return storages_conflict(j->storages[a], j->storages[b]) &&
           launches_conflict(&j->entry->launches[a], &j->entry->launches[b]);
}

static bool are_alike(const Launch *a, const Launch *b) {
    return a->index == b->index && a->ends_step == b->ends_step &&
           a->ops[0]->after == b->ops[0]->after &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0;
}

static bool lasts(const Plan *plan, const Value *v) {
    Place place = plan->place[v->storage->id];
    return place.offset >= 0 && place.arena == ARENA_STATE;
}

/* Finds the distance in elements from one value to another; false if it is not known yet. */
static bool find_stride(const Plan *plan, const Value *from, const Value *to, int64_t *stride) {
    int64_t size = dtype_bytes(from->dtype);
    *stride = to->offset - from->offset;
    if (from->storage == to->storage)
        return true;
    if (!lasts(plan, from) || !lasts(plan, to))
        return false;
    int64_t bytes = plan_place(plan, to).offset - plan_place(plan, from).offset;
    *stride = bytes / size;
    return bytes % size == 0;
}

static bool find_strides(const Plan *plan, const Launch *from, const Launch *to, Strides *strides) {
    *strides = (Strides){0};
    for (int a = 0; a < from->arg_count; a++)
        if (!find_stride(plan, from->arg[a], to->arg[a], &strides->of[a]))
            return false;
    return true;
}

static const char *name_of(const Join *j, int index) { return j->entry->launches[index].ops[0]->name; }

/* Whether a launch may move up to the place of an earlier one. What it has been compared with does
 * not change: series begin at ever later launches, and only the first of a series changes. */
static bool may_move(const Join *j, int index, int to) {
    for (int *from = &j->clear_from[index]; *from > to; --*from)
        if (!j->gone[*from - 1] && are_bound(j, *from - 1, index))
            return false;
    return true;
}

/* Finds the series that begins with these two launches; returns its length. */
static int follow(Join *j, int first, int second) {
    const Launch *launches = j->entry->launches;
    Strides strides, next;
    int count = 0;
    j->series[count++] = first;
    if (!find_strides(j->plan, &launches[first], &launches[second], &strides))
        return count;
    for (int i = second; i < j->entry->launch_count; i = j->next[i]) {
        const Launch *last = &launches[j->series[count - 1]];
        if (j->open[i] && are_alike(last, &launches[i]) &&
            find_strides(j->plan, last, &launches[i], &next) &&
            memcmp(&next, &strides, sizeof next) == 0 &&
            differ_in_one_part(name_of(j, first), name_of(j, second), name_of(j, i)) &&
            may_move(j, i, first))
            j->series[count++] = i;
        if (count == 1)
            break; /* without the second there is no series: what follows is another stride away */
    }
    return count;
}

/* Finds the longest series that begins with the launch and stores it in `best`; returns its length.
 * Among equally long series it prefers the one with the largest steps: over layers rather than
 * within a layer. */
static int best_series(Join *j, int first) {
    int best = 1;
    for (int i = j->next[first], tried = 0; i < j->entry->launch_count && tried < MOST_TRIED;
         i = j->next[i]) {
        if (!j->open[i] || !are_alike(&j->entry->launches[first], &j->entry->launches[i]))
            continue;
        tried++;
        int count = follow(j, first, i);
        if (count == 1 || count < best)
            continue;
        best = count;
        memcpy(j->best, j->series, (size_t)count * sizeof *j->best);
    }
    return best;
}

/* Makes the strides of the kernel's pointers its scalars. */
static void tell_strides(Arena *arena, Kernel *k) {
    for (int i = 0; i < k->param_count && !k->strided; i++)
        k->scalar[i] = (KernelScalar){arena_printf(arena, "%s_stride", k->param[i].name), DT_I64};
    k->strided = true;
    k->scalar_count = k->param_count;
}

static void join(Join *j, const int *series, int count) {
    Arena *arena = j->plan->program->arena;
    Launch *first = &j->entry->launches[series[0]];
    Launch *others = arena_array(arena, (size_t)count - 1, sizeof *others);
    const Op **ops = NULL;
    int op_count = 0, capacity = 0;
    Strides strides;
    ENSURE(find_strides(j->plan, first, &j->entry->launches[series[1]], &strides), "no strides");
    for (int i = 0; i < count; i++) {
        const Launch *launch = &j->entry->launches[series[i]];
        for (int k = 0; k < launch->op_count; k++) {
            ops = arena_grow(arena, ops, op_count, &capacity, sizeof *ops);
            ops[op_count++] = launch->ops[k];
        }
        if (i > 0)
            others[i - 1] = *launch;
        j->gone[series[i]] = i > 0;
        j->open[series[i]] = false;
        j->storages[series[0]].used |= j->storages[series[i]].used;
        j->storages[series[0]].written |= j->storages[series[i]].written;
    }
    tell_strides(arena, &j->plan->kernels[first->index]);
    memcpy(first->scalar, strides.of, sizeof strides.of);
    first->ops = ops;
    first->op_count = op_count;
    first->joined = others;
    first->joined_count = count - 1;
    first->grid[2] = count;
}

static void drop_gone(Join *j) {
    int kept = 0;
    for (int i = 0; i < j->entry->launch_count; i++)
        if (!j->gone[i])
            j->entry->launches[kept++] = j->entry->launches[i];
    j->entry->launch_count = kept;
}

/* Finds the launches that may be in a series. */
static void open_launches(Join *j, Arena *scratch) {
    int count = j->entry->launch_count, kernels = j->plan->kernel_count;
    int *first = arena_array(scratch, (size_t)kernels + 1, sizeof *first); /* by kernel */
    for (int k = 0; k < kernels; k++)
        first[k] = count;
    for (int i = count - 1; i >= 0; i--) {
        const Launch *launch = &j->entry->launches[i];
        j->open[i] = may_join(j->plan, launch);
        if (!j->open[i])
            continue;
        j->next[i] = first[launch->index];
        first[launch->index] = i;
    }
}

static void join_entry(const Plan *plan, PlanEntry *entry) {
    Arena scratch = {0};
    size_t room = (size_t)entry->launch_count + 1;
    Join j = {.plan = plan, .entry = entry};
    j.open = arena_array(&scratch, room, sizeof *j.open);
    j.gone = arena_array(&scratch, room, sizeof *j.gone);
    j.next = arena_array(&scratch, room, sizeof *j.next);
    j.clear_from = arena_array(&scratch, room, sizeof *j.clear_from);
    j.storages = arena_array(&scratch, room, sizeof *j.storages);
    j.series = arena_array(&scratch, room, sizeof *j.series);
    j.best = arena_array(&scratch, room, sizeof *j.best);
    for (int i = 0; i < entry->launch_count; i++) {
        j.clear_from[i] = i;
        j.storages[i] = launch_storages(&entry->launches[i]);
    }
    open_launches(&j, &scratch);
    for (int i = 0; i < entry->launch_count; i++) {
        int count = j.open[i] ? best_series(&j, i) : 1;
        if (count > 1)
            join(&j, j.best, count);
    }
    drop_gone(&j);
    arena_free(&scratch);
}

void plan_join_launches(Plan *plan) {
    for (int e = 0; e < ENTRY_COUNT && plan->spec->compile.joined_launches; e++)
        join_entry(plan, &plan->entry[e]);
}
