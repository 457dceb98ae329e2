/* meta.json of a checkpoint: the progress of training and the run's circumstances. */
#ifndef GPUOPT_CHECKPOINT_META_H
#define GPUOPT_CHECKPOINT_META_H

#include <jansson.h>

#include "runtime/base/rt.h"

enum { CHECKPOINT_VERSION = 2 };

#define CHECKPOINT_META "meta.json"
#define CHECKPOINT_STATE "state.safetensors"

typedef struct {
    json_t *root; /* owns the strings */
    int64_t version;
    int64_t sequence; /* number of the save in its checkpoints folder: 1, 2, ... */
    int64_t step, applied, bad_step;
    int64_t data_position; /* rows of data that all ranks together have taken */
    int64_t seed;
    int64_t state_bytes;
    const char *state_crc32;
    const char *frozen_crc32; /* of the first row of each frozen parameter */
    const char *data_fingerprint;
    const char *experiment, *recipe_sha256, *generator, *device;
    int64_t driver_version, cublaslt_version;
    json_t *gemm_algorithms; /* ids in the order of the program's table */
    json_t *evaluations;     /* an array of [step, loss, metrics...]; NULL: none */
    const char *data_sha256; /* of the data and the initial weights; "", NULL: unknown */
} CheckpointMeta;

/* Computes the checksum of frozen parameters. Call it once they have their values and before
 * `load`, which may round them or keep another form of them. All ranks must call it. */
void note_frozen(Rt *rt);
/* The same for all weights except adapters, as the run's files have them, which must be open. All
 * ranks must call it. */
void note_start(Rt *rt);

/* Fills in everything except sequence and the members about the state file, which the caller
 * sets. */
void meta_of_run(Rt *rt, CheckpointMeta *meta, char strings[2][24]);

bool meta_write(const CheckpointMeta *meta, const char *dir, char *error, size_t error_size);

/* Returns false, with an error, if dir has no meta.json, or one that is damaged or of a version
 * that this program cannot read. */
bool meta_read(CheckpointMeta *meta, const char *dir, char *error, size_t error_size);
void meta_free(CheckpointMeta *meta);

/* Computes the file's checksum, as eight hexadecimal digits, and its size. */
bool file_crc32(const char *path, char text[9], int64_t *bytes, char *error, size_t error_size);

#endif
