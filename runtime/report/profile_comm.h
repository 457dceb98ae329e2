/* What the profiling window says of collectives: the kernels that NCCL launched for them. */
#ifndef GPUOPT_PROFILE_COMM_H
#define GPUOPT_PROFILE_COMM_H

#include "runtime/report/profile.h"

/* Collectives by the word in the name of NCCL's kernels for them: RtCollectives, and others. */
typedef enum { COMM_OTHER = RT_COLLECTIVES, COMM_KINDS } CommKind;

/* Of the whole window, in ms. */
typedef struct {
    double comm;       /* some collective ran, or a copy from one device to another */
    double overlapped; /* … and other work beside it */
    double work;       /* other work ran: kernels, memsets, copies within the device */
} CommTimes;

/* NAN each where there was no window. */
CommTimes profile_comm_times(const Profile *profile);
/* How many of a kind there were; how long all of them took, in ms, and each of them in their
 * order, where these are not NULL. */
int64_t profile_comm_calls(const Profile *profile, int kind, double *all, double *each);

#endif
