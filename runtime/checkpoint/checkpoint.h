/* Checkpoints: a folder that training can go on from, bit for bit.
 *
 *     OUT/checkpoints/step_N/
 *         state.safetensors   of every trained parameter: its value (the fp32 master where there is
 *                             one) under its name, NAME.exp_avg, NAME.exp_avg_sq; the histories
 *                             "loss" and "grad_norm" [N]
 *         meta.json           version, step, applied updates, data position, checksums, and what
 *                             the run was made with (checkpoint.c lists every member)
 *
 * Frozen parameters are not saved: they come from where they came the first time, and a checksum of
 * them tells when they are others. A checkpoint is written under a temporary name, synced and
 * renamed, so that a folder named step_N is always whole; older ones go only after that.
 *
 * A failure ends the process with one line that names the file, the fact and the remedy. */
#ifndef GPUOPT_CHECKPOINT_H
#define GPUOPT_CHECKPOINT_H

#include "runtime/base/rt.h"

/* Saves the state after rt->step steps and keeps the latest `keep_latest_k` (0: all). A
 * checkpoint of this step that exists already is replaced. All ranks together; the first one
 * writes. Waits for the compute stream. Needs rt->losses and rt->grad_norms known up to
 * rt->step. */
void checkpoint_save(Rt *rt);

/* Puts back the state saved in `dir`, or in the newest whole checkpoint under the run's out folder
 * where dir is NULL. Needs an open loader and rt->losses, rt->grad_norms as real [training.steps]. Call
 * it after params_init() and before the `load` entry: it overwrites the trained parameters, their
 * optimizer state, the counters and the histories, on the device and in `rt` (step, step_at_start,
 * losses, grad_norms, known_steps). Nothing is changed before everything in the folder was checked.
 * Warns where spec, data, device or libraries differ from those before. */
void checkpoint_load(Rt *rt, const char *dir);

#endif
