/* Addresses as text. */
#include "emit/places.h"

#include "base/dotted.h"
#include "emit/members.h"
#include "emit/names.h"

#include <stdlib.h>
#include <string.h>

const char *place_text(const Places *places, const Value *v) {
    if (has_storages_name(v))
        return places->symbols[v->storage->id];
    const Part *part = find_part(places, v);
    ENSURE(part, "%s has no name", v->name);
    return part->name;
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

static bool has_place(const Places *places, const Value *v) {
    return has_storages_name(v) || find_part(places, v);
}

/* The series, other than listed ones, that has the value; NULL if none has. */
static const Series *series_with(const Places *places, const Value *v, int *number) {
    Place place = plan_place(places->plan, v);
    for (int i = 0; i < places->series_count; i++) {
        const Series *series = &places->series[i];
        Place first = plan_place(places->plan, series->member);
        bool may_be = series->step && first.arena == place.arena &&
                      (place.offset - first.offset) % series->step == 0;
        if (may_be && number_in(series->pattern, v->name, number) &&
            series_start(places, series, *number) == place.offset)
            return series;
    }
    return NULL;
}

const char *address_text(Arena *arena, const Places *places, const Value *v) {
    int number;
    if (has_place(places, v))
        return place_text(places, v);
    const Series *series = series_with(places, v, &number);
    return series ? arena_printf(arena, "%s(%d)", series->name, number)
                  : offset_text(arena, places->symbols, v);
}

/* Whether each value is one step of bytes after the one before. */
static bool is_even(const Places *places, const Value *const *values, int times, int64_t step) {
    for (int i = 1; i < times; i++)
        if (plan_place(places->plan, values[i]).arena !=
                plan_place(places->plan, values[0]).arena ||
            place_start(places, values[i]) - place_start(places, values[i - 1]) != step)
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
    int64_t step = place_start(places, values[1]) - place_start(places, values[0]);
    bool even = is_even(places, values, times, step);
    int number;
    const Series *series = even ? series_with(places, values[0], &number) : NULL;
    if (series && number == n.number && series_has_number(series, number_at(n, times - 1)) &&
        series->step == step * n.direction)
        return arena_printf(arena, "%s(n)", series->name);
    const char *pasted = pasted_text(arena, places, values, n, times);
    if (pasted || !even)
        return pasted;
    int least = n.direction > 0 ? 0 : times - 1;
    return even_text(arena, places, values[least], number_at(n, least), step * n.direction);
}
