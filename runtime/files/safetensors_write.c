/*
 * safetensors_write.c - the writer: tensors are declared first, data comes in pieces, and one
 * rename puts the file in place.
 *
 * The first failure is kept in the writer and reported by st_finish(), so a full disk is reported
 * in the same way in the middle and at the end, and an existing file is not touched.
 */
#include "runtime/files/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DATA_ALIGNMENT = 8 }; /* of the data block in the file, as in the reference writer */

struct StWriter {
    char *path;
    char *temporary;
    FILE *out; /* NULL once the temporary file is gone or renamed */
    json_t *header;
    json_t *metadata;
    size_t declared; /* bytes of all declared tensors */
    size_t written;  /* of those, so far */
    bool header_done;
    bool failed;
    char error[512];
};

__attribute__((format(printf, 2, 3))) static bool fail(StWriter *w, const char *format, ...) {
    if (w->failed)
        return false;
    w->failed = true;
    int used = snprintf(w->error, sizeof w->error, "%s: ", w->path ? w->path : "safetensors");
    va_list args;
    va_start(args, format);
    if (used >= 0 && (size_t)used < sizeof w->error)
        vsnprintf(w->error + used, sizeof w->error - (size_t)used, format, args);
    va_end(args);
    return false;
}

StWriter *st_create(const char *path) {
    StWriter *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    size_t size = strlen(path) + sizeof ".tmp";
    w->path = strdup(path);
    w->temporary = malloc(size);
    w->header = json_object();
    w->metadata = json_object();
    if (!w->path || !w->temporary || !w->header || !w->metadata) {
        fail(w, "out of memory");
        return w;
    }
    struct stat former; /* the final rename would replace a device by a file */
    if (!stat(path, &former) && !S_ISREG(former.st_mode)) {
        fail(w, "cannot write: it exists and is not a regular file");
        return w;
    }
    snprintf(w->temporary, size, "%s.tmp", path);
    w->out = fopen(w->temporary, "wbe");
    if (!w->out)
        fail(w, "cannot write: %s", strerror(errno));
    return w;
}

bool st_set_metadata(StWriter *w, const char *key, const char *value) {
    if (w->failed)
        return false;
    if (w->header_done)
        return fail(w, "metadata \"%s\" comes after the data", key);
    if (json_object_set_new(w->metadata, key, json_string(value)))
        return fail(w, "metadata \"%s\" is not UTF-8", key);
    return true;
}

/* Computes the bytes of a tensor; an overflow is an error. */
static bool tensor_bytes(StWriter *w, const char *name, StDtype dtype, int rank,
                         const int64_t *shape, size_t *bytes) {
    int64_t total = (int64_t)st_dtype_bytes(dtype);
    if (rank < 0 || rank > ST_MAX_RANK)
        return fail(w, "tensor \"%s\" has %d dimensions; at most %d are supported", name, rank,
                    ST_MAX_RANK);
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 0 || __builtin_mul_overflow(total, shape[d], &total))
            return fail(w, "tensor \"%s\" has an impossible shape", name);
    }
    *bytes = (size_t)total;
    return true;
}

bool st_declare(StWriter *w, const char *name, StDtype dtype, int rank, const int64_t *shape) {
    size_t bytes = 0;
    if (w->failed || !tensor_bytes(w, name, dtype, rank, shape, &bytes))
        return false;
    if (w->header_done)
        return fail(w, "tensor \"%s\" is declared after the data began", name);
    if (json_object_get(w->header, name) || !strcmp(name, "__metadata__"))
        return fail(w, "tensor \"%s\" is declared twice", name);
    if (w->declared % st_dtype_bytes(dtype))
        return fail(w, "tensor \"%s\" would be misaligned; declare wider dtypes first", name);
    json_t *extents = json_array();
    for (int d = 0; d < rank; d++)
        json_array_append_new(extents, json_integer(shape[d]));
    json_t *entry =
        json_pack("{s:s, s:o, s:[I, I]}", "dtype", st_dtype_name(dtype), "shape", extents,
                  "data_offsets", (json_int_t)w->declared, (json_int_t)(w->declared + bytes));
    if (!entry || json_object_set_new(w->header, name, entry))
        return fail(w, "the name of tensor \"%s\" is not UTF-8", name);
    w->declared += bytes;
    return true;
}

static bool put(StWriter *w, const void *bytes, size_t size) {
    if (size && fwrite(bytes, 1, size, w->out) != size)
        return fail(w, "cannot write: %s", strerror(errno));
    return true;
}

static bool put_header(StWriter *w) {
    w->header_done = true;
    json_t *whole = json_object();
    if (json_object_size(w->metadata))
        json_object_set(whole, "__metadata__", w->metadata);
    json_object_update(whole, w->header);
    char *text = json_dumps(whole, JSON_COMPACT);
    json_decref(whole);
    if (!text)
        return fail(w, "out of memory");
    size_t length = strlen(text);
    size_t padded = (length + DATA_ALIGNMENT - 1) / DATA_ALIGNMENT * DATA_ALIGNMENT;
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)(padded >> (8 * i));
    bool good =
        put(w, prefix, sizeof prefix) && put(w, text, length) && put(w, "       ", padded - length);
    free(text);
    return good;
}

bool st_write(StWriter *w, const void *data, size_t bytes) {
    if (w->failed || (!w->header_done && !put_header(w)))
        return false;
    if (bytes > w->declared - w->written)
        return fail(w, "more data is written than was declared");
    w->written += bytes;
    return put(w, data, bytes);
}

/* After a rename, only a sync of the folder makes the new name durable. File systems that cannot
 * sync a folder order renames themselves, so a failure here is not an error. */
static void sync_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = slash ? strndup(path, length) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

static void free_writer(StWriter *w) {
    if (w->out) {
        fclose(w->out);
        unlink(w->temporary);
    }
    json_decref(w->header);
    json_decref(w->metadata);
    free(w->path);
    free(w->temporary);
    free(w);
}

static bool put_in_place(StWriter *w) {
    if (w->failed || (!w->header_done && !put_header(w)))
        return false;
    if (w->written != w->declared)
        return fail(w, "%zu of %zu declared bytes were never written", w->declared - w->written,
                    w->declared);
    if (fflush(w->out) || fsync(fileno(w->out)))
        return fail(w, "cannot write: %s", strerror(errno));
    FILE *out = w->out;
    w->out = NULL; /* from here on the temporary file is removed below, not in free_writer() */
    if (fclose(out) || rename(w->temporary, w->path)) {
        fail(w, "cannot write: %s", strerror(errno));
        unlink(w->temporary);
        return false;
    }
    sync_folder_of(w->path);
    return true;
}

bool st_finish(StWriter *w, char *error, size_t error_size) {
    bool good = put_in_place(w);
    if (!good && error_size)
        snprintf(error, error_size, "%s", w->error);
    free_writer(w);
    return good;
}

void st_abandon(StWriter *w) { free_writer(w); }
