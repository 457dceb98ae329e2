/* The commands of gpuopt-gen, one function each. compile.c is the compiler itself. */
#include "base/diag.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "base/version.h"
#include "cli.h"
#include "compile.h"
#include "emit/write.h"
#include "plan/fit.h"
#include "plan/print_plan.h"
#include "remedy.h"
#include "spec/sweep.h"
#include "study/study.h"
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_and_free(StrBuf *text) {
    if (text->length > 0)
        fputs(text->text, stdout);
    sb_free(text);
}

/* ---- without a spec -------------------------------------------------------------------------- */

static void print_keys(const char *table) {
    StrBuf text = {0};
    spec_print_keys(table, &text);
    print_and_free(&text);
}

/* Handles options that need no spec; returns whether there was one. */
static bool answer(Arena *arena, const Cli *cli) {
    if (cli->help)
        fputs(cli_help(), stdout);
    else if (cli->version)
        puts("gpuopt-gen " GENERATOR_VERSION);
    else if (cli->keys)
        print_keys(cli->path_count ? cli->paths[0] : NULL);
    else if (cli->compare)
        compare_folders(arena, cli->paths, cli->path_count, cli->format);
    else
        return false;
    return true;
}

/* ---- --print-spec, --check, --dump ----------------------------------------------------------- */

/* Appends "# point r8: adapter.r=8", or nothing if the spec has no [sweep]. */
static void put_point(const Sweep *sweep, int i, StrBuf *out) {
    const SweepPoint *point = &sweep->points[i];
    if (!sweep->swept)
        return;
    sb_printf(out, "%s# point %s:", i > 0 ? "\n" : "", point->name);
    for (int k = 0; k < point->nsets; k++)
        sb_printf(out, " %s", point->sets[k]);
    sb_puts(out, "\n");
}

static void print_specs(const Sweep *sweep) {
    StrBuf text = {0};
    for (int i = 0; i < sweep->count; i++) {
        put_point(sweep, i, &text);
        spec_print(sweep->points[i].spec, &text);
    }
    print_and_free(&text);
}

/* sweep_read has checked everything else. */
static void check_devices(Arena *arena, const Sweep *sweep) {
    for (int i = 0; i < sweep->count; i++)
        compile_device(arena, sweep->points[i].spec);
}

static void dump_pass(Arena *all, const Sweep *sweep, const char *pass) {
    OneCards known = {.arena = all};
    for (int i = 0; i < sweep->count; i++) {
        StrBuf text = {0};
        Arena arena = {0};
        put_point(sweep, i, &text);
        compile_spec(&arena, &known, sweep->points[i].spec, pass, &text);
        print_and_free(&text);
        arena_free(&arena);
    }
}

/* ---- --plan, --scaling ----------------------------------------------------------------------- */

static void print_plan(Plans plans) {
    StrBuf text = {0};
    if (plans.count > 1)
        pipeline_print_text((const Plan *const *)plans.stages, plans.count, &text);
    else
        plan_print_text(plans.stages[0], &text);
    print_and_free(&text);
}

static void warn_unfit(Arena *arena, const Plan *unfit, const Sweep *sweep,
                       const SweepPoint *point) {
    const char *prefix = sweep->swept ? arena_printf(arena, "point %s: ", point->name) : "";
    plan_say_unfit(unfit, prefix, remedy_for(arena, unfit), warn_at);
}

/* Prints an experiment's plan in full, or a line per point of a study. Returns whether all fit. */
static bool show_plans(Arena *arena, const Cli *cli, const Sweep *sweep) {
    Predicted predicted = predicted_new(arena, sweep);
    OneCards known = {.arena = arena};
    bool fit = true, in_full = !sweep->swept && !cli->format;
    for (int i = 0; i < sweep->count; i++) {
        const SweepPoint *point = &sweep->points[i];
        Arena own = {0};
        Plans plans = compile_spec(&own, &known, point->spec, NULL, NULL);
        const Plan *unfit = plans_unfit(plans);
        if (in_full)
            print_plan(plans);
        if (unfit && !cli->format)
            warn_unfit(&own, unfit, sweep, point);
        predicted_add(arena, &predicted, point, plans_fullest(plans));
        fit = fit && !unfit;
        arena_free(&own);
    }
    if (!in_full)
        predicted_print(arena, &predicted, cli->format);
    if (sweep->swept && !cli->format)
        printf("\nthe full plan of a point: %s --plan --point %s %s\n",
               diag_command, sweep->points[0].name, cli->paths[0]);
    return fit;
}

/* The same experiment on growing numbers of cards. */
static void show_scaling(Arena *arena, const Cli *cli) {
    const Sweep *sweep = sweep_replicas(arena, cli->paths[0], cli->sets, cli->nsets, cli->point);
    const Plan **plans = arena_array(arena, (size_t)sweep->count, sizeof *plans);
    OneCards known = {.arena = arena};
    int count = 0;
    for (; count < sweep->count; count++) {
        const Spec *spec = sweep->points[count].spec;
        if (compile_leaves_node(spec, compile_device(arena, spec)))
            break;
        plans[count] = plans_fullest(compile_spec(arena, &known, spec, NULL, NULL));
    }
    const char *name = plans[0]->spec->name;
    scaling_print(arena, cli->point ? arena_printf(arena, "%s/%s", name, cli->point) : name, plans,
                  count, cli->format);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Writes an experiment's program. It is a user_error if the plan does not fit; for a point of a
 * study, it is a warning and returns false, because other points may fit. */
static bool write_point(Arena *arena, const Cli *cli, const Sweep *sweep, const SweepPoint *point,
                        Plans plans, const char *folder) {
    const Plan *unfit = plans_unfit(plans);
    if (unfit && sweep->swept) {
        warn_unfit(arena, unfit, sweep, point);
        return false;
    }
    if (!unfit) /* before the plan is printed, which would bury an error */
        write_program((const Plan *const *)plans.stages, plans.count, folder, cli->force);
    if (!sweep->swept) /* a study has many: see each program's plan.txt, or --plan --point */
        print_plan(plans);
    if (unfit)
        plan_say_unfit(unfit, "", remedy_for(arena, unfit), user_error);
    if (!sweep->swept) {
        if (forget_study(arena, folder))
            remove_job(folder); /* of its points */
        warn_of_other_results(arena, folder, point->spec);
    }
    return true;
}

/* Leaves notes for scripts: the points of a study, and what `make run` is to run. */
static void write_notes(Arena *arena, const Cli *cli, const Sweep *sweep, const char *folder,
                        const bool *fits) {
    StrBuf points = {0};
    for (int i = 0; i < sweep->count; i++)
        sb_printf(&points, "%s%s\n", sweep->points[i].name, fits[i] ? "" : " refused");
    if (sweep->swept)
        write_points(folder, points.text);
    if (!cli->out)
        write_last(sweep->swept ? arena_printf(arena, "%s/points", folder) : folder);
    sb_free(&points);
}

/* Outside a clone of this project there is no script that runs all points of a study. */
static void print_how_to_run_points(const Cli *cli, const char *folder, const char *point) {
    char *spec = realpath(cli->paths[0], NULL);
    printf("; make -C %s/%s run FROM=\"$PWD\" runs one point, and %s --compare %s compares "
           "those that have run\nall points: make run SPEC=%s",
           folder, point, diag_command, folder, spec ? spec : cli->paths[0]);
    for (int i = 0; i < cli->nsets; i++)
        printf("%s%s%s", i ? " " : " SET='", cli->sets[i], i + 1 < cli->nsets ? "" : "'");
    printf(" in a clone of gpuopt-gen, to which its paths are relative then");
    free(spec);
}

/* `make run` is this project's; elsewhere a program has only its own Makefile. */
static void print_how_to_run(const Cli *cli, const Sweep *sweep, const char *folder,
                             const char *point) {
    if (access("runtime/scripts/run.sh", R_OK) == 0)
        printf("; make run builds and runs it");
    else if (sweep->swept)
        print_how_to_run_points(cli, folder, point);
    else
        printf("; make -C %s run FROM=\"$PWD\" builds and runs it", folder);
}

/* build/last names what `make run` is to run, and a path that ends in points
 * is a study's list there. */
static bool is_name_of_notes(const char *name) {
    return !strcmp(name, "last") || !strcmp(name, "points");
}

/* Returns build/NAME, unless the tool itself has something of that name there. */
static const char *default_folder(Arena *arena, const Spec *spec) {
    const char *folder = arena_printf(arena, "build/%s", spec->name);
    if (is_name_of_notes(spec->name) || is_file(folder) || is_of_others(folder))
        user_error(spec_pos(spec, KEY_job_name),
                   "set another job.name, or name another folder with -o",
                   "%s is not for programs: gpuopt-gen or make has another use for it", folder);
    return folder;
}

/* Writes one program, or one per point of a study. Returns whether any was written. */
static bool write_programs(Arena *arena, const Cli *cli, const Sweep *sweep) {
    const char *folder = cli->out ? cli->out : default_folder(arena, sweep->points[0].spec);
    bool *fits = arena_array(arena, (size_t)sweep->count, sizeof *fits);
    JobPoint *jobs = arena_array(arena, (size_t)sweep->count, sizeof *jobs);
    OneCards known = {.arena = arena};
    int written = 0;
    for (int i = 0; i < sweep->count; i++) {
        const SweepPoint *point = &sweep->points[i];
        const char *to = sweep->swept ? arena_printf(arena, "%s/%s", folder, point->name) : folder;
        Arena own = {0};
        /* The job script needs the plans of all points together. */
        Arena *of_plans = cli->slurm ? arena : &own;
        Plans plans = compile_spec(of_plans, &known, point->spec, NULL, NULL);
        if (i == 0 && sweep->swept && !is_study(arena, folder))
            write_points(folder, ""); /* should this be interrupted, the folder is a study's */
        fits[i] = write_point(arena, cli, sweep, point, plans, to);
        if (fits[i])
            jobs[written++] = (JobPoint){point->name, cli->slurm ? plans.stages[0] : NULL};
        arena_free(&own);
    }
    write_notes(arena, cli, sweep, folder, fits);
    if (written == 0)
        return false;
    printf("\nwrote %s", folder);
    if (!cli->out)
        print_how_to_run(cli, sweep, folder, jobs[0].name);
    printf("\n");
    if (cli->slurm) {
        write_job(folder, jobs, written, cli->force);
        printf("%s/job.sbatch: submit it from here with sbatch\n", folder);
    }
    return true;
}

/* ---- main ------------------------------------------------------------------------------------ */

/* Exit codes of --plan: 0 fits, 1 does not fit, 2 any error. */
static void exit_two(int code) {
    (void)code;
    exit(2);
}

/* Returns false if a plan does not fit or nothing was written. */
static bool run(Arena *arena, const Cli *cli) {
    const Sweep *sweep = sweep_read(arena, cli->paths[0], cli->sets, cli->nsets);
    if (cli->point)
        sweep = sweep_point(arena, sweep, cli->point);
    if (cli->print_spec)
        print_specs(sweep);
    else if (cli->check)
        check_devices(arena, sweep);
    else if (cli->dump)
        dump_pass(arena, sweep, cli->dump);
    else
        return cli->plan ? show_plans(arena, cli, sweep) : write_programs(arena, cli, sweep);
    return true;
}

/* Memory that one point of a study has freed serves the next one. Returning it to the system in
 * between would take a quarter of the compiler's time, because all pages are cleared again. */
static void keep_freed_memory(void) {
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_MAX, 0);
}

int main(int argc, char **argv) {
    keep_freed_memory();
    diag_command = argv[0] ? argv[0] : diag_command;
    Arena arena = {0};
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) /* before others can be wrong */
        if (!strcmp(argv[i], "--plan"))
            diag_exit = exit_two;
    Cli cli = cli_parse(&arena, argc, argv);
    bool done = true;
    if (!answer(&arena, &cli)) {
        if (cli.scaling)
            show_scaling(&arena, &cli);
        else
            done = run(&arena, &cli);
    }
    if (fflush(stdout) || ferror(stdout))
        user_error((Pos){0}, "free some space, or print to another place",
                   "standard output cannot be written: %s", strerror(errno));
    arena_free(&arena);
    diag_forget_sources();
    return done ? 0 : 1;
}
