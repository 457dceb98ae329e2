/* The operands that attention and attention_grad do not always have. */
#ifndef GRAPH_ATTENTION_OPERANDS_H
#define GRAPH_ATTENTION_OPERANDS_H

#include "graph/op.h"

/* The prefixes of an attention or attention_grad, or NULL. */
const Value *attention_prefix(const Op *);
/* positions, cos and sin of the RoPE that an attention_grad undoes, or NULL. */
Value *const *attention_rope(const Op *);
/* Whether the kernels of this attention_grad can undo RoPE. The halves of a head must be whole
 * chunks of 16 bytes, and one block must have all columns of a row. */
bool attention_can_undo_rope(const Op *);

#endif
