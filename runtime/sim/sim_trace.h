/* What the simulated driver reports to a profiler: libcupti registers one function here. Times are
 * in nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { COPY_H2D, COPY_D2H, COPY_D2D, COPY_H2H, COPY_KINDS } SimCopyKind;

typedef enum { TRACE_KERNEL, TRACE_COPY, TRACE_SET, TRACE_CALL } SimTraceKind;

typedef struct SimRecord {
    SimTraceKind kind;
    const char *name; /* of the kernel or the API function */
    uint64_t start, end;
    uint32_t correlation;
    uint32_t stream; /* 0 for calls */
    int device;
    int from_device, to_device; /* of a D2D copy */
    unsigned long thread;       /* the host thread of a call */
    unsigned grid[3], block[3], shared_bytes;
    size_t bytes;
    unsigned value; /* of a memset */
    SimCopyKind copy;
    bool pinned;
} SimRecord;

typedef void (*SimTracer)(const SimRecord *record);

typedef struct SimKernelCount SimKernelCount;

/* Sets the tracer; null stops tracing. Exported by libcuda.so.1. */
void sim_trace(SimTracer tracer);
/* Call when the profiler is initialised: older graphs cannot be launched while it traces. */
void sim_trace_attach(void);
/* Returns the number that records give a stream. */
uint32_t sim_stream_id(CUstream stream);
/* No record is written between these two calls, which hold the driver's lock. */
void sim_trace_pause(void);
void sim_trace_resume(void);

#endif
