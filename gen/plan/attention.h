/* Geometry of one attention kernel, shared by the code that fills its template and its cost. */
#ifndef PLAN_ATTENTION_H
#define PLAN_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { ATTENTION_FORWARD, ATTENTION_BACKWARD_Q, ATTENTION_BACKWARD_KV } AttentionPart;

typedef struct {
    AttentionPart part;
    bool tensor_cores;
    bool wgmma;     /* uses Hopper's wgmma: then `warps` counts warpgroups */
    bool prefixed;  /* queries also see a given range of their row, besides their own sample */
    bool segmented; /* a row may hold several samples or padding */
    bool rotated;   /* backward: undoes RoPE of q and k */
    int64_t seq, batch, heads, kv_heads, head_dim;
    int64_t rows, keys;       /* tile */
    int64_t warps, row_tiles; /* tensor cores only */
    int64_t blocks;           /* wgmma: launch bound: blocks that a multiprocessor runs at least */
    int64_t row_threads;      /* FMA: threads that share a row */
    int64_t split;            /* number of parts into which the columns are split */
    int64_t threads, shared_bytes;
    int64_t row_bytes; /* a row of one head */
    int64_t acc_bytes; /* an element of lse or delta */
} AttentionGeometry;

/* Exact for whole sequences; an upper bound where rows may be segmented. */
double attention_issued_bytes(const AttentionGeometry *);
double attention_kernel_flops(const AttentionGeometry *);

#endif
