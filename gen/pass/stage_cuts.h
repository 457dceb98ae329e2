/* Where a model can be cut into stages, and where it is. */
#ifndef PASS_STAGE_CUTS_H
#define PASS_STAGE_CUTS_H

#include "graph/graph.h"
#include "spec/spec.h"

/* The graph's ops in an order in which those that read the same weights stand together. The graph and
 * the ids of its ops stay as they are. */
Graph stage_order(const Program *, const Graph *, Arena *);

enum { MAX_CROSSING = 2 };

/* A place between two ops of a forward graph, in that order. */
typedef struct {
    int at;                     /* the first op behind it */
    Value *value[MAX_CROSSING]; /* the activations that cross, and nothing else does */
    int count;
    int trained; /* which of them depends on what trains; the others do not */
} Cut;

/* A forward graph, and of its ops in that order one cut more than there are stages: where each begins,
 * and where the last one ends. */
typedef struct {
    Graph *graph;
    Graph order;
    Cut *cuts;
} StagedGraph;

enum { MOST_STAGED = 3 };

/* micro_step, evaluate and, where it is an entry, the reference. */
typedef struct {
    StagedGraph graph[MOST_STAGED];
    int count;
} StageCuts;

/* Those of the spec, or such that the slowest stage of forward is as quick as can be; a user error
 * where there are none. */
StageCuts stage_cuts(Program *, const Spec *, Arena *);

#endif
