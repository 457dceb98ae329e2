/* Communicators, as shared by the files of the simulated NCCL. */
#ifndef SIM_NCCL_H
#define SIM_NCCL_H

#include "../comm/nccl_abi.h"

#include <mpi.h>

/* Prints the message and makes `result` the communicator's error; returns it. `comm` may be
 * NULL. */
NcclResult nccl_fail(NcclComm comm, NcclResult result, const char *what);
NcclResult nccl_usable(NcclComm comm); /* NCCL_OK, or why it cannot be used */
int nccl_ranks(NcclComm comm);
MPI_Comm nccl_mpi(NcclComm comm);
void **nccl_messages(NcclComm comm);
/* Enclose every call: two threads in one communicator at the same time are an error. */
void nccl_enter(NcclComm comm);
void nccl_leave(NcclComm comm);

#endif
