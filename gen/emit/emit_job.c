/* job.sbatch: what an administrator of a cluster would write for this experiment. */
#include "emit/emit_job.h"

#include "base/rounding.h"
#include "plan/figures.h"

enum { SIGNAL_S = 120 };

/* The requested resources, enough for the point with the most cards. */
typedef struct {
    int ranks, cards, nodes, per_node, gpus_per_node;
    bool shared;     /* in some point a task drives several cards */
    bool single;     /* in some point a task drives one card */
    int64_t threads; /* per task */
    bool numa_bind;
} Request;

static int ranks_of(const Plan *plan) { return (int)mesh_ranks(&plan->program->mesh, GROUP_WORLD); }

static Request request_of(const JobPoint *points, int count) {
    Request r = {.ranks = 1, .cards = 1, .numa_bind = true};
    for (int i = 0; i < count; i++) {
        const Plan *plan = points[i].plan;
        r.ranks = ranks_of(plan) > r.ranks ? ranks_of(plan) : r.ranks;
        r.cards = plan_cards(plan) > r.cards ? plan_cards(plan) : r.cards;
        r.shared = r.shared || plan->program->cards > 1;
        r.single = r.single || plan->program->cards <= 1;
        if (plan->spec->data.num_workers + 1 > r.threads)
            r.threads = plan->spec->data.num_workers + 1;
        r.numa_bind = r.numa_bind && plan->spec->data.numa_bind;
    }
    int node = device_node_cards(points[0].plan->device);
    r.nodes = (int)ceil_div(r.cards, node);
    r.per_node = (int)ceil_div(r.ranks, r.nodes);
    r.gpus_per_node = (int)ceil_div(r.cards, r.nodes);
    return r;
}

/* ---- head ------------------------------------------------------------------------------------ */

static void put_word(StrBuf *out, const char *option, const char *word) {
    if (word[0])
        sb_printf(out, "#SBATCH --%s=%s\n", option, word);
}

static bool same_size(const JobPoint *a, const JobPoint *b) {
    Request x = request_of(a, 1), y = request_of(b, 1);
    return x.ranks == y.ranks && x.nodes == y.nodes && x.gpus_per_node == y.gpus_per_node;
}

/* The first point of the same size as point i. */
static int first_of_size(const JobPoint *points, int i) {
    int first = 0;
    while (!same_size(&points[first], &points[i]))
        first++;
    return first;
}

/* Lists the points of one size as --array expects them, such as 0-3,6. */
static void put_points(const JobPoint *points, int count, int size, StrBuf *out) {
    const char *comma = "";
    for (int i = size; i < count; i++) {
        int end = i;
        while (end < count && first_of_size(points, end) == size)
            end++;
        if (end == i)
            continue;
        sb_printf(out, "%s%d", comma, i);
        if (end > i + 1)
            sb_printf(out, "-%d", end - 1);
        comma = ",";
        i = end;
    }
}

/* All jobs of an array get the same resources, so points of different sizes are better submitted
 * apart. */
static void put_sizes(const char *folder, const JobPoint *points, int count, StrBuf *out) {
    bool differ = false;
    for (int i = 0; i < count; i++)
        differ = differ || first_of_size(points, i) != 0;
    if (!differ)
        return;
    sb_puts(out, "# That reserves for each point what the largest needs. By size:\n#\n");
    for (int i = 0; i < count; i++) {
        if (first_of_size(points, i) != i)
            continue;
        Request r = request_of(&points[i], 1);
        sb_puts(out, "#     sbatch --array=");
        put_points(points, count, i, out);
        sb_printf(out,
                  " --nodes=%d --ntasks=%d --ntasks-per-node=%d --gpus-per-node=%d "
                  "%s/job.sbatch\n",
                  r.nodes, r.ranks, r.per_node, r.gpus_per_node, folder);
    }
    sb_puts(out, "#\n");
}

static const char *task_text(const Request *r) {
    if (r->shared && r->single)
        return "one task per card, or per process of several cards";
    return r->shared ? "one task per process of several cards" : "one task per card";
}

static void put_head(const char *folder, const JobPoint *points, int count, const Request *r,
                     StrBuf *out) {
    const Spec *spec = points[0].plan->spec;
    bool array = points[0].name[0];
    sb_puts(out, "#!/bin/bash\n");
    sb_printf(out, "# %s: cards %d, nodes %d, %s.%s\n", spec->name, r->cards, r->nodes,
              task_text(r),
              array ? " Each job of the array is one point of the study." : "");
    sb_printf(out,
              "# Submit from the folder that paths in the spec are relative to:\n#\n"
              "#     sbatch %s/job.sbatch\n#\n",
              folder);
    put_sizes(folder, points, count, out);
    put_word(out, "job-name", spec->name);
    put_word(out, "account", spec->job.account);
    put_word(out, "partition", spec->job.partition);
    put_word(out, "time", spec->job.time);
    sb_printf(out, "#SBATCH --nodes=%d\n#SBATCH --ntasks=%d\n#SBATCH --ntasks-per-node=%d\n",
              r->nodes, r->ranks, r->per_node);
    sb_printf(out, "#SBATCH --gpus-per-node=%d\n#SBATCH --cpus-per-task=%lld\n", r->gpus_per_node,
              (long long)r->threads);
    if (array)
        sb_printf(out, "#SBATCH --array=0-%d\n", count - 1);
    sb_printf(out, "#SBATCH --output=%s/slurm-%s.out\n#SBATCH --open-mode=append\n", folder,
              array ? "%A_%a" : "%j");
    sb_printf(
        out,
        "# Two minutes before the time limit all tasks get SIGUSR1: they write a checkpoint and "
        "exit with %d.\n#SBATCH --signal=USR1@%d\n#SBATCH --requeue\n\nset -u\n",
        EXIT_RESUMABLE, SIGNAL_S);
}

/* ---- body ------------------------------------------------------------------------------------ */

static void put_program(const char *folder, const JobPoint *points, int count, StrBuf *out) {
    if (!points[0].name[0]) {
        sb_printf(out, "program=%s ranks=%d\n", folder, ranks_of(points[0].plan));
        return;
    }
    sb_puts(out, "# name and ranks of each point\npoints=(\n");
    for (int i = 0; i < count; i++)
        sb_printf(out, "    \"%s %d\"\n", points[i].name, ranks_of(points[i].plan));
    sb_puts(out, ")\nread -r name ranks <<<\"${points[SLURM_ARRAY_TASK_ID]}\"\n");
    sb_printf(out, "program=%s/$name\n", folder);
}

static void put_base(const Spec *spec, StrBuf *out) {
    sb_printf(out,
              "# It starts from the weights that %s trains, which must be run first.\n"
              "[ -e %s/config.json ] || {\n"
              "    echo \"error: %s is not there: first train %s (make run or make slurm, "
              "SPEC=%s)\" >&2\n"
              "    exit 1\n"
              "}\n",
              spec->base_spec, spec->init_dir, spec->init_dir, spec->base_spec, spec->base_spec);
}

/* In a study, points with fewer cards may need fewer nodes. */
static void put_srun(const Request *r, const char *indent, StrBuf *out) {
    sb_printf(out, "%ssrun ", indent);
    if (r->nodes > 1)
        sb_printf(out, "--nodes=$(((ranks + %d) / %d)) ", r->per_node - 1, r->per_node);
    else
        sb_puts(out, "--nodes=1 ");
    sb_printf(out,
              "--ntasks=\"$ranks\" --mpi=pmix --cpu-bind=%s --kill-on-bad-exit=1 \\\n"
              "%s    \"$program/run\" --out \"$out\" $resume\n%scode=$?\n",
              r->numa_bind ? "none" : "cores", indent, indent);
}

static void put_once(const Request *r, bool repeated, StrBuf *out) {
    const char *indent = repeated ? "    " : "";
    sb_printf(out,
              "%s# After a restart of the job, resume from the last checkpoint.\n"
              "%sout=$program/out%s resume=\n"
              "%s[ \"${SLURM_RESTART_COUNT:-0}\" -eq 0 ] || [ ! -d \"$out/checkpoints\" ] || "
              "resume=--resume\n",
              indent, indent, repeated ? "$end" : "", indent);
    sb_printf(out, "%s# Every task sees all cards of its node and uses that of its local rank%s.\n",
              indent, r->numa_bind ? ", with cores close to it" : "");
    put_srun(r, indent, out);
}

static void put_run(const Request *r, int64_t repeats, StrBuf *out) {
    sb_puts(out, "export GPUOPT_DEVICE=${DEVICE:-cuda}\n"
                 "make -s -C \"$program\" DEVICE=\"$GPUOPT_DEVICE\" || exit\n\n");
    if (repeats > 1) {
        sb_puts(out, "for end in \"\"");
        for (int64_t i = 2; i <= repeats; i++)
            sb_printf(out, " .%lld", (long long)i);
        sb_puts(out, "; do\n");
    }
    put_once(r, repeats > 1, out);
    if (repeats > 1)
        sb_puts(out, "    [ $code -eq 0 ] || break\ndone\n");
}

void emit_job(const char *folder, const JobPoint *points, int count, StrBuf *out) {
    Request request = request_of(points, count);
    const Spec *spec = points[0].plan->spec;
    put_head(folder, points, count, &request, out);
    put_program(folder, points, count, out);
    if (spec->base_spec[0])
        put_base(spec, out);
    put_run(&request, spec->benchmark.repeats, out);
    sb_printf(out,
              "\n# To requeue the job after its time limit, uncomment this line:\n"
              "# [ $code -ne %d ] || scontrol requeue \"$SLURM_JOB_ID\"\n",
              EXIT_RESUMABLE);
    if (points[0].name[0])
        sb_printf(out, "# When all points are done: gpuopt-gen --compare %s\n", folder);
    sb_puts(out, "exit $code\n");
}
