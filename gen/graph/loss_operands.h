/* The operands of cross_entropy and cross_entropy_grad behind the logits. */
#ifndef GRAPH_LOSS_OPERANDS_H
#define GRAPH_LOSS_OPERANDS_H

enum { LOSS_LABELS = 1, LOSS_WEIGHT, LOSS_GROUP_RANK };
enum {
    LOSS_GRAD_LABELS = 1,
    LOSS_GRAD_LSE,
    LOSS_GRAD_WEIGHT,
    LOSS_GRAD_UPSTREAM, /* the gradient of the loss: of all rows, or of each */
    LOSS_GRAD_GROUP_RANK
};

#endif
