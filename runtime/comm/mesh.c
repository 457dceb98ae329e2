/* Arithmetic on rank numbers. The program names only the groups; which ranks are in one, and which
 * number this rank has there, is computed here, for collectives as well as for files that several
 * ranks write and read. */
#include "runtime/comm/mesh.h"

#include <stdio.h>
#include <string.h>

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

/* ---- layouts for another number of ranks (as in layouts.awk) ------------------------------------- */

enum { REPLICAS, TENSOR, STAGES, SHARDS, DEGREES };

static int common_divisor(int a, int b) { return b ? common_divisor(b, a % b) : a; }

/* Keeps of each degree what divides the ranks; the rest are replicas. Returns whether all are kept. */
static bool fit(const int own[DEGREES], int ranks, int degrees[DEGREES]) {
    bool kept = true;
    degrees[REPLICAS] = ranks;
    for (int i = TENSOR; i < DEGREES; i++) {
        degrees[i] = common_divisor(own[i], degrees[REPLICAS]);
        degrees[REPLICAS] /= degrees[i];
        kept = kept && degrees[i] == own[i];
    }
    return kept;
}

static void append(char *text, size_t size, const char *words, int number) {
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%d", words, number);
}

/* Degrees that are 1 in this program and in the layout are left out. */
static void append_layout(char *text, size_t size, const int own[DEGREES], int ranks) {
    static const char *const keys[DEGREES] = {"parallelism.data_parallel_replicate_degree=",
                                              " tensor_parallel_degree=",
                                              " pipeline_parallel_degree=",
                                              " data_parallel_shard_degree="};
    int degrees[DEGREES];
    size_t length = strlen(text);
    fit(own, ranks, degrees);
    snprintf(text + length, size - length, "%s", length > 0 ? "; " : "");
    for (int i = 0; i < DEGREES; i++)
        if (i == REPLICAS || own[i] > 1)
            append(text, size, keys[i], degrees[i]);
    append(text, size, " needs ", ranks);
}

void mesh_layouts(const RtProgram *program, int ranks, char *text, size_t size) {
    const int own[DEGREES] = {mesh_group_size(program, RT_REPLICATE),
                              mesh_group_size(program, RT_TENSOR),
                              mesh_group_size(program, RT_PIPELINE),
                              mesh_group_size(program, RT_SHARD)};
    int degrees[DEGREES], replica = own[TENSOR] * own[STAGES] * own[SHARDS];
    int fewer = ranks / replica * replica, more = fewer + replica;
    text[0] = '\0';
    append_layout(text, size, own, ranks);
    if (fit(own, ranks, degrees))
        return;
    if (fewer > 0 && fewer != mesh_ranks(program))
        append_layout(text, size, own, fewer);
    if (more != mesh_ranks(program))
        append_layout(text, size, own, more);
}
