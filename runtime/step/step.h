/* One step of training; the caller decides how each phase is run. */
#ifndef GPUOPT_STEP_H
#define GPUOPT_STEP_H

#include "runtime/step/capture.h"

/* Enqueues a phase on a card, whose context is current; returns true to end the step there. */
typedef bool RtRunPhase(Rt *card, RtPhase phase, int slot, void *context);

/* Sends the step's batches to the cards and runs the phases in order: those of each micro-step, or
 * the schedule of a pipeline stage. Returns true if a phase ended the step. */
bool rt_step(Rt *rt, int64_t step, RtRunPhase *run, void *context);

#endif
