/* Builds the update graph: gradient norm, clipping factor, AdamW or SGD, counters, and zeroed
 * gradients where the next step's micro-steps add to them. Requires the train state. */
#include "pass/pass.h"

static Value *clip(Program *p, Graph *graph, const Spec *spec) {
    Counters *c = &p->counters;
    Pos pos = spec_pos(spec, KEY_training_max_grad_norm);
    Value *gradient = p->train.gradient;
    Value *columns =
        op_add(p, graph, OP_sum_squares, "grad_norm.columns", &gradient, 1, (Attr){0}, pos)->out[0];
    Value *norm2 =
        op_add(p, graph, OP_sum, "grad_norm.squared", &columns, 1, (Attr){0}, pos)->out[0];
    Value *in[] = {norm2, c->step, c->bad_step, c->grad_norm};
    Value *out[] = {value_1d(p, "clip_factor", ROLE_ACTIVATION, p->real, 1, pos),
                    value_alias(p, c->grad_norm, "grad_norm")};
    Attr attr = {.max_norm = spec->training.max_grad_norm};
    op_add_into(p, graph, OP_clip_factor, "clip_factor", in, 4, out, 2, attr, pos);
    return out[0];
}

static void adamw(Program *p, Graph *graph, const Spec *spec, Value *factor) {
    Counters *c = &p->counters;
    TrainState *s = &p->train;
    Attr attr = {.beta1 = spec->optimizer.beta1,
                 .beta2 = spec->optimizer.beta2,
                 .eps = spec->optimizer.eps,
                 .weight_decay = spec->optimizer.weight_decay};
    Value *in[] = {s->master, s->gradient,         s->exp_avg,          s->exp_avg_sq, factor,
                   c->lr,     c->bias_correction1, c->bias_correction2, c->step,       c->applied};
    Value *out[] = {value_alias(p, s->master, "new.master"),
                    value_alias(p, s->exp_avg, "new.exp_avg"),
                    value_alias(p, s->exp_avg_sq, "new.exp_avg_sq"), NULL};
    int out_count = 3;
    if (s->master != s->weight)
        out[out_count++] = value_alias(p, s->weight, "new.weight");
    op_add_into(p, graph, OP_adamw, "adamw", in, 10, out, out_count, attr,
                spec_pos(spec, KEY_optimizer_name));
}

static void sgd(Program *p, Graph *graph, const Spec *spec, Value *factor) {
    Counters *c = &p->counters;
    TrainState *s = &p->train;
    bool momentum = s->exp_avg != NULL;
    Attr attr = {.momentum = spec->optimizer.momentum,
                 .weight_decay = spec->optimizer.weight_decay,
                 .nesterov = momentum && spec->optimizer.nesterov};
    Value *in[] = {s->master, s->gradient, factor, c->lr, c->step, s->exp_avg};
    Value *out[3] = {value_alias(p, s->master, "new.master")};
    int out_count = 1;
    if (momentum)
        out[out_count++] = value_alias(p, s->exp_avg, "new.exp_avg");
    if (s->master != s->weight)
        out[out_count++] = value_alias(p, s->weight, "new.weight");
    op_add_into(p, graph, OP_sgd, "sgd", in, 5 + momentum, out, out_count, attr,
                spec_pos(spec, KEY_optimizer_name));
}

static void advance(Program *p, Graph *graph, Value *factor, Pos pos) {
    Counters *c = &p->counters;
    Value *in[] = {factor, c->step, c->applied, c->step_loss, c->loss, c->bad_step};
    Value *out[5];
    for (int i = 0; i < 5; i++)
        out[i] = value_alias(p, in[i + 1], in[i + 1]->name);
    op_add_into(p, graph, OP_advance_step, "advance_step", in, 6, out, 5, (Attr){0}, pos);
}

void pass_optimizer(Program *p, const Spec *spec) {
    Graph *graph = &p->entry[ENTRY_UPDATE];
    if (!p->train.gradient)
        return;
    Value *factor = clip(p, graph, spec);
    if (spec->optimizer.name == OPTIMIZER_ADAMW)
        adamw(p, graph, spec, factor);
    else
        sgd(p, graph, spec, factor);
    Pos pos = spec_pos(spec, KEY_training_gradient_accumulation_steps);
    advance(p, graph, factor, pos);
    if (p->micro_steps == 1)
        return;
    Value *gradient = p->train.gradient, *zero = value_alias(p, gradient, "gradient");
    op_add_into(p, graph, OP_zero, "zero_grad", &gradient, 1, &zero, 1, (Attr){0}, pos);
}
