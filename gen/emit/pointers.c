/* Two arguments share a local if they are the same matrix of the same storage in every iteration.
 * [x|u] and x start at the same address, but are different matrices. A dense matrix is the same in
 * every shape. */
#include "emit/pointers.h"

#include "emit/names.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    Arena *arena;
    const Plan *plan;
    const PlanEntry *entry;
    Pointers *out;
    int *next_in_bucket, bucket[256];
} Collect;

static const Value *value_of(const Collect *c, int launch, int arg, int time) {
    const Run *run = &c->out->run;
    const Launch *l = &c->entry->launches[run->first + time * run->stride + launch];
    return arg < MAX_PARAMS ? l->arg[arg] : l->observed;
}

static int64_t start_of(const Collect *c, const Value *v) { return plan_place(c->plan, v).offset; }

static bool same_matrix(const Value *a, const Value *b) {
    bool reshaped = value_dense(a) && value_dense(b) && a->storage == b->storage &&
                    a->dtype == b->dtype && a->offset == b->offset &&
                    value_elements(a) == value_elements(b);
    return reshaped || value_same_view(a, b);
}

static bool is_pointer(const Collect *c, const Pointer *pointer, int launch, int arg) {
    for (int t = 0; t < c->out->run.times; t++)
        if (!same_matrix(pointer->values[t], value_of(c, launch, arg, t)))
            return false;
    return true;
}

static int64_t bytes_within(const Value *v) { return v->offset * dtype_bytes(v->dtype); }

static bool same_places(const Collect *c, const Value *const *a, const Value *const *b) {
    for (int t = 0; t < c->out->run.times; t++)
        if (a[t]->storage != b[t]->storage || bytes_within(a[t]) != bytes_within(b[t]))
            return false;
    return true;
}

static void find_column(const Collect *c, Pointer *pointer) {
    Pointers *out = c->out;
    for (int i = 0; i < out->column_count; i++)
        if (same_places(c, out->columns[i].values, pointer->values)) {
            pointer->column = i;
            if (value_elements(pointer->values[0]) > value_elements(out->columns[i].values[0]))
                out->columns[i].values = pointer->values; /* named after the largest value */
            return;
        }
    pointer->column = out->column_count;
    out->columns[out->column_count++] = (Column){.values = pointer->values};
}

int pointer_begin(const Pointer *pointer) { return pointer->odd == 0; }

/* A range of iterations. */
typedef struct {
    int begin, end;
} Times;

static Times without(int odd, int times) {
    return (Times){odd == 0, odd > 0 ? times - 1 : times};
}

/* Whether the values' names count up or down. */
static bool is_counted(const Collect *c, Pointer *pointer, Times times) {
    const Value *const *v = (const Value *const *)pointer->values;
    int before = 0, now = 0, second = times.begin + 1;
    for (int t = second; t < times.end; t++) {
        const char *pattern = counted_name(c->arena, v[t - 1]->name, v[t]->name, &before, &now);
        if (!pattern || (t > second && strcmp(pattern, pointer->pattern) != 0))
            return false;
        if (t == second) {
            pointer->pattern = pattern;
            pointer->direction = now - before;
            pointer->number = before - times.begin * pointer->direction;
        }
        if (now - before != pointer->direction || abs(pointer->direction) != 1)
            return false;
    }
    return true;
}

/* Whether the addresses are linear in the iteration, except for the odd one. */
static bool is_straight(const Collect *c, Pointer *pointer, int odd) {
    Times times = without(odd, c->out->run.times);
    int64_t first = start_of(c, pointer->values[times.begin]);
    pointer->odd = odd;
    pointer->step = start_of(c, pointer->values[times.begin + 1]) - first;
    for (int t = times.begin + 2; t < times.end; t++)
        if (start_of(c, pointer->values[t]) != first + (t - times.begin) * pointer->step)
            return false;
    return pointer->step == 0 || is_counted(c, pointer, times);
}

enum { LEAST_WITH_ODD = 4 /* iterations: any two others would be linear */ };

static void find_course(const Collect *c, Pointer *pointer) {
    int times = c->out->run.times;
    pointer->column = pointer->odd = -1;
    if (times == 1 || is_straight(c, pointer, -1))
        return;
    bool may_be_odd = times >= LEAST_WITH_ODD;
    if (may_be_odd && (is_straight(c, pointer, 0) || is_straight(c, pointer, times - 1)))
        return;
    pointer->step = 0;
    pointer->odd = -1;
    find_column(c, pointer);
}

static int add_pointer(Collect *c, int launch, int arg) {
    const Value *value = value_of(c, launch, arg, 0);
    int *bucket = &c->bucket[(unsigned)(value->storage->id * 31 + value->offset) % 256];
    for (int i = *bucket; i >= 0; i = c->next_in_bucket[i])
        if (is_pointer(c, &c->out->pointers[i], launch, arg))
            return i;
    int times = c->out->run.times;
    Pointer *pointer = &c->out->pointers[c->out->count];
    pointer->values = arena_array(c->arena, (size_t)times, sizeof *pointer->values);
    for (int t = 0; t < times; t++)
        pointer->values[t] = value_of(c, launch, arg, t);
    find_course(c, pointer);
    c->next_in_bucket[c->out->count] = *bucket;
    *bucket = c->out->count;
    return c->out->count++;
}

/* Named after the last two iterations other than the odd one: the first may read a different kind
 * of value, such as the embedding instead of the previous layer's result. */
static const char *dotted_name(const Collect *c, const Value **values, int odd) {
    int last = without(odd, c->out->run.times).end - 1;
    const char *name = values[last]->name;
    return last == 0 ? name : starred_name(c->arena, values[last - 1]->name, name);
}

static void give_names(const Collect *c) {
    Pointers *out = c->out;
    int room = out->count + out->column_count + 1;
    const char **dotted = arena_array(c->arena, (size_t)room, sizeof *dotted);
    for (int i = 0; i < out->count; i++)
        dotted[i] = dotted_name(c, out->pointers[i].values, out->pointers[i].odd);
    const char **names = local_names(c->arena, dotted, out->count);
    for (int i = 0; i < out->count; i++)
        out->pointers[i].name = names[i];
    for (int i = 0; i < out->column_count; i++)
        dotted[i] = dotted_name(c, out->columns[i].values, -1);
    names = local_names(c->arena, dotted, out->column_count);
    for (int i = 0; i < out->column_count; i++)
        out->columns[i].name = names[i];
}

static void find_varying(const Collect *c) {
    Pointers *out = c->out;
    for (int l = 0; l < out->run.length; l++) {
        const Launch *launch = &c->entry->launches[out->run.first + l];
        int scalars =
            launch->kind == LAUNCH_KERNEL ? c->plan->kernels[launch->index].scalar_count : 0;
        for (int s = 0; s < scalars; s++) {
            bool varies = false;
            for (int t = 1; t < out->run.times; t++)
                varies |= launch[t * out->run.stride].scalar[s] != launch->scalar[s];
            if (!varies)
                continue;
            const char *name = c->plan->kernels[launch->index].scalar[s].name;
            if (out->varying_count)
                name = arena_printf(c->arena, "%s_%d", name, out->varying_count + 1);
            out->varying[out->varying_count++] = (Varying){l, s, name};
        }
    }
}

Pointers pointers_of(Arena *arena, const Plan *plan, const PlanEntry *entry, Run run) {
    size_t launches = (size_t)run.length, room = launches * (MAX_PARAMS + 1);
    Pointers out = {.run = run,
                    .pointers = arena_array(arena, room, sizeof(Pointer)),
                    .columns = arena_array(arena, room, sizeof(Column)),
                    .of_arg = arena_array(arena, room, sizeof(int)),
                    .varying = arena_array(arena, launches * MAX_SCALARS, sizeof(Varying))};
    Collect c = {.arena = arena, .plan = plan, .entry = entry, .out = &out};
    c.next_in_bucket = arena_array(arena, room, sizeof(int));
    memset(c.bucket, -1, sizeof c.bucket);
    for (int l = 0; l < run.length; l++) {
        const Launch *launch = &entry->launches[run.first + l];
        int *of_arg = &out.of_arg[l * (MAX_PARAMS + 1)];
        for (int a = 0; a < launch->arg_count; a++)
            of_arg[a] = add_pointer(&c, l, a);
        of_arg[MAX_PARAMS] = launch->observed ? add_pointer(&c, l, MAX_PARAMS) : -1;
    }
    give_names(&c);
    find_varying(&c);
    out.has_table = out.column_count + out.varying_count > 0;
    return out;
}

Pointer *pointer_of_arg(const Pointers *p, int launch, int arg) {
    return &p->pointers[p->of_arg[launch * (MAX_PARAMS + 1) + arg]];
}

Pointer *pointer_observed(const Pointers *p, int launch) {
    return pointer_of_arg(p, launch, MAX_PARAMS);
}

const Varying *varying_at(const Pointers *p, int launch, int index) {
    for (int i = 0; i < p->varying_count; i++)
        if (p->varying[i].launch == launch && p->varying[i].index == index)
            return &p->varying[i];
    return NULL;
}
