/* The profiling window: some steps of a run, recorded by CUPTI.
 *
 * CUPTI is loaded only where the program has such a window and records only inside it, so that it
 * costs nothing where times are measured. Under Nsight Systems or Nsight Compute, which use CUPTI
 * themselves, it stays off, with one line; NVTX ranges reach those tools in any case. */
#ifndef GPUOPT_PROFILE_H
#define GPUOPT_PROFILE_H

#include "runtime/base/rt.h"

typedef struct Profile Profile;

typedef enum {
    PROFILE_KERNEL,
    PROFILE_COPY,
    PROFILE_MEMSET,
    PROFILE_API /* a driver call on the host */
} ProfileKind;

typedef struct {
    ProfileKind kind;
    const char *name; /* kernel, API call or "[CUDA memcpy Host-to-Device]"; owned by the profile */
    uint64_t start, end; /* ns on CUPTI's clock */
    uint32_t device;     /* by CUDA's number, of kernels, copies and memsets */
    uint32_t stream;     /* of kernels, copies and memsets; thread id of API calls */
    uint32_t correlation;
    uint64_t bytes;    /* copies and memsets */
    RtCopyKind copy;   /* of a copy */
    bool pinned, peer; /* of a copy; peer: from one device to another, D2D too */
    uint32_t grid[3], block[3], registers, shared_bytes; /* of a kernel */
} ProfileRecord;

/* Call after the device is open. NULL when the program has no profiling window, when another
 * profiler is attached, or when CUPTI cannot be loaded (the last two are said in one line). */
Profile *profile_open(Rt *rt);
void profile_close(Profile *profile); /* NULL is allowed */

/* Both wait for the device, so that the window holds whole steps: exactly the work enqueued between
 * the two calls. NULL is allowed. */
void profile_begin(Profile *profile);
void profile_end(Profile *profile, int64_t steps);

/* After profile_end: the window's records ordered by start, and its length in steps. */
int64_t profile_count(const Profile *profile);
const ProfileRecord *profile_record(const Profile *profile, int64_t index);
int64_t profile_steps(const Profile *profile);
int64_t profile_dropped(const Profile *profile); /* records lost for want of buffers */
uint32_t profile_cupti_version(const Profile *profile);
uint64_t profile_origin(const Profile *profile); /* CUPTI's clock at profile_begin */

/* Sum of the lengths of all records of a kind, in ms; for copies of one direction. NAN where
 * profile is NULL or its window was never ended. */
double profile_ms(const Profile *profile, ProfileKind kind);
double profile_copy_ms(const Profile *profile, RtCopyKind kind);

/* After ranks_gather(), by all ranks: rank 0 writes OUT/trace.json (opens in Perfetto; where
 * profiling.trace is set) with what all of them recorded, and of its own records
 * cuda_gpu_kern_sum.csv, cuda_gpu_mem_time_sum.csv, cuda_gpu_mem_size_sum.csv, cuda_api_sum.csv as
 * Nsight Systems names and lays them out. Nothing where rank 0 has no window. */
void trace_write(Rt *rt);

/* NVTX range around a phase of the run; a few nanoseconds where no tool listens. */
void profile_range_push(const char *name);
void profile_range_pop(void);

#endif
