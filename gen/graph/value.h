/* Values: typed views of storages. See graph.h for the form as a whole. */
#ifndef GRAPH_VALUE_H
#define GRAPH_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

typedef enum {
    DT_F64,
    DT_F32,
    DT_F16,
    DT_BF16,
    DT_I64,
    DT_I32,
    DT_U8,
    DT_I8,
    DT_F8_E4M3, /* torch's float8_e4m3fn; values are rounded to it, but none is stored in it yet */
    DT_COUNT
} DType;

typedef struct {
    const char *name; /* lower case, otherwise as in safetensors: "f64", "bf16", ... */
    int bytes;
} DTypeInfo;

extern const DTypeInfo dtype_table[DT_COUNT];

static inline int dtype_bytes(DType dtype) { return dtype_table[dtype].bytes; }
static inline const char *dtype_name(DType dtype) { return dtype_table[dtype].name; }

/* Who owns the bytes and how long they live. */
typedef enum {
    ROLE_INPUT,      /* filled by the host before each micro-step */
    ROLE_FROZEN,     /* parameter that does not train */
    ROLE_WEIGHT,     /* parameter that trains */
    ROLE_ADAPTER,    /* parameter that trains, added to a frozen base */
    ROLE_BUFFER,     /* parameter that micro_step writes and nothing trains, like a torch buffer */
    ROLE_CONSTANT,   /* known to the compiler, or computed once by load */
    ROLE_DATASET,    /* the whole data set, written once before load */
    ROLE_COUNTER,    /* training state such as the step */
    ROLE_GRADIENT,
    ROLE_OPTIMIZER,
    ROLE_ACTIVATION, /* lives inside one entry graph */
    ROLE_STASH,      /* lives from a micro-batch's forward to its backward, in a pipeline, where
                      * these are separate entries */
    ROLE_COUNT
} Role;

const char *role_name(Role);
bool role_persistent(Role); /* outlives an entry */

typedef struct Value Value;

/* Bytes that get one place in an arena. */
typedef struct {
    int id;
    const char *name;
    Role role;
    int64_t bytes;
    Value *views; /* all values in it; the last is the one that it was made with */
} Storage;

enum { MAX_RANK = 4 };

struct Value {
    int id;
    int param; /* of a weight: where program->params had it when it was added */
    const char *name; /* dotted, as in Hugging Face: "model.layers.0.mlp.gate_proj.weight" */
    Storage *storage;
    int64_t offset; /* elements of dtype from the storage's start */
    int rank;
    int64_t dim[MAX_RANK];
    int64_t row_stride; /* elements from one row (second-last index) to the next */
    int64_t plane;      /* 0: rows follow each other. Else rows come in groups of `plane`, each group
                         * stored column by column: images [n,c,h,w] seen as rows (n,h,w) x columns c */
    DType dtype;
    Role role;
    Pos pos;            /* the spec line it comes from */
    const double *data; /* of a CONSTANT known to the compiler: value_elements() numbers; or NULL */
    Value *next_view;   /* of the same storage */
};

/* The short ones are inline: passes and plan ask them of all values again and again. */

/* The product of all dimensions but the last; 1 for rank 1. */
static inline int64_t value_rows(const Value *v) {
    int64_t rows = 1;
    for (int i = 0; i < v->rank - 1; i++)
        rows *= v->dim[i];
    return rows;
}

/* The last dimension. */
static inline int64_t value_cols(const Value *v) { return v->dim[v->rank - 1]; }

static inline int64_t value_elements(const Value *v) { return value_rows(v) * value_cols(v); }

/* Elements x element size; gaps between rows are not counted. */
static inline int64_t value_bytes(const Value *v) {
    return value_elements(v) * dtype_bytes(v->dtype);
}

/* Whether it is all of its storage. */
static inline bool value_fills(const Value *v) { return value_bytes(v) == v->storage->bytes; }

bool value_dense(const Value *);  /* its rows follow each other without gaps */
bool value_trains(const Value *); /* WEIGHT or ADAPTER */
bool value_same_place(const Value *, const Value *);
bool value_same_view(const Value *, const Value *); /* the same place with the same dtype */

/* Bytes from the start of its storage to the value. */
static inline int64_t value_begin(const Value *v) { return v->offset * dtype_bytes(v->dtype); }

/* Bytes of a storage from a value's first to just past its last, gaps between rows included. */
typedef struct {
    int64_t first, end;
} ByteSpan;

static inline ByteSpan value_span(const Value *v) {
    int64_t size = dtype_bytes(v->dtype);
    int64_t last_row = v->offset + (value_rows(v) - 1) * v->row_stride;
    return (ByteSpan){value_begin(v), (last_row + value_cols(v)) * size};
}

static inline bool spans_meet(ByteSpan a, ByteSpan b) { return a.first < b.end && b.first < a.end; }

bool views_overlap(const Value *, const Value *); /* of one storage */

/* Whether the values may share a byte. */
static inline bool value_overlaps(const Value *a, const Value *b) {
    return a == b || (a->storage == b->storage && views_overlap(a, b));
}

#endif
