/* Where a model can be cut into stages, and where it is. */
#ifndef PASS_STAGE_CUTS_H
#define PASS_STAGE_CUTS_H

#include "graph/graph.h"
#include "spec/spec.h"

/* A place between two ops of a forward graph where one activation crosses, and nothing else. */
typedef struct {
    int at;       /* the first op behind it */
    Value *value; /* what crosses */
} Cut;

typedef struct {
    Cut *items;
    int count;
} Cuts;

Cuts cuts_of(const Graph *, int storages, Arena *);

/* One more than there are stages: where each begins, in micro_step and in evaluate, and where the last
 * one ends. Those of the spec, or such that the slowest stage of forward is as quick as can be; a user
 * error where there are none. */
typedef struct {
    Cut *train, *evaluate;
} StageCuts;

StageCuts stage_cuts(Program *, const Spec *, Arena *);

#endif
