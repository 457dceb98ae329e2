/* Arithmetic on groups for passes, plan and emit. The compiler needs only sizes and distances,
 * which are the same for all ranks. A group can be written in several ways, so mesh_group comes
 * first. */
#include "graph/mesh.h"

int64_t mesh_ranks(const Mesh *mesh, RankGroup group) {
    group = mesh_group(mesh, group);
    int64_t ranks = group & GROUP_ENDS ? 2 : 1;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        ranks *= group >> axis & 1 ? mesh->size[axis] : 1;
    return ranks;
}

int64_t mesh_stride(const Mesh *mesh, RankGroup group) {
    int64_t stride = 1;
    group = mesh_group(mesh, group);
    if (group == GROUP_ENDS)
        return mesh_stride(mesh, GROUP_PIPELINE) * (mesh->size[AXIS_PIPELINE] - 1);
    for (int axis = AXIS_COUNT - 1; axis >= 0 && !(group >> axis & 1); axis--)
        stride *= mesh->size[axis];
    return stride;
}

RankGroup mesh_group(const Mesh *mesh, RankGroup group) {
    if (group & GROUP_ENDS && mesh->size[AXIS_PIPELINE] <= 2)
        group = (group & ~(RankGroup)GROUP_ENDS) | GROUP_PIPELINE;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (mesh->size[axis] == 1 && !(mesh->kept >> axis & 1))
            group &= ~(1u << axis);
    return group;
}

bool mesh_has(const Mesh *mesh, RankGroup group) { return mesh_group(mesh, group) != 0; }

RankGroup mesh_written(const Mesh *mesh, RankGroup group) {
    return mesh->size[AXIS_SAME_KEYS] == 1 ? group & ~(RankGroup)GROUP_SAME_KEYS : group;
}

const char *axis_name(Axis axis) {
    static const char *const names[AXIS_COUNT] = {[AXIS_PIPELINE] = "pipeline",
                                                  [AXIS_REPLICATE] = "replicate",
                                                  [AXIS_SHARD] = "shard",
                                                  [AXIS_TENSOR] = "tensor",
                                                  [AXIS_SAME_KEYS] = "same_keys"};
    return names[axis];
}

const char *collective_name(CollectiveKind kind) {
    static const char *const names[COLLECTIVE_KINDS] = {[COLLECTIVE_ALL_REDUCE] = "all_reduce",
                                                        [COLLECTIVE_ALL_GATHER] = "all_gather",
                                                        [COLLECTIVE_REDUCE_SCATTER] =
                                                            "reduce_scatter",
                                                        [COLLECTIVE_BROADCAST] = "broadcast",
                                                        [COLLECTIVE_SEND_RECV] = "send_recv"};
    return names[kind];
}
