/* Quantisation-aware training: the operands of the layers' linears are rounded to the few bits that
 * the finished model will have, but keep their dtype (Jacob et al., arXiv 1712.05877). This holds
 * for every linear but the head. If a linear has an adapter, the base's weight and input are
 * rounded, as in torchtune, but not the adapter, whose input stays the same as without rounding.
 *
 * Requires forward graphs with adapters and sharding: a row whose columns ranks share out is
 * rounded by the values of all ranks. Linears that read the same x share its rounded values. A
 * trained weight is rounded in every micro-step; a frozen one is rounded once, in place, by load.
 * Frozen weights that will be quantised are not rounded here: pass_quantize finds them in the same
 * linears.
 *
 * A linear that reads the difference of two values, such as DoRA's linear of the dropped part of x,
 * reads the difference of the rounded values. Its result is then the difference between linears of
 * the two. */
#include "base/dotted.h"
#include "pass/pass.h"
#include "pass/tensor.h"

#include <string.h>

typedef struct {
    Program *program;
    const Spec *spec;
    Graph *graph;
    Value **rounded; /* by id: what replaces a value in this graph; NULL: nothing yet */
    Value **reader;  /* by index of an op of a difference: the weight that multiplies it; or NULL */
} Rounding;

static bool is_chosen(const Op *op) {
    return op->kind == OP_linear && op->in[1]->role != ROLE_ADAPTER &&
           strcmp(name_last_part(op->name), "lm_head") != 0;
}

/* The group that shares out the columns of w, and of the rows that w multiplies; 0: none. */
static RankGroup sharers(const Rounding *r, const Value *w) {
    const Param *param = program_param(r->program, w);
    return param && param->shard_axis == 1 ? param->shard : 0;
}

/* ---- 8-bit floats ------------------------------------------------------------------------------ */

/* Rounds rows of x, a token or a weight called `of`, into `out` or, if that is NULL, a new value. The
 * columns of a row are on all ranks of the group. */
static Value *round_floats(Program *p, Graph *graph, Value *x, const char *of, RankGroup group,
                           Value *out, Pos pos) {
    Value *in[] = {x, NULL};
    Attr attr = {.group = group};
    if (group) {
        const char *name = arena_printf(p->arena, "%s.absmax", of);
        Value *own = op_add(p, graph, OP_block_absmax, name, &x, 1, (Attr){0}, pos)->out[0];
        name = arena_printf(p->arena, "%s.all_gather", name);
        in[1] = op_add(p, graph, OP_all_gather, name, &own, 1, attr, pos)->out[0];
    }
    const char *name = arena_printf(p->arena, "%s.fake_quant", of);
    return op_add_into(p, graph, OP_fake_quant_float8, name, in, group ? 2 : 1, &out, out != NULL, attr,
                       pos)
        ->out[0];
}

/* ---- activations ----------------------------------------------------------------------------- */

static Value *ranges_of(const Rounding *r, Value *x, RankGroup group) {
    Program *p = r->program;
    Pos pos = spec_pos(r->spec, KEY_qat_activation_dtype);
    const char *name = arena_printf(p->arena, "%s.range", x->name);
    Value *range = value_2d(p, name, ROLE_ACTIVATION, DT_F32, value_rows(x), 2, pos);
    Value *ends[] = {value_columns(p, range, 0, 1, arena_printf(p->arena, "%s.least", name)),
                     value_columns(p, range, 1, 1, arena_printf(p->arena, "%s.most", name))};
    op_add_into(p, r->graph, OP_token_range, name, &x, 1, ends, 2, (Attr){0}, pos);
    name = arena_printf(p->arena, "%s.all_gather", name);
    Attr attr = {.group = group};
    Value *all = op_add(p, r->graph, OP_all_gather, name, &range, 1, attr, pos)->out[0];
    return value_reshaped(p, all, value_elements(all), 1);
}

static Value *round_tokens(const Rounding *r, Value *x, RankGroup group) {
    Pos pos = spec_pos(r->spec, KEY_qat_activation_dtype);
    if (r->spec->qat.activation_dtype == QAT_ACTIVATION_FLOAT8)
        return round_floats(r->program, r->graph, x, x->name, group, NULL, pos);
    const char *name = arena_printf(r->program->arena, "%s.fake_quant", x->name);
    Value *in[] = {x, group ? ranges_of(r, x, group) : NULL};
    Attr attr = {.bits = 8, .group = group};
    return op_add(r->program, r->graph, OP_fake_quant_tokens, name, in, group ? 2 : 1, attr, pos)
        ->out[0];
}

static Value *rounded_tokens(const Rounding *r, Value *x, RankGroup group) {
    if (r->spec->qat.activation_dtype == QAT_ACTIVATION_NONE)
        return x;
    if (!r->rounded[x->id])
        r->rounded[x->id] = round_tokens(r, x, group);
    return r->rounded[x->id];
}

/* ---- weights --------------------------------------------------------------------------------- */

static Attr weight_attr(const Rounding *r, const Value *w) {
    int64_t size = r->spec->qat.group_size;
    return (Attr){.bits = r->spec->qat.weight_dtype == QAT_WEIGHT_INT4 ? 4 : 8,
                  .rows = size ? size : value_cols(w)};
}

static Value *add(const Rounding *r, Graph *graph, OpKind kind, const Value *w, const char *what,
                  Value *const *in, int in_count, Attr attr, Value *out) {
    const char *name = arena_printf(r->program->arena, "%s.%s", w->name, what);
    return op_add_into(r->program, graph, kind, name, in, in_count, &out, out != NULL, attr,
                       spec_pos(r->spec, KEY_qat_weight_dtype))
        ->out[0];
}

/* Rounds w, whose elements `dense` has without gaps, into `out` or, if that is NULL, a new
 * value. */
static Value *round_weight(const Rounding *r, Graph *graph, Value *w, Value *dense, Value *out) {
    if (r->spec->qat.weight_dtype == QAT_WEIGHT_FLOAT8)
        return round_floats(r->program, graph, dense, w->name, sharers(r, w), out,
                            spec_pos(r->spec, KEY_qat_weight_dtype));
    Attr attr = weight_attr(r, w), in_groups = {.rows = value_elements(w) / attr.rows};
    Value *groups = add(r, graph, OP_reshape, w, "groups", &dense, 1, in_groups, NULL);
    Value *absmax = add(r, graph, OP_block_absmax, w, "absmax", &groups, 1, (Attr){0}, NULL);
    if (sharers(r, w) && !r->spec->qat.group_size)
        absmax = tensor_absmax(r->program, graph, w->name, absmax, sharers(r, w), NULL,
                               spec_pos(r->spec, KEY_qat_weight_dtype));
    Value *in[] = {w, absmax};
    return add(r, graph, OP_fake_quant_weights, w, "fake_quant", in, 2, attr, out);
}

/* Rounds a frozen weight once, in load, which may write it under another role. Other columns may
 * come to lie between its rows later, so groups are formed from a dense copy. */
static void round_frozen(const Rounding *r, Value *w) {
    Program *p = r->program;
    Graph *load = &p->entry[ENTRY_LOAD];
    Value *to = value_alias(p, w, w->name);
    to->role = ROLE_BUFFER;
    Value *copy = value_2d(p, arena_printf(p->arena, "%s.copy", w->name), ROLE_ACTIVATION, w->dtype,
                           value_rows(w), value_cols(w), w->pos);
    add(r, load, OP_cast, w, "copy", &w, 1, (Attr){0}, copy);
    round_weight(r, load, w, copy, to);
}

static Value *rounded_weight(const Rounding *r, Value *w) {
    if (r->spec->qat.weight_dtype == QAT_WEIGHT_NONE)
        return w;
    if (r->rounded[w->id])
        return r->rounded[w->id];
    if (value_trains(w))
        return r->rounded[w->id] = round_weight(r, r->graph, w, w, NULL);
    if (r->graph == &r->program->entry[ENTRY_MICRO_STEP])
        round_frozen(r, w);
    return r->rounded[w->id] = w;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* If `sum` is x - y as add(x, scale(y)), returns the scale; else NULL. */
static const Op *negated(const GraphUses *uses, const Op *sum) {
    const Op *minus = sum && sum->kind == OP_add ? use_maker(uses, sum->in[1]) : NULL;
    return minus && minus->kind == OP_scale && minus->attr.alpha == -1 ? minus : NULL;
}

static void find_differences(Rounding *r) {
    GraphUses uses = uses_find(r->program->arena, r->program, r->graph);
    for (int i = 0; i < r->graph->op_count; i++) {
        const Op *op = r->graph->ops[i];
        const Op *sum = is_chosen(op) ? use_maker(&uses, op->in[0]) : NULL;
        const Op *minus = negated(&uses, sum);
        if (minus)
            r->reader[i] = r->reader[sum->id] = r->reader[minus->id] = op->in[1];
    }
}

static void round_operands(const Rounding *r, int i, Op *op) {
    const Value *w = r->reader[i];
    if (is_chosen(op) && !w)
        op->in[0] = rounded_tokens(r, op->in[0], sharers(r, op->in[1]));
    if (is_chosen(op))
        op->in[1] = rounded_weight(r, op->in[1]);
    else if (w)
        op->in[0] = rounded_tokens(r, op->in[0], sharers(r, w));
}

static void rewrite(Program *p, const Spec *spec, Graph *graph) {
    Rounding r = {.program = p, .spec = spec, .graph = graph};
    r.rounded = arena_array(p->arena, (size_t)p->value_count, sizeof(Value *));
    r.reader = arena_array(p->arena, (size_t)graph->op_count + 1, sizeof(Value *));
    find_differences(&r);
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        round_operands(&r, i, old.ops[i]);
        graph_add(p, graph, old.ops[i]);
    }
}

bool pass_qat(Program *p, const Spec *spec) {
    if (spec->qat.activation_dtype == QAT_ACTIVATION_NONE &&
        spec->qat.weight_dtype == QAT_WEIGHT_NONE)
        return false;
    for (int i = 0; program_forward(p, i); i++)
        rewrite(p, spec, program_forward(p, i));
    return true;
}
