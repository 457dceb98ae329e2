/* The compiler as a list of calls: model_build makes the graphs of a spec, passes_run rewrites
 * them, plan_once decides what runs and where everything is stored.
 *
 * Some questions can only be answered with a finished plan, so an experiment is planned several
 * times. For each stage of its pipeline, in this order:
 *
 *     plan_data_set  device_resident = "auto": with the data set on the device; without, if that
 *                    does not fit
 *     plan_to_fit    if it does not fit yet: with the fewest activations recomputed that suffice
 *
 * then once more for a single card, to compare with (plan_one_card), unless another point of a study
 * had the same. */
#include "compile.h"

#include "model/model.h"
#include "pass/pass.h"
#include "pass/recompute.h"
#include "plan/fit.h"
#include "plan/plan_steps.h"

#include <string.h>

/* Plans the program as it is. Only the side stream is decided by comparing two plans. */
static Plan *plan_once(Program *program, const Spec *spec, const Device *device) {
    Plan *plan = plan_new(program, spec, device);
    plan_launches(plan);
    plan_lasting(plan);
    plan_join_launches(plan);
    plan_streams(plan);
    plan_memory(plan);
    plan_require_shared_memory(plan);
    plan_predict(plan);
    plan_side_stream(plan);
    plan_peak(plan);
    plan_check(plan);
    return plan;
}

/* What to plan: one stage of an experiment, on a device. The spec varies. */
typedef struct {
    Arena *arena;
    const Device *device;
    int stage, stages;
    const char *pass; /* to dump after; NULL: none */
    StrBuf *dump;
} Job;

static Plan *plan_from_spec(const Job *job, const Spec *spec) {
    Program *program = model_build(job->arena, spec);
    program->stage.index = job->stage;
    program->stage.count = job->stages;
    passes_run(program, spec, job->pass, job->dump);
    return plan_once(program, spec, job->device);
}

/* ---- the data set ---------------------------------------------------------------------------- */

/* Keeps the data set on the device only if the plan fits without recomputation, which would cost
 * more than sending the batches. */
static Plan *plan_data_set(const Job *job, const Spec *spec) {
    if (spec->data.device_resident != RESIDENT_AUTO)
        return plan_from_spec(job, spec);
    const Spec *keeps = spec_settle_resident(job->arena, spec, true, "the plan fits with them");
    Plan *plan = plan_from_spec(job, keeps);
    if (plan_fits(plan))
        return plan;
    sb_free(job->dump);
    const Spec *sends = spec_settle_resident(
        job->arena, spec, false, "the plan does not fit with the whole set on the device");
    return plan_from_spec(job, sends);
}

/* ---- recomputation --------------------------------------------------------------------------- */

/* Plans the same program with `dropped` of the ranked activations recomputed instead of kept. */
static Plan *plan_dropping(const Plan *plan, Recomputation *recompute, int dropped) {
    passes_undo_after_recompute(plan->program);
    recompute_drop(recompute, dropped);
    passes_run_after_recompute(plan->program, plan->spec);
    return plan_once(plan->program, plan->spec, plan->device);
}

/* Drops the fewest activations with which the plan fits; if it never fits, all that can be dropped.
 * The search keeps that number above too_few and at most at enough. A guess from the missing bytes
 * is nearly right, so the search starts there, doubles its steps until both bounds are known, then
 * bisects. */
static Plan *plan_dropping_fewest(const Plan *plan) {
    passes_undo_after_recompute(plan->program);
    Recomputation *recompute = plan->program->recomputation;
    if (!recompute)
        recompute = plan->program->recomputation = recompute_new(plan->program, plan->spec);
    recompute_rank(recompute, plan->device);
    int dropped = 0, too_few = 0, enough = recompute_choices(recompute);
    int next = recompute_guess(recompute, plan->process_bytes - plan_budget_bytes(plan));
    Plan *tried = NULL;
    for (int step = 1; enough - too_few > 1; step *= 2) {
        dropped = next;
        tried = plan_dropping(plan, recompute, dropped);
        bool fits = plan_fits(tried);
        *(fits ? &enough : &too_few) = dropped;
        next = fits ? enough - step : too_few + step;
        if (next <= too_few || next >= enough)
            next = (too_few + enough) / 2;
    }
    return tried && dropped == enough ? tried : plan_dropping(plan, recompute, enough);
}

/* Returns the plan itself if it fits or nothing may be recomputed. */
static Plan *plan_to_fit(Plan *plan) {
    return plan_fits(plan) || !recompute_may(plan->spec) ? plan : plan_dropping_fewest(plan);
}

/* ---- the device ------------------------------------------------------------------------------ */

const Device *compile_device(Arena *arena, const Spec *spec) {
    const Device *device = device_read(arena, spec->job.device, spec_pos(spec, KEY_job_device));
    if (spec->compile.wgmma == EVERYWHERE && !device->wgmma_share)
        user_error(spec_pos(spec, KEY_compile_wgmma), "set compile.wgmma = false",
                   "%s (%s) has no wgmma: its device file lacks matmul.wgmma_share", device->title,
                   device->arch);
    if (spec->compile.programmatic_launch && !device->programmatic_gap_ms)
        user_error(spec_pos(spec, KEY_compile_programmatic_launch),
                   "set compile.programmatic_launch = false",
                   "%s (%s) has no programmatic dependent launch: its device file lacks "
                   "overhead_us.programmatic_gap",
                   device->title, device->arch);
    return device;
}

bool compile_leaves_node(const Spec *spec, const Device *device) {
    return spec->parallelism.data_parallel_mode == PARALLEL_DP &&
           spec->parallelism.data_parallel_replicate_degree > device_node_cards(device);
}

static void require_node(Arena *arena, const Spec *spec, const Device *device) {
    if (compile_leaves_node(spec, device))
        user_error(spec_pos(spec, KEY_parallelism_data_parallel_replicate_degree),
                   arena_printf(arena,
                                "at most %d; or one process per card: "
                                "parallelism.data_parallel_mode = \"ddp\"",
                                device_node_cards(device)),
                   "one process cannot drive %lld cards: a node with %s has %d",
                   (long long)spec->parallelism.data_parallel_replicate_degree, device->title,
                   device_node_cards(device));
}

/* ---- the experiment -------------------------------------------------------------------------- */

static Plan *plan_stage(Arena *arena, const Spec *spec, int stage, const char *pass, StrBuf *dump) {
    StrBuf own = {0}; /* this stage's dump; planning again discards it */
    Job job = {arena, compile_device(arena, spec),
               stage, (int)spec->parallelism.pipeline_parallel_degree,
               pass,  &own};
    require_node(arena, spec, job.device);
    Plan *plan = plan_to_fit(plan_data_set(&job, spec));
    if (pass)
        sb_append(dump, own.text, own.length);
    sb_free(&own);
    return plan;
}

/* ---- a single card --------------------------------------------------------------------------- */

struct OneCard {
    char sha256[SHA256_HEX_SIZE]; /* of its spec */
    double ms;                    /* of its step */
    bool fits, recomputes;
    OneCard *older;
};

static const OneCard *find_known(const OneCards *known, const Spec *spec) {
    const OneCard *one = known->newest;
    while (one && strcmp(one->sha256, spec->sha256) != 0)
        one = one->older;
    return one;
}

static OneCard one_card(const Plan *plan) {
    return (OneCard){.ms = plan->step.ms,
                     .fits = plan_fits(plan),
                     .recomputes = recompute_drops(plan->program->recomputation)};
}

/* Plans the same experiment for a single card, unless another point of the study has done so. */
static OneCard plan_one_card(Arena *arena, OneCards *known, const Plan *plan) {
    const Spec *spec = spec_for_one_card(arena, plan->spec);
    const OneCard *same = find_known(known, spec);
    if (same)
        return *same;
    Job job = {.arena = arena, .device = plan->device, .stages = 1};
    OneCard *one = arena_alloc(known->arena, sizeof *one);
    *one = one_card(plan_to_fit(plan_from_spec(&job, spec)));
    memcpy(one->sha256, spec->sha256, sizeof one->sha256);
    one->older = known->newest;
    known->newest = one;
    return *one;
}

/* Notes in all plans what a single card does. */
static void compare_with_one_card(Arena *arena, OneCards *known, Plans plans) {
    const Plan *first = plans.stages[0];
    OneCard alone = spec_trains_alone(first->spec) ? one_card(first)
                                                   : plan_one_card(arena, known, first);
    for (int s = 0; s < plans.count; s++) {
        plans.stages[s]->alone_ms = alone.ms;
        plans.stages[s]->alone_fits = alone.fits;
        plans.stages[s]->alone_recomputes = alone.recomputes;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

Plans compile_spec(Arena *arena, OneCards *known, const Spec *spec, const char *pass,
                   StrBuf *dump) {
    int count = (int)spec->parallelism.pipeline_parallel_degree;
    Plans plans = {arena_array(arena, (size_t)count, sizeof(Plan *)), count};
    for (int s = 0; s < count; s++)
        plans.stages[s] = plan_stage(arena, spec, s, pass, dump);
    if (count > 1)
        plan_stages(plans.stages, count);
    compare_with_one_card(arena, known, plans);
    return plans;
}

const Plan *plans_fullest(Plans plans) {
    const Plan *most = plans.stages[0];
    for (int s = 1; s < plans.count; s++)
        if (plans.stages[s]->process_bytes > most->process_bytes)
            most = plans.stages[s];
    return most;
}

const Plan *plans_unfit(Plans plans) {
    const Plan *most = plans_fullest(plans);
    return plan_fits(most) ? NULL : most;
}
