/* Checkpoints: folders from which training resumes bit for bit.
 *
 *     OUT/checkpoints/step_N/
 *         state.safetensors   for every trained parameter its value (the fp32 master if there is
 *                             one) under its name, NAME.exp_avg and NAME.exp_avg_sq; the
 *                             histories "loss" and "grad_norm" [N]
 *         meta.json           version, step, applied updates, data position, checksums, and the
 *                             run's circumstances (checkpoint_meta.c lists all members)
 *
 * Frozen parameters are not saved: they are read again from their source, and a checksum detects
 * changed ones. A checkpoint is written under a temporary name, synced and renamed, so that a
 * folder named step_N is always complete; older ones are removed only after that.
 *
 * A failure ends the process with one line that names the file, the fact and the remedy. */
#ifndef GPUOPT_CHECKPOINT_H
#define GPUOPT_CHECKPOINT_H

#include "runtime/base/rt.h"

#define CHECKPOINTS "checkpoints" /* the folder in OUT */

/* Saves the state after rt->step steps and keeps the latest `keep_latest_k` checkpoints (0: all).
 * An existing checkpoint of this step is replaced. All ranks must call it; rank 0 writes. Waits for
 * the compute stream. Needs rt->losses and rt->grad_norms known up to rt->step. */
void checkpoint_save(Rt *rt);

/* Finds the checkpoint in the run's out folder that was saved last. Writes its folder to
 * dir[RT_MAX_PATH], and its state's checksum, and returns its step; -1: none can be read. Its state is
 * not checked. */
int64_t checkpoint_newest(const Rt *rt, char *dir, char state_crc32[9]);

/* Restores the state saved in `dir` or, if dir is NULL, in the newest intact checkpoint under the
 * run's out folder. Needs an open loader and rt->losses, rt->grad_norms as real [training.steps].
 * Call it after params_init() and before the `load` entry: it overwrites the trained parameters,
 * their optimizer state, the counters and the histories, on the device and in `rt` (step,
 * step_at_start, losses, grad_norms, known_steps, state_crc32). Everything in the folder is checked
 * before anything is changed. Warns if spec, data, device or libraries differ from those of the
 * checkpoint. */
void checkpoint_load(Rt *rt, const char *dir);

#endif
