/* Entries enqueued, and what they are made of (launch.c, gemm.c, gemm_tune.c). */
#ifndef GPUOPT_LAUNCH_H
#define GPUOPT_LAUNCH_H

#include "runtime/base/rt.h"

RtPtr rt_address(const Rt *rt, RtAt at);

/* To be called after each launch, memset and copy that was enqueued for real. */
void rt_launched(Rt *rt);

/* Enqueues an entry on the compute stream, launch by launch, for the slot. */
RtWork rt_enqueue(Rt *rt, const RtEntry *entry, int slot);
/* The same with each output looked at after its launch: `true` and a sentence in `found` when a
 * value was not finite; synchronous. */
bool rt_enqueue_checked(Rt *rt, const RtEntry *entry, int slot, char *found, size_t found_size);

/* Opens cublasLt and chooses an algorithm for every row of the table, each of which then runs once:
 * what is in the arenas is lost. */
void gemms_open(Rt *rt);
/* Takes the algorithms of products.json beside the executable; false where there is none, or, with a
 * warning, where it was written for another device, library or program. */
bool gemms_read_tuned(Rt *rt);
/* Chooses algorithms anew, by measuring, and where `keep` keeps them there for later gemms_open():
 * others see the same file. */
void gemms_tune(Rt *rt, bool keep);
uint32_t gemms_crc32(const Rt *rt); /* of all algorithms */
void gemms_close(Rt *rt);
int gemm_algorithm(const Rt *rt, int gemm); /* id of the chosen algorithm, for the record */

#endif
