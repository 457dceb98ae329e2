/* QAT has two such entries: early_micro_step, for the steps before rounding begins (qat_delay.c),
 * and evaluate_converted, where the weights are rounded already (qat_export.c). A rounding op
 * becomes a cast, which copies because both sides have one dtype. What no op reads any more is left to
 * drop_unread: the absmax of groups, and what rounding's gradients made again; but not what ranks
 * exchange. Every other op is the same in both entries. */
#include "pass/unrounded.h"

#include <string.h>

/* The operand that a rounding op passes on unrounded; -1: the op is not left out. */
static int passed_on(const Op *op, Unrounded what) {
    bool all = what == UNROUNDED_ALL;
    switch (op->kind) {
    case OP_fake_quant_weights:
        return 0;
    case OP_fake_quant_weights_grad:
        return op->in_count - 1;
    case OP_fake_quant_tokens:
    case OP_fake_quant_float8:
        return all ? 0 : -1;
    case OP_fake_quant_tokens_grad:
    case OP_fake_quant_float8_grad:
        return all ? op->in_count - 1 : -1;
    default:
        return -1;
    }
}

/* Instead of rounding, the twin copies into the rounded value's place, where ops may read it
 * together with adjacent values. */
static Op *twin_of(Program *p, const Op *op, Unrounded what) {
    int from = passed_on(op, what);
    Op *twin = op_copy(p, op);
    if (from < 0)
        return twin;
    twin->kind = OP_cast;
    twin->in[0] = op->in[from];
    twin->in_count = 1;
    twin->attr = (Attr){0};
    return twin;
}

void add_unrounded(Program *p, Entry from, Entry to, Unrounded what) {
    const Graph *graph = &p->entry[from];
    Graph *twin = &p->entry[to];
    for (int i = 0; i < graph->op_count; i++)
        graph_add(p, twin, twin_of(p, graph->ops[i], what));
    for (int i = 0; i < twin->op_count; i++)
        if (twin->ops[i]->after)
            twin->ops[i]->after = twin->ops[twin->ops[i]->after->id];
}
