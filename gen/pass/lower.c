/* Lowers semantic ops to what kernels and libraries do: linear becomes a matrix product with the
 * weight transposed; a reshape is gone, its result a view that others wrote. Requires gradients to
 * be there already. */
#include "graph/op_table.h"
#include "pass/pass.h"

static void lower(Program *p, Graph *graph) {
    Op **ops = graph->ops;
    int count = graph->op_count;
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        Op *op = ops[i];
        if (op->kind == OP_linear) {
            op->kind = OP_matmul;
            op->attr.transpose_b = true;
        }
        if (!op_is(op, TRAIT_VIEW))
            graph_add(p, graph, op);
    }
}

void pass_lower(Program *p, const Spec *spec) {
    (void)spec;
    for (int e = 0; e < ENTRY_COUNT; e++)
        lower(p, &p->entry[e]);
}
