/* What trains, as a whole: gradients, masters and moments of all trained tensors, and how ranks share
 * them out. */
#ifndef GRAPH_TRAINED_H
#define GRAPH_TRAINED_H

#include "graph/mesh.h"
#include "graph/value.h"

/* What ranks share out: the stages of ZeRO, each including the one before. STATES are masters and
 * moments. */
typedef enum { SHARED_NOTHING, SHARED_STATES, SHARED_GRADIENTS, SHARED_WEIGHTS } SharedState;

/* Where readers find all of a section's weights: in the run of all weights; for those read as
 * Program.real beside 16-bit ones, in a run of their own; with SHARED_WEIGHTS, in a buffer per use. */
typedef enum { WEIGHTS_IN_RUN, WEIGHTS_IN_REAL_RUN, WEIGHTS_IN_BUFFER } SectionWeights;

/* Tensors of a module, of several small ones, or vectors of all, which lie together in the runs; each
 * rank has an equal part of them. */
typedef struct {
    const char *name;        /* the first module's, or that of most of it: "model.layers.0" */
    int64_t first, elements; /* of the runs */
    bool gradient_lasts; /* until the next step, even if TrainState.temporary */
    Value *gradient; /* from SHARED_GRADIENTS on: buffer that backward fills, until it is summed;
                      * with in_backward: until its weights are updated */
    SectionWeights weights_are;
    Value *weight; /* all of it, where these are not in the run */
} Section;

/* A module's weights, which no rank holds whole for longer than they are used. */
typedef struct {
    const char *module;
    Value *whole; /* has no place: the gather_weights pass gives its readers a copy */
    Value *piece; /* what the rank keeps */
} Gathered;

/* 8-bit moments of the tensors that come first in the runs: codes [B,256], and the absmax of each
 * row of codes, [B,1]. */
typedef struct {
    int64_t rows; /* of the runs; 0: no moment is coded */
    Value *exp_avg, *exp_avg_absmax, *exp_avg_sq, *exp_avg_sq_absmax;
} CodedMoments;

/* Rows of the runs whose parameters have the same `shard` and `partial`, whose moments are all coded
 * or all plain, and which, with `vectors`, all have one axis. */
typedef struct {
    RankGroup shard, partial;
    bool coded;
    bool vectors;
    int64_t first, rows;
} TrainKind;

enum { TRAIN_KINDS = 12 };

/* All trained tensors at once, each quantity one run of memory seen as [R,C]; all NULL unless
 * program_trains. The step reads `weight`; `master` is the same value, or the fp32 copy it is rounded
 * from; the optimizer decides how many moments there are. Kinds follow each other: coded ones first,
 * and within coded and plain those with a `shard` first. */
typedef struct {
    SharedState shared;
    bool in_backward; /* backward updates each section once its gradients are complete */
    bool temporary;   /* those gradients last only until then */
    Value *weight, *master, *gradient, *exp_avg, *exp_avg_sq;
    CodedMoments coded; /* if any: exp_avg and exp_avg_sq cover only the rows after these */
    TrainKind kinds[TRAIN_KINDS];
    int kind_count;
    Section *sections; /* in order; none with SHARED_NOTHING, unless in_backward */
    int section_count, section_capacity;
    Value *squares; /* with in_backward: sums of squares of rows of gradients, coded ones first */
    Value *gradient_piece; /* with SHARED_STATES: the rank's sums, in place of gradients already sent */
    int64_t piece;         /* elements of the rank's piece of masters and moments; 0: all */
    int64_t coded_piece;   /* how many of these, at its start, have coded moments */
} TrainState;

#endif
