/* Sums over ranks for the simulated NCCL. */
#ifndef SIM_NCCL_SUM_H
#define SIM_NCCL_SUM_H

#include "../comm/nccl_abi.h"
#include <stdbool.h>

size_t sum_type_bytes(NcclType type); /* 0: not supported */

/* to[i] = the sum over ranks of from[rank * count + i], in the order of the ranks. 16-bit floats
 * are added in fp32 and rounded once. */
void sum_ranks(NcclType type, void *to, const void *from, int ranks, size_t count);

#endif
