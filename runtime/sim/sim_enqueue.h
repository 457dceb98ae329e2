/* The driver's interface to the other simulated libraries; libcuda.so.1 exports these names in
 * addition to the API.
 */
#ifndef SIM_ENQUEUE_H
#define SIM_ENQUEUE_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/* Queues (or captures) one operation. When the stream reaches it, and at each replay of a graph,
 * `run` is called with a copy of the `bytes` at `argument`. It returns 1 when it is done; 0 if it
 * waits for another process, in which case it is called again after other work has run; or -1 on
 * failure, which becomes the device's error. `name` must never be freed; counts and traces show
 * it. */
CUresult sim_enqueue(CUstream stream, int (*run)(const void *argument), const void *argument,
                     size_t bytes, const char *name);

/* Returns whether [p, p + bytes) is inside one device allocation and has no poisoned bytes. */
int sim_covers(const void *p, size_t bytes);

/* Gets the memory of a device; returns 0 if there is no such device. */
int sim_memory(int device, size_t *free_bytes, size_t *total_bytes);

/* Returns how many algorithms a product has (SIM_ALGORITHMS). */
int sim_algorithms(void);

#endif
