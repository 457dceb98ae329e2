/* Ranks, each a process with one device, form a mesh. Rank numbers count the last axis fastest, so
 * ranks along the last axis are nearest to each other. */
#ifndef GRAPH_MESH_H
#define GRAPH_MESH_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    AXIS_PIPELINE,
    AXIS_REPLICATE,
    AXIS_SHARD,
    AXIS_TENSOR,
    AXIS_SAME_KEYS, /* tensor-parallel ranks with the same key heads; size 1 if none share */
    AXIS_COUNT
} Axis;

/* A set of axes. It defines a group for each rank: the rank itself and all ranks that differ from
 * it only along these axes. */
typedef unsigned RankGroup;
enum {
    GROUP_PIPELINE = 1 << AXIS_PIPELINE,
    GROUP_REPLICATE = 1 << AXIS_REPLICATE,
    GROUP_SHARD = 1 << AXIS_SHARD,
    GROUP_KEYS = 1 << AXIS_TENSOR, /* ranks with different key heads */
    GROUP_SAME_KEYS = 1 << AXIS_SAME_KEYS,
    GROUP_TENSOR = GROUP_KEYS | GROUP_SAME_KEYS, /* ranks that share out a layer */
    GROUP_DATA = GROUP_REPLICATE | GROUP_SHARD,  /* ranks with batches of their own */
    GROUP_WORLD = (1 << AXIS_COUNT) - 1,
    GROUP_ENDS = 1 << AXIS_COUNT, /* not an axis: the first and last stage of a pipeline */
    GROUP_SETS = 2 * GROUP_ENDS
};

typedef struct {
    int64_t size[AXIS_COUNT]; /* ranks along the axis, at least 1 */
    RankGroup kept;           /* axes that have groups even if their size is 1 */
} Mesh;

int64_t mesh_ranks(const Mesh *, RankGroup);
/* Distance between the numbers of neighbouring ranks of a group. */
int64_t mesh_stride(const Mesh *, RankGroup);
/* The group without axes of size 1 that are not kept, and with the pipeline in place of its ends if
 * it has at most two stages: equal for groups of the same ranks. */
RankGroup mesh_group(const Mesh *, RankGroup);
/* Whether mesh_group leaves anything of the group; if not, each rank is alone and needs no
 * collectives. */
bool mesh_has(const Mesh *, RankGroup);
/* The group as text shows it: without AXIS_SAME_KEYS if its size is 1, as in most programs. */
RankGroup mesh_written(const Mesh *, RankGroup);
const char *axis_name(Axis); /* "replicate" */

/* What the ranks of a group do together. */
typedef enum {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_SEND_RECV, /* between neighbouring pipeline stages: in the schedule, not an op */
    COLLECTIVE_KINDS
} CollectiveKind;

const char *collective_name(CollectiveKind); /* "all_reduce" */

#endif
