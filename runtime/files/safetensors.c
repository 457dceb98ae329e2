/*
 * safetensors.c - the reader: maps a file, checks that its header is consistent, hands out views.
 *
 * All checking happens once, when the file is opened. The header is untrusted, so every number is
 * checked before it is used in arithmetic.
 */
#include "runtime/files/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LENGTH_BYTES = 8, MAX_HEADER_BYTES = 100000000 }; /* the limit of the format */

static const struct {
    const char *name;
    size_t bytes;
} DTYPES[ST_DTYPE_COUNT] = {
#define X(id, name, bytes) {name, bytes},
    ST_DTYPES(X)
#undef X
};

/* One mapped file. Tensor names point into its parsed header, which lives as long as the
 * mapping. */
typedef struct Part {
    const unsigned char *bytes;
    size_t size;
    int fd; /* of the mapped file; -1: memory */
    json_t *header;
} Part;

struct StFile {
    Part *parts;
    size_t part_count;
    StTensor *tensors;
    size_t count;
};

/* Where an error goes, and the file it is about. */
typedef struct Report {
    const char *path;
    char *error;
    size_t size;
} Report;

__attribute__((format(printf, 2, 3))) static bool refuse(const Report *r, const char *format, ...) {
    if (!r->size)
        return false;
    int used = snprintf(r->error, r->size, "%s: ", r->path);
    va_list args;
    va_start(args, format);
    if (used >= 0 && (size_t)used < r->size)
        vsnprintf(r->error + used, r->size - (size_t)used, format, args);
    va_end(args);
    return false;
}

const char *st_dtype_name(StDtype dtype) { return DTYPES[dtype].name; }

size_t st_dtype_bytes(StDtype dtype) { return DTYPES[dtype].bytes; }

bool st_dtype_is_float(StDtype dtype) { return dtype < ST_I64; }

/* --- Elements ------------------------------------------------------------------------------ */

/* Converts a small float of sign, exponent and mantissa. Without infinities (E4M3), only the
 * pattern with all exponent and mantissa bits set is NaN. */
static double small_float(unsigned bits, int exponent_bits, int mantissa_bits, bool infinities) {
    unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
    unsigned top = (1u << exponent_bits) - 1;
    unsigned exponent = (bits >> mantissa_bits) & top;
    double sign = (bits >> (mantissa_bits + exponent_bits)) & 1 ? -1.0 : 1.0;
    int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == top && infinities)
        return mantissa ? NAN : sign * INFINITY;
    if (exponent == top && mantissa == (1u << mantissa_bits) - 1)
        return NAN;
    if (!exponent)
        return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * ldexp(mantissa + (1u << mantissa_bits), (int)exponent - bias - mantissa_bits);
}

/* Returns an element of the dtype, which is stored as `type`, as a number computed from `value`. */
#define ELEMENT(dtype, type, number)      \
    case dtype: {                         \
        type value;                       \
        memcpy(&value, at, sizeof value); \
        return (double)(number);          \
    }

double st_value(const StTensor *tensor, int64_t i) {
    const char *at = (const char *)tensor->data + (size_t)i * DTYPES[tensor->dtype].bytes;
    switch (tensor->dtype) {
        ELEMENT(ST_F64, double, value)
        ELEMENT(ST_F32, float, value)
        ELEMENT(ST_F16, uint16_t, small_float(value, 5, 10, true))
        ELEMENT(ST_BF16, uint16_t, small_float(value, 8, 7, true))
        ELEMENT(ST_F8_E4M3, uint8_t, small_float(value, 4, 3, false))
        ELEMENT(ST_F8_E5M2, uint8_t, small_float(value, 5, 2, true))
        ELEMENT(ST_I64, int64_t, value)
        ELEMENT(ST_I32, int32_t, value)
        ELEMENT(ST_I16, int16_t, value)
        ELEMENT(ST_I8, int8_t, value)
        ELEMENT(ST_U64, uint64_t, value)
        ELEMENT(ST_U32, uint32_t, value)
        ELEMENT(ST_U16, uint16_t, value)
        ELEMENT(ST_U8, uint8_t, value)
        ELEMENT(ST_BOOL, uint8_t, value != 0)
    case ST_DTYPE_COUNT:
        break;
    }
    return NAN;
}

/* --- The header of one file ---------------------------------------------------------------- */

static bool read_dtype(const Report *r, StTensor *tensor, const json_t *entry) {
    const char *name = json_string_value(json_object_get(entry, "dtype"));
    if (!name)
        return refuse(r, "tensor \"%s\" has no dtype", tensor->name);
    for (int d = 0; d < ST_DTYPE_COUNT; d++) {
        if (!strcmp(DTYPES[d].name, name)) {
            tensor->dtype = (StDtype)d;
            return true;
        }
    }
    return refuse(r, "tensor \"%s\" has the unknown dtype \"%s\"", tensor->name, name);
}

/* Sets shape, elements and bytes; checks every product for overflow. */
static bool read_shape(const Report *r, StTensor *tensor, const json_t *entry) {
    const json_t *shape = json_object_get(entry, "shape");
    if (!json_is_array(shape))
        return refuse(r, "tensor \"%s\" has no shape", tensor->name);
    if (json_array_size(shape) > ST_MAX_RANK)
        return refuse(r, "tensor \"%s\" has %zu dimensions; at most %d are supported", tensor->name,
                      json_array_size(shape), ST_MAX_RANK);
    tensor->rank = (int)json_array_size(shape);
    tensor->elements = 1;
    for (int d = 0; d < ST_MAX_RANK; d++) {
        const json_t *extent = json_array_get(shape, (size_t)d);
        tensor->shape[d] = d < tensor->rank ? json_integer_value(extent) : 1;
        if (d < tensor->rank && (!json_is_integer(extent) || tensor->shape[d] < 0))
            return refuse(r, "tensor \"%s\" has a dimension that is not a whole number",
                          tensor->name);
        if (__builtin_mul_overflow(tensor->elements, tensor->shape[d], &tensor->elements))
            return refuse(r, "tensor \"%s\" has too many elements", tensor->name);
    }
    int64_t bytes;
    if (__builtin_mul_overflow(tensor->elements, (int64_t)DTYPES[tensor->dtype].bytes, &bytes))
        return refuse(r, "tensor \"%s\" has too many elements", tensor->name);
    tensor->bytes = (size_t)bytes;
    return true;
}

/* Finds the tensor's data in the block of `size` bytes at `block`. */
static bool read_offsets(const Report *r, StTensor *tensor, const json_t *entry,
                         const unsigned char *block, size_t size) {
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *first = json_array_get(offsets, 0), *second = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(second))
        return refuse(r, "tensor \"%s\" needs two data_offsets", tensor->name);
    int64_t begin = json_integer_value(first), end = json_integer_value(second);
    if (begin < 0 || end < begin)
        return refuse(r, "tensor \"%s\" has data_offsets that run backwards", tensor->name);
    if ((uint64_t)end > size)
        return refuse(r,
                      "tensor \"%s\" ends at byte %lld of the data, but the file holds %zu; "
                      "it is truncated or damaged",
                      tensor->name, (long long)end, size);
    if ((size_t)(end - begin) != tensor->bytes)
        return refuse(r, "tensor \"%s\" holds %lld bytes where its dtype and shape need %zu",
                      tensor->name, (long long)(end - begin), tensor->bytes);
    tensor->data = block + begin;
    return true;
}

static bool check_metadata(const Report *r, json_t *metadata) {
    if (!json_is_object(metadata))
        return refuse(r, "__metadata__ is not an object");
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value) {
        if (!json_is_string(value))
            return refuse(r, "__metadata__ entry \"%s\" is not a string", key);
    }
    return true;
}

/* Orders empty tensors before a tensor that starts at the same byte. */
static int by_place(const void *left, const void *right) {
    const StTensor *a = left, *b = right;
    if (a->data != b->data)
        return (const char *)a->data < (const char *)b->data ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int by_name(const void *left, const void *right) {
    return strcmp(((const StTensor *)left)->name, ((const StTensor *)right)->name);
}

/* Checks that the tensors tile the block: no overlap, no gap, nothing after the last one. */
static bool check_tiling(const Report *r, StTensor *tensors, size_t count,
                         const unsigned char *block, size_t size) {
    if (count)
        qsort(tensors, count, sizeof *tensors, by_place);
    const unsigned char *next = block;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = tensors[i].data;
        if (at < next)
            return refuse(r, "tensors \"%s\" and \"%s\" overlap", tensors[i - 1].name,
                          tensors[i].name);
        if (at > next)
            return refuse(r, "%zu bytes before tensor \"%s\" belong to no tensor",
                          (size_t)(at - next), tensors[i].name);
        next = at + tensors[i].bytes;
    }
    if (next != block + size)
        return refuse(r, "%zu bytes at the end belong to no tensor", (size_t)(block + size - next));
    return true;
}

/* Parses the JSON text of the header into part->header, and finds where the data block begins. */
static bool load_header(const Report *r, Part *part, size_t *block) {
    if (part->size < LENGTH_BYTES)
        return refuse(r, "not a safetensors file: %zu bytes are too few for a header", part->size);
    uint64_t length = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        length = length << 8 | part->bytes[i];
    if (length > MAX_HEADER_BYTES)
        return refuse(r,
                      "not a safetensors file: its header would take %llu bytes, and %d is "
                      "the limit",
                      (unsigned long long)length, MAX_HEADER_BYTES);
    if (length > part->size - LENGTH_BYTES)
        return refuse(r,
                      "the header takes %llu bytes, but only %zu follow; the file is "
                      "truncated",
                      (unsigned long long)length, part->size - LENGTH_BYTES);
    const char *text = (const char *)part->bytes + LENGTH_BYTES;
    if (!length || text[0] != '{')
        return refuse(r, "not a safetensors file: its header is not a JSON object");
    json_error_t json_error;
    part->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &json_error);
    if (!part->header)
        return refuse(r, "bad header at byte %d: %s", json_error.position, json_error.text);
    *block = LENGTH_BYTES + length;
    return true;
}

/* Appends the tensors of one part to the file. */
static bool read_part(const Report *r, StFile *file, Part *part) {
    size_t start;
    if (!load_header(r, part, &start))
        return false;
    const unsigned char *block = part->bytes + start;
    size_t size = part->size - start, entries = json_object_size(part->header);
    StTensor *grown = realloc(file->tensors, (file->count + entries + 1) * sizeof *grown);
    if (!grown)
        return refuse(r, "out of memory for %zu tensors", entries);
    file->tensors = grown;
    StTensor *first = grown + file->count;
    size_t count = 0;
    const char *name;
    json_t *entry;
    json_object_foreach(part->header, name, entry) {
        if (!strcmp(name, "__metadata__")) {
            if (!check_metadata(r, entry))
                return false;
            continue;
        }
        StTensor *tensor = &first[count++];
        tensor->name = name;
        if (!read_dtype(r, tensor, entry) || !read_shape(r, tensor, entry) ||
            !read_offsets(r, tensor, entry, block, size))
            return false;
    }
    if (!check_tiling(r, first, count, block, size))
        return false;
    file->count += count;
    return true;
}

/* --- Opening ------------------------------------------------------------------------------- */

/* Appends an empty part to file->parts; returns NULL if out of memory. */
static Part *add_part(const Report *r, StFile *file) {
    Part *parts = realloc(file->parts, (file->part_count + 1) * sizeof *parts);
    if (!parts) {
        refuse(r, "out of memory");
        return NULL;
    }
    file->parts = parts;
    Part *part = &parts[file->part_count++];
    *part = (Part){.fd = -1};
    return part;
}

static bool map_file(const Report *r, Part *part) {
    int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO opens, and is refused */
    if (fd < 0)
        return refuse(r, "%s", strerror(errno));
    struct stat status;
    bool good = false;
    if (fstat(fd, &status))
        refuse(r, "%s", strerror(errno));
    else if (!S_ISREG(status.st_mode))
        refuse(r, "not a regular file");
    else if (!status.st_size)
        refuse(r, "the file is empty");
    else {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        good = map != MAP_FAILED;
        if (good)
            *part = (Part){.bytes = map, .size = (size_t)status.st_size, .fd = fd};
        else
            refuse(r, "%s", strerror(errno));
    }
    if (!good)
        close(fd);
    return good;
}

static bool add_file(StFile *file, const char *path, char *error, size_t error_size) {
    Report r = {path, error, error_size};
    Part *part = add_part(&r, file);
    return part && map_file(&r, part) && read_part(&r, file, part);
}

/* Sorts by name, so that st_find() can bisect. A name can be duplicated only across shards. */
static bool index_names(const Report *r, StFile *file) {
    if (file->count)
        qsort(file->tensors, file->count, sizeof *file->tensors, by_name);
    for (size_t i = 1; i < file->count; i++) {
        if (!strcmp(file->tensors[i - 1].name, file->tensors[i].name))
            return refuse(r, "tensor \"%s\" is in two shards", file->tensors[i].name);
    }
    return true;
}

static StFile *new_file(const Report *r) {
    StFile *file = calloc(1, sizeof *file);
    if (!file)
        refuse(r, "out of memory");
    return file;
}

/* Returns the file if `good`; otherwise frees it and returns NULL. */
static StFile *keep_if(bool good, StFile *file) {
    if (good)
        return file;
    st_close(file);
    return NULL;
}

StFile *st_open(const char *path, char *error, size_t error_size) {
    Report r = {path, error, error_size};
    StFile *file = new_file(&r);
    return file ? keep_if(add_file(file, path, error, error_size) && index_names(&r, file), file)
                : NULL;
}

StFile *st_open_bytes(const void *bytes, size_t size, const char *label, char *error,
                      size_t error_size) {
    Report r = {label, error, error_size};
    StFile *file = new_file(&r);
    Part *part = file ? add_part(&r, file) : NULL;
    if (!part)
        return keep_if(false, file);
    *part = (Part){.bytes = bytes, .size = size, .fd = -1};
    return keep_if(read_part(&r, file, part) && index_names(&r, file), file);
}

/* Returns "DIR/NAME" in new memory. */
static char *join(const char *dir, const char *name) {
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", dir, name);
    return path;
}

static bool add_shard(const Report *r, StFile *file, const char *dir, const char *shard) {
    /* The index is untrusted; its paths must not lead out of the folder. */
    if (!*shard || strchr(shard, '/') || shard[0] == '.')
        return refuse(r, "\"%s\" is not the name of a shard in this folder", shard);
    char *path = join(dir, shard);
    bool good = path ? add_file(file, path, r->error, r->size) : refuse(r, "out of memory");
    free(path);
    return good;
}

/* Opens each shard of the weight map once, then checks that every tensor it names was found. */
static bool add_shards(const Report *r, StFile *file, const char *dir, json_t *weight_map) {
    const char *name;
    json_t *shard;
    json_t *opened = json_object();
    bool good = opened || refuse(r, "out of memory");
    json_object_foreach(weight_map, name, shard) {
        if (good && !json_is_string(shard))
            good = refuse(r, "the shard of \"%s\" is not a string", name);
        if (!good || json_object_get(opened, json_string_value(shard)))
            continue;
        good = add_shard(r, file, dir, json_string_value(shard)) &&
               (!json_object_set_new(opened, json_string_value(shard), json_true()) ||
                refuse(r, "out of memory"));
    }
    json_decref(opened);
    good = good && index_names(r, file);
    json_object_foreach(weight_map, name, shard) {
        if (good && !st_find(file, name))
            good =
                refuse(r, "tensor \"%s\" is not in its shard %s", name, json_string_value(shard));
    }
    return good;
}

static json_t *load_index(const Report *r) {
    Part file;
    json_error_t json_error;
    if (!map_file(r, &file))
        return NULL;
    json_t *index =
        json_loadb((const char *)file.bytes, file.size, JSON_REJECT_DUPLICATES, &json_error);
    if (!index)
        refuse(r, "line %d: %s", json_error.line, json_error.text);
    munmap((void *)(uintptr_t)file.bytes, file.size);
    close(file.fd);
    return index;
}

static StFile *open_sharded(const char *dir, const char *path, char *error, size_t error_size) {
    Report r = {path, error, error_size};
    StFile *file = new_file(&r);
    if (!file)
        return NULL;
    json_t *index = load_index(&r);
    json_t *weight_map = json_object_get(index, "weight_map");
    bool good = false;
    if (index && !json_is_object(weight_map))
        refuse(&r, "there is no weight_map");
    else if (index)
        good = add_shards(&r, file, dir, weight_map);
    json_decref(index);
    return keep_if(good, file);
}

/* Why there are no weights in a folder. */
static bool refuse_folder(const Report *r) {
    struct stat found;
    if (stat(r->path, &found) != 0)
        return errno == ENOENT ? refuse(r, "there is no such folder")
                               : refuse(r, "cannot be read: %s", strerror(errno));
    if (!S_ISDIR(found.st_mode))
        return refuse(r, "not a folder");
    if (access(r->path, X_OK) != 0)
        return refuse(r, "cannot be read: %s", strerror(errno));
    return refuse(r, "there is neither model.safetensors nor model.safetensors.index.json");
}

StFile *st_open_folder(const char *dir, char *error, size_t error_size) {
    Report r = {dir, error, error_size};
    char *single = join(dir, "model.safetensors");
    char *index = join(dir, "model.safetensors.index.json");
    StFile *file = NULL;
    if (!single || !index)
        refuse(&r, "out of memory");
    else if (!access(single, F_OK))
        file = st_open(single, error, error_size);
    else if (!access(index, F_OK))
        file = open_sharded(dir, index, error, error_size);
    else
        refuse_folder(&r);
    free(single);
    free(index);
    return file;
}

void st_close(StFile *file) {
    if (!file)
        return;
    for (size_t i = 0; i < file->part_count; i++) {
        json_decref(file->parts[i].header);
        if (file->parts[i].fd < 0)
            continue;
        munmap((void *)(uintptr_t)file->parts[i].bytes, file->parts[i].size);
        close(file->parts[i].fd);
    }
    free(file->parts);
    free(file->tensors);
    free(file);
}

/* --- Looking up ---------------------------------------------------------------------------- */

size_t st_count(const StFile *file) { return file->count; }

const StTensor *st_at(const StFile *file, size_t index) { return &file->tensors[index]; }

const StTensor *st_find(const StFile *file, const char *name) {
    StTensor key = {.name = name};
    return file->count ? bsearch(&key, file->tensors, file->count, sizeof key, by_name) : NULL;
}

static const Part *part_of(const StFile *file, const unsigned char *at) {
    const Part *part = file->parts;
    while (at < part->bytes || at > part->bytes + part->size)
        part++;
    return part;
}

/* Bypasses the mapping: reads are large, and no pages stay mapped in this process. */
bool st_read(const StFile *file, const StTensor *tensor, int64_t first, int64_t count,
             void *elements) {
    size_t size = DTYPES[tensor->dtype].bytes, bytes = (size_t)count * size;
    const unsigned char *at = (const unsigned char *)tensor->data + (size_t)first * size;
    const Part *part = part_of(file, at);
    if (part->fd < 0) {
        memcpy(elements, at, bytes);
        return true;
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(part->fd, (char *)elements + done, bytes - done,
                            (off_t)((size_t)(at - part->bytes) + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

const char *st_metadata(const StFile *file, const char *key) {
    for (size_t i = 0; i < file->part_count; i++) {
        const json_t *metadata = json_object_get(file->parts[i].header, "__metadata__");
        const char *value = json_string_value(json_object_get(metadata, key));
        if (value)
            return value;
    }
    return NULL;
}
