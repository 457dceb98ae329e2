/* What the names of places are found by: the parts of storages, and the members of series. places.c
 * makes both, place_text.c writes them. Numbers are those in names, such as a layer's; addresses are
 * bytes from the start of an arena. */
#ifndef EMIT_MEMBERS_H
#define EMIT_MEMBERS_H

#include "emit/places.h"

/* A pointer's members by ascending number. */
typedef struct {
    const char *pattern;
    int number, count;
    const Value **values;
} Members;

/* Of a counted pointer; the arena owns the list. */
Members members_of(Arena *, const Pointer *, int times);

/* Whether the value has the storage's name: it fills the storage or has the same name. */
bool has_storages_name(const Value *);
/* The part of a storage that has the value's name; NULL: none has. */
const Part *find_part(const Places *, const Value *);
/* Whether all members are in one place. */
bool series_is_one_place(const Series *);
bool series_has_number(const Series *, int number);
/* Address of the series' member with that number, or -1. */
int64_t series_start(const Places *, const Series *, int number);
/* Whether these are members of the series, at the same addresses. */
bool series_has(const Places *, const Series *, const Members *);
/* Index of a series of several places that has them; -1: none has. */
int find_series(const Places *, const Members *);
int64_t place_start(const Places *, const Value *);

#endif
