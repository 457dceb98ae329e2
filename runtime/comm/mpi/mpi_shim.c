/* MPI behind functions without its types. It uses a communicator of its own, so that its messages
 * cannot mix with others (such as those of the simulated NCCL). */
#include "mpi_shim.h"

#include <mpi.h>

static MPI_Comm world = MPI_COMM_NULL, machine = MPI_COMM_NULL;
static MPI_Win shared = MPI_WIN_NULL;
static MPI_Request pending = MPI_REQUEST_NULL;
static int64_t pending_in, pending_out;

int shim_open(MpiPlace *place) {
    int level;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) ||
        MPI_Comm_dup(MPI_COMM_WORLD, &world))
        return 1;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world, &place->rank);
    MPI_Comm_size(world, &place->ranks);
    if (MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL, &machine))
        return 1;
    MPI_Comm_rank(machine, &place->local_rank);
    MPI_Comm_size(machine, &place->local_ranks);
    return 0;
}

int shim_share(int bytes, void **memory, int *here) {
    int rank, unit;
    MPI_Aint size;
    MPI_Comm_rank(world, &rank);
    if (MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, machine, memory, &shared) ||
        MPI_Win_shared_query(shared, 0, &size, &unit, memory))
        return 1;
    return MPI_Allgather(&rank, 1, MPI_INT, here, 1, MPI_INT, machine);
}

int shim_close(void) {
    if (shared != MPI_WIN_NULL && MPI_Win_free(&shared))
        return 1;
    return MPI_Comm_free(&machine) || MPI_Comm_free(&world) || MPI_Finalize();
}

int shim_barrier(void) { return MPI_Barrier(world); }

int shim_sum(int64_t *values, int count) {
    return MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM, world);
}

int shim_gather(const void *mine, void *all, int bytes) {
    return MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, world);
}

int shim_broadcast(void *values, int bytes) { return MPI_Bcast(values, bytes, MPI_BYTE, 0, world); }

/* MPI takes counts as int. */
static int next_part(int64_t left) {
    const int64_t most = 1 << 30;
    return (int)(left < most ? left : most);
}

int shim_send(int to, const void *values, int64_t bytes) {
    const char *at = values;
    for (; bytes > 0; bytes -= next_part(bytes), at += 1 << 30)
        if (MPI_Send(at, next_part(bytes), MPI_BYTE, to, 0, world))
            return 1;
    return 0;
}

int shim_receive(int from, void *values, int64_t bytes) {
    char *at = values;
    for (; bytes > 0; bytes -= next_part(bytes), at += 1 << 30)
        if (MPI_Recv(at, next_part(bytes), MPI_BYTE, from, 0, world, MPI_STATUS_IGNORE))
            return 1;
    return 0;
}

int shim_begin_max(int64_t value) {
    pending_in = value;
    return MPI_Iallreduce(&pending_in, &pending_out, 1, MPI_INT64_T, MPI_MAX, world, &pending);
}

int shim_end_max(int64_t *value) {
    int error = MPI_Wait(&pending, MPI_STATUS_IGNORE);
    *value = pending_out;
    return error;
}
