/* From a spec to a Program's forward graphs. Each model family has a file; this is what they
 * share. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "graph/graph.h"
#include "spec/spec.h"

/* What the loader sends with a micro-step; RtInput in the runtime says what each input means. A row
 * is a token or an image. */
typedef struct {
    Value *input_ids;   /* tokens: I32 [rows,1] */
    Value *pixels;      /* images: see image_input in image.h */
    Value *pictures;    /* instead: slots, U8 [rows,bytes of a slot] */
    Value *indices;     /* instead: positions in program->dataset, I32 [rows,1] */
    Value *boxes;       /* the parts of images that training sees, I32 [5 rows,1]; NULL: all */
    Value *mean, *std;  /* for decoding on the device, once made: subtracted, divided by */
    Value *labels;      /* I32 [rows,1] */
    Value *positions;   /* tokens: I32 [rows,1] */
    Value *loss_weight; /* real [1] */
    Value *first_row;   /* I32 [1] */
} Batch;

/* Returns a new Program with the spec's precision, its counters, and the forward graphs of
 * micro_step and evaluate (and of load, where something is computed once). micro_step ends in
 * program->loss_of_micro_step, which is also added to the step's loss. */
Program *model_build(Arena *, const Spec *);

/* ---- for the families ----------------------------------------------------------------------- */

/* A model under construction: one graph, which shares parameters with the program's other
 * graphs. */
typedef struct {
    Program *program;
    Graph *graph;
    const Spec *spec;
    Batch batch;
    const char *scope; /* dotted prefix of names, "" or "model.layers.3." */
    bool training;     /* whether dropout is active and batch norm uses the batch's statistics */
} Builder;

/* All that describes a parameter except its name; see Param. */
typedef struct {
    int rank;
    int64_t dim[MAX_RANK]; /* in memory */
    int init;
    double scale;
    int file_rank; /* with split and order, where the file's order differs; else 0 */
    int64_t split[MAX_RANK];
    int order[MAX_RANK];
    bool real;   /* kept in `real` in every precision, like those of norms */
    bool buffer; /* written by micro_step, not trained */
} ParamShape;

/* The parameter of this name (as in the file): made at its first use, shared afterwards. */
Value *builder_param_as(Builder *, const char *name, const ParamShape *, Pos);
/* The same for a parameter whose order in memory is the file's. */
Value *builder_param(Builder *, const char *name, int rank, const int64_t *dim, int init,
                     double scale, Pos);
/* Appends an op named scope + name; returns its first result. */
Value *builder_op(Builder *, OpKind, const char *name, Value *const *in, int in_count, Attr, Pos);
/* A linear with the weight NAME.weight [out_features, features of x]. */
Value *builder_linear(Builder *, Value *x, const char *name, int64_t out_features, Pos);
const char *builder_name(Builder *, const char *name);

/* config.json as text, for weights of the given dtype. */
const char *model_config(Arena *, const Spec *, DType weights);

/* Each builds the family's graph and returns the logits [rows, vocabulary or classes]. */
Value *llama_forward(Builder *);
Value *gpt2_forward(Builder *);
Value *mlp_forward(Builder *);
Value *cnn_forward(Builder *);
Value *mobilenet_v2_forward(Builder *);
Value *resnet_forward(Builder *);

#endif
