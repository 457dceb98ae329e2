/* Batches for training and evaluation, ready to be copied to the device.
 *
 * Every kind of data is rows: a row fills one entry of a batch (data_kind.h). Row number r of the
 * training stream is a pure function of (seed, r): the rows of an epoch in file order or in a seeded
 * permutation, epoch after epoch. Micro-step i takes rows i*batch up to (i+1)*batch; of several ranks,
 * rank r's micro-step i takes those of batch i*ranks + r, as if one rank had ranks times the
 * micro-steps. So a loader has
 * no position to save: resuming at micro-step i needs only i, and the fingerprint that says the data
 * is the same.
 *
 * A batch is written where it is copied from: into host memory that is laid out like one slot of
 * the INPUT arena, each of the program's inputs at its offset (runtime.h says what they hold).
 *
 * Errors: functions that take `error` leave one sentence there (file, line or offset, fact, remedy)
 * and return NULL or false. */
#ifndef GPUOPT_DATA_H
#define GPUOPT_DATA_H

#include "runtime/runtime.h"

typedef struct Loader Loader;

typedef enum { LOADER_TRAIN, LOADER_EVAL, LOADER_SPLITS } LoaderSplit;

/* Micro-step `index` since the start of training; or held-out batch `index`, in file order, the
 * last one filled up with padding: 0 <= index < loader_eval_batches(). Of several ranks: of this
 * rank's; the same number on each, so some may have padding only. */
typedef struct {
    LoaderSplit split;
    int64_t index;
} LoaderBatch;

/* What the loader found, for the first lines of a run and the report. Rows and samples of text and
 * token shards: windows. */
typedef struct {
    int64_t train_rows, eval_rows; /* synthetic: 0 train rows, for it has no end */
    int64_t train_samples, eval_samples;
    int64_t truncated;    /* samples, or pairs, cut to seq_len */
    double mean_tokens;   /* of a sample, or of a pair's two sequences; 0: no tokens */
    double padding_share, target_share; /* of the places of all training rows */
    int64_t skipped;      /* images left out, for they could not be decoded; pairs, too long */
    uint64_t fingerprint; /* of the number of rows, and of some of them spread over the data (of a
                           * folder of images: their names and classes): other data are noticed */
} LoaderFacts;

/* Reads or maps every file and checks its contents against program->data. `program` must outlive
 * the loader. */
Loader *loader_open(const RtProgram *program, int64_t seed, char *error, size_t error_size);
void loader_close(Loader *loader); /* NULL is allowed */

/* Gives this loader one batch of every `ranks` in a row, number `rank` of them; before loader_start().
 * What a batch says of its step counts all of them. Without it the loader gives every batch. */
void loader_shard(Loader *loader, int rank, int ranks);

const LoaderFacts *loader_facts(const Loader *loader);
/* Held-out batches there are: data.eval_batches, or fewer where the held-out rows end. */
int64_t loader_eval_batches(const Loader *loader);

/* Writes one batch into `slot` and counts its targets: labels that are not -100, or pairs. Any batch
 * at any time, from any thread. */
bool loader_fill(const Loader *loader, LoaderBatch which, void *slot, int64_t *targets, char *error,
                 size_t error_size);

/* Rows of a split that a run may see: of those held out, what data.eval_batches hold. */
int64_t loader_rows(const Loader *loader, LoaderSplit split);
/* Rows first, first + 1, ... of a split in the order of the files, as a batch of no step; padding where
 * they end. */
bool loader_fill_rows(const Loader *loader, LoaderSplit split, int64_t first, void *slot,
                      char *error, size_t error_size);
/* From now on the input of that name has these values, of each row as many as an entry of the batch
 * has; padding has zeros. The loader frees them. */
void loader_attach(Loader *loader, const char *name, LoaderSplit split, double *values);

/* Batches filled ahead of time in a ring of host buffers, each as large as a slot, which the caller
 * owns and keeps until loader_stop(). They are data.prefetch_batches and RT_SLOTS a card, filled by
 * data.num_workers threads; with 0 threads each batch is filled when it is taken. */
int loader_ring_size(const Loader *loader);
void loader_start(Loader *loader, void *const *buffers);
void loader_stop(Loader *loader);

/* The buffer that holds a batch, to be read until as many calls later as there are slots on all
 * cards: by then nobody may read it any more, for it is filled anew. What is prepared ahead is
 * the batches after the last one taken. NULL where a file could not be read or decoded. */
void *loader_take(Loader *loader, LoaderBatch which, int64_t *targets, char *error,
                  size_t error_size);

/* Writes `count` samples of data.dataset, the first one first, as they lie there; data.num_workers
 * threads read and decode them. There are as many as the loader found. */
bool loader_samples(const Loader *loader, int64_t first, int64_t count, uint8_t *to, char *error,
                    size_t error_size);

#endif
