/* What the loader (data.c) asks of a kind of data. */
#ifndef GPUOPT_DATA_KIND_H
#define GPUOPT_DATA_KIND_H

#include "runtime/data/data.h"
#include "runtime/data/data_files.h"

enum { IGNORED = -100 }; /* a label that is no target */

/* A row, and in which epoch it is seen: what is drawn for it depends on nothing else. */
typedef struct {
    LoaderSplit split;
    int64_t epoch, row; /* row -1: padding */
} DataRow;

/* Everything but open and close is called from any thread. */
typedef struct {
    /* The rows of both splits; NULL, and nothing left behind, where that fails. */
    void *(*open)(const RtProgram *program, uint64_t seed, DataError *error);
    void (*close)(void *set);
    int64_t (*rows)(const void *set, LoaderSplit split); /* 0 of LOADER_TRAIN: without end */
    int64_t (*targets)(const void *set, LoaderSplit split, int64_t row);
    /* Writes a row as entry `entry` of the batch in a slot. */
    bool (*write)(const void *set, DataRow row, int64_t entry, void *slot, DataError *error);
    /* Samples and what was wrong with some; rows and fingerprint are the loader's. */
    void (*facts)(const void *set, LoaderFacts *facts);
    uint64_t (*fingerprint)(const void *set);
    /* A sample as data.dataset has it, counted as there; NULL where no program keeps them. */
    bool (*sample)(const void *set, int64_t sample, uint8_t *to, DataError *error);
} DataKind;

extern const DataKind token_data; /* data_tokens.c */
extern const DataKind image_data; /* data_images.c */

/* A well-mixed function of both, for seeds and permutations (data_mix.c). */
uint64_t mix64(uint64_t a, uint64_t b);
/* Where `index` goes in a permutation of 0..count-1 that `key` chooses. */
int64_t permute(int64_t index, int64_t count, uint64_t key);

/* Calls work(0, context) up to work(count - 1, context), by several threads (data_parallel.c). */
typedef void EachWork(int64_t i, void *context);
void each_in_parallel(int64_t count, int64_t threads, EachWork *work, void *context);

/* ---- the ring (data_ring.c) ------------------------------------------------------------------ */

/* Fills part `part` of `parts` of a batch; parts of one batch may be filled at the same time. */
typedef bool FillPart(const void *context, LoaderBatch which, int64_t part, int64_t parts,
                      void *slot, DataError *error);

typedef struct {
    FillPart *fill;
    const void *context;
    int64_t parts;
    int64_t ahead;        /* batches after the one taken that are prepared */
    int64_t in_use;       /* buffers that may still be read, that of the one taken included */
    int64_t workers;      /* threads; 0: ring_take() fills */
    int64_t eval_batches; /* where LOADER_EVAL ends */
} RingJob;

typedef struct Ring Ring;

/* [ring_buffers(&job)] buffers, the caller's. */
int64_t ring_buffers(const RingJob *job);
Ring *ring_open(const RingJob *job, void *const *buffers);
void *ring_take(Ring *ring, LoaderBatch which, DataError *error);
void ring_close(Ring *ring);

#endif
