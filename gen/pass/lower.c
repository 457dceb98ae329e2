/* Lowers semantic ops to what kernels and libraries do: linear becomes a matrix product with the
 * weight transposed; view ops disappear, and their readers read the viewed memory directly; a loss
 * whose columns ranks share out becomes each rank's part and an exchange. Requires gradients. */
#include "graph/loss_operands.h"
#include "graph/op_table.h"
#include "pass/pass.h"

static Value *of_all(Program *p, Graph *graph, const Op *op, Value *own) {
    Attr attr = {.group = op->attr.group};
    return op_add(p, graph, OP_all_gather, own->name, &own, 1, attr, op->pos)->out[0];
}

/* A loss over columns that ranks share out: each rank's part, a gather of all parts, the loss. */
static void lower_loss(Program *p, Graph *graph, const Op *op) {
    const char *name = arena_printf(p->arena, "%s.part", op->name);
    Value *labels = op->in[LOSS_LABELS], *in[] = {op->in[0], labels, op->in[LOSS_GROUP_RANK]};
    Op *part = op_add(p, graph, OP_cross_entropy_part, name, in, 3, op->attr, op->pos);
    Value *all[] = {of_all(p, graph, op, part->out[0]), of_all(p, graph, op, part->out[1]), labels,
                    op->in[LOSS_WEIGHT]};
    op_add_into(p, graph, OP_cross_entropy_join, op->name, all, 4, op->out, 2, (Attr){0}, op->pos);
}

static void lower(Program *p, Graph *graph) {
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        if (op->kind == OP_linear) {
            op->kind = OP_matmul;
            op->attr.transpose_b = true;
        }
        if (op->kind == OP_cross_entropy && op->attr.group)
            lower_loss(p, graph, op);
        else if (!op_is(op, TRAIT_VIEW))
            graph_add(p, graph, op);
        else if (value_same_view(op->in[0], op->out[0]))
            for (int k = i + 1; k < old.op_count; k++)
                op_read_instead(old.ops[k], op->out[0], op->in[0]);
    }
}

bool pass_lower(Program *p, const Spec *spec) {
    (void)spec;
    for (int e = 0; e < ENTRY_COUNT; e++)
        lower(p, &p->entry[e]);
    return true;
}
