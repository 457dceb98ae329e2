/* emit_settings.c puts a pointer to this table, an RtPipeline, into `program`. The plan has decided
 * the order of the actions (plan/schedule.c); the runtime carries them out. */
#include "emit/emit_schedule.h"

#include "emit/names.h"

/* Exchanges that begin together are on one line. */
static void put_actions(const StageSchedule *s, StrBuf *out) {
    static const char *const kinds[] = {[ACTION_FORWARD] = "FORWARD",
                                        [ACTION_BACKWARD] = "BACKWARD",
                                        [ACTION_RECEIVE_ACTIVATION] = "RECEIVE_ACTIVATION",
                                        [ACTION_SEND_ACTIVATION] = "SEND_ACTIVATION",
                                        [ACTION_RECEIVE_GRADIENT] = "RECEIVE_GRADIENT",
                                        [ACTION_SEND_GRADIENT] = "SEND_GRADIENT"};
    for (int i = 0; i < s->count; i++) {
        bool joins = i > 0 && action_exchanges(s->actions[i].kind) &&
                     action_exchanges(s->actions[i - 1].kind);
        sb_printf(out, "%s{RT_%s, %d},",
                  !i      ? "    "
                  : joins ? " "
                          : "\n    ",
                  kinds[s->actions[i].kind], s->actions[i].micro_batch);
    }
}

static void put_transfer(const Places *places, const char *field, const Value *v, Arena *arena,
                         StrBuf *out) {
    if (v)
        put_noted(out, 4,
                  arena_printf(arena, ".%s = {%s, %lld, %s},", field,
                               address_text(arena, places, v), (long long)value_elements(v),
                               rt_dtype(v->dtype)),
                  v->name);
}

void emit_schedule(const Places *places, StrBuf *out) {
    const Plan *plan = places->plan;
    const PipelineStage *stage = &plan->program->stage;
    const StageSchedule *s = &plan->schedule;
    Arena arena = {0};
    if (stage->count <= 1)
        return;
    sb_printf(out,
              "/* The actions of stage %lld of %lld in a step, each with its micro-batch, in the "
              "order of schedule %s.\n * Exchanges on one line begin together. */\n"
              "static const RtAction schedule[] = {\n",
              (long long)stage->index, (long long)stage->count,
              choice_name(KEY_parallelism_pipeline_schedule,
                          (int)plan->spec->parallelism.pipeline_schedule));
    put_actions(s, out);
    sb_printf(out,
              "\n};\n\nstatic const RtPipeline pipeline = {\n    .stage = %lld,\n    .slots = %d,\n"
              "    .schedule = schedule,\n"
              "    .action_count = sizeof schedule / sizeof *schedule,\n",
              (long long)stage->index, s->slots);
    put_transfer(places, "received", stage->received, &arena, out);
    put_transfer(places, "sent", stage->sent, &arena, out);
    put_transfer(places, "received_gradient", stage->received_gradient, &arena, out);
    put_transfer(places, "sent_gradient", stage->sent_gradient, &arena, out);
    sb_puts(out, "};\n\n");
    arena_free(&arena);
}
