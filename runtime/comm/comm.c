/* Ranks find each other over MPI, compare what must be the same, and end together. */
#include "runtime/comm/comm.h"
#include "runtime/base/checksum.h"
#include "runtime/base/dynlib.h"
#include "runtime/base/launcher.h"
#include "runtime/base/siblings.h"
#include "runtime/base/watch.h"
#include "runtime/comm/comm_mpi.h"
#include "runtime/comm/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SIZE = 128 };

/* ---- number of processes started --------------------------------------------------------------- */

static void check_ranks(const Rt *rt, int started) {
    char layouts[640];
    if (started == rt->ranks)
        return;
    if (rt->card_count > 1)
        rt_fail(
            "this program drives its %d cards from one process but was started with %d processes: "
            "start it without mpirun, or generate it for one process per card "
            "(parallelism.data_parallel_mode = \"ddp\")",
            rt->card_count, started);
    mesh_layouts(rt->program, started, layouts, sizeof layouts);
    if (rt->ranks == 1)
        rt_fail("this program was generated for one rank but was started with %d processes: start it "
                "without mpirun, or generate it for another layout: %s",
                started, layouts);
    rt_fail("this program was generated for %d ranks but was started with %d process%s: start it with "
            "make run NP=%d or mpirun -np %d, or generate it for another layout: %s",
            rt->ranks, started, started == 1 ? "" : "es", rt->ranks, rt->ranks, layouts);
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* Ends all ranks after the reason has been printed. */
static _Noreturn void leave_together(Rt *rt) {
    comm_barrier(rt, "the end");
    watch_stop();
    mpi_close(rt);
    _exit(1);
}

/* comm_agree() within each group: compares each rank's text with that of its group's first rank. */
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

/* A checksum over names, shapes and offsets of all tensors. */
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

/* Each stage is a program of its own, which must run at its place among the ranks. */
static void agree_on_stages(Rt *rt) {
    const RtPipeline *p = rt->program->pipeline;
    int64_t misplaced = p && p->stage != mesh_group_rank(rt->program, RT_PIPELINE, rt->rank);
    if (misplaced)
        rt_say_error("this rank runs stage %d of the pipeline in the place of stage %d; start the "
                     "stages with make run",
                     p->stage, mesh_group_rank(rt->program, RT_PIPELINE, rt->rank));
    comm_sum_i64(rt, &misplaced, 1, "the order of stages");
    if (misplaced)
        leave_together(rt);
}

/* All ranks create the communicators together, so they need the same groups. */
static void agree_on_groups(Rt *rt, const char *remedy) {
    char text[TEXT_SIZE];
    unsigned long long named = 0;
    for (int i = 0; i < rt->program->group_count; i++)
        named |= 1ull << rt->program->groups[i];
    snprintf(text, sizeof text, "%016llx", named);
    comm_agree(rt, "the groups of ranks", text, remedy);
}

/* Compares the options that involve all ranks: a rank that dumps, for instance, asks the others for
 * their parts. */
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
    if (!mpi_open(rt, &place))
        rt_fail("MPI cannot be initialized; start the program with the mpirun of the MPI that it "
                "was built with");
    rt->rank = place.rank;
    siblings_share_errors(rt->rank);
    check_ranks(rt, place.ranks);
    rt->data_rank = mesh_group_rank(rt->program, RT_DATA, rt->rank);
    rt->data_ranks = mesh_group_size(rt->program, RT_DATA);
    rt->local_rank = place.local_rank;
    rt->local_ranks = place.local_ranks;
}

/* Only rank 0 prints the run's output; errors go to stderr. */
static void be_silent(const Rt *rt) {
    if (rt->rank > 0 && !freopen("/dev/null", "w", stdout))
        rt_fail("cannot redirect stdout to /dev/null");
}

static void share_posts(Rt *rt) {
    const int *here;
    WatchPost *posts = mpi_share(rt, sizeof *posts, &here);
    if (!posts)
        return;
    watch_post_init(posts + rt->local_rank);
    comm_barrier(rt, "the start");
    watch_share(rt, posts, here);
}

void comm_open(Rt *rt) {
    rt->ranks = mesh_ranks(rt->program);
    rt->local_ranks = rt->data_ranks = 1;
    rt->rank = launched_rank();
    check_ranks(rt, launched_ranks());
    if (rt->program->group_count)
        watch_start(rt, nccl_async_error, collective_name);
    if (rt->ranks == 1)
        return;
    dynlib_program_in(rt->options.exe_dir);
    mpi_load(rt);
    watch_enter(rt, "MPI_Init");
    find_place(rt);
    be_silent(rt);
    share_posts(rt);
    watch_leave(rt);
    agree_on_program(rt);
}

void comm_connect(Rt *rt) {
    if (rt->program->group_count)
        nccl_open(rt);
}

/* Waits for all ranks, since rank 0 may still be writing: if another rank exited with an error code
 * before that, the launcher would kill rank 0. */
void comm_close(Rt *rt) {
    if (!rt->program->group_count)
        return;
    comm_end_signals(rt);
    comm_barrier(rt, "the end");
    nccl_close(rt);
    watch_stop();
    if (rt->comm && !mpi_close(rt))
        rt_fail("MPI cannot be finalized");
}
