#include "runtime/data/data_hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/rt.h"
#include "runtime/data/data_files.h"

/* Of a list of more bytes than MOST, each file has an equal share, in BLOCKS spread over it. Files of
 * labels, which are small, are read besides. */
enum { MOST = 64 << 20, BLOCKS = 16, CHUNK = 1 << 16 };

/* Writes a number, or a name, and what ends it. */
static void add_number(Sha256 *sha, int64_t number) {
    char text[32];
    sha256_add(sha, text, (size_t)snprintf(text, sizeof text, "%lld\n", (long long)number));
}

static void add_text(Sha256 *sha, const char *text) { sha256_add(sha, text, strlen(text) + 1); }

/* ---- contents -------------------------------------------------------------------------------- */

static bool add_range(Sha256 *sha, int fd, int64_t from, int64_t size) {
    uint8_t chunk[CHUNK];
    while (size > 0) {
        ssize_t got = pread(fd, chunk, size < CHUNK ? (size_t)size : CHUNK, from);
        if (got <= 0)
            return false;
        sha256_add(sha, chunk, (size_t)got);
        from += got;
        size -= got;
    }
    return true;
}

static bool add_contents(Sha256 *sha, int fd, int64_t size, int64_t share) {
    if (size <= share)
        return add_range(sha, fd, 0, size);
    int64_t block = share / BLOCKS;
    for (int i = 0; i < BLOCKS; i++)
        if (!add_range(sha, fd, (size - block) * i / (BLOCKS - 1), block))
            return false;
    return true;
}

static bool add_file(Sha256 *sha, const char *path, int64_t share) {
    const char *slash = strrchr(path, '/');
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = fstat(fd, &info) == 0;
    if (ok) {
        add_text(sha, slash ? slash + 1 : path);
        add_number(sha, info.st_size);
        ok = add_contents(sha, fd, info.st_size, share);
    }
    close(fd);
    return ok;
}

static bool add_files(Sha256 *sha, const FileList *files) {
    int64_t total = 0;
    for (int i = 0; i < files->count; i++) {
        struct stat info;
        if (stat(files->paths[i], &info) || !S_ISREG(info.st_mode))
            return false;
        total += info.st_size;
    }
    bool ok = true;
    for (int i = 0; ok && i < files->count; i++)
        ok = add_file(sha, files->paths[i], total <= MOST ? total : MOST / files->count);
    return ok;
}

/* ---- lists of files -------------------------------------------------------------------------- */

static bool add_labels(Sha256 *sha, const FileList *images, DataError *error) {
    for (int i = 0; i < images->count; i++) {
        char path[RT_MAX_PATH];
        if (!labels_find(images->paths[i], path, sizeof path, error) || !add_file(sha, path, MOST))
            return false;
    }
    return true;
}

/* Adds the names of the images below a folder, and their sizes. */
static bool add_names(Sha256 *sha, const char *folder, DataError *error) {
    FileList files;
    if (!folder_list(folder, &files, error))
        return false;
    for (int i = 0; i < files.count; i++) {
        struct stat info;
        if (is_image_name(files.paths[i]) && stat(files.paths[i], &info) == 0 &&
            S_ISREG(info.st_mode)) {
            add_text(sha, files.paths[i] + strlen(folder));
            add_number(sha, info.st_size);
        }
    }
    files_free(&files);
    return true;
}

static bool add_images(Sha256 *sha, const char *folder, DataError *error) {
    FileList classes;
    if (!subfolder_list(folder, &classes, error))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < classes.count; i++) {
        add_text(sha, classes.paths[i] + strlen(folder));
        ok = add_names(sha, classes.paths[i], error);
    }
    files_free(&classes);
    return ok;
}

static bool add_data(Sha256 *sha, RtDataFormat format, const char *const *patterns, int count) {
    char text[1024];
    DataError error = {text, sizeof text};
    FileList files;
    bool ok = true;
    if (format == RT_DATA_IMAGE_FOLDER) {
        for (int i = 0; ok && i < count; i++)
            ok = add_images(sha, patterns[i], &error);
        return ok;
    }
    if (!files_expand(patterns, count, data_suffix(format), &files, &error))
        return false;
    ok = add_files(sha, &files) && (format != RT_DATA_IDX || add_labels(sha, &files, &error));
    files_free(&files);
    return ok;
}

static bool is_weights(const char *path) {
    size_t length = strlen(path), ending = strlen(".safetensors");
    return length > ending && strcmp(path + length - ending, ".safetensors") == 0;
}

/* Adds the weights in the folder itself. */
static bool add_weights(Sha256 *sha, const char *folder) {
    char text[1024];
    DataError error = {text, sizeof text};
    FileList all, weights = {0};
    if (!folder_list(folder, &all, &error))
        return false;
    weights.paths = rt_alloc((size_t)(all.count + 1) * sizeof *weights.paths);
    for (int i = 0; i < all.count; i++)
        if (is_weights(all.paths[i]) && !strchr(all.paths[i] + strlen(folder) + 1, '/'))
            weights.paths[weights.count++] = all.paths[i];
    bool ok = weights.count > 0 && add_files(sha, &weights);
    free(weights.paths); /* the names belong to `all` */
    files_free(&all);
    return ok;
}

bool data_hash(const RtData *data, StartWeights weights, char hex[SHA256_HEX_SIZE]) {
    Sha256 sha;
    sha256_begin(&sha);
    add_text(&sha, "train");
    bool ok = add_data(&sha, data->format, data->train, data->train_count);
    add_text(&sha, "validation");
    ok = ok && add_data(&sha, data->format, data->validation, data->validation_count);
    add_text(&sha, "model");
    ok = ok && (!weights.model || add_weights(&sha, weights.model));
    add_text(&sha, "adapter");
    ok = ok && (!weights.adapter || add_weights(&sha, weights.adapter));
    sha256_end(&sha, hex);
    return ok;
}
