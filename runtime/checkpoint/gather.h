/* Gathering on rank 0 the tensors that other ranks hold: each stage of a pipeline has its own. */
#ifndef GPUOPT_GATHER_H
#define GPUOPT_GATHER_H

#include "runtime/params/out_tensors.h"

/* All ranks call it with their own tensors. On rank 0, `tensors` becomes a list, owned by the
 * caller, of all ranks' tensors in the order of stages, with repeated names marked `twice`; it
 * returns false, and the values must then be read one after the other, as tensors_write() does. On
 * the other ranks it sends the values and returns true: rank 0 does the rest. */
bool tensors_gather(Rt *rt, OutTensor **tensors, int *count);
#endif
