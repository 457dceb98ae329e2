/* MPI behind functions without its types. On a communicator of its own, so that nobody else's messages
 * (the simulated NCCL's) meet these. */
#include "mpi_shim.h"

#include <mpi.h>

static MPI_Comm world = MPI_COMM_NULL;
static MPI_Request pending = MPI_REQUEST_NULL;
static int64_t pending_in, pending_out;

static int place_on_machine(MpiPlace *place) {
    MPI_Comm machine;
    if (MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL, &machine))
        return 1;
    MPI_Comm_rank(machine, &place->local_rank);
    MPI_Comm_size(machine, &place->local_ranks);
    return MPI_Comm_free(&machine);
}

int shim_open(MpiPlace *place) {
    int level;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) ||
        MPI_Comm_dup(MPI_COMM_WORLD, &world))
        return 1;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world, &place->rank);
    MPI_Comm_size(world, &place->ranks);
    return place_on_machine(place);
}

int shim_close(void) { return MPI_Comm_free(&world) || MPI_Finalize(); }

int shim_barrier(void) { return MPI_Barrier(world); }

int shim_sum(int64_t *values, int count) {
    return MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM, world);
}

int shim_max(int64_t *values, int count) {
    return MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, world);
}

int shim_gather(const void *mine, void *all, int bytes) {
    return MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, world);
}

int shim_broadcast(void *values, int bytes) { return MPI_Bcast(values, bytes, MPI_BYTE, 0, world); }

int shim_begin_max(int64_t value) {
    pending_in = value;
    return MPI_Iallreduce(&pending_in, &pending_out, 1, MPI_INT64_T, MPI_MAX, world, &pending);
}

int shim_end_max(int64_t *value) {
    int error = MPI_Wait(&pending, MPI_STATUS_IGNORE);
    *value = pending_out;
    return error;
}
