/* Several cards in one process; with one card, cards_open() does nothing. See cards.c. */
#ifndef GPUOPT_CARDS_H
#define GPUOPT_CARDS_H

#include "runtime/step/step.h"

/* Opens the other cards and copies to them the part of STATE that they need. */
void cards_open(Rt *rt);
void cards_close(Rt *rt);
/* The card of a number from 0 to rt->card_count - 1; 0 is rt itself. */
Rt *card_at(Rt *rt, int number);

/* Runs training's micro-step `index` on several cards, with the update if it is the `last` of its step.
 * Returns true if a phase ended the step. */
bool cards_micro_step(Rt *rt, int64_t index, bool last, RtRunPhase *run, void *context);

#endif
