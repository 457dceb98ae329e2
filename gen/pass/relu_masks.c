/* Backward reads a mask of a ReLU's result instead of the result:
 *
 *     y = relu(x), dx = relu_grad(y, dy)
 *         ->  y = relu(x), mask = relu_mask(y), dx = relu_grad_masked(mask, dy)
 *
 * In 16 bits a mask has a sixteenth of y's bytes. The kernel that makes y also writes the mask. Where
 * other ops of backward read y too, as a product for the gradient of the next weight, it is kept as
 * well, so that this costs memory. It changes no bits.
 *
 * Requires that backward is marked; after fuse_relu_grads, whose gradients read neither. A ReLU that
 * joins the epilogue of a template keeps its gradient: there a thread may have few neighbours of a row.
 * (A template whose result is only the second operand of an addition is not looked for.) */
#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "graph/relu_steps.h"
#include "pass/pass.h"

/* Whether nothing but pointwise ops and pools comes between a template and the op, so that both may be
 * one kernel. */
static bool may_be_epilogue(const Program *p, const GraphUses *uses, const Op *op) {
    const Op *maker = use_maker(uses, op->in[0]);
    while (maker && use_read_once(uses, maker->out[0]) &&
           (op_is_pointwise(p, maker) || op_is(maker, TRAIT_WINDOWS)))
        maker = use_maker(uses, maker->in[0]);
    return maker && op_is(maker, TRAIT_EPILOGUE) && use_read_once(uses, maker->out[0]);
}

/* Whether an op over rows reads the value in forward, perhaps after pointwise ops: the ReLU can join
 * its kernel, where a thread may have few neighbours of a row, too. */
static bool is_read_by_rows(const Program *p, const GraphUses *uses, const Value *v) {
    int count;
    Op *const *readers = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++) {
        const Op *op = readers[i];
        if (op->phase != PHASE_FORWARD)
            continue;
        if (op_reads_rows(op, 0) && op->in[0] == v && op_is_over_rows(p, op))
            return true;
        if (op->out_count && op_is_pointwise(p, op) && is_read_by_rows(p, uses, op->out[0]))
            return true;
    }
    return false;
}

/* The ReLU whose mask the op can read; NULL: none. */
static const Op *relu_of(const Program *p, const GraphUses *uses, const Op *op) {
    if (op->kind != OP_relu_grad || !op_is_plain(op) || op->in[0]->dtype != op->in[1]->dtype)
        return NULL;
    const Op *relu = use_maker(uses, op->in[0]);
    bool masks = relu && relu->kind == OP_relu && relu_has_mask(relu->out[0]) &&
                 !is_read_by_rows(p, uses, relu->out[0]);
    return masks && !may_be_epilogue(p, uses, relu) ? relu : NULL;
}

/* Adds the mask after the ReLU, which the graph has got again. */
static Value *add_mask(Program *p, Graph *graph, const Op *relu) {
    const char *name = arena_printf(p->arena, "%s.mask", relu->name);
    return op_add(p, graph, OP_relu_mask, name, relu->out, 1, (Attr){0}, relu->pos)->out[0];
}

/* `relu` has by op the ReLU whose mask it reads, or NULL. */
static void rewrite(Program *p, Graph *graph, const Op *const *relu) {
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        graph_add(p, graph, op);
        Value *mask = NULL;
        for (int k = i + 1; op->kind == OP_relu && k < old.op_count; k++) {
            if (relu[k] != op)
                continue;
            mask = mask ? mask : add_mask(p, graph, op);
            old.ops[k]->kind = OP_relu_grad_masked;
            old.ops[k]->in[0] = mask;
        }
    }
}

bool pass_relu_masks(Program *p, const Spec *spec) {
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    if (!spec->compile.fusion || !spec->compile.relu_masks || !graph_find(graph, OP_relu_grad))
        return false;
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    const Op **relu = arena_array(&scratch, (size_t)graph->op_count, sizeof *relu);
    bool found = false;
    for (int i = 0; i < graph->op_count; i++) {
        relu[i] = relu_of(p, &uses, graph->ops[i]);
        found |= relu[i] != NULL;
    }
    if (found)
        rewrite(p, graph, relu);
    arena_free(&scratch);
    return found;
}
