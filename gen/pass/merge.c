/* The entry that merges an adapter into its base, for --merge: W + s B A for one adapted linear
 * after another, as in PEFT's merge_and_unload. The scaled product is computed in the masters'
 * dtype, and the sum is rounded once, to the base's dtype. With trained magnitudes (DoRA), the
 * sum's rows are scaled to have them as norms.
 *
 * Requires masters, and linears as they were written. It looks for the structure linear(x, W) + s
 * linear(linear(x, A), B) in evaluate, which has no dropout. A program that cannot be merged says
 * why. */
#include "pass/low_rank.h"
#include "pass/pass.h"
#include "pass/quantize.h"

static bool is_embedded(const GraphUses *uses, const Value *weight) {
    int readers;
    Op *const *reader = use_readers(uses, weight, &readers);
    for (int i = 0; i < readers; i++)
        if (reader[i]->kind == OP_embedding)
            return true;
    return false;
}

static const char *why_not(const Spec *spec, const GraphUses *uses) {
    const Graph *graph = uses->graph;
    LowRank path;
    if (!spec_on_one_card(spec))
        return "this program is for several cards; generate it for one, which reads the same "
               "adapter";
    if (!spec_trains_alone(spec))
        return "this program has collectives; generate it with parallelism.one_rank_collectives = "
               "\"none\", which reads the same adapter";
    if (spec->qat.weight_dtype != QAT_WEIGHT_NONE ||
        spec->qat.activation_dtype != QAT_ACTIVATION_NONE)
        return "this program rounds what the base reads ([qat]) but not what the adapter reads; "
               "the merged model would compute something else";
    for (int i = 0; i < graph->op_count; i++)
        if (low_rank_match(uses, graph->ops[i], &path) && is_embedded(uses, path.base->in[1]))
            return "the adapted head shares its weight with the embedding, which no adapter "
                   "changes";
    return NULL;
}

static void export(Program *p, const char *name, Value *what, Value *weight, Pos pos) {
    op_add_into(p, &p->entry[ENTRY_MERGE], OP_export, arena_printf(p->arena, "%s.export", name),
                (Value *[]){what, weight}, 2, NULL, 0, (Attr){.part = PART_WEIGHT}, pos);
}

static void merge_path(Program *p, const LowRank *path) {
    Graph *graph = &p->entry[ENTRY_MERGE];
    Value *w = path->base->in[1];
    Value *a = program_param(p, path->down->in[1])->master;
    Value *b = program_param(p, path->up->in[1])->master;
    const char *name = path->base->name;
    Pos pos = path->up->pos;
    Value *delta = value_2d(p, arena_printf(p->arena, "%s.delta", name), ROLE_ACTIVATION, p->real,
                            value_rows(w), value_cols(w), pos);
    Value *sum = value_2d(p, arena_printf(p->arena, "%s.merged", name), ROLE_ACTIVATION, w->dtype,
                          value_rows(w), value_cols(w), pos);
    op_add_into(p, graph, OP_matmul, delta->name, (Value *[]){b, a}, 2, &delta, 1,
                (Attr){.alpha = path->up->attr.alpha}, pos);
    const Op *scaling = path->scaling; /* by trained magnitudes */
    Value *m = scaling ? program_param(p, scaling->in[1])->master : NULL;
    Value *in[] = {w, delta, m ? value_reshaped(p, m, value_rows(w), 1) : NULL};
    op_add_into(p, graph, m ? OP_rows_of_norm : OP_add, sum->name, in, m ? 3 : 2, &sum, 1,
                (Attr){0}, pos);
    export(p, name, sum, w, pos);
}

/* Exports a quantised weight in decoded form. */
static void export_base(Program *p, const Op *linear) {
    Value *w = linear->in[1];
    Value *copy = value_2d(p, arena_printf(p->arena, "%s.base", linear->name), ROLE_ACTIVATION,
                           w->dtype, value_rows(w), value_cols(w), linear->pos);
    op_add_into(p, &p->entry[ENTRY_MERGE], OP_cast, copy->name, &w, 1, &copy, 1, (Attr){0},
                linear->pos);
    export(p, linear->name, copy, w, linear->pos);
}

/* Whether the weight, or its merged form, is or will be exported elsewhere: a linear may read an
 * adapted weight without its adapter. */
static bool is_exported(const Program *p, const GraphUses *uses, const Value *weight) {
    const Graph *graph = uses->graph, *merge = &p->entry[ENTRY_MERGE];
    LowRank path;
    for (int i = 0; i < graph->op_count; i++)
        if (low_rank_match(uses, graph->ops[i], &path) && path.base->in[1] == weight)
            return true;
    for (int i = 0; i < merge->op_count; i++)
        if (merge->ops[i]->kind == OP_export && merge->ops[i]->in[1] == weight)
            return true;
    return false;
}

static bool is_of_few_bits(Program *p, const Spec *spec, const Value *weight) {
    const Param *param = program_param(p, weight);
    return param && quantize_takes(p, spec, param);
}

bool pass_merge(Program *p, const Spec *spec) {
    if (!p->adapter_json)
        return false;
    const Graph *graph = &p->entry[ENTRY_EVALUATE];
    GraphUses uses = uses_find(p->arena, p, graph);
    LowRank path;
    p->unmerged = why_not(spec, &uses);
    for (int i = 0; i < graph->op_count && !p->unmerged; i++) {
        Op *op = graph->ops[i];
        if (low_rank_match(&uses, op, &path))
            merge_path(p, &path);
        else if (op->kind == OP_linear && is_of_few_bits(p, spec, op->in[1]) &&
                 !is_exported(p, &uses, op->in[1]))
            export_base(p, op);
    }
    return p->entry[ENTRY_MERGE].op_count > 0;
}
