/*
 * safetensors.h - read and write Hugging Face's tensor files.
 *
 * A file is a little-endian 64-bit header length, a JSON header, and one block of tensor data:
 *
 *     {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {...}}
 *
 * The reader maps the file and trusts nothing in it. It refuses the file with an error message
 * unless every tensor lies inside the file, no two tensors overlap, every byte of the block belongs
 * to a tensor, and names are unique. After st_open() succeeds, every StTensor may be read without
 * further checks, unless the file is truncated while it is mapped. As with any mapped file, that
 * raises SIGBUS, which signals.c turns into an error.
 */
#ifndef RUNTIME_SAFETENSORS_H
#define RUNTIME_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ST_MAX_RANK = 8 };

/* Element types: enum, name in the file, bytes per element; floating-point types come first. */
#define ST_DTYPES(X)            \
    X(ST_F64, "F64", 8)         \
    X(ST_F32, "F32", 4)         \
    X(ST_F16, "F16", 2)         \
    X(ST_BF16, "BF16", 2)       \
    X(ST_F8_E4M3, "F8_E4M3", 1) \
    X(ST_F8_E5M2, "F8_E5M2", 1) \
    X(ST_I64, "I64", 8)         \
    X(ST_I32, "I32", 4)         \
    X(ST_I16, "I16", 2)         \
    X(ST_I8, "I8", 1)           \
    X(ST_U64, "U64", 8)         \
    X(ST_U32, "U32", 4)         \
    X(ST_U16, "U16", 2)         \
    X(ST_U8, "U8", 1)           \
    X(ST_BOOL, "BOOL", 1)

typedef enum StDtype {
#define X(id, name, bytes) id,
    ST_DTYPES(X)
#undef X
        ST_DTYPE_COUNT
} StDtype;

const char *st_dtype_name(StDtype dtype);
size_t st_dtype_bytes(StDtype dtype);
bool st_dtype_is_float(StDtype dtype);

/* One tensor of an open file; row major. Owned by its StFile, valid until st_close(). */
typedef struct StTensor {
    const char *name;
    StDtype dtype;
    int rank;                   /* 0 for a scalar */
    int64_t shape[ST_MAX_RANK]; /* entries past rank are 1 */
    int64_t elements;
    const void *data; /* in the mapping; the format does not promise alignment, so memcpy it */
    size_t bytes;     /* elements * st_dtype_bytes(dtype) */
} StTensor;

/* Element i in row-major order as a double (64-bit integers beyond 2^53 are rounded). */
double st_value(const StTensor *tensor, int64_t i);

/* --- Reading ------------------------------------------------------------------------------- */

typedef struct StFile StFile;

/*
 * On failure these return NULL and write a message that begins with the path of the bad file to
 * error[error_size].
 */

/* Opens one file. */
StFile *st_open(const char *path, char *error, size_t error_size);

/*
 * Opens a Hugging Face model folder: model.safetensors, or model.safetensors.index.json with the
 * shards it names. All shards together appear as one file.
 */
StFile *st_open_folder(const char *dir, char *error, size_t error_size);

/* Opens a file image in memory, which must outlive the StFile; errors show `label` as the path. */
StFile *st_open_bytes(const void *bytes, size_t size, const char *label, char *error,
                      size_t error_size);

/* Unmaps and frees; NULL is allowed. */
void st_close(StFile *file);

/* Tensors are sorted by name (bytewise). st_find() returns NULL if there is no such tensor. */
size_t st_count(const StFile *file);
const StTensor *st_at(const StFile *file, size_t index);
const StTensor *st_find(const StFile *file, const char *name);

/* Copies elements [first, first + count) of a tensor as stored, reading no other bytes of the file.
 * Returns false if the file was truncated or can no longer be read. */
bool st_read(const StFile *file, const StTensor *tensor, int64_t first, int64_t count,
             void *elements);

/* Returns an entry of __metadata__, or NULL if there is none. In a folder, the first shard that has
 * the entry counts. */
const char *st_metadata(const StFile *file, const char *key);

/* --- Writing ------------------------------------------------------------------------------- */

/*
 * Declare every tensor, write all data in the order of declaration, in pieces of any size, then
 * finish:
 *
 *     StWriter *w = st_create("out/adapter_model.safetensors");
 *     st_set_metadata(w, "format", "pt");
 *     st_declare(w, "lora_A.weight", ST_F32, 2, (int64_t[]){16, 64});
 *     st_write(w, data, 16 * 64 * sizeof(float));
 *     if (!st_finish(w, error, sizeof error)) ...
 *
 * The bytes go to PATH.tmp, which st_finish() syncs and renames. Until then, and on any failure,
 * PATH keeps its old contents. After the first failure, later calls do nothing and return false,
 * and st_finish() reports that failure; so it suffices to check st_finish().
 */
typedef struct StWriter StWriter;

/* Never returns NULL; if the file cannot be created, st_finish() reports it. */
StWriter *st_create(const char *path);

bool st_set_metadata(StWriter *writer, const char *key, const char *value);

/*
 * Tensors are stored in the order of declaration. Each must start at a multiple of its element
 * size, which readers that use the mapping in place need, so declare wider dtypes first.
 */
bool st_declare(StWriter *writer, const char *name, StDtype dtype, int rank, const int64_t *shape);

/* Appends tensor data, little-endian. The first call writes the header. */
bool st_write(StWriter *writer, const void *data, size_t bytes);

/* Returns true if the complete file is at PATH and on disk. Frees the writer in any case. */
bool st_finish(StWriter *writer, char *error, size_t error_size);

/* Deletes the temporary file and frees the writer. */
void st_abandon(StWriter *writer);

#endif
