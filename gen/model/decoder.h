/* What the families of language models build with: the pieces of a decoder that all of them have. */
#ifndef MODEL_DECODER_H
#define MODEL_DECODER_H

#include "model/model.h"

/* y of x, and NAME.bias; drawn as zeros, as transformers does. */
Value *decoder_bias(Builder *, Value *x, const char *name, Pos);
/* Causal, of each row's own sample; heads as the spec says. */
Value *decoder_attention(Builder *, const char *name, Value *q, Value *k, Value *v, Pos);
Value *decoder_residual(Builder *, Value *x, Value *y, const char *name);

/* The rows of the table NAME.weight [rows, hidden_size] that `ids` say. */
typedef struct {
    Value *table, *x;
} Embedded;
Embedded decoder_embedding(Builder *, Value *ids, const char *name, int64_t rows, Pos);
/* Logits: by the embedding's table, or NULL: by a weight of the head's own. */
Value *decoder_head(Builder *, Value *x, Value *table);

#endif
