/* Enqueueing entries, and their kernels and GEMMs (launch.c, gemm.c, gemm_tune.c). */
#ifndef GPUOPT_LAUNCH_H
#define GPUOPT_LAUNCH_H

#include "runtime/base/rt.h"

/* Call it after each launch, memset and copy that was really enqueued (not in a dry run). */
void rt_launched(Rt *rt);

/* Enqueues an entry for the input slot, launch by launch, beginning on the compute stream. */
RtWork rt_enqueue(Rt *rt, const RtEntry *entry, int slot);
/* The same, but checks each output after its launch, synchronously. Returns true, and describes the
 * first non-finite value in `found`, if there is one. */
bool rt_enqueue_checked(Rt *rt, const RtEntry *entry, int slot, char *found, size_t found_size);

/* Opens cuBLASLt, chooses an algorithm for every GEMM of the table that is used, and runs each
 * once, which destroys the contents of the arenas. */
void gemms_open(Rt *rt);
/* Takes the algorithms from the products.json next to the executable. Returns false if there is
 * none or, with a warning, if it was written for another device, library or program. */
bool gemms_read_tuned(Rt *rt);
/* Chooses algorithms by measuring. If `keep`, writes them to that file for later runs; of the ranks
 * that share the file only one should. */
void gemms_tune(Rt *rt, bool keep);
uint32_t gemms_crc32(const Rt *rt); /* over all chosen algorithms */
void gemms_close(Rt *rt);
int gemm_algorithm(const Rt *rt, int gemm); /* id of the chosen algorithm; -1: unknown */

#endif
