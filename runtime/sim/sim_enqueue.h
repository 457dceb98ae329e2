/* What the other simulated libraries ask of the driver; libcuda.so.1 exports these names beside the
 * API.
 */
#ifndef SIM_ENQUEUE_H
#define SIM_ENQUEUE_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/* Queues (or captures) one operation. `run` gets a copy of the `bytes` at `argument` when the
 * stream's turn comes, and again at each replay of a graph. Where it waits for another process it
 * gives 0, and is called again after whatever else can run; else 1, or -1 for a failure that is
 * the device's from then on. `name` must live for ever; counts and traces show it. */
CUresult sim_enqueue(CUstream stream, int (*run)(const void *argument), const void *argument,
                     size_t bytes, const char *name);

/* Whether [p, p + bytes) lies in one device allocation and no byte of it is guarded. */
int sim_covers(const void *p, size_t bytes);

/* A device's memory; 0 if there is no such device. */
int sim_memory(int device, size_t *free_bytes, size_t *total_bytes);

/* How many algorithms a product has: SIM_ALGORITHMS. */
int sim_algorithms(void);

#endif
