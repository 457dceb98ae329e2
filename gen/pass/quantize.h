/* Frozen weights in few bits: quantize.c finds them and gives what is kept of them its places,
 * quantize_read.c decodes them where they are read, quantize_load.c makes codes as they arrive. */
#ifndef PASS_QUANTIZE_H
#define PASS_QUANTIZE_H

#include "graph/graph.h"
#include "spec/spec.h"

/* Whether pass_quantize keeps the parameter in few bits. */
bool quantize_takes(const Program *, const Spec *, const Param *);

/* ---- within the pass ------------------------------------------------------------------------- */

enum { ABSMAX_BLOCK = 256 }; /* of double quantisation */

/* What is kept of a weight. */
typedef struct {
    Param *param;
    int64_t row, rows;       /* of its storage */
    Value *codes, *absmax;   /* [R,C/2], or [R,C] of integers; [B,1] */
    Value *offset, *absmax2; /* NULL without double quantisation */
    Value *place;            /* of the rank among those that share the weight out; or NULL */
    Attr attr;               /* which blocks the rank has, and how absmax is blocked */
} Packed;

/* A storage of weights that are gone: their rows one below the other from its start, what was beside
 * and below them elsewhere. */
typedef struct {
    Storage *storage;
    int64_t row_stride, rows, cols; /* of the weights */
    Value *right, *below;           /* NULL: nothing is there */
    Value *decoded;                 /* by the last reader in forward, for backward; or NULL */
    Packed *packed;
    int count, capacity;
} Home;

typedef struct {
    Program *program;
    const Spec *spec;
    Pos pos;
    Home *homes; /* by storage id; count 0: holds no such weight */
    int storage_count;
    bool keeps;                /* backward reads what forward decoded */
    Value *map, *bounds;       /* of the 4-bit type */
    Value *order;              /* of its codes; NULL: the map is ascending */
    Value *map_u8, *bounds_u8; /* of the absmax; NULL without double quantisation */
} Quantizer;

/* In 8-bit integers, of which a block is a row. */
bool quantize_in_rows(const Quantizer *);
void quantize_readers(const Quantizer *, Graph *);
void quantize_load(const Quantizer *);

#endif
