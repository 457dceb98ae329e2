/* Finds the files that a data key names, and reads or maps them. */
#include "runtime/data/data_files.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/rt.h"
#include "runtime/files/infile.h"

bool data_fail(DataError *error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, error->size, format, args);
    va_end(args);
    return false;
}

void data_add(DataError *error, const char *more) {
    size_t length = strlen(error->text);
    snprintf(error->text + length, error->size - length, "%s", more);
}

static void files_add(FileList *files, const char *path) {
    char **paths = realloc(files->paths, sizeof *paths * ((size_t)files->count + 1));
    char *copy = strdup(path);
    if (!paths || !copy)
        rt_fail("out of memory while listing data files");
    files->paths = paths;
    files->paths[files->count++] = copy;
}

void files_free(FileList *files) {
    for (int i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (FileList){0};
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void files_sort(FileList *files, int first) {
    if (files->count > first)
        qsort(files->paths + first, (size_t)(files->count - first), sizeof *files->paths, by_name);
}

static bool ends_in(const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && strcmp(name + n - m, suffix) == 0;
}

/* Without a suffix everything is wanted, including folders and dangling links. */
static bool is_wanted(const char *path, const char *suffix) {
    struct stat info;
    return !suffix || (ends_in(path, suffix) && stat(path, &info) == 0 && S_ISREG(info.st_mode));
}

static bool add_folder(FileList *files, const char *folder, const char *suffix, DataError *error) {
    DIR *dir = opendir(folder);
    if (!dir)
        return data_fail(error, "%s: cannot read the folder: %s", folder, strerror(errno));
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        char path[RT_MAX_PATH];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        struct stat info;
        if (length >= (int)sizeof path)
            ok = data_fail(error, "%s/%s: the path is too long", folder, entry->d_name);
        else if (is_wanted(path, suffix))
            files_add(files, path);
        if (ok && lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
            ok = add_folder(files, path, suffix, error); /* lstat: links cannot make a cycle */
    }
    closedir(dir);
    return ok;
}

bool folder_list(const char *folder, FileList *files, DataError *error) {
    *files = (FileList){0};
    bool ok = add_folder(files, folder, NULL, error);
    if (ok)
        files_sort(files, 0);
    else
        files_free(files);
    return ok;
}

bool subfolder_list(const char *folder, FileList *folders, DataError *error) {
    *folders = (FileList){0};
    DIR *dir = opendir(folder);
    if (!dir)
        return data_fail(error,
                         "%s: cannot read the folder: %s; data paths are relative to the working "
                         "directory",
                         folder, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[RT_MAX_PATH];
        struct stat info;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && length < (int)sizeof path && stat(path, &info) == 0 &&
            S_ISDIR(info.st_mode))
            files_add(folders, path);
    }
    closedir(dir);
    files_sort(folders, 0);
    return true;
}

const char *data_suffix(RtDataFormat format) {
    return format == RT_DATA_JSONL ? ".jsonl" : format == RT_DATA_TOKENS ? ".bin" : "";
}

/* Adds a file, or the files of a folder that end in `suffix`. */
static bool path_add(FileList *files, const char *path, const char *suffix, DataError *error) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return add_folder(files, path, suffix, error);
    files_add(files, path);
    return true;
}

/* A name that exists is itself, even with letters that mean something in a pattern: [a].txt. */
static bool pattern_add(FileList *files, const char *pattern, const char *suffix,
                        DataError *error) {
    if (access(pattern, F_OK) == 0)
        return path_add(files, pattern, suffix, error);
    glob_t found;
    int status = glob(pattern, GLOB_NOSORT, NULL, &found);
    if (status == GLOB_NOMATCH)
        return data_fail(error,
                         "%s: no such file; %sdata paths are relative to the working directory, "
                         "or to DIR with make -C build/NAME run FROM=DIR",
                         pattern,
                         strncmp(pattern, "build/data/", strlen("build/data/")) == 0
                             ? "make run in gpuopt-gen's folder makes the samples in build/data; "
                             : "");
    if (status)
        return data_fail(error, "%s: cannot be listed: %s", pattern, strerror(errno));
    bool ok = true;
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
        ok = path_add(files, found.gl_pathv[i], suffix, error);
    globfree(&found);
    return ok;
}

bool files_expand(const char *const *patterns, int count, const char *suffix, FileList *files,
                  DataError *error) {
    *files = (FileList){0};
    for (int i = 0; i < count; i++) {
        int first = files->count;
        bool ok = pattern_add(files, patterns[i], suffix, error);
        if (ok && files->count == first)
            ok = data_fail(error, "%s: no *%s file in this folder", patterns[i], suffix);
        if (!ok) {
            files_free(files);
            return false;
        }
        files_sort(files, first);
    }
    return true;
}

/* ---- labels of an IDX file ----------------------------------------------------------------- */

static bool exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* Removes the ending `.gz`, or adds it if there is none. */
static void toggle_gz(char *path, size_t size) {
    size_t length = strlen(path);
    if (length >= 3 && strcmp(path + length - 3, ".gz") == 0)
        path[length - 3] = '\0';
    else if (length + 3 < size)
        memcpy(path + length, ".gz", sizeof ".gz");
}

/* Replaces the last `from` by `to`, which has the same length; returns false if there is none. */
static bool replace(char *name, const char *from, const char *to) {
    char *last = NULL;
    for (char *at = name; (at = strstr(at, from)); at++)
        last = at;
    if (last)
        memcpy(last, to, strlen(to));
    return last != NULL;
}

bool labels_find(const char *path, char *labels, size_t size, DataError *error) {
    if (snprintf(labels, size, "%s", path) >= (int)size)
        return data_fail(error, "%s: the path is too long", path);
    char *name = strrchr(labels, '/');
    name = name ? name + 1 : labels;
    if (!replace(name, "images", "labels") || !replace(name, "idx3", "idx1"))
        return data_fail(error,
                         "%s: its name has no \"images\" and \"idx3\", so the name of its label "
                         "file is unknown; rename both, as in train-images-idx3-ubyte and "
                         "train-labels-idx1-ubyte",
                         path);
    if (exists(labels))
        return true;
    toggle_gz(labels, size);
    if (exists(labels))
        return true;
    toggle_gz(labels, size);
    return data_fail(error, "%s: its label file %s is not there, compressed or not", path, labels);
}

/* ---- contents ------------------------------------------------------------------------------- */

bool file_read(const char *path, uint8_t **bytes, size_t *size, DataError *error) {
    int fd;
    const char *problem = infile_open(path, &fd);
    if (problem)
        return data_fail(error, "%s: cannot be opened: %s", path, problem);
    FILE *file = fdopen(fd, "rb");
    if (!file) {
        close(fd);
        return data_fail(error, "%s: cannot be opened: %s", path, strerror(errno));
    }
    size_t capacity = 1 << 16, used = 0;
    uint8_t *buffer = malloc(capacity);
    while (buffer) {
        used += fread(buffer + used, 1, capacity - used, file);
        if (used < capacity)
            break;
        uint8_t *larger = realloc(buffer, capacity *= 2);
        if (!larger)
            free(buffer);
        buffer = larger;
    }
    bool failed = ferror(file) != 0;
    int reason = errno;
    fclose(file);
    if (!buffer)
        return data_fail(error, "%s: does not fit in memory", path);
    if (failed) {
        free(buffer);
        return data_fail(error, "%s: cannot be read: %s", path, strerror(reason));
    }
    *bytes = buffer;
    *size = used;
    return true;
}

bool file_map(const char *path, FileMap *map, DataError *error) {
    int fd;
    struct stat info;
    *map = (FileMap){0};
    const char *problem = infile_open(path, &fd);
    if (problem)
        return data_fail(error, "%s: cannot be opened: %s", path, problem);
    if (fstat(fd, &info)) {
        close(fd);
        return data_fail(error, "%s: cannot be opened: %s", path, strerror(errno));
    }
    size_t size = info.st_size > 0 ? (size_t)info.st_size : 0;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    int reason = errno;
    close(fd);
    if (bytes == MAP_FAILED)
        return data_fail(error, "%s: cannot be read: %s", path, strerror(reason));
    *map = (FileMap){bytes, size, path, info};
    return true;
}

bool file_is_as_mapped(const FileMap *map, DataError *error) {
    const struct stat *then = &map->info;
    struct stat now;
    if (stat(map->path, &now) || now.st_ino != then->st_ino || now.st_dev != then->st_dev)
        return true;
    if (now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == then->st_mtim.tv_nsec)
        return true;
    return data_fail(error,
                     "%s: was changed while this run was reading it (%lld bytes before, %lld now); "
                     "restore it and go on with --resume",
                     map->path, (long long)then->st_size, (long long)now.st_size);
}

void file_unmap(FileMap *map) {
    if (map->bytes)
        munmap(map->bytes, map->size);
    *map = (FileMap){0};
}

bool is_image_name(const char *path) {
    static const char *const endings[] = {".jpg", ".jpeg", ".png"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (length > n && strcasecmp(path + length - n, endings[i]) == 0)
            return true;
    }
    return false;
}
