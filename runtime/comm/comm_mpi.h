/* MPI from loading to its end; what goes on in between is in comm.h. */
#ifndef GPUOPT_COMM_MPI_H
#define GPUOPT_COMM_MPI_H

#include "runtime/base/rt.h"
#include "runtime/comm/mpi/mpi_shim.h"

void mpi_load(Rt *rt); /* sets rt->comm */
bool mpi_open(Rt *rt, MpiPlace *place);
/* Memory that the ranks of this machine share, `bytes` each, until mpi_close(), and which ranks they
 * are; NULL where there is none. */
void *mpi_share(Rt *rt, size_t bytes, const int **here);
bool mpi_close(Rt *rt); /* takes rt->comm away */

#endif
