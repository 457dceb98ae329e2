/* Builds the update graph: sums of gradients that ranks have parts of, gradient norm, clipping
 * factor, AdamW or SGD, counters, and zeroed gradients where the next step's micro-steps add to
 * them. Requires the train state. */
#include "pass/pass.h"

static Value *sum_over(Program *p, Graph *graph, Value *v, RankGroup group, const char *name,
                       Pos pos) {
    Value *sum = value_alias(p, v, name);
    op_add_into(p, graph, OP_all_reduce, name, &v, 1, &sum, 1, (Attr){.group = group}, pos);
    return sum;
}

static Value *squares(Program *p, Graph *graph, Value *gradient, const char *name, Pos pos) {
    const char *columns_name = arena_printf(p->arena, "%s.columns", name);
    Value *columns =
        op_add(p, graph, OP_sum_squares, columns_name, &gradient, 1, (Attr){0}, pos)->out[0];
    return op_add(p, graph, OP_sum, arena_printf(p->arena, "%s.squared", name), &columns, 1,
                  (Attr){0}, pos)
        ->out[0];
}

/* The square of the norm of all gradients, each rank's own ones and, once, those that all have. */
static Value *norm_squared(Program *p, Graph *graph, Pos pos) {
    const TrainState *s = &p->train;
    int64_t rows = value_rows(s->gradient);
    if (!s->shard_rows)
        return squares(p, graph, s->gradient, "grad_norm", pos);
    Value *own = value_row_range(p, s->gradient, 0, s->shard_rows, "gradient.sharded");
    Value *sum = squares(p, graph, own, "grad_norm.sharded", pos);
    sum = sum_over(p, graph, sum, s->shard, "grad_norm.sharded.sum", pos);
    if (s->shard_rows == rows)
        return sum;
    Value *shared =
        value_row_range(p, s->gradient, s->shard_rows, rows - s->shard_rows, "gradient.shared");
    Value *in[] = {sum, squares(p, graph, shared, "grad_norm.shared", pos)};
    return op_add(p, graph, OP_add, "grad_norm.squared", in, 2, (Attr){0}, pos)->out[0];
}

/* Gradients of which each rank has a part. */
static void add_up_partial(Program *p, Graph *graph, Pos pos) {
    const TrainState *s = &p->train;
    if (!s->partial_rows)
        return;
    Value *part =
        value_row_range(p, s->gradient, s->shard_rows, s->partial_rows, "gradient.partial");
    sum_over(p, graph, part, s->partial, "gradient.partial", pos);
}

static Value *clip(Program *p, Graph *graph, const Spec *spec) {
    Counters *c = &p->counters;
    Pos pos = spec_pos(spec, KEY_training_max_grad_norm);
    Value *norm2 = norm_squared(p, graph, pos);
    Value *in[] = {norm2, c->step, c->bad_step, c->grad_norm};
    Value *out[] = {value_1d(p, "clip_factor", ROLE_ACTIVATION, p->real, 1, pos),
                    value_alias(p, c->grad_norm, "grad_norm")};
    Attr attr = {.max_norm = spec->training.max_grad_norm};
    Op *op = op_add_into(p, graph, OP_clip_factor, "clip_factor", in, 4, out, 2, attr, pos);
    if (p->train.shard | p->train.partial)
        op->observe = "grad"; /* all of them are what they will be */
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
    add_up_partial(p, graph, spec_pos(spec, KEY_training_max_grad_norm));
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
