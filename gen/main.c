/* The compiler as a list of calls. */
#include "base/diag.h"
#include "base/strbuf.h"
#include "base/version.h"
#include "cli.h"
#include "devices/device.h"
#include "emit/write.h"
#include "model/model.h"
#include "pass/pass.h"
#include "pass/recompute.h"
#include "plan/plan.h"
#include "spec/sweep.h"
#include "study/study.h"
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

static void print_and_free(StrBuf *text) {
    fputs(text->text, stdout);
    sb_free(text);
}

static void print_keys(void) {
    StrBuf text = {0};
    spec_print_keys(&text);
    print_and_free(&text);
}

/* "# point r8: adapter.r=8" */
static void put_point(const SweepPoint *point, bool apart, StrBuf *out) {
    sb_printf(out, "%s# point %s:", apart ? "\n" : "", point->name);
    for (int i = 0; i < point->nsets; i++)
        sb_printf(out, " %s", point->sets[i]);
    sb_puts(out, "\n");
}

static void print_specs(const Sweep *sweep) {
    StrBuf text = {0};
    for (int i = 0; i < sweep->count; i++) {
        if (sweep->swept)
            put_point(&sweep->points[i], i > 0, &text);
        spec_print(sweep->points[i].spec, &text);
    }
    print_and_free(&text);
}

/* What needs no spec; true when that was all. */
static bool answer(Arena *arena, const Cli *cli) {
    if (cli->help)
        fputs(cli_help(), stdout);
    else if (cli->version)
        puts("gpuopt-gen " GENERATOR_VERSION);
    else if (cli->keys)
        print_keys();
    else if (cli->compare)
        compare_folders(arena, cli->paths, cli->path_count, cli->format);
    else
        return false;
    return true;
}

static Plan *plan_program(Program *program, const Spec *spec, const Device *device) {
    Plan *plan = plan_new(program, spec, device);
    plan_launches(plan);
    plan_lasting(plan);
    plan_join_launches(plan);
    plan_streams(plan);
    plan_memory(plan);
    plan_predict(plan);
    plan_side_stream(plan);
    plan_check(plan);
    return plan;
}

static Plan *plan_without(const Plan *plan, Recomputation *recompute, int dropped) {
    ungather_weights(plan->program);
    join_entries(plan->program);
    recompute_drop(recompute, dropped);
    pass_split_entries(plan->program, plan->spec);
    pass_gather_weights(plan->program, plan->spec);
    pass_qat_delay(plan->program, plan->spec);
    program_verify(plan->program, STAGE_KERNEL, "recompute");
    return plan_program(plan->program, plan->spec, plan->device);
}

/* Plans again with fewer activations kept, as few as must be, until it fits; with as few as can be
 * kept where it never does. What the graph alone says is nearly right, so the search starts there. */
static Plan *plan_with_recompute(const Plan *plan) {
    ungather_weights(plan->program);
    join_entries(plan->program);
    Recomputation *recompute = plan->program->recomputation;
    if (!recompute)
        recompute = recompute_new(plan->program, plan->spec);
    recompute_rank(recompute, plan->device);
    int dropped = 0, too_few = 0, enough = recompute_choices(recompute);
    int next = recompute_guess(recompute, plan->process_bytes - plan_budget_bytes(plan));
    Plan *tried = NULL;
    for (int step = 1; enough - too_few > 1; step *= 2) {
        dropped = next;
        tried = plan_without(plan, recompute, dropped);
        bool fits = plan_fits(tried);
        *(fits ? &enough : &too_few) = dropped;
        next = fits ? enough - step : too_few + step;
        if (next <= too_few || next >= enough)
            next = (too_few + enough) / 2;
    }
    return tried && dropped == enough ? tried : plan_without(plan, recompute, enough);
}

/* A program, or a stage of it where there are several. */
typedef struct {
    int index, count;
} StageOf;

static Plan *plan_spec(Arena *arena, const Spec *spec, const Device *device, StageOf stage,
                       const char *pass, StrBuf *dump) {
    Program *program = model_build(arena, spec);
    program->stage.index = stage.index;
    program->stage.count = stage.count;
    passes_run(program, spec, pass, dump);
    return plan_program(program, spec, device);
}

/* With the data set on the device where the plan fits with it as it is: to compute activations
 * again for its sake would cost more than to send batches. */
static Plan *plan_settled(Arena *arena, const Spec *spec, const Device *device, StageOf stage,
                          const char *pass, StrBuf *dump) {
    if (spec->data.device_resident != RESIDENT_AUTO)
        return plan_spec(arena, spec, device, stage, pass, dump);
    const Spec *keeps = spec_settle_resident(arena, spec, true, "the plan fits with them");
    Plan *plan = plan_spec(arena, keeps, device, stage, pass, dump);
    if (plan_fits(plan))
        return plan;
    sb_free(dump);
    const Spec *sends = spec_settle_resident(
        arena, spec, false, "the plan does not fit with the whole set on the device");
    return plan_spec(arena, sends, device, stage, pass, dump);
}

static const Device *device_of(Arena *arena, const Spec *spec) {
    const Device *device = device_read(arena, spec->job.device, spec_pos(spec, KEY_job_device));
    if (spec->compile.wgmma && !device->wgmma_share)
        user_error(spec_pos(spec, KEY_compile_wgmma), "set compile.wgmma = false",
                   "%s (%s) has no wgmma: its device file lacks matmul.wgmma_share", device->title,
                   device->arch);
    return device;
}

/* One process drives cards of one machine. */
static bool leaves_node(const Spec *spec, const Device *device) {
    return spec->parallelism.data_parallel_mode == PARALLEL_DP &&
           spec->parallelism.data_parallel_replicate_degree > device_node_cards(device);
}

static void require_node(Arena *arena, const Spec *spec, const Device *device) {
    if (leaves_node(spec, device))
        user_error(spec_pos(spec, KEY_parallelism_data_parallel_replicate_degree),
                   arena_printf(arena,
                                "at most %d; or a process a card: parallelism.data_parallel_mode = "
                                "\"ddp\"",
                                device_node_cards(device)),
                   "one process cannot drive %lld cards: a machine with %s has %d",
                   (long long)spec->parallelism.data_parallel_replicate_degree, device->title,
                   device_node_cards(device));
}

static Plan *plan_recomputing(Plan *plan) {
    return !plan_fits(plan) && recompute_may(plan->spec) ? plan_with_recompute(plan) : plan;
}

static Plan *make_plan(Arena *arena, const Cli *cli, const Spec *spec, StageOf stage) {
    StrBuf dump = {0};
    const Device *device = device_of(arena, spec);
    require_node(arena, spec, device);
    Plan *plan = plan_recomputing(plan_settled(arena, spec, device, stage, cli->dump, &dump));
    if (cli->dump)
        print_and_free(&dump);
    return plan;
}

/* All stages of an experiment; mostly there is one. */
typedef struct {
    Plan **stages;
    int count;
} Plans;

/* Cards that share out a model, or what trains it, have no step that one could take alone: that is
 * planned for itself. */
static void compare_with_one_card(Arena *arena, Plans plans) {
    const Plan *plan = plans.stages[0];
    const Mesh *mesh = &plan->program->mesh;
    if (mesh_ranks(mesh, GROUP_WORLD & ~GROUP_REPLICATE) == 1)
        return;
    Spec *spec = arena_alloc(arena, sizeof *spec);
    *spec = *plan->spec;
    spec->parallelism.tensor_parallel_degree = spec->parallelism.pipeline_parallel_degree = 1;
    spec->parallelism.data_parallel_replicate_degree = 1;
    spec->parallelism.data_parallel_shard_degree = 1;
    const Plan *alone =
        plan_recomputing(plan_spec(arena, spec, plan->device, (StageOf){0, 1}, NULL, NULL));
    for (int s = 0; s < plans.count; s++) {
        plans.stages[s]->alone_ms = alone->step.ms;
        plans.stages[s]->alone_fits = plan_fits(alone);
    }
}

static Plans make_plans(Arena *arena, const Cli *cli, const Spec *spec) {
    int count = (int)spec->parallelism.pipeline_parallel_degree;
    Plans plans = {arena_array(arena, (size_t)count, sizeof(Plan *)), count};
    for (int s = 0; s < count; s++)
        plans.stages[s] = make_plan(arena, cli, spec, (StageOf){s, count});
    if (count > 1)
        plan_stages(plans.stages, count);
    compare_with_one_card(arena, plans);
    return plans;
}

static void print_plan(Plans plans) {
    StrBuf text = {0};
    if (plans.count > 1)
        pipeline_print_text((const Plan *const *)plans.stages, plans.count, &text);
    else
        plan_print_text(plans.stages[0], &text);
    print_and_free(&text);
}

static const Plan *first_unfit(Plans plans) {
    for (int s = 0; s < plans.count; s++)
        if (!plan_fits(plans.stages[s]))
            return plans.stages[s];
    return NULL;
}

static void print_point(const SweepPoint *point, bool apart) {
    StrBuf text = {0};
    put_point(point, apart, &text);
    print_and_free(&text);
}

/* `point` of a study, or NULL. */
static void say_unfit(const Plan *plan, const SweepPoint *point) {
    StrBuf prefix = {0};
    if (point)
        sb_printf(&prefix, "point %s: ", point->name);
    plan_say_unfit(plan, point ? prefix.text : "", warn_at);
    sb_free(&prefix);
}

/* One experiment; true when it fits its device. One point that does not fit ends no study. */
static bool compile(const Cli *cli, const SweepPoint *point, Plans plans, const char *folder,
                    bool swept) {
    const Plan *unfit = first_unfit(plans);
    if (cli->dump)
        return true;
    if (!swept && !cli->format) /* a study has many: plan.txt beside each program, --point */
        print_plan(plans);
    if (unfit && (cli->plan ? !cli->format : swept))
        say_unfit(unfit, swept ? point : NULL);
    if (cli->plan || (swept && unfit))
        return !unfit;
    if (unfit)
        plan_require_fit(unfit);
    write_program((const Plan *const *)plans.stages, plans.count, folder, cli->force);
    return true;
}

static const char *folder_of(Arena *arena, const Cli *cli, const Sweep *sweep) {
    return cli->out ? cli->out : arena_printf(arena, "build/%s", sweep->points[0].spec->name);
}

/* Notes for scripts: the points of a study, and what `make run` runs. */
static void write_notes(Arena *arena, const Cli *cli, const Sweep *sweep, const bool *fits) {
    const char *folder = folder_of(arena, cli, sweep), *last = folder;
    StrBuf points = {0};
    for (int i = 0; i < sweep->count; i++)
        sb_printf(&points, "%s%s\n", sweep->points[i].name, fits[i] ? "" : " refused");
    if (sweep->swept) {
        write_points(folder, points.text);
        last = arena_printf(arena, "%s/points", folder);
    }
    if (!cli->out)
        write_last(last);
    sb_free(&points);
}

/* All stages take the same step; the one that needs most memory decides whether it fits. */
static const Plan *fullest(Plans plans) {
    const Plan *most = plans.stages[0];
    for (int s = 1; s < plans.count; s++)
        if (plans.stages[s]->process_bytes > most->process_bytes)
            most = plans.stages[s];
    return most;
}

/* Exit code: with --plan whether all fit, else whether anything was written. */
static bool compile_all(Arena *arena, const Cli *cli, const Sweep *sweep) {
    const char *folder = folder_of(arena, cli, sweep);
    bool *fits = arena_array(arena, (size_t)sweep->count, sizeof *fits);
    JobPoint *jobs = arena_array(arena, (size_t)sweep->count, sizeof *jobs);
    Predicted predicted = predicted_new(arena, sweep);
    int fitting = 0;
    for (int i = 0; i < sweep->count; i++) {
        const SweepPoint *point = &sweep->points[i];
        if (sweep->swept && cli->dump)
            print_point(point, i > 0);
        const char *to = sweep->swept ? arena_printf(arena, "%s/%s", folder, point->name) : folder;
        Arena own = {0}; /* of a plan that is not asked again */
        Plans plans = make_plans(cli->slurm ? arena : &own, cli, point->spec);
        fits[i] = compile(cli, point, plans, to, sweep->swept);
        if (fits[i] && !sweep->swept && !cli->plan && !cli->dump)
            warn_of_other_results(arena, to, point->spec);
        if (cli->plan)
            predicted_add(arena, &predicted, point, fullest(plans));
        if (fits[i])
            jobs[fitting++] = (JobPoint){point->name, cli->slurm ? plans.stages[0] : NULL};
        arena_free(&own);
    }
    if (cli->plan && (sweep->swept || cli->format))
        predicted_print(arena, &predicted, cli->format);
    if (cli->plan && sweep->swept && !cli->format)
        printf("\nall of one: gpuopt-gen --plan --point %s %s\n", sweep->points[0].name,
               cli->paths[0]);
    if (cli->plan || cli->dump)
        return fitting == sweep->count;
    write_notes(arena, cli, sweep, fits);
    if (fitting > 0)
        printf("\nwrote %s%s\n", folder, cli->out ? "" : "; make run builds and runs it");
    if (cli->slurm && fitting > 0) {
        write_job(folder, jobs, fitting, cli->force);
        printf("%s/job.sbatch: sbatch it from here\n", folder);
    }
    return fitting > 0;
}

/* Exit codes of --plan: 0 fits, 1 does not fit, 2 any error. */
static void exit_two(int code) {
    (void)code;
    exit(2);
}

/* The same experiment on growing numbers of cards. */
static void scale(Arena *arena, const Cli *cli) {
    const Sweep *sweep = sweep_replicas(arena, cli->paths[0], cli->sets, cli->nsets);
    const Plan **plans = arena_array(arena, (size_t)sweep->count, sizeof *plans);
    int count = 0;
    for (; count < sweep->count; count++) {
        const Spec *spec = sweep->points[count].spec;
        if (leaves_node(spec, device_of(arena, spec)))
            break;
        plans[count] = fullest(make_plans(arena, cli, spec));
    }
    scaling_print(arena, plans, count, cli->format);
}

/* What of a spec names a file of ours: an error where there is none. */
static void find_devices(Arena *arena, const Sweep *sweep) {
    for (int i = 0; i < sweep->count; i++)
        device_of(arena, sweep->points[i].spec);
}

int main(int argc, char **argv) {
    Arena arena = {0};
    Cli cli = cli_parse(&arena, argc, argv);
    bool fits = true;
    if (cli.plan)
        diag_exit = exit_two;
    if (answer(&arena, &cli)) {
    } else if (cli.scaling) {
        scale(&arena, &cli);
    } else {
        const Sweep *sweep = sweep_read(&arena, cli.paths[0], cli.sets, cli.nsets);
        if (cli.point)
            sweep = sweep_point(&arena, sweep, cli.point);
        if (cli.print_spec)
            print_specs(sweep);
        else if (cli.check)
            find_devices(&arena, sweep);
        else
            fits = compile_all(&arena, &cli, sweep);
    }
    arena_free(&arena);
    diag_forget_sources();
    return fits ? 0 : 1;
}
