/* What each op's table row holds, and the interface its rules use. */
#ifndef GRAPH_OP_TABLE_H
#define GRAPH_OP_TABLE_H

#include "graph/graph.h"
#include "graph/steps.h"

/* The reverse walk, as an op's gradient rule sees it. Defined by the autodiff pass. */
typedef struct Backward Backward;

/* The rules that a row of ops.h names, declared by it. */
typedef void ShapeRule(Program *, Op *);
typedef void GradientRule(Backward *, const Op *);
typedef void ExpandRule(const Program *, const Op *, Body *); /* sets body->rows, cols too */
typedef double FlopsRule(const Op *);

#define OP(name, traits, shape, gradient, expand, flops, launch) \
    ShapeRule shape;                                             \
    GradientRule gradient;                                       \
    ExpandRule expand;                                           \
    FlopsRule flops;
#include "graph/ops.h"
#undef OP

/* What is true of an op wherever it stands; a row's traits hold its stages too. */
enum {
    TRAIT_ADDS = 4,        /* with attr.accumulate it adds onto its last operand, in place */
    TRAIT_ONLY_ADDS = 8,   /* never without: what comes first is added onto zeros */
    TRAIT_VIEW = 16,       /* its result is its operand's bytes, and nothing runs */
    TRAIT_EPILOGUE = 32,   /* its template leaves open what becomes of its result, a matrix */
    TRAIT_COLLECTIVE = 64, /* all ranks do it together */
    TRAIT_SINK = 256,      /* what it reads leaves the program; it has no result */
    TRAIT_MOVES = 128,     /* its result is what its operand is: what is frozen may be one */
    TRAIT_AGAIN = 512,     /* backward makes its result again rather than keep it */
    TRAIT_DECODES = 1024,  /* its result is a weight, made of what STATE has of it */
    TRAIT_WINDOWS = 4096,  /* a row of its results is of those rows of its first operand that lie under
                            * a window (attr.window), which it reads line by line */
    TRAIT_SAMPLES = 2048,  /* ROWS holds of whole samples, attr.seq_len rows each */
    TRAIT_ROWS = 1 << 16,  /* times a bit for each operand that results have rows with: a row of theirs
                            * is of the same row of these alone, and of all of the other operands */
};

typedef struct {
    const char *name;
    unsigned traits;
    ShapeRule *shape;
    GradientRule *gradient; /* NULL: nothing flows back */
    ExpandRule *expand;     /* NULL: a launch rule of the plan serves it */
    FlopsRule *flops;       /* NULL: none worth counting */
} OpInfo;

extern const OpInfo op_table[OP_COUNT];

bool op_is(const Op *, unsigned trait);
/* Whether rows of its results are of the same rows of operands, for samples see TRAIT_SAMPLES. */
bool op_goes_by_rows(const Op *);
bool op_reads_rows(const Op *, int operand); /* whether it is one of these operands */
double op_flops(const Op *); /* 0: none worth counting */

/* ---- for gradient rules --------------------------------------------------------------------- */

/* The gradient that has arrived at a result of an op; NULL: none. */
Value *backward_of(Backward *, Value *result);
/* Whether a gradient for this operand is of any use. */
bool backward_needs(Backward *, const Value *operand);
/* Adds an op whose only result is a contribution to operand's gradient. A matrix product adds
 * onto an earlier contribution in place; weights receive it in their gradient buffer. */
void backward_emit(Backward *, const Op *forward, Value *operand, OpKind, Value *const *in,
                   int in_count, Attr);
/* Passes an existing value on as a contribution. */
void backward_pass(Backward *, Value *operand, Value *gradient);
/* Adds an op with several results, for rules that compute gradients of several operands at once;
 * the rule hands them on with backward_pass. */
Op *backward_op(Backward *, const Op *forward, OpKind, Value *const *in, int in_count, Attr);
/* The same where result i is all that the op contributes to the gradient of operands[i], and nothing
 * is left to hand on: a trained operand's is written straight into its gradient buffer where it is
 * the first there. */
Op *backward_op_of(Backward *, const Op *forward, OpKind, Value *const *in, int in_count,
                   Value *const *operands, int operand_count, Attr);

/* ---- for shape rules ------------------------------------------------------------------------ */

/* The op's result number i: made as an activation unless it is there already; then checked. */
Value *result_like(Program *, Op *, int i, const Value *like);
Value *result_2d(Program *, Op *, int i, const char *suffix, DType, int64_t rows, int64_t cols);
Value *result_1d(Program *, Op *, int i, const char *suffix, DType, int64_t cols);
/* A batch of images; plane 0: channels innermost. */
Value *result_images(Program *, Op *, int i, const char *suffix, DType, int64_t rows, int64_t cols,
                     int64_t plane);
Value *result_shaped(Program *, Op *, int i, DType, int rank, const int64_t *dim);
void op_expect(const Op *, bool condition, const char *what);
/* That it has so many operands and, with attr.accumulate, its result's old content as one more. */
void op_expect_operands(const Op *, int count);

#endif
