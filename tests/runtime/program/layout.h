/* A program like those that the compiler emits, small enough to be written by hand: it predicts the
 * next byte from the last one, with an embedding and a linear head.
 *
 *     x[t, :] = E[id[t], :]     logits = x W^T     loss = cross-entropy
 *
 * Tests of the runtime run it. It has one of everything that the runtime must handle: a 16-bit
 * strided weight with a master, a buffer, GEMMs, accumulation, a `load` entry, an evaluation with a
 * figure in addition to its loss. */
#ifndef LAYOUT_H
#define LAYOUT_H

#ifndef HIDDEN
#define HIDDEN 16
#endif
#ifndef MICRO_STEPS
#define MICRO_STEPS 1
#endif
#ifndef STEPS
#define STEPS 40
#endif
#ifndef WORKSPACE
#define WORKSPACE 1024
#endif

enum { VOCAB = 256, BATCH = 4, SEQ = 16, TOKENS = BATCH * SEQ, E_STRIDE = HIDDEN + 8 };

typedef struct {
    float head[VOCAB * HIDDEN]; /* W */
    float head_grad[VOCAB * HIDDEN];
    float head_m[VOCAB * HIDDEN], head_v[VOCAB * HIDDEN];
    float embed_master[VOCAB * HIDDEN];
    float embed_grad[VOCAB * HIDDEN];
    float embed_m[VOCAB * HIDDEN], embed_v[VOCAB * HIDDEN];
    float scale[4]; /* frozen; element 0 becomes the logits' scale in `load` */
    float scale_loaded[4];
    float factor[4];                        /* a constant of the program */
    unsigned short embed[VOCAB * E_STRIDE]; /* bf16 */
    long long seed;
    int step, applied, bad_step, pad;
    float lr[STEPS], bias_correction1[STEPS], bias_correction2_sqrt[STEPS];
    float loss[STEPS], grad_norm[STEPS];
    float step_loss[4], eval_loss[4], hits[4];
    float mean[4]; /* a buffer; element 0 is in use */
} State;

typedef struct {
    float x[TOKENS * HIDDEN];
    float logits[TOKENS * VOCAB];
    float dlogits[TOKENS * VOCAB];
    float dx[TOKENS * HIDDEN];
    float losses[TOKENS];
    float norm[4];
    float workspace[WORKSPACE];
} Scratch;

typedef struct {
    int input_ids[TOKENS], labels[TOKENS], positions[TOKENS];
    float loss_weight[4];
    int first_row[4];
} Input;

#endif
