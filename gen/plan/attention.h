/* One kernel's share of attention, as its template and its costs see it. */
#ifndef PLAN_ATTENTION_H
#define PLAN_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { ATTENTION_FORWARD, ATTENTION_BACKWARD_Q, ATTENTION_BACKWARD_KV } AttentionPart;

typedef struct {
    AttentionPart part;
    bool tensor_cores;
    bool wgmma; /* they are Hopper's: a warp of the geometry is a warpgroup */
    bool prefixed;  /* queries see other places of their row beside their own sample's */
    bool segmented; /* a row may be more than one whole sample */
    int64_t seq, batch, heads, kv_heads, head_dim;
    int64_t rows, keys;       /* tile */
    int64_t warps, row_tiles; /* of tensor cores */
    int64_t row_threads;      /* FMA: threads that share a row */
    int64_t split;            /* shares of the columns */
    int64_t threads, shared_bytes;
    int64_t row_bytes; /* of one head */
    int64_t acc_bytes; /* of a number of lse and delta */
} AttentionGeometry;

/* Of whole sequences; where rows may be segmented at most this, whatever their samples. */
double attention_issued_bytes(const AttentionGeometry *);
double attention_kernel_flops(const AttentionGeometry *);

#endif
