/* Places are named after values. If two places would have the same name, the second gets __2. */
#include "emit/places.h"

#include "base/dotted.h"
#include "emit/labels.h"
#include "emit/names.h"
#include "emit/share_functions.h"

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
    int first_backward;     /* launch of the entry; launch_count: none */
    bool backward;          /* whether what is being named is used first in backward */
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

static const Part *find_part(const Places *places, const Value *v) {
    for (int i = places->first_part[v->storage->id]; i >= 0; i = places->parts[i].next) {
        const Value *part = places->parts[i].value;
        bool same_start = value_begin(part) == value_begin(v);
        if (part == v || (same_start && strcmp(part->name, v->name) == 0))
            return &places->parts[i];
    }
    return NULL;
}

/* Whether the value has the storage's name: it fills the storage or has the same name. */
static bool is_all(const Value *v) {
    return value_fills(v) || (v->offset == 0 && strcmp(v->name, v->storage->name) == 0);
}

static bool is_elsewhere(const Naming *n, const Value *v);

/* Whether forward has another storage of that name. */
static bool is_backwards_own(const char *symbol) {
    static const char mark[] = "_BACKWARD";
    size_t length = strlen(symbol), size = sizeof mark - 1;
    return length > size && strcmp(symbol + length - size, mark) == 0;
}

static const char *name_of_part(const Naming *n, const Value *v) {
    const char *name = name_within(n, v->storage, upper_text(n->arena, v->name));
    bool elsewhere = is_elsewhere(n, v) || is_backwards_own(n->out->symbols[v->storage->id]);
    return n->backward && elsewhere ? arena_printf(n->arena, "%s_BACKWARD", name) : name;
}

static void add_part(Naming *n, const Value *v) {
    Places *out = n->out;
    if (is_all(v) || find_part(out, v))
        return;
    out->parts =
        arena_grow(n->arena, out->parts, out->part_count, &out->part_capacity, sizeof(Part));
    int *link = &out->first_part[v->storage->id]; /* sorted by offset */
    while (*link >= 0 && value_begin(out->parts[*link].value) < value_begin(v))
        link = &out->parts[*link].next;
    out->parts[out->part_count] = (Part){v, unique(n, name_of_part(n, v)), *link};
    *link = out->part_count++;
}

static bool has_place(const Places *places, const Value *v) {
    return is_all(v) || find_part(places, v);
}

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

/* A pointer's members by ascending number. */
typedef struct {
    const char *pattern;
    int number, count;
    const Value **values;
} Members;

static Members members_of(Arena *arena, const Pointer *pointer, int times) {
    int begin = pointer_begin(pointer), last = pointer_last(pointer, times);
    int least = pointer->count.direction > 0 ? begin : last;
    Members m = {pointer->pattern, number_at(pointer->count, least), last - begin + 1, NULL};
    m.values = arena_array(arena, (size_t)m.count, sizeof *m.values);
    for (int t = begin; t <= last; t++)
        m.values[number_at(pointer->count, t) - m.number] = pointer->values[t];
    return m;
}

bool series_is_one_place(const Series *f) { return !f->members; }

static bool has_number(const Series *f, int number) {
    return number >= f->number && number < f->number + f->count;
}

/* Address of the series' member with that number, or -1. */
static int64_t member_start(const Places *places, const Series *f, int number) {
    if (!f->members)
        return start_of(places, f->member);
    return has_number(f, number) ? start_of(places, f->members[number - f->number]) : -1;
}

/* Whether forward has a member with the value's name and number in another place. */
static bool is_elsewhere(const Naming *n, const Value *v) {
    int number;
    for (int i = 0; i < n->out->series_count; i++) {
        const Series *f = &n->out->series[i];
        if (f->entry == n->entry && !f->backward && number_in(f->pattern, v->name, &number) &&
            has_number(f, number) && member_start(n->out, f, number) != start_of(n->out, v))
            return true;
    }
    return false;
}

static bool has_members(const Places *places, const Series *f, const Members *m) {
    if (strcmp(f->pattern, m->pattern) != 0 ||
        plan_place(places->plan, f->member).arena != plan_place(places->plan, m->values[0]).arena)
        return false;
    for (int i = 0; i < m->count; i++)
        if (member_start(places, f, m->number + i) != start_of(places, m->values[i]))
            return false;
    return true;
}

static int find_series(const Places *places, const Members *m) {
    for (int i = 0; i < places->series_count; i++)
        if (!series_is_one_place(&places->series[i]) &&
            has_members(places, &places->series[i], m))
            return i;
    return -1;
}

/* Returns the series of the entry that has the members, even if they are in one place. */
static Series *series_of_entry(const Naming *n, const Members *m) {
    for (int i = 0; i < n->out->series_count; i++)
        if (n->out->series[i].entry == n->entry && has_members(n->out, &n->out->series[i], m))
            return &n->out->series[i];
    return NULL;
}

/* "model.layers.*.mlp.act" -> MODEL_LAYERS_MLP_ACT. */
static const char *plain_name(const Naming *n, const Members *m) {
    size_t before = strcspn(m->pattern, "*");
    const char *after = m->pattern + before + 1;
    after += *after == '.';
    if (!*after)
        before -= before > 0; /* without the dot before the star */
    const char *plain = arena_printf(n->arena, "%.*s%s", (int)before, m->pattern, after);
    return name_within(n, m->values[0]->storage, upper_text(n->arena, plain));
}

static bool shares_number(const Series *f, const Members *m) {
    return m->number < f->number + f->count && f->number < m->number + m->count;
}

/* Returns the series of that name if it has one of the numbers. */
static const Series *rival_of(const Naming *n, const char *name, const Members *m) {
    for (int i = 0; i < n->out->series_count; i++) {
        const Series *f = &n->out->series[i];
        if (strcmp(f->name, name) == 0)
            return shares_number(f, m) ? f : NULL;
    }
    return NULL;
}

/* If the entry has such a series of other numbers, with the first number:
 * MODEL_LAYERS_FROM_12_MLP_ACT. If the same numbers have another place in forward,
 * MODEL_LAYERS_MLP_ACT_BACKWARD. */
static const char *series_name(const Naming *n, const Members *m) {
    const char *name = plain_name(n, m);
    if (!is_taken(n, name))
        return name;
    const Series *rival = rival_of(n, name, m);
    if (rival)
        return n->backward && !rival->backward ? arena_printf(n->arena, "%s_BACKWARD", name) : name;
    size_t before = strcspn(m->pattern, "*");
    const char *after = m->pattern + before + 1;
    after += *after == '.';
    name = arena_printf(n->arena, "%.*s%sfrom_%d%s%s", (int)before, m->pattern, *after ? "" : ".",
                        m->number, *after ? "." : "", after);
    return name_within(n, m->values[0]->storage, upper_text(n->arena, name));
}

static Series *new_series(Naming *n, const Members *m, const char *name) {
    Places *out = n->out;
    out->series = arena_grow(n->arena, out->series, out->series_count, &out->series_capacity,
                             sizeof(Series));
    Series *f = &out->series[out->series_count++];
    *f = (Series){.name = unique(n, name),
                  .pattern = m->pattern,
                  .entry = n->entry,
                  .backward = n->backward,
                  .member = m->values[0],
                  .number = m->number,
                  .count = m->count,
                  .within = -1};
    return f;
}

/* Returns the distance between the members if it is the same everywhere, else 0. */
static int64_t step_of(const Places *places, const Members *m) {
    int64_t step = start_of(places, m->values[1]) - start_of(places, m->values[0]);
    for (int i = 1; i < m->count; i++)
        if (start_of(places, m->values[i]) - start_of(places, m->values[i - 1]) != step)
            return 0;
    return step;
}

/* Returns the series' members and these, which adjoin or overlap them. */
static Members united(Arena *arena, const Series *f, const Members *m) {
    int end = f->number + f->count, of_m = m->number + m->count;
    Members all = {f->pattern, f->number < m->number ? f->number : m->number, 0, NULL};
    all.count = (end > of_m ? end : of_m) - all.number;
    all.values = arena_array(arena, (size_t)all.count, sizeof *all.values);
    for (int i = 0; i < m->count; i++)
        all.values[m->number + i - all.number] = m->values[i];
    for (int i = 0; i < f->count; i++)
        all.values[f->number + i - all.number] = f->members[i];
    return all;
}

/* Whether the members adjoin or overlap a series and agree with it. If it is of another entry, or of
 * other parts of the storages, it has to go on with them at the same distance. */
static bool extends(const Naming *n, const Series *f, const Members *m) {
    const Places *places = n->out;
    if (!f->members || strcmp(f->pattern, m->pattern) != 0 ||
        m->number > f->number + f->count || m->number + m->count < f->number ||
        plan_place(places->plan, f->member).arena != plan_place(places->plan, m->values[0]).arena)
        return false;
    for (int i = 0; i < m->count; i++) {
        int64_t start = member_start(places, f, m->number + i);
        if (start >= 0 && start != start_of(places, m->values[i]))
            return false;
    }
    bool same_part = shares_number(f, m) || value_begin(f->member) == value_begin(m->values[0]);
    if (f->entry == n->entry && same_part)
        return true;
    Members all = united(n->arena, f, m);
    return f->step && step_of(places, &all) == f->step;
}

/* Finds the storages that contain the members; false unless the same numbers count them and all
 * members start at the same distance from theirs. */
static bool storages_of(Arena *arena, const Places *places, const Members *m, Members *out) {
    *out = (Members){NULL, m->number, m->count, NULL};
    out->values = arena_array(arena, (size_t)m->count, sizeof *out->values);
    for (int i = 0; i < m->count; i++) {
        const Value *v = m->values[i];
        out->values[i] = places->values[v->storage->id];
        if (is_all(v) || value_begin(v) != value_begin(m->values[0]))
            return false;
        int before, now;
        const char *pattern = i == 0 ? NULL
                                     : counted_name(arena, out->values[i - 1]->storage->name,
                                                    v->storage->name, &before, &now);
        if (i > 0 && (!pattern || now != m->number + i || before != now - 1 ||
                      (i > 1 && strcmp(pattern, out->pattern) != 0)))
            return false;
        out->pattern = pattern;
    }
    return true;
}

static void add_members(Naming *n, const Members *m);

/* Members at uneven distances need a series of their storages, or else a list. */
static void add_storages(Naming *n, const Members *m) {
    Members storages;
    if (!step_of(n->out, m) && storages_of(n->arena, n->out, m, &storages))
        add_members(n, &storages);
}

static void add_members(Naming *n, const Members *m) {
    Places *out = n->out;
    int i = 0;
    if (find_series(out, m) >= 0)
        return;
    add_storages(n, m);
    while (i < out->series_count && !extends(n, &out->series[i], m))
        i++;
    Members all = *m;
    if (i < out->series_count) {
        all = united(n->arena, &out->series[i], m);
        add_storages(n, &all);
    } else {
        new_series(n, m, series_name(n, m));
    }
    Series *f = &out->series[i];
    f->step = step_of(out, &all);
    f->members = all.values;
    f->member = all.values[0];
    f->number = all.number;
    f->count = all.count;
    if (f->step)
        add_part(n, f->member);
}

/* Makes the numbers of a series in one place include those of the members. */
static void widen(Series *f, const Members *m) {
    int end = f->number + f->count, of_m = m->number + m->count;
    if (m->number < f->number) {
        f->number = m->number;
        f->member = m->values[0];
    }
    f->count = (end > of_m ? end : of_m) - f->number;
}

/* Names the place after all members, unless a series of another place has that name. */
static void add_shared(Naming *n, Pointer *pointer, int times) {
    Members m = members_of(n->arena, pointer, times);
    const char *name = plain_name(n, &m);
    Series *f = series_of_entry(n, &m);
    if (!f && is_taken(n, name)) {
        add_part(n, pointer->values[pointer_begin(pointer)]);
    } else if (f && !series_is_one_place(f)) {
        pointer->listed = true; /* other members of the series are elsewhere */
    } else {
        if (f)
            widen(f, &m);
        else
            f = new_series(n, &m, name);
        pointer->place = f->name;
    }
}

const char *pointer_text(Arena *arena, const Places *places, const Pointers *pointers,
                         const Pointer *pointer) {
    if (pointer->place)
        return pointer->place;
    if (!pointer->step && !pointer->listed)
        return place_text(places, pointer->values[pointer_begin(pointer)]);
    Members m = members_of(arena, pointer, pointers->run.times);
    int series = find_series(places, &m);
    ENSURE(series >= 0, "%s has no series", pointer->name);
    return arena_printf(arena, "%s(%s)", places->series[series].name,
                        count_text(arena, pointer->count, &pointers->index));
}

/* The series, other than listed ones, that has the value; NULL if none has. */
static const Series *series_with(const Places *places, const Value *v, int *number) {
    Place place = plan_place(places->plan, v);
    for (int i = 0; i < places->series_count; i++) {
        const Series *f = &places->series[i];
        Place first = plan_place(places->plan, f->member);
        bool may_be = f->step && first.arena == place.arena &&
                      (place.offset - first.offset) % f->step == 0;
        if (may_be && number_in(f->pattern, v->name, number) &&
            member_start(places, f, *number) == place.offset)
            return f;
    }
    return NULL;
}

const char *address_text(Arena *arena, const Places *places, const Value *v) {
    int number;
    if (has_place(places, v))
        return place_text(places, v);
    const Series *f = series_with(places, v, &number);
    return f ? arena_printf(arena, "%s(%d)", f->name, number)
             : offset_text(arena, places->symbols, v);
}

/* Whether each value is one step of bytes after the one before. */
static bool is_even(const Places *places, const Value *const *values, int times, int64_t step) {
    for (int i = 1; i < times; i++)
        if (plan_place(places->plan, values[i]).arena != plan_place(places->plan, values[0]).arena ||
            start_of(places, values[i]) - start_of(places, values[i - 1]) != step)
            return false;
    return true;
}

/* "MODEL_LAYERS_##n##_MLP_ACT + 512", if the values begin at the same distance from the starts of
 * storages whose names have the number. */
static const char *pasted_text(Arena *arena, const Places *places, const Value *const *values,
                               Count n, int times) {
    const char *first = places->symbols[values[0]->storage->id], *rest = first;
    const char *second = places->symbols[values[1]->storage->id];
    for (const char *c = first; *c && *c == second[c - first]; c++)
        rest = *c == '_' ? c + 1 : rest;
    int head = (int)(rest - first);
    rest += strspn(rest, "0123456789");
    for (int i = 0; i < times; i++) {
        const char *symbol = places->symbols[values[i]->storage->id];
        const char *named = arena_printf(arena, "%.*s%d%s", head, first, number_at(n, i), rest);
        if (head == 0 || strcmp(symbol, named) != 0 ||
            value_begin(values[i]) != value_begin(values[0]))
            return NULL;
    }
    int64_t bytes = value_begin(values[0]);
    return arena_printf(arena, "%.*s##n%s%s%s", head, first, *rest ? "##" : "", rest,
                        bytes ? arena_printf(arena, " + %lld", (long long)bytes) : "");
}

/* "TRAINED + 512 + n * 1024ul": at even distances from the value of the least number. */
static const char *even_text(Arena *arena, const Places *places, const Value *least, int number,
                             int64_t step) {
    const char *at = address_text(arena, places, least);
    if (step == 0)
        return at;
    const char *n = number ? arena_printf(arena, "(n - %d)", number) : "n";
    return arena_printf(arena, "%s %c %s * %lldul", at, step > 0 ? '+' : '-', n,
                        (long long)llabs(step));
}

const char *counted_address_text(Arena *arena, const Places *places, const Value *const *values,
                                 Count n, int times) {
    int64_t step = start_of(places, values[1]) - start_of(places, values[0]);
    bool even = is_even(places, values, times, step);
    int number;
    const Series *f = even ? series_with(places, values[0], &number) : NULL;
    if (f && number == n.number && has_number(f, number_at(n, times - 1)) &&
        f->step == step * n.direction)
        return arena_printf(arena, "%s(n)", f->name);
    const char *pasted = pasted_text(arena, places, values, n, times);
    if (pasted || !even)
        return pasted;
    int least = n.direction > 0 ? 0 : times - 1;
    return even_text(arena, places, values[least], number_at(n, least), step * n.direction);
}

/* ---- all of a plan ------------------------------------------------------------------------- */

static int first_backward_of(const PlanEntry *entry) {
    int first = 0;
    while (first < entry->launch_count && !is_backward(entry->launches[first].ops[0]))
        first++;
    return first;
}

/* Whether the first launch that uses the pointer is in backward. */
static bool is_of_backward(const Naming *n, const Pointers *pointers, const Pointer *pointer) {
    const Run *run = &pointers->run;
    int launch = 0;
    for (; launch < run->length; launch++)
        for (int a = 0; a < n->entry->launches[run->first + launch].arg_count; a++)
            if (pointer_of_arg(pointers, launch, a) == pointer)
                return run->first + launch >= n->first_backward;
    return run->first >= n->first_backward;
}

static void name_pointer(Naming *n, const Pointers *pointers, const Pointer *pointer) {
    int times = pointers->run.times;
    n->backward = is_of_backward(n, pointers, pointer);
    if (pointer->step != 0 || pointer->listed) {
        Members m = members_of(n->arena, pointer, times);
        add_members(n, &m);
    } else if (pointer->column < 0 && !pointer->shared) {
        add_part(n, pointer->values[pointer_begin(pointer)]);
    }
    if (pointer->odd >= 0)
        add_part(n, pointer->values[pointer->odd]);
}

static void name_block(Naming *n, const Pointers *pointers) {
    for (int i = 0; i < pointers->count; i++)
        name_pointer(n, pointers, &pointers->pointers[i]);
    n->backward = pointers->run.first >= n->first_backward;
    for (int i = 0; i < pointers->column_count; i++)
        for (int t = 0; t < pointers->run.times; t++)
            add_part(n, pointers->columns[i].values[t]);
}

/* Shared places come last: some are members of a series. */
static void name_shared(Naming *n, Pointers *pointers) {
    n->backward = pointers->run.first >= n->first_backward;
    for (int i = 0; i < pointers->count; i++)
        if (pointers->pointers[i].shared)
            add_shared(n, &pointers->pointers[i], pointers->run.times);
}

static void name_blocks_places(Naming *n, Blocks *blocks) {
    for (int b = 0; b < blocks->count; b++)
        if (blocks->blocks[b].called < 0)
            name_block(n, &blocks->blocks[b].pointers);
    for (int b = 0; b < blocks->count; b++)
        if (blocks->blocks[b].called < 0)
            name_shared(n, &blocks->blocks[b].pointers);
}

/* Whether the value, which has a name of its own, is the member of the series with that number. */
static bool is_member(const Places *places, const Series *f, int number, const Value *v) {
    const Value *like = f->member;
    int64_t offset = start_of(places, like) + (number - f->number) * f->step;
    Place place = plan_place(places->plan, v);
    int found;
    return place.offset == offset && place.arena == plan_place(places->plan, like).arena &&
           number_in(f->pattern, v->name, &found) && found == number && v->dtype == like->dtype &&
           value_rows(v) == value_rows(like) && value_cols(v) == value_cols(like) &&
           v->row_stride == like->row_stride;
}

static const Value *find_member(const Places *places, const Series *f, int number) {
    for (int i = 0; i < places->plan->program->storage_count; i++)
        if (places->symbols[i] && is_member(places, f, number, places->values[i]))
            return places->values[i];
    for (int i = 0; i < places->part_count; i++)
        if (is_member(places, f, number, places->parts[i].value))
            return places->parts[i].value;
    return NULL;
}

/* Whether any buffer is called like the member with that number. */
static bool is_named(const Naming *n, const Series *f, int number) {
    const char *text = arena_printf(n->arena, "%d", number);
    return number >= 0 && is_taken(n, upper_text(n->arena, with_range(n->arena, f->pattern, text)));
}

/* Adds members that no loop uses to a series which goes on in them at the same distance. */
static void lengthen(const Naming *n, Series *f) {
    for (int side = 0; side < 2 && f->step; side++)
        for (;;) {
            int number = side ? f->number + f->count : f->number - 1;
            const Value *v = is_named(n, f, number) ? find_member(n->out, f, number) : NULL;
            if (!v)
                break;
            Members all = united(n->arena, f, &(Members){f->pattern, number, 1, &v});
            f->members = all.values;
            f->member = all.values[0];
            f->number = all.number;
            f->count = all.count;
        }
}

/* Finds the series of the storages that members at uneven distances are part of. */
static void find_within(Arena *arena, Places *places) {
    for (int i = 0; i < places->series_count; i++) {
        Series *f = &places->series[i];
        Members m = {f->pattern, f->number, f->count, f->members}, storages;
        if (f->members && !f->step && storages_of(arena, places, &m, &storages))
            f->within = find_series(places, &storages);
    }
}

Places places_of(Arena *arena, const Plan *plan) {
    const Program *program = plan->program;
    size_t values = (size_t)program->value_count + 1, storages = (size_t)program->storage_count + 1;
    Places out = {.plan = plan,
                  .symbols = storage_symbols(arena, plan),
                  .values = storage_values(arena, program),
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
        n.first_backward = first_backward_of(n.entry);
        n.prefix = arena_printf(arena, "%s_", upper_text(arena, n.entry->name));
        out.blocks[e] = blocks_of(arena, plan, n.entry);
        name_blocks_places(&n, &out.blocks[e]);
    }
    for (int i = 0; i < out.series_count; i++)
        lengthen(&n, &out.series[i]);
    find_within(arena, &out);
    share_functions(arena, plan, out.blocks);
    return out;
}
