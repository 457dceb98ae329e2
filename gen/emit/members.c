/* Looks up parts and series. */
#include "emit/members.h"

#include <string.h>

int64_t place_start(const Places *places, const Value *v) {
    return plan_place(places->plan, v).offset;
}

Members members_of(Arena *arena, const Pointer *pointer, int times) {
    int begin = pointer_begin(pointer), last = pointer_last(pointer, times);
    int least = pointer->count.direction > 0 ? begin : last;
    Members m = {pointer->pattern, number_at(pointer->count, least), last - begin + 1, NULL};
    m.values = arena_array(arena, (size_t)m.count, sizeof *m.values);
    for (int t = begin; t <= last; t++)
        m.values[number_at(pointer->count, t) - m.number] = pointer->values[t];
    return m;
}

bool has_storages_name(const Value *v) {
    return value_fills(v) || (v->offset == 0 && strcmp(v->name, v->storage->name) == 0);
}

const Part *find_part(const Places *places, const Value *v) {
    for (int i = places->first_part[v->storage->id]; i >= 0; i = places->parts[i].next) {
        const Value *part = places->parts[i].value;
        bool same_start = value_begin(part) == value_begin(v);
        if (part == v || (same_start && strcmp(part->name, v->name) == 0))
            return &places->parts[i];
    }
    return NULL;
}

bool series_is_one_place(const Series *series) { return !series->members; }

bool series_has_number(const Series *series, int number) {
    return number >= series->number && number < series->number + series->count;
}

int64_t series_start(const Places *places, const Series *series, int number) {
    if (!series->members)
        return place_start(places, series->member);
    return series_has_number(series, number)
               ? place_start(places, series->members[number - series->number])
               : -1;
}

bool series_has(const Places *places, const Series *series, const Members *m) {
    const Value *first = m->values[0];
    if (strcmp(series->pattern, m->pattern) != 0 ||
        plan_place(places->plan, series->member).arena != plan_place(places->plan, first).arena)
        return false;
    for (int i = 0; i < m->count; i++)
        if (series_start(places, series, m->number + i) != place_start(places, m->values[i]))
            return false;
    return true;
}

int find_series(const Places *places, const Members *m) {
    for (int i = 0; i < places->series_count; i++)
        if (!series_is_one_place(&places->series[i]) && series_has(places, &places->series[i], m))
            return i;
    return -1;
}
