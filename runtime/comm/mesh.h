/* A rank's place in the mesh of ranks, and the groups that it belongs to; what groups do together. */
#ifndef GPUOPT_MESH_H
#define GPUOPT_MESH_H

#include "runtime/base/rt.h"

/* Ranks along an axis; of all of the mesh. */
int mesh_size(const RtProgram *program, RtAxis axis);
int mesh_ranks(const RtProgram *program);

/* A group without the axes along which there is one rank, and with a pipeline of two stages in place of
 * its ends: equal for groups of the same ranks. */
RtGroup mesh_group(const RtProgram *program, RtGroup group);
/* Whether the rank is in such a group; those between the ends of a pipeline are alone. */
bool mesh_in_group(const RtProgram *program, RtGroup group, int rank);
int mesh_group_ranks(const RtProgram *program, RtGroup group);
/* The place of a rank in its group, from 0; the rank that has place 0. */
int mesh_place(const RtProgram *program, RtGroup group, int rank);
int mesh_first(const RtProgram *program, RtGroup group, int rank);
/* The first rank of a rank's stage, who gets all of what it shares out; rank 0 without stages. */
int mesh_writer(const RtProgram *program, int rank);

const char *collective_name(RtCollective kind); /* "all_reduce" */

#endif
