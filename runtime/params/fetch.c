/* Parameters that load brings to the device one by one, for it keeps something else of them. */
#include "runtime/comm/mesh.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/device/launch.h"
#include "runtime/params/params.h"

#include <stdlib.h>

/* What is gathered for each use has no place of its own. It is known by where its share of the rank's
 * piece would begin, of masters or of frozen weights, if each rank had as much of it: tensors begin far
 * enough from each other. */
static size_t known_at(const Rt *rt, const RtParam *param) {
    if (!param->pieces || (param->trained && param->weight != RT_NOWHERE))
        return param->weight;
    int64_t share = param->piece_first / mesh_group_ranks(rt->program, param->pieces);
    return (param->trained ? param->master : param->weight) +
           (size_t)(param->piece_at + share) * rt_dtype_bytes(param->master_dtype);
}

const RtParam *param_at(const Rt *rt, RtPtr at) {
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *param = &rt->program->params[i];
        if (rt_state(rt, known_at(rt, param)) == at)
            return param;
    }
    rt_internal("%s has no parameter to fetch or export there", rt->program->name);
}

/* What this rank has of it, as memory orders it. */
static void *first_values(const Rt *rt, const RtParam *param, size_t size) {
    size_t bytes = (size_t)shard_elements(rt, param) * size;
    void *values = param_first_values(rt, param), *from = values;
    if (param->shard) {
        values = rt_alloc(bytes);
        shard_take(rt, param, (size_t)param_elements(param) * size, from, values);
        free(from);
    }
    if (param->split[0]) {
        from = values;
        values = rt_alloc(bytes);
        param_to_memory_order(param, shard_ranks(rt, param), size, from, values);
        free(from);
    }
    return values;
}

void rt_fetch(Rt *rt, RtPtr to, RtPtr kept) {
    const RtParam *param = param_at(rt, kept);
    rt->work.fetches++;
    if (rt->dry)
        return;
    size_t size = rt_dtype_bytes(param_saved_dtype(param));
    void *host = first_values(rt, param, size);
    rt_finish_stream(rt, RT_STREAM_COMPUTE); /* the parameter before it may lie there */
    CU(MemcpyHtoD, to, host, (size_t)shard_elements(rt, param) * size);
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize"); /* as rt_write_state */
    free(host);
    rt_launched(rt);
}
