/* Files that a run leaves: each replaces the former one only when it is whole and on the disk. */
#ifndef GPUOPT_OUTFILE_H
#define GPUOPT_OUTFILE_H

#include "runtime/base/rt.h"

#include <stdio.h>

typedef struct {
    FILE *stream; /* print here; failures are kept until outfile_finish() */
    char path[RT_MAX_PATH];
    char temporary[RT_MAX_PATH];
} OutFile;

/* Each returns false with one sentence in `error` that begins with the path. After a failure of
 * outfile_open() there is nothing to finish; outfile_finish() closes in any case. */
bool outfile_open(OutFile *file, const char *dir, const char *name, char *error, size_t error_size);
bool outfile_finish(OutFile *file, char *error, size_t error_size);
bool outfile_write(const char *dir, const char *name, const char *text, char *error,
                   size_t error_size);
/* Whether that would find its place: to be asked before long work whose result goes there. */
bool outfile_check(const char *dir, const char *name, char *error, size_t error_size);

/* "DIR/NAME" into path[RT_MAX_PATH]; ends the process where that is too long. */
void join_path(char *path, const char *dir, const char *name);

/* So that names made or renamed in it survive a crash, on file systems that can promise it. */
void folder_sync(const char *dir);

#endif
