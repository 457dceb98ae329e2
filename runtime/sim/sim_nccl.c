/* The simulated NCCL: collectives over MPI, as operations of simulated streams.
 *
 * Each communicator has its own MPI communicator. A collective gathers the bytes of all ranks,
 * piece by piece, and each rank takes the parts it needs. Sums are added in the order of the ranks,
 * so all ranks get the same bits in every run. A collective never waits inside the driver: while a
 * piece has not arrived, other streams continue. Before its data, a collective exchanges notes that
 * describe it, because real NCCL hangs if ranks call different collectives, and a test must not. */
#include "../comm/nccl_abi.h"
#include "sim_enqueue.h"
#include "sim_nccl.h"
#include "sim_nccl_sum.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 4 << 20, SIMULATED_VERSION = 22809 };

typedef enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST } Kind;

/* What ranks compare before a collective. Compared as bytes, so it has no padding. */
typedef struct {
    uint64_t communicator, count;
    int64_t kind, type, root;
} Note;

/* One collective, as stored in a stream or a graph. */
typedef struct {
    Kind kind;
    NcclComm comm;
    const char *from;
    char *to;
    size_t count; /* elements that each rank sends */
    NcclType type;
    int root;
} Collective;

/* What ranks exchange to find the ranks with the same id. */
typedef struct {
    uint64_t name;
    int64_t rank, ranks;
} Member;

struct NcclCommOf {
    int rank, ranks;
    uint64_t name; /* from the id it was made with */
    MPI_Comm mpi;
    MPI_Request request;     /* the current exchange: of members, notes or a piece */
    Member member, *members; /* members: of all MPI ranks; NULL once the communicator is ready */
    bool ready;
    atomic_flag in_call;
    atomic_int error; /* NcclResult */
    char last_error[256];
    const Collective *running; /* or NULL; other collectives wait until it is done */
    bool noted;                /* the notes of `running` have been compared */
    size_t done, piece;        /* elements that have arrived, and that are in flight */
    Note note, *notes;         /* [ranks] */
    unsigned char *pieces;     /* [ranks][PIECE_BYTES] */
    unsigned char *sums;       /* [PIECE_BYTES] */
    void *messages;            /* in flight, owned by sim_nccl_send.c */
    bool broken;               /* what is running never ends */
};

static _Thread_local char global_error[256] = "";

/* ---- errors ---------------------------------------------------------------------------------- */

NcclResult nccl_fail(NcclComm comm, NcclResult result, const char *what) {
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

/* The id is different in each process and for each call. */
NcclResult ncclGetUniqueId(NcclId *id) {
    static int calls;
    memset(id, 0, sizeof *id);
    FILE *random = fopen("/dev/urandom", "rb");
    const bool read = random && fread(id->bytes, 8, 1, random) == 1;
    if (random)
        fclose(random);
    id->bytes[8] = (char)++calls;
    return read ? NCCL_OK : nccl_fail(NULL, NCCL_SYSTEM_ERROR, "/dev/urandom cannot be read");
}

static bool has_mpi(void) {
    int initialized;
    MPI_Initialized(&initialized);
    return initialized;
}

static int world_ranks(void) {
    int ranks;
    if (!has_mpi())
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &(int){0});
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

/* Returns whether the current request is complete. An MPI error becomes the communicator's
 * error. */
static bool arrived(NcclComm comm) {
    int flag = 0;
    if (MPI_Test(&comm->request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        nccl_fail(comm, NCCL_REMOTE_ERROR, "MPI lost the other ranks");
    return flag;
}

/* Finds the MPI ranks of the communicator's ranks, those with the same id. Returns false if some
 * are missing. */
static bool find_members(NcclComm comm, int *numbers) {
    const int all = world_ranks();
    int found = 0;
    for (int i = 0; i < all; i++) {
        const Member *m = &comm->members[i];
        if (m->name != comm->name || m->ranks != comm->ranks)
            continue;
        numbers[m->rank] = i;
        found++;
    }
    return found == comm->ranks;
}

/* All members have arrived, so this does not wait for long. */
static void make_group(NcclComm comm) {
    int *numbers = calloc((size_t)comm->ranks, sizeof *numbers);
    MPI_Group all, group;
    if (!find_members(comm, numbers)) {
        nccl_fail(comm, NCCL_INVALID_USAGE, "ranks of one id differ in their number of ranks");
    } else {
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, comm->ranks, numbers, &group);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm->mpi);
        MPI_Group_free(&group);
        MPI_Group_free(&all);
        MPI_Comm_set_errhandler(comm->mpi, MPI_ERRORS_RETURN);
        comm->ready = true;
        comm->error = NCCL_OK;
    }
    free(numbers);
    free(comm->members);
    comm->members = NULL;
}

static void make_ready(NcclComm comm) {
    if (comm->members && arrived(comm))
        make_group(comm);
}

/* In NCCL any set of ranks can make a communicator at any time. Here all MPI ranks must make theirs
 * at the same time, each together with the ranks that have the same id. */
NcclResult ncclCommInitRankConfig(NcclComm *out, int ranks, NcclId id, int rank,
                                  NcclConfig *config) {
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return nccl_fail(NULL, NCCL_INVALID_ARGUMENT, "a rank must be below the number of ranks");
    if (config && config->magic != (unsigned)NCCL_MAGIC)
        return nccl_fail(NULL, NCCL_INVALID_ARGUMENT, "the configuration is not initialized");
    if (ranks > 1 && ranks > world_ranks())
        return nccl_fail(NULL, NCCL_INVALID_USAGE, "a communicator has more ranks than MPI");
    NcclComm comm = *out = calloc(1, sizeof *comm);
    comm->rank = rank;
    comm->ranks = ranks;
    memcpy(&comm->name, id.bytes, sizeof comm->name);
    comm->notes = calloc((size_t)ranks, sizeof *comm->notes);
    comm->pieces = malloc((size_t)ranks * PIECE_BYTES);
    comm->sums = malloc(PIECE_BYTES);
    comm->ready = ranks == 1 && !has_mpi();
    if (comm->ready)
        return NCCL_OK;
    comm->error = NCCL_IN_PROGRESS;
    comm->member = (Member){comm->name, rank, ranks};
    comm->members = calloc((size_t)world_ranks(), sizeof *comm->members);
    MPI_Iallgather(&comm->member, sizeof(Member), MPI_BYTE, comm->members, sizeof(Member), MPI_BYTE,
                   MPI_COMM_WORLD, &comm->request);
    while (!(config && config->blocking == 0) && comm->error == NCCL_IN_PROGRESS)
        make_ready(comm);
    return (NcclResult)comm->error;
}

/* NCCL breaks if two threads use one communicator at the same time, even to ask for errors. */
void nccl_enter(NcclComm comm) {
    if (!atomic_flag_test_and_set(&comm->in_call))
        return;
    fprintf(stderr, "simulated NCCL: two threads are in one communicator\n");
    abort();
}

void nccl_leave(NcclComm comm) { atomic_flag_clear(&comm->in_call); }

NcclResult ncclCommGetAsyncError(NcclComm comm, NcclResult *error) {
    nccl_enter(comm);
    make_ready(comm);
    *error = (NcclResult)comm->error;
    nccl_leave(comm);
    return NCCL_OK;
}

int nccl_ranks(NcclComm comm) { return comm->ranks; }
MPI_Comm nccl_mpi(NcclComm comm) { return comm->mpi; }
void **nccl_messages(NcclComm comm) { return &comm->messages; }

NcclResult nccl_usable(NcclComm comm) {
    if (!comm || !comm->ready)
        return nccl_fail(comm, NCCL_INVALID_USAGE, "the communicator is not ready");
    return (NcclResult)comm->error;
}

NcclResult ncclCommDestroy(NcclComm comm) {
    if (comm->running || comm->messages)
        return nccl_fail(comm, NCCL_INVALID_USAGE,
                         "a communicator was destroyed while it was in use");
    nccl_enter(comm);
    if (comm->mpi)
        MPI_Comm_free(&comm->mpi);
    free(comm->notes);
    free(comm->pieces);
    free(comm->sums);
    free(comm);
    return NCCL_OK;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static void exchange(NcclComm comm, const void *mine, void *all, size_t bytes) {
    if (MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm->mpi,
                       &comm->request) != MPI_SUCCESS)
        nccl_fail(comm, NCCL_REMOTE_ERROR, "MPI lost the other ranks");
}

/* Whether the link breaks in the collective that begins: SIM_BREAK counts those of the process. */
static bool link_breaks(void) {
    static long left = -1; /* -1: not read yet, 0: it holds */
    const char *count = left < 0 ? getenv("SIM_BREAK") : NULL;
    if (left < 0)
        left = count ? strtol(count, NULL, 10) : 0;
    return left > 0 && --left == 0;
}

static void begin(NcclComm comm, const Collective *c) {
    comm->running = c;
    comm->noted = false;
    comm->done = comm->piece = 0;
    comm->note = (Note){comm->name, c->count, c->kind, c->type, c->root};
    comm->broken = link_breaks();
    if (comm->broken)
        nccl_fail(comm, NCCL_REMOTE_ERROR, "the link to another rank broke");
    else
        exchange(comm, &comm->note, comm->notes, sizeof comm->note);
}

static const char *verb(int64_t kind) {
    static const char *const verbs[] = {[ALL_REDUCE] = "all-reduces",
                                        [ALL_GATHER] = "all-gathers",
                                        [REDUCE_SCATTER] = "reduce-scatters",
                                        [BROADCAST] = "broadcasts"};
    return verbs[kind];
}

/* "rank 1 broadcasts 8 elements of type 7 from rank 0" */
static void tell(char text[128], int rank, const Note *note) {
    int length = snprintf(text, 128, "rank %d %s %llu elements of type %d", rank, verb(note->kind),
                          (unsigned long long)note->count, (int)note->type);
    if (note->kind == BROADCAST)
        snprintf(text + length, 128 - (size_t)length, " from rank %d", (int)note->root);
}

static void compare_notes(NcclComm comm) {
    const Note *mine = &comm->note;
    char text[300], here[128], there[128];
    comm->noted = true;
    for (int i = 0; i < comm->ranks; i++) {
        const Note *other = &comm->notes[i];
        if (!memcmp(other, mine, sizeof *other))
            continue;
        tell(here, comm->rank, mine);
        tell(there, i, other);
        snprintf(text, sizeof text, "%s%s, %s", here,
                 other->communicator == comm->name ? "" : " in another communicator", there);
        nccl_fail(comm, NCCL_INVALID_USAGE, text);
        return;
    }
}

static void next_piece(NcclComm comm, const Collective *c) {
    const size_t bytes = sum_type_bytes(c->type), most = PIECE_BYTES / bytes;
    comm->piece = c->count - comm->done < most ? c->count - comm->done : most;
    if (comm->piece)
        exchange(comm, c->from + comm->done * bytes, comm->pieces, comm->piece * bytes);
}

/* Sums a piece, and stores what belongs to this rank's part. */
static void take_part(NcclComm comm, const Collective *c, size_t bytes) {
    const size_t part = c->count / (size_t)comm->ranks, first = (size_t)comm->rank * part;
    const size_t from = comm->done > first ? comm->done : first;
    const size_t piece_end = comm->done + comm->piece, part_end = first + part;
    const size_t end = piece_end < part_end ? piece_end : part_end;
    if (from >= end)
        return;
    sum_ranks(c->type, comm->sums, comm->pieces, comm->ranks, comm->piece);
    memcpy(c->to + (from - first) * bytes, comm->sums + (from - comm->done) * bytes,
           (end - from) * bytes);
}

/* Takes a piece that has arrived from all ranks, [ranks][piece]. */
static void take_piece(NcclComm comm, const Collective *c, size_t bytes) {
    const size_t piece = comm->piece * bytes;
    switch (c->kind) {
    case ALL_REDUCE:
        sum_ranks(c->type, c->to + comm->done * bytes, comm->pieces, comm->ranks, comm->piece);
        break;
    case ALL_GATHER:
        for (size_t i = 0; i < (size_t)comm->ranks; i++)
            memcpy(c->to + (i * c->count + comm->done) * bytes, comm->pieces + i * piece, piece);
        break;
    case REDUCE_SCATTER:
        take_part(comm, c, bytes);
        break;
    case BROADCAST:
        memcpy(c->to + comm->done * bytes, comm->pieces + (size_t)c->root * piece, piece);
        break;
    }
}

/* See `run` in sim_enqueue.h. */
static int collective_run(const void *argument) {
    const Collective *c = argument;
    NcclComm comm = c->comm;
    const size_t bytes = sum_type_bytes(c->type);
    if (comm->ranks == 1) {
        memmove(c->to, c->from, c->count * bytes);
        return 1;
    }
    if (comm->running && comm->running != c)
        return 0;
    if (!comm->running)
        begin(comm, c);
    if (comm->broken)
        return 0; /* forever: NCCL leaves it to its caller to ask for errors */
    while (!comm->error) {
        if (!arrived(comm))
            return comm->error ? -1 : 0;
        if (!comm->noted)
            compare_notes(comm);
        else
            take_piece(comm, c, bytes);
        comm->done += comm->piece;
        if (comm->error)
            break;
        next_piece(comm, c);
        if (!comm->piece) {
            comm->running = NULL;
            return 1;
        }
    }
    return -1;
}

/* `received`: elements that each rank receives. */
static NcclResult enqueue(const Collective *c, size_t received, NcclOp op, CUstream stream,
                          const char *name) {
    NcclComm comm = c->comm;
    const size_t bytes = sum_type_bytes(c->type);
    const NcclResult usable = nccl_usable(comm);
    if (usable != NCCL_OK)
        return usable;
    if (op != NCCL_SUM || !bytes || c->root < 0 || c->root >= comm->ranks)
        return nccl_fail(comm, NCCL_INVALID_ARGUMENT,
                         "the type or operation is not supported, or there is no such root");
    if (!sim_covers(c->from, c->count * bytes) || !sim_covers(c->to, received * bytes))
        return nccl_fail(comm, NCCL_INVALID_ARGUMENT, "the elements are not in one allocation");
    nccl_enter(comm);
    bool refused = sim_enqueue(stream, collective_run, c, sizeof *c, name) != 0;
    nccl_leave(comm);
    return refused ? nccl_fail(comm, NCCL_SYSTEM_ERROR, "the stream takes no work") : NCCL_OK;
}

NcclResult ncclAllReduce(const void *from, void *to, size_t count, NcclType type, NcclOp op,
                         NcclComm comm, CUstream stream) {
    const Collective c = {ALL_REDUCE, comm, from, to, count, type, 0};
    return enqueue(&c, count, op, stream, "ncclAllReduce");
}

NcclResult ncclAllGather(const void *from, void *to, size_t count, NcclType type, NcclComm comm,
                         CUstream stream) {
    const Collective c = {ALL_GATHER, comm, from, to, count, type, 0};
    return enqueue(&c, comm ? count * (size_t)comm->ranks : 0, NCCL_SUM, stream, "ncclAllGather");
}

NcclResult ncclReduceScatter(const void *from, void *to, size_t count, NcclType type, NcclOp op,
                             NcclComm comm, CUstream stream) {
    const size_t ranks = comm ? (size_t)comm->ranks : 1;
    const Collective c = {REDUCE_SCATTER, comm, from, to, count * ranks, type, 0};
    return enqueue(&c, count, op, stream, "ncclReduceScatter");
}

NcclResult ncclBroadcast(const void *from, void *to, size_t count, NcclType type, int root,
                         NcclComm comm, CUstream stream) {
    const Collective c = {BROADCAST, comm, from, to, count, type, root};
    return enqueue(&c, count, NCCL_SUM, stream, "ncclBroadcast");
}
