/* Ops: what is computed from which values. ops.h has the table of kinds. */
#ifndef GRAPH_OP_H
#define GRAPH_OP_H

#include "graph/mesh.h"
#include "graph/value.h"

typedef enum {
#define OP(name, ...) OP_##name,
#include "graph/ops.h"
#undef OP
    OP_COUNT
} OpKind;

enum { MAX_OPERANDS = 16, MAX_RESULTS = 7 };
enum { MOST_NARROW = 12 }; /* outputs of a narrow_linear, each of which has steps of its own */
enum { SLOT_HEAD_BYTES = 512 }; /* of a picture's slot: what it holds, before that */
enum { BOX_NUMBERS = 5 }; /* of image_input, per image: top, left, height, width, mirrored */

typedef enum { PAIR_SIGMOID, PAIR_IPO, PAIR_HINGE, PAIR_ROBUST } PairLoss;

/* A square window that slides over images; see window.h. */
typedef struct {
    int64_t height, width; /* of the input images */
    int64_t kernel, stride, padding;
} Window;

/* A rectangle of height x width inside an image. */
typedef struct {
    int64_t height, width, top, left;
} Crop;

/* Why one card copies from another. */
typedef enum { FOR_BROADCAST, FOR_GATHER, FOR_REDUCE, PURPOSE_COUNT } Purpose;

const char *purpose_name(Purpose); /* "broadcast" */

/* Which tensor of an exported linear this is. */
typedef enum { PART_WEIGHT, PART_SCALES, PART_ZEROS, PART_COUNT } TensorPart;

const char *part_name(TensorPart); /* "scales" */

/* Numbers and flags that complete an op's meaning. The file of an op's family (ops_*.c) says which
 * ones it reads; the others are zero. */
typedef struct {
    double alpha; /* linear, matmul, scale: the factor; there is no default */
    double alpha_v; /* low_rank_grads: the factor of v; alpha is that of B's gradient */
    bool beside_a;  /* low_rank_grads, low_rank_grad_a: both kinds may be in one kernel */
    double eps, beta1, beta2, weight_decay, max_norm;
    double momentum;        /* sgd, batch_norm_stats: as in torch */
    double rate;            /* dropout: the share that is dropped */
    double label_smoothing; /* cross_entropy, pair losses */
    double beta;            /* pair losses, with pair_loss */
    PairLoss pair_loss;
    double growth, backoff; /* update_scale, with interval */
    int64_t interval;
    int64_t head_dim, heads, kv_heads, seq_len;
    Window window;                 /* convolutions and pools */
    int64_t rows;                  /* reshape: rows of the result; other ops: see their file */
    int64_t bits;                  /* fake_quant_*: of a code */
    int64_t span;                  /* sharded quantisation blocks: see ops_quantize.c */
    int64_t plane;                 /* of the result, where no operand has one */
    int64_t out_height, out_width; /* image_input, picture_fit: of the result */
    int64_t out_channels;          /* picture_fit: of the result */
    Crop crop;                     /* image_input: where the result lies in the resized image */
    bool boxed;                    /* image_input: the last operand has a box for each image */
    bool one_row;                  /* packed sums: both sequences of a pair are in one row */
    bool transpose_a, transpose_b; /* matmul */
    int64_t zeros;    /* linear, matmul: how many elements of the second operand are no part of the
                       * model's: always zero, or ones */
    bool nesterov;    /* sgd */
    bool in_backward; /* adamw, adamw_int8, sgd: update without waiting for the norm */
    bool accumulate;  /* result += instead of =; the result's old content is an operand */
    RankGroup group;  /* collectives: who takes part; other ops: see their file */
    int64_t chunks;   /* all_gather, reduce_scatter: see ops_collective.c; 0 means 1 */
    uint32_t stream;  /* dropout: hash of the op's stable name, keys the random numbers */
    int64_t card;     /* peer_copy: the card that is read */
    Purpose purpose;  /* peer_copy: what it is part of */
    TensorPart part;  /* export */
} Attr;

/* Which part of micro_step an op belongs to; set by the mark_backward pass. RECOMPUTE: a clone of a
 * forward op, made to save memory and never merged with its original. */
typedef enum { PHASE_FORWARD, PHASE_RECOMPUTE, PHASE_BACKWARD } Phase;

typedef struct Op Op;

/* What walks over all ops read comes first, in few cache lines. */
struct Op {
    int id;
    OpKind kind;
    Phase phase;
    int in_count, out_count;
    bool ends_step;      /* of micro_step: runs only in the last micro-step of a step */
    bool apart;          /* fused with nothing: what waits for it then waits for no other op, and no
                          * other op keeps its operands alive */
    bool with_gradient;  /* a forward op that is computed together with its gradient */
    bool extra;          /* repeats the model's work or stands in for it: not counted as its FLOPs */
    int written;         /* 1-based place in the graph before chunk_rows interleaved it; 0: the same */
    Op *after;           /* control edge: must not run before that op; or NULL */
    const char *name;    /* stable, for people: "model.layers.0.mlp.act" */
    Value *in[MAX_OPERANDS];
    Value *out[MAX_RESULTS];
    Attr attr;
    Pos pos;
    const Value *sums;   /* of update: the gradients that this op sums over ranks; or NULL */
    const char *observe; /* dump out[0] under this name (rt_observe); or NULL */
    Value *observed;     /* dump this in place of out[0]; or NULL */
};

bool op_reads(const Op *, const Value *);
/* With attr.accumulate: the old content of the result, to which the op adds; else NULL. */
Value *op_so_far(const Op *);
/* Whether nothing but its operands decides when the op runs, and no dump shows its result: a pass may
 * then make it part of another op. */
bool op_is_plain(const Op *);
/* Whether the op reads, or writes, anything that may share a byte with v. */
bool op_reads_part(const Op *, const Value *v);
bool op_writes_part(const Op *, const Value *v);
bool op_uses_part(const Op *, const Value *v); /* either */
bool op_reads_from(const Op *, const Op *maker);
/* Whether one of the two writes what the other uses. */
bool ops_meet(const Op *, const Op *);
/* Replaces each operand `from` by `to`. */
void op_read_instead(Op *, const Value *from, Value *to);

#endif
