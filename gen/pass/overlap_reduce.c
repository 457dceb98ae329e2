/* Sums of the gradients over ranks beside backward, not after it.
 *
 * Requires a lowered program whose update begins with one all_reduce over the run of gradients and
 * what lies behind it, or with several, of what ranks share out. These become pieces at the end of
 * micro_step, one a module of the model, so that the plan may begin with each as soon as backward has
 * made it, and may join neighbours; the sums are the same. With several micro-steps the pieces run in
 * the step's last one alone. A pipeline's stage has no last one that ends in backward alone, and keeps
 * the ops in update. */
#include "pass/module.h"
#include "pass/pass.h"

/* The parameter with the first gradient of the run at or behind an element; NULL: there is none, as in
 * figures of the step, or parts of what ranks share out. */
static const Param *param_from(const Program *p, const Value *run, int64_t element) {
    const Param *found = NULL;
    if (p->train.section_count)
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
    Op *op =
        op_add_into(p, graph, whole->kind, arena_printf(p->arena, "%s.all_reduce.grad", module),
                    &piece, 1, &sum, 1, whole->attr, whole->pos);
    op->ends_step = p->micro_steps > 1;
}

/* Of other ranks all are exchanged through micro_step: their order is that stream's. */
static bool sums_first(const Graph *update) {
    const Op *first = update->op_count ? update->ops[0] : NULL;
    return first && first->kind == OP_all_reduce && (first->attr.group & GROUP_DATA);
}

static const Op *take_first(Program *p, Graph *update) {
    const Op *first = update->ops[0];
    graph_set_ops(p, update, update->ops + 1, update->op_count - 1);
    return first;
}

bool pass_overlap_reduce(Program *p, const Spec *spec) {
    Graph *update = &p->entry[ENTRY_UPDATE];
    bool any = false;
    if (!spec->parallelism.overlap_grad_reduce || p->stage.count > 1)
        return false;
    for (; sums_first(update); any = true) {
        const Op *whole = take_first(p, update);
        for (int64_t from = 0, to; from < value_elements(whole->in[0]); from = to) {
            to = module_end(p, whole->in[0], from);
            add_piece(p, whole, from, to);
        }
    }
    return any;
}
