/* Sums of what was enqueued. */
#ifndef GPUOPT_WORK_H
#define GPUOPT_WORK_H

#include "runtime/base/rt.h"

void work_add(RtWork *sum, RtWork more);
void exchanged_add(RtExchanged *sum, const RtExchanged *more, int kinds);

#endif
