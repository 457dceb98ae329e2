/* The names under which program.c knows where things lie, so that its text has no bare bytes: of
 * storages, of parts of storages, and of series, what lies at even distances and is counted, as a
 * buffer of each layer. buffers.h defines them. */
#ifndef EMIT_PLACES_H
#define EMIT_PLACES_H

#include "emit/blocks.h"

/* A value that starts inside its storage. */
typedef struct {
    const Value *value;
    const char *name;
    int next; /* another part of the storage; -1: none */
} Part;

/* SERIES(number): where the member of that number starts. */
typedef struct {
    const char *name;
    const char *pattern; /* "model.layers.*.mlp.act" */
    const Value *member; /* one of them, */
    int64_t number;      /* its number */
    int64_t step;        /* bytes from one to the next, negative where they lie backwards */
} Series;

typedef struct {
    const Plan *plan;
    const char **symbols; /* of storages, as storage_symbols() */
    Part *parts;
    int part_count, part_capacity;
    int *first_part; /* of each storage; -1: none */
    Series *series;
    int series_count, series_capacity;
    Blocks blocks[ENTRY_COUNT]; /* the functions of program.c, whose places these are */
} Places;

Places places_of(Arena *, const Plan *);

/* Whether the value has a name: a function of program.c uses it, or it fills its storage. */
bool has_place(const Places *, const Value *);
const char *place_text(const Places *, const Value *); /* "MODEL_NORM_WEIGHT" */
/* "MODEL_LAYERS_MLP_ACT(3 - i)": where the pointer, of a repeated run, lies the i-th time. */
const char *series_text(Arena *, const Places *, const Pointer *);

#endif
