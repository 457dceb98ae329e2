/* Parameters: how a weight is stored, trained, shared out among ranks, and found in files. */
#ifndef GRAPH_PARAM_H
#define GRAPH_PARAM_H

#include "graph/mesh.h"
#include "graph/value.h"

/* What belongs to the codes of a weight that is kept in few bits; see Param.stored. */
typedef struct {
    const char *type;            /* "nf4", "fp4" */
    int64_t block, nested_block; /* codes per absmax; absmax codes per nested_absmax */
    Value *absmax, *map;
    Value *offset, *nested_absmax, *nested_map; /* NULL: each absmax is a number, not a code */
    bool in_file; /* the model's files have this form already, so load quantises nothing */
    /* Where no rank holds all codes: the rank's own codes, and the piece of its module that they
     * lie in (with the absmax where those are codes). NULL where each rank holds all. */
    Value *codes, *piece;
} PackedForm;

typedef enum {
    INIT_ZEROS,
    INIT_ONES,
    INIT_NORMAL,
    INIT_UNIFORM,
    INIT_LOAD /* filled with NaN, which the load entry overwrites */
} Init;

/* A parameter and everything that belongs to it. */
typedef struct {
    Value *weight; /* what the graphs read */
    Value *master; /* fp32 copy that a trained 16-bit weight is rounded from; else the weight itself */
    Value *gradient, *exp_avg, *exp_avg_sq;    /* NULL where frozen */
    Value *exp_avg_absmax, *exp_avg_sq_absmax; /* of moments kept as codes; else NULL */
    Value *stored; /* what STATE holds instead of the weight, which OP_fetch then brings; or NULL */
    Value *scales; /* of `stored` where it is codes, whole on each rank; or NULL */
    const PackedForm *packed; /* of `stored` where it is codes that files can have too; or NULL */
    bool gathered;            /* the weight itself has no place: its readers get a gathered copy */
    Value *piece; /* of a frozen gathered weight: the rank's piece of its module; or NULL */

    /* Sharded training state (`pieces` not 0): master and moments are runs of all trained tensors,
     * cut into sections; each rank of the group holds an equal piece of each section. The tensor
     * begins at element piece_first of its section; the rank's part of the section is
     * piece_elements long and begins at element piece_at of the rank's piece. For a frozen gathered
     * weight the same holds of `piece`, with its module as the only section. */
    RankGroup pieces;
    int64_t piece_first, piece_elements, piece_at;
    bool gradient_in_pieces; /* the gradient is sharded the same way */
    int section; /* the gradient is temporary, and complete where a step dumps gradients for the
                  * section-th time; 0: it lasts until the next step */

    const char *file_name; /* in the safetensors file */
    const char *base_name; /* if an adapter's files have it: its name in the model's; or NULL */
    uint32_t name_hash;    /* stable_hash of file_name; set by program_add_param */
    Init init;
    double init_scale;
    const char *no_zero_row; /* why no row may be all zeros when no adapter is given; or NULL */

    /* Where memory holds the file's elements in another order: the file's tensor seen with the
     * dimensions `split`, row-major; memory has those axes in the order `order`. The file's own
     * shape is `split` with its last axes merged until file_rank are left. split[0] 0: same shape,
     * same order. */
    int64_t split[MAX_RANK];
    int order[MAX_RANK];
    int file_rank;

    /* Ranks that share the weight out: each holds its part along shard_axis, and the weight's shape
     * is that part's. Where the axis is several equal runs (q|k|v), shard_runs says how many, and a
     * rank holds its part of each. 0: every rank holds all of it. */
    RankGroup shard;
    int shard_axis, shard_runs;
    /* Ranks that hold the same weight and each compute a part of its gradient, to be summed.
     * 0: each computes all of it. */
    RankGroup partial;
} Param;

/* What STATE holds of the parameter: `stored`, `piece` or the weight itself; NULL: nothing. */
const Value *param_place(const Param *);

#endif
