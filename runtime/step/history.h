/* Copying losses and gradient norms to the host. */
#ifndef GPUOPT_HISTORY_H
#define GPUOPT_HISTORY_H

#include "runtime/base/rt.h"

void history_open(Rt *rt); /* allocates rt->losses, rt->grad_norms and rt->rates */
void history_close(Rt *rt);
/* Enqueues copies of the histories of all steps enqueued so far. No request may be in flight. */
void history_request(Rt *rt);
/* Returns true once for each request that has arrived, after updating rt->known_steps and
 * history_bad_step(). With `wait`, waits for a request in flight. */
bool history_arrived(Rt *rt, bool wait);
/* Requests and waits, so that all steps enqueued so far are known. */
void history_complete(Rt *rt);
/* Index of the first known step whose gradient norm is not finite, or -1. */
int64_t history_bad_step(const Rt *rt);

#endif
