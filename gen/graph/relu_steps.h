/* Steps of ReLU's gradient, which batch norm's gradient shares, and the mask that it can read. */
#ifndef GRAPH_RELU_STEPS_H
#define GRAPH_RELU_STEPS_H

#include "graph/steps.h"

/* dz where y is above 0, else 0; relu6: where y is also below 6. y is the ReLU's operand or its
 * result, which pass the same test. */
int relu_grad_of(Body *, int y, int dz);
int relu6_grad_of(Body *, int y, int dz);

/* Whether y can have a mask: if its rows are several whole bytes of it. */
bool relu_has_mask(const Value *y);

#endif
