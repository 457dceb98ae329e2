/* A card: which one, its arenas, streams and slots. */
#ifndef GPUOPT_DEVICE_H
#define GPUOPT_DEVICE_H

#include "runtime/base/rt.h"

/* CUDA's driver or the simulated device's (see device.c for the choice); ends with the driver's own
 * error where there is none. May start the process anew: before anything else. */
void device_choose(Rt *rt);
/* This rank's card and the node of its host threads. */
void device_take(Rt *rt);
/* Of this process's cards the one of number rt->card. */
void device_take_card(Rt *rt);
/* Where the modules of kernels are, compiled at start where that was asked for; then device_open(). */
void device_find_modules(Rt *rt);
void device_open(Rt *rt);
void device_close(Rt *rt);
/* Makes rt_input() give addresses in this slot. */
void rt_select_slot(Rt *rt, int slot);
/* Makes rt_stash() give addresses in this micro-batch's slot. */
void rt_select_stash(Rt *rt, int micro_batch);
/* cuStreamSynchronize; it may last as long as another rank wants, so it is watched. */
void rt_finish_stream(const Rt *rt, RtStream stream);
/* The same, counted in measured.syncs. */
void rt_sync(Rt *rt, RtStream stream);
/* Waits for an event of an earlier step, counted in measured.waits. */
void rt_wait(Rt *rt, CUevent event);

/* process_memory.c: called before the context, and wherever memory may be at its peak. */
void process_memory_open(Rt *rt);
void process_memory_measure(Rt *rt);

/* Bytes of the STATE arena, synchronously and in order with the compute stream. */
void rt_read_state(Rt *rt, size_t offset, size_t bytes, void *host);
void rt_read(Rt *rt, RtPtr from, size_t bytes, void *host); /* of any arena */
void rt_write_state(Rt *rt, size_t offset, size_t bytes, const void *host);

/* `rows` of `row` bytes of it, `stride` bytes apart, and one behind the other on the host: one copy,
 * which leaves alone what lies between them. */
typedef struct {
    size_t rows, row, stride;
} RtRows;
void rt_read_rows(Rt *rt, size_t offset, RtRows rows, void *host);
void rt_write_rows(Rt *rt, size_t offset, RtRows rows, const void *host);

/* ---- jit.c ----------------------------------------------------------------------------------- */

/* Compiles kernels.cu beside the executable with NVRTC, in parts, unless their cubins are cached,
 * and gives their paths in rt->device. */
void jit_modules(Rt *rt);

/* ---- jit_parts.c ----------------------------------------------------------------------------- */

/* In how many parts a file of kernels is compiled; depends on the file alone. */
int jit_part_count(const char *source);
/* The file as part `part` of `count` has it: all of it but the other parts' kernels, which leave
 * their line ends, so that messages and profilers name the file's own lines. The caller frees it. */
char *jit_part(const char *source, int part, int count);

#endif
