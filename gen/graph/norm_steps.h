/* Steps that batch norm's ops share, whatever its statistics were found from. */
#ifndef GRAPH_NORM_STEPS_H
#define GRAPH_NORM_STEPS_H

#include "graph/steps.h"

/* v as a value of dtype `stored` will hold it. */
int rounded_to(Body *, DType stored, int v);

/* Stores the results of batch_norm_stats (ops_batch_norm.c). `away` is how far the mean lies above the
 * running one; `raw_var` is the variance, which rounding may have made negative. */
void batch_norm_store_stats(Body *, const Op *, int away, int raw_var, int running_mean,
                            int running_var);

#endif
