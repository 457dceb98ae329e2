/* Reads and writes whole files. */
#include "base/fileio.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_folder(const char *path) {
    struct stat info;
    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

bool is_file(const char *path) {
    struct stat info;
    return !stat(path, &info) && S_ISREG(info.st_mode);
}

static const char *read_open_file(Arena *arena, FILE *file, size_t max_size, char **text,
                                  size_t *size) {
    struct stat info;
    if (fstat(fileno(file), &info))
        return strerror(errno);
    if (!S_ISREG(info.st_mode))
        return S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a regular file";
    if ((size_t)info.st_size > max_size)
        return arena_printf(arena, "it is larger than %zu bytes", max_size);
    *size = (size_t)info.st_size;
    *text = arena_alloc(arena, *size + 1);
    if (fread(*text, 1, *size, file) != *size)
        return ferror(file) ? strerror(errno) : "it shrank while it was read";
    return NULL;
}

const char *file_read(Arena *arena, const char *path, size_t max_size, char **text, size_t *size) {
    /* O_NONBLOCK: opening a pipe must not wait for a writer; it is refused below. */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return strerror(errno);
    FILE *file = fdopen(descriptor, "r");
    if (!file) {
        close(descriptor);
        return strerror(errno);
    }
    const char *why = read_open_file(arena, file, max_size, text, size);
    fclose(file);
    return why;
}

FileState file_compare(const char *path, const char *bytes, size_t size) {
    char part[16384];
    struct stat info;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? FILE_MISSING : FILE_OTHER;
    bool same = !fstat(file, &info) && S_ISREG(info.st_mode) && (size_t)info.st_size == size;
    for (size_t at = 0; same && at < size;) {
        ssize_t count = read(file, part, sizeof part);
        same = count > 0 && (size_t)count <= size - at && !memcmp(part, bytes + at, (size_t)count);
        at += same ? (size_t)count : 0;
    }
    close(file);
    return same ? FILE_SAME : FILE_OTHER;
}

static const char *write_new(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    if (!file)
        return strerror(errno);
    bool written = fwrite(bytes, 1, size, file) == size;
    int reason = written ? 0 : errno;
    if (fclose(file) && written)
        reason = errno;
    return reason ? strerror(reason) : NULL;
}

const char *file_write(const char *path, const char *bytes, size_t size) {
    Arena arena = {0};
    char *temporary = arena_printf(&arena, "%s.tmp%ld", path, (long)getpid());
    const char *why = write_new(temporary, bytes, size);
    if (!why && rename(temporary, path))
        why = strerror(errno);
    if (why)
        unlink(temporary);
    arena_free(&arena);
    return why;
}

const char *make_folder(const char *path) {
    Arena arena = {0};
    char *part = arena_strdup(&arena, path);
    const char *why = NULL;
    for (char *slash = part; slash && !why;) {
        slash = strchr(slash + (*slash == '/'), '/');
        if (slash)
            *slash = 0;
        int reason = mkdir(part, 0777) ? errno : 0;
        if (reason && !is_folder(part))
            why = strerror(reason);
        if (slash)
            *slash = '/';
    }
    arena_free(&arena);
    return why;
}
