/* Names of addresses for program.c, so that its text contains no plain byte offsets. There are
 * names for storages, for parts of storages, and for series: buffers with consecutive numbers, such as
 * one buffer per layer. buffers.h defines the names. */
#ifndef EMIT_PLACES_H
#define EMIT_PLACES_H

#include "emit/blocks.h"

/* A value that starts inside its storage. */
typedef struct {
    const Value *value;
    const char *name;
    int next; /* the next part of the storage, or -1 */
} Part;

/* NAME(number): the address of that member. Either members are at a constant distance, or the series
 * is listed, or it is at a constant distance from another one, whose members are the storages that
 * contain these. If all members are in one place, the series is called NAME, without a number. */
typedef struct {
    const char *name;
    const char *pattern;    /* "model.layers.*.mlp.act" */
    const PlanEntry *entry; /* the first that uses it */
    bool backward;          /* whether backward is the first that uses it */
    const Value *member;    /* the one of the least number */
    int number, count;      /* the least number; how many there are */
    const Value **members;  /* [count], by number; NULL: all in one place */
    int64_t step;           /* bytes from one member to the next, may be negative; 0: uneven, or all in
                             * one place */
    int within; /* if uneven: series of the storages that the members are part of; -1: none */
} Series;

typedef struct {
    const Plan *plan;
    const char **symbols; /* of storages: storage_symbols() */
    const Value **values; /* of storages: storage_values() */
    Part *parts;
    int part_count, part_capacity;
    int *first_part; /* of each storage, or -1 */
    Series *series;
    int series_count, series_capacity;
    Blocks blocks[ENTRY_COUNT]; /* the functions of program.c that use these names */
} Places;

/* Cuts the entries into functions and names what these use. The arena owns all of it. */
Places places_of(Arena *, const Plan *);

/* The name of a value that fills its storage or that a function of program.c uses. */
const char *place_text(const Places *, const Value *); /* "MODEL_NORM_WEIGHT" */
/* "MODEL_NORM_WEIGHT", "MODEL_LAYERS_MLP_ACT(3)" or "TRAINED + 512": the address of any value, as a
 * constant expression, by a name if there is one. */
const char *address_text(Arena *, const Places *, const Value *);
/* "MODEL_LAYERS_MLP_ACT(n)" or "MODEL_LAYERS_##n##_MLP_ACT": the addresses of several values, at least
 * two, as a constant expression that a macro makes of its argument n, which counts them. NULL if
 * there is none. */
const char *counted_address_text(Arena *, const Places *, const Value *const *values, Count n,
                                 int times);
/* "MODEL_LAYERS_MLP_ACT(layer)": the address of a pointer as a function of the index, if it is counted;
 * else "MODEL_LAYERS_MLP_ACT" or "MODEL_NORM". */
const char *pointer_text(Arena *, const Places *, const Pointers *, const Pointer *);

#endif
