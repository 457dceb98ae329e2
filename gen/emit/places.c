/* Places are named after values. If two places would have the same name, the second gets __2. */
#include "emit/places.h"

#include "base/dotted.h"
#include "emit/labels.h"
#include "emit/members.h"
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
    if (has_storages_name(v) || find_part(out, v))
        return;
    out->parts =
        arena_grow(n->arena, out->parts, out->part_count, &out->part_capacity, sizeof(Part));
    int *link = &out->first_part[v->storage->id]; /* sorted by offset */
    while (*link >= 0 && value_begin(out->parts[*link].value) < value_begin(v))
        link = &out->parts[*link].next;
    out->parts[out->part_count] = (Part){v, unique(n, name_of_part(n, v)), *link};
    *link = out->part_count++;
}

/* ---- series ---------------------------------------------------------------------------- */

/* Whether forward has a member with the value's name and number in another place. */
static bool is_elsewhere(const Naming *n, const Value *v) {
    int number;
    for (int i = 0; i < n->out->series_count; i++) {
        const Series *series = &n->out->series[i];
        if (series->entry == n->entry && !series->backward &&
            number_in(series->pattern, v->name, &number) && series_has_number(series, number) &&
            series_start(n->out, series, number) != place_start(n->out, v))
            return true;
    }
    return false;
}

/* Returns the series of the entry that has the members, even if they are in one place. */
static Series *series_of_entry(const Naming *n, const Members *m) {
    for (int i = 0; i < n->out->series_count; i++)
        if (n->out->series[i].entry == n->entry && series_has(n->out, &n->out->series[i], m))
            return &n->out->series[i];
    return NULL;
}

/* The pattern's name with `from`, or nothing, for the star: "model.layers.*.mlp.act" and "" ->
 * MODEL_LAYERS_MLP_ACT, "from_12" -> MODEL_LAYERS_FROM_12_MLP_ACT. */
static const char *name_with(const Naming *n, const Members *m, const char *from) {
    size_t before = strcspn(m->pattern, "*");
    const char *after = m->pattern + before + 1;
    after += *after == '.';
    bool last = !*after;
    if (last && !*from)
        before -= before > 0; /* without the dot before the star */
    const char *name =
        arena_printf(n->arena, "%.*s%s%s%s%s", (int)before, m->pattern, *from && last ? "." : "",
                     from, *from && !last ? "." : "", after);
    return name_within(n, m->values[0]->storage, upper_text(n->arena, name));
}

static const char *plain_name(const Naming *n, const Members *m) { return name_with(n, m, ""); }

static bool shares_number(const Series *series, const Members *m) {
    return m->number < series->number + series->count && series->number < m->number + m->count;
}

/* Returns the series of that name if it has one of the numbers. */
static const Series *rival_of(const Naming *n, const char *name, const Members *m) {
    for (int i = 0; i < n->out->series_count; i++) {
        const Series *series = &n->out->series[i];
        if (strcmp(series->name, name) == 0)
            return shares_number(series, m) ? series : NULL;
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
    return name_with(n, m, arena_printf(n->arena, "from_%d", m->number));
}

static Series *new_series(Naming *n, const Members *m, const char *name) {
    Places *out = n->out;
    out->series =
        arena_grow(n->arena, out->series, out->series_count, &out->series_capacity, sizeof(Series));
    Series *series = &out->series[out->series_count++];
    *series = (Series){.name = unique(n, name),
                       .pattern = m->pattern,
                       .entry = n->entry,
                       .backward = n->backward,
                       .member = m->values[0],
                       .number = m->number,
                       .count = m->count,
                       .within = -1};
    return series;
}

static void set_members(Series *series, const Members *m) {
    series->members = m->values;
    series->member = m->values[0];
    series->number = m->number;
    series->count = m->count;
}

/* Returns the distance between the members if it is the same everywhere, else 0. */
static int64_t step_of(const Places *places, const Members *m) {
    int64_t step = place_start(places, m->values[1]) - place_start(places, m->values[0]);
    for (int i = 1; i < m->count; i++)
        if (place_start(places, m->values[i]) - place_start(places, m->values[i - 1]) != step)
            return 0;
    return step;
}

/* Returns the series' members and these, which adjoin or overlap them. */
static Members united(Arena *arena, const Series *series, const Members *m) {
    int end = series->number + series->count, of_m = m->number + m->count;
    Members all = {series->pattern, series->number < m->number ? series->number : m->number, 0,
                   NULL};
    all.count = (end > of_m ? end : of_m) - all.number;
    all.values = arena_array(arena, (size_t)all.count, sizeof *all.values);
    for (int i = 0; i < m->count; i++)
        all.values[m->number + i - all.number] = m->values[i];
    for (int i = 0; i < series->count; i++)
        all.values[series->number + i - all.number] = series->members[i];
    return all;
}

/* Whether the members adjoin or overlap a series and agree with it. If it is of another entry, or of
 * other parts of the storages, it has to go on with them at the same distance. */
static bool extends(const Naming *n, const Series *series, const Members *m) {
    const Places *places = n->out;
    if (!series->members || strcmp(series->pattern, m->pattern) != 0 ||
        m->number > series->number + series->count || m->number + m->count < series->number ||
        plan_place(places->plan, series->member).arena !=
            plan_place(places->plan, m->values[0]).arena)
        return false;
    for (int i = 0; i < m->count; i++) {
        int64_t start = series_start(places, series, m->number + i);
        if (start >= 0 && start != place_start(places, m->values[i]))
            return false;
    }
    bool same_part =
        shares_number(series, m) || value_begin(series->member) == value_begin(m->values[0]);
    if (series->entry == n->entry && same_part)
        return true;
    Members all = united(n->arena, series, m);
    return series->step && step_of(places, &all) == series->step;
}

/* Finds the storages that contain the members; false unless the same numbers count them and all
 * members start at the same distance from theirs. */
static bool storages_of(Arena *arena, const Places *places, const Members *m, Members *out) {
    *out = (Members){NULL, m->number, m->count, NULL};
    out->values = arena_array(arena, (size_t)m->count, sizeof *out->values);
    for (int i = 0; i < m->count; i++) {
        const Value *v = m->values[i];
        out->values[i] = places->values[v->storage->id];
        if (has_storages_name(v) || value_begin(v) != value_begin(m->values[0]))
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
    Series *series = &out->series[i];
    series->step = step_of(out, &all);
    set_members(series, &all);
    if (series->step)
        add_part(n, series->member);
}

/* Makes the numbers of a series in one place include those of the members. */
static void widen(Series *series, const Members *m) {
    int end = series->number + series->count, of_m = m->number + m->count;
    if (m->number < series->number) {
        series->number = m->number;
        series->member = m->values[0];
    }
    series->count = (end > of_m ? end : of_m) - series->number;
}

/* Names the place after all members, unless a series of another place has that name. */
static void add_shared(Naming *n, Pointer *pointer, int times) {
    Members m = members_of(n->arena, pointer, times);
    const char *name = plain_name(n, &m);
    Series *series = series_of_entry(n, &m);
    if (!series && is_taken(n, name)) {
        add_part(n, pointer->values[pointer_begin(pointer)]);
    } else if (series && !series_is_one_place(series)) {
        pointer->listed = true; /* other members of the series are elsewhere */
    } else {
        if (series)
            widen(series, &m);
        else
            series = new_series(n, &m, name);
        pointer->place = series->name;
    }
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
static bool is_member(const Places *places, const Series *series, int number, const Value *v) {
    const Value *like = series->member;
    int64_t offset = place_start(places, like) + (number - series->number) * series->step;
    Place place = plan_place(places->plan, v);
    int found;
    return place.offset == offset && place.arena == plan_place(places->plan, like).arena &&
           number_in(series->pattern, v->name, &found) && found == number &&
           v->dtype == like->dtype && value_rows(v) == value_rows(like) &&
           value_cols(v) == value_cols(like) && v->row_stride == like->row_stride;
}

static const Value *find_member(const Places *places, const Series *series, int number) {
    for (int i = 0; i < places->plan->program->storage_count; i++)
        if (places->symbols[i] && is_member(places, series, number, places->values[i]))
            return places->values[i];
    for (int i = 0; i < places->part_count; i++)
        if (is_member(places, series, number, places->parts[i].value))
            return places->parts[i].value;
    return NULL;
}

/* Whether any buffer is called like the member with that number. */
static bool is_named(const Naming *n, const Series *series, int number) {
    const char *text = arena_printf(n->arena, "%d", number);
    return number >= 0 &&
           is_taken(n, upper_text(n->arena, with_range(n->arena, series->pattern, text)));
}

/* Adds members that no loop uses to a series which goes on in them at the same distance. */
static void lengthen(const Naming *n, Series *series) {
    for (int side = 0; side < 2 && series->step; side++)
        for (;;) {
            int number = side ? series->number + series->count : series->number - 1;
            const Value *v =
                is_named(n, series, number) ? find_member(n->out, series, number) : NULL;
            if (!v)
                break;
            Members all = united(n->arena, series, &(Members){series->pattern, number, 1, &v});
            set_members(series, &all);
        }
}

/* Finds the series of the storages that members at uneven distances are part of. */
static void find_within(Arena *arena, Places *places) {
    for (int i = 0; i < places->series_count; i++) {
        Series *series = &places->series[i];
        Members m = {series->pattern, series->number, series->count, series->members}, storages;
        if (series->members && !series->step && storages_of(arena, places, &m, &storages))
            series->within = find_series(places, &storages);
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
