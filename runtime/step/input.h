/* Batches on their way to the device. */
#ifndef GPUOPT_INPUT_H
#define GPUOPT_INPUT_H

#include "runtime/base/rt.h"

void inputs_open(Rt *rt);
void inputs_close(Rt *rt);
/* Takes the next slot and a micro-step's batch (or a held-out one) and copies it to the device
 * on the copy stream, which waits until the slot's former reader is done; the compute stream
 * waits for the copy. Gives the slot. */
int input_send(Rt *rt, int64_t micro_index);
int input_send_eval(Rt *rt, int64_t eval_batch, int64_t *targets);
/* Reads what is not read yet into measured.copy_ms and compute_ms; the compute stream is idle. */
void inputs_collect(Rt *rt);
/* Everything that reads the slot is enqueued. */
void input_release(Rt *rt, int slot);
/* One input of the batch in a slot, as the device has it, to be freed; NULL where the program has none
 * of that name. */
void *input_read(Rt *rt, int slot, const char *name);

#endif
