/* Sums of gradients over ranks go out beside backward, not after it.
 *
 * Requires a lowered program whose update says of its ops which gradients they sum (Op.sums). These
 * move to micro_step. A sum of which a rank needs its part alone (stage 1 of ZeRO) takes the place of
 * gradients of sections before it: with what stands ahead of it, it stands right behind the last op
 * that uses its section's. Any other is in place, and becomes pieces at the end, one a module of the
 * model, so that the plan may begin with each as soon as backward has made it, and may join
 * neighbours; the sums are the same. With several micro-steps all run in the step's last one alone. A
 * pipeline's stage has no last one that ends in backward alone, and keeps the ops in update. */
#include "pass/module.h"
#include "pass/pass.h"

/* Gradients are whole behind the last micro-step. */
static void leave_to_last(const Program *p, Op *op) { op->ends_step = p->micro_steps > 1; }

/* ---- sums in place ------------------------------------------------------------------------------ */

/* The parameter with the first gradient of the run at or behind an element; NULL: there is none, as in
 * figures of the step, or parts of what ranks share out. */
static const Param *param_from(const Program *p, const Value *run, int64_t element) {
    const Param *found = NULL;
    if (p->train.shared)
        return NULL;
    for (int i = 0; i < p->param_count; i++) {
        const Param *param = &p->params[i];
        const Value *gradient = param->gradient;
        if (!gradient || gradient->storage != run->storage ||
            gradient->offset < run->offset + element)
            continue;
        if (!found || param->gradient->offset < found->gradient->offset)
            found = param;
    }
    return found;
}

/* Where the gradients of the module end that begin at an element of the run: where those of another
 * begin, or with the run. */
static int64_t module_end(const Program *p, const Value *run, int64_t element) {
    const Param *first = param_from(p, run, element), *next = first;
    while (next && same_module(next->weight->name, first->weight->name))
        next = param_from(p, run, next->gradient->offset + 1 - run->offset);
    return next ? next->gradient->offset - run->offset : value_elements(run);
}

static void add_piece(Program *p, const Op *whole, int64_t from, int64_t to) {
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    const Param *param = param_from(p, whole->in[0], from);
    const char *first = param ? param->weight->name : whole->in[0]->name;
    const char *module = arena_strndup(p->arena, first, module_length(first));
    const char *name = arena_printf(p->arena, "%s.gradients", module);
    Value *piece = value_at(p, whole->in[0], from, 1, (int64_t[]){to - from}, name);
    Value *sum = value_alias(p, piece, name);
    const char *op_name = arena_printf(p->arena, "%s.all_reduce", module);
    leave_to_last(p, op_add_into(p, graph, whole->kind, op_name, &piece, 1, &sum, 1, whole->attr,
                                 whole->pos));
}

static void add_pieces(Program *p, const Op *whole) {
    for (int64_t from = 0, to; from < value_elements(whole->in[0]); from = to) {
        to = module_end(p, whole->in[0], from);
        add_piece(p, whole, from, to);
    }
}

/* ---- sums of which a rank has a part ------------------------------------------------------------ */

/* Batch norm's backward reads gradients. */
static bool uses(const Op *op, const Value *v) {
    return op_reads_part(op, v) || op_writes_part(op, v);
}

/* Each behind what it sums, and behind those before it. */
static void add_parts(Program *p, Op *const *parts, int count) {
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int *behind = arena_array(p->arena, (size_t)count + 1, sizeof *behind);
    for (int i = 0; i < count; i++) {
        behind[i] = graph_last(graph, uses, parts[i]->sums)->id;
        if (i > 0 && behind[i] < behind[i - 1])
            behind[i] = behind[i - 1];
    }
    Op **ops = graph->ops;
    int op_count = graph->op_count, added = 0;
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < op_count; i++) {
        graph_add(p, graph, ops[i]);
        for (; added < count && behind[added] == i; added++) {
            leave_to_last(p, parts[added]);
            graph_add(p, graph, parts[added]);
        }
    }
}

/* ---- the pass ----------------------------------------------------------------------------------- */

bool pass_overlap_sums(Program *p, const Spec *spec) {
    Graph *update = &p->entry[ENTRY_UPDATE];
    Op **ops = update->ops;
    int count = update->op_count, part_count = 0, whole_count = 0;
    Op **parts = arena_array(p->arena, (size_t)count + 1, sizeof *parts);
    Op **whole = arena_array(p->arena, (size_t)count + 1, sizeof *whole);
    if (!spec->parallelism.overlap_grad_reduce || p->stage.count > 1)
        return false;
    graph_set_ops(p, update, NULL, 0);
    for (int i = 0; i < count; i++)
        if (!ops[i]->sums)
            graph_add(p, update, ops[i]);
        else if (ops[i]->kind == OP_all_reduce)
            whole[whole_count++] = ops[i];
        else
            parts[part_count++] = ops[i];
    add_parts(p, parts, part_count);
    for (int i = 0; i < whole_count; i++)
        add_pieces(p, whole[i]);
    return part_count + whole_count > 0;
}
