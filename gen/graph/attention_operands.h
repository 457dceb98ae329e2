/* The operands of attention and attention_grad. */
#ifndef GRAPH_ATTENTION_OPERANDS_H
#define GRAPH_ATTENTION_OPERANDS_H

#include "graph/op.h"

/* Of both: q, k, v and positions; an attention may have prefixes after them. Of the gradient, from
 * ATTENTION_O: the result, its log-sum-exps and its gradient; then what it does not always have. */
enum {
    ATTENTION_Q,
    ATTENTION_K,
    ATTENTION_V,
    ATTENTION_POSITIONS,
    ATTENTION_PREFIX,
    ATTENTION_O = ATTENTION_PREFIX,
    ATTENTION_LSE,
    ATTENTION_D_O,
    ATTENTION_GRAD_OPERANDS
};

/* The prefixes of an attention or attention_grad, or NULL. */
const Value *attention_prefix(const Op *);
/* positions, cos and sin of the RoPE that an attention_grad undoes, or NULL. */
Value *const *attention_rope(const Op *);
/* Whether the kernels of this attention_grad can undo RoPE. The halves of a head must be whole
 * chunks of 16 bytes, and one block must have all columns of a row. */
bool attention_can_undo_rope(const Op *);

#endif
