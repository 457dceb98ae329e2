/* From a spec to a Program's forward graphs. One file a model family; what families share is here.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "graph/graph.h"
#include "spec/spec.h"

/* What the loader sends with a micro-step; see RtInput in the runtime for each one's meaning. */
typedef struct {
    Value *input_ids, *labels, *positions; /* I32 [tokens,1] */
    Value *loss_weight;                    /* real [1] */
    Value *first_row;                      /* I32 [1] */
} Batch;

/* A new Program with the spec's precision, its counters, and the forward graphs of micro_step and
 * evaluate (and load, where something is computed once). Micro_step ends in program->
 * loss_of_micro_step, which is also added to the step's loss. */
Program *model_build(Arena *, const Spec *);

/* ---- for the families ----------------------------------------------------------------------- */

/* A model under construction: one graph, parameters shared with the program's other graphs. */
typedef struct {
    Program *program;
    Graph *graph;
    const Spec *spec;
    Batch batch;
    const char *scope; /* dotted prefix of names, "" or "model.layers.3." */
} Builder;

/* A parameter under its Hugging Face name: made at its first use, shared afterwards. */
Value *builder_param(Builder *, const char *name, int rank, const int64_t *dim, int init,
                     double scale, Pos);
/* One op with one result that matters, named scope + name. */
Value *builder_op(Builder *, OpKind, const char *name, Value *const *in, int in_count, Attr, Pos);
/* linear with the weight NAME.weight of [out_features, features of x] */
Value *builder_linear(Builder *, Value *x, const char *name, int64_t out_features, Pos);
const char *builder_name(Builder *, const char *name);

/* config.json as text, for weights of the given dtype. */
const char *hf_config(Arena *, const Spec *, DType weights);

/* Writes the graph up to the logits [tokens, vocabulary]. */
Value *llama_forward(Builder *);

#endif
