/* Running the schedule of a pipeline stage. Only for programs with a pipeline. */
#ifndef GPUOPT_PIPELINE_H
#define GPUOPT_PIPELINE_H

#include "runtime/base/rt.h"

/* Enqueues all micro-batches of a step without the update; the input of the first one is in slot
 * `first`. Only the first micro-batch is observed when the step is dumped. If `found` is given,
 * checks each output and returns true if one is not finite. */
bool pipeline_schedule(Rt *rt, int first, RtWork *work, char *found, size_t found_size);
/* Runs this stage's part of a forward pass, `entry`, between receiving and sending activations. */
RtWork pipeline_forward(Rt *rt, const RtEntry *entry, int slot);

#endif
