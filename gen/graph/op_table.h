/* What each op's table row holds, and the interface its rules use. */
#ifndef GRAPH_OP_TABLE_H
#define GRAPH_OP_TABLE_H

#include "graph/graph.h"
#include "graph/steps.h"

/* The reverse walk, as an op's gradient rule sees it. Defined by the autodiff pass. */
typedef struct Backward Backward;

/* The rules that the rows of ops.h name. Including ops.h below declares them. */
typedef void ShapeRule(Program *, Op *);
typedef void GradientRule(Backward *, const Op *);
typedef void ExpandRule(const Op *, Body *); /* sets body->rows, cols too */
typedef double FlopsRule(const Op *);

#define OP(name, traits, shape, gradient, expand, flops, launch) \
    ShapeRule shape;                                             \
    GradientRule gradient;                                       \
    ExpandRule expand;                                           \
    FlopsRule flops;
#include "graph/ops.h"
#undef OP

/* Properties of a kind of op. A row's traits also hold its stages. */
enum {
    TRAIT_ADDS = 1 << 2,       /* with attr.accumulate it adds to its last operand, in place, which
                                * becomes its first result */
    TRAIT_ONLY_ADDS = 1 << 3,  /* it always does; the first contribution is added to zeros */
    TRAIT_VIEW = 1 << 4,       /* its results are views of its operands' bytes; nothing runs */
    TRAIT_EPILOGUE = 1 << 5,   /* its template can take an epilogue: steps on its result, a matrix */
    TRAIT_COLLECTIVE = 1 << 6, /* all ranks of attr.group run it together */
    TRAIT_MOVES = 1 << 7,      /* it copies its operand unchanged, so its result may be FROZEN */
    TRAIT_SINK = 1 << 8,       /* it sends its operand out of the program and has no result */
    TRAIT_AGAIN = 1 << 9,      /* backward recomputes its result instead of keeping it */
    TRAIT_DECODES = 1 << 10,   /* its result is a weight, decoded from what STATE holds */
    TRAIT_SAMPLES = 1 << 11,   /* TRAIT_ROWS holds for whole samples of attr.seq_len rows */
    TRAIT_WINDOWS = 1 << 12,   /* each row of its results depends on the rows of its first operand
                                * that lie under one window (attr.window), read line by line */
    TRAIT_PROLOGUE = 1 << 13,  /* its template can take a prologue: steps that make its first operand,
                                * a matrix, which they also store */
    TRAIT_NAMES = 1 << 14,     /* it reads nothing of its last operand, if it has any, which is only
                                * its result's place or a parameter to name */
    TRAIT_EMBEDS = 1 << 15,    /* its last operand is a table with a row per token id */
    TRAIT_UPDATES = 1 << 16,   /* it updates weights: operands and results 0 are their masters,
                                * operands 1 the gradients */
    TRAIT_IN_PLACE = 1 << 17,  /* its result can take the place of its first operand */
    TRAIT_COLUMNS = 1 << 18,   /* times n up to 7: a column, or head, of the result depends only on
                                * the same one of the first n operands, and on all of the others */
    TRAIT_ROWS = 1 << 21,      /* times a bit mask of operands: a row of the results depends only on
                                * the same row of these operands, and on all of the others */
};

typedef struct {
    const char *name;
    unsigned traits;
    ShapeRule *shape;
    GradientRule *gradient; /* NULL: no gradient */
    ExpandRule *expand;     /* NULL: a launch rule of the plan implements it */
    FlopsRule *flops;       /* NULL: it is no product, convolution or attention */
} OpInfo;

extern const OpInfo op_table[OP_COUNT];

static inline bool op_is(const Op *op, unsigned trait) { return op_table[op->kind].traits & trait; }

/* Makes `apply` the pointwise op that computes the op's first result again, with the same bits, from
 * its operands and its other results; false if its row names none. */
bool op_applied(const Op *, Op *apply);
/* Whether the op can be cut into runs of rows; with TRAIT_SAMPLES, of whole samples. */
bool op_goes_by_rows(const Op *);
bool op_reads_rows(const Op *, int operand); /* whether it is one of those in TRAIT_ROWS */
int op_reads_columns(const Op *);            /* the n of TRAIT_COLUMNS, or 0 */
/* Its FLOPs by its row's rule, or 0. */
double op_flops(const Op *);
/* The same, but nothing for recomputation and for products with elements that are always zero. */
double op_model_flops(const Op *);
/* What plans and programs call the op: its kind, but a cast to the same type is a copy. */
const char *op_title(const Op *);

/* ---- for gradient rules --------------------------------------------------------------------- */

/* The gradient that has arrived at a result of an op; NULL: none. */
Value *backward_of(Backward *, Value *result);
/* Whether a gradient of this operand is needed. */
bool backward_needs(Backward *, const Value *operand);
/* Adds an op whose only result is a contribution to the operand's gradient, if that is needed. Ops
 * with TRAIT_ADDS add to an earlier contribution in place; a trained operand's gradient goes to its
 * buffer. */
void backward_emit(Backward *, const Op *forward, Value *operand, OpKind, Value *const *in,
                   int in_count, Attr);
/* Passes an existing value on as a contribution. */
void backward_pass(Backward *, Value *operand, Value *gradient);
/* Adds an op with several results, for rules that compute the gradients of several operands
 * together; the rule passes them on with backward_pass. */
Op *backward_op(Backward *, const Op *forward, OpKind, Value *const *in, int in_count, Attr);
/* The same, where result i is the op's whole contribution to the gradient of operands[i], which
 * this passes on. The first contribution to a trained operand is written straight into its gradient
 * buffer. */
Op *backward_op_of(Backward *, const Op *forward, OpKind, Value *const *in, int in_count,
                   Value *const *operands, int operand_count, Attr);

/* ---- for shape rules ------------------------------------------------------------------------ */

/* Result number i of the op: made as an activation if it is missing, then its shape is checked. */
Value *result_like(Program *, Op *, int i, const Value *like);
Value *result_2d(Program *, Op *, int i, const char *suffix, DType, int64_t rows, int64_t cols);
Value *result_1d(Program *, Op *, int i, const char *suffix, DType, int64_t cols);
/* A batch of images; plane 0: channels innermost. */
Value *result_images(Program *, Op *, int i, const char *suffix, DType, int64_t rows, int64_t cols,
                     int64_t plane);
Value *result_shaped(Program *, Op *, int i, DType, int rank, const int64_t *dim);
void op_expect(const Op *, bool condition, const char *what);
/* Checks that the op has `count` operands and, with attr.accumulate, the result's old content. */
void op_expect_operands(const Op *, int count);

#endif
