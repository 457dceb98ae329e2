/* Lowers semantic ops to what kernels and libraries do: linear becomes a matrix product with the
 * weight transposed. Requires gradients to be there already. */
#include "pass/pass.h"

void pass_lower(Program *p, const Spec *spec) {
    (void)spec;
    for (int e = 0; e < ENTRY_COUNT; e++) {
        for (int i = 0; i < p->entry[e].op_count; i++) {
            Op *op = p->entry[e].ops[i];
            if (op->kind != OP_linear)
                continue;
            op->kind = OP_matmul;
            op->attr.transpose_b = true;
        }
    }
}
