/* Names of addresses for program.c, so that its text contains no plain byte offsets. There are
 * names for storages, for parts of storages, and for series: buffers at equal distances with
 * consecutive numbers, such as one buffer per layer. buffers.h defines the names. */
#ifndef EMIT_PLACES_H
#define EMIT_PLACES_H

#include "emit/blocks.h"

/* A value that starts inside its storage. */
typedef struct {
    const Value *value;
    const char *name;
    int next; /* the next part of the storage, or -1 */
} Part;

/* SERIES(number) is the start of the member with that number. */
typedef struct {
    const char *name;
    const char *pattern; /* "model.layers.*.mlp.act" */
    const Value *member; /* one member, */
    int64_t number;      /* its number */
    int64_t step;        /* bytes from one number to the next; may be negative */
} Series;

typedef struct {
    const Plan *plan;
    const char **symbols; /* of storages: storage_symbols() */
    Part *parts;
    int part_count, part_capacity;
    int *first_part; /* of each storage, or -1 */
    Series *series;
    int series_count, series_capacity;
    Blocks blocks[ENTRY_COUNT]; /* the functions of program.c that use these names */
} Places;

Places places_of(Arena *, const Plan *);

/* Whether the value has a name: if a function of program.c uses it, or if it fills its storage. */
bool has_place(const Places *, const Value *);
const char *place_text(const Places *, const Value *); /* "MODEL_NORM_WEIGHT" */
/* "MODEL_LAYERS_MLP_ACT(3 - i)": the address of a pointer of a repeated run in iteration i. */
const char *series_text(Arena *, const Places *, const Pointer *);

#endif
