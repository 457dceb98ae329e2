/* The interface between the loader (data.c) and a kind of data. */
#ifndef GPUOPT_DATA_KIND_H
#define GPUOPT_DATA_KIND_H

#include "runtime/data/data.h"
#include "runtime/data/data_files.h"

enum { IGNORED = -100 }; /* a label that is no target */

/* A row and the epoch in which it is seen. Besides the seed, random crops and flips of the row
 * depend on nothing else. */
typedef struct {
    LoaderSplit split;
    int64_t epoch, row; /* row -1: padding */
} DataRow;

/* Everything but open and close may be called from any thread. */
typedef struct {
    /* Opens the rows of both splits. Returns NULL on failure, with nothing left to free. */
    void *(*open)(const RtProgram *program, uint64_t seed, DataError *error);
    void (*close)(void *set);
    int64_t (*rows)(const void *set, LoaderSplit split); /* LOADER_TRAIN, 0: endless */
    int64_t (*targets)(const void *set, LoaderSplit split, int64_t row);
    /* Writes a row as entry `entry` of the batch in a slot. */
    bool (*write)(const void *set, DataRow row, int64_t entry, void *slot, DataError *error);
    /* Sets all facts but the numbers of rows and the fingerprint, which the loader sets. */
    void (*facts)(const void *set, LoaderFacts *facts);
    uint64_t (*fingerprint)(const void *set);
    /* Writes sample number `sample` of data.dataset; NULL if no program keeps this kind of data on
     * the device. */
    bool (*sample)(const void *set, int64_t sample, uint8_t *to, DataError *error);
} DataKind;

extern const DataKind token_data; /* data_tokens.c */
extern const DataKind image_data; /* data_images.c */

/* Returns a well-mixed hash of both words, for seeds and permutations (data_mix.c). */
uint64_t mix64(uint64_t a, uint64_t b);
/* Returns the image of `index` under the permutation of 0..count-1 selected by `key`. */
int64_t permute(int64_t index, int64_t count, uint64_t key);

/* Calls work(0, context) to work(count - 1, context) on several threads (data_parallel.c). */
typedef void EachWork(int64_t i, void *context);
void each_in_parallel(int64_t count, int64_t threads, EachWork *work, void *context);

/* ---- the ring (data_ring.c) ------------------------------------------------------------------ */

/* Fills part `part` of `parts` of a batch. Parts of one batch may be filled concurrently. */
typedef bool FillPart(const void *context, LoaderBatch which, int64_t part, int64_t parts,
                      void *slot, DataError *error);

typedef struct {
    FillPart *fill;
    const void *context;
    int64_t parts;
    int64_t ahead;        /* batches prepared beyond the one taken last */
    int64_t in_use;       /* buffers that may still be read, including the one taken last */
    int64_t workers;      /* threads; 0: ring_take() fills the batches */
    int64_t eval_batches; /* number of LOADER_EVAL batches */
} RingJob;

typedef struct Ring Ring;

/* Number of buffers that ring_open() needs; the caller owns them. */
int64_t ring_buffers(const RingJob *job);
Ring *ring_open(const RingJob *job, void *const *buffers);
void *ring_take(Ring *ring, LoaderBatch which, DataError *error);
void ring_close(Ring *ring);

#endif
