/* What the profiling window says of collectives: the kernels that NCCL launched for them. */
#ifndef GPUOPT_PROFILE_COMM_H
#define GPUOPT_PROFILE_COMM_H

#include "runtime/profile.h"

/* Collectives by what NCCL's kernels are called: the word in a kernel's name, the key of the report,
 * and, as nccl-tests has it, what its algorithm rate is multiplied with to give the links' rate: so
 * many times (n - 1) / n among n ranks, or 1 where `whole`. */
typedef struct {
    const char *word, *name;
    double times;
    bool whole;
} CommKind;
enum { COMM_KINDS = 6 };
extern const CommKind comm_kinds[COMM_KINDS];

double comm_bus_factor(const CommKind *kind, int ranks);

/* Of the whole window, in ms. */
typedef struct {
    double comm;       /* some collective ran */
    double overlapped; /* … and other work beside it */
    double work;       /* other work ran: kernels, memsets, copies within the device */
} CommTimes;

/* NAN each where there was no window. */
CommTimes profile_comm_times(const Profile *profile);
/* How many of a kind there were, and how long each of them took, in ms and in their order, where `ms`
 * is not NULL. */
int64_t profile_comm_calls(const Profile *profile, int kind, double *ms);

#endif
