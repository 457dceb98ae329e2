/* A stage of a pipeline: its schedule carried out. Nothing here without program->pipeline. */
#ifndef GPUOPT_PIPELINE_H
#define GPUOPT_PIPELINE_H

#include "runtime/base/rt.h"

/* All micro-batches of a step, the first one's input in slot `first`; without the update. While the
 * step is dumped, of the first micro-batch alone. Where `found` is given each output is looked at, and
 * true says that one was not finite. */
bool pipeline_schedule(Rt *rt, int first, RtWork *work, char *found, size_t found_size);
/* A batch through all stages, forward alone: the entry is each stage's part of it. */
RtWork pipeline_forward(Rt *rt, const RtEntry *entry, int slot);

void work_add(RtWork *sum, RtWork more);
void exchanged_add(RtExchanged *sum, const RtExchanged *more, int kinds);

#endif
