#include "pass/low_rank_kernels.h"

#include "devices/low_rank_tiles.h"

enum { ALIGNED = 8 }; /* elements in 16 bytes */

bool value_in_vectors(const Value *v) {
    return dtype_bytes(v->dtype) >= 2 && v->offset % ALIGNED == 0 && v->row_stride % ALIGNED == 0 &&
           value_cols(v) % ALIGNED == 0;
}

bool value_in_16_bits(const Value *v) { return v->dtype == DT_BF16 || v->dtype == DT_F16; }

bool op_is_low_rank_product(const Op *op) {
    if (op->kind != OP_matmul || op->attr.transpose_a || !op->attr.transpose_b ||
        op->attr.accumulate || !op_is_plain(op))
        return false;
    const Value *x = op->in[0], *a = op->in[1], *u = op->out[0];
    return value_in_16_bits(x) && u->dtype == x->dtype && value_cols(u) <= LOW_RANK_MOST &&
           value_in_vectors(x) && value_in_vectors(a) && value_in_vectors(u);
}
