/* What rank 0 writes of tensors that other ranks have: the stages of a pipeline each have theirs. */
#ifndef GPUOPT_GATHER_H
#define GPUOPT_GATHER_H

#include "runtime/params/out_tensors.h"

/* Both on all ranks that have a part, with their own tensors. On rank 0 `tensors` becomes, in memory of
 * the caller's, all ranks' in the order of stages, one of each name; their values are to be asked for
 * one after the other as tensors_write() does. On others they are handed over, and the answer is true:
 * what comes next is rank 0's. */
bool tensors_gather(Rt *rt, OutTensor **tensors, int *count);
#endif
