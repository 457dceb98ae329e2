/* Batches for training and evaluation, ready to be copied to the device.
 *
 * Every kind of data is a sequence of rows; a row fills one entry of a batch (data_kind.h). Row r
 * of the training stream is a pure function of (seed, r): each epoch has the rows in file order or
 * in a seeded permutation, all of them or, by data.last_batch, as many as fill steps. Micro-step i
 * takes rows i*batch to (i+1)*batch - 1. With several ranks,
 * micro-step i of rank r takes batch i*ranks + r, as if one rank had `ranks` times as many
 * micro-steps. So a loader has no position to save: resuming at micro-step i needs only i, and the
 * fingerprint that shows that the data is unchanged.
 *
 * A batch is written directly into the host memory from which it is copied to the device. That
 * memory is laid out like one slot of the INPUT arena, each of the program's inputs at its offset
 * (runtime.h describes the inputs).
 *
 * Errors: functions that take `error` leave one sentence there (file, line or offset, fact, remedy)
 * and return NULL or false. */
#ifndef GPUOPT_DATA_H
#define GPUOPT_DATA_H

#include "runtime/runtime.h"

typedef struct Loader Loader;

typedef enum { LOADER_TRAIN, LOADER_EVAL, LOADER_SPLITS } LoaderSplit;

/* LOADER_TRAIN: the batch of micro-step `index`, counted from the start of training. LOADER_EVAL:
 * held-out batch `index`, in file order (images that are drawn from the training files, or are in
 * folders of classes, in a fixed order of their own); 0 <= index < loader_eval_batches(). The last
 * batch is padded. With several ranks `index` counts this rank's batches. All ranks have equally many
 * held-out batches, so some batches may hold only padding. */
typedef struct {
    LoaderSplit split;
    int64_t index;
} LoaderBatch;

/* What the loader found, for the first lines of a run and the report. For text and for token shards
 * without samples, rows and samples are windows. */
typedef struct {
    int64_t train_rows, eval_rows; /* synthetic: 0 train rows, since it is endless */
    int64_t epoch_rows; /* of the training stream: train_rows, or see loader_set_step */
    int64_t train_samples, eval_samples;
    int64_t truncated;    /* samples, or pairs, cut to seq_len, held-out ones too */
    double mean_tokens;   /* per training sample, or pair (both sequences), as cut; 0: no tokens */
    double padding_share, target_share; /* fractions of the places of all training rows */
    int64_t aimless_rows; /* training rows without a target */
    bool bytes;           /* text was read: each byte is a token */
    int64_t skipped;      /* images left out as broken; pairs left out as too long; held-out ones too */
    uint64_t fingerprint; /* hash of the numbers of rows and of some rows spread over the training
                           * and the held-out data (for a folder of images: of their names and
                           * classes); detects other data */
} LoaderFacts;

/* Reads or maps every file and checks its contents against program->data. `program` must outlive
 * the loader. */
Loader *loader_open(const RtProgram *program, int64_t seed, char *error, size_t error_size);
void loader_close(Loader *loader); /* NULL is allowed */

/* Makes this loader give only batches rank, rank + ranks, rank + 2 ranks, ...; call it before
 * loader_start(). Per-step inputs such as loss_weight still count all ranks. By default the loader
 * gives every batch. */
void loader_shard(Loader *loader, int rank, int ranks);

/* Tells the loader that a step of all ranks takes step_rows rows, so that epochs end as
 * data.last_batch says; call it before loader_start(). False if nothing of an epoch is left. By
 * default an epoch is train_rows rows, which steps need not divide. */
bool loader_set_step(Loader *loader, int64_t step_rows);

const LoaderFacts *loader_facts(const Loader *loader);
/* Number of held-out batches of each rank. All ranks together have data.eval_batches, or fewer if
 * the held-out rows end earlier. */
int64_t loader_eval_batches(const Loader *loader);

/* Writes one batch into `slot` and counts its targets: labels that are not -100, or pairs. May be
 * called for any batch at any time, from any thread. */
bool loader_fill(const Loader *loader, LoaderBatch which, void *slot, int64_t *targets, char *error,
                 size_t error_size);

/* Rows of a split that a run may see; of held-out rows, at most data.eval_batches batches. */
int64_t loader_rows(const Loader *loader, LoaderSplit split);
/* Writes rows first, first + 1, ... of a split, not shuffled, then padding. The batch belongs to no
 * step: loss_weight, first_row and attached values are not written. */
bool loader_fill_rows(const Loader *loader, LoaderSplit split, int64_t first, void *slot,
                      char *error, size_t error_size);
/* From now on, batches of `split` have `values` in the input `name`: for each row as many values as
 * one batch entry of the input holds, and zeros for padding. The loader frees `values`. */
void loader_attach(Loader *loader, const char *name, LoaderSplit split, double *values);

/* Batches are filled ahead of time in a ring of host buffers, each as large as a slot. The caller
 * owns the buffers and keeps them until loader_stop(). Their number is
 * data.prefetch_batches + RT_SLOTS * cards, and data.num_workers threads fill them. With 0 threads
 * it is RT_SLOTS * cards, and each batch is filled when it is taken. */
int loader_ring_size(const Loader *loader);
void loader_start(Loader *loader, void *const *buffers);
void loader_stop(Loader *loader);

/* Returns the buffer that holds a batch, or NULL if a file could not be read or decoded. The buffer
 * stays valid during the next RT_SLOTS * cards - 1 calls and may then be refilled. The batches that
 * follow the one taken last are prepared ahead. */
void *loader_take(Loader *loader, LoaderBatch which, int64_t *targets, char *error,
                  size_t error_size);

/* Writes samples [first, first + count) of data.dataset, as it stores them; data.num_workers
 * threads read and decode them. The dataset has as many samples as the loader found. */
bool loader_samples(const Loader *loader, int64_t first, int64_t count, uint8_t *to, char *error,
                    size_t error_size);

#endif
