/* What the kernels of low-rank paths ask of their operands; for the passes that choose these
 * kernels. Require that values have their places. */
#ifndef PASS_LOW_RANK_KERNELS_H
#define PASS_LOW_RANK_KERNELS_H

#include "graph/graph.h"

/* Whether all rows of the value begin and end at multiples of 8 elements: 16 bytes in 16 bits, and
 * multiples of that in wider dtypes. */
bool value_in_vectors(const Value *);
bool value_in_16_bits(const Value *);
/* Whether the op is u = x A^T of few columns, and can be low_rank_matmul. */
bool op_is_low_rank_product(const Op *);

#endif
