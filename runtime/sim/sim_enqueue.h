/* How the other simulated libraries put work on a stream: exported by libcuda.so.1 under this name alone.
 * CUstream is CUDA's own handle.
 */
#ifndef SIM_ENQUEUE_H
#define SIM_ENQUEUE_H

#include <cuda.h>
#include <stddef.h>

/* Queues (or captures) one operation. `run` gets a copy of the `bytes` at `argument` when the stream's turn
 * comes, and again at each replay of a graph; it returns 0 when done and 1 to be called again later. `name`
 * must live for ever; counts and traces show it. */
CUresult sim_enqueue(CUstream stream, int (*run)(void *argument), const void *argument, size_t bytes,
                     const char *name);

/* Whether [p, p + bytes) lies in one device allocation and no byte of it is guarded. */
int sim_covers(const void *p, size_t bytes);

#endif
