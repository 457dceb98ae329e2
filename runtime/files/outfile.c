/* Complete files or none: written to a temporary name, synced, renamed. */
#include "runtime/files/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void join_path(char *path, const char *dir, const char *name) {
    if (snprintf(path, RT_MAX_PATH, "%s/%s", dir, name) >= RT_MAX_PATH)
        rt_fail("%s/%s: the path is too long", dir, name);
}

bool outfile_open(OutFile *file, const char *dir, const char *name, char *error,
                  size_t error_size) {
    char temporary[256];
    snprintf(temporary, sizeof temporary, ".%s.tmp", name);
    join_path(file->path, dir, name);
    join_path(file->temporary, dir, temporary);
    file->stream = fopen(file->temporary, "w");
    if (!file->stream)
        snprintf(error, error_size, "%s: cannot be written: %s", file->path, strerror(errno));
    return file->stream != NULL;
}

bool outfile_finish(OutFile *file, char *error, size_t error_size) {
    bool ok =
        fflush(file->stream) == 0 && !ferror(file->stream) && fsync(fileno(file->stream)) == 0;
    int reason = errno;
    if (fclose(file->stream) && ok) {
        ok = false;
        reason = errno;
    }
    if (ok && rename(file->temporary, file->path)) {
        ok = false;
        reason = errno;
    }
    if (!ok) {
        unlink(file->temporary);
        snprintf(error, error_size, "%s: cannot be written: %s", file->path, strerror(reason));
    }
    return ok;
}

bool outfile_write(const char *dir, const char *name, const char *text, char *error,
                   size_t error_size) {
    OutFile file;
    if (!outfile_open(&file, dir, name, error, error_size))
        return false;
    fputs(text, file.stream);
    return outfile_finish(&file, error, error_size);
}

bool outfile_check(const char *dir, const char *name, char *error, size_t error_size) {
    OutFile file;
    struct stat former;
    if (!outfile_open(&file, dir, name, error, error_size))
        return false;
    fclose(file.stream);
    unlink(file.temporary);
    if (stat(file.path, &former) != 0 || S_ISREG(former.st_mode))
        return true;
    snprintf(error, error_size, "%s: is no regular file", file.path);
    return false;
}

void folder_sync(const char *dir) {
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}
