/* The reference of preference training: log-probabilities of all rows under the initial weights,
 * computed once and saved in a file in the out folder. Only for programs with the entry
 * `reference`. */
#ifndef GPUOPT_REFERENCE_H
#define GPUOPT_REFERENCE_H

#include "runtime/base/rt.h"

#define REFERENCE_FILE "reference.json"

/* Reads the file, or runs the entry over all rows and writes it; batches then contain the values.
 * All ranks must call it, before the first batch is taken. Returns 0, or the signal that ended it
 * before the file was written. */
int reference_prepare(Rt *rt);

#endif
