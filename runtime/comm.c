/* Ranks find each other over MPI, compare what must be the same, and agree on when to end. */
#include "runtime/comm.h"
#include "runtime/checksum.h"
#include "runtime/dynlib.h"
#include "runtime/mesh.h"
#include "runtime/mpi/mpi_shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SIZE = 128 };

#define SHIM_FUNCTIONS(X) \
    X(open)               \
    X(close)              \
    X(share) X(barrier) X(sum) X(gather) X(broadcast) X(send) X(receive) X(begin_max) X(end_max)

struct RtComm {
#define X(name) __typeof__(&shim_##name) name;
    SHIM_FUNCTIONS(X)
#undef X
    bool asking; /* an exchange of signals is under way */
    int *here;   /* [local_ranks] the ranks of this machine */
};

static void load_shim(struct RtComm *comm) {
    static const char *const names[] = {
#define X(name) "shim_" #name,
        SHIM_FUNCTIONS(X)
#undef X
    };
    unsigned char *table = (unsigned char *)comm;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dynlib_need_symbol(LIB_MPI, names[i]);
        memcpy(table + i * sizeof address, &address, sizeof address);
    }
}

/* ---- how the process was started --------------------------------------------------------------- */

static const struct {
    const char *rank, *ranks;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMI_RANK", "PMI_SIZE"},
                 /* srun with PMIx; last, for mpirun sets the others inside of a step too. */
                 {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

/* Of the launcher that started this process; `otherwise` without one. */
static int launched(bool ranks, int otherwise) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *value = getenv(ranks ? launchers[i].ranks : launchers[i].rank);
        if (value)
            return (int)strtol(value, NULL, 10);
    }
    return otherwise;
}

int comm_launched_rank(void) { return launched(false, 0); }

static void check_ranks(const Rt *rt, int started) {
    enum { LATER_S = 5 };
    if (started == rt->ranks)
        return;
    /* One line is enough; the launcher ends the others when rank 0 is gone. */
    if (rt->rank > 0) {
        sleep(LATER_S);
        _exit(1);
    }
    if (rt->card_count > 1)
        rt_fail("this program drives its %d cards from one process and was started as %d: start it "
                "without mpirun, or generate it for a process a card "
                "(parallelism.data_parallel_mode = \"ddp\")",
                rt->card_count, started);
    if (rt->ranks == 1)
        rt_fail("this program was generated for one rank and was started as %d: start it without "
                "mpirun, or generate it for %d (parallelism.data_parallel_replicate_degree and its "
                "like)",
                started, started);
    rt_fail("this program was generated for %d ranks and was started as %d: start it with make run "
            "NP=%d or mpirun -np %d, or generate it for %d "
            "(parallelism.data_parallel_replicate_degree and its like)",
            rt->ranks, started, rt->ranks, rt->ranks, started);
}

/* ---- waiting for all ------------------------------------------------------------------------- */

/* A call of the shim, watched; its failure is the end. */
#define WAIT_FOR_ALL(rt, what, call)                                                          \
    do {                                                                                      \
        watch_enter(rt, what);                                                                \
        if ((rt)->comm->call != 0)                                                            \
            rt_fail("%s of step %lld: MPI lost another rank; go on from the last checkpoint " \
                    "with --resume",                                                          \
                    what, (long long)(rt)->step + 1);                                         \
        watch_leave(rt);                                                                      \
    } while (0)

void comm_barrier(Rt *rt, const char *what) {
    if (rt->comm)
        WAIT_FOR_ALL(rt, what, barrier());
}

void comm_sum_i64(Rt *rt, int64_t *values, int count, const char *what) {
    if (rt->comm)
        WAIT_FOR_ALL(rt, what, sum(values, count));
}

void comm_gather(Rt *rt, const void *mine, void *all, int bytes, const char *what) {
    if (rt->comm)
        WAIT_FOR_ALL(rt, what, gather(mine, all, bytes));
    else
        memcpy(all, mine, (size_t)bytes);
}

void comm_broadcast(Rt *rt, void *values, int bytes, const char *what) {
    if (rt->comm)
        WAIT_FOR_ALL(rt, what, broadcast(values, bytes));
}

void comm_send(Rt *rt, int to, const void *values, int64_t bytes, const char *what) {
    WAIT_FOR_ALL(rt, what, send(to, values, bytes));
}

void comm_receive(Rt *rt, int from, void *values, int64_t bytes, const char *what) {
    WAIT_FOR_ALL(rt, what, receive(from, values, bytes));
}

int comm_first_signal(Rt *rt) {
    int64_t agreed = 0;
    if (!rt->comm)
        return signals_caught();
    if (rt->comm->asking)
        WAIT_FOR_ALL(rt, "the exchange of signals", end_max(&agreed));
    WAIT_FOR_ALL(rt, "the exchange of signals", begin_max(signals_caught()));
    rt->comm->asking = true;
    return (int)agreed;
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* Rank 0 has said why. */
static _Noreturn void leave_together(Rt *rt) {
    comm_barrier(rt, "the end");
    watch_stop();
    rt->comm->close();
    _exit(1);
}

/* The same within each group. */
static void agree_in(Rt *rt, RtGroup group, const char *what, const char *text,
                     const char *remedy) {
    char mine[TEXT_SIZE] = "";
    if (!rt->comm)
        return;
    snprintf(mine, sizeof mine, "%s", text);
    char(*all)[TEXT_SIZE] = rt_alloc((size_t)rt->ranks * sizeof *all);
    comm_gather(rt, mine, all, TEXT_SIZE, what);
    for (int i = 1; i < rt->ranks; i++) {
        int first = mesh_first(rt->program, group, i);
        if (strcmp(all[i], all[first]) == 0)
            continue;
        if (rt->rank == 0)
            rt_say_error("ranks differ in %s: rank %d has %s, rank %d has %s; %s", what, first,
                         all[first], i, all[i], remedy);
        leave_together(rt);
    }
    free(all);
}

void comm_agree(Rt *rt, const char *what, const char *text, const char *remedy) {
    agree_in(rt, RT_WORLD, what, text, remedy);
}

/* Names, shapes and places of all tensors. */
static uint32_t tensors_crc32(const RtProgram *program) {
    uint32_t crc = 0;
    for (int i = 0; i < program->param_count; i++) {
        const RtParam *p = &program->params[i];
        const size_t places[] = {p->weight, p->master, p->gradient, p->exp_avg, p->exp_avg_sq};
        crc = crc32_add(crc, p->name, strlen(p->name));
        crc = crc32_add(crc, p->shape, sizeof p->shape);
        crc = crc32_add(crc, places, sizeof places);
    }
    return crc;
}

/* Each stage is a program of its own, and has its place among the ranks. */
static void agree_on_stages(Rt *rt) {
    const RtPipeline *p = rt->program->pipeline;
    int64_t misplaced = p && p->stage != mesh_place(rt->program, RT_PIPELINE, rt->rank);
    if (misplaced)
        rt_say_error("this rank runs stage %d of the pipeline, and its place is that of stage %d; "
                     "start them with make run",
                     p->stage, mesh_place(rt->program, RT_PIPELINE, rt->rank));
    comm_sum_i64(rt, &misplaced, 1, "the order of stages");
    if (misplaced)
        leave_together(rt);
}

/* Communicators are made by all ranks at once. */
static void agree_on_groups(Rt *rt, const char *remedy) {
    char text[TEXT_SIZE];
    unsigned long long named = 0;
    for (int i = 0; i < rt->program->group_count; i++)
        named |= 1ull << rt->program->groups[i];
    snprintf(text, sizeof text, "%016llx", named);
    comm_agree(rt, "the groups of ranks", text, remedy);
}

/* Those that decide what ranks do together: who dumps or goes on asks the others for what they hold. */
static void agree_on_options(Rt *rt, const char *remedy) {
    const RtOptions *o = &rt->options;
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "%s%s%s%s%s", o->dump_file ? "--dump " : "",
             o->resume ? "--resume " : "", o->no_adapter ? "--no-adapter " : "",
             o->init_dir ? "--init " : "", o->adapter_dir ? "--adapter " : "");
    size_t end = strlen(text);
    if (end > 0)
        text[end - 1] = '\0';
    comm_agree(rt, "their options", end > 0 ? text : "none", remedy);
}

static void agree_on_program(Rt *rt) {
    static const char build[] = "start all ranks from the same build of the same experiment";
    static const char line[] = "start all ranks with the same command line";
    char text[TEXT_SIZE];
    comm_agree(rt, "the experiment's spec", rt->program->spec_sha256, build);
    comm_agree(rt, "the program's generator", rt->program->generator, build);
    snprintf(text, sizeof text, "checksum %08x", (unsigned)tensors_crc32(rt->program));
    agree_on_stages(rt);
    agree_in(rt, RT_WORLD & ~RT_PIPELINE, "the table of tensors", text, build);
    agree_on_groups(rt, build);
    snprintf(text, sizeof text, "%lld", (long long)rt->options.steps);
    comm_agree(rt, "--steps", text, line);
    snprintf(text, sizeof text, "%lld", (long long)rt->options.seed);
    comm_agree(rt, "--seed", text, line);
    agree_on_options(rt, line);
}

/* ---- opening and closing ----------------------------------------------------------------------- */

static void find_place(Rt *rt) {
    MpiPlace place;
    if (rt->comm->open(&place) != 0)
        rt_fail("MPI cannot be initialized; start the program with the mpirun of the MPI that it "
                "was built with");
    check_ranks(rt, place.ranks);
    rt->rank = place.rank;
    rt->data_rank = mesh_place(rt->program, RT_DATA, rt->rank);
    rt->data_ranks = mesh_group_ranks(rt->program, RT_DATA);
    rt->local_rank = place.local_rank;
    rt->local_ranks = place.local_ranks;
    rt_name_rank(rt->rank);
}

/* What a run prints it prints once; errors are on stderr. */
static void be_silent(const Rt *rt) {
    if (rt->rank > 0 && !freopen("/dev/null", "w", stdout))
        rt_fail("/dev/null cannot be written");
}

static void share_posts(Rt *rt) {
    void *posts = NULL;
    int *here = rt->comm->here = rt_alloc((size_t)rt->local_ranks * sizeof *here);
    if (rt->comm->share(sizeof(WatchPost), &posts, here) != 0)
        return;
    memset((WatchPost *)posts + rt->local_rank, 0, sizeof(WatchPost)); /* MPI promises no zeros */
    comm_barrier(rt, "the start");
    watch_share(rt, posts, here);
}

void comm_open(Rt *rt) {
    rt->ranks = mesh_ranks(rt->program);
    rt->local_ranks = rt->data_ranks = 1;
    rt->rank = comm_launched_rank();
    check_ranks(rt, launched(true, 1));
    if (rt->ranks == 1)
        return;
    dynlib_program_in(rt->options.exe_dir);
    struct RtComm *comm = rt_alloc(sizeof *comm);
    load_shim(comm);
    rt->comm = comm;
    watch_start(rt);
    watch_enter(rt, "MPI_Init");
    find_place(rt);
    be_silent(rt);
    share_posts(rt);
    watch_leave(rt);
    agree_on_program(rt);
}

void comm_connect(Rt *rt) {
    if (rt->comm)
        nccl_open(rt);
}

/* Rank 0 may still be writing: who leaves early with an exit code ends the others. */
void comm_close(Rt *rt) {
    int64_t ignored;
    if (!rt->comm)
        return;
    if (rt->comm->asking)
        WAIT_FOR_ALL(rt, "the exchange of signals", end_max(&ignored));
    comm_barrier(rt, "the end");
    nccl_close(rt);
    watch_stop();
    if (rt->comm->close() != 0)
        rt_fail("MPI does not end well");
    free(rt->comm->here);
    free(rt->comm);
    rt->comm = NULL;
}
