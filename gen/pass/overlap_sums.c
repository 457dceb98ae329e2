/* Sums of gradients over ranks overlap backward instead of following it.
 *
 * Requires a lowered program in whose update Op.sums marks the ops that sum gradients. These ops
 * move to micro_step. A sum of which a rank needs only its part (stage 1 of ZeRO) overwrites
 * gradients of earlier sections; it comes right after the last op that uses its own section's
 * gradients, together with the ops that prepare it. Any other sum is in place. It is appended in
 * pieces, one per module of the model, so that the plan can start each as soon as backward has
 * computed its gradients, and can join neighbours; the sums are the same. With several micro-steps,
 * all sums run only in the step's last. A pipeline stage, which has no micro-step of forward and
 * backward together, keeps them in update. */
#include "pass/module.h"
#include "pass/pass.h"

/* Gradients are complete only after the last micro-step. */
static void leave_to_last(const Program *p, Op *op) { op->ends_step = p->micro_steps > 1; }

/* ---- sums in place ------------------------------------------------------------------------------ */

/* The parameter with the first gradient in the run at or after an element. NULL if there is none,
 * as for the step's metrics, or if the run has parts of sharded gradients. */
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

/* Given the element of the run where a module's gradients begin, returns where they end: at those
 * of another module, or at the end of the run. */
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
    const char *op_name = arena_printf(p->arena, "%s.all_reduce", module);
    leave_to_last(p, op_add_in_place(p, graph, whole->kind, op_name, piece, name, whole->attr,
                                     whole->pos));
}

static void add_pieces(Program *p, const Op *whole) {
    for (int64_t from = 0, to; from < value_elements(whole->in[0]); from = to) {
        to = module_end(p, whole->in[0], from);
        add_piece(p, whole, from, to);
    }
}

/* ---- sums of which a rank has a part ------------------------------------------------------------ */

/* Inserts each part after the last use of what it sums and after the parts before it. Reads are uses,
 * because batch norm's backward reads gradients. */
static void add_parts(Program *p, Op *const *parts, int count) {
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int *behind = arena_array(p->arena, (size_t)count + 1, sizeof *behind);
    for (int i = 0; i < count; i++) {
        behind[i] = graph_last(graph, op_uses_part, parts[i]->sums)->id;
        if (i > 0 && behind[i] < behind[i - 1])
            behind[i] = behind[i - 1];
    }
    int added = 0;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        graph_add(p, graph, old.ops[i]);
        for (; added < count && behind[added] == i; added++) {
            leave_to_last(p, parts[added]);
            graph_add(p, graph, parts[added]);
        }
    }
}

/* ---- the pass ----------------------------------------------------------------------------------- */

bool pass_overlap_sums(Program *p, const Spec *spec) {
    Graph *update = &p->entry[ENTRY_UPDATE];
    int part_count = 0, whole_count = 0;
    Op **parts = arena_array(p->arena, (size_t)update->op_count + 1, sizeof *parts);
    Op **whole = arena_array(p->arena, (size_t)update->op_count + 1, sizeof *whole);
    if (!spec->parallelism.overlap_grad_reduce || p->stage.count > 1)
        return false;
    const Graph old = graph_take(update);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        if (!op->sums)
            graph_add(p, update, op);
        else if (op->kind == OP_all_reduce)
            whole[whole_count++] = op;
        else
            parts[part_count++] = op;
    }
    add_parts(p, parts, part_count);
    for (int i = 0; i < whole_count; i++)
        add_pieces(p, whole[i]);
    return part_count + whole_count > 0;
}
