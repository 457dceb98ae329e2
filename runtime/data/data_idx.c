/* IDX files, the format of MNIST: a header of big-endian numbers, then bytes. */
#include "runtime/data/data_images.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "runtime/base/big_endian.h"
#include "runtime/base/rt.h"
#include "runtime/files/infile.h"

enum { IMAGES_MAGIC = 2051, LABELS_MAGIC = 2049, IMAGES_HEADER = 16, LABELS_HEADER = 8 };

void idx_free(IdxSet *set) {
    free(set->pixels);
    free(set->labels);
    *set = (IdxSet){0};
}

/* ---- contents -------------------------------------------------------------------------------- */

/* Checks that exactly `items` bytes follow the header. */
static bool check_size(const char *path, size_t size, size_t header, uint64_t items, uint32_t count,
                       const char *what, DataError *error) {
    uint64_t there = size - header;
    if (there == items)
        return true;
    return data_fail(error,
                     "%s: its header promises %u %s (%llu bytes after it), but %llu bytes follow%s",
                     path, count, what, (unsigned long long)items, (unsigned long long)there,
                     there < items ? ": the file is truncated, fetch it again"
                                   : ": it has trailing bytes, write it again");
}

static bool check_magic(const char *path, const uint8_t *bytes, size_t size, size_t header,
                        uint32_t magic, const char *what, DataError *error) {
    if (size == 0)
        return data_fail(error, "%s: is empty; it should hold %s", path, what);
    if (size < header)
        return data_fail(error, "%s: has %zu bytes, fewer than its header of %zu: it is truncated",
                         path, size, header);
    if (big_endian(bytes) == magic)
        return true;
    return data_fail(error, "%s: holds no IDX %s: it begins with %u, not with %u", path, what,
                     big_endian(bytes), magic);
}

static bool check_images(const char *path, const uint8_t *bytes, size_t size, const RtImages *shape,
                         DataError *error) {
    if (!check_magic(path, bytes, size, IMAGES_HEADER, IMAGES_MAGIC, "images", error))
        return false;
    uint32_t count = big_endian(bytes + 4), height = big_endian(bytes + 8),
             width = big_endian(bytes + 12);
    if (!count || !height || !width)
        return data_fail(error, "%s: holds no image: its header says %u of %u x %u", path, count,
                         height, width);
    char what[64];
    uint64_t bytes_of_all;
    snprintf(what, sizeof what, "images of %u x %u", height, width);
    if (__builtin_mul_overflow((uint64_t)height * width, count, &bytes_of_all))
        bytes_of_all = UINT64_MAX;
    if (!check_size(path, size, IMAGES_HEADER, bytes_of_all, count, what, error))
        return false;
    if (height == shape->height && width == shape->width)
        return true;
    return data_fail(error,
                     "%s: its images are %u x %u, but the program was made for %lld x %lld; "
                     "set data.image_height and data.image_width",
                     path, height, width, (long long)shape->height, (long long)shape->width);
}

static bool check_labels(const char *path, const uint8_t *bytes, size_t size, uint32_t images,
                         const char *image_path, const RtImages *shape, DataError *error) {
    if (!check_magic(path, bytes, size, LABELS_HEADER, LABELS_MAGIC, "labels", error))
        return false;
    uint32_t count = big_endian(bytes + 4);
    if (!check_size(path, size, LABELS_HEADER, count, count, "labels", error))
        return false;
    if (count != images)
        return data_fail(error,
                         "%s: %u labels, but %s has %u images; take files that belong "
                         "together",
                         path, count, image_path, images);
    for (uint32_t i = 0; i < count; i++)
        if (bytes[LABELS_HEADER + i] >= shape->classes)
            return data_fail(error,
                             "%s: label %u (byte %u) is %d, but model.num_classes is %lld, so "
                             "labels go up to %lld",
                             path, i, LABELS_HEADER + i, bytes[LABELS_HEADER + i],
                             (long long)shape->classes, (long long)shape->classes - 1);
    return true;
}

static void append(uint8_t **to, size_t used, const uint8_t *bytes, size_t size) {
    uint8_t *larger = realloc(*to, used + size);
    if (!larger)
        rt_fail("no memory for %zu bytes of images", used + size);
    memcpy(larger + used, bytes, size);
    *to = larger;
}

bool idx_add(IdxSet *set, const char *path, const uint8_t *bytes, size_t size,
             const char *label_path, const uint8_t *label_bytes, size_t label_size,
             const RtImages *shape, DataError *error) {
    if (!check_images(path, bytes, size, shape, error))
        return false;
    uint32_t count = big_endian(bytes + 4);
    if (!check_labels(label_path, label_bytes, label_size, count, path, shape, error))
        return false;
    append(&set->pixels, (size_t)set->count * raw_bytes(shape), bytes + IMAGES_HEADER,
           size - IMAGES_HEADER);
    append(&set->labels, (size_t)set->count, label_bytes + LABELS_HEADER, count);
    set->count += count;
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Reads the whole file and decompresses it if necessary; the caller frees the bytes. */
static bool gz_read(const char *path, uint8_t **bytes, size_t *size, DataError *error) {
    int fd;
    const char *problem = infile_open(path, &fd);
    if (problem)
        return data_fail(error, "%s: cannot be opened: %s", path, problem);
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        close(fd);
        return data_fail(error, "%s: does not fit in memory", path);
    }
    enum { CHUNK = 1 << 20 };
    size_t capacity = CHUNK, used = 0;
    uint8_t *buffer = malloc(capacity);
    int got = 1;
    while (buffer && (got = gzread(file, buffer + used, CHUNK)) > 0) {
        used += (size_t)got;
        if (capacity - used >= CHUNK)
            continue;
        uint8_t *larger = realloc(buffer, capacity *= 2);
        if (!larger)
            free(buffer);
        buffer = larger;
    }
    int status;
    const char *reason = gzerror(file, &status);
    bool ok = buffer && got == 0 && (status == Z_OK || status == Z_STREAM_END);
    if (!buffer)
        data_fail(error, "%s: does not fit in memory", path);
    else if (!ok)
        data_fail(error, "%s: cannot be decompressed: %s; fetch it again", path,
                  status == Z_ERRNO ? strerror(errno) : reason);
    gzclose_r(file);
    if (!ok) {
        free(buffer);
        return false;
    }
    *bytes = buffer;
    *size = used;
    return true;
}

bool idx_read(IdxSet *set, const char *path, const RtImages *shape, DataError *error) {
    char label_path[RT_MAX_PATH];
    uint8_t *bytes = NULL, *label_bytes = NULL;
    size_t size = 0, label_size = 0;
    bool ok = labels_find(path, label_path, sizeof label_path, error) &&
              gz_read(path, &bytes, &size, error) &&
              gz_read(label_path, &label_bytes, &label_size, error) &&
              idx_add(set, path, bytes, size, label_path, label_bytes, label_size, shape, error);
    free(bytes);
    free(label_bytes);
    return ok;
}
