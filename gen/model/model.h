/* From a spec to a Program's forward graphs. One file a model family; what families share is here.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "graph/graph.h"
#include "spec/spec.h"

/* What the loader sends with a micro-step; see RtInput in the runtime for each one's meaning. A row
 * is a token, or an image. */
typedef struct {
    Value *input_ids;   /* tokens: I32 [rows,1] */
    Value *pixels;      /* images: see image_input in image.h; or */
    Value *indices;     /* their places in program->dataset, I32 [rows,1] */
    Value *boxes;       /* the parts of them that training sees, I32 [5 rows,1]; NULL: all */
    Value *mean, *std;  /* that device-side decoding takes off and divides by, once made */
    Value *labels;      /* I32 [rows,1] */
    Value *positions;   /* tokens: I32 [rows,1] */
    Value *loss_weight; /* real [1] */
    Value *first_row;   /* I32 [1] */
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
    bool training;     /* whether dropout drops and statistics are the batch's */
} Builder;

/* What a parameter is made of beside its name; see Param. */
typedef struct {
    int rank;
    int64_t dim[MAX_RANK]; /* in memory */
    int init;
    double scale;
    int file_rank; /* with split and order: where the file's order is another */
    int64_t split[MAX_RANK];
    int order[MAX_RANK];
    bool real;   /* kept in `real` whatever the precision, as a norm's */
    bool buffer; /* written by micro_step, not trained */
} ParamShape;

/* A parameter under its file's name: made at its first use, shared afterwards. */
Value *builder_param_as(Builder *, const char *name, const ParamShape *, Pos);
/* One that lies in memory as in the file. */
Value *builder_param(Builder *, const char *name, int rank, const int64_t *dim, int init,
                     double scale, Pos);
/* One op with one result that matters, named scope + name. */
Value *builder_op(Builder *, OpKind, const char *name, Value *const *in, int in_count, Attr, Pos);
/* linear with the weight NAME.weight of [out_features, features of x] */
Value *builder_linear(Builder *, Value *x, const char *name, int64_t out_features, Pos);
const char *builder_name(Builder *, const char *name);

/* config.json as text, for weights of the given dtype. */
const char *model_config(Arena *, const Spec *, DType weights);

/* Each writes its graph up to the logits [rows, vocabulary or classes]. */
Value *llama_forward(Builder *);
Value *gpt2_forward(Builder *);
Value *mlp_forward(Builder *);
Value *cnn_forward(Builder *);
Value *mobilenet_v2_forward(Builder *);
Value *resnet_forward(Builder *);

#endif
