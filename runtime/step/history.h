/* Losses on their way to the host. */
#ifndef GPUOPT_HISTORY_H
#define GPUOPT_HISTORY_H

#include "runtime/base/rt.h"

void history_open(Rt *rt); /* allocates rt->losses and rt->grad_norms */
void history_close(Rt *rt);
/* Enqueues copies of the histories of all steps enqueued so far. No request may be under way. */
void history_request(Rt *rt);
/* True once when a request has arrived: rt->known_steps and history_bad_step() are up to it. Waits
 * for one under way where told to. */
bool history_arrived(Rt *rt, bool wait);
/* Requests and waits: all steps enqueued so far are known afterwards. */
void history_complete(Rt *rt);
/* Of the steps known: index of the first whose gradient norm was not finite; -1: none. */
int64_t history_bad_step(const Rt *rt);

#endif
