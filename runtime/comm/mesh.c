/* Arithmetic on rank numbers. The program names only the groups; which ranks are in one, and which
 * number this rank has there, is computed here, for collectives as well as for files that several
 * ranks write and read. */
#include "runtime/comm/mesh.h"

int mesh_size(const RtProgram *program, RtAxis axis) {
    return program->mesh[axis] > 1 ? program->mesh[axis] : 1;
}

/* The difference between the numbers of neighbouring ranks along the axis. */
static int stride(const RtProgram *program, int axis) {
    int step = 1;
    for (int inner = axis + 1; inner < RT_AXES; inner++)
        step *= mesh_size(program, (RtAxis)inner);
    return step;
}

static int coordinate(const RtProgram *program, int axis, int rank) {
    return rank / stride(program, axis) % mesh_size(program, (RtAxis)axis);
}

const char *collective_name(RtCollective kind) {
    static const char *const names[RT_COLLECTIVES] = {[RT_ALL_REDUCE] = "all_reduce",
                                                      [RT_ALL_GATHER] = "all_gather",
                                                      [RT_REDUCE_SCATTER] = "reduce_scatter",
                                                      [RT_BROADCAST] = "broadcast",
                                                      [RT_SEND_RECV] = "send_recv"};
    return names[kind];
}

static bool has(RtGroup group, int axis) { return group >> axis & 1; }

/* With at most two stages every stage is an end of the pipeline. */
static RtGroup of_stages(const RtProgram *program, RtGroup group) {
    bool both = group & RT_ENDS && mesh_size(program, RT_AXIS_PIPELINE) <= 2;
    return both ? (group & ~(RtGroup)RT_ENDS) | RT_PIPELINE : group;
}

RtGroup mesh_group(const RtProgram *program, RtGroup group) {
    group = of_stages(program, group);
    for (int axis = 0; axis < RT_AXES; axis++)
        if (!program->mesh[axis])
            group &= ~(1u << axis);
    return group;
}

bool mesh_in_group(const RtProgram *program, RtGroup group, int rank) {
    if (!(of_stages(program, group) & RT_ENDS))
        return true;
    int stage = coordinate(program, RT_AXIS_PIPELINE, rank);
    return stage == 0 || stage == mesh_size(program, RT_AXIS_PIPELINE) - 1;
}

int mesh_group_size(const RtProgram *program, RtGroup group) {
    group = of_stages(program, group);
    int ranks = group & RT_ENDS ? 2 : 1;
    for (int axis = 0; axis < RT_AXES; axis++)
        ranks *= has(group, axis) ? mesh_size(program, (RtAxis)axis) : 1;
    return ranks;
}

int mesh_ranks(const RtProgram *program) { return mesh_group_size(program, RT_WORLD); }

int mesh_group_rank(const RtProgram *program, RtGroup group, int rank) {
    group = of_stages(program, group);
    if (!mesh_in_group(program, group, rank))
        return 0;
    int number = group & RT_ENDS && coordinate(program, RT_AXIS_PIPELINE, rank) > 0;
    for (int axis = 0; axis < RT_AXES; axis++)
        if (has(group, axis))
            number = number * mesh_size(program, (RtAxis)axis) + coordinate(program, axis, rank);
    return number;
}

int mesh_first(const RtProgram *program, RtGroup group, int rank) {
    int first = rank;
    if (!mesh_in_group(program, group, rank))
        return rank;
    if (group & RT_ENDS)
        group |= RT_PIPELINE;
    for (int axis = 0; axis < RT_AXES; axis++)
        if (has(group, axis))
            first -= coordinate(program, axis, rank) * stride(program, axis);
    return first;
}

int mesh_writer(const RtProgram *program, int rank) {
    return mesh_first(program, RT_WORLD & ~RT_PIPELINE, rank);
}
