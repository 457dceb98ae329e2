/* A spec's experiments: the points of its [sweep], or itself.
 *
 *     [sweep]
 *     "adapter.r" = [8, 16]                                       is an axis of the product
 *     "model.num_hidden_layers,adapter.r" = [[4, 8], [8, 16]]     varies keys together
 *     "name,adapter.r" = [["small", 8], ["large", 64]]            gives values names
 *
 * A spec inherits the [sweep] of the spec that it extends unless it has its own; an empty one
 * removes it.
 * Points come in the order of the file, the last line varying fastest. All of them are read and
 * checked before any is returned. */
#pragma once
#include "spec/spec.h"

typedef struct {
    const char *name; /* "r8_num_hidden_layers4": safe as a folder's name; "" without a [sweep] */
    int nsets;        /* what this point sets: KEY=VALUE, VALUE as TOML */
    const char **sets;
    const Spec *spec;
} SweepPoint;

typedef struct {
    bool swept; /* the spec has a [sweep] */
    int count;  /* at least 1 */
    SweepPoint *points;
} Sweep;

/* Returns the point of that name as a single experiment; user_error if there is none. */
const Sweep *sweep_point(Arena *arena, const Sweep *sweep, const char *name);

/* Returns the experiment of a spec without a [sweep] (point: NULL), or of a point of a study, with 1,
 * 2, 4, ... replicas. */
Sweep *sweep_replicas(Arena *arena, const char *path, const char *const *sets, int nsets,
                      const char *point);

/* Reads a spec and checks all of its points, with `sets` ("KEY=VALUE") in each of them; mistakes are
 * user errors. The arena owns the result. */
Sweep *sweep_read(Arena *arena, const char *path, const char *const *sets, int nsets);
