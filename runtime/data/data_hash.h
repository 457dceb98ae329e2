/* A hash of what a program reads: the files of data, and the weights that it starts from. */
#ifndef GPUOPT_DATA_HASH_H
#define GPUOPT_DATA_HASH_H

#include "runtime/base/sha256.h"
#include "runtime/runtime.h"

/* The folders' safetensors files; NULL: none. */
typedef struct {
    const char *model, *adapter;
} StartWeights;

/* Where a file is does not matter, only its name and its contents. Large files are read in places, and
 * of a folder of images only names and sizes count, so that a hash is cheap before each run. Changes
 * elsewhere are not noticed. Training changes all parts of a weight, so that a model that was trained
 * again is noticed, unless it has the same bits.
 *
 * Returns false if a file is missing or cannot be read. */
bool data_hash(const RtData *data, StartWeights weights, char hex[SHA256_HEX_SIZE]);

#endif
