/* Places are named after values. If two places would have the same name, the second gets __2. */
#include "emit/places.h"

#include "emit/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name in use, and the entry that first needed it; NULL if it is the name of a storage. */
typedef struct {
    const char *name;
    const PlanEntry *entry;
} Taken;

typedef struct {
    Arena *arena;
    Places *out;
    const PlanEntry *entry; /* being named; NULL: storages, already named */
    const char *prefix;     /* "EVALUATE_" */
    Taken *taken;           /* [taken_room], by hash */
    size_t taken_room;
} Naming;

static Taken *slot_of(const Naming *n, const char *name) {
    size_t hash = 14695981039346656037u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t slot = hash % n->taken_room;
    while (n->taken[slot].name && strcmp(n->taken[slot].name, name) != 0)
        slot = (slot + 1) % n->taken_room;
    return &n->taken[slot];
}

static bool is_taken(const Naming *n, const char *name) { return slot_of(n, name)->name; }

/* Puts the entry before the name if the storage's name has it, or if another entry uses the
 * name. */
static const char *name_within(const Naming *n, const Storage *storage, const char *name) {
    const Taken *taken = slot_of(n, name);
    bool aside = strncmp(n->out->symbols[storage->id], n->prefix, strlen(n->prefix)) == 0;
    bool others = taken->name && taken->entry != n->entry;
    return aside || others ? arena_printf(n->arena, "%s%s", n->prefix, name) : name;
}

/* Returns the name, with a number if another place has it. */
static const char *unique(Naming *n, const char *name) {
    const char *found = name;
    for (int i = 2; is_taken(n, found); i++)
        found = arena_printf(n->arena, "%s__%d", name, i);
    *slot_of(n, found) = (Taken){found, n->entry};
    return found;
}

/* ---- parts ------------------------------------------------------------------------------- */

static int64_t bytes_within(const Value *v) { return v->offset * dtype_bytes(v->dtype); }

static const Part *find_part(const Places *places, const Value *v) {
    for (int i = places->first_part[v->storage->id]; i >= 0; i = places->parts[i].next) {
        const Value *part = places->parts[i].value;
        bool same_start = bytes_within(part) == bytes_within(v);
        if (part == v || (same_start && strcmp(part->name, v->name) == 0))
            return &places->parts[i];
    }
    return NULL;
}

/* Whether the value has the storage's name: it fills the storage or has the same name. */
static bool is_all(const Value *v) {
    return v->offset == 0 &&
           (value_bytes(v) == v->storage->bytes || strcmp(v->name, v->storage->name) == 0);
}

static void add_part(Naming *n, const Value *v) {
    Places *out = n->out;
    if (is_all(v) || find_part(out, v))
        return;
    out->parts =
        arena_grow(n->arena, out->parts, out->part_count, &out->part_capacity, sizeof(Part));
    int *link = &out->first_part[v->storage->id]; /* sorted by offset */
    while (*link >= 0 && bytes_within(out->parts[*link].value) < bytes_within(v))
        link = &out->parts[*link].next;
    const char *name = name_within(n, v->storage, upper_text(n->arena, v->name));
    out->parts[out->part_count] = (Part){v, unique(n, name), *link};
    *link = out->part_count++;
}

bool has_place(const Places *places, const Value *v) { return is_all(v) || find_part(places, v); }

const char *place_text(const Places *places, const Value *v) {
    if (is_all(v))
        return places->symbols[v->storage->id];
    const Part *part = find_part(places, v);
    ENSURE(part, "%s has no name", v->name);
    return part->name;
}

/* ---- series ---------------------------------------------------------------------------- */

static int64_t start_of(const Places *places, const Value *v) {
    return plan_place(places->plan, v).offset;
}

static int number_at(const Pointer *pointer, int time) {
    return pointer->number + time * pointer->direction;
}

static const Series *find_series(const Places *places, const Pointer *pointer) {
    int begin = pointer_begin(pointer);
    const Value *first = pointer->values[begin];
    int64_t step = pointer->step * pointer->direction, zero = number_at(pointer, begin) * step;
    for (int i = 0; i < places->series_count; i++) {
        const Series *f = &places->series[i];
        if (f->step == step && strcmp(f->pattern, pointer->pattern) == 0 &&
            plan_place(places->plan, f->member).arena ==
                plan_place(places->plan, first).arena &&
            start_of(places, f->member) - f->number * step == start_of(places, first) - zero)
            return f;
    }
    return NULL;
}

/* "model.layers.*.mlp.act" -> MODEL_LAYERS_MLP_ACT. If the entry has several such series, the name
 * includes their first number: MODEL_LAYERS_FROM_12_MLP_ACT. */
static const char *series_name(const Naming *n, const Storage *storage, const char *pattern,
                               long long number) {
    size_t before = strcspn(pattern, "*");
    const char *after = pattern + before + 1;
    after += *after == '.';
    if (!*after)
        before -= before > 0; /* without the dot before the star */
    const char *plain = arena_printf(n->arena, "%.*s%s", (int)before, pattern, after);
    const char *name = name_within(n, storage, upper_text(n->arena, plain));
    if (!is_taken(n, name))
        return name;
    const char *dot = *after ? "." : "";
    plain = arena_printf(n->arena, "%.*s%sfrom_%lld%s%s", (int)before, pattern, *after ? "" : ".",
                         number, dot, after);
    return name_within(n, storage, upper_text(n->arena, plain));
}

/* The member with the smallest number represents the series. */
static void add_series(Naming *n, const Pointer *pointer, int times) {
    Places *out = n->out;
    if (find_series(out, pointer))
        return;
    int begin = pointer_begin(pointer), last = times - 1 - (pointer->odd == times - 1);
    int least = pointer->direction > 0 ? begin : last;
    const Value *member = pointer->values[least];
    add_part(n, member);
    int number = number_at(pointer, least);
    out->series = arena_grow(n->arena, out->series, out->series_count, &out->series_capacity,
                             sizeof(Series));
    out->series[out->series_count++] = (Series){
        .name = unique(n, series_name(n, member->storage, pointer->pattern, number)),
        .pattern = pointer->pattern,
        .member = member,
        .number = number,
        .step = pointer->step * pointer->direction,
    };
}

/* The number in iteration i: "i", "i + 1", "3 - i". */
static const char *number_text(Arena *arena, const Pointer *pointer) {
    if (pointer->direction < 0)
        return arena_printf(arena, "%d - i", pointer->number);
    if (pointer->number < 0)
        return arena_printf(arena, "i - %d", -pointer->number);
    return pointer->number ? arena_printf(arena, "i + %d", pointer->number) : "i";
}

const char *series_text(Arena *arena, const Places *places, const Pointer *pointer) {
    const Series *series = find_series(places, pointer);
    ENSURE(series, "%s has no series", pointer->name);
    return arena_printf(arena, "%s(%s)", series->name, number_text(arena, pointer));
}

/* ---- all of a plan ------------------------------------------------------------------------- */

static void name_pointer(Naming *n, const Pointer *pointer, int times) {
    if (pointer->step != 0)
        add_series(n, pointer, times);
    else if (pointer->column < 0)
        add_part(n, pointer->values[pointer_begin(pointer)]);
    if (pointer->odd >= 0)
        add_part(n, pointer->values[pointer->odd]);
}

static void name_block(Naming *n, const Pointers *pointers) {
    for (int i = 0; i < pointers->count; i++)
        name_pointer(n, &pointers->pointers[i], pointers->run.times);
    for (int i = 0; i < pointers->column_count; i++)
        for (int t = 0; t < pointers->run.times; t++)
            add_part(n, pointers->columns[i].values[t]);
}

Places places_of(Arena *arena, const Plan *plan) {
    const Program *program = plan->program;
    size_t values = (size_t)program->value_count + 1, storages = (size_t)program->storage_count + 1;
    Places out = {.plan = plan,
                  .symbols = storage_symbols(arena, plan),
                  .first_part = arena_array(arena, storages, sizeof(int))};
    Naming n = {.arena = arena, .out = &out, .taken_room = 2 * (values + storages)};
    n.taken = arena_array(arena, n.taken_room, sizeof *n.taken);
    for (int i = 0; i < program->storage_count; i++) {
        out.first_part[i] = -1;
        if (out.symbols[i])
            unique(&n, out.symbols[i]);
    }
    for (int e = 0; e < ENTRY_COUNT; e++) {
        n.entry = &plan->entry[e];
        n.prefix = arena_printf(arena, "%s_", upper_text(arena, n.entry->name));
        out.blocks[e] = blocks_of(arena, plan, n.entry);
        for (int b = 0; b < out.blocks[e].count; b++)
            name_block(&n, &out.blocks[e].blocks[b].pointers);
    }
    return out;
}
