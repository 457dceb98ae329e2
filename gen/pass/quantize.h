/* Frozen weights quantised to few bits: quantize.c finds them and makes values for their codes and
 * scales, quantize_read.c decodes them for their readers, quantize_load.c quantises them in
 * load. */
#ifndef PASS_QUANTIZE_H
#define PASS_QUANTIZE_H

#include "graph/graph.h"
#include "spec/spec.h"

/* Whether pass_quantize quantises the parameter. */
bool quantize_takes(const Program *, const Spec *, const Param *);

/* ---- within the pass ------------------------------------------------------------------------- */

enum { ABSMAX_BLOCK = 256 }; /* of double quantisation */

/* What STATE keeps of a quantised weight. */
typedef struct {
    Param *param;
    int64_t row, rows;       /* the weight's rows in its storage */
    Value *codes, *absmax;   /* 4 bits: [R,C/2], [B,1]; 8 bits: [R,C], [R,1] */
    Value *offset, *absmax2; /* NULL without double quantisation */
    Value *group_rank;       /* the rank's number among those that share the weight out; or NULL */
    Attr attr;               /* which blocks the rank has, and the block size of absmax */
} Packed;

/* A storage whose weights have been replaced by codes. The weights' rows follow each other from its
 * start; what was to the right of them and below them has moved to storages of its own. */
typedef struct {
    Storage *storage;
    int64_t row_stride, rows, cols; /* of the weights */
    Value *right, *below;           /* NULL: nothing was there */
    Value *decoded;                 /* for the last reader in forward, kept for backward; or NULL */
    Packed *packed;
    int count, capacity;
} Home;

typedef struct {
    Program *program;
    const Spec *spec;
    Pos pos;
    Home *homes; /* by storage id; count 0: the storage holds no quantised weight */
    int storage_count;
    bool keeps;                /* backward reads what forward decoded */
    Value *map, *bounds;       /* of the 4-bit type */
    Value *order;              /* its codes by ascending number; NULL: the map is ascending */
    Value *map_u8, *bounds_u8; /* of the absmax codes; NULL without double quantisation */
} Quantizer;

/* Whether weights become 8-bit integers, with one block per row. */
bool quantize_in_rows(const Quantizer *);
void quantize_readers(const Quantizer *, Graph *);
void quantize_load(const Quantizer *);

#endif
