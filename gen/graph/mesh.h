/* Ranks, a process and a device each, form a mesh. A rank's number counts the last axis fastest, so
 * ranks along it are nearest to each other. */
#ifndef GRAPH_MESH_H
#define GRAPH_MESH_H

#include <stdint.h>

typedef enum {
    AXIS_PIPELINE,
    AXIS_REPLICATE,
    AXIS_SHARD,
    AXIS_TENSOR,
    AXIS_SAME_KEYS, /* of those that share out a layer, where there are more than key heads */
    AXIS_COUNT
} Axis;

/* A set of axes, and so for each rank a group: itself and the ranks that differ from it in these
 * alone. */
typedef unsigned RankGroup;
enum {
    GROUP_PIPELINE = 1 << AXIS_PIPELINE,
    GROUP_REPLICATE = 1 << AXIS_REPLICATE,
    GROUP_SHARD = 1 << AXIS_SHARD,
    GROUP_KEYS = 1 << AXIS_TENSOR, /* each has key heads of its own */
    GROUP_SAME_KEYS = 1 << AXIS_SAME_KEYS,
    GROUP_TENSOR = GROUP_KEYS | GROUP_SAME_KEYS, /* those that share out a layer */
    GROUP_DATA = GROUP_REPLICATE | GROUP_SHARD,  /* those that have batches of their own */
    GROUP_WORLD = (1 << AXIS_COUNT) - 1,
    GROUP_ENDS = 1 << AXIS_COUNT, /* no axis: of a pipeline's stages the first and the last */
    GROUP_SETS = 2 * GROUP_ENDS
};

typedef struct {
    int64_t size[AXIS_COUNT]; /* ranks along it, at least 1 */
} Mesh;

int64_t mesh_ranks(const Mesh *, RankGroup);
/* From one rank of a group to the next. */
int64_t mesh_stride(const Mesh *, RankGroup);
/* The group without the axes along which there is one rank, and with a pipeline of two stages in
 * place of its ends: equal for groups of the same ranks. */
RankGroup mesh_group(const Mesh *, RankGroup);
/* As it is written: without the axis of shared key heads where there is none, as in most programs. */
RankGroup mesh_written(const Mesh *, RankGroup);
const char *axis_name(Axis); /* "replicate" */

/* What the ranks of a group do together. */
typedef enum {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_SEND_RECV, /* of a pipeline's stage with its neighbours: no op, but in its schedule */
    COLLECTIVE_KINDS
} CollectiveKind;

const char *collective_name(CollectiveKind); /* "all_reduce" */

#endif
