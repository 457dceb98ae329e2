/* Sums of the gradients over ranks beside backward, not after it.
 *
 * Requires a lowered program whose update begins with one all_reduce over the run of gradients and
 * what lies behind it. That op becomes pieces at the end of micro_step, one a module of the model, so
 * that the plan may begin with each as soon as backward has made it, and may join neighbours; the
 * sums are the same. With several micro-steps the pieces run in the step's last one alone. A pipeline's
 * stage has no last one that ends in backward alone, and keeps the op in update. */
#include "pass/module.h"
#include "pass/pass.h"

/* The parameter with the first gradient of the run at or behind an element; NULL: there is none, as
 * where gradients are shared out and figures of the step alone are left to sum. */
static const Param *param_from(const Program *p, const Value *run, int64_t element) {
    const Param *found = NULL;
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

bool pass_overlap_reduce(Program *p, const Spec *spec) {
    Graph *update = &p->entry[ENTRY_UPDATE];
    const Op *whole = update->op_count ? update->ops[0] : NULL;
    if (!spec->parallelism.overlap_grad_reduce || !whole || whole->kind != OP_all_reduce ||
        p->stage.count > 1)
        return false;
    if (!(whole->attr.group & GROUP_DATA))
        return false; /* of ranks that exchange all through micro_step: their order is that stream's */
    for (int64_t from = 0, to; from < value_elements(whole->in[0]); from = to) {
        to = module_end(p, whole->in[0], from);
        add_piece(p, whole, from, to);
    }
    graph_set_ops(p, update, update->ops + 1, update->op_count - 1);
    return true;
}
