/* A card: its choice, arenas, streams and slots. */
#ifndef GPUOPT_DEVICE_H
#define GPUOPT_DEVICE_H

#include "runtime/base/rt.h"

/* Opens CUDA's driver or the simulated device (device.c explains the choice); ends the process with
 * the driver's own error if neither can be used. Call it first: it may re-execute the process. */
void device_choose(Rt *rt);
/* Chooses this rank's card and binds host threads to its NUMA node. */
void device_take(Rt *rt);
/* Takes card number rt->card of this process. */
void device_take_card(Rt *rt);
/* Finds the kernel modules, or compiles them if JIT was asked for. Call it before device_open(). */
void device_find_modules(Rt *rt);
void device_open(Rt *rt);
void device_close(Rt *rt);
/* Makes rt_input() return addresses in this slot. */
void rt_select_slot(Rt *rt, int slot);
/* Makes rt_stash() return addresses in this micro-batch's slot. */
void rt_select_stash(Rt *rt, int micro_batch);
/* cuStreamSynchronize under the watchdog, since the stream may wait for another rank. */
void rt_finish_stream(const Rt *rt, RtStream stream);
/* The same, counted in measured.syncs. */
void rt_sync(Rt *rt, RtStream stream);
/* Waits for an event of an earlier step, counted in measured.waits. */
void rt_wait(Rt *rt, CUevent event);

/* process_memory.c: call open before the context is created, measure when memory may peak. Open also
 * sets rt->device.driver. */
void process_memory_open(Rt *rt);
void process_memory_measure(Rt *rt);

/* Copy bytes of the STATE arena synchronously, after all work on the compute stream. */
void rt_read_state(Rt *rt, size_t offset, size_t bytes, void *host);
void rt_read(Rt *rt, RtPtr from, size_t bytes, void *host); /* of any arena */
void rt_write_state(Rt *rt, size_t offset, size_t bytes, const void *host);

/* The same for `rows` rows of `row` bytes, `stride` bytes apart in STATE and dense on the host: one
 * 2D copy that leaves the bytes between the rows alone. */
typedef struct {
    size_t rows, row, stride;
} RtRows;
void rt_read_rows(Rt *rt, size_t offset, RtRows rows, void *host);
void rt_write_rows(Rt *rt, size_t offset, RtRows rows, const void *host);

/* ---- jit.c ----------------------------------------------------------------------------------- */

/* Compiles the kernels.cu next to the executable with NVRTC, in parts, unless their cubins are
 * cached, and sets the paths in rt->device. */
void jit_modules(Rt *rt);

/* ---- jit_parts.c ----------------------------------------------------------------------------- */

/* Returns the number of parts that a file of kernels is compiled in by so many processors. */
int jit_part_count(const char *source, long processors);
/* Returns part `part` of `count`: the file without the other parts' kernels. Their line ends stay,
 * so that messages and profilers report the file's own line numbers. The caller frees it. */
char *jit_part(const char *source, int part, int count);

#endif
