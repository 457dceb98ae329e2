/* Which part of a model a program is, in a pipeline. */
#ifndef GRAPH_PIPELINE_STAGE_H
#define GRAPH_PIPELINE_STAGE_H

#include "graph/value.h"

enum { STAGE_EXCHANGES = 4 };

/* What the stage receives from the one before it and sends to the next. The values have role STASH
 * and are NULL at the pipeline's ends; gradients are NULL too where nothing before the cut trains.
 * If several activations cross the cut, they lie one after the other; a gradient crosses only for
 * the one that depends on trained parameters. */
typedef struct {
    int64_t index, count; /* count 0 or 1: the program is the whole model */
    union {
        struct {
            Value *received, *sent;
            Value *received_gradient, *sent_gradient; /* of `sent` and of `received` */
        };
        Value *exchanged[STAGE_EXCHANGES]; /* all four */
    };
    Value *trained;     /* the part of `received` whose gradient is sent; NULL: none */
    const char *begins; /* name of the stage's first op: "model.layers.4.input_layernorm" */
    bool shares_ends;   /* the first and the last stage train one weight that both hold */
} PipelineStage;

#endif
