/* The profiling window: some steps of a run, recorded by CUPTI.
 *
 * CUPTI is loaded only if the program has such a window, and records only inside it, so that it
 * does not affect timed steps. Under Nsight Systems or Nsight Compute, which use CUPTI themselves,
 * it stays off, with one warning; NVTX ranges reach those tools in any case. */
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
    uint32_t device;     /* CUDA's device number; kernels, copies and memsets only */
    uint32_t stream;     /* of kernels, copies and memsets; thread id of API calls */
    uint32_t correlation;
    uint64_t bytes;    /* copies and memsets only; 0: unknown, as of a graph's memsets */
    RtCopyKind copy;   /* copies only */
    bool pinned, peer; /* copies only; peer: between devices, with `copy` RT_D2D */
    uint32_t grid[3], block[3], registers, shared_bytes; /* kernels only */
} ProfileRecord;

/* Call after the device is open and before graphs are made: a graph that is older than CUPTI's
 * initialisation can crash when it is launched while CUPTI records. Returns NULL if the program has
 * no profiling window or, with a warning, if another profiler is attached or CUPTI cannot be
 * loaded. */
Profile *profile_open(Rt *rt);
void profile_close(Profile *profile); /* NULL is allowed */

/* Lets records of a card's streams be told by what the streams are for. Call it once the card
 * is open. Does nothing without a profile. */
void profile_know_streams(const Rt *card);
/* Returns what a stream of a card is for, by the number that records give it; NULL: unknown, as for
 * those that the driver makes for the branches of a graph. */
const char *profile_stream_name(const Profile *profile, int card, uint32_t stream);

/* Both wait for the device, so that the window contains exactly the work enqueued between the two
 * calls: whole steps, of which the first one has this number, as in loss.csv. NULL is allowed. */
void profile_begin(Profile *profile, int64_t first_step);
void profile_end(Profile *profile, int64_t steps);
/* The same within a window: work enqueued between these two calls is not recorded. */
void profile_pause(Profile *profile);
void profile_resume(Profile *profile);

/* After profile_end: the window's records ordered by start, and its length in steps. */
int64_t profile_count(const Profile *profile);
const ProfileRecord *profile_record(const Profile *profile, int64_t index);
int64_t profile_steps(const Profile *profile);
int64_t profile_first_step(const Profile *profile);
int64_t profile_dropped(const Profile *profile); /* records lost for lack of buffers */
uint32_t profile_cupti_version(const Profile *profile);
uint64_t profile_origin(const Profile *profile); /* CUPTI's clock at profile_begin */

/* Total duration in ms of all records of a kind, and of the copies of one direction. NAN if profile
 * is NULL or its window was never ended. */
double profile_ms(const Profile *profile, ProfileKind kind);
double profile_copy_ms(const Profile *profile, RtCopyKind kind);

/* All ranks call it after ranks_gather(). Rank 0 writes OUT/trace.json (for Perfetto; if
 * profiling.trace is set) with the records of all ranks, and from its own records
 * cuda_gpu_kern_sum.csv, cuda_gpu_mem_time_sum.csv, cuda_gpu_mem_size_sum.csv and cuda_api_sum.csv,
 * named and laid out as by Nsight Systems. Does nothing if rank 0 has no window. */
void trace_write(Rt *rt);
/* Returns whether trace_write() writes a file of this name. */
bool trace_has(const char *name);
/* Removes these files from OUT. */
void trace_remove(const Rt *rt);

/* NVTX range around a phase of the run; it takes a few nanoseconds if no tool is attached. */
void profile_range_push(const char *name);
void profile_range_pop(void);

#endif
