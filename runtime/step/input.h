/* Sending batches to the device. */
#ifndef GPUOPT_INPUT_H
#define GPUOPT_INPUT_H

#include "runtime/base/rt.h"

void inputs_open(Rt *rt);
void inputs_close(Rt *rt);
/* Takes the next slot and a micro-step's batch (or a held-out one) and copies it to the device on
 * the copy stream, which first waits until the slot's previous reader is done; the compute stream
 * waits for the copy. Returns the slot. */
int input_send(Rt *rt, int64_t micro_index);
int input_send_eval(Rt *rt, int64_t eval_batch, int64_t *targets);
/* Reads the remaining times into measured.copy_ms and compute_ms. The compute stream must be
 * idle. */
void inputs_collect(Rt *rt);
/* Call once everything that reads the slot is enqueued. */
void input_release(Rt *rt, int slot);
/* Returns one input of the batch in a slot, read from the device, or NULL if the program has none
 * of that name. The caller frees it. */
void *input_read(Rt *rt, int slot, const char *name);

#endif
