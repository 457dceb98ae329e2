#include "runtime/files/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *infile_open(const char *path, int *fd) {
    struct stat info;
    /* O_NONBLOCK: a FIFO opens at once; it changes nothing for a regular file. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return strerror(errno);
    const char *problem = NULL;
    if (fstat(*fd, &info))
        problem = strerror(errno);
    else if (!S_ISREG(info.st_mode))
        problem = S_ISDIR(info.st_mode) ? strerror(EISDIR) : "it is not a regular file";
    if (problem)
        close(*fd);
    return problem;
}

json_t *infile_json(const char *path, size_t flags, json_error_t *error) {
    int fd;
    const char *problem = infile_open(path, &fd);
    FILE *file = problem ? NULL : fdopen(fd, "r"); /* json_loadfd() reads byte by byte */
    if (!file) {
        *error = (json_error_t){.line = -1};
        snprintf(error->text, sizeof error->text, "%s", problem ? problem : strerror(errno));
        if (!problem)
            close(fd);
        return NULL;
    }
    json_t *root = json_loadf(file, flags, error);
    fclose(file);
    return root;
}
