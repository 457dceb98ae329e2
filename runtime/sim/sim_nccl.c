/* NCCL's stand-in: collectives over MPI, as operations of simulated streams.
 *
 * Each communicator has an MPI communicator of its own. A collective gathers every rank's bytes, a
 * piece at a time, and each rank adds them up in the order of the ranks: so all get the same bits in
 * every run. It never waits inside the driver: a piece that has not arrived lets other streams go on.
 * Before its data it compares notes with the others, for real NCCL hangs where two ranks call
 * different things, and a test must not. */
#include "../nccl_abi.h"
#include "sim_enqueue.h"
#include "sim_nccl_sum.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 4 << 20, SIMULATED_VERSION = 22809 };

/* What ranks compare before a collective. */
typedef struct {
    uint64_t communicator, count;
    int64_t type;
} Note;

/* One all-reduce, as it lies in a stream or a graph. */
typedef struct {
    NcclComm comm;
    const char *from;
    char *to;
    size_t count;
    NcclType type;
} Reduce;

struct NcclCommOf {
    int rank, ranks;
    uint64_t name; /* of the id it was made with */
    MPI_Comm mpi;
    MPI_Request request; /* of the communicator itself, of notes or of a piece */
    bool ready;
    atomic_flag in_call;
    atomic_int error; /* NcclResult */
    char last_error[256];
    const Reduce *running; /* NULL: none; others wait until it is done */
    bool noted;            /* the notes of `running` agree */
    size_t done, piece;    /* elements of it that are summed up; on their way */
    Note note, *notes;     /* [ranks] */
    unsigned char *pieces; /* [ranks][PIECE_BYTES] */
};

static _Thread_local char global_error[256] = "";

/* ---- errors ---------------------------------------------------------------------------------- */

static NcclResult fail(NcclComm comm, NcclResult result, const char *what) {
    char *text = comm ? comm->last_error : global_error;
    snprintf(text, sizeof global_error, "%s", what);
    fprintf(stderr, "simulated NCCL: %s\n", what);
    if (comm)
        comm->error = result;
    return result;
}

const char *ncclGetErrorString(NcclResult result) {
    switch (result) {
    case NCCL_OK:
        return "no error";
    case NCCL_SYSTEM_ERROR:
        return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case NCCL_INVALID_ARGUMENT:
        return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case NCCL_INVALID_USAGE:
        return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case NCCL_REMOTE_ERROR:
        return "remote process exited or there was a network error";
    case NCCL_IN_PROGRESS:
        return "NCCL operation in progress";
    }
    return "unknown result code";
}

const char *ncclGetLastError(NcclComm comm) { return comm ? comm->last_error : global_error; }

/* ---- communicators --------------------------------------------------------------------------- */

NcclResult ncclGetVersion(int *version) {
    *version = SIMULATED_VERSION;
    return NCCL_OK;
}

/* Different in each process and for each call. */
NcclResult ncclGetUniqueId(NcclId *id) {
    static int calls;
    memset(id, 0, sizeof *id);
    FILE *random = fopen("/dev/urandom", "rb");
    const bool read = random && fread(id->bytes, 8, 1, random) == 1;
    if (random)
        fclose(random);
    id->bytes[8] = (char)++calls;
    return read ? NCCL_OK : fail(NULL, NCCL_SYSTEM_ERROR, "/dev/urandom cannot be read");
}

static bool of_this_world(int ranks, int rank) {
    int initialized, world_ranks, world_rank;
    MPI_Initialized(&initialized);
    if (!initialized)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &(int){0});
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    return ranks == world_ranks && rank == world_rank;
}

/* Whether the request under way has ended; an MPI error becomes the communicator's. */
static bool arrived(NcclComm comm) {
    int flag = 0;
    if (MPI_Test(&comm->request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        fail(comm, NCCL_REMOTE_ERROR, "MPI lost the other ranks");
    return flag;
}

static void make_ready(NcclComm comm) {
    if (comm->ready || !arrived(comm))
        return;
    MPI_Comm_set_errhandler(comm->mpi, MPI_ERRORS_RETURN);
    comm->ready = true;
    comm->error = NCCL_OK;
}

NcclResult ncclCommInitRankConfig(NcclComm *out, int ranks, NcclId id, int rank,
                                  NcclConfig *config) {
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return fail(NULL, NCCL_INVALID_ARGUMENT, "a rank must be below the number of ranks");
    if (config && config->magic != (unsigned)NCCL_MAGIC)
        return fail(NULL, NCCL_INVALID_ARGUMENT, "the configuration is not initialized");
    if (ranks > 1 && !of_this_world(ranks, rank))
        return fail(NULL, NCCL_INVALID_USAGE,
                    "a communicator of several ranks has all ranks of MPI, in their order");
    NcclComm comm = *out = calloc(1, sizeof *comm);
    comm->rank = rank;
    comm->ranks = ranks;
    memcpy(&comm->name, id.bytes, sizeof comm->name);
    comm->notes = calloc((size_t)ranks, sizeof *comm->notes);
    comm->pieces = malloc((size_t)ranks * PIECE_BYTES);
    comm->ready = ranks == 1;
    if (comm->ready)
        return NCCL_OK;
    comm->error = NCCL_IN_PROGRESS;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm->mpi, &comm->request);
    while (!(config && config->blocking == 0) && !comm->ready)
        make_ready(comm);
    return (NcclResult)comm->error;
}

/* Two threads at once in calls for one communicator break NCCL, its question for errors included. */
static void enter(NcclComm comm) {
    if (!atomic_flag_test_and_set(&comm->in_call))
        return;
    fprintf(stderr, "simulated NCCL: two threads are in one communicator\n");
    abort();
}

static void leave(NcclComm comm) { atomic_flag_clear(&comm->in_call); }

NcclResult ncclCommGetAsyncError(NcclComm comm, NcclResult *error) {
    enter(comm);
    make_ready(comm);
    *error = (NcclResult)comm->error;
    leave(comm);
    return NCCL_OK;
}

NcclResult ncclCommDestroy(NcclComm comm) {
    if (comm->running)
        return fail(comm, NCCL_INVALID_USAGE, "a communicator was destroyed while it was in use");
    enter(comm);
    if (comm->ranks > 1)
        MPI_Comm_free(&comm->mpi);
    free(comm->notes);
    free(comm->pieces);
    free(comm);
    return NCCL_OK;
}

/* ---- all-reduce ------------------------------------------------------------------------------ */

static void exchange(NcclComm comm, const void *mine, void *all, size_t bytes) {
    if (MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm->mpi,
                       &comm->request) != MPI_SUCCESS)
        fail(comm, NCCL_REMOTE_ERROR, "MPI lost the other ranks");
}

static void begin(NcclComm comm, const Reduce *reduce) {
    comm->running = reduce;
    comm->noted = false;
    comm->done = comm->piece = 0;
    comm->note = (Note){comm->name, reduce->count, reduce->type};
    exchange(comm, &comm->note, comm->notes, sizeof comm->note);
}

static void compare_notes(NcclComm comm) {
    char text[256];
    comm->noted = true;
    for (int i = 0; i < comm->ranks; i++) {
        const Note *other = &comm->notes[i];
        if (!memcmp(other, &comm->note, sizeof *other))
            continue;
        snprintf(text, sizeof text,
                 "rank %d all-reduces %llu elements of type %d%s, rank %d %llu of type %d",
                 comm->rank, (unsigned long long)comm->note.count, (int)comm->note.type,
                 other->communicator == comm->name ? "" : " in another communicator", i,
                 (unsigned long long)other->count, (int)other->type);
        fail(comm, NCCL_INVALID_USAGE, text);
        return;
    }
}

static void next_piece(NcclComm comm, const Reduce *r) {
    const size_t bytes = sum_type_bytes(r->type), most = PIECE_BYTES / bytes;
    comm->piece = r->count - comm->done < most ? r->count - comm->done : most;
    if (comm->piece)
        exchange(comm, r->from + comm->done * bytes, comm->pieces, comm->piece * bytes);
}

/* As `run` in sim_enqueue.h. */
static int reduce_run(const void *argument) {
    const Reduce *r = argument;
    NcclComm comm = r->comm;
    const size_t bytes = sum_type_bytes(r->type);
    if (comm->ranks == 1) {
        memmove(r->to, r->from, r->count * bytes);
        return 1;
    }
    if (comm->running && comm->running != r)
        return 0;
    if (!comm->running)
        begin(comm, r);
    while (!comm->error) {
        if (!arrived(comm))
            return comm->error ? -1 : 0;
        if (!comm->noted)
            compare_notes(comm);
        else
            sum_ranks(r->type, r->to + comm->done * bytes, comm->pieces, comm->ranks, comm->piece);
        comm->done += comm->piece;
        if (comm->error)
            break;
        next_piece(comm, r);
        if (!comm->piece) {
            comm->running = NULL;
            return 1;
        }
    }
    return -1;
}

NcclResult ncclAllReduce(const void *from, void *to, size_t count, NcclType type, NcclOp op,
                         NcclComm comm, CUstream stream) {
    const Reduce reduce = {comm, from, to, count, type};
    if (!comm || !comm->ready)
        return fail(comm, NCCL_INVALID_USAGE, "the communicator is not ready");
    if (comm->error)
        return (NcclResult)comm->error;
    if (op != NCCL_SUM || !sum_type_bytes(type))
        return fail(comm, NCCL_INVALID_ARGUMENT, "only sums, and not of this type");
    const size_t bytes = count * sum_type_bytes(type);
    if (!sim_covers(from, bytes) || !sim_covers(to, bytes))
        return fail(comm, NCCL_INVALID_ARGUMENT, "the elements do not lie in one allocation");
    enter(comm);
    bool refused = sim_enqueue(stream, reduce_run, &reduce, sizeof reduce, "ncclAllReduce") != 0;
    leave(comm);
    return refused ? fail(comm, NCCL_SYSTEM_ERROR, "the stream takes no work") : NCCL_OK;
}
