/* Several cards in one process; with one, cards_open() does nothing. See cards.c. */
#ifndef GPUOPT_CARDS_H
#define GPUOPT_CARDS_H

#include "runtime/step/step.h"

/* The other cards, with all that the first one has in STATE. */
void cards_open(Rt *rt);
void cards_close(Rt *rt);

/* Training's micro-step `index`, with the update where it is its step's last: a batch to each card, and
 * the phases in their order. True where a phase ended it. */
bool rt_micro_step(Rt *rt, int64_t index, RtRunPhase *run, void *context);

#endif
