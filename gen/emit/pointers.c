/* Two arguments are one local when they start at the same byte of the same storage every time. */
#include "emit/pointers.h"

#include "emit/names.h"

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
    const Launch *l = &c->entry->launches[run->first + time * run->length + launch];
    return arg < MAX_PARAMS ? l->arg[arg] : l->observed;
}

static int64_t start_of(const Collect *c, const Value *v) { return plan_place(c->plan, v).offset; }

static bool same_start(const Collect *c, const Value *a, const Value *b) {
    return a == b || (a->storage == b->storage && start_of(c, a) == start_of(c, b));
}

static bool is_pointer(const Collect *c, const Pointer *pointer, int launch, int arg) {
    for (int t = 0; t < c->out->run.times; t++)
        if (!same_start(c, pointer->values[t], value_of(c, launch, arg, t)))
            return false;
    return true;
}

static void find_course(const Collect *c, Pointer *pointer) {
    int times = c->out->run.times;
    if (times == 1)
        return;
    int64_t first = start_of(c, pointer->values[0]);
    pointer->step = start_of(c, pointer->values[1]) - first;
    for (int t = 2; t < times; t++)
        pointer->in_table |= start_of(c, pointer->values[t]) != first + t * pointer->step;
    c->out->has_table |= pointer->in_table;
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

static void name_pointers(const Collect *c) {
    const char **dotted = arena_array(c->arena, (size_t)c->out->count + 1, sizeof *dotted);
    for (int i = 0; i < c->out->count; i++)
        dotted[i] = c->out->pointers[i].values[0]->name;
    const char **names = local_names(c->arena, dotted, c->out->count);
    for (int i = 0; i < c->out->count; i++)
        c->out->pointers[i].name = names[i];
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
                varies |= launch[t * out->run.length].scalar[s] != launch->scalar[s];
            if (!varies)
                continue;
            const char *name = c->plan->kernels[launch->index].scalar[s].name;
            if (out->varying_count)
                name = arena_printf(c->arena, "%s_%d", name, out->varying_count + 1);
            out->varying[out->varying_count++] = (Varying){l, s, name};
            out->has_table = true;
        }
    }
}

Pointers pointers_of(Arena *arena, const Plan *plan, const PlanEntry *entry, Run run) {
    size_t launches = (size_t)run.length, room = launches * (MAX_PARAMS + 1);
    Pointers out = {.run = run,
                    .pointers = arena_array(arena, room, sizeof(Pointer)),
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
    name_pointers(&c);
    find_varying(&c);
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
