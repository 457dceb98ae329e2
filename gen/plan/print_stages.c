/* Prints the plans of a pipeline's stages as a table and as JSON. */
#include "base/json_text.h"
#include "plan/figures.h"
#include "plan/print_plan.h"

/* The share of a step in which a card would wait if all stages took equally long and exchanges were
 * free. */
static double ideal_bubble(const Plan *plan) {
    double others = (double)(plan->program->stage.count - 1);
    return others / ((double)plan->program->micro_steps + others);
}

static const char *schedule_name(const Plan *plan) {
    return choice_name(KEY_parallelism_pipeline_schedule,
                       (int)plan->spec->parallelism.pipeline_schedule);
}

static void print_stage(const Plan *plan, StrBuf *out) {
    const StageTime *t = &plan->stage_time;
    sb_printf(out, "  %-5lld %11.2f %11.2f %7d %11.3f %11.3f %11.3f %11.3f %11.2f  %s\n",
              (long long)plan->program->stage.index, (double)plan->process_bytes / MIB,
              (double)(plan_slots(plan, ARENA_STASH) * plan->arena_bytes[ARENA_STASH]) / MIB,
              plan->schedule.slots, t->forward_ms, t->backward_ms,
              plan->entry[ENTRY_UPDATE].cost.ms, t->wait_ms,
              plan->exchanged[COLLECTIVE_SEND_RECV].bytes / MIB,
              plan->program->stage.begins);
}

static void print_step(const Plan *plan, StrBuf *out) {
    const Program *p = plan->program;
    sb_printf(out,
              "step: %s, %lld %s through %lld stages: %.3f ms predicted, %.0f %s/s\n",
              schedule_name(plan), (long long)p->micro_steps,
              p->micro_steps == 1 ? "micro-batch" : "micro-batches", (long long)p->stage.count,
              plan->step.ms, 1e3 * plan_step_rows(plan) / plan->step.ms, p->unit.plural);
    sb_printf(out,
              "bubble: cards wait for %.1f %% of forward and backward; %.1f %% if all stages took "
              "equally long and exchanges were free\n",
              100 * plan->bubble, 100 * ideal_bubble(plan));
    if (p->micro_steps < p->stage.count)
        sb_printf(out,
                  "bubble: %lld %s %lld stages without work for most of a step; "
                  "raise training.gradient_accumulation_steps\n",
                  (long long)p->micro_steps,
                  p->micro_steps == 1 ? "micro-batch leaves" : "micro-batches leave",
                  (long long)p->stage.count);
}

void pipeline_print_text(const Plan *const *stages, int count, StrBuf *out) {
    const Plan *first = stages[0];
    sb_printf(out, "%s on %lld x %s, %s\n\n", first->spec->title,
              (long long)mesh_ranks(&first->program->mesh, GROUP_WORLD), first->device->title,
              choice_name(KEY_precision_dtype, (int)first->spec->precision.dtype));
    sb_puts(out, "stage         MiB    kept MiB   slots  forward ms backward ms   update ms     "
                 "wait ms    sent MiB  begins with\n");
    for (int s = 0; s < count; s++)
        print_stage(stages[s], out);
    sb_puts(out, "\n");
    print_step(first, out);
    print_host(first, out);
    int64_t cards = mesh_ranks(&first->program->mesh, GROUP_WORLD);
    sb_printf(out, "cards: %lld, speed-up %.2f over one card (%.0f %% efficiency), ",
              (long long)cards, plan_speedup(first), 100 * plan_speedup(first) / (double)cards);
    print_one_card(first, out);
    if (plan_speedup(first) < 1 && first->alone_fits)
        sb_puts(out, "cards: one card would be faster: stages wait, exchange activations and launch "
                     "small kernels\n       for longer than their shares of the work save; larger "
                     "batches, or more\n       training.gradient_accumulation_steps, give each card "
                     "more work\n");
}

static json_t *stage_json(const Plan *plan) {
    const StageTime *t = &plan->stage_time;
    return json_pack("{s:s, s:I, s:I, s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "begins",
                     plan->program->stage.begins, "process_bytes", (json_int_t)plan->process_bytes,
                     "kept_bytes_per_slot", (json_int_t)plan->arena_bytes[ARENA_STASH], "slots",
                     plan->schedule.slots, "forward_ms", t->forward_ms, "backward_ms",
                     t->backward_ms, "update_ms", plan->entry[ENTRY_UPDATE].cost.ms, "wait_ms",
                     t->wait_ms, "sent_bytes",
                     plan->exchanged[COLLECTIVE_SEND_RECV].bytes, "communication_ms",
                     plan_exchanged(plan).ms);
}

void pipeline_print_json(const Plan *const *stages, int count, StrBuf *out) {
    const Plan *first = stages[0];
    json_t *rows = json_array();
    for (int s = 0; s < count; s++)
        json_array_append_new(rows, stage_json(stages[s]));
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:{s:f, s:f, s:f, s:I}, s:f, s:f, s:o}", "experiment",
                  first->spec->title, "spec_sha256", first->spec->sha256, "repeats",
                  (json_int_t)first->spec->benchmark.repeats, "device", first->device->name,
                  "precision", choice_name(KEY_precision_dtype, (int)first->spec->precision.dtype),
                  "schedule", schedule_name(first), "step", "ms", first->step.ms, "device_ms",
                  first->device_ms, "copying_ms", first->copying_ms, "micro_steps",
                  (json_int_t)first->program->micro_steps, "bubble", first->bubble, "ideal_bubble",
                  ideal_bubble(first), "stages", rows);
    json_object_set_new(root, "speedup", json_real(plan_speedup(first)));
    json_object_set_new(root, "one_card", one_card_json(first));
    sb_put_json(out, root);
}
