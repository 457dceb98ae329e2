/* A rank's place in the mesh of ranks and its groups; names of collectives. */
#ifndef GPUOPT_MESH_H
#define GPUOPT_MESH_H

#include "runtime/base/rt.h"

/* The number of ranks along an axis, and in the whole mesh. */
int mesh_size(const RtProgram *program, RtAxis axis);
int mesh_ranks(const RtProgram *program);

/* Normalises a group so that groups of the same ranks are equal: drops axes without groups (whose
 * size in RtProgram.mesh is 0), and replaces RT_ENDS by RT_PIPELINE if there are at most two stages. */
RtGroup mesh_group(const RtProgram *program, RtGroup group);
/* Whether the rank is in such a group: false only for RT_ENDS and a stage between the two ends. */
bool mesh_in_group(const RtProgram *program, RtGroup group, int rank);
int mesh_group_size(const RtProgram *program, RtGroup group);
/* The number of a rank in its group, from 0, and the rank with number 0. */
int mesh_group_rank(const RtProgram *program, RtGroup group, int rank);
int mesh_first(const RtProgram *program, RtGroup group, int rank);
/* The first rank of a rank's stage, which gathers the stage's sharded tensors; rank 0 without
 * stages. */
int mesh_writer(const RtProgram *program, int rank);

/* Writes to `text` the layouts nearest to this program's that take `ranks` ranks or nearly as many, as
 * settings of its spec: "parallelism.data_parallel_replicate_degree=2 tensor_parallel_degree=2 needs
 * 4; ...". */
void mesh_layouts(const RtProgram *program, int ranks, char *text, size_t size);

const char *collective_name(RtCollective kind); /* "all_reduce" */

#endif
