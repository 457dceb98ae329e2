/* What launch.c and gemm.c share. */
#ifndef GPUOPT_LAUNCH_H
#define GPUOPT_LAUNCH_H

#include "runtime/rt.h"

RtPtr rt_address(const Rt *rt, RtAt at);

/* To be called after each launch, memset and copy that was enqueued for real. */
void rt_launched(Rt *rt);

#endif
