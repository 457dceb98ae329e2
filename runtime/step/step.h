/* One step of training: who runs it says what happens to each phase. */
#ifndef GPUOPT_STEP_H
#define GPUOPT_STEP_H

#include "runtime/step/capture.h"

/* Enqueues a phase on a card, whose context is current; true ends the step there. */
typedef bool RtRunPhase(Rt *card, RtPhase phase, int slot, void *context);

/* The step's batches to the cards, and the phases in their order: of each micro-step, or the schedule
 * of a pipeline's stage. True where a phase ended it. */
bool rt_step(Rt *rt, int64_t step, RtRunPhase *run, void *context);

#endif
