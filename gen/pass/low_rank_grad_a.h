/* How backward makes the operand x of a low-rank path's dA again: what pass_low_rank_grad_a finds, and
 * whether that gains time. */
#ifndef PASS_LOW_RANK_GRAD_A_H
#define PASS_LOW_RANK_GRAD_A_H

#include "devices/low_rank_tiles.h"
#include "spec/spec.h"

enum { MOST_MAKERS = 4 };

typedef struct {
    Op *grad;               /* dA */
    Op *maker[MOST_MAKERS]; /* the ops that make x again, in order, as they would be in forward */
    int makers;
    const Value *instead; /* what backward keeps instead of x; NULL: nothing more */
    Op *twin;             /* of backward; reads what the makers read; or NULL */
    Op *host[LOW_RANK_PATHS]; /* the gradients of paths whose dy the twin makes, in order */
    int hosts;
    double source_bytes; /* of the activations that the makers read and do not make */
} GradOfA;

/* Whether a kernel has room for dA, with the hosts if there are any. */
bool grad_of_a_fits(const Device *, const GradOfA *);
/* Whether the device is expected to gain time, or to lose less of it than one reading of x takes. */
bool grad_of_a_gains(const Device *, const Program *, const Spec *, const GraphUses *, const GradOfA *);

#endif
