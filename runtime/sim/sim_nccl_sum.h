/* Sums over ranks for NCCL's stand-in. */
#ifndef SIM_NCCL_SUM_H
#define SIM_NCCL_SUM_H

#include "../comm/nccl_abi.h"
#include <stdbool.h>

size_t sum_type_bytes(NcclType type); /* 0: we do not have it */

/* to[i] = the sum over ranks of from[rank][i], in the order of the ranks, each rank's elements `count`
 * apart. 16-bit floats are added up as floats and rounded once. */
void sum_ranks(NcclType type, void *to, const void *from, int ranks, size_t count);

#endif
