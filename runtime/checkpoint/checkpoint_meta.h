/* meta.json of a checkpoint: where training stood, and what it ran with. */
#ifndef GPUOPT_CHECKPOINT_META_H
#define GPUOPT_CHECKPOINT_META_H

#include <jansson.h>

#include "runtime/base/rt.h"

enum { CHECKPOINT_VERSION = 1 };

#define CHECKPOINT_META "meta.json"
#define CHECKPOINT_STATE "state.safetensors"

typedef struct {
    json_t *root; /* owns the strings */
    int64_t version;
    int64_t sequence; /* the number of the save in its folder of checkpoints: 1, 2, ... */
    int64_t step, applied, bad_step;
    int64_t data_position; /* rows taken from the data, by all ranks together */
    int64_t seed;
    int64_t state_bytes;
    const char *state_crc32;
    const char *frozen_crc32; /* of the first row of each frozen parameter */
    const char *data_fingerprint;
    const char *experiment, *spec_sha256, *generator, *device;
    int64_t driver_version, cublaslt_version;
    json_t *gemm_algorithms; /* ids in the order of the program's table */
    json_t *evaluations;     /* [step, loss, metrics...] each; NULL: there were none */
} CheckpointMeta;

/* Takes the checksum of frozen parameters, which load may round or keep in another form: once they
 * have their values, and before it. All ranks together. */
void note_frozen(Rt *rt);
/* Takes that of all weights but adapters, as the run's files have them; while these are open. All ranks
 * together. */
void note_start(Rt *rt);

/* Everything but the members of the state file, which the caller sets. */
void meta_of_run(Rt *rt, CheckpointMeta *meta, char strings[2][24]);

bool meta_write(const CheckpointMeta *meta, const char *dir, char *error, size_t error_size);

/* False with one sentence where dir has no meta.json, or one that is damaged or of a version that
 * this program cannot read. */
bool meta_read(CheckpointMeta *meta, const char *dir, char *error, size_t error_size);
void meta_free(CheckpointMeta *meta);

/* Eight hexadecimal digits of the file's checksum. */
bool file_crc32(const char *path, char text[9], int64_t *bytes, char *error, size_t error_size);

#endif
