/* Loading, opening and closing MPI; comm.h has the functions in between. */
#ifndef GPUOPT_COMM_MPI_H
#define GPUOPT_COMM_MPI_H

#include "runtime/base/rt.h"
#include "runtime/comm/mpi/mpi_shim.h"

void mpi_load(Rt *rt); /* sets rt->comm */
bool mpi_open(Rt *rt, MpiPlace *place);
/* Returns memory that the ranks of this machine share until mpi_close(), `bytes` for each, or NULL.
 * Sets *here to the numbers of these ranks. */
void *mpi_share(Rt *rt, size_t bytes, const int **here);
bool mpi_close(Rt *rt); /* frees rt->comm */

#endif
