/* Batches for training and evaluation, from text, JSON lines, token shards or a seeded generator.
 *
 * Every format becomes rows of seq_len places (data_rows.h). Row number r of the training stream is
 * a pure function of (seed, r): the rows of an epoch in file order or in a seeded permutation,
 * epoch after epoch. Micro-step i takes rows i*batch up to (i+1)*batch. So a loader has no position
 * to save: resuming at micro-step i needs only i, and the fingerprint that says the data is the
 * same.
 *
 * Errors: functions that take `error` leave one sentence there (file, line or offset, fact, remedy)
 * and return NULL or false. */
#ifndef GPUOPT_DATA_H
#define GPUOPT_DATA_H

#include "runtime/runtime.h"

typedef struct Loader Loader;

/* One micro-batch on the host. The caller owns the arrays, [batch * seq_len] each; fill writes all
 * of them. Padding has id 0, label -100 and position 0 (a sample of its own, so it attends to
 * itself only). */
typedef struct {
    int32_t *input_ids;
    int32_t *labels;    /* shifted: the token that follows in the same sample; -100: ignored */
    int32_t *positions; /* restart at 0 where a sample starts */
    double loss_weight; /* 1 / targets of the whole step; 0 where it has none. Evaluation: 1 */
    int32_t first_row;  /* tokens of the step before this micro-batch */
    int64_t targets;    /* labels of this micro-batch that are not -100 */
} RtHostBatch;

/* What the loader found, for the first lines of a run and the report. Rows and samples of text and
 * token shards: windows. */
typedef struct {
    int64_t train_rows, eval_rows; /* synthetic: 0 train rows, for it has no end */
    int64_t train_samples, eval_samples;
    int64_t truncated;    /* samples cut to seq_len */
    uint64_t fingerprint; /* of rows and contents: equal when a resumed run sees the same data */
} LoaderFacts;

/* Reads or maps every file and checks every token against data->vocab_size. `data` must outlive the
 * loader. */
Loader *loader_open(const RtData *data, int64_t batch, int64_t seq_len, int64_t micro_steps,
                    int64_t seed, char *error, size_t error_size);
void loader_close(Loader *loader); /* NULL is allowed */

const LoaderFacts *loader_facts(const Loader *loader);

/* Micro-step `micro_index`, counted from 0 since the start of training. Any order works; the next
 * index after the last one asked for is what prefetching has ready. Cannot fail. */
void loader_fill(Loader *loader, int64_t micro_index, RtHostBatch *out);

/* Held-out batches there are: data->eval_batches, or fewer where the held-out rows end. */
int64_t loader_eval_batches(const Loader *loader);
/* Held-out batch 0 <= `eval_batch` < loader_eval_batches(), in file order; the last one is filled
 * up with padding. */
void loader_fill_eval(Loader *loader, int64_t eval_batch, RtHostBatch *out);

#endif
