/* Builds the update graph: sums of partial gradients over ranks, gradient norm, clipping factor,
 * counters, AdamW (with 8-bit moments if chosen) or SGD, and zeroing of the gradients if the next
 * step's micro-steps accumulate into them. Requires the train state. */
#include "pass/pass.h"
#include "pass/quantize_maps.h"
#include "pass/train_state.h"

#include <float.h>

static Value *sum_over(Program *p, Graph *graph, Value *v, RankGroup group, const char *name,
                       Pos pos) {
    Attr attr = {.group = group};
    return op_add_in_place(p, graph, OP_all_reduce, name, v, name, attr, pos)->out[0];
}

static Value *squares(Program *p, Graph *graph, Value *gradient, const char *name, Pos pos) {
    const char *columns_name = arena_printf(p->arena, "%s.columns", name);
    Value *columns =
        op_add(p, graph, OP_sum_squares, columns_name, &gradient, 1, (Attr){0}, pos)->out[0];
    return op_add(p, graph, OP_sum, arena_printf(p->arena, "%s.squared", name), &columns, 1,
                  (Attr){0}, pos)
        ->out[0];
}

/* The two stages that share a weight each count half of it, because all stages' squares are
 * summed. */
static Value *half(Program *p, Graph *graph, Value *sum, Pos pos) {
    return op_add(p, graph, OP_scale, "grad_norm.half", &sum, 1, (Attr){.alpha = 0.5}, pos)->out[0];
}

static bool of_ends(const TrainKind *kind) { return kind->partial & GROUP_ENDS; }

/* The sum of squares of consecutive kinds with the same sharding, over the ranks that share
 * them. */
static Value *squares_of(Program *p, Graph *graph, const TrainKind *first, int count, Pos pos) {
    const char *name = first->shard ? "grad_norm.sharded" : "grad_norm.shared";
    int64_t rows = first[count - 1].first + first[count - 1].rows - first->first;
    if (rows == value_rows(p->train.gradient) && !first->shard && !of_ends(first))
        return squares(p, graph, p->train.gradient, "grad_norm", pos);
    Value *own = value_row_range(p, p->train.gradient, first->first, rows,
                                 first->shard ? "gradient.sharded" : "gradient.shared");
    Value *sum = squares(p, graph, own, name, pos);
    if (of_ends(first))
        sum = half(p, graph, sum, pos);
    return first->shard ? sum_over(p, graph, sum, first->shard, "grad_norm.sharded.sum", pos) : sum;
}

/* The squared norm of all gradients: each rank's shards, and once those that all ranks hold. */
static Value *norm_squared(Program *p, Graph *graph, Pos pos) {
    const TrainState *s = &p->train;
    Value *all = NULL;
    for (int i = 0, count; i < s->kind_count; i += count) {
        for (count = 1; i + count < s->kind_count; count++)
            if (s->kinds[i + count].shard != s->kinds[i].shard ||
                of_ends(&s->kinds[i + count]) != of_ends(&s->kinds[i]))
                break;
        Value *in[] = {all, squares_of(p, graph, &s->kinds[i], count, pos)};
        all = all ? op_add(p, graph, OP_add, "grad_norm.squared", in, 2, (Attr){0}, pos)->out[0]
                  : in[1];
    }
    return all;
}

/* Sums partial gradients over ranks. */
static void add_up_partial(Program *p, Graph *graph, Pos pos) {
    for (int i = 0; i < p->train.kind_count; i++) {
        const TrainKind *kind = &p->train.kinds[i];
        if (!kind->partial)
            continue;
        Value *part =
            value_row_range(p, p->train.gradient, kind->first, kind->rows, "gradient.partial");
        sum_over(p, graph, part, kind->partial, "gradient.partial", pos);
    }
}

/* Whether any tensor is sharded or has a partial gradient: gradients are then final only here. */
static bool are_parts(const TrainState *s) {
    bool found = false;
    for (int i = 0; i < s->kind_count; i++)
        found |= (s->kinds[i].shard | s->kinds[i].partial) != 0;
    return found;
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
    if (are_parts(&p->train))
        op->observe = "grad"; /* all gradients are final */
    return out[0];
}

static Attr adamw_attr(const Spec *spec) {
    return (Attr){.beta1 = spec->optimizer.beta1,
                  .beta2 = spec->optimizer.beta2,
                  .eps = spec->optimizer.eps,
                  .weight_decay = spec->optimizer.weight_decay};
}

/* The rows of a run after those with coded moments. */
static Value *behind(Program *p, Value *run) {
    int64_t first = p->train.coded.rows, rows = value_rows(run);
    return first ? value_row_range(p, run, first, rows - first, run->name) : run;
}

static void adamw(Program *p, Graph *graph, const Spec *spec, Value *factor, const Op *rates) {
    TrainState *s = &p->train;
    Value *master = behind(p, s->master), *gradient = behind(p, s->gradient);
    Value *in[] = {master, gradient,      s->exp_avg,    s->exp_avg_sq,
                   factor, rates->out[0], rates->out[1], rates->out[2]};
    Value *out[] = {value_alias(p, master, "new.master"), value_alias(p, s->exp_avg, "new.exp_avg"),
                    value_alias(p, s->exp_avg_sq, "new.exp_avg_sq"), NULL};
    int out_count = 3;
    if (s->master != s->weight)
        out[out_count++] = value_alias(p, behind(p, s->weight), "new.weight");
    op_add_into(p, graph, OP_adamw, "adamw", in, 8, out, out_count, adamw_attr(spec),
                spec_pos(spec, KEY_optimizer_name));
}

/* The rows of a run with coded moments, seen as one block per row. */
static Value *in_blocks(Program *p, Value *run) {
    Value *rows = value_row_range(p, run, 0, p->train.coded.rows, run->name);
    return value_reshaped(p, rows, value_elements(rows) / STATE_BLOCK, STATE_BLOCK);
}

static Value *table(Program *p, const char *name, const double *data, int count) {
    Value *v = value_2d(p, name, ROLE_CONSTANT, DT_F32, count, 1, (Pos){0});
    v->data = data;
    return v;
}

/* Negative numbers stay negative, as in bitsandbytes' kernel: they never get the code of zero. */
static double *signed_bounds(Arena *arena, const double *map) {
    double *bounds = map_bounds(arena, map, DYNAMIC_CODES);
    for (int i = 0; i + 1 < DYNAMIC_CODES; i++)
        if (map[i + 1] == 0)
            bounds[i] = -(double)FLT_TRUE_MIN;
    return bounds;
}

static void adamw_int8(Program *p, Graph *graph, const Spec *spec, Value *factor, const Op *rates) {
    TrainState *s = &p->train;
    const CodedMoments *m = &s->coded;
    const double *map = dynamic_map(p->arena, true), *positive = dynamic_map(p->arena, false);
    Value *master = in_blocks(p, s->master);
    Value *in[] = {master,
                   in_blocks(p, s->gradient),
                   m->exp_avg,
                   m->exp_avg_sq,
                   factor,
                   rates->out[0],
                   rates->out[1],
                   rates->out[2],
                   m->exp_avg_absmax,
                   m->exp_avg_sq_absmax,
                   table(p, "exp_avg_map", map, DYNAMIC_CODES),
                   table(p, "exp_avg_bounds", signed_bounds(p->arena, map), DYNAMIC_CODES - 1),
                   table(p, "exp_avg_sq_map", positive, DYNAMIC_CODES),
                   table(p, "exp_avg_sq_bounds", map_bounds(p->arena, positive, DYNAMIC_CODES),
                         DYNAMIC_CODES - 1)};
    Value *out[6] = {
        value_alias(p, master, "new.master"), value_alias(p, m->exp_avg, "new.exp_avg"),
        value_alias(p, m->exp_avg_sq, "new.exp_avg_sq"),
        value_alias(p, m->exp_avg_absmax, "new.exp_avg_absmax"),
        value_alias(p, m->exp_avg_sq_absmax, "new.exp_avg_sq_absmax")};
    int out_count = 5;
    if (s->master != s->weight)
        out[out_count++] = value_alias(p, in_blocks(p, s->weight), "new.weight");
    op_add_into(p, graph, OP_adamw_int8, "adamw_int8", in, 14, out, out_count, adamw_attr(spec),
                spec_pos(spec, KEY_optimizer_state));
}

static void sgd(Program *p, Graph *graph, const Spec *spec, Value *factor, const Op *rates) {
    TrainState *s = &p->train;
    bool momentum = s->exp_avg != NULL;
    Attr attr = {.momentum = spec->optimizer.momentum,
                 .weight_decay = spec->optimizer.weight_decay,
                 .nesterov = momentum && spec->optimizer.nesterov};
    Value *in[] = {s->master, s->gradient, factor, rates->out[0], s->exp_avg};
    Value *out[3] = {value_alias(p, s->master, "new.master")};
    int out_count = 1;
    if (momentum)
        out[out_count++] = value_alias(p, s->exp_avg, "new.momentum_buffer");
    if (s->master != s->weight)
        out[out_count++] = value_alias(p, s->weight, "new.weight");
    op_add_into(p, graph, OP_sgd, "sgd", in, 4 + momentum, out, out_count, attr,
                spec_pos(spec, KEY_optimizer_name));
}

static Op *rates_of(Program *p, Graph *graph, const Spec *spec) {
    Counters *c = &p->counters;
    Value *in[] = {c->step, c->lr, c->applied, c->bias_correction1, c->bias_correction2_sqrt};
    int count = spec->optimizer.name == OPTIMIZER_ADAMW ? 5 : 2;
    return op_add(p, graph, OP_rates, "rates", in, count, (Attr){0},
                  spec_pos(spec, KEY_optimizer_lr));
}

static void advance(Program *p, Graph *graph, Value *factor, Pos pos) {
    Counters *c = &p->counters;
    Value *in[] = {factor, c->step, c->applied, c->step_loss, c->loss, c->bad_step};
    Value *out[5];
    for (int i = 0; i < 5; i++)
        out[i] = value_alias(p, in[i + 1], in[i + 1]->name);
    op_add_into(p, graph, OP_advance_step, "advance_step", in, 6, out, 5, (Attr){0}, pos);
}

bool pass_optimizer(Program *p, const Spec *spec) {
    Graph *graph = &p->entry[ENTRY_UPDATE];
    if (!program_trains(p))
        return false;
    add_up_partial(p, graph, spec_pos(spec, KEY_training_max_grad_norm));
    Value *factor = clip(p, graph, spec);
    Op *rates = rates_of(p, graph, spec);
    Pos pos = spec_pos(spec, KEY_training_gradient_accumulation_steps);
    advance(p, graph, factor, pos); /* next to the clipping factor: fuses with it */
    if (spec->optimizer.name == OPTIMIZER_SGD)
        sgd(p, graph, spec, factor, rates);
    if (p->train.coded.rows)
        adamw_int8(p, graph, spec, factor, rates);
    if (p->train.exp_avg_sq)
        adamw(p, graph, spec, factor, rates);
    if (p->micro_steps == 1)
        return true;
    op_add_in_place(p, graph, OP_zero, "zero_grad", p->train.gradient, "gradient", (Attr){0}, pos);
    return true;
}
