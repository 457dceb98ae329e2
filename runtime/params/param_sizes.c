/* Sizes of parameters, of the whole and of the parts that ranks hold. */
#include "runtime/comm/mesh.h"
#include "runtime/params/params.h"

int64_t param_elements(const RtParam *param) {
    int64_t count = 1;
    for (int i = 0; i < param->rank; i++)
        count *= param->shape[i];
    return count;
}

int shard_ranks(const Rt *rt, const RtParam *param) {
    return mesh_group_size(rt->program, param->shard);
}

int64_t shard_elements(const Rt *rt, const RtParam *param) {
    return param_elements(param) / shard_ranks(rt, param);
}

int64_t param_cols(const Rt *rt, const RtParam *param) {
    if (param->split[0])
        return param->cols;
    int last = param->rank - 1;
    if (last < 0)
        return 1;
    return param->shape[last] / (param->shard_axis == last ? shard_ranks(rt, param) : 1);
}

RtDtype param_saved_dtype(const RtParam *param) {
    return param->master != RT_NOWHERE ? param->master_dtype : param->dtype;
}

size_t param_saved_bytes(const RtParam *param) {
    return (size_t)param_elements(param) * rt_dtype_bytes(param_saved_dtype(param));
}
