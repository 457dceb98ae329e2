/* Collectives: what all ranks do together. Each rank calls them in the same order.
 *
 * all_reduce  (x) -> over x's place, the sum of all ranks' x, the same bits on each */
#include "graph/op_table.h"

void shape_all_reduce(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 1 && op->out_count == 1, "operands");
    op_expect(op, value_same_view(op->in[0], op->out[0]) && value_dense(op->in[0]), "not in place");
}
