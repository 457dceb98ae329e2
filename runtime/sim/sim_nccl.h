/* What the files of NCCL's stand-in know of a communicator. */
#ifndef SIM_NCCL_H
#define SIM_NCCL_H

#include "../comm/nccl_abi.h"

#include <mpi.h>

/* Says it, and makes it the communicator's error; `comm` may be NULL. */
NcclResult nccl_fail(NcclComm comm, NcclResult result, const char *what);
NcclResult nccl_usable(NcclComm comm); /* or why it is not */
int nccl_ranks(NcclComm comm);
MPI_Comm nccl_mpi(NcclComm comm);
void **nccl_messages(NcclComm comm);
/* Around every call: two threads at once in one communicator are a fault. */
void nccl_enter(NcclComm comm);
void nccl_leave(NcclComm comm);

#endif
