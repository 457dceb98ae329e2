/* What pointwise ops make: each element from elements at the same place. */
#ifndef GRAPH_POINTWISE_H
#define GRAPH_POINTWISE_H

#include "graph/graph.h"
#include "graph/steps.h"

/* Whether each of the steps needs only elements of one row, and no reduction of it. */
bool body_is_pointwise(const Body *);
/* Whether the op has a body, and that is pointwise; over rows: it has one that is not. */
bool op_is_pointwise(const Program *, const Op *);
bool op_is_over_rows(const Program *, const Op *);
/* Whether pointwise ops of the graph make the op's first operand, from results of products or
 * templates. It does not depend on what is fused. */
bool is_made_pointwise(const Program *, const GraphUses *, const Op *);

#endif
