/* Pieces of decoders that all families of language models share. */
#ifndef MODEL_DECODER_H
#define MODEL_DECODER_H

#include "model/model.h"

/* x + NAME.bias, which is initialised to zeros, as in transformers. */
Value *decoder_bias(Builder *, Value *x, const char *name, Pos);
/* Causal attention within each row's own sample, with the spec's heads. */
Value *decoder_attention(Builder *, const char *name, Value *q, Value *k, Value *v, Pos);
Value *decoder_residual(Builder *, Value *x, Value *y, const char *name);

/* The rows `ids` of the table NAME.weight [rows, hidden_size]. */
typedef struct {
    Value *table, *x;
} Embedded;
Embedded decoder_embedding(Builder *, Value *ids, const char *name, int64_t rows, Pos);
/* The logits, by the embedding's table; if it is NULL, by the head's own weight. */
Value *decoder_head(Builder *, Value *x, Value *table);

#endif
