/* What training compares itself with: log-probabilities of all rows by the weights it begins with,
 * computed once and kept in a file of the out folder. Programs without such an entry have none. */
#ifndef GPUOPT_REFERENCE_H
#define GPUOPT_REFERENCE_H

#include "runtime/base/rt.h"

#define REFERENCE_FILE "reference.json"

/* Reads the file, or runs the entry over all rows and writes it; from then on batches have them. All
 * ranks together, before the first batch is taken. Gives the signal that ended it, or 0: then there is
 * no file. */
int reference_prepare(Rt *rt);

#endif
