/* Parameters that `load` and `convert` fetch to the device one by one, because STATE keeps another
 * form of them. */
#include "runtime/comm/mesh.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/device/launch.h"
#include "runtime/params/params.h"

/* The offset that identifies a parameter. A weight that is gathered for each use has no place of
 * its own. It is identified by where its share of the rank's piece (of masters or of frozen
 * weights) would begin if all ranks had equal shares; tensors are large enough for that to be
 * unique. */
static size_t known_at(const Rt *rt, const RtParam *param) {
    if (!param->pieces || (param->trained && param->weight != RT_NOWHERE))
        return param->weight;
    int64_t share = param->piece_first / mesh_group_size(rt->program, param->pieces);
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

static void fetch_block(Rt *rt, const RtParam *param, ParamBlock block, RtPtr to) {
    (void)rt;
    size_t size = rt_dtype_bytes(param_saved_dtype(param));
    CU(MemcpyHtoD, to + (size_t)block.first * size, block.host, (size_t)block.count * size);
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize"); /* as rt_write_state */
}

void rt_fetch(Rt *rt, RtPtr to, RtPtr kept) {
    const RtParam *param = param_at(rt, kept);
    rt->work.fetches++;
    if (rt->dry)
        return;
    rt_finish_stream(rt, RT_STREAM_COMPUTE); /* `to` may still hold the previous parameter */
    param_first_values(rt, param, 0, shard_elements(rt, param), fetch_block, to);
    rt_launched(rt);
}
