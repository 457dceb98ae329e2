/* Where a model can be cut into pipeline stages, and the cuts that are chosen. */
#ifndef PASS_STAGE_CUTS_H
#define PASS_STAGE_CUTS_H

#include "graph/graph.h"
#include "spec/spec.h"

/* Returns the graph's ops in an order in which ops that read the same weights are close together.
 * The graph and the ids of its ops do not change. */
Graph stage_order(const Program *, const Graph *, Arena *);

enum { MAX_CROSSING = 2 };

/* A place between two ops of a forward graph in stage order. */
typedef struct {
    int at;                     /* index of the first op after the cut */
    Value *value[MAX_CROSSING]; /* all activations that cross it */
    int count;
    int trained; /* index of the only one that depends on trained parameters */
} Cut;

/* A forward graph, its ops in stage order, and a cut at the start of each stage and at the end of
 * the last one. */
typedef struct {
    Graph *graph;
    Graph order;
    Cut *cuts;
} StagedGraph;

enum { MOST_STAGED = 3 };

/* micro_step, evaluate and, if it is an entry, reference. */
typedef struct {
    StagedGraph graph[MOST_STAGED];
    int count;
} StageCuts;

/* Returns the cuts that the spec names, or else those that make the slowest stage's forward as fast
 * as possible. A user error if there are none. */
StageCuts stage_cuts(Program *, const Spec *, Arena *);

#endif
