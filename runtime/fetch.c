/* Parameters that load brings to the device one by one, for it keeps something else of them. */
#include "runtime/driver.h"
#include "runtime/launch.h"
#include "runtime/params.h"

#include <stdlib.h>

static const RtParam *fetched_param(const Rt *rt, RtPtr kept) {
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *param = &rt->program->params[i];
        if (param->fetched && rt_state(rt, param->weight) == kept)
            return param;
    }
    rt_internal("load fetches a parameter that %s does not have", rt->program->name);
}

void rt_fetch(Rt *rt, RtPtr to, RtPtr kept) {
    const RtParam *param = fetched_param(rt, kept);
    rt->work.fetches++;
    if (rt->dry)
        return;
    void *host = param_first_values(rt, param);
    rt_finish_stream(rt, RT_STREAM_COMPUTE); /* the parameter before it may lie there */
    CU(MemcpyHtoD, to, host, param_saved_bytes(param));
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize"); /* as rt_write_state */
    free(host);
    rt_launched(rt);
}
