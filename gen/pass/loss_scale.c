/* Keeps the gradients of an fp16 program inside fp16's range by a dynamic loss scale (Micikevicius
 * et al., arXiv 1710.03740), with the rule of torch.amp.GradScaler and entirely on the device.
 *
 * Requires gradients and the update. Backward starts from the scale instead of 1; the clipping
 * factor divides by it; a step whose gradient norm is not finite applies no update and lowers the
 * scale, but does not stop the run. */
#include "pass/pass.h"

static void make_counters(Program *p, Pos pos) {
    Counters *c = &p->counters;
    c->loss_scale = value_1d(p, "loss_scale", ROLE_COUNTER, p->real, 1, pos);
    c->growth_tracker = value_1d(p, "growth_tracker", ROLE_COUNTER, DT_I32, 1, pos);
    c->skipped_steps = value_1d(p, "skipped_steps", ROLE_COUNTER, DT_I32, 1, pos);
}

static void scale_loss(Program *p) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < graph->op_count; i++)
        op_read_instead(graph->ops[i], p->loss_gradient, p->counters.loss_scale);
}

/* Leaves out the last operand, bad_step, which would stop the run. */
static void go_on_after_skips(Op *advance, const Value *bad_step) {
    ENSURE(advance->in[--advance->in_count] == bad_step, "%s does not stop", advance->name);
    advance->out_count--;
}

bool pass_loss_scale(Program *p, const Spec *spec) {
    Graph *update = &p->entry[ENTRY_UPDATE];
    Op *clip = graph_find(update, OP_clip_factor);
    if (spec->precision.dtype != PRECISION_FP16 || !clip)
        return false;
    Pos pos = spec_pos(spec, KEY_precision_dtype);
    make_counters(p, pos);
    scale_loss(p);
    Counters *c = &p->counters;
    clip->in[clip->in_count++] = c->loss_scale;
    go_on_after_skips(graph_find(update, OP_advance_step), c->bad_step);
    Value *in[] = {clip->out[0], c->loss_scale, c->growth_tracker, c->skipped_steps};
    Value *out[] = {value_alias(p, in[1], in[1]->name), value_alias(p, in[2], in[2]->name),
                    value_alias(p, in[3], in[3]->name)};
    Attr attr = {.growth = spec->precision.growth_factor,
                 .backoff = spec->precision.backoff_factor,
                 .interval = spec->precision.growth_interval};
    op_add_into(p, update, OP_update_scale, "update_scale", in, 4, out, 3, attr, pos);
    return true;
}
