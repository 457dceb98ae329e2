/* Collectives in the profiling window: the kernels that NCCL launched for them. */
#ifndef GPUOPT_PROFILE_COMM_H
#define GPUOPT_PROFILE_COMM_H

#include "runtime/report/profile.h"

/* Kinds of collectives, told by the names of NCCL's kernels: those of RtCollective, and others. */
typedef enum { COMM_OTHER = RT_COLLECTIVES, COMM_KINDS } CommKind;

/* Times in the whole window, in ms. */
typedef struct {
    double comm;       /* a collective or a copy between devices ran */
    double overlapped; /* … while other work ran too */
    double work;       /* other work ran: kernels, memsets, copies within the device */
} CommTimes;

/* All NAN if there was no window. */
CommTimes profile_comm_times(const Profile *profile);
/* Returns the number of calls of a kind. Unless NULL, *all receives their total time in ms, and
 * `each` the time of each call in order. */
int64_t profile_comm_calls(const Profile *profile, int kind, double *all, double *each);

#endif
